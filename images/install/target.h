/* SPDX-License-Identifier: Apache-2.0 */
/* The new root file system: mounted, grown, and the node's own files in it. */
#ifndef BU_IMAGES_INSTALL_TARGET_H
#define BU_IMAGES_INSTALL_TARGET_H

#include "base/err.h"
#include "images/install/gpt.h"
#include "images/install/install.h"

/* Grows the part "root" to its partition, or to the array of both disks, which is made
 * for that, writes files and stamp, unmounts, syncs; then the kernel's arguments into
 * the part "esp" of each disk. The disks must not be open exclusively. */
bu_must int bu_target_fill(const struct bu_install_opts *opts,
			   const struct bu_manifest *manifest,
			   const struct bu_layout *layout, struct bu_err *err);

/* What the system that was there kept in /var/lib/bringup goes: it is another one. */
bu_must int bu_target_forget(int root_fd, struct bu_err *err);
/* The options' files, the agent's and the stamp into this root, through no symbolic
 * link; synced. */
bu_must int bu_target_write(const struct bu_install_opts *opts, int root_fd,
			    struct bu_err *err);

/* The kernel knows the partitions of this layout from now on. */
bu_must int bu_target_add(const char *disk, const struct bu_layout *layout,
			  struct bu_err *err);
/* A root of its own: grown to this partition, filled; device NULL: below root_dir. */
bu_must int bu_target_root(const struct bu_install_opts *opts,
			   const struct bu_part *part, const char *device,
			   struct bu_err *err);

#endif
