/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcuda whose GPU memory is a file: for tests of where a probe's payload lies. The
 * program sees an address that it cannot touch, a "dmabuf" is the file. The variable
 * FAKECUDA makes it bad: "host" hands out host memory and calls it a GPU's, "managed"
 * memory that moves, "peermem" has no dmabuf (and lets the adapter, here a program,
 * touch it), "neither" has neither, "none" has no GPU, "liar" loses what is written. A
 * plain "dmabuf" that no adapter takes: "pcie" has another one that is mapped by PCIe,
 * "old" has peermem besides.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 16, SUCCESS = 0, INVALID = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100 };

static struct {
	char *addr, *memory;
	size_t size;
	int fd;
	int waits; /* copies wait for what the adapter writes */
} blocks[BLOCKS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of which are taken */

int cuInit(unsigned int flags);
int cuDeviceGet(int *ret, int ordinal);
int cuDevicePrimaryCtxRetain(void **ret, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *ret, size_t size);
int cuMemFree_v2(uint64_t addr);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size);
int cuPointerGetAttribute(void *ret, int attribute, uint64_t addr);
int cuPointerSetAttribute(const void *value, int attribute, uint64_t addr);
int cuMemGetHandleForAddressRange(void *ret, uint64_t addr, size_t size, int type,
				  unsigned long long flags);

static int
mood(const char *name)
{
	const char *value = getenv("FAKECUDA");

	return value && strcmp(value, name) == 0;
}

static int
find(uint64_t addr, size_t size)
{
	for (int i = 0; i < BLOCKS; i++) {
		uint64_t start = (uintptr_t)blocks[i].addr;

		if (blocks[i].addr && addr >= start &&
		    addr + size <= start + blocks[i].size)
			return i;
	}
	return -1;
}

int
cuInit(unsigned int flags)
{
	(void)flags;
	return mood("none") ? NO_DEVICE : SUCCESS;
}

int
cuDeviceGet(int *ret, int ordinal)
{
	*ret = ordinal;
	return ordinal == 0 ? SUCCESS : INVALID;
}

int
cuDevicePrimaryCtxRetain(void **ret, int device)
{
	(void)device;
	*ret = blocks;
	return SUCCESS;
}

int
cuDevicePrimaryCtxRelease_v2(int device)
{
	(void)device;
	return SUCCESS;
}

int
cuCtxSetCurrent(void *context)
{
	return context == (void *)blocks ? SUCCESS : INVALID;
}

/* The slot's address is set last: until then nobody finds it. */
static int
make_block(int i, size_t size)
{
	int touchable = mood("host") || mood("managed");

	blocks[i].fd = memfd_create("fakecuda", MFD_CLOEXEC);
	blocks[i].size = size;
	blocks[i].waits = 0;
	if (ftruncate(blocks[i].fd, (off_t)size))
		return OUT_OF_MEMORY;
	blocks[i].memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, blocks[i].fd, 0);
	/* What the program sees: the same memory, or an address that it cannot touch.
	 * Behind that the memory is for adapters alone, or nothing. */
	if (touchable)
		blocks[i].addr = blocks[i].memory;
	else if (mood("peermem") || mood("old"))
		blocks[i].addr =
			mmap(NULL, size, PROT_NONE, MAP_SHARED, blocks[i].fd, 0);
	else
		blocks[i].addr =
			mmap(NULL, size, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return SUCCESS;
}

int
cuMemAlloc_v2(uint64_t *ret, size_t size)
{
	int rc = OUT_OF_MEMORY, i = 0;

	pthread_mutex_lock(&lock);
	while (i < BLOCKS && blocks[i].addr)
		i++;
	if (i < BLOCKS)
		rc = make_block(i, size);
	if (rc == SUCCESS)
		*ret = (uintptr_t)blocks[i].addr;
	pthread_mutex_unlock(&lock);
	return rc;
}

int
cuMemFree_v2(uint64_t addr)
{
	int i;

	pthread_mutex_lock(&lock);
	i = find(addr, 1);
	if (i >= 0) {
		if (blocks[i].memory != blocks[i].addr)
			munmap(blocks[i].memory, blocks[i].size);
		munmap(blocks[i].addr, blocks[i].size);
		close(blocks[i].fd);
		blocks[i].addr = NULL;
	}
	pthread_mutex_unlock(&lock);
	return i >= 0 ? SUCCESS : INVALID;
}

int
cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size)
{
	int i = find(to, size);

	if (i < 0)
		return INVALID;
	if (!mood("liar"))
		memcpy(blocks[i].memory + (to - (uintptr_t)blocks[i].addr), from, size);
	return SUCCESS;
}

int
cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size)
{
	int i = find(from, size);

	if (i < 0 || !blocks[i].waits)
		return INVALID;
	memcpy(to, blocks[i].memory + (from - (uintptr_t)blocks[i].addr), size);
	return SUCCESS;
}

int
cuPointerGetAttribute(void *ret, int attribute, uint64_t addr)
{
	if (find(addr, 1) < 0)
		return INVALID;
	if (attribute == 2)
		*(unsigned int *)ret = 2; /* a device's, says it in every mood */
	else if (attribute == 8)
		*(unsigned char *)ret = (unsigned char)mood("managed");
	else
		return INVALID;
	return SUCCESS;
}

int
cuPointerSetAttribute(const void *value, int attribute, uint64_t addr)
{
	int i = find(addr, 1);

	if (attribute != 6 || i < 0)
		return INVALID;
	blocks[i].waits = *(const unsigned int *)value == 1;
	return SUCCESS;
}

int
cuMemGetHandleForAddressRange(void *ret, uint64_t addr, size_t size, int type,
			      unsigned long long flags)
{
	int i = find(addr, size);

	if (i < 0 || type != 1 || addr % 4096 || size % 4096 || mood("host") ||
	    mood("peermem") || mood("neither") || (flags && !mood("pcie")))
		return INVALID;
	if (!flags && (mood("pcie") || mood("old"))) /* cannot be mapped */
		*(int *)ret = open("/dev/null", O_RDWR | O_CLOEXEC);
	else
		*(int *)ret = dup(blocks[i].fd);
	return SUCCESS;
}
