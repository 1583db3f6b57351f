/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/events: rows of the log, by their numbers. Called by the page, `bringup
 * events` and tools. Invariants: the events of a few nodes are all that they have,
 * however long the log is; one request looks at EVENTS_LOOK rows at most, and says
 * where to go on.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/api/api.h"

/* LOOK: at each change, those who wait are asked again, and others wait meanwhile. */
enum {
	WAIT_MAX_S = 60,
	EVENTS_MAX = 1000,
	EVENTS_DEFAULT = 50,
	EVENTS_LOOK = 10000,
	EVENTS_PASSED = 1000,
	EVENTS_PART = 100, /* of a stream */
};

static int
take_none(const struct bu_event *event, void *arg)
{
	return 1;
}

static int
has_event(const struct bu_api *api, const json_t *names)
{
	struct bu_search search = {.nodes = names, .newest = 1, .max = 1};

	return bu_store_search(api->fleet->store, &search, take_none, NULL, NULL) ==
		       0 &&
	       search.at != search.after;
}

/* The names of ?node= as keys. A plain one need not be a node any more. */
static json_t *
names_asked(const struct bu_api *api, const char *set, struct bu_err *err)
{
	struct bu_nodeset *nodeset;
	json_t *names = json_object();

	if (bu_node_name_ok(set)) {
		json_object_set_new(names, set, json_true());
		if (bu_fleet_node(api->fleet, set) || has_event(api, names))
			return names;
		json_decref(names);
		bu_api_no_node(api->fleet, set, err);
		return NULL;
	}
	nodeset = bu_api_nodeset(api, api->fleet->desired, set, err);
	for (size_t i = 0; nodeset && i < nodeset->count; i++)
		json_object_set_new(names, nodeset->names[i], json_true());
	if (!nodeset) {
		json_decref(names);
		return NULL;
	}
	bu_nodeset_destroy(nodeset);
	return names;
}

static int
collect(const struct bu_event *event, void *arg)
{
	json_array_append_new(arg, bu_event_to_json(event));
	return 0;
}

/* The newest were read first. */
static void
reverse(json_t *list)
{
	size_t count = json_array_size(list);

	for (size_t i = 0; i < count / 2; i++) {
		json_t *low = json_incref(json_array_get(list, i));

		json_array_set(list, i, json_array_get(list, count - 1 - i));
		json_array_set_new(list, count - 1 - i, low);
	}
}

/* Nothing has come, and not so much was passed over that it should not be looked at
 * again. */
static int
is_waiting(const struct bu_request *request, const struct bu_search *search,
	   const json_t *list)
{
	int64_t wait_ms = bu_request_number(request, "wait", 0, WAIT_MAX_S) * 1000;

	return !search->newest && !json_array_size(list) &&
	       search->at == search->last &&
	       search->last - search->after < EVENTS_PASSED &&
	       request->waited_ms < wait_ms;
}

/* after: where to go on to newer ones. before: to older ones; 0 = there are none. */
static json_t *
reply_of(const struct bu_search *search, json_t *list)
{
	if (search->newest)
		reverse(list);
	return json_pack("{s:o,s:I,s:I}", "events", list, "after",
			 (json_int_t)(search->newest ? search->last : search->at),
			 "before", (json_int_t)(search->newest ? search->at : 0));
}

/* --- a stream: GET /v1/events?follow --- */

struct follow {
	const struct bu_api *api;
	json_t *names; /* NULL = all */
	int64_t after;
};

static void
end_follow(void *arg)
{
	struct follow *follow = arg;

	json_decref(follow->names);
	free(follow);
}

static int
print_event(const struct bu_event *event, void *arg)
{
	bu_autojson json_t *json = bu_event_to_json(event);
	bu_autofree char *text = json_dumps(json, JSON_COMPACT);

	fprintf(arg, "id: %lld\ndata: %s\n\n", (long long)event->seq, text);
	return 0;
}

/* The log is the queue: whoever reads slowly goes on in it from where they are. */
static char *
next_events(void *arg)
{
	struct follow *follow = arg;
	struct bu_search search = {.nodes = follow->names,
				   .after = follow->after,
				   .max = EVENTS_PART,
				   .look = EVENTS_LOOK};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out);
	if (bu_store_search(follow->api->fleet->store, &search, print_event, out,
			    NULL) == 0) {
		/* Whoever resumes need not pass over them again. */
		if (ftell(out) == 0 && search.at - follow->after >= EVENTS_PASSED)
			fprintf(out, "id: %lld\n\n", (long long)search.at);
		follow->after = search.at;
	}
	fclose(out);
	if (!size)
		free(bu_steal(&text));
	return text;
}

/* After Last-Event-ID, ?after=, or the present end of the log. */
static enum bu_answer
begin_follow(const struct bu_api *api, const struct bu_request *request, json_t *names,
	     struct bu_reply *reply, struct bu_err *err)
{
	const char *from = bu_request_header(request, "Last-Event-ID");
	struct bu_search end = {.newest = 1, .max = 1};
	struct follow *follow;

	if (!from)
		from = bu_request_query(request, "after");
	if (bu_store_search(api->fleet->store, &end, take_none, NULL, err) != 0)
		return BU_ANSWER_ERROR;
	follow = bu_xcalloc(1, sizeof(*follow));
	follow->api = api;
	follow->names = json_incref(names);
	follow->after = end.last;
	if (from && bu_text_int(from, 0, INT64_MAX, &follow->after) != 0) {
		end_follow(follow);
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "after '%.20s': the number of an event is expected",
				  from);
	}
	reply->stream = (struct bu_stream){next_events, end_follow, follow};
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_events)
{
	struct bu_api *api = arg;
	int64_t limit = bu_request_number(request, "limit", EVENTS_DEFAULT, EVENTS_MAX);
	const char *after = bu_request_query(request, "after");
	const char *node = bu_request_query(request, "node");
	bu_autojson json_t *names = node ? names_asked(api, node, err) : NULL;
	struct bu_search search = {
		.nodes = names,
		.after = bu_request_number(request, "after", 0, INT64_MAX),
		.before = bu_request_number(request, "before", 0, INT64_MAX),
		.newest = !after,
		.max = limit ? (size_t)limit : 1,
		.look = EVENTS_LOOK,
	};
	json_t *list;

	if (node && !names)
		return BU_ANSWER_ERROR;
	if (bu_request_has(request, "follow"))
		return begin_follow(api, request, names, reply, err);
	list = json_array();
	if (bu_store_search(api->fleet->store, &search, collect, list, err) != 0) {
		json_decref(list);
		return BU_ANSWER_ERROR;
	}
	if (is_waiting(request, &search, list)) {
		json_decref(list);
		return BU_ANSWER_LATER;
	}
	reply->json = reply_of(&search, list);
	return BU_ANSWER_NOW;
}
