/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a profile tree and asks git where it comes from; for check, plan and apply. */
#include "cli/profile.h"

#include <string.h>

#include "base/worker.h"
#include "profiles/load.h"

int
bu_profile_check(const char *dir, struct bu_findings *findings,
		 struct bu_tree **ret_tree, struct bu_desired **ret_desired,
		 struct bu_err *err)
{
	struct bu_tree *tree = bu_tree_load(dir, err);
	struct bu_desired *desired;

	if (!tree)
		return -1;
	desired = bu_profiles_load(tree, findings);
	if (!desired) {
		bu_tree_destroy(tree);
		return bu_err_set(err, BU_ERR_INVAL, 0, "%s: %zu error%s", dir,
				  findings->errors, findings->errors == 1 ? "" : "s");
	}
	*ret_tree = tree;
	*ret_desired = desired;
	return 0;
}

/* What git prints, NULL when it fails or is not there. */
static char *
git(const char *const *argv)
{
	static const char *const env[] = {"GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", NULL};
	char *out = NULL;

	if (bu_job_run(&(struct bu_job_opts){.argv = argv,
					     .env = env,
					     .deadline_ms = 30 * 1000},
		       &out, NULL) != 0)
		return NULL;
	return out;
}

char *
bu_profile_commit(const char *dir)
{
	/* Files that git ignores count too: they are in the tree that is sent. */
	const char *const status[] = {"git",
				      "-C",
				      dir,
				      "status",
				      "--porcelain",
				      "--ignored",
				      "--untracked-files=all",
				      "--",
				      "*.ini",
				      "*.csv",
				      NULL};
	const char *const head[] = {"git",      "-C",   dir, "rev-parse",
				    "--verify", "HEAD", NULL};
	bu_autofree char *commit = git(head);
	bu_autofree char *changes = commit ? git(status) : NULL;

	if (!changes || changes[0])
		return bu_xstrdup("");
	commit[strcspn(commit, "\n")] = '\0';
	return bu_steal(&commit);
}
