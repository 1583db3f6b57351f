/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DHCP, TFTP and DNS for the boot network. bringup-boot runs dnsmasq as a user of its
 * own with our configuration. dnsmasq reads its hosts again when they change. It is
 * restarted when it dies or another setting changes.
 */
#ifndef BU_BOOT_DNSMASQ_H
#define BU_BOOT_DNSMASQ_H

#include "base/err.h"
#include "base/loop.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/boot/unserved.h"

enum bu_dhcp {
	BU_DHCP_FULL,  /* gives addresses, also to relayed requests */
	BU_DHCP_PROXY, /* another server gives addresses; dnsmasq says what to boot */
	BU_DHCP_RELAY, /* answers relayed requests only, none on its own link */
	BU_DHCP_OFF    /* TFTP and DNS only */
};
/* "full", "proxy", ...; BU_ERR_INVAL. */
bu_must int bu_dhcp_from_name(const char *name, enum bu_dhcp *ret, struct bu_err *err);

struct bu_dnsmasq_opts {
	enum bu_dhcp dhcp;
	const char *dir; /* in our state: the last configuration that dnsmasq took */
	const char *run_dir;    /* dnsmasq's input: the configuration, hosts, names,
=tftp/. Other users pass the parent folder.
=written/ has the leases of a child of ours: each new
=lease is synced, so the folder must not be on a disk */
	const char *interface;  /* "br-boot" */
	const char *address;    /* ours on the interface */
	const char *range;      /* of BU_DHCP_FULL: "10.77.0.50,10.77.0.199" */
	const char *script_url; /* first iPXE script */
	const char *http_url;   /* "http://10.77.0.1:8080", for UEFI HTTP boot */
	struct bu_loader_dirs loaders;
	int no_dns; /* another server answers on this interface */
	/* Called for machines that ask for a missing loader; may be NULL. */
	bu_unserved_fn unserved;
	void *arg;
};
/* MAC and address of a known node. */
struct bu_dnsmasq_host {
	const char *name;
	const char *mac;
	const char *address;
	int grub; /* loads signed GRUB, not iPXE */
};
/* A boot network behind a router that relays its requests. */
struct bu_dnsmasq_net {
	const char *name;
	const char *net, *mask; /* "10.5.0.0", "255.255.255.0" */
	const char *gateway;    /* NULL = none */
};

/* The applied profile's settings. Texts may be NULL. */
struct bu_dnsmasq_site {
	const struct bu_dnsmasq_host *hosts;
	size_t count;
	const struct bu_dnsmasq_net *nets;
	size_t nets_count;
	const char *names;  /* hosts(5), for DNS */
	const char *domain; /* "falcon.example.org" */
	const char *dns; /* DNS servers for nodes, "10.0.0.53,..."; NULL = this one */
	const char *ntp; /* time servers, likewise; names are left out */
	const char *gateway; /* of the boot network; NULL = none */
};

struct bu_dnsmasq;
struct bu_dnsmasq *bu_dnsmasq_create(struct bu_loop *loop,
				     const struct bu_dnsmasq_opts *opts);
void bu_dnsmasq_destroy(struct bu_dnsmasq *dnsmasq);
/* Writes the files. After a change, starts dnsmasq or tells it to read them. */
bu_must int bu_dnsmasq_set(struct bu_dnsmasq *dnsmasq,
			   const struct bu_dnsmasq_site *site, struct bu_err *err);

/* The configuration; pure, for tests. Owned. */
char *bu_dnsmasq_render(const struct bu_dnsmasq_opts *opts,
			const struct bu_dnsmasq_site *site);

#endif
