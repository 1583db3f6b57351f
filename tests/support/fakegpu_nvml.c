/* SPDX-License-Identifier: Apache-2.0 */
/* The NVML half of the stand-in, and the boards that it plays: tests/support/fakegpu.h.
 * Figures of boards are published ones where there are some. */
#define _GNU_SOURCE
#include "tests/support/fakegpu.h"

static const struct board boards[] = {
	{"h100-hgx-8", "NVIDIA H100 80GB HBM3", 8, 80, 18, FABRIC_DONE, 5, 55.2, 1270,
	 376, 1, 0, 0},
	{"h100-hgx-4", "NVIDIA H100 80GB HBM3", 4, 80, 18, FABRIC_NONE, 5, 55.2, 1248,
	 130.5, 0, 0, 0},
	{"h100-one", "NVIDIA H100 80GB HBM3", 1, 80, 18, FABRIC_NONE, 5, 55.2, 1270, 0,
	 0, 0, 1},
	{"h100-mig", "NVIDIA H100 80GB HBM3", 8, 80, 18, FABRIC_DONE, 5, 21, 155, 0, 0,
	 7, 1},
	{"h100-pcie", "NVIDIA H100 PCIe", 4, 80, 18, FABRIC_NA, 5, 55.2, 890, 0, 0, 0,
	 1},
	{"h100-nvl", "NVIDIA H100 NVL", 2, 94, 12, FABRIC_NA, 5, 55.2, 1600, 256, 0, 0,
	 0},
	{"h100-nvl-apart", "NVIDIA H100 NVL", 4, 94, 12, FABRIC_NA, 5, 55.2, 1600, 50,
	 0, 0, 1},
	{"a100-hgx-8", "NVIDIA A100-SXM4-80GB", 8, 80, 12, FABRIC_NA, 4, 26, 830, 275,
	 1, 0, 0},
	{"a100-hgx-4", "NVIDIA A100-SXM4-80GB", 4, 80, 12, FABRIC_NA, 4, 26, 830, 92, 0,
	 0, 0},
	{"a100-pcie", "NVIDIA A100 80GB PCIe", 4, 80, 12, FABRIC_NA, 4, 26, 810, 22, 0,
	 0, 1},
	{"a100-bridged", "NVIDIA A100 80GB PCIe", 4, 80, 12, FABRIC_NA, 4, 26, 810, 22,
	 0, 0, 0},
	{"h200-hgx-8", "NVIDIA H200", 8, 141, 18, FABRIC_DONE, 5, 55.2, 2000, 396, 1, 0,
	 0},
	{"h20-3e", "NVIDIA H20-3e", 8, 141, 18, FABRIC_DONE, 5, 55.2, 1100, 396, 1, 0,
	 0},
	{"b200-hgx-8", "NVIDIA B200", 8, 180, 18, FABRIC_DONE, 5, 55.2, 3200, 750, 1, 0,
	 0},
	{"b300-hgx-8", "NVIDIA B300 SXM6 AC", 8, 269, 18, FABRIC_DONE, 6, 55.2, 4623,
	 750, 1, 0, 0},
	{"gb300", "NVIDIA GB300", 4, 269, 18, FABRIC_DONE, 6, 365, 4522, 748, 1, 0, 0},
	{"gb200", "NVIDIA GB200", 4, 186, 18, FABRIC_DONE, 5, 365, 3200, 748, 1, 0, 0},
	{"l4-pcie", "NVIDIA L4", 8, 23, 0, FABRIC_NA, 4, 24.9, 120, 0, 0, 0, 0},
	{"l40s", "NVIDIA L40S", 8, 45, 0, FABRIC_NA, 4, 26, 330, 22, 0, 0, 0},
	{"a30", "NVIDIA A30", 4, 24, 4, FABRIC_NA, 4, 26, 400, 0, 0, 0, 1},
	{"a10-pcie", "NVIDIA A10", 4, 23, 0, FABRIC_NA, 4, 26, 240, 0, 0, 0, 0},
	{"rtx-pro", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 8, 95, 0, FABRIC_NA,
	 5, 55.2, 700, 50, 0, 0, 0},
};

