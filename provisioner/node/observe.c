/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts (memory) and conditions (log) of nodes, from their agents and clusters. One
 * observer per cluster asks for all of its nodes at a bounded rate. Called at each tick
 * of reconcile.c, and by the API when an agent is heard. Invariants: silence never
 * leads to a power action; it is counted in time that bringupd was awake, so no node is
 * missed for a stop of bringupd.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/drifted.h"
#include "provisioner/node/over.h"
#include "provisioner/node/reconcile_impl.h"

/* A fault is told within 30 s: a cluster is asked every 10 s, and is silent 15 s after
 * its first unanswered question. */
enum {
	AGENT_SILENT_MS = 25000,
	AGENT_START_MS = 30000, /* after a start of bringupd */
	ASK_MS = 10000,
	ASK_MAX_MS = 20000,
	CLUSTER_SILENT_MS = 15000,
	AGAIN_MS = 60000, /* between rejoins of one node */
	UNSTEADY_MS = 30 * 60 * 1000,
	CLAIMED_MS = 15 * 60 * 1000,
	STEP_MAX_MS = 2000, /* of a tick that count, at most */
};

struct bu_observer {
	struct bu_observer *next;
	struct bu_reconcile *rec;
	struct bu_joined of; /* driver and handle count */
	const struct bu_cluster_driver *driver;
	struct bu_cluster *cluster;
	int wanted;       /* a node has joined it */
	int64_t next_ms;  /* awake: of the next question */
	int64_t pause_ms; /* between questions */
	int64_t open_ms;  /* awake: of the first unanswered question; 0 = none */
	char error[200];  /* of the last question; "" = answered */
};

int64_t
bu_observe_awake_ms(const struct bu_reconcile *rec)
{
	int64_t step_ms = bu_loop_now_ms(rec->fleet->loop) - rec->ticked_ms;

	return rec->awake_ms + (step_ms > STEP_MAX_MS ? STEP_MAX_MS : step_ms);
}

/* --- agents --- */

int
bu_observe_misses(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t now_ms = bu_observe_awake_ms(rec);
	int64_t heard_ms = node->live.agent->heard_ms;

	if (heard_ms < AGENT_START_MS - AGENT_SILENT_MS)
		heard_ms = AGENT_START_MS - AGENT_SILENT_MS;
	return now_ms - heard_ms >= AGENT_SILENT_MS &&
	       now_ms >= node->live.agent->busy_ms;
}

void
bu_reconcile_heard(struct bu_reconcile *rec, struct bu_node *node)
{
	bu_node_agent(node)->heard_ms = bu_observe_awake_ms(rec);
}

void
bu_reconcile_busy(struct bu_reconcile *rec, struct bu_node *node, int64_t for_ms)
{
	bu_node_agent(node)->busy_ms = for_ms ? bu_observe_awake_ms(rec) + for_ms : 0;
}

void
bu_reconcile_progress(struct bu_reconcile *rec, struct bu_node *node, const char *stage,
		      uint64_t done_bytes, uint64_t total_bytes)
{
	bu_autofree char *before = bu_xstrdup(node->live.progress_stage);

	bu_node_set_progress_stage(node, stage);
	if (!node->live.progress_ms || strcmp(node->live.progress_stage, before) != 0 ||
	    done_bytes > node->live.progress_most_bytes) {
		node->live.progress_ms = bu_loop_now_ms(rec->fleet->loop);
		node->live.progress_most_bytes = done_bytes;
	}
	node->live.progress_done_bytes = done_bytes;
	node->live.progress_total_bytes = total_bytes;
	bu_fleet_touch(rec->fleet, node);
}

/* --- clusters --- */

static int
is_of(const struct bu_observer *observer, const struct bu_joined *joined)
{
	return strcmp(observer->of.handle, joined->handle) == 0 &&
	       strcmp(observer->of.driver, joined->driver) == 0;
}

static struct bu_observer *
observer_of(const struct bu_reconcile *rec, const struct bu_joined *joined)
{
	struct bu_observer *observer = rec->observers;

	while (observer && !is_of(observer, joined))
		observer = observer->next;
	return observer;
}

static int
by_name(const void *name, const void *row)
{
	return strcmp(name, ((const struct bu_cluster_row *)row)->name);
}

/* Whatever the time of the answer. */
static int
is_same(const struct bu_cluster_fact *a, const struct bu_cluster_fact *b)
{
	return a->known == b->known && a->responds == b->responds &&
	       a->down == b->down && a->jobs == b->jobs && a->sleeps == b->sleeps &&
	       a->reboots == b->reboots && a->drain == b->drain &&
	       strcmp(a->state, b->state) == 0 && strcmp(a->reason, b->reason) == 0 &&
	       strcmp(a->by, b->by) == 0;
}

