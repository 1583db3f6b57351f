/* SPDX-License-Identifier: Apache-2.0 */
/* What is good of an RDMA port, though it is not what most ports have. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/audit_machine.h"
#include "tests/support/unit.h"

/* What the row gid tells of mlx5_0, for the comparison of addresses. */
static void
expect_gid(const char *expect_json, const char *seen, const char *value)
{
	bu_autojson json_t *expect = json_loads(expect_json, 0, NULL);
	struct bu_checks checks;
	size_t found = 0;

	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s",
			      checks.list[i].text);
		if (strcmp(checks.list[i].id, "gid") != 0)
			continue;
		ck_assert_str_eq(checks.list[i].seen, seen);
		ck_assert_str_eq(checks.list[i].value, value);
		found++;
	}
	ck_assert_uint_eq(found, 1);
	bu_checks_fini(&checks);
}

/* Of IPv6 too, and whatever stands below it. */
START_TEST(the_gid_that_the_profile_names_is_judged)
{
	static const char ipv6[] = ROCE_PORT "\"gid_index\":5}]}";

	bu_audit_machine_build(0);
	bu_audit_machine_change(PORT0 "gid_attrs/types/1", "RoCE v2");
	bu_audit_machine_change(PORT0 "gids/1",
				"0000:0000:0000:0000:0000:ffff:0a4e:000b");
	expect_gid(bu_audit_machine_expected, "10.78.0.11 at index 3", "10.78.0.11");
	bu_audit_machine_change(PORT0 "gids/4",
				"2001:0db8:0000:0000:0000:0000:0000:000b");
	bu_audit_machine_change(PORT0 "gids/5",
				"2001:0db8:0000:0000:0000:0000:0000:000b");
	bu_audit_machine_change(PORT0 "gid_attrs/types/4", "IB/RoCE v1");
	bu_audit_machine_change(PORT0 "gid_attrs/types/5", "RoCE v2");
	expect_gid(ipv6, "2001:db8::b at index 5", "2001:db8::b");
	/* Alone of its kind. */
	for (const char *at = "123"; *at; at++) {
		char name[] = PORT0 "gids/0";

		name[strlen(name) - 1] = *at;
		bu_audit_machine_change(name,
					"0000:0000:0000:0000:0000:0000:0000:0000");
	}
	expect_gid(ipv6, "2001:db8::b at index 5", "2001:db8::b");
	bu_audit_machine_remove();
}
END_TEST

/* Where the profile says neither address nor family: IPv6 only of a port without IPv4.
 */
START_TEST(the_family_is_that_of_the_port)
{
	static const char any[] = ROCE_PORT "\"rail\":0}]}";

	bu_audit_machine_build(0);
	bu_audit_machine_change(PORT0 "gids/4", "2001:0db8::000b");
	bu_audit_machine_change(PORT0 "gid_attrs/types/4", "IB/RoCE v1");
	bu_audit_machine_change(PORT0 "gids/5", "2001:0db8::000b");
	bu_audit_machine_change(PORT0 "gid_attrs/types/5", "RoCE v2");
	expect_gid(any, "10.78.0.11 at index 3", "10.78.0.11");
	expect_gid(ROCE_PORT "\"gid_family\":\"ipv6\"}]}", "2001:db8::b at index 5",
		   "2001:db8::b");
	bu_audit_machine_change(PORT0 "gids/2", "::");
	bu_audit_machine_change(PORT0 "gids/3", "::");
	expect_gid(any, "2001:db8::b at index 5", "2001:db8::b");
	bu_audit_machine_remove();
}
END_TEST

/* The rows guid are this one; NULL: there is none. */
static void
expect_guid(const json_t *expect, const char *device, enum bu_verdict verdict)
{
	struct bu_checks checks;
	size_t found = 0;

	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		if (strcmp(checks.list[i].id, "guid") != 0)
			continue;
		found++;
		ck_assert_str_eq(checks.list[i].subject, device ? device : "none");
		ck_assert_int_eq(checks.list[i].verdict, verdict);
	}
	ck_assert_uint_eq(found, device != NULL);
	bu_checks_fini(&checks);
}

