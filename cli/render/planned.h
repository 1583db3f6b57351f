/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as the command line holds it: made by bringupd, or read from what `plan --out`
 * wrote; shown to a person.
 */
#ifndef BU_CLI_RENDER_PLANNED_H
#define BU_CLI_RENDER_PLANNED_H

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/client.h"
#include "cli/git_source.h"
#include "model/plan.h"

struct bu_planned {
	json_t *plan;
	struct bu_plan read; /* the same, read */
	json_t *tree;    /* that is planned; NULL = of a file that was saved without */
	char digest[65]; /* names the plan */
};

/* Nodesets: the nodes that get steps, NULL = all; whose orders under way begin anew,
 * NULL = nobody's. */
struct bu_planned_request {
	const char *limit, *restart;
};
/* Checks the tree of the source (its findings go to standard error), has it planned. */
bu_must int bu_planned_make(struct bu_client *client,
			    const struct bu_git_source *source,
			    const struct bu_planned_request *wanted,
			    struct bu_planned *ret, struct bu_err *err);
/* {"plan","digest","tree"}, the last may be missing. BU_ERR_VERIFY when the plan is not
 * the one of the digest. */
bu_must int bu_planned_from_json(const json_t *value, struct bu_planned *ret,
				 struct bu_err *err);
bu_must int bu_planned_load(const char *path, struct bu_planned *ret,
			    struct bu_err *err);
/* {"plan","digest"}. New reference. */
json_t *bu_planned_to_json(const struct bu_planned *planned);
/* What bringupd needs to apply it, whether it still knows the plan or not. New
 * reference. */
json_t *bu_planned_request(const struct bu_planned *planned, json_t *grants);
/* With the tree. */
bu_must int bu_planned_save(const struct bu_planned *planned, const char *path,
			    struct bu_err *err);
void bu_planned_fini(struct bu_planned *planned);

/* Changes that need no step: how machines are reached and known. */
size_t bu_planned_reach(const struct bu_planned *planned);
/* Is there a step or such a change? */
int bu_planned_changes(const struct bu_planned *planned);
/* Names of the nodes with a step, folded; owned. */
char *bu_planned_hostlist(const struct bu_planned *planned);
/* BU_ERR_DENIED when policy forbids the plan as a whole. */
bu_must int bu_planned_allowed(const struct bu_planned *planned, struct bu_err *err);
/* BU_ERR_PARTLY when nodes were refused: how many, who, and the first reason. */
bu_must int bu_planned_whole(const struct bu_planned *planned, struct bu_err *err);
/* Steps by pool, class and reason, with the consequence of each class in words. */
void bu_planned_print(const struct bu_planned *planned, FILE *out);

#endif
