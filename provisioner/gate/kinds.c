/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of tasks of several nodes (task.h): what each decides by itself. Given to
 * the gate when gate.c makes it. Invariant: a task with a deadline is judged.
 */
#include "provisioner/gate/campaign/switches_impl.h"
#include "provisioner/gate/task/incast.h"
#include "provisioner/gate/task/nvlink.h"
#include "provisioner/gate/task/probe.h"
#include "provisioner/gate/task/soak.h"

const struct bu_task_kind bu_task_kinds[] = {
	/* Campaigns and runs of a person ask for pairs (asks.c, run.c). */
	[BU_TASK_PROBE] = {.prefix = "p-",
			   .size = sizeof(struct bu_probe),
			   .item = bu_probe_item,
			   .heard = bu_probe_heard,
			   .is_over = bu_probe_is_over,
			   .judge = bu_probe_judge},
	[BU_TASK_INCAST] = {.name = "incast",
			    .prefix = "i-",
			    .size = sizeof(struct bu_task),
			    .alone = 1,
			    .pause_ms = 60000,
			    .is_eligible = bu_incast_is_eligible,
			    .choose = bu_incast_choose,
			    .item = bu_incast_item,
			    .judge = bu_incast_judge},
	[BU_TASK_NVLINK] = {.name = "NVLink test",
			    .prefix = "n-",
			    .size = sizeof(struct bu_gate_nvlink),
			    .pause_ms = 10000,
			    .is_eligible = bu_gate_nvlink_is_eligible,
			    .choose = bu_gate_nvlink_choose,
			    .item = bu_gate_nvlink_item,
			    .judge = bu_gate_nvlink_judge},
	/* Neighbours meet when a slice is due, and their item is a part of the slice's
	 * (checks.c). */
	[BU_TASK_SOAK] = {.prefix = "soak-",
			  .size = sizeof(struct bu_task),
			  .shares = 1,
			  .is_eligible = bu_soak_is_eligible},
	/* Asked for by the readings of switches (switches_read.c). */
	[BU_TASK_SWITCHES] = {.name = "switch reading",
			      .prefix = "s-",
			      .size = sizeof(struct bu_switches_reading),
			      .is_eligible = bu_switches_is_eligible,
			      .item = bu_switches_item,
			      .judge = bu_switches_judge,
			      .fini = bu_switches_fini},
};

_Static_assert(BU_LEN(bu_task_kinds) == BU_TASK_KINDS, "each kind has a row");
