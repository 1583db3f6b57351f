/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alert rules and the Grafana dashboard are made from the table of metrics: the files
 * in packaging/monitoring must be exactly what comes from the tables here and there,
 * each metric has its panel, and promtool accepts the rules and fires them when they
 * should. With the arguments "print rules|dashboard" this program prints a file
 * (docs/update puts them there).
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/api/metrics.h"
#include "tests/support/unit.h"

/* On a link that is too slow the node and the rail are named, and the direction. */
static const struct {
	const char *name, *metric, *expr;
	int for_s;
	const char *severity, *summary;
} alerts[] = {
	{"BringupGone", "bringup_info", "absent(bringup_info)", 300, "critical",
	 "bringupd gives no metrics: systemctl status bringupd"},
	{"BringupLogNotWritable", "bringup_log_writable", "bringup_log_writable == 0",
	 60, "critical",
	 "bringupd cannot write its log; nothing is begun: bringup status"},
	{"BringupSiteCondition", "bringup_site_condition_since_timestamp_seconds",
	 "bringup_site_condition_since_timestamp_seconds", 300, "warning",
	 "the site has the condition {{ $labels.condition }}: bringup status"},
	{"BringupBrake", "bringup_brake_since_timestamp_seconds",
	 "bringup_brake_since_timestamp_seconds", 60, "critical",
	 "too many nodes of {{ $labels.scope }} are late together; bringup switches "
	 "none of them: bringup status"},
	{"BringupNodeNeedsPerson", "bringup_node_needs_person_since_timestamp_seconds",
	 "bringup_node_needs_person_since_timestamp_seconds", 300, "warning",
	 "{{ $labels.node }} is {{ $labels.why }}: bringup node why "
	 "{{ $labels.node }}"},
	{"BringupNodeCondition", "bringup_node_condition_since_timestamp_seconds",
	 "bringup_node_condition_since_timestamp_seconds"
	 "{condition!~\"not-in-profile|drained-by-other\"}",
	 600, "warning",
	 "{{ $labels.node }} has the condition {{ $labels.condition }}: bringup node why "
	 "{{ $labels.node }}"},
	{"BringupLinkSlow", "bringup_rail_bandwidth_bytes_per_second",
	 "bringup_rail_bandwidth_bytes_per_second < on(job, instance, node, pool, rail) "
	 "group_left "
	 "bringup_rail_expected_bandwidth_bytes_per_second",
	 0, "warning",
	 "the link of {{ $labels.node }} on {{ $labels.rail }} is too slow "
	 "({{ $labels.direction }}): bringup fabric show {{ $labels.node }}"},
	{"BringupPowerFails", "bringup_power_failures_total",
	 "increase(bringup_power_failures_total[1h]) > 2", 0, "warning",
	 "power actions of {{ $labels.node }} fail: bringup node power "
	 "{{ $labels.node }}"},
	{"BringupWebhookBehind", "bringup_webhook_waiting_since_timestamp_seconds",
	 "time() - bringup_webhook_waiting_since_timestamp_seconds > 300", 0, "warning",
	 "the receiver of webhook {{ $labels.webhook }} takes no events: bringup status"},
	{"BringupLoopDelay", "bringup_loop_delay_seconds",
	 "bringup_loop_delay_seconds > 5", 300, "warning",
	 "bringupd answers nothing for seconds at a time: its disk or processor is too "
	 "slow"},
	{"BringupOwnCertificateEnds", "bringup_certificate_expiry_timestamp_seconds",
	 "bringup_certificate_expiry_timestamp_seconds - time() < 60 * 86400", 3600,
	 "critical",
	 "the certificate {{ $labels.certificate }} of the appliance ends within two "
	 "months; agents will not believe it any more"},
	{"BringupCertificateEnds", "bringup_agent_certificate_expiry_timestamp_seconds",
	 "bringup_agent_certificate_expiry_timestamp_seconds - time() < 14 * 86400",
	 3600, "warning",
	 "the agent's certificate of {{ $labels.node }} ends within two weeks: start the "
	 "node, which renews it"},
};

/* The query of a metric's panel, and its unit for Grafana; owned. */
static char *
query_of(const struct bu_metric *row, const char **ret_unit)
{
	const char *name = row->name;

	*ret_unit = strstr(name, "_bytes_per_second") ? "Bps"
		    : strstr(name, "_seconds")        ? "s"
						      : "short";
	if (row->type == BU_METRIC_HISTOGRAM)
		return bu_xasprintf("histogram_quantile(0.9, sum by (%s, le) "
				    "(rate(%s_bucket[1d])))",
				    row->labels, name);
	if (row->type == BU_METRIC_COUNTER)
		return bu_xasprintf("increase(%s[1h])", name);
	if (strstr(name, "_expiry_timestamp_seconds"))
		return bu_xasprintf("%s - time()", name);
	if (strstr(name, "_timestamp_seconds"))
		return bu_xasprintf("time() - %s", name);
	return bu_xstrdup(name);
}

