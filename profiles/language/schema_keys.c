/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of keys. Called by the loader; the reference, the JSON schema
 * and the tests loop over it. Invariant: each default passes its own key's check (a
 * unit test holds it). Keys that a node may have and a pool, or a pool and a hardware
 * class, have the same type in both (a unit test holds it, too).
 */
#include <assert.h>
#include <string.h>

#include "model/drivers.h"
#include "profiles/desired.h"
#include "profiles/language/schema.h"
#include "profiles/language/schema_access.h"
#include "profiles/language/schema_switches.h"
#include "profiles/language/schema_validation.h"
#include "profiles/load/gpu.h"

#define FIELD(kind, field) offsetof(struct bu_desired_##kind, field)
#define NONE BU_KEY_NO_FIELD
/* What changing it does to a node in service, and whether it tells how a machine is
 * reached and known. */
#define CONTENT(class) BU_CLASS_##class, BU_KEY_CONTENT
#define REACH BU_CLASS_NONE, BU_KEY_REACH
#define GIB (1024.0 * 1024 * 1024)
#define DAY_MS (24.0 * 3600 * 1000)
#define POWER_KINDS (&(BU_POWER_DRIVERS(BU_CHOICE_WITH_BAR) "|manual")[1])
#define PURPOSES                                                                       \
	"gpu-training|cpu-training|preprocessing|gpu-inference|cpu-inference|"         \
	"feature-store-online|feature-store-offline|data-pipeline|control-plane|"      \
	"general"

