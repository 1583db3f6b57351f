/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that a probe's payload lies in: the host's, or a GPU's by CUDA (libcuda comes
 * from the host by dlopen), registered with the adapter. For GPU memory dmabuf is
 * preferred, peermem (plain registration) is the other way.
 */
#ifndef BU_FABRIC_PROBE_BUFFER_H
#define BU_FABRIC_PROBE_BUFFER_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "base/err.h"
#include "model/result.h"

struct bu_cuda;
/* library: NULL = "libcuda.so.1". gpu: ordinal. BU_ERR_NOTFOUND: there is no such
 * library or GPU. */
struct bu_cuda *bu_cuda_open(const char *library, int gpu, struct bu_err *err);
void bu_cuda_close(struct bu_cuda *cuda);

struct bu_buffer {
	uint64_t addr; /* as the adapter and CUDA call it */
	uint8_t *host; /* NULL: it is a GPU's */
	size_t size;
	enum bu_memory memory;
	struct ibv_mr *mr;
	struct bu_cuda *cuda; /* borrowed */
	int mapped;           /* host: by mmap() */
};

/* size 0: an empty buffer. cuda NULL: host memory, in huge pages where there are some.
 * Zeroed. */
bu_must int bu_buffer_create(struct bu_buffer *ret, struct ibv_pd *pd, size_t size,
			     struct bu_cuda *cuda, struct bu_err *err);
void bu_buffer_destroy(struct bu_buffer *buffer);
/* Copies in and out; through CUDA when it is a GPU's. */
bu_must int bu_buffer_put(const struct bu_buffer *buffer, size_t at, const void *data,
			  size_t size, struct bu_err *err);
bu_must int bu_buffer_get(const struct bu_buffer *buffer, size_t at, void *data,
			  size_t size, struct bu_err *err);
/* Where the memory really is: what CUDA says of the pointer, whether this program can
 * read it without CUDA, and whether CUDA reads what CUDA wrote. UNKNOWN: CUDA and the
 * kernel do not agree. Spoils the first bytes. */
enum bu_memory bu_buffer_prove(const struct bu_buffer *buffer);

#endif