static void
on_seen(const struct bu_cluster_row *rows, size_t count, const struct bu_err *err,
	void *arg)
{
	struct bu_observer *observer = arg;
	struct bu_fleet *fleet = observer->rec->fleet;
	struct bu_node *news = NULL;

	snprintf(observer->error, sizeof(observer->error), "%s", err ? err->text : "");
	if (err && !observer->open_ms) /* it was an operation's question */
		observer->open_ms = bu_observe_awake_ms(observer->rec);
	if (err)
		return;
	observer->open_ms = 0;
	observer->pause_ms = ASK_MS;
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		const struct bu_cluster_row *row;
		struct bu_cluster_fact before = *node->live.cluster;

		if (!node->joined->cluster[0] || !is_of(observer, node->joined))
			continue;
		row = count ? bsearch(node->joined->node, rows, count, sizeof(*rows),
				      by_name)
			    : NULL;
		if (row)
			*bu_node_cluster(node) = row->fact;
		else
			bu_node_drop_cluster(node);
		bu_node_cluster(node)->at_ms = bu_loop_now_ms(fleet->loop);
		if (is_same(&before, node->live.cluster))
			continue;
		bu_fleet_mark(fleet, node);
		news = node;
	}
	/* Another node may wait for a partner without jobs. */
	if (news)
		bu_fleet_touch(fleet, news);
}

struct bu_cluster *
bu_observe_cluster(struct bu_reconcile *rec, const struct bu_joined *joined,
		   const struct bu_cluster_driver **ret_driver, struct bu_err *err)
{
	struct bu_observer *observer = observer_of(rec, joined);
	const struct bu_cluster_driver *driver = bu_cluster_driver(joined->driver);

	if (!driver) {
		bu_err_set(err, BU_ERR_INVAL, 0, "no cluster driver '%s'",
			   joined->driver);
		return NULL;
	}
	if (!observer) {
		observer = bu_xcalloc(1, sizeof(*observer));
		observer->rec = rec;
		observer->of = *joined;
		observer->driver = driver;
		observer->cluster = driver->open(rec->fleet->loop, joined->handle,
						 on_seen, observer);
		observer->pause_ms = ASK_MS;
		observer->next = rec->observers;
		rec->observers = observer;
	}
	*ret_driver = driver;
	return observer->cluster;
}

int
bu_reconcile_is_idle(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_cluster_fact *fact = node->live.cluster;

	return bu_cluster_fact_is_recent(fact, bu_loop_now_ms(rec->fleet->loop)) &&
	       fact->known && fact->responds && !fact->jobs;
}

static void
ask(struct bu_observer *observer)
{
	int64_t now_ms = bu_observe_awake_ms(observer->rec);

	if (!observer->wanted || now_ms < observer->next_ms)
		return;
	if (!observer->open_ms)
		observer->open_ms = now_ms;
	else if (observer->pause_ms < ASK_MAX_MS)
		observer->pause_ms += ASK_MS / 2;
	observer->next_ms = now_ms + observer->pause_ms;
	observer->driver->observe(observer->cluster);
}

static int
cluster_silent(const struct bu_observer *observer)
{
	return observer && observer->open_ms &&
	       bu_observe_awake_ms(observer->rec) - observer->open_ms >=
		       CLUSTER_SILENT_MS;
}

int
bu_observe_is_silent(const struct bu_reconcile *rec, const struct bu_joined *joined)
{
	return cluster_silent(observer_of(rec, joined));
}

/* --- conditions --- */

/* Takes detail; NULL = none. */
static void
find(struct bu_condition *finding, json_t *detail)
{
	bu_condition_set(finding, 1, 0, detail);
}

static void
keep(const struct bu_condition *condition, struct bu_condition *ret)
{
	bu_condition_set(ret, condition->on, 0, json_incref(condition->detail));
}

/* Conditions by the last answer of the node's cluster. */
static void
judge_cluster(const struct bu_observer *observer, const struct bu_node *node,
	      struct bu_condition ret[BU_CONDITION_COUNT])
{
	const struct bu_cluster_fact *fact = node->live.cluster;
	const char *cluster = node->joined->cluster;

