/* SPDX-License-Identifier: Apache-2.0 */
/* Whose card a connection came from, by the first packet of it. */
#ifndef BU_API_WIRE_H
#define BU_API_WIRE_H

#include <netinet/in.h>

#include "base/loop.h"
#include "model/machine.h"

enum bu_wire_place {
	BU_WIRE_UNSEEN, /* nothing shows that it is on a wire with us */
	BU_WIRE_ON,     /* its packet came from mac, on the wire where its address is */
	BU_WIRE_OFF,    /* its address is behind a router, or our own */
};

struct bu_seen {
	enum bu_wire_place place;
	char mac[BU_MAC_SIZE];     /* of its first packet; "" unless it is ON */
	char answers[BU_MAC_SIZE]; /* to which the kernel sends what goes to its
				      address; "" = it does not know */
};

struct bu_wire;
/* Looks at packets, which needs CAP_NET_RAW; without it everyone is UNSEEN, which is
 * said. */
struct bu_wire *bu_wire_create(struct bu_loop *loop);
void bu_wire_destroy(struct bu_wire *wire);
/* Connections to this port are looked at from now on. */
void bu_wire_port(struct bu_wire *wire, uint16_t port);
/* The host at the other end of a connection that was just taken; asked once. */
void bu_wire_look(struct bu_wire *wire, const struct sockaddr_in *from,
		  struct bu_seen *ret);

#endif
