/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPT writer (UEFI specification 2.10, chapter 5); used by install.c. Touches the first
 * two and the last sector and the tables behind and before them, nothing else.
 * Invariant: what counts sectors counts those of the disk.
 */
#include "images/install/gpt.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crypto.h"

enum {
	ENTRIES = 128,
	ENTRY_SIZE = 128,
	TABLE_BYTES = ENTRIES * ENTRY_SIZE,
	HEADER_SIZE = 92,
	MBR_SIGNATURE = 440,
	NAME_CHARS = 36,
};

size_t
bu_gpt_front_bytes(uint32_t sector_bytes)
{
	return 2 * sector_bytes + TABLE_BYTES;
}

size_t
bu_gpt_tail_bytes(uint32_t sector_bytes)
{
	return TABLE_BYTES + sector_bytes;
}

static void
put_random_guid(uint8_t *at)
{
	bu_random(at, 16);
	at[7] = (at[7] & 0x0f) | 0x40;
	at[8] = (at[8] & 0x3f) | 0x80;
}

struct place {
	uint64_t first, last; /* sectors */
};

static struct place
place_of(const struct bu_layout *layout, uint64_t begin_bytes, uint64_t size_bytes)
{
	uint64_t first = begin_bytes / layout->sector_bytes;

	return (struct place){first, first + size_bytes / layout->sector_bytes - 1};
}

static void
fill_entry(uint8_t *entry, const char *type, struct place place, const char *label)
{
	bu_guid_put(entry, type);
	put_random_guid(entry + 16);
	bu_le_put(entry + 32, place.first, 8);
	bu_le_put(entry + 40, place.last, 8);
	for (size_t k = 0; label[k] && k < NAME_CHARS; k++)
		bu_le_put(entry + 56 + 2 * k, (uint8_t)label[k], 2);
}

/* Without a manifest, data alone, in the entries that it has beside the image's. */
static void
fill_table(uint8_t *table, const struct bu_manifest *manifest,
	   const struct bu_layout *layout)
{
	uint8_t *entry = table;

	for (size_t i = 0; i < layout->count; i++, entry += ENTRY_SIZE) {
		if (!manifest)
			continue;
		fill_entry(entry, layout->parts[i].type,
			   place_of(layout, layout->parts[i].begin_bytes,
				    layout->parts[i].size_bytes),
			   layout->parts[i].name);
		bu_le_put(entry + 48, layout->parts[i].attrs, 8);
	}
	for (size_t i = 0; i < layout->data_count; i++, entry += ENTRY_SIZE) {
		fill_entry(entry,
			   layout->data[i].type ? layout->data[i].type : BU_DATA_TYPE,
			   place_of(layout, layout->data[i].begin_bytes,
				    layout->data[i].size_bytes),
			   layout->data[i].name);
		bu_guid_put(entry + 16, layout->data[i].guid);
	}
}

static void
fill_header(uint8_t *header, const struct bu_layout *layout, const uint8_t *disk_guid,
	    const uint8_t *table, int backup)
{
	uint64_t last = layout->disk_bytes / layout->sector_bytes - 1;
	uint64_t sectors = TABLE_BYTES / layout->sector_bytes; /* of the table */

	memcpy(header, "EFI PART", 8);
	bu_le_put(header + 8, 0x00010000, 4);
	bu_le_put(header + 12, HEADER_SIZE, 4);
	bu_le_put(header + 24, backup ? last : 1, 8);
	bu_le_put(header + 32, backup ? 1 : last, 8);
	bu_le_put(header + 40, 2 + sectors, 8);
	bu_le_put(header + 48, last - sectors - 1, 8);
	memcpy(header + 56, disk_guid, 16);
	bu_le_put(header + 72, backup ? last - sectors : 2, 8);
	bu_le_put(header + 80, ENTRIES, 4);
	bu_le_put(header + 84, ENTRY_SIZE, 4);
	bu_le_put(header + 88, bu_crc32(table, TABLE_BYTES), 4);
	bu_le_put(header + 16, bu_crc32(header, HEADER_SIZE), 4);
}

