/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two names for one machine, addresses that are somebody else's, and what no driver
 * does: each is said with file and line.
 */
#include <string.h>

#include "profiles/language/schema.h"
#include "profiles/load/reserved.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

/* What is found with these racks, and power = redfish where it says so. */
static char *
found(const char *racks, int redfish)
{
	bu_autofree char *site =
		redfish ? bu_testing_replace(bu_testing_site, "power = libvirt",
					     "power = redfish")
			: bu_xstrdup(bu_testing_site);
	struct bu_desired *desired;
	char *text = bu_testing_check(site, racks, &desired);

	bu_desired_destroy(desired);
	return text;
}

START_TEST(one_machine_has_one_name)
{
#define HEAD "name,mac,serial,bmc\n"
#define ONE(serial, bmc) "node001,52:54:00:77:00:01," serial "," bmc "\n"
#define TWO(serial, bmc) "node002,52:54:00:77:00:02," serial "," bmc "\n"
	static const struct {
		int redfish;
		const char *racks, *want;
	} rows[] = {
		{1, HEAD ONE("A", "https://b1") TWO("B", "https://b2"), ""},
		{1, HEAD ONE("SN-1a", "https://b1") TWO("sn-1A", "https://b2"),
		 "racks.csv:3: [node node002] serial: 'sn-1A' is that of node "
		 "'node001' "
		 "(racks.csv:2); each machine has its own\n"},
		/* One controller, written in other ways, */
		{1, HEAD ONE("A", "https://B1.oob/") TWO("B", "https://b1.oob:443"),
		 "racks.csv:3: [node node002] bmc: 'https://b1.oob:443' is that of "
		 "node "
		 "'node001' (racks.csv:2); each machine has its own\n"},
		/* and several: by port, by path of the system. */
		{1, HEAD ONE("A", "https://b1:4430") TWO("B", "https://b1:443"), ""},
		{1,
		 HEAD ONE("A", "https://b1/redfish/v1/Systems/1")
			 TWO("B", "https://b1/redfish/v1/Systems/2"),
		 ""},
		{0, HEAD ONE("A", "qemu:///system#x") TWO("B", "qemu:///system#x"),
		 "racks.csv:3: bmc: 'qemu:///system#x' is in line 2 already; each "
		 "machine has its own\n"},
		{0, HEAD ONE("A", "qemu:///system#x") TWO("B", "qemu:///system#X"), ""},
		/* One UUID, in the order of the firmware and in that of a BMC. */
		{0,
		 "name,mac,bmc,uuid\n"
		 "node001,52:54:00:77:00:01,qemu:///system#x,4c4c4544-0042-3510-8053-b4c04f4e4d32\n"
		 "node002,52:54:00:77:00:02,qemu:///system#y,44454C4C-4200-1035-8053-B4C04F4E4D32\n",
		 "racks.csv:3: [node node002] uuid: "
		 "'44454C4C-4200-1035-8053-B4C04F4E4D32' is that of node 'node001' "
		 "(racks.csv:2); each machine has its own\n"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = found(rows[i].racks, rows[i].redfish);

		ck_assert_msg(strcmp(text, rows[i].want) == 0, "row %zu: %s", i, text);
	}
}
END_TEST

/* As if the cell were empty. */
START_TEST(placeholders_identify_no_machine)
{
	static const struct {
		const char *racks, *want;
	} rows[] = {
		{"name,mac,serial,bmc\n" ONE("N/A", "https://b1")
			 TWO("n/a", "https://b2"),
		 "racks.csv:2: warning: [node node001] serial: 'N/A' is a placeholder, "
		 "which identifies no machine; left out, as on 1 other node\n"},
		{"name,mac,serial,bmc\n" ONE("To be filled by O.E.M.", "https://b1")
			 TWO("0123456789", "https://b2"),
		 "racks.csv:2: warning: [node node001] serial: 'To be filled by O.E.M.' "
		 "is a placeholder, which identifies no machine; left out, as on 1 "
		 "other node\n"},
		{"name,mac,serial,bmc\nnode001,N/A,none,https://b1\n" TWO("B",
									  "https://b2"),
		 "racks.csv:2: [node node001] serial: 'none' is a placeholder, which "
		 "identifies no machine; a machine needs a MAC, a serial number or a "
		 "UUID\n"},
		{"name,serial,uuid,bmc\n"
		 "node001,Default string,03000200-0400-0500-0006-000700080009,https://b1\n"
		 "node002,B,n/a,https://b2\n",
		 "racks.csv:2: [node node001] serial: 'Default string' is a "
		 "placeholder, which identifies no machine; a machine needs a MAC, a "
		 "serial number or a UUID\n"
		 "racks.csv:3: warning: [node node002] uuid: 'n/a' is a placeholder, "
		 "which identifies no machine; left out\n"},
		/* a UUID is enough */
		{"name,uuid,bmc\n"
		 "node001,4c4c4544-0042-3510-8053-b4c04f4e4d32,https://b1\n"
		 "node002,4c4c4544-0042-3510-8053-b4c04f4e4d33,https://b2\n",
		 ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = found(rows[i].racks, 1);

		ck_assert_msg(strcmp(text, rows[i].want) == 0, "row %zu: %s", i, text);
	}
}
END_TEST

/* What a shared BMC switches off is the wrong machine. */
START_TEST(two_spellings_of_one_bmc_are_refused_with_both_places)
{
	static const struct {
		const char *power, *one, *two;
	} rows[] = {
		{"ipmi", "10.1.0.1", "10.1.0.1:623"},
		{"ipmi", "bmc1.oob", "bmc1.oob."},
		{"ipmi", "bmc1.oob", "BMC1.oob"},
		{"ipmi", "fd00::5", "[FD00:0::05]:623"},
		{"ipmi", "[::ffff:10.1.0.1]", "10.1.0.1"},
		{"redfish", "https://b1", "https://B1.:443/redfish/v1/"},
		{"redfish", "https://10.1.0.1", "https://[::ffff:a01:1]:443"},
		/* the only system of a BMC, and its name there */
		{"redfish", "https://b1", "https://b1/redfish/v1/Systems/1"},
		{"redfish", "https://b1/redfish/v1/Systems/1/", "https://b1"},
		{"libvirt", "qemu:///system#x", "qemu+unix:///system#x"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *power = bu_xasprintf("power = %s", rows[i].power);
		bu_autofree char *site =
			bu_testing_replace(bu_testing_site, "power = libvirt", power);
		bu_autofree char *racks = bu_xasprintf(
			HEAD ONE("A", "%s") TWO("B", "%s"), rows[i].one, rows[i].two);
		struct bu_desired *desired;
		bu_autofree char *text = bu_testing_check(site, racks, &desired);

		ck_assert_ptr_null(desired);
		ck_assert_msg(
			strstr(text, "racks.csv:3: [node node002] bmc: '") ||
				strstr(text, "racks.csv:2: [node node001] bmc: '"),
			"%s %s: %s", rows[i].one, rows[i].two, text);
		ck_assert_msg(
			strstr(text, "that of node 'node001' (racks.csv:2)") ||
				strstr(text, "that of node 'node002' (racks.csv:3)"),
			"%s %s: %s", rows[i].one, rows[i].two, text);
	}
}
END_TEST

/* The boot NIC of one is not a NIC of another. */
START_TEST(a_mac_of_another_network_is_one_too)
{
	bu_autofree char *site = bu_testing_replace(
		bu_testing_site, "[image debian12]",
		"[image debian12]\n[node node001]\n"
		"nics = fabric=52:54:00:77:00:02, boot=52:54:00:77:00:01");
	struct bu_desired *desired;
	bu_autofree char *text = bu_testing_check(site, bu_testing_racks, &desired);

	ck_assert_str_eq(text, "racks.csv:3: [node node002] mac: '52:54:00:77:00:02' "
			       "is that of node 'node001' (site.ini:19); each machine "
			       "has its own\n");
	bu_desired_destroy(desired);
}
END_TEST

/* A node's name in a network, and that of its controller, are names as well. */
START_TEST(a_name_has_one_address)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{"node001-fabric",
		 "racks.csv:3: [node node001-fabric] the name 'node001-fabric' is also "
		 "one of node 'node001' (racks.csv:2), with another address; rename one "
		 "of them\n"},
		{"node001-bmc",
		 "racks.csv:3: [node node001-bmc] the name 'node001-bmc' is also one of "
		 "node 'node001' (racks.csv:2), with another address; rename one of "
		 "them\n"},
		{"node001-other", ""},
		{"a-name-of-59-characters-is-no-name-with-its-network-behind--0",
		 "racks.csv:3: [node "
		 "a-name-of-59-characters-is-no-name-with-its-network-behind--0] its "
		 "name "
		 "'a-name-of-59-characters-is-no-name-with-its-network-behind--0-"
		 "fabric' is longer than the 63 characters of a DNS name; call the node "
		 "or the network shorter\n"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *nodes =
			bu_xasprintf("nodes = node001,%s\n", rows[i].name);
		bu_autofree char *redfish = bu_testing_replace(
			bu_testing_site, "power = libvirt", "power = redfish");
		bu_autofree char *site =
			bu_testing_replace(redfish, "nodes = node[001-002]\n", nodes);
		bu_autofree char *racks = bu_xasprintf(
			HEAD ONE("A", "https://10.1.0.1") "%s,,B,https://b2\n",
			rows[i].name);
		struct bu_desired *desired;
		bu_autofree char *text = bu_testing_check(site, racks, &desired);

		ck_assert_str_eq(text, rows[i].want);
		bu_desired_destroy(desired);
	}
}
END_TEST

/* What bringupd adds at a plan. */
START_TEST(no_node_gets_what_bringupd_has_itself)
{
	static const struct {
		const char *reserved, *want;
	} rows[] = {
		{"10.77.0.1", ""},
		{"10.77.0.13", ""}, /* in the list, of no node */
		{"10.77.0.12", "site.ini:9: [network boot] addresses: 10.77.0.12 of "
			       "node 'node002' is ours; take it out\n"},
		{"10.77.0.10,10.77.0.20",
		 "site.ini:9: [network boot] addresses: 10.77.0.11 of node 'node001' "
		 "(and 1 more) is ours; take it out\n"},
		{"10.78.0.12,10.78.0.12", "site.ini:13: [network fabric] addresses: "
					  "10.78.0.12 of node 'node002' "
					  "is ours; take it out\n"},
		{"10.99.0.5", "racks.csv:2: [node node001] bmc: "
			      "'https://10.99.0.5/' is ours; give the controller's\n"},
	};
	bu_autofree char *site = bu_testing_replace(bu_testing_site, "power = libvirt",
						    "power = redfish");
	struct bu_desired *desired;
	bu_autofree char *found = bu_testing_check(
		site,
		"name,mac,serial,bmc\nnode001,52:54:00:77:00:01,A,https://10.99.0.5/\n"
		"node002,52:54:00:77:00:02,B,https://b2\n",
		&desired);

	ck_assert_msg(desired != NULL, "%s", found);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_findings findings = {0};
		struct bu_reserved reserved;
		bu_autofree char *said = NULL;

		ck_assert_int_eq(bu_reserved_parse(rows[i].reserved, "ours", &reserved),
				 0);
		bu_reserved_check(desired, &reserved, 1, &findings);
		said = bu_testing_findings(&findings);
		ck_assert_str_eq(said, rows[i].want);
		bu_findings_clear(&findings);
	}
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(what_is_no_address_is_not_reserved)
{
	static const char *const bad[] = {"", "10.77.0", "10.77.0.1,", "a,b"};
	struct bu_reserved reserved;

	for (size_t i = 0; i < BU_LEN(bad); i++)
		ck_assert_int_eq(bu_reserved_parse(bad[i], "ours", &reserved), -1);
}
END_TEST

BU_UNIT("machines", a_name_has_one_address, placeholders_identify_no_machine,
	two_spellings_of_one_bmc_are_refused_with_both_places, one_machine_has_one_name,
	a_mac_of_another_network_is_one_too, no_node_gets_what_bringupd_has_itself,
	what_is_no_address_is_not_reserved)
