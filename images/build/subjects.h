/* SPDX-License-Identifier: Apache-2.0 */
/* Under which names and versions advisories speak of an image's packages. */
#ifndef BU_IMAGES_BUILD_SUBJECTS_H
#define BU_IMAGES_BUILD_SUBJECTS_H

#include "images/build/packages.h"

struct bu_subject {
	char *name, *version;
};

struct bu_subjects {
	struct bu_subject *list;
	size_t count, cap;
};

/* dpkg's packages go by their source; those that Debian signs, by what they were made
 * of, too. rpm's go by their own name. */
void bu_subjects_make(const struct bu_packages *packages, struct bu_subjects *ret);
void bu_subjects_fini(struct bu_subjects *subjects);

#endif
