/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA half of the stand-in: tests/support/fakegpu.h. Memory is malloc's. */
#define _GNU_SOURCE
#include <sched.h>

#include "tests/support/fakegpu.h"

int cuInit(unsigned int flags);
int cuDeviceGetCount(int *ret);
int cuDeviceGet(int *ret, int index);
int cuDeviceGetPCIBusId(char *ret, int size, int device);
int cuDevicePrimaryCtxRetain(void **ret, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *ret, size_t size);
int cuMemFree_v2(uint64_t memory);
int cuMemHostAlloc(void **ret, size_t size, unsigned int flags);
int cuMemFreeHost(void *memory);
int cuStreamCreate(void **ret, unsigned int flags);
int cuStreamDestroy_v2(void *stream);
int cuEventCreate(void **ret, unsigned int flags);
int cuEventDestroy_v2(void *event);
int cuEventRecord(void *event, void *stream);
int cuEventSynchronize(void *event);
int cuEventElapsedTime(float *ret_ms, void *from, void *to);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream);
int cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
		      size_t size, void *stream);
int cuDeviceCanAccessPeer(int *ret, int device, int peer);
int cuCtxEnablePeerAccess(void *context, unsigned int flags);
int cuModuleLoadData(void **ret, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **ret, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned int grid_x, unsigned int grid_y,
		   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
		   unsigned int block_z, unsigned int shared, void *stream,
		   void **parameters, void **extra);
int cuGetErrorName(int code, const char **ret);

enum { GPUS_MAX = 16, COPIES_OF_A_RUN = 9 };

/* The time that has passed on a stream, in ms; an event is a moment of it. */
struct stream {
	double now;
	int gpu;
};

static int current; /* GPU of the current context */
static int freed, allocated;
static int retained;          /* contexts that were not released */
static int streams[GPUS_MAX]; /* more than one: copies to all peers at once */
static int far[GPUS_MAX];     /* its host memory is on the other NUMA node */
static int copies[GPUS_MAX];
static int queued[GPUS_MAX]; /* and not waited for */
static int copied;           /* by GPU 3 */

int
current_gpu(void)
{
	return current;
}

int
is_busy(int gpu)
{
	return gpu >= 0 && gpu < GPUS_MAX && queued[gpu] > 0;
}

int
contexts(void)
{
	return retained;
}

int
copies_of_bad(void)
{
	return copied;
}

EXPORT int
cuInit(unsigned int flags)
{
	TRAP(-1);
	return flags || fault("no-device") ? CUDA_NO_DEVICE : 0;
}

EXPORT int
cuDeviceGetCount(int *ret)
{
	TRAP(-1);
	/* Of a divided GPU a process sees one instance; more than four take long. */
	*ret = board()->instances || getenv("CUDA_VISIBLE_DEVICES") ? 1
	       : board()->gpus < 4                                  ? board()->gpus
								    : 4;
	return 0;
}

EXPORT int
cuDeviceGet(int *ret, int index)
{
	TRAP(index);
	*ret = index;
	return 0;
}

EXPORT int
cuDeviceGetPCIBusId(char *ret, int size, int device)
{
	TRAP(device);
	snprintf(ret, (size_t)size, "0000:%02X:00.0", device + 0x18);
	return 0;
}

EXPORT int
cuDevicePrimaryCtxRetain(void **ret, int device)
{
	TRAP(device);
	*ret = (void *)(intptr_t)(device + 1);
	retained++;
	return 0;
}

EXPORT int
cuDevicePrimaryCtxRelease_v2(int device)
{
	TRAP(device);
	retained--;
	forget();
	return device < 0;
}

EXPORT int
cuCtxSetCurrent(void *context)
{
	TRAP(index_of(context));
	current = index_of(context);
	return 0;
}

EXPORT int
cuMemAlloc_v2(uint64_t *ret, size_t size)
{
	TRAP(current);
	if (current == BAD && fault("cuda-memory"))
		return CUDA_OUT_OF_MEMORY;
	*ret = (uint64_t)(uintptr_t)malloc(size);
	allocated++;
	return 0;
}

EXPORT int
cuMemFree_v2(uint64_t memory)
{
	TRAP(current);
	free((void *)(uintptr_t)memory);
	freed++;
	return 0;
}

/* FAKEGPU=far: the pages of GPU 3 lie near it only if the caller runs on CPU 0 alone.
 */
