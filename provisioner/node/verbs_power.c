/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power actions of a person: on, off, cycle, a restart of the BMC; and the power
 * status. Called by verbs.c, and by reconcile.c when the request is in the log.
 * Invariants: nothing is done before it is in the log; a request that another process
 * has begun is looked at, and never repeated.
 */
#include <string.h>

#include "base/record.h"
#include "base/text.h"
#include "provisioner/node/adopt.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/ram.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs_impl.h"

struct bu_power_request_run {
	struct bu_power_request_run *next;
	struct bu_reconcile *rec;
	char node[BU_NAME_MAX];
	int64_t seq; /* of the request; 0 = power status only */
	int looks;   /* the outcome is unknown: only reads the power status */
};

/* --- asking and doing --- */

static struct bu_power_request_run *
run_of(struct bu_reconcile *rec, const struct bu_node *node, int64_t seq)
{
	struct bu_power_request_run *run = bu_xcalloc(1, sizeof(*run));

	run->rec = rec;
	run->seq = seq;
	memcpy(run->node, node->name, sizeof(run->node));
	run->next = rec->power_requests;
	rec->power_requests = run;
	return run;
}

void
bu_power_requests_drop(struct bu_reconcile *rec)
{
	struct bu_power_request_run *run;

	while ((run = rec->power_requests)) {
		rec->power_requests = run->next;
		free(run);
	}
}

static void
journal(struct bu_reconcile *rec, struct bu_node *node, enum bu_outcome result,
	const char *power, const char *detail)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_POWER, node->name, power, .op = node->power->op,
		      .force = BU_UNSAID, .result = result, .power = power,
		      .detail = detail);
	bu_reconcile_append(rec, node, &event, 1);
}

/* A rename may have given the node another name: a request is found by its seq. */
static struct bu_node *
node_of(const struct bu_power_request_run *run)
{
	const struct bu_fleet *fleet = run->rec->fleet;

	for (size_t i = 0; run->seq && i < fleet->count; i++)
		if (fleet->nodes[i]->power->seq == run->seq)
			return fleet->nodes[i];
	return bu_fleet_node(fleet, run->node);
}

static void
on_answer(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	struct bu_power_request_run *run = arg, **link = &run->rec->power_requests;
	struct bu_reconcile *rec = run->rec;
	struct bu_node *node = node_of(run);
	int64_t seq = run->seq;
	int looks = run->looks;
	const char *power = err ? "" : bu_power_state_name(seen->state);
	bu_autofree char *whose = bu_power_whose(seen);

	while (*link != run)
		link = &(*link)->next;
	*link = run->next;
	free(run);
	if (!node)
		return;
	bu_node_bmc_says(node, seen);
	bu_text_copy(bu_node_power_seen(node)->power,
		     sizeof(node->live.power_seen->power), power);
	bu_text_copy(bu_node_power_seen(node)->error,
		     sizeof(node->live.power_seen->error), err ? err->text : "");
	bu_node_power_seen(node)->at_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	bu_fleet_touch(rec->fleet, node);
	if (!seq && !err && seen->state == BU_POWER_OFF && node->boot_id[0]) {
		struct bu_event off;

		BU_EVENT_MAKE(&off, BU_EVENT_OFF, node->name, off,
			      .asked = "power status");
		bu_reconcile_note(rec, &off, 1);
	}
	if (!seq || node->power->seq != seq)
		return;
	/* Until the log has the outcome. */
	node->live.power_running = BU_POWER_RUN_LOST;
	if (bu_store_down(rec->fleet->store))
		return;
	if (looks)
		journal(rec, node, BU_OUTCOME_UNKNOWN, power,
			"its outcome is not in the log; it is unknown whether it was "
			"done");
	else
		journal(rec, node, err ? BU_OUTCOME_FAILED : BU_OUTCOME_DONE, power,
			err     ? err->text
			: whose ? whose
				: "");
}

