/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One slice of a soak, group "soak": CPUs, memory, disks, GPUs and links are loaded
 * together for expect.soak.slice_ms (memory: at most expect.soak.memory_bytes of it;
 * copies of a GPU: expect.soak.gpu_bytes each; links: lap after lap of the probe's work
 * item expect.soak.link, with a neighbour that soaks as well), and what grew meanwhile
 * among the error counters of the machine decides. The gate adds slices up, so that a
 * soak goes on after a restart.
 *
 * Row `soak-time` tells how long it was, in seconds, number first.
 */
#ifndef BU_CHECKS_SOAK_SOAK_H
#define BU_CHECKS_SOAK_SOAK_H

#include "checks/checks.h"

enum { BU_SOAK_SLICE_MS = 60000 }; /* where expect names none */

bu_must int bu_soak_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
			struct bu_err *err);

/* A counter that is looked at, for documents and tests. */
struct bu_soak_row {
	const char *id, *what, *hint;
	enum bu_verdict verdict; /* when it grew */
};
const struct bu_soak_row *bu_soak_rows(size_t *ret_count);

#endif
