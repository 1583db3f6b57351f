/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payload memory of a probe. Called by verbs.c. Invariant: memory counts as GPU memory
 * only when bu_buffer_prove() shows it. A library, driver or option that returns host
 * memory instead would give a plausible rate of the wrong path.
 *
 * ABI of the calls: CUDA Driver API reference, docs.nvidia.com/cuda/cuda-driver-api.
 */
#include "fabric/probe/buffer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/symbols.h"

enum {
	PAGE = 4096,
	HUGE_PAGE = 2 * 1024 * 1024,
	CUDA_MEMORY_TYPE = 2, /* CU_POINTER_ATTRIBUTE_MEMORY_TYPE */
	CUDA_SYNC_MEMOPS = 6,
	CUDA_IS_MANAGED = 8,
	CUDA_DEVICE = 2,  /* CU_MEMORYTYPE_DEVICE */
	CUDA_DMABUF = 1,  /* CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD */
	CUDA_BY_PCIE = 1, /* CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE, CUDA 12.8 */
	ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		 IBV_ACCESS_REMOTE_READ
};

struct bu_cuda {
	void *library;
	int device;
	int retained;
	int (*init)(unsigned int flags);
	int (*device_get)(int *ret, int ordinal);
	int (*retain)(void **ret_context, int device);
	int (*release)(int device);
	int (*set_current)(void *context);
	int (*alloc)(uint64_t *ret, size_t size);
	int (*release_memory)(uint64_t addr);
	int (*to_device)(uint64_t to, const void *from, size_t size);
	int (*to_host)(void *to, uint64_t from, size_t size);
	int (*attribute)(void *ret, int attribute, uint64_t addr);
	/* missing in old drivers: */
	int (*set_attribute)(const void *value, int attribute, uint64_t addr);
	int (*handle)(void *ret, uint64_t addr, size_t size, int type, uint64_t flags);
};

#define CALL(member, name, optional)                                                   \
	{                                                                              \
		name, offsetof(struct bu_cuda, member), optional                       \
	}
static const struct bu_symbol calls[] = {
	CALL(init, "cuInit", 0),
	CALL(device_get, "cuDeviceGet", 0),
	CALL(retain, "cuDevicePrimaryCtxRetain", 0),
	CALL(release, "cuDevicePrimaryCtxRelease_v2", 0),
	CALL(set_current, "cuCtxSetCurrent", 0),
	CALL(alloc, "cuMemAlloc_v2", 0),
	CALL(release_memory, "cuMemFree_v2", 0),
	CALL(to_device, "cuMemcpyHtoD_v2", 0),
	CALL(to_host, "cuMemcpyDtoH_v2", 0),
	CALL(attribute, "cuPointerGetAttribute", 0),
	CALL(set_attribute, "cuPointerSetAttribute", 1),
	CALL(handle, "cuMemGetHandleForAddressRange", 1),
};

void
bu_cuda_close(struct bu_cuda *cuda)
{
	if (!cuda)
		return;
	if (cuda->retained)
		cuda->release(cuda->device);
	dlclose(cuda->library);
	free(cuda);
}

static int
start(struct bu_cuda *cuda, int gpu, struct bu_err *err)
{
	void *context;
	int rc = cuda->init(0);

	if (rc)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "CUDA: cuInit: error %d",
				  rc);
	rc = cuda->device_get(&cuda->device, gpu);
	if (rc)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "CUDA: no GPU %d (error %d)",
				  gpu, rc);
	rc = cuda->retain(&context, cuda->device);
	if (rc)
		return bu_err_set(err, BU_ERR_IO, 0,
				  "CUDA: context of GPU %d: error %d", gpu, rc);
	cuda->retained = 1;
	rc = cuda->set_current(context);
	if (rc)
		return bu_err_set(err, BU_ERR_IO, 0,
				  "CUDA: context of GPU %d: error %d", gpu, rc);
	return 0;
}

