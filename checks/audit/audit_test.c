/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A good machine as a tree of files, and a bad one for each row of the audit: the good
 * one has no finding, each bad one exactly this finding in these words.
 */
#include "tests/support/audit_bad_host.h"
#include "tests/support/audit_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/md_half.h"
#include "tests/support/unit.h"

static size_t
findings(const struct bu_checks *checks)
{
	return checks->count - bu_checks_count(checks, BU_VERDICT_PASS);
}

static void
print(const struct bu_checks *checks)
{
	for (size_t i = 0; i < checks->count; i++)
		if (checks->list[i].verdict != BU_VERDICT_PASS)
			printf("%s %s %s: %s (%s | %s)\n", checks->list[i].id,
			       bu_verdict_name(checks->list[i].verdict),
			       checks->list[i].subject, checks->list[i].text,
			       checks->list[i].seen, checks->list[i].expected);
}

/* --- tests --- */

START_TEST(good_machine_has_no_finding)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	struct bu_checks checks;
	size_t count;
	const struct bu_audit_row *rows = bu_audit_rows(&count);

	bu_audit_machine_build(0);
	bu_audit_machine_audit(expect, &checks);
	print(&checks);
	ck_assert_uint_eq(findings(&checks), 0);
	for (size_t i = 0; i < checks.count; i++)
		if (strcmp(checks.list[i].id, "gid") == 0)
			ck_assert_str_eq(checks.list[i].value, "10.78.0.11");
	/* Each row judged something: none is silent because it looks elsewhere. */
	for (size_t i = 0; i < count; i++) {
		size_t said = 0;

		for (size_t k = 0; k < checks.count; k++)
			said += strcmp(checks.list[k].id, rows[i].id) == 0;
		ck_assert_msg(said > 0, "%s judged nothing", rows[i].id);
	}
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
}
END_TEST

static void
expect_no_finding(const char *expect_json, size_t least)
{
	bu_autojson json_t *expect = json_loads(expect_json, 0, NULL);
	struct bu_checks checks;

	bu_audit_machine_audit(expect, &checks);
	print(&checks);
	ck_assert_uint_eq(findings(&checks), 0);
	ck_assert_uint_ge(checks.count, least);
	bu_checks_fini(&checks);
}

static void
run_bad(const struct bad *bad)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	bu_autojson json_t *patch =
		bad->expect ? json_loads(bad->expect, 0, NULL) : NULL;
	struct bu_checks checks;
	const struct bu_check *found = NULL;

	for (size_t i = 0; i < BU_LEN(bad->change) && bad->change[i].path; i++)
		bu_audit_machine_change(bad->change[i].path, bad->change[i].content);
	if (patch)
		json_object_update(expect, patch);
	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++)
		if (checks.list[i].verdict != BU_VERDICT_PASS)
			found = &checks.list[i];
	if (findings(&checks) != 1)
		print(&checks);
	ck_assert_msg(found != NULL, "%s: nothing was found", bad->id);
	ck_assert_msg(findings(&checks) == 1, "%s: %zu findings", bad->id,
		      findings(&checks));
	ck_assert_str_eq(found->id, bad->id);
	ck_assert_int_eq(found->verdict, bad->verdict);
	ck_assert_str_eq(found->subject, bad->subject);
	ck_assert_str_eq(found->text, bad->text);
	ck_assert(bad->verdict == UNKNOWN || (*found->hint && *found->expected));
	if (strcmp(bad->id, "gpu-nic-affinity") == 0)
		ck_assert_str_eq(found->expected, "1 fabric NICs");
	bu_checks_fini(&checks);
	bu_audit_machine_restore();
}

START_TEST(bad_machine_has_exactly_its_finding)
{
	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(bads); i++)
		run_bad(&bads[i]);
	for (size_t i = 0; i < BU_LEN(bad_hosts); i++)
		run_bad(&bad_hosts[i]);
	/* Nothing is left of them. */
	expect_no_finding(bu_audit_machine_expected, 44);
	bu_audit_machine_remove();
}
END_TEST

