/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entering, leaving and relabelling in clusters. Called by effects.c. Invariants: a
 * leave or relabel is for the cluster that the node has joined, whatever the profile
 * says now; a node is in one cluster at most.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/effect.h"
#include "provisioner/node/issued.h"
#include "provisioner/node/membership.h"

/* Attempts of a join before a person is asked, in the time that its state has: the
 * client of the first may have told a cluster that has lost it since. */
enum { RELABEL_MS = 60000, ATTEMPTS = 3 };

/* The outcome of a join names the cluster that was joined; "" = none. */
static void
journal_joined(struct bu_reconcile *rec, struct bu_node *node,
	       const struct bu_joined *joined, const char *detail)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_OUTCOME, node->name, outcome,
		      .step = node->step.id, .attempt = node->step.attempt,
		      .action = bu_action_name(node->step.action),
		      .result = BU_OUTCOME_DONE, .kind = bu_err_name(BU_ERR_NONE),
		      .detail = detail,
		      .joined = {.cluster = joined->cluster,
				 .driver = joined->driver,
				 .handle = joined->handle,
				 .node = joined->node});
	bu_reconcile_append(rec, node, &event, 1);
}

static void enter(struct bu_reconcile *rec, struct bu_node *node,
		  const struct bu_joined *joining);

/* The step's next attempt: its agent starts the cluster's client anew, which registers
 * with a cluster that has lost its state. */
static void
begin_again(struct bu_reconcile *rec, struct bu_node *node, const struct bu_err *err,
	    const char *detail)
{
	struct bu_event events[2];

	bu_outcome_event(&events[0], node, err, detail);
	BU_EVENT_MAKE(&events[1], BU_EVENT_INTENT, node->name, intent,
		      .step = node->step.id, .attempt = node->step.attempt + 1,
		      .epoch = rec->fleet->epoch,
		      .action = bu_action_name(node->step.action));
	bu_reconcile_append(rec, node, events, 2);
}

int
bu_joining_look(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
	int said = node->live.wait_reason->code == BU_REASON_CLUSTER_AWAITED, waits = 0;
	struct bu_joined of;

	if (node->state == BU_STATE_JOINING && node->step.action == BU_ACTION_JOIN &&
	    node->step.status == BU_STEP_OPEN && want && want->cluster) {
		bu_effect_joined(node, want, &of);
		waits = of.cluster[0] && bu_observe_is_silent(rec, &of);
	}
	if (waits == said)
		return waits;
	if (waits)
		BU_REASON_SET(bu_node_wait_reason(node), CLUSTER_AWAITED,
			      .text = {of.cluster, node->live.cluster_words});
	else
		bu_node_drop_wait_reason(node);
	bu_fleet_touch(rec->fleet, node);
	return 1;
}

/* 1 = a join that its cluster has not let in goes on. */
static int
goes_on(struct bu_reconcile *rec, struct bu_node *node, const struct bu_err *err,
	const char *detail)
{
	if (!err || err->kind != BU_ERR_TIMEOUT || node->step.action != BU_ACTION_JOIN)
		return 0;
	node->live.effect_running = 0;
	bu_joining_look(rec, node);
	if (node->live.wait_reason->code == BU_REASON_CLUSTER_AWAITED)
		return 1; /* driven at the next look */
	if (node->step.attempt % ATTEMPTS == 0)
		return 0;
	begin_again(rec, node, err, detail);
	return 1;
}

/* An administrator's drain goes with the node. The step begins again once the log has
 * the drain. */
static void
journal_drained(struct bu_reconcile *rec, struct bu_node *node,
		const struct bu_joined *of, const char *reason)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_DRAINED, node->name, drained,
		      .cluster = of->cluster, .reason = reason);
	node->live.effect_running = 0;
	bu_reconcile_append(rec, node, &event, 1);
}

static void
on_cluster(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_joined joining = effect->joining;
	struct bu_node *node = bu_effect_node(effect);

	if (!node || goes_on(rec, node, err, done->detail))
		return;
	if (!err && done->drained[0])
		journal_drained(rec, node, &joining, done->drained);
	else if (!err && node->step.action == BU_ACTION_JOIN)
		journal_joined(rec, node, &joining, done->detail);
	else
		bu_journal_outcome(rec, node, err, done->detail);
}

