/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images on disk: a folder of folders, each with manifest.json, manifest.sig and a file
 * of frames per part.
 */
#ifndef BU_IMAGES_STORE_H
#define BU_IMAGES_STORE_H

#include "base/crypto.h"
#include "base/err.h"
#include "images/manifest.h"

struct bu_image {
	struct bu_manifest *manifest;
	char digest[BU_DIGEST_SIZE]; /* SHA-256 of manifest.json */
	char *dir;
	uint64_t stored_bytes; /* what a node fetches */
};

/* Finds <images_dir>/<name>, verifies the signature with the image key and checks that
 * every part's file has its size (contents: bu_frames_check). BU_ERR_NOTFOUND when
 * there is no such image. */
bu_must int bu_image_load(const char *images_dir, const char *name,
			  const char *public_pem, struct bu_image *ret,
			  struct bu_err *err);
void bu_image_fini(struct bu_image *image);

/* Names of the images there are, sorted; *ret_names and each name are owned. A missing
 * folder has none. */
bu_must int bu_image_list(const char *images_dir, char ***ret_names, size_t *ret_count,
			  struct bu_err *err);

#endif
