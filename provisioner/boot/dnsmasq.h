/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DHCP, TFTP and DNS for the boot network: dnsmasq, run by bringup-boot as a user of
 * its own with a configuration of ours. It reads its hosts again when they change, and
 * is started again when it dies or when anything else changes.
 */
#ifndef BU_BOOT_DNSMASQ_H
#define BU_BOOT_DNSMASQ_H

#include "base/err.h"
#include "base/loop.h"
#include "provisioner/boot/loaders.h"
#include "provisioner/boot/unserved.h"

enum bu_dhcp {
	BU_DHCP_FULL,  /* gives addresses, also to what routers pass on */
	BU_DHCP_PROXY, /* another server gives addresses; we say what to boot */
	BU_DHCP_RELAY, /* answers what routers pass on, and nothing on its own link */
	BU_DHCP_OFF    /* TFTP and DNS alone */
};
/* "full", "proxy", ...; BU_ERR_INVAL. */
bu_must int bu_dhcp_from_name(const char *name, enum bu_dhcp *ret, struct bu_err *err);

struct bu_dnsmasq_opts {
	enum bu_dhcp dhcp;
	const char *dir;        /* in our state: the last configuration that it took */
	const char *run_dir;    /* what it reads: that one, hosts, names, tftp/. Other
				 * users pass the folder that this one is in. In
				 * written/ of it are the leases of a child of ours:
				 * they are synced with each new one, so that they must
				 * not be on a disk */
	const char *interface;  /* "br-boot" */
	const char *address;    /* ours on it */
	const char *range;      /* "10.77.0.50,10.77.0.199"; of BU_DHCP_FULL */
	const char *script_url; /* first iPXE script */
	const char *http_url;   /* "http://10.77.0.1:8080", for UEFI HTTP boot */
	struct bu_loader_dirs loaders;
	int no_dns; /* another server answers on this interface */
	/* Told of machines that ask for a loader that is not there; may be NULL. */
	bu_unserved_fn unserved;
	void *arg;
};
/* mac and address of each known node. */
struct bu_dnsmasq_host {
	const char *name;
	const char *mac;
	const char *address;
	int grub; /* it loads signed GRUB, not iPXE */
};
/* A boot network behind a router, which passes its requests on. */
struct bu_dnsmasq_net {
	const char *name;
	const char *net, *mask; /* "10.5.0.0", "255.255.255.0" */
	const char *gateway;    /* NULL = none */
};

/* What the applied profile says. Texts may be NULL. */
struct bu_dnsmasq_site {
	const struct bu_dnsmasq_host *hosts;
	size_t count;
	const struct bu_dnsmasq_net *nets;
	size_t nets_count;
	const char *names;   /* hosts(5): what DNS answers */
	const char *domain;  /* "falcon.example.org" */
	const char *dns;     /* "10.0.0.53,...": servers for nodes; NULL = this one */
	const char *ntp;     /* the same for time; names are left out */
	const char *gateway; /* of the boot network; NULL = it has none */
};

struct bu_dnsmasq;
struct bu_dnsmasq *bu_dnsmasq_create(struct bu_loop *loop,
				     const struct bu_dnsmasq_opts *opts);
void bu_dnsmasq_destroy(struct bu_dnsmasq *dnsmasq);
/* Writes its files; starts it or makes it read them when something changed. */
bu_must int bu_dnsmasq_set(struct bu_dnsmasq *dnsmasq,
			   const struct bu_dnsmasq_site *site, struct bu_err *err);

/* The configuration; pure, for the test. Owned. */
char *bu_dnsmasq_render(const struct bu_dnsmasq_opts *opts,
			const struct bu_dnsmasq_site *site);

#endif
