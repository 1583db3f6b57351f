/* SPDX-License-Identifier: Apache-2.0 */
/* The history of some nodes among many, in a log much longer than it. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/http.h"
#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { OTHERS = 30000, AT_ONCE = 1000, LOOK = 10000 };

static void
note(struct site *site, const char *node, int count)
{
	bu_autofree struct bu_event *events =
		bu_xcalloc((size_t)count, sizeof(*events));

	for (int i = 0; i < count; i++) {
		bu_autofree char *to = bu_xasprintf("node%d", i);

		BU_EVENT_MAKE(&events[i], BU_EVENT_LEASE, node, lease, .probe = "p",
			      .to = to);
	}
	bu_reconcile_note(site->rig.rec, events, (size_t)count);
	rig_pass(&site->rig, 1);
}

/* New reference. */
static json_t *
ask(struct site *site, const char *query)
{
	bu_autofree char *path = bu_xasprintf("/v1/events?%s", query);

	return site_call(site, site->local, "GET", path, "", 200);
}

static int
count_of(const json_t *reply, const char *node)
{
	json_t *event;
	size_t i;

	json_array_foreach (json_object_get(reply, "events"), i, event)
		ck_assert_str_eq(bu_json_str(event, "node", ""), node);
	return (int)json_array_size(json_object_get(reply, "events"));
}

/* The order comes first, then rows of others, then three of its own. */
static void
begin(struct site *site)
{
	site_begin(site, 2);
	for (int i = 0; i < OTHERS; i += AT_ONCE)
		note(site, "node001", AT_ONCE);
	note(site, "node002", 3);
}

START_TEST(the_events_of_a_node_are_all_that_it_has)
{
	struct site site;
	bu_autojson json_t *end = NULL, *two = NULL, *older = NULL, *first = NULL;
	bu_autojson json_t *none = NULL, *news = NULL;
	bu_autofree char *before = NULL, *after = NULL;

	begin(&site);
	end = ask(&site, "node=node002&limit=1000");
	ck_assert_int_eq(count_of(end, "node002"), 4);
	ck_assert_int_eq(bu_json_int(end, "before", -1), 0);
	/* By pages to older ones. */
	two = ask(&site, "node=node002&limit=2");
	json_decref(
		site_call(&site, site.local, "GET", "/v1/events?node=node02", "", 404));
	json_decref(site_call(&site, site.local, "GET",
			      "/v1/events?follow&node=nowhere", "", 404));
	ck_assert_int_eq(count_of(two, "node002"), 2);
	before = bu_xasprintf("node=node002&before=%lld",
			      (long long)bu_json_int(two, "before", 0));
	older = ask(&site, before);
	ck_assert_int_eq(count_of(older, "node002"), 2);
	ck_assert_int_eq(bu_json_int(older, "before", -1), 0);
	ck_assert_int_lt(
		bu_json_int(json_array_get(json_object_get(older, "events"), 1), "seq",
			    0),
		bu_json_int(json_array_get(json_object_get(two, "events"), 0), "seq",
			    0));
	/* From the oldest on. */
	first = ask(&site, "node=node002&after=0&limit=1000");
	ck_assert_int_eq(count_of(first, "node002"), 4);
	ck_assert_int_gt(bu_json_int(first, "after", 0), OTHERS);
	/* Whoever goes on from there gets what comes, and nothing of others. */
	after = bu_xasprintf("node=node002&after=%lld",
			     (long long)bu_json_int(first, "after", 0));
	none = ask(&site, after);
	ck_assert_int_eq(count_of(none, "node002"), 0);
	note(&site, "node001", 2);
	note(&site, "node002", 1);
	news = ask(&site, after);
	ck_assert_int_eq(count_of(news, "node002"), 1);
	site_end(&site);
}
END_TEST

