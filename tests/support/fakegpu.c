/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libnvidia-ml and libcuda in one shared library: plays a machine of
 * eight GPUs, good or with one fault on GPU 3. The fault's name is in the environment
 * variable FAKEGPU; time is counted, not measured, so that rates are exact.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	GPUS = 8,
	BAD = 3, /* the GPU with the fault */
	LINKS = 18,
	NOT_SUPPORTED = 3,
	LOST = 15,
	NO_DRIVER = 9,
	CUDA_OUT_OF_MEMORY = 2,
	CUDA_NO_DEVICE = 100,
};

static int
fault(const char *name)
{
	const char *asked = getenv("FAKEGPU");

	return asked && strcmp(asked, name) == 0;
}

/* Handles are the index plus one. */
static int
index_of(void *gpu)
{
	return (int)(intptr_t)gpu - 1;
}

static int
bad(void *gpu, const char *name)
{
	return index_of(gpu) == BAD && fault(name);
}

/* --- NVML --- */

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlSystemGetDriverVersion(char *ret, unsigned int size);
int nvmlSystemGetCudaDriverVersion_v2(int *ret);
int nvmlDeviceGetCount_v2(unsigned int *ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **ret);
int nvmlDeviceGetName(void *gpu, char *ret, unsigned int size);
int nvmlDeviceGetSerial(void *gpu, char *ret, unsigned int size);
int nvmlDeviceGetUUID(void *gpu, char *ret, unsigned int size);
int nvmlDeviceGetVbiosVersion(void *gpu, char *ret, unsigned int size);
int nvmlDeviceGetPciInfo_v3(void *gpu, void *ret);
int nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long *ret);
int nvmlDeviceGetEccMode(void *gpu, int *now, int *next);
int nvmlDeviceGetTotalEccErrors(void *gpu, int type, int counter,
				unsigned long long *ret);
int nvmlDeviceGetRemappedRows(void *gpu, unsigned int *corrected,
			      unsigned int *uncorrected, unsigned int *pending,
			      unsigned int *failed);
int nvmlDeviceGetNvLinkState(void *gpu, unsigned int link, int *ret);
int nvmlDeviceGetNvLinkErrorCounter(void *gpu, unsigned int link, int counter,
				    unsigned long long *ret);
int nvmlDeviceGetGpuFabricInfo(void *gpu, void *ret);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *ret);
int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned int *ret);
int nvmlDeviceGetPowerManagementLimit(void *gpu, unsigned int *ret);
int nvmlDeviceGetPowerManagementDefaultLimit(void *gpu, unsigned int *ret);
int nvmlDeviceGetCurrPcieLinkGeneration(void *gpu, unsigned int *ret);
int nvmlDeviceGetCurrPcieLinkWidth(void *gpu, unsigned int *ret);
int nvmlDeviceGetMaxPcieLinkGeneration(void *gpu, unsigned int *ret);
int nvmlDeviceGetMaxPcieLinkWidth(void *gpu, unsigned int *ret);
int nvmlDeviceGetPcieReplayCounter(void *gpu, unsigned int *ret);
int nvmlDeviceGetMigMode(void *gpu, unsigned int *now, unsigned int *next);

EXPORT int
nvmlInit_v2(void)
{
	return fault("no-driver") ? NO_DRIVER : 0;
}

EXPORT int
nvmlShutdown(void)
{
	return 0;
}

EXPORT const char *
nvmlErrorString(int code)
{
	return code == NO_DRIVER ? "Driver Not Loaded"
	       : code == LOST    ? "GPU is lost"
				 : "Not Supported";
}

static int
say(char *ret, unsigned int size, const char *text)
{
	snprintf(ret, size, "%s", text);
	return 0;
}

EXPORT int
nvmlSystemGetDriverVersion(char *ret, unsigned int size)
{
	return say(ret, size, fault("driver") ? "535.54.03" : "570.86.15");
}

EXPORT int
nvmlSystemGetCudaDriverVersion_v2(int *ret)
{
	*ret = 12080;
	return 0;
}

EXPORT int
nvmlDeviceGetCount_v2(unsigned int *ret)
{
	*ret = fault("missing") ? GPUS - 1 : GPUS;
	return 0;
}

EXPORT int
nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **ret)
{
	*ret = (void *)(intptr_t)(index + 1);
	return index == BAD && fault("lost") ? LOST : 0;
}

EXPORT int
nvmlDeviceGetName(void *gpu, char *ret, unsigned int size)
{
	return say(ret, size,
		   bad(gpu, "model") ? "NVIDIA H100 PCIe" : "NVIDIA H100 80GB HBM3");
}

EXPORT int
nvmlDeviceGetSerial(void *gpu, char *ret, unsigned int size)
{
	snprintf(ret, size, "165%04d", index_of(gpu));
	return 0;
}

