/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong networks of profiles and the exact messages that they get. */
#include "tests/support/wrong.h"

#define PROMETHEUS                                                                     \
	"rdma = rxe\nrouting = sprayed\nspines = s\nswitch_counters = https://h\n"

static const struct wrong wrongs[] = {
	{"nic = 1", "nic = 0\nvlan = 4095",
	 "site.ini:15: [network fabric] vlan: '4095' is out of range; allowed is 1 to "
	 "4094\n"
	 "site.ini:32: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give each network a NIC of its own\n"},
	{"nic = 1", "nic = 0\nvlan = 100\nmtu = 9000",
	 "site.ini:17: [network fabric] rdma: rxe does not go with a vlan: the kernel "
	 "makes "
	 "soft-RoCE over NICs and bonds only\n"
	 "site.ini:33: [pool train] networks: 'fabric' has mtu 9000 in a VLAN over "
	 "'boot' with mtu 1500; the NIC must carry the larger one\n"},
	{"addresses = 10.77.0.[11-14]", "addresses = 10.77.0.[11-14]\nvlan = 7",
	 "site.ini:10: [network boot] vlan: does not go with a boot network: firmware "
	 "starts "
	 "without a tag; make it the native VLAN of the switch port\n"},
	{"nic = 1", "nic = 1\nmtu = 100",
	 "site.ini:15: [network fabric] mtu: '100' is out of range; allowed is 576 to "
	 "9216\n"},
	{"nic = 1", "nic = 1\nmtu = 65536",
	 "site.ini:15: [network fabric] mtu: '65536' is out of range; allowed is 576 "
	 "to 9216\n"},
	{"nic = 1", "bond = 802.3ad",
	 "site.ini:10: [network fabric] bond_nics: is missing; bond = 802.3ad takes "
	 "two NICs or more\n"
	 "site.ini:31: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give each network a NIC of its own\n"},
	{"nic = 1", "nic = 1\nbond = 802.3ad\nbond_nics = 1,2",
	 "site.ini:14: [network fabric] nic: does not go with a bond; bond_nics names "
	 "the "
	 "NICs\n"
	 "site.ini:33: [pool train] networks: 'fabric' is on nic 2; [hardware vm] has "
	 "NICs 0 to 1\n"},
	{"nic = 1", "bond_nics = 1,2",
	 "site.ini:14: [network fabric] bond_nics: has no bond; give bond = "
	 "active-backup or 802.3ad\n"
	 "site.ini:31: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give each network a NIC of its own\n"},
	{"nic = 1", "bond = balance-rr\nbond_nics = 1,2",
	 "site.ini:14: [network fabric] bond: 'balance-rr' is unknown; allowed is "
	 "none|active-backup|802.3ad\n"
	 "site.ini:32: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give each network a NIC of its own\n"},
	{"nic = 1", "bond = active-backup\nbond_nics = 1",
	 "site.ini:15: [network fabric] bond_nics: '1' is wrong; allowed is NICs as "
	 "numbers or PCI addresses, two at least, like 0, 1\n"
	 "site.ini:32: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give each network a NIC of its own\n"},
	{"nic = 1", "bond = active-backup\nbond_nics = 0,1",
	 "site.ini:32: [pool train] networks: 'boot' is on nic 0 and 'fabric' on nic "
	 "0,1; a bond has its NICs for itself\n"},
	{"nic = 1", "bond = active-backup\nbond_nics = 1,7",
	 "site.ini:32: [pool train] networks: 'fabric' is on nic 7; [hardware vm] has "
	 "NICs 0 to 1\n"},
	{"nic = 1", "nic = 1\nbond_miimon = 50 ms\nbond_hash = layer2",
	 "site.ini:15: [network fabric] bond_miimon: has no bond; give bond = "
	 "active-backup or 802.3ad\n"
	 "site.ini:16: [network fabric] bond_hash: has no bond; give bond = 802.3ad\n"},
	{"nics = 2",
	 "nics = 3\n[network spare]\nrole = storage\ncidr = 10.79.0.0/24\n"
	 "addresses = 10.79.0.[11-14]\nbond = active-backup\nbond_nics = 1,2\n"
	 "bond_lacp_rate = fast",
	 "site.ini:27: [network spare] bond_lacp_rate: is for bond = 802.3ad; this is "
	 "bond = active-backup\n"},
	{"nic = 1", "nic = 1\nvlan = 7",
	 "site.ini:16: [network fabric] rdma: rxe does not go with a vlan: the kernel "
	 "makes "
	 "soft-RoCE over NICs and bonds only\n"},
	{"nic = 1", "nic = 1\ngateway = 10.78.0.255",
	 "site.ini:15: [network fabric] gateway: 10.78.0.255 is not in 10.78.0.0/24; "
	 "a gateway must be inside the network\n"},
	{"zone = z1", "zone = z1\ndns = 10.0.0.53, ns.example.org",
	 "site.ini:5: [site] dns: 'ns.example.org' is a name, and only a DNS server "
	 "could resolve it; give its address\n"},
	{"features = rxe, lab",
	 "data = root:1GiB:ext4:/scratch, b:1GiB:ext4:/usr/local",
	 "site.ini:34: [pool train] data: '/usr/local' is a directory of the system; "
	 "allowed are others, like /scratch\n"
	 "site.ini:34: [pool train] data: 'root' is the name of a partition of the "
	 "system\n"},
	{"features = rxe, lab", "root = ram\ndata = a:1GiB:ext4:/a\nroot_size = 2 GiB",
	 "site.ini:34: [pool train] root: ram and data: nodes whose system runs from "
	 "memory have no data partitions yet; take data out, or say root = disk\n"
	 "site.ini:34: [pool train] root: ram and root_size: the system is not on a "
	 "disk; take root_size out\n"},
	{"[pool train]\nnodes = node[001-002]\nhardware = vm",
	 "[disks two]\nscratch = rotational:no\n[hardware odd]\ndisk = smallest\n"
	 "nics = 2\nboot_loader = grub\nboot = media\ndisks = two\n"
	 "[pool train]\nnodes = node[001-002]\nhardware = odd\nroot = ram",
	 "site.ini:37: [pool train] root: ram and [hardware odd] boot = media: such "
	 "nodes boot by themselves, from the network\n"
	 "site.ini:37: [pool train] root: ram and [hardware odd] boot_loader = grub: "
	 "such nodes boot by themselves, for which iPXE is needed\n"
	 "site.ini:37: [pool train] root: ram and [hardware odd] disks: nodes whose "
	 "system runs from memory have no array yet, no disk to mirror and no two roots\n"
	 "site.ini:39: [pool train] power: is libvirt, and [hardware odd] says boot = "
	 "media; only a Redfish BMC has a virtual drive: power = redfish, or boot = "
	 "network\n"},
	{"features = rxe, lab", "root = raw\ndata = a:1GiB:ext4:/a\nroot_size = 2 GiB",
	 "site.ini:34: [pool train] root: raw and data: the image's own partitions are "
	 "all that such a disk has; take data out\n"
	 "site.ini:34: [pool train] root: raw and root_size: the image says how large "
	 "its root is; take root_size out\n"},
	{"[pool train]\nnodes = node[001-002]\nhardware = vm",
	 "[disks two]\nscratch = rotational:no\n[hardware odd]\ndisk = smallest\n"
	 "nics = 2\ndisks = two\n"
	 "[pool train]\nnodes = node[001-002]\nhardware = odd\nroot = raw",
	 "site.ini:35: [pool train] root: raw and [hardware odd] disks: an image that "
	 "bringup did not build mounts no array and starts from no mirror and no second root\n"},
	{"[pool train]\nnodes = node[001-002]\nhardware = vm",
	 "[node node002]\nkargs = nosmt\n[pool train]\nnodes = node[001-002]\n"
	 "hardware = vm\nroot = raw\nkargs = console=ttyS1 iommu=pt\n"
	 "hugepages = 2MiB*64",
	 "site.ini:27: [node node002] kargs: 'nosmt' does not reach a kernel that "
	 "root = raw installs, because its boot loader is the image's own; put it into "
	 "the image and take it out here (console=... may stay: it is for the boot "
	 "ramdisk)\n"
	 "site.ini:32: [pool train] kargs: 'console=ttyS1 iommu=pt' does not reach a "
	 "kernel that root = raw installs, because its boot loader is the image's own; "
	 "put it into the image and take it out here (console=... may stay: it is for "
	 "the boot ramdisk)\n"
	 "site.ini:33: [pool train] hugepages: '2MiB*64' does not reach a kernel that "
	 "root = raw installs, because its boot loader is the image's own; put it into "
	 "the image and take it out here (console=... may stay: it is for the boot "
	 "ramdisk)\n"},
	{"features = rxe, lab",
	 "root = raw\nkargs = console=ttyS1,115200n8 console=tty1", ""},
	{"features = rxe, lab", "root = cd",
	 "site.ini:34: [pool train] root: 'cd' is unknown; allowed is "
	 "disk|ram|raw\n"},
	{"[pool train]\nnodes = node[001-002]\nhardware = vm",
	 "[hardware odd]\ndisk = smallest\nnics = 2\nboot_loader = lilo\nboot = tape\n"
	 "[pool train]\nnodes = node[001-002]\nhardware = odd\nroot = ram",
	 "site.ini:29: [hardware odd] boot_loader: 'lilo' is unknown; allowed is "
	 "ipxe|grub\n"
	 "site.ini:30: [hardware odd] boot: 'tape' is unknown; allowed is "
	 "network|media\n"},
	{"features = rxe, lab", "data = a:299MiB:xfs:/a, b:300MiB:xfs:/b",
	 "site.ini:34: [pool train] data: 'a:299MiB:xfs:/a' is too small; xfs takes "
	 "300 MiB "
	 "or more\n"},
	{"features = rxe, lab", "data_keys = tpm",
	 "site.ini:34: [pool train] data_keys: there is no data to encrypt; give data, "
	 "or leave it out\n"},
	{"features = rxe, lab", "data_keys = appliance",
	 "site.ini:34: [pool train] data_keys: there is no data to encrypt; give data, "
	 "or leave it out\n"},
	{"features = rxe, lab", "data = a:1GiB:ext4:/a, a:2GiB:ext4:/b, c:1GiB:xfs:/a",
	 "site.ini:34: [pool train] data: 'a:1GiB:ext4:/a' and 'a:2GiB:ext4:/b' have "
	 "the same name or mount point; each needs its own\n"
	 "site.ini:34: [pool train] data: 'a:1GiB:ext4:/a' and 'c:1GiB:xfs:/a' have "
	 "the same name or mount point; each needs its own\n"},
	{"max_unavailable = 50 %",
	 MORE_POOL("") "bond = 802.3ad\nbond_nics = 2,3\nvlan = 5\n"
		       "routes = 10.0.0.0/9 via 10.91.0.1\n" MORE_NETWORK
		       "bond = 802.3ad\nbond_nics = 2,3\nvlan = 6\nbond_lacp_rate = "
		       "fast\n"
		       "routes = 10.0.0.0/9 via 10.92.0.1, 10.128.0.0/9 via 10.92.0.1",
	 "site.ini:47: [pool more] networks: 's' and 't' both have a route to "
	 "10.0.0.0/9; "
	 "a destination has one\n"
	 "site.ini:47: [pool more] networks: 's' and 't' share a bond of nics 2,3, but "
	 "not "
	 "its bond, bond_miimon, bond_hash and bond_lacp_rate\n"},
	{"nic = 1", "bond = active-backup\nbond_nics = 1,2\nbond_miimon = 1 ms",
	 "site.ini:16: [network fabric] bond_miimon: '1 ms' is out of range; allowed "
	 "is 0.01 s to 10 s\n"
	 "site.ini:33: [pool train] networks: 'fabric' is on nic 2; [hardware vm] has "
	 "NICs 0 to 1\n"},
	{"nic = 1", "nic = 1\npci = 0000:18:00.0",
	 "site.ini:15: [network fabric] pci: names the NIC, and so does nic; give one "
	 "of them\n"},
	{"nic = 1", "nic = 1\nport = mlx5_3/x",
	 "site.ini:15: [network fabric] port: 'mlx5_3/x' is wrong; allowed is an RDMA "
	 "port: a network interface like ib0, a PCI address like 0000:18:00.0, or a "
	 "device and its port like mlx5_3/1\n"},
	{"nic = 1\nrdma = rxe", "port = ib0\ngateway = 10.78.0.1\nrdma = rxe",
	 "site.ini:14: [network fabric] port: names an RDMA port of hardware; give rdma "
	 "= infiniband or rdma = hardware\n"
	 "site.ini:15: [network fabric] gateway: does not go with port, whose "
	 "interface is left as the image sets it up; give one of them\n"},
	{"cidr = 10.78.0.0/24\naddresses = 10.78.0.11,10.78.0.12\n", "",
	 "site.ini:10: [network fabric] addresses: is missing; it says: the addresses "
	 "that nodes get\n"
	 "site.ini:10: [network fabric] cidr: is missing; it says: the network\n"},
	{"rdma = rxe", "rdma = infiniband",
	 "site.ini:10: [network fabric] port: is missing; it says: the InfiniBand port, "
	 "like mlx5_3/1\n"},
	{"nic = 1", "pci = 18:00.0",
	 "site.ini:14: [network fabric] pci: '18:00.0' is wrong; allowed is a PCI "
	 "address like 0000:18:00.0\n"
	 "site.ini:31: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give each network a NIC of its own\n"},
	{"nic = 1", "nic = 1\ngateway = 10.79.0.1",
	 "site.ini:15: [network fabric] gateway: 10.79.0.1 is not in 10.78.0.0/24; a "
	 "gateway must be inside the network\n"},
	{"nic = 1", "nic = 1\ngateway = 10.78.0.11",
	 "site.ini:15: [network fabric] gateway: 10.78.0.11 is the address of node "
	 "'node001'; take it out of addresses\n"},
	{"zone = z1", "zone = z1\nappliance = 10.77.0.1, 10.77.0.12",
	 "site.ini:5: [site] appliance: 10.77.0.12 is the address of node 'node002' in "
	 "[network boot]; take it out of addresses\n"},
	{"zone = z1", "zone = z1\ndns = 10.78.0.11",
	 "site.ini:5: [site] dns: 10.78.0.11 is the address of node 'node001' in "
	 "[network fabric]; take it out of addresses\n"},
	{"zone = z1", "zone = z1\nntp = time.example.org, 10.77.0.11",
	 "site.ini:5: [site] ntp: 10.77.0.11 is the address of node 'node001' in "
	 "[network boot]; take it out of addresses\n"},
	{"nic = 1", "nic = 1\nroutes = 10.0.0.0/8 via 10.79.0.1",
	 "site.ini:15: [network fabric] routes: 10.79.0.1 is not in 10.78.0.0/24; a "
	 "route's next hop must be inside the network\n"},
	{"nic = 1", "nic = 1\nroutes = 10.0.0.1/8 via 10.78.0.1",
	 "site.ini:15: [network fabric] routes: '10.0.0.1/8 via 10.78.0.1' is wrong; "
	 "allowed is routes like 10.0.0.0/8 via 10.78.0.1, with commas\n"},
	{"addresses = 10.77.0.[11-14]", "",
	 "site.ini:6: [network boot] addresses: is missing; it says: the addresses "
	 "that nodes get\n"},
	{"networks = boot, fabric", "networks = boot, fabric\nbmc_network = boot",
	 "site.ini:32: [pool train] bmc_network: [network boot] has another role; "
	 "allowed is a network with role = bmc\n"},
	{"rdma = rxe", "rdma = rxe\nrail = 64",
	 "site.ini:16: [network fabric] rail: '64' is out of range; allowed is 0 to "
	 "63\n"},
	{"rdma = rxe", "rdma = rxe\npfc = 3, 8",
	 "site.ini:16: [network fabric] pfc: '3, 8' is wrong; allowed is priorities 0 "
	 "to 7 with commas between them, or none\n"},
	{"rdma = rxe", "rdma = rxe\necn = yes",
	 "site.ini:16: [network fabric] ecn: 'yes' is unknown; allowed is on|off\n"},
	{"rdma = rxe", "rdma = rxe\ndscp = 64",
	 "site.ini:16: [network fabric] dscp: '64' is out of range; allowed is 0 to "
	 "63\n"},
	{"rdma = rxe", "rdma = rxe\npkeys = 0x8001, 0x8000",
	 "site.ini:16: [network fabric] pkeys: '0x8001, 0x8000' is wrong; allowed is "
	 "partition keys like 0x8001, with commas between them\n"},
	{"rdma = rxe", "rdma = rxe\ngid_index = 256",
	 "site.ini:16: [network fabric] gid_index: '256' is out of range; allowed is 0 "
	 "to 255\n"},
	{"rdma = rxe", "rdma = rxe\nflow_label = 1048576",
	 "site.ini:16: [network fabric] flow_label: '1048576' is out of range; allowed "
	 "is 0 to 1048575\n"},
	{"rdma = rxe", "rdma = rxe\ngid_family = ipv5",
	 "site.ini:16: [network fabric] gid_family: 'ipv5' is unknown; allowed is "
	 "ipv4|ipv6\n"},
	{"rdma = rxe", "rdma = rxe\ngid_index = 3\ngid_family = ipv6",
	 "site.ini:17: [network fabric] gid_family: names the GID, and so does "
	 "gid_index; give one of them\n"},
	{"nic = 1\nrdma = rxe", "port = ib0\nrdma = infiniband\ngid_family = ipv6",
	 "site.ini:16: [network fabric] gid_family: is for RoCE v2; InfiniBand has "
	 "GUIDs\n"},
	{"rdma = rxe", "rdma = rxe\npkey = 0x8001",
	 "site.ini:16: [network fabric] pkey: 0x8001 is not there: soft-RoCE has the "
	 "partition 0xffff alone\n"},
	{"rdma = rxe", "rdma = hardware\npkeys = 0x8001, 0xffff\npkey = 0x8002",
	 "site.ini:17: [network fabric] pkey: 0x8002 is none of pkeys = "
	 "0x8001,0xffff; add it there\n"},
	{"rdma = rxe", "rdma = rxe\npkey = 0x8001, 0x8002",
	 "site.ini:16: [network fabric] pkey: '0x8001, 0x8002' is wrong; allowed is "
	 "a partition key like 0x8001\n"},
	{"rdma = rxe", "rdma = rxe\nrouting = spray",
	 "site.ini:16: [network fabric] routing: 'spray' is unknown; allowed is "
	 "static|sprayed\n"},
	{"rdma = rxe", "rdma = rxe\nspines = s 1",
	 "site.ini:16: [network fabric] spines: 's 1' is wrong; allowed is words with "
	 "commas between them\n"},
	{"rdma = rxe", "rdma = rxe\nspine_addresses = s1",
	 "site.ini:16: [network fabric] spine_addresses: 's1' is wrong; allowed is "
	 "name=value with commas between them\n"},
	{"rdma = rxe", "rdma = rxe\nswitch_counters = /opt/read",
	 "site.ini:16: [network fabric] switch_counters: is wrong; allowed is the URL "
	 "of a Prometheus like https://prometheus.example.org:9090, without a user or "
	 "a password, or infiniband\n"},
	{"rdma = rxe", "rdma = rxe\nswitch_counters = https://u:p@h:9090",
	 "site.ini:16: [network fabric] switch_counters: is wrong; allowed is the URL "
	 "of a Prometheus like https://prometheus.example.org:9090, without a user or "
	 "a password, or infiniband\n"},
	{"rdma = rxe", "rdma = rxe\nswitch_counters = ftp://h/x",
	 "site.ini:16: [network fabric] switch_counters: is wrong; allowed is the URL "
	 "of a Prometheus like https://prometheus.example.org:9090, without a user or "
	 "a password, or infiniband\n"},
	{"rdma = rxe", "rdma = rxe\nswitch_counters = http://h/x?y=1",
	 "site.ini:16: [network fabric] switch_counters: is wrong; allowed is the URL "
	 "of a Prometheus like https://prometheus.example.org:9090, without a user or "
	 "a password, or infiniband\n"},
	{"rdma = rxe", "rdma = rxe\nswitch_received = ifInErrors",
	 "site.ini:16: [network fabric] switch_received: is for switch_counters = "
	 "URL of a Prometheus; give that, or take it out\n"},
	{"rdma = rxe", "rdma = rxe\nswitch_sent = ifOutErrors",
	 "site.ini:16: [network fabric] switch_sent: is for switch_counters = URL "
	 "of a Prometheus; give that, or take it out\n"},
	{"rdma = rxe", PROMETHEUS "switch_device_label = a-b",
	 "site.ini:19: [network fabric] switch_device_label: is wrong; allowed is "
	 "the name of a label, of letters, digits and _, a digit not first\n"},
	{"rdma = rxe", PROMETHEUS "switch_peer_label = a-b",
	 "site.ini:19: [network fabric] switch_peer_label: is wrong; allowed is the "
	 "name of a label, of letters, digits and _, a digit not first\n"},
	{"rdma = rxe", PROMETHEUS "switch_port_label = a-b",
	 "site.ini:19: [network fabric] switch_port_label: is wrong; allowed is the "
	 "name of a label, of letters, digits and _, a digit not first\n"},
	{"rdma = rxe", PROMETHEUS "switch_delay = 6 m",
	 "site.ini:19: [network fabric] switch_delay: '6 m' is out of range; "
	 "allowed is 0 s to 300 s\n"},
	{"rdma = rxe", PROMETHEUS "switch_credentials = letmein",
	 "site.ini:19: [network fabric] switch_credentials: is not a reference; "
	 "allowed is a reference 'file:/path', 'env:NAME', 'credential:NAME' or "
	 "'exec:/path'; a profile never has the secret itself\n"},
	{"rdma = rxe", "rdma = rxe\nsl = 16",
	 "site.ini:16: [network fabric] sl: '16' is out of range; allowed is 0 to "
	 "15\n"},
	{"rdma = rxe", "rdma = none\nsl = 3",
	 "site.ini:16: [network fabric] sl: is for RDMA, and this network has none; "
	 "give rdma = hardware, infiniband or rxe\n"
	 "site.ini:26: [validation pairs] fabric: [network fabric] has no RDMA to "
	 "measure; give it rdma = rxe, hardware or infiniband\n"},
	{"addresses = 10.77.0.[11-14]", "addresses = 10.77.0.[11-14]\ndscp = 26",
	 "site.ini:10: [network boot] dscp: is for RDMA, and this network has none; "
	 "give rdma = hardware, infiniband or rxe\n"},
};

START_TEST(wrong_networks_get_exact_messages)
{
	wrong_check(wrongs, BU_LEN(wrongs));
}
END_TEST

BU_UNIT("wrong networks", wrong_networks_get_exact_messages)
