/* SPDX-License-Identifier: Apache-2.0 */
/* The good machine of the audit's tests, file by file. Part of tests only. */
#include "tests/support/audit_machine.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/sysroot.h"
#include "model/kernel_event.h"

enum { CHANGES_MAX = 64 };

static char root[64];
static char *changed[CHANGES_MAX];
static size_t changed_count;
static const char *only; /* what fill() makes; NULL = everything */

/* --- the good machine --- */

/* PCI functions: where, numa node, what kind. Each has a link in sys/bus/pci/devices.
 */
static const struct {
	const char *path, *numa, *vendor, *class, *speed, *width;
} functions[] = {
	{R0, "0", "0x8086", "0x060400", "32.0 GT/s PCIe", "16"},
	{U0, "0", "0x1000", "0x060400", "32.0 GT/s PCIe", "16"},
	{D0, "0", "0x1000", "0x060400", "32.0 GT/s PCIe", "16"},
	{E0, "0", "0x1000", "0x060400", "32.0 GT/s PCIe", "16"},
	{GPU0, "0", "0x10de", "0x030200", "32.0 GT/s PCIe", "16"},
	{NIC0, "0", "0x15b3", "0x020000", "32.0 GT/s PCIe", "16"},
	{R1, "1", "0x8086", "0x060400", "32.0 GT/s PCIe", "16"},
	{U1, "1", "0x1000", "0x060400", "32.0 GT/s PCIe", "16"},
	{D1, "1", "0x1000", "0x060400", "32.0 GT/s PCIe", "16"},
	{E1, "1", "0x1000", "0x060400", "32.0 GT/s PCIe", "16"},
	{GPU1, "1", "0x10de", "0x030200", "32.0 GT/s PCIe", "16"},
	{NIC1, "1", "0x15b3", "0x020700", "32.0 GT/s PCIe", "16"},
	{BOOT, "0", "0x8086", "0x020000", "2.5 GT/s PCIe", "1"},
};

