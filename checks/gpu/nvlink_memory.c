/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU memory that two nodes share, by CUDA's virtual memory calls and fabric handles;
 * called by nvlink.c and nvlink_turns.c. Invariants: whatever was taken is given back,
 * however far it came; each word that is sent says which it is, so an old word or one
 * of another place is not taken for it.
 * ABI: CUDA Driver API reference, docs.nvidia.com/cuda/cuda-driver-api.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

#include "base/symbols.h"
#include "checks/gpu/nvlink_impl.h"

enum {
	TYPE_PINNED = 1,
	ON_DEVICE = 1,
	HANDLE_FABRIC = 8,
	READ_WRITE = 3,
	ATTRIBUTE_FABRIC = 128, /* of a device: it has fabric handles */
	HOST_PORTABLE = 1,
};

_Static_assert(sizeof(struct bu_far_prop) == 32, "CUmemAllocationProp");

static const struct bu_symbol functions[] = {
#define X(member, symbol, args) {symbol, offsetof(struct bu_far_calls, member), 0},
	BU_FAR_CALLS(X)
#undef X
};

int
bu_far_load(const char *library, struct bu_far_bench *bench, struct bu_err *err)
{
	const char *missing;

	if (bu_cuda_load(library, &bench->cuda, err) != 0)
		return -1;
	missing = bu_symbols_find(bench->cuda.handle, functions, BU_LEN(functions),
				  &bench->calls);
	if (!missing)
		return 0;
	dlclose(bench->cuda.handle);
	bench->cuda.handle = NULL;
	return bu_err_set(err, BU_ERR_VERIFY, 0, "%s is too old: it lacks %s", library,
			  missing);
}

/* Of fabric handles: no GPU is to blame. */
static const struct {
	int code;
	const char *text;
} refusals[] = {
	{800 /* CUDA_ERROR_NOT_PERMITTED */, BU_IMEX_TO_DO},
	{801 /* CUDA_ERROR_NOT_SUPPORTED */,
	 "the driver of this node has no fabric handles: it may be too old, or "
	 "nvidia-imex does not run"},
};

static int
check(const struct bu_far_bench *bench, int code, const char *what, struct bu_err *err)
{
	struct bu_err failure = {0};

	if (bu_cuda_check(&bench->cuda, code, what, &failure) == 0)
		return 0;
	for (size_t i = 0; i < BU_LEN(refusals); i++)
		if (refusals[i].code == code)
			return bu_err_set(err, BU_ERR_DENIED, 0, "%s: %s", failure.text,
					  refusals[i].text);
	*err = failure;
	return -1;
}

int
bu_far_supported(struct bu_far_bench *bench, struct bu_err *err)
{
	int device = 0, has = 0, rc = bench->cuda.init(0);

	if (rc == 0)
		rc = bench->cuda.count(&bench->count);
	if (check(bench, rc, "start CUDA", err) != 0)
		return -1;
	if (bench->count > BU_FAR_GPUS_MAX)
		bench->count = BU_FAR_GPUS_MAX;
	for (int i = 0; i < bench->count; i++) {
		rc = bench->cuda.device(&device, i);
		if (rc == 0)
			rc = bench->calls.attribute(&has, ATTRIBUTE_FABRIC, device);
		if (check(bench, rc, "fabric handles", err) != 0)
			return -1;
		if (!has)
			return bu_err_set(err, BU_ERR_DENIED, 0,
					  "GPU %d: the driver has no fabric handles "
					  "for it",
					  i);
	}
	return 0;
}

static struct bu_far_prop
prop_of(const struct bu_far_bench *bench)
{
	return (struct bu_far_prop){.type = TYPE_PINNED,
				    .handles = HANDLE_FABRIC,
				    .location = ON_DEVICE,
				    .id = bench->device};
}

static void
far_release(const struct bu_far_bench *bench, struct bu_far *far)
{
	if (far->mapped)
		bench->calls.unmap(far->addr, far->bytes);
	if (far->reserved)
		bench->calls.unreserve(far->addr, far->bytes);
	if (far->allocated)
		bench->calls.drop(far->allocation);
	memset(far, 0, sizeof(*far));
}

/* An allocation gets an address of this GPU. */
static int
far_map(const struct bu_far_bench *bench, struct bu_far *far, size_t bytes)
{
	const struct bu_far_access access = {
		.location = ON_DEVICE, .id = bench->device, .flags = READ_WRITE};
	int rc;

	far->allocated = 1;
	far->bytes = bytes;
	rc = bench->calls.reserve(&far->addr, bytes, 0, 0, 0);
	far->reserved = rc == 0;
	if (rc == 0)
		rc = bench->calls.map(far->addr, bytes, 0, far->allocation, 0);
	far->mapped = rc == 0 && far->reserved;
	return rc ? rc : bench->calls.access(far->addr, bytes, &access, 1);
}

/* So many bytes at least. */
static int
share(struct bu_far_bench *bench, size_t bytes,
      unsigned char ret_handle[BU_FAR_HANDLE_SIZE])
{
	const struct bu_far_prop prop = prop_of(bench);
	size_t unit = 0;
	int rc = bench->calls.granularity(&unit, &prop, 0);

	if (rc == 0 && unit)
		bytes = (bytes + unit - 1) / unit * unit;
	if (rc == 0)
		rc = bench->calls.create(&bench->own.allocation, bytes, &prop, 0);
	if (rc == 0)
		rc = far_map(bench, &bench->own, bytes);
	return rc ? rc
		  : bench->calls.to_handle(ret_handle, bench->own.allocation,
					   HANDLE_FABRIC, 0);
}

