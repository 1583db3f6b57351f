/* SPDX-License-Identifier: Apache-2.0 */
/* Where the desired state keeps the objects of each kind of section. */
#ifndef BU_PROFILES_LOAD_LAYOUT_H
#define BU_PROFILES_LOAD_LAYOUT_H

#include "profiles/load/load_internal.h"

/* Of sections with a name. Each object starts with it. */
struct bu_layout {
	const char *kind;
	size_t size, origin, origins, list, count;
	size_t sections; /* in struct bu_loader */
};
enum { BU_LAYOUTS = 10 };
extern const struct bu_layout bu_layouts[BU_LAYOUTS];
/* NULL when there are none of that kind. */
const struct bu_layout *bu_layout_find(const char *kind);
char *bu_layout_list(const struct bu_layout *layout, const struct bu_desired *desired);
size_t *bu_layout_count(const struct bu_layout *layout, struct bu_desired *desired);

/* Of sections without a name. */
struct bu_single {
	const char *kind;
	size_t object, origin, origins;
};
/* NULL when it is none of these. */
const struct bu_single *bu_single_find(const char *kind);

#endif
