/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The third part of the stand-in, tests/support/fakegpu.h: memory that GPUs of several
 * nodes share. It is a file in the folder FAKEFABRIC, named by its fabric handle, so
 * that two processes that play two nodes really copy. FAKECLIQUE is this node's clique
 * (default 1); a handle of another one is refused. FAKEGPU, on GPU 3:
 *	imex             no channel
 *	imex-off         no service
 *	nvlink-refused   it takes no handle
 *	nvlink-slow      200 GB/s
 *	nvlink-changed   one bit of each copy
 *	nvlink-late      the same, once both copy at once
 *	nvlink-lost      from the third copy on nothing arrives
 * and on all: "handles", the driver knows none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/support/fakegpu.h"

enum {
	ALLOCATIONS = 64,
	UNIT = 2 << 20,
	FABRIC = 8,
	SUPPORTS_FABRIC = 128,
	READ_WRITE = 3,
	HANDLE_SIZE = 64,
	ALONE = 126, /* copies of a test before both ends copy at once */
};

struct prop {
	int type, handles, location, id;
	void *win32;
	unsigned char flags[8];
};
struct access {
	int location, id, flags;
};

static struct allocation {
	int taken, imported, fd;
	size_t size;
	char name[HANDLE_SIZE];
	char *addr; /* NULL = it has none */
} allocations[ALLOCATIONS];

static int ranges; /* reserved, and not given back */

int cuDeviceGetAttribute(int *ret, int attribute, int device);
int cuMemGetAllocationGranularity(size_t *ret, const struct prop *prop, int which);
int cuMemCreate(uint64_t *ret, size_t size, const struct prop *prop,
		unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemExportToShareableHandle(void *ret, uint64_t handle, int type,
				 unsigned long long flags);
int cuMemImportFromShareableHandle(uint64_t *ret, void *from, int type);
int cuMemAddressReserve(uint64_t *ret, size_t size, size_t alignment, uint64_t addr,
			unsigned long long flags);
int cuMemAddressFree(uint64_t addr, size_t size);
int cuMemMap(uint64_t addr, size_t size, size_t offset, uint64_t handle,
	     unsigned long long flags);
int cuMemUnmap(uint64_t addr, size_t size);
int cuMemSetAccess(uint64_t addr, size_t size, const struct access *list, size_t count);

static int
slow(const char *name)
{
	return current_gpu() == BAD && fault(name);
}

static const char *
clique(void)
{
	const char *asked = getenv("FAKECLIQUE");

	return asked ? asked : "1";
}

static struct allocation *
find(uint64_t handle)
{
	return handle && handle <= ALLOCATIONS && allocations[handle - 1].taken
		       ? &allocations[handle - 1]
		       : NULL;
}

/* Name and clique are set. */
static int
take(const struct allocation *from, int flags, uint64_t *ret)
{
	const char *folder = getenv("FAKEFABRIC");
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder ? folder : "/nowhere", from->name);
	for (size_t i = 0; i < ALLOCATIONS; i++) {
		struct allocation *one = &allocations[i];
		struct stat stat;

		if (one->taken)
			continue;
		*one = *from;
		one->fd = open(path, flags | O_RDWR | O_CLOEXEC, 0600);
		if (one->fd < 0 || (one->size && ftruncate(one->fd, (off_t)one->size)))
			return CUDA_OUT_OF_MEMORY;
		fstat(one->fd, &stat);
		one->size = (size_t)stat.st_size;
		one->taken = 1;
		*ret = i + 1;
		return 0;
	}
	return CUDA_OUT_OF_MEMORY;
}

EXPORT int
cuDeviceGetAttribute(int *ret, int attribute, int device)
{
	TRAP(device);
	*ret = attribute == SUPPORTS_FABRIC && is_of_rack() && !fault("handles");
	return 0;
}

EXPORT int
cuMemGetAllocationGranularity(size_t *ret, const struct prop *prop, int which)
{
	TRAP(prop->id);
	*ret = UNIT;
	return which != 0;
}

EXPORT int
cuMemCreate(uint64_t *ret, size_t size, const struct prop *prop,
	    unsigned long long flags)
{
	static int made;
	struct allocation own = {.size = size};

	TRAP(prop->id);
	if (prop->type != 1 || prop->location != 1 || flags || size % UNIT || !size ||
	    prop->id != current_gpu())
		return CUDA_INVALID;
	if (prop->handles != FABRIC || !is_of_rack())
		return CUDA_NOT_SUPPORTED;
	if (slow("imex") || slow("imex-off"))
		return slow("imex") ? CUDA_NOT_PERMITTED : CUDA_NOT_SUPPORTED;
	snprintf(own.name, sizeof(own.name), "%s:%d-%d", clique(), (int)getpid(),
		 made++);
	return take(&own, O_CREAT | O_EXCL, ret);
}

