/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools that become larger and smaller. A node that is one too many is drained and
 * parked with the reason `scaled`; one that is missing is taken from those. Called at
 * each tick of reconcile.c, and by the API. Invariants: nothing is installed or wiped
 * for a number; no node leaves while its cluster does not say what runs on it, or while
 * a rollout has it; a node that a person holds or has parked is left alone.
 */
#include "provisioner/node/scale.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"

enum { NOTED_MS = 10000 /* until a word of idle_off is in the log */ };

int
bu_scale_ask(struct bu_reconcile *rec, const struct bu_desired_pool *pool,
	     int64_t count, const char *by, const char *words, struct bu_err *err)
{
	struct bu_event event;

	if (!pool->max)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "pool %s has no max in the profile, so its size is "
				  "fixed; give it min and max",
				  pool->name);
	if (count < pool->min || count > pool->max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "pool %s has %d to %d nodes by its min and max, not "
				  "%lld",
				  pool->name, pool->min, pool->max, (long long)count);
	if (bu_fence_check(rec->fleet, BU_ERR_STATE, err) != 0)
		return -1;
	BU_EVENT_MAKE(&event, BU_EVENT_SCALE, "", scale, .pool = pool->name,
		      .count = count, .of = pool->count, .by = by, .reason = words);
	bu_reconcile_note(rec, &event, 1);
	return 0;
}

/* --- nodes --- */

static int
is_draining_out(const struct bu_node *node)
{
	return node->state == BU_STATE_DRAINING &&
	       bu_state_info(node->next->state)->settled;
}

static int
is_in(const struct bu_node *node)
{
	return node->state == BU_STATE_READY ||
	       (!bu_state_info(node->state)->settled && !is_draining_out(node));
}

static int
is_spare(const struct bu_node *node)
{
	const struct bu_reason *reason =
		is_draining_out(node) ? &node->next->reason : node->reason;

	return (is_draining_out(node) ? node->next->state : node->state) ==
		       BU_STATE_PARKED &&
	       reason->code == BU_REASON_SCALED && !node->hold->owner;
}

static int
is_of(const struct bu_fleet *fleet, const struct bu_node *node,
      const struct bu_desired_pool *pool)
{
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);

	return want && want->pool == pool;
}

void
bu_scale_count(const struct bu_fleet *fleet, const struct bu_desired_pool *pool,
	       struct bu_scale_tally *ret)
{
	*ret = (struct bu_scale_tally){0};
	for (size_t i = 0; i < fleet->count; i++) {
		if (!is_of(fleet, fleet->nodes[i], pool))
			continue;
		ret->in += is_in(fleet->nodes[i]);
		ret->spares += is_spare(fleet->nodes[i]);
	}
}

/* --- one step --- */

struct scaling {
	struct bu_reconcile *rec;
	const struct bu_desired_pool *pool;
	int wanted;
};

static void
ask(const struct scaling *scaling, struct bu_node *node, enum bu_verb verb,
    const char *op)
{
	const struct bu_scale *scale = bu_scale_of(scaling->rec->fleet, scaling->pool);
	struct bu_verb_ask ask = {.verb = verb,
				  .by = scale ? scale->by : "the profile",
				  .reason = scale ? scale->words : "",
				  .grant = "",
				  .op = op};
	bu_autofree char *text = NULL;
	struct bu_reason why;
	struct bu_err err = {0};

	BU_REASON_SET(&why, SCALED, .text = {scaling->pool->name, ask.by, ask.reason},
		      .number = {scaling->wanted});
	ask.why = &why;
	text = bu_verb_run(scaling->rec, node, &ask, &err);
	if (!text && err.kind != BU_ERR_BUSY)
		bu_log(BU_LOG_WARN, "node", "pool %s: %s", scaling->pool->name,
		       err.text);
}

/* How little is lost when it leaves; -1 = it may not leave now. */
static int
cost(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_cluster_fact *fact = node->live.cluster;

	if (node->state != BU_STATE_READY || node->hold->owner || node->order->open ||
	    node->live.appending)
		return -1;
	if (!node->joined->cluster[0])
		return 0;
	if (!bu_cluster_fact_is_recent(fact, bu_loop_now_ms(rec->fleet->loop)))
		return -1;
	return fact->known ? fact->jobs : 0;
}

/* The cheapest; of several the last by name. NULL = none may leave now. */
static struct bu_node *
cheapest(const struct scaling *scaling)
{
	const struct bu_fleet *fleet = scaling->rec->fleet;
	struct bu_node *ret = NULL;
	int best = -1;

	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		int now = is_of(fleet, node, scaling->pool) ? cost(scaling->rec, node)
							    : -1;

		if (now < 0 || (ret && now > best))
			continue;
		ret = node;
		best = now;
	}
	return ret;
}

/* What is soonest back: one that still drains, then one that runs, the first by name.
 */
