/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot table: the first file for a machine's firmware, by its architecture (DHCP
 * option 93, RFC 4578 and IANA's "Processor Architecture Types"), the transport, and
 * the package with the file. The loader then fetches our script.
 */
#ifndef BU_BOOT_LOADERS_H
#define BU_BOOT_LOADERS_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum bu_transport { BU_BY_TFTP, BU_BY_HTTP };
/* The machines of a row, by their hardware class's boot_loader = ipxe or grub. ANY = no
 * choice. grub is shim with signed GRUB. */
enum bu_loader_of { BU_OF_ANY, BU_OF_IPXE, BU_OF_GRUB };

struct bu_boot_row {
	const char *name; /* "uefi-pxe" */
	int arch;         /* option 93 */
	enum bu_transport transport;
	enum bu_loader_of of;
	const char *file;   /* loaded by the firmware */
	const char *second; /* loaded by that file, by the same transport; NULL = a
			       script */
	const char *package;
	int only_if_there; /* 0 = bringupd does not start without it */
};

/* Folders of loaders, searched in this order. */
struct bu_loader_dirs {
	const char *loaders; /* boot_loaders of bringupd.conf */
	const char *ramdisk; /* signed loaders are built with kernel and ramdisk */
};

/* The boot table. */
const struct bu_boot_row *bu_boot_rows(size_t *ret_count);
/* 1 = all files of this row exist. */
int bu_boot_row_there(const struct bu_boot_row *row, const struct bu_loader_dirs *dirs);
/* The missing loader for a machine with one of these architectures (option 93), and
 * what to do; owned. NULL = dnsmasq has a file for the machine. proxy: as in struct
 * bu_loaders_conf. */
char *bu_loaders_lack(const struct bu_loader_dirs *dirs, int proxy,
		      const uint16_t *archs, size_t count);
/* 0 = all required files exist. BU_ERR_NOTFOUND: err names the row, the file and its
 * package. Missing optional files are logged. */
bu_must int bu_loaders_check(const struct bu_loader_dirs *dirs, struct bu_err *err);
/* 0 = classes with boot_loader = grub have their files for at least one architecture.
 * BU_ERR_NOTFOUND: err names the file and its package. */
bu_must int bu_loaders_check_signed(const struct bu_loader_dirs *dirs,
				    struct bu_err *err);
/* Path of a loader; NULL = not a file of the boot table; owned. */
char *bu_loader_path(const struct bu_loader_dirs *dirs, const char *name);
/* The same for loaders fetched by HTTP. */
char *bu_loader_http_path(const struct bu_loader_dirs *dirs, const char *name);

struct bu_loaders_conf {
	const struct bu_loader_dirs *dirs;
	const char *tftp_dir;
	const char *http_url; /* for loaders fetched by HTTP */
	int proxy;            /* beside another DHCP server */
};
/* Prints the loaders' lines of dnsmasq's configuration. */
void bu_loaders_print(FILE *out, const struct bu_loaders_conf *conf);

#endif
