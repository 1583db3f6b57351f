/* SPDX-License-Identifier: Apache-2.0 */
/* Which packages a tree has, by dpkg's or rpm's own list, and of which release it is.
 */
#ifndef BU_IMAGES_BUILD_PACKAGES_H
#define BU_IMAGES_BUILD_PACKAGES_H

#include <stddef.h>

#include "base/err.h"

enum bu_package_kind { BU_PACKAGES_NONE, BU_PACKAGES_DEB, BU_PACKAGES_RPM };

struct bu_package {
	char *name, *version; /* "1:2.3-4": epoch, version and revision */
	char *arch;
	char *source, *source_version; /* what it was built of */
};

struct bu_packages {
	enum bu_package_kind kind;
	/* Of etc/os-release: "debian", "12", "bookworm"; "" = it does not say. */
	char os[32], release[32], codename[32];
	struct bu_package *list; /* by name, then architecture, then version */
	size_t count, cap;
};

/* work: a folder for scratch files. A tree without packages is of kind NONE,
 * also one whose lists are empty; BU_ERR_VERIFY for a list that is none. */
bu_must int bu_packages_read(const char *root, const char *work,
			     struct bu_packages *ret, struct bu_err *err);
void bu_packages_fini(struct bu_packages *packages);
/* NULL when there is none. */
const struct bu_package *bu_packages_find(const struct bu_packages *packages,
					  const char *name);

#endif
