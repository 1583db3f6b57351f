/* SPDX-License-Identifier: Apache-2.0 */
/* DHCP packets as bytes (RFC 2131, RFC 2132); shared by rival.c and unserved.c. */
#ifndef BU_BOOT_BOOTP_H
#define BU_BOOT_BOOTP_H

#include <stddef.h>
#include <stdint.h>

enum {
	BU_BOOTP_SIZE = 240, /* with the cookie; options follow */
	BU_BOOTP_REQUEST = 1,
	BU_BOOTP_REPLY = 2,
	BU_BOOTP_XID_AT = 4,
	BU_BOOTP_FLAGS_AT = 10,
	BU_BOOTP_RELAY_AT = 24,
	BU_BOOTP_MAC_AT = 28,
	BU_BOOTP_COOKIE_AT = 236,
	BU_BOOTP_TYPE = 53, /* option numbers */
	BU_BOOTP_SERVER = 54,
	BU_BOOTP_ARCH = 93,
	BU_BOOTP_IPXE = 175,
	BU_BOOTP_END = 255,
	BU_BOOTP_DISCOVER = 1, /* values of option 53 */
	BU_BOOTP_OFFER = 2,
};
extern const uint8_t bu_bootp_cookie[4];

/* 1 = a whole packet of this op (BU_BOOTP_REQUEST, _REPLY) and type. */
int bu_bootp_is(const uint8_t *packet, size_t size, uint8_t op, uint8_t type);
/* A complete option and its length; NULL = none. The packet has at least BU_BOOTP_SIZE
 * bytes. */
const uint8_t *bu_bootp_option(const uint8_t *packet, size_t size, uint8_t code,
			       size_t *ret_length);

#endif
