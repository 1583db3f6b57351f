/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup node show NODESET --origin DIR: what a profile tree says about a node, and
 * which line of which file says it. Local, needs no daemon.
 */
#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/commands/commands.h"
#include "cli/commands/profile.h"
#include "cli/key_origin.h"
#include "cli/render/output.h"
#include "profiles/export/export.h"
#include "profiles/language/schema.h"
#include "profiles/language/values.h"
#include "profiles/nodeset/nodeset.h"

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
	bu_out_table(table, out);
	bu_table_destroy(table);
}

static void
print_node(const struct bu_desired *desired, const char *name, int json, int first)
{
	const struct bu_desired_node *node = bu_desired_node(desired, name);
	bu_autojson json_t *value = bu_desired_node_to_json(desired, node);

	if (json) {
		bu_out_json(value, stdout);
		return;
	}
	if (!first)
		printf("\n%s\n", name);
	bu_render_origin(value, stdout);
}

static int
print_nodes(const struct bu_desired *desired, const struct bu_options *options,
	    struct bu_err *err)
{
	struct bu_nodeset *nodeset = bu_nodeset_parse(
		options->args[0], bu_desired_group, (void *)desired, err);
	int rc = nodeset ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < nodeset->count; i++)
		if (!bu_desired_node(desired, nodeset->names[i]))
			rc = bu_err_set(err, BU_ERR_NOTFOUND, 0, "%s: no node '%.80s'",
					options->origin, nodeset->names[i]);
	for (size_t i = 0; rc == 0 && i < nodeset->count; i++)
		print_node(desired, nodeset->names[i],
			   options->format == BU_FORMAT_JSON, i == 0);
	bu_nodeset_destroy(nodeset);
	return rc;
}

int
bu_node_origin(const struct bu_options *options, struct bu_err *err)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	int rc = bu_profile_check(options->origin, &findings, &tree, &desired, err);

	bu_findings_print(&findings, stderr);
	if (rc == 0)
		rc = print_nodes(desired, options, err);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return rc;
}
