/* SPDX-License-Identifier: Apache-2.0 */
/* The disks in work that installs. */
#ifndef BU_WORK_DISKS_H
#define BU_WORK_DISKS_H

#include "model/work.h"
#include "provisioner/work/work.h"

/* Sets the disks by profile and order. seen: the first disk; must live as long as the
 * work. BU_ERR_STATE: the disks are not those that were granted. */
bu_must int bu_work_set_disks(struct bu_work_install *work,
			      const struct bu_work_input *input,
			      const struct bu_node *node,
			      const struct bu_target *target, struct bu_seen_disk *seen,
			      struct bu_err *err);
/* The numbers (bu_disk_number()) of all disks that the step may write, for its mark.
 * New reference. */
json_t *bu_work_written_disks(const struct bu_work_install *work);

#endif
