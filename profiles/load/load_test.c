/* SPDX-License-Identifier: Apache-2.0 */
/* What a good profile becomes; how trees, includes and drop-ins are read. */
#include "profiles/load/load.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profiles/language/scan.h"
#include "profiles/nodeset/nodeset.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

START_TEST(how_long_a_firmware_may_take)
{
	struct bu_desired_hardware hardware = {.name = (char *)"any"};
	struct bu_desired_pool pool = {.power = (char *)"redfish"};
	struct bu_desired_node node = {.pool = &pool, .hardware = &hardware};

	ck_assert_int_eq(bu_desired_post_ms(&node), 8 * 60 * 1000);
	pool.power = (char *)"libvirt";
	ck_assert_int_eq(bu_desired_post_ms(&node), 0);
	hardware.post_ms = 1000;
	ck_assert_int_eq(bu_desired_post_ms(&node), 1000);
	ck_assert_int_eq(bu_desired_disk_wait_ms(&node), 30 * 1000);
	hardware.disk_wait_ms = 2000;
	ck_assert_int_eq(bu_desired_disk_wait_ms(&node), 2000);
}
END_TEST

START_TEST(good_profile_becomes_typed_state)
{
	struct bu_desired *desired;
	bu_autofree char *text =
		bu_testing_check(bu_testing_site, bu_testing_racks, &desired);
	const struct bu_desired_node *node;
	const struct bu_desired_network *fabric;
	char address[INET_ADDRSTRLEN];

	ck_assert_str_eq(text, "");
	ck_assert_str_eq(desired->site.name, "lab");
	ck_assert_uint_eq(desired->nodes_count, 2);
	node = bu_desired_node(desired, "node002");
	ck_assert_ptr_eq(node, &desired->nodes[1]);
	ck_assert_str_eq(node->pool->name, "train");
	ck_assert_str_eq(node->hardware->disk, "smallest");
	ck_assert_str_eq(node->image->name, "debian12");
	ck_assert_str_eq(node->cluster->key, "file:/etc/munge/munge.key");
	ck_assert_str_eq(node->mac, "52:54:00:77:00:02");
	ck_assert_str_eq(node->bmc, "qemu:///system#node002");
	ck_assert_str_eq(node->zone, "z1");
	ck_assert_str_eq(node->origin.file, "racks.csv");
	ck_assert_int_eq(node->origin.line, 3);
	ck_assert_str_eq(node->pool->features, "rxe,lab");
	ck_assert_int_eq(node->pool->max_unavailable, 1);
	ck_assert(node->validation->bw_min_percent == 80);
	ck_assert_int_eq(node->validation->runs, 5);
	ck_assert_uint_eq(node->validation->message_bytes, 65536);
	ck_assert_int_eq(node->validation->deadline_ms, 120000);
	fabric = bu_desired_node_network(node, BU_ROLE_FABRIC);
	ck_assert(fabric->link_gbps == 0.02);
	ck_assert_int_eq(fabric->rdma, BU_RDMA_RXE);
	ck_assert_int_eq(bu_desired_node_address(node, fabric, address), 0);
	ck_assert_str_eq(address, "10.78.0.12");
	ck_assert_ptr_eq(bu_desired_node_by_mac(desired, "52-54-00-77-00-02"), node);
	ck_assert_ptr_null(bu_desired_node(desired, "node003"));
	ck_assert_ptr_null(bu_desired_node_by_mac(desired, "52:54:00:77:00:03"));
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(node_section_goes_over_inventory_and_pool)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "[pool train]",
		"[image other]\nkey = file:/k.pub\n[node node002]\nimage = other\n"
		"kargs = \"a=b # c\"\nserial = X9\nrack = r7\n[pool train]");
	struct bu_desired *desired;
	bu_autofree char *text = bu_testing_check(site, bu_testing_racks, &desired);
	const struct bu_desired_node *node;

	ck_assert_str_eq(text, "");
	node = bu_desired_node(desired, "node002");
	ck_assert_str_eq(node->image->name, "other");
	ck_assert_str_eq(node->image->key_path, "/k.pub");
	ck_assert_str_eq(node->kargs, "a=b # c");
	ck_assert_str_eq(node->serial, "X9");
	ck_assert_str_eq(node->mac, "52:54:00:77:00:02");
	ck_assert_str_eq(node->rack, "r7");
	ck_assert_str_eq(node->origin.file, "site.ini");
	ck_assert_int_eq(node->origin.line, 28);
	ck_assert_str_eq(desired->nodes[0].image->name, "debian12");
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(comments_quotes_and_line_ends_do_not_matter)
{
	bu_autofree char *one = bu_testing_replace(bu_testing_site, "zone = z1",
						   "  zone='z1'   ; where it is\r");
	bu_autofree char *site = bu_testing_replace(
		one, "[site]\n",
		"\xef\xbb\xbf# first light\n\n; old style\n[site]\r\n");
	struct bu_desired *desired;
	bu_autofree char *text = bu_testing_check(site, bu_testing_racks, &desired);

	ck_assert_str_eq(text, "");
	ck_assert_str_eq(desired->site.zone, "z1");
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(includes_are_read_once_and_the_rest_is_named)
{
	bu_autofree char *site =
		bu_testing_replace(bu_testing_site, "zone = z1",
				   "include = pools/*.ini, pools/a.ini, *.ini");
	struct bu_tree *tree =
		bu_testing_tree("site.ini", site, "racks.csv", bu_testing_racks,
				"pools/a.ini", "[pool empty-one]\npower = libvirt\n",
				"pools/deep/b.ini", "broken", NULL);
	struct bu_findings findings = {0};
	bu_autofree char *text = NULL;

	ck_assert_ptr_null(bu_profiles_load(tree, &findings));
	text = bu_testing_findings(&findings);
	ck_assert_str_eq(
		text,
		"pools/a.ini:1: [pool empty-one] hardware: is missing; it says: "
		"hardware class of its machines\n"
		"pools/a.ini:1: [pool empty-one] image: is missing; it says: what "
		"its nodes run\n"
		"pools/a.ini:1: [pool empty-one] networks: is missing; it says: its "
		"networks, exactly one with role = boot among them\n"
		"pools/a.ini:1: [pool empty-one] nodes: is missing; it says: its "
		"nodes; a node is in one pool\n"
		"pools/deep/b.ini: warning: is not read; [site] include does not "
		"name it\n");
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
}
END_TEST

static struct bu_desired *
load_good(struct bu_tree *tree)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);
	bu_autofree char *text = bu_testing_findings(&findings);

	ck_assert_str_eq(text, "");
	ck_assert_ptr_nonnull(desired);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	return desired;
}

