/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payload memory of a probe, registered with the adapter: the host's, or a GPU's by
 * CUDA (libcuda of the host, by dlopen). GPU memory is registered as dmabuf, else by
 * peermem (plain registration).
 */
#ifndef BU_FABRIC_PROBE_BUFFER_H
#define BU_FABRIC_PROBE_BUFFER_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/err.h"
#include "model/result.h"

struct bu_cuda;
/* library: NULL = "libcuda.so.1". gpu: ordinal. BU_ERR_NOTFOUND: either is missing. */
struct bu_cuda *bu_cuda_open(const char *library, int gpu, struct bu_err *err);
void bu_cuda_close(struct bu_cuda *cuda);

struct bu_buffer {
	uint64_t addr; /* for the adapter and CUDA */
	uint8_t *host; /* NULL = GPU memory */
	size_t size;
	enum bu_memory memory;
	struct ibv_mr *mr;
	struct bu_cuda *cuda; /* borrowed */
	int mapped;           /* host: by mmap() */
};

/* Zeroed memory; size 0: an empty buffer. cuda NULL: host memory, in huge pages where
 * these are free. */
bu_must int bu_buffer_create(struct bu_buffer *ret, struct ibv_pd *pd, size_t size,
			     struct bu_cuda *cuda, struct bu_err *err);
void bu_buffer_destroy(struct bu_buffer *buffer);
/* Copies in and out, through CUDA for GPU memory. */
bu_must int bu_buffer_put(const struct bu_buffer *buffer, size_t at, const void *data,
			  size_t size, struct bu_err *err);
bu_must int bu_buffer_get(const struct bu_buffer *buffer, size_t at, void *data,
			  size_t size, struct bu_err *err);
/* The memory's real place: by CUDA's word, by whether the kernel reads it without CUDA,
 * and by a copy there and back. UNKNOWN: these disagree. Overwrites the first 8 bytes
 * of GPU memory. */
enum bu_memory bu_buffer_prove(const struct bu_buffer *buffer);

#endif
