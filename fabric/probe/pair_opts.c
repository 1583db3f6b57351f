/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe's work item as options of the engine. Called by the agent before
 * bu_pair_run(). Invariant: what comes out is within the ranges that the item's table
 * states.
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

int
bu_pair_opts_from_json(const json_t *item, struct bu_pair_opts *ret, struct bu_err *err)
{
	struct bu_work_probe work;
	int loopback;

	if (bu_work_probe_from_json(item, &work, err) != 0)
		return -1;
	loopback = work.role == BU_PROBE_LOOPBACK;
	*ret = (struct bu_pair_opts){
		.listens = work.role == BU_PROBE_LISTEN,
		.loopback = loopback,
		.self = self_of(&work),
		.port = work.port,
		.message_bytes = work.message_bytes,
		.bytes = work.bytes,
		.runs = work.runs,
		.deadline_ms = work.deadline_ms,
		.op = work.op,
		.lat_op = work.lat_op,
		.qps = work.qps,
		.duplex = work.duplex,
		.min_gbps = work.min_gbps,
		.pings = work.pings,
		.sport = work.sport,
		.gid_index = work.gid_index,
		.window_bytes = work.window_bytes,
		.gpu = work.gpu,
	};
	memcpy(ret->probe, work.probe, sizeof(ret->probe));
	for (int i = 0; i < 2; i++)
		memcpy(ret->node[i], work.node[loopback ? BU_END_A : i],
		       sizeof(ret->node[i]));
	memcpy(ret->addr, work.addr, sizeof(ret->addr));
	memcpy(ret->peer, work.peer, sizeof(ret->peer));
	memcpy(ret->secret, work.secret, sizeof(ret->secret));
	memcpy(ret->local_ip, work.local_ip, sizeof(ret->local_ip));
	memcpy(ret->device, work.device, sizeof(ret->device));
	return 0;
}
