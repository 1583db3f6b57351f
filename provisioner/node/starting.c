/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches the machines of a dark site on, the tiers one after the other. Called by
 * reconcile.c at each tick, and by the API; deadline.c tells the ladders and steps that
 * wait for it. Invariants: nothing is switched off or reset; a machine is switched on
 * only after a fresh answer that it is off, by the request of verbs_power.c, which the
 * log has first; the order is a function of the log, so that another process goes on
 * where this one ended.
 */
#include "provisioner/node/starting.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs_impl.h"

enum {
	/* Agents that run are heard in this time: their BMCs are not asked. */
	SETTLE_MS = 12000,
	AGAIN_MS = 30000, /* between questions to a BMC; an answer is fresh so long */
	TOLD_MS = 5000,   /* a row of this process is in the log, or lost */
};

static int64_t
now_ms(const struct bu_reconcile *rec)
{
	return bu_loop_now_ms(rec->fleet->loop);
}

static int64_t
wall_ms(const struct bu_reconcile *rec)
{
	return bu_wall_ms(bu_loop_clock(rec->fleet->loop));
}

int
bu_starting_replay(BU_REPLAY_ARGS)
{
	const struct bu_body_start *row = &body->start;

	(void)node;
	(void)err;
	if (strcmp(row->to, "begun") == 0 && !fleet->start.seq) {
		fleet->start.seq = event->seq;
		fleet->start.since_ms = event->time_ms;
		fleet->start.tier = row->tier;
		fleet->start.without = 0;
		BU_TEXT_COPY(fleet->start.by, row->by);
	} else if (strcmp(row->to, "tier") == 0) {
		fleet->start.tier = row->tier;
		if (row->without > fleet->start.without)
			fleet->start.without = row->without;
	} else if (strcmp(row->to, "begun") != 0) {
		fleet->start.seq = 0;
	}
	return 0;
}

/* 1 = the start has not come to its machine yet. */
static int
waits_for_it(const struct bu_reconcile *rec, const struct bu_node *node)
{
	enum bu_start_place place;

	if (!rec->fleet->start.seq)
		return 0;
	place = bu_starting_place(rec, node);
	return place == BU_START_TURN || place == BU_START_OFF ||
	       place == BU_START_ASKED ||
	       (place == BU_START_CALLS && bu_starting_comes(rec, node));
}

/* --- asking and switching on --- */

/* Through the verb, with its checks and rows. A refusal is looked at again later. */
static void
power(struct bu_reconcile *rec, struct bu_node *node, const char *op)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					.by = rec->fleet->start.by,
					.op = op,
					.reason = "bringup start",
					.force = 1};

	free(bu_verb_power(rec, node, &ask, NULL));
}

static void
question(struct bu_reconcile *rec, struct bu_node *node, struct bu_start_fact *fact)
{
	fact->asked_ms = now_ms(rec);
	fact->answer_ms = wall_ms(rec);
	if (!fact->mute_ms)
		fact->mute_ms = fact->asked_ms;
	power(rec, node, "status");
}

/* Unknown is not off. */
static void
take_answer(const struct bu_reconcile *rec, const struct bu_node *node,
	    struct bu_start_fact *fact)
{
	const struct bu_power_fact *answer = node->live.power_seen;

	if (!fact->answer_ms || answer->at_ms < fact->answer_ms)
		return;
	fact->answer_ms = 0;
	fact->seen = strcmp(answer->power, "off") == 0  ? BU_START_SEEN_OFF
		     : strcmp(answer->power, "on") == 0 ? BU_START_SEEN_ON
							: BU_START_SEEN_NOTHING;
	fact->seen_ms = now_ms(rec);
	if (fact->seen)
		fact->mute_ms = 0;
}

/* Nodes without a rack are of one. */
static const char *
rack_of(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);

	return want && want->rack ? want->rack : "";
}

static void
switch_on(struct bu_reconcile *rec, struct bu_node *node, struct bu_start_fact *fact,
	  json_t *coming)
{
	const char *rack = rack_of(rec, node);

	if (bu_json_int(coming, rack, 0) >= bu_starting_per_rack(rec) ||
	    (rec->freezer.frozen && rec->freezer.frozen(rec->freezer.arg, node)))
		return;
	bu_json_count_up(coming, rack);
	fact->on_ms = fact->asked_ms = now_ms(rec);
	fact->seen = BU_START_SEEN_NOTHING;
	fact->tries++;
	power(rec, node, "on");
}

/* coming: {rack: machines that come}. */
static void
look(struct bu_reconcile *rec, struct bu_node *node, json_t *coming)
{
	struct bu_start_fact *fact = bu_node_start(node);
	int64_t now = now_ms(rec);

	/* A step that boots it may have it off for a moment. */
	if (node->live.appending || bu_effects_switch(rec, node) ||
	    node->power->result == BU_OUTCOME_ASKED)
		return;
	take_answer(rec, node, fact);
	if (fact->seen == BU_START_SEEN_OFF && now - fact->seen_ms < AGAIN_MS &&
	    fact->tries < BU_START_TRIES)
		switch_on(rec, node, fact, coming);
	else if (!fact->asked_ms || now - fact->asked_ms >= AGAIN_MS)
		question(rec, node, fact);
}

static json_t *
count_coming(const struct bu_reconcile *rec)
{
	json_t *coming = json_object();

	for (size_t i = 0; i < rec->fleet->count; i++)
		if (bu_starting_comes(rec, rec->fleet->nodes[i]) &&
		    !bu_starting_hears(rec, rec->fleet->nodes[i]))
			bu_json_count_up(coming, rack_of(rec, rec->fleet->nodes[i]));
	return coming;
}

