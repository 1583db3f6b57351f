/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs that compute, all at the same time, for a soak: a kernel of our own, which the
 * driver compiles (PTX), and each of its results compared bit by bit with the CPU's.
 */
#ifndef BU_CHECKS_GPU_GPU_COMPUTE_H
#define BU_CHECKS_GPU_GPU_COMPUTE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "checks/gpu/nvml.h"

struct bu_gpu_compute_opts {
	const char *library;    /* NULL = "libcuda.so.1" */
	int64_t ms;             /* how long; each GPU computes once at least */
	uint32_t rounds;        /* of one result; 0 = about 16 ms of a large GPU */
	int (*stop)(void *arg); /* may be NULL */
	void *arg;
	const struct bu_gpu_asking *asking; /* may be NULL */
};

struct bu_gpu_work {
	char pci[32];
	uint64_t results; /* that were right */
	uint64_t wrong;
	char trouble[200]; /* "" = nothing */
};

struct bu_gpu_compute {
	size_t count;
	struct bu_gpu_work *gpus;
};

/* BU_ERR_NOTFOUND without a library, BU_ERR_VERIFY when it lacks a function,
 * BU_ERR_STATE when the driver does not compile the kernel: no GPU is to blame. What
 * is wrong with one GPU is its `trouble`. */
bu_must int bu_gpu_compute_run(const struct bu_gpu_compute_opts *opts,
			       struct bu_gpu_compute *ret, struct bu_err *err);
void bu_gpu_compute_fini(struct bu_gpu_compute *compute);

/* What the kernel computes, of 256 seeds. */
enum { BU_GPU_SEEDS = 256 };
void bu_gpu_compute_reference(uint32_t rounds, uint32_t ret[BU_GPU_SEEDS]);

#endif
