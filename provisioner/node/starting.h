/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bringup start`: after a power loss of everything the machines are switched on tier
 * by tier, a tier being all pools of the same [pool] start. The open start is in
 * fleet->start, a function of the log.
 */
#ifndef BU_NODE_STARTING_H
#define BU_NODE_STARTING_H

#include "provisioner/node/reconcile.h"
#include "provisioner/node/replay_impl.h"

/* Where a node is in the start. A tier waits for none that is LEFT, UP or SKIPPED. */
enum bu_start_place {
	BU_START_LEFT,    /* alone: bu_starting_left() says why */
	BU_START_UP,      /* ready, and its agent was heard since the start began */
	BU_START_LATER,   /* its agent is heard; its state is on the way to ready */
	BU_START_TURN,    /* another tier comes first */
	BU_START_SKIPPED, /* no clear answer of its BMC, or off after all tries */
	BU_START_CALLS,   /* its machine is on, and its agent is waited for */
	BU_START_OFF,     /* its machine is off: room in its rack, or the brake */
	BU_START_ASKED,   /* its BMC is asked */
};

/* of bu_start_fact.seen */
enum { BU_START_SEEN_NOTHING, BU_START_SEEN_OFF, BU_START_SEEN_ON };

enum {
	BU_START_TRIES = 3, /* times that a machine is switched on */
};

/* op: "begin", "next" or "abort". tier: of "next", the one that is gone on without.
 * reason: "" = none. */
struct bu_start_ask {
	const char *op, *by, *reason;
	int64_t tier;
};

/* --- starting_place.c --- */

/* With no open start, as of one that begins now. */
enum bu_start_place bu_starting_place(const struct bu_reconcile *rec,
				      const struct bu_node *node);
/* Why a start leaves the node alone; NULL = it takes part. New reference. */
json_t *bu_starting_left(const struct bu_reconcile *rec, const struct bu_node *node);
/* [pool] start of the node, which is in the profile. */
int bu_starting_tier(const struct bu_reconcile *rec, const struct bu_node *node);
/* [policy] start_per_rack. */
int bu_starting_per_rack(const struct bu_reconcile *rec);
/* 1 = switched on since the start began, and may take its time until it calls. */
int bu_starting_comes(const struct bu_reconcile *rec, const struct bu_node *node);
/* 1 = its agent was heard since the start began, and is not missed. */
int bu_starting_hears(const struct bu_reconcile *rec, const struct bu_node *node);

/* --- starting.c --- */

bu_must int bu_starting_replay(BU_REPLAY_ARGS);
/* Called at each tick: asks BMCs, switches machines on, goes on to the next tier. */
void bu_starting_tick(struct bu_reconcile *rec);
/* Writes the row that begins, leads on or ends a start. BU_ERR_BUSY: another one runs;
 * BU_ERR_STATE: none runs, it is at another tier, or no node takes part; the log's and
 * the fence's errors. */
bu_must int bu_starting_ask(struct bu_reconcile *rec, const struct bu_start_ask *ask,
			    struct bu_err *err);

/* --- starting_tiers.c --- */

/* 1 = the start goes on: nobody is waited for, or those who are have lacked nothing but
 * partners of later tiers for a while. */
int bu_starting_is_up(struct bu_reconcile *rec);
/* 1 = the present tier waits for the node, of its own or of an earlier place. */
int bu_starting_holds(const struct bu_reconcile *rec, const struct bu_node *node);
/* The lowest tier above this one that a node takes part of; 0 = none. */
int64_t bu_starting_tier_above(const struct bu_reconcile *rec, int64_t tier);

/* starting_shown.c. What GET /v1/start answers: {"running": null or {"by","since_ms",
 * "tier"}, "per_rack", "pools": [{"tier","pool","nodes":[],"up":[]}] in their order,
 * "left": [{"why","nodes":[]}]}. New reference. */
json_t *bu_starting_json(const struct bu_reconcile *rec);
/* The open start as a line of a status; NULL = none is open. New reference. */
json_t *bu_starting_said(const struct bu_reconcile *rec);
/* A line of `node why`: its place in the open start; NULL = none. New reference. */
json_t *bu_starting_why(const struct bu_reconcile *rec, const struct bu_node *node);

#endif
