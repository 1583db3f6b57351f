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

void
bu_starting_pass(const struct bu_reconcile *rec, struct bu_node *node)
{
	enum bu_start_place place = bu_starting_place(rec, node);

	if (place == BU_START_UP || place == BU_START_SKIPPED)
		bu_node_start(node)->passed = 1;
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

/* A node whose turn comes later could be measured with it. */
static int
has_later_partner(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);

	for (size_t i = 0; i < rec->fleet->count; i++) {
		const struct bu_node *other = rec->fleet->nodes[i];

		if (bu_starting_place(rec, other) == BU_START_TURN &&
		    shares_rail(want->pool, bu_fleet_desired(rec->fleet, other)->pool))
			return 1;
	}
	return 0;
}

/* All that it lacks is a partner of a later tier. */
static int
wants_partner(const struct bu_reconcile *rec, const struct bu_node *node)
{
	enum bu_reason_code code = node->live.wait_reason->code;

	return bu_starting_place(rec, node) == BU_START_LATER &&
	       node->state == BU_STATE_VALIDATING &&
	       (code == BU_REASON_NO_PARTNER || code == BU_REASON_PARTNERS_AWAY ||
		code == BU_REASON_NO_THIRD) &&
	       has_later_partner(rec, node);
}

int
bu_starting_is_up(struct bu_reconcile *rec)
{
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	int partners = 0, others = 0;

	for (size_t i = 0; i < rec->fleet->count && !others; i++) {
		const struct bu_node *node = rec->fleet->nodes[i];

		if (!bu_starting_holds(rec, node))
			continue;
		if (wants_partner(rec, node))
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
