/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot table: which file a machine's firmware is given first, by its own word for
 * what it is (DHCP option 93, RFC 4578 and IANA's "Processor Architecture Types"), by
 * which transport, and in whose package that file is. The loader then fetches our
 * script.
 */
#ifndef BU_BOOT_LOADERS_H
#define BU_BOOT_LOADERS_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum bu_transport { BU_BY_TFTP, BU_BY_HTTP };
/* Which machines a row is for: hardware classes say boot_loader = ipxe or grub, where
 * there is a choice. grub is shim and signed GRUB. */
enum bu_loader_of { BU_OF_ANY, BU_OF_IPXE, BU_OF_GRUB };

struct bu_boot_row {
	const char *name; /* "uefi-pxe" */
	int arch;         /* option 93 */
	enum bu_transport transport;
	enum bu_loader_of of;
	const char *file;   /* what the firmware loads */
	const char *second; /* what that loads by the same transport; NULL = a script */
	const char *package;
	int only_if_there; /* else bringupd does not start without it */
};

/* Where loaders are looked for, in this order. */
struct bu_loader_dirs {
	const char *loaders; /* boot_loaders of bringupd.conf */
	const char *ramdisk; /* the signed ones are made with kernel and ramdisk */
};

/* Rows with a system of their own: BU_LEN of the table in *ret_count. */
const struct bu_boot_row *bu_boot_rows(size_t *ret_count);
/* Are the files of this row there? */
int bu_boot_row_there(const struct bu_boot_row *row, const struct bu_loader_dirs *dirs);
/* A machine that asks with one of these numbers (option 93) is told a file by dnsmasq,
 * or is not: then what is missing and what to do, owned; NULL = it is told one. proxy:
 * as in struct bu_loaders_conf. */
char *bu_loaders_lack(const struct bu_loader_dirs *dirs, int proxy,
		      const uint16_t *archs, size_t count);
/* All that must be there is; else BU_ERR_NOTFOUND, which names the row, the file and
 * what has it. What is missing of the others is logged. */
bu_must int bu_loaders_check(const struct bu_loader_dirs *dirs, struct bu_err *err);
/* A machine of a class with boot_loader = grub finds what it loads, of one architecture
 * at least; else BU_ERR_NOTFOUND, which names the file and what has it. */
bu_must int bu_loaders_check_signed(const struct bu_loader_dirs *dirs,
				    struct bu_err *err);
/* Path of a loader, NULL = there is no file of this name in the table; owned. */
char *bu_loader_path(const struct bu_loader_dirs *dirs, const char *name);
/* The same for those that are fetched by HTTP. */
char *bu_loader_http_path(const struct bu_loader_dirs *dirs, const char *name);

struct bu_loaders_conf {
	const struct bu_loader_dirs *dirs;
	const char *tftp_dir;
	const char *http_url; /* of what is fetched by HTTP */
	int proxy;            /* beside another DHCP server */
};
/* dnsmasq's lines for them. */
void bu_loaders_print(FILE *out, const struct bu_loaders_conf *conf);

#endif
