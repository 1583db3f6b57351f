/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much a probe moves over a link, and how: what fills a fast link for long enough
 * that its rate is known, and what a slow one carries in that time. Pure; the gate
 * fills work items with it.
 */
#ifndef BU_MODEL_SIZES_H
#define BU_MODEL_SIZES_H

#include <stdint.h>

struct bu_sizes {
	uint32_t message_bytes;
	int qps;
	int depth;           /* messages under way per queue pair; 0 = the engine's */
	uint64_t bytes;      /* timed in each run */
	uint64_t warm_bytes; /* before them, not timed; 0 = what is under way */
};

/* limit_gbps: what the link can carry, 0 = unknown; runs: in each direction. */
struct bu_sizes bu_sizes_of(double limit_gbps, int runs);

/* The table behind it, slowest links first, for docs and tests. */
struct bu_sizes_row {
	double from_gbps;
	uint32_t message_bytes;
	int qps, depth;
	int timed_ms; /* of a direction, all runs; 0 = a fixed size */
	int warm_ms;  /* the same */
	const char *source;
};
extern const struct bu_sizes_row bu_sizes_rows[];
extern const int bu_sizes_rows_count;

#endif
