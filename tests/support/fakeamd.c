/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for AMD's management library: eight MI300X, good or with one fault on GPU
 * 3 (FAKEGPU, as tests/support/fakegpu.h says), of the release that FAKEAMD names (26
 * without it). FAKEGPU=cpx divides each of them into eight parts, cpx-one GPU 3 alone.
 * It writes by the offsets of the documented structs, and each of them
 * whole, so that a reader with another layout reads something else.
 */
#include "tests/support/fakegpu.h"

enum { GPUS = 8, LINKS = 8, PARTS = 8, INSUFFICIENT = 41, NOT_THERE = 34, SILENT = 30 };

/* Where it stands in a struct, and the struct's size, by release: 25, 26. */
enum { ASIC_SERIAL = 532, ASIC_SIZE = 896, DRIVER_SIZE = 768, ECC_SIZE = 64 };
static const size_t vbios_version[2] = {544, 768}, vbios_size[2] = {1056, 1568};

int amdsmi_get_lib_version(void *ret);
int amdsmi_init(uint64_t flags);
int amdsmi_shut_down(void);
int amdsmi_status_code_to_string(int status, const char **ret);
int amdsmi_get_socket_handles(uint32_t *count, void **ret);
int amdsmi_get_processor_handles(void *socket, uint32_t *count, void **ret);
int amdsmi_get_gpu_device_bdf(void *gpu, uint64_t *ret);
int amdsmi_get_gpu_asic_info(void *gpu, void *ret);
int amdsmi_get_gpu_vbios_info(void *gpu, void *ret);
int amdsmi_get_gpu_driver_info(void *gpu, void *ret);
int amdsmi_get_gpu_memory_total(void *gpu, int type, uint64_t *ret);
int amdsmi_get_gpu_ecc_enabled(void *gpu, uint64_t *ret);
int amdsmi_get_gpu_total_ecc_count(void *gpu, uint64_t *ret);
int amdsmi_get_gpu_xgmi_link_status(void *gpu, uint32_t *ret);

static unsigned int
release(void)
{
	const char *asked = getenv("FAKEAMD");

	return asked ? (unsigned int)strtoul(asked, NULL, 10) : 26;
}

/* Handles of the parts after the first: GPU + 1 + 100 * part. */
static uint64_t
part_of(const void *gpu)
{
	return (uint64_t)(intptr_t)gpu / 100;
}

static void *
whole(const void *gpu)
{
	return (void *)((intptr_t)gpu % 100);
}

static uint32_t
parts_of(int gpu)
{
	return fault("cpx") || (fault("cpx-one") && gpu == BAD) ? PARTS : 1;
}

static int
hangs(void *gpu, const char *name)
{
	const char *asked = getenv("FAKEGPU");

	while (asked && index_of(gpu) == BAD && strncmp(asked, "hang:", 5) == 0 &&
	       strcmp(asked + 5, name) == 0)
		pause();
	return 0;
}

/* To 25 the year came first, as major does since; before that were others. */
EXPORT int
amdsmi_get_lib_version(void *ret)
{
	uint32_t number[6] = {release(), 3, 1, 0, 0, 0};

	if (release() == 26)
		number[1] = 0;
	memcpy(ret, number, sizeof(number));
	return 0;
}

EXPORT int
amdsmi_init(uint64_t flags)
{
	return fault("no-driver") ? NOT_THERE : flags == 2 ? 0 : 1;
}

EXPORT int
amdsmi_shut_down(void)
{
	return 0;
}

EXPORT int
amdsmi_status_code_to_string(int status, const char **ret)
{
	*ret = status == NOT_THERE ? "AMDSMI_STATUS_DRIVER_NOT_LOADED"
	       : status == SILENT  ? "AMDSMI_STATUS_BUSY"
				   : "AMDSMI_STATUS_NOT_SUPPORTED";
	return 0;
}

/* As many as there are, at most as many as there is room for. */
EXPORT int
amdsmi_get_socket_handles(uint32_t *count, void **ret)
{
	uint32_t gpus = GPUS - (uint32_t)fault("missing");

	if (ret && *count < gpus)
		return INSUFFICIENT;
	for (uint32_t i = 0; ret && i < gpus; i++)
		ret[i] = (void *)(intptr_t)(100 + i);
	*count = gpus;
	return 0;
}

