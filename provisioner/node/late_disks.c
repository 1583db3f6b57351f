/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks that show up late: an adapter may look for them long after the ramdisk runs. A
 * machine that lacks one is asked again for disk_wait of its class, before it is a
 * misfit. Called by agents.c. Invariant: nothing of it is logged, so a restart of
 * bringupd begins the time anew.
 */
#include <string.h>

#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"

/* Could more disks mend the misfit? */
static int
lacks_disks(const struct bu_reason *reason)
{
	switch (reason->code) {
	case BU_REASON_NO_DISK:
		return 1;
	case BU_REASON_NO_BOOT_PAIR:
	case BU_REASON_MIRROR_DISKS:
		return reason->number[0] == 0;
	case BU_REASON_SCRATCH_DISKS:
		return reason->number[1] < reason->number[0];
	default:
		return 0;
	}
}

int
bu_disks_may_come(struct bu_reconcile *rec, struct bu_node *node, const char *boot_id,
		  const struct bu_reason *reason, struct bu_err *err)
{
	const struct bu_desired_node *want = bu_fleet_ordered(rec->fleet, node);
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop), left_ms;

	if (!want || !lacks_disks(reason))
		return 0;
	if (strcmp(node->live.disks->boot_id, boot_id) != 0) {
		bu_text_copy(bu_node_disks(node)->boot_id,
			     sizeof(bu_node_disks(node)->boot_id), boot_id);
		bu_node_disks(node)->since_ms = now_ms;
	}
	left_ms = node->live.disks->since_ms + bu_desired_disk_wait_ms(want) - now_ms;
	if (left_ms <= 0)
		return 0;
	bu_err_set(
		err, BU_ERR_BUSY, 0,
		"not all disks of hardware class %s are there yet; %s is asked again "
		"for %d s (disk_wait)",
		want->hardware->name, node->name, (int)((left_ms + 999) / 1000));
	return 1;
}
