/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is at the other end of an InfiniBand cable: asked with a directed-route packet
 * over one hop, which needs no subnet manager. The answer comes from the network and is
 * not believed further than its fields reach.
 */
#ifndef BU_CHECKS_AUDIT_IBPEER_H
#define BU_CHECKS_AUDIT_IBPEER_H

#include "checks/audit/lldp.h"

/* "leaf01" of "MF0;leaf01:MQM8700/U1"; "core/L07" of "MF0;core:CS7500/L07/U1", because
 * the leaf of a switch of many cards is the card, and "core/L07/U2" of its second chip;
 * else all of it. Without blanks at its end. */
void bu_ib_peer_name(const char *description, char *ret, size_t size);
/* As LLDP would tell it: chassis = node GUID "0x...", name = that in the node
 * description ("" of a switch that has only its maker's words: it goes by its GUID),
 * port = its number; ret->netdev is left alone. root: "", the machine's
 * own. BU_ERR_NOTFOUND without a device for management packets, DENIED without the
 * right to, TIMEOUT when there is no answer (wait_ms four times at most). */
bu_must int bu_ib_peer(const char *root, const char *device, int port, int wait_ms,
		       struct bu_lldp *ret, struct bu_err *err);
/* Of the data of two answers, NodeInfo and NodeDescription. */
void bu_ib_peer_parse(uint8_t info[64], const uint8_t description[64],
		      struct bu_lldp *ret);

#endif
