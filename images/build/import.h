/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an image of a tree or of a disk that was built elsewhere. */
#ifndef BU_IMAGES_BUILD_IMPORT_H
#define BU_IMAGES_BUILD_IMPORT_H

#include "images/build/recipe.h"

/* source: "oci://HOST/REPOSITORY:TAG" or "...@sha256:DIGEST" (pulled from a registry),
 * "oci-layout:DIR" or "oci-layout:DIR:TAG" (a folder in OCI's layout), "raw:FILE" or
 * "qcow2:FILE" (a whole disk, which is installed as it is), or the path of a tar
 * archive, plain or packed by gzip, xz or zstd. platform: "linux/amd64/v3" of an OCI
 * image that is for several; NULL = the base level, or else the only one. The result is
 * an image like any other, in the store and with this name. BU_ERR_VERIFY names what is
 * wrong with the source, or what a node's system needs and it lacks; nothing has
 * changed then. */
bu_must int bu_image_import(const char *name, const char *source, const char *platform,
			    const struct bu_image_build_opts *opts, struct bu_err *err);

#endif
