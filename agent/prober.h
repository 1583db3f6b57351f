/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe's work item, each of its rails by a child process: a call of the verbs that
 * hangs in a driver or crashes costs that rail its result, and neither another rail nor
 * the agent. Children stay between probes, with what those leave open.
 */
#ifndef BU_AGENT_PROBER_H
#define BU_AGENT_PROBER_H

#include "agent/child_probe.h"
#include "model/work.h"

/* Zeroed at first. */
struct bu_prober {
	struct bu_child_probe rail[BU_RAILS_MAX];
	int (*cancelled)(void *arg); /* asked often; NULL = never */
	void *arg;
	int64_t grace_ms; /* over an item's deadline; 0 = as usual */
};

/* *ret: the result of the item's one port, or {"rails":[RESULT]} with one for each rail
 * in their order, whatever became of it. BU_ERR_CANCELLED: it was withdrawn. */
bu_must int bu_prober_run(struct bu_prober *prober, const json_t *item, json_t **ret,
			  struct bu_err *err);
/* Lets go of the adapters. */
void bu_prober_drop(struct bu_prober *prober);

#endif