/* BU_DESIRED_SETTINGS, in each section that may hold them. */
/* clang-format off */
#define TEXTS(kind, type, name, class, help)                                           \
	{#kind, #name, BU_KEY_##type, NULL, 0, 0, NULL, FIELD(kind, name),             \
	BU_CLASS_##class, BU_KEY_CONTENT, help},
#define CHOICES(kind, name, words, class, help)                                        \
	{#kind, #name, BU_KEY_CHOICE, words, 0, 0, NULL, FIELD(kind, name),            \
	BU_CLASS_##class, BU_KEY_CONTENT, help},
#define SETTINGS(kind)                                                                 \
TEXTS(kind, TEXT, kargs, REBOOT, "added to the kernel's command line")                 \
{#kind, "governor", BU_KEY_CHOICE, "performance|powersave|schedutil|ondemand", 0, 0,   \
	NULL, FIELD(kind, governor),                                                   \
	CONTENT(RECONFIGURE), "frequency governor of the CPUs"},                       \
{#kind, "thp", BU_KEY_CHOICE, "always|madvise|never", 0, 0, NULL, FIELD(kind, thp),    \
	CONTENT(RECONFIGURE), "transparent huge pages"},                               \
TEXTS(kind, HUGEPAGES, hugepages, REBOOT, "huge pages that are set aside")             \
TEXTS(kind, SETTINGS, sysctl, RECONFIGURE, "kernel settings")                          \
TEXTS(kind, WORDS, modules, REBOOT, "kernel modules to load")                          \
TEXTS(kind, LABELS, labels, RELABEL, "labels of the nodes in the cluster")             \
TEXTS(kind, TAINTS, taints, RELABEL, "taints of the nodes in the cluster")             \
TEXTS(kind, WORDS, features, RELABEL, "features of the nodes in the cluster")          \
TEXTS(kind, WORDS, gres, RESTART, "generic resources in the cluster, like rdma:rxe:1") \
TEXTS(kind, MIG, mig, REBOOT, "how the GPUs are divided into instances")               \
{#kind, "gpu_slices", BU_KEY_INT, NULL, 2, 48, NULL, FIELD(kind, gpu_slices),          \
	CONTENT(RESTART),                                                              \
	"time slices of each GPU; without it, a GPU is not shared"},

static const struct bu_key keys[] = {
{"site", "format", BU_KEY_INT, NULL, 1, 1, "required", NONE, CONTENT(NONE),
	"version of this language"},
{"site", "name", BU_KEY_NAME, NULL, 0, 0, "required", FIELD(site, name), CONTENT(NONE),
	"name of the site"},
{"site", "zone", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(site, zone), CONTENT(NONE),
	"where it is; nodes without a zone of their own get it"},
{"site", "include", BU_KEY_WORDS, NULL, 0, 0, NULL, NONE, CONTENT(NONE),
	"further files; '*' and '?' do not match '/'"},
{"site", "inventory", BU_KEY_FILE, NULL, 0, 0, NULL, NONE, CONTENT(NONE),
	"CSV file: name, mac, serial, uuid, bmc, rack, slot, zone"},
{"site", "domain", BU_KEY_DOMAIN, NULL, 0, 0, NULL, FIELD(site, domain),
	CONTENT(RECONFIGURE), "DNS domain of the nodes"},
{"site", "dns", BU_KEY_HOSTS, NULL, 0, 0, NULL, FIELD(site, dns), CONTENT(RECONFIGURE),
	"DNS servers; without it, the appliance"},
{"site", "ntp", BU_KEY_HOSTS, NULL, 0, 0, NULL, FIELD(site, ntp), CONTENT(RECONFIGURE),
	"time servers; without it, the appliance"},
{"site", "appliance", BU_KEY_HOSTS, NULL, 0, 0, NULL, FIELD(site, appliance),
	CONTENT(NONE), "addresses of the appliance, which no node gets"},
{"site", "discover", BU_KEY_CHOICE, "yes|no", 0, 0, "no", FIELD(site, discover),
	CONTENT(NONE),
	"yes: a machine that the profile does not know boots the ramdisk, is listed "
	"(bringup node list --unknown) and is never written to; no: it boots its disk"},
{"site", "backup", BU_KEY_PLACE, NULL, 0, 0, NULL, FIELD(site, backup), CONTENT(NONE),
	"where the appliance puts its backups; a program gets each on its standard input"},
{"site", "backup_recipient", BU_KEY_RECIPIENT, NULL, 0, 0, NULL,
	FIELD(site, backup_recipient), CONTENT(NONE),
	"whose identity opens backups; keep that away from the appliance"},
{"site", "backup_every", BU_KEY_DURATION, NULL, 600000, 30 * DAY_MS, "24 h",
	FIELD(site, backup_every_ms), CONTENT(NONE),
	"how often; without a backup in twice that time the site has the condition backup-late"},
{"site", "backup_zone", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(site, backup_zone),
	CONTENT(NONE), "where that is"},

{"policy", "residency", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(policy, residency),
	CONTENT(NONE),
	"patterns of the zones that nodes, images, clusters and backups may be in"},
{"policy", "registries", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(policy, registries),
	CONTENT(NONE), "hosts that images may come from, and came from; without it, any"},
{"policy", "image_keys", BU_KEY_KEYFILES, NULL, 0, 0, NULL, FIELD(policy, image_keys),
	CONTENT(NONE),
	"public keys, one of which must have signed each image; a key is retired by taking "
	"it out; without it, the appliance's or what [image] key says"},
{"policy", "unsigned", BU_KEY_CHOICE, "refuse|allow", 0, 0, "refuse",
	FIELD(policy, unsigned_images), CONTENT(NONE),
	"allow: an image without a signature is used, by its digest; a wrong signature is "
	"refused all the same"},
{"policy", "scanner", BU_KEY_EXEC, NULL, 0, 0, NULL, FIELD(policy, scanner), CONTENT(NONE),
	"program beneath secrets_dir of bringupd.conf that judges each image: it gets the path of its SBOM (SPDX 2.3, JSON) and has 45 s; exit status 0 accepts, 1 refuses with lines that say why, others could not judge; only what it accepts is planned"},
{"policy", "compatibility", BU_KEY_CHOICE, "refuse|warn", 0, 0, "refuse",
	FIELD(policy, compatibility), CONTENT(NONE), "what happens when versions do not fit together"},
{"policy", "brake", BU_KEY_PERCENT, NULL, 1, 100, "20 %", FIELD(policy, brake_percent),
	CONTENT(NONE),
	"when more than this share of a pool, a rack or a BMC /24 (and at least 3 nodes) is "
	"late together, nothing is power-cycled or failed there"},
{"policy", "start_per_rack", BU_KEY_INT, NULL, 1, 10000, "4", FIELD(policy, start_per_rack),
	CONTENT(NONE),
	"machines of one rack that bringup start has switched on and that have not called "
	"yet, at most; nodes without a rack count as one rack"},
{"policy", "two_persons", BU_KEY_INT, NULL, 1, 100000, NULL, FIELD(policy, two_persons),
	CONTENT(NONE),
	"more nodes than this are wiped only when two persons apply the same plan; without "
	"it, one person may"},
BU_ACCESS_KEYS
{"group", "gid", BU_KEY_INT, NULL, 1000, 2e9, "required", FIELD(group, gid),
	CONTENT(RECONFIGURE), "its number, the same on every node"},
{"group", "sudo", BU_KEY_SUDO, NULL, 0, 0, NULL, FIELD(group, sudo),
	CONTENT(RECONFIGURE), "what its members may do as root, without a password"},
{"user", "uid", BU_KEY_INT, NULL, 1000, 2e9, "required", FIELD(user, uid),
	CONTENT(RECONFIGURE), "the number, the same on every node"},
{"user", "group", BU_KEY_REF, "group", 0, 0, NULL, FIELD(user, group),
	CONTENT(RECONFIGURE),
	"the first group; without it, one of the user's own name and number"},
{"user", "groups", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(user, groups),
	CONTENT(RECONFIGURE), "further groups"},
{"user", "home", BU_KEY_PATH, NULL, 0, 0, NULL, FIELD(user, home),
	CONTENT(RECONFIGURE),
	"home directory, made where it is missing; without it, /home/NAME"},
{"user", "shell", BU_KEY_PATH, NULL, 0, 0, "/bin/bash", FIELD(user, shell),
	CONTENT(RECONFIGURE), "login shell"},
{"user", "keys", BU_KEY_SSHKEYS, NULL, 0, 0, NULL, FIELD(user, keys),
	CONTENT(RECONFIGURE),
	"public keys that log in; without them, and without user_ca, the user runs jobs "
	"alone"},
{"user", "sudo", BU_KEY_SUDO, NULL, 0, 0, NULL, FIELD(user, sudo),
	CONTENT(RECONFIGURE), "what the user may do as root, without a password"},
{"network", "role", BU_KEY_ENUM, BU_CHOICES_OF(BU_ROLES), 0, 0, "required",
	FIELD(network, role), CONTENT(RECONFIGURE),
	"boot: nodes start and are managed over it; fabric, storage: jobs use it; bmc: "
	"management controllers are in it"},
{"network", "cidr", BU_KEY_CIDR, NULL, 8, 30, NULL, FIELD(network, cidr),
	CONTENT(RECONFIGURE), "the network; required but with port"},
{"network", "addresses", BU_KEY_ADDRESSES, NULL, 0, 0, NULL, NONE, CONTENT(RECONFIGURE),
	"handed out by position to the nodes of the pools that name the network; "
	"required but for role = bmc and with port"},
{"network", "link_gbps", BU_KEY_REAL, NULL, 0.001, 10000, NULL, FIELD(network, link_gbps), CONTENT(NONE), "rate of a node's link, 10^9 bit/s"},
{"network", "rdma", BU_KEY_ENUM, BU_CHOICES_OF(BU_RDMAS), 0, 0, "none",
	FIELD(network, rdma), CONTENT(REBOOT), "rxe: RDMA in software over any Ethernet NIC; hardware: RoCE v2; infiniband: a port that is named by port"},
{"network", "nic", BU_KEY_INT, NULL, 0, 63, "0", FIELD(network, nic),
	CONTENT(RECONFIGURE), "which NIC of a node, counted from 0 in PCI order"},
{"network", "mtu", BU_KEY_INT, NULL, 576, 9216, NULL, FIELD(network, mtu), CONTENT(RECONFIGURE), "bytes"},
{"network", "pci", BU_KEY_PCI, NULL, 0, 0, NULL, FIELD(network, pci),
	CONTENT(RECONFIGURE), "the NIC by its slot, instead of nic"},
{"network", "port", BU_KEY_RDMAPORT, NULL, 0, 0, NULL, FIELD(network, port),
	CONTENT(RECONFIGURE), "the RDMA port that is measured, instead of nic: InfiniBand is named so; its interface, if it has one, is left as the image sets it up"},
{"network", "rail", BU_KEY_INT, NULL, 0, 63, NULL, FIELD(network, rail), CONTENT(NONE), "which rail of the fabric it is"},
{"network", "switch_fabric", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(network, switch_fabric), CONTENT(NONE), "name of the switches' fabric that it is a rail of: ports of all networks with this one reach each other, and are tested across rails"},
BU_SWITCHES_KEYS
{"network", "spine_addresses", BU_KEY_SETTINGS, NULL, 0, 0, NULL, FIELD(network, spine_addresses), CONTENT(NONE), "addresses with which each spine answers traces of flows, with blanks between them, like spine01=10.9.1.1 10.9.2.1; where switches choose a spine by a flow's ports, a bad link is named by them"},
{"network", "vlan", BU_KEY_INT, NULL, 1, 4094, NULL, FIELD(network, vlan),
	CONTENT(RECONFIGURE), "802.1Q id; networks with different ids may share a NIC"},
{"network", "bond", BU_KEY_ENUM, BU_CHOICES_OF(BU_BONDS), 0, 0, "none",
	FIELD(network, bond), CONTENT(RECONFIGURE), "several NICs as one"},
{"network", "bond_nics", BU_KEY_NICS, NULL, 0, 0, NULL, FIELD(network, bond_nics),
	CONTENT(RECONFIGURE), "the NICs of the bond, instead of nic"},
{"network", "bond_miimon", BU_KEY_DURATION, NULL, 10, 10000, "100 ms",
	FIELD(network, bond_miimon_ms),
	CONTENT(RECONFIGURE), "how often the bond looks at its links"},
{"network", "bond_hash", BU_KEY_CHOICE, "layer2|layer2+3|layer3+4", 0, 0, "layer3+4",
	FIELD(network, bond_hash),
	CONTENT(RECONFIGURE), "how 802.3ad spreads flows over its links"},
{"network", "bond_lacp_rate", BU_KEY_CHOICE, "slow|fast", 0, 0, "slow",
	FIELD(network, bond_lacp_rate),
	CONTENT(RECONFIGURE), "how often 802.3ad hears from its partner: every 30 s or 1 s"},
{"network", "gateway", BU_KEY_IPV4, NULL, 0, 0, NULL, FIELD(network, gateway),
	CONTENT(RECONFIGURE), "default route; one network of a pool has it"},
{"network", "routes", BU_KEY_ROUTES, NULL, 0, 0, NULL, FIELD(network, routes),
	CONTENT(RECONFIGURE), "further routes over this network"},
{"network", "rail_gateway", BU_KEY_IPV4, NULL, 0, 0, NULL, FIELD(network, rail_gateway),
	CONTENT(RECONFIGURE), "router to the other rails, for what is sent from the node's address in this network"},
{"network", "pfc", BU_KEY_PRIORITIES, NULL, 0, 0, NULL, FIELD(network, pfc),
	CONTENT(NONE), "priorities that must have flow control, and no others"},
{"network", "ecn", BU_KEY_CHOICE, "on|off", 0, 0, NULL, FIELD(network, ecn),
	CONTENT(NONE), "what congestion notification must be, on the priorities of pfc or on all"},
{"network", "dscp", BU_KEY_INT, NULL, 0, 63, NULL, FIELD(network, dscp), CONTENT(NONE), "what RDMA connections must be marked with"},
{"network", "pkeys", BU_KEY_PKEYS, NULL, 0, 0, NULL, FIELD(network, pkeys), CONTENT(NONE), "InfiniBand partitions that ports must be full members of"},
{"network", "gid_index", BU_KEY_INT, NULL, 0, 255, NULL, FIELD(network, gid_index), CONTENT(NONE), "index that the RoCE v2 address must have"},
{"network", "gid_family", BU_KEY_CHOICE, "ipv4|ipv6", 0, 0, NULL, FIELD(network, gid_family), CONTENT(NONE), "whose RoCE v2 address is measured with; without it, the node's address, else IPv4 before IPv6"},
{"network", "flow_label", BU_KEY_INT, NULL, 0, 1048575, NULL, FIELD(network, flow_label), CONTENT(NONE), "of the first connection that is measured with, each further one has the next; without it, by UDP source ports that change with each test"},
{"network", "pkey", BU_KEY_PKEY, NULL, 0, 0, NULL, FIELD(network, pkey), CONTENT(NONE), "partition that its ports are measured in; without it, the first of each port"},
{"network", "sl", BU_KEY_INT, NULL, 0, 15, NULL, FIELD(network, sl), CONTENT(NONE), "service level that its ports are measured with; without it, 0"},

{"image", "path", BU_KEY_PATH, NULL, 0, 0, NULL, FIELD(image, path), CONTENT(NONE),
	"its folder; without it, the appliance's image folder"},
{"image", "key", BU_KEY_KEYFILE, NULL, 0, 0, NULL, FIELD(image, key_path),
	CONTENT(NONE),
	"file of the public keys, one of which must have signed it; without it, [policy] image_keys or the appliance's"},
{"image", "source", BU_KEY_URL, NULL, 0, 0, NULL, FIELD(image, source), CONTENT(NONE),
	"where it is fetched from; the image's manifest must say the same"},
{"image", "zone", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(image, zone), CONTENT(NONE),
	"where that is; without it, the site's"},
{"image", "network_config", BU_KEY_CHOICE, "networkd|networkmanager|netplan", 0, 0,
	"networkd", FIELD(image, network_config), CONTENT(NONE),
	"what configures its network; bringup's own images use systemd-networkd"},
{"image", "driver", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(image, driver), CONTENT(NONE),
	"version of NVIDIA's driver in it, for [policy] compatibility"},
{"image", "cuda", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(image, cuda), CONTENT(NONE),
	"version of CUDA in it"},
{"image", "fabric_manager", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(image, fabric_manager),
	CONTENT(NONE), "version of NVIDIA's fabric manager in it"},
{"image", "kernel", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(image, kernel), CONTENT(NONE),
	"version of its kernel; the image's manifest must say the same"},

{"disks", "mirror", BU_KEY_DISK, NULL, 0, 0, NULL, FIELD(disks, mirror), CONTENT(WIPE),
	"second disk of the system, which starts and runs with either of them (RAID1)"},
{"disks", "roots", BU_KEY_INT, NULL, 1, 2, "1", FIELD(disks, roots), CONTENT(WIPE),
	"2: a reimage writes the other one, and goes back where that does not come up"},
{"disks", "scratch", BU_KEY_DISK, NULL, 0, 0, NULL, FIELD(disks, scratch),
	CONTENT(WIPE), "disks besides the system's that become one array (RAID0, no "
	"redundancy); a reimage keeps what is on it"},
{"disks", "scratch_disks", BU_KEY_INT, NULL, 1, 64, NULL, FIELD(disks, scratch_disks),
	CONTENT(NONE), "how many a machine must have; without it, one or more"},
{"disks", "scratch_fs", BU_KEY_CHOICE, "xfs|ext4", 0, 0, "xfs",
	FIELD(disks, scratch_fs), CONTENT(WIPE), "file system of it; the image needs its mkfs"},
{"disks", "scratch_mount", BU_KEY_PATH, NULL, 0, 0, "/scratch",
	FIELD(disks, scratch_mount), CONTENT(REBOOT), "where it is mounted, for all"},
{"disks", "scratch_keys", BU_KEY_ENUM, BU_CHOICES_OF(BU_SCRATCH_KEYS), 0, 0, "none",
	FIELD(disks, scratch_keys), CONTENT(WIPE), "volatile: the array is encrypted with "
	"a key that each start makes and forgets; every restart empties it"},

{"mount", "fs", BU_KEY_CHOICE, "nfs4|nfs|lustre", 0, 0, "required", FIELD(mount, fs),
	CONTENT(REBOOT), "its kind; the image needs the kind's mount program"},
{"mount", "source", BU_KEY_WORD, NULL, 0, 0, "required", FIELD(mount, source),
	CONTENT(REBOOT), "what is mounted: lake1:/export/home, 10.1.0.4@o2ib:/work"},
{"mount", "path", BU_KEY_PATH, NULL, 0, 0, "required", FIELD(mount, path),
	CONTENT(REBOOT), "where, on each node"},
{"mount", "options", BU_KEY_WORDS, NULL, 0, 0, NULL, FIELD(mount, options),
	CONTENT(REBOOT), "options, as mount(8) takes them"},
{"mount", "write", BU_KEY_PATH, NULL, 0, 0, NULL, FIELD(mount, write), CONTENT(NONE),
	"folder in path that root of a node may write to: the check of a node writes, "
	"reads and removes a file there; without it, it reads path alone"},

{"hardware", "disk", BU_KEY_DISK, NULL, 0, 0, "required", FIELD(hardware, disk),
	CONTENT(WIPE),
	"the system's disk; no other is ever written but those of [disks]"},
{"hardware", "disks", BU_KEY_REF, "disks", 0, 0, NULL, FIELD(hardware, disks),
	CONTENT(NONE), "what becomes of its other disks; without it, nothing"},
{"hardware", "post", BU_KEY_DURATION, NULL, 1000, 60 * 60 * 1000, NULL,
	FIELD(hardware, post_ms), REACH,
	"time that the firmware may take from power-on until it loads a system, on top of "
	"the deadlines of inspecting and booting; 8 m unless given, none with libvirt"},
{"hardware", "disk_wait", BU_KEY_DURATION, NULL, 1000, 600000, NULL,
	FIELD(hardware, disk_wait_ms), CONTENT(REBOOT),
	"time that adapters may take to show all disks, at each start; 30 s unless given"},
{"hardware", "boot", BU_KEY_ENUM, BU_CHOICES_OF(BU_BOOTS), 0, 0, "network",
	FIELD(hardware, boot), REACH,
	"media: its BMC's virtual drive gets a boot medium (power = redfish), and no DHCP "
	"is needed"},
{"hardware", "boot_loader", BU_KEY_ENUM, BU_CHOICES_OF(BU_BOOT_LOADERS), 0, 0, "ipxe",
	FIELD(hardware, boot_loader), REACH,
	"what UEFI machines load from the network: iPXE, or shim and signed GRUB, with "
	"which Secure Boot may be on"},
{"hardware", "kexec", BU_KEY_CHOICE, "yes|no", 0, 0, "no", FIELD(hardware, kexec),
	CONTENT(NONE),
	"yes: the ramdisk starts the system that it has installed, past the firmware: one "
	"POST less; where that fails the BMC starts it"},
TEXTS(hardware, TEXT, product, NONE,
	"what the machines call themselves (DMI product name), with * and ? as in a shell")
{"hardware", "memory_min", BU_KEY_SIZE, NULL, 1, 65536 * GIB, NULL,
	FIELD(hardware, memory_min_bytes), CONTENT(NONE), "least memory"},
{"hardware", "cpus_min", BU_KEY_INT, NULL, 1, 65536, NULL, FIELD(hardware, cpus_min),
	CONTENT(NONE), "least number of logical CPUs"},
{"hardware", "gpus", BU_KEY_INT, NULL, 1, 64, NULL, FIELD(hardware, gpus),
	CONTENT(NONE), "number of GPUs"},
{"hardware", "nics", BU_KEY_INT, NULL, 1, 64, NULL, FIELD(hardware, nics),
	CONTENT(NONE), "number of NICs"},
CHOICES(hardware, gpu_model, BU_GPU_MODELS, NONE,
	"model of the GPUs; mig is checked against it")
CHOICES(hardware, gpu_compute_partition, "SPX|DPX|TPX|QPX|CPX", NONE,
	"what AMD's GPUs must be divided into; without it, all into the same")
CHOICES(hardware, gpu_memory_partition, "NPS1|NPS2|NPS3|NPS4|NPS6|NPS8", NONE,
	"what their memory must be divided into; without it, all into the same")
{"hardware", "firmware", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(hardware, firmware),
	CONTENT(NONE), "version of the machines' firmware, for [policy] compatibility"},
TEXTS(hardware, WORDS, nic_firmware, NONE,
	"versions of firmware that NICs with RDMA may have")
CHOICES(hardware, smt, "on|off", NONE, "what hyper-threading must be")
CHOICES(hardware, turbo, "on|off", NONE, "what turbo frequencies must be")
{"hardware", "numa_nodes", BU_KEY_INT, NULL, 1, 1024, NULL, FIELD(hardware, numa_nodes),
	CONTENT(NONE), "number of NUMA nodes"},
{"hardware", "cstate_us", BU_KEY_INT, NULL, 1, 100000, NULL, FIELD(hardware, cstate_us),
	CONTENT(NONE), "microseconds that a CPU may take to wake up at most"},
SETTINGS(hardware)

{"cluster", "driver", BU_KEY_CHOICE, BU_CHOICES_OF(BU_CLUSTER_DRIVERS), 0, 0, "required",
	FIELD(cluster, driver), CONTENT(RESTART), "kind of cluster"},
{"cluster", "controller", BU_KEY_HOSTPORT, NULL, 0, 0, "required",
	FIELD(cluster, controller), CONTENT(RESTART), "where its controller listens"},
{"cluster", "munge_key", BU_KEY_SECRET, NULL, 0, 0, "file:/etc/munge/munge.key",
	FIELD(cluster, key), CONTENT(RESTART), "key of munge, on the appliance (slurm)"},
{"cluster", "slurm_conf", BU_KEY_PATH, NULL, 0, 0, "/etc/slurm/slurm.conf",
	FIELD(cluster, conf_path),
	CONTENT(RESTART), "slurm.conf, on the appliance (slurm)"},
TEXTS(cluster, SECRET, token, NONE, "what nodes join with (kubernetes)")
{"cluster", "ca", BU_KEY_KEYFILE, NULL, 0, 0, NULL, FIELD(cluster, ca),
	CONTENT(RESTART), "certificate of the API server's CA (kubernetes)"},
TEXTS(cluster, WORD, zone, NONE, "where it is; without it, the site's")

BU_VALIDATION_KEYS

{"pool", "nodes", BU_KEY_NODESET, NULL, 0, 0, "required", NONE, CONTENT(NONE),
	"its nodes; a node is in one pool"},
{"pool", "hardware", BU_KEY_REF, "hardware", 0, 0, "required", FIELD(pool, hardware),
	CONTENT(NONE), "hardware class of its machines"},
{"pool", "image", BU_KEY_REF, "image", 0, 0, "required", FIELD(pool, image),
	CONTENT(WIPE), "what its nodes run"},
{"pool", "power", BU_KEY_CHOICE, POWER_KINDS, 0, 0, "required", FIELD(pool, power),
	REACH, "how its machines are switched on and off"},
{"pool", "cluster", BU_KEY_REF, "cluster", 0, 0, NULL, FIELD(pool, cluster),
	CONTENT(RESTART), "cluster that its nodes join; without it, none"},
{"pool", "networks", BU_KEY_REFS, "network", 0, 0, "required", NONE,
	CONTENT(RECONFIGURE), "its networks, exactly one with role = boot among them"},
{"pool", "validation", BU_KEY_REF, "validation", 0, 0, NULL, FIELD(pool, validation),
	CONTENT(NONE), "what must be proven before joining; required with a cluster"},
{"pool", "mounts", BU_KEY_REFS, "mount", 0, 0, NULL, NONE, CONTENT(REBOOT),
	"file systems of servers that its nodes mount, and must have to join"},
SETTINGS(pool)
{"pool", "purpose", BU_KEY_CHOICE, PURPOSES, 0, 0, NULL, FIELD(pool, purpose),
	CONTENT(NONE), "what its nodes are for"},
{"pool", "partners", BU_KEY_CHOICE, "spare|idle|any", 0, 0, "idle",
	FIELD(pool, partners), CONTENT(NONE),
	"which of its proven nodes may be partners: those in no cluster; also those "
	"without a job; any"},
{"pool", "canary", BU_KEY_LIMIT, NULL, 0, 0, "1", FIELD(pool, canary), CONTENT(NONE),
	"nodes that a rollout changes first, alone"},
{"pool", "start", BU_KEY_INT, NULL, 1, 1000, "50", FIELD(pool, start), CONTENT(NONE),
	"its place when bringup start switches the machines of the site on after a power "
	"loss: pools with a lower number come first, and must be up before the next"},
{"pool", "max_unavailable", BU_KEY_LIMIT, NULL, 0, 0, "1", FIELD(pool, max_unavailable),
	CONTENT(NONE), "nodes that may be out of the cluster at once"},
{"pool", "failure_budget", BU_KEY_LIMIT, NULL, 0, 0, "1", FIELD(pool, failure_budget),
	CONTENT(NONE), "number of failed nodes at which a rollout stops itself"},
{"pool", "count", BU_KEY_INT, NULL, 1, 100000, NULL, FIELD(pool, count), CONTENT(NONE),
	"how many of its nodes are in service, within min and max; without it, all"},
{"pool", "min", BU_KEY_INT, NULL, 0, 100000, NULL, FIELD(pool, min), CONTENT(NONE),
	"least number that bringup pool scale and idle_off may leave in service"},
{"pool", "max", BU_KEY_INT, NULL, 1, 100000, NULL, FIELD(pool, max), CONTENT(NONE),
	"greatest number; without it, the pool is not scaled"},
{"pool", "idle_off", BU_KEY_DURATION, NULL, 60000, 30 * DAY_MS, NULL,
	FIELD(pool, idle_off_ms), CONTENT(NONE),
	"time without a job after which nodes drain and are switched off, down to min; "
	"without it, they stay on"},
{"pool", "drain_deadline", BU_KEY_DURATION, NULL, 1000, 30 * DAY_MS, NULL,
	FIELD(pool, drain_deadline_ms),
	CONTENT(NONE), "longest wait for jobs to end; without it, no limit"},
{"pool", "confirm_deadline", BU_KEY_DURATION, NULL, 5000, 600000, "30 s",
	FIELD(pool, confirm_deadline_ms), CONTENT(NONE),
	"time in which a node must reach the appliance after a live change; else it "
	"rolls the change back"},
{"pool", "maintenance", BU_KEY_WINDOW, NULL, 0, 0, NULL, FIELD(pool, maintenance),
	CONTENT(NONE), "when a rollout may disturb nodes; without it, always"},
{"pool", "root", BU_KEY_ENUM, BU_CHOICES_OF(BU_ROOTS), 0, 0, "disk", FIELD(pool, root),
	CONTENT(WIPE), "where its system is: on a disk, in memory (ram), on a disk that others made (raw)"},
{"pool", "data", BU_KEY_DATA, NULL, 0, 0, NULL, FIELD(pool, data), CONTENT(WIPE),
	"partitions besides the system's, which a reimage keeps"},
{"pool", "data_keys", BU_KEY_ENUM, BU_CHOICES_OF(BU_DATA_KEYS), 0, 0, "none",
	FIELD(pool, data_keys), CONTENT(WIPE),
	"appliance: the partitions of data are encrypted (LUKS2), and the appliance gives "
	"their keys to the node at each start; a node never has them on a disk; tpm: the "
	"machine's TPM 2.0 opens them, too, so that a start needs no appliance"},
{"pool", "root_size", BU_KEY_SIZE, NULL, GIB, 65536 * GIB, NULL,
	FIELD(pool, root_size_bytes), CONTENT(WIPE),
	"the system's part of the disk; without it, what data leaves, or 32 GiB where "
	"data takes the rest"},
{"pool", "bmc_network", BU_KEY_REF, "network", 0, 0, NULL, FIELD(pool, bmc_network),
	REACH,
	"network of the management controllers; their addresses are in it"},
{"pool", "bmc_credentials", BU_KEY_SECRET, NULL, 0, 0, NULL,
	FIELD(pool, bmc_credentials), REACH,
	"user and password of the management controllers, as USER:PASSWORD; only "
	"bringup-power reads it"},
{"pool", "bmc_credentials_before", BU_KEY_SECRET, NULL, 0, 0, NULL,
	FIELD(pool, bmc_credentials_before), REACH,
	"what bmc_credentials was before; a management controller that still takes it "
	"gets the new password, and never sees this one again"},
{"pool", "bmc_identity", BU_KEY_CHOICE, "check|ignore", 0, 0, "check",
	FIELD(pool, bmc_identity), REACH,
	"ignore: switch a machine without comparing its BMC's serial number, UUID and "
	"MACs; for BMCs that report others than their machines do"},
{"pool", "bmc_reset", BU_KEY_CHOICE, "never|last-try", 0, 0, "never",
	FIELD(pool, bmc_reset), REACH,
	"last-try: a BMC that twice did not start its machine is restarted before the "
	"last try; never: only a person restarts one"},
{"pool", "console", BU_KEY_CHOICE, "auto|off|ipmi", 0, 0, "auto",
	FIELD(pool, console), REACH,
	"what its machines write to their serial consoles is kept; auto: as the BMC "
	"offers it; ipmi: by serial over LAN, whatever a Redfish BMC says; off: not at "
	"all"},
{"pool", "bmc", BU_KEY_ZIP, NULL, 0, 0, NULL, NONE, REACH,
	"of each node, by position; the inventory and [node] override it"},
{"pool", "serial", BU_KEY_ZIP, NULL, 0, 0, NULL, NONE, REACH, "as bmc"},
{"pool", "rack", BU_KEY_ZIP, NULL, 0, 0, NULL, NONE,
	REACH, "as bmc; one for all is allowed"},
{"pool", "slot", BU_KEY_ZIP, NULL, 0, 0, NULL, NONE, REACH, "as rack"},
{"pool", "zone", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(pool, zone), REACH,
	"where its nodes are; without it, the site's"},

{"node", "image", BU_KEY_REF, "image", 0, 0, NULL, FIELD(node, image), CONTENT(WIPE),
	"instead of the pool's"},
{"node", "power", BU_KEY_CHOICE, POWER_KINDS, 0, 0, NULL, FIELD(node, power),
	REACH, "instead of the pool's"},
SETTINGS(node)
{"node", "nics", BU_KEY_NICMACS, NULL, 0, 0, NULL, FIELD(node, nics),
	CONTENT(RECONFIGURE),
	"NICs by network and MAC, where neither number nor slot identifies them"},
{"node", "switch_ports", BU_KEY_SETTINGS, NULL, 0, 0, NULL, FIELD(node, switch_ports),
	REACH, "switch and port of its networks or interfaces, as LLDP reports them, or of InfiniBand name or GUID of the switch: "
		       "fabric=leaf01:swp3"},
{"node", "mac", BU_KEY_MAC, NULL, 0, 0, NULL, FIELD(node, mac), REACH,
	"of the boot NIC; this and all that follow override the inventory"},
{"node", "serial", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, serial), REACH,
	"serial number of the machine"},
{"node", "uuid", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, uuid), REACH,
	"UUID of the machine, as its firmware reports it"},
{"node", "bmc", BU_KEY_BMC, NULL, 0, 0, NULL, FIELD(node, bmc), REACH,
	"what the power driver talks to"},
{"node", "bmc_factory", BU_KEY_SECRET, NULL, 0, 0, NULL, FIELD(node, bmc_factory),
	REACH,
	"USER:PASSWORD that its management controller came with; it gets the password of "
	"bmc_credentials before anything is done"},
{"node", "bmc_fingerprint", BU_KEY_SHA256, NULL, 0, 0, NULL,
	FIELD(node, bmc_fingerprint), REACH,
	"SHA-256 of the certificate of its management controller; without it, the "
	"system's CAs decide"},
{"node", "rack", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, rack),
	REACH, "rack"},
{"node", "slot", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, slot),
	REACH, "slot in the rack"},
{"node", "zone", BU_KEY_WORD, NULL, 0, 0, NULL, FIELD(node, zone),
	REACH, "zone"}, };
/* clang-format on */

static_assert(BU_LEN(keys) + BU_SCHEMA_KINDS_MAX <= BU_SCHEMA_MAX, "the table fits");

const struct bu_key *
bu_schema_keys(size_t *ret_count)
{
	*ret_count = BU_LEN(keys);
	return keys;
}
