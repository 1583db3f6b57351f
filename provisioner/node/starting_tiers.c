/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the open start may go on to its next tier. Called by starting.c at each tick,
 * and by starting_shown.c. Invariant: a node that was placed before the present tier,
 * by a profile that was applied meanwhile, or that was let past without being up, is
 * waited for before the start ends; one that a person went on without is not.
 */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/starting.h"

/* Nodes that could be partners of each other have found each other by then. */
enum { PARTNER_MS = 30000 };

int64_t
bu_starting_tier_above(const struct bu_reconcile *rec, int64_t tier)
{
	int64_t lowest = 0;

	for (size_t i = 0; i < rec->fleet->count; i++) {
		const struct bu_node *node = rec->fleet->nodes[i];
		int64_t own;

		if (bu_starting_place(rec, node) == BU_START_LEFT)
			continue;
		own = bu_starting_tier(rec, node);
		if (own > tier && (!lowest || own < lowest))
			lowest = own;
	}
	return lowest;
}

int
bu_starting_holds(const struct bu_reconcile *rec, const struct bu_node *node)
{
	enum bu_start_place place = bu_starting_place(rec, node);
	int64_t own;

	if (place == BU_START_LEFT || place == BU_START_UP || place == BU_START_SKIPPED)
		return 0;
	own = bu_starting_tier(rec, node);
	if (own >= rec->fleet->start.tier)
		return own == rec->fleet->start.tier;
	return own > rec->fleet->start.without && !node->live.start->passed;
}

static int
shares_rail(const struct bu_desired_pool *a, const struct bu_desired_pool *b)
{
	for (size_t i = 0; i < a->rails_count; i++)
		for (size_t k = 0; k < b->rails_count; k++)
			if (strcmp(a->rails[i]->name, b->rails[k]->name) == 0)
				return 1;
	return 0;
}

/* For each pool of the profile: 1 = the turn of one of its nodes comes later. Owned. */
static char *
later_pools(const struct bu_reconcile *rec)
{
	const struct bu_desired *desired = rec->fleet->desired;
	char *ret = bu_xcalloc(desired ? desired->pools_count + 1 : 1, 1);

	for (size_t i = 0; desired && i < rec->fleet->count; i++) {
		const struct bu_node *node = rec->fleet->nodes[i];

		if (bu_starting_place(rec, node) == BU_START_TURN)
			ret[bu_fleet_desired(rec->fleet, node)->pool - desired->pools] =
				1;
	}
	return ret;
}

/* A node whose turn comes later could be measured with it. */
static int
has_later_partner(const struct bu_reconcile *rec, const struct bu_node *node,
		  const char *later)
{
	const struct bu_desired *desired = rec->fleet->desired;
	const struct bu_desired_pool *pool = bu_fleet_desired(rec->fleet, node)->pool;

	for (size_t i = 0; i < desired->pools_count; i++)
		if (later[i] && shares_rail(pool, &desired->pools[i]))
			return 1;
	return 0;
}

/* All that it lacks is a partner of a later tier. */
static int
wants_partner(const struct bu_reconcile *rec, const struct bu_node *node,
	      const char *later)
{
	enum bu_reason_code code = node->live.wait_reason->code;

	return bu_starting_place(rec, node) == BU_START_LATER &&
	       node->state == BU_STATE_VALIDATING &&
	       (code == BU_REASON_NO_PARTNER || code == BU_REASON_PARTNERS_AWAY ||
		code == BU_REASON_NO_THIRD) &&
	       has_later_partner(rec, node, later);
}

int
bu_starting_is_up(struct bu_reconcile *rec)
{
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	bu_autofree char *later = later_pools(rec);
	int partners = 0, others = 0;

	for (size_t i = 0; i < rec->fleet->count && !others; i++) {
		const struct bu_node *node = rec->fleet->nodes[i];

		if (!bu_starting_holds(rec, node))
			continue;
		if (wants_partner(rec, node, later))
			partners = 1;
		else
			others = 1;
	}
	if (!partners || others)
		rec->starting.partner_ms = 0;
	else if (!rec->starting.partner_ms)
		rec->starting.partner_ms = now_ms;
	return !others &&
	       (!partners || now_ms - rec->starting.partner_ms >= PARTNER_MS);
}