/* The node has left its cluster and may now enter the other one, if any. */
static void
on_moved(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_joined joining = effect->joining;
	struct bu_node *node = bu_effect_node(effect);

	if (node && err)
		bu_journal_outcome(rec, node, err, done->detail);
	else if (node && done->drained[0])
		journal_drained(rec, node, node->joined, done->drained);
	else if (node)
		enter(rec, node, &joining);
}

static void
on_words(const char *text, void *arg)
{
	const struct bu_effect *effect = arg;
	struct bu_node *node = bu_fleet_node(effect->rec->fleet, effect->node);

	if (!node || strcmp(node->step.id, effect->step) != 0)
		return;
	bu_node_set_cluster_words(node, text);
	bu_fleet_touch(effect->rec->fleet, node);
}

/* The effect of the open step on a cluster; NULL = logged as failed. */
static struct bu_effect *
cluster_effect(struct bu_reconcile *rec, struct bu_node *node,
	       const struct bu_joined *of, struct bu_cluster **ret_cluster)
{
	const struct bu_cluster_driver *driver;
	struct bu_effect *effect;
	struct bu_err err;

	*ret_cluster = bu_observe_cluster(rec, of, &driver, &err);
	if (!*ret_cluster) {
		bu_journal_outcome(rec, node, &err, "");
		return NULL;
	}
	effect = bu_effect_of(rec, node);
	effect->driver = driver;
	effect->joining = *of;
	return effect;
}

static int
same_cluster(const struct bu_joined *a, const struct bu_joined *b)
{
	return strcmp(a->driver, b->driver) == 0 && strcmp(a->handle, b->handle) == 0;
}

/* The reason of an administrator's drain there; NULL = none is known. */
static const char *
drained_in(const struct bu_node *node, const struct bu_joined *of)
{
	return bu_json_str(node->drained, of->cluster, NULL);
}

/* The node as its own cluster is to know it; -1 = logged as failed. */
static int
join_target(struct bu_reconcile *rec, struct bu_node *node,
	    const struct bu_joined *joining, char address[INET_ADDRSTRLEN],
	    struct bu_cluster_target *ret)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
	int64_t limit_ms =
		bu_reconcile_limit_ms(rec, node) - bu_membership_acceptance_ms(want);
	struct bu_target of;
	struct bu_err err;

	*ret = (struct bu_cluster_target){.deadline_ms = limit_ms / ATTEMPTS,
					  .words = on_words};
	if (bu_fleet_target(rec->fleet, node, &of, &err) != 0 ||
	    bu_membership_member(of.node, address, &ret->member, &err) != 0) {
		bu_journal_outcome(rec, node, &err, "");
		return -1;
	}
	ret->member.name = joining->node;
	return 0;
}

static void
admit(struct bu_reconcile *rec, struct bu_node *node, const struct bu_joined *joining)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
	struct bu_cluster_acceptance acceptance;
	char address[INET_ADDRSTRLEN];
	struct bu_cluster_target target;
	struct bu_cluster *cluster;
	struct bu_effect *effect;

	if (join_target(rec, node, joining, address, &target) != 0)
		return;
	target.drained = drained_in(node, joining);
	target.proof = node->full_cert[0] ? node->full_cert : NULL;
	if (bu_membership_acceptance(want, &acceptance)) {
		acceptance.once = node->step.id;
		target.acceptance = &acceptance;
	}
	effect = cluster_effect(rec, node, joining, &cluster);
	if (effect)
		effect->op =
			effect->driver->admit(cluster, &target, on_cluster, effect);
}

static void
enter(struct bu_reconcile *rec, struct bu_node *node, const struct bu_joined *joining)
{
	if (joining->cluster[0])
		admit(rec, node, joining);
	else
		journal_joined(rec, node, joining, "its pool joins no cluster");
}

