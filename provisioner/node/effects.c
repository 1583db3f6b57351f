/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Effects of steps: power through bringup-power; clusters are in joining.c. Steps of
 * the agent have none here: the agent fetches them. Invariant: a late callback is
 * dropped. An answer counts only for the step and attempt that it carries, while that
 * step is open.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "provisioner/node/effect.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/over.h"

/* Holds a node until a person decides: its machine is on for an unknown purpose (code
 * IS_ON), or its BMC has another machine (FOREIGN_MACHINE). */
static void
hold_on(struct bu_reconcile *rec, struct bu_node *node, enum bu_reason_code code,
	const struct bu_err *err)
{
	struct bu_event events[2];
	struct bu_reason reason;

	bu_outcome_event(&events[0], node, err, "");
	bu_reason_set(&reason, code,
		      &(struct bu_reason_args){.text = {err->text, node->name}});
	bu_hold_event(&events[1], node->name, BU_OWNER_BRINGUP, "", &reason);
	bu_reconcile_append(rec, node, events, 2);
}

/* The step ended before its power action did, perhaps by a reset from elsewhere. A boot
 * that said hello before the action started the machine has ended. */
static void
end_boot_before(struct bu_reconcile *rec, struct bu_node *node,
		const struct bu_power_seen *seen)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	struct bu_event off;

	if (!seen->started_ms || !node->boot_id[0] ||
	    node->booted_ms > now_ms - seen->started_ms)
		return;
	BU_EVENT_MAKE(&off, BU_EVENT_OFF, node->name, off, .asked = "power boot");
	bu_reconcile_note(rec, &off, 1);
}

static void
on_boot(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_node *any = bu_fleet_node(rec->fleet, effect->node);
	struct bu_node *node = bu_effect_node(effect);

	bu_autofree char *whose = bu_power_whose(seen);
	bu_autofree char *detail =
		bu_xasprintf("%s%s%s", bu_power_state_name(seen->state),
			     whose ? "; " : "", whose ? whose : "");

	if (node)
		bu_node_bmc_says(node, seen);
	else if (any && !err)
		end_boot_before(rec, any, seen);

	/* A node taken back without an order fails instead; its reason names the
	 * verb. */
	if (node && err && err->kind == BU_ERR_DENIED && node->order->open)
		hold_on(rec, node, BU_REASON_IS_ON, err);
	else if (node && err && err->kind == BU_ERR_FOREIGN)
		hold_on(rec, node, BU_REASON_FOREIGN_MACHINE, err);
	else if (node)
		bu_journal_outcome(rec, node, err, detail);
}

/* Was the agent in the boot ramdisk heard in the last BU_HEARD_MS? Then nothing else
 * runs on the machine. */
static int
is_in_ramdisk(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	int over = bu_over_is(node);
	int64_t seen_ms = over ? node->live.over_seen_ms : node->live.last_seen_ms;

	return (node->boot_id[0] || (over && node->over->pending)) &&
	       !bu_over_was_installed(node) && seen_ms &&
	       now_ms - seen_ms <= BU_HEARD_MS;
}

/* A machine that is on is reset only by a grant or a requested reboot of this very
 * machine, or where its boot is bringup's; never while it may run jobs. */
static int
may_reset(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_order *order = node->order;
	int granted = node->reset || (order->open && order->begun && order->reset);

	return !node->serves && (node->booted_by_us || is_in_ramdisk(rec, node) ||
				 (granted && bu_reach_is_granted(rec->fleet, node)));
}

