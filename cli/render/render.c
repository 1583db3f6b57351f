/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of nodes, pairs, stages and events; called by every command that shows them. */
#include "cli/render/render.h"

#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "model/state.h"

void
bu_render_nodes(const json_t *nodes, int64_t now_ms, FILE *out)
{
	static const char *const headings[] = {"NODE",     "POOL", "STATE", ">FOR",
					       "PROGRESS", "NOTE", NULL};
	struct bu_table *table = bu_table_create(headings);
	json_t *node;
	size_t i;

	json_array_foreach (nodes, i, node) {
		bu_autofree char *took =
			bu_out_duration(now_ms - bu_json_int(node, "since_ms", now_ms));
		bu_autofree char *progress = bu_node_progress(node);
		bu_autofree char *note = bu_node_note(node);
		bu_autofree char *state = bu_node_state(node);

		bu_table_row(table,
			     (const char *const[]){bu_json_str(node, "name", "?"),
						   bu_json_str(node, "pool", ""), state,
						   took, progress, note});
	}
	if (json_array_size(nodes))
		bu_table_print(table, out);
	bu_table_destroy(table);
}

/* "" when it was not measured. */
static char *
figure(const json_t *pair, const char *key, const char *fmt)
{
	double value = bu_json_real(pair, key, 0);
	char text[40];

	if (value <= 0)
		return bu_xstrdup("-");
	if (strcmp(fmt, "gbps") == 0)
		snprintf(text, sizeof(text), value < 10 ? "%.4f" : "%.1f", value);
	else
		snprintf(text, sizeof(text), "%.1f", value);
	return bu_xstrdup(text);
}

void
bu_render_pairs(const json_t *pairs, FILE *out)
{
	static const char *const headings[] = {"A",
					       "B",
					       "RAIL",
					       ">A->B Gbit/s",
					       ">B->A Gbit/s",
					       ">EXPECTED",
					       ">LATENCY us",
					       "VERDICT",
					       NULL};
	struct bu_table *table = bu_table_create(headings);
	json_t *pair;
	size_t i;

	json_array_foreach (pairs, i, pair) {
		bu_autofree char *there = figure(pair, "ab_gbps", "gbps");
		bu_autofree char *back = figure(pair, "ba_gbps", "gbps");
		bu_autofree char *expect = figure(pair, "expect_gbps", "gbps");
		bu_autofree char *latency = figure(pair, "lat_us", "us");

		bu_table_row(table,
			     (const char *const[]){bu_json_str(pair, "a", "?"),
						   bu_json_str(pair, "b", "?"),
						   bu_json_str(pair, "rail", ""), there,
						   back, expect, latency,
						   bu_json_str(pair, "verdict", "?")});
	}
	if (json_array_size(pairs))
		bu_table_print(table, out);
	bu_table_destroy(table);
}

/* Sum of what the node spent in this state. */
static int64_t
spent_ms(const json_t *node, const char *state)
{
	int64_t sum_ms = 0;
	json_t *stage;
	size_t i;

	json_array_foreach (json_object_get(node, "stages"), i, stage)
		if (!state || strcmp(bu_json_str(stage, "state", ""), state) == 0)
			sum_ms += bu_json_int(stage, "ms", 0);
	return sum_ms;
}

/* States in which one of the nodes spent time. */
static size_t
used_states(const json_t *nodes, const char *ret_names[BU_STATE_COUNT])
{
	size_t count = 0, i;
	json_t *node;

	for (int state = 0; state < BU_STATE_COUNT; state++) {
		int64_t sum_ms = 0;

		json_array_foreach (nodes, i, node)
			sum_ms += spent_ms(node, bu_state_name(state));
		if (sum_ms)
			ret_names[count++] = bu_state_name(state);
	}
	return count;
}

void
bu_render_stages(const json_t *nodes, FILE *out)
{
	enum { FIXED = 3 }; /* node, state, total */
	const char *names[BU_STATE_COUNT];
	size_t used = used_states(nodes, names), i, k;
	char *cells[BU_STATE_COUNT + FIXED + 1] = {bu_xstrdup("NODE"),
						   bu_xstrdup("STATE")};
	struct bu_table *table;
	json_t *node;

	for (k = 0; k < used; k++)
		cells[2 + k] = bu_xasprintf(">%s", names[k]);
	cells[2 + used] = bu_xstrdup(">total");
	table = bu_table_create((const char *const *)cells);
	json_array_foreach (nodes, i, node) {
		for (k = 0; k < used + FIXED; k++)
			free(cells[k]);
		cells[0] = bu_xstrdup(bu_json_str(node, "name", "?"));
		cells[1] = bu_node_state(node);
		for (k = 0; k < used; k++)
			cells[2 + k] = bu_out_duration(spent_ms(node, names[k]));
		cells[2 + used] = bu_out_duration(spent_ms(node, NULL));
		bu_table_row(table, (const char *const *)cells);
	}
	for (k = 0; k < used + FIXED; k++)
		free(cells[k]);
	if (json_array_size(nodes))
		bu_table_print(table, out);
	bu_table_destroy(table);
}