EXPORT int
cuMemHostAlloc(void **ret, size_t size, unsigned int flags)
{
	cpu_set_t near;

	TRAP(current);
	CPU_ZERO(&near);
	sched_getaffinity(0, sizeof(near), &near);
	far[current] = fault("far") && current == BAD &&
		       !(CPU_COUNT(&near) == 1 && CPU_ISSET(0, &near));
	*ret = malloc(size);
	return flags != 1;
}

EXPORT int
cuMemFreeHost(void *memory)
{
	TRAP(current);
	free(memory);
	return 0;
}

EXPORT int
cuStreamCreate(void **ret, unsigned int flags)
{
	struct stream *stream = calloc(1, sizeof(*stream));

	TRAP(current);
	stream->gpu = current;
	streams[current]++;
	*ret = stream;
	return flags != 1;
}

EXPORT int
cuStreamDestroy_v2(void *stream)
{
	TRAP(current);
	streams[((struct stream *)stream)->gpu]--;
	free(stream);
	return 0;
}

EXPORT int
cuEventCreate(void **ret, unsigned int flags)
{
	TRAP(current);
	*ret = calloc(1, sizeof(double));
	return flags != 0;
}

EXPORT int
cuEventDestroy_v2(void *event)
{
	TRAP(current);
	free(event);
	return 0;
}

EXPORT int
cuEventRecord(void *event, void *stream)
{
	TRAP(current);
	memcpy(event, stream, sizeof(double));
	return 0;
}

/* FAKEGPU=late: copies of GPU 3 need their time. */
EXPORT int
cuEventSynchronize(void *event)
{
	TRAP(current);
	if (current == BAD && fault("late"))
		usleep(45000);
	queued[current] = 0;
	return event == NULL;
}

EXPORT int
cuEventElapsedTime(float *ret_ms, void *from, void *to)
{
	double start, end;

	TRAP(current);
	memcpy(&start, from, sizeof(start));
	memcpy(&end, to, sizeof(end));
	*ret_ms = fault("clock") && current == BAD ? 0 : (float)(end - start);
	return 0;
}

static void
pass_time(void *stream, size_t size, double gbs)
{
	double now;

	memcpy(&now, stream, sizeof(now));
	now += (double)size / (gbs * 1e6);
	queued[current]++;
	copied += current == BAD;
	memcpy(stream, &now, sizeof(now));
}

static void *
at(uint64_t memory)
{
	return (void *)(uintptr_t)memory;
}

static int
slow(const char *name)
{
	return current == BAD && fault(name);
}

/* What was seen of 16 lanes of a generation. */
static double
slot_gbs(void)
{
	static const double seen[] = {0, 3, 6, 12, 26, 55.2};
	unsigned int gen, width;

	slot(&gen, &width);
	return gen < COUNT(seen) ? seen[gen] * width / 16 : 1e3;
}

/* FAKEGPU=spread: four runs of five are 12 % under what GPU 3 can do. */
static double
host_gbs(const char *name)
{
	double gbs = board()->host_gbs < slot_gbs() || !getenv("FAKESLOT")
			     ? board()->host_gbs
			     : slot_gbs();

	if (slow(name))
		return gbs < 25 ? gbs / 2 : 12.5;
	if (far[current])
		return 0.7 * gbs;
	return slow("spread") && copies[current]++ / COPIES_OF_A_RUN % 5 != 3
		       ? 0.88 * gbs
		       : gbs;
}

EXPORT int
cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream)
{
	TRAP(current);
	memcpy(at(to), from, size);
	pass_time(stream, size, host_gbs("h2d"));
	return 0;
}

EXPORT int
cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream)
{
	TRAP(current);
	memcpy(to, at(from), size);
	if (slow("corrupt"))
		((unsigned char *)to)[size / 2] ^= 1;
	pass_time(stream, size, host_gbs("d2h"));
	return 0;
}

EXPORT int
cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream)
{
	double far_gbs = copy_far(to, from, size);

	TRAP(current);
	if (far_gbs <= 0)
		memcpy(at(to), at(from), size);
	pass_time(stream, size,
		  far_gbs > 0   ? far_gbs
		  : slow("hbm") ? 500
				: board()->inside_gbs);
	return 0;
}

/* FAKEGPU=p2p-all: GPU 3 sends half of it, once all do. */
EXPORT int
cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
		  size_t size, void *stream)
{
	int sender = index_of(from_context);
	int pair = sender == BAD && index_of(to_context) == 1;
	double gbs = board()->peer_gbs;

	TRAP(current);
	memcpy(at(to), at(from), size);
	if (board()->switched && streams[sender] > 1)
		gbs /= streams[sender] - 1;
	if (sender == BAD && streams[sender] > 1 && fault("p2p-all"))
		gbs /= 2;
	if (sender == BAD && fault("too-fast"))
		gbs *= 2;
	pass_time(stream, size, pair && fault("p2p") ? 10 : gbs);
	return 0;
}

