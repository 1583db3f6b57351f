/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the rounds inside a rail (stages.c) and across rails (stages_across.c). */
#ifndef BU_FABRIC_STAGES_IMPL_H
#define BU_FABRIC_STAGES_IMPL_H

#include "fabric/stages.h"

/* Ports of a leaf on all rails. */
int bu_order_leaf_size(const struct bu_order *order, int leaf);
/* At least 1. */
int bu_order_spines(const struct bu_order *order);
/* Rounds for which two leaves stay together: the smallest then uses each spine. */
int bu_order_blocks(const struct bu_order *order);
/* Rounds in which each port of a group of n meets d others, or all. */
int bu_stage_group_rounds(int n, int d);
uint64_t bu_stage_mix(uint64_t seed, uint64_t value);

#endif
