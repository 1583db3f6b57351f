/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of a probe by the link's rate: enough bytes to measure a fast link, few enough
 * for a slow one. Pure; the gate fills work items with them.
 */
#ifndef BU_MODEL_SIZES_H
#define BU_MODEL_SIZES_H

#include <stdint.h>

struct bu_sizes {
	uint32_t message_bytes;
	int qps;
	int depth; /* messages under way per queue pair; 0 = the engine's default */
	uint64_t bytes;      /* timed in each run */
	uint64_t warm_bytes; /* sent before, not timed; 0 = messages under way */
};

/* limit_gbps: rate of the link, 0 = unknown. runs: per direction. */
struct bu_sizes bu_sizes_of(double limit_gbps, int runs);

/* The table of sizes, slowest links first, for docs and tests. */
struct bu_sizes_row {
	double from_gbps;
	uint32_t message_bytes;
	int qps, depth;
	int timed_ms; /* per direction, all runs; 0 = a fixed size */
	int warm_ms;  /* likewise */
	const char *source;
};
extern const struct bu_sizes_row bu_sizes_rows[];
extern const int bu_sizes_rows_count;

#endif
