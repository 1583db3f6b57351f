/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fake power and cluster for the test of edits: they replace those of the library,
 * and nothing is begun through them that the plan of the node and the grants do not
 * cover. What a node is going to do wrong is its fate.
 */
#ifndef BU_TESTS_SUPPORT_EDITS_PAPER_H
#define BU_TESTS_SUPPORT_EDITS_PAPER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provisioner/node/reconcile.h"
#include "provisioner/power/power.h"
#include "provisioner/rollout/rollout.h"
#include "provisioner/store/store.h"
#include "tests/support/edits.h"
#include "tests/support/unit.h"

/* What a fake node does in this rollout. */
enum fate { GOOD, NO_POWER, MUTE, BAD_DISK, SLOW, JOBS, NO_CONFIG, FATES };

struct fact {
	enum bu_class planned; /* by the plan that was applied last */
	enum bu_class granted;
	enum fate fate;
	int served; /* it was ready when the plan was applied */
	int out;    /* and is not now, or is being reconfigured */
	int begun;
	int had_data;
};

struct op {
	struct op *next;
	bu_power_fn power; /* or */
	bu_cluster_fn cluster;
	void *arg;
	enum bu_action action;
	char node[BU_NAME_MAX];
};

static struct {
	unsigned int seed;
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	struct bu_rollouts *rollouts;
	struct fact *facts; /* by place in world->nodes */
	struct op *ops;
	int out[EDITS_POOLS + 8]; /* by pool */
	char rollout[40];
	char *site, *racks; /* files of the profile that is applied */
	/* what happened, for the last line and against a test that tests nothing */
	int refused, empty, denied, applied, stopped, done, begun, worst;
	int by_class[16];
} sim;

static inline unsigned int
random_below(unsigned int below)
{
	return (unsigned int)rand_r(&sim.seed) % below;
}

static inline struct fact *
fact_of(const char *name)
{
	size_t low = 0, high = sim.fleet->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(name, sim.fleet->nodes[mid]->name);

		if (order == 0)
			return &sim.facts[mid];
		*(order < 0 ? &high : &low) = order < 0 ? mid : mid + 1;
	}
	ck_abort_msg("no node %s", name);
	return NULL;
}

/* What is done must be in the plan of the node, and granted. */
static inline void
may_do(enum bu_action action, const char *name)
{
	static const enum bu_class least[] = {
		[BU_ACTION_NETBOOT] = BU_CLASS_INSTALL,
		[BU_ACTION_INSTALL] = BU_CLASS_INSTALL,
		[BU_ACTION_DISKBOOT] = BU_CLASS_REBOOT,
		[BU_ACTION_LEAVE] = BU_CLASS_RESTART,
		[BU_ACTION_CONFIGURE] = BU_CLASS_RECONFIGURE,
		[BU_ACTION_RELABEL] = BU_CLASS_RELABEL,
	};
	const struct fact *fact = fact_of(name);
	const struct bu_order *order = bu_fleet_node(sim.fleet, name)->order;

	ck_assert_msg(fact->planned >= least[action], "%s: %s, but the plan said %s",
		      name, bu_action_name(action), bu_class_name(fact->planned));
	ck_assert_msg(!bu_class_needs_grant(order->class) ||
			      order->class <= fact->granted,
		      "%s: %s of class %s, granted is %s", name, bu_action_name(action),
		      bu_class_name(order->class), bu_class_name(fact->granted));
	if (action == BU_ACTION_INSTALL && fact->had_data)
		ck_assert_msg(fact->granted >= BU_CLASS_REIMAGE &&
				      bu_class_needs_grant(order->class),
			      "%s is written as %s; what is on it is lost", name,
			      bu_class_name(order->class));
}

static inline struct op *
add_op(enum bu_action action, const char *node, void *arg)
{
	struct op *op = bu_xcalloc(1, sizeof(*op));

	may_do(action, node);
	op->action = action;
	op->arg = arg;
	snprintf(op->node, sizeof(op->node), "%s", node);
	op->next = sim.ops;
	sim.ops = op;
	return op;
}

