/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a node is in the open start, or would be in one that begins now. Called by
 * starting.c, starting_tiers.c and starting_shown.c. Invariant: nothing is changed
 * here.
 */
#include "provisioner/node/starting.h"

#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "provisioner/node/reconcile_impl.h"

enum {
	SKIP_MS = 10 * 60000, /* a BMC that has lost its power starts in minutes */
	CALLED_MS = 5000,     /* the row of the request is in the log, or lost */
	PER_RACK = 4,
};

static int64_t
now_ms(const struct bu_reconcile *rec)
{
	return bu_loop_now_ms(rec->fleet->loop);
}

/* Why it is left alone. */
enum left { TAKES_PART, HELD, STATE, UNADOPTED, MANUAL, ASLEEP };

static enum left
left_of(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);

	if (node->hold->owner)
		return HELD;
	if (!want || node->state == BU_STATE_DRAINING ||
	    (bu_state_info(node->state)->settled && node->state != BU_STATE_READY))
		return STATE;
	if (node->conditions[BU_CONDITION_UNADOPTED].on)
		return UNADOPTED;
	if (bu_manual_is(want))
		return MANUAL;
	return bu_suspend_is(rec, node) ? ASLEEP : TAKES_PART;
}

json_t *
bu_starting_left(const struct bu_reconcile *rec, const struct bu_node *node)
{
	enum left left = left_of(rec, node);

	if (left == TAKES_PART)
		return NULL;
	return BU_SAID(START_LEFT, BU_ARG("by", left == HELD ? node->hold->by : ""),
		       BU_ARG("state", left == STATE ? bu_state_name(node->state) : ""),
		       BU_ARG_NUMBER("unadopted", left == UNADOPTED),
		       BU_ARG_NUMBER("manual", left == MANUAL),
		       BU_ARG_NUMBER("asleep", left == ASLEEP));
}

int
bu_starting_tier(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return bu_fleet_desired(rec->fleet, node)->pool->start;
}

int
bu_starting_per_rack(const struct bu_reconcile *rec)
{
	int most = rec->fleet->desired ? rec->fleet->desired->policy.start_per_rack : 0;

	return most ? most : PER_RACK;
}

/* Heard before the start began, a machine may have lost its power since. */
int
bu_starting_hears(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t heard_ms = node->live.agent->heard_ms;

	if (rec->fleet->start.seq && (rec->starting.seq != rec->fleet->start.seq ||
				      heard_ms <= rec->starting.from_ms))
		return 0;
	return heard_ms && !bu_observe_misses(rec, node);
}

int
bu_starting_comes(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node_power_request *request = node->power;
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
	int64_t limit_ms = bu_state_info(BU_STATE_BOOTING)->limit_s * INT64_C(1000);

	if (node->live.start->on_ms &&
	    now_ms(rec) - node->live.start->on_ms < CALLED_MS)
		return 1;
	if (!want || request->op != BU_POWER_REQUEST_ON ||
	    request->seq < rec->fleet->start.seq)
		return 0;
	if (request->result == BU_OUTCOME_ASKED)
		return 1;
	return request->result != BU_OUTCOME_FAILED &&
	       strcmp(request->power, "on") == 0 &&
	       bu_wall_ms(bu_loop_clock(rec->fleet->loop)) - request->at_ms <
		       limit_ms + bu_desired_post_ms(want);
}

static const struct bu_start_fact *
fact_of(const struct bu_reconcile *rec, const struct bu_node *node)
{
	static const struct bu_start_fact nothing;

	return node->live.start->of == rec->fleet->start.seq ? node->live.start
							     : &nothing;
}

static int
is_skipped(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_start_fact *fact = fact_of(rec, node);

	return (fact->mute_ms && now_ms(rec) - fact->mute_ms >= SKIP_MS) ||
	       (fact->seen == BU_START_SEEN_OFF && fact->tries >= BU_START_TRIES);
}

enum bu_start_place
bu_starting_place(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (left_of(rec, node) != TAKES_PART)
		return BU_START_LEFT;
	if (bu_starting_hears(rec, node))
		return node->state == BU_STATE_READY && !node->live.appending
			       ? BU_START_UP
			       : BU_START_LATER;
	if (bu_starting_tier(rec, node) > rec->fleet->start.tier)
		return BU_START_TURN;
	if (bu_starting_comes(rec, node))
		return BU_START_CALLS;
	if (is_skipped(rec, node))
		return BU_START_SKIPPED;
	switch (fact_of(rec, node)->seen) {
	case BU_START_SEEN_OFF:
		return BU_START_OFF;
	case BU_START_SEEN_ON:
		return BU_START_CALLS;
	default:
		return BU_START_ASKED;
	}
}
