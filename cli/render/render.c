/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of nodes, pairs, stages and events; called by every command that shows them. */
#include "cli/render/render.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "model/condition.h"
#include "model/sentence.h"
#include "model/state.h"

void
bu_render_nodes(const struct bu_shown_nodes *nodes, FILE *out)
{
	static const char *const headings[] = {"NODE",     "POOL", "STATE", ">FOR",
					       "PROGRESS", "NOTE", NULL};
	static const char *const wide[] = {"NODE",     "POOL", "STATE",  ">FOR",
					   "RACK",     "SLOT", "SERIAL", "IMAGE",
					   "PROGRESS", "NOTE", NULL};
	int is_wide = bu_out_is_wide();
	struct bu_table *table = bu_table_create(is_wide ? wide : headings);

	for (size_t i = 0; i < nodes->nodes_count; i++) {
		const struct bu_shown_node *node = &nodes->nodes[i];
		bu_autofree char *took =
			bu_out_duration(nodes->time_ms - node->since_ms);
		bu_autofree char *progress = bu_node_progress(node);
		bu_autofree char *note = bu_node_note(node);
		bu_autofree char *state = bu_node_state(node);
		const char *const all[] = {
			node->name, node->pool,   state,       took,     node->rack,
			node->slot, node->serial, node->image, progress, note};
		const char *const few[] = {node->name, node->pool, state,
					   took,       progress,   note};

		bu_table_row(table, is_wide ? all : few);
	}
	if (nodes->nodes_count)
		bu_out_table(table, out);
	bu_table_destroy(table);
}

/* "-" when it was not measured. */
static char *
figure(double value, int is_rate)
{
	if (value <= 0)
		return bu_xstrdup("-");
	return bu_xasprintf("%.*f", is_rate && value < 10 ? 4 : 1, value);
}

void
bu_render_pairs(const struct bu_shown_pair *pairs, size_t count, FILE *out)
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

	for (size_t i = 0; i < count; i++) {
		const struct bu_shown_pair *pair = &pairs[i];
		bu_autofree char *there = figure(pair->ab_gbps, 1);
		bu_autofree char *back = figure(pair->ba_gbps, 1);
		bu_autofree char *expect = figure(pair->expect_gbps, 1);
		bu_autofree char *latency = figure(pair->lat_us, 0);

		bu_table_row(table, (const char *const[]){pair->a, pair->b, pair->rail,
							  there, back, expect, latency,
							  pair->verdict});
	}
	if (count)
		bu_out_table(table, out);
	bu_table_destroy(table);
}

/* Sum of what the node spent in this state. */
static int64_t
spent_ms(const struct bu_shown_node *node, const char *state)
{
	int64_t sum_ms = 0;

	for (size_t i = 0; i < node->stages_count; i++)
		if (!state || strcmp(node->stages[i].state, state) == 0)
			sum_ms += node->stages[i].ms;
	return sum_ms;
}

/* States in which one of the nodes spent time. */
static size_t
used_states(const struct bu_shown_nodes *nodes, const char *ret_names[BU_STATE_COUNT])
{
	size_t count = 0;

	for (int state = 0; state < BU_STATE_COUNT; state++) {
		int64_t sum_ms = 0;

		for (size_t i = 0; i < nodes->nodes_count; i++)
			sum_ms += spent_ms(&nodes->nodes[i], bu_state_name(state));
		if (sum_ms)
			ret_names[count++] = bu_state_name(state);
	}
	return count;
}

void
bu_render_stages(const struct bu_shown_nodes *nodes, FILE *out)
{
	enum { FIXED = 3 }; /* node, state, total */
	const char *names[BU_STATE_COUNT];
	size_t used = used_states(nodes, names), k;
	char *cells[BU_STATE_COUNT + FIXED + 1] = {bu_xstrdup("NODE"),
						   bu_xstrdup("STATE")};
	struct bu_table *table;

	for (k = 0; k < used; k++)
		cells[2 + k] = bu_xasprintf(">%s", names[k]);
	cells[2 + used] = bu_xstrdup(">total");
	table = bu_table_create((const char *const *)cells);
	for (size_t i = 0; i < nodes->nodes_count; i++) {
		const struct bu_shown_node *node = &nodes->nodes[i];

		for (k = 0; k < used + FIXED; k++)
			free(cells[k]);
		cells[0] = bu_xstrdup(node->name);
		cells[1] = bu_node_state(node);
		for (k = 0; k < used; k++)
			cells[2 + k] = bu_out_duration(spent_ms(node, names[k]));
		cells[2 + used] = bu_out_duration(spent_ms(node, NULL));
		bu_table_row(table, (const char *const *)cells);
	}
	for (k = 0; k < used + FIXED; k++)
		free(cells[k]);
	if (nodes->nodes_count)
		bu_out_table(table, out);
	bu_table_destroy(table);
}

