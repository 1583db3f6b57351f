/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cluster asks and is told of faults: its requests to repair a node are accepted
 * there, carried out as the verb reboot, and answered there; what bringup finds wrong
 * with a node is told there. Called at each tick of reconcile.c. Invariants: a request
 * gets what a person with the role operator gets by `bringup node reboot`, and nothing
 * else; whether one was carried out follows from the request and from the node's state
 * in the log, so that a restart of bringupd repeats none.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/membership.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"

enum {
	OLD_MS = 24 * 60 * 60 * 1000,
	AGAIN_MS = 10 * 60 * 1000, /* between two repairs of a node */
	AHEAD_MS = 5000,           /* an acceptance is rounded up by a second */
};

struct looking {
	struct bu_reconcile *rec;
	const struct bu_cluster_driver *driver;
	struct bu_cluster *cluster;
	const struct bu_joined *of;
};

/* --- requests --- */

/* Takes said. */
static void
answer(const struct looking *looking, const struct bu_cluster_repair *repair,
       enum bu_cluster_verdict verdict, const char *code, json_t *said)
{
	bu_autofree char *text = bu_said_text(said);

	json_decref(said);
	looking->driver->answer(looking->cluster, repair->id, verdict, code, text);
}

static void
refuse(const struct looking *looking, const struct bu_cluster_repair *repair,
       const char *code, json_t *said)
{
	answer(looking, repair, BU_CLUSTER_REFUSED, code, said);
}

/* Has it joined this cluster, or is it to? */
static int
is_of(const struct looking *looking, const struct bu_node *node)
{
	const struct bu_desired_node *want =
		bu_fleet_desired(looking->rec->fleet, node);
	struct bu_joined joined = *node->joined;

	if (!joined.cluster[0] && want && want->pool->cluster)
		bu_membership_joined(want, &joined);
	return strcmp(joined.handle, looking->of->handle) == 0 &&
	       strcmp(joined.driver, looking->of->driver) == 0;
}

/* Nodes of its pool that are not in service are as many as its profile allows. */
static int
is_full(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_fleet *fleet = rec->fleet;
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node), *other;
	int away = 0;

	for (size_t i = 0; want && i < fleet->count; i++) {
		other = bu_fleet_desired(fleet, fleet->nodes[i]);
		away += other && other->pool == want->pool &&
			fleet->nodes[i]->state != BU_STATE_READY;
	}
	return !want || away >= want->pool->max_unavailable;
}

static json_t *
state_said(const struct bu_node *node)
{
	return BU_SAID(REPAIR_STATE, BU_ARG("node", node->name),
		       BU_ARG("state", bu_state_name(node->state)));
}

/* 1 = it may be carried out now. 0 = not yet, or it is refused. */
static int
may_begin(const struct looking *looking, const struct bu_cluster_repair *repair,
	  const struct bu_node *node, int64_t now_ms)
{
	bu_autofree char *hold = bu_hold_text(node->hold);

	if (bu_verb_is_held(node)) {
		refuse(looking, repair, "HeldByPerson",
		       BU_SAID(REPAIR_HELD, BU_ARG("node", node->name),
			       BU_ARG("hold", hold)));
		return 0;
	}
	if (node->state != BU_STATE_READY) {
		refuse(looking, repair, "NotInService", state_said(node));
		return 0;
	}
	return !node->live.appending && !(node->order->open && node->order->begun) &&
	       now_ms - node->since_ms >= AGAIN_MS && !is_full(looking->rec, node);
}

static void
look_new(const struct looking *looking, const struct bu_cluster_repair *repair,
	 const struct bu_node *node, int64_t now_ms)
{
	if (now_ms - repair->created_ms > OLD_MS)
		refuse(looking, repair, "Outdated",
		       BU_SAID(REPAIR_OLD, BU_ARG("node", node->name)));
	else if (node->state == BU_STATE_READY && repair->created_ms < node->since_ms)
		refuse(looking, repair, "Outdated",
		       BU_SAID(REPAIR_SINCE, BU_ARG("node", node->name)));
	else if (may_begin(looking, repair, node, now_ms))
		answer(looking, repair, BU_CLUSTER_ACCEPTED, "Accepted",
		       BU_SAID(REPAIR_BEGINS, BU_ARG("node", node->name)));
}

