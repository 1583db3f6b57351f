/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A good machine as a tree of files, and a bad one for each row of the audit: the good
 * one has no finding, each bad one exactly this finding in these words.
 */
#include "tests/support/audit_machine.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

static const char *root;

static void
audit(const json_t *expect, struct bu_checks *ret)
{
	struct bu_checks_ctx ctx = {.root = root, .expect = expect};
	struct bu_err err = {0};

	bu_checks_init(ret);
	ck_assert_msg(bu_audit_run_with(&ctx, &bu_audit_machine_probes, ret, &err) == 0,
		      "%s", err.text);
}

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

	root = bu_audit_machine_build(0);
	audit(expect, &checks);
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

/* A bad machine: what differs from the good one, and the one finding. */
struct bad {
	const char *id;
	enum bu_verdict verdict;
	struct {
		const char *path;    /* "config ADDRESS": bytes; "mode PATH" */
		const char *content; /* NULL: it is not there */
	} change[4];
	const char *expect; /* patch of what is expected, JSON of top members */
	const char *subject, *text;
};

#define FAIL BU_VERDICT_FAIL
#define WARN BU_VERDICT_WARN
#define UNKNOWN BU_VERDICT_INCONCLUSIVE

static const struct bad bads[] = {
	{"pcie-gen",
	 FAIL,
	 {{NIC0 "/current_link_speed", "16.0 GT/s PCIe"}},
	 NULL,
	 "0000:14:00.0",
	 "NIC mlx5_0 (0000:14:00.0): PCIe runs at Gen4, both ends can Gen5"},
	{"pcie-gen",
	 FAIL,
	 {{U0 "/current_link_speed", "8.0 GT/s PCIe"}},
	 NULL,
	 "0000:11:00.0",
	 "switch 0000:11:00.0 above GPU 0000:13:00.0: PCIe runs at Gen3, both "
	 "ends can Gen5"},
	{"pcie-width",
	 FAIL,
	 {{GPU1 "/current_link_width", "8"}},
	 NULL,
	 "0000:93:00.0",
	 "GPU 0000:93:00.0: PCIe has x8, both ends can x16"},
	{"pcie-fits-link",
	 FAIL,
	 {{NIC0 "/current_link_speed", "16.0 GT/s PCIe"},
	  {E0 "/max_link_speed", "16.0 GT/s PCIe"}},
	 NULL,
	 "0000:14:00.0",
	 "NIC mlx5_0 (0000:14:00.0): its slot carries about 229 Gbit/s, its link has "
	 "400 "
	 "Gbit/s"},
	{"pcie-aer",
	 FAIL,
	 {{D0 "/aer_dev_nonfatal", "TLP 3\nTOTAL_ERR_NONFATAL 3\n"}},
	 NULL,
	 "0000:12:00.0",
	 "bridge 0000:12:00.0 above GPU 0000:13:00.0: PCIe errors since boot: 0 fatal, "
	 "3 "
	 "nonfatal"},
	{"pcie-aer-correctable",
	 WARN,
	 {{NIC1 "/aer_dev_correctable", "RxErr 101\nTOTAL_ERR_COR 101\n"}},
	 NULL,
	 "0000:94:00.0",
	 "NIC mlx5_1 (0000:94:00.0): 101 PCIe errors corrected since boot, at most 100 "
	 "are normal"},
	{"pcie-acs",
	 FAIL,
	 {{"config " E0, "106=1d"}},
	 NULL,
	 "0000:12:01.0",
	 "bridge 0000:12:01.0 between NIC mlx5_0 (0000:14:00.0) and GPU 0000:13:00.0: "
	 "ACS sends their traffic through the root port"},
	{"pcie-acs",
	 UNKNOWN,
	 {{D1 "/config", "short"}},
	 NULL,
	 "0000:92:00.0",
	 "bridge 0000:92:00.0: its configuration space cannot be read whole"},
	{"pcie-max-read-request",
	 WARN,
	 {{"config " NIC0, "49=00"}},
	 NULL,
	 "0000:14:00.0",
	 "NIC mlx5_0 (0000:14:00.0): MaxReadReq is 128 bytes, expected at least 512 "
	 "bytes"},
	{"pcie-relaxed-ordering",
	 WARN,
	 {{"config " NIC1, "48=00"}},
	 NULL,
	 "0000:94:00.0",
	 "NIC mlx5_1 (0000:94:00.0): relaxed ordering is off"},
	{"iommu",
	 FAIL,
	 {{GPU0 "/iommu_group/type", "DMA-FQ"}},
	 NULL,
	 "0000:13:00.0",
	 "GPU 0000:13:00.0: an IOMMU translates its DMA (type DMA-FQ)"},
	{"gpu-direct",
	 FAIL,
	 {{"sys/module/nvidia_peermem/refcnt", NULL},
	  {"sys/module/nvidia_peermem", NULL}},
	 NULL,
	 "",
	 "NICs cannot reach GPU memory: nvidia_peermem is not loaded, and this driver "
	 "and kernel have no dmabuf"},
	{"nic-slot",
	 FAIL,
	 {{NULL, NULL}},
	 "{\"networks\":[{\"name\":\"roce\",\"mac\":\"52:54:00:78:00:01\","
	 "\"pci\":\"0000:94:00.0\"}]}",
	 "eth1",
	 "eth1 (network roce) is at 0000:14:00.0, the profile has it at 0000:94:00.0"},
	{"gpu-nic-affinity",
	 FAIL,
	 {{NIC1 "/numa_node", "0"}},
	 NULL,
	 "NUMA node 1",
	 "NUMA node 1 has 1 GPUs, 0 fabric NICs: a NIC is in a wrong slot"},
	{"nic-numa",
	 WARN,
	 {{NIC1 "/numa_node", "-1"}},
	 NULL,
	 "0000:94:00.0",
	 "NIC mlx5_1 (0000:94:00.0): its NUMA node is unknown"},
	{"nic-missing",
	 FAIL,
	 {{NET "eth0/address", NULL}},
	 NULL,
	 "boot",
	 "network boot: no interface with MAC 52:54:00:77:00:01 on this machine"},
	{"nic-down",
	 FAIL,
	 {{NET "eth0/operstate", "down"}, {NET "eth0/carrier", "0"}},
	 NULL,
	 "eth0",
	 "eth0 (network boot) is down: no carrier"},
	{"nic-down",
	 FAIL,
	 {{NET "eth1/operstate", "down"}, {NET "eth1/carrier", NULL}},
	 NULL,
	 "eth1",
	 "eth1 (network roce) is down: the interface is switched off"},
	{"nic-speed",
	 FAIL,
	 {{NET "eth1/speed", "200000"}},
	 NULL,
	 "eth1",
	 "eth1 (network roce) runs at 200 Gbit/s, expected 400 Gbit/s"},
	{"nic-mtu",
	 FAIL,
	 {{NET "eth1/mtu", "1500"}},
	 NULL,
	 "eth1",
	 "eth1 (network roce) has MTU 1500, expected 9000"},
	{"link-flaps",
	 WARN,
	 {{NET "eth1/carrier_down_count", "6"}},
	 NULL,
	 "eth1",
	 "eth1 (network roce) lost its link 6 times since boot"},
	{"rdma-missing",
	 FAIL,
	 {{"sys/class/infiniband/mlx5_0", NULL}},
	 "{\"severity\":{\"dscp\":\"off\"}}",
	 "eth1",
	 "eth1 (network roce) has no RDMA device"},
	{"rdma-state",
	 FAIL,
	 {{PORT1 "state", "2: INIT"}, {PORT1 "phys_state", "5: LinkUp"}},
	 NULL,
	 "mlx5_1",
	 "RDMA port mlx5_1 of network ib is INIT, LinkUp"},
	{"rdma-rate",
	 FAIL,
	 {{PORT1 "rate", "200 Gb/sec (2X NDR)"}},
	 NULL,
	 "mlx5_1",
	 "RDMA port mlx5_1 of network ib runs at 200 Gb/sec (2X NDR), expected 400 "
	 "Gb/sec"},
	{"rdma-mtu",
	 FAIL,
	 {{"test/mtu/mlx5_0", "1024"}},
	 NULL,
	 "mlx5_0",
	 "RDMA port mlx5_0 of network roce uses MTU 1024, expected 4096"},
	{"rdma-mtu",
	 UNKNOWN,
	 {{"test/mtu/mlx5_0", NULL}},
	 NULL,
	 "mlx5_0",
	 "RDMA port mlx5_0 does not report its MTU"},
	{"gid",
	 FAIL,
	 {{PORT0 "gid_attrs/types/3", "IB/RoCE v1"}},
	 NULL,
	 "mlx5_0",
	 "RDMA port mlx5_0 of network roce has no GID RoCE v2 10.78.0.11, only RoCE "
	 "v1"},
	{"gid",
	 FAIL,
	 {{PORT0 "gids/3", "0000:0000:0000:0000:0000:ffff:0a4e:000c"},
	  {PORT0 "gids/2", "0000:0000:0000:0000:0000:ffff:0a4e:000c"}},
	 NULL,
	 "mlx5_0",
	 "RDMA port mlx5_0 of network roce has no GID RoCE v2 10.78.0.11"},
	{"gid",
	 FAIL,
	 {{PORT0 "gid_attrs/types/1", "RoCE v2"},
	  {PORT0 "gids/1", "0000:0000:0000:0000:0000:ffff:0a4e:000b"}},
	 NULL,
	 "mlx5_0",
	 "RDMA port mlx5_0 of network roce has its GID 10.78.0.11 at index 1, "
	 "expected index 3"},
	{"guid",
	 FAIL,
	 {{MLX1 "node_guid", "9c63:c003:00aa:0001"}},
	 NULL,
	 "mlx5_1",
	 "RDMA devices mlx5_0 and mlx5_1 have the same node GUID 9c63:c003:00aa:0001"},
	{"guid",
	 FAIL,
	 {{MLX1 "node_guid", "0000:0000:0000:0000"}},
	 NULL,
	 "mlx5_1",
	 "RDMA device mlx5_1 has no node GUID"},
	{"pfc",
	 FAIL,
	 {{"test/pfc/eth1", "0"}},
	 NULL,
	 "eth1",
	 "eth1 (network roce) has PFC on priorities none, expected on 3"},
	{"pfc",
	 UNKNOWN,
	 {{"test/pfc/eth1", NULL}},
	 NULL,
	 "eth1",
	 "eth1 (network roce): its driver does not report which priorities have PFC "
	 "(no dcbnl)"},
	{"ecn",
	 FAIL,
	 {{NET "eth1/ecn/roce_np/enable/3", "0"}},
	 NULL,
	 "eth1",
	 "eth1 (network roce): ECN (roce_np) is off on priority 3"},
	{"ecn",
	 UNKNOWN,
	 {{NET "eth1/ecn", NULL}},
	 NULL,
	 "eth1",
	 "eth1 (network roce): its driver does not report whether ECN is on"},
	{"dscp",
	 FAIL,
	 {{MLX0 "tc/1/traffic_class", "Global tclass=0"}},
	 NULL,
	 "mlx5_0",
	 "RDMA port mlx5_0 of network roce sends with DSCP 0, expected 26"},
	{"dscp",
	 UNKNOWN,
	 {{MLX0 "tc", NULL}},
	 NULL,
	 "mlx5_0",
	 "RDMA port mlx5_0 does not report its traffic class"},
	{"ib-sm",
	 FAIL,
	 {{PORT1 "sm_lid", "0x0"}},
	 NULL,
	 "mlx5_1",
	 "InfiniBand port mlx5_1 of network ib has no subnet manager"},
	{"ib-lid",
	 FAIL,
	 {{PORT1 "lid", "0xffff"}},
	 NULL,
	 "mlx5_1",
	 "InfiniBand port mlx5_1 of network ib has LID 0xffff"},
	{"ib-gid",
	 FAIL,
	 {{PORT1 "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0000"}},
	 NULL,
	 "mlx5_1",
	 "InfiniBand port mlx5_1 of network ib has no valid GID 0 "
	 "(fe80:0000:0000:0000:0000:0000:0000:0000)"},
	{"ib-pkey",
	 FAIL,
	 {{PORT1 "pkeys/1", "0x0001"}},
	 NULL,
	 "mlx5_1",
	 "InfiniBand port mlx5_1 of network ib is not a full member of partition "
	 "0x8001"},
	{"nic-firmware",
	 FAIL,
	 {{MLX0 "fw_ver", "28.38.1900"}},
	 NULL,
	 "mlx5_0",
	 "RDMA device mlx5_0 has firmware 28.38.1900, expected 28.39.1002"},
	{"gpu-xid",
	 FAIL,
	 {{"dev/kmsg", "4,2,9,-;NVRM: Xid (PCI:0000:93:00): 79, GPU has fallen off\n"
		       "4,3,9,-;NVRM: Xid (PCI:0000:93:00): 79, GPU has fallen off\n"}},
	 NULL,
	 "0000:93:00",
	 "GPU 0000:93:00: the kernel's log has Xid 79"},
	{"gpu-xid",
	 FAIL,
	 {{"dev/kmsg", "4,2,9,-;nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 20034, "
		       "Fatal, Link 30 LTSSM Fault Up\n"}},
	 NULL,
	 "0000:c1:00.0",
	 "NVSwitch 0000:c1:00.0: the kernel's log has SXid 20034"},
	{"hardware-error",
	 WARN,
	 {{"dev/kmsg", "0,2,9,-;mce: [Hardware Error]: CPU 3: Machine Check: 0\n"
		       "0,3,9,-;EDAC MC1: 1 UE memory read error on DIMM_B2\n"}},
	 NULL,
	 "",
	 "hardware errors in the kernel's log: 2, first: mce: [Hardware Error]: CPU 3: "
	 "Machine Check: 0"},
	{"cpu-governor",
	 WARN,
	 {{CPU "cpu1/cpufreq/scaling_governor", "powersave"}},
	 NULL,
	 "",
	 "1 of 2 CPUs do not run with governor performance (cpu1: powersave)"},
	{"cpu-cstates",
	 WARN,
	 {{CPU "cpu0/cpuidle/state2/disable", "0"}},
	 NULL,
	 "",
	 "CPUs sleep as deep as C6, 133 us, expected at most 10 us to wake up"},
	{"numa-balancing",
	 WARN,
	 {{"proc/sys/kernel/numa_balancing", "1"}},
	 NULL,
	 "",
	 "automatic NUMA balancing is on"},
	{"smt",
	 FAIL,
	 {{CPU "smt/active", "1"}},
	 NULL,
	 "",
	 "hyper-threading is on, expected off"},
	{"hugepages",
	 FAIL,
	 {{"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1000"}},
	 NULL,
	 "2048kB",
	 "1000 huge pages of 2048kB, expected 1024"},
	{"memlock",
	 FAIL,
	 {{"etc/systemd/system/slurmd.service.d/limits.conf",
	   "[Service]\nLimitMEMLOCK=8M\n"}},
	 NULL,
	 "slurmd",
	 "jobs of slurmd may not lock the memory that RDMA needs: LimitMEMLOCK is 8M"},
	{"uverbs-access",
	 FAIL,
	 {{"mode dev/infiniband/uverbs0", "0600"}},
	 NULL,
	 "uverbs0",
	 "/dev/infiniband/uverbs0 is not open to jobs: mode 0600"},
	{"identity",
	 WARN,
	 {{"proc/sys/kernel/hostname", "localhost"}},
	 NULL,
	 "",
	 "the machine's host name is localhost"},
	{"lldp",
	 WARN,
	 {{"test/lldp/eth1", NULL}},
	 NULL,
	 "eth1",
	 "eth1 (network roce): no LLDP was heard, so it is unknown whether it is "
	 "cabled to leaf01:swp3"},
	{"lldp",
	 UNKNOWN,
	 {{"test/lldp/denied", ""}},
	 NULL,
	 "",
	 "listen for LLDP on eth1: Operation not permitted"},
	{"lldp",
	 UNKNOWN,
	 {{"test/ib/mlx5_1", NULL}},
	 NULL,
	 "ib0",
	 "ib0 (network ib): the neighbour is unknown: the neighbour does not answer"},
	{"cabling",
	 FAIL,
	 {{"test/ib/mlx5_1", "ibleaf02 17"}},
	 NULL,
	 "ib0",
	 "ib0 (network ib) is cabled to ibleaf02:17, the profile says ibleaf01:17"},
	{"cabling",
	 FAIL,
	 {{"test/lldp/eth1", "leaf02 swp7"}},
	 NULL,
	 "eth1",
	 "eth1 (network roce) is cabled to leaf02:swp7, the profile says leaf01:swp3"},
};

