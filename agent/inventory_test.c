/* SPDX-License-Identifier: Apache-2.0 */
/* Machines made of files: a GPU node with everything, a poor one, and this one. */
#include "agent/inventory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

#define MIB (1024LL * 1024)
#define PCI0 "sys/devices/pci0000:00/"

static char root[] = "/tmp/bringup-inventory-XXXXXX";

static char *
below(const char *name)
{
	return bu_xasprintf("%s/%s", root, name);
}

static void
make_parent(const char *name)
{
	bu_autofree char *path = below(name);
	struct bu_err err = {0};

	*strrchr(path, '/') = '\0';
	ck_assert_msg(bu_mkdir_p(path, 0755, &err) == 0, "%s", err.text);
}

static void
put_bytes(const char *name, const void *data, size_t size)
{
	bu_autofree char *path = below(name);
	struct bu_err err = {0};

	make_parent(name);
	ck_assert_msg(bu_file_write(path, data, size, 0644, &err) == 0, "%s", err.text);
}

static void
put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

static void
link_to(const char *target, const char *name)
{
	bu_autofree char *path = below(name);

	make_parent(name);
	ck_assert_msg(symlink(target, path) == 0, "%s", name);
}

/* A file in a folder, both given. */
static void
put_in(const char *folder, const char *file, const char *text)
{
	bu_autofree char *name = bu_xasprintf("%s/%s", folder, file);

	put(name, text);
}

static void
add_cpu(int number, const char *package, const char *core)
{
	char folder[80];

	snprintf(folder, sizeof(folder), "sys/devices/system/cpu/cpu%d/topology",
		 number);
	put_in(folder, "physical_package_id", package);
	put_in(folder, "core_id", core);
}

/* A function of the PCI bus; driver may be NULL. */
static void
add_pci(const char *address, const char *class, const char *vendor, const char *device,
	const char *driver)
{
	bu_autofree char *folder = bu_xasprintf(PCI0 "%s", address);
	bu_autofree char *link = bu_xasprintf("sys/bus/pci/devices/%s", address);
	bu_autofree char *target =
		bu_xasprintf("../../../devices/pci0000:00/%s", address);

	put_in(folder, "class", class);
	put_in(folder, "vendor", vendor);
	put_in(folder, "device", device);
	link_to(target, link);
	if (driver) {
		bu_autofree char *bound = bu_xasprintf("%s/driver", folder);
		bu_autofree char *to = bu_xasprintf("../../bus/pci/drivers/%s", driver);

		link_to(to, bound);
	}
}

/* A network interface whose device is the folder `device` of sysfs. */
static void
add_nic(const char *name, const char *device, const char *mac, const char *speed)
{
	bu_autofree char *folder = bu_xasprintf("sys/devices/%s/net/%s", device, name);
	bu_autofree char *link = bu_xasprintf("sys/class/net/%s", name);
	bu_autofree char *target =
		bu_xasprintf("../../devices/%s/net/%s", device, name);
	bu_autofree char *up = bu_xasprintf("%s/device", folder);

	put_in(folder, "address", mac);
	put_in(folder, "type", "1\n");
	put_in(folder, "operstate", "up\n");
	if (speed)
		put_in(folder, "speed", speed);
	link_to("../..", up);
	link_to(target, link);
}

/* sectors of 512 bytes; the device node is a file of as many zeros. */
static void
add_disk(const char *name, long long sectors, int has_device)
{
	bu_autofree char *folder = bu_xasprintf("sys/block/%s", name);
	bu_autofree char *node = bu_xasprintf("dev/%s", name);
	bu_autofree char *path = below(node);
	char text[32];

	snprintf(text, sizeof(text), "%lld\n", sectors);
	put_in(folder, "size", text);
	put_in(folder, "queue/rotational", "0\n");
	put_in(folder, "removable", "0\n");
	if (has_device)
		put_in(folder, "device/model", "disk\n");
	put(node, "");
	ck_assert_int_eq(truncate(path, sectors * 512), 0);
}

