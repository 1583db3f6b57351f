/* SPDX-License-Identifier: Apache-2.0 */
/* Load on the CPUs and their memory, and what it brings. Used by host and soak checks.
 */
#ifndef BU_CHECKS_HOST_HOST_LOAD_H
#define BU_CHECKS_HOST_HOST_LOAD_H

#include <stdint.h>

#include "base/err.h"

/* Called about ten times a second while the load runs; other than 0 ends it. */
typedef int (*bu_host_tick_fn)(void *arg);

struct bu_host_load {
	int threads;           /* one on each CPU that we may use */
	double seconds;        /* that it ran */
	double memory_gbs;     /* 10^9 bytes a second, read and written; all threads */
	uint64_t wrong;        /* words that did not hold what was written to them */
	uint64_t wrong_offset; /* in bytes, of the first of them in its thread's part */
	int wrong_cpu;
};

/* Triad over `bytes` of memory (all threads together), verified at the end; each thread
 * is pinned to its CPU. threads 0 = all. BU_ERR_IO when a thread cannot be made. */
struct bu_host_triad {
	int threads;
	uint64_t bytes;
	int64_t duration_ms;
};
bu_must int bu_host_load_memory(const struct bu_host_triad *triad, bu_host_tick_fn tick,
				void *arg, struct bu_host_load *ret,
				struct bu_err *err);
/* Arithmetic without memory on every CPU; results are compared with the first round's,
 * which gives `wrong`. */
bu_must int bu_host_load_cpu(int threads, int64_t duration_ms, bu_host_tick_fn tick,
			     void *arg, struct bu_host_load *ret, struct bu_err *err);

#endif
