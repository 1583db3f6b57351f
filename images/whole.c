/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and moves the partition table of a disk that somebody else made (UEFI
 * specification 2.10, chapter 5); for the import and for the installer. Invariant: a
 * struct bu_whole that leaves bu_whole_read() has every partition inside the disk, and
 * none in its table.
 */
#include "images/whole.h"

#include <string.h>

#include "base/bytes.h"
#include "base/json.h"

enum {
	HEADER_MIN = 92,
	ENTRY_MIN = 128,
	ENTRY_MAX = 4096,
	GUID_BYTES = 16,
	LABEL_CHARS = 36,
	ALIGN = 1024 * 1024,
	MBR_ENTRIES = 446,
	MBR_ENTRY = 16,
};

/* --- reading --- */

static int
refuse(struct bu_err *err, const char *what)
{
	return bu_err_set(err, BU_ERR_VERIFY, 0, "partition table: %s", what);
}

static uint32_t
find_header(const uint8_t *front)
{
	static const uint32_t sizes[] = {512, 4096};

	for (size_t i = 0; i < BU_LEN(sizes); i++)
		if (memcmp(front + sizes[i], "EFI PART", 8) == 0)
			return sizes[i];
	return 0;
}

static int
read_header(const uint8_t *front, struct bu_whole *whole, struct bu_err *err)
{
	const uint8_t *header = front + whole->sector_bytes;
	uint64_t size = bu_le_get(header + 12, 4);
	uint8_t copy[BU_WHOLE_HEADER_MAX];

	if (size < HEADER_MIN || size > sizeof(copy))
		return refuse(err, "its header has no known size");
	memcpy(copy, header, size);
	bu_le_put(copy + 16, 0, 4);
	if (bu_le_get(header + 16, 4) != bu_crc32(copy, size))
		return refuse(err, "the sum over its header is wrong");
	if (bu_le_get(header + 24, 8) != 1)
		return refuse(err, "its header says that it lies elsewhere");
	whole->header_bytes = (uint32_t)size;
	memcpy(whole->header, header, size);
	return 0;
}

static int
read_table(const uint8_t *front, struct bu_whole *whole, struct bu_err *err)
{
	const uint8_t *header = whole->header;
	uint64_t begin = bu_le_get(header + 72, 8), count = bu_le_get(header + 80, 4);
	uint64_t each = bu_le_get(header + 84, 4), sector = whole->sector_bytes;

	if (each < ENTRY_MIN || each > ENTRY_MAX || (each & (each - 1)) || !count ||
	    count > BU_WHOLE_FRONT_BYTES / each || begin < 2 ||
	    begin > BU_WHOLE_FRONT_BYTES / sector)
		return refuse(err, "the count, size or position of its entries is "
				   "invalid");
	whole->table_begin = begin * sector;
	whole->table_bytes = (count * each + sector - 1) / sector * sector;
	if (whole->table_begin + whole->table_bytes > BU_WHOLE_FRONT_BYTES)
		return refuse(err, "it does not lie in the first MiB of the disk");
	whole->entry_bytes = (uint32_t)each;
	whole->entry_count = (uint32_t)count;
	if (bu_le_get(header + 88, 4) !=
	    bu_crc32(front + whole->table_begin, count * each))
		return refuse(err, "the sum over its entries is wrong");
	whole->table = bu_xcalloc(1, whole->table_bytes);
	memcpy(whole->table, front + whole->table_begin, count * each);
	return 0;
}

static uint8_t *
entry_of(const struct bu_whole *whole, uint32_t which)
{
	return whole->table + (size_t)which * whole->entry_bytes;
}

static int
is_used(const uint8_t *entry)
{
	static const uint8_t unused[GUID_BYTES];

	return memcmp(entry, unused, sizeof(unused)) != 0;
}

/* Partitions i and those before it. */
static int
check_entry(const struct bu_whole *whole, uint32_t which, struct bu_err *err)
{
	const uint8_t *entry = entry_of(whole, which);
	uint64_t first = bu_le_get(entry + 32, 8), last = bu_le_get(entry + 40, 8);
	uint64_t table_end = whole->table_begin + whole->table_bytes;

	if (first > last || last >= whole->size_bytes / whole->sector_bytes ||
	    first < table_end / whole->sector_bytes)
		return bu_err_set(
			err, BU_ERR_VERIFY, 0,
			"partition table: partition %u is not inside the "
			"image (sectors %llu to %llu of %llu)",
			which + 1, (unsigned long long)first, (unsigned long long)last,
			(unsigned long long)(whole->size_bytes / whole->sector_bytes));
	for (uint32_t k = 0; k < which; k++) {
		const uint8_t *other = entry_of(whole, k);

		if (is_used(other) && first <= bu_le_get(other + 40, 8) &&
		    bu_le_get(other + 32, 8) <= last)
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "partition table: partitions %u and %u "
					  "overlap",
					  k + 1, which + 1);
	}
	return 0;
}

