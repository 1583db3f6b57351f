/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which extended attributes of a packed file an image keeps, which ones it can do
 * without, and which ones nobody may guess the meaning of.
 */
#ifndef BU_IMAGES_BUILD_ATTRIBUTES_H
#define BU_IMAGES_BUILD_ATTRIBUTES_H

#include <stdint.h>
#include <stdio.h>

enum { BU_ATTRIBUTES_LEFT_OUT_MAX = 32 }; /* rows of the table */

/* Files that had an attribute of a row; zeros to begin with. */
struct bu_attributes_left_out {
	uint64_t files[BU_ATTRIBUTES_LEFT_OUT_MAX];
};

enum bu_attribute {
	BU_ATTRIBUTE_KEPT,
	BU_ATTRIBUTE_LEFT_OUT, /* counted */
	BU_ATTRIBUTE_REFUSED,
};
/* name: "security.capability". */
enum bu_attribute bu_attribute_judge(const char *name,
				     struct bu_attributes_left_out *count);
/* A line for each row that was counted. */
void bu_attributes_tell(const struct bu_attributes_left_out *count, FILE *out);

#endif
