/* SPDX-License-Identifier: Apache-2.0 */
/* Who follows the log of one node among many. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static void
note(struct site *site, const char *node, int count)
{
	for (int i = 0; i < count; i++) {
		bu_autofree char *to = bu_xasprintf("node%d", i);
		struct bu_event event;

		BU_EVENT_MAKE(&event, BU_EVENT_LEASE, node, lease, .probe = "p",
			      .to = to);
		bu_reconcile_note(site->rig.rec, &event, 1);
	}
	rig_pass(&site->rig, 1);
}

/* The events of node002 after `after`, and from where to go on. */
static int
follow(struct site *site, int64_t *after)
{
	bu_autofree char *path = bu_xasprintf(
		"/v1/events?node=node002&after=%lld&limit=1000", (long long)*after);
	bu_autojson json_t *reply = site_call(site, site->local, "GET", path, "", 200);
	json_t *event;
	size_t i;

	json_array_foreach (json_object_get(reply, "events"), i, event)
		ck_assert_str_eq(bu_json_str(event, "node", ""), "node002");
	ck_assert_int_ge(bu_json_int(reply, "after", -1), *after);
	*after = bu_json_int(reply, "after", -1);
	return (int)json_array_size(json_object_get(reply, "events"));
}

START_TEST(one_request_looks_at_a_part_of_a_long_log)
{
	struct site site;
	int64_t after = 0;
	int seen;

	site_begin(&site, 2);
	for (int i = 0; i < 5000; i += 500)
		note(&site, "node001", 500);
	note(&site, "node002", 3);
	seen = follow(&site, &after);
	ck_assert_int_eq(seen, 1); /* its order */
	ck_assert_int_eq(after, 2000);
	seen += follow(&site, &after);
	seen += follow(&site, &after);
	ck_assert_int_eq(seen, 4);
	ck_assert_int_gt(after, 5000);
	ck_assert_int_eq(follow(&site, &after), 0);
	/* who waits hears of the next one, and not of those of others */
	note(&site, "node001", 2);
	note(&site, "node002", 1);
	ck_assert_int_eq(follow(&site, &after), 1);
	site_end(&site);
}
END_TEST

RIG_UNIT("events", one_request_looks_at_a_part_of_a_long_log)