static void
put_half(const char *part, const char *size, unsigned int number, unsigned int others)
{
	bu_autofree char *device = bu_xasprintf("dev/%s", part);
	char bytes[MD_HALF_SIZE];

	md_half(bytes, 'u', number, others);
	bu_audit_machine_change(size, "27\n");
	bu_audit_machine_change(device, "");
	bu_audit_machine_bytes(device, bytes, sizeof(bytes));
}

/* The second disk is not in the array. It is older, the first is, or each of them has
 * run by itself. */
START_TEST(halves_that_parted_are_said)
{
	static const struct {
		unsigned int first, second; /* what they say of each other */
		const char *says;
	} rows[] = {
		{1, 0, "its mirror on disk DISK-2 is not in the array"},
		{MD_DISK_ROLE_SPARE, 0,
		 "its mirror on disk DISK-2 is not in the array"},
		{1, MD_DISK_ROLE_SPARE,
		 "its mirror on disk DISK-2 is not in the array"},
		{MD_DISK_ROLE_FAULTY, MD_DISK_ROLE_SPARE,
		 "the system is on one disk, DISK-1: its mirror on disk DISK-2 has run "
		 "alone, too, and they are not joined; save what you need of either, "
		 "then rebuild the node"},
	};
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);

	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_checks checks;
		size_t said = 0;

		put_half("vda2", "sys/block/vda/vda2/size", 0, rows[i].first);
		put_half("nvme0n1p2", "sys/block/nvme0n1/nvme0n1p2/size", 1,
			 rows[i].second);
		bu_audit_machine_change("sys/block/nvme0n1/nvme0n1p2/holders/md126/dev",
					NULL);
		bu_audit_machine_change("sys/block/nvme0n1/nvme0n1p2/holders/md126",
					NULL);
		bu_audit_machine_audit(expect, &checks);
		print(&checks);
		ck_assert_uint_eq(findings(&checks), 1);
		for (size_t k = 0; k < checks.count; k++)
			said += strstr(checks.list[k].text, rows[i].says) != NULL;
		ck_assert_uint_eq(said, 1);
		bu_checks_fini(&checks);
		bu_audit_machine_restore();
	}
	bu_audit_machine_remove();
}
END_TEST

/* Other paths to the first disk, one before and one behind that of the array. */
START_TEST(a_mirror_over_several_paths_is_whole)
{
	static const char *const paths[] = {"sda", "vdb"};

	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		bu_autofree char *serial =
			bu_xasprintf("sys/block/%s/serial", paths[i]);
		bu_autofree char *part =
			bu_xasprintf("sys/block/%s/%s2/uevent", paths[i], paths[i]);

		bu_audit_machine_change(serial, "DISK-1");
		bu_audit_machine_change(part, "PARTNAME=bringup-root\n");
		expect_no_finding(bu_audit_machine_expected, 44);
	}
	bu_audit_machine_remove();
}
END_TEST

START_TEST(each_row_has_a_bad_machine)
{
	size_t count;
	const struct bu_audit_row *rows = bu_audit_rows(&count);

	for (size_t i = 0; i < count; i++) {
		int covered = 0;

		for (size_t k = 0; k < BU_LEN(bads); k++)
			covered |= strcmp(bads[k].id, rows[i].id) == 0 &&
				   bads[k].verdict == rows[i].severity;
		for (size_t k = 0; k < BU_LEN(bad_hosts); k++)
			covered |= strcmp(bad_hosts[k].id, rows[i].id) == 0 &&
				   bad_hosts[k].verdict == rows[i].severity;
		ck_assert_msg(covered, "%s has no bad machine", rows[i].id);
		ck_assert(*rows[i].what && *rows[i].how && *rows[i].hint);
	}
}
END_TEST

/* --- machines that have little --- */

/* 4180 carries 4096 in soft-RoCE, which keeps fewer bytes for headers than adapters do.
 */
