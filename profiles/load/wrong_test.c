/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong profiles and the exact messages that they get; those of networks are in
 * wrong_networks_test.c. */
#include "tests/support/wrong.h"

#define DISKS                                                                           \
	"what stays with a disk, like serial:S6X1, wwn:eui.0025, "                      \
	"path:pci-0000:02:00.0-nvme-1, model:MZQL2*, size:400GiB-1TiB, rotational:no, " \
	"smallest, first, boot-pair; all of them hold; no name like /dev/sda, which "   \
	"the kernel gives anew at each start"

static const struct wrong wrongs[] = {
	/* syntax, mostly what iniparser would silently misread */
	{"name = lab", "name = lab\nname = falcon",
	 "site.ini:4: [site] name: was given in line 3 already; give it once\n"},
	{"[image debian12]", "[image debian12]\n[image debian12]",
	 "site.ini:18: [image debian12] is in site.ini:17 already; put all of its keys "
	 "there\n"},
	{"[image debian12]", "[image [1-2]]",
	 "site.ini:17: '[image [1-2]]' is not a section; a line '[kind name]' has one "
	 "']', at its end, and no comment\n"
	 "site.ini:29: [pool train] image: there is no [image debian12]; allowed is "
	 "the name of a [image] section\n"},
	{"[hardware vm]", "[hardware vm] ; the lab",
	 "site.ini:18: '[hardware vm] ; the lab' is not a section; a line '[kind "
	 "name]' has one ']', at its end, and no comment\n"
	 "site.ini:28: [pool train] hardware: there is no [hardware vm]; allowed is "
	 "the name of a [hardware] section\n"},
	{"[cluster hpc]", "[Cluster hpc]",
	 "site.ini:21: [Cluster hpc]: is not a section name; allowed is '[kind]' or "
	 "'[kind "
	 "name]' of lower-case letters, digits, '-', '_' and '.'\n"
	 "site.ini:32: [pool train] cluster: there is no [cluster hpc]; allowed is the "
	 "name of a [cluster] section\n"},
	{"disk = smallest", "Disk = smallest",
	 "site.ini:18: [hardware vm] disk: is missing; it says: the system's disk; no "
	 "other is ever written but those of [disks]\n"
	 "site.ini:19: [hardware vm] 'Disk = ...' is not an entry; allowed is 'key = "
	 "value', the key of lower-case letters, digits, '-', '_' and '.'\n"},
	{"gres = rdma:rxe:1", "kargs = a#b",
	 "site.ini:35: [pool train] kargs: '#' inside a value; put the value in "
	 "quotes, or "
	 "a blank before the comment\n"},
	{"gres = rdma:rxe:1", "kargs = a;b",
	 "site.ini:35: [pool train] kargs: ';' inside a value; put the value in "
	 "quotes, or "
	 "a blank before the comment\n"},
	{"gres = rdma:rxe:1", "kargs = \"quiet",
	 "site.ini:35: [pool train] kargs: has a wrong quote; a quoted value ends with "
	 "the "
	 "same quote, and only a comment may follow\n"},
	{"gres = rdma:rxe:1", "kargs = \"quiet\" more",
	 "site.ini:35: [pool train] kargs: has a wrong quote; a quoted value ends with "
	 "the "
	 "same quote, and only a comment may follow\n"},
	{"gres = rdma:rxe:1", "gres =",
	 "site.ini:35: [pool train] gres: has no value; give one or leave the line "
	 "out\n"},
	{"gres = rdma:rxe:1", "gres = # later",
	 "site.ini:35: [pool train] gres: has no value; give one or leave the line "
	 "out\n"},
	{"gres = rdma:rxe:1", "gres",
	 "site.ini:35: [pool train] 'gres' is not an entry; allowed is 'key = value', "
	 "the "
	 "key "
	 "of lower-case letters, digits, '-', '_' and '.'\n"},
	{"features = rxe, lab", "features = rxe, \\\n  lab",
	 "site.ini:34: [pool train] ends with '\\'; an entry is one line, there is no "
	 "continuation\n"
	 "site.ini:35: [pool train] 'lab' is not an entry; allowed is 'key = value', "
	 "the "
	 "key "
	 "of lower-case letters, digits, '-', '_' and '.'\n"},
	{"zone = z1", "# a comment \\",
	 "site.ini:4: [site] ends with '\\'; an entry is one line, there is no "
	 "continuation\n"},
	{"[site]\n", "colour = red\n[site]\n",
	 "site.ini:1: 'colour = ...' is before the first section; start with '[kind "
	 "name]'\n"},
	{"zone = z1", "zone = z\x01",
	 "site.ini:4: [site] holds the control character 0x01; profiles are plain "
	 "text\n"},
	/* unknown and missing */
	{"power = libvirt", "powr = libvirt",
	 "site.ini:26: [pool train] power: is missing; it says: how its machines are "
	 "switched on and off\n"
	 "site.ini:30: [pool train] powr: is an unknown key (did you mean 'power'?); "
	 "the "
	 "reference lists what [pool] may hold\n"},
	{"[validation pairs]", "[validatoin pairs]",
	 "site.ini:24: [validatoin pairs] is an unknown section (did you mean "
	 "'validation'?); allowed is site, policy, access, group, user, network, image, disks, "
	 "mount, hardware, "
	 "cluster, validation, pool, node\n"
	 "site.ini:33: [pool train] validation: there is no [validation pairs]; "
	 "allowed is "
	 "the name of a [validation] section\n"},
	{"format = 1", "format = 2",
	 "site.ini:2: [site] format: '2' is unknown; allowed is 1\n"},
	{"[image debian12]", "[image debian12]\n[image]",
	 "site.ini:18: [image] has no name; write [image NAME]\n"},
	{"[site]", "[site lab]", "site.ini:1: [site lab] has a name; write [site]\n"},
	{"image = debian12", "image = debain12",
	 "site.ini:29: [pool train] image: there is no [image debain12] (did you mean "
	 "'debian12'?); allowed is the name of a [image] section\n"},
	{"inventory = racks.csv", "inventory = rack.csv",
	 "site.ini:5: [site] inventory: no file 'rack.csv' in the tree\n"},
	{"zone = z1", "include = more/*.ini",
	 "site.ini:4: [site] include: 'more/*.ini' matches no *.ini file of the "
	 "tree\n"},
	/* values */
	{"role = boot", "role = management",
	 "site.ini:7: [network boot] role: 'management' is unknown; allowed is "
	 "boot|fabric|storage|bmc\n"},
	{"cidr = 10.77.0.0/24", "cidr = 10.77.0.0",
	 "site.ini:8: [network boot] cidr: '10.77.0.0' is wrong; allowed is a network "
	 "like "
	 "10.78.0.0/24\n"},
	{"cidr = 10.77.0.0/24", "cidr = 10.77.0.1/24",
	 "site.ini:8: [network boot] cidr: '10.77.0.1/24' has host bits set; the "
	 "network "
	 "is 10.77.0.0/24\n"},
	{"cidr = 10.77.0.0/24", "cidr = 10.77.0.0/31",
	 "site.ini:8: [network boot] cidr: '10.77.0.0/31' is wrong; allowed is a "
	 "network "
	 "like 10.78.0.0/24, prefix /8 to /30\n"},
	{"10.77.0.[11-14]", "10.77.1.[11-14]",
	 "site.ini:9: [network boot] addresses: '10.77.1.11' is not a host address of "
	 "the network; allowed are those inside cidr\n"},
	{"10.77.0.[11-14]", "10.77.0.[11-300]",
	 "site.ini:9: [network boot] addresses: '10.77.0.255' is not a host address "
	 "of the network; allowed are those inside cidr\n"},
	{"10.77.0.[11-14]", "10.77.0.11",
	 "site.ini:9: [network boot] addresses: holds 1 addresses for 2 nodes; give "
	 "one for "
	 "each\n"},
	{"10.77.0.[11-14]", "10.77.0.[11-12],10.77.0.11",
	 "site.ini:9: [network boot] addresses: names 10.77.0.11 twice; each address "
	 "once\n"},
	{"nic = 1", "nic = one",
	 "site.ini:14: [network fabric] nic: 'one' is wrong; allowed is a whole "
	 "number\n"
	 "site.ini:31: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give "
	 "each network a NIC of its own\n"},
	{"nic = 1", "nic = 64",
	 "site.ini:14: [network fabric] nic: '64' is out of range; allowed is 0 to 63\n"
	 "site.ini:31: [pool train] networks: 'boot' and 'fabric' are both on nic 0; "
	 "give "
	 "each network a NIC of its own\n"},
	{"link_gbps = 0.02", "link_gbps = fast",
	 "site.ini:16: [network fabric] link_gbps: 'fast' is wrong; allowed is a "
	 "number\n"
	 "site.ini:25: [validation pairs] fabric: [network fabric] has no link_gbps, "
	 "and bw_min is a share of it\n"},
	{"disk = smallest", "disk = vda",
	 "site.ini:19: [hardware vm] disk: 'vda' is wrong; allowed is " DISKS "\n"},
	{"disk = smallest", "disk = /dev/vda",
	 "site.ini:19: [hardware vm] disk: '/dev/vda' is wrong; allowed is " DISKS
	 "\n"},
	{"nics = 2", "memory_min = 16 GB",
	 "site.ini:20: [hardware vm] memory_min: '16 GB' is wrong; allowed is a size "
	 "like "
	 "16 GiB; units B, KiB, MiB, GiB, TiB\n"},
	{"controller = 10.77.0.1:6817", "controller = 10.77.0.1",
	 "site.ini:23: [cluster hpc] controller: '10.77.0.1' is wrong; allowed is "
	 "'address:port'\n"},
	{"driver = slurm", "driver = slurm\nmunge_key = s3cret",
	 "site.ini:23: [cluster hpc] munge_key: is not a reference; allowed is a "
	 "reference 'file:/path', 'env:NAME', 'credential:NAME' or 'exec:/path'; a "
	 "profile never has the secret itself\n"},
	{"fabric = fabric", "fabric = fabric\nbw_min = 80",
	 "site.ini:26: [validation pairs] bw_min: '80' is wrong; allowed is a "
	 "percentage "
	 "like 80 %\n"},
	{"fabric = fabric", "fabric = fabric\nbw_min = 120 %",
	 "site.ini:26: [validation pairs] bw_min: '120 %' is out of range; allowed is "
	 "1 to "
	 "100\n"},
	{"fabric = fabric", "fabric = fabric\ndeadline = 2 days",
	 "site.ini:26: [validation pairs] deadline: '2 days' is wrong; allowed is a "
	 "time "
	 "like 90 s; units ms, s, m, h, d\n"},
	{"fabric = fabric", "fabric = fabric\ndeadline = 2 d",
	 "site.ini:26: [validation pairs] deadline: '2 d' is out of range; allowed is "
	 "1 s "
	 "to 86400 s\n"},
	{"max_unavailable = 50 %", "max_unavailable = 0",
	 "site.ini:36: [pool train] max_unavailable: '0' is out of range; allowed is 1 "
	 "to "
	 "100000\n"},
	{"gres = rdma:rxe:1", "gres = rdma rxe",
	 "site.ini:35: [pool train] gres: 'rdma rxe' is wrong; allowed is words with "
	 "commas between them\n"},
	{"nodes = node[001-002]", "nodes = node[002-001]",
	 "site.ini:27: [pool train] nodes: 'node[002-001]' holds the inverted range "
	 "2-1; "
	 "write the smaller number first\n"},
	{"nodes = node[001-002]", "nodes = node[001-002],node001",
	 "site.ini:27: [pool train] nodes: names 'node001' twice\n"},
	/* combinations */
	{"cidr = 10.78.0.0/24\naddresses = 10.78.0.11,10.78.0.12",
	 "cidr = 10.77.0.0/16\naddresses = 10.77.9.[1-2]",
	 "site.ini:12: [network fabric] cidr: overlaps with [network boot]; each "
	 "network "
	 "has its own addresses\n"},
	{"rdma = rxe", "rdma = none",
	 "site.ini:25: [validation pairs] fabric: [network fabric] has no RDMA to "
	 "measure; "
	 "give it rdma = rxe, hardware or infiniband\n"},
	{"fabric = fabric", "fabric = boot",
	 "site.ini:25: [validation pairs] fabric: [network boot] has another role; "
	 "allowed is a network with role = fabric\n"
	 "site.ini:25: [validation pairs] fabric: [network boot] has no RDMA to "
	 "measure; give it rdma = rxe, hardware or infiniband\n"
	 "site.ini:25: [validation pairs] fabric: [network boot] has no link_gbps, "
	 "and bw_min is a share of it\n"},
	{"networks = boot, fabric", "networks = fabric",
	 "site.ini:31: [pool train] networks: holds 0 networks with role = boot; "
	 "allowed "
	 "is exactly one\n"},
	{"networks = boot, fabric", "networks = boot",
	 "site.ini:33: [pool train] validation: measures [network fabric], which the "
	 "pool does not have; add it to networks\n"},
	{"networks = boot, fabric", "networks = boot, fabric, boot",
	 "site.ini:31: [pool train] networks: names 'boot' twice; name each network "
	 "once\n"},
	{"nics = 2", "nics = 1",
	 "site.ini:31: [pool train] networks: 'fabric' is on nic 1; [hardware vm] has "
	 "NICs "
	 "0 to 0\n"},
	{"validation = pairs", "",
	 "site.ini:26: [pool train] validation: is missing; nodes of a cluster must "
	 "be validated\n"},
	{"fabric = fabric", "fabric = fabric\nthresholds = memory_gbs=fast",
	 "site.ini:26: [validation pairs] thresholds: memory_gbs=fast: 'fast'; allowed "
	 "is a number from 0\n"},
	{"fabric = fabric", "fabric = fabric\nseverity = smt=off, gid=ignore",
	 "site.ini:26: [validation pairs] severity: gid=ignore: 'ignore'; allowed is "
	 "fail, warn or off\n"},
	{"fabric = fabric", "fabric = fabric\nrun_size = 1 KiB",
	 "site.ini:24: [validation pairs] message_size: is larger than run_size; a run "
	 "holds one message at least\n"},
	{"[image debian12]", "[image debian12]\n[node node03]\nrack = r1",
	 "site.ini:18: [node node03] is in no pool (did you mean 'node001'?); [node "
	 "NAME] "
	 "changes a node that a pool names\n"},
	{"[image debian12]",
	 "[image debian12]\n[node node002]\nmac = 52-54-00-77-00-01",
	 "site.ini:19: [node node002] mac: '52:54:00:77:00:01' is that of node "
	 "'node001' "
	 "(racks.csv:2); each machine has its own\n"},
	{"disk = smallest", "disk = smallest\nboot = media",
	 "site.ini:31: [pool train] power: is libvirt, and [hardware vm] says boot = "
	 "media; only a Redfish BMC has a virtual drive: power = redfish, or boot = "
	 "network\n"},
	{"power = libvirt", "power = redfish",
	 "racks.csv:2: [node node001] bmc: 'qemu:///system#node001' is wrong; power = "
	 "redfish takes an https URL, like https://bmc-gpu001.oob\n"
	 "racks.csv:3: [node node002] bmc: 'qemu:///system#node002' is wrong; power = "
	 "redfish takes an https URL, like https://bmc-gpu001.oob\n"},
	{"nodes = node[001-002]\n",
	 "nodes = node[001-002]\nhardware = vm\nimage = debian12\npower = libvirt\n"
	 "networks = boot\n[pool spare]\nnodes = node002\n",
	 "site.ini:33: [pool spare] nodes: 'node002' is in [pool train] already; a "
	 "node is "
	 "in one pool\n"},
	{"link_gbps = 0.02",
	 "link_gbps = 0.02\nbond = lacp\n[node node001]\nnics = "
	 "fabric=52:54:00:78:00:01",
	 "site.ini:17: [network fabric] bond: 'lacp' is unknown; allowed is "
	 "none|active-backup|802.3ad\n"},
	/* policy */
	{"[image debian12]", "[policy]\nresidency = ae-*\n[image debian12]",
	 "site.ini:4: nodes node[001-002] are in zone z1; [policy] residency = ae-* "
	 "(site.ini:18) allows no other\n"
	 "site.ini:19: [image debian12] is in zone z1; [policy] residency = ae-* "
	 "(site.ini:18) allows no other\n"
	 "site.ini:23: [cluster hpc] is in zone z1; [policy] residency = ae-* "
	 "(site.ini:18) allows no other\n"},
	{"[image debian12]", "[policy]\nresidency = z*\n[image debian12]\nzone = us-1",
	 "site.ini:19: [image debian12] is in zone us-1; [policy] residency = z* "
	 "(site.ini:18) allows no other\n"},
	{"[image debian12]",
	 "[policy]\nregistries = reg.lab:5000\n[image debian12]\nsource = "
	 "oci://reg.evil/x",
	 "site.ini:19: [image debian12] comes from reg.evil; [policy] registries = "
	 "reg.lab:5000 (site.ini:18) allows no other\n"},
	{"[image debian12]",
	 "[policy]\nimage_keys = file:/etc/a.pub, file:/etc/b.pub\n[image debian12]\n"
	 "key = file:/etc/c.pub",
	 "site.ini:19: [image debian12] is signed with file:/etc/c.pub; [policy] "
	 "image_keys = file:/etc/a.pub,file:/etc/b.pub (site.ini:18) allows no "
	 "other\n"},
	{"[image debian12]", "[policy]\nscanner = /usr/bin/grype\n[image debian12]",
	 "site.ini:18: [policy] scanner: '/usr/bin/grype' is wrong; allowed is a "
	 "program as 'exec:/path'\n"},
	{"[image debian12]", "[policy]\ncompatibility = maybe\n[image debian12]",
	 "site.ini:18: [policy] compatibility: 'maybe' is unknown; allowed is "
	 "refuse|warn\n"},
	{"zone = z1", "zone = z1\nbackup = https://u:p@h/b",
	 "site.ini:5: [site] backup: is wrong; allowed is a folder like /srv/backups, "
	 "a URL like https://host/path without a user or a password, or a program as "
	 "'exec:/path'\n"},
	{"zone = z1", "zone = z1\nbackup = /srv/backups",
	 "site.ini:1: [site] backup needs backup_recipient; bringup backup keygen "
	 "makes one\n"},
	{"zone = z1", "zone = z1\nbackup_recipient = bringup-recipient-0",
	 "site.ini:5: [site] backup_recipient: 'bringup-recipient-0' is wrong; allowed "
	 "is the recipient that bringup backup keygen prints\n"},
	{"zone = z1", "zone = z1\nbackup_every = 1 m",
	 "site.ini:5: [site] backup_every: '1 m' is out of range; allowed is 600 s to "
	 "2592000 s\n"},
	{"zone = z1", "zone = z1\ndomain = Falcon.org",
	 "site.ini:5: [site] domain: 'Falcon.org' is wrong; allowed is a domain name "
	 "like falcon.example.org\n"},
	{"zone = z1", "zone = z1\nntp = 10.0.0.256",
	 "site.ini:5: [site] ntp: '10.0.0.256' is wrong; allowed is host names or IPv4 "
	 "addresses with commas between them\n"},
	/* hardware and settings */
	{"nics = 2", "nics = 2\nsmt = no",
	 "site.ini:21: [hardware vm] smt: 'no' is unknown; allowed is on|off\n"},
	{"nics = 2", "nics = 2\nturbo = 1",
	 "site.ini:21: [hardware vm] turbo: '1' is unknown; allowed is on|off\n"},
	{"nics = 2", "nics = 2\nnuma_nodes = 0",
	 "site.ini:21: [hardware vm] numa_nodes: '0' is out of range; allowed is 1 to "
	 "1024\n"},
	{"nics = 2", "nics = 2\ncstate_us = 2 us",
	 "site.ini:21: [hardware vm] cstate_us: '2 us' is wrong; allowed is a whole "
	 "number\n"},
	{"nics = 2", "nics = 2\nnic_firmware = 28.39.1002,,28.41",
	 "site.ini:21: [hardware vm] nic_firmware: '28.39.1002,,28.41' is wrong; "
	 "allowed is words with commas between them\n"},
	{"nics = 2", "nics = 2\ngpus = 8\ngpu_model = h100",
	 "site.ini:22: [hardware vm] gpu_model: 'h100' is unknown; allowed is "
	 "a10|a30|a100-40gb|a100-80gb|a100-40gb-pcie|a100-80gb-pcie|h100-80gb|"
	 "h100-80gb-pcie|h100-nvl|h200-141gb|h200-nvl|h20-96gb|h20-141gb|b200-180gb|"
	 "b300|gb200|gb300|l4|l40s|rtx-pro-6000|mi210|mi300x|mi325x|mi350x\n"},
	{"nics = 2", "nics = 2\ngpus = 8\ngpu_model = h100-80gb\nmig = 1g.10gb*8",
	 "site.ini:23: [pool train] mig: asks for 8 compute slices and 8 of memory; a "
	 "h100-80gb has 7 and 8\n"},
	{"nics = 2", "nics = 2\ngpus = 8\ngpu_model = h200-141gb\nmig = 1g.10gb*7",
	 "site.ini:23: [pool train] mig: a h200-141gb has no instance 1g.10gb; allowed "
	 "is 1g.18gb, 1g.35gb, 2g.35gb, 3g.71gb, 4g.71gb, 7g.141gb\n"},
	{"nics = 2", "nics = 2\nmig = 1g.10gb*7",
	 "site.ini:21: [pool train] mig: [hardware vm] has no gpus to divide\n"},
	{"nics = 2", "nics = 2\ngpus = 8\ngpu_compute_partition = cpx",
	 "site.ini:22: [hardware vm] gpu_compute_partition: 'cpx' is unknown; allowed is "
	 "SPX|DPX|TPX|QPX|CPX\n"},
	{"nics = 2", "nics = 2\ngpus = 8\ngpu_memory_partition = NPS5",
	 "site.ini:22: [hardware vm] gpu_memory_partition: 'NPS5' is unknown; allowed is "
	 "NPS1|NPS2|NPS3|NPS4|NPS6|NPS8\n"},
	{"nics = 2", "nics = 2\ngpu_compute_partition = SPX",
	 "site.ini:21: [hardware vm] gpu_compute_partition: this class has no gpus to "
	 "divide; give gpus, or leave it out\n"},
	{"nics = 2",
	 "nics = 2\ngpus = 8\ngpu_model = h100-80gb\ngpu_memory_partition = NPS1",
	 "site.ini:23: [hardware vm] gpu_memory_partition: is a mode of AMD's GPUs from "
	 "MI300 on, and gpu_model is h100-80gb; leave it out\n"},
	{"nics = 2", "nics = 2\nmig = seven",
	 "site.ini:21: [hardware vm] mig: 'seven' is wrong; allowed is instances like "
	 "1g.10gb*7 or 3g.40gb+2g.20gb*2, or by GPU 0-3:1g.10gb*7,4-7:7g.80gb\n"},
	{"gres = rdma:rxe:1", "gpu_slices = 4",
	 "site.ini:35: [pool train] gpu_slices: [hardware vm] has no gpus to divide\n"},
	{"gres = rdma:rxe:1", "governor = fast",
	 "site.ini:35: [pool train] governor: 'fast' is unknown; allowed is "
	 "performance|powersave|schedutil|ondemand\n"},
	{"gres = rdma:rxe:1", "thp = sometimes",
	 "site.ini:35: [pool train] thp: 'sometimes' is unknown; allowed is "
	 "always|madvise|never\n"},
	{"gres = rdma:rxe:1", "hugepages = 64",
	 "site.ini:35: [pool train] hugepages: '64' is wrong; allowed is pages like "
	 "1GiB*64, 2MiB*1024\n"},
	{"gres = rdma:rxe:1", "sysctl = vm.swappiness",
	 "site.ini:35: [pool train] sysctl: 'vm.swappiness' is wrong; allowed is "
	 "name=value with commas between them\n"},
	{"gres = rdma:rxe:1", "labels = tier",
	 "site.ini:35: [pool train] labels: 'tier' is wrong; allowed is labels like "
	 "tier=gold, example.org/rack=r1\n"
	 "site.ini:35: [pool train] labels: is for clusters with driver = kubernetes; "
	 "[cluster hpc] has driver = slurm\n"},
	{"gres = rdma:rxe:1", "taints = gpu:NoSchedule",
	 "site.ini:35: [pool train] taints: is for clusters with driver = kubernetes; "
	 "[cluster hpc] has driver = slurm\n"},
	{"gres = rdma:rxe:1", "taints = gpu:Never",
	 "site.ini:35: [pool train] taints: 'gpu:Never' is wrong; allowed is taints "
	 "like gpu=true:NoSchedule; effects NoSchedule, PreferNoSchedule, NoExecute\n"
	 "site.ini:35: [pool train] taints: is for clusters with driver = kubernetes; "
	 "[cluster hpc] has driver = slurm\n"},
	{"gres = rdma:rxe:1", "purpose = mining",
	 "site.ini:35: [pool train] purpose: 'mining' is unknown; allowed is "
	 "gpu-training|cpu-training|preprocessing|gpu-inference|cpu-inference|feature-"
	 "store-online|feature-store-offline|data-pipeline|control-plane|general\n"},
	/* clusters */
	{"driver = slurm", "driver = nomad",
	 "site.ini:22: [cluster hpc] driver: 'nomad' is unknown; allowed is "
	 "slurm|kubernetes\n"},
	{"driver = slurm", "driver = slurm\ntoken = env:TOKEN",
	 "site.ini:23: [cluster hpc] token: is for clusters with driver = kubernetes; "
	 "[cluster hpc] has driver = slurm\n"},
	{"driver = slurm", "driver = kubernetes\nslurm_conf = /etc/slurm.conf",
	 "site.ini:23: [cluster hpc] slurm_conf: is for clusters with driver = slurm; "
	 "[cluster hpc] has driver = kubernetes\n"
	 "site.ini:35: [pool train] features: is for clusters with driver = slurm; "
	 "[cluster hpc] has driver = kubernetes\n"
	 "site.ini:36: [pool train] gres: is for clusters with driver = slurm; "
	 "[cluster hpc] has driver = kubernetes\n"},
	{"max_unavailable = 50 %", "partners = busy",
	 "site.ini:36: [pool train] partners: 'busy' is unknown; allowed is "
	 "spare|idle|any\n"},
	/* rollout limits */
	{"max_unavailable = 50 %", "canary = 2",
	 "site.ini:36: [pool train] canary: is 2 nodes, more than max_unavailable "
	 "with 1; a canary must not be larger\n"},
	/* a pool that is scaled */
	{"max_unavailable = 50 %", "min = 1",
	 "site.ini:36: [pool train] min: counts only in a pool that is scaled; give it "
	 "max, too\n"},
	{"max_unavailable = 50 %", "idle_off = 30 m",
	 "site.ini:36: [pool train] idle_off: counts only in a pool that is scaled; "
	 "give it max, too\n"},
	{"max_unavailable = 50 %", "max = 4",
	 "site.ini:36: [pool train] max: is 4, and the pool has 2 nodes\n"},
	{"max_unavailable = 50 %", "max = 1\nmin = 2",
	 "site.ini:37: [pool train] min: is 2, more than max with 1\n"},
	{"max_unavailable = 50 %", "max = 1\ncount = 2",
	 "site.ini:37: [pool train] count: is 2, not within min and max (0 to 1)\n"},
	{"max_unavailable = 50 %", "canary = 0 %",
	 "site.ini:36: [pool train] canary: '0 %' is out of range; allowed is 1 to "
	 "100\n"},
	{"max_unavailable = 50 %", "failure_budget = -1",
	 "site.ini:36: [pool train] failure_budget: '-1' is wrong; allowed is a number "
	 "of nodes from 1, or a percentage like 5 %\n"},
	{"max_unavailable = 50 %", "drain_deadline = 30",
	 "site.ini:36: [pool train] drain_deadline: '30' is wrong; allowed is a time "
	 "like 90 s; units ms, s, m, h, d\n"},
	{"max_unavailable = 50 %", "maintenance = weekends",
	 "site.ini:36: [pool train] maintenance: 'weekends' is wrong; allowed is times "
	 "in UTC like sat-sun 00:00-24:00, mon 22:00-02:00\n"},
	{"max_unavailable = 50 %", "data = scratch:500GB:ext4:/scratch",
	 "site.ini:36: [pool train] data: 'scratch:500GB:ext4:/scratch' is wrong; "
	 "allowed is partitions like scratch:500GiB:ext4:/scratch; ext4 or xfs; one "
	 "may be 'rest'\n"},
	/* ranges by position */
	{"max_unavailable = 50 %", "rack = r[1-3]",
	 "site.ini:36: [pool train] rack: makes 3 values for 2 nodes; give one for "
	 "each, or one for all\n"},
	{"max_unavailable = 50 %", "rack = r[1-2]*2",
	 "site.ini:36: [pool train] rack: makes 4 values for 2 nodes; give one for "
	 "each, or one for all\n"},
	{"max_unavailable = 50 %", "rack = r[1-2]*x",
	 "site.ini:36: [pool train] rack: 'r[1-2]*x' is wrong; write r[01-16], or "
	 "r[01-16]*8 for each of them 8 times\n"},
	{"max_unavailable = 50 %", "slot = [3-1]",
	 "site.ini:36: [pool train] slot: '[3-1]' holds the inverted range 3-1; write "
	 "the smaller number first\n"},
	{"max_unavailable = 50 %", "serial = ABC",
	 "site.ini:36: [pool train] serial: makes 1 values for 2 nodes; give one for "
	 "each, in their order\n"},
	{"max_unavailable = 50 %", "serial = \"A B[1-2]\"",
	 "site.ini:36: [pool train] serial: 'A B1' is wrong; allowed is letters, "
	 "digits and -_.:/@+, no blanks\n"},
	/* secrets */
	{"max_unavailable = 50 %", "bmc_credentials = root/calvin",
	 "site.ini:36: [pool train] bmc_credentials: is not a reference; allowed is a "
	 "reference 'file:/path', 'env:NAME', 'credential:NAME' or 'exec:/path'; a "
	 "profile never has the secret itself\n"},
	{"max_unavailable = 50 %", "bmc_credentials = exec:vault",
	 "site.ini:36: [pool train] bmc_credentials: is not a reference; allowed is a "
	 "reference 'file:/path', 'env:NAME', 'credential:NAME' or 'exec:/path'; a "
	 "profile never has the secret itself\n"},
	/* nodes */
	{"[image debian12]", "[image debian12]\n[node node001]\nnics = fabric",
	 "site.ini:19: [node node001] nics: 'fabric' is wrong; allowed is network=MAC "
	 "with commas between them\n"},
	{"[image debian12]",
	 "[image debian12]\n[node node001]\nnics = storage=52:54:00:78:00:01",
	 "site.ini:19: [node node001] nics: [pool train] has no network 'storage'; "
	 "name "
	 "one of its networks\n"},
	{"max_unavailable = 50 %",
	 MORE_POOL("nics = s=52:54:00:78:00:01\n") "bond = 802.3ad\nbond_nics = "
						   "2,3\n" MORE_NETWORK "nic = 4",
	 "site.ini:42: [node x1] nics: [network s] is a bond; its bond_nics name the "
	 "NICs\n"},
	{"[image debian12]", "[image debian12]\n[node node001]\nhardware = vm",
	 "site.ini:19: [node node001] hardware: is an unknown key; the reference lists "
	 "what [node] may hold\n"},
	{"[image debian12]", "[image debian12]\n[node node001]\nmig = 1g.10gb*7",
	 "site.ini:19: [node node001] mig: [hardware vm] has no gpus to divide\n"},
	{"[image debian12]", "[image debian12]\n[node node001]\nbmc = https://a:b@c",
	 "site.ini:19: [node node001] bmc: is wrong; allowed is a URL or an address, "
	 "no blanks, no user or password\n"},
	{"nodes = node[001-002]", "nodes = node[001-002]&node9",
	 "site.ini:27: [pool train] nodes: 'node[001-002]&node9' selects no node; "
	 "name at least one\n"},
	{"nodes = node[001-002]", "nodes = node[0-4/0]",
	 "site.ini:27: [pool train] nodes: 'node[0-4/0]' does not hold a range where "
	 "'0-4/0]' stands; write [1-4,7] or [0-8/2], each number at most 9 digits\n"},
};

START_TEST(wrong_profiles_get_exact_messages)
{
	wrong_check(wrongs, BU_LEN(wrongs));
}
END_TEST

BU_UNIT("wrong", wrong_profiles_get_exact_messages)
