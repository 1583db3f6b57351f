/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, check sums and GUIDs as they lie on disks: in partition tables and FAT. */
#ifndef BU_BASE_BYTES_H
#define BU_BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* Little-endian, of 1 to 8 bytes. */
uint64_t bu_le_get(const uint8_t *at, int bytes);
void bu_le_put(uint8_t *at, uint64_t value, int bytes);
/* CRC-32 of IEEE 802.3, as in the UEFI specification. */
uint32_t bu_crc32(const void *data, size_t size);
/* The 16 bytes of a GUID, in the mixed order of the UEFI specification. text: 32
 * hexadecimal digits, with any dashes; the caller has checked them. */
void bu_guid_put(uint8_t *at, const char *text);

#endif
