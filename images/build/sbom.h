/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of an image's packages for other tools: SPDX 2.3 in JSON, sbom.json beside
 * the manifest. The same packages make the same bytes.
 */
#ifndef BU_IMAGES_BUILD_SBOM_H
#define BU_IMAGES_BUILD_SBOM_H

#include <jansson.h>

#include "images/build/packages.h"

/* created: as the manifest has it; owned. */
json_t *bu_sbom_make(const struct bu_packages *packages, const char *name,
		     const char *created);

#endif
