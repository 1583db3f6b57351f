/* SPDX-License-Identifier: Apache-2.0 */
/* bringup status, fabric show: two views of one document. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

enum { POLL_S = 25 };

static void
print_names(const json_t *names)
{
	bu_autofree char *text = bu_out_fold(names);

	puts(text);
}

static int
show(const json_t *answer, const struct bu_options *options, struct bu_err *err)
{
	struct bu_shown_status status;

	if (bu_answer_read(bu_shown_status_fields, answer, &status, err) != 0)
		return -1;
	if (options->watch && isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
	bu_render_status(&status, stdout);
	bu_record_fini(bu_shown_status_fields, &status);
	return 0;
}

static int
print_status(const json_t *status, const struct bu_options *options, struct bu_err *err)
{
	bu_autojson json_t *names =
		bu_out_pick(json_object_get(status, "nodes"), "name");
	int rc = 0;

	if (options->format == BU_FORMAT_HOSTLIST)
		print_names(names);
	else if (options->format == BU_FORMAT_TABLE)
		rc = show(status, options, err);
	else if (options->watch)
		bu_out_json_line(status, stdout);
	else
		bu_out_json(status, stdout);
	fflush(stdout);
	return rc;
}

/* Until the daemon does not answer or a person ends it. */
static int
watch(struct bu_client *client, int64_t version, const struct bu_options *options,
      struct bu_err *err)
{
	while (!ferror(stdout)) {
		bu_autojson json_t *status = bu_client_get(
			client, POLL_S, err, "/v1/status?since=%lld&wait=%d",
			(long long)version, POLL_S);

		if (!status)
			return -1;
		if ((bu_json_int(status, "version", 0) != version ||
		     isatty(STDOUT_FILENO)) &&
		    print_status(status, options, err) != 0)
			return -1;
		version = bu_json_int(status, "version", 0);
	}
	return bu_err_set(err, BU_ERR_IO, 0, "cannot write the output");
}

int
bu_cmd_status(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autojson json_t *status = bu_client_get(client, 0, err, "/v1/status");

	if (!status || print_status(status, options, err) != 0)
		return -1;
	if (!options->watch)
		return 0;
	return watch(client, bu_json_int(status, "version", 0), options, err);
}

int
bu_cmd_fabric_show(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autojson json_t *status = bu_client_get(client, 0, err, "/v1/status");
	bu_autojson json_t *names = NULL;
	bu_autojson json_t *others = NULL;
	const json_t *pairs = json_object_get(status, "pairs");

	if (options->args_count)
		return bu_fabric_show_node(options, err);
	if (!status)
		return -1;
	names = bu_out_pick(pairs, "a");
	others = bu_out_pick(pairs, "b");
	json_array_extend(names, others);
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(pairs, stdout);
	else if (options->format == BU_FORMAT_HOSTLIST)
		print_names(names);
	else if (json_array_size(pairs))
		return bu_fabric_print_pairs(status, err);
	else
		puts("no pair of nodes has been measured yet");
	return 0;
}
