/* SPDX-License-Identifier: Apache-2.0 */
/* The probes under way in a gate, the last one first. */
#ifndef BU_TESTS_SUPPORT_PROBES_H
#define BU_TESTS_SUPPORT_PROBES_H

#include "provisioner/gate/task/probe.h"

/* NULL = none is under way. */
static inline struct bu_probe *
newest_probe(const struct bu_gate *gate)
{
	return (struct bu_probe *)gate->tasks[BU_TASK_PROBE];
}

static inline struct bu_probe *
next_probe(const struct bu_probe *probe)
{
	return (struct bu_probe *)probe->task.next;
}

#endif
