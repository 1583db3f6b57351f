/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Siblings: nodes whose machines have the same BMC, as in a chassis. A restart of the
 * BMC hits all of them. Called by reconcile.c, effects.c and verbs_power.c. Invariants:
 * bringup itself restarts no BMC while one of its machines is being switched or is in a
 * person's hands; no machine is switched while its BMC restarts.
 */
#include <string.h>

#include "base/url.h"
#include "provisioner/node/effect.h"

/* A BMC restarted within this time is not restarted for another of its machines. */
enum { LATELY_MS = 15 * 60 * 1000 };

/* The BMCs of its order and of its reach: an action begun before a correction may still
 * run on the old one. */
enum { BMCS = 2 };

static void
bmcs_of(const struct bu_reconcile *rec, const struct bu_node *node,
	const char *ret[BMCS])
{
	const struct bu_desired_node *wants[BMCS] = {bu_fleet_ordered(rec->fleet, node),
						     bu_fleet_reach(rec->fleet, node)};

	for (int i = 0; i < BMCS; i++)
		ret[i] = bu_bmc_is(wants[i]) && wants[i]->bmc ? wants[i]->bmc : "";
}

static int
is_sibling(const struct bu_reconcile *rec, const struct bu_node *node,
	   const struct bu_node *other)
{
	const char *own[BMCS], *others[BMCS];

	if (!other || other == node)
		return 0;
	bmcs_of(rec, node, own);
	bmcs_of(rec, other, others);
	for (int i = 0; i < BMCS * BMCS; i++)
		if (bu_url_same_host(own[i / BMCS], others[i % BMCS]))
			return 1;
	return 0;
}

/* The first sibling for which is() holds. */
static const struct bu_node *
find(const struct bu_reconcile *rec, const struct bu_node *node,
     int (*is)(const struct bu_reconcile *rec, const struct bu_node *node))
{
	for (size_t i = 0; i < rec->fleet->count; i++) {
		const struct bu_node *other = rec->fleet->nodes[i];

		if (is(rec, other) && is_sibling(rec, node, other))
			return other;
	}
	return NULL;
}

/* The same for steps with a running command: each effect is looked at once, and not
 * once for each node. */
static const struct bu_node *
find_effect(const struct bu_reconcile *rec, const struct bu_node *node, int restarts)
{
	for (const struct bu_effect *effect = rec->effects; effect;
	     effect = effect->next) {
		const struct bu_node *other =
			effect->switches && (effect->restarts || !restarts)
				? bu_fleet_node(rec->fleet, effect->node)
				: NULL;

		if (is_sibling(rec, node, other))
			return other;
	}
	return NULL;
}

static int
is_wished(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return bu_wish_runs(node);
}

static int
is_wished_restart(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return bu_wish_restarts(node);
}

static int
is_worked_on(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return !bu_state_info(node->state)->settled;
}

static int
is_of_a_person(const struct bu_reconcile *rec, const struct bu_node *node)
{
	(void)rec;
	return node->state == BU_STATE_SERVICING || node->hold.owner == BU_OWNER_PERSON;
}

static int
was_restarted(const struct bu_reconcile *rec, const struct bu_node *node)
{
	/* A person's restart is in the log, which outlives this process. */
	int64_t ago_ms =
		bu_wall_ms(bu_loop_clock(rec->fleet->loop)) - node->power.at_ms;

	if (node->power.op == BU_DEED_BMC_RESET && ago_ms >= 0 && ago_ms < LATELY_MS)
		return 1;
	return node->live.bmc_restart_ms &&
	       bu_loop_now_ms(rec->fleet->loop) - node->live.bmc_restart_ms < LATELY_MS;
}

const struct bu_node *
bu_sibling_switched(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node *other = find_effect(rec, node, 0);

	return other ? other : find(rec, node, is_wished);
}

const struct bu_node *
bu_sibling_in_use(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node *other = find(rec, node, is_of_a_person);

	return other ? other : find(rec, node, is_worked_on);
}

int
bu_siblings_allow(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return !find(rec, node, is_of_a_person) && !find(rec, node, was_restarted);
}

const struct bu_node *
bu_sibling_restarts(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node *other = find_effect(rec, node, 1);

	return other ? other : find(rec, node, is_wished_restart);
}
