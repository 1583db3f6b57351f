/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a profile tree and asks git where it comes from; for check, plan and apply. */
#include "cli/profile.h"

#include <stdio.h>
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

/* How git says that there is no commit to name: nothing to worry about. */
static int
is_expected(const char *text)
{
	static const char *const expected[] = {
		"run 'git': No such file", "not a git repository",
		"Stopping at filesystem boundary", /* the line after that */
		"Needed a single revision",        /* nothing was committed */
	};

	for (size_t i = 0; i < BU_LEN(expected); i++)
		if (strstr(text, expected[i]))
			return 1;
	return 0;
}

/* What git prints, NULL when it fails or is not there. Under sudo the repository is
 * another user's, which git refuses unless told; then nothing of the repository's may
 * be run on the way. */
static char *
git(const char *dir, const char *const *argv)
{
	static const char *const env[] = {
		"GIT_OPTIONAL_LOCKS=0",         "LC_ALL=C",
		"GIT_CONFIG_COUNT=3",           "GIT_CONFIG_KEY_0=safe.directory",
		"GIT_CONFIG_VALUE_0=*",         "GIT_CONFIG_KEY_1=core.fsmonitor",
		"GIT_CONFIG_VALUE_1=false",     "GIT_CONFIG_KEY_2=core.hooksPath",
		"GIT_CONFIG_VALUE_2=/dev/null", NULL};
	struct bu_err err = {0};
	char *out = NULL;

	if (bu_job_run(&(struct bu_job_opts){.argv = argv,
					     .env = env,
					     .deadline_ms = 30 * 1000},
		       &out, &err) == 0)
		return out;
	if (!is_expected(err.text))
		fprintf(stderr, "warning: %s: no commit is named: %s\n", dir, err.text);
	return NULL;
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
	bu_autofree char *commit = git(dir, head);
	bu_autofree char *changes = commit ? git(dir, status) : NULL;

	if (!changes || changes[0])
		return bu_xstrdup("");
	commit[strcspn(commit, "\n")] = '\0';
	return bu_steal(&commit);
}
