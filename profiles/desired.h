/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checked desired state: what a profile tree says, typed, with references resolved
 * and the origin of each object. Built by bu_profiles_load(); read-only afterwards.
 * Pointers between the structs stay valid until bu_desired_destroy().
 * Text fields are NULL when the profile does not say, unless "never NULL" is noted.
 */
#ifndef BU_PROFILES_DESIRED_H
#define BU_PROFILES_DESIRED_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "model/machine.h"
#include "profiles/choices.h"

struct bu_key;

struct bu_origin {
	const char *file; /* path in the tree */
	int line;         /* from 1 */
};

struct bu_cidr {
	uint32_t net;   /* network address, host byte order */
	int prefix_len; /* bits */
};

struct bu_desired_site {
	char *name; /* never NULL */
	char *zone;
	char *domain;    /* "falcon.example.org" */
	char *dns, *ntp; /* "10.77.0.1,10.77.0.2"; servers, by name or address */
	char *appliance; /* "10.77.0.1": its own addresses */
	char *discover;  /* "yes", "no"; never NULL */
	char *backup, *backup_zone; /* place of backups; its zone */
	char *backup_recipient;     /* text of base/seal.h */
	int64_t backup_every_ms;
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

/* What a plan must keep to; all NULL without a [policy] section. */
struct bu_desired_policy {
	char *residency;  /* "ae-*,uae": patterns of zones */
	char *registries; /* "registry.example.org,10.0.0.5:5000": hosts of images */
	char *image_keys; /* "file:/etc/a.pub,file:/etc/b.pub" */
	char *unsigned_images; /* "refuse", "allow"; never NULL with a section */
	char *scanner;         /* "exec:/path"; NULL = images are not scanned */
	char *compatibility;   /* "refuse", "warn"; never NULL with a section */
	double brake_percent;  /* of a pool, rack or BMC subnet; 0 = no section: 20 */
	int start_per_rack;    /* machines that start at once; 0 = no section: 4 */
	int two_persons; /* an apply may wipe so many by one person's word; 0 = any */
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

/* Who may log in to nodes, besides the keys of users. All NULL without a section. */
struct bu_desired_access {
	char *user_ca, *host_ca; /* lines of .pub files, with commas between them */
	char *host_ca_key;       /* a secret's reference */
	char *directory, *directory_base;     /* "ldaps://a,ldaps://b", "dc=site" */
	char *directory_ca;                   /* a path on the appliance */
	char *directory_user, *directory_key; /* a name, a secret's reference */
	char *directory_login;                /* groups */
	char *directory_sudo;                 /* "yes", "no" */
	int directory_first_id;
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

struct bu_desired_group {
	char *name; /* never NULL */
	int gid;
	char *sudo; /* "all", "/usr/bin/a,/usr/bin/b x" */
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

struct bu_desired_user {
	char *name; /* never NULL */
	int uid;
	const struct bu_desired_group *group; /* NULL = one of the user's own */
	char *groups;                         /* "hpc,admin": names of [group] */
	char *home;                           /* NULL = /home/NAME */
	char *shell;                          /* never NULL */
	char *keys;                           /* as of access */
	char *sudo;                           /* as of a group */
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

struct bu_desired_network {
	char *name; /* never NULL */
	enum bu_network_role role;
	struct bu_cidr cidr; /* of 0 bits: none, which a network with port may have */
	double link_gbps;    /* rate of a node's link, 10^9 bit/s; 0 = unknown */
	enum bu_rdma_kind rdma;
	int nic;      /* which of the node's NICs, in PCI order, from 0 */
	int mtu;      /* bytes; 0 = leave it as it is */
	size_t index; /* in bu_desired.networks, and in bu_desired_node.addresses */
	char *pci;    /* "0000:18:00.0": the NIC by its slot, instead of nic */
	char *port;   /* "mlx5_3/1", "ib0", "0000:18:00.0": the RDMA port, instead of
			 nic; its interface is not set up. NULL = that of the NIC */
	int rail;     /* from 0; -1 = none */
	char *switch_fabric; /* networks of one reach each other; NULL = it is alone */
	char *routing;       /* "static", "sprayed"; never NULL */
	char *spines;        /* "spine01,spine02"; NULL = not said */
	char *spine_addresses; /* "spine01=10.9.1.1 10.9.2.1,..."; NULL = not said */
	char *switch_counters; /* what tells them; NULL = nothing does */
	/* Of a Prometheus: what it is asked for, and by which labels its series name a
	 * link; none is NULL. */
	char *switch_received, *switch_sent;
	char *switch_device_label, *switch_peer_label, *switch_port_label;
	int64_t switch_delay_ms;  /* after a round */
	char *switch_credentials; /* a reference; NULL = it asks for none */
	int vlan;                 /* 802.1Q id; 0 = untagged */
	enum bu_bond bond;
	char *bond_nics; /* "0,1" or "0000:18:00.0,0000:3b:00.0"; NULL without a bond */
	int64_t bond_miimon_ms;
	char *bond_hash;      /* "layer2", "layer2+3", "layer3+4"; never NULL */
	char *bond_lacp_rate; /* "slow", "fast"; never NULL */
	char *gateway;        /* "10.77.0.1": the default route */
	char *routes;         /* "10.0.0.0/8 via 10.78.0.1, ..." */
	char *rail_gateway;   /* "10.78.0.1": for what is sent from this address */
	/* What its ports must be set to; bringup does not set it. NULL, -1 = not said.
	 */
	char *pfc;   /* "3,4": priorities; "none" */
	char *ecn;   /* "on", "off" */
	char *pkeys; /* "0x8001,0xffff" */
	int dscp, gid_index;
	/* What they are measured with. */
	char *pkey; /* "0x8001": partition, by value; NULL = the first of each port */
	int sl;     /* service level */
	char *gid_family; /* "ipv4", "ipv6"; NULL = any */
	int flow_label;   /* of the first queue pair; -1 = by source port */
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

struct bu_desired_image {
	char *name;     /* never NULL */
	char *path;     /* directory; NULL = the appliance's image directory */
	char *key_path; /* public keys, PEM; NULL = those of the policy */
	const char
		*site_keys;  /* [policy] image_keys; borrowed, NULL = the appliance's */
	int may_be_unsigned; /* by [policy] unsigned */
	const char *scanner; /* [policy] scanner; borrowed, NULL = none */
	char *source; /* where it comes from: "oci://registry/x", "https://..." */
	char *zone;   /* where that is */
	/* Versions in it, for [policy] compatibility. */
	char *driver, *cuda, *fabric_manager, *kernel;
	char *network_config; /* "networkd", "networkmanager", "netplan"; never NULL */
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

/*
 * What may be said of a hardware class, over it of a pool, over it of a node (and,
 * power apart, of none of them). The pool's field may be the hardware class's own text,
 * the node's the pool's: they are read, never freed.
 */
#define BU_DESIRED_SETTINGS                                                            \
	char *kargs;     /* added to the kernel's command line */                      \
	char *governor;  /* "performance": of the CPUs */                              \
	char *thp;       /* "always", "madvise", "never": transparent huge pages */    \
	char *hugepages; /* "1GiB*64,2MiB*1024" */                                     \
	char *sysctl;    /* "vm.swappiness=1,net.core.rmem_max=67108864" */            \
	char *modules;   /* "nvidia_peermem": kernel modules to load */                \
	char *labels;    /* "tier=gold,example.org/rack=r1" */                         \
	char *taints;    /* "gpu=true:NoSchedule" */                                   \
	char *features;  /* "rxe,lab", as Slurm takes it */                            \
	char *gres;      /* "rdma:rxe:1" */                                            \
	char *mig;       /* "1g.10gb*7", "0-3:3g.40gb*2,4-7:7g.80gb" */                \
	int gpu_slices;  /* time slices of each GPU; 0 = not shared */

/* What becomes of the disks besides the system's. */
struct bu_desired_disks {
	char *name;          /* never NULL */
	char *mirror;        /* as of profiles/load/disk.h; NULL = one disk is enough */
	int roots;           /* of the system's disk: 1 or 2 */
	char *scratch;       /* as of profiles/load/disk.h; NULL = no array */
	int scratch_disks;   /* how many there must be; 0 = one or more */
	char *scratch_fs;    /* "xfs", "ext4"; never NULL */
	char *scratch_mount; /* where; never NULL */
	enum bu_scratch_keys scratch_keys;
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

/* A file system of somebody else's server. */
struct bu_desired_mount {
	char *name;    /* never NULL */
	char *fs;      /* "nfs4", "nfs", "lustre"; never NULL */
	char *source;  /* "lake1:/export/home"; never NULL */
	char *path;    /* where; never NULL */
	char *options; /* "hard,vers=4.2", as mount(8) takes it */
	char *write;   /* folder in it that the probe writes in; NULL = it only reads */
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

/* What a machine must have; 0 = not asked for. */
struct bu_desired_hardware {
	char *name; /* never NULL */
	char *disk; /* as of profiles/load/disk.h; never NULL: the system's */
	const struct bu_desired_disks *disks; /* the others; NULL = are left alone */
	int64_t post_ms;      /* 0 = not given: see bu_desired_post_ms() */
	int64_t disk_wait_ms; /* 0 = not given: see bu_desired_disk_wait_ms() */
	enum bu_boot_way boot;
	enum bu_boot_loader boot_loader;
	char *kexec;   /* "yes", "no"; never NULL */
	char *product; /* "PowerEdge XE9680", "DGXH100*": as DMI says it */
	uint64_t memory_min_bytes;
	int cpus_min, gpus, nics;
	char *gpu_model;             /* "h100-80gb": a row of profiles/load/gpu.c */
	char *gpu_compute_partition; /* "SPX", "CPX", ... of AMD's GPUs */
	char *gpu_memory_partition;  /* "NPS1", "NPS4", ... */
	char *firmware;     /* version of its firmware, for [policy] compatibility */
	char *nic_firmware; /* "28.39.1002,28.41.1000": of the fabric's NICs */
	char *smt, *turbo;  /* "on", "off" */
	int numa_nodes;
	int cstate_us; /* longest time that a CPU may take to wake up */
	BU_DESIRED_SETTINGS
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

struct bu_desired_cluster {
	char *name;       /* never NULL */
	char *driver;     /* "slurm", "kubernetes"; never NULL */
	char *controller; /* "10.77.0.1:6817" */
	char *conf_path;  /* on the appliance; never NULL */
	char *key;        /* secrets are references ("file:/x", "env:X", ...), which */
	char *token;      /* bu_secret_resolve() reads; profiles/ never does */
	char *ca;         /* "file:/path" of the API server's CA without "file:" */
	char *zone;
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

struct bu_desired_validation {
	char *name; /* never NULL */
	/* Of these networks; none = of all fabrics of the pool. */
	const struct bu_desired_network **fabrics;
	size_t fabrics_count;
	double bw_min_percent;    /* of the network's link_gbps */
	int runs;                 /* the median counts */
	uint64_t message_bytes;   /* of one RDMA write */
	uint64_t run_bytes;       /* written in one run */
	double lat_max_us;        /* 0 = not judged */
	int64_t deadline_ms;      /* of one probe of a pair */
	char *checks;             /* "nhc,mounts" of checks.d; NULL = all of them */
	int64_t check_timeout_ms; /* of each of them */
	int64_t soak_ms;          /* of new and repaired machines; 0 = none */
	char *acceptance, *acceptance_image; /* for the cluster; NULL = none */
	double acceptance_min; /* of its figure; 0 = the exit status alone */
	int64_t acceptance_timeout_ms;
	int incast;           /* nodes that send to one at once; 0 = none */
	double blast_percent; /* accused share of a leaf above which it is the leaf */
	char *bw_reason;      /* why bw_min is not what data/rates.json says */
	char *thresholds;     /* "memory_gbs=200": of the checks of a machine */
	char *severity;       /* "pcie-acs=warn,smt=off": of their findings */
	struct bu_origin origin;
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

/* An executable of the profile's checks.d. */
struct bu_desired_check {
	char *name, *text; /* never NULL */
};

struct bu_desired_pool {
	char *name;                                     /* never NULL */
	const struct bu_desired_hardware *hardware;     /* never NULL */
	const struct bu_desired_image *image;           /* never NULL */
	const struct bu_desired_cluster *cluster;       /* NULL = joins none */
	const struct bu_desired_validation *validation; /* NULL = no gate */
	const struct bu_desired_network **networks; /* in the order of the profile */
	size_t networks_count;
	/* The rails: what the gate measures of each node, in the order of networks. */
	const struct bu_desired_network **rails;
	size_t rails_count;
	const struct bu_desired_mount **mounts; /* in the order of the profile */
	size_t mounts_count;
	char *power; /* "libvirt", "redfish", "ipmi"; never NULL */
	BU_DESIRED_SETTINGS
	int max_unavailable; /* nodes, from 1; a percentage is of the pool, rounded down
			      */
	int count, min, max; /* max 0 = it is not scaled; count 0 = all of its nodes */
	int64_t idle_off_ms; /* 0 = idle nodes stay on */
	size_t nodes_count;
	struct bu_origin origin;
	char *purpose; /* "gpu-training", ...; NULL = not said */
	char *zone;    /* the site's unless given */
	const struct bu_desired_network *bmc_network; /* NULL = not said */
	char *bmc_credentials;                        /* a secret's reference */
	char *bmc_credentials_before; /* likewise, of before a rotation; NULL */
	char *bmc_identity;           /* "check", "ignore"; never NULL */
	char *bmc_reset;              /* "never", "last-try"; never NULL */
	char *console;                /* "auto", "off", "ipmi"; never NULL */
	char *partners; /* which of them are lent: "spare", "idle", "any"; never NULL */
	int canary, failure_budget; /* nodes, from 1, as max_unavailable */
	int start;                  /* the lower, the earlier after a power loss */
	int64_t drain_deadline_ms;  /* 0 = as long as it takes */
	int64_t confirm_deadline_ms;
	char *maintenance; /* "sat-sun 00:00-24:00"; NULL = any time */
	enum bu_root root;
	char *data; /* "scratch:500GiB:ext4:/scratch, ..." */
	enum bu_data_keys data_keys;
	uint64_t root_size_bytes;  /* 0 = what data leaves */
	struct bu_origin *origins; /* by bu_schema_keys(); line 0 = not given */
};

/* Where a key of a [node] section was set. */
struct bu_node_origin {
	const struct bu_key *key;
	struct bu_origin origin;
};

struct bu_desired_node {
	char *name;                                     /* never NULL */
	const struct bu_desired_pool *pool;             /* never NULL */
	const struct bu_desired_hardware *hardware;     /* never NULL */
	const struct bu_desired_image *image;           /* never NULL */
	const struct bu_desired_cluster *cluster;       /* may be NULL */
	const struct bu_desired_validation *validation; /* may be NULL */
	char *power;                                    /* never NULL */
	BU_DESIRED_SETTINGS
	char *mac; /* "52:54:00:77:00:01" of the boot NIC, lower case */
	char *serial, *uuid;
	char *bmc;             /* "qemu:///system#node001"; a URL or an address */
	char *bmc_factory;     /* a secret's reference; NULL = it has ours */
	char *bmc_fingerprint; /* SHA-256 of its certificate; NULL = CAs decide */
	char *rack, *slot, *zone;
	uint32_t *addresses; /* by bu_desired_network.index; host order, 0 = none */
	size_t index;        /* in bu_desired.nodes */
	struct bu_origin
		origin;     /* [node] section, else CSV row, else the pool's nodes */
	char *switch_ports; /* "fabric=leaf01:swp3,...": by network or NIC; or NULL */
	char *nics; /* "fabric=52:54:00:78:00:01,...": NICs by network and MAC */
	struct bu_origin csv_origin;    /* its row; line 0 = none */
	unsigned int csv_columns;       /* bits of enum bu_inventory_csv_column */
	struct bu_node_origin *origins; /* keys of its [node] section */
	size_t origins_count;
};

struct bu_desired {
	char digest[65]; /* of the tree */
	struct bu_desired_site site;
	struct bu_desired_policy policy;
	struct bu_desired_access access;
	struct bu_desired_group *groups;
	size_t groups_count;
	struct bu_desired_user *users;
	size_t users_count;
	struct bu_desired_network
		*networks; /* all lists: in the order of the profile */
	size_t networks_count;
	struct bu_desired_image *images;
	size_t images_count;
	struct bu_desired_disks *disks;
	size_t disks_count;
	struct bu_desired_mount *mounts;
	size_t mounts_count;
	struct bu_desired_hardware *hardware;
	size_t hardware_count;
	struct bu_desired_cluster *clusters;
	size_t clusters_count;
	struct bu_desired_validation *validations;
	size_t validations_count;
	struct bu_desired_pool *pools;
	size_t pools_count;
	struct bu_desired_check *checks; /* sorted by name */
	size_t checks_count;
	struct bu_desired_node *nodes; /* sorted by name (strcmp) */
	size_t nodes_count;

