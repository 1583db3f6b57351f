/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine's firmware is given first, by its own word for what it is (DHCP option
 * 93, RFC 4578 and IANA's "Processor Architecture Types"). The loader then fetches our
 * script by HTTP.
 */
#ifndef BU_BOOT_LOADERS_H
#define BU_BOOT_LOADERS_H

#include <stdio.h>

#include "base/err.h"

/* The loaders of this folder are all there; else BU_ERR_NOTFOUND, which names the file
 * and its Debian package. */
bu_must int bu_loaders_check(const char *dir, struct bu_err *err);
/* Path of one that is fetched by HTTP, NULL = there is none of this name; owned. */
char *bu_loader_path(const char *dir, const char *name);
/* dnsmasq's lines for them. */
void bu_loaders_print(FILE *out, const char *dir, const char *http_url);

#endif