static void
poke(const char *node, long long offset, char byte)
{
	bu_autofree char *path = below(node);
	bu_autoclose int fd = open(path, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, &byte, 1, offset), 1);
}

static void
begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("proc/sys/kernel/random/boot_id", "6a1f0e1c-7d37-4a0e-8f7e-5a4f0c1d2e3f\n");
	put("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n");
	put("proc/meminfo", "MemTotal:        2113536 kB\nMemFree: 1 kB\n");
	put("proc/cpuinfo",
	    "processor\t: 0\nmodel name\t: Xeon 8480+ \nmodel\t\t: 143\n");
	put("sys/class/net/bonding_masters", "");
}

static void
end(void)
{
	struct bu_err err = {0};

	ck_assert_msg(bu_remove_tree(root, &err) == 0, "%s", err.text);
}

/* What was found, after a trip over the wire. */
static struct bu_inventory *
collect(void)
{
	struct bu_err err = {0};
	bu_autoinventory struct bu_inventory *found = bu_inventory_collect(root, &err);
	bu_autojson json_t *value = NULL;
	struct bu_inventory *arrived;

	ck_assert_msg(found != NULL, "%s", err.text);
	value = bu_inventory_to_json(found);
	arrived = bu_inventory_from_json(value, &err);
	ck_assert_msg(arrived != NULL, "%s", err.text);
	return arrived;
}

START_TEST(reads_the_board)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;

	begin();
	put("sys/class/dmi/id/sys_vendor", "  ACME Inc. \n");
	put("sys/class/dmi/id/product_name", "GX\xff"
					     "8\n");
	put("sys/class/dmi/id/product_serial", "S123\n");
	put("sys/class/dmi/id/product_uuid", "4c4c4544-0042-3510-8053-b4c04f4e4d32\n");
	put("sys/class/dmi/id/board_serial", "/S123/CNFCP1234567/\n");
	put("sys/class/dmi/id/chassis_serial", "C77\n");
	put("sys/firmware/efi/fw_platform_size", "64\n");
	put("sys/class/tpm/tpm0/tpm_version_major", "2\n");
	/* Two sockets of two cores; the cores of a socket have two threads. */
	for (int i = 0; i < 8; i++)
		add_cpu(i, i & 1 ? "1\n" : "0\n", i & 2 ? "4\n" : "0\n");
	put("sys/devices/system/cpu/cpufreq/policy0/x", "");
	put("sys/devices/system/cpu/cpufreq/topology/core_id", "9\n");
	put("sys/devices/system/cpu/cpu/topology/core_id", "9\n");
	put("sys/devices/system/cpu/gpu7/topology/core_id", "9\n");
	put("sys/devices/system/cpu/cpu9/online",
	    "0\n"); /* no topology while offline */
	inventory = collect();
	ck_assert_str_eq(inventory->dmi.vendor, "ACME Inc.");
	ck_assert_str_eq(inventory->dmi.product, "GX?8");
	ck_assert_str_eq(inventory->dmi.serial, "S123");
	ck_assert_str_eq(inventory->dmi.uuid, "4c4c4544-0042-3510-8053-b4c04f4e4d32");
	ck_assert_str_eq(inventory->dmi.board_serial, "/S123/CNFCP1234567/");
	ck_assert_str_eq(inventory->dmi.chassis_serial, "C77");
	ck_assert_int_eq(inventory->firmware, BU_FIRMWARE_UEFI);
	ck_assert_int_eq(inventory->tpm, 2);
	ck_assert_str_eq(inventory->boot_id, "6a1f0e1c-7d37-4a0e-8f7e-5a4f0c1d2e3f");
	ck_assert_str_eq(inventory->kernel, "6.1.0-28-amd64");
	ck_assert_int_eq(inventory->memory_bytes, 2113536 * 1024LL);
	ck_assert_str_eq(inventory->cpu.model, "Xeon 8480+");
	ck_assert_int_eq(inventory->cpu.threads, 8);
	ck_assert_int_eq(inventory->cpu.cores, 4);
	ck_assert_int_eq(inventory->cpu.sockets, 2);
	end();
}
END_TEST

