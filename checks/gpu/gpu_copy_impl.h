/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that copy: gpu_copy.c, gpu_copy_all.c and gpu_cuda.c. */
#ifndef BU_CHECKS_GPU_GPU_COPY_IMPL_H
#define BU_CHECKS_GPU_GPU_COPY_IMPL_H

#include <sched.h>
#include <stdint.h>

#include "checks/gpu/gpu_copy.h"

/* Member, symbol, arguments. */
#define BU_CUDA_CALLS(X)                                                               \
	X(init, "cuInit", (unsigned int))                                              \
	X(count, "cuDeviceGetCount", (int *))                                          \
	X(device, "cuDeviceGet", (int *, int))                                         \
	X(pci, "cuDeviceGetPCIBusId", (char *, int, int))                              \
	X(retain, "cuDevicePrimaryCtxRetain", (void **, int))                          \
	X(release, "cuDevicePrimaryCtxRelease_v2", (int))                              \
	X(use, "cuCtxSetCurrent", (void *))                                            \
	X(alloc, "cuMemAlloc_v2", (uint64_t *, size_t))                                \
	X(release_memory, "cuMemFree_v2", (uint64_t))                                  \
	X(host_alloc, "cuMemHostAlloc", (void **, size_t, unsigned int))               \
	X(host_free, "cuMemFreeHost", (void *))                                        \
	X(stream_create, "cuStreamCreate", (void **, unsigned int))                    \
	X(stream_destroy, "cuStreamDestroy_v2", (void *))                              \
	X(event_create, "cuEventCreate", (void **, unsigned int))                      \
	X(event_destroy, "cuEventDestroy_v2", (void *))                                \
	X(event_record, "cuEventRecord", (void *, void *))                             \
	X(event_wait, "cuEventSynchronize", (void *))                                  \
	X(event_ms, "cuEventElapsedTime", (float *, void *, void *))                   \
	X(to_device, "cuMemcpyHtoDAsync_v2", (uint64_t, const void *, size_t, void *)) \
	X(to_host, "cuMemcpyDtoHAsync_v2", (void *, uint64_t, size_t, void *))         \
	X(inside, "cuMemcpyDtoDAsync_v2", (uint64_t, uint64_t, size_t, void *))        \
	X(to_peer, "cuMemcpyPeerAsync",                                                \
	  (uint64_t, void *, uint64_t, void *, size_t, void *))                        \
	X(can_peer, "cuDeviceCanAccessPeer", (int *, int, int))                        \
	X(enable_peer, "cuCtxEnablePeerAccess", (void *, unsigned int))                \
	X(error_name, "cuGetErrorName", (int, const char **))

struct bu_cuda_calls {
	void *handle;
#define X(member, symbol, args) int(*member) args;
	BU_CUDA_CALLS(X)
#undef X
};

struct bu_gpu_open {
	int device;
	const char *pci;
	void *context, *stream, *event[2];
	uint64_t memory[2];
	unsigned char *host[2]; /* pinned: what is sent, what comes back */
};

struct bu_gpu_bench {
	struct bu_cuda_calls cuda;
	size_t bytes;
	int repeats, host_only;
	int count;
	const char *root;
	const struct bu_gpu_asking *asking;
	void (*busy)(const char *pci, void *arg);
	void *arg;
	cpu_set_t everywhere; /* where this thread may run, before and after */
	struct bu_gpu_open gpus[BU_GPUS_MAX];
};

/* gpu_cuda.c */
bu_must int bu_cuda_load(const char *library, struct bu_cuda_calls *cuda,
			 struct bu_err *err);
/* 0, or -1 with CUDA's own name of the error. */
bu_must int bu_cuda_check(const struct bu_cuda_calls *cuda, int code, const char *what,
			  struct bu_err *err);
/* A PCI address as the kernel and NVML's rows write it: CUDA has capitals. */
void bu_cuda_small(char *pci);
/* gpu_copy_all.c. All pairs with peer access, in both directions, at the same time:
 * fills out_gbs. */
void bu_gpu_copy_at_once(const struct bu_gpu_bench *bench, struct bu_gpu_copy *ret);

#endif
