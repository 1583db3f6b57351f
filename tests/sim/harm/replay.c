/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log owns is a function of it: around a start it is as it was, and a second
 * fleet that only follows the log is equal after each row. Called by daemon.c.
 * Invariant: what is only seen is not compared.
 */
#include <stdio.h>

#include "base/json.h"
#include "tests/sim/harm/harm.h"

static json_t *kept; /* of oracle_remember() */

static json_t *
owned_by_log(const struct bu_node *node)
{
	bu_autofree char *reason = bu_reason_text(node->reason);

	return json_pack(
		"{s:s,s:s,s:s,s:i,s:s,s:i,s:i,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:s,s:s,"
		"s:s,s:s,s:i}",
		"state", bu_state_name(node->state), "reason", reason, "step",
		node->step.id, "status", node->step.status, "machine", node->machine,
		"repeats", node->repeats, "stages", node->stages_count, "boot",
		node->boot_id, "image", node->installed_digest, "installed",
		node->installed_step, "facets", node->facets, "held", node->hold->by,
		"open", node->order->open, "begun", node->order->begun, "failed",
		node->order->failed, "order", node->order->rollout, "admitted",
		node->admitted_step, "power", bu_power_request_names[node->power->op],
		"done", bu_outcome_names[node->power->result], "outdated",
		node->outdated);
}

static json_t *
all_of(const struct bu_fleet *fleet)
{
	json_t *all = json_object();

	for (size_t i = 0; i < fleet->count; i++)
		json_object_set_new(all, fleet->nodes[i]->name,
				    owned_by_log(fleet->nodes[i]));
	return all;
}

void
oracle_remember(const struct bu_fleet *fleet)
{
	json_decref(kept);
	kept = all_of(fleet);
}

void
oracle_drop(void)
{
	json_decref(kept);
	kept = NULL;
}

void
oracle_compare(const struct bu_fleet *fleet)
{
	bu_autojson json_t *now = kept ? all_of(fleet) : NULL;
	const char *name;
	json_t *was;

	oracle_anew();
	json_object_foreach (kept, name, was) {
		json_t *is = json_object_get(now, name);

		if (!json_equal(was, is)) {
			bu_autofree char *a = json_dumps(was, JSON_COMPACT);
			bu_autofree char *b = is ? json_dumps(is, JSON_COMPACT) : NULL;

			broken(RULE_REPLAY, "%s was %s before the restart, and is %s",
			       name, a, b ? b : "gone");
		}
	}
	json_decref(kept);
	kept = NULL;
}

/* --- a fleet that only follows --- */

enum { ALL_EACH = 64 }; /* rows; in between the node of the row alone */

static struct {
	struct bu_fleet *leads, *follows;
	struct bu_follower *after;
	long rows;
} pair;

static void
compare_node(const char *name)
{
	const struct bu_node *a = bu_fleet_node(pair.leads, name);
	const struct bu_node *b = bu_fleet_node(pair.follows, name);
	bu_autojson json_t *leads = a ? owned_by_log(a) : NULL;
	bu_autojson json_t *follows = b ? owned_by_log(b) : NULL;

	if ((!a && !b) || json_equal(leads, follows))
		return;
	bu_autofree char *of_a = leads ? json_dumps(leads, JSON_COMPACT) : NULL;
	bu_autofree char *of_b = follows ? json_dumps(follows, JSON_COMPACT) : NULL;

	broken(RULE_REPLAY, "%s is %s, and who only follows has %s", name,
	       of_a ? of_a : "unknown", of_b ? of_b : "no such node");
}

static int
after_row(const struct bu_event *event, void *arg, struct bu_err *err)
{
	compare_node(event->node);
	if (++pair.rows % ALL_EACH != 0)
		return 0;
	if (pair.leads->count != pair.follows->count)
		broken(RULE_REPLAY, "who only follows has %zu nodes of %zu",
		       pair.follows->count, pair.leads->count);
	for (size_t i = 0; i < pair.leads->count; i++)
		compare_node(pair.leads->nodes[i]->name);
	return 0;
}

void
oracle_follow(struct bu_fleet *leads)
{
	struct bu_err err = {0};

	pair.leads = leads;
	pair.follows = bu_fleet_create(leads->loop, leads->store);
	pair.follows->public_pem = leads->public_pem;
	if (bu_fleet_load(pair.follows, &err) == 0)
		pair.after = bu_store_follow(leads->store, after_row, NULL, &err);
	if (!pair.after)
		fprintf(stderr, "harm: %s\n", err.text);
	bu_assert(pair.after);
}

void
oracle_unfollow(void)
{
	bu_store_unfollow(pair.after);
	bu_fleet_destroy(pair.follows);
	pair.after = NULL;
	pair.leads = pair.follows = NULL;
}

long
oracle_followed(void)
{
	return pair.rows;
}