EXPORT int
amdsmi_get_processor_handles(void *socket, uint32_t *count, void **ret)
{
	uint32_t parts = parts_of((int)((intptr_t)socket - 100));

	if (ret && *count < parts)
		return INSUFFICIENT;
	for (uint32_t i = 0; ret && i < parts; i++)
		ret[i] = (void *)((intptr_t)socket - 100 + 1 + 100 * (intptr_t)i);
	*count = parts;
	return 0;
}

EXPORT int
amdsmi_get_gpu_device_bdf(void *gpu, uint64_t *ret)
{
	*ret = (uint64_t)(0x18 + index_of(whole(gpu))) << 8;
	/* Of one release; in the other all parts have the same address. */
	if (release() == 25)
		*ret |= part_of(gpu);
	return bad(gpu, "lost") ? SILENT : 0;
}

EXPORT int
amdsmi_get_gpu_asic_info(void *gpu, void *ret)
{
	char *to = ret;

	hangs(gpu, __func__);
	memset(to, 0, ASIC_SIZE);
	strcpy(to, bad(gpu, "model") ? "AMD Instinct MI210" : "AMD Instinct MI300X");
	sprintf(to + ASIC_SERIAL, "0x165%04d", index_of(whole(gpu)));
	return 0;
}

EXPORT int
amdsmi_get_gpu_vbios_info(void *gpu, void *ret)
{
	int which = release() == 26;
	char *to = ret;

	memset(to, 0, vbios_size[which]);
	strcpy(to, "AMD MI300X");
	strcpy(to + vbios_version[which],
	       bad(gpu, "vbios") ? "022.040.002.011" : "022.040.003.042");
	return 0;
}

EXPORT int
amdsmi_get_gpu_driver_info(void *gpu, void *ret)
{
	(void)gpu;
	memset(ret, 0, DRIVER_SIZE);
	strcpy(ret, fault("driver") ? "6.8.5" : "6.12.12");
	return 0;
}

EXPORT int
amdsmi_get_gpu_memory_total(void *gpu, int type, uint64_t *ret)
{
	*ret = type ? 0 : (bad(gpu, "memory") ? 64ull : 192ull) * 1000000000;
	*ret /= parts_of(index_of(whole(gpu)));
	return 0;
}

EXPORT int
amdsmi_get_gpu_ecc_enabled(void *gpu, uint64_t *ret)
{
	*ret = bad(gpu, "ecc-off") ? 0x3ffe : 0x3fff;
	return 0;
}

/* FAKEGPU=ecc-grows: one more each time, also when the library was loaded anew. */
static uint64_t
grown(void *gpu)
{
	const char *before = getenv("FAKEAMD_GROWN");
	uint64_t count = before ? strtoul(before, NULL, 10) : 0;
	char now[24];

	if (!bad(gpu, "ecc-grows"))
		return 0;
	snprintf(now, sizeof(now), "%lu", (unsigned long)count + 1);
	setenv("FAKEAMD_GROWN", now, 1);
	return count;
}

/* It adds, as the real one does. */
EXPORT int
amdsmi_get_gpu_total_ecc_count(void *gpu, uint64_t *ret)
{
	ret[0] += 5;
	ret[1] += bad(gpu, "ecc") ? 2 : grown(gpu);
	ret[2] += bad(gpu, "ecc-deferred") ? 3 : 0;
	memset(ret + 3, 0, ECC_SIZE - 3 * sizeof(*ret));
	return 0;
}

/* Its own place in the row is disabled. */
EXPORT int
amdsmi_get_gpu_xgmi_link_status(void *gpu, uint32_t *ret)
{
	if (fault("guest"))
		return 2;
	memset(ret, 0, 96);
	ret[0] = LINKS;
	for (int i = 0; i < LINKS; i++)
		ret[1 + i] = part_of(gpu)                     ? 0
			     : i == index_of(gpu)             ? 2
			     : bad(gpu, "xgmi") && i % 4 == 1 ? 0
							      : 1;
	return 0;
}
