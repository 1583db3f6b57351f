/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes data on GPU models (data/gpus.json) into the expectation by which the agent's
 * GPU checks judge.
 *
 * {"format":1,"gpus":[{"vendor"?:"AMD","model","board","gpus"?,"names":[],
 *  "memory_bytes","nvlinks"?,"xgmi_links"?,"link_gbs"?,"fabric","pcie_gen"?,
 *  "pcie_width"?,"host","p2p","hbm","mark","source","date"}]}
 * Of several rows of a model, the one whose `gpus` is the machine's number of GPUs is
 * taken, else the one without `gpus`. host ("pcie gen5-x16", "c2c grace"), p2p and hbm
 * name rows of data/rates.json; "unknown" = no figure was published, and the rate is
 * only compared with those of similar machines (cohort.h). AMD GPUs are not measured.
 */
#ifndef BU_FABRIC_JUDGE_GPUS_H
#define BU_FABRIC_JUDGE_GPUS_H

#include <jansson.h>

#include "fabric/judge/rates.h"

/* Lints: each row is complete, has a source, and names only existing rates. */
bu_must int bu_gpus_check(const json_t *gpus, const struct bu_rates *rates,
			  struct bu_err *err);
/* The expectation of checks/gpu/gpu.h for `count` GPUs of this model, a new reference;
 * model NULL: only their number. BU_ERR_NOTFOUND: the model has no row. */
json_t *bu_gpus_expect(const json_t *gpus, const struct bu_rates *rates,
		       const char *model, int count, struct bu_err *err);

/* Changes the expectation to that of divided GPUs (MIG). instances: of each GPU;
 * memory_share: the share of its memory that each has; both 0 where these differ. */
void bu_gpus_divide(json_t *expect, int instances, double memory_share);

#endif