/* "{{pool}} {{state}}"; owned. */
static char *
legend_of(const struct bu_metric *row)
{
	char *legend = NULL;

	for (const char *at = row->labels; *at;) {
		size_t size = strcspn(at, ",");

		bu_text_add(&legend, " ", "{{%.*s}}", (int)size, at);
		at += size + (at[size] == ',');
	}
	return legend ? legend : bu_xstrdup("");
}

static json_t *
panel_json(const struct bu_metric *row, int number)
{
	enum { WIDTH = 12, HEIGHT = 8 };
	const char *unit;
	bu_autofree char *query = query_of(row, &unit);
	bu_autofree char *legend = legend_of(row);

	return json_pack("{s:i,s:s,s:s,s:{s:i,s:i,s:i,s:i},s:{s:s,s:s},s:{s:{s:s}},"
			 "s:[{s:s,s:s,s:s}]}",
			 "id", number + 1, "type", "timeseries", "title", row->help,
			 "gridPos", "x", number % 2 * WIDTH, "y", number / 2 * HEIGHT,
			 "w", WIDTH, "h", HEIGHT, "datasource", "type", "prometheus",
			 "uid", "${source}", "fieldConfig", "defaults", "unit", unit,
			 "targets", "refId", "A", "expr", query, "legendFormat",
			 legend);
}

static void
print_dashboard(FILE *out)
{
	json_t *panels = json_array();
	bu_autojson json_t *board = NULL;

	for (const struct bu_metric *row = bu_api_metrics; row->name; row++)
		json_array_append_new(panels,
				      panel_json(row, (int)(row - bu_api_metrics)));
	board = json_pack("{s:s,s:s,s:i,s:s,s:{s:s,s:s},s:{s:[{s:s,s:s,s:s}]},s:o}",
			  "title", "bringup", "uid", "bringup", "schemaVersion", 39,
			  "refresh", "30s", "time", "from", "now-6h", "to", "now",
			  "templating", "list", "name", "source", "type", "datasource",
			  "query", "prometheus", "panels", panels);
	json_dumpf(board, out, JSON_INDENT(1) | JSON_SORT_KEYS);
	fputc('\n', out);
}

/* A text as YAML has it, which JSON's quotes are, too. */
static void
print_entry(FILE *out, const char *key, const char *text)
{
	bu_autojson json_t *value = json_string(text);
	bu_autofree char *quoted = json_dumps(value, JSON_ENCODE_ANY);

	fprintf(out, "%s: %s\n", key, quoted);
}

static void
print_rules(FILE *out)
{
	fputs("# Alert rules of bringup: made by docs/update from "
	      "tests/monitoring_test.c.\ngroups:\n- name: bringup\n  rules:\n",
	      out);
	for (size_t i = 0; i < BU_LEN(alerts); i++) {
		fprintf(out, "  - alert: %s\n", alerts[i].name);
		print_entry(out, "    expr", alerts[i].expr);
		fprintf(out, "    for: %ds\n    labels:\n      severity: %s\n",
			alerts[i].for_s, alerts[i].severity);
		fputs("    annotations:\n", out);
		print_entry(out, "      summary", alerts[i].summary);
	}
}

/* The queries of all panels as rules, which promtool reads. */
static void
print_queries(FILE *out)
{
	fputs("groups:\n- name: panels\n  rules:\n", out);
	for (const struct bu_metric *row = bu_api_metrics; row->name; row++) {
		const char *unit;
		bu_autofree char *query = query_of(row, &unit);

		fprintf(out, "  - record: panel:%s\n", row->name);
		print_entry(out, "    expr", query);
	}
}

static const struct {
	const char *name, *file;
	void (*print)(FILE *out);
} files[] = {
	{"rules", "packaging/monitoring/bringup.rules.yml", print_rules},
	{"dashboard", "packaging/monitoring/bringup-dashboard.json", print_dashboard},
};

static char *
text_of(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(out);
	fclose(out);
	return text;
}

START_TEST(files_are_those_of_the_tables)
{
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/%s", BU_SRCDIR, files[i].file);
		bu_autofree char *want = text_of(files[i].print);
		struct bu_err err = {0};
		bu_autofree char *have = bu_file_read(path, 0, NULL, &err);

		ck_assert_msg(have != NULL, "%s", err.text);
		ck_assert_msg(strcmp(have, want) == 0, "%s: run docs/update",
			      files[i].file);
	}
}
END_TEST