static void
render_rollout(const json_t *rollout, FILE *out)
{
	bu_autofree char *words = NULL;

	if (!json_is_object(rollout))
		return;
	words = bu_rollout_words(rollout);
	fprintf(out, "rollout %s of %lld node%s, %s\n", bu_json_str(rollout, "id", "?"),
		(long long)bu_json_int(rollout, "total", 0),
		bu_json_int(rollout, "total", 0) == 1 ? "" : "s", words);
}

static void
render_brakes(const json_t *brakes, FILE *out)
{
	size_t i;
	json_t *brake;

	json_array_foreach (brakes, i, brake) {
		bu_autofree char *text =
			bu_out_clean(bu_json_str(brake, "text", "?"), 0);

		fprintf(out, "ALARM, the brake is on: %s\n", text);
	}
}

/* Of the site. */
static void
render_conditions(const json_t *conditions, FILE *out)
{
	size_t i;
	json_t *condition;

	json_array_foreach (conditions, i, condition) {
		bu_autofree char *text =
			bu_out_clean(bu_json_str(condition, "text", "?"), 0);

		fprintf(out, "ALARM, %s: %s\n", bu_json_str(condition, "name", "?"),
			text);
	}
}

static void
render_warnings(const json_t *warnings, FILE *out)
{
	size_t i;
	json_t *warning;

	json_array_foreach (warnings, i, warning) {
		bu_autofree char *text = bu_out_clean(json_string_value(warning), 0);

		fprintf(out, "warning: %s\n", text);
	}
}

void
bu_render_status(const json_t *status, FILE *out)
{
	const json_t *appliance = json_object_get(status, "appliance");
	const json_t *pairs = json_object_get(status, "pairs");
	const json_t *nodes = json_object_get(status, "nodes");
	bu_autofree char *summary = NULL;
	const char *site = bu_json_str(status, "site", "");
	const char *revision = bu_json_str(status, "revision", "");
	bu_autofree char *commit = bu_out_commit(bu_json_str(status, "commit", ""));
	const char *trouble = bu_json_str(status, "trouble", "");
	bu_autofree char *uptime =
		bu_out_duration(1000 * bu_json_int(appliance, "uptime_s", 0));

	fprintf(out, "site %s, epoch %lld, revision %.12s%s%s%s; bringupd %s, up %s\n",
		*site ? site : "(none applied)",
		(long long)bu_json_int(status, "epoch", 0),
		*revision ? revision : "(none)", *commit ? " (commit " : "", commit,
		*commit ? ")" : "", bu_json_str(appliance, "version", "?"), uptime);
	if (*trouble)
		fprintf(out,
			"the applied profile cannot be read: %s; no node is moved "
			"until "
			"a corrected one is applied\n",
			trouble);
	render_conditions(json_object_get(status, "conditions"), out);
	render_brakes(json_object_get(status, "brakes"), out);
	render_warnings(json_object_get(status, "warnings"), out);
	render_rollout(json_object_get(status, "rollout"), out);
	summary = bu_node_summary(nodes);
	fprintf(out, "%s\n\n", summary);
	bu_render_nodes(nodes, bu_json_int(status, "time_ms", 0), out);
	if (json_array_size(pairs))
		fputc('\n', out);
	bu_render_pairs(pairs, out);
}

void
bu_render_event(const json_t *event, FILE *out)
{
	bu_autofree char *text = bu_out_clean(bu_json_str(event, "text", ""), 0);
	bu_autofree char *node = bu_out_clean(bu_json_str(event, "node", ""), 0);
	char time[24];

	bu_time_iso(bu_json_int(event, "time_ms", 0), time);
	fprintf(out, "%s  %-12s %-12s %s\n", time, *node ? node : "-",
		bu_json_str(event, "kind", "?"), text);
}
