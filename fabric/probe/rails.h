/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe's work item: its rails at the same time, each in a thread
 * bound to a CPU near its port. Called by the soak and the loopback check, in a process
 * of its own. The agent runs a process for each rail instead (agent/prober.c).
 */
#ifndef BU_FABRIC_PROBE_RAILS_H
#define BU_FABRIC_PROBE_RAILS_H

#include <jansson.h>

#include "fabric/probe/pair.h"

/* Devices, memory and queues that probes leave open for the next ones, by the rail's
 * place. Zeroed at first. */
struct bu_rails_kept {
	struct bu_pair_kept rail[BU_RAILS_MAX];
	int (*cancelled)(void *arg); /* NULL = none */
	void *arg;
	const char *root; /* sysfs; NULL = the system's */
};
void bu_rails_drop(struct bu_rails_kept *kept);

/* Blocks as bu_pair_run() does. *ret: {"rails":[RESULT]} with one result for each rail
 * in their order, also for rails that failed. BU_ERR_INVAL: the item has no rails. */
bu_must int bu_rails_run(const struct bu_work_probe *work, struct bu_rails_kept *kept,
			 json_t **ret, struct bu_err *err);

/* A result of a failed rail, with its name and error. New reference. */
json_t *bu_rails_failed(const struct bu_pair_opts *opts, const struct bu_err *err);

#endif
