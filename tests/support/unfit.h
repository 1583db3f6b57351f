/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a node out of a test of several nodes, case by case. */
#ifndef BU_TESTS_SUPPORT_UNFIT_H
#define BU_TESTS_SUPPORT_UNFIT_H

#include "provisioner/gate/terms/state.h"
#include "tests/support/rig.h"

/* A test may have more of them, from UNFIT_CASES on. */
enum unfit {
	UNFIT_NOT,
	UNFIT_STATE,
	UNFIT_HELD,
	UNFIT_UNHEARD,
	UNFIT_BUSY,
	UNFIT_BOOT,
	UNFIT_CASES
};

static inline void
make_unfit(struct rig *rig, struct bu_node *node, int one)
{
	if (one == UNFIT_STATE)
		node->state = BU_STATE_JOINING;
	if (one == UNFIT_HELD)
		bu_node_hold(node)->owner = BU_OWNER_PERSON;
	if (one == UNFIT_UNHEARD)
		node->live.last_seen_ms -= 90000;
	if (one == UNFIT_BUSY)
		json_object_set_new(rig->gate->busy, node->name, json_integer(0));
	if (one == UNFIT_BOOT) {
		bu_node_set_boot_id(node, "another");
		node->checks.is.boot_id = node->boot_id;
	}
}

#endif