static void
fill_mbr(uint8_t *mbr, const struct bu_manifest *manifest,
	 const struct bu_layout *layout)
{
	uint64_t sectors = layout->disk_bytes / layout->sector_bytes - 1;
	static const uint8_t chs_begin[3] = {0, 2, 0}, chs_end[3] = {0xff, 0xff, 0xff};

	if (manifest)
		memcpy(mbr, manifest->boot_code, BU_BOOT_CODE_SIZE);
	/* UEFI does not use the signature. Under BIOS it is all that tells an
	 * installed system which disk it was booted from. */
	do
		bu_random(mbr + MBR_SIGNATURE, 4);
	while (!memcmp(mbr + MBR_SIGNATURE, "\0\0\0", 4));
	memcpy(mbr + 447, chs_begin, 3);
	mbr[450] = 0xee;
	memcpy(mbr + 451, chs_end, 3);
	bu_le_put(mbr + 454, 1, 4);
	bu_le_put(mbr + 458, sectors > UINT32_MAX ? UINT32_MAX : sectors, 4);
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

/* manifest NULL: data alone. */
static int
write_tables(int fd, const struct bu_manifest *manifest, const struct bu_layout *layout,
	     struct bu_err *err)
{
	size_t sector = layout->sector_bytes, size = bu_gpt_front_bytes(sector);
	bu_autofree uint8_t *front = bu_xcalloc(1, size);
	bu_autofree uint8_t *back = bu_xcalloc(1, size - sector);
	uint8_t *table = front + 2 * sector;
	uint8_t disk_guid[16];

	put_random_guid(disk_guid);
	fill_mbr(front, manifest, layout);
	fill_table(table, manifest, layout);
	fill_header(front + sector, layout, disk_guid, table, 0);
	memcpy(back, table, TABLE_BYTES);
	fill_header(back + TABLE_BYTES, layout, disk_guid, table, 1);
	if (write_at(fd, back, TABLE_BYTES + sector,
		     layout->disk_bytes / sector * sector - TABLE_BYTES - sector, err))
		return -1;
	return write_at(fd, front, size, 0, err);
}

int
bu_gpt_write(int fd, const struct bu_manifest *manifest, const struct bu_layout *layout,
	     struct bu_err *err)
{
	return write_tables(fd, manifest, layout, err);
}

int
bu_gpt_write_data(int fd, const struct bu_layout *layout, struct bu_err *err)
{
	return write_tables(fd, NULL, layout, err);
}

/* --- what is on the disk --- */

/* The table at the front as we write it; tables of others are no table for us. */
static int
read_table(int fd, uint32_t sector_bytes, uint8_t table[TABLE_BYTES],
	   struct bu_err *err)
{
	uint8_t header[HEADER_SIZE], crc[4];
	int good;

	if (pread(fd, header, sizeof(header), sector_bytes) != sizeof(header) ||
	    pread(fd, table, TABLE_BYTES, 2 * sector_bytes) != TABLE_BYTES)
		return bu_err_set(err, BU_ERR_IO, errno, "reading the partition table");
	memcpy(crc, header + 16, sizeof(crc));
	memset(header + 16, 0, sizeof(crc));
	good = !memcmp(header, "EFI PART", 8) &&
	       bu_le_get(header + 12, 4) == HEADER_SIZE &&
	       bu_le_get(header + 72, 8) == 2 && bu_le_get(header + 80, 4) == ENTRIES &&
	       bu_le_get(header + 84, 4) == ENTRY_SIZE &&
	       bu_le_get(crc, 4) == bu_crc32(header, HEADER_SIZE) &&
	       bu_le_get(header + 88, 4) == bu_crc32(table, TABLE_BYTES);
	if (!good)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the disk has no partition table of bringup; "
				  "whether it has data is unknown");
	return 0;
}

static void
entry_name(const uint8_t *entry, char ret[NAME_CHARS + 1])
{
	for (size_t i = 0; i < NAME_CHARS; i++)
		ret[i] = entry[57 + 2 * i] ? '?' : (char)entry[56 + 2 * i];
	ret[NAME_CHARS] = '\0';
}

/* 1 when the entry is the layout's data partition i. */
static int
is_data(const uint8_t *entry, const struct bu_layout *layout, size_t i)
{
	struct place place = place_of(layout, layout->data[i].begin_bytes,
				      layout->data[i].size_bytes);
	uint8_t guid[16];

	bu_guid_put(guid, layout->data[i].guid);
	return !memcmp(entry + 16, guid, sizeof(guid)) &&
	       bu_le_get(entry + 32, 8) == place.first &&
	       bu_le_get(entry + 40, 8) == place.last;
}

static int
check_entry(const uint8_t *entry, const struct bu_layout *layout, struct bu_err *err)
{
	static const uint8_t unused[16];
	char name[NAME_CHARS + 1];

	if (!memcmp(entry, unused, sizeof(unused)))
		return 0;
	for (size_t i = 0; i < layout->data_count; i++)
		if (is_data(entry, layout, i))
			return 0;
	entry_name(entry, name);
	for (size_t i = 0; i < layout->count; i++)
		if (!strcmp(name, layout->parts[i].name))
			return 0;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "the disk has a partition '%s' that is neither the image's "
			  "nor described by the profile's data",
			  name);
}

