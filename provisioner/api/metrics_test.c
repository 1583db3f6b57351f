/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics over the real routes: figures of nodes, rails and the log. */
#include "provisioner/api/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/row.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static struct site site;

static void
note(enum bu_event_kind kind, const char *node, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, node, body);
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
}

static void
has(const char *line)
{
	bu_autofree char *text = site_text(&site, site.page, "/metrics", 200);
	bu_autofree char *whole = bu_xasprintf("\n%s\n", line);

	if (!strstr(text, whole))
		fputs(text, stderr); /* more than a message may hold */
	ck_assert_msg(strstr(text, whole) != NULL, "no %s", line);
}

static void
has_no(const char *part)
{
	bu_autofree char *text = site_text(&site, site.page, "/metrics", 200);

	ck_assert_msg(!strstr(text, part), "%.200s", strstr(text, part));
}

static void
measured(const char *boot, const char *ab, const char *ba, const char *error)
{
	bu_autofree char *body = bu_xasprintf(
		"{\"probe\":\"p-%s\",\"rail\":\"fabric\",\"a\":\"node001\","
		"\"b\":\"node002\",\"boot_a\":\"%s\",\"boot_b\":\"%s\",\"ab_gbps\":%s,"
		"\"ba_gbps\":%s,\"expect_gbps\":1.5,\"error\":\"%s\",\"flows\":%s}",
		ab, boot, rig_node(&site.rig, 2)->boot_id, ab, ba, error,
		*error ? "[]"
		       : "[{\"rate_gbps\":2,\"lat_us\":2,\"lat99_us\":3},"
			 "{\"rate_gbps\":2,\"lat_us\":2,\"lat99_us\":3}]");

	note(BU_EVENT_PAIR, "", json_loads(body, 0, NULL));
}

START_TEST(nodes_are_counted_by_pool_and_state)
{
	site_begin(&site, 3);
	rig_to_validating(&site.rig, 1);
	has("bringup_nodes{pool=\"train\",state=\"enrolled\"} 2");
	has("bringup_nodes{pool=\"train\",state=\"validating\"} 1");
	has("bringup_nodes{pool=\"train\",state=\"ready\"} 0");
	has("bringup_log_writable 1");
	site_end(&site);
}
END_TEST

/* Figures of the log are the same in another process, durations included. */
START_TEST(counters_go_on_over_a_restart)
{
	bu_autofree char *before = NULL;
	const char *line = "bringup_state_duration_seconds_count{state=\"imaging\"} 1";

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	has(line);
	before = site_text(&site, site.page, "/metrics", 200);
	site_restart(&site);
	has(line);
	for (const char *at = before; (at = strstr(at, "\nbringup_state_")) != NULL;
	     at++) {
		bu_autofree char *one = bu_xstrndup(at + 1, strcspn(at + 1, "\n"));

		has(one);
	}
	site_end(&site);
}
END_TEST

START_TEST(who_needs_a_person_is_named_with_the_time)
{
	bu_autofree char *want = NULL;
	int64_t held_ms;

	site_begin(&site, 1);
	has_no("needs_person");
	rig_pass(&site.rig, 7000);
	note(BU_EVENT_HELD, "node001", json_pack("{s:s}", "reason", "DIMM"));
	held_ms = bu_wall_ms(bu_loop_clock(site.rig.loop)) / 1000;
	rig_pass(&site.rig, 60000);
	note(BU_EVENT_HELD, "node001", json_pack("{s:s}", "reason", "DIMM A3"));
	ck_assert_int_eq(rig_node(&site.rig, 1)->hold.since_ms / 1000, held_ms);
	want = bu_xasprintf("bringup_node_needs_person_since_timestamp_seconds{"
			    "node=\"node001\",pool=\"train\",why=\"held\"} %.15g",
			    (double)rig_node(&site.rig, 1)->hold.since_ms / 1000);
	has(want);
	note(BU_EVENT_CONDITION, "node001",
	     json_pack("{s:s,s:b}", "name", "bmc-differs", "on", 1));
	want = (free(want),
		bu_xasprintf(
			"bringup_node_condition_since_timestamp_seconds{"
			"node=\"node001\",pool=\"train\",condition=\"bmc-differs\"}"
			" %.15g",
			(double)rig_node(&site.rig, 1)
					->conditions[BU_CONDITION_BMC_DIFFERS]
					.since_ms /
				1000));
	has(want);
	site_end(&site);
}
END_TEST