static const char *const files[][2] = {
	{"proc/sys/kernel/random/boot_id", "5f0c6d3e-94a1-4f25-a3a5-1f9d3c6c1c11"},
	{"proc/sys/kernel/hostname", "gpu001"},
	{"proc/sys/kernel/osrelease", "6.1.0-56-amd64"},
	{"proc/sys/kernel/numa_balancing", "0"},
	{"proc/driver/nvidia/version",
	 "NVRM version: NVIDIA UNIX x86_64 Kernel Module"},
	{"sys/module/nvidia_peermem/refcnt", "0"},
	{"sys/devices/system/node/node0/cpulist", "0"},
	{"sys/devices/system/node/node1/cpulist", "1"},
	{CPU "cpu0/cpufreq/scaling_governor", "performance"},
	{CPU "cpu1/cpufreq/scaling_governor", "performance"},
	{CPU "cpu0/cpuidle/state0/name", "POLL"},
	{CPU "cpu0/cpuidle/state0/latency", "0"},
	{CPU "cpu0/cpuidle/state1/name", "C1"},
	{CPU "cpu0/cpuidle/state1/latency", "2"},
	{CPU "cpu0/cpuidle/state2/name", "C6"},
	{CPU "cpu0/cpuidle/state2/latency", "133"},
	{CPU "cpu0/cpuidle/state2/disable", "1"},
	{CPU "smt/active", "0"},
	{"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "1024"},
	{"etc/bringup/volumes", "# GUID and place\n0a1b lake ext4 /lake\n"},
	{"etc/bringup/volumes.tpm", ""},
	{"etc/bringup/passwd", "alice:x:2001:2001::/home/alice:/bin/bash\n"},
	/* the system on two disks */
	{"var/lib/bringup/mirror", "aaaa-bbbb\nDISK-1\nDISK-2\n"},
	{"sys/block/vda/serial", "DISK-1"},
	{"sys/block/vda/vda1/uevent", "PARTNAME=ESP\n"},
	{"sys/block/vda/vda2/uevent", "DEVTYPE=partition\nPARTNAME=bringup-root\n"},
	{"sys/block/vda/vda2/holders/md126/dev", "9:126"},
	{"sys/block/nvme0n1/device/serial", "DISK-2"},
	{"sys/block/nvme0n1/nvme0n1p2/uevent", "PARTNAME=bringup-root\n"},
	{"sys/block/nvme0n1/nvme0n1p2/holders/md126/dev", "9:126"},
	{"sys/block/md126/md/dev-vda2/state", "in_sync"},
	{"sys/block/md126/md/dev-nvme0n1p2/state", "in_sync,write_mostly"},
	{"run/bringup/volumes/lake", ""},
	{"proc/mounts", "/dev/mapper/bringup-lake /lake ext4 rw 0 0\n"
			"/dev/vda3 /data ext4 rw 0 0\n"
			"/dev/md127 /scratch xfs rw 0 0\n"},
	{"etc/fstab", "# bringup\n"
		      "PARTUUID=0a1c /data ext4 defaults,nofail,x-systemd.makefs 0 2\n"
		      "PARTUUID=0a1d /boot/efi vfat noauto 0 2\n"
		      "lake:/x /x nfs _netdev,nofail 0 0\n"},
	{"etc/bringup/scratch", "# bringup\nxfs /scratch\n"},
	{"proc/77/comm", "sshd\n"},
	{"dev/kmsg", "6,1,0,-;Linux version 6.1\n"
		     "4,2,9,-;NVRM: Xid (PCI:0000:13:00): 31, pid=77, a job's own\n"
		     "6,3,9,-;EDAC MC0: Giving out device to module\n"},
	{"usr/lib/systemd/system/slurmd.service",
	 "[Service]\nLimitMEMLOCK=infinity\nLimitNOFILE=131072\n"},
	{"dev/infiniband/uverbs0", ""},
	{"dev/infiniband/rdma_cm", ""},
	/* eth0: boot network, no RDMA */
	{NET "lo/address", "00:00:00:00:00:00"},
	{NET "eth0/address", "52:54:00:77:00:01"},
	{NET "eth0/operstate", "up"},
	{NET "eth0/carrier", "1"},
	{NET "eth0/carrier_down_count", "1"},
	{NET "eth0/speed", "1000"},
	{NET "eth0/mtu", "1500"},
	{NET "eth0/type", "1"},
	/* eth1: RoCE on mlx5_0 */
	{NET "eth1/address", "52:54:00:78:00:01"},
	{NET "eth1/operstate", "up"},
	{NET "eth1/carrier", "1"},
	{NET "eth1/carrier_down_count", "2"},
	{NET "eth1/speed", "400000"},
	{NET "eth1/mtu", "9000"},
	{NET "eth1/type", "1"},
	{NET "eth1/ecn/roce_np/enable/3", "1"},
	{NET "eth1/ecn/roce_rp/enable/3", "1"},
	{"test/pfc/eth1", "8"},
	{"test/lldp/eth1", "leaf01.falcon swp3"},
	{"test/ib/mlx5_1", "ibleaf01 17"},
	{"test/mtu/mlx5_0", "4096"},
	{"test/lock/mlx5_0", "1024 MiB"},
	{"test/lock/mlx5_1", "1024 MiB"},
	{MLX0 "node_guid", "9c63:c003:00aa:0001"},
	{MLX0 "node_type", "1: CA"},
	{MLX0 "fw_ver", "28.39.1002"},
	{MLX0 "tc/1/traffic_class", "Global tclass=104"},
	{PORT0 "link_layer", "Ethernet"},
	{PORT0 "state", "4: ACTIVE"},
	{PORT0 "phys_state", "5: LinkUp"},
	{PORT0 "rate", "400 Gb/sec (4X NDR)"},
	{PORT0 "hw_counters/out_of_sequence", "0"},
	{PORT0 "gid_attrs/ndevs/0", "eth1"},
	{PORT0 "gid_attrs/types/0", "IB/RoCE v1"},
	{PORT0 "gid_attrs/types/1", "RoCE v2"},
	{PORT0 "gid_attrs/types/2", "IB/RoCE v1"},
	{PORT0 "gid_attrs/types/3", "RoCE v2"},
	{PORT0 "gids/0", "fe80:0000:0000:0000:5054:00ff:fe78:0001"},
	{PORT0 "gids/1", "fe80:0000:0000:0000:5054:00ff:fe78:0001"},
	{PORT0 "gids/2", "0000:0000:0000:0000:0000:ffff:0a4e:000b"},
	{PORT0 "gids/3", "0000:0000:0000:0000:0000:ffff:0a4e:000b"},
	/* ib0: InfiniBand on mlx5_1 */
	{NET "ib0/address",
	 "00:00:10:49:fe:80:00:00:00:00:00:00:9c:63:c0:03:00:aa:00:02"},
	{NET "ib0/operstate", "up"},
	{NET "ib0/carrier", "1"},
	{NET "ib0/mtu", "4092"},
	{NET "ib0/type", "32"},
	{NIC1 "/net/ib0/dev_port", "0"},
	{"test/mtu/mlx5_1", "4096"},
	{MLX1 "node_guid", "9c63:c003:00aa:0002"},
	{MLX1 "node_type", "1: CA"},
	{MLX1 "fw_ver", "28.39.1002"},
	{PORT1 "link_layer", "InfiniBand"},
	{PORT1 "state", "4: ACTIVE"},
	{PORT1 "phys_state", "5: LinkUp"},
	{PORT1 "rate", "400 Gb/sec (4X NDR)"},
	{PORT1 "hw_counters/out_of_sequence", "0"},
	{PORT1 "lid", "0x11"},
	{PORT1 "sm_lid", "0x1"},
	{PORT1 "gids/0", "fe80:0000:0000:0000:9c63:c003:00aa:0002"},
	{PORT1 "pkeys/0", "0xffff"},
	{PORT1 "pkeys/1", "0x8001"},
	{PORT1 "pkeys/2", "0x0000"},
};

static const char *const links[][2] = {
	{NET "eth0/device", "../../../devices/pci0000:00/0000:02:00.0"},
	{NET "eth1/device", "../../../devices/pci0000:10/0000:10:00.0/0000:11:00.0/"
			    "0000:12:01.0/0000:14:00.0"},
	{NET "ib0/device", "../../../devices/pci0000:90/0000:90:00.0/0000:91:00.0/"
			   "0000:92:01.0/0000:94:00.0"},
	{MLX0 "device", "../../../devices/pci0000:10/0000:10:00.0/0000:11:00.0/"
			"0000:12:01.0/0000:14:00.0"},
	{NIC1 "/driver", "../../../../../bus/pci/drivers/mlx5_core"},
	{MLX1 "device", "../../../devices/pci0000:90/0000:90:00.0/0000:91:00.0/"
			"0000:92:01.0/0000:94:00.0"},
};

const char bu_audit_machine_expected[] =
	"{\"networks\":["
	"{\"name\":\"boot\",\"role\":\"boot\",\"mac\":\"52:54:00:77:00:01\",\"mtu\":"
	"1500,"
	"\"link_gbps\":1},"
	"{\"name\":\"roce\",\"role\":\"fabric\",\"mac\":\"52:54:00:78:00:01\","
	"\"pci\":\"0000:14:00.0\",\"mtu\":9000,\"link_gbps\":400,\"rdma\":true,"
	"\"rail\":0,"
	"\"address\":\"10.78.0.11\",\"gid_index\":3,\"firmware\":[\"28.39.1002\"],"
	"\"pfc\":[3],\"ecn\":true,\"dscp\":26},"
	"{\"name\":\"ib\",\"role\":\"fabric\",\"port\":\"mlx5_1/1\",\"infiniband\":true,"
	"\"mtu\":4092,"
	"\"link_gbps\":400,\"rdma\":true,\"rail\":1,\"pkeys\":[\"0x7fff\",\"0x8001\"]}]"
	","
	"\"lldp\":{\"roce\":\"leaf01:swp3\",\"ib\":\"ibleaf01:17\"},"
	"\"host\":{\"smt\":false,\"hugepages\":{\"2048kB\":1024},\"cstate_us\":10}}";

/* --- building it --- */

static void
make_folders(char *path)
{
	for (char *c = path + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*c = '/';
	}
}

/* While something is restored: only what was changed, and what is below it. */
static int
is_wanted(const char *name)
{
	size_t length = only ? strlen(only) : 0;

	return !only || (strncmp(name, only, length) == 0 &&
			 (name[length] == '\0' || name[length] == '/'));
}

void
bu_audit_machine_bytes(const char *name, const void *content, size_t size)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);
	FILE *file;

	if (!is_wanted(name))
		return;
	make_folders(path);
	file = fopen(path, "w");
	ck_assert_msg(file != NULL, "%s", path);
	ck_assert_uint_eq(fwrite(content, 1, size, file), size);
	fclose(file);
	chmod(path, 0666);
}