	if (cluster_silent(observer)) {
		/* The last answer still counts, and so does the first error. */
		keep(&node->conditions[BU_CONDITION_NOT_IN_CLUSTER],
		     &ret[BU_CONDITION_NOT_IN_CLUSTER]);
		keep(&node->conditions[BU_CONDITION_DRAINED_BY_OTHER],
		     &ret[BU_CONDITION_DRAINED_BY_OTHER]);
		keep(&node->conditions[BU_CONDITION_CLUSTER_SILENT],
		     &ret[BU_CONDITION_CLUSTER_SILENT]);
		if (!ret[BU_CONDITION_CLUSTER_SILENT].on)
			find(&ret[BU_CONDITION_CLUSTER_SILENT],
			     BU_SAID(CLUSTER_SILENT, BU_ARG("cluster", cluster),
				     BU_ARG("error", observer->error)));
		return;
	}
	if (!fact->known)
		find(&ret[BU_CONDITION_NOT_IN_CLUSTER],
		     BU_SAID(CLUSTER_LOST_IT, BU_ARG("cluster", cluster)));
	else if (fact->down || !fact->responds || fact->drain == BU_DRAIN_OURS)
		find(&ret[BU_CONDITION_NOT_IN_CLUSTER],
		     BU_SAID(CLUSTER_REFUSES, BU_ARG("cluster", cluster),
			     BU_ARG("state", fact->state),
			     BU_ARG("why", fact->reason)));
	if (fact->drain == BU_DRAIN_OTHER)
		find(&ret[BU_CONDITION_DRAINED_BY_OTHER],
		     BU_SAID(DRAINED_WITH, BU_ARG("words", fact->reason),
			     BU_ARG("by", fact->by),
			     BU_ARG_NUMBER("unknown", !fact->by[0])));
}

/* unsteady_ms is of this process. */
static int
is_unsteady(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t at_ms = node->live.agent->unsteady_ms;

	return at_ms && bu_loop_now_ms(rec->fleet->loop) - at_ms < UNSTEADY_MS;
}

/* The first claimant is named: the log has a row for it, not for each. */
static void
judge_claim(const struct bu_reconcile *rec, const struct bu_node *node,
	    struct bu_condition *ret)
{
	const struct bu_claim *claim = node->live.claim;

	if (!claim->at_ms ||
	    bu_loop_now_ms(rec->fleet->loop) - claim->at_ms >= CLAIMED_MS)
		return;
	keep(&node->conditions[BU_CONDITION_CLAIMED_BY_OTHER], ret);
	if (!ret->on)
		find(ret, BU_SAID(CLAIMED, BU_ARG("address", claim->address),
				  BU_ARG("mac", claim->mac),
				  BU_ARG_NUMBER("away", !claim->mac[0])));
}

/* Findings for the conditions in `ours`. A node that is not ready has only those of its
 * inventory, its BMC and claims. 1 = the cluster has not answered yet: its conditions
 * stay. */
static int
judge(const struct bu_reconcile *rec, struct bu_node *node,
      struct bu_condition ret[BU_CONDITION_COUNT])
{
	const struct bu_observer *observer =
		node->joined->cluster[0] ? observer_of(rec, node->joined) : NULL;
	const struct bu_agent_fact *agent = node->live.agent;

	if (is_unsteady(rec, node))
		find(&ret[BU_CONDITION_UNSTEADY_INVENTORY], NULL);
	if (node->live.bmc_differs[0])
		find(&ret[BU_CONDITION_BMC_DIFFERS],
		     json_string(node->live.bmc_differs));
	else if (!node->live.bmc_said)
		keep(&node->conditions[BU_CONDITION_BMC_DIFFERS],
		     &ret[BU_CONDITION_BMC_DIFFERS]);
	judge_claim(rec, node, &ret[BU_CONDITION_CLAIMED_BY_OTHER]);
	if (node->state != BU_STATE_READY)
		return 0;
	if (bu_suspend_is(rec, node)) {
		find(&ret[BU_CONDITION_SUSPENDED], NULL);
		return 0;
	}
	if (bu_observe_misses(rec, node))
		find(&ret[BU_CONDITION_UNREACHABLE], NULL);
	else if (!agent->heard_ms) /* in this process: nothing new is known */
		keep(&node->conditions[BU_CONDITION_UNREACHABLE],
		     &ret[BU_CONDITION_UNREACHABLE]);
	if (agent->foreign[0])
		find(&ret[BU_CONDITION_STAMP_DIFFERS], json_string(agent->foreign));
	else if (!agent->showed)
		keep(&node->conditions[BU_CONDITION_STAMP_DIFFERS],
		     &ret[BU_CONDITION_STAMP_DIFFERS]);
	if (bu_drifted_said(rec->fleet, node))
		find(&ret[BU_CONDITION_DRIFTED],
		     json_incref(bu_drifted_said(rec->fleet, node)));
	if (!node->joined->cluster[0])
		return 0;
	if (!node->live.cluster->at_ms && !cluster_silent(observer))
		return 1;
	judge_cluster(observer, node, ret);
	return 0;
}