/* The boot that bringup waits for. A node about to be installed must not boot the
 * system on its disk; the disk of a node that runs from memory does not have the node's
 * system. */
static enum bu_boot_first
first_of(const struct bu_reconcile *rec, const struct bu_node *node)
{
	enum bu_action first = bu_state_info(node->state)->first;

	return first == BU_ACTION_NETBOOT || first == BU_ACTION_INSTALL ||
			       bu_ram_is(rec, node)
		       ? BU_BOOT_NETWORK
		       : BU_BOOT_DISK;
}

static void
restart_bmc(struct bu_reconcile *rec, struct bu_node *node,
	    const struct bu_node_bmc *bmc, struct bu_power_request_run *run)
{
	node->live.bmc_restart_ms = bu_loop_now_ms(rec->fleet->loop);
	bu_power_reset_bmc(rec->power, &bmc->bmc, on_answer, run);
}

/* Or ends one, so that the next begins: a machine that runs is not switched on. */
static int
begins_a_boot(const struct bu_node *node)
{
	switch (node->power->op) {
	case BU_POWER_REQUEST_OFF:
	case BU_POWER_REQUEST_CYCLE:
		return 1;
	case BU_POWER_REQUEST_ON:
		return !node->boot_id[0] ||
		       node->conditions[BU_CONDITION_UNREACHABLE].on;
	default:
		return 0;
	}
}

void
bu_power_request_go(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
	struct bu_power_boot cycle = {.first = first_of(rec, node), .reset = 1};
	struct bu_power_request_run *run;
	struct bu_node_bmc bmc;
	int looks;

	if (node->power->result != BU_OUTCOME_ASKED) {
		node->live.power_running = BU_POWER_RUN_RESTS;
		return;
	}
	if (rec->stopped || !rec->alive ||
	    node->live.power_running == BU_POWER_RUN_RUNS || !want ||
	    bu_manual_is(want))
		return;
	/* The outcome may be on its way to the log. */
	if (node->live.power_running == BU_POWER_RUN_LOST && node->live.appending)
		return;
	looks = node->live.power_running == BU_POWER_RUN_LOST ||
		node->power->seq <= rec->fleet->loaded_seq;
	if (node->power->op == BU_POWER_REQUEST_WAKE_FAILED) {
		node->live.power_running = BU_POWER_RUN_LOST;
		journal(rec, node, BU_OUTCOME_FAILED, "", "");
		return;
	}
	if (!looks && begins_a_boot(node) &&
	    !bu_gating_done(rec, node, node->power->seq))
		return;
	run = run_of(rec, node, node->power->seq);
	run->looks = looks;
	node->live.power_running = BU_POWER_RUN_RUNS;
	bu_medium_bmc(rec, node, &bmc);
	if (run->looks)
		bu_power_status(rec->power, &bmc.bmc, on_answer, run);
	else if (node->power->op == BU_POWER_REQUEST_CYCLE)
		bu_power_boot(rec->power, &bmc.bmc, &cycle, on_answer, run);
	else if (node->power->op == BU_POWER_REQUEST_BMC_RESET)
		restart_bmc(rec, node, &bmc, run);
	else if (node->power->op == BU_POWER_REQUEST_ON ||
		 node->power->op == BU_POWER_REQUEST_WAKE)
		bu_power_on(rec->power, &bmc.bmc, cycle.first, on_answer, run);
	else
		bu_power_off(rec->power, &bmc.bmc, on_answer, run);
}

/* --- the verb --- */

static enum bu_power_request_op
request_of(const struct bu_verb_ask *ask)
{
	int place = bu_word_find(bu_power_request_names, ask->op);

	if (ask->verb == BU_VERB_BMC_RESET)
		return BU_POWER_REQUEST_BMC_RESET;
	return place < 0 || place == BU_POWER_REQUEST_BMC_RESET
		       ? BU_POWER_REQUEST_NONE
		       : (enum bu_power_request_op)place;
}

