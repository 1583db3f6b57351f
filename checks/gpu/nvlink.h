/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVLink between two nodes of one NVLink domain, group "nvlink": both nodes run it at
 * the same time. Each GPU shares memory with the GPU of its number on the other node
 * (a fabric handle, which the driver gives where IMEX is up), and both copy into it,
 * one at a time and at once; what arrived is verified by the node that it was sent to.
 *
 * expect.nvlink: a probe's work item (model/work.h) of the device "nvlink"; of it role,
 * nodes, address, port, secret, runs and deadline count. expect.gpu as for
 * checks/gpu/gpu.h: p2p_gbs is the least that each direction must reach, in GB/s,
 * p2p_limit_gbs the most that the links of a GPU can carry, copy_bytes the largest
 * copy.
 */
#ifndef BU_CHECKS_GPU_NVLINK_H
#define BU_CHECKS_GPU_NVLINK_H

#include "checks/checks.h"

/* A row of the table, for documents and tests. */
struct bu_nvlink_row {
	const char *id, *what;
	enum bu_verdict verdict; /* of a finding */
	const char *hint;
};
const struct bu_nvlink_row *bu_nvlink_rows(size_t *ret_count);

bu_must int bu_nvlink_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
			  struct bu_err *err);

#endif