/* No deadline_ms: the pool says how long jobs may take. */
static void
leave(struct bu_reconcile *rec, struct bu_node *node, const struct bu_joined *of,
      const struct bu_joined *joining, bu_cluster_fn fn)
{
	struct bu_cluster_target target = {.member.name = of->node,
					   .drained = drained_in(node, of),
					   .words = on_words};
	struct bu_cluster *cluster;
	struct bu_effect *effect = cluster_effect(rec, node, of, &cluster);

	if (!effect)
		return;
	if (joining)
		effect->joining = *joining;
	effect->op = effect->driver->leave(cluster, &target, fn, effect);
}

/* The cluster's client registers by the name that the installed system has. */
static void
joins_as(const struct bu_node *node, const struct bu_desired_node *want,
	 struct bu_joined *ret)
{
	bu_membership_joined(want, ret);
	if (node->called[0])
		bu_text_copy(ret->node, sizeof(ret->node), node->called);
}

/* The secret of the node's client is there: its agent gets its work. */
static void
on_issued(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_node *node = bu_effect_node(effect);

	if (!node || goes_on(rec, node, err, done->detail))
		return;
	node->live.effect_running = 0;
	if (err) {
		bu_journal_outcome(rec, node, err, done->detail);
		return;
	}
	bu_issued_keep(rec->fleet, node, done->secret, done->secret_size);
	bu_fleet_touch(rec->fleet, node);
}

static void
issue(struct bu_reconcile *rec, struct bu_node *node, const struct bu_joined *joining)
{
	const struct bu_cluster_driver *driver = bu_cluster_driver(joining->driver);
	char address[INET_ADDRSTRLEN];
	struct bu_cluster_target target;
	struct bu_cluster *cluster;
	struct bu_effect *effect;
	size_t size;

	if (!driver || !driver->issue || bu_issued_secret(rec->fleet, node, &size) ||
	    join_target(rec, node, joining, address, &target) != 0)
		return;
	effect = cluster_effect(rec, node, joining, &cluster);
	if (effect)
		effect->op = driver->issue(cluster, &target, on_issued, effect);
}

static void
join(struct bu_reconcile *rec, struct bu_node *node, const struct bu_desired_node *want)
{
	struct bu_joined joining = {0};

	if (want->cluster)
		joins_as(node, want, &joining);
	if (!node->live.join_started) {
		issue(rec, node, &joining);
		return;
	}
	bu_issued_forget(rec->fleet, node->name);
	if (node->joined->cluster[0] && !same_cluster(node->joined, &joining))
		leave(rec, node, node->joined, &joining, on_moved);
	else
		enter(rec, node, &joining);
}

static void
relabel(struct bu_reconcile *rec, struct bu_node *node,
	const struct bu_desired_node *want)
{
	struct bu_cluster_target target = {.deadline_ms = RELABEL_MS,
					   .words = on_words};
	char address[INET_ADDRSTRLEN];
	struct bu_cluster *cluster;
	struct bu_effect *effect;
	struct bu_err err;

	if (bu_membership_member(want, address, &target.member, &err) != 0) {
		bu_journal_outcome(rec, node, &err, "");
		return;
	}
	target.member.name = node->joined->node;
	effect = cluster_effect(rec, node, node->joined, &cluster);
	if (effect)
		effect->op =
			effect->driver->relabel(cluster, &target, on_cluster, effect);
}

/* A join that was broken off may have reached the cluster. */
void
bu_effect_joined(const struct bu_node *node, const struct bu_desired_node *want,
		 struct bu_joined *ret)
{
	*ret = *node->joined;
	if (!ret->cluster[0] && node->entering && want && want->cluster)
		joins_as(node, want, ret);
}

void
bu_effect_cluster(struct bu_reconcile *rec, struct bu_node *node,
		  const struct bu_desired_node *want)
{
	struct bu_joined of;

	bu_effect_joined(node, want, &of);
	if (node->step.action == BU_ACTION_JOIN)
		join(rec, node, want);
	else if (!of.cluster[0])
		bu_journal_outcome(rec, node, NULL, "it is in no cluster");
	else if (node->step.action == BU_ACTION_LEAVE)
		leave(rec, node, &of, NULL, on_cluster);
	else
		relabel(rec, node, want);
}
