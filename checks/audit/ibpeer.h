/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is at the other end of an InfiniBand cable: asked with a directed-route packet
 * over one hop, which needs no subnet manager. The answer comes from the network and is
 * not believed further than its fields reach.
 */
#ifndef BU_CHECKS_AUDIT_IBPEER_H
#define BU_CHECKS_AUDIT_IBPEER_H

#include "checks/audit/lldp.h"

/* As LLDP would tell it: chassis = node GUID "0x...", name = node description, port =
 * its number; ret->netdev is left alone. root as in base/sysroot.h. BU_ERR_NOTFOUND
 * without a device for management packets, DENIED without the right to, TIMEOUT when
 * there is no answer (wait_ms twice at most). */
bu_must int bu_ib_peer(const char *root, const char *device, int port, int wait_ms,
		       struct bu_lldp *ret, struct bu_err *err);
/* Of two answers (256 bytes each) to NodeInfo and NodeDescription. BU_ERR_INVAL. */
bu_must int bu_ib_peer_parse(const uint8_t info[256], const uint8_t description[256],
			     struct bu_lldp *ret, struct bu_err *err);

#endif
