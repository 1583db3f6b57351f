/* SPDX-License-Identifier: Apache-2.0 */
/* Cables of bonds and VLANs, and what a leaf is called: the rows lldp and cabling. */
#include <string.h>

#include "base/json.h"
#include "tests/support/audit_machine.h"
#include "tests/support/unit.h"

/* Of one row; NULL: there is none. */
struct row {
	const char *id, *subject;
	enum bu_verdict verdict;
	const char *seen, *value;
};

static void
row_is(const struct bu_checks *checks, size_t i, const struct row *want)
{
	const struct bu_check *row = NULL;

	for (size_t k = 0; k < checks->count; k++)
		if (strcmp(checks->list[k].id, want->id) == 0 &&
		    strcmp(checks->list[k].subject, want->subject) == 0)
			row = &checks->list[k];
	ck_assert_msg((row != NULL) == (want->seen != NULL), "%zu: row %s", i,
		      want->id);
	if (!row)
		return;
	ck_assert_msg(row->verdict == want->verdict &&
			      strcmp(row->seen, want->seen) == 0 &&
			      strcmp(row->value, want->value) == 0,
		      "%zu: %s: '%s', '%s': %s", i, want->id, row->seen, row->value,
		      row->text);
}

/* bond0 of eth1 and eth2, and vlan300 on it. */
static void
build_bond(const char *first, const char *second)
{
	static const char *const files[][2] = {
		{NET "eth2/address", "52:54:00:78:00:01"},
		{NET "eth2/carrier", "1"},
		{NET "eth2/type", "1"},
		{NET "bond0/address", "52:54:00:78:00:01"},
		{NET "bond0/operstate", "up"},
		{NET "bond0/carrier", "1"},
		{NET "bond0/type", "1"},
		{NET "bond0/bonding/slaves", "eth1 eth2"},
		{NET "vlan300/address", "52:54:00:78:00:01"},
		{NET "vlan300/operstate", "up"},
		{NET "vlan300/carrier", "1"},
		{NET "vlan300/type", "1"},
	};

	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(files); i++)
		bu_audit_machine_change(files[i][0], files[i][1]);
	bu_audit_machine_link(NET "bond0/lower_eth2", "../eth2");
	bu_audit_machine_link(NET "bond0/lower_eth1", "../eth1");
	bu_audit_machine_link(NET "vlan300/lower_bond0", "../bond0");
	bu_audit_machine_change("test/lldp/eth1", first);
	bu_audit_machine_change("test/lldp/eth2", second);
	/* What the bond itself would hear: whoever speaks first. */
	bu_audit_machine_change("test/lldp/bond0", "leaf09 swp9");
	bu_audit_machine_change("test/lldp/vlan300", "leaf09 swp9");
}

static const struct {
	const char *netdev, *lldp; /* of the profile */
	const char *heard[2];      /* by eth1 and eth2 */
	struct row rows[2];
} bonds[] = {
#define PASS BU_VERDICT_PASS
#define NO_CABLING(netdev)                                                             \
	{                                                                              \
		"cabling", netdev, PASS, NULL, NULL                                    \
	}
	/* Either of its NICs has what the profile names, and that one is its leaf. */
	{"bond0",
	 "{\"fabric\":\"leaf01:swp3\"}",
	 {"leaf01.dc swp3", "leaf02.dc swp3"},
	 {{"lldp", "bond0", PASS, "leaf01:swp3, leaf02.dc:swp3", "leaf01:swp3"},
	  {"cabling", "bond0", PASS, "leaf01:swp3", ""}}},
	{"bond0",
	 "{\"fabric\":\"leaf02:swp3\"}",
	 {"leaf01.dc swp3", "leaf02.dc swp3"},
	 {{"lldp", "bond0", PASS, "leaf01.dc:swp3, leaf02:swp3", "leaf02:swp3"},
	  {"cabling", "bond0", PASS, "leaf02:swp3", ""}}},
	{"vlan300",
	 "{\"fabric\":\"leaf02:swp3\"}",
	 {"leaf01.dc swp3", "leaf02.dc swp3"},
	 {{"lldp", "vlan300", PASS, "leaf01.dc:swp3, leaf02:swp3", "leaf02:swp3"},
	  {"cabling", "vlan300", PASS, "leaf02:swp3", ""}}},
	/* The profile names none: the first one's, in each boot. */
	{"bond0",
	 "{}",
	 {"leaf02 swp3", "leaf01 swp3"},
	 {{"lldp", "bond0", PASS, "leaf02:swp3, leaf01:swp3", "leaf02:swp3"},
	  NO_CABLING("bond0")}},
	/* Two cables to one switch are at that leaf, without a doubt. */
	{"bond0",
	 "{\"fabric\":\"leaf01\"}",
	 {"leaf01 swp3", "leaf01 swp4"},
	 {{"lldp", "bond0", PASS, "leaf01:swp3", ""},
	  {"cabling", "bond0", PASS, "leaf01:swp3", ""}}},
	/* Neither has it. */
	{"bond0",
	 "{\"fabric\":\"leaf01:swp3\"}",
	 {"leaf03 swp3", "leaf02 swp3"},
	 {{"lldp", "bond0", PASS, "leaf03:swp3, leaf02:swp3", "leaf03:swp3"},
	  {"cabling", "bond0", BU_VERDICT_FAIL, "leaf03:swp3, leaf02:swp3", ""}}},
	/* One that is silent may have it. */
	{"bond0",
	 "{\"fabric\":\"leaf01:swp3\"}",
	 {"", "leaf02 swp3"},
	 {{"lldp", "bond0", BU_VERDICT_WARN, "eth1 silent, leaf02:swp3", ""},
	  NO_CABLING("bond0")}},
	/* Named by themselves. */
	{"bond0",
	 "{\"eth1\":\"leaf01:swp3\",\"eth2\":\"leaf02:swp3\"}",
	 {"leaf01.dc swp3", "leaf03 swp3"},
	 {{"cabling", "eth1", PASS, "leaf01:swp3", ""},
	  {"cabling", "eth2", BU_VERDICT_FAIL, "leaf03:swp3", ""}}},
};