	struct bu_desired_node **by_mac; /* nodes with a MAC, sorted by it */
	size_t by_mac_count;
	char *hosts;  /* of bu_names_hosts(), made when it is first asked for */
	char **files; /* what the origins' file names point to */
	size_t files_count;
};

enum bu_counters_from bu_desired_counters(const struct bu_desired_network *network);
/* The second disk of its system, as its class says it; NULL = it has one. */
const char *bu_desired_mirror(const struct bu_desired_node *node);
/* Its disk has two roots: the one that does not run is written. */
int bu_desired_has_two_roots(const struct bu_desired_node *node);
/* The disks that the node's class has an array of, as it says them; NULL = none. */
const char *bu_desired_scratch(const struct bu_desired_node *node);
/* Its system runs from memory. */
int bu_desired_is_ram(const struct bu_desired_node *node);
/* Its system is somebody else's whole disk. */
int bu_desired_is_raw(const struct bu_desired_node *node);
/* Its data partitions are encrypted with keys of the appliance; and the machine's TPM
 * opens them, too. */
int bu_desired_encrypts(const struct bu_desired_node *node);
/* Its array is encrypted with a key that each start makes and forgets. */
int bu_desired_forgets_scratch(const struct bu_desired_node *node);
int bu_desired_seals(const struct bu_desired_node *node);
/* A reimage keeps something on the node's disks. */
int bu_desired_keeps(const struct bu_desired_node *node);
/* Does this validation run this check of checks.d? */
int bu_desired_check_wanted(const struct bu_desired_validation *validation,
			    const char *name);
/* O(log n); NULL when there is none. mac in any common form ("52-54-00-77-00-01"). */
const struct bu_desired_node *bu_desired_node(const struct bu_desired *desired,
					      const char *name);
const struct bu_desired_node *bu_desired_node_by_mac(const struct bu_desired *desired,
						     const char *mac);
const struct bu_desired_image *bu_desired_image(const struct bu_desired *desired,
						const char *name);
/* The node's network of this role; NULL when its pool has none. */
const struct bu_desired_network *bu_desired_node_network(
	const struct bu_desired_node *node, enum bu_network_role role);
/* Does the gate measure this network of the pool's nodes? */
int bu_desired_has_rail(const struct bu_desired_pool *pool,
			const struct bu_desired_network *network);
/* "10.77.0.11" of the node in this network; 0 when it has one, -1 when not. */
int bu_desired_node_address(const struct bu_desired_node *node,
			    const struct bu_desired_network *network,
			    char ret_text[INET_ADDRSTRLEN]);
/* How long its firmware may take from power-on until it loads a system. One that is
 * reset in the middle of it never comes up. */
int64_t bu_desired_post_ms(const struct bu_desired_node *node);
/* How long its adapters may take to show its disks, once a system of ours runs. */
int64_t bu_desired_disk_wait_ms(const struct bu_desired_node *node);
/* Where the value of this key of a node was set: its [node] section, the inventory, its
 * pool, its hardware class or the site. NULL for what is not set (a default at most)
 * and for what is no key of a node. */
const struct bu_origin *bu_desired_origin(const struct bu_desired_node *node,
					  const char *key);
/*
 * A bu_nodeset_group_fn for what profiles know, arg is the desired state: "@pool", "@*"
 * for all nodes, "pool=", "image=", "hardware=", "rack=", "zone=" with '*' and '?' in
 * the value. BU_ERR_NOTFOUND for others; what knows states asks those first.
 */
struct bu_nodeset;
struct bu_err;
bu_must int bu_desired_group(const char *group, struct bu_nodeset *nodeset, void *arg,
			     struct bu_err *err);
void bu_desired_destroy(struct bu_desired *desired);

#endif
