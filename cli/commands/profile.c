/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a profile tree on this machine; for every command that reads one. */
#include "cli/commands/profile.h"

#include "profiles/load/load.h"

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