static void
carry_out(const struct looking *looking, const struct bu_cluster_repair *repair,
	  struct bu_node *node)
{
	bu_autofree char *by = bu_xasprintf("cluster %s", looking->of->cluster);
	bu_autofree char *reason =
		bu_xasprintf("ExternalRemediationRequest %.200s", repair->id);
	const struct bu_verb_ask ask = {.verb = BU_VERB_REBOOT,
					.by = by,
					.reason = reason,
					.grant = "",
					.op = ""};
	bu_autofree char *text = NULL;
	struct bu_err err = {0};

	text = bu_verb_run(looking->rec, node, &ask, &err);
	if (!text && err.kind != BU_ERR_BUSY)
		refuse(looking, repair, "Refused", json_string(err.text));
}

static void
look_accepted(const struct looking *looking, const struct bu_cluster_repair *repair,
	      struct bu_node *node, int64_t now_ms)
{
	int ready = node->state == BU_STATE_READY;

	if (ready && node->since_ms > repair->accepted_ms)
		answer(looking, repair, BU_CLUSTER_REPAIRED, "Validated",
		       BU_SAID(REPAIR_DONE, BU_ARG("node", node->name)));
	else if (repair->accepted_ms - now_ms > AHEAD_MS)
		refuse(looking, repair, "Outdated",
		       BU_SAID(REPAIR_AHEAD, BU_ARG("node", node->name)));
	else if (ready && may_begin(looking, repair, node, now_ms))
		carry_out(looking, repair, node);
	else if (!ready && bu_state_info(node->state)->settled)
		refuse(looking, repair, "NotValidated", state_said(node));
}

/* A node that no profile of this site has may be somebody else's to repair. */
static void
on_repair(const struct bu_cluster_repair *repair, void *arg)
{
	const struct looking *looking = arg;
	struct bu_fleet *fleet = looking->rec->fleet;
	struct bu_node *node = bu_fleet_node(fleet, repair->node);
	int64_t now_ms = bu_wall_ms(bu_loop_clock(fleet->loop));

	if (!node)
		return;
	if (!is_of(looking, node))
		refuse(looking, repair, "NotInCluster",
		       BU_SAID(REPAIR_ELSEWHERE, BU_ARG("node", node->name)));
	else if (repair->accepted_ms)
		look_accepted(looking, repair, node, now_ms);
	else
		look_new(looking, repair, node, now_ms);
}

/* --- faults --- */

/* What bringup alone can know, and what helps; the worst first. */
static const struct {
	enum bu_condition_id id;
	const char *action;
} faults[] = {
	{BU_CONDITION_UNREACHABLE, "RESTART_BM"},
	{BU_CONDITION_STAMP_DIFFERS, "CONTACT_SUPPORT"},
	{BU_CONDITION_CREDENTIAL_COPIED, "CONTACT_SUPPORT"},
	{BU_CONDITION_CLAIMED_BY_OTHER, "CONTACT_SUPPORT"},
	{BU_CONDITION_BMC_DIFFERS, "CONTACT_SUPPORT"},
	{BU_CONDITION_HARDWARE_CHANGED, "CONTACT_SUPPORT"},
	{BU_CONDITION_DRIFTED, "NONE"},
};

static void
tell_faults(const struct looking *looking, const struct bu_node *node)
{
	bu_autofree char *text = NULL;
	const char *name = NULL;

	for (size_t i = 0; i < BU_LEN(faults) && !name; i++) {
		if (!node->conditions[faults[i].id].on)
			continue;
		name = bu_condition_info(faults[i].id)->name;
		text = bu_xasprintf("[%s] %s - RecommendedAction: %s", name,
				    bu_condition_info(faults[i].id)->words,
				    faults[i].action);
	}
	looking->driver->fault(looking->cluster, node->joined->node, name, text);
}

void
bu_repairs_look(struct bu_reconcile *rec, const struct bu_cluster_driver *driver,
		struct bu_cluster *cluster, const struct bu_joined *of)
{
	struct looking looking = {rec, driver, cluster, of};

	if (rec->stopped || !rec->alive || !rec->fleet->desired)
		return;
	if (driver->repairs)
		driver->repairs(cluster, on_repair, &looking);
	for (size_t i = 0; driver->fault && i < rec->fleet->count; i++)
		if (rec->fleet->nodes[i]->state == BU_STATE_READY &&
		    rec->fleet->nodes[i]->joined->cluster[0] &&
		    is_of(&looking, rec->fleet->nodes[i]))
			tell_faults(&looking, rec->fleet->nodes[i]);
}

void
bu_repairs_tick(struct bu_reconcile *rec)
{
	bu_observe_each(rec, bu_repairs_look);
}