EXPORT int
cuMemRelease(uint64_t handle)
{
	struct allocation *one = find(handle);

	TRAP(current_gpu());
	if (!one || one->addr)
		return CUDA_INVALID;
	close(one->fd);
	one->taken = 0;
	return 0;
}

EXPORT int
cuMemExportToShareableHandle(void *ret, uint64_t handle, int type,
			     unsigned long long flags)
{
	const struct allocation *one = find(handle);

	TRAP(current_gpu());
	if (!one || type != FABRIC || flags)
		return CUDA_INVALID;
	memcpy(ret, one->name, HANDLE_SIZE);
	return 0;
}

EXPORT int
cuMemImportFromShareableHandle(uint64_t *ret, void *from, int type)
{
	struct allocation peer = {.imported = 1};
	size_t length = strlen(clique());

	TRAP(current_gpu());
	memcpy(peer.name, from, HANDLE_SIZE - 1);
	if (type != FABRIC || slow("nvlink-refused") ||
	    strncmp(peer.name, clique(), length) != 0 || peer.name[length] != ':')
		return CUDA_INVALID;
	return take(&peer, 0, ret);
}

EXPORT int
cuMemAddressReserve(uint64_t *ret, size_t size, size_t alignment, uint64_t addr,
		    unsigned long long flags)
{
	void *range = mmap(NULL, size, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	TRAP(current_gpu());
	ranges++;
	*ret = (uint64_t)(uintptr_t)range;
	return alignment || addr || flags || range == MAP_FAILED;
}

EXPORT int
cuMemAddressFree(uint64_t addr, size_t size)
{
	TRAP(current_gpu());
	ranges--;
	return munmap((void *)(uintptr_t)addr, size) != 0;
}

/* Not to be touched before access to it is set. */
EXPORT int
cuMemMap(uint64_t addr, size_t size, size_t offset, uint64_t handle,
	 unsigned long long flags)
{
	struct allocation *one = find(handle);

	TRAP(current_gpu());
	if (!one || one->addr || offset || flags || size != one->size ||
	    mmap((void *)(uintptr_t)addr, size, PROT_NONE, MAP_SHARED | MAP_FIXED,
		 one->fd, 0) == MAP_FAILED)
		return CUDA_INVALID;
	one->addr = (char *)(uintptr_t)addr;
	return 0;
}

static struct allocation *
at_address(uint64_t addr)
{
	for (size_t i = 0; i < ALLOCATIONS; i++) {
		struct allocation *one = &allocations[i];
		uint64_t start = (uint64_t)(uintptr_t)one->addr;

		if (one->taken && one->addr && addr >= start &&
		    addr < start + one->size)
			return one;
	}
	return NULL;
}

EXPORT int
cuMemUnmap(uint64_t addr, size_t size)
{
	struct allocation *one = at_address(addr);

	TRAP(current_gpu());
	if (!one || size != one->size)
		return CUDA_INVALID;
	one->addr = NULL;
	return mmap((void *)(uintptr_t)addr, size, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
		    0) == MAP_FAILED;
}

EXPORT int
cuMemSetAccess(uint64_t addr, size_t size, const struct access *list, size_t count)
{
	TRAP(current_gpu());
	if (!at_address(addr) || count != 1 || list->location != 1 ||
	    list->flags != READ_WRITE || list->id != current_gpu())
		return CUDA_INVALID;
	return mprotect((void *)(uintptr_t)addr, size, PROT_READ | PROT_WRITE) != 0;
}

double
copy_far(uint64_t to, uint64_t from, size_t size)
{
	static int copies;
	const struct allocation *one = at_address(to);
	char *there = (char *)(uintptr_t)to;

	if (!one || !one->imported)
		return 0;
	copies += current_gpu() == BAD;
	if (!slow("nvlink-lost") || copies < 3)
		memcpy(there, (void *)(uintptr_t)from, size);
	if (slow("nvlink-changed") || (slow("nvlink-late") && copies > ALONE))
		there[size / 2] ^= 1;
	return slow("nvlink-slow") ? 200 : board()->peer_gbs;
}

/* At exit of the library whatever was taken must have been given back. */
static __attribute__((destructor)) void
check_shared(void)
{
	int left = ranges;

	for (size_t i = 0; i < ALLOCATIONS; i++)
		left += allocations[i].taken;
	if (!left)
		return;
	fprintf(stderr, "fakegpu: %d shared allocations or ranges are left\n", left);
	abort();
}