START_TEST(lists_disks)
{
	static const struct {
		const char *name;
		int signature;
	} want[] = {
		{"nvme0n1", BU_SIGNATURE_NONE},     {"nvme1n1", BU_SIGNATURE_PRESENT},
		{"nvme2n1", BU_SIGNATURE_PRESENT},  {"nvme3n1", BU_SIGNATURE_NONE},
		{"nvme10n1", BU_SIGNATURE_PRESENT}, {"sda", BU_SIGNATURE_NONE},
	};
	static const char *const no_disks[] = {"loop0", "ram0", "zram0", "sr0",
					       "fd0",   "dm-0", "md127", "nbd0"};
	bu_autoinventory struct bu_inventory *inventory = NULL;
	bu_autofree char *short_path = NULL;
	const long long sectors = 8 * MIB / 512;

	begin();
	for (size_t i = 0; i < BU_LEN(want); i++)
		add_disk(want[i].name, sectors, 1);
	for (size_t i = 0; i < BU_LEN(no_disks); i++)
		add_disk(no_disks[i], sectors, 1);
	add_disk("sdb", 0, 1);             /* a card reader without a card */
	add_disk("virtual0", sectors, 0);  /* no hardware */
	add_disk("nvme0c0n1", sectors, 1); /* a path below nvme0n1 */
	put("sys/block/nvme0c0n1/hidden", "1\n");
	poke("dev/nvme1n1", MIB - 1, 1); /* the last byte that is looked at */
	poke("dev/nvme2n1", 7 * MIB, 1); /* the first one of the other end */
	poke("dev/nvme3n1", MIB, 1);     /* neither end */
	short_path = below("dev/nvme10n1");
	ck_assert_int_eq(truncate(short_path, 7 * MIB), 0); /* its end cannot be read */
	put("sys/block/sda/queue/rotational", "1\n");
	put("sys/block/sda/removable", "1\n");
	put_bytes("sys/block/sda/device/vpd_pg80", "\0\x80\0\x08  WD-77  ", 12);
	put("sys/block/nvme0n1/device/serial", "S6X       \n");
	put("sys/block/nvme1n1/serial", "virtio-serial");
	put("sys/block/nvme0n1/wwid", "eui.0025384c31b5a1f0\n");
	put("sys/block/nvme0n1/device/model", "SAMSUNG MZQL23T8HCLS-00A07 \n");
	put("sys/block/nvme0n1/queue/logical_block_size", "4096\n");
	put("sys/block/sda/device/wwid", "naa.5000c500a1b2c3d4\n");
	inventory = collect();
	ck_assert_uint_eq(inventory->disks_count, BU_LEN(want));
	for (size_t i = 0; i < BU_LEN(want); i++) {
		const struct bu_disk *disk = &inventory->disks[i];

		ck_assert_str_eq(disk->name, want[i].name);
		ck_assert_msg(disk->signature == want[i].signature, "%s", disk->name);
		ck_assert_int_eq(disk->size_bytes, 8 * MIB);
	}
	ck_assert_str_eq(inventory->disks[0].path, "/dev/nvme0n1");
	ck_assert_str_eq(inventory->disks[0].serial, "S6X");
	ck_assert_str_eq(inventory->disks[0].wwn, "eui.0025384c31b5a1f0");
	ck_assert_str_eq(inventory->disks[0].model, "SAMSUNG MZQL23T8HCLS-00A07");
	ck_assert_int_eq(inventory->disks[0].sector_bytes, 4096);
	ck_assert_str_eq(inventory->disks[0].by_path, ""); /* this one has no card */
	ck_assert_str_eq(inventory->disks[5].wwn, "naa.5000c500a1b2c3d4");
	ck_assert_str_eq(inventory->disks[1].serial, "virtio-serial");
	ck_assert_str_eq(inventory->disks[5].serial, "WD-77");
	ck_assert_int_eq(inventory->disks[5].rotational, 1);
	ck_assert_int_eq(inventory->disks[5].removable, 1);
	ck_assert_int_eq(inventory->disks[0].rotational, 0);
	end();
}
END_TEST