static json_t *
expect_of(const char *netdev, const char *lldp)
{
	return json_pack("{s:[{s:s,s:s}],s:o}", "networks", "name", "fabric", "netdev",
			 netdev, "lldp", json_loads(lldp, 0, NULL));
}

START_TEST(each_nic_of_a_bond_has_its_own_neighbour)
{
	for (size_t i = 0; i < BU_LEN(bonds); i++) {
		bu_autojson json_t *expect = expect_of(bonds[i].netdev, bonds[i].lldp);
		struct bu_checks checks;

		build_bond(bonds[i].heard[0], bonds[i].heard[1]);
		bu_audit_machine_audit(expect, &checks);
		for (size_t k = 0; k < BU_LEN(bonds[i].rows); k++)
			row_is(&checks, i, &bonds[i].rows[k]);
		bu_checks_fini(&checks);
		bu_audit_machine_remove();
	}
}
END_TEST

/* It is not waited for, and may be the one that is cabled right. */
START_TEST(a_nic_of_a_bond_without_a_link_is_in_doubt)
{
	static const struct row rows[2][2] = {
		{{"lldp", "bond0", PASS, "leaf01:swp3", "leaf01:swp3"},
		 {"cabling", "bond0", PASS, "leaf01:swp3", ""}},
		{{"lldp", "bond0", BU_VERDICT_WARN, "leaf01:swp3", ""},
		 NO_CABLING("bond0")},
	};

	for (int i = 0; i < 2; i++) {
		bu_autojson json_t *expect =
			expect_of("bond0", i ? "{\"fabric\":\"leaf02:swp3\"}"
					     : "{\"fabric\":\"leaf01:swp3\"}");
		struct bu_checks checks;

		build_bond("leaf01 swp3", "leaf02 swp3");
		bu_audit_machine_change(NET "eth2/carrier", "0");
		bu_audit_machine_audit(expect, &checks);
		for (size_t k = 0; k < 2; k++)
			row_is(&checks, (size_t)i, &rows[i][k]);
		bu_checks_fini(&checks);
		bu_audit_machine_remove();
	}
}
END_TEST

/* With its domain, or as a GUID: who only should be there is at the leaf of that name.
 */
START_TEST(a_leaf_has_the_name_that_the_profile_gives_it)
{
	static const char *const named[] = {"leaf01:swp3", "leaf01", "LEAF01.falcon"};
	static const char *const seen[] = {"leaf01:swp3", "leaf01:swp3",
					   "LEAF01.falcon:swp3"};

	for (size_t i = 0; i < BU_LEN(named); i++) {
		bu_autofree char *lldp = bu_xasprintf("{\"fabric\":\"%s\"}", named[i]);
		bu_autojson json_t *expect = expect_of("eth1", lldp);
		struct bu_checks checks;

		bu_audit_machine_build(0);
		bu_audit_machine_audit(expect, &checks);
		row_is(&checks, i, &(struct row){"lldp", "eth1", PASS, seen[i], ""});
		row_is(&checks, i, &(struct row){"cabling", "eth1", PASS, seen[i], ""});
		bu_checks_fini(&checks);
		bu_audit_machine_remove();
	}
}
END_TEST

BU_UNIT("cabling", each_nic_of_a_bond_has_its_own_neighbour,
	a_nic_of_a_bond_without_a_link_is_in_doubt,
	a_leaf_has_the_name_that_the_profile_gives_it)