/* IPoIB with the MTU that it has by default, in a subnet that carries 4096. */
START_TEST(a_subnet_may_carry_more_than_ipoib)
{
	bu_autojson json_t *expect =
		json_pack("{s:[{s:s,s:s,s:b,s:b,s:i}]}", "networks", "name", "ib",
			  "port", "mlx5_1/1", "rdma", 1, "infiniband", 1, "mtu", 2044);
	struct bu_checks checks;
	size_t found = 0;

	bu_audit_machine_build(0);
	bu_audit_machine_change(NET "ib0/mtu", "2044");
	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s",
			      checks.list[i].text);
		if (strcmp(checks.list[i].id, "rdma-mtu") != 0)
			continue;
		ck_assert_str_eq(checks.list[i].seen, "4096");
		found++;
	}
	ck_assert_uint_eq(found, 1);
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
}
END_TEST

/* Soft-RoCE over the same interface has no GID of the network, and no such MTU. */
START_TEST(only_the_port_that_is_named_is_judged)
{
	bu_autojson json_t *expect =
		json_loads(ROCE_PORT "\"mtu\":9000,\"gid_index\":3}]}", 0, NULL);
	struct bu_checks checks;

	bu_audit_machine_build(0);
	bu_audit_machine_change(IB "rxe0/parent", "eth1");
	bu_audit_machine_change(IB "rxe0/ports/1/link_layer", "Ethernet");
	bu_audit_machine_change(IB "rxe0/ports/1/state", "1: DOWN");
	bu_audit_machine_change("test/mtu/rxe0", "1024");
	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		ck_assert_str_ne(checks.list[i].subject, "rxe0");
		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s",
			      checks.list[i].text);
	}
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
}
END_TEST

static const struct bu_check *
row_of(const struct bu_checks *checks, const char *id, const char *subject)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0 &&
		    strcmp(checks->list[i].subject, subject) == 0)
			return &checks->list[i];
	ck_abort_msg("no row %s of %s", id, subject);
}

/* As the gate learns which switch port a rail is at: where the network's cable is, and
 * what was heard there. */
static void
expect_leaf(const char *expect_json, const char *network, const char *end,
	    const char *leaf)
{
	bu_autojson json_t *expect = json_loads(expect_json, 0, NULL);
	struct bu_checks checks;

	ck_assert_ptr_nonnull(expect);
	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++)
		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s",
			      checks.list[i].text);
	ck_assert_str_eq(row_of(&checks, "nic-missing", network)->seen, end);
	ck_assert_str_eq(row_of(&checks, "lldp", end)->seen, leaf);
	bu_checks_fini(&checks);
}

/* IPoIB is not needed: neither up, nor as the profile's mtu says, nor there. */
START_TEST(the_leaf_of_a_port_that_names_itself_is_learned)
{
	static const char ib[] =
		"{\"networks\":[{\"name\":\"ib\",\"port\":\"mlx5_1/1\","
		"\"rdma\":true,\"infiniband\":true,\"mtu\":4092}],"
		"\"lldp\":{}}";

	bu_audit_machine_build(0);
	expect_leaf(ROCE_PORT "\"mtu\":9000}],\"lldp\":{}}", "roce", "eth1",
		    "leaf01.falcon:swp3");
	expect_leaf(ib, "ib", "ib0", "ibleaf01:17");
	bu_audit_machine_change(NET "ib0/operstate", "down");
	bu_audit_machine_change(NET "ib0/carrier", NULL);
	bu_audit_machine_change(NET "ib0/mtu", "2044");
	expect_leaf(ib, "ib", "ib0", "ibleaf01:17");
	bu_audit_machine_change(NET "ib0", NULL);
	bu_audit_machine_change(NIC1 "/net", NULL);
	expect_leaf(ib, "ib", "mlx5_1", "ibleaf01:17");
	bu_audit_machine_remove();
}
END_TEST

/* Subjects of the rows of a check, "eth1 eth2"; each that did not pass with its text.
 */
static void
expect_rows(const char *expect_json, const char *id, const char *subjects,
	    const char *finding)
{
	bu_autojson json_t *expect = json_loads(expect_json, 0, NULL);
	char seen[64] = "", said[128] = "";
	struct bu_checks checks;

	ck_assert_ptr_nonnull(expect);
	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		const struct bu_check *row = &checks.list[i];

		if (row->verdict != BU_VERDICT_PASS)
			snprintf(said + strlen(said), sizeof(said) - strlen(said),
				 "%s.", row->text);
		if (strcmp(row->id, id) == 0)
			snprintf(seen + strlen(seen), sizeof(seen) - strlen(seen),
				 "%s%s", *seen ? " " : "", row->subject);
	}
	bu_checks_fini(&checks);
	ck_assert_str_eq(said, finding);
	ck_assert_msg(strcmp(seen, subjects) == 0, "%s: of '%s', expected '%s'", id,
		      seen, subjects);
}

