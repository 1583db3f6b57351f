/* SPDX-License-Identifier: Apache-2.0 */
/* How AMD's GPUs are divided: compute partitions (SPX, DPX, TPX, QPX, CPX) and memory
 * partitions (NPS1, ...), as the driver tells them of each GPU. */
#ifndef BU_CHECKS_GPU_PARTITION_H
#define BU_CHECKS_GPU_PARTITION_H

#include <jansson.h>

#include "checks/gpu/nvml.h"
#include "model/check.h"

/* Adds to facts what sysfs below root tells: the modes, and the memory of the whole GPU
 * where AMD SMI tells that of a part. */
void bu_gpu_partition_learn(const char *root, struct bu_nvml_facts *facts);
/* One word for all GPUs of the machine: fills seen, expected and hint of row. enum
 * bu_verdict, or -1 = there is nothing to judge. Pure. */
int bu_gpu_partition_judge(const struct bu_nvml_facts *facts, const json_t *expect,
			   struct bu_check *row);

#endif
