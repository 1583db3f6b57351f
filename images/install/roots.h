/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk with two roots: a reimage writes the one that is not confirmed, and the loader
 * tries it once (chooser.h). The other one, the table, data and the boot partition's
 * file system are not written. In front of each slot is the mark of its install, as
 * that of a disk (install.h).
 */
#ifndef BU_IMAGES_INSTALL_ROOTS_H
#define BU_IMAGES_INSTALL_ROOTS_H

#include "base/err.h"
#include "images/install/chooser.h"
#include "images/install/disk.h"
#include "images/install/gpt.h"
#include "images/install/install.h"

struct bu_roots {
	int keeps; /* there are two, and one of them stays */
	int slot;  /* the one that is written */
	int reused;
	struct bu_chooser was;
	struct bu_layout part; /* of the slot alone: where the image's parts go */
	uint64_t mark_at;
};

/* Before the disk is opened: what it starts now, if it has two roots that are to stay.
 * BU_ERR_STATE when it has, and which is confirmed cannot be told; BU_ERR_IO when the
 * disk cannot be read. */
bu_must int bu_roots_look(const struct bu_install_opts *opts, struct bu_roots *ret,
			  struct bu_err *err);
/* With the disk open: chooses the slot. Nothing is written. BU_ERR_STATE when what
 * stays is not where the layout has it, or was not seen before. */
bu_must int bu_roots_choose(const struct bu_install_opts *opts,
			    const struct bu_disk *disk, const struct bu_layout *layout,
			    struct bu_roots *roots, struct bu_err *err);
/* Of a disk that is written whole: no mark of before is left, and the boot partition is
 * a copy of the slot's system partition. */
bu_must int bu_roots_copy(const struct bu_disk *disk,
			  const struct bu_manifest *manifest,
			  const struct bu_layout *layout, const struct bu_roots *roots,
			  struct bu_err *err);
/* From now on the loader starts the confirmed root alone; closed disk. */
bu_must int bu_roots_disarm(const struct bu_install_opts *opts,
			    const struct bu_roots *roots, struct bu_err *err);
/* The node's files and kernel arguments; closed disk. */
bu_must int bu_roots_fill(const struct bu_install_opts *opts,
			  const struct bu_manifest *manifest,
			  const struct bu_layout *layout, const struct bu_roots *roots,
			  struct bu_err *err);
/* It is whole, and the loader will try it; the disk is open before and closed after. */
bu_must int bu_roots_arm(const struct bu_install_opts *opts,
			 const struct bu_roots *roots, struct bu_err *err);

#endif
