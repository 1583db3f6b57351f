/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system that runs from memory: the image's part "root" as it is, read-only, in a
 * file in memory, under an overlay that takes what is written. No disk is opened.
 */
#ifndef BU_IMAGES_INSTALL_RAM_H
#define BU_IMAGES_INSTALL_RAM_H

#include "base/err.h"
#include "images/install/install.h"
#include "images/manifest.h"

struct bu_ram_place {
	const char *dir;       /* "/ram"; the new root is its folder "root" */
	const char *kernel;    /* that runs: "6.1.0-28-amd64" */
	uint64_t memory_bytes; /* that is free */
};
/* Of this machine; kernel points into release, which has 65 bytes. What a load that was
 * broken off left mounted there goes first. */
bu_must int bu_ram_place(const char *dir, char *release, struct bu_ram_place *ret,
			 struct bu_err *err);

/* What the part takes once it is unpacked; 0 = the image has none. */
uint64_t bu_ram_bytes(const struct bu_manifest *manifest);

/*
 * Of the options count what says where the image is and by whom it is signed, the
 * files, the stamp, threads and patience; with root_dir nothing is mounted, and files
 * go there. Nothing was fetched but the manifest when it fails with BU_ERR_STATE (too
 * little memory, another kernel, no part of a system) or with VERIFY about the
 * manifest. Whatever fails, nothing stays mounted.
 */
bu_must int bu_ram_load(const struct bu_install_opts *opts,
			const struct bu_install_hooks *hooks,
			const struct bu_ram_place *place, struct bu_err *err);

#endif
