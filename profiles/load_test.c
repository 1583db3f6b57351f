/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong profiles and the exact messages that they get; what a good one becomes. */
#include "profiles/load.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "profiles/scan.h"
#include "profiles/testing.h"
#include "tests/support/unit.h"

/* Each row changes one thing in the good profile and names all findings. */
static const struct wrong {
	const char *from, *to; /* in site.ini, or in racks.csv when it is not there */
	const char *want;
} wrongs[] = {
	/* syntax, mostly what iniparser would silently misread */
	{"name = lab", "name = lab\nname = falcon",
	 "site.ini:4: [site] name: was given in line 3 already; give it once\n"},
	{"[image debian12]", "[image debian12]\n[image debian12]",
	 "site.ini:18: [image debian12] is in site.ini:17 already; put all of its keys "
	 "there\n"},
	{"[image debian12]", "[image [1-2]]",
	 "site.ini:17: '[image [1-2]]' is no section; a line '[kind name]' holds one "
	 "']', "
	 "at its end, and no comment\n"
	 "site.ini:29: [pool train] image: there is no [image debian12]; allowed is "
	 "the "
	 "name of a [image] section\n"},
	{"[hardware vm]", "[hardware vm] ; the lab",
	 "site.ini:18: '[hardware vm] ; the lab' is no section; a line '[kind name]' "
	 "holds "
	 "one ']', at its end, and no comment\n"
	 "site.ini:28: [pool train] hardware: there is no [hardware vm]; allowed is "
	 "the "
	 "name of a [hardware] section\n"},
	{"[cluster hpc]", "[Cluster hpc]",
	 "site.ini:21: [Cluster hpc]: is no section name; allowed is '[kind]' or "
	 "'[kind "
	 "name]' of lower-case letters, digits, '-', '_' and '.'\n"
	 "site.ini:32: [pool train] cluster: there is no [cluster hpc]; allowed is the "
	 "name of a [cluster] section\n"},
	{"disk = /dev/vda", "Disk = /dev/vda",
	 "site.ini:18: [hardware vm] disk: is missing; it says: the only disk that is "
	 "ever "
	 "written\n"
	 "site.ini:19: [hardware vm] 'Disk = /dev/vda' is no entry; allowed is 'key = "
	 "value', the key of lower-case letters, digits, '-', '_' and '.'\n"},
	{"gres = rdma:rxe:1", "kargs = a#b",
	 "site.ini:35: [pool train] kargs: '#' inside a value; put the value in "
	 "quotes, or "
	 "a blank before the comment\n"},
	{"gres = rdma:rxe:1", "kargs = a;b",
	 "site.ini:35: [pool train] kargs: ';' inside a value; put the value in "
	 "quotes, or "
	 "a blank before the comment\n"},
	{"gres = rdma:rxe:1", "kargs = \"quiet",
	 "site.ini:35: [pool train] kargs: has a wrong quote; a quoted value ends with "
	 "the "
	 "same quote, and only a comment may follow\n"},
	{"gres = rdma:rxe:1", "kargs = \"quiet\" more",
	 "site.ini:35: [pool train] kargs: has a wrong quote; a quoted value ends with "
	 "the "
	 "same quote, and only a comment may follow\n"},
	{"gres = rdma:rxe:1", "gres =",
	 "site.ini:35: [pool train] gres: has no value; give one or leave the line "
	 "out\n"},
	{"gres = rdma:rxe:1", "gres = # later",
	 "site.ini:35: [pool train] gres: has no value; give one or leave the line "
	 "out\n"},
	{"gres = rdma:rxe:1", "gres",
	 "site.ini:35: [pool train] 'gres' is no entry; allowed is 'key = value', the "
	 "key "
	 "of lower-case letters, digits, '-', '_' and '.'\n"},
	{"features = rxe, lab", "features = rxe, \\\n  lab",
	 "site.ini:34: [pool train] ends with '\\'; an entry is one line, there is no "
	 "continuation\n"
	 "site.ini:35: [pool train] 'lab' is no entry; allowed is 'key = value', the "
	 "key "
	 "of lower-case letters, digits, '-', '_' and '.'\n"},
	{"zone = z1", "# a comment \\",
	 "site.ini:4: [site] ends with '\\'; an entry is one line, there is no "
	 "continuation\n"},
	{"[site]\n", "colour = red\n[site]\n",
	 "site.ini:1: 'colour = red' stands before the first section; start with "
	 "'[kind "
	 "name]'\n"},
	{"zone = z1", "zone = z\x01",
	 "site.ini:4: [site] holds the control character 0x01; profiles are plain "
	 "text\n"},
	/* unknown and missing */
	{"power = libvirt", "powr = libvirt",
	 "site.ini:26: [pool train] power: is missing; it says: how its machines are "
	 "switched on and off\n"
	 "site.ini:30: [pool train] powr: is an unknown key (did you mean 'power'?); "
	 "the "
	 "reference lists what [pool] may hold\n"},
	{"[validation pairs]", "[validatoin pairs]",
	 "site.ini:24: [validatoin pairs] is an unknown section (did you mean "
	 "'validation'?); allowed is site, network, image, hardware, cluster, "
	 "validation, "
	 "pool, node\n"
	 "site.ini:33: [pool train] validation: there is no [validation pairs]; "
	 "allowed is "
	 "the name of a [validation] section\n"},
	{"format = 1", "format = 2",
	 "site.ini:2: [site] format: '2' is unknown; allowed is 1\n"},
	{"[image debian12]", "[image debian12]\n[image]",
	 "site.ini:18: [image] has no name; write [image NAME]\n"},
	{"[site]", "[site lab]", "site.ini:1: [site lab] has a name; write [site]\n"},
	{"image = debian12", "image = debain12",
	 "site.ini:29: [pool train] image: there is no [image debain12] (did you mean "
	 "'debian12'?); allowed is the name of a [image] section\n"},
	{"inventory = racks.csv", "inventory = rack.csv",
	 "site.ini:5: [site] inventory: there is no file 'rack.csv' in the tree\n"
	 "site.ini:27: [node node001] bmc: is missing; power = libvirt takes a libvirt "
	 "URI "
	 "and a domain, like qemu:///system#node001\n"
	 "site.ini:27: [node node001] mac: is missing, and serial too; a machine is "
	 "recognised by one of them\n"
	 "site.ini:27: [node node002] bmc: is missing; power = libvirt takes a libvirt "
	 "URI "
	 "and a domain, like qemu:///system#node001\n"
	 "site.ini:27: [node node002] mac: is missing, and serial too; a machine is "
	 "recognised by one of them\n"},
	{"zone = z1", "include = more/*.ini",
	 "site.ini:4: [site] include: 'more/*.ini' matches no *.ini file of the "
	 "tree\n"},
	/* values */
	{"role = boot", "role = management",
	 "site.ini:7: [network boot] role: 'management' is unknown; allowed is "
	 "boot|fabric\n"},
	{"cidr = 10.77.0.0/24", "cidr = 10.77.0.0",
	 "site.ini:8: [network boot] cidr: '10.77.0.0' is wrong; allowed is a network "
	 "like "
	 "10.78.0.0/24\n"},
	{"cidr = 10.77.0.0/24", "cidr = 10.77.0.1/24",
	 "site.ini:8: [network boot] cidr: '10.77.0.1/24' has host bits set; the "
	 "network "
	 "is 10.77.0.0/24\n"},
	{"cidr = 10.77.0.0/24", "cidr = 10.77.0.0/31",
	 "site.ini:8: [network boot] cidr: '10.77.0.0/31' is wrong; allowed is a "
	 "network "
	 "like 10.78.0.0/24, prefix /8 to /30\n"},
	{"10.77.0.[11-14]", "10.77.1.[11-14]",
	 "site.ini:9: [network boot] addresses: '10.77.1.11' is not a host's address "
	 "of "
	 "the network; allowed are those inside cidr\n"},
	{"10.77.0.[11-14]", "10.77.0.[11-300]",
	 "site.ini:9: [network boot] addresses: '10.77.0.255' is not a host's address "
	 "of "
	 "the network; allowed are those inside cidr\n"},
	{"10.77.0.[11-14]", "10.77.0.11",
	 "site.ini:9: [network boot] addresses: holds 1 addresses for 2 nodes; give "
	 "one for "
	 "each\n"},
	{"10.77.0.[11-14]", "10.77.0.[11-12],10.77.0.11",
	 "site.ini:9: [network boot] addresses: names 10.77.0.11 twice; each address "
	 "once\n"},
	{"nic = 1", "nic = one",
	 "site.ini:14: [network fabric] nic: 'one' is wrong; allowed is a whole "
	 "number\n"
	 "site.ini:31: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give "
	 "each network a NIC of its own\n"},
	{"nic = 1", "nic = 64",
	 "site.ini:14: [network fabric] nic: '64' is out of range; allowed is 0 to 63\n"
	 "site.ini:31: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give "
	 "each network a NIC of its own\n"},
	{"link_gbps = 0.02", "link_gbps = fast",
	 "site.ini:16: [network fabric] link_gbps: 'fast' is wrong; allowed is a "
	 "number\n"
	 "site.ini:25: [validation pairs] fabric: [network fabric] has no link_gbps, "
	 "of "
	 "which bw_min is a part\n"},
	{"disk = /dev/vda", "disk = vda",
	 "site.ini:19: [hardware vm] disk: 'vda' is wrong; allowed is an absolute "
	 "path\n"},
	{"nics = 2", "memory_min = 16 GB",
	 "site.ini:20: [hardware vm] memory_min: '16 GB' is wrong; allowed is a size "
	 "like "
	 "16 GiB; units B, KiB, MiB, GiB, TiB\n"},
	{"controller = 10.77.0.1:6817", "controller = 10.77.0.1",
	 "site.ini:23: [cluster hpc] controller: '10.77.0.1' is wrong; allowed is "
	 "'address:port'\n"},
	{"driver = slurm", "driver = slurm\nmunge_key = s3cret",
	 "site.ini:23: [cluster hpc] munge_key: 's3cret' is wrong; allowed is a "
	 "reference "
	 "'file:/path'; a secret never stands in a profile\n"},
	{"fabric = fabric", "fabric = fabric\nbw_min = 80",
	 "site.ini:26: [validation pairs] bw_min: '80' is wrong; allowed is a "
	 "percentage "
	 "like 80 %\n"},
	{"fabric = fabric", "fabric = fabric\nbw_min = 120 %",
	 "site.ini:26: [validation pairs] bw_min: '120 %' is out of range; allowed is "
	 "1 to "
	 "100\n"},
	{"fabric = fabric", "fabric = fabric\ndeadline = 2 days",
	 "site.ini:26: [validation pairs] deadline: '2 days' is wrong; allowed is a "
	 "time "
	 "like 90 s; units ms, s, m, h, d\n"},
	{"fabric = fabric", "fabric = fabric\ndeadline = 2 d",
	 "site.ini:26: [validation pairs] deadline: '2 d' is out of range; allowed is "
	 "1 s "
	 "to 86400 s\n"},
	{"max_unavailable = 50 %", "max_unavailable = 0",
	 "site.ini:36: [pool train] max_unavailable: '0' is out of range; allowed is 1 "
	 "to "
	 "100000\n"},
	{"gres = rdma:rxe:1", "gres = rdma rxe",
	 "site.ini:35: [pool train] gres: 'rdma rxe' is wrong; allowed is words with "
	 "commas between them\n"},
	{"nodes = node[001-002]", "nodes = node[002-001]",
	 "site.ini:27: [pool train] nodes: 'node[002-001]' holds the inverted range "
	 "2-1; "
	 "write the smaller number first\n"},
	{"nodes = node[001-002]", "nodes = node[001-002],node001",
	 "site.ini:27: [pool train] nodes: names 'node001' twice\n"},
	/* combinations */
	{"cidr = 10.78.0.0/24\naddresses = 10.78.0.11,10.78.0.12",
	 "cidr = 10.77.0.0/16\naddresses = 10.77.9.[1-2]",
	 "site.ini:12: [network fabric] cidr: overlaps with [network boot]; each "
	 "network "
	 "has its own addresses\n"},
	{"rdma = rxe", "rdma = none",
	 "site.ini:25: [validation pairs] fabric: [network fabric] has no RDMA to "
	 "measure; "
	 "give it rdma = rxe or rdma = hardware\n"},
	{"fabric = fabric", "fabric = boot",
	 "site.ini:25: [validation pairs] fabric: [network boot] has another role; "
	 "allowed "
	 "is a network with role = fabric\n"
	 "site.ini:25: [validation pairs] fabric: [network boot] has no RDMA to "
	 "measure; "
	 "give it rdma = rxe or rdma = hardware\n"
	 "site.ini:25: [validation pairs] fabric: [network boot] has no link_gbps, of "
	 "which bw_min is a part\n"},
	{"networks = boot, fabric", "networks = fabric",
	 "site.ini:31: [pool train] networks: holds 0 networks with role = boot; "
	 "allowed "
	 "is exactly one\n"},
	{"networks = boot, fabric", "networks = boot",
	 "site.ini:33: [pool train] validation: measures [network fabric], which the "
	 "pool "
	 "has not; add it to networks\n"},
	{"networks = boot, fabric", "networks = boot, fabric, boot",
	 "site.ini:31: [pool train] networks: names 'boot' twice; name each network "
	 "once\n"},
	{"nics = 2", "nics = 1",
	 "site.ini:31: [pool train] networks: 'fabric' is on nic 1; [hardware vm] has "
	 "NICs "
	 "0 to 0\n"},
	{"validation = pairs", "",
	 "site.ini:26: [pool train] validation: is missing; what joins a cluster is "
	 "validated first\n"},
	{"fabric = fabric", "fabric = fabric\nrun_size = 1 KiB",
	 "site.ini:24: [validation pairs] message_size: is larger than run_size; a run "
	 "holds one message at least\n"},
	{"[image debian12]", "[image debian12]\n[node node03]\nrack = r1",
	 "site.ini:18: [node node03] is in no pool (did you mean 'node001'?); [node "
	 "NAME] "
	 "changes a node that a pool names\n"},
	{"[image debian12]",
	 "[image debian12]\n[node node002]\nmac = 52-54-00-77-00-01",
	 "site.ini:18: [node node002] mac: '52:54:00:77:00:01' is that of node "
	 "'node001' "
	 "(racks.csv:2); each machine has its own\n"},
	{"power = libvirt", "power = redfish",
	 "racks.csv:2: [node node001] bmc: 'qemu:///system#node001' is wrong; power = "
	 "redfish takes an https URL, like https://bmc-gpu001.oob\n"
	 "racks.csv:3: [node node002] bmc: 'qemu:///system#node002' is wrong; power = "
	 "redfish takes an https URL, like https://bmc-gpu001.oob\n"},
	{"nodes = node[001-002]\n",
	 "nodes = node[001-002]\nhardware = vm\nimage = debian12\npower = libvirt\n"
	 "networks = boot\n[pool spare]\nnodes = node002\n",
	 "site.ini:33: [pool spare] nodes: 'node002' is in [pool train] already; a "
	 "node is "
	 "in one pool\n"},
};

