/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DHCP and TFTP for the boot network: dnsmasq, run as a child with a configuration of
 * ours, started again when it dies or when its hosts change.
 */
#ifndef BU_BOOT_DNSMASQ_H
#define BU_BOOT_DNSMASQ_H

#include "base/err.h"
#include "base/loop.h"

struct bu_dnsmasq_opts {
	const char *dir;        /* its files: configuration, leases */
	const char *interface;  /* "br-boot" */
	const char *range;      /* "10.77.0.50,10.77.0.199" */
	const char *script_url; /* first iPXE script */
	const char *http_url;   /* "http://10.77.0.1:8080", for UEFI HTTP boot */
};
/* mac and address of each known node. */
struct bu_dnsmasq_host {
	const char *name;
	const char *mac;
	const char *address;
};

struct bu_dnsmasq;
struct bu_dnsmasq *bu_dnsmasq_create(struct bu_loop *loop,
				     const struct bu_dnsmasq_opts *opts);
void bu_dnsmasq_destroy(struct bu_dnsmasq *dnsmasq);
/* Writes the configuration and (re)starts it when something changed. */
int bu_dnsmasq_set_hosts(struct bu_dnsmasq *dnsmasq,
			 const struct bu_dnsmasq_host *hosts, size_t count,
			 struct bu_err *err);

/* The configuration; pure, for the test. Owned. */
char *bu_dnsmasq_render(const struct bu_dnsmasq_opts *opts, const char *tftp_root,
			const struct bu_dnsmasq_host *hosts, size_t count);

#endif