EXPORT int
cuDeviceCanAccessPeer(int *ret, int device, int peer)
{
	TRAP(device);
	*ret = board()->peer_gbs > 0 &&
	       !(fault("no-peer") && (device == BAD || peer == BAD));
	return 0;
}

/* FAKEGPU=peer-open: it is so already; peer-context: GPU 3 refuses; peers: it has as
 * many as the hardware can, when it asks for the one to GPU 2. */
EXPORT int
cuCtxEnablePeerAccess(void *context, unsigned int flags)
{
	TRAP(current);
	if (fault("peer-open"))
		return CUDA_PEER_ALREADY_ENABLED;
	if (fault("peers") && current == BAD && index_of(context) == 2)
		return CUDA_TOO_MANY_PEERS;
	return flags || !context || (current == BAD && fault("peer-context"));
}

/* FAKEGPU=nojit: an older driver. */
EXPORT int
cuModuleLoadData(void **ret, const void *image)
{
	TRAP(current);
	if (fault("nojit") || strncmp(image, ".version ", 9) != 0)
		return CUDA_BAD_PTX;
	*ret = strdup(image);
	return 0;
}

EXPORT int
cuModuleUnload(void *module)
{
	TRAP(current);
	free(module);
	return 0;
}

EXPORT int
cuModuleGetFunction(void **ret, void *module, const char *name)
{
	char entry[128];

	TRAP(current);
	snprintf(entry, sizeof(entry), ".entry %s(", name);
	*ret = strstr(module, entry);
	return *ret ? 0 : 500;
}

/* What the one kernel that it knows computes. */
static uint32_t
burn(uint32_t seed, uint32_t rounds)
{
	union {
		float f;
		uint32_t u;
	} a = {.f = (float)seed}, b = {.f = 1};
	uint32_t word = seed * UINT32_C(2654435761) + 1;

	while (rounds-- > 0) {
		float part;

		word = word * 1664525 + 1013904223;
		part = (float)(word / 256) / 16777216;
		a.f = __builtin_fmaf(a.f, part, 0.5f);
		b.f = __builtin_fmaf(b.f, part, a.f);
	}
	return word ^ a.u ^ b.u;
}

/* FAKEGPU=sdc: the third launch on GPU 3 has one bit wrong; lazy: it writes all results
 * but the last; launch: it fails. */
EXPORT int
cuLaunchKernel(void *function, unsigned int grid_x, unsigned int grid_y,
	       unsigned int grid_z, unsigned int block_x, unsigned int block_y,
	       unsigned int block_z, unsigned int shared, void *stream,
	       void **parameters, void **extra)
{
	static uint32_t results[256], had;
	static int launches;
	uint32_t rounds = *(uint32_t *)parameters[1];
	unsigned int count = grid_x * block_x;
	uint32_t *out = at(*(uint64_t *)parameters[0]);

	TRAP(current);
	if (!function || grid_y * grid_z * block_y * block_z != 1 || shared ||
	    !stream || extra)
		return 1;
	if (current == BAD && fault("launch"))
		return CUDA_LAUNCH_FAILED;
	for (uint32_t i = 0; i < 256 && had != rounds; i++)
		results[i] = burn(i, rounds);
	had = rounds;
	count -= current == BAD && fault("lazy");
	for (unsigned int i = 0; i < count; i++)
		out[i] = results[i % 256];
	if (current == BAD && fault("sdc") && ++launches == 3)
		out[1000] ^= 1 << 20;
	return 0;
}

EXPORT int
cuGetErrorName(int code, const char **ret)
{
	*ret = code == CUDA_OUT_OF_MEMORY   ? "CUDA_ERROR_OUT_OF_MEMORY"
	       : code == CUDA_NO_DEVICE     ? "CUDA_ERROR_NO_DEVICE"
	       : code == CUDA_BAD_PTX       ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
	       : code == CUDA_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
	       : code == CUDA_NOT_PERMITTED ? "CUDA_ERROR_NOT_PERMITTED"
	       : code == CUDA_NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED"
					    : "CUDA_ERROR_INVALID_VALUE";
	return 0;
}

/* At exit of the library whatever was taken must have been given back. */
static __attribute__((destructor)) void
check_freed(void)
{
	if (freed == allocated && retained == 0)
		return;
	fprintf(stderr,
		"fakegpu: %d of %d allocations were freed, %d contexts are left\n",
		freed, allocated, retained);
	abort();
}