EXPORT int
nvmlDeviceGetUUID(void *gpu, char *ret, unsigned int size)
{
	snprintf(ret, size, "GPU-%08d", index_of(gpu));
	return 0;
}

EXPORT int
nvmlDeviceGetVbiosVersion(void *gpu, char *ret, unsigned int size)
{
	return say(ret, size, bad(gpu, "vbios") ? "96.00.61.00.01" : "96.00.89.00.01");
}

EXPORT int
nvmlDeviceGetPciInfo_v3(void *gpu, void *ret)
{
	struct {
		char legacy[16];
		unsigned int domain, bus, device, id, subsystem;
		char bus_id[32];
	} info = {.bus = (unsigned int)index_of(gpu) + 0x18};

	snprintf(info.bus_id, sizeof(info.bus_id), "00000000:%02X:00.0", info.bus);
	memcpy(ret, &info, sizeof(info));
	return 0;
}

EXPORT int
nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long *ret)
{
	ret[0] = bad(gpu, "memory") ? 64ull << 30 : 80ull << 30;
	ret[1] = ret[0];
	ret[2] = 0;
	return 0;
}

EXPORT int
nvmlDeviceGetEccMode(void *gpu, int *now, int *next)
{
	*now = *next = !bad(gpu, "ecc-off");
	return 0;
}

EXPORT int
nvmlDeviceGetTotalEccErrors(void *gpu, int type, int counter, unsigned long long *ret)
{
	*ret = type == 1 && counter == 0 && bad(gpu, "ecc") ? 2 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetRemappedRows(void *gpu, unsigned int *corrected, unsigned int *uncorrected,
			  unsigned int *pending, unsigned int *failed)
{
	*corrected = bad(gpu, "remap-many") ? 11 : 0;
	*uncorrected = bad(gpu, "remap-failed") ? 3 : 0;
	*pending = bad(gpu, "remap-pending");
	*failed = bad(gpu, "remap-failed");
	return 0;
}

EXPORT int
nvmlDeviceGetNvLinkState(void *gpu, unsigned int link, int *ret)
{
	if (link >= LINKS)
		return NOT_SUPPORTED;
	*ret = !(bad(gpu, "nvlink") && (link == 4 || link == 17));
	return 0;
}

EXPORT int
nvmlDeviceGetNvLinkErrorCounter(void *gpu, unsigned int link, int counter,
				unsigned long long *ret)
{
	if (link >= LINKS)
		return NOT_SUPPORTED;
	*ret = bad(gpu, "nvlink-errors") && link == 2 && counter == 2 ? 77 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetGpuFabricInfo(void *gpu, void *ret)
{
	struct {
		unsigned char uuid[16];
		int status;
		unsigned int clique, state;
	} info = {.uuid = {0xab, 0xcd}, .clique = 1, .state = 3};

	if (bad(gpu, "fabric"))
		info.state = 2;
	memcpy(ret, &info, sizeof(info));
	return 0;
}

EXPORT int
nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *ret)
{
	*ret = bad(gpu, "thermal") ? 0x48 : bad(gpu, "power-cap") ? 0x4 : 0x1;
	return 0;
}

EXPORT int
nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned int *ret)
{
	*ret = bad(gpu, "thermal") ? 91 : 35;
	return sensor ? NOT_SUPPORTED : 0;
}

EXPORT int
nvmlDeviceGetPowerManagementLimit(void *gpu, unsigned int *ret)
{
	*ret = bad(gpu, "power-limit") ? 500000 : 700000;
	return 0;
}

EXPORT int
nvmlDeviceGetPowerManagementDefaultLimit(void *gpu, unsigned int *ret)
{
	*ret = gpu ? 700000 : 0;
	return 0;
}

/* At rest the link of GPU 0 sleeps in the first generation: that is no fault. */
EXPORT int
nvmlDeviceGetCurrPcieLinkGeneration(void *gpu, unsigned int *ret)
{
	*ret = index_of(gpu) == 0 ? 1 : bad(gpu, "pcie-gen") ? 3 : 5;
	return 0;
}

EXPORT int
nvmlDeviceGetCurrPcieLinkWidth(void *gpu, unsigned int *ret)
{
	*ret = bad(gpu, "pcie-width") ? 8 : 16;
	return 0;
}

EXPORT int
nvmlDeviceGetMaxPcieLinkGeneration(void *gpu, unsigned int *ret)
{
	*ret = bad(gpu, "pcie-gen") ? 3 : 5;
	return 0;
}

