/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the GPUs of a model must be (data/gpus.json), made into the expectation that the
 * agent's GPU checks judge by.
 *
 * {"format":1,"gpus":[{"vendor"?:"AMD","model","board","gpus"?,"names":[],
 *  "memory_bytes","nvlinks"?,"xgmi_links"?,"link_gbs"?,"fabric","pcie_gen"?,"pcie_width"?,"host","p2p","hbm","mark","source","date"}]}
 * A row is for a part on its board: of one model with several rows, that with as many
 * GPUs as the machine counts, else the one without `gpus`. host ("pcie gen5-x16", "c2c
 * grace"), p2p and hbm name rows of data/rates.json; "unknown" where no figure was
 * published: then it is measured, and compared with those of machines like it. AMD's
 * are looked at and not measured.
 */
#ifndef BU_FABRIC_JUDGE_GPUS_H
#define BU_FABRIC_JUDGE_GPUS_H

#include <jansson.h>

#include "fabric/judge/rates.h"

/* Lints: each row whole, with a source, and naming rates that there are. */
bu_must int bu_gpus_check(const json_t *gpus, const struct bu_rates *rates,
			  struct bu_err *err);
/* The expectation of checks/gpu/gpu.h for `count` GPUs of this model; model NULL:
 * only their number. New reference. BU_ERR_NOTFOUND when the model has no row. */
json_t *bu_gpus_expect(const json_t *gpus, const struct bu_rates *rates,
		       const char *model, int count, struct bu_err *err);

/* Of a machine whose GPUs are divided (MIG): instances of each GPU and the share of its
 * memory that one has, where all are alike; 0 where they are not. */
void bu_gpus_divide(json_t *expect, int instances, double memory_share);

#endif