static void
expect_no_finding(const char *expect_json, size_t least)
{
	bu_autojson json_t *expect = json_loads(expect_json, 0, NULL);
	struct bu_checks checks;

	audit(expect, &checks);
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
	audit(expect, &checks);
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
	bu_checks_fini(&checks);
	bu_audit_machine_restore();
}

START_TEST(bad_machine_has_exactly_its_finding)
{
	root = bu_audit_machine_build(0);
	for (size_t i = 0; i < BU_LEN(bads); i++)
		run_bad(&bads[i]);
	/* Nothing is left of them. */
	expect_no_finding(bu_audit_machine_expected, 44);
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

	root = bu_audit_machine_build(1);
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

		audit(json, &checks);
		ck_assert_uint_eq(bu_checks_count(&checks, FAIL), 2);
		bu_checks_fini(&checks);
	}
	bu_audit_machine_remove();
}
END_TEST

START_TEST(bare_machine_has_no_finding)
{
	root = bu_audit_machine_build(1);
	bu_audit_machine_change("proc/sys/kernel/hostname", "cpu001");
	bu_audit_machine_change("dev/kmsg", "6,1,0,-;Linux version 6.1\n");
	expect_no_finding("{}", 1);
	bu_audit_machine_remove();
}
END_TEST

START_TEST(nothing_is_expected_of_the_good_machine)
{
	root = bu_audit_machine_build(0);
	expect_no_finding("{}", 20);
	bu_audit_machine_remove();
}
END_TEST

