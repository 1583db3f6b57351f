/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVIDIA's management library says of the GPUs, read in one go. The library comes
 * from the host by dlopen: a machine without it is a finding, not a crash. Judged
 * elsewhere (gpu.c). ABI: NVML API Reference Guide, docs.nvidia.com/deploy/nvml-api.
 */
#ifndef BU_CHECKS_GPU_NVML_H
#define BU_CHECKS_GPU_NVML_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_NVLINKS_MAX = 36, BU_NVML_UNKNOWN = -1, BU_GPUS_MAX = 64 };

/* As nvmlGpuFabricState_t. */
enum bu_gpu_fabric {
	BU_GPU_FABRIC_NONE = 0, /* this GPU needs no fabric manager */
	BU_GPU_FABRIC_NOT_STARTED = 1,
	BU_GPU_FABRIC_IN_PROGRESS = 2,
	BU_GPU_FABRIC_COMPLETED = 3,
};

#define BU_GPU_SLOWDOWN_UNKNOWN UINT64_MAX

/* Numbers are BU_NVML_UNKNOWN where the GPU or its driver does not tell. */
struct bu_gpu_facts {
	char name[96]; /* "NVIDIA H100 80GB HBM3" */
	char serial[32];
	char uuid[96];
	char vbios[40];
	char pci[32]; /* "0000:18:00.0" */
	int64_t memory_bytes;
	int ecc;                                /* 1 = on */
	int64_t ecc_corrected, ecc_uncorrected; /* since the driver was loaded */
	int64_t ecc_deferred; /* AMD: uncorrected, set aside before they were used */
	int64_t remap_corrected, remap_uncorrected; /* rows, for ever */
	int remap_pending, remap_failed;
	int links;            /* NVLinks that there are; 0 = none */
	uint64_t links_down;  /* bits */
	int64_t link_errors;  /* CRC, replay and recovery, all links */
	int xgmi;             /* AMD: links that are up */
	uint64_t xgmi_down;   /* bits */
	int fabric;           /* enum bu_gpu_fabric */
	int fabric_status;    /* nvmlReturn_t; 0 = success */
	char fabric_uuid[37]; /* NVLink domain; "" = none */
	unsigned int fabric_clique;
	/* Of newer libraries; 0 = not told. NVML_GPU_FABRIC_HEALTH_MASK_*, _SUMMARY_*
	 */
	unsigned int fabric_mask, fabric_summary;
	int recovery;      /* nvmlDeviceGpuRecoveryAction_t; 0 = none */
	int sram_exceeded; /* more errors of SRAM than NVIDIA lets a GPU have */
	int persistence;   /* 1 = on */
	uint64_t slowdown; /* nvmlClocksEventReason* bits; 0 = none, or UNKNOWN */
	int temperature_c;
	int64_t power_limit_mw, power_default_mw;
	/* Now, and what GPU and slot can do together. */
	int pcie_gen, pcie_gen_max, pcie_width, pcie_width_max;
	int pcie_gen_busy; /* while data moved over the link; 0 or UNKNOWN = not seen */
	int64_t pcie_replays;
	/* AMD: devices that the driver makes of it, 0 = not told, and the modes by
	 * which it does: "CPX", "NPS4"; "" = not told. */
	int parts;
	char compute_partition[8], memory_partition[8];
	int mig;           /* 1 = on */
	int instances;     /* of MIG, that can be used */
	char trouble[160]; /* "lost: GPU is lost": it does not answer; "" = it does */
	int needs_reset;   /* and says that a reset is what it needs */
};

struct bu_nvml_facts {
	char driver[80];
	int cuda; /* 12040 = 12.4; the driver's */
	size_t count;
	struct bu_gpu_facts *gpus;
};

/* Whom the library is asked about next; -1 = the library itself. A driver may never
 * answer: what watches can say which GPU it was. */
struct bu_gpu_asking {
	void (*fn)(int gpu, void *arg);
	void *arg;
};

/* The PCIe link of a GPU now, and at most in its slot; BU_NVML_UNKNOWN as above. */
struct bu_gpu_link {
	int gen, gen_max, width, width_max;
};

/* For questions while something else goes on; NULL with the errors of bu_nvml_read().
 * pci: "0000:18:00.0". */
struct bu_nvml;
struct bu_nvml *bu_nvml_open(const char *library, struct bu_err *err);
void bu_nvml_link(const struct bu_nvml *nvml, const char *pci, struct bu_gpu_link *ret);
/* GPUs whose registration with the fabric manager has not begun or not ended; asking
 * may be NULL. */
size_t bu_nvml_registering(const struct bu_nvml *nvml,
			   const struct bu_gpu_asking *asking);
void bu_nvml_close(struct bu_nvml *nvml); /* NULL is allowed */

/* library NULL = "libnvidia-ml.so.1"; asking may be NULL. BU_ERR_NOTFOUND when it
 * cannot be loaded, BU_ERR_VERIFY when it lacks a function that every version has,
 * BU_ERR_REMOTE with the library's words when it finds no driver. */
bu_must int bu_nvml_read(const char *library, const struct bu_gpu_asking *asking,
			 struct bu_nvml_facts *ret, struct bu_err *err);
void bu_nvml_facts_fini(struct bu_nvml_facts *facts);

#endif
