/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by nvlink.c (the group), nvlink_turns.c (what both ends do in step),
 * nvlink_rows.c and nvlink_memory.c (CUDA). */
#ifndef BU_CHECKS_GPU_NVLINK_IMPL_H
#define BU_CHECKS_GPU_NVLINK_IMPL_H

#include "checks/gpu/gpu_copy_impl.h"
#include "checks/gpu/imex.h"
#include "checks/gpu/nvlink.h"
#include "fabric/probe/channel.h"
#include "model/work.h"

enum { BU_FAR_HANDLE_SIZE = 64, BU_FAR_GPUS_MAX = 16 };

/* CUmemAllocationProp and CUmemAccessDesc of CUDA 12. */
struct bu_far_prop {
	int type, handles;
	int location, id;
	void *win32;
	unsigned char flags[8];
};
struct bu_far_access {
	int location, id;
	int flags;
};

/* Member, symbol, arguments. */
#define BU_FAR_CALLS(X)                                                                \
	X(attribute, "cuDeviceGetAttribute", (int *, int, int))                        \
	X(granularity, "cuMemGetAllocationGranularity",                                \
	  (size_t *, const struct bu_far_prop *, int))                                 \
	X(create, "cuMemCreate",                                                       \
	  (uint64_t *, size_t, const struct bu_far_prop *, unsigned long long))        \
	X(drop, "cuMemRelease", (uint64_t))                                            \
	X(to_handle, "cuMemExportToShareableHandle",                                   \
	  (void *, uint64_t, int, unsigned long long))                                 \
	X(from_handle, "cuMemImportFromShareableHandle", (uint64_t *, void *, int))    \
	X(reserve, "cuMemAddressReserve",                                              \
	  (uint64_t *, size_t, size_t, uint64_t, unsigned long long))                  \
	X(unreserve, "cuMemAddressFree", (uint64_t, size_t))                           \
	X(map, "cuMemMap", (uint64_t, size_t, size_t, uint64_t, unsigned long long))   \
	X(unmap, "cuMemUnmap", (uint64_t, size_t))                                     \
	X(access, "cuMemSetAccess",                                                    \
	  (uint64_t, size_t, const struct bu_far_access *, size_t))

struct bu_far_calls {
#define X(member, symbol, args) int(*member) args;
	BU_FAR_CALLS(X)
#undef X
};

/* Memory that two nodes have: ours, or the peer's. All zero: none. */
struct bu_far {
	uint64_t allocation, addr;
	size_t bytes;
	int allocated, reserved, mapped;
};

/* One GPU at a time. */
struct bu_far_bench {
	struct bu_cuda_calls cuda;
	struct bu_far_calls calls;
	int count, device;
	void *context, *stream, *event[2];
	uint64_t source;     /* what is copied: in this GPU alone */
	unsigned char *host; /* as long */
	size_t bytes;
	struct bu_far own, peer;
};

/* nvlink_memory.c. Errors: DENIED where the driver permits no fabric handles, with what
 * to do; VERIFY for changed payload; else REMOTE with CUDA's name of it. */
bu_must int bu_far_load(const char *library, struct bu_far_bench *bench,
			struct bu_err *err);
/* Each GPU can share memory with other nodes. */
bu_must int bu_far_supported(struct bu_far_bench *bench, struct bu_err *err);
/* This GPU's buffers, and the memory that the peer may write; its handle. */
bu_must int bu_far_open(struct bu_far_bench *bench, int gpu, size_t bytes,
			unsigned char ret_handle[BU_FAR_HANDLE_SIZE],
			struct bu_err *err);
/* The peer's memory, so large. */
bu_must int bu_far_import(struct bu_far_bench *bench,
			  unsigned char handle[BU_FAR_HANDLE_SIZE], size_t bytes,
			  struct bu_err *err);
void bu_far_close(struct bu_far_bench *bench);
/* What is sent next: made of the seed and of each word's place. */
bu_must int bu_far_fill(struct bu_far_bench *bench, size_t bytes, uint64_t seed,
			struct bu_err *err);
/* To the peer, so many times. */
bu_must int bu_far_copy(struct bu_far_bench *bench, size_t bytes, int repeats,
			double *ret_gbs, struct bu_err *err);
/* That the peer has written what it made of this seed. */
bu_must int bu_far_verify(struct bu_far_bench *bench, size_t bytes, uint64_t seed,
			  struct bu_err *err);

struct bu_nvlink {
	const struct bu_checks_ctx *ctx;
	struct bu_checks *out;
	struct bu_work_probe work;
	int self;         /* BU_END_A or BU_END_B */
	const char *peer; /* the other node's name */
	size_t bytes;     /* of the largest copy */
	struct bu_far_bench bench;
	struct bu_channel *channel;
	struct bu_wait wait;
	int lost; /* the peer is gone */
	int gpu;
	char subject[64];
};

/* nvlink_rows.c */
enum bu_nvlink_kind {
	BU_NVLINK_IMEX,
	BU_NVLINK_DOMAIN,
	BU_NVLINK_PEER,
	BU_NVLINK_ANSWERS,
	BU_NVLINK_PAYLOAD,
	BU_NVLINK_RATE,
	BU_NVLINK_BOTH,
};
const struct bu_nvlink_row *bu_nvlink_kind(enum bu_nvlink_kind kind);
/* About link->subject; expected may be "". */
void bu_nvlink_add(struct bu_nvlink *link, enum bu_nvlink_kind kind,
		   enum bu_verdict verdict, const char *seen, const char *expected);

/* nvlink_turns.c */
/* One direction at a time, this node the sender; and both at once. 0 = not measured. */
struct bu_nvlink_rates {
	double alone_gbs, both_gbs;
};
/* Both ends say how a step went and hear of the other end, 0: well at both; -1: not,
 * and there is a row. own: of kind NONE when it went well here. more: stolen, may be
 * NULL. ret_said may be NULL; a new reference, also when it went badly at this end. */
bu_must int bu_nvlink_meet(struct bu_nvlink *link, const char *step, json_t *more,
			   const struct bu_err *own, json_t **ret_said);
/* What may hang: the watcher is told. what NULL: it is over. */
void bu_nvlink_doing(struct bu_nvlink *link, const char *what);
/* All of one GPU. -1: there is a row that says why. */
bu_must int bu_nvlink_measure(struct bu_nvlink *link, struct bu_nvlink_rates *ret);

#endif
