/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of one node as a list of links: what its profile's networks mean for the
 * NICs that its machine really has. The back-ends (networkd.c, networkmanager.c,
 * netplan.c) write nothing but what stands here.
 */
#ifndef BU_CONFIG_LINKS_H
#define BU_CONFIG_LINKS_H

#include "provisioner/config/config.h"

enum { BU_LINKS_MAX = 96, BU_LINK_NAME_SIZE = 16 };

/* The table of the pool's first network, if it has a rail_gateway; that of the second
 * is the next one. The rule that leads to a table has its number as its priority. */
enum { BU_RAIL_TABLE_FIRST = 7700 };

enum bu_link_kind { BU_LINK_NIC, BU_LINK_BOND, BU_LINK_VLAN };

struct bu_uplink {
	enum bu_link_kind kind;
	char id[80]; /* of its file: the network's name, or "nic_2", "bond_0" */
	char name[BU_LINK_NAME_SIZE]; /* of a bond or VLAN in the kernel; a NIC: "" */
	char mac[BU_MAC_SIZE]; /* a NIC's permanent one; a bond takes it; VLAN: "" */
	int mtu;               /* bytes; 0 = as it is */
	int vlan;              /* 802.1Q id */
	/* NIC: its bond; VLAN: what carries it; NULL = none */
	const struct bu_uplink *parent;
	const struct bu_desired_network *bond;    /* of a bond: has its settings */
	const struct bu_desired_network *network; /* whose address it has; or NULL */
	char address[INET_ADDRSTRLEN];            /* "" without a network */
	int rail_table; /* with its rail_gateway; 0 = it has none */
	int is_boot;    /* the one that a node is reached by: waited for at boot */
	char uuid[37];  /* the same each time; for NetworkManager */
};

struct bu_links {
	struct bu_uplink
		list[BU_LINKS_MAX]; /* what carries stands before what it carries */
	size_t count;
};

/* BU_ERR_INVAL when the machine's NICs do not fit the profile, with what to do. */
bu_must int bu_links_make(const struct bu_config_input *input, struct bu_links *ret,
			  struct bu_err *err);

/* The name by which a script finds the link: a NIC by its MAC, others by name. */
const char *bu_link_handle(const struct bu_uplink *link);
/* The next "10.0.0.0/8 via 10.78.0.1" of a network's routes into both texts; 0 at the
 * end. rest starts as network->routes. */
enum { BU_ROUTE_SIZE = 40 };
int bu_link_next_route(const char **rest, char ret_to[BU_ROUTE_SIZE],
		       char ret_via[BU_ROUTE_SIZE]);
/* "10.78.0.0/24" of the network whose address it has. */
void bu_link_cidr(const struct bu_uplink *link, char ret[BU_ROUTE_SIZE]);

/* The back-ends: each adds its files. */
void bu_links_networkd(const struct bu_links *links, struct bu_config *config);
void bu_links_networkmanager(const struct bu_links *links, struct bu_config *config);
void bu_links_netplan(const struct bu_links *links, struct bu_config *config);

#endif
