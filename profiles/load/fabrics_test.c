/* SPDX-License-Identifier: Apache-2.0 */
/* Networks of one switch fabric: what they must have in common. */
#include <string.h>

#include "profiles/load/load.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

#define RAIL1 "[network rail1]\nrole = fabric\ncidr = 10.79.0.0/24\nnic = 2\n"
#define ADDRESSES "addresses = 10.79.0.11,10.79.0.12\nlink_gbps = 0.02\n"

#define COUNTED "routing = sprayed\nspines = s1, s2\nswitch_counters = http://h\n"
#define ASKED "routing = sprayed\nspines = s1, s2\nswitch_counters = https://h:9090/x\n"

#define TRACED "spine_addresses = s1=10.9.1.1 10.9.2.1, s2=10.9.1.2 10.9.2.2\n"

/* The good profile; `of_fabric` more in [network fabric], and rail1 with `of_rail1`. */
static char *
check_profile(const char *of_fabric, const char *of_rail1, struct bu_desired **ret)
{
	bu_autofree char *first = bu_xasprintf("rdma = rxe\n%s", of_fabric);
	bu_autofree char *second = bu_xasprintf(RAIL1 ADDRESSES "%s", of_rail1);
	bu_autofree char *text =
		bu_testing_replace(bu_testing_site, "rdma = rxe\n", first);
	bu_autofree char *site = bu_xasprintf("%s%s", text, second);

	return bu_testing_check(site, bu_testing_racks, ret);
}

struct row {
	const char *of_fabric, *of_rail1;
	const char *want; /* a part of what is found; NULL = it is good */
};

static void
check_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct bu_desired *desired = NULL;
		bu_autofree char *found =
			check_profile(rows[i].of_fabric, rows[i].of_rail1, &desired);

		if (rows[i].want)
			ck_assert_msg(!desired && strstr(found, rows[i].want),
				      "%zu: %s", i, found);
		else
			ck_assert_msg(desired != NULL, "%zu: %s", i, found);
		bu_desired_destroy(desired);
	}
}

START_TEST(what_a_fabric_has_in_common)
{
	static const struct row rows[] = {
		{"", "rdma = rxe\n", NULL},
		{"switch_fabric = c\n", "rdma = rxe\nswitch_fabric = c\n", NULL},
		{"switch_fabric = c\n", "rdma = rxe\n",
		 "site.ini:16: [network fabric] switch_fabric: no other network is of "
		 "'c'; give it to those that this one reaches, or take it out\n"},
		{"switch_fabric = c\n", "rdma = rxe\nswitch_fabric = d\n",
		 "no other network is of 'd'"},
		{"switch_fabric = c\n", "rdma = hardware\nswitch_fabric = c\n",
		 "[network rail1] switch_fabric: [network fabric] is of it with another "
		 "rdma"},
		{"switch_fabric = c\npkey = 0xffff\n",
		 "rdma = rxe\nswitch_fabric = c\n",
		 "[network fabric] is of it with another pkey"},
		{"switch_fabric = c\npkey = 0xffff\n",
		 "rdma = rxe\nswitch_fabric = c\npkey = 0x7fff\n", NULL},
		{"switch_fabric = c\n", "switch_fabric = c\n",
		 "[network rail1] switch_fabric: is for RDMA"},
		{"rail_gateway = 10.78.0.1\n", "rdma = rxe\nrail_gateway = 10.79.0.1\n",
		 NULL},
		{"rail_gateway = 10.79.0.1\n", "rdma = rxe\n",
		 "[network fabric] rail_gateway: 10.79.0.1 is not in 10.78.0.0/24; a "
		 "gateway must be inside the network"},
		{"rail_gateway = 10.78.0.11\n", "rdma = rxe\n",
		 "[network fabric] rail_gateway: 10.78.0.11 is the address of node "
		 "'node001'; take it out of addresses"},
		{"switch_fabric = a b\n", "rdma = rxe\nswitch_fabric = a b\n",
		 "'a b' is wrong"},
	};

	check_rows(rows, BU_LEN(rows));
}
END_TEST

