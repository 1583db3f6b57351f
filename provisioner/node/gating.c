/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before bringup restarts a machine, the node's cluster puts the gate back: the node
 * gets no work until a join. Called by effects.c for steps and by verbs_power.c for the
 * commands of people. Invariants: a node that is in no cluster waits for none; a
 * restart waits for a silent cluster for a bounded time, and longer only when the node
 * may have work there.
 */
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/effect.h"

/* The cluster's client does not start in a boot without a certificate: a cluster that
 * is away delays a repair, and does not prevent it. */
enum { IN_SERVICE_MS = 60000, DRAINED_MS = 5000 };

/* The restart begins now. */
static void
go_on(struct bu_gating *gating)
{
	struct bu_reconcile *rec = gating->rec;
	struct bu_node *node = bu_gating_node(gating);
	int64_t seq = gating->seq;

	bu_gating_end(gating);
	if (!node)
		return;
	node->live.gated_seq = seq;
	if (node->step.intent_seq == seq)
		node->live.effect_running = 0;
	bu_node_set_cluster_words(node, "");
	bu_fleet_touch(rec->fleet, node);
	rec->drive(rec, node);
}

static void
go_on_without(struct bu_gating *gating)
{
	const struct bu_node *node = bu_gating_node(gating);

	if (node)
		bu_warn("node",
			"%s: its machine is switched, and %s may still give it work: "
			"%s; drain it there",
			node->name, gating->cluster,
			gating->words[0] ? gating->words : "no answer");
	go_on(gating);
}

static void
on_gated(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct bu_gating *gating = arg;

	gating->op = NULL;
	if (err)
		BU_TEXT_COPY(gating->words, err->text);
	if (err)
		go_on_without(gating);
	else
		go_on(gating);
}

static void
on_late(void *arg)
{
	go_on_without(arg);
}

static void
on_words(const char *text, void *arg)
{
	struct bu_gating *gating = arg;
	struct bu_node *node = bu_gating_node(gating);

	BU_TEXT_COPY(gating->words, text);
	if (!node)
		return;
	bu_node_set_cluster_words(node, text);
	bu_fleet_touch(gating->rec->fleet, node);
}

/* A drain outlives the cluster's own restart. */
static int
may_get_work(const struct bu_node *node)
{
	const struct bu_cluster_fact *fact = node->live.cluster;

	return node->serves &&
	       (!fact->at_ms || (fact->known && fact->drain == BU_DRAIN_NONE));
}

static void
begin(struct bu_reconcile *rec, struct bu_node *node, int64_t seq,
      const struct bu_joined *of, struct bu_cluster *cluster)
{
	struct bu_gating *gating = bu_xcalloc(1, sizeof(*gating));
	struct bu_cluster_target target = {.member.name = of->node, .words = on_words};

	gating->rec = rec;
	gating->seq = seq;
	gating->driver = bu_cluster_driver(of->driver);
	BU_TEXT_COPY(gating->cluster, of->cluster);
	gating->timer = bu_timer_create(rec->fleet->loop, on_late, gating);
	gating->next = rec->gatings;
	rec->gatings = gating;
	bu_timer_set(gating->timer, may_get_work(node) ? IN_SERVICE_MS : DRAINED_MS);
	if (node->step.intent_seq == seq)
		node->live.effect_running = 1;
	gating->op = gating->driver->gate(cluster, &target, on_gated, gating);
}

int
bu_gating_done(struct bu_reconcile *rec, struct bu_node *node, int64_t seq)
{
	const struct bu_cluster_driver *driver;
	struct bu_cluster *cluster;
	struct bu_joined of;
	struct bu_err err;

	bu_effect_joined(node, bu_fleet_desired(rec->fleet, node), &of);
	if (node->live.gated_seq == seq || !of.cluster[0])
		return 1;
	if (bu_gating_runs(rec, node))
		return 0;
	cluster = bu_observe_cluster(rec, &of, &driver, &err);
	if (!cluster) {
		bu_warn("node", "%s: %s", node->name, err.text);
		return 1;
	}
	begin(rec, node, seq, &of, cluster);
	return 0;
}
