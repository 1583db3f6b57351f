/* SPDX-License-Identifier: Apache-2.0 */
/* What was discovered becomes a tree that passes once the gaps are filled. */
#include "cli/commands/import.h"

#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "model/inventory.h"
#include "profiles/load/findings.h"
#include "profiles/load/load.h"
#include "tests/support/cli.h"
#include "tests/support/unit.h"

struct seen {
	const char *name, *rack, *slot, *serial, *macs[2];
	int gib, threads, gpus;
	/* GB, in the order of their names; the first is removable */
	int64_t disks[3];
};

static json_t *
inventory_of(const struct seen *seen)
{
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();

	inventory->memory_bytes = seen->gib * (INT64_C(1) << 30);
	inventory->cpu.threads = seen->threads;
	BU_TEXT_COPY(inventory->boot_id, "b-1");
	BU_TEXT_COPY(inventory->dmi.serial, seen->serial);
	inventory->disks = bu_xcalloc(3, sizeof(*inventory->disks));
	inventory->nics = bu_xcalloc(2, sizeof(*inventory->nics));
	inventory->gpus = bu_xcalloc((size_t)seen->gpus + 1, sizeof(*inventory->gpus));
	inventory->gpus_count = (size_t)seen->gpus;
	for (int i = 0; i < seen->gpus; i++) {
		snprintf(inventory->gpus[i].pci, sizeof(inventory->gpus[i].pci),
			 "0000:%02x:00.0", 0x17 + i);
		BU_TEXT_COPY(inventory->gpus[i].device, "2330");
	}
	for (size_t i = 0; i < 3 && seen->disks[i]; i++) {
		struct bu_disk *disk = &inventory->disks[inventory->disks_count++];

		snprintf(disk->name, sizeof(disk->name), "vd%c", (char)('a' + i));
		snprintf(disk->path, sizeof(disk->path), "/dev/%s", disk->name);
		disk->size_bytes = seen->disks[i] * 1000000000;
		disk->removable = i == 0;
	}
	for (size_t i = 0; i < 2 && seen->macs[i]; i++) {
		struct bu_nic *nic = &inventory->nics[inventory->nics_count++];

		snprintf(nic->name, sizeof(nic->name), "ens%zu", i);
		BU_TEXT_COPY(nic->mac, seen->macs[i]);
	}
	return bu_inventory_to_json(inventory);
}

/* As GET /v1/nodes/NAME shows them. */
static json_t *
machines(void)
{
	static const struct seen seen[] = {
		{"node001",
		 "r1",
		 "1",
		 "S1",
		 {"52:54:00:77:00:01", "52:54:00:78:00:01"},
		 256,
		 64,
		 0,
		 {9, 4000, 100}},
		{"node002",
		 "",
		 "",
		 "Not Specified, really",
		 {"52:54:00:77:00:02", "52:54:00:78:00:02"},
		 256,
		 64,
		 0,
		 {9, 100}},
		/* an InfiniBand card is none that a profile names */
		{"gpu7",
		 "",
		 "",
		 "G7",
		 {"80:00:02:08:fe:80:00:00:00:00:00:00:b8:59:9f:03:00:f6:ac:12"},
		 2048,
		 224,
		 2,
		 {9, 100}},
	};
	json_t *list = quoted("[{'name':'silent'},{'name':'../evil','inventory':{}}]");

	for (size_t i = 0; i < BU_LEN(seen); i++)
		json_array_append_new(
			list, json_pack("{s:s,s:s,s:s,s:o}", "name", seen[i].name,
					"rack", seen[i].rack, "slot", seen[i].slot,
					"inventory", inventory_of(&seen[i])));
	return list;
}

START_TEST(placeholders_are_not_written)
{
	static const char *const serials[] = {"N/A", "none", "0123456789", "XXXX",
					      "To-be-filled-by-O.E.M."};

	for (size_t i = 0; i < BU_LEN(serials); i++) {
		const struct seen seen = {.serial = serials[i],
					  .macs = {"52:54:00:77:00:01"}};
		bu_autojson json_t *nodes = json_pack("[{s:s,s:o}]", "name", "n1",
						      "inventory", inventory_of(&seen));
		struct bu_imported made;

		ck_assert_int_eq(bu_import_make("lab", nodes, &made, NULL), 0);
		ck_assert_str_eq(made.racks_csv, "name,mac,serial,rack,slot\n"
						 "n1,52:54:00:77:00:01,,,\n");
		bu_imported_fini(&made);
	}
}
END_TEST

