/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's structs and functions, as nvml.c asks them. ABI: NVML API Reference Guide. */
#ifndef BU_CHECKS_GPU_NVML_IMPL_H
#define BU_CHECKS_GPU_NVML_IMPL_H

#include "checks/gpu/nvml.h"

struct pci_info { /* nvmlPciInfo_t */
	char bus_id_legacy[16];
	unsigned int domain, bus, device, device_id, subsystem_id;
	char bus_id[32];
};

struct memory_info { /* nvmlMemory_t */
	unsigned long long total, free, used;
};

struct fabric_info { /* nvmlGpuFabricInfo_t */
	unsigned char cluster_uuid[16];
	int status;
	unsigned int clique;
	unsigned int state;
};

/* nvmlGpuFabricInfo_v3_t; version 2 ends before the summary */
struct fabric_health {
	unsigned int version;
	unsigned char cluster_uuid[16];
	int status;
	unsigned int clique;
	unsigned char state;
	unsigned int mask;
	unsigned char summary, gap[3];
};

struct field { /* nvmlFieldValue_t */
	unsigned int id, scope;
	long long at, took;
	int type, rc;
	union {
		unsigned int number;
		unsigned long long room;
	} value;
};

struct sram_status { /* nvmlEccSramErrorStatus_t */
	unsigned int version;
	unsigned long long counts[11];
	unsigned int exceeded;
};

_Static_assert(sizeof(struct fabric_health) == 0x28, "nvmlGpuFabricInfo_v3_t");
_Static_assert(sizeof(struct field) == 40, "nvmlFieldValue_t");
_Static_assert(sizeof(struct sram_status) == 104, "nvmlEccSramErrorStatus_t");

/* The library's functions: member, symbol, signature, whether every version has it. */
#define GPU void *
#define FUNCTIONS(X)                                                                   \
	X(init, "nvmlInit_v2", (void), 1)                                              \
	X(shutdown, "nvmlShutdown", (void), 1)                                         \
	X(driver, "nvmlSystemGetDriverVersion", (char *, unsigned int), 1)             \
	X(cuda, "nvmlSystemGetCudaDriverVersion_v2", (int *), 0)                       \
	X(count, "nvmlDeviceGetCount_v2", (unsigned int *), 1)                         \
	X(by_index, "nvmlDeviceGetHandleByIndex_v2", (unsigned int, GPU *), 1)         \
	X(by_pci, "nvmlDeviceGetHandleByPciBusId_v2", (const char *, GPU *), 0)        \
	X(name, "nvmlDeviceGetName", (GPU, char *, unsigned int), 1)                   \
	X(serial, "nvmlDeviceGetSerial", (GPU, char *, unsigned int), 0)               \
	X(uuid, "nvmlDeviceGetUUID", (GPU, char *, unsigned int), 1)                   \
	X(vbios, "nvmlDeviceGetVbiosVersion", (GPU, char *, unsigned int), 0)          \
	X(pci, "nvmlDeviceGetPciInfo_v3", (GPU, struct pci_info *), 1)                 \
	X(memory, "nvmlDeviceGetMemoryInfo", (GPU, struct memory_info *), 1)           \
	X(ecc_mode, "nvmlDeviceGetEccMode", (GPU, int *, int *), 0)                    \
	X(ecc_total, "nvmlDeviceGetTotalEccErrors",                                    \
	  (GPU, int, int, unsigned long long *), 0)                                    \
	X(remapped, "nvmlDeviceGetRemappedRows",                                       \
	  (GPU, unsigned int *, unsigned int *, unsigned int *, unsigned int *), 0)    \
	X(link_state, "nvmlDeviceGetNvLinkState", (GPU, unsigned int, int *), 0)       \
	X(link_errors, "nvmlDeviceGetNvLinkErrorCounter",                              \
	  (GPU, unsigned int, int, unsigned long long *), 0)                           \
	X(fabric, "nvmlDeviceGetGpuFabricInfo", (GPU, struct fabric_info *), 0)        \
	X(fabric_health, "nvmlDeviceGetGpuFabricInfoV", (GPU, struct fabric_health *), \
	  0)                                                                           \
	X(fields, "nvmlDeviceGetFieldValues", (GPU, int, struct field *), 0)           \
	X(sram, "nvmlDeviceGetSramEccErrorStatus", (GPU, struct sram_status *), 0)     \
	X(persistence, "nvmlDeviceGetPersistenceMode", (GPU, unsigned int *), 0)       \
	X(slowdown, "nvmlDeviceGetCurrentClocksThrottleReasons",                       \
	  (GPU, unsigned long long *), 0)                                              \
	X(temperature, "nvmlDeviceGetTemperature", (GPU, int, unsigned int *), 0)      \
	X(power_limit, "nvmlDeviceGetPowerManagementLimit", (GPU, unsigned int *), 0)  \
	X(power_default, "nvmlDeviceGetPowerManagementDefaultLimit",                   \
	  (GPU, unsigned int *), 0)                                                    \
	X(pcie_gen, "nvmlDeviceGetCurrPcieLinkGeneration", (GPU, unsigned int *), 0)   \
	X(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth", (GPU, unsigned int *), 0)      \
	X(pcie_gen_max, "nvmlDeviceGetMaxPcieLinkGeneration", (GPU, unsigned int *),   \
	  0)                                                                           \
	X(pcie_width_max, "nvmlDeviceGetMaxPcieLinkWidth", (GPU, unsigned int *), 0)   \
	X(replays, "nvmlDeviceGetPcieReplayCounter", (GPU, unsigned int *), 0)         \
	X(mig, "nvmlDeviceGetMigMode", (GPU, unsigned int *, unsigned int *), 0)       \
	X(instances, "nvmlDeviceGetMaxMigDeviceCount", (GPU, unsigned int *), 0)       \
	X(instance, "nvmlDeviceGetMigDeviceHandleByIndex", (GPU, unsigned int, GPU *), \
	  0)

struct bu_nvml {
	void *handle;
	const char *(*error_text)(int);
#define X(member, symbol, args, required) int(*member) args;
	FUNCTIONS(X)
#undef X
};

#endif