static struct bu_node *
soonest(const struct scaling *scaling)
{
	const struct bu_fleet *fleet = scaling->rec->fleet;
	struct bu_node *ret = NULL;
	int best = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		int rank = node->state == BU_STATE_DRAINING   ? 3
			   : bu_verb_runs(scaling->rec, node) ? 2
							      : 1;

		if (!is_of(fleet, node, scaling->pool) || !is_spare(node) ||
		    node->order->open || node->live.appending || rank <= best ||
		    bu_power_request_runs(node))
			continue;
		ret = node;
		best = rank;
	}
	return ret;
}

/* --- idle machines --- */

/* Whose word it is when nobody has said it. */
#define POLICY "idle_off"

/* Since when its cluster says that it has nothing to do; ms of the loop, 0 = it has. */
static void
note_idle(struct bu_reconcile *rec, struct bu_node *node)
{
	int idle = node->state == BU_STATE_READY && node->joined->cluster[0] &&
		   bu_reconcile_is_idle(rec, node) &&
		   node->live.cluster->drain == BU_DRAIN_NONE;

	if (!idle)
		node->live.idle_ms = 0;
	else if (!node->live.idle_ms)
		node->live.idle_ms = bu_loop_now_ms(rec->fleet->loop);
}

/* Nodes that may be switched off for want of work. */
static int
count_idle(const struct scaling *scaling)
{
	struct bu_reconcile *rec = scaling->rec;
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	int idle = 0;

	for (size_t i = 0; i < rec->fleet->count; i++) {
		struct bu_node *node = rec->fleet->nodes[i];

		if (!is_of(rec->fleet, node, scaling->pool))
			continue;
		note_idle(rec, node);
		idle += cost(rec, node) == 0 && node->live.idle_ms &&
			now_ms - node->live.idle_ms >= scaling->pool->idle_off_ms;
	}
	return idle;
}

/* A number that somebody has said lasts as long as an idle node, whatever is idle. */
static void
look_idle(struct scaling *scaling)
{
	struct bu_reconcile *rec = scaling->rec;
	const struct bu_scale *scale = bu_scale_of(rec->fleet, scaling->pool);
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	int64_t wall_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	int count = scaling->wanted - count_idle(scaling);
	struct bu_err err;

	if (count < scaling->pool->min)
		count = scaling->pool->min;
	if (count >= scaling->wanted ||
	    (scale && strcmp(scale->by, POLICY) != 0 &&
	     wall_ms - scale->at_ms < scaling->pool->idle_off_ms) ||
	    (rec->scaled_ms && now_ms - rec->scaled_ms < NOTED_MS))
		return;
	rec->scaled_ms = now_ms;
	if (bu_scale_ask(rec, scaling->pool, count, POLICY, "", &err) != 0)
		bu_log(BU_LOG_WARN, "node", "%s", err.text);
}

/* Those that have left are switched off, once. */
static void
switch_off(const struct scaling *scaling)
{
	struct bu_reconcile *rec = scaling->rec;

	for (size_t i = 0; i < rec->fleet->count; i++) {
		struct bu_node *node = rec->fleet->nodes[i];

		if (is_of(rec->fleet, node, scaling->pool) &&
		    node->state == BU_STATE_PARKED && is_spare(node) &&
		    !node->order->open && !node->live.appending &&
		    node->power->at_ms < node->since_ms &&
		    !bu_manual_is(bu_fleet_desired(rec->fleet, node)))
			ask(scaling, node, BU_VERB_POWER, "off");
	}
}

/* Rows of its nodes are on their way to the log: the count is of before them. */
static int
is_being_told(const struct scaling *scaling)
{
	const struct bu_fleet *fleet = scaling->rec->fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->nodes[i]->live.appending &&
		    is_of(fleet, fleet->nodes[i], scaling->pool))
			return 1;
	return 0;
}

static void
look_at(struct scaling *scaling)
{
	struct bu_scale_tally tally;
	struct bu_node *node = NULL;

	if (is_being_told(scaling))
		return;
	bu_scale_count(scaling->rec->fleet, scaling->pool, &tally);
	if (tally.in > scaling->wanted && (node = cheapest(scaling)))
		ask(scaling, node, BU_VERB_DRAIN, "");
	else if (tally.in < scaling->wanted && (node = soonest(scaling)))
		ask(scaling, node, BU_VERB_RESUME, "");
	if (!scaling->pool->idle_off_ms)
		return;
	if (tally.in <= scaling->wanted)
		look_idle(scaling);
	switch_off(scaling);
}

void
bu_scale_tick(struct bu_reconcile *rec)
{
	const struct bu_desired *desired = rec->fleet->desired;

	if (rec->stopped || !rec->alive || !desired)
		return;
	for (size_t i = 0; i < desired->pools_count; i++) {
		struct scaling scaling = {rec, &desired->pools[i], 0};

		if (!scaling.pool->max)
			continue;
		scaling.wanted = bu_scale_wanted(rec->fleet, scaling.pool);
		look_at(&scaling);
	}
}