EXPORT int
nvmlDeviceGetMaxPcieLinkWidth(void *gpu, unsigned int *ret)
{
	*ret = gpu ? 16 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetPcieReplayCounter(void *gpu, unsigned int *ret)
{
	*ret = bad(gpu, "replays") ? 9 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetMigMode(void *gpu, unsigned int *now, unsigned int *next)
{
	*now = *next = bad(gpu, "mig");
	return 0;
}

/* --- CUDA: memory is malloc's, with its GPU's number in front of it --- */

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
int cuGetErrorName(int code, const char **ret);

static int current; /* GPU of the current context */
static int freed, allocated;

EXPORT int
cuInit(unsigned int flags)
{
	return flags || fault("no-device") ? CUDA_NO_DEVICE : 0;
}

EXPORT int
cuDeviceGetCount(int *ret)
{
	*ret = 4;
	return 0;
}

EXPORT int
cuDeviceGet(int *ret, int index)
{
	*ret = index;
	return 0;
}

EXPORT int
cuDeviceGetPCIBusId(char *ret, int size, int device)
{
	snprintf(ret, (size_t)size, "0000:%02x:00.0", device + 0x18);
	return 0;
}

EXPORT int
cuDevicePrimaryCtxRetain(void **ret, int device)
{
	*ret = (void *)(intptr_t)(device + 1);
	return 0;
}

EXPORT int
cuDevicePrimaryCtxRelease_v2(int device)
{
	return device < 0;
}

EXPORT int
cuCtxSetCurrent(void *context)
{
	current = index_of(context);
	return 0;
}

EXPORT int
cuMemAlloc_v2(uint64_t *ret, size_t size)
{
	if (current == BAD && fault("cuda-memory"))
		return CUDA_OUT_OF_MEMORY;
	*ret = (uint64_t)(uintptr_t)malloc(size);
	allocated++;
	return 0;
}

EXPORT int
cuMemFree_v2(uint64_t memory)
{
	free((void *)(uintptr_t)memory);
	freed++;
	return 0;
}

EXPORT int
cuMemHostAlloc(void **ret, size_t size, unsigned int flags)
{
	*ret = malloc(size);
	return flags != 1;
}

EXPORT int
cuMemFreeHost(void *memory)
{
	free(memory);
	return 0;
}

/* A stream is the time that has passed on it, in ms; an event a moment of it. */
EXPORT int
cuStreamCreate(void **ret, unsigned int flags)
{
	*ret = calloc(1, sizeof(double));
	return flags != 1;
}

EXPORT int
cuStreamDestroy_v2(void *stream)
{
	free(stream);
	return 0;
}

EXPORT int
cuEventCreate(void **ret, unsigned int flags)
{
	*ret = calloc(1, sizeof(double));
	return flags != 0;
}

EXPORT int
cuEventDestroy_v2(void *event)
{
	free(event);
	return 0;
}

EXPORT int
cuEventRecord(void *event, void *stream)
{
	memcpy(event, stream, sizeof(double));
	return 0;
}

EXPORT int
cuEventSynchronize(void *event)
{
	return event == NULL;
}

EXPORT int
cuEventElapsedTime(float *ret_ms, void *from, void *to)
{
	double start, end;

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

EXPORT int
cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream)
{
	memcpy(at(to), from, size);
	pass_time(stream, size, slow("h2d") ? 12.5 : 55.4);
	return 0;
}

EXPORT int
cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream)
{
	memcpy(to, at(from), size);
	if (slow("corrupt"))
		((unsigned char *)to)[size / 2] ^= 1;
	pass_time(stream, size, slow("d2h") ? 20 : 55.1);
	return 0;
}

EXPORT int
cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream)
{
	memcpy(at(to), at(from), size);
	pass_time(stream, size, slow("hbm") ? 900 : 1270);
	return 0;
}

EXPORT int
cuMemcpyPeerAsync(uint64_t to, void *to_context, uint64_t from, void *from_context,
		  size_t size, void *stream)
{
	int pair = index_of(from_context) == BAD && index_of(to_context) == 1;

	memcpy(at(to), at(from), size);
	pass_time(stream, size, pair && fault("p2p") ? 40 : 376);
	return 0;
}

EXPORT int
cuDeviceCanAccessPeer(int *ret, int device, int peer)
{
	*ret = !(fault("no-peer") && (device == BAD || peer == BAD));
	return 0;
}

EXPORT int
cuCtxEnablePeerAccess(void *context, unsigned int flags)
{
	return flags || !context;
}

EXPORT int
cuGetErrorName(int code, const char **ret)
{
	*ret = code == CUDA_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
	       : code == CUDA_NO_DEVICE   ? "CUDA_ERROR_NO_DEVICE"
					  : "CUDA_ERROR_INVALID_VALUE";
	return 0;
}

/* At exit of the library whatever was allocated must have been freed. */
static __attribute__((destructor)) void
check_freed(void)
{
	if (freed != allocated) {
		fprintf(stderr, "fakegpu: %d of %d allocations were freed\n", freed,
			allocated);
		abort();
	}
}