/* Fills a gap that import left in a comment. */
static char *
replace(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	ck_assert_msg(at != NULL, "%s", from);
	return bu_xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

START_TEST(machines_become_classes_pools_and_rows)
{
	bu_autojson json_t *nodes = machines();
	struct bu_imported made;
	struct bu_err err = {0};

	ck_assert_msg(bu_import_make("lab", nodes, &made, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(made.machines, 3);
	ck_assert_str_eq(made.racks_csv, "name,mac,serial,rack,slot\n"
					 "node001,52:54:00:77:00:01,S1,r1,1\n"
					 "node002,52:54:00:77:00:02,,,\n"
					 "gpu7,,G7,,\n");
	ck_assert_ptr_nonnull(strstr(
		made.site_ini, "[hardware class1]\ndisk = smallest\n"
			       "memory_min = 248 GiB\ncpus_min = 64\nnics = 2\n"));
	ck_assert_ptr_nonnull(
		strstr(made.site_ini, "[pool class1]\nnodes = node[001-002]\n"));
	ck_assert_ptr_nonnull(strstr(made.site_ini, "gpus = 2\n"));
	bu_imported_fini(&made);
}
END_TEST

START_TEST(with_its_gaps_filled_the_tree_passes)
{
	bu_autojson json_t *nodes = machines(), *files = NULL;
	bu_autofree char *a = NULL, *b = NULL, *c = NULL, *d = NULL;
	struct bu_findings findings = {0};
	struct bu_imported made;
	struct bu_desired *desired;
	struct bu_tree *tree;
	struct bu_err err;

	ck_assert_int_eq(bu_import_make("lab", nodes, &made, &err), 0);
	a = replace(made.site_ini, "# cidr = ", "cidr = ");
	b = replace(a, "# addresses = ", "addresses = ");
	c = replace(b, "# power = redfish\n# bmc", "power = redfish\nbmc");
	d = replace(c, "# power = redfish\n# bmc = https://bmc-[1-1]",
		    "power = redfish\nbmc = https://gpu-[1-1]");
	files = json_pack("{s:{s:s,s:s}}", "files", "site.ini", d, "racks.csv",
			  made.racks_csv);
	tree = bu_tree_from_json(files, &err);
	desired = bu_profiles_load(tree, &findings);
	bu_findings_print(&findings, stderr);
	ck_assert_ptr_nonnull(desired);
	ck_assert_uint_eq(desired->nodes_count, 3);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	bu_findings_clear(&findings);
	bu_imported_fini(&made);
}
END_TEST

START_TEST(without_machines_nothing_is_made)
{
	bu_autojson json_t *nodes = quoted("[{'name':'silent'}]");
	struct bu_imported made;
	struct bu_err err;

	ck_assert_int_eq(bu_import_make("lab", nodes, &made, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
}
END_TEST

/* Not taken for a machine without memory, or with one thread. */
START_TEST(a_machine_that_cannot_be_read_is_named)
{
	bu_autojson json_t *nodes = machines();
	const json_t *node = json_array_get(nodes, 3);
	struct bu_imported made;
	struct bu_err err;

	ck_assert_str_eq(bu_json_str(node, "name", ""), "node002");
	json_object_set_new(json_object_get(node, "inventory"), "memory_bytes",
			    json_string("much"));
	ck_assert_int_eq(bu_import_make("lab", nodes, &made, &err), -1);
	ck_assert_str_eq(err.text, "node node002: inventory: memory_bytes: expected a "
				   "whole number");
}
END_TEST

BU_UNIT("import", placeholders_are_not_written, a_machine_that_cannot_be_read_is_named,
	machines_become_classes_pools_and_rows, with_its_gaps_filled_the_tree_passes,
	without_machines_nothing_is_made)
