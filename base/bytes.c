/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of structures on disks. Called by what writes and what reads a partition
 * table, and by the writer of FAT. Pure.
 */
#include "base/bytes.h"

#include "base/crypto.h"
#include "base/err.h"

enum { GUID_BYTES = 16 };

uint64_t
bu_le_get(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

void
bu_le_put(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

uint32_t
bu_crc32(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < size; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

void
bu_guid_put(uint8_t *at, const char *text)
{
	static const uint8_t order[GUID_BYTES] = {3, 2, 1,  0,  5,  4,  7,  6,
						  8, 9, 10, 11, 12, 13, 14, 15};
	char digits[2 * GUID_BYTES + 1] = "";
	uint8_t bytes[GUID_BYTES] = {0};
	size_t count = 0;

	for (; *text && count < sizeof(digits) - 1; text++)
		if (*text != '-')
			digits[count++] = *text;
	bu_assert(bu_hex_decode(digits, bytes, sizeof(bytes)) == 0);
	for (size_t i = 0; i < sizeof(bytes); i++)
		at[i] = bytes[order[i]];
}