static int
open_buffers(struct bu_far_bench *bench, int gpu, size_t bytes)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	int rc = cuda->device(&bench->device, gpu);

	bench->bytes = bytes;
	if (rc == 0)
		rc = cuda->retain(&bench->context, bench->device);
	if (rc == 0)
		rc = cuda->use(bench->context);
	if (rc == 0)
		rc = cuda->stream_create(&bench->stream, 1);
	for (int i = 0; rc == 0 && i < 2; i++)
		rc = cuda->event_create(&bench->event[i], 0);
	if (rc == 0)
		rc = cuda->alloc(&bench->source, bytes);
	if (rc == 0)
		rc = cuda->host_alloc((void **)&bench->host, bytes, HOST_PORTABLE);
	return rc;
}

int
bu_far_open(struct bu_far_bench *bench, int gpu, size_t bytes,
	    unsigned char ret_handle[BU_FAR_HANDLE_SIZE], struct bu_err *err)
{
	if (check(bench, open_buffers(bench, gpu, bytes), "prepare to copy", err) != 0)
		return -1;
	return check(bench, share(bench, bytes, ret_handle),
		     "share memory with the other node", err);
}

int
bu_far_import(struct bu_far_bench *bench, unsigned char handle[BU_FAR_HANDLE_SIZE],
	      size_t bytes, struct bu_err *err)
{
	int rc = bench->calls.from_handle(&bench->peer.allocation, handle,
					  HANDLE_FABRIC);

	if (rc == 0)
		rc = far_map(bench, &bench->peer, bytes);
	return check(bench, rc, "reach the other node's memory", err);
}

void
bu_far_close(struct bu_far_bench *bench)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;

	if (!bench->context)
		return;
	cuda->use(bench->context);
	far_release(bench, &bench->peer);
	far_release(bench, &bench->own);
	if (bench->source)
		cuda->release_memory(bench->source);
	if (bench->host)
		cuda->host_free(bench->host);
	for (int i = 0; i < 2; i++)
		if (bench->event[i])
			cuda->event_destroy(bench->event[i]);
	if (bench->stream)
		cuda->stream_destroy(bench->stream);
	cuda->release(bench->device);
	bench->context = bench->stream = bench->event[0] = bench->event[1] = NULL;
	bench->source = 0;
	bench->host = NULL;
}

static uint64_t
word_at(uint64_t seed, size_t place)
{
	uint64_t word = (seed + place) * UINT64_C(0x9e3779b97f4a7c15);

	return word ^ word >> 29;
}

static int
wait_for_copies(struct bu_far_bench *bench)
{
	int rc = bench->cuda.event_record(bench->event[0], bench->stream);

	return rc ? rc : bench->cuda.event_wait(bench->event[0]);
}

int
bu_far_fill(struct bu_far_bench *bench, size_t bytes, uint64_t seed, struct bu_err *err)
{
	int rc;

	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
		uint64_t word = word_at(seed, i);

		memcpy(bench->host + i * sizeof(word), &word, sizeof(word));
	}
	rc = bench->cuda.to_device(bench->source, bench->host, bytes, bench->stream);
	if (rc == 0)
		rc = wait_for_copies(bench);
	return check(bench, rc, "copy to the GPU", err);
}

/* After one that warms up. */
int
bu_far_copy(struct bu_far_bench *bench, size_t bytes, int repeats, double *ret_gbs,
	    struct bu_err *err)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	float ms = 0;
	int rc = 0;

	for (int i = -1; rc == 0 && i < repeats; i++) {
		if (i == 0)
			rc = cuda->event_record(bench->event[0], bench->stream);
		if (rc == 0)
			rc = cuda->inside(bench->peer.addr, bench->source, bytes,
					  bench->stream);
	}
	if (rc == 0)
		rc = cuda->event_record(bench->event[1], bench->stream);
	if (rc == 0)
		rc = cuda->event_wait(bench->event[1]);
	if (rc == 0)
		rc = cuda->event_ms(&ms, bench->event[0], bench->event[1]);
	if (check(bench, rc, "copy to the other node", err) != 0)
		return -1;
	if (!(ms > 0))
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "the copy to the other node took no time; the clock "
				  "of the GPU is wrong");
	*ret_gbs = (double)bytes * repeats / ((double)ms * 1e6);
	return 0;
}

int
bu_far_verify(struct bu_far_bench *bench, size_t bytes, uint64_t seed,
	      struct bu_err *err)
{
	int rc =
		bench->cuda.to_host(bench->host, bench->own.addr, bytes, bench->stream);

	if (rc == 0)
		rc = wait_for_copies(bench);
	if (check(bench, rc, "read what came", err) != 0)
		return -1;
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
		uint64_t word;

		memcpy(&word, bench->host + i * sizeof(word), sizeof(word));
		if (word != word_at(seed, i))
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "byte %zu and on came as 0x%016" PRIx64
					  ", sent was 0x%016" PRIx64,
					  i * sizeof(word), word, word_at(seed, i));
	}
	return 0;
}