/* The place of a disk, from where its device is in the tree of sysfs. */
START_TEST(names_the_place_of_a_disk)
{
	static const char *const want[][3] = {
		{"nvme0n1", "pci0000:00/0000:00:01.0/0000:02:00.0/nvme/nvme0",
		 "pci-0000:02:00.0-nvme-1"},
		{"sda", "pci0000:00/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0",
		 "pci-0000:00:17.0-ata-1"},
		{"sdb", "pci0000:3a/0000:3b:00.0/host7/target7:2:5/7:2:5:0",
		 "pci-0000:3b:00.0-scsi-0:2:5:0"},
		{"sdc",
		 "pci0000:00/0000:00:14.0/usb2/2-1/2-1.4/2-1.4:1.0/host6/target6:0:0/"
		 "6:0:0:1",
		 "pci-0000:00:14.0-usb-0:1.4:1.0-scsi-0:0:0:1"},
		{"vda", "pci0000:00/0000:00:05.0/virtio2", "pci-0000:00:05.0"},
	};
	bu_autoinventory struct bu_inventory *inventory = NULL;

	begin();
	put("sys/class/ata_port/ata3/port_no", "1\n");
	for (size_t i = 0; i < BU_LEN(want); i++) {
		bu_autofree char *dir = bu_xasprintf("sys/devices/%s/x", want[i][1]);
		bu_autofree char *link =
			bu_xasprintf("sys/block/%s/device", want[i][0]);
		bu_autofree char *target = bu_xasprintf("../../devices/%s", want[i][1]);
		bu_autofree char *full = below(link);

		put(dir, "");
		add_disk(want[i][0], 8 * MIB / 512, 0);
		ck_assert_int_eq(symlink(target, full), 0);
	}
	inventory = collect();
	ck_assert_uint_eq(inventory->disks_count, BU_LEN(want));
	for (size_t i = 0; i < BU_LEN(want); i++) {
		ck_assert_str_eq(inventory->disks[i].name, want[i][0]);
		ck_assert_str_eq(inventory->disks[i].by_path, want[i][2]);
	}
	end();
}
END_TEST