/* Of more nodes than the index is asked for, the log is looked through part by part. */
START_TEST(one_request_looks_at_a_part_of_a_long_log)
{
	struct site site;
	int64_t before = 0;
	int seen = 0, asked = 0;

	site_begin(&site, 100);
	for (int i = 0; i < OTHERS; i += AT_ONCE)
		note(&site, "node001", AT_ONCE);
	do {
		bu_autofree char *query = bu_xasprintf(
			"node=node[002-100]&limit=1000&before=%lld", (long long)before);
		bu_autojson json_t *reply = ask(&site, query);

		seen += (int)json_array_size(json_object_get(reply, "events"));
		before = bu_json_int(reply, "before", 0);
		asked++;
	} while (before);
	ck_assert_int_eq(seen, 99);
	ck_assert_int_ge(asked, OTHERS / LOOK);
	ck_assert_int_le(asked, OTHERS / LOOK + 2);
	site_end(&site);
}
END_TEST

/* A stream; headers: more lines of its head. */
static void
begin_stream(struct site *site, struct talk *talk, const char *query,
	     const char *headers)
{
	bu_autofree char *text = bu_xasprintf(
		"GET /v1/events?follow%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", query,
		headers);

	talk_begin(talk, site->local, text, 0);
}

static void
hear(struct site *site, struct talk *talk)
{
	for (int i = 0; i < 50; i++) {
		rig_pass(&site->rig, 10);
		bu_loop_step(site->rig.loop, 1);
		talk_take(talk);
	}
}

static int
times(const char *text, const char *part)
{
	int count = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		count++;
	return count;
}

START_TEST(a_stream_has_what_comes_and_can_be_resumed)
{
	struct site site;
	struct talk talk, again;
	bu_autofree char *resume = NULL;
	const char *id;

	site_begin(&site, 2);
	note(&site, "node001", 3); /* before it */
	begin_stream(&site, &talk, "&node=node001", "");
	hear(&site, &talk);
	ck_assert_ptr_nonnull(strstr(talk.text, "Content-Type: text/event-stream"));
	ck_assert_ptr_null(strstr(talk.text, "data: "));
	note(&site, "node001", 1);
	note(&site, "node002", 1);
	hear(&site, &talk);
	ck_assert_int_eq(times(talk.text, "data: {"), 1);
	note(&site, "node001", 1);
	hear(&site, &talk);
	ck_assert_int_eq(times(talk.text, "data: {"), 2);
	ck_assert_int_eq(talk.ended, 0);
	/* Whoever has the first one gets the second one, and what came since. */
	id = strstr(talk.text, "id: ");
	resume = bu_xasprintf("Last-Event-ID: %lld\r\n", strtoll(id + 4, NULL, 10));
	talk_end(&talk);
	note(&site, "node001", 1);
	begin_stream(&site, &again, "&node=node001&after=0", resume);
	hear(&site, &again);
	ck_assert_int_eq(times(again.text, "data: {"), 2);
	talk_end(&again);
	json_decref(site_call(&site, site.local, "GET", "/v1/events?follow&after=x", "",
			      400));
	site_end(&site);
}
END_TEST

/* Long rows, more of them than one part has, and a reader that takes its time. */
START_TEST(a_stream_leaves_nothing_out)
{
	struct site site;
	struct talk talk;

	site_begin(&site, 2);
	begin_stream(&site, &talk, "", "");
	hear(&site, &talk);
	for (int i = 0; i < 10; i++)
		note(&site, "node001", AT_ONCE);
	for (int i = 0; i < 200 && times(talk.text, "data: {") < 10 * AT_ONCE; i++)
		hear(&site, &talk);
	ck_assert_int_eq(times(talk.text, "data: {"), 10 * AT_ONCE);
	ck_assert_int_eq(times(talk.text, "\nid: ") + times(talk.text, "\r\nid: "),
			 10 * AT_ONCE + times(talk.text, "\r\nid: "));
	talk_end(&talk);
	site_end(&site);
}
END_TEST