static void
expect_origin(const struct bu_desired *desired, const char *name, const char *key,
	      const char *file, int line)
{
	const struct bu_origin *origin =
		bu_desired_origin(bu_desired_node(desired, name), key);

	if (!file) {
		ck_assert_msg(!origin, "%s %s", name, key);
		return;
	}
	ck_assert_msg(origin != NULL, "%s %s", name, key);
	ck_assert_str_eq(origin->file, file);
	ck_assert_msg(origin->line == line, "%s %s: line %d", name, key, origin->line);
}

/* Drop-ins in their order; hardware, pool, inventory and node over each other. */
START_TEST(each_value_has_the_origin_that_won)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "nics = 2\n",
		"nics = 2\nkargs = hw\ngovernor = performance\nsysctl = a=1\n");
	struct bu_desired *desired = load_good(bu_testing_tree(
		"site.ini", site, "racks.csv", bu_testing_racks, "conf.d/20-b.ini",
		"[pool train]\nkargs = second\n[node node002]\nrack = r9\nthp = "
		"never\n",
		"conf.d/10-a.ini", "[pool train]\nkargs = first\nthp = always\n",
		NULL));
	const struct bu_desired_node *one = bu_desired_node(desired, "node001");
	const struct bu_desired_node *two = bu_desired_node(desired, "node002");

	ck_assert_str_eq(one->kargs, "second");
	ck_assert_str_eq(one->governor, "performance");
	ck_assert_ptr_eq(one->governor, one->hardware->governor);
	ck_assert_str_eq(one->thp, "always");
	ck_assert_str_eq(two->thp, "never");
	ck_assert_str_eq(two->rack, "r9");
	ck_assert_str_eq(one->pool->sysctl, "a=1");
	expect_origin(desired, "node001", "kargs", "conf.d/20-b.ini", 2);
	expect_origin(desired, "node001", "governor", "site.ini", 22);
	expect_origin(desired, "node001", "thp", "conf.d/10-a.ini", 3);
	expect_origin(desired, "node002", "thp", "conf.d/20-b.ini", 5);
	expect_origin(desired, "node002", "rack", "conf.d/20-b.ini", 4);
	expect_origin(desired, "node002", "mac", "racks.csv", 3);
	expect_origin(desired, "node002", "image", "site.ini", 32);
	expect_origin(desired, "node002", "zone", "site.ini", 4);
	expect_origin(desired, "node001", "labels", NULL, 0);
	expect_origin(desired, "node001", "rack", NULL, 0);
	expect_origin(desired, "node001", "colour", NULL, 0);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(ranges_are_zipped_by_position)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "nodes = node[001-002]",
		"nodes = node[002,001]\nbmc = \"qemu:///system#n[7-8]\"\n"
		"serial = A[1],B[1]\nrack = r[01]*2\nslot = 4\nzone = z9");
	bu_autofree char *one = bu_testing_replace(site, "inventory = racks.csv\n", "");
	struct bu_desired *desired = load_good(bu_testing_tree("site.ini", one, NULL));
	const struct bu_desired_node *first = bu_desired_node(desired, "node002");
	const struct bu_desired_node *second = bu_desired_node(desired, "node001");

	ck_assert_str_eq(first->bmc, "qemu:///system#n7");
	ck_assert_str_eq(second->bmc, "qemu:///system#n8");
	ck_assert_str_eq(first->serial, "A1");
	ck_assert_str_eq(second->serial, "B1");
	ck_assert_str_eq(second->rack, "r01");
	ck_assert_str_eq(first->slot, "4");
	ck_assert_str_eq(first->zone, "z9");
	expect_origin(desired, "node001", "bmc", "site.ini", 27);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(questions_about_the_profile_are_answered)
{
	static const struct {
		const char *text, *want; /* NULL = refused */
	} rows[] = {
		{"@train", "node[001-002]"},
		{"@*", "node[001-002]"},
		{"@train!node001", "node002"},
		{"zone=z*&node[001-009]", "node[001-002]"},
		{"image=debian12!@train", ""},
		{"@tra", NULL},
		{"rack=r1", NULL},
		{"state=ready", NULL},
	};
	struct bu_desired *desired = load_good(bu_testing_tree(
		"site.ini", bu_testing_site, "racks.csv", bu_testing_racks, NULL));

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};
		bu_autofree char *folded = NULL;
		struct bu_nodeset *nodeset =
			bu_nodeset_parse(rows[i].text, bu_desired_group, desired, &err);

		if (!rows[i].want) {
			ck_assert_msg(!nodeset, "%s", rows[i].text);
			ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
			continue;
		}
		ck_assert_msg(nodeset != NULL, "%s: %s", rows[i].text, err.text);
		folded = bu_nodeset_fold((const char *const *)nodeset->names,
					 nodeset->count);
		ck_assert_str_eq(folded, rows[i].want);
		bu_nodeset_destroy(nodeset);
	}
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(a_drop_in_includes_nothing)
{
	struct bu_tree *tree = bu_testing_tree("site.ini", bu_testing_site, "racks.csv",
					       bu_testing_racks, "conf.d/a.ini",
					       "[site]\ninclude = more.ini\n",
					       "more.ini", "[image x]\n", NULL);
	struct bu_findings findings = {0};
	bu_autofree char *text = NULL;

	ck_assert_ptr_null(bu_profiles_load(tree, &findings));
	text = bu_testing_findings(&findings);
	ck_assert_str_eq(text,
			 "conf.d/a.ini:2: [site] include: has no effect in a drop-in; "
			 "put it into site.ini\n"
			 "more.ini: warning: is not read; [site] include does not name "
			 "it\n");
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
}
END_TEST

