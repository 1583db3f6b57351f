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

struct bu_origin {
	const char *file; /* path in the tree */
	int line;         /* from 1 */
};

enum bu_network_role { BU_ROLE_BOOT, BU_ROLE_FABRIC };
enum bu_rdma_kind { BU_RDMA_NONE, BU_RDMA_RXE, BU_RDMA_HARDWARE };

struct bu_cidr {
	uint32_t net;   /* network address, host byte order */
	int prefix_len; /* bits */
};
const char *bu_network_role_name(enum bu_network_role role); /* "boot", "fabric" */
const char *bu_rdma_kind_name(enum bu_rdma_kind kind);       /* "none", "rxe", ... */

struct bu_desired_site {
	char *name; /* never NULL */
	char *zone;
	struct bu_origin origin;
};

struct bu_desired_network {
	char *name; /* never NULL */
	enum bu_network_role role;
	struct bu_cidr cidr;
	double link_gbps; /* rate of a node's link, 10^9 bit/s; 0 = unknown */
	enum bu_rdma_kind rdma;
	int nic;      /* which of the node's NICs, in PCI order, from 0 */
	int mtu;      /* bytes; 0 = leave it as it is */
	size_t index; /* in bu_desired.networks, and in bu_desired_node.addresses */
	struct bu_origin origin;
};

struct bu_desired_image {
	char *name;     /* never NULL */
	char *path;     /* directory; NULL = the appliance's image directory */
	char *key_path; /* public key, PEM; NULL = the appliance's */
	struct bu_origin origin;
};

/* What a machine must have; 0 = not asked for. */
struct bu_desired_hardware {
	char *name; /* never NULL */
	char *disk; /* "/dev/vda"; never NULL: the only disk that is ever written */
	uint64_t memory_min_bytes;
	int cpus_min, gpus, nics;
	struct bu_origin origin;
};

struct bu_desired_cluster {
	char *name;            /* never NULL */
	char *driver;          /* "slurm"; never NULL */
	char *controller;      /* "10.77.0.1:6817" */
	char *munge_key_path;  /* a secret: only its place, never read in profiles/ */
	char *slurm_conf_path; /* on the appliance; never NULL */
	struct bu_origin origin;
};

struct bu_desired_validation {
	char *name;                              /* never NULL */
	const struct bu_desired_network *fabric; /* never NULL */
	double bw_min_percent;                   /* of the network's link_gbps */
	int runs;                                /* the median counts */
	uint64_t message_bytes;                  /* of one RDMA write */
	uint64_t run_bytes;                      /* written in one run */
	double lat_max_us;                       /* 0 = not judged */
	int64_t deadline_ms;                     /* of one probe of a pair */
	struct bu_origin origin;
};

struct bu_desired_pool {
	char *name;                                     /* never NULL */
	const struct bu_desired_hardware *hardware;     /* never NULL */
	const struct bu_desired_image *image;           /* never NULL */
	const struct bu_desired_cluster *cluster;       /* NULL = joins none */
	const struct bu_desired_validation *validation; /* NULL = no gate */
	const struct bu_desired_network **networks; /* in the order of the profile */
	size_t networks_count;
	char *power;         /* "libvirt", "redfish", "ipmi"; never NULL */
	char *features;      /* "rxe,lab", as Slurm takes it; NULL = none */
	char *gres;          /* "rdma:rxe:1"; NULL = none */
	char *kargs;         /* added to the kernel's command line; NULL = none */
	int max_unavailable; /* nodes, from 1; a percentage is of the pool, rounded down
			      */
	size_t nodes_count;
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
	char *kargs;
	char *mac; /* "52:54:00:77:00:01" of the boot NIC, lower case */
	char *serial;
	char *bmc; /* "qemu:///system#node001"; a URL or an address */
	char *rack, *slot, *zone;
	uint32_t *addresses; /* by bu_desired_network.index; host order, 0 = none */
	size_t index;        /* in bu_desired.nodes */
	struct bu_origin
		origin; /* [node] section, else CSV row, else the pool's nodes */
};

struct bu_desired {
	char digest[65]; /* of the tree */
	struct bu_desired_site site;
	struct bu_desired_network
		*networks; /* all lists: in the order of the profile */
	size_t networks_count;
	struct bu_desired_image *images;
	size_t images_count;
	struct bu_desired_hardware *hardware;
	size_t hardware_count;
	struct bu_desired_cluster *clusters;
	size_t clusters_count;
	struct bu_desired_validation *validations;
	size_t validations_count;
	struct bu_desired_pool *pools;
	size_t pools_count;
	struct bu_desired_node *nodes; /* sorted by name (strcmp) */
	size_t nodes_count;

	struct bu_desired_node **by_mac; /* nodes with a MAC, sorted by it */
	size_t by_mac_count;
	char **files; /* what the origins' file names point to */
	size_t files_count;
};

/* O(log n); NULL when there is none. mac in any common form ("52-54-00-77-00-01"). */
const struct bu_desired_node *bu_desired_node(const struct bu_desired *desired,
					      const char *name);
const struct bu_desired_node *bu_desired_node_by_mac(const struct bu_desired *desired,
						     const char *mac);
/* Linear: serials are asked for once per machine. */
const struct bu_desired_node *bu_desired_node_by_serial(
	const struct bu_desired *desired, const char *serial);
const struct bu_desired_pool *bu_desired_pool(const struct bu_desired *desired,
					      const char *name);
const struct bu_desired_image *bu_desired_image(const struct bu_desired *desired,
						const char *name);
/* The node's network of this role; NULL when its pool has none. */
const struct bu_desired_network *bu_desired_node_network(
	const struct bu_desired_node *node, enum bu_network_role role);
/* "10.77.0.11" of the node in this network; 0 when it has one, -1 when not. */
int bu_desired_node_address(const struct bu_desired_node *node,
			    const struct bu_desired_network *network,
			    char ret_text[INET_ADDRSTRLEN]);
void bu_desired_destroy(struct bu_desired *desired);

#endif