/* The best pair of the present boot counts: a slow partner makes no link slow. */
START_TEST(a_link_has_its_best_figure_of_this_boot)
{
#define RAIL "bringup_rail_bandwidth_bytes_per_second{node=\"node001\",pool=\"train\","
	site_begin(&site, 2);
	rig_to_validating(&site.rig, 1);
	rig_to_validating(&site.rig, 2);
	measured("boot-gone", "9", "9", "");
	has_no(RAIL);
	measured(rig_node(&site.rig, 1)->boot_id, "2", "0.5", "");
	has(RAIL "rail=\"fabric\",direction=\"send\"} 250000000");
	has(RAIL "rail=\"fabric\",direction=\"receive\"} 62500000");
	has("bringup_rail_expected_bandwidth_bytes_per_second{node=\"node002\","
	    "pool=\"train\",rail=\"fabric\"} 187500000");
	measured(rig_node(&site.rig, 1)->boot_id, "0", "0", "no device");
	has_no("rail_bandwidth");
	site_end(&site);
}
END_TEST

START_TEST(a_failed_power_action_is_counted)
{
	struct bu_node *node;

	site_begin(&site, 1);
	node = rig_node(&site.rig, 1);
	rig_write(&site.rig, "power.refuse", "the BMC hangs");
	has_no("power_failures");
	rig_fire(&site.rig, node, BU_TRIGGER_START);
	rig_until_step(&site.rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	has("bringup_power_failures_total{node=\"node001\",pool=\"train\"} 1");
	site_end(&site);
}
END_TEST

START_TEST(exporters_are_listed_for_discovery)
{
	bu_autojson json_t *list = NULL, *unknown = NULL;
	bu_autofree char *text = NULL;

	site_begin(&site, 2);
	list = site_call(&site, site.page, "GET", "/v1/targets/node-exporter", "", 200);
	ck_assert_uint_eq(json_array_size(list), 2);
	text = bu_json_canonical(json_array_get(list, 0));
	rig_text_has(text, "\"node\":\"node001\"");
	rig_text_has(text, ":9100\"]");
	unknown = site_call(&site, site.page, "GET", "/v1/targets/other", "", 404);
	site_end(&site);
}
END_TEST

/* Prometheus' own judge of names, units and form. */
START_TEST(promtool_finds_nothing_to_mend)
{
	bu_autofree char *text = NULL, *path = NULL, *command = NULL;

	BU_NEEDS("promtool");
	site_begin(&site, 2);
	rig_to_validating(&site.rig, 1);
	rig_to_validating(&site.rig, 2);
	measured(rig_node(&site.rig, 1)->boot_id, "2", "0.5", "");
	text = site_text(&site, site.page, "/metrics", 200);
	path = bu_xasprintf("%s/metrics", site.rig.dir);
	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
	command = bu_xasprintf("promtool check metrics <%s", path);
	ck_assert_int_eq(system(command), 0);
	site_end(&site);
}
END_TEST

RIG_UNIT("metrics", nodes_are_counted_by_pool_and_state, counters_go_on_over_a_restart,
	 who_needs_a_person_is_named_with_the_time,
	 a_link_has_its_best_figure_of_this_boot, a_failed_power_action_is_counted,
	 exporters_are_listed_for_discovery, promtool_finds_nothing_to_mend)