START_TEST(limits_are_nodes_of_the_pool)
{
	bu_autofree char *one =
		bu_testing_replace(bu_testing_site, "node[001-002]", "node[001-010]");
	bu_autofree char *two = bu_testing_replace(
		one, "max_unavailable = 50 %",
		"max_unavailable = 50 %\ncanary = 2\nfailure_budget = 30 %\n"
		"drain_deadline = 2 h\nserial = S[1-10]\n"
		"bmc = \"qemu:///system#n[1-10]\"");
	bu_autofree char *three =
		bu_testing_replace(two, "10.78.0.11,10.78.0.12", "10.78.0.[11-20]");
	bu_autofree char *site =
		bu_testing_replace(three, "10.77.0.[11-14]", "10.77.0.[11-20]");
	struct bu_desired *desired = load_good(
		bu_testing_tree("site.ini", site, "racks.csv", bu_testing_racks, NULL));

	ck_assert_int_eq(desired->pools[0].max_unavailable, 5);
	ck_assert_int_eq(desired->pools[0].canary, 2);
	ck_assert_int_eq(desired->pools[0].failure_budget, 3);
	ck_assert_int_eq(desired->pools[0].drain_deadline_ms, 7200000);
	ck_assert_str_eq(bu_desired_node(desired, "node002")->serial, "LAB-002");
	ck_assert_str_eq(bu_desired_node(desired, "node003")->serial, "S3");
	bu_desired_destroy(desired);
}
END_TEST