START_TEST(virtual_machine_with_soft_roce_has_no_finding)
{
	static const char expect[] =
		"{\"networks\":[{\"name\":\"boot\",\"mac\":\"52:54:00:77:00:01\","
		"\"mtu\":1500},{\"name\":\"fabric\",\"mac\":\"52:54:00:78:00:01\","
		"\"mtu\":4180,\"link_gbps\":0.02,\"rdma\":true,\"rail\":0,"
		"\"address\":\"10.78.0.11\"}],\"thresholds\":{}}";
	static const char *const tree[][2] = {
		{"proc/sys/kernel/random/boot_id",
		 "5f0c6d3e-94a1-4f25-a3a5-1f9d3c6c1c11"},
		{"proc/sys/kernel/hostname", "node001"},
		{"dev/kmsg", "6,1,0,-;Linux version 6.1\n"},
		{"sys/devices/system/node/node0/cpulist", "0"},
		{NET "eth0/address", "52:54:00:77:00:01"},
		{NET "eth0/operstate", "up"},
		{NET "eth0/carrier", "1"},
		{NET "eth0/speed", "-1"},
		{NET "eth0/mtu", "1500"},
		{NET "eth1/address", "52:54:00:78:00:01"},
		{NET "eth1/operstate", "unknown"},
		{NET "eth1/carrier", "1"},
		{NET "eth1/speed", "-1"},
		{NET "eth1/mtu", "4180"},
		{IB "rxe0/parent", "eth1"},
		{IB "rxe0/node_guid", "5054:00ff:fe78:0001"},
		{IB "rxe0/fw_ver", ""},
		{IB "rxe0/ports/1/link_layer", "Ethernet"},
		{IB "rxe0/ports/1/state", "4: ACTIVE"},
		{IB "rxe0/ports/1/phys_state", "5: LinkUp"},
		{IB "rxe0/ports/1/rate", "2.5 Gb/sec (1X SDR)"},
		{IB "rxe0/ports/1/gids/0", "fe80:0000:0000:0000:5054:00ff:fe78:0001"},
		{IB "rxe0/ports/1/gids/1", "0000:0000:0000:0000:0000:ffff:0a4e:000b"},
		{IB "rxe0/ports/1/gid_attrs/types/0", "RoCE v2"},
		{IB "rxe0/ports/1/gid_attrs/types/1", "RoCE v2"},
		{IB "rxe0/ports/1/gid_attrs/ndevs/0", "eth1"},
		{"test/mtu/rxe0", "4096"},
	};

	bu_audit_machine_build(1);
	for (size_t i = 0; i < BU_LEN(tree); i++)
		bu_audit_machine_change(tree[i][0], tree[i][1]);
	bu_audit_machine_link(NET "eth0/device",
			      "../../../devices/pci0000:00/0000:00:02.0/virtio0");
	bu_audit_machine_link(NET "eth1/device",
			      "../../../devices/pci0000:00/0000:00:03.0/virtio1");
	expect_no_finding(expect, 10);
	bu_audit_machine_change(NET "eth1/mtu", "1500");
	bu_audit_machine_change("test/mtu/rxe0", "1024");
	{
		bu_autojson json_t *json = json_loads(expect, 0, NULL);
		struct bu_checks checks;

		bu_audit_machine_audit(json, &checks);
		ck_assert_uint_eq(bu_checks_count(&checks, FAIL), 2);
		bu_checks_fini(&checks);
	}
	bu_audit_machine_remove();
}
END_TEST

START_TEST(bare_machine_has_no_finding)
{
	bu_audit_machine_build(1);
	bu_audit_machine_change("proc/sys/kernel/hostname", "cpu001");
	bu_audit_machine_change("dev/kmsg", "6,1,0,-;Linux version 6.1\n");
	expect_no_finding("{}", 1);
	bu_audit_machine_remove();
}
END_TEST

START_TEST(nothing_is_expected_of_the_good_machine)
{
	bu_audit_machine_build(0);
	expect_no_finding("{}", 20);
	bu_audit_machine_remove();
}
END_TEST

