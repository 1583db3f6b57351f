/* SPDX-License-Identifier: Apache-2.0 */
/* The root of a system that is mirrored on two disks: a RAID1 of one partition each. */
#ifndef BU_IMAGES_INSTALL_MIRROR_H
#define BU_IMAGES_INSTALL_MIRROR_H

#include "images/install/install.h"

/* Both have the same frames in the part with this number, from 0 on: now they are an
 * array, in step, which is up until bu_mirror_end(). Neither disk is open exclusively.
 */
bu_must int bu_mirror_begin(const struct bu_install_opts *opts, size_t which,
			    struct bu_err *err);
/* Takes it down; BU_ERR_IO unless both are in it. */
bu_must int bu_mirror_end(const struct bu_install_opts *opts, size_t which,
			  struct bu_err *err);

#endif
