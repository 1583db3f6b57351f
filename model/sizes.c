/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of a probe from the rate of its link; called by the gate. Invariant: both ends
 * of a pair get the same, as they follow from the profile alone.
 */
#include "model/sizes.h"

#include "base/mem.h"
#include "model/work.h"

/* fabric reference 3: "tx depth >= BDP (400G x 5 us = 250 KB -> >= 4 x 64 KiB; use 32);
 * 4 QPs"; 2-4 queue pairs are needed from 200G on many hosts (perftest#252), NGC gates
 * with 4. Both ends of a slow link are busy with each byte, so it gets few. */
const struct bu_sizes_row bu_sizes_rows[] = {
	{0, BU_PAIR_MESSAGE_BYTES, 1, 0, 0, 0,
	 "five runs of 1 s at 20 Mbit/s, the links of the virtual rack"},
	{1, 64 * 1024, 1, 32, 500, 50,
	 "2 MiB under way: 160 times 1 Gbit/s x 100 us, of switches with buffers"},
	{10, 64 * 1024, 2, 32, 1000, 100,
	 "4 MiB under way; two queue pairs, so that one late completion stops nothing"},
	{100, 128 * 1024, 4, 32, 2000, 200,
	 "fabric reference 3, the recipe for the engine: 4 queue pairs, depth 32"},
};
const int bu_sizes_rows_count = BU_LEN(bu_sizes_rows);

static uint64_t
bytes_in(double gbps, double ms)
{
	return (uint64_t)(gbps * 1e6 / 8 * ms);
}

struct bu_sizes
bu_sizes_of(double limit_gbps, int runs)
{
	const struct bu_sizes_row *row = &bu_sizes_rows[0];

	for (int i = 0; i < bu_sizes_rows_count; i++)
		if (limit_gbps >= bu_sizes_rows[i].from_gbps)
			row = &bu_sizes_rows[i];
	return (struct bu_sizes){
		.message_bytes = row->message_bytes,
		.qps = row->qps,
		.depth = row->depth,
		.bytes = row->timed_ms
				 ? bytes_in(limit_gbps, row->timed_ms) / (uint64_t)runs
				 : BU_PAIR_BYTES,
		.warm_bytes = bytes_in(limit_gbps, row->warm_ms) / (uint64_t)runs,
	};
}
