/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where BMCs may be. A profile says which BMC is spoken to, and thereby where a
 * password goes; bmc_networks of bringupd.conf says where it may go, and no profile
 * changes that. Who connects asks about the address that the connection is made to.
 */
#ifndef BU_BASE_NETWORKS_H
#define BU_BASE_NETWORKS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/err.h"

/* As the key is unless the file has it. */
#define BU_BMC_NETWORKS_DEFAULT "private, attached"

/* From now on, for the whole process: before it, and in programs that never call it,
 * any address is taken. list: IPv4 and IPv6 prefixes with commas between them,
 * "private" (RFC 1918, fc00::/7 and link-local) and "attached" (the networks of this
 * machine's interfaces, loopback not among them). BU_ERR_INVAL names the entry. */
bu_must int bu_networks_begin(const char *list, struct bu_err *err);
void bu_networks_end(void);
int bu_networks_begun(void);

/* An IPv4 address in an IPv6 one (::ffff:10.0.0.1) is the IPv4 address. BU_ERR_INVAL
 * names the address, the key and the file. */
bu_must int bu_networks_check(const struct sockaddr *address, struct bu_err *err);
/* The same of what the profile calls bmc, where its host is an address; a name is
 * looked at when it is resolved. */
bu_must int bu_networks_check_bmc(const char *bmc, struct bu_err *err);

union bu_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};
/* "10.0.0.1", "fd00::1"; -1: it is a name. */
int bu_address_read(const char *text, union bu_address *ret);

#endif
