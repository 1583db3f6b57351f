/* SPDX-License-Identifier: Apache-2.0 */
/* What was discovered becomes a tree that passes once the gaps are filled. */
#include "cli/commands/import.h"

#include "base/json.h"
#include "profiles/load/findings.h"
#include "profiles/load/load.h"
#include "tests/support/cli.h"
#include "tests/support/unit.h"

static const char machines[] =
	"[{'name':'node001','rack':'r1','slot':'1','inventory':{'memory_bytes':"
	"274877906944,'cpu':{'threads':64},'dmi':{'serial':'S1'},"
	"'disks':[{'path':'/dev/sdb','size_bytes':9,'removable':true},"
	"{'path':'/dev/sdc','size_bytes':4000},{'path':'/dev/"
	"nvme0n1','size_bytes':100}],"
	"'nics':[{'mac':'52:54:00:77:00:01'},{'mac':'52:54:00:78:00:01'}]}},"
	"{'name':'node002','inventory':{'memory_bytes':274877906944,"
	"'cpu':{'threads':64},'dmi':{'serial':'Not Specified, really'},"
	"'disks':[{'path':'/dev/nvme0n1','size_bytes':100}],"
	"'nics':[{'mac':'52:54:00:77:00:02'},{'mac':'52:54:00:78:00:02'}]}},"
	"{'name':'gpu7','inventory':{'memory_bytes':2199023255552,"
	"'cpu':{'threads':224},'dmi':{'serial':'G7'},"
	"'disks':[{'path':'/dev/nvme0n1','size_bytes':100}],"
	"'gpus':[{},{}],'nics':[{'mac':'zz'}]}},"
	"{'name':'silent'},{'name':'../evil','inventory':{}}]";

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
	bu_autojson json_t *nodes = quoted(machines);
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
	bu_autojson json_t *nodes = quoted(machines), *files = NULL;
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

BU_UNIT("import", machines_become_classes_pools_and_rows,
	with_its_gaps_filled_the_tree_passes, without_machines_nothing_is_made)
