/* SPDX-License-Identifier: Apache-2.0 */
/* Adds signatures to an image, of which a site may want several. */
#ifndef BU_IMAGES_BUILD_SIGN_H
#define BU_IMAGES_BUILD_SIGN_H

#include "base/crypto.h"
#include "base/err.h"

/* The key that the cache's images are signed with, PEM, owned; only reads. A build
 * makes keys/image.key (0600) and keys/image.pub where they are missing; before the
 * first one this is BU_ERR_NOTFOUND. */
char *bu_image_public_key(const char *cache_dir, struct bu_err *err);
/* Adds the signature of this private key (PEM) to the image in the folder; the others
 * stay, and with them the digest, which is told. 1 when it was added, 0 when it was
 * there, -1 when the manifest is none, has BU_IMAGE_KEYS_MAX signatures, or is not the
 * one that its folder is named by. */
bu_must int bu_image_sign(const char *dir, const char *private_pem,
			  char ret_digest[BU_DIGEST_SIZE], struct bu_err *err);
/* Adds the signatures that the other folder has of the same manifest, behind its own;
 * those for which there is no room are left out. */
bu_must int bu_image_signatures_keep(const char *from, const char *dir,
				     struct bu_err *err);

#endif
