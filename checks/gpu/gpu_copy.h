/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast data moves to, from, inside and between GPUs, by CUDA's driver calls. The
 * library comes from the host by dlopen. Every copy to and from a GPU is verified.
 * ABI: CUDA Driver API reference, docs.nvidia.com/cuda/cuda-driver-api.
 */
#ifndef BU_CHECKS_GPU_GPU_COPY_H
#define BU_CHECKS_GPU_GPU_COPY_H

#include <stddef.h>

#include "base/err.h"
#include "checks/gpu/nvml.h"

struct bu_gpu_copy_opts {
	const char *library;                /* NULL = "libcuda.so.1" */
	size_t bytes;                       /* of one copy; 0 = 256 MiB */
	int repeats;                        /* copies that are timed together; 0 = 8 */
	int host_only;                      /* only what goes to and from the host */
	const char *root;                   /* that has sys; NULL = "" */
	const struct bu_gpu_asking *asking; /* may be NULL */
	/* While a GPU's copies to or from the host are under way; may be NULL. */
	void (*busy)(const char *pci, void *arg);
	void *arg;
};

/* GB/s: 10^9 bytes a second; 0 = not measured. */
struct bu_gpu_rates {
	char pci[32]; /* "0000:18:00.0" */
	double h2d_gbs, d2h_gbs;
	double hbm_gbs;    /* bytes read and written */
	double out_gbs;    /* to all its peers at once, while they all do the same */
	char trouble[200]; /* what went wrong on this GPU; "" = nothing */
	int changed;       /* what went wrong is that data came back changed */
};

struct bu_gpu_copy {
	size_t count;
	struct bu_gpu_rates *gpus;
	double *p2p_gbs; /* [from * count + to]; 0 = not measured, -1 = no peer access
			  */
};

/* BU_ERR_NOTFOUND when the library cannot be loaded, BU_ERR_VERIFY when it lacks a
 * function, BU_ERR_REMOTE with CUDA's name of the error. A GPU that fails alone has its
 * `trouble`; the others are measured. */
bu_must int bu_gpu_copy_run(const struct bu_gpu_copy_opts *opts,
			    struct bu_gpu_copy *ret, struct bu_err *err);
void bu_gpu_copy_fini(struct bu_gpu_copy *copy);

#endif
