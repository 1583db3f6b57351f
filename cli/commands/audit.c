/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup audit verify: whether the log is as it was written, a part a request.
 * bringup audit anchor: what it ends with, for a place that is not the appliance.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "model/anchor.h"

enum { ROWS = 2000 /* a request, at most */ };

static json_t *
ask_anchor(struct bu_client *client, struct bu_err *err)
{
	return bu_client_get(client, 0, err, "/v1/audit/anchor");
}

static int
load_anchor(struct bu_client *client, const char *path, struct bu_anchor *ret,
	    struct bu_err *err)
{
	bu_autojson json_t *document = bu_anchor_load(path, err);
	bu_autojson json_t *now = document ? ask_anchor(client, err) : NULL;

	if (!now)
		return -1;
	return bu_anchor_open(document, bu_json_str(now, "public", ""), ret, err) == 0
		       ? 0
		       : bu_err_wrap(err, "%s", path);
}

/* The chain from a row to the end, or until `until` (0 = the end). New reference. */
static json_t *
walk(struct bu_client *client, const json_t *from, int64_t until, struct bu_err *err)
{
	json_t *at = from ? json_deep_copy(from) : json_object();

	for (;;) {
		int64_t after = bu_json_int(at, "after", 0);
		int64_t max = until && until - after < ROWS ? until - after : ROWS;
		bu_autojson json_t *last = at;

		if (until && max < 1)
			return json_incref(at);
		at = bu_client_get(client, 0, err,
				   "/v1/audit?after=%lld&hash=%s&max=%lld",
				   (long long)after, bu_json_str(last, "hash", ""),
				   (long long)max);
		if (!at)
			return NULL;
		if (!bu_json_bool(at, "more", 0))
			return at;
	}
}

static int
check_anchor(const json_t *at, const struct bu_anchor *anchor, struct bu_err *err)
{
	int64_t seq = bu_json_int(at, "after", 0);

	if (seq < anchor->seq)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the log was cut: it ends with row %lld, and the "
				  "anchor names row %lld",
				  (long long)seq, (long long)anchor->seq);
	if (strcmp(bu_json_str(at, "hash", ""), anchor->hash) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "the log was written anew: row %lld is not the one that the "
			  "anchor names",
			  (long long)anchor->seq);
}

static int
verify_blobs(struct bu_client *client, struct bu_err *err)
{
	int64_t after = 0;
	int more = 1;

	while (more) {
		bu_autojson json_t *reply = bu_client_get(
			client, 0, err, "/v1/audit/blobs?after=%lld", (long long)after);

		if (!reply)
			return -1;
		after = bu_json_int(reply, "after", 0);
		more = bu_json_bool(reply, "more", 0);
	}
	return 0;
}

int
bu_cmd_audit_verify(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *part = NULL, *reply = NULL;
	struct bu_anchor anchor = {0};

	if (options->anchor) {
		if (load_anchor(client, options->anchor, &anchor, err) != 0)
			return -1;
		part = walk(client, NULL, anchor.seq, err);
		if (!part || check_anchor(part, &anchor, err) != 0)
			return -1;
	}
	reply = walk(client, part, 0, err);
	if (!reply || verify_blobs(client, err) != 0)
		return -1;
	json_object_del(reply, "more");
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(reply, stdout);
	else
		printf("the log is whole: %lld rows, the last has the hash %s%s\n",
		       (long long)bu_json_int(reply, "after", 0),
		       bu_json_str(reply, "hash", ""),
		       options->anchor ? "; it has the row of the anchor" : "");
	return 0;
}

int
bu_cmd_audit_anchor(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *reply = ask_anchor(client, err);

	if (!reply)
		return -1;
	bu_out_json(json_object_get(reply, "anchor"), stdout);
	return 0;
}