static void
put(const char *name, const char *content)
{
	bu_audit_machine_bytes(name, content, strlen(content));
}

void
bu_audit_machine_link(const char *name, const char *target)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);

	if (!is_wanted(name))
		return;
	make_folders(path);
	ck_assert_int_eq(symlink(target, path), 0);
}

static void
put_in(const char *folder, const char *name, const char *content)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", folder, name);

	put(path, content);
}

/* PCIe capability at 0x40: relaxed ordering, MaxReadReq 4096; ACS at 0x100, off. */
static void
fill_config(unsigned char config[4096])
{
	memset(config, 0, 4096);
	config[0x34] = 0x40;
	config[0x40] = 0x10;
	config[0x48] = 0x10;
	config[0x49] = 0x50;
	config[0x100] = 0x0d;
	config[0x102] = 0x01;
	config[0x104] = 0x1d; /* what it can */
}

static void
build_function(size_t i)
{
	const char *folder = functions[i].path, *address = strrchr(folder, '/') + 1;
	bu_autofree char *link = bu_xasprintf("sys/bus/pci/devices/%s", address);
	bu_autofree char *target = bu_xasprintf("../../../../%s", folder);
	bu_autofree char *path = bu_xasprintf("%s/config", folder);
	unsigned char config[4096];

	put_in(folder, "numa_node", functions[i].numa);
	put_in(folder, "vendor", functions[i].vendor);
	put_in(folder, "class", functions[i].class);
	put_in(folder, "current_link_speed", functions[i].speed);
	put_in(folder, "max_link_speed", functions[i].speed);
	put_in(folder, "current_link_width", functions[i].width);
	put_in(folder, "max_link_width", functions[i].width);
	put_in(folder, "aer_dev_fatal", "Undefined 0\nTOTAL_ERR_FATAL 0\n");
	put_in(folder, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 0\n");
	put_in(folder, "aer_dev_correctable", "RxErr 2\nTOTAL_ERR_COR 2\n");
	put_in(folder, "iommu_group/type", "identity");
	fill_config(config);
	bu_audit_machine_bytes(path, config, sizeof(config));
	bu_audit_machine_link(link, target);
}

static void
fill(void)
{
	for (size_t i = 0; i < BU_LEN(functions); i++)
		build_function(i);
	for (size_t i = 0; i < BU_LEN(files); i++)
		put(files[i][0], files[i][1]);
	for (size_t i = 0; i < BU_LEN(links); i++)
		bu_audit_machine_link(links[i][0], links[i][1]);
}

const char *
bu_audit_machine_build(int empty)
{
	strcpy(root, "/tmp/bringup-audit-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	if (!empty)
		fill();
	return root;
}

static void
take_away(const char *path)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	struct stat st;

	if (lstat(full, &st) == 0 && S_ISDIR(st.st_mode))
		ck_assert_int_eq(bu_remove_tree(full, NULL), 0);
	else
		unlink(full);
}

void
bu_audit_machine_restore(void)
{
	for (size_t i = 0; i < changed_count; i++) {
		take_away(changed[i]);
		only = changed[i];
		fill();
		only = NULL;
		free(changed[i]);
	}
	changed_count = 0;
}

void
bu_audit_machine_remove(void)
{
	while (changed_count > 0)
		free(changed[--changed_count]);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

/* --- what is not in files --- */

static int
play_mtu(const char *at, const char *device, int port)
{
	(void)port;
	return (int)bu_sysroot_int(at, -1, "test/mtu/%s", device);
}

static int
play_provider(const char *at, const char *device)
{
	return !bu_sysroot_exists(at, "test/unknown/%s", device);
}

static int
play_pfc(const char *at, const char *netdev)
{
	return (int)bu_sysroot_int(at, -1, "test/pfc/%s", netdev);
}

static int
play_lock(const char *at, const char *device, const struct rlimit *limit,
	  char *ret_said, size_t size)
{
	(void)limit;
	bu_sysroot_line(at, ret_said, size, "test/lock/%s", device);
	return *ret_said ? strncmp(ret_said, "register", 8) == 0 : -1;
}

static int
play_lldp(struct bu_lldp *ports, size_t count, int64_t wait_ms, int (*stop)(void *arg),
	  void *arg, struct bu_err *err)
{
	(void)wait_ms, (void)stop, (void)arg;
	if (bu_sysroot_exists(root, "test/lldp/denied"))
		return bu_err_set(err, BU_ERR_DENIED, EPERM, "listen for LLDP on eth1");
	for (size_t i = 0; i < count; i++) {
		char text[96];

		bu_sysroot_line(root, text, sizeof(text), "test/lldp/%s",
				ports[i].netdev);
		ports[i].heard =
			sscanf(text, "%63s %63s", ports[i].name, ports[i].port) == 2;
	}
	return 0;
}

static int
play_ib_peer(const char *at, const char *device, int port, int wait_ms,
	     struct bu_lldp *ret, struct bu_err *err)
{
	char text[96];

	(void)port, (void)wait_ms;
	bu_sysroot_line(at, text, sizeof(text), "test/ib/%s", device);
	ret->heard = sscanf(text, "%63s %63s", ret->name, ret->port) == 2;
	return ret->heard ? 0
			  : bu_err_set(err, BU_ERR_TIMEOUT, 0,
				       "the neighbour does not "
				       "answer");
}

const struct bu_audit_probes bu_audit_machine_probes = {.rdma_mtu = play_mtu,
							.rdma_provider = play_provider,
							.pfc = play_pfc,
							.lock = play_lock,
							.lldp = play_lldp,
							.ib_peer = play_ib_peer};

static void
change_config(const char *path, const char *bytes)
{
	unsigned char config[4096];
	unsigned at, value;

	fill_config(config);
	ck_assert_int_eq(sscanf(bytes, "%x=%x", &at, &value), 2);
	config[at] = (unsigned char)value;
	bu_audit_machine_bytes(path, config, sizeof(config));
}

void
bu_audit_machine_change(const char *path, const char *content)
{
	int is_config = strncmp(path, "config ", 7) == 0;
	int is_mode = strncmp(path, "mode ", 5) == 0;
	char *name = is_config ? bu_xasprintf("%s/config", path + 7)
			       : bu_xstrdup(is_mode ? path + 5 : path);
	bu_autofree char *full = bu_xasprintf("%s/%s", root, name);
	struct stat st;

	ck_assert_uint_lt(changed_count, CHANGES_MAX);
	changed[changed_count++] = name;
	if (is_config) {
		change_config(name, content);
	} else if (is_mode) {
		ck_assert_int_eq(chmod(full, (mode_t)strtol(content, NULL, 8)), 0);
	} else if (content) {
		put(name, content);
	} else {
		ck_assert_msg(lstat(full, &st) == 0, "%s", full);
		take_away(name);
	}
}

void
bu_audit_machine_audit(const json_t *expect, struct bu_checks *ret)
{
	bu_autojson json_t *with_events =
		expect ? json_deep_copy(expect) : json_object();
	bu_autojson json_t *events = bu_json_load(BU_SRCDIR "/data/events.json", NULL);
	struct bu_checks_ctx ctx = {.root = root, .expect = with_events};
	struct bu_err err = {0};

	/* As the gate sends them, where a test has none of its own. */
	if (!json_object_get(with_events, "events"))
		json_object_set_new(with_events, "events",
				    bu_kernel_events_wire(events));
	bu_checks_init(ret);
	ck_assert_msg(bu_audit_run_with(&ctx, &bu_audit_machine_probes, ret, &err) == 0,
		      "%s", err.text);
}
