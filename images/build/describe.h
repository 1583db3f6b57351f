/* SPDX-License-Identifier: Apache-2.0 */
/* What a finished tree holds, for the manifest and the plan: its packages, and the
 * programs and drivers whose versions have to fit. */
#ifndef BU_IMAGES_BUILD_DESCRIBE_H
#define BU_IMAGES_BUILD_DESCRIBE_H

#include "base/err.h"
#include "images/manifest.h"

struct bu_describe {
	const char *root; /* the tree */
	const char *work; /* scratch */
	const char *out;  /* gets sbom.json */
	/* Which mirrored roots its initial ramdisk, which is not in the tree, starts
	 * from; "" = none. */
	const char *mirror;
	const char *roots; /* how many a disk may have that it starts from; "" = one */
	const char *suite; /* whose packages it is made of; NULL = it is not */
};

/* Fills sbom, holdings, the packages and, where there is none yet, the version of a
 * manifest whose name, kernel and date are set. BU_ERR_VERIFY when the parts of the
 * NVIDIA driver are of different versions, or the list of packages is none. */
bu_must int bu_describe_tree(const struct bu_describe *what,
			     struct bu_manifest *manifest, struct bu_err *err);

#endif
