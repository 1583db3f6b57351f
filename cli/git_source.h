/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a profile tree comes from: a folder of this machine, or a commit of a git
 * repository, whose files are written into a folder that goes afterwards.
 */
#ifndef BU_CLI_GIT_SOURCE_H
#define BU_CLI_GIT_SOURCE_H

#include "base/err.h"
#include "cli/options.h"

struct bu_git_source {
	char *dir;    /* holds the tree */
	char *commit; /* its id; "ID-dirty" when files differ from it; "" = not known */
	char *made;   /* removed at the end; NULL = none */
};

/* By --git, --ref and --path, else the folder in args[0]. BU_ERR_USAGE when there are
 * both or none; BU_ERR_REMOTE with git's own words. */
bu_must int bu_git_source_open(const struct bu_options *options,
			       struct bu_git_source *ret, struct bu_err *err);
void bu_git_source_close(struct bu_git_source *source);

/* Commit id of the git work tree in which dir lies, with "-dirty" when a profile file
 * in dir differs from it, ignored and new ones too; "" without one. Owned. */
char *bu_git_source_commit(const char *dir);

#endif