const struct board *
board(void)
{
	const char *asked = getenv("FAKEBOARD");

	for (size_t i = 1; asked && i < COUNT(boards); i++)
		if (strcmp(boards[i].board, asked) == 0)
			return &boards[i];
	return &boards[0];
}

int
trap(const char *name, int gpu)
{
	const char *asked = getenv("FAKEGPU");
	const char *which = asked ? strchr(asked, ':') : NULL;

	if (!which || strcmp(which + 1, name) != 0 || (gpu >= 0 && gpu != BAD))
		return 0;
	if (strncmp(asked, "crash", 5) == 0) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	while (strncmp(asked, "hang", 4) == 0)
		pause();
	return 0;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
const char *nvmlErrorString(int code);
int nvmlSystemGetDriverVersion(char *ret, unsigned int size);
int nvmlSystemGetCudaDriverVersion_v2(int *ret);
int nvmlDeviceGetCount_v2(unsigned int *ret);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **ret);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **ret);
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
int nvmlDeviceGetMaxMigDeviceCount(void *gpu, unsigned int *ret);
int nvmlDeviceGetMigDeviceHandleByIndex(void *gpu, unsigned int index, void **ret);
int nvmlDeviceGetMigMode(void *gpu, unsigned int *now, unsigned int *next);

int nvmlDeviceGetGpuFabricInfoV(void *gpu, void *ret);
int nvmlDeviceGetFieldValues(void *gpu, int count, void *ret);
int nvmlDeviceGetSramEccErrorStatus(void *gpu, void *ret);
int nvmlDeviceGetPersistenceMode(void *gpu, unsigned int *ret);

static int users, forgotten;

void
forget(void)
{
	if (users == 0 && contexts() == 0)
		forgotten = copies_of_bad();
}

EXPORT int
nvmlInit_v2(void)
{
	TRAP(-1);
	users += !fault("no-driver");
	return fault("no-driver") ? NO_DRIVER : 0;
}

EXPORT int
nvmlShutdown(void)
{
	TRAP(-1);
	users--;
	forget();
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
	TRAP(-1);
	return say(ret, size, fault("driver") ? "535.54.03" : "570.86.15");
}

EXPORT int
nvmlSystemGetCudaDriverVersion_v2(int *ret)
{
	TRAP(-1);
	*ret = 12080;
	return 0;
}

EXPORT int
nvmlDeviceGetCount_v2(unsigned int *ret)
{
	TRAP(-1);
	*ret = (unsigned int)board()->gpus - (unsigned int)fault("missing");
	return 0;
}

EXPORT int
nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **ret)
{
	TRAP((int)index);
	*ret = (void *)(intptr_t)(index + 1);
	return index == BAD && fault("lost") ? LOST : 0;
}

EXPORT int
nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **ret)
{
	unsigned int bus;

	TRAP(-1);
	if (sscanf(pci, "%*x:%x:", &bus) != 1 || bus < 0x18)
		return NOT_SUPPORTED;
	*ret = (void *)(intptr_t)(bus - 0x18 + 1);
	return 0;
}

EXPORT int
nvmlDeviceGetName(void *gpu, char *ret, unsigned int size)
{
	TRAP(index_of(gpu));
	return say(ret, size, bad(gpu, "model") ? "NVIDIA T4" : board()->name);
}

EXPORT int
nvmlDeviceGetSerial(void *gpu, char *ret, unsigned int size)
{
	TRAP(index_of(gpu));
	snprintf(ret, size, "165%04d", index_of(gpu));
	return 0;
}

EXPORT int
nvmlDeviceGetUUID(void *gpu, char *ret, unsigned int size)
{
	TRAP(index_of(gpu));
	snprintf(ret, size, "GPU-%08d", index_of(gpu));
	return 0;
}

EXPORT int
nvmlDeviceGetVbiosVersion(void *gpu, char *ret, unsigned int size)
{
	TRAP(index_of(gpu));
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

	TRAP(index_of(gpu));
	snprintf(info.bus_id, sizeof(info.bus_id), "00000000:%02X:00.0", info.bus);
	memcpy(ret, &info, sizeof(info));
	return 0;
}