/* The cluster itself gives the node no work, so it has no jobs that could be lost. */
static int
check_sleep(const struct bu_reconcile *rec, const struct bu_node *node,
	    const struct bu_verb_ask *ask, struct bu_err *err)
{
	if (node->state != BU_STATE_READY || !node->joined->cluster[0])
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s; a ready node of a cluster can be "
				  "suspended, and is woken",
				  node->name, bu_state_name(node->state));
	if (request_of(ask) != BU_POWER_REQUEST_SUSPEND || bu_suspend_may(rec, node))
		return 0;
	return bu_err_set(err, BU_ERR_BUSY, 0,
			  "node %s: its cluster (%s) does not say that it powers it "
			  "down (%s), or has not been asked since it woke; ask "
			  "again in 30 s, or bringup node drain it",
			  node->name, node->joined->cluster, node->live.cluster->state);
}

/* The cluster restarts the node, and has seen to its jobs; not again for the same. */
static int
is_rebooted(const struct bu_reconcile *rec, const struct bu_node *node,
	    const struct bu_verb_ask *ask)
{
	const struct bu_cluster_fact *fact = node->live.cluster;

	return request_of(ask) == BU_POWER_REQUEST_CYCLE &&
	       node->state == BU_STATE_READY && node->boot_id[0] && fact->reboots &&
	       bu_cluster_fact_is_recent(fact, bu_loop_now_ms(rec->fleet->loop));
}

/* What this log does not know of it may run jobs. */
static int
check_unadopted(const struct bu_reconcile *rec, const struct bu_node *node,
		struct bu_err *err)
{
	if (!node->conditions[BU_CONDITION_UNADOPTED].on &&
	    !bu_adopt_is_due(rec->fleet, node))
		return 0;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "a system of this site runs on the machine of node %s, which "
			  "this log has not adopted, and its jobs would be lost; see "
			  "bringup node why %s, or add --force with --reason",
			  node->name, node->name);
}

/* Switching on a machine that is off harms no node at rest. */
static int
check_use(const struct bu_reconcile *rec, const struct bu_node *node,
	  const struct bu_verb_ask *ask, struct bu_err *err)
{
	int at_rest = bu_state_info(node->state)->settled;
	int off = request_of(ask) != BU_POWER_REQUEST_ON;
	bu_autofree char *hold = bu_hold_text(node->hold);

	if (bu_verb_is_held(node))
		return bu_err_set(err, BU_ERR_STATE, 0, "node %s is %s", node->name,
				  hold);
	if (request_of(ask) == BU_POWER_REQUEST_BMC_RESET)
		return 0;
	if (request_of(ask) >= BU_POWER_REQUEST_SUSPEND)
		return check_sleep(rec, node, ask, err);
	if (at_rest && (node->state != BU_STATE_READY || !off))
		return off ? check_unadopted(rec, node, err) : 0;
	if (is_rebooted(rec, node, ask))
		return 0;
	return bu_err_set(
		err, BU_ERR_STATE, 0,
		"node %s is %s%s; %s, or add --force with --reason", node->name,
		bu_state_name(node->state),
		at_rest ? ", and its jobs would be lost" : ": bringup is working on it",
		at_rest ? "bringup node drain it first, or bringup node reboot"
			: "wait until it is done");
}

