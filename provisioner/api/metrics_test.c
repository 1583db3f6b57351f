/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics over the real routes: figures of nodes, rails and the log. */
#include "provisioner/api/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/api/webhook_form.h"
#include "tests/support/desk.h"
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

static double
figure(const char *series)
{
	bu_autofree char *text = site_text(&site, site.page, "/metrics", 200);
	bu_autofree char *start = bu_xasprintf("\n%s ", series);
	const char *line = strstr(text, start);

	ck_assert_msg(line != NULL, "no %s", series);
	return strtod(line + strlen(start), NULL);
}

/* Within a few turns of the loop after this time. */
static void
has_since(const char *series, int64_t ms)
{
	double late_s = figure(series) - (double)ms / 1000;

	ck_assert_msg(late_s >= 0 && late_s < 0.5, "%s: %f s", series, late_s);
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
	ck_assert_int_eq(rig_node(&site.rig, 1)->hold->since_ms / 1000, held_ms);
	want = bu_xasprintf("bringup_node_needs_person_since_timestamp_seconds{"
			    "node=\"node001\",pool=\"train\",why=\"held\"} %.15g",
			    (double)rig_node(&site.rig, 1)->hold->since_ms / 1000);
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

START_TEST(bringupd_has_figures_of_its_own)
{
	const struct bu_fleet *fleet;
	bu_autofree char *info = NULL;
	double up, rows;

	site_begin(&site, 1);
	fleet = site.rig.fleet;
	info = bu_xasprintf("bringup_info{version=\"" BU_VERSION "\",site=\"lab\","
			    "revision=\"%s\",commit=\"%s\"} 1",
			    fleet->revision, fleet->commit);
	has(info);
	up = figure("bringup_uptime_seconds");
	rig_pass(&site.rig, 7000);
	up = figure("bringup_uptime_seconds") - up;
	ck_assert_msg(up >= 7 && up < 9, "%f", up);
	rows = figure("bringup_log_rows_total");
	note(BU_EVENT_HELD, "node001", json_pack("{s:s}", "reason", "DIMM"));
	ck_assert(figure("bringup_log_rows_total") == rows + 1);
	site_end(&site);
}
END_TEST

START_TEST(the_site_has_its_conditions_and_brakes)
{
	int64_t now_ms;

	site_begin(&site, 1);
	has_no("_site_condition_");
	has_no("_brake_");
	now_ms = bu_wall_ms(bu_loop_clock(site.rig.loop));
	note(BU_EVENT_CONDITION, "",
	     json_pack("{s:s,s:b}", "name", "disk-full", "on", 1));
	has_since("bringup_site_condition_since_timestamp_seconds{"
		  "condition=\"disk-full\"}",
		  now_ms);
	now_ms = bu_wall_ms(bu_loop_clock(site.rig.loop));
	note(BU_EVENT_BRAKE, "",
	     json_pack("{s:s,s:b,s:i}", "scope", "rack r1", "on", 1, "late", 5));
	has_since("bringup_brake_since_timestamp_seconds{scope=\"rack r1\"}", now_ms);
	site_end(&site);
}
END_TEST

START_TEST(a_node_has_its_machine_its_agent_and_its_certificate)
{
#define NODE "{node=\"node001\",pool=\"train\""
	bu_autofree char *info = NULL;
	struct bu_node *node;

	site_begin(&site, 1);
	site.pokes = 1;
	rig_to_validating(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	ck_assert(node->serial[0] && node->installed_image[0]);
	info = bu_xasprintf("bringup_node_info" NODE
			    ",rack=\"\",serial=\"%s\",image=\"%s\"} 1",
			    node->serial, node->installed_image);
	has(info);
	node->live.last_seen_ms = 1700000000123;
	node->agent_cert_until_ms = 1800000000000;
	has_since("bringup_node_last_seen_timestamp_seconds" NODE "}", 1700000000123);
	has_since("bringup_agent_certificate_expiry_timestamp_seconds" NODE "}",
		  1800000000000);
	site_end(&site);
}
END_TEST

/* Whole files and parts of them; what is refused counts nothing. */
START_TEST(bytes_of_images_are_counted_as_they_are_sent)
{
	static const char *const paths[] = {"/images/debian12/manifest.json",
					    "/images/debian12/manifest.sig"};
	static struct desk desk;
	size_t sent = 0;

	begin(&desk);
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		bu_autofree char *text =
			site_text(&desk.site, desk.site.boot, paths[i], 200);
		bu_autofree char *figures = NULL;
		bu_autofree char *want = NULL;

		json_decref(site_call(&desk.site, desk.site.boot, "GET",
				      "/images/debian12/other", "", 404));
		sent += strlen(text);
		want = bu_xasprintf("\nbringup_image_bytes_total %zu\n", sent);
		figures = site_text(&desk.site, desk.site.page, "/metrics", 200);
		ck_assert_msg(strstr(figures, want) != NULL, "no %s", want);
	}
	end(&desk);
}
END_TEST

START_TEST(the_loop_and_the_appliance_have_their_figures)
{
	int64_t from_s, until_s;
	double late_s;

	site_begin(&site, 1);
	late_s = figure("bringup_loop_delay_seconds");
	ck_assert_msg(late_s * 1000 == (double)bu_loop_late_ms(site.rig.loop), "%f",
		      late_s);
	ck_assert_int_eq(
		bu_cert_times(bu_trust_ca(site.rig.trust), &from_s, &until_s, NULL), 0);
	ck_assert(figure("bringup_certificate_expiry_timestamp_seconds{"
			 "certificate=\"ca\"}") == (double)until_s);
	ck_assert_int_eq(bu_cert_times(bu_trust_server_cert(site.rig.trust), &from_s,
				       &until_s, NULL),
			 0);
	ck_assert(figure("bringup_certificate_expiry_timestamp_seconds{"
			 "certificate=\"server\"}") == (double)until_s);
	site_end(&site);
}
END_TEST

/* Nobody listens at the receiver's port. */
START_TEST(an_event_that_is_not_taken_has_its_time)
{
	char none[] = "";
	struct bu_webhook_opts opts = {.name = (char[]){"ops"},
				       .url = (char[]){"http://127.0.0.1:1/"},
				       .secret = (char[]){"env:WEBHOOK_SECRET"},
				       .events = none,
				       .nodes = none,
				       .pools = none,
				       .ca = none};
	int64_t now_ms;

	setenv("WEBHOOK_SECRET", "a secret of many more bytes", 1);
	site_begin(&site, 1);
	site.api.webhooks = bu_webhooks_create(&site.api, &opts, 1);
	rig_pass(&site.rig, 1);
	has_no("bringup_webhook_");
	now_ms = bu_wall_ms(bu_loop_clock(site.rig.loop));
	note(BU_EVENT_HELD, "node001", json_pack("{s:s}", "reason", "DIMM"));
	has_since("bringup_webhook_waiting_since_timestamp_seconds{webhook=\"ops\"}",
		  now_ms);
	bu_webhooks_destroy(bu_steal(&site.api.webhooks));
	site_end(&site);
}
END_TEST

/* A row whose figure no test here reads could show any figure. */
START_TEST(each_metric_is_expected_by_its_name)
{
	bu_autofree char *text = bu_file_read(
		BU_SRCDIR "/provisioner/api/metrics_test.c", 0, NULL, NULL);

	ck_assert_ptr_nonnull(text);
	for (const struct bu_metric *row = bu_api_metrics; row->name; row++) {
		const char *at = text, *after = NULL;

		while ((at = strstr(at, row->name)) != NULL && !after) {
			at += strlen(row->name);
			if (strncmp(at, "_count{", 7) == 0 || strchr("{\" ", *at))
				after = at;
		}
		ck_assert_msg(after != NULL, "%s: no test expects a line of it",
			      row->name);
	}
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
	 bringupd_has_figures_of_its_own, the_site_has_its_conditions_and_brakes,
	 a_node_has_its_machine_its_agent_and_its_certificate,
	 bytes_of_images_are_counted_as_they_are_sent,
	 the_loop_and_the_appliance_have_their_figures,
	 an_event_that_is_not_taken_has_its_time, each_metric_is_expected_by_its_name,
	 exporters_are_listed_for_discovery, promtool_finds_nothing_to_mend)
