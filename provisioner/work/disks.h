/* SPDX-License-Identifier: Apache-2.0 */
/* The disks of an item of work that installs. */
#ifndef BU_WORK_DISKS_H
#define BU_WORK_DISKS_H

#include "model/work.h"
#include "provisioner/work/work.h"

/* What its profile and its order say of the disks; seen is of the first, and must live
 * as long as the item. BU_ERR_STATE when they are not what was granted. */
bu_must int bu_work_set_disks(struct bu_work_install *work,
			      const struct bu_work_input *input,
			      const struct bu_node *node,
			      const struct bu_target *target, struct bu_seen_disk *seen,
			      struct bu_err *err);
/* The number (bu_disk_number()) of all that the step may write, for its mark. New
 * reference. */
json_t *bu_work_written_disks(const struct bu_work_install *work);

#endif
