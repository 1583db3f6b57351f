/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup export DIR: a checked profile tree as JSON, as an inventory for Ansible, for
 * the site's own DNS and time servers, or the schema of the first. Local, needs no
 * daemon.
 */
#include <stdio.h>

#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/commands/profile.h"
#include "cli/render/output.h"
#include "profiles/export/export.h"
#include "profiles/nodeset/names.h"

/* Texts go out at once; *value stays NULL then. */
static int
print(const struct bu_desired *desired, const struct bu_options *options,
      json_t **value, struct bu_err *err)
{
	if (options->dns)
		return bu_names_print_zone(desired, options->dns, stdout, err);
	if (options->hosts)
		bu_names_print_hosts(desired, stdout);
	else if (options->ntp)
		bu_names_print_chrony(desired, stdout);
	else if (options->ansible)
		*value = bu_desired_ansible(desired);
	else
		*value = bu_desired_to_json(desired);
	return 0;
}

int
bu_cmd_export(const struct bu_options *options, struct bu_err *err)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	bu_autojson json_t *value = NULL;
	int rc = 0;

	if (options->schema) {
		value = bu_desired_schema();
	} else if (options->args_count == 0) {
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "export needs DIR or --schema; see bringup help "
				  "export");
	} else {
		rc = bu_profile_check(options->args[0], &findings, &tree, &desired,
				      err);
		bu_findings_print(&findings, stderr);
		if (rc == 0)
			rc = print(desired, options, &value, err);
	}
	if (value)
		bu_out_json(value, stdout);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return rc;
}
