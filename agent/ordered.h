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
	struct bu_install_file seed[BU_SEED_FILES_MAX];
};

/* All but the files. Must not be moved; lives as long as the item. */
void bu_ordered_fill(const struct bu_work_install *work, struct bu_ordered *ret);
/* The files: into the new root, or, by their last names and with the stamp, beside a
 * whole disk. BU_ERR_INVAL when there are too many. */
bu_must int bu_ordered_files(struct bu_ordered *ordered,
			     const struct bu_install_file *files, size_t count,
			     struct bu_err *err);

#endif
