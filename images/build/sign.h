/* SPDX-License-Identifier: Apache-2.0 */
/* Adds signatures to an image, of which a site may want several. */
#ifndef BU_IMAGES_BUILD_SIGN_H
#define BU_IMAGES_BUILD_SIGN_H

#include "base/err.h"

/* Adds the signature of this private key (PEM) to the image in the folder; the others
 * stay, and with them the digest. 1 when it was added, 0 when it was there, -1 when the
 * manifest is none or has BU_IMAGE_KEYS_MAX signatures. */
bu_must int bu_image_sign(const char *dir, const char *private_pem, struct bu_err *err);

#endif
