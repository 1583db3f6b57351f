/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is at the other end of a cable: switches announce themselves by LLDP (IEEE
 * 802.1AB). Only listens. Frames come from the network: bu_lldp_parse() trusts nothing.
 */
#ifndef BU_CHECKS_AUDIT_LLDP_H
#define BU_CHECKS_AUDIT_LLDP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_LLDP_PORTS_MAX = 64, BU_LLDP_TEXT = 64 };

struct bu_lldp {
	char netdev[16];
	int heard;
	char chassis[BU_LLDP_TEXT];     /* id: a MAC address or a name */
	char port[BU_LLDP_TEXT];        /* id: mostly its name, "swp3" */
	char name[BU_LLDP_TEXT];        /* of the system; "" = not said */
	char description[BU_LLDP_TEXT]; /* of the port; "" = not said */
	int ttl_s;
};

/* What follows the Ethernet header. BU_ERR_INVAL names what is wrong; BU_ERR_STATE for
 * a neighbour that says good-bye (TTL 0). netdev and heard are left alone. */
bu_must int bu_lldp_parse(const uint8_t *frame, size_t size, struct bu_lldp *ret,
			  struct bu_err *err);
/* Listens on all ports (their netdev is set) at once until each was heard, wait_ms are
 * over or stop(arg) says so (may be NULL; asked every 200 ms). BU_ERR_DENIED without
 * the right to; BU_ERR_IO names the port. A port that is not there is not heard. */
bu_must int bu_lldp_listen(struct bu_lldp *ports, size_t count, int64_t wait_ms,
			   int (*stop)(void *arg), void *arg, struct bu_err *err);
/* Name of the switch: the system's, else the chassis id. */
const char *bu_lldp_switch(const struct bu_lldp *port);
/* Name of its port: the id, or the description where the id is only a MAC address. */
const char *bu_lldp_port(const struct bu_lldp *port);
/* Does this neighbour fit "switch:port" or "switch"? Returns how much of that names the
 * switch; 0 = it does not. A switch may be named without its domain; a port by its id
 * or its description. Case does not matter. */
size_t bu_lldp_is(const struct bu_lldp *port, const char *expected);

#endif
