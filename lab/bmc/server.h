/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual BMCs behind sockets: HTTP or HTTPS, one listener each, all in one loop. */
#ifndef BU_LAB_BMC_SERVER_H
#define BU_LAB_BMC_SERVER_H

#include "base/loop.h"
#include "lab/bmc/bmc.h"

struct bu_bmc_server;

struct bu_bmc_listen {
	int fd;                /* listens already; owned from now on */
	const char *cert_pem;  /* NULL = plain HTTP; borrowed while it serves */
	const char *key_pem;   /* of both certificates */
	const char *other_pem; /* shown after the fault new-certificate */
};
/* The BMC is borrowed. */
struct bu_bmc_server *bu_bmc_server_create(struct bu_loop *loop, struct bu_bmc *bmc,
					   const struct bu_bmc_listen *listen,
					   struct bu_err *err);
void bu_bmc_server_destroy(struct bu_bmc_server *server);

#endif
