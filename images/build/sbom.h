/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of an image's packages as others read it: SPDX 2.3 in JSON, sbom.json beside
 * the manifest. The same packages make the same bytes.
 */
#ifndef BU_IMAGES_BUILD_SBOM_H
#define BU_IMAGES_BUILD_SBOM_H

#include <jansson.h>

#include "base/err.h"
#include "images/build/packages.h"
#include "images/store.h"

#define BU_SBOM_FILE "sbom.json"
enum { BU_SBOM_MAX = 64 * 1024 * 1024 };

/* The document of a stored image as it was written; owned. BU_ERR_NOTFOUND when the
 * image has none, BU_ERR_VERIFY when it is not what the manifest says. */
char *bu_sbom_load(const struct bu_image *image, struct bu_err *err);
/* created: as the manifest has it; owned. */
json_t *bu_sbom_make(const struct bu_packages *packages, const char *name,
		     const char *created);
/* Back from what bu_sbom_make() gave; BU_ERR_INVAL. */
bu_must int bu_sbom_packages(const json_t *sbom, struct bu_packages *ret,
			     struct bu_err *err);

#endif
