/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPT writer (UEFI specification 2.10, chapter 5), for disks with 512-byte sectors;
 * used by install.c. Touches the first 34 and the last 33 sectors, nothing else.
 */
#include "images/install/gpt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"

enum {
	ENTRIES = 128,
	ENTRY_SIZE = 128,
	TABLE_BYTES = ENTRIES * ENTRY_SIZE,
	TABLE_SECTORS = TABLE_BYTES / BU_SECTOR,
	HEADER_SIZE = 92,
	ALIGN = 1024 * 1024,
	MBR_SIGNATURE = 440,
};

int
bu_layout_make(const struct bu_manifest *manifest, uint64_t disk_bytes,
	       struct bu_layout *ret, struct bu_err *err)
{
	struct bu_layout layout = {.disk_bytes = disk_bytes};
	uint64_t tail = (TABLE_SECTORS + 1) * BU_SECTOR;
	uint64_t end = disk_bytes > tail ? (disk_bytes - tail) / ALIGN * ALIGN : 0;
	uint64_t at = BU_PARTS_BEGIN;

	layout.count = manifest->part_count;
	for (size_t i = 0; i < manifest->part_count; i++) {
		const struct bu_part *part = &manifest->parts[i];
		uint64_t need = (part->size_bytes + ALIGN - 1) / ALIGN * ALIGN;

		layout.parts[i].begin_bytes = at;
		layout.parts[i].size_bytes = need;
		if (part->grow && at + need < end)
			layout.parts[i].size_bytes = end - at;
		at += need;
	}
	if (at > end)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the disk has %llu MiB, image %s needs %llu MiB",
				  (unsigned long long)(disk_bytes >> 20),
				  manifest->name,
				  (unsigned long long)((at + tail + ALIGN - 1) >> 20));
	*ret = layout;
	return 0;
}

static uint32_t
crc32_of(const void *data, size_t size)
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

static void
put_le(uint8_t *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = value >> 8 * i;
}

/* Text form to the mixed-endian form of the specification; the manifest has checked the
 * digits. */
static void
put_guid(uint8_t *at, const char *text)
{
	static const uint8_t order[16] = {3, 2, 1,  0,  5,  4,  7,  6,
					  8, 9, 10, 11, 12, 13, 14, 15};
	char digits[33] = "";
	uint8_t bytes[16] = {0};
	size_t count = 0;

	for (; *text && count < 32; text++)
		if (*text != '-')
			digits[count++] = *text;
	bu_assert(!bu_hex_decode(digits, bytes, sizeof(bytes)));
	for (size_t i = 0; i < sizeof(bytes); i++)
		at[i] = bytes[order[i]];
}

static void
put_random_guid(uint8_t *at)
{
	bu_random(at, 16);
	at[7] = (at[7] & 0x0f) | 0x40;
	at[8] = (at[8] & 0x3f) | 0x80;
}

static void
fill_table(uint8_t *table, const struct bu_manifest *manifest,
	   const struct bu_layout *layout)
{
	for (size_t i = 0; i < layout->count; i++) {
		const struct bu_part *part = &manifest->parts[i];
		uint8_t *entry = table + i * ENTRY_SIZE;
		uint64_t first = layout->parts[i].begin_bytes / BU_SECTOR;

		put_guid(entry, part->type);
		put_random_guid(entry + 16);
		put_le(entry + 32, first, 8);
		put_le(entry + 40, first + layout->parts[i].size_bytes / BU_SECTOR - 1,
		       8);
		put_le(entry + 48, part->attrs, 8);
		for (size_t k = 0; part->label[k]; k++)
			put_le(entry + 56 + 2 * k, (uint8_t)part->label[k], 2);
	}
}

static void
fill_header(uint8_t *header, const struct bu_layout *layout, const uint8_t *disk_guid,
	    const uint8_t *table, int backup)
{
	uint64_t last = layout->disk_bytes / BU_SECTOR - 1;

	memcpy(header, "EFI PART", 8);
	put_le(header + 8, 0x00010000, 4);
	put_le(header + 12, HEADER_SIZE, 4);
	put_le(header + 24, backup ? last : 1, 8);
	put_le(header + 32, backup ? 1 : last, 8);
	put_le(header + 40, 2 + TABLE_SECTORS, 8);
	put_le(header + 48, last - TABLE_SECTORS - 1, 8);
	memcpy(header + 56, disk_guid, 16);
	put_le(header + 72, backup ? last - TABLE_SECTORS : 2, 8);
	put_le(header + 80, ENTRIES, 4);
	put_le(header + 84, ENTRY_SIZE, 4);
	put_le(header + 88, crc32_of(table, TABLE_BYTES), 4);
	put_le(header + 16, crc32_of(header, HEADER_SIZE), 4);
}

static void
fill_mbr(uint8_t *mbr, const struct bu_manifest *manifest,
	 const struct bu_layout *layout)
{
	uint64_t sectors = layout->disk_bytes / BU_SECTOR - 1;
	static const uint8_t chs_begin[3] = {0, 2, 0}, chs_end[3] = {0xff, 0xff, 0xff};

	memcpy(mbr, manifest->boot_code, BU_BOOT_CODE_SIZE);
	/* UEFI does not use the signature. Under BIOS it is all that tells an
	 * installed system which disk it was booted from. */
	do
		bu_random(mbr + MBR_SIGNATURE, 4);
	while (!memcmp(mbr + MBR_SIGNATURE, "\0\0\0", 4));
	memcpy(mbr + 447, chs_begin, 3);
	mbr[450] = 0xee;
	memcpy(mbr + 451, chs_end, 3);
	put_le(mbr + 454, 1, 4);
	put_le(mbr + 458, sectors > UINT32_MAX ? UINT32_MAX : sectors, 4);
	mbr[510] = 0x55;
	mbr[511] = 0xaa;
}

static int
write_at(int fd, const void *data, size_t size, uint64_t offset, struct bu_err *err)
{
	ssize_t got = pwrite(fd, data, size, offset);

	if (got != (ssize_t)size)
		return bu_err_set(err, BU_ERR_IO, got < 0 ? errno : EIO,
				  "writing the partition table at byte %llu",
				  (unsigned long long)offset);
	return 0;
}

int
bu_gpt_write(int fd, const struct bu_manifest *manifest, const struct bu_layout *layout,
	     struct bu_err *err)
{
	bu_autofree uint8_t *front = bu_xcalloc(1, BU_GPT_BYTES);
	bu_autofree uint8_t *back = bu_xcalloc(1, BU_GPT_BYTES - BU_SECTOR);
	uint8_t *table = front + 2 * BU_SECTOR;
	uint8_t disk_guid[16];

	put_random_guid(disk_guid);
	fill_mbr(front, manifest, layout);
	fill_table(table, manifest, layout);
	fill_header(front + BU_SECTOR, layout, disk_guid, table, 0);
	memcpy(back, table, TABLE_BYTES);
	fill_header(back + TABLE_BYTES, layout, disk_guid, table, 1);
	if (write_at(fd, back, TABLE_BYTES + BU_SECTOR,
		     layout->disk_bytes - TABLE_BYTES - BU_SECTOR, err))
		return -1;
	return write_at(fd, front, BU_GPT_BYTES, 0, err);
}