/* Its speed is the port's, and its carrier goes with the subnet manager's word. */
START_TEST(ipoib_with_an_address_is_judged)
{
	static const char *const rows[][2] = {{"nic-missing", "ib"},
					      {"nic-down", "ib0"},
					      {"nic-mtu", "ib0"},
					      {"nic-speed", ""},
					      {"link-flaps", ""},
					      {"pfc", ""},
					      {"ecn", ""}};
	static const char *const expect[] = {
		"{\"networks\":[{\"name\":\"ib\",\"port\":\"mlx5_1/1\",\"rdma\":true,"
		"\"infiniband\":true,\"mtu\":4092,\"link_gbps\":400}]}",
		"{\"networks\":[{\"name\":\"ib\",\"port\":\"mlx5_1/1\",\"rdma\":true,"
		"\"infiniband\":true,\"mtu\":4092,\"link_gbps\":400,\"address\":"
		"\"10.90.0.11\",\"pfc\":[3],\"ecn\":true}]}"};

	bu_audit_machine_build(0);
	bu_audit_machine_change(NET "ib0/speed", "100000");
	bu_audit_machine_change(NET "ib0/carrier_down_count", "9");
	bu_audit_machine_change(NET "ib0/mtu", "65520");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		expect_rows(expect[0], rows[i][0], i ? "" : "ib", "");
		expect_rows(expect[1], rows[i][0], rows[i][1], "");
	}
	bu_audit_machine_remove();
}
END_TEST

/* A file system may go over iWARP: that is not measured. Nor is a kernel blamed that
 * tells no type. */
START_TEST(only_what_is_measured_needs_a_transport_for_it)
{
	static const struct {
		const char *role, *type;
		const char *seen; /* NULL = not judged */
		enum bu_verdict verdict;
	} rows[] = {
		{"fabric", "1: CA", "RoCE", BU_VERDICT_PASS},
		{"fabric", "4: RNIC", "iWARP", BU_VERDICT_FAIL},
		{"storage", "4: RNIC", NULL, BU_VERDICT_PASS},
		{"fabric", "", NULL, BU_VERDICT_PASS},
	};

	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *expect =
			json_pack("{s:[{s:s,s:s,s:s,s:b}]}", "networks", "name", "roce",
				  "role", rows[i].role, "port", "mlx5_0/1", "rdma", 1);
		struct bu_checks checks;
		size_t said = 0;

		bu_audit_machine_change(MLX0 "node_type", rows[i].type);
		bu_audit_machine_audit(expect, &checks);
		for (size_t k = 0; k < checks.count; k++)
			said += strcmp(checks.list[k].id, "rdma-transport") == 0;
		ck_assert_uint_eq(said, rows[i].seen != NULL);
		if (rows[i].seen) {
			const struct bu_check *row =
				row_of(&checks, "rdma-transport", "mlx5_0");

			ck_assert_str_eq(row->seen, rows[i].seen);
			ck_assert_int_eq(row->verdict, rows[i].verdict);
		}
		bu_checks_fini(&checks);
	}
	bu_audit_machine_remove();
}
END_TEST

/* --- a bond --- */