/* A ladder that stood still goes on; so does a step that waited. first: all waited for
 * the first look. */
static void
note_wait(struct bu_reconcile *rec, struct bu_node *node, int first)
{
	int waits = waits_for_it(rec, node), waited = node->live.start->waits;

	if (waits != waited) {
		bu_node_start(node)->waits = waits;
		bu_fleet_touch(rec->fleet, node);
	}
	if (!waits && (waited || first))
		rec->drive(rec, node);
}

static void
look_at_each(struct bu_reconcile *rec, int first)
{
	int settled = bu_observe_awake_ms(rec) - rec->starting.from_ms >= SETTLE_MS;
	bu_autojson json_t *coming = count_coming(rec);

	for (size_t i = 0; i < rec->fleet->count; i++) {
		struct bu_node *node = rec->fleet->nodes[i];
		enum bu_start_place place;

		if (node->live.start->of != rec->fleet->start.seq) {
			int waits = node->live.start->waits;

			*bu_node_start(node) = (struct bu_start_fact){
				.of = rec->fleet->start.seq, .waits = waits};
		}
		place = bu_starting_place(rec, node);
		if (place == BU_START_UP || place == BU_START_SKIPPED)
			bu_node_start(node)->passed = 1;
		if (place == BU_START_UP || place == BU_START_LATER)
			bu_node_start(node)->seen = BU_START_SEEN_NOTHING;
		else if (settled && place > BU_START_TURN &&
			 !bu_starting_comes(rec, node))
			look(rec, node, coming);
		note_wait(rec, node, first);
	}
}

/* --- the tiers --- */

/* without: of bu_fleet.start. */
static void
tell(struct bu_reconcile *rec, const char *to, int64_t tier, int64_t without,
     const char *by, const char *reason)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_START, "", start, .to = to, .tier = tier,
		      .without = without, .by = by, .reason = *reason ? reason : NULL);
	bu_reconcile_note(rec, &event, 1);
}

static void
go_on(struct bu_reconcile *rec, int64_t without, const char *by, const char *reason)
{
	int64_t next = bu_starting_tier_above(rec, rec->fleet->start.tier);

	rec->starting.told_tier = rec->fleet->start.tier;
	rec->starting.told_ms = now_ms(rec);
	tell(rec, next ? "tier" : "done", next, without, by, reason);
}

/* The row of the last step may be on its way to the log. */
static int
is_told(const struct bu_reconcile *rec)
{
	return rec->starting.told_ms &&
	       rec->starting.told_tier == rec->fleet->start.tier &&
	       now_ms(rec) - rec->starting.told_ms < TOLD_MS;
}

void
bu_starting_tick(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;
	int first = rec->starting.seq != fleet->start.seq;

	if (!fleet->desired || rec->stopped)
		return;
	if (first) {
		rec->starting.seq = fleet->start.seq;
		rec->starting.from_ms = bu_observe_awake_ms(rec);
		rec->starting.told_ms = rec->starting.partner_ms = 0;
	}
	/* When a start has ended, what waited for it goes on. */
	for (size_t i = 0; first && !fleet->start.seq && i < fleet->count; i++)
		note_wait(rec, fleet->nodes[i], 0);
	if (!fleet->start.seq)
		return;
	look_at_each(rec, first);
	if (bu_starting_is_up(rec) && !is_told(rec))
		go_on(rec, 0, "bringup", "");
}

/* --- a person --- */

static int
check_begin(const struct bu_reconcile *rec, struct bu_err *err)
{
	if (rec->fleet->start.seq)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "a start by %s runs already; bringup start --abort "
				  "ends it",
				  rec->fleet->start.by);
	if (!rec->fleet->desired)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "no profile that can be read is applied, so no node "
				  "can be started");
	if (!bu_starting_tier_above(rec, 0))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "no node takes part in a start; bringup start says "
				  "why each is left alone");
	return 0;
}

static int
check_open(const struct bu_reconcile *rec, const struct bu_start_ask *ask,
	   struct bu_err *err)
{
	if (!rec->fleet->start.seq)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "no start runs; bringup start begins one");
	if (strcmp(ask->op, "next") == 0 && ask->tier != rec->fleet->start.tier)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the start is at start = %lld, and not at %lld; look "
				  "at bringup status, and ask again",
				  (long long)rec->fleet->start.tier,
				  (long long)ask->tier);
	return 0;
}

int
bu_starting_ask(struct bu_reconcile *rec, const struct bu_start_ask *ask,
		struct bu_err *err)
{
	int begins = strcmp(ask->op, "begin") == 0;
	int ends = strcmp(ask->op, "abort") == 0;
	const struct bu_err *down = bu_store_down(rec->fleet->store);

	if (!begins && !ends && strcmp(ask->op, "next") != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "op '%.20s': expected begin, next or abort", ask->op);
	if (down) {
		*err = *down;
		return -1;
	}
	if (bu_fence_check(rec->fleet, BU_ERR_STATE, err) != 0 ||
	    (begins ? check_begin(rec, err) : check_open(rec, ask, err)) != 0)
		return -1;
	if (begins)
		tell(rec, "begun", bu_starting_tier_above(rec, 0), 0, ask->by,
		     ask->reason);
	else if (ends)
		tell(rec, "aborted", rec->fleet->start.tier, 0, ask->by, ask->reason);
	else
		go_on(rec, rec->fleet->start.tier, ask->by, ask->reason);
	return 0;
}