struct bu_cuda *
bu_cuda_open(const char *library, int gpu, struct bu_err *err)
{
	struct bu_cuda *cuda;
	const char *missing;
	void *handle;

	if (!library)
		library = "libcuda.so.1";
	handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "%s: %s; is the GPU's driver installed?", library,
			   dlerror());
		return NULL;
	}
	cuda = bu_xcalloc(1, sizeof(*cuda));
	cuda->library = handle;
	missing = bu_symbols_find(handle, calls, BU_LEN(calls), cuda);
	if (missing)
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "%s has no %s", library, missing);
	if (missing || start(cuda, gpu, err)) {
		bu_cuda_close(cuda);
		return NULL;
	}
	return cuda;
}

/* Aligns large buffers to huge pages: registration costs time per page. */
static void *
map_pages(size_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS, access = PROT_READ | PROT_WRITE;
	uint8_t *memory = MAP_FAILED;
	size_t before;

	if (size % HUGE_PAGE)
		return mmap(NULL, size, access, flags, -1, 0);
	memory = mmap(NULL, size, access, flags | MAP_HUGETLB, -1, 0);
	if (memory != MAP_FAILED)
		return memory;
	memory = mmap(NULL, size + HUGE_PAGE, access, flags, -1, 0);
	if (memory == MAP_FAILED)
		return memory;
	before = (size_t) - (uintptr_t)memory % HUGE_PAGE;
	if (before)
		munmap(memory, before);
	if (before < HUGE_PAGE)
		munmap(memory + before + size, HUGE_PAGE - before);
	madvise(memory + before, size, MADV_HUGEPAGE);
	return memory + before;
}

static int
create_host(struct bu_buffer *buffer, struct ibv_pd *pd, struct bu_err *err)
{
	void *memory = map_pages(buffer->size);

	if (memory == MAP_FAILED)
		return bu_err_set(err, BU_ERR_IO, errno, "probe buffer of %zu bytes",
				  buffer->size);
	buffer->mapped = 1;
	buffer->host = memory;
	buffer->addr = (uintptr_t)memory;
	buffer->memory = BU_MEMORY_HOST;
	buffer->mr = ibv_reg_mr(pd, memory, buffer->size,
				ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	if (!buffer->mr)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "register %zu bytes (memlock limit?)", buffer->size);
	return 0;
}

