/* SPDX-License-Identifier: Apache-2.0 */
/* Called by rival.c for answers and by unserved.c for requests. Invariant: nothing is
 * read behind the end of a packet, whatever its options say. */
#include "provisioner/boot/bootp.h"

#include <string.h>

const uint8_t bu_bootp_cookie[4] = {0x63, 0x82, 0x53, 0x63};

const uint8_t *
bu_bootp_option(const uint8_t *packet, size_t size, uint8_t code, size_t *ret_length)
{
	for (size_t at = BU_BOOTP_SIZE; at + 2 <= size && packet[at] != BU_BOOTP_END;) {
		if (packet[at] == 0) {
			at++;
			continue;
		}
		if (at + 2 + packet[at + 1] > size)
			return NULL;
		if (packet[at] == code) {
			*ret_length = packet[at + 1];
			return packet + at + 2;
		}
		at += 2 + (size_t)packet[at + 1];
	}
	return NULL;
}

int
bu_bootp_is(const uint8_t *packet, size_t size, uint8_t op, uint8_t type)
{
	const uint8_t *told;
	size_t length;

	if (size < BU_BOOTP_SIZE || packet[0] != op ||
	    memcmp(packet + BU_BOOTP_COOKIE_AT, bu_bootp_cookie,
		   sizeof(bu_bootp_cookie)) != 0)
		return 0;
	told = bu_bootp_option(packet, size, BU_BOOTP_TYPE, &length);
	return told && length == 1 && *told == type;
}
