/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What AMD's management library says of the GPUs, in the shape of NVML's facts. The
 * library comes from the host by dlopen: a machine without it is a finding, not a
 * crash. Judged elsewhere (gpu.c). ABI: AMD SMI, amdsmi.h of ROCm 6.4 and 7,
 * rocm.docs.amd.com/projects/amdsmi. Its structs differ from release to release, so a
 * library of any other version is refused by its number.
 */
#ifndef BU_CHECKS_GPU_AMDSMI_H
#define BU_CHECKS_GPU_AMDSMI_H

#include "checks/gpu/nvml.h"

/* library NULL = "libamd_smi.so.26", .25, whichever there is; asking may be NULL.
 * BU_ERR_NOTFOUND when it cannot be loaded, BU_ERR_VERIFY when it lacks a function or
 * its version is not known here, BU_ERR_REMOTE with the library's words when it finds
 * no driver. bu_nvml_facts_fini() releases what it read. */
bu_must int bu_amdsmi_read(const char *library, const struct bu_gpu_asking *asking,
			   struct bu_nvml_facts *ret, struct bu_err *err);

#endif