static char *
findings_text(const struct bu_findings *findings)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	bu_findings_print(findings, out);
	fclose(out);
	return text;
}

static char *
check_profile(const char *site, const char *racks, struct bu_desired **ret)
{
	struct bu_tree *tree =
		bu_testing_tree("site.ini", site, "racks.csv", racks, NULL);
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);
	char *text = findings_text(&findings);

	ck_assert_int_eq(desired == NULL, findings.errors > 0);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	*ret = desired;
	return text;
}

START_TEST(wrong_profiles_get_exact_messages)
{
	int failed = 0;

	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		const struct wrong *row = &wrongs[i];
		bu_autofree char *site =
			bu_testing_replace(bu_testing_site, row->from, row->to);
		struct bu_desired *desired;
		bu_autofree char *text =
			check_profile(site, bu_testing_racks, &desired);

		bu_desired_destroy(desired);
		if (strcmp(text, row->want) == 0)
			continue;
		failed++;
		fprintf(stderr, "row %zu '%s':\n-- got\n%s-- want\n%s", i, row->to,
			text, row->want);
	}
	ck_assert_int_eq(failed, 0);
}
END_TEST

START_TEST(good_profile_becomes_typed_state)
{
	struct bu_desired *desired;
	bu_autofree char *text =
		check_profile(bu_testing_site, bu_testing_racks, &desired);
	const struct bu_desired_node *node;
	const struct bu_desired_network *fabric;
	char address[INET_ADDRSTRLEN];

	ck_assert_str_eq(text, "");
	ck_assert_str_eq(desired->site.name, "lab");
	ck_assert_uint_eq(desired->nodes_count, 2);
	node = bu_desired_node(desired, "node002");
	ck_assert_ptr_eq(node, &desired->nodes[1]);
	ck_assert_str_eq(node->pool->name, "train");
	ck_assert_str_eq(node->hardware->disk, "/dev/vda");
	ck_assert_str_eq(node->image->name, "debian12");
	ck_assert_str_eq(node->cluster->munge_key_path, "/etc/munge/munge.key");
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
	ck_assert_ptr_eq(bu_desired_node_by_serial(desired, "LAB-002"), node);
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
	bu_autofree char *text = check_profile(site, bu_testing_racks, &desired);
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
	bu_autofree char *text = check_profile(site, bu_testing_racks, &desired);

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
	struct bu_tree *tree = bu_testing_tree(
		"site.ini", site, "racks.csv", bu_testing_racks, "pools/a.ini",
		"[pool empty-one]\npower = ipmi\n", "pools/deep/b.ini", "broken", NULL);
	struct bu_findings findings = {0};
	bu_autofree char *text = NULL;

	ck_assert_ptr_null(bu_profiles_load(tree, &findings));
	text = findings_text(&findings);
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

START_TEST(empty_and_strange_trees_are_refused)
{
	struct bu_tree *tree = bu_testing_tree("other.ini", "[site]\n", NULL);
	struct bu_findings findings = {0};
	bu_autofree char *text = NULL;
	struct bu_err err;

	ck_assert_ptr_null(bu_profiles_load(tree, &findings));
	text = findings_text(&findings);
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

START_TEST(a_line_has_a_longest_length)
{
	char zone[BU_INI_LINE_MAX + 20];
	bu_autofree char *site = NULL, *text = NULL, *longer = NULL;
	struct bu_desired *desired;

	memset(zone, 'z', sizeof(zone));
	memcpy(zone, "# ", 2);
	zone[BU_INI_LINE_MAX] = '\0';
	site = bu_testing_replace(bu_testing_site, "zone = z1", zone);
	text = check_profile(site, bu_testing_racks, &desired);
	ck_assert_str_eq(text, "");
	bu_desired_destroy(desired);
	free(text);
	zone[BU_INI_LINE_MAX] = 'z';
	zone[BU_INI_LINE_MAX + 1] = '\0';
	longer = bu_testing_replace(bu_testing_site, "zone = z1", zone);
	text = check_profile(longer, bu_testing_racks, &desired);
	ck_assert_str_eq(text, "site.ini:4: [site] the line is longer than 1000 bytes; "
			       "split it\n");
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
	text = check_profile(bu_testing_site, bu_testing_racks, &desired);
	ck_assert_ptr_null(desired);
	ck_assert_ptr_nonnull(strstr(text,
				     "[pool train] is refused by iniparser, which "
				     "needs /proc and a free file descriptor\n"));
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
	text = findings_text(&findings);
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
START_TEST(ten_thousand_nodes_load_quickly)
{
	char *racks = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&racks, &size);
	bu_autofree char *one = NULL, *two = NULL, *site = NULL, *text = NULL;
	struct bu_desired *desired;
	int64_t begin;

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
	begin = bu_mono_ns();
	text = check_profile(site, racks, &desired);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(desired->nodes_count, 10000);
	ck_assert_int_lt(bu_mono_ns() - begin, 5000000000LL);
	fprintf(stderr, "10,000 nodes: %lld ms\n",
		(long long)(bu_mono_ns() - begin) / 1000000);
	bu_desired_destroy(desired);
	free(racks);
}
END_TEST

BU_UNIT("load", wrong_profiles_get_exact_messages, good_profile_becomes_typed_state,
	node_section_goes_over_inventory_and_pool,
	comments_quotes_and_line_ends_do_not_matter,
	includes_are_read_once_and_the_rest_is_named, a_line_has_a_longest_length,
	empty_and_strange_trees_are_refused, without_iniparser_nothing_is_accepted,
	the_demo_is_right, ten_thousand_nodes_load_quickly)
