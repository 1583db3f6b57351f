/* SPDX-License-Identifier: Apache-2.0 */
/* bringup rollout list|show|pause|resume|abort: applied plans and what became of them.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/url.h"
#include "cli/answer.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

static json_t *
ask_list(struct bu_client *client, struct bu_shown_rollouts *ret, struct bu_err *err)
{
	json_t *reply = bu_client_get(client, 0, err, "/v1/rollouts");

	if (reply && bu_answer_read(bu_shown_rollouts_fields, reply, ret, err) != 0) {
		json_decref(reply);
		return NULL;
	}
	return reply;
}

int
bu_cmd_rollout_list(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	struct bu_shown_rollouts list;
	bu_autojson json_t *reply = ask_list(client, &list, err);

	if (!reply)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(json_object_get(reply, "rollouts"), stdout);
	else if (list.rollouts_count)
		bu_render_rollouts(&list, stdout);
	else
		puts("nothing has been applied yet");
	bu_record_fini(bu_shown_rollouts_fields, &list);
	return 0;
}

/* The one that is named, else the newest. Owned. */
static char *
choose(struct bu_client *client, const struct bu_options *options, struct bu_err *err)
{
	bu_autojson json_t *reply = NULL;
	struct bu_shown_rollouts list;
	char *id = NULL;

	if (options->args_count)
		return bu_url_escape(options->args[0]);
	reply = ask_list(client, &list, err);
	if (!reply)
		return NULL;
	if (list.rollouts_count)
		id = bu_url_escape(list.rollouts[0].id);
	else
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "nothing has been applied yet");
	bu_record_fini(bu_shown_rollouts_fields, &list);
	return id;
}

int
bu_cmd_rollout_show(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autofree char *id = choose(client, options, err);
	bu_autojson json_t *reply =
		id ? bu_client_get(client, 0, err, "/v1/rollouts/%s", id) : NULL;
	struct bu_shown_rollout rollout;

	if (!reply ||
	    bu_answer_read(bu_shown_rollout_whole_fields, reply, &rollout, err) != 0)
		return -1;
	if (options->format == BU_FORMAT_JSON) {
		bu_out_json(reply, stdout);
	} else if (options->format == BU_FORMAT_HOSTLIST) {
		bu_autojson json_t *names =
			bu_out_pick(json_object_get(reply, "nodes"), "node");
		bu_autofree char *text = bu_out_fold(names);

		bu_out_names(text, stdout);
	} else {
		bu_render_rollout(&rollout, stdout);
	}
	bu_record_fini(bu_shown_rollout_whole_fields, &rollout);
	return 0;
}

static json_t *
ask_change(const struct bu_options *options, const char *verb, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autofree char *id = bu_url_escape(options->args[0]);
	bu_autofree char *path = bu_xasprintf("/v1/rollouts/%s/%s", id, verb);
	bu_autojson json_t *empty = json_object();

	return bu_client_post(client, path, empty, err);
}

static int
change(const struct bu_options *options, const char *verb, const char *done,
       struct bu_err *err)
{
	bu_autojson json_t *reply = ask_change(options, verb, err);

	if (!reply)
		return -1;
	printf("%s: %s\n", options->args[0], done);
	return 0;
}

int
bu_cmd_rollout_pause(const struct bu_options *options, struct bu_err *err)
{
	return change(options, "pause", "paused; nodes under way go on", err);
}

int
bu_cmd_rollout_resume(const struct bu_options *options, struct bu_err *err)
{
	return change(options, "resume", "goes on", err);
}

void
bu_rollout_abort_print(const char *id, const json_t *reply, FILE *out)
{
	const json_t *back = json_object_get(reply, "called_back");
	bu_autofree char *names = bu_out_fold(back);
	size_t i;
	json_t *one;

	fprintf(out, "%s: aborted; orders that had not started are withdrawn\n", id);
	if (*names)
		fprintf(out, "cancelled: %s\n", names);
	json_array_foreach (json_object_get(reply, "going_on"), i, one) {
		bu_autofree char *why = bu_out_clean(bu_json_str(one, "why", ""), 0);

		fprintf(out, "goes on to its end: %s (%s)\n",
			bu_json_str(one, "node", "?"), why);
	}
}

int
bu_cmd_rollout_abort(const struct bu_options *options, struct bu_err *err)
{
	bu_autojson json_t *reply = ask_change(options, "abort", err);

	if (!reply)
		return -1;
	bu_rollout_abort_print(options->args[0], reply, stdout);
	return 0;
}
