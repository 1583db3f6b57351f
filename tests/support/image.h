/* SPDX-License-Identifier: Apache-2.0 */
/* A signed image of nothing: what a plan needs of an image, without one. */
#ifndef BU_TESTS_SUPPORT_IMAGE_H
#define BU_TESTS_SUPPORT_IMAGE_H

#include "base/err.h"

/* Writes <images>/<name>/, signed with the key; created ("2026-01-01T00:00:00Z") makes
 * one different from another. ret_digest holds 65 bytes. */
int paper_image(const char *images, const char *name, const char *created,
		const char *private_pem, char *ret_digest, struct bu_err *err);

#endif
