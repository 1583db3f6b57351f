/* SPDX-License-Identifier: Apache-2.0 */
/* bringup check DIR: local, needs no daemon. */
#include <stdio.h>

#include "cli/commands/commands.h"
#include "cli/commands/image.h"
#include "cli/commands/profile.h"
#include "cli/render/output.h"

static void
print_json(const struct bu_findings *findings, const struct bu_desired *desired)
{
	int ok = desired && findings->violations == 0;
	json_t *report = json_pack("{s:b,s:o}", "ok", ok, "findings",
				   bu_findings_json(findings));

	if (desired) {
		json_object_set_new(report, "revision", json_string(desired->digest));
		json_object_set_new(report, "nodes",
				    json_integer((json_int_t)desired->nodes_count));
		json_object_set_new(report, "pools",
				    json_integer((json_int_t)desired->pools_count));
	}
	bu_out_json(report, stdout);
	json_decref(report);
}

static void
print_text(const char *dir, const struct bu_findings *findings,
	   const struct bu_desired *desired)
{
	bu_findings_print(findings, stdout);
	if (desired && findings->violations == 0)
		printf("%s: %zu node%s in %zu pool%s, ok (revision %.12s)\n", dir,
		       desired->nodes_count, desired->nodes_count == 1 ? "" : "s",
		       desired->pools_count, desired->pools_count == 1 ? "" : "s",
		       desired->digest);
}

int
bu_cmd_check(const struct bu_options *options, struct bu_err *err)
{
	const char *dir = options->args[0];
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	int rc = bu_profile_check(dir, &findings, &tree, &desired, err);

	if (rc == 0)
		bu_image_policy_check(desired, &findings);
	if (options->format == BU_FORMAT_JSON)
		print_json(&findings, desired);
	else
		print_text(dir, &findings, desired);
	if (rc == 0 && findings.violations)
		rc = bu_err_set(err, BU_ERR_INVAL, 0,
				"%s: [policy] forbids it, for %zu reason%s", dir,
				findings.violations,
				findings.violations == 1 ? "" : "s");
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return rc;
}
