/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: desired against actual, as a step for each node with its consequence. Pure.
 * model/plan.h has its shape. The plan's digest names it. A plan is valid as long as
 * making it again gives the same.
 */
#ifndef BU_PLAN_PLAN_H
#define BU_PLAN_PLAN_H

#include "model/plan.h"
#include "provisioner/plan/input.h"

/* New reference; NULL when an image is missing or not signed by its key. */
json_t *bu_plan_make(const struct bu_plan_input *input, struct bu_err *err);
/* BU_ERR_DENIED: policy forbids the plan as a whole; err has the first violations. */
bu_must int bu_plan_allowed(const struct bu_plan *plan, struct bu_err *err);
/* BU_ERR_STATE: the plan made again differs. err names the difference: revision, nodes
 * or images. Expected minutes may differ. */
bu_must int bu_plan_same(const json_t *plan, const json_t *again, struct bu_err *err);

#endif
