/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches, verifies and writes the frames of all parts, by several threads. */
#ifndef BU_IMAGES_INSTALL_PART_WRITER_H
#define BU_IMAGES_INSTALL_PART_WRITER_H

#include "base/err.h"
#include "base/http.h"
#include "images/install/disk.h"
#include "images/install/gpt.h"
#include "images/install/install.h"
#include "images/manifest.h"

/* To the disk and its mirror. */
bu_must int bu_part_writer_write(const struct bu_install_opts *opts,
				 const struct bu_install_hooks *hooks,
				 const struct bu_manifest *manifest,
				 const struct bu_layout *layout,
				 const struct bu_disk *disk, struct bu_err *err);

/* The first frame of the first part, verified and unpacked; owned. Nothing is written.
 */
uint8_t *bu_part_writer_first(const struct bu_install_opts *opts,
			      const struct bu_install_hooks *hooks,
			      const struct bu_manifest *manifest, struct bu_err *err);

/* When a server fails to answer: waits a moment and returns 0, or -1 when the patience
 * is at its end or the error is of another kind. since_ms: when it last worked. */
bu_must int bu_part_writer_wait(const struct bu_install_opts *opts,
				const struct bu_err *err, int64_t since_ms);
/* Calls hooks->cancelled; -1 with BU_ERR_CANCELLED. */
bu_must int bu_part_writer_cancelled(const struct bu_install_hooks *hooks,
				     struct bu_err *err);
/* The same, and tells that this stage begins. */
bu_must int bu_part_writer_enter(const struct bu_install_hooks *hooks,
				 const char *stage, struct bu_err *err);

#endif