static void
render_rollout(const struct bu_shown_rollout *rollout, FILE *out)
{
	bu_autofree char *words = rollout->id ? bu_rollout_words(rollout) : NULL;

	if (words)
		fprintf(out, "rollout %s of %" PRId64 " node%s, %s\n", rollout->id,
			rollout->total, rollout->total == 1 ? "" : "s", words);
}

/* What a person must know before the nodes: heads, and texts of others. */
static void
render_alarm(const char *head, const char *text, FILE *out)
{
	bu_autofree char *clean = bu_out_clean(text, 0);

	fprintf(out, "%s: %s\n", head, clean);
}

static void
render_said(const char *head, const json_t *said, FILE *out)
{
	bu_autofree char *text = bu_said_text(said);

	render_alarm(head, text, out);
}

static void
render_alarms(const struct bu_shown_status *status, FILE *out)
{
	json_t *one;
	size_t at;

	for (size_t i = 0; i < status->conditions_count; i++) {
		bu_autofree char *head =
			bu_xasprintf("ALARM, %s", status->conditions[i].name);
		bu_autofree char *words = bu_said_condition(
			status->conditions[i].name, status->conditions[i].detail);

		render_alarm(head, words, out);
	}
	for (size_t i = 0; i < status->brakes_count; i++)
		render_said("ALARM, the brake is on", status->brakes[i].said, out);
	json_array_foreach ((json_t *)(uintptr_t)status->warnings, at, one)
		render_said("warning", one, out);
}

/* As long as not all have the same. */
static void
render_agents(const struct bu_shown_agents *agents, FILE *out)
{
	bu_autofree char *names = NULL;

	for (size_t i = 0; i < agents->changing_count; i++)
		bu_text_add(&names, ", ", "%s", agents->changing[i]);
	if (agents->others)
		fprintf(out, "agents: %" PRId64 " of %" PRId64 " nodes have %s%s%s\n",
			agents->have, agents->have + agents->others, agents->version,
			names ? "; changing: " : "", names ? names : "");
	if (agents->trouble)
		render_said("warning", agents->trouble, out);
}

static void
render_backup(const struct bu_shown_backup *backup, int64_t now_ms, FILE *out)
{
	bu_autofree char *age = bu_out_duration(now_ms - backup->at_ms);

	if (backup->at_ms)
		fprintf(out, "backup: %s ago, %.1f MB, %s%s\n", age,
			(double)backup->bytes / 1e6, backup->to,
			backup->running ? "; another one is being made" : "");
	else if (backup->running || backup->wanted)
		fprintf(out, "backup: %s\n",
			backup->running ? "the first one is being made"
					: "none was made yet");
	if (backup->error && *backup->error)
		render_alarm("warning, the last backup failed", backup->error, out);
}

void
bu_render_status(const struct bu_shown_status *status, FILE *out)
{
	const struct bu_shown_nodes nodes = {status->time_ms, status->nodes,
					     status->nodes_count};
	bu_autofree char *summary = bu_node_summary(&nodes);
	bu_autofree char *commit = bu_out_commit(status->commit);
	bu_autofree char *uptime = bu_out_duration(1000 * status->appliance.uptime_s);

	fprintf(out,
		"site %s, epoch %" PRId64
		", revision %.12s%s%s%s; bringupd %s, up %s\n",
		*status->site ? status->site : "(none applied)", status->epoch,
		*status->revision ? status->revision : "(none)",
		*commit ? " (commit " : "", commit, *commit ? ")" : "",
		status->appliance.version, uptime);
	if (*status->trouble)
		fprintf(out,
			"the applied profile cannot be read: %s; no node is moved "
			"until "
			"a corrected one is applied\n",
			status->trouble);
	render_alarms(status, out);
	render_agents(&status->agents, out);
	render_backup(&status->backup, status->time_ms, out);
	render_rollout(&status->rollout, out);
	fprintf(out, "%s\n\n", summary);
	bu_render_nodes(&nodes, out);
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