/* mlx5_0 is of both ports of its card, eth1 and eth2, which are bond0. */
static void
build_bond(void)
{
	static const char *const files[][2] = {
		{NET "bond0/address", "52:54:00:78:00:01"},
		{NET "bond0/bonding/mode", "802.3ad 4"},
		{NET "bond0/operstate", "up"},
		{NET "bond0/carrier", "1"},
		{NET "bond0/carrier_down_count", "9"},
		{NET "bond0/speed", "800000"},
		{NET "bond0/mtu", "9000"},
		{NET "bond0/type", "1"},
		{NET "eth2/address", "52:54:00:78:00:01"},
		{NET "eth2/operstate", "up"},
		{NET "eth2/carrier", "1"},
		{NET "eth2/carrier_down_count", "2"},
		{NET "eth2/speed", "400000"},
		{NET "eth2/mtu", "9000"},
		{NET "eth2/type", "1"},
		{NET "eth2/ecn/roce_np/enable/3", "1"},
		{NET "eth2/ecn/roce_rp/enable/3", "1"},
		{"test/pfc/eth2", "8"},
		{"test/lldp/eth2", "leaf02 swp3"},
		{NIC0 "/net/eth1/dev_port", "0"},
		{PORT0 "gid_attrs/ndevs/0", "bond0"},
	};

	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(files); i++)
		bu_audit_machine_bytes(files[i][0], files[i][1], strlen(files[i][1]));
	bu_audit_machine_link(NET "bond0/lower_eth1", "../eth1");
	bu_audit_machine_link(NET "bond0/lower_eth2", "../eth2");
	bu_audit_machine_link(NET "eth1/master", "../bond0");
	bu_audit_machine_link(NET "eth2/master", "../bond0");
}

#define BOND(lldp)                                                                     \
	ROCE_PORT "\"role\":\"fabric\",\"mtu\":9000,\"link_gbps\":400,"                \
		  "\"pfc\":[3],\"ecn\":true}],\"lldp\":{" lldp "}}"

/* Where the interface is not in the first entry: by its function's, by another entry.
 */
START_TEST(a_bond_is_judged_with_its_ports)
{
	static const char *const rows[][2] = {
		{"nic-down", "bond0 eth1 eth2"},
		{"nic-speed", "bond0"},
		{"nic-mtu", "bond0"},
		{"link-flaps", "eth1 eth2"},
		{"pfc", "eth1 eth2"},
		{"ecn", "eth1 eth2"},
		{"lldp", "bond0"},
		{"nic-missing", "roce"},
		{"cabling", ""},
	};

	build_bond();
	for (int way = 0; way < 3; way++) {
		for (size_t i = 0; i < BU_LEN(rows); i++)
			expect_rows(BOND(""), rows[i][0], rows[i][1], "");
		expect_leaf(BOND(""), "roce", "bond0",
			    "leaf01.falcon:swp3, leaf02:swp3");
		if (way == 0)
			bu_audit_machine_change(PORT0 "gid_attrs/ndevs/0", NULL);
		else if (way == 1)
			bu_audit_machine_change(NIC0 "/net", NULL);
		if (way == 1)
			bu_audit_machine_change(PORT0 "gid_attrs/ndevs/3", "bond0");
	}
	bu_audit_machine_remove();
}
END_TEST
/* Of devices that carry a network: each once, whichever port it is. Virtual functions
 * have none until they are given away. */
START_TEST(only_devices_of_a_network_need_a_guid)
{
	static const char *const ports[] = {"mlx5_2/1", "mlx5_2/2"};
	static const char none[] = "0000:0000:0000:0000";

	for (size_t i = 0; i < BU_LEN(ports); i++) {
		bu_autojson json_t *expect =
			json_pack("{s:[{s:s,s:s,s:b}]}", "networks", "name", "roce",
				  "port", ports[i], "rdma", 1);

		bu_audit_machine_build(0);
		bu_audit_machine_link(IB "mlx5_2/device", "../../../../" NIC0 "/vf0");
		bu_audit_machine_change(IB "mlx5_2/ports/1/link_layer", "Ethernet");
		bu_audit_machine_change(IB "mlx5_2/ports/2/link_layer", "Ethernet");
		bu_audit_machine_change(IB "mlx5_2/node_guid", none);
		bu_audit_machine_change(MLX1 "node_guid", none);
		bu_audit_machine_change(NIC0 "/vf0/vendor", "0x15b3");
		expect_guid(expect, "mlx5_2", BU_VERDICT_FAIL);
		bu_audit_machine_change(IB "mlx5_2/node_guid", "9c63:c003:00aa:0009");
		expect_guid(expect, "mlx5_2", BU_VERDICT_PASS);
		bu_audit_machine_change(IB "mlx5_2/node_guid", none);
		bu_audit_machine_change(NIC0 "/vf0/physfn/vendor", "0x15b3");
		expect_guid(expect, NULL, BU_VERDICT_PASS);
		bu_audit_machine_remove();
	}
}
END_TEST

