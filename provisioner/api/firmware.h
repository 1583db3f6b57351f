/* SPDX-License-Identifier: Apache-2.0 */
/* UEFI HTTPS boot: serves the routes of the plain boot listener over TLS. */
#ifndef BU_API_FIRMWARE_H
#define BU_API_FIRMWARE_H

#include "provisioner/api/server.h"

/* The certificate to enrol in the machines' firmware, in the folder of keys. */
#define BU_FIRMWARE_CA "boot-ca.pem"

/* address: "10.77.0.1:8444"; the certificate names this address. */
bu_must int bu_firmware_listen(struct bu_server *server, const char *keys,
			       const char *address, struct bu_err *err);

#endif