/* The first and the last of what is allowed; what is no priority counts for nothing. */
START_TEST(the_ends_of_what_is_allowed_are_good)
{
	static const char pfc[] = "{\"networks\":[{\"name\":\"roce\",\"mac\":"
				  "\"52:54:00:78:00:01\",\"pfc\":[0,7,8,-1,\"3\"]}]}";
	static const char ipv6[] = "{\"networks\":[{\"name\":\"roce\",\"rdma\":true,"
				   "\"port\":\"mlx5_0/1\",\"gid_family\":\"ipv6\"}]}";

	bu_audit_machine_build(0);
	bu_audit_machine_change(PORT1 "lid", "0xbfff");
	bu_audit_machine_change(PORT1 "sm_lid", "0xbfff");
	expect_no_finding(bu_audit_machine_expected, 44);
	bu_audit_machine_change("test/pfc/eth1", "129");
	expect_no_finding(pfc, 20);
	/* A port that is measured over IPv6 and was given no address needs no IPv4. */
	bu_audit_machine_change(PORT0 "gids/2", "2001:0db8::000b");
	bu_audit_machine_change(PORT0 "gids/3", "2001:0db8::000b");
	expect_no_finding(ipv6, 20);
	bu_audit_machine_remove();
}
END_TEST

/* --- other questions --- */

/* Cards that are found as RDMA device and as interface, on a machine without GPUs. */
START_TEST(each_card_is_judged_once)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	struct bu_checks checks;
	size_t seen = 0;

	bu_audit_machine_build(0);
	bu_audit_machine_change(GPU0 "/vendor", "0x1234");
	bu_audit_machine_change(GPU1 "/vendor", "0x1234");
	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++)
		seen += strcmp(checks.list[i].id, "pcie-fits-link") == 0;
	ck_assert_uint_eq(seen, 2);
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
}
END_TEST

START_TEST(the_link_of_an_idle_gpu_may_be_slow)
{
	bu_audit_machine_build(0);
	bu_audit_machine_change(GPU0 "/current_link_speed", "2.5 GT/s PCIe");
	expect_no_finding(bu_audit_machine_expected, 44);
	bu_audit_machine_remove();
}
END_TEST

START_TEST(two_cables_of_one_machine_are_swapped)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	struct bu_checks checks;
	size_t found = 0;

	bu_audit_machine_build(0);
	json_object_set_new(json_object_get(expect, "lldp"), "eth0",
			    json_string("leaf02:swp9"));
	bu_audit_machine_change("test/lldp/eth0", "leaf01.falcon SWP3");
	bu_audit_machine_change("test/lldp/eth1", "leaf02 swp9");
	bu_audit_machine_audit(expect, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		if (strcmp(checks.list[i].id, "cabling") != 0 ||
		    strcmp(checks.list[i].subject, "ib0") == 0)
			continue;
		ck_assert_int_eq(checks.list[i].verdict, FAIL);
		ck_assert_str_eq(
			checks.list[i].text,
			found++ == 0
				? "eth0 (network boot) is cabled to "
				  "leaf01.falcon:SWP3, the profile says leaf02:swp9: "
				  "its cable is swapped with that of eth1"
				: "eth1 (network roce) is cabled to leaf02:swp9, the "
				  "profile says leaf01:swp3: its cable is swapped "
				  "with that of eth0");
	}
	ck_assert_uint_eq(found, 2);
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
}
END_TEST

