/* SPDX-License-Identifier: Apache-2.0 */
/* What an image is made of (images/origin.h), as its builder knows it. */
#ifndef BU_IMAGES_BUILD_MADE_OF_H
#define BU_IMAGES_BUILD_MADE_OF_H

#include "images/build/packages.h"
#include "images/build/recipe_ini.h"
#include "images/origin.h"

/* The recipe by its name and the digest of all that it says: of each recipe that it is
 * from, of the script, the files and the hooks. Then the mirrors that it names. ini:
 * all NULL where the script is the recipe. What this machine's apt has is not part of
 * it. */
bu_must int bu_made_of_recipe(const char *name, const char *script,
			      const struct bu_recipe_ini *ini,
			      struct bu_image_origin *ret, struct bu_err *err);
/* Names, versions and architectures of all packages, as one digest. */
bu_must int bu_made_of_packages(const char *suite, const struct bu_packages *packages,
				struct bu_image_origin *ret, struct bu_err *err);
/* A plain file, without its folder, by its bytes. */
bu_must int bu_made_of_file(enum bu_source_kind kind, const char *path,
			    struct bu_image_origin *ret, struct bu_err *err);

#endif