static int
check(const struct bu_reconcile *rec, const struct bu_node *node,
      const struct bu_verb_ask *ask, struct bu_err *err)
{
	if (request_of(ask) == BU_POWER_REQUEST_NONE)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"power '%.20s': expected on, off, cycle or status; or "
			"of a cluster that saves power suspend, wake or "
			"wake-failed",
			ask->op);
	if (!bu_fleet_desired(rec->fleet, node))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is not in the applied profile, so its BMC "
				  "is unknown",
				  node->name);
	if (bu_manual_is(bu_fleet_desired(rec->fleet, node)))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s has power = manual: switch its machine by "
				  "hand",
				  node->name);
	/* A question to a BMC may change its password. */
	if (bu_fence_check(rec->fleet, BU_ERR_STATE, err) != 0)
		return -1;
	if (request_of(ask) == BU_POWER_REQUEST_STATUS)
		return 0;
	if (node->power->result == BU_OUTCOME_ASKED)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s: power %s by %s is under way", node->name,
				  bu_power_request_names[node->power->op],
				  node->power->by);
	if (bu_sibling_restarts(rec, node))
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s: its BMC restarts, as node %s has it, too; "
				  "ask again when that is done",
				  node->name, bu_sibling_restarts(rec, node)->name);
	if (!ask->force)
		return check_use(rec, node, ask, err);
	if (*ask->reason)
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "--force needs --reason; the log keeps it");
}

static void
append_request(struct bu_reconcile *rec, struct bu_node *node,
	       const struct bu_verb_ask *ask)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_POWER, node->name, power, .op = request_of(ask),
		      .by = ask->by, .reason = ask->reason, .force = ask->force,
		      .result = BU_OUTCOME_ASKED);
	bu_reconcile_append(rec, node, &event, 1);
}

char *
bu_verb_power(struct bu_reconcile *rec, struct bu_node *node,
	      const struct bu_verb_ask *ask, struct bu_err *err)
{
	struct bu_node_bmc bmc;

	if (check(rec, node, ask, err) != 0)
		return NULL;
	if (ask->dry_run)
		return bu_xasprintf("power %s", ask->op);
	if (request_of(ask) == BU_POWER_REQUEST_STATUS) {
		bu_node_bmc(rec->fleet, node, &bmc);
		bu_power_status(rec->power, &bmc.bmc, on_answer, run_of(rec, node, 0));
	} else {
		append_request(rec, node, ask);
	}
	return bu_xasprintf("power %s asked for", ask->op);
}

/* A restart of the BMC hits the machines of its siblings, too. */
static int
check_siblings(const struct bu_reconcile *rec, const struct bu_node *node,
	       const struct bu_verb_ask *ask, struct bu_err *err)
{
	const struct bu_node *other = bu_sibling_switched(rec, node);

	if (other)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s: node %s has the same BMC, and its machine "
				  "is being switched on or off; the BMC may restart "
				  "when that is done",
				  node->name, other->name);
	other = ask->force ? NULL : bu_sibling_in_use(rec, node);
	if (!other)
		return 0;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "node %s: node %s has the same BMC, and is %s%s; wait until "
			  "that is over, or add --force with --reason",
			  node->name, other->name, bu_state_name(other->state),
			  bu_verb_is_held(other) ? " and held by a person" : "");
}

/* A BMC that restarts is silent about a machine that is being switched: not even
 * --force restarts it then. */
static int
check_bmc_reset(const struct bu_reconcile *rec, const struct bu_node *node,
		const struct bu_verb_ask *ask, struct bu_err *err)
{
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);

	if (want && !bu_bmc_is(want))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s has power = %s: there is no BMC to restart",
				  node->name, want->power);
	if (want && (bu_effect_switches(rec, node) || bu_power_request_runs(node)))
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s: its machine is being switched on or off; "
				  "its BMC may restart when that is done",
				  node->name);
	if (want && !ask->force && !bu_state_info(node->state)->settled)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s: bringup is working on it; wait until "
				  "it is done, or add --force with --reason",
				  node->name, bu_state_name(node->state));
	return want ? check_siblings(rec, node, ask, err) : 0;
}

char *
bu_verb_bmc_reset(struct bu_reconcile *rec, struct bu_node *node,
		  const struct bu_verb_ask *ask, struct bu_err *err)
{
	if (check_bmc_reset(rec, node, ask, err) != 0 ||
	    check(rec, node, ask, err) != 0)
		return NULL;
	if (ask->dry_run)
		return bu_xstrdup("restart its BMC");
	append_request(rec, node, ask);
	return bu_xstrdup("a restart of its BMC asked for");
}
