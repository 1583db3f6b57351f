/* SPDX-License-Identifier: Apache-2.0 */
/* The history of some nodes among many, in a log much longer than it. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { OTHERS = 30000, AT_ONCE = 1000, LOOK = 10000 };

static void
note(struct site *site, const char *node, int count)
{
	bu_autofree struct bu_event *events = bu_xcalloc((size_t)count, sizeof(*events));

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

RIG_UNIT("events", the_events_of_a_node_are_all_that_it_has,
	 one_request_looks_at_a_part_of_a_long_log)
