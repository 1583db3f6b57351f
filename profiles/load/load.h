/* SPDX-License-Identifier: Apache-2.0 */
/* From a profile tree to the checked desired state. Starts at site.ini. */
#ifndef BU_PROFILES_LOAD_LOAD_H
#define BU_PROFILES_LOAD_LOAD_H

#include "profiles/desired.h"
#include "profiles/load/findings.h"
#include "profiles/load/tree.h"

/* NULL when there is an error among the findings; warnings and what [policy] forbids do
 * not count: the former is for people, the latter for the plan to refuse. All findings
 * are reported at once, sorted. The result owns all of its memory: the tree may go. */
struct bu_desired *bu_profiles_load(const struct bu_tree *tree,
				    struct bu_findings *findings);

#endif
