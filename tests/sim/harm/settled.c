/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the faults have ended: what is not ready, and does a view name what leads out?
 * Invariant: a node that a person took out may stay there, as long as the way back is
 * named.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "tests/sim/harm/harm.h"

static int
other_partners(const struct row *row)
{
	int count = 0;

	for (int i = 0; i < ROWS; i++) {
		const struct row *other = &sim.applied.rows[i];
		const struct bu_node *node =
			other->present && other != row
				? bu_fleet_node(daemon_world(), other->name)
				: NULL;

		count += node && !node->hold->owner &&
			 !bu_node_is_away_by_condition(node) &&
			 (node->state == BU_STATE_READY ||
			  node->state == BU_STATE_VALIDATING ||
			  node->state == BU_STATE_JOINING);
	}
	return count;
}

/* The plan of what is applied has something to say of the node: the next command is
 * an apply, or what it names. *answer: that plan, owned; NULL = not made yet. */
static int
is_planned(const char *name, json_t **answer)
{
	const json_t *plan;
	static const char *const lists[] = {"steps", "refused", "quarantined"};
	size_t i;
	json_t *entry;

	if (!*answer)
		*answer = person_plans();
	plan = json_object_get(*answer, "plan");
	for (size_t k = 0; k < BU_LEN(lists); k++)
		json_array_foreach (json_object_get(plan, lists[k]), i, entry)
			if (strstr(bu_json_str(entry, "node", ""), name))
				return 1;
	return 0;
}

static int
names_a_command(const char *name)
{
	bu_autofree char *path = bu_xasprintf("/v1/nodes/%s", name);
	struct bu_err err;
	bu_autojson json_t *shown = wire_call("GET", path, NULL, &err);
	bu_autofree char *why = bu_said_lines(json_object_get(shown, "why"));

	return strstr(why, "bringup ") != NULL;
}

/* Nothing is to be done any more, and its kernel does not run with what is applied. */
static void
look_at_applied(const struct row *row, const struct bu_node *node, json_t **plan)
{
	const struct machine *its = oracle_machine_of(node);
	int wanted = sim.applied.kargs[row->pool];
	char kargs[32] = "";

	if (wanted)
		snprintf(kargs, sizeof(kargs), "tick=%d", wanted);
	if (!its || its->in_memory || !machine_works(its) || node->order->open ||
	    strcmp(its->booted, kargs) == 0 || is_planned(row->name, plan))
		return;
	broken(RULE_APPLIED,
	       "%s is ready, its kernel runs with '%s', '%s' is applied, and the plan "
	       "is empty",
	       node->name, its->booted, kargs);
}

static const char *
unsettled_row(const struct row *row, int helped, json_t **plan)
{
	const struct bu_node *node = bu_fleet_node(daemon_world(), row->name);
	const char *why;

	if (row_machine(row) < 0)
		return NULL;
	if (!node)
		return "the daemon does not know it";
	why = node->state == BU_STATE_READY ? oracle_unusable(node) : "it is not ready";
	if (!why)
		look_at_applied(row, node, plan);
	if (!why || slurm_admin_drained(row->name))
		return NULL;
	if (node->state == BU_STATE_VALIDATING && !other_partners(row))
		return NULL;
	if (helped)
		return why;
	return names_a_command(row->name) || is_planned(row->name, plan) ? NULL : why;
}

const char *
oracle_unsettled(int helped)
{
	static char text[1200];
	bu_autojson json_t *plan = NULL;

	if (!daemon_runs())
		return "the daemon does not run";
	for (int i = 0; i < ROWS; i++) {
		const struct row *row = &sim.applied.rows[i];
		const char *why =
			row->present ? unsettled_row(row, helped, &plan) : NULL;
		bu_autofree char *path = NULL;
		bu_autojson json_t *shown = NULL;
		bu_autofree char *lines = NULL;
		struct bu_err err;

		if (!why)
			continue;
		path = bu_xasprintf("/v1/nodes/%s", row->name);
		shown = wire_call("GET", path, NULL, &err);
		lines = bu_said_lines(json_object_get(shown, "why"));
		snprintf(text, sizeof(text), "%s: %s. %s", row->name, why, lines);
		return text;
	}
	return NULL;
}
