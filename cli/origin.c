/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup node show NODE --origin DIR: what a profile tree says about a node, and which
 * line of which file says it. Local, needs no daemon.
 */
#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/commands.h"
#include "cli/origin.h"
#include "cli/output.h"
#include "cli/profile.h"
#include "profiles/export.h"
#include "profiles/schema.h"
#include "profiles/values.h"

static char *
text_of(const json_t *value)
{
	if (json_is_string(value))
		return bu_xstrdup(json_string_value(value));
	return value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
}

void
bu_render_origin(const json_t *node, FILE *out)
{
	static const char *const headings[] = {"KEY", "VALUE", "SET IN", NULL};
	struct bu_table *table = bu_table_create(headings);
	const json_t *origins = json_object_get(node, "origin");
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		bu_autofree char *name = NULL, *text = NULL;

		if (strcmp(keys[i].section, "node") != 0)
			continue;
		name = bu_key_json_name(&keys[i]);
		text = text_of(json_object_get(node, name));
		if (text)
			bu_table_row(table,
				     (const char *const[]){
					     keys[i].key, text,
					     bu_json_str(origins, keys[i].key, "")});
	}
	bu_table_print(table, out);
	bu_table_destroy(table);
}

int
bu_node_origin(const struct bu_options *options, struct bu_err *err)
{
	const struct bu_desired_node *node;
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	int rc = bu_profile_check(options->origin, &findings, &tree, &desired, err);

	bu_findings_print(&findings, stderr);
	node = rc == 0 ? bu_desired_node(desired, options->args[0]) : NULL;
	if (node) {
		bu_autojson json_t *value = bu_desired_node_to_json(desired, node);

		if (options->format == BU_FORMAT_JSON)
			bu_out_json(value, stdout);
		else
			bu_render_origin(value, stdout);
	} else if (rc == 0) {
		rc = bu_err_set(err, BU_ERR_NOTFOUND, 0, "%s: there is no node '%.80s'",
				options->origin, options->args[0]);
	}
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return rc;
}