/* One device has two ports. */
START_TEST(a_device_with_two_ports_has_one_guid)
{
	bu_autojson json_t *expect = json_pack(
		"{s:[{s:s,s:s,s:b},{s:s,s:s,s:b}]}", "networks", "name", "one", "port",
		"mlx5_0/1", "rdma", 1, "name", "two", "port", "mlx5_0/2", "rdma", 1);

	bu_audit_machine_build(0);
	bu_audit_machine_change(MLX0 "ports/2/link_layer", "Ethernet");
	expect_guid(expect, "mlx5_0", BU_VERDICT_PASS);
	bu_audit_machine_remove();
}
END_TEST

/* mlx5_0 of eth1, whose own network, if it has one, carries no RDMA. */
START_TEST(a_vlan_has_the_rdma_device_below_it)
{
	static const char *const files[][2] = {
		{NET "vlan300/address", "52:54:00:78:00:01"},
		{NET "vlan300/operstate", "up"},
		{NET "vlan300/carrier", "1"},
		{NET "vlan300/speed", "400000"},
		{NET "vlan300/mtu", "9000"},
		{NET "vlan300/type", "1"},
		{PORT0 "gid_attrs/ndevs/0", "eth1"},
		{PORT0 "gid_attrs/ndevs/3", "vlan300"},
	};
	static const char *const rows[][2] = {{"rdma-missing", "vlan300"},
					      {"rdma-state", "mlx5_0"},
					      {"rdma-rate", "mlx5_0"},
					      {"gid", "mlx5_0"},
					      {"nic-mtu", "vlan300"},
					      {"link-flaps", "eth1"},
					      {"pfc", "eth1"},
					      {"lldp", "vlan300"}};
#define TAGGED                                                                         \
	"{\"name\":\"roce\",\"role\":\"fabric\",\"netdev\":\"vlan300\",\"rdma\":true," \
	"\"mtu\":9000,\"link_gbps\":400,\"pfc\":[3]}"
	static const char alone[] =
		"{\"networks\":[" TAGGED "],\"lldp\":{\"roce\":\"leaf01:swp3\"}}";
	static const char beside[] =
		"{\"networks\":[{\"name\":\"boot\",\"role\":\"boot\",\"netdev\":"
		"\"eth1\"}," TAGGED "],\"lldp\":{}}";

	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(files); i++)
		bu_audit_machine_change(files[i][0], files[i][1]);
	bu_audit_machine_link(NET "vlan300/lower_eth1", "../eth1");
	for (size_t i = 0; i < BU_LEN(rows); i++)
		expect_rows(alone, rows[i][0], rows[i][1], "");
	expect_rows(beside, "rdma-missing", "vlan300", "");
	expect_rows(beside, "rdma-state", "mlx5_0", "");
	bu_audit_machine_change(PORT0 "gid_attrs/ndevs/3", "eth1");
	expect_rows(alone, "rdma-state", "",
		    "vlan300 (network roce) has no RDMA device.");
	bu_audit_machine_remove();
}
END_TEST

/* What the port of a bond tells is one NIC's, or that of both. */
START_TEST(a_bond_has_the_rate_of_its_nics_together)
{
	build_bond();
	bu_audit_machine_change(PORT0 "rate", "200 Gb/sec (4X HDR)");
	expect_rows(BOND(""), "rdma-rate", "mlx5_0", "");
	bu_audit_machine_change(PORT0 "gid_attrs/ndevs/0", NULL);
	expect_rows(BOND(""), "rdma-rate", "mlx5_0", "");
	bu_audit_machine_change(PORT0 "rate", "100 Gb/sec (4X EDR)");
	expect_rows(BOND(""), "rdma-rate", "mlx5_0",
		    "RDMA port mlx5_0 of network roce runs at 100 Gb/sec (4X EDR), "
		    "expected 200 Gb/sec.");
	bu_audit_machine_change(PORT0 "rate", "200 Gb/sec (4X HDR)");
	bu_audit_machine_change(NET "bond0/bonding/mode", "active-backup 1");
	expect_rows(BOND(""), "rdma-rate", "mlx5_0",
		    "RDMA port mlx5_0 of network roce runs at 200 Gb/sec (4X HDR), "
		    "expected 400 Gb/sec.");
	bu_audit_machine_remove();
}
END_TEST

