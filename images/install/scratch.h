/* SPDX-License-Identifier: Apache-2.0 */
/* The array of the disks besides the system's: RAID0 of one partition on each. */
#ifndef BU_IMAGES_INSTALL_SCRATCH_H
#define BU_IMAGES_INSTALL_SCRATCH_H

#include "images/install/disk.h"
#include "images/install/gpt.h"

/* The name of the partitions, by which an installed system finds them. */
#define BU_SCRATCH_LABEL "bringup-scratch"

struct bu_scratch {
	size_t count; /* of the disks that are open */
	struct bu_disk disks[BU_INSTALL_SCRATCH_MAX];
	int keep; /* they have the array already */
};

/* Opens the disks and decides; writes nothing. BU_ERR_STATE names a disk that has
 * something else on it, BU_ERR_BUSY one that is in use, BU_ERR_INVAL one that is the
 * system's or there twice. Ends with bu_scratch_close(), also after a failure. */
bu_must int bu_scratch_check(const struct bu_install_opts *opts, struct bu_scratch *ret,
			     struct bu_err *err);
/* Makes the array where it is not kept, its first and last MiB zeros: who mounts it
 * first makes the file system. Closes the disks. */
bu_must int bu_scratch_make(const struct bu_install_opts *opts,
			    struct bu_scratch *scratch, struct bu_err *err);
void bu_scratch_close(struct bu_scratch *scratch);

#endif