START_TEST(alerts_ask_for_metrics_that_exist)
{
	for (size_t i = 0; i < BU_LEN(alerts); i++) {
		const struct bu_metric *row = bu_api_metrics;

		while (row->name && strcmp(row->name, alerts[i].metric) != 0)
			row++;
		ck_assert_msg(row->name && strstr(alerts[i].expr, row->name),
			      "%s asks for no metric", alerts[i].name);
	}
}
END_TEST

/* In a folder of its own, with rules.yml, queries.yml and these tests of rules. */
static const char rule_tests[] =
	"rule_files: [rules.yml]\n"
	"evaluation_interval: 1m\n"
	"tests:\n"
	"- interval: 1m\n"
	"  input_series:\n"
	"  - series: 'bringup_info{version=\"1\"}'\n"
	"    values: '1x60'\n"
	"  - series: 'bringup_rail_bandwidth_bytes_per_second{node=\"gpu1\","
	"pool=\"p\",rail=\"r0\",direction=\"send\"}'\n"
	"    values: '50x5 20x5'\n"
	"  - series: 'bringup_rail_bandwidth_bytes_per_second{node=\"gpu1\","
	"pool=\"p\",rail=\"r1\",direction=\"send\"}'\n"
	"    values: '50x60'\n"
	"  - series: 'bringup_rail_expected_bandwidth_bytes_per_second{node=\"gpu1\","
	"pool=\"p\",rail=\"r0\"}'\n"
	"    values: '45x60'\n"
	"  - series: 'bringup_rail_expected_bandwidth_bytes_per_second{node=\"gpu1\","
	"pool=\"p\",rail=\"r1\"}'\n"
	"    values: '45x60'\n"
	"  - series: 'bringup_node_needs_person_since_timestamp_seconds{"
	"node=\"gpu2\",pool=\"p\",why=\"failed\"}'\n"
	"    values: '_x5 300x60'\n"
	"  alert_rule_test:\n"
	"  - {eval_time: 4m, alertname: BringupLinkSlow, exp_alerts: []}\n"
	"  - eval_time: 9m\n"
	"    alertname: BringupLinkSlow\n"
	"    exp_alerts:\n"
	"    - exp_labels: {severity: warning, node: gpu1, pool: p, rail: r0, "
	"direction: send}\n"
	"      exp_annotations: {summary: 'the link of gpu1 on r0 is too slow (send): "
	"bringup fabric show gpu1'}\n"
	"  - {eval_time: 8m, alertname: BringupNodeNeedsPerson, exp_alerts: []}\n"
	"  - eval_time: 15m\n"
	"    alertname: BringupNodeNeedsPerson\n"
	"    exp_alerts:\n"
	"    - exp_labels: {severity: warning, node: gpu2, pool: p, why: failed}\n"
	"      exp_annotations: {summary: 'gpu2 is failed: bringup node why gpu2'}\n"
	"  - {eval_time: 20m, alertname: BringupGone, exp_alerts: []}\n"
	"- interval: 1m\n"
	"  input_series: []\n"
	"  alert_rule_test:\n"
	"  - eval_time: 6m\n"
	"    alertname: BringupGone\n"
	"    exp_alerts:\n"
	"    - exp_labels: {severity: critical}\n"
	"      exp_annotations: {summary: 'bringupd gives no metrics: systemctl status "
	"bringupd'}\n";

static void
put(const char *dir, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
}

START_TEST(promtool_accepts_the_rules_and_fires_them)
{
	char dir[] = "/tmp/bringup-test-XXXXXX";
	bu_autofree char *rules = text_of(print_rules);
	bu_autofree char *queries = text_of(print_queries);
	bu_autofree char *command = NULL;

	BU_NEEDS("promtool");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	put(dir, "rules.yml", rules);
	put(dir, "queries.yml", queries);
	put(dir, "tests.yml", rule_tests);
	command =
		bu_xasprintf("cd %s && promtool check rules rules.yml queries.yml && "
			     "promtool test rules tests.yml; s=$?; rm -rf %s; exit $s",
			     dir, dir);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

int
main(int argc, char **argv)
{
	const TTest *const tests[] = {
		files_are_those_of_the_tables,
		alerts_ask_for_metrics_that_exist,
		promtool_accepts_the_rules_and_fires_them,
	};

	for (size_t i = 0; argc == 3 && i < BU_LEN(files); i++) {
		if (strcmp(argv[2], files[i].name) == 0) {
			files[i].print(stdout);
			return 0;
		}
	}
	return bu_unit_run("monitoring", tests, BU_LEN(tests));
}