static const enum bu_condition_id ours[] = {
	BU_CONDITION_UNREACHABLE,      BU_CONDITION_STAMP_DIFFERS,
	BU_CONDITION_NOT_IN_CLUSTER,   BU_CONDITION_CLUSTER_SILENT,
	BU_CONDITION_DRAINED_BY_OTHER, BU_CONDITION_UNSTEADY_INVENTORY,
	BU_CONDITION_DRIFTED,          BU_CONDITION_BMC_DIFFERS,
	BU_CONDITION_CLAIMED_BY_OTHER, BU_CONDITION_SUSPENDED,
};

/* Known without an answer of the cluster. */
static int
is_of_machine(enum bu_condition_id id)
{
	return id != BU_CONDITION_NOT_IN_CLUSTER && id != BU_CONDITION_CLUSTER_SILENT &&
	       id != BU_CONDITION_DRAINED_BY_OTHER;
}

struct news {
	struct bu_event *events;
	size_t count, cap;
};

static void
add_news(struct news *news, const struct bu_node *node, enum bu_condition_id id,
	 const struct bu_condition *finding)
{
	news->events = bu_xgrow(news->events, &news->cap, news->count + 1,
				sizeof(*news->events));
	BU_EVENT_MAKE(&news->events[news->count++], BU_EVENT_CONDITION, node->name,
		      condition, .name = bu_condition_info(id)->name, .on = finding->on,
		      .detail = finding->detail);
}

/* Does the cluster answer, but take no work for the node without an administrator's
 * drain, while the agent is there to start the cluster's client anew? */
static int
is_lost(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_cluster_fact *fact = node->live.cluster;
	int64_t now_ms = bu_observe_awake_ms(rec);

	return node->state == BU_STATE_READY && node->joined->cluster[0] &&
	       fact->at_ms && !cluster_silent(observer_of(rec, node->joined)) &&
	       (!fact->known || fact->drain == BU_DRAIN_OURS) &&
	       node->live.agent->heard_ms && !bu_observe_misses(rec, node) &&
	       !node->hold->owner && !(node->order->open && node->order->begun) &&
	       !bu_over_is(node) &&
	       (!node->live.lost_ms || now_ms - node->live.lost_ms >= AGAIN_MS);
}

static void
rejoin(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_cluster_fact *fact = node->live.cluster;
	struct bu_reason reason;

	BU_REASON_SET(&reason, CLUSTER_LOST_IT, .text = {node->joined->cluster});
	if (fact->known)
		BU_REASON_SET(
			&reason, CLUSTER_REFUSES,
			.text = {node->joined->cluster, fact->state, fact->reason});
	node->live.lost_ms = bu_observe_awake_ms(rec);
	if (!bu_fleet_may_stay(rec->fleet, node)) {
		bu_outdated_leave(rec, node);
		return;
	}
	bu_reconcile_try(rec, node, BU_TRIGGER_LOST, &reason, NULL, 0);
}

static void
look_at(struct bu_reconcile *rec, struct bu_node *node, struct news *news)
{
	struct bu_condition found[BU_CONDITION_COUNT] = {0};
	int open = judge(rec, node, found);

	for (size_t i = 0; i < BU_LEN(ours); i++) {
		enum bu_condition_id id = ours[i];
		const struct bu_condition *now = &node->conditions[id];

		if ((!open || is_of_machine(id)) && !bu_condition_same(&found[id], now))
			add_news(news, node, id, &found[id]);
		json_decref(found[id].detail);
	}
}

void
bu_observe_tick(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;
	struct news news = {0};

	rec->awake_ms = bu_observe_awake_ms(rec);
	rec->ticked_ms = bu_loop_now_ms(fleet->loop);
	for (struct bu_observer *o = rec->observers; o; o = o->next)
		o->wanted = 0;
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		const struct bu_cluster_driver *driver;
		struct bu_err err;

		if (node->joined->cluster[0] &&
		    bu_observe_cluster(rec, node->joined, &driver, &err))
			observer_of(rec, node->joined)->wanted = 1;
		if (node->live.appending)
			continue;
		bu_drifted_look(rec, node);
		if (node->live.appending)
			continue;
		if (is_lost(rec, node))
			rejoin(rec, node);
		else
			look_at(rec, node, &news);
	}
	for (struct bu_observer *o = rec->observers; o; o = o->next)
		ask(o);
	if (news.count)
		bu_reconcile_note(rec, news.events, news.count);
	free(news.events);
}

void
bu_observe_each(struct bu_reconcile *rec, bu_observe_fn fn)
{
	for (struct bu_observer *o = rec->observers; o; o = o->next)
		fn(rec, o->driver, o->cluster, &o->of);
}

void
bu_observe_drop(struct bu_reconcile *rec)
{
	while (rec->observers) {
		struct bu_observer *observer = rec->observers;

		rec->observers = observer->next;
		observer->driver->close(observer->cluster);
		free(observer);
	}
}
