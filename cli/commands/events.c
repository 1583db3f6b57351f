/* SPDX-License-Identifier: Apache-2.0 */
/* bringup events: the log, and with --follow what is added to it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/url.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

static void
print_hostlist(const json_t *events)
{
	bu_autojson json_t *names = json_array();
	bu_autofree char *text = NULL;
	json_t *event;
	size_t i;

	json_array_foreach (events, i, event)
		if (*bu_json_str(event, "node", ""))
			json_array_append(names, json_object_get(event, "node"));
	text = bu_out_fold(names);
	bu_out_names(text, stdout);
}

static void
print(const json_t *events, const struct bu_options *options)
{
	json_t *event;
	size_t i;

	if (options->format == BU_FORMAT_HOSTLIST) {
		if (json_array_size(events) || !options->follow)
			print_hostlist(events);
	} else if (options->format == BU_FORMAT_JSON && !options->follow) {
		bu_out_json(events, stdout);
	} else {
		json_array_foreach (events, i, event) {
			if (options->format == BU_FORMAT_JSON)
				bu_out_json_line(event, stdout);
			else
				bu_render_event(event, stdout);
		}
	}
	fflush(stdout);
}

struct followed {
	const struct bu_options *options;
	int64_t after; /* seq of the last one */
};

static int
on_event(json_t *event, void *arg)
{
	struct followed *followed = arg;
	bu_autojson json_t *events = json_pack("[O]", event);

	followed->after = bu_json_int(event, "seq", followed->after);
	print(events, followed->options);
	return ferror(stdout);
}

/* The daemon ends the stream of a token that is over; with another one it goes on. */
static int
follow(struct bu_client *client, struct followed *followed, const char *filter,
       struct bu_err *err)
{
	int rc;

	do {
		bu_autofree char *path =
			bu_xasprintf("/v1/events?follow&after=%lld%s",
				     (long long)followed->after, filter);

		rc = bu_client_follow(client, path, on_event, followed, err);
	} while (rc == 0 && !ferror(stdout) && bu_client_is_over(client));
	return rc;
}

/* The end of the log; of many nodes one answer may hold fewer than are asked for. */
static json_t *
ask_end(struct bu_client *client, int limit, const char *filter, struct bu_err *err)
{
	json_t *all =
		bu_client_get(client, 0, err, "/v1/events?limit=%d%s", limit, filter);
	json_t *events = json_object_get(all, "events");
	int64_t before = bu_json_int(all, "before", 0);

	while (all && before > 0 && json_array_size(events) < (size_t)limit) {
		bu_autojson json_t *older = bu_client_get(
			client, 0, err, "/v1/events?limit=%d&before=%lld%s",
			limit - (int)json_array_size(events), (long long)before,
			filter);
		const json_t *list = json_object_get(older, "events");

		if (!older) {
			json_decref(all);
			return NULL;
		}
		for (size_t i = json_array_size(list); i-- > 0;)
			json_array_insert(events, 0, json_array_get(list, i));
		before = bu_json_int(older, "before", 0);
	}
	return all;
}

int
bu_cmd_events(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *reply = NULL;
	bu_autofree char *escaped = NULL, *filter = NULL;
	struct followed followed = {.options = options};

	escaped = options->node ? bu_url_escape(options->node) : NULL;
	filter = bu_xasprintf("%s%s", escaped ? "&node=" : "", escaped ? escaped : "");
	reply = ask_end(client, options->limit, filter, err);
	if (!reply)
		return -1;
	print(json_object_get(reply, "events"), options);
	if (!options->follow || ferror(stdout))
		return 0;
	followed.after = bu_json_int(reply, "after", 0);
	return follow(client, &followed, filter, err);
}
