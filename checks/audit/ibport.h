/* SPDX-License-Identifier: Apache-2.0 */
/* An InfiniBand port that takes management datagrams (libibmad). */
#ifndef BU_CHECKS_AUDIT_IBPORT_H
#define BU_CHECKS_AUDIT_IBPORT_H

#include <infiniband/mad.h>

#include "base/err.h"

/* For directed routes and performance queries; each question waits so long, and is
 * asked again `retries` times. mad_rpc_close_port() closes it. BU_ERR_NOTFOUND: there
 * is no device for it; DENIED; IO. */
struct ibmad_port *bu_ib_port_open(const char *device, int port, int wait_ms,
				   int retries, struct bu_err *err);

#endif
