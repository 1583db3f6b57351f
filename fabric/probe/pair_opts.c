/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the options of the engine from a probe's work item. Called by the agent and
 * checks/ before bu_pair_run(). Invariant: the options are within the ranges of the
 * item's table.
 */
#include <string.h>

#include "fabric/probe/pair.h"

static int
self_of(const struct bu_work_probe *work)
{
	if (work->self[0])
		return strcmp(work->self, work->node[BU_END_A]) == 0 ? BU_END_A
								     : BU_END_B;
	return work->role == BU_PROBE_LISTEN ? BU_END_B : BU_END_A;
}

/* An item without rails has one port. */
static struct bu_work_rail
rail_of(const struct bu_work_probe *work, size_t n)
{
	struct bu_work_rail rail;

	if (n < work->rails_count)
		return work->rails[n];
	bu_record_init(bu_work_rail_fields, &rail);
	memcpy(rail.port, work->device, sizeof(rail.port));
	memcpy(rail.address, work->local_ip, sizeof(rail.address));
	rail.gid_index = work->gid_index;
	return rail;
}

void
bu_pair_opts_of(const struct bu_work_probe *work, size_t n, struct bu_pair_opts *ret)
{
	const struct bu_work_rail rail = rail_of(work, n);
	int loopback = work->role == BU_PROBE_LOOPBACK;

	*ret = (struct bu_pair_opts){
		.listens = work->role == BU_PROBE_LISTEN,
		.loopback = loopback,
		.self = self_of(work),
		.port = work->port + (int)n,
		.rail = rail,
		.message_bytes = work->message_bytes,
		.bytes = work->bytes,
		.runs = work->runs,
		.deadline_ms = work->deadline_ms,
		.op = work->op,
		.lat_op = work->lat_op,
		.qps = work->qps,
		.duplex = work->duplex,
		.min_gbps = rail.min_gbps > 0 ? rail.min_gbps : work->min_gbps,
		.pings = work->pings,
		.sport = work->sport,
		.window_bytes = work->window_bytes,
		.depth = work->depth,
		.warm_bytes = work->warm_bytes,
		.trace = work->trace,
		.gpu = rail.gpu >= 0 ? rail.gpu : work->gpu,
	};
	memcpy(ret->probe, work->probe, sizeof(ret->probe));
	for (int i = 0; i < 2; i++)
		memcpy(ret->node[i], work->node[loopback ? BU_END_A : i],
		       sizeof(ret->node[i]));
	memcpy(ret->addr, work->addr, sizeof(ret->addr));
	memcpy(ret->peer, work->peer, sizeof(ret->peer));
	memcpy(ret->secret, work->secret, sizeof(ret->secret));
}