/* RDMA functions of NVSwitches, and a card that nobody has cabled: in no network. */
START_TEST(what_no_network_uses_condemns_nobody)
{
	bu_autojson json_t *expect =
		json_loads("{\"networks\":[{\"name\":\"ib\",\"port\":\"mlx5_1/1\","
			   "\"rdma\":true,\"infiniband\":true}]}",
			   0, NULL);
	static const char *const changes[][2] = {
		{NIC0 "/current_link_width", "8"},
		{NIC0 "/aer_dev_fatal", "TOTAL_ERR_FATAL 1\n"},
		{NIC0 "/iommu_group/type", "DMA"},
	};
	struct bu_checks checks;

	bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(changes); i++)
		bu_audit_machine_change(changes[i][0], changes[i][1]);
	bu_audit_machine_audit(expect, &checks);
	print(&checks);
	ck_assert_uint_eq(bu_checks_count(&checks, FAIL), 0);
	ck_assert_uint_eq(bu_checks_count(&checks, WARN), 3);
	bu_checks_fini(&checks);
	/* The same card with its network. */
	json_decref(expect);
	expect = json_loads(bu_audit_machine_expected, 0, NULL);
	bu_audit_machine_audit(expect, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, FAIL), 3);
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
}
END_TEST

START_TEST(a_profile_has_other_severities)
{
	static const struct {
		const char *severity;
		enum bu_verdict want;
		size_t count;
	} cases[] = {{"warn", WARN, 1}, {"fail", FAIL, 1}, {"off", WARN, 0}};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autojson json_t *expect =
			json_loads(bu_audit_machine_expected, 0, NULL);
		struct bu_checks checks;

		json_object_set_new(expect, "severity",
				    json_pack("{s:s}", "nic-mtu", cases[i].severity));
		bu_audit_machine_build(0);
		bu_audit_machine_change(NET "eth1/mtu", "1500");
		bu_audit_machine_audit(expect, &checks);
		ck_assert_uint_eq(findings(&checks), cases[i].count);
		ck_assert_uint_eq(bu_checks_count(&checks, cases[i].want),
				  cases[i].count);
		for (size_t k = 0; cases[i].count == 0 && k < checks.count; k++)
			ck_assert_str_ne(checks.list[k].id, "nic-mtu");
		bu_checks_fini(&checks);
		bu_audit_machine_remove();
	}
}
END_TEST

static int
at_once(void *arg)
{
	(void)arg;
	return 1;
}

START_TEST(what_was_not_looked_at_is_said)
{
	struct bu_checks_ctx ctx = {.root = "/nowhere", .cancelled = at_once};
	struct bu_checks checks;
	size_t rows;

	bu_audit_rows(&rows);
	bu_checks_init(&checks);
	ck_assert_int_eq(
		bu_audit_run_with(&ctx, &bu_audit_machine_probes, &checks, NULL), 0);
	ck_assert_uint_eq(bu_checks_count(&checks, UNKNOWN), rows);
	ck_assert_str_eq(checks.list[0].text, "not checked: the time ran out");
	bu_checks_fini(&checks);
}
END_TEST

/* Capabilities in a circle, sizes that lie, texts without an end. */
START_TEST(no_file_leads_it_astray)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	struct bu_checks checks;
	unsigned char config[4096];
	char junk[5000];

	bu_audit_machine_build(0);
	memset(config, 0x40, sizeof(config));
	for (size_t at = 0x100; at < sizeof(config); at += 4)
		memcpy(config + at, "\x03\x00\x01\x10", 4);
	bu_audit_machine_bytes(E0 "/config", config, sizeof(config));
	memset(config, 0xff, sizeof(config));
	bu_audit_machine_bytes(NIC1 "/config", config, sizeof(config));
	memset(junk, 'A', sizeof(junk));
	bu_audit_machine_bytes(PORT0 "gids/3", junk, sizeof(junk));
	bu_audit_machine_bytes(PORT1 "rate", junk, sizeof(junk));
	bu_audit_machine_bytes(MLX0 "node_guid", junk, sizeof(junk));
	bu_audit_machine_bytes(NIC0 "/aer_dev_fatal", junk, sizeof(junk));
	bu_audit_machine_bytes("dev/kmsg", "NVRM: Xid (PCI:", 15);
	bu_audit_machine_bytes(NET "eth1/mtu", "-\xff\x00zz", 5);
	bu_audit_machine_audit(expect, &checks);
	ck_assert_uint_gt(findings(&checks), 3);
	for (size_t i = 0; i < checks.count; i++)
		ck_assert_uint_lt(strlen(checks.list[i].text), 240);
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
}
END_TEST

