/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the host under a short load, group "host": CPUs, memory, disks, clock, and
 * the firmware settings that show in them.
 *
 * What is read of expect (an absent member is not judged):
 * hardware {"cpus": at least, "memory_bytes": at least}
 * thresholds {"cpu_percent": of the CPU's top frequency, under load (80),
 *  "memory_gbs","disk_read_mbs","disk_write_mbs": at least,
 *  "clock_offset_us": at most (more than 1000 is a warning),
 *  "corrected_errors": of memory, a day, at most (10)}
 * host {"turbo":bool,"numa_nodes": with CPUs, exactly,"load_ms": of each load (1500),
 *  "memory_load_bytes": at most (4 GiB)}
 *
 * Bandwidths are told in `seen`, number first, also where nothing is expected of them:
 * the gate compares a cohort by them.
 */
#ifndef BU_CHECKS_HOST_HOST_H
#define BU_CHECKS_HOST_HOST_H

#include "checks/checks.h"

/* A row of the table, for documents and tests. */
struct bu_host_row {
	const char *id, *what, *hint;
};
const struct bu_host_row *bu_host_rows(size_t *ret_count);

/* The clock against the appliance's, where ctx can ask it. */
void bu_host_clock(const struct bu_checks_ctx *ctx, struct bu_checks *out);

bu_must int bu_host_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
			struct bu_err *err);

#endif
