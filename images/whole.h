/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The disk of somebody else as an image: one part that is all of it, and its partition
 * table (GPT), which is read at its front and moved to the end of a larger disk. Who
 * imports such an image and who installs it see the same table.
 */
#ifndef BU_IMAGES_WHOLE_H
#define BU_IMAGES_WHOLE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/err.h"

/* "disk" of a manifest: {"sector_bytes": 512, "size_bytes", "sha256"}. */
struct bu_whole_disk {
	uint32_t sector_bytes;       /* that its table counts in; 0 = it is no disk */
	uint64_t size_bytes;         /* of what was imported */
	char digest[BU_DIGEST_SIZE]; /* SHA-256 of that */
};
bu_must int bu_whole_disk_from_json(const json_t *value, struct bu_whole_disk *ret,
				    struct bu_err *err);
json_t *bu_whole_disk_to_json(const struct bu_whole_disk *disk);

enum {
	BU_WHOLE_FRONT_BYTES = 1024 * 1024, /* what is read of it */
	BU_WHOLE_HEADER_MAX = 512,
};

/* A partition table. */
struct bu_whole {
	uint32_t sector_bytes;
	uint64_t size_bytes; /* of the disk that it is for */
	uint32_t entry_bytes, entry_count;
	uint64_t table_bytes; /* of whole sectors */
	uint64_t table_begin; /* byte of the disk */
	uint64_t parts_end;   /* the first byte behind all partitions */
	uint32_t header_bytes;
	uint8_t header[BU_WHOLE_HEADER_MAX];
	uint8_t *table;
};
/* Of an image of size_bytes whose first BU_WHOLE_FRONT_BYTES these are. BU_ERR_VERIFY
 * says what is wrong with the table: none, a wrong sum, partitions that overlap or lie
 * outside. */
bu_must int bu_whole_read(const uint8_t *front, uint64_t size_bytes,
			  struct bu_whole *ret, struct bu_err *err);
void bu_whole_fini(struct bu_whole *whole);
/* Whether any partition, or the table itself, has a byte of this range. */
int bu_whole_uses(const struct bu_whole *whole, uint64_t begin, uint64_t size);

/* From now on the table is that of this disk: the last sector that partitions may have,
 * and the place of the copy at the end, follow. BU_ERR_INVAL when the disk is smaller
 * than the image or has other sectors. */
bu_must int bu_whole_move(struct bu_whole *whole, uint64_t disk_bytes,
			  uint32_t sector_bytes, struct bu_err *err);
struct bu_whole_part {
	const char *type, *guid; /* text form */
	const char *label;       /* ASCII, at most 36 characters */
	uint64_t size_bytes;     /* a multiple of 1 MiB */
};
/* A partition at the end of the disk, behind all others. BU_ERR_INVAL when there is no
 * room; *ret_begin is its first byte. */
bu_must int bu_whole_add(struct bu_whole *whole, const struct bu_whole_part *part,
			 uint64_t *ret_begin, struct bu_err *err);
/* Puts the table into the first bytes of the disk, of which front has
 * BU_WHOLE_FRONT_BYTES; all else in them stays. */
void bu_whole_put_front(const struct bu_whole *whole, uint8_t *front);
/* What is at the end of the disk: owned, *ret_size bytes. */
uint8_t *bu_whole_make_back(const struct bu_whole *whole, size_t *ret_size);

#endif
