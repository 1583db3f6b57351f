/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU models and how they can be divided (MIG). Source of all rows: NVIDIA
 * Multi-Instance GPU User Guide, "Supported GPUs" and "Supported MIG Profiles",
 * https://docs.nvidia.com/datacenter/tesla/mig-user-guide/ . Models without MIG are
 * absent from that list; of some with MIG no row is here yet.
 */
#ifndef BU_PROFILES_LOAD_GPU_H
#define BU_PROFILES_LOAD_GPU_H

#include "base/err.h"

#define BU_GPU_MODELS                                                                  \
	"a10|a30|a100-40gb|a100-80gb|a100-40gb-pcie|a100-80gb-pcie|h100-80gb|"         \
	"h100-80gb-pcie|h100-nvl|h200-141gb|h200-nvl|h20-96gb|h20-141gb|b200-180gb|"   \
	"b300|gb200|gb300|l4|l40s|rtx-pro-6000|mi210|mi300x|mi325x|mi350x"

/* text: "1g.10gb*7", or "0-3:3g.40gb*2,4-7:7g.80gb" by GPU; its form has been checked.
 * model and gpus may be unknown (NULL, 0): then what depends on them is not checked.
 * BU_ERR_INVAL "what is wrong; what is allowed". */
bu_must int bu_gpu_mig_check(const char *text, const char *model, int gpus,
			     struct bu_err *err);
/* 1 when it divides each of so many GPUs; its form has been checked. */
int bu_gpu_mig_is_whole(const char *text, int gpus);
/* Instances of each GPU, and the share of its memory that each has, when all of all
 * GPUs are alike; 0 when not. */
int bu_gpu_mig_alike(const char *text, const char *model, double *ret_share);
/* 1 when the text has the form of a MIG layout. */
int bu_gpu_mig_form_ok(const char *text);

#endif
