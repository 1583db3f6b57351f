/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routers on the paths of flows between two RoCE v2 ports. Switches choose one of
 * several paths by a flow's addresses and ports, so only a trace shows it. Called by
 * pair_trace.c.
 */
#ifndef BU_FABRIC_PROBE_TRACE_H
#define BU_FABRIC_PROBE_TRACE_H

#include "fabric/probe/wait.h"
#include "model/result.h"

enum { BU_TRACE_MS = 1500 }; /* longest trace */

struct bu_trace_opts {
	const char *from, *to;  /* GIDs: "::ffff:10.78.0.11", or IPv6 */
	const char *netdev;     /* outgoing interface; "" = by route */
	const uint16_t *sports; /* UDP source ports of the flows */
	int count;              /* at most BU_QPS_MAX */
	struct bu_wait wait; /* at its deadline, hops without an answer are unknown */
};

/* Fills in one path per flow. -1: no path at all, err says why; BU_ERR_CANCELLED = the
 * wait was stopped. */
bu_must int bu_trace_run(const struct bu_trace_opts *opts, struct bu_pair_way *ret,
			 struct bu_err *err);

#endif