static struct ibv_mr *
register_dmabuf(const struct bu_buffer *buffer, struct ibv_pd *pd, uint64_t flags)
{
	struct ibv_mr *mr;
	int fd = -1;

	if (!buffer->cuda->handle ||
	    buffer->cuda->handle(&fd, buffer->addr, buffer->size, CUDA_DMABUF, flags))
		return NULL;
	mr = ibv_reg_dmabuf_mr(pd, 0, buffer->size, buffer->addr, fd,
			       ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	if (!mr) /* kernels before 5.12 refuse the flag */
		mr = ibv_reg_dmabuf_mr(pd, 0, buffer->size, buffer->addr, fd, ACCESS);
	close(fd); /* the registration keeps a reference */
	return mr;
}

static int
create_gpu(struct bu_buffer *buffer, struct ibv_pd *pd, struct bu_err *err)
{
	struct bu_cuda *cuda = buffer->cuda;
	unsigned int on = 1;
	int rc = cuda->alloc(&buffer->addr, buffer->size);

	if (rc) {
		buffer->addr = 0;
		return bu_err_set(err, BU_ERR_IO, 0, "CUDA: %zu bytes: error %d",
				  buffer->size, rc);
	}
	/* copies must not overtake the adapter's writes */
	if (cuda->set_attribute)
		cuda->set_attribute(&on, CUDA_SYNC_MEMOPS, buffer->addr);
	buffer->memory = BU_MEMORY_DMABUF;
	buffer->mr = register_dmabuf(buffer, pd, 0);
	/* On Grace boards CUDA's default mapping is not over PCIe, where adapters are.
	 * Drivers before CUDA 12.8 refuse the flag. */
	if (!buffer->mr)
		buffer->mr = register_dmabuf(buffer, pd, CUDA_BY_PCIE);
	if (buffer->mr)
		return 0;
	buffer->memory = BU_MEMORY_PEERMEM;
	buffer->mr = ibv_reg_mr(pd, (void *)(uintptr_t)buffer->addr, buffer->size,
				ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	if (!buffer->mr)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "register %zu bytes of GPU memory: neither as dmabuf "
				  "nor by nvidia-peermem",
				  buffer->size);
	return 0;
}

int
bu_buffer_create(struct bu_buffer *ret, struct ibv_pd *pd, size_t size,
		 struct bu_cuda *cuda, struct bu_err *err)
{
	struct bu_buffer buffer = {.cuda = cuda};
	size_t unit = cuda || size >= HUGE_PAGE ? HUGE_PAGE : PAGE;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (size == 0)
		return 0;
	buffer.size = (size + unit - 1) / unit * unit;
	rc = cuda ? create_gpu(&buffer, pd, err) : create_host(&buffer, pd, err);
	if (rc) {
		bu_buffer_destroy(&buffer);
		return -1;
	}
	*ret = buffer;
	return 0;
}

void
bu_buffer_destroy(struct bu_buffer *buffer)
{
	if (buffer->mr)
		ibv_dereg_mr(buffer->mr);
	if (buffer->mapped)
		munmap(buffer->host, buffer->size);
	else if (buffer->addr)
		buffer->cuda->release_memory(buffer->addr);
	memset(buffer, 0, sizeof(*buffer));
}

int
bu_buffer_put(const struct bu_buffer *buffer, size_t at, const void *data, size_t size,
	      struct bu_err *err)
{
	int rc;

	if (buffer->host) {
		memcpy(buffer->host + at, data, size);
		return 0;
	}
	rc = buffer->cuda->to_device(buffer->addr + at, data, size);
	return rc ? bu_err_set(err, BU_ERR_IO, 0, "CUDA: copy to the GPU: error %d", rc)
		  : 0;
}

int
bu_buffer_get(const struct bu_buffer *buffer, size_t at, void *data, size_t size,
	      struct bu_err *err)
{
	int rc;

	if (buffer->host) {
		memcpy(data, buffer->host + at, size);
		return 0;
	}
	rc = buffer->cuda->to_host(data, buffer->addr + at, size);
	return rc ? bu_err_set(err, BU_ERR_IO, 0, "CUDA: copy from the GPU: error %d",
			       rc)
		  : 0;
}

/* The kernel copies from host memory only. */
static int
is_host(uint64_t addr)
{
	int fds[2], rc;

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK))
		return 1;
	rc = write(fds[1], (const void *)(uintptr_t)addr, 1) == 1;
	close(fds[0]);
	close(fds[1]);
	return rc;
}

enum bu_memory
bu_buffer_prove(const struct bu_buffer *buffer)
{
	const uint64_t mark = UINT64_C(0x9e3779b97f4a7c15);
	unsigned int type = 0, managed = 0;
	uint64_t back = 0;

	if (!buffer->addr)
		return BU_MEMORY_UNKNOWN;
	if (buffer->host || is_host(buffer->addr))
		return BU_MEMORY_HOST;
	if (buffer->cuda->attribute(&type, CUDA_MEMORY_TYPE, buffer->addr) ||
	    type != CUDA_DEVICE ||
	    (buffer->cuda->attribute(&managed, CUDA_IS_MANAGED, buffer->addr) == 0 &&
	     managed) ||
	    bu_buffer_put(buffer, 0, &mark, sizeof(mark), NULL) ||
	    bu_buffer_get(buffer, 0, &back, sizeof(back), NULL) || back != mark)
		return BU_MEMORY_UNKNOWN;
	return buffer->memory;
}
