/* SPDX-License-Identifier: Apache-2.0 */
/* An ordered installation as the installer takes it. */
#ifndef BU_AGENT_ORDERED_H
#define BU_AGENT_ORDERED_H

#include "images/install/install.h"
#include "model/work.h"

struct bu_ordered {
	struct bu_install_opts opts; /* of the others here, and of the item */
	struct bu_install_data data[BU_WORK_DATA_MAX];
	struct bu_install_member scratch[BU_WORK_SCRATCH_MAX];
};

/* All but the files. Must not be moved; lives as long as the item. */
void bu_ordered_fill(const struct bu_work_install *work, struct bu_ordered *ret);

#endif