START_TEST(lists_network_cards_by_pci_address)
{
	static const char *const want[] = {"eth9", "ens1", "ibs2", "usb0"};
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_machine machine;

	begin();
	add_nic("ens1", "pci0000:00/0000:3a:00.0", "52:54:00:AB:00:02\n", "-1\n");
	add_nic("eth9", "pci0000:00/0000:0a:00.0/virtio1", "52:54:00:77:00:01\n",
		"400000\n");
	link_to("../../../bus/virtio/drivers/virtio_net",
		PCI0 "0000:0a:00.0/virtio1/driver");
	add_nic("usb0", "pci0000:00/0000:00:14.0/usb1/1-3/1-3:1.0",
		"02:00:00:00:00:09\n", NULL);
	add_nic("ibs2", "pci0000:00/0000:5a:00.0",
		"80:00:02:08:fe:80:00:00:00:00:00:00:52:54:00:ff:fe:77:00:01\n",
		"4294967295");
	put(PCI0 "0000:5a:00.0/net/ibs2/type", "32\n");
	add_nic("ibs3", "pci0000:00/0000:5b:00.0", "52:54:00:ab:00:06\n", NULL);
	put(PCI0 "0000:5b:00.0/net/ibs3/type", "32\n");
	/* A virtual function, an interface without an address, and no hardware. */
	add_nic("vf0", "pci0000:00/0000:3a:00.1", "52:54:00:ab:00:03\n", NULL);
	put(PCI0 "0000:3a:00.1/physfn/x", "");
	add_nic("dummy0", "pci0000:00/0000:3b:00.0", "00:00:00:00:00:00\n", NULL);
	put("sys/class/net/br0/address", "52:54:00:ab:00:04\n");
	put("sys/class/net/br0/type", "1\n");
	/* A bond lent its address to a member. */
	put(PCI0 "0000:3a:00.0/net/ens1/bonding_slave/perm_hwaddr",
	    "52:54:00:ab:00:05\n");
	inventory = collect();
	ck_assert_uint_eq(inventory->nics_count, BU_LEN(want));
	for (size_t i = 0; i < BU_LEN(want); i++)
		ck_assert_str_eq(inventory->nics[i].name, want[i]);
	ck_assert_str_eq(inventory->nics[0].pci, "0000:0a:00.0");
	ck_assert_str_eq(inventory->nics[0].driver, "virtio_net");
	ck_assert_str_eq(inventory->nics[0].operstate, "up");
	ck_assert_int_eq(inventory->nics[0].speed_mbps, 400000);
	ck_assert_int_eq(inventory->nics[1].speed_mbps, 0);
	ck_assert_str_eq(inventory->nics[1].mac, "52:54:00:ab:00:05");
	ck_assert_str_eq(inventory->nics[1].driver, "");
	ck_assert_int_eq(inventory->nics[2].speed_mbps, 0);
	ck_assert_str_eq(inventory->nics[3].pci, "");
	bu_inventory_machine(inventory, &machine);
	ck_assert_uint_eq(machine.macs_count, 2);
	ck_assert_int_eq(bu_machine_has_mac(&machine, "52:54:00:77:00:01"), 1);
	ck_assert_int_eq(bu_machine_has_mac(&machine, "52:54:00:ab:00:05"), 1);
	end();
}
END_TEST

START_TEST(lists_pci_devices_and_gpus)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;

	begin();
	add_pci("0000:1a:00.0", "0x030200\n", "0x10de\n", "0x2330\n", NULL);
	add_pci("0000:19:00.0", "0x020700\n", "0x15b3\n", "0x1021\n", "mlx5_core");
	add_pci("0000:0b:00.0", "0x010802\n", "0x144d\n", "0xa824\n", "nvme");
	add_pci("0000:03:00.0", "0x030000\n", "0x1a03\n", "0x2000\n", "ast");
	add_pci("0000:10:00.0", "0x068000\n", "0x10de\n", "0x22a3\n", NULL);
	add_pci("0000:11:00.0", "0x068000\n", "0x8086\n", "0x22a3\n", NULL);
	add_pci("0000:00:00.0", "0x060000\n", "0x8086\n", "0x09a2\n", NULL);
	add_pci("0000:1b:00.0", "0x030000\n", "0x10de\n", "0x1eb8\n", "nouveau");
	add_pci("0000:1c:00.0", "0x040300\n", "0x10de\n", "0x1eb9\n",
		NULL); /* its sound */
	put("sys/bus/pci/devices/rubbish/class", "0x030200\n");
	put("sys/bus/pci/devices/rubbish/vendor", "0x10de\n");
	put("sys/bus/pci/devices/rubbish/device", "0x2330\n");
	put("sys/bus/pci/devices/0000:1d:00.0/class", "0x030200\n");
	add_pci("0000:1e:00.0", "0x03020000\n", "0x10de\n", "0x2330\n", NULL);
	add_pci("0000:1f:00.0", "  030200\n", "0x10de\n", "0x2330\n", NULL);
	add_pci("0000:20:00.0", "0x03020g\n", "0x10de\n", "0x2330\n", NULL);
	inventory = collect();
	ck_assert_uint_eq(inventory->pci_count, 6);
	ck_assert_str_eq(inventory->pci[0].address, "0000:03:00.0");
	ck_assert_str_eq(inventory->pci[1].address, "0000:0b:00.0");
	ck_assert_str_eq(inventory->pci[2].address,
			 "0000:10:00.0"); /* hex, not numbers */
	ck_assert_str_eq(inventory->pci[3].driver, "mlx5_core");
	ck_assert_str_eq(inventory->pci[3].class, "020700");
	ck_assert_uint_eq(inventory->gpus_count, 2);
	ck_assert_str_eq(inventory->gpus[0].pci, "0000:1a:00.0");
	ck_assert_str_eq(inventory->gpus[0].device, "2330");
	ck_assert_str_eq(inventory->gpus[0].driver, "");
	ck_assert_str_eq(inventory->gpus[1].driver, "nouveau");
	end();
}
END_TEST

