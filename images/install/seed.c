/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a FAT16 (Microsoft's FAT specification 1.03) with a few files in its root
 * folder; raw.c calls it. There is no mkfs in the ramdisk, and nothing is mounted.
 * Invariant: clusters are 4096 bytes and files contiguous, with sectors of 512 as of
 * 4096 bytes.
 */
#include "images/install/seed.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"

enum {
	CLUSTER = 4096,
	CLUSTERS_MAX = BU_SEED_BYTES / CLUSTER,
	ROOT_ENTRIES = 512,
	ENTRY = 32,
	NAME_PART = 13, /* characters of a long name in one entry */
	NAME_MAX_SIZE = 39,
	FIRST_CLUSTER = 2,
	MEDIA = 0xf8,
	IS_LABEL = 0x08,
	IS_LONG = 0x0f,
	IS_FILE = 0x20,
};

struct volume {
	uint32_t sector;
	size_t fat_bytes, root_at, data_at; /* of the volume */
	uint8_t *head;                      /* all before data_at */
	size_t entries, clusters;           /* that are taken */
};

static void
put_text(uint8_t *at, const char *text)
{
	memcpy(at, text, strlen(text));
}

static void
fill_boot_sector(const struct volume *volume, uint64_t begin_bytes)
{
	uint8_t *at = volume->head;

	memcpy(at, "\xeb\x3c\x90", 3);
	put_text(at + 3, "BRINGUP ");
	bu_le_put(at + 11, volume->sector, 2);
	at[13] = CLUSTER / volume->sector;
	bu_le_put(at + 14, 1, 2); /* reserved sectors: this one */
	at[16] = 2;               /* tables */
	bu_le_put(at + 17, ROOT_ENTRIES, 2);
	at[21] = MEDIA;
	bu_le_put(at + 22, volume->fat_bytes / volume->sector, 2);
	bu_le_put(at + 24, 63, 2);
	bu_le_put(at + 26, 255, 2);
	bu_le_put(at + 28, begin_bytes / volume->sector, 4);
	bu_le_put(at + 32, BU_SEED_BYTES / volume->sector, 4);
	if (BU_SEED_BYTES / volume->sector <= UINT16_MAX) {
		bu_le_put(at + 19, BU_SEED_BYTES / volume->sector, 2);
		bu_le_put(at + 32, 0, 4);
	}
	at[36] = 0x80;
	at[38] = 0x29;
	bu_le_put(at + 39, begin_bytes / volume->sector, 4); /* serial number */
	put_text(at + 43, BU_SEED_LABEL "     ");
	put_text(at + 54, "FAT16   ");
	at[510] = 0x55;
	at[511] = 0xaa;
}

static uint8_t *
next_entry(struct volume *volume)
{
	bu_assert(volume->entries < ROOT_ENTRIES);
	return volume->head + volume->root_at + ENTRY * volume->entries++;
}

static uint8_t
sum_of(const uint8_t name[11])
{
	uint8_t sum = 0;

	for (int i = 0; i < 11; i++)
		sum = (uint8_t)((sum << 7 | sum >> 1) + name[i]);
	return sum;
}

/* Characters of one part, in UTF-16; behind the end 0, then 0xffff. */
static void
fill_long(uint8_t *entry, const char *name, size_t part)
{
	static const uint8_t places[NAME_PART] = {1,  3,  5,  7,  9,  14, 16,
						  18, 20, 22, 24, 28, 30};
	size_t length = strlen(name);

	for (size_t i = 0; i < NAME_PART; i++) {
		size_t at = part * NAME_PART + i;

		bu_le_put(entry + places[i],
			  at < length    ? (uint8_t)name[at]
			  : at == length ? 0
					 : 0xffff,
			  2);
	}
	entry[11] = IS_LONG;
}

/* The long name in front, its last part first. */
static void
add_names(struct volume *volume, const char *name, uint8_t short_name[11])
{
	size_t parts = (strlen(name) + NAME_PART - 1) / NAME_PART;

	memcpy(short_name, "SEED       ", 11);
	short_name[4] = (uint8_t)('A' + volume->entries / 26 % 26);
	short_name[5] = (uint8_t)('A' + volume->entries % 26);
	for (size_t part = parts; part-- > 0;) {
		uint8_t *entry = next_entry(volume);

		fill_long(entry, name, part);
		entry[0] = (uint8_t)((part + 1) | (part + 1 == parts ? 0x40 : 0));
		entry[13] = sum_of(short_name);
	}
}

static void
chain(struct volume *volume, size_t first, size_t count)
{
	for (int fat = 0; fat < 2; fat++) {
		uint8_t *table =
			volume->head + volume->sector + (size_t)fat * volume->fat_bytes;

		for (size_t i = 0; i < count; i++)
			bu_le_put(table + 2 * (first + i),
				  i + 1 < count ? first + i + 1 : 0xffff, 2);
	}
}

static void
set_up(struct volume *volume, const struct bu_disk *disk, uint64_t begin_bytes)
{
	size_t need = 2 * (CLUSTERS_MAX + FIRST_CLUSTER);
	uint8_t *entry;

	memset(volume, 0, sizeof(*volume));
	volume->sector = disk->sector_bytes;
	volume->fat_bytes =
		(need + volume->sector - 1) / volume->sector * volume->sector;
	volume->root_at = volume->sector + 2 * volume->fat_bytes;
	volume->data_at = volume->root_at + ROOT_ENTRIES * ENTRY;
	volume->head = bu_xcalloc(1, volume->data_at);
	fill_boot_sector(volume, begin_bytes);
	for (int fat = 0; fat < 2; fat++)
		bu_le_put(volume->head + volume->sector +
				  (size_t)fat * volume->fat_bytes,
			  0xffffff00 | MEDIA, 4);
	entry = next_entry(volume);
	put_text(entry, BU_SEED_LABEL "     ");
	entry[11] = IS_LABEL;
}

static int
add_file(struct volume *volume, const struct bu_disk *disk, uint64_t begin_bytes,
	 const struct bu_install_file *file, struct bu_err *err)
{
	size_t count = (file->size + CLUSTER - 1) / CLUSTER;
	size_t room = (BU_SEED_BYTES - volume->data_at) / CLUSTER - volume->clusters;
	uint64_t at = begin_bytes + volume->data_at + volume->clusters * CLUSTER;
	uint8_t short_name[11], *entry;

	if (!*file->path || strlen(file->path) > NAME_MAX_SIZE ||
	    strpbrk(file->path, "/\\:*?\"<>|") || count > room)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "file '%.60s' (%zu bytes) does not fit into the file "
				  "system for cloud-init",
				  file->path, file->size);
	add_names(volume, file->path, short_name);
	entry = next_entry(volume);
	memcpy(entry, short_name, sizeof(short_name));
	entry[11] = IS_FILE;
	bu_le_put(entry + 28, file->size, 4);
	if (count)
		bu_le_put(entry + 26, FIRST_CLUSTER + volume->clusters, 2);
	chain(volume, FIRST_CLUSTER + volume->clusters, count);
	volume->clusters += count;
	return bu_disk_write(disk->fd, file->content, file->size, at, err);
}