static void
boot(struct bu_reconcile *rec, struct bu_node *node,
     const struct bu_desired_node *reach)
{
	int disk = node->step.action == BU_ACTION_DISKBOOT;
	/* At the end of an order the agent switches its machine off. A repeated step,
	 * or a boot without an order, does not wait: the machine could go on meanwhile,
	 * and must not be reset then. */
	struct bu_power_boot how = {
		.first = disk ? BU_BOOT_DISK : BU_BOOT_NETWORK,
		.wait_off_ms = node->state == BU_STATE_BOOTING && node->repeats == 0 &&
					       node->order->open && node->order->begun
				       ? BU_WAIT_OFF_MS
				       : 0,
		.reset = may_reset(rec, node),
		.bmc_reset = bu_reconcile_resets_bmc(node, reach) &&
			     bu_siblings_allow(rec, node),
	};

	struct bu_effect *effect = bu_effect_of(rec, node);
	struct bu_node_bmc bmc;

	effect->switches = 1;
	effect->restarts = how.bmc_reset;
	if (how.bmc_reset)
		node->live.bmc_restart_ms = bu_loop_now_ms(rec->fleet->loop);
	bu_reach_used(rec, node);
	bu_medium_bmc(rec, node, &bmc);
	bu_power_boot(rec->power, &bmc.bmc, &how, on_boot, effect);
}

void
bu_effect_start(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_desired_node *reach = bu_fleet_reach(rec->fleet, node);
	struct bu_target target = {0};
	struct bu_err err = {0};

	if (!rec->alive)
		return;
	/* A leave needs only the node and the cluster that it has joined. */
	if (bu_fleet_target(rec->fleet, node, &target, &err) != 0 &&
	    node->step.action != BU_ACTION_LEAVE) {
		bu_journal_outcome(rec, node, &err, "");
		return;
	}
	switch (bu_action_info(node->step.action)->actor) {
	case BU_ACTOR_POWER:
		if (node->kexecs)
			bu_journal_outcome(rec, node, NULL, "by kexec");
		else if (bu_gating_done(rec, node, node->step.intent_seq) &&
			 !bu_manual_is(reach))
			boot(rec, node, reach);
		return;
	case BU_ACTOR_CLUSTER:
		bu_effect_cluster(rec, node, target.node);
		return;
	case BU_ACTOR_AGENT:
	case BU_ACTOR_NOBODY:
		return;
	}
}

/* Off: the boot was not done, and doing it is safe. On: it may have been done; only a
 * new boot id proves it, and the deadline decides. The machine may also be about to go
 * off, as after an install, so its power is read again. */
static void
on_observed(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_node *node = bu_effect_node(effect);

	if (!node)
		return;
	node->live.effect_running = 0;
	/* The event under way may end this step: power is read again after it. */
	if (node->live.appending)
		return;
	if (err && bu_fallback_tries(rec, node)) {
		bu_journal_outcome(rec, node, err, "");
	} else if (err || seen->state == BU_POWER_UNKNOWN) {
		bu_warn("node", "%s: power is unknown: %s", node->name,
			err ? err->text : "no clear answer");
		node->live.retry_ms = bu_loop_now_ms(rec->fleet->loop) + BU_RETRY_MS;
	} else if (seen->state == BU_POWER_OFF && node->boot_id[0]) {
		struct bu_event off;

		/* The event is logged first; then power is read again. */
		BU_EVENT_MAKE(&off, BU_EVENT_OFF, node->name, off,
			      .asked = bu_action_name(node->step.action));
		bu_reconcile_append(rec, node, &off, 1);
	} else if (seen->state == BU_POWER_OFF && bu_sibling_restarts(rec, node)) {
		bu_reason_set(bu_node_wait_reason(node), BU_REASON_BMC_AWAITED, NULL);
	} else if (seen->state == BU_POWER_OFF) {
		bu_info("node", "%s: %s was not done; doing it now", node->name,
			bu_action_name(node->step.action));
		bu_effect_start(rec, node);
	} else {
		bu_debug("node", "%s: %s may have been done; waiting for its boot",
			 node->name, bu_action_name(node->step.action));
		node->live.retry_ms = bu_loop_now_ms(rec->fleet->loop) + BU_RETRY_MS;
	}
}

void
bu_effect_observe(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_desired_node *reach = bu_fleet_reach(rec->fleet, node);
	struct bu_node_bmc bmc;

	if (bu_action_info(node->step.action)->again != BU_AGAIN_LOOKS || !reach ||
	    bu_manual_is(reach) || node->kexecs) {
		bu_effect_start(rec, node);
		return;
	}
	bu_medium_bmc(rec, node, &bmc);
	bu_power_status(rec->power, &bmc.bmc, on_observed, bu_effect_of(rec, node));
}
