/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of a plan beside its steps: findings, corrections, orders. Pure. */
#ifndef BU_CLI_RENDER_PLANNED_BESIDE_H
#define BU_CLI_RENDER_PLANNED_BESIDE_H

#include <stdio.h>

#include "model/plan.h"

enum { BU_PLANNED_INDENT = 14 };

/* "site.ini:12 mtu: 1500 -> 9000". each_its_own: the node that it is of, where others
 * differ; NULL = they do not. */
void bu_planned_print_change(const struct bu_plan_change *change,
			     const char *each_its_own, FILE *out);
/* Drift, what stays quarantined, what takes effect at once, orders under way. */
void bu_planned_print_beside(const struct bu_plan *plan, FILE *out);

#endif
