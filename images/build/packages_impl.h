/* SPDX-License-Identifier: Apache-2.0 */
/* What those share that read lists of packages. */
#ifndef BU_IMAGES_BUILD_PACKAGES_IMPL_H
#define BU_IMAGES_BUILD_PACKAGES_IMPL_H

#include "images/build/packages.h"

/* Adds a copy; BU_ERR_VERIFY when a text is missing, long or not printable. */
bu_must int bu_packages_add(struct bu_packages *packages,
			    const struct bu_package *package, struct bu_err *err);
void bu_packages_sort(struct bu_packages *packages);
void bu_package_fini(struct bu_package *package);
/* Does nothing for a tree that rpm knows nothing of. */
bu_must int bu_packages_rpm(int root_fd, const char *work, struct bu_packages *packages,
			    struct bu_err *err);
/* Adds what rpm printed, a package a line: name, epoch, version, release, architecture
 * and source package, with tabs between. The text is cut up. */
bu_must int bu_packages_rpm_list(char *text, struct bu_packages *packages,
				 struct bu_err *err);

#endif