/* --- other questions --- */

START_TEST(two_cables_of_one_machine_are_swapped)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	struct bu_checks checks;
	size_t found = 0;

	root = bu_audit_machine_build(0);
	json_object_set_new(json_object_get(expect, "lldp"), "eth0",
			    json_string("leaf02:swp9"));
	bu_audit_machine_change("test/lldp/eth0", "leaf01.falcon SWP3");
	bu_audit_machine_change("test/lldp/eth1", "leaf02 swp9");
	audit(expect, &checks);
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
		root = bu_audit_machine_build(0);
		bu_audit_machine_change(NET "eth1/mtu", "1500");
		audit(expect, &checks);
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

	root = bu_audit_machine_build(0);
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
	audit(expect, &checks);
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
	{"Xid/SXid in log", {"gpu-xid"}},
	{"driver / VBIOS / firmware version", {"nic-firmware", "gpu"}},
	{"CPU governor, C-states, NUMA balancing, SMT, hugepages",
	 {"cpu-governor", "cpu-cstates", "numa-balancing", "smt", "hugepages"}},
	{"DIMM missing, slow memory", {"host", "hardware-error"}},
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
	each_row_has_a_bad_machine, virtual_machine_with_soft_roce_has_no_finding,
	bare_machine_has_no_finding, nothing_is_expected_of_the_good_machine,
	two_cables_of_one_machine_are_swapped, a_profile_has_other_severities,
	what_was_not_looked_at_is_said, no_file_leads_it_astray,
	each_static_fault_of_the_reference_has_a_row)
