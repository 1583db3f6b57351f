/* SPDX-License-Identifier: Apache-2.0 */
/* Profile trees for tests, made from text. */
#ifndef BU_TESTS_SUPPORT_PROFILES_H
#define BU_TESTS_SUPPORT_PROFILES_H

#include "profiles/load/findings.h"
#include "profiles/load/load.h"
#include "profiles/load/tree.h"

/* A tree of the files given as path, text, path, text, ..., NULL. */
struct bu_tree *bu_testing_tree(const char *path, ...) __attribute__((sentinel));
/* A profile that has nothing wrong in it: site.ini and racks.csv for node001, node002.
 */
extern const char bu_testing_site[], bu_testing_racks[];
/* The good profile with the first `from` in site.ini replaced; aborts when it is not
 * there, so that a test cannot pass by testing nothing. Owned. */
char *bu_testing_replace(const char *text, const char *from, const char *to);
/* What was found, a line each; owned. */
char *bu_testing_findings(const struct bu_findings *findings);
/* Loads the tree, which is taken; what was found, a line each, owned. *ret is NULL when
 * there is an error among it. */
char *bu_testing_load(struct bu_tree *tree, struct bu_desired **ret);
/* Loads site.ini and racks.csv; what was found, a line each, owned. *ret is NULL when
 * there is an error among it. */
char *bu_testing_check(const char *site, const char *racks, struct bu_desired **ret);

#endif