/* Both ends notice when the other one is gone. */
START_TEST(a_quiet_stream_shows_that_it_is_there)
{
	struct site site;
	struct talk talk;

	site_begin(&site, 1);
	begin_stream(&site, &talk, "", "");
	hear(&site, &talk);
	ck_assert_ptr_null(strstr(talk.text, "\n: "));
	for (int i = 0; i < 20; i++)
		rig_pass(&site.rig, 1000);
	hear(&site, &talk);
	ck_assert_ptr_nonnull(strstr(talk.text, "\n: there is nothing new"));
	ck_assert_ptr_null(strstr(talk.text, "data: "));
	talk_end(&talk);
	site_end(&site);
}
END_TEST

START_TEST(nobody_opens_streams_without_end)
{
	struct site site;
	struct talk talks[129];
	int refused = 0;

	site_begin(&site, 1);
	for (size_t i = 0; i < BU_LEN(talks); i++)
		begin_stream(&site, &talks[i], "", "");
	for (size_t i = 0; i < BU_LEN(talks); i++) {
		rig_pass(&site.rig, 10);
		bu_loop_step(site.rig.loop, 1);
		talk_take(&talks[i]);
	}
	for (size_t i = 0; i < BU_LEN(talks); i++) {
		for (int k = 0; k < 20 && !talks[i].size; k++) {
			rig_pass(&site.rig, 10);
			talk_take(&talks[i]);
		}
		refused += strstr(talks[i].text, " 503 ") != NULL;
	}
	ck_assert_int_eq(refused, 1);
	/* One that ended makes room, as soon as it is noticed. */
	for (size_t i = 0; i < BU_LEN(talks); i++)
		talk_end(&talks[i]);
	for (int i = 0; i < 40; i++)
		rig_pass(&site.rig, 1000);
	begin_stream(&site, &talks[0], "", "");
	hear(&site, &talks[0]);
	ck_assert_ptr_nonnull(strstr(talks[0].text, " 200 "));
	talk_end(&talks[0]);
	site_end(&site);
}
END_TEST

/* Stops at the second event. */
static int
on_line(const char *line, void *arg)
{
	int *seen = arg;

	*seen += strncmp(line, "data: {", 7) == 0;
	return *seen == 2;
}

/* The client of the command line, in a process of its own; its exit status. */
static int
follow(int port, const char *query)
{
	bu_autofree char *url = bu_xasprintf("http://127.0.0.1:%d", port);
	bu_autofree char *path = bu_xasprintf("/v1/events?follow&%s", query);
	struct bu_http *http = bu_http_create(&(struct bu_http_opts){.base_url = url});
	struct bu_err err = {0};
	int seen = 0, rc = bu_http_follow(http, path, on_line, &seen, &err);

	bu_http_destroy(http);
	if (rc != 0)
		return err.kind == BU_ERR_INVAL && strstr(err.text, "is expected") ? 3
										   : 1;
	return seen == 2 ? 0 : 2;
}

START_TEST(a_client_follows_line_by_line)
{
	static const struct {
		const char *query;
		int status;
	} rows[] = {{"after=0", 0}, {"after=x", 3}};
	struct site site;

	site_begin(&site, 2);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int status = -1;
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			_exit(follow(site.local, rows[i].query));
		for (int k = 0; k < 4000 && waitpid(pid, &status, WNOHANG) == 0; k++) {
			rig_pass(&site.rig, 1);
			bu_loop_step(site.rig.loop, 2);
		}
		ck_assert_int_eq(WIFEXITED(status), 1);
		ck_assert_int_eq(WEXITSTATUS(status), rows[i].status);
	}
	site_end(&site);
}
END_TEST

RIG_UNIT("events", a_client_follows_line_by_line,
	 the_events_of_a_node_are_all_that_it_has,
	 one_request_looks_at_a_part_of_a_long_log,
	 a_stream_has_what_comes_and_can_be_resumed, a_stream_leaves_nothing_out,
	 a_quiet_stream_shows_that_it_is_there, nobody_opens_streams_without_end)