START_TEST(lists_rdma_devices)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;
	const struct bu_rdma *rdma;

	begin();
	put("sys/class/infiniband/mlx5_0/node_guid", "5054:00ff:fe77:0001\n");
	put("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	put("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	put("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n");
	put("sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
	put("sys/class/infiniband/mlx5_0/device/net/ib1/dev_port", "1\n");
	put("sys/class/infiniband/mlx5_0/device/net/ib0/dev_port", "0\n");
	put("sys/class/infiniband/rxe0/node_guid", "5054:00ff:fe78:0001\n");
	put("sys/class/infiniband/rxe0/parent", "eth1\n");
	put("sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE\n");
	put("sys/class/infiniband/rxe0/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
	put("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");
	put("sys/class/infiniband/mlx5_10/ports/1/gid_attrs/ndevs/0", "ens3np0\n");
	put("sys/class/infiniband/mlx5_10/ports/0/state", "4: ACTIVE\n");
	put("sys/class/infiniband/mlx5_10/ports/x/state", "4: ACTIVE\n");
	/* too long for an interface's name */
	put("sys/class/infiniband/mlx5_10/ports/2/state", "ACTIVE\n");
	put("sys/class/infiniband/mlx5_10/device/net/sixteen___bytes_/dev_port", "1\n");
	inventory = collect();
	ck_assert_uint_eq(inventory->rdma_count, 3);
	rdma = &inventory->rdma[0];
	ck_assert_str_eq(rdma->name, "mlx5_0");
	ck_assert_str_eq(rdma->node_guid, "5054:00ff:fe77:0001");
	ck_assert_uint_eq(rdma->ports_count, 2);
	ck_assert_int_eq(rdma->ports[0].port, 1);
	ck_assert_str_eq(rdma->ports[0].state, "ACTIVE");
	ck_assert_str_eq(rdma->ports[0].rate, "400 Gb/sec (4X NDR)");
	ck_assert_str_eq(rdma->ports[0].link_layer, "InfiniBand");
	ck_assert_str_eq(rdma->ports[0].netdev, "ib0");
	ck_assert_str_eq(rdma->ports[1].state, "DOWN");
	ck_assert_str_eq(rdma->ports[1].netdev, "ib1");
	ck_assert_uint_eq(inventory->rdma[1].ports_count, 2);
	ck_assert_str_eq(inventory->rdma[1].ports[0].netdev, "ens3np0");
	ck_assert_str_eq(inventory->rdma[1].ports[1].netdev, "");
	ck_assert_str_eq(inventory->rdma[1].ports[1].state, "ACTIVE");
	ck_assert_str_eq(inventory->rdma[2].name, "rxe0");
	ck_assert_str_eq(inventory->rdma[2].ports[0].netdev, "eth1");
	end();
}
END_TEST

/* Nothing but what every kernel has. */
START_TEST(bears_a_poor_machine)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;

	begin();
	put("proc/cpuinfo", "processor\t: 0\n");
	put("proc/meminfo", "");
	inventory = collect();
	ck_assert_str_eq(inventory->cpu.model, "");
	ck_assert_int_eq(inventory->memory_bytes, 0);
	ck_assert_int_eq(inventory->firmware, BU_FIRMWARE_BIOS);
	ck_assert_int_eq(inventory->tpm, 0);
	ck_assert_int_eq(inventory->cpu.threads, 0);
	ck_assert_uint_eq(inventory->disks_count + inventory->nics_count +
				  inventory->pci_count + inventory->gpus_count +
				  inventory->rdma_count,
			  0);
	end();
}
END_TEST

START_TEST(says_what_is_not_mounted)
{
	struct bu_err err = {0};

	ck_assert_ptr_null(bu_inventory_collect("/nonexistent", &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert(strstr(err.text, "/nonexistent/proc"));
	/* nor is one of both enough */
	for (int i = 0; i < 2; i++) {
		strcpy(root, "/tmp/bringup-inventory-XXXXXX");
		ck_assert_ptr_nonnull(mkdtemp(root));
		if (i)
			put("sys/class/net/bonding_masters", "");
		else
			put("proc/sys/kernel/random/boot_id", "6a1f0e1c\n");
		ck_assert_ptr_null(bu_inventory_collect(root, &err));
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		end();
	}
}
END_TEST

/* More than the other end takes is left out here. */
START_TEST(keeps_to_the_caps)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;

	begin();
	for (int i = 0; i < BU_GPUS_MAX + 2; i++) {
		char address[16];

		snprintf(address, sizeof(address), "0000:%02x:00.0", i);
		add_pci(address, "0x030200\n", "0x10de\n", "0x2330\n", NULL);
	}
	inventory = collect();
	ck_assert_uint_eq(inventory->gpus_count, BU_GPUS_MAX);
	ck_assert_uint_eq(inventory->pci_count, BU_GPUS_MAX + 2);
	end();
}
END_TEST

/* A name that was cut would be another device's. */
START_TEST(a_name_is_whole_or_left_out)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;
	char fits[33], too_long[33], nic[17];

	begin();
	snprintf(fits, sizeof(fits), "%031d", 1);
	snprintf(too_long, sizeof(too_long), "%032d", 2);
	snprintf(nic, sizeof(nic), "%016d", 3);
	add_disk(fits, 16, 1);
	add_disk(too_long, 16, 1);
	for (int i = 0; i < 2; i++) {
		bu_autofree char *folder =
			bu_xasprintf("sys/class/infiniband/%s", i ? too_long : fits);

		put_in(folder, "ports/1/state", "4: ACTIVE\n");
	}
	add_nic(nic, "pci0000:00/0000:0a:00.0", "52:54:00:77:00:01\n", NULL);
	add_nic(nic + 1, "pci0000:00/0000:0b:00.0", "52:54:00:77:00:02\n", NULL);
	inventory = collect();
	ck_assert_uint_eq(inventory->disks_count, 1);
	ck_assert_str_eq(inventory->disks[0].name, fits);
	ck_assert_uint_eq(inventory->rdma_count, 1);
	ck_assert_str_eq(inventory->rdma[0].name, fits);
	ck_assert_uint_eq(inventory->nics_count, 1);
	ck_assert_str_eq(inventory->nics[0].name, nic + 1);
	end();
}
END_TEST

START_TEST(reads_this_machine)
{
	struct bu_err err = {0};
	bu_autoinventory struct bu_inventory *found = bu_inventory_collect("", &err);
	bu_autoinventory struct bu_inventory *arrived = NULL;
	bu_autojson json_t *value = NULL;

	ck_assert_msg(found != NULL, "%s", err.text);
	value = bu_inventory_to_json(found);
	arrived = bu_inventory_from_json(value, &err);
	ck_assert_msg(arrived != NULL, "%s", err.text);
	ck_assert_int_eq(found->cpu.threads, (int)sysconf(_SC_NPROCESSORS_ONLN));
	ck_assert_int_gt(found->memory_bytes, 64 * MIB);
}
END_TEST

BU_UNIT("agent inventory", reads_the_board, lists_disks, names_the_place_of_a_disk,
	a_name_is_whole_or_left_out, lists_network_cards_by_pci_address,
	lists_pci_devices_and_gpus, lists_rdma_devices, bears_a_poor_machine,
	says_what_is_not_mounted, keeps_to_the_caps, reads_this_machine)