static int
check_entries(struct bu_whole *whole, struct bu_err *err)
{
	for (uint32_t i = 0; i < whole->entry_count; i++) {
		const uint8_t *entry = entry_of(whole, i);
		uint64_t end;

		if (!is_used(entry))
			continue;
		if (check_entry(whole, i, err) != 0)
			return -1;
		end = (bu_le_get(entry + 40, 8) + 1) * whole->sector_bytes;
		if (end > whole->parts_end)
			whole->parts_end = end;
	}
	return whole->parts_end ? 0 : refuse(err, "it has no partition");
}

/* The first sector says to old programs that the disk is taken. */
static int
has_protection(const uint8_t *front)
{
	int found = 0;

	for (int i = 0; i < 4; i++)
		if (front[MBR_ENTRIES + MBR_ENTRY * i + 4] == 0xee)
			found = 1;
	return found && front[510] == 0x55 && front[511] == 0xaa;
}

int
bu_whole_read(const uint8_t *front, uint64_t size_bytes, struct bu_whole *ret,
	      struct bu_err *err)
{
	struct bu_whole whole = {.size_bytes = size_bytes};
	int rc;

	if (size_bytes < 2 * BU_WHOLE_FRONT_BYTES)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "it has %llu bytes; a disk with partitions has more",
				  (unsigned long long)size_bytes);
	whole.sector_bytes = find_header(front);
	if (!whole.sector_bytes)
		return refuse(err, "the disk has none (GPT) at its front; one with an "
				   "MBR alone cannot be installed");
	if (!has_protection(front))
		return refuse(err, "the first sector has no protective MBR");
	if (size_bytes % whole.sector_bytes)
		return refuse(err, "the image ends within a sector");
	rc = read_header(front, &whole, err) || read_table(front, &whole, err) ||
	     check_entries(&whole, err);
	if (rc) {
		bu_whole_fini(&whole);
		return -1;
	}
	*ret = whole;
	return 0;
}

void
bu_whole_fini(struct bu_whole *whole)
{
	free(whole->table);
	memset(whole, 0, sizeof(*whole));
}

int
bu_whole_uses(const struct bu_whole *whole, uint64_t begin, uint64_t size)
{
	uint64_t first = begin / whole->sector_bytes;
	uint64_t last = (begin + size - 1) / whole->sector_bytes;

	if (begin < whole->table_begin + whole->table_bytes &&
	    begin + size > whole->table_begin)
		return 1;
	for (uint32_t i = 0; i < whole->entry_count; i++) {
		const uint8_t *entry = entry_of(whole, i);

		if (is_used(entry) && bu_le_get(entry + 32, 8) <= last &&
		    first <= bu_le_get(entry + 40, 8))
			return 1;
	}
	return 0;
}

/* --- another disk --- */

static uint64_t
back_bytes(const struct bu_whole *whole)
{
	return whole->table_bytes + whole->sector_bytes;
}

int
bu_whole_move(struct bu_whole *whole, uint64_t disk_bytes, uint32_t sector_bytes,
	      struct bu_err *err)
{
	uint64_t sectors = disk_bytes / sector_bytes;

	if (sector_bytes != whole->sector_bytes)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the image is of a disk with sectors of %u bytes, "
				  "and this one has sectors of %u; its partition table "
				  "would mean other places",
				  whole->sector_bytes, sector_bytes);
	if (disk_bytes < whole->size_bytes ||
	    sectors * sector_bytes - back_bytes(whole) < whole->parts_end)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the disk has %llu bytes, the image %llu",
				  (unsigned long long)disk_bytes,
				  (unsigned long long)whole->size_bytes);
	whole->size_bytes = sectors * sector_bytes;
	bu_le_put(whole->header + 32, sectors - 1, 8);
	bu_le_put(whole->header + 48, sectors - back_bytes(whole) / sector_bytes - 1,
		  8);
	return 0;
}

