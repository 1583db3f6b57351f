/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by loops.c (what is measured), loops_judge.c (what it means) and loops_gpu.c
 * (which GPU is near); nothing else includes it. */
#ifndef BU_CHECKS_FABRIC_LOOPS_IMPL_H
#define BU_CHECKS_FABRIC_LOOPS_IMPL_H

#include "checks/fabric/loops.h"
#include "checks/gpu/gpu_list.h"
#include "fabric/probe/pair.h"

enum bu_loop_row { BU_LOOP_SELF, BU_LOOP_GPU, BU_LOOP_PAIR, BU_LOOP_TOGETHER };

struct bu_loop {
	enum bu_loop_row row;
	char subject[64]; /* "fabric", "fabric to rail1", "fabric and GPU 3 at ..." */
	const struct bu_work_rail *rails[2]; /* of both ends; the same one in a loop */
	int has_switch; /* GPU and adapter are below one PCIe switch */
	struct bu_pair_result result;
};

/* Adds the rows of what was measured; good ones too. */
void bu_loop_judge(const struct bu_loop *loop, struct bu_checks *out);
/* Adds a row of what could not be. */
void bu_loop_unmeasured(const struct bu_loop *loop, const char *why,
			struct bu_checks *out);

/* Adds the row of the rails that were looped at once: what they reached, of what they
 * should; both are sums. */
void bu_loops_judge_sum(size_t rails, double gbps, double least, struct bu_checks *out);
/* What a loop carried, both directions of it. */
double bu_loop_gbps(const struct bu_pair_result *result);

/* The GPU below the same switch as this RDMA device, or else as near as there is one:
 * of several the one that was taken least, which is then taken once more. -1: there is
 * none. ret_switch: 1 = they are below one switch. */
struct bu_loop_gpus {
	struct bu_gpu_list list;
	int taken[BU_GPU_LIST_MAX];
};
int bu_loop_gpu_near(const char *root, const char *device, struct bu_loop_gpus *gpus,
		     int *ret_switch);

#endif
