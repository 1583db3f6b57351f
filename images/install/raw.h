/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody else's whole disk as it is: its frames from the first byte of the disk on,
 * its partition table moved to the disk's end. */
#ifndef BU_IMAGES_INSTALL_RAW_H
#define BU_IMAGES_INSTALL_RAW_H

#include "base/err.h"
#include "images/install/disk.h"
#include "images/install/gpt.h"
#include "images/install/install.h"
#include "images/manifest.h"
#include "images/whole.h"

struct bu_raw {
	struct bu_whole whole; /* as it will be on the disk */
	uint8_t *front;        /* the first frame, verified; it is written last */
	size_t front_bytes;
	uint64_t seed_begin;
};

/* What there is to check before the first write: the table of the image, and whether it
 * fits to the disk. Fetches the first frame. Fills the layout. */
bu_must int bu_raw_check(const struct bu_install_opts *opts,
			 const struct bu_install_hooks *hooks,
			 const struct bu_manifest *manifest, const struct bu_disk *disk,
			 struct bu_raw *ret, struct bu_err *err);
/* Where the frames go but the first one. */
void bu_raw_layout(const struct bu_manifest *manifest, const struct bu_disk *disk,
		   struct bu_layout *ret);
/* With all other frames on the disk: cloud-init's files, both tables, the first frame;
 * the mark says "finished" where the image leaves room for it, else it goes. */
bu_must int bu_raw_finish(const struct bu_install_opts *opts, struct bu_raw *raw,
			  const struct bu_disk *disk, struct bu_err *err);
void bu_raw_fini(struct bu_raw *raw);

#endif
