/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the GPUs of a model must be (data/gpus.json), made into the expectation that the
 * agent's GPU checks judge by.
 *
 * {"format":1,"gpus":[{"model","names":[],"memory_bytes","nvlinks"?,"fabric","pcie",
 *  "pcie_gen","pcie_width","p2p"?,"hbm"?,"mark","source","date"}]}; pcie, p2p and hbm
 * name rows of data/rates.json.
 */
#ifndef BU_FABRIC_JUDGE_GPUS_H
#define BU_FABRIC_JUDGE_GPUS_H

#include <jansson.h>

#include "fabric/judge/rates.h"

/* Lints: each row whole, with a source, and naming rates that there are. */
int bu_gpus_check(const json_t *gpus, const struct bu_rates *rates, struct bu_err *err);
/* The expectation of checks/gpu/gpu.h for `count` GPUs of this model; model NULL:
 * only their number. New reference. BU_ERR_NOTFOUND when the model has no row. */
json_t *bu_gpus_expect(const json_t *gpus, const struct bu_rates *rates,
		       const char *model, int count, struct bu_err *err);

#endif