void
bu_power_boot(struct bu_power *power, const struct bu_power_bmc *bmc,
	      const struct bu_power_boot *boot, bu_power_fn fn, void *arg)
{
	const struct bu_desired *desired = sim.fleet->desired;
	size_t i = 0;

	enum bu_action action =
		boot->first == BU_BOOT_DISK ? BU_ACTION_DISKBOOT : BU_ACTION_NETBOOT;

	/* A typo may have taken it from a node, so there may be several with none. */
	while (i < desired->nodes_count &&
	       (strcmp(desired->nodes[i].bmc ? desired->nodes[i].bmc : "", bmc->bmc) !=
			0 ||
		bu_fleet_node(sim.fleet, desired->nodes[i].name)->step.action !=
			action))
		i++;
	ck_assert_uint_lt(i, desired->nodes_count);
	add_op(action, desired->nodes[i].name, arg)->power = fn;
}

void
bu_power_status(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
		void *arg)
{
	ck_abort_msg("nothing was begun by another process");
}

static inline struct bu_cluster_op *
cluster_op(enum bu_action action, const struct bu_cluster_target *target,
	   bu_cluster_fn fn, void *arg)
{
	struct op *op = add_op(action, target->member.name, arg);

	op->cluster = fn;
	return (struct bu_cluster_op *)op;
}

static inline struct bu_cluster_op *
paper_leave(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	    bu_cluster_fn fn, void *arg)
{
	return cluster_op(BU_ACTION_LEAVE, target, fn, arg);
}

static inline struct bu_cluster_op *
paper_relabel(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	      bu_cluster_fn fn, void *arg)
{
	return cluster_op(BU_ACTION_RELABEL, target, fn, arg);
}

static inline void
paper_cancel(struct bu_cluster_op *cancelled)
{
	struct op **at = &sim.ops, *op = (struct op *)cancelled;

	while (*at && *at != op)
		at = &(*at)->next;
	bu_assert(*at);
	*at = op->next;
	free(op);
}

static void
edits_handle(const struct bu_cluster_site *site, char ret[BU_CLUSTER_HANDLE_SIZE])
{
	snprintf(ret, BU_CLUSTER_HANDLE_SIZE, "%s", site->conf);
}

static const struct bu_cluster_driver edits_driver = {.name = "slurm",
						      .needs = "slurmd",
						      .handle = edits_handle,
						      .open = edits_open,
						      .close = edits_close,
						      .observe = edits_observe,
						      .leave = paper_leave,
						      .relabel = paper_relabel,
						      .cancel = paper_cancel};
const struct bu_cluster_driver *const bu_cluster_drivers[] = {&edits_driver, NULL};

const struct bu_cluster_driver *
bu_cluster_driver(const char *name)
{
	return &edits_driver;
}

static inline void
end_op(struct op *op)
{
	static const struct bu_cluster_done done = {.detail = "", .drained = ""};
	enum fate fate = fact_of(op->node)->fate;
	struct bu_err err;

	if (op->power) {
		bu_err_set(&err, BU_ERR_REMOTE, 0, "BMC: no route");
		op->power(&(struct bu_power_seen){.state = fate == NO_POWER
								   ? BU_POWER_UNKNOWN
								   : BU_POWER_ON},
			  fate == NO_POWER ? &err : NULL, op->arg);
	} else {
		bu_err_set(&err, BU_ERR_REMOTE, 0, "Slurm says no");
		op->cluster(fate == NO_CONFIG && op->action == BU_ACTION_RELABEL ? &err
										 : NULL,
			    &done, op->arg);
	}
	free(op);
}

/* Of the operations that were begun some end now; jobs that never end keep theirs. */
static inline void
end_ops(void)
{
	struct op *ops = sim.ops;

	sim.ops = NULL;
	while (ops) {
		struct op *op = ops;

		ops = op->next;
		if (random_below(4) == 0 || (op->action == BU_ACTION_LEAVE &&
					     fact_of(op->node)->fate == JOBS)) {
			op->next = sim.ops;
			sim.ops = op;
		} else {
			end_op(op);
		}
	}
}

#endif
