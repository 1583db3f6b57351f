/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine wrote to its console, for `bringup node console`. Read from the files
 * that bringup-power writes; base64, for they hold any byte. Only for people on this
 * machine: a console may show a password.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "provisioner/api/api.h"

enum { LINES = 50 };

static int
read_place(const char *text, struct bu_console_place *ret, struct bu_err *err)
{
	unsigned long long file, offset;
	char rest;

	if (sscanf(text, "%16llx:%16llu%c", &file, &offset, &rest) != 2)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"after '%.40s': is not one that an earlier answer gave", text);
	*ret = (struct bu_console_place){file, offset};
	return 0;
}

static json_t *
part_json(const struct bu_node *node, const struct bu_console_part *part)
{
	bu_autofree char *bytes = bu_base64_encode(part->bytes, part->size);
	bu_autofree char *after =
		bu_xasprintf("%llx:%llu", (unsigned long long)part->next.file,
			     (unsigned long long)part->next.offset);

	return json_pack("{s:s,s:s,s:b,s:s,s:s}", "bytes", bytes, "after", after,
			 "lost", part->lost, "state", node->live.console->state,
			 "words", node->live.console->words);
}

/* A console that nobody has read yet has no bytes, and says why. */
static int
read_part(const struct bu_api *api, const struct bu_request *request,
	  struct bu_console_part *ret, struct bu_err *err)
{
	size_t lines = (size_t)bu_request_number(request, "lines", LINES,
						 BU_CONSOLE_LINES_MAX);
	const char *dir = bu_reconcile_console_dir(api->rec);
	const char *after = bu_request_query(request, "after");
	struct bu_console_place place;
	struct bu_err none = {0};
	int rc;

	if (after && read_place(after, &place, err) != 0)
		return -1;
	memset(ret, 0, sizeof(*ret));
	if (!dir)
		return bu_err_set(err, BU_ERR_STATE, 0, "no consoles are kept here");
	rc = after ? bu_console_after(dir, request->params[0], &place, ret, &none)
		   : bu_console_tail(dir, request->params[0], lines ? lines : 1, ret,
				     &none);
	if (rc != 0)
		ret->bytes = bu_xstrdup("");
	return 0;
}

BU_HANDLER(bu_api_console)
{
	struct bu_api *api = arg;
	const struct bu_node *node = bu_fleet_node(api->fleet, request->params[0]);
	struct bu_console_part part;

	if (!node)
		return bu_api_no_node(api->fleet, request->params[0], err);
	if (read_part(api, request, &part, err) != 0)
		return BU_ANSWER_ERROR;
	reply->json = part_json(node, &part);
	free(part.bytes);
	return BU_ANSWER_NOW;
}