/* Only what is not a file on the appliance has no path. */
START_TEST(a_cluster_keeps_the_reference_of_its_secret)
{
	bu_autofree char *site =
		bu_testing_replace(bu_testing_site, "driver = slurm",
				   "driver = slurm\nmunge_key = credential:munge.key");
	struct bu_desired *desired = load_good(
		bu_testing_tree("site.ini", site, "racks.csv", bu_testing_racks, NULL));

	ck_assert_str_eq(desired->clusters[0].key, "credential:munge.key");
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(empty_and_strange_trees_are_refused)
{
	struct bu_tree *tree = bu_testing_tree("other.ini", "[site]\n", NULL);
	struct bu_findings findings = {0};
	bu_autofree char *text = NULL;
	struct bu_err err;

	ck_assert_ptr_null(bu_profiles_load(tree, &findings));
	text = bu_testing_findings(&findings);
	ck_assert_str_eq(text,
			 "site.ini: is missing; a profile tree starts there, with "
			 "[site]\n");
	ck_assert_int_eq(bu_findings_err(&findings, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_str_eq(err.text, "site.ini: is missing; a profile tree starts there, "
				   "with [site]");
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
}
END_TEST

/* None at all is a number, too; what is less is none. */
START_TEST(a_threshold_may_be_zero)
{
	static const struct {
		const char *value;
		int ok;
	} rows[] = {{"0", 1}, {"0.5", 1}, {"-1", 0}, {"1x", 0}, {"", 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *to = bu_xasprintf(
			"fabric = fabric\nthresholds = memory_gbs=%s\n", rows[i].value);
		bu_autofree char *site =
			bu_testing_replace(bu_testing_site, "fabric = fabric\n", to);
		struct bu_desired *desired = NULL;
		bu_autofree char *found =
			bu_testing_check(site, bu_testing_racks, &desired);

		ck_assert_msg((desired != NULL) == rows[i].ok, "%s: %s", rows[i].value,
			      found);
		bu_desired_destroy(desired);
	}
}
END_TEST

/* All that a line of an answer has room for. */
START_TEST(errors_are_named_as_far_as_they_fit)
{
	struct bu_findings findings = {0};
	struct bu_err err;

	bu_findings_add(&findings, BU_FINDING_WARNING, "a.ini", 1, "is old");
	bu_findings_add(&findings, BU_FINDING_ERROR, "a.ini", 2, "is wrong");
	bu_findings_add(&findings, BU_FINDING_ERROR, "a.ini", 3, "is worse");
	bu_findings_add(&findings, BU_FINDING_ERROR, "b.ini", 4, "is worst");
	ck_assert_int_eq(bu_findings_err(&findings, &err), -1);
	ck_assert_str_eq(err.text, "a.ini:2: is wrong; a.ini:3: is worse; b.ini:4: is "
				   "worst");
	bu_findings_add(&findings, BU_FINDING_ERROR, "b.ini", 5, "%0300d", 1);
	ck_assert_int_eq(bu_findings_err(&findings, &err), -1);
	ck_assert_str_eq(err.text, "a.ini:2: is wrong; a.ini:3: is worse; b.ini:4: is "
				   "worst (and 1 more error; bringup check shows those "
				   "of the tree)");
	bu_findings_clear(&findings);
}
END_TEST

START_TEST(a_line_has_a_longest_length)
{
	char zone[BU_INI_LINE_MAX + 20];
	bu_autofree char *site = NULL, *text = NULL, *longer = NULL;
	struct bu_desired *desired;

	memset(zone, 'z', sizeof(zone));
	memcpy(zone, "# ", 2);
	zone[BU_INI_LINE_MAX] = '\0';
	site = bu_testing_replace(bu_testing_site, "zone = z1", zone);
	text = bu_testing_check(site, bu_testing_racks, &desired);
	ck_assert_str_eq(text, "");
	bu_desired_destroy(desired);
	free(text);
	zone[BU_INI_LINE_MAX] = 'z';
	zone[BU_INI_LINE_MAX + 1] = '\0';
	longer = bu_testing_replace(bu_testing_site, "zone = z1", zone);
	text = bu_testing_check(longer, bu_testing_racks, &desired);
	ck_assert_str_eq(text, "site.ini:4: [site] the line is longer than 1000 bytes; "
			       "shorten it, an entry is one line\n");
}
END_TEST

/* What iniparser did not read is never taken from the scanner alone. */
START_TEST(without_iniparser_nothing_is_accepted)
{
	struct rlimit limit;
	struct bu_desired *desired;
	bu_autofree char *text = NULL;
	int next = dup(0);

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	close(next);
	limit.rlim_cur = (rlim_t)next + 1; /* room for the memfd alone */
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	text = bu_testing_check(bu_testing_site, bu_testing_racks, &desired);
	ck_assert_ptr_null(desired);
	ck_assert_ptr_nonnull(strstr(text,
				     "[pool train] is refused by iniparser, which "
				     "needs /proc and a free file descriptor\n"));
}
END_TEST

/* Of a section and a key that are longer together than iniparser can look up. */
START_TEST(what_iniparser_cuts_is_refused)
{
	char name[601], key[601];
	bu_autofree char *wanted = NULL, *site = NULL, *text = NULL;
	struct bu_desired *desired;

	memset(name, 'n', 600);
	memset(key, 'k', 600);
	name[600] = key[600] = '\0';
	site = bu_xasprintf("%s\n[pool %s]\n%s = x\n", bu_testing_site, name, key);
	text = bu_testing_check(site, bu_testing_racks, &desired);
	ck_assert_ptr_null(desired);
	wanted = bu_xasprintf("[pool %s] %.80s: is read differently by iniparser", name,
			      key);
	ck_assert_msg(strstr(text, wanted) != NULL, "%s", text);
}
END_TEST

START_TEST(the_demo_is_right)
{
	struct bu_err err;
	struct bu_tree *tree = bu_tree_load(BU_SRCDIR "/profiles/demo", &err);
	struct bu_findings findings = {0};
	struct bu_desired *desired;
	bu_autofree char *text = NULL;
	char address[INET_ADDRSTRLEN];

	ck_assert_msg(tree != NULL, "%s", tree ? "" : err.text);
	desired = bu_profiles_load(tree, &findings);
	text = bu_testing_findings(&findings);
	ck_assert_str_eq(text, "");
	ck_assert_ptr_nonnull(desired);
	ck_assert_uint_eq(desired->nodes_count, 2);
	ck_assert_str_eq(desired->nodes[0].mac, "52:54:00:77:00:01");
	ck_assert_int_eq(
		bu_desired_node_address(
			&desired->nodes[0],
			bu_desired_node_network(&desired->nodes[0], BU_ROLE_BOOT),
			address),
		0);
	ck_assert_str_eq(address, "10.77.0.11");
	bu_desired_destroy(desired);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
}
END_TEST

/* Quadratic work anywhere would take minutes here; the bound is far above the need. */
START_TEST(ten_thousand_nodes_load)
{
	char *racks = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&racks, &size);
	bu_autofree char *one = NULL, *two = NULL, *site = NULL, *text = NULL;
	struct bu_desired *desired;

	fprintf(out, "name,mac,serial,bmc\n");
	for (int i = 1; i <= 10000; i++)
		fprintf(out,
			"node%05d,52:54:00:%02x:%02x:%02x,S%d,qemu:///system#n%d\n", i,
			i >> 16, (i >> 8) & 255, i & 255, i, i);
	fprintf(out, "\n");
	fclose(out);
	one = bu_testing_replace(bu_testing_site, "node[001-002]", "node[00001-10000]");
	two = bu_testing_replace(one, "10.77.0.0/24\naddresses = 10.77.0.[11-14]",
				 "10.76.0.0/16\naddresses = 10.76.[1-40].[1-250]");
	site = bu_testing_replace(two,
				  "10.78.0.0/24\naddresses = 10.78.0.11,10.78.0.12",
				  "10.78.0.0/16\naddresses = 10.78.[1-40].[1-250]");
	text = bu_testing_check(site, racks, &desired);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(desired->nodes_count, 10000);
	bu_desired_destroy(desired);
	free(racks);
}
END_TEST

/* What a rule forbids is for the plan to refuse: the state is there, and the findings
 * can be left to it. */
START_TEST(what_policy_forbids_is_no_error)
{
	bu_autofree char *site =
		bu_testing_replace(bu_testing_site, "[image debian12]",
				   "[policy]\nresidency = ae-*\n[image debian12]");
	struct bu_tree *tree = bu_testing_tree("site.ini", site, "racks.csv",
					       bu_testing_racks, "more.ini", "", NULL);
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);

	ck_assert_ptr_nonnull(desired);
	ck_assert_uint_eq(findings.errors, 0);
	ck_assert_uint_eq(findings.violations, 3); /* nodes, image, cluster */
	ck_assert_uint_eq(findings.warnings, 1);   /* more.ini is not read */
	bu_findings_drop(&findings, BU_FINDING_POLICY);
	ck_assert_uint_eq(findings.violations, 0);
	ck_assert_uint_eq(findings.count, 1);
	ck_assert_int_eq(findings.items[0].level, BU_FINDING_WARNING);
	for (int i = 0; i < BU_FINDINGS_MAX + 5; i++)
		bu_findings_add(&findings, BU_FINDING_POLICY, "x", 1, "y");
	ck_assert_uint_eq(findings.left_out, 6);
	bu_findings_drop(&findings, BU_FINDING_POLICY);
	ck_assert_uint_eq(findings.left_out, 0);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
}
END_TEST

BU_UNIT("load", what_policy_forbids_is_no_error, each_value_has_the_origin_that_won,
	ranges_are_zipped_by_position, limits_are_nodes_of_the_pool,
	questions_about_the_profile_are_answered, a_drop_in_includes_nothing,
	a_cluster_keeps_the_reference_of_its_secret, good_profile_becomes_typed_state,
	node_section_goes_over_inventory_and_pool,
	comments_quotes_and_line_ends_do_not_matter,
	includes_are_read_once_and_the_rest_is_named, a_line_has_a_longest_length,
	empty_and_strange_trees_are_refused, errors_are_named_as_far_as_they_fit,
	a_threshold_may_be_zero, without_iniparser_nothing_is_accepted,
	what_iniparser_cuts_is_refused, how_long_a_firmware_may_take, the_demo_is_right,
	ten_thousand_nodes_load)