START_TEST(switches_are_asked_in_one_way)
{
	static const struct row rows[] = {
		{COUNTED "switch_fabric = c\n",
		 "rdma = rxe\n" COUNTED "switch_fabric = c\n", NULL},
		{COUNTED "switch_fabric = c\n", "rdma = rxe\nswitch_fabric = c\n",
		 "[network fabric] is of it with other switch_counters, other keys of "
		 "it or other spines"},
		{COUNTED "switch_fabric = c\n",
		 "rdma = rxe\nrouting = sprayed\nspines = s1, s3\n"
		 "switch_counters = http://h\nswitch_fabric = c\n",
		 "[network fabric] is of it with other switch_counters"},
		{ASKED "switch_fabric = c\n",
		 "rdma = rxe\n" ASKED "switch_fabric = c\n", NULL},
		{ASKED "switch_fabric = c\n",
		 "rdma = rxe\n" ASKED "switch_sent = b\nswitch_fabric = c\n",
		 "[network fabric] is of it with other switch_counters"},
		{ASKED "switch_fabric = c\n",
		 "rdma = rxe\n" ASKED "switch_delay = 1 m\nswitch_fabric = c\n",
		 "[network fabric] is of it with other switch_counters"},
		{ASKED "switch_credentials = file:/etc/token\n"
		       "switch_received = 'sum by (a, b) (x{y=\"z\"})'\n"
		       "switch_peer_label = a_1\n",
		 "rdma = rxe\n", NULL},
		{"routing = sprayed\nspines = s1\nswitch_counters = http://h:9090\n",
		 "rdma = rxe\n", NULL},
		{"routing = sprayed\nspines = s1\nswitch_counters = http://h:9090\n"
		 "switch_credentials = file:/etc/token\n",
		 "rdma = rxe\n",
		 "switch_credentials: would cross the network in the clear"},
		{"routing = sprayed\nspines = s1\nswitch_counters = infiniband\n"
		 "switch_credentials = file:/etc/token\n",
		 "rdma = rxe\n",
		 "switch_credentials: is for switch_counters = URL of a Prometheus"},
		{"routing = sprayed\nspines = s1\nswitch_counters = infiniband\n",
		 "rdma = rxe\n",
		 "switch_counters: infiniband is for rdma = infiniband; give the URL"},
		{ASKED "switch_device_label = 1a\n", "rdma = rxe\n",
		 "switch_device_label: is wrong; allowed is the name of a label"},
		{ASKED "switch_peer_label = a-b\n", "rdma = rxe\n",
		 "switch_peer_label: is wrong; allowed is the name"},
		{ASKED "switch_port_label = a.b\n", "rdma = rxe\n",
		 "switch_port_label: is wrong; allowed is the name"},
		{COUNTED, "rdma = rxe\n", NULL},
		{"routing = sprayed\n", "rdma = rxe\n", NULL},
		{"spines = s1\nswitch_counters = http://h\n", "rdma = rxe\n",
		 "switch_counters: is for routing = sprayed; give that"},
		{"routing = sprayed\nswitch_counters = http://h\n", "rdma = rxe\n",
		 "switch_counters: needs spines, the names that it tells"},
		{"routing = sprayed\nspines = s1, s2\n", "rdma = rxe\n",
		 "spines: is for switch_counters, which is missing"},
		{TRACED, "rdma = rxe\n", NULL},
		{"spine_addresses = s1=10.9.1.1 fd00::1 10.9.2.1\n", "rdma = rxe\n",
		 NULL},
		{TRACED "switch_fabric = c\n",
		 "rdma = rxe\n" TRACED "switch_fabric = c\n", NULL},
		{TRACED "switch_fabric = c\n", "rdma = rxe\nswitch_fabric = c\n",
		 "[network fabric] is of it with other spine_addresses"},
		{"", TRACED,
		 "[network rail1] spine_addresses: is for role = fabric with RoCE"},
		{"routing = sprayed\n" TRACED, "rdma = rxe\n",
		 "spine_addresses: is for routing = static; sprayed flows"},
		{"spine_addresses = s1=10.9.1.1 leaf\n", "rdma = rxe\n",
		 "site.ini:16: [network fabric] spine_addresses: 'leaf' is not an address; "
		 "name the addresses of s1"},
		{"spine_addresses = s1=10.9.1\n", "rdma = rxe\n",
		 "'10.9.1' is not an address"},
		{"spine_addresses = s1=10.9.1.1 10.9.2.1, s2=10.9.2.1\n",
		 "rdma = rxe\n", "10.9.2.1 is named for s1 and for s2"},
		{"spine_addresses = s1=fd00::1, s2=FD00:0:0::1\n", "rdma = rxe\n",
		 "fd00::1 is named for s1 and for s2"},
		{"spine_addresses = s1=10.9.1.1 10.9.1.1\n", "rdma = rxe\n",
		 "10.9.1.1 is named for s1 and for s1"},
		{"", COUNTED, "[network rail1] switch_counters: is for role = fabric"},
	};

	check_rows(rows, BU_LEN(rows));
}
END_TEST