int
bu_whole_add(struct bu_whole *whole, const struct bu_whole_part *part,
	     uint64_t *ret_begin, struct bu_err *err)
{
	uint64_t end = (whole->size_bytes - back_bytes(whole)) / ALIGN * ALIGN;
	uint32_t which = 0;
	uint8_t *entry;

	while (which < whole->entry_count && is_used(entry_of(whole, which)))
		which++;
	if (which == whole->entry_count || end < whole->parts_end + part->size_bytes)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the disk has no room for the partition %s of %llu "
				  "MiB behind the image's",
				  part->label,
				  (unsigned long long)(part->size_bytes >> 20));
	entry = entry_of(whole, which);
	memset(entry, 0, whole->entry_bytes);
	bu_guid_put(entry, part->type);
	bu_guid_put(entry + GUID_BYTES, part->guid);
	bu_le_put(entry + 32, (end - part->size_bytes) / whole->sector_bytes, 8);
	bu_le_put(entry + 40, end / whole->sector_bytes - 1, 8);
	for (size_t k = 0; part->label[k] && k < LABEL_CHARS; k++)
		bu_le_put(entry + 56 + 2 * k, (uint8_t)part->label[k], 2);
	whole->parts_end = end;
	*ret_begin = end - part->size_bytes;
	return 0;
}

/* A header of the table as it is now, of its front or of its back. */
static void
put_header(const struct bu_whole *whole, int back, uint8_t *at)
{
	uint64_t last = whole->size_bytes / whole->sector_bytes - 1;
	uint64_t table = whole->table_begin / whole->sector_bytes;

	if (back)
		table = last - whole->table_bytes / whole->sector_bytes;
	memcpy(at, whole->header, whole->header_bytes);
	bu_le_put(at + 24, back ? last : 1, 8);
	bu_le_put(at + 32, back ? 1 : last, 8);
	bu_le_put(at + 72, table, 8);
	bu_le_put(
		at + 88,
		bu_crc32(whole->table, (size_t)whole->entry_count * whole->entry_bytes),
		4);
	bu_le_put(at + 16, 0, 4);
	bu_le_put(at + 16, bu_crc32(at, whole->header_bytes), 4);
}

/* The one entry that says "all of this disk", where it says that; those of a hybrid
 * table are left as they are. */
static void
put_protection(const struct bu_whole *whole, uint8_t *front)
{
	uint64_t sectors = whole->size_bytes / whole->sector_bytes - 1;

	for (int i = 0; i < 4; i++) {
		uint8_t *entry = front + MBR_ENTRIES + MBR_ENTRY * i;

		if (entry[4] && (entry[4] != 0xee || bu_le_get(entry + 8, 4) != 1))
			return;
	}
	for (int i = 0; i < 4; i++) {
		uint8_t *entry = front + MBR_ENTRIES + MBR_ENTRY * i;

		if (entry[4])
			bu_le_put(entry + 12,
				  sectors > UINT32_MAX ? UINT32_MAX : sectors, 4);
	}
}

void
bu_whole_put_front(const struct bu_whole *whole, uint8_t *front)
{
	put_protection(whole, front);
	put_header(whole, 0, front + whole->sector_bytes);
	memcpy(front + whole->table_begin, whole->table,
	       (size_t)whole->entry_count * whole->entry_bytes);
}

uint8_t *
bu_whole_make_back(const struct bu_whole *whole, size_t *ret_size)
{
	uint8_t *back = bu_xcalloc(1, back_bytes(whole));

	memcpy(back, whole->table, whole->table_bytes);
	put_header(whole, 1, back + whole->table_bytes);
	*ret_size = back_bytes(whole);
	return back;
}

/* --- the manifest --- */

int
bu_whole_disk_from_json(const json_t *value, struct bu_whole_disk *ret,
			struct bu_err *err)
{
	struct bu_whole_disk disk = {0};
	uint8_t hash[BU_SHA256_SIZE];
	int64_t sector, size;

	if (bu_json_get_int(value, "sector_bytes", &sector, err) != 0 ||
	    bu_json_get_int(value, "size_bytes", &size, err) != 0 ||
	    bu_json_copy_str(value, "sha256", disk.digest, sizeof(disk.digest), err) !=
		    0)
		return bu_err_wrap(err, "field 'disk'");
	if (json_object_size(value) != 3 || (sector != 512 && sector != 4096) ||
	    size < 2 * BU_WHOLE_FRONT_BYTES || size % sector ||
	    bu_hex_decode(disk.digest, hash, sizeof(hash)) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'disk': not sector_bytes (512 or 4096), "
				  "size_bytes in sectors and sha256");
	bu_hex_encode(hash, sizeof(hash), disk.digest);
	disk.sector_bytes = (uint32_t)sector;
	disk.size_bytes = (uint64_t)size;
	*ret = disk;
	return 0;
}

json_t *
bu_whole_disk_to_json(const struct bu_whole_disk *disk)
{
	return json_pack("{s:i, s:I, s:s}", "sector_bytes", (int)disk->sector_bytes,
			 "size_bytes", (json_int_t)disk->size_bytes, "sha256",
			 disk->digest);
}