/* Section 4.2 of the fabric reference: the faults that a static check must find, and
 * the rows that do. Those of the groups gpu and host are those rooms' own. */
static const struct {
	const char *fault;
	const char *ids[6]; /* of this table; "gpu", "host": of that group */
} faults[] = {
	{"PCIe gen/width degraded", {"pcie-gen", "pcie-width", "pcie-fits-link"}},
	{"PCIe AER, replays", {"pcie-aer", "pcie-aer-correctable", "gpu"}},
	{"ACS redirect on P2P path", {"pcie-acs"}},
	{"IOMMU translating", {"iommu"}},
	{"no peermem / dmabuf", {"gpu-direct"}},
	{"NIC in wrong slot", {"nic-slot", "gpu-nic-affinity", "nic-numa"}},
	{"NIC down / wrong rate / wrong width",
	 {"nic-missing", "nic-down", "nic-speed", "rdma-missing", "rdma-state",
	  "rdma-rate"}},
	{"miscabled port / swapped rails", {"cabling", "lldp"}},
	{"MTU mismatch", {"nic-mtu", "rdma-mtu"}},
	{"GID index wrong / v1 / missing v4", {"gid"}},
	{"PFC off / ECN off / wrong DSCP", {"pfc", "ecn", "dscp"}},
	{"P_Key / partition mismatch", {"ib-pkey"}},
	{"Fabric Manager / NVLSM down", {"gpu"}},
	{"row remap, ECC, retired pages", {"gpu"}},
	{"Xid/SXid in log", {"gpu-xid", "gpu-error", "nic-error"}},
	{"driver / VBIOS / firmware version", {"nic-firmware", "gpu"}},
	{"CPU governor, C-states, NUMA balancing, SMT, hugepages",
	 {"cpu-governor", "cpu-cstates", "numa-balancing", "smt", "hugepages"}},
	{"DIMM missing, slow memory", {"host", "hardware-error", "hardware-corrected"}},
	{"disk slow or failing", {"host"}},
	{"clock skew", {"host"}},
	{"duplicate IP/GID/GUID/hostname", {"guid", "gid", "identity"}},
	{"ulimit memlock, cgroup devices, uverbs perms", {"memlock", "uverbs-access"}},
};

START_TEST(each_static_fault_of_the_reference_has_a_row)
{
	size_t count;
	const struct bu_audit_row *rows = bu_audit_rows(&count);

	ck_assert_uint_eq(BU_LEN(faults), 22);
	for (size_t i = 0; i < BU_LEN(faults); i++) {
		ck_assert_ptr_nonnull(faults[i].ids[0]);
		for (size_t k = 0; k < 6 && faults[i].ids[k]; k++) {
			int found = strcmp(faults[i].ids[k], "gpu") == 0 ||
				    strcmp(faults[i].ids[k], "host") == 0;

			for (size_t row = 0; row < count; row++)
				found |= strcmp(rows[row].id, faults[i].ids[k]) == 0;
			ck_assert_msg(found, "%s: no row %s", faults[i].fault,
				      faults[i].ids[k]);
		}
	}
}
END_TEST

BU_UNIT("audit", good_machine_has_no_finding, bad_machine_has_exactly_its_finding,
	halves_that_parted_are_said, a_mirror_over_several_paths_is_whole,
	each_row_has_a_bad_machine, virtual_machine_with_soft_roce_has_no_finding,
	bare_machine_has_no_finding, nothing_is_expected_of_the_good_machine,
	the_ends_of_what_is_allowed_are_good, each_card_is_judged_once,
	the_link_of_an_idle_gpu_may_be_slow, two_cables_of_one_machine_are_swapped,
	what_no_network_uses_condemns_nobody, a_profile_has_other_severities,
	what_was_not_looked_at_is_said, no_file_leads_it_astray,
	each_static_fault_of_the_reference_has_a_row)
