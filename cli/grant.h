/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --grant CLASS[:NODESET]: what a person allows a plan to destroy, on which of its
 * nodes. Pure. bringupd decides by the same words; here they are read, and what they
 * leave out is told before anybody is asked.
 */
#ifndef BU_CLI_GRANT_H
#define BU_CLI_GRANT_H

#include <jansson.h>

#include "base/err.h"
#include "cli/options.h"
#include "model/plan.h"

/* [{"class","nodes"}]: nodes is a hostlist of nodes that have a step; it is missing
 * when all are meant, and a grant for none of them is left out. A
 * nodeset may ask for the plan's pools (@train) and states (state=ready). New
 * reference; BU_ERR_USAGE when the words are wrong. */
json_t *bu_grants_make(const struct bu_explain *words, const struct bu_plan *plan,
		       struct bu_err *err);
/* BU_ERR_DENIED names the nodes whose step destroys more than is granted. */
bu_must int bu_grants_check(const json_t *grants, const struct bu_plan *plan,
			    struct bu_err *err);

#endif
