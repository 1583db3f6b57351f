/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that begins to boot again while its ramdisk should be at work: it lost
 * power or was reset. api/boot.c reports its request for a boot script; late.c asks at
 * each tick. Invariant: a power cycle needs both the request, which any host of the
 * boot network can make, and the silence of the agent.
 */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"

/* An uninterrupted ramdisk is heard every few seconds. */
enum { SILENT_MS = 60000 };

/* The agent has traded the token of this boot and should still be in its ramdisk. */
static int
is_in_ramdisk(const struct bu_node *node)
{
	return node->state == BU_STATE_IMAGING ||
	       (node->state == BU_STATE_INSPECTING &&
		node->step.action == BU_ACTION_NETBOOT &&
		strcmp(node->admitted_step, node->step.id) == 0);
}

int
bu_reconcile_boots(const struct bu_node *node)
{
	return node->state == BU_STATE_INSPECTING &&
	       node->step.action == BU_ACTION_NETBOOT &&
	       node->step.status != BU_STEP_FAILED && !node->hold->owner &&
	       strcmp(node->admitted_step, node->step.id) != 0;
}

int
bu_reconcile_may_restart_boot(const struct bu_node *node)
{
	return is_in_ramdisk(node) && !node->hold->owner;
}

void
bu_reconcile_boot_restarts(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_boot_restart *restart = &node->live.boot_restart;

	if (!bu_reconcile_may_restart_boot(node))
		return;
	/* The first request counts: firmware that finds nothing asks again. */
	if (restart->seq == node->state_seq &&
	    restart->heard_ms == node->live.agent->heard_ms)
		return;
	restart->seq = node->state_seq;
	restart->heard_ms = node->live.agent->heard_ms;
	restart->asked_ms = bu_observe_awake_ms(rec);
}

int
bu_boot_restart_is(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_boot_restart *restart = &node->live.boot_restart;

	return restart->seq && restart->seq == node->state_seq &&
	       bu_reconcile_may_restart_boot(node) && node->live.in_profile &&
	       restart->heard_ms == node->live.agent->heard_ms &&
	       bu_observe_awake_ms(rec) - restart->asked_ms >= SILENT_MS;
}
