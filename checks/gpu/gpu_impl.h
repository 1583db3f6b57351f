/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by gpu.c and gpu_rows.c. */
#ifndef BU_CHECKS_GPU_GPU_IMPL_H
#define BU_CHECKS_GPU_GPU_IMPL_H

#include "checks/gpu/gpu.h"

enum { BU_GPU_NOT_JUDGED = -1 };

struct bu_gpu_case {
	const struct bu_gpu_facts *gpu;
	const struct bu_nvml_facts *all;
	const json_t *expect;
	struct bu_check *row; /* gets what was seen and what was expected */
};

/* enum bu_verdict, or BU_GPU_NOT_JUDGED. */
int bu_gpu_row_judge(size_t row, struct bu_gpu_case *c);

#endif
