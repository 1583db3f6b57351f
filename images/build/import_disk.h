/* SPDX-License-Identifier: Apache-2.0 */
/* An image of a whole disk that somebody else made, raw or qcow2. */
#ifndef BU_IMAGES_BUILD_IMPORT_DISK_H
#define BU_IMAGES_BUILD_IMPORT_DISK_H

#include "images/origin.h"

#define BU_IMPORT_RAW "raw:"
#define BU_IMPORT_QCOW2 "qcow2:"

/* Whether a source of `bringup image import` is one. */
int bu_import_is_disk(const char *source);
/* A callback of struct bu_image_build_opts, with `filled`; arg: the source. It makes
 * <work>/out/disk.raw and image.json. BU_ERR_VERIFY names what is wrong with the file:
 * a qcow2 that refers to other files, a partition table that is none. */
bu_must int bu_import_disk(void *arg, const char *work, struct bu_image_origin *ret,
			   struct bu_err *err);

#endif
