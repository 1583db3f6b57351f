/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory's rows over the nodes of the pools. Called by load_nodes.c; the checks
 * ask here. Invariant: what a row that could not be read may have said of a node is
 * missing nowhere else.
 */
#include <string.h>

#include "profiles/load/inventory_csv.h"
#include "profiles/load/load_internal.h"
#include "profiles/nodeset/nodeset.h"

static void
lay_over(struct bu_desired_node *node, struct bu_inventory_csv_row *row,
	 const struct bu_key *const keys[], const char *file)
{
	for (int i = BU_INVENTORY_CSV_NAME + 1; i < BU_INVENTORY_CSV_COLUMNS; i++) {
		if (!row->fields[i])
			continue;
		bu_load_set_text(node, keys[i], bu_steal(&row->fields[i]));
		node->csv_columns |= 1u << i;
	}
	node->origin = node->csv_origin = (struct bu_origin){file, row->line};
}

static void
apply_rows(struct bu_loader *ld, struct bu_inventory_csv *inventory, const char *path)
{
	const struct bu_key *keys[BU_INVENTORY_CSV_COLUMNS];
	int all_pools_read = 1;

	for (size_t i = 0; i < ld->desired->pools_count; i++)
		all_pools_read &= ld->desired->pools[i].nodes_count > 0;
	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		keys[i] = bu_schema_key("node", bu_inventory_csv_column(i));
	for (size_t i = 0; i < inventory->count; i++) {
		struct bu_inventory_csv_row *row = &inventory->rows[i];
		const char *name = row->fields[BU_INVENTORY_CSV_NAME];
		const struct bu_desired_node *node = bu_desired_node(ld->desired, name);

		if (node)
			lay_over(&ld->desired->nodes[node->index], row, keys, path);
		else if (all_pools_read)
			bu_findings_add(
				ld->findings, BU_FINDING_WARNING, path, row->line,
				"'%s' is in no pool; the row has no effect", name);
	}
}

/* A row without a name, or with one that no node has, may be that of any node that has
 * none. */
static void
note_unread(struct bu_loader *ld, const struct bu_inventory_csv *inventory)
{
	struct bu_desired *desired = ld->desired;
	int any = inventory->nameless;

	ld->lost_columns = inventory->lost;
	for (size_t i = 0; i < inventory->unread_count; i++) {
		const struct bu_desired_node *node =
			bu_desired_node(desired, inventory->unread[i]);

		if (node)
			ld->unread[node->index] = 1;
		else
			any = 1;
	}
	for (size_t i = 0; i < desired->nodes_count; i++)
		if (any && !desired->nodes[i].csv_origin.line)
			ld->unread[i] = 1;
}

void
bu_load_inventory(struct bu_loader *ld)
{
	const struct bu_ini_section *site = bu_load_site(&ld->ini);
	const struct bu_ini_entry *entry =
		site ? bu_ini_entry(site, "inventory") : NULL;
	const struct bu_tree_file *file =
		entry ? bu_tree_find(ld->tree, entry->value) : NULL;
	struct bu_inventory_csv *inventory;

	ld->unread = bu_xcalloc(ld->desired->nodes_count, sizeof(*ld->unread));
	if (!entry)
		return;
	if (!file) {
		bu_load_wrong(ld, site, "inventory", "no file '%.80s' in the tree",
			      entry->value);
		memset(ld->unread, 1, ld->desired->nodes_count);
		return;
	}
	ld->inventory = ld->desired->files[file - ld->tree->files];
	inventory = bu_inventory_csv_parse(file, ld->findings);
	apply_rows(ld, inventory, ld->inventory);
	note_unread(ld, inventory);
	bu_inventory_csv_destroy(inventory);
}

/* Of a node without a row all is missing: one finding for all such nodes. */
void
bu_load_check_inventory(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;
	bu_autofree const char **names =
		bu_xcalloc(desired->nodes_count, sizeof(*names));
	bu_autofree char *folded = NULL;
	size_t count = 0;

	for (size_t i = 0; ld->inventory && i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];

		if (node->csv_origin.line || node->mac || node->serial || node->uuid ||
		    ld->unread[i])
			continue;
		names[count++] = node->name;
		ld->unread[i] = 1;
	}
	folded = bu_nodeset_fold(names, count);
	if (count)
		bu_findings_add(
			ld->findings, BU_FINDING_ERROR, ld->inventory, 0,
			"has no row for %.400s; add %s, or a [node] section with "
			"a MAC, a serial number or a UUID",
			folded, count == 1 ? "one" : "one for each");
}

int
bu_load_is_unread(const struct bu_loader *ld, const struct bu_desired_node *node,
		  const char *key)
{
	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		if (ld->lost_columns & (1u << i) &&
		    strcmp(bu_inventory_csv_column(i), key) == 0)
			return 1;
	return ld->unread[node->index];
}