EXPORT int
nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long *ret)
{
	TRAP(index_of(gpu));
	ret[0] = (unsigned long long)board()->gib << 30;
	if (bad(gpu, "memory"))
		ret[0] -= 16ull << 30;
	ret[1] = ret[0];
	ret[2] = 0;
	/* Its handle was there, and still is. */
	return bad(gpu, "gone") ? LOST : bad(gpu, "reset") ? RESET_REQUIRED : 0;
}

EXPORT int
nvmlDeviceGetEccMode(void *gpu, int *now, int *next)
{
	TRAP(index_of(gpu));
	*now = *next = !bad(gpu, "ecc-off");
	return 0;
}

/* FAKEGPU=ecc-load: copies on GPU 3 had two. */
EXPORT int
nvmlDeviceGetTotalEccErrors(void *gpu, int type, int counter, unsigned long long *ret)
{
	TRAP(index_of(gpu));
	if (type == 1 && bad(gpu, "ecc-load")) {
		*ret = copies_of_bad() > forgotten ? 2 : 0;
		return 0;
	}
	*ret = type == 1 && counter == 0 && bad(gpu, "ecc") ? 2 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetRemappedRows(void *gpu, unsigned int *corrected, unsigned int *uncorrected,
			  unsigned int *pending, unsigned int *failed)
{
	TRAP(index_of(gpu));
	*corrected = bad(gpu, "remap-many") ? 11 : 0;
	*uncorrected = bad(gpu, "remap-failed") ? 3 : 0;
	*pending = bad(gpu, "remap-pending");
	*failed = bad(gpu, "remap-failed");
	return 0;
}

/* FAKEGPU=bridge: one of three bridges of GPU 3 is up. */
EXPORT int
nvmlDeviceGetNvLinkState(void *gpu, unsigned int link, int *ret)
{
	TRAP(index_of(gpu));
	if (link >= (unsigned int)board()->links)
		return NOT_SUPPORTED;
	*ret = board()->unbridged ? bad(gpu, "bridge") && link < 4
				  : !(bad(gpu, "nvlink") && (link == 4 || link == 17));
	return 0;
}

EXPORT int
nvmlDeviceGetNvLinkErrorCounter(void *gpu, unsigned int link, int counter,
				unsigned long long *ret)
{
	TRAP(index_of(gpu));
	if (link >= (unsigned int)board()->links)
		return NOT_SUPPORTED;
	*ret = bad(gpu, "nvlink-errors") && link == 2 && counter == 2 ? 77 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetGpuFabricInfo(void *gpu, void *ret)
{
	const char *clique = getenv("FAKECLIQUE");
	struct {
		unsigned char uuid[16];
		int status;
		unsigned int clique, state;
	} info = {.uuid = {0xab, 0xcd},
		  .clique = (unsigned int)(clique ? atoi(clique) : 1),
		  .state = (unsigned int)board()->fabric};

	TRAP(index_of(gpu));
	if (board()->fabric == FABRIC_NA)
		return NOT_SUPPORTED;
	if (bad(gpu, "fabric"))
		info.state = 2;
	if (!is_of_rack())
		info.uuid[0] = info.uuid[1] = 0;
	memcpy(ret, &info, sizeof(info));
	return 0;
}

/* FAKEGPU=degraded: of a library that has the second version of the call. */
EXPORT int
nvmlDeviceGetGpuFabricInfoV(void *gpu, void *ret)
{
	struct {
		unsigned int version;
		unsigned char uuid[16];
		int status;
		unsigned int clique;
		unsigned char state;
		unsigned int mask;
	} info;

	TRAP(index_of(gpu));
	memcpy(&info, ret, sizeof(info));
	if (info.version != 0x02000024)
		return NOT_SUPPORTED;
	if (board()->fabric == FABRIC_NA)
		return NOT_SUPPORTED;
	info.mask = bad(gpu, "degraded") ? 0x1a9 : 0x1aa;
	memcpy(ret, &info, sizeof(info));
	return 0;
}

/* The recovery action alone. */
EXPORT int
nvmlDeviceGetFieldValues(void *gpu, int count, void *ret)
{
	struct {
		unsigned int id, scope;
		long long at, took;
		int type, rc;
		unsigned long long value;
	} *field = ret;

	TRAP(index_of(gpu));
	if (count != 1 || field->id != 230)
		return NOT_SUPPORTED;
	field->rc = 0;
	field->value = bad(gpu, "recovery") ? 1 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetSramEccErrorStatus(void *gpu, void *ret)
{
	struct {
		unsigned int version;
		unsigned long long counts[11];
		unsigned int exceeded;
	} *status = ret;

	TRAP(index_of(gpu));
	if (status->version != (1u << 24 | sizeof(*status)))
		return NOT_SUPPORTED;
	status->exceeded = bad(gpu, "sram");
	return 0;
}

EXPORT int
nvmlDeviceGetPersistenceMode(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = !bad(gpu, "persistence");
	return 0;
}

EXPORT int
nvmlDeviceGetCurrentClocksThrottleReasons(void *gpu, unsigned long long *ret)
{
	TRAP(index_of(gpu));
	*ret = bad(gpu, "thermal") ? 0x48 : bad(gpu, "power-cap") ? 0x4 : 0x1;
	return 0;
}

EXPORT int
nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = bad(gpu, "thermal") ? 91 : 35;
	return sensor ? NOT_SUPPORTED : 0;
}

EXPORT int
nvmlDeviceGetPowerManagementLimit(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = bad(gpu, "power-limit") ? 500000 : 700000;
	return 0;
}

EXPORT int
nvmlDeviceGetPowerManagementDefaultLimit(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = gpu ? 700000 : 0;
	return 0;
}

void
slot(unsigned int *ret_gen, unsigned int *ret_width)
{
	const char *asked = getenv("FAKESLOT");

	if (!asked || sscanf(asked, "%ux%u", ret_gen, ret_width) != 2) {
		*ret_gen = (unsigned int)board()->pcie_gen;
		*ret_width = 16;
	}
	if (*ret_gen > (unsigned int)board()->pcie_gen)
		*ret_gen = (unsigned int)board()->pcie_gen;
}

static unsigned int
gen_in_slot(void *gpu)
{
	unsigned int gen, width;

	slot(&gen, &width);
	return bad(gpu, "pcie-slot") ? gen - 1 : gen;
}

static unsigned int
width_in_slot(void)
{
	unsigned int gen, width;

	slot(&gen, &width);
	return width;
}

/* At rest the link of GPU 0 sleeps in the first generation: that is no fault.
 * FAKEGPU=pcie-gen, pcie-width, pcie-quarter: GPU 3 trained to less than its slot can;
 * pcie-slot: that can less than the part. */
EXPORT int
nvmlDeviceGetCurrPcieLinkGeneration(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = index_of(gpu) == 0 && !is_busy(0) ? 1
	       : bad(gpu, "pcie-gen")            ? 3
						 : gen_in_slot(gpu);
	return 0;
}

EXPORT int
nvmlDeviceGetCurrPcieLinkWidth(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = width_in_slot() / (bad(gpu, "pcie-width")     ? 2
				  : bad(gpu, "pcie-quarter") ? 4
							     : 1);
	return 0;
}

EXPORT int
nvmlDeviceGetMaxPcieLinkGeneration(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = gen_in_slot(gpu);
	return 0;
}

EXPORT int
nvmlDeviceGetMaxPcieLinkWidth(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = gpu ? width_in_slot() : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetPcieReplayCounter(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = bad(gpu, "replays") ? 9 : 0;
	return 0;
}

EXPORT int
nvmlDeviceGetMigMode(void *gpu, unsigned int *now, unsigned int *next)
{
	TRAP(index_of(gpu));
	*now = *next = (board()->instances > 0) != bad(gpu, "mig");
	return 0;
}

EXPORT int
nvmlDeviceGetMaxMigDeviceCount(void *gpu, unsigned int *ret)
{
	TRAP(index_of(gpu));
	*ret = 7;
	return 0;
}

EXPORT int
nvmlDeviceGetMigDeviceHandleByIndex(void *gpu, unsigned int index, void **ret)
{
	TRAP(index_of(gpu));
	*ret = gpu;
	return (int)index < board()->instances - bad(gpu, "mig-instance")
		       ? 0
		       : 6; /* not found */
}
