/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routers on the way of flows between two ports of RoCE v2: where switches choose
 * one way of several by a flow's addresses and ports, only a trace tells which. Used by
 * pair_trace.c.
 */
#ifndef BU_FABRIC_PROBE_TRACE_H
#define BU_FABRIC_PROBE_TRACE_H

#include "fabric/probe/wait.h"
#include "model/result.h"

enum { BU_TRACE_MS = 1500 }; /* of one trace, at most */

struct bu_trace_opts {
	const char *from, *to; /* GIDs: "::ffff:10.78.0.11", or IPv6 */
	const char *netdev; /* it leaves by this one; "" = as its address is routed */
	const uint16_t *sports; /* UDP source ports of the flows */
	int count;              /* at most BU_QPS_MAX */
	struct bu_wait wait;    /* its deadline ends the trace, and what did not answer
				   by then is unknown */
};

/* One way for each flow. -1: there is none at all, and the error says why; of kind
 * BU_ERR_CANCELLED when the wait was stopped. */
bu_must int bu_trace_run(const struct bu_trace_opts *opts, struct bu_pair_way *ret,
			 struct bu_err *err);

#endif
