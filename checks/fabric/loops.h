/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage 0 of the fabric's tests, group "fabric": what each rail's port does inside its
 * own machine, before any partner is used. One after the other, both directions at
 * once: a loop through the adapter, the same with the memory of the nearest GPU, and
 * from port to port where two InfiniBand ports are at one switch. No cable has a part
 * in a loop, so what is slow here is the host's or the adapter's; and nothing here
 * loads the links between switches, which are not this machine's alone.
 *
 * expect.fabric: a probe's work item with the role "loopback" and the rails
 * (model/work.h): how much moves, and the least rate of each rail. expect.gpu as for
 * checks/gpu/gpu.h: without it no GPU is used.
 *
 * A loop in which nothing comes back at all is `inconclusive`: some adapters do not
 * send to themselves.
 */
#ifndef BU_CHECKS_FABRIC_LOOPS_H
#define BU_CHECKS_FABRIC_LOOPS_H

#include "checks/audit/lldp.h"
#include "checks/checks.h"

/* What is not in the verbs; a test plays it. */
struct bu_loops_probes {
	/* As bu_ib_peer(). */
	int (*ib_peer)(const char *root, const char *device, int port, int wait_ms,
		       struct bu_lldp *ret, struct bu_err *err);
};

/* A row of the table, for documents and tests. */
struct bu_loops_row {
	const char *id, *what, *hint;
};
const struct bu_loops_row *bu_loops_rows(size_t *ret_count);

bu_must int bu_loops_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
			 struct bu_err *err);
/* The same with other probes. */
bu_must int bu_loops_run_with(const struct bu_checks_ctx *ctx,
			      const struct bu_loops_probes *probes,
			      struct bu_checks *out, struct bu_err *err);

#endif
