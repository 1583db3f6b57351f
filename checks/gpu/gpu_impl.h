/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by gpu.c, gpu_rows.c and gpu_pcie.c. */
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

/* gpu_pcie.c. The links of GPUs while data moves over them, as NVML tells. */
struct bu_gpu_links {
	struct bu_nvml *nvml; /* NULL = it cannot be asked; to be closed */
	int wired;            /* lanes of the slots, by the profile; 0 = it is silent */
	size_t count;
	struct {
		char pci[32];
		struct bu_gpu_link link;
	} list[BU_GPUS_MAX];
};
/* A slot may be wired with fewer lanes than its port claims: thresholds of ctx, which
 * may be NULL. */
int bu_gpu_wired_lanes(const struct bu_checks_ctx *ctx);
/* As `busy` of struct bu_gpu_copy_opts; arg is a struct bu_gpu_links. */
void bu_gpu_links_look(const char *pci, void *arg);
/* NULL = it was not seen. */
const struct bu_gpu_link *bu_gpu_links_find(const struct bu_gpu_links *links,
					    const char *pci);
/* How much of the part's figure the slot must carry; 1 = all of it. link may be NULL.
 */
double bu_gpu_link_share(const struct bu_gpu_link *link, const json_t *expect);
/* What was seen while data moved, and what the profile says of the slot. */
void bu_gpu_pcie_learn(struct bu_gpu_facts *gpu, const struct bu_gpu_links *links);
/* As bu_gpu_row_judge(). */
int bu_gpu_pcie_judge(struct bu_gpu_case *c);

/* gpu_health.c. As bu_gpu_row_judge(). */
int bu_gpu_fabric_judge(struct bu_gpu_case *c);
int bu_gpu_recovery_judge(struct bu_gpu_case *c);
int bu_gpu_sram_judge(struct bu_gpu_case *c);
int bu_gpu_persistence_judge(struct bu_gpu_case *c);

#endif