START_TEST(infiniband_asks_its_switches_itself)
{
	bu_autofree char *site = bu_xasprintf(
		"%s[network ib]\nrole = fabric\nport = mlx5_0/1\nlink_gbps = 200\n"
		"rdma = infiniband\nrouting = sprayed\n"
		"spines = s1, 0x0c42a103005e0001\nswitch_counters = infiniband\n",
		bu_testing_site);
	struct bu_desired *desired = NULL;
	bu_autofree char *found = bu_testing_check(site, bu_testing_racks, &desired);
	const struct bu_desired_network *network;

	ck_assert_msg(desired != NULL, "%s", found);
	network = &desired->networks[desired->networks_count - 1];
	ck_assert_str_eq(network->name, "ib");
	ck_assert_int_eq(bu_desired_counters(network), BU_COUNTERS_INFINIBAND);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(another_role_is_none_of_it)
{
	bu_autofree char *site = bu_xasprintf(
		"%s[network s]\nrole = storage\ncidr = 10.79.0.0/24\nnic = 2\n" ADDRESSES
		"rdma = rxe\nswitch_fabric = c\nrail_gateway = 10.79.0.1\n"
		"[network t]\nrole = fabric\ncidr = 10.80.0.0/24\nnic = 3\n"
		"addresses = 10.80.0.11,10.80.0.12\nlink_gbps = 0.02\nrdma = rxe\n"
		"switch_fabric = c\n",
		bu_testing_site);
	struct bu_desired *desired = NULL;
	bu_autofree char *found = bu_testing_check(site, bu_testing_racks, &desired);

	ck_assert_msg(!desired &&
			      strstr(found, "[network s] switch_fabric: is for role "
					    "= fabric") &&
			      strstr(found, "[network s] rail_gateway: is for role = "
					    "fabric; give gateway or routes"),
		      "%s", found);
}
END_TEST

/* "x...x/fabric" must fit where a network's name does. */
START_TEST(two_names_fit_in_one_text)
{
	for (int length = 31; length <= 32; length++) {
		bu_autofree char *site = bu_xasprintf(
			"%s[network %.*s]\nrole = fabric\ncidr = 10.79.0.0/24\nnic = "
			"2\nrdma = rxe\nswitch_fabric = c\n" ADDRESSES
			"[network t]\nrole = fabric\ncidr = 10.80.0.0/24\nnic = 3\n"
			"addresses = 10.80.0.11,10.80.0.12\nlink_gbps = 0.02\n"
			"rdma = rxe\nswitch_fabric = c\n",
			bu_testing_site, length, "x123456789012345678901234567890123");
		struct bu_desired *desired = NULL;
		bu_autofree char *found =
			bu_testing_check(site, bu_testing_racks, &desired);

		ck_assert_msg((desired != NULL) == (length == 31), "%s", found);
		if (!desired)
			ck_assert_ptr_nonnull(strstr(found, "name is too long"));
		bu_desired_destroy(desired);
	}
}
END_TEST

START_TEST(a_network_is_alone_without_it)
{
	struct bu_desired *desired = NULL;
	bu_autofree char *found = check_profile("", "rdma = rxe\n", &desired);

	ck_assert_msg(desired != NULL, "%s", found);
	for (size_t i = 0; i < desired->networks_count; i++)
		ck_assert_ptr_null(desired->networks[i].switch_fabric);
	bu_desired_destroy(desired);
}
END_TEST

BU_UNIT("fabrics", what_a_fabric_has_in_common, switches_are_asked_in_one_way,
	infiniband_asks_its_switches_itself, another_role_is_none_of_it,
	two_names_fit_in_one_text, a_network_is_alone_without_it)
