/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the network card behind a connection, by the connection's first packet. */
#ifndef BU_API_WIRE_H
#define BU_API_WIRE_H

#include <netinet/in.h>

#include "base/loop.h"
#include "model/machine.h"

enum bu_wire_place {
	BU_WIRE_UNSEEN, /* not known whether the client is on a wire with us */
	BU_WIRE_ON,     /* the packet came from `mac`, on the wire of its address */
	BU_WIRE_OFF,    /* the client's address is behind a router, or our own */
};

struct bu_seen {
	enum bu_wire_place place;
	char mac[BU_MAC_SIZE];     /* source of the first packet; "" unless ON */
	char answers[BU_MAC_SIZE]; /* card to which the kernel sends packets for this
				      address; "" = not known */
};

struct bu_wire;
/* Captures packets, which needs CAP_NET_RAW. Without it every client is UNSEEN; a
 * warning says so. */
struct bu_wire *bu_wire_create(struct bu_loop *loop);
void bu_wire_destroy(struct bu_wire *wire);
/* Looks at connections to this port from now on. */
void bu_wire_port(struct bu_wire *wire, uint16_t port);
/* Finds the client of a connection that was just accepted; one call per connection. */
void bu_wire_look(struct bu_wire *wire, const struct sockaddr_in *from,
		  struct bu_seen *ret);

#endif