/* Over two cards, each with a device, the kernel gives the bond to the active one. */
START_TEST(the_spare_of_a_bond_has_no_network)
{
	build_bond();
	bu_audit_machine_change(IB "mlx5_9/node_guid", "9c63:c003:00aa:0009");
	bu_audit_machine_change(IB "mlx5_9/ports/1/link_layer", "Ethernet");
	bu_audit_machine_change(IB "mlx5_9/ports/1/state", "4: ACTIVE");
	bu_audit_machine_change(IB "mlx5_9/ports/1/gid_attrs/ndevs/0", "eth2");
	expect_rows("{\"networks\":[{\"name\":\"roce\",\"netdev\":\"bond0\",\"rdma\":"
		    "true,\"role\":\"fabric\"}]}",
		    "rdma-state", "mlx5_0", "");
	bu_audit_machine_remove();
}
END_TEST

START_TEST(what_one_port_of_a_bond_lacks_is_said)
{
	static const struct {
		const char *path, *content, *expect, *finding;
	} rows[] = {
		{NET "eth2/operstate", "down", BOND(""),
		 "eth2 (network roce) is down."},
		{NET "bond0/mtu", "1500", BOND(""),
		 "bond0 (network roce) has MTU 1500, expected 9000."},
		{NET "eth2/carrier_down_count", "9", BOND(""),
		 "eth2 (network roce) lost its link 9 times since boot."},
		{"test/pfc/eth2", "0", BOND(""),
		 "eth2 (network roce) has PFC on priorities none, expected on 3."},
		{NET "eth2/ecn/roce_rp/enable/3", "0", BOND(""),
		 "eth2 (network roce): ECN (roce_rp) is off on priority 3."},
		/* The profile's word for a bond is of one cable, whichever it is. */
		{"test/lldp/eth1", "leaf01 swp3", BOND("\"roce\":\"leaf02:swp3\""), ""},
		{"test/lldp/eth1", "", BOND("\"bond0\":\"leaf02\""), ""},
		{"test/lldp/eth2", "leaf03 swp3",
		 BOND("\"eth1\":\"leaf01\",\"eth2\":\"leaf02:swp3\""),
		 "eth2 (network roce) is cabled to leaf03:swp3, the profile says "
		 "leaf02:swp3."},
		{"test/lldp/eth1", "leaf02 swp3",
		 BOND("\"eth1\":\"leaf01:swp3\",\"eth2\":\"leaf02:swp3\""),
		 "eth1 (network roce) is cabled to leaf02:swp3, the profile says "
		 "leaf01:swp3."},
	};

	build_bond();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_audit_machine_change(rows[i].path, rows[i].content);
		expect_rows(rows[i].expect, "nic-mtu", "bond0", rows[i].finding);
		bu_audit_machine_remove();
		build_bond();
	}
	bu_audit_machine_remove();
}
END_TEST

/* Of a bond without RDMA, as bringup makes it, a spare may be down; PFC is of cables.
 */
START_TEST(a_bond_without_rdma_may_lack_a_port)
{
	static const char lake[] = "{\"networks\":[{\"name\":\"lake\",\"role\":"
				   "\"storage\",\"netdev\":\"bond0\",\"pfc\":[3]}]}";

	build_bond();
	bu_audit_machine_change("sys/class/infiniband/mlx5_0", NULL);
	bu_audit_machine_change(NET "eth2/operstate", "down");
	expect_rows(lake, "nic-down", "bond0", "");
	expect_rows(lake, "pfc", "eth1 eth2", "");
	bu_audit_machine_remove();
}
END_TEST

BU_UNIT("audit_rdma", a_bond_is_judged_with_its_ports,
	the_spare_of_a_bond_has_no_network, a_vlan_has_the_rdma_device_below_it,
	a_bond_has_the_rate_of_its_nics_together, what_one_port_of_a_bond_lacks_is_said,
	a_bond_without_rdma_may_lack_a_port, ipoib_with_an_address_is_judged,
	only_devices_of_a_network_need_a_guid, a_device_with_two_ports_has_one_guid,
	only_the_port_that_is_named_is_judged,
	only_what_is_measured_needs_a_transport_for_it,
	the_leaf_of_a_port_that_names_itself_is_learned,
	the_gid_that_the_profile_names_is_judged, the_family_is_that_of_the_port,
	a_subnet_may_carry_more_than_ipoib)