int
bu_gpt_is_ours(int fd, uint32_t sector_bytes)
{
	bu_autofree uint8_t *table = bu_xmalloc(TABLE_BYTES);

	return read_table(fd, sector_bytes, table, NULL) == 0;
}

int
bu_gpt_check_data(int fd, const struct bu_layout *layout, struct bu_err *err)
{
	bu_autofree uint8_t *table = bu_xmalloc(TABLE_BYTES);

	if (read_table(fd, layout->sector_bytes, table, err))
		return -1;
	for (size_t k = 0; k < ENTRIES; k++)
		if (check_entry(table + k * ENTRY_SIZE, layout, err))
			return -1;
	for (size_t i = 0; i < layout->data_count; i++) {
		size_t k = 0;

		while (k < ENTRIES && !is_data(table + k * ENTRY_SIZE, layout, i))
			k++;
		if (k == ENTRIES)
			return bu_err_set(err, BU_ERR_STATE, 0,
					  "the disk does not have the data partition "
					  "'%s' where the profile puts it",
					  layout->data[i].name);
	}
	return 0;
}

/* 1 when the entry is the layout's part i. */
static int
is_part(const uint8_t *entry, const struct bu_layout *layout, size_t i)
{
	struct place place = place_of(layout, layout->parts[i].begin_bytes,
				      layout->parts[i].size_bytes);
	char name[NAME_CHARS + 1];

	entry_name(entry, name);
	return !strcmp(name, layout->parts[i].name) &&
	       bu_le_get(entry + 32, 8) == place.first &&
	       bu_le_get(entry + 40, 8) == place.last;
}

/* In the entries that they are written to: a kernel numbers them so. */
int
bu_gpt_has_parts(int fd, const struct bu_layout *layout)
{
	bu_autofree uint8_t *table = bu_xmalloc(TABLE_BYTES);

	if (read_table(fd, layout->sector_bytes, table, NULL))
		return 0;
	for (size_t i = 0; i < layout->count; i++)
		if (!is_part(table + i * ENTRY_SIZE, layout, i))
			return 0;
	return 1;
}

static int
has_esp_type(const uint8_t *entry, const char *unused)
{
	uint8_t type[16], old_type[16];

	bu_guid_put(type, BU_ESP_TYPE);
	bu_guid_put(old_type, BU_OLD_ESP_TYPE);
	return !memcmp(entry, type, sizeof(type)) ||
	       !memcmp(entry, old_type, sizeof(old_type));
}

static int
has_entry_name(const uint8_t *entry, const char *name)
{
	char its[NAME_CHARS + 1];

	entry_name(entry, its);
	return !strcmp(its, name);
}

static int
find_entry(const char *disk, int (*is)(const uint8_t *entry, const char *name),
	   const char *name, struct bu_gpt_esp *ret, struct bu_err *err)
{
	bu_autofree uint8_t *table = bu_xmalloc(TABLE_BYTES);
	bu_autoclose int fd = open(disk, O_RDONLY | O_CLOEXEC);
	int sector;

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "disk %s", disk);
	if (ioctl(fd, BLKSSZGET, &sector) != 0)
		sector = 512; /* a file */
	if (read_table(fd, (uint32_t)sector, table, err) != 0)
		return bu_err_wrap(err, "disk %s", disk);
	for (uint32_t i = 0; i < ENTRIES; i++) {
		const uint8_t *entry = table + (size_t)i * ENTRY_SIZE;

		if (!is(entry, name))
			continue;
		ret->number = i + 1;
		ret->first_sector = bu_le_get(entry + 32, 8);
		ret->sectors = bu_le_get(entry + 40, 8) - ret->first_sector + 1;
		memcpy(ret->guid, entry + 16, sizeof(ret->guid));
		return 0;
	}
	return bu_err_set(err, BU_ERR_STATE, 0, "disk %s has no %s", disk, name);
}

int
bu_gpt_find_esp(const char *disk, struct bu_gpt_esp *ret, struct bu_err *err)
{
	return find_entry(disk, has_esp_type, "system partition", ret, err);
}

int
bu_gpt_find_part(const char *disk, const char *name, struct bu_gpt_esp *ret,
		 struct bu_err *err)
{
	return find_entry(disk, has_entry_name, name, ret, err);
}
