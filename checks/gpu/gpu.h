/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of the GPUs, group "gpu": what NVML tells and what CUDA's copies reach,
 * against what is expected. Of AMD's GPUs AMD SMI tells; they are not measured.
 *
 * expect:
 * {"vendor"?:"AMD","count","names":[],"memory_bytes","nvlinks","xgmi_links","fabric":bool,"driver","vbios":[],
 *  "mig":bool,"mig_instances","compute_partition":"SPX","memory_partition":"NPS1","pcie_gen","pcie_width","measure":bool,"pcie_gbs","d2h_gbs",
 *  "p2p_gbs","p2p_all_gbs","p2p_limit_gbs","hbm_gbs"}; what is absent is not judged.
 * Rates are the least that pass, in GB/s: p2p_all_gbs of a GPU to all others at once;
 * the limit is the most that a GPU's links can carry. With
 * `measure` rates are measured where nothing is expected of them, too: the gate
 * compares them with those of machines like this one.
 */
#ifndef BU_CHECKS_GPU_GPU_H
#define BU_CHECKS_GPU_GPU_H

#include <jansson.h>

#include "checks/checks.h"
#include "checks/gpu/amdsmi.h"
#include "checks/gpu/gpu_copy.h"
#include "checks/gpu/nvml.h"

/* A row of the table, for documents and tests. */
struct bu_gpu_row {
	const char *id, *what, *hint;
};
const struct bu_gpu_row *bu_gpu_rows(size_t *ret_count);

/* Adds a row for each thing that was judged, good ones too. Pure. */
void bu_gpu_judge(const struct bu_nvml_facts *facts, const json_t *expect,
		  struct bu_checks *ret);

struct bu_gpu_opts {
	const char *nvml, *cuda; /* libraries; NULL = the host's */
	const json_t *expect;    /* NULL: nothing is expected, and nothing is done */
	size_t copy_bytes;       /* 0 = as bu_gpu_copy_run() */
	const struct bu_checks_ctx *ctx; /* what watches; NULL = nothing */
	const char *amd;                 /* library, as the first two */
	/* Lets time go by while the fabric manager registers GPUs; NULL: one that is
	 * not registered is a finding at once. */
	void (*pause)(int64_t ms);
};
/* 1: these GPUs are AMD's. Where no model is expected, the kernel's list says it. */
int bu_gpu_is_amd(const json_t *expect, const char *root);
/* What the library of these GPUs tells, and the watcher is told which GPU is asked.
 * rows may be NULL. Errors as bu_nvml_read() and bu_amdsmi_read(). */
bu_must int bu_gpu_read(const struct bu_gpu_opts *opts, const struct bu_checks *rows,
			struct bu_nvml_facts *ret, struct bu_err *err);
/* Reads, measures, judges. Libraries that are absent or broken are rows. */
void bu_gpu_check(const struct bu_gpu_opts *opts, struct bu_checks *ret);
/* For what asks a GPU: tells the watcher before each question. */
struct bu_gpu_steps {
	const struct bu_checks_ctx *ctx;
	const struct bu_checks *rows; /* told so far; NULL = a thread's */
	int slot;
	const char *library; /* "NVML" */
	int vendor;          /* whose list names them */
	struct bu_gpu_asking asking;
};
void bu_gpu_steps_init(struct bu_gpu_steps *steps, const struct bu_checks_ctx *ctx,
		       const struct bu_checks *rows, int slot, const char *library);
/* The group `gpu`: what expect.gpu says; nothing when it says nothing. */
bu_must int bu_gpu_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
		       struct bu_err *err);

#endif
