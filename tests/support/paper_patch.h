/* SPDX-License-Identifier: Apache-2.0 */
/* Patches of a node of paper; 0, or -1 when one does not fit. */
#ifndef BU_TESTS_SUPPORT_PAPER_PATCH_H
#define BU_TESTS_SUPPORT_PAPER_PATCH_H

#include <jansson.h>

/* RFC 6902: test, add, remove, replace, in objects. */
int paper_patch(json_t *object, const json_t *patch);
/* Server-side apply of one manager: labels and annotations that it had and leaves out
 * go. */
int paper_apply(json_t *object, const json_t *body);
/* Conditions of the status, merged by type. */
int paper_merge(json_t *object, const json_t *body);

#endif
