/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses a list of networks holds, in whichever form they are written. */
#include "base/networks.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <string.h>

#include "tests/support/unit.h"

/* 1 = it is taken. */
static int
takes(const char *address)
{
	union bu_address at;
	struct bu_err err = {0};
	int rc;

	ck_assert_int_eq(bu_address_read(address, &at), 0);
	rc = bu_networks_check(&at.any, &err);
	if (rc == 0)
		return 1;
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "bmc_networks in bringupd.conf"));
	return 0;
}

START_TEST(a_list_holds_its_networks_and_no_other_address)
{
	static const struct {
		const char *list, *address;
		int taken;
	} rows[] = {
		{"10.76.0.0/24", "10.76.0.0", 1},
		{"10.76.0.0/24", "10.76.0.255", 1},
		{"10.76.0.0/24", "10.76.1.0", 0},
		{"10.76.0.0/24", "10.75.255.255", 0},
		{"10.76.0.0/24", "::ffff:10.76.0.7", 1},
		{"10.76.0.0/24", "::ffff:10.77.0.7", 0},
		{"10.76.0.0/24", "::10.76.0.7", 0},
		{"10.76.0.0/24", "fd00::1", 0},
		{"10.76.0.4/30", "10.76.0.7", 1},
		{"10.76.0.4/30", "10.76.0.8", 0},
		{"10.76.0.7", "10.76.0.7", 1},
		{"10.76.0.7", "10.76.0.6", 0},
		{"0.0.0.0/0", "203.0.113.1", 1},
		{"0.0.0.0/0", "2001:db8::1", 0},
		{"::/0", "2001:db8::1", 1},
		{"::/0", "203.0.113.1", 0},
		{"::/0", "::ffff:203.0.113.1", 0},
		{" fd00:1::/33 ,\t10.0.0.0/8 ", "fd00:1:7fff::1", 1},
		{" fd00:1::/33 ,\t10.0.0.0/8 ", "fd00:1:8000::1", 0},
		{" fd00:1::/33 ,\t10.0.0.0/8 ", "10.255.0.1", 1},
		{"fd00::5", "fd00::5", 1},
		{"fd00::5", "fd00::4", 0},
		{"127.0.0.0/8", "127.3.2.1", 1},
		{"private", "10.255.255.255", 1},
		{"private", "172.16.0.1", 1},
		{"private", "172.31.255.255", 1},
		{"private", "172.32.0.1", 0},
		{"private", "192.168.3.4", 1},
		{"private", "192.169.0.1", 0},
		{"private", "169.254.1.2", 1},
		{"private", "fd12:3456::1", 1},
		{"private", "fe80::1", 1},
		{"private", "fec0::1", 0},
		{"private", "2001:db8::1", 0},
		{"private", "203.0.113.1", 0},
		{"private", "::ffff:203.0.113.1", 0},
		/* they all lead to this machine itself */
		{"private", "127.0.0.1", 0},
		{"private", "::1", 0},
		{"private", "0.0.0.0", 0},
		{"private", "::", 0},
		{"private", "::ffff:127.0.0.1", 0},
		{"attached", "127.0.0.1", 0},
		{"attached", "127.255.255.254", 0},
		{"attached", "::1", 0},
		{"attached", "0.0.0.0", 0},
		{"attached", "203.0.113.1", 0},
		{BU_BMC_NETWORKS_DEFAULT, "127.0.0.1", 0},
		{BU_BMC_NETWORKS_DEFAULT, "203.0.113.1", 0},
		{BU_BMC_NETWORKS_DEFAULT, "10.0.0.1", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};

		ck_assert_msg(bu_networks_begin(rows[i].list, &err) == 0, "%s",
			      err.text);
		ck_assert_msg(takes(rows[i].address) == rows[i].taken, "%s: %s",
			      rows[i].list, rows[i].address);
		bu_networks_end();
	}
}
END_TEST

/* Each address that the interfaces of this machine have, but for loopback. */
START_TEST(the_networks_of_the_interfaces_are_attached)
{
	struct ifaddrs *list = NULL;

	ck_assert_int_eq(bu_networks_begin("attached", NULL), 0);
	ck_assert_int_eq(getifaddrs(&list), 0);
	for (const struct ifaddrs *at = list; at; at = at->ifa_next) {
		if (!at->ifa_addr || !at->ifa_netmask || !(at->ifa_flags & IFF_UP) ||
		    (at->ifa_addr->sa_family != AF_INET &&
		     at->ifa_addr->sa_family != AF_INET6))
			continue;
		ck_assert_int_eq(bu_networks_check(at->ifa_addr, NULL) == 0,
				 !(at->ifa_flags & IFF_LOOPBACK));
	}
	freeifaddrs(list);
	bu_networks_end();
}
END_TEST

START_TEST(a_list_with_a_slip_is_refused_with_its_entry)
{
	static const struct {
		const char *list, *entry;
	} rows[] = {
		{"", "''"},
		{"10.0.0.0/8,", "''"},
		{"10.0.0.0/8, 10.1.0.1/8", "'10.1.0.1/8'"},
		{"10.0.0.0/33", "'10.0.0.0/33'"},
		{"10.0.0.0/-1", "'10.0.0.0/-1'"},
		{"10.0.0.0/", "'10.0.0.0/'"},
		{"10.0.0.0/8x", "'10.0.0.0/8x'"},
		{"10.0.0/8", "'10.0.0/8'"},
		{"fd00::1/8", "'fd00::1/8'"},
		{"fd00::/129", "'fd00::/129'"},
		{"::ffff:10.0.0.0/104", "'::ffff:10.0.0.0/104'"},
		{"bmc1.oob", "'bmc1.oob'"},
		{"Private", "'Private'"},
		{"private 10.0.0.0/8", "'private 10.0.0.0/8'"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};

		ck_assert_int_eq(bu_networks_begin(rows[i].list, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, rows[i].entry) &&
				      strstr(err.text, "bmc_networks of bringupd.conf"),
			      "%s: %s", rows[i].list, err.text);
		ck_assert_int_eq(bu_networks_begun(), 0);
	}
}
END_TEST

START_TEST(what_the_profile_spells_out_is_looked_at)
{
	static const struct {
		const char *bmc;
		int taken;
	} rows[] = {
		{"https://203.0.113.9", 0},
		{"https://203.0.113.9:8443/redfish/v1/Systems/1", 0},
		{"203.0.113.9:623", 0},
		{"https://[2001:db8::9]:443", 0},
		{"2001:db8::9", 0},
		{"https://[::ffff:203.0.113.9]", 0},
		{"https://10.1.2.3", 1},
		{"10.1.2.3", 1},
		/* known when it is resolved */
		{"https://bmc1.oob", 1},
		{"bmc1.oob:623", 1},
	};

	ck_assert_int_eq(bu_networks_check_bmc("https://203.0.113.9", NULL), 0);
	ck_assert_int_eq(bu_networks_begin("10.0.0.0/8", NULL), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg((bu_networks_check_bmc(rows[i].bmc, NULL) == 0) ==
				      rows[i].taken,
			      "%s", rows[i].bmc);
	bu_networks_end();
}
END_TEST

BU_UNIT("networks", a_list_holds_its_networks_and_no_other_address,
	the_networks_of_the_interfaces_are_attached,
	a_list_with_a_slip_is_refused_with_its_entry,
	what_the_profile_spells_out_is_looked_at)