int
bu_seed_write(const struct bu_disk *disk, uint64_t begin_bytes,
	      const struct bu_install_file *files, size_t count, struct bu_err *err)
{
	struct volume volume;
	int rc;

	if (count > BU_SEED_FILES_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%zu files for cloud-init; at most %d", count,
				  BU_SEED_FILES_MAX);
	rc = bu_disk_zero(disk, begin_bytes, BU_SEED_BYTES, err);
	set_up(&volume, disk, begin_bytes);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = add_file(&volume, disk, begin_bytes, &files[i], err);
	if (rc == 0)
		rc = bu_disk_write(disk->fd, volume.head, volume.data_at, begin_bytes,
				   err);
	free(volume.head);
	return rc;
}

int
bu_seed_is_own(const struct bu_disk *disk, uint64_t begin_bytes,
	       const struct bu_install_opts *opts)
{
	bu_autofree uint8_t *bytes = bu_xmalloc(BU_SEED_BYTES);
	struct volume volume;
	int is_own = 0;

	if (bu_read_at(disk->fd, bytes, BU_SEED_BYTES, begin_bytes, NULL) != 0)
		return 0;
	set_up(&volume, disk, begin_bytes);
	/* Each file begins a cluster, and none of these two fills one. */
	for (size_t at = volume.data_at; at + 2 * CLUSTER <= BU_SEED_BYTES && !is_own;
	     at += CLUSTER) {
		char *text = (char *)bytes + at, *sig = text + CLUSTER;

		is_own = text[0] == '{' && !text[CLUSTER - 1] && !sig[CLUSTER - 1] &&
			 bu_disk_is_note(opts, text, sig);
	}
	free(volume.head);
	return is_own;
}
