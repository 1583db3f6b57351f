/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every name that a site gives out, with its address: the nodes in all their networks,
 * and their management controllers. One list for /etc/hosts, for the appliance's DNS
 * and for sites that run their own.
 */
#ifndef BU_PROFILES_NODESET_NAMES_H
#define BU_PROFILES_NODESET_NAMES_H

#include <stdio.h>

#include "base/err.h"
#include "profiles/desired.h"

/* "node001" in its boot network, "node001-fabric" in others, "node001-bmc". */
struct bu_name {
	char label[192];
	char full[512]; /* with [site] domain; the label without one */
	char address[INET_ADDRSTRLEN];
	uint32_t ip; /* host byte order */
	const struct bu_desired_node *node;
};

/* Each of them, in the order of the nodes, of their pool's networks, the controller
 * last. */
void bu_names_each(const struct bu_desired *desired,
		   void (*fn)(const struct bu_name *name, void *arg), void *arg);

/* As hosts(5) has it: "10.77.0.11 node001.falcon.example.org node001" a line. */
void bu_names_print_hosts(const struct bu_desired *desired, FILE *out);
/* The same text, which is kept: each node has it. Borrowed from desired. */
const char *bu_names_hosts(const struct bu_desired *desired);
/*
 * A zone file (RFC 1035): the site's domain, or a reverse zone ("77.10.in-addr.arpa")
 * with what lies in it. The SOA's serial is of the content: the first 31 bits of its
 * digest; its server is "localhost", which any server can load. BU_ERR_NOTFOUND when no
 * record of the site is in the zone.
 */
bu_must int bu_names_print_zone(const struct bu_desired *desired, const char *zone,
				FILE *out, struct bu_err *err);
/* A chrony.conf (its fragment) for the site's time server: it follows [site] ntp, or
 * its own clock without, and answers the networks that nodes are in. */
void bu_names_print_chrony(const struct bu_desired *desired, FILE *out);

#endif
