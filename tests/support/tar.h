/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tar archives as no honest program writes them. An entry is a text, "TYPE PATH", with
 * TYPE one of the letters of the header's type field and after the path, behind '|',
 * what the type needs: content of '0' (a file) and of anything else, target of '1'
 * (hard link) and '2' (symbolic link), "MAJOR,MINOR" of '3' and '4'. "size=N " in front
 * of it makes the header claim N bytes; "pax=KEY=VALUE " puts a record of pax before
 * the entry.
 */
#ifndef BU_TESTS_SUPPORT_TAR_H
#define BU_TESTS_SUPPORT_TAR_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tar {
	char *bytes;
	size_t size;
};

static inline void
tar_add(struct tar *tar, const void *data, size_t size)
{
	size_t padded = (size + 511) / 512 * 512;

	tar->bytes = realloc(tar->bytes, tar->size + padded + 1);
	memset(tar->bytes + tar->size, 0, padded);
	memcpy(tar->bytes + tar->size, data, size);
	tar->size += padded;
}

/* An octal field, or in base 256 where it is too large. */
static inline void
tar_number(char *field, size_t width, uint64_t value)
{
	if (width == 12 && value >> 33) {
		memset(field, 0, width);
		field[0] = (char)0x80;
		for (size_t i = 0; i < 8; i++)
			field[width - 1 - i] = (char)(value >> (8 * i));
		return;
	}
	snprintf(field, width, "%0*llo", (int)width - 1, (unsigned long long)value);
}

static inline void
tar_header(struct tar *tar, char type, const char *path, const char *target,
	   uint64_t size)
{
	char block[512] = {0};
	unsigned int sum = 0;

	strncpy(block, path, 100);
	tar_number(block + 100, 8, type == '5' ? 0755 : 0644);
	tar_number(block + 108, 8, 0);
	tar_number(block + 116, 8, 0);
	tar_number(block + 124, 12, size);
	tar_number(block + 136, 12, 1600000000);
	memset(block + 148, ' ', 8);
	block[156] = type;
	if (type == '1' || type == '2')
		strncpy(block + 157, target, 100);
	memcpy(block + 257, "ustar\00000", 8);
	if (type == '3' || type == '4') {
		tar_number(block + 329, 8, strtoull(target, NULL, 10));
		tar_number(block + 337, 8, strtoull(strchr(target, ',') + 1, NULL, 10));
	}
	for (size_t i = 0; i < sizeof(block); i++)
		sum += (unsigned char)block[i];
	snprintf(block + 148, 8, "%06o", sum);
	tar_add(tar, block, sizeof(block));
}

static inline void
tar_pax(struct tar *tar, const char *record, size_t length)
{
	char text[700];
	int size = (int)length + 3; /* digits, blank, line end */

	size += size >= 99 ? 2 : size >= 9 ? 1 : 0;
	snprintf(text, sizeof(text), "%d %.*s\n", size, (int)length, record);
	tar_header(tar, 'x', "pax", "", strlen(text));
	tar_add(tar, text, strlen(text));
}

static inline void
tar_entry(struct tar *tar, const char *entry)
{
	char path[600];
	const char *bar, *rest;
	unsigned long long claimed = 0;
	int claims = 0, at = 0;
	char type;

	while (!strncmp(entry, "pax=", 4)) {
		size_t length = strcspn(entry + 4, " ");

		tar_pax(tar, entry + 4, length);
		entry += 4 + length + 1;
	}
	if (sscanf(entry, "size=%llu %n", &claimed, &at) == 1) {
		claims = 1;
		entry += at;
	}
	type = entry[0];
	bar = strchr(entry, '|');
	rest = bar ? bar + 1 : "";
	snprintf(path, sizeof(path), "%.*s",
		 (int)(bar ? bar - entry - 2 : (long)strlen(entry + 2)), entry + 2);
	if (strchr("1234", type))
		tar_header(tar, type, path, rest, claimed);
	else
		tar_header(tar, type, path, "", claims ? claimed : strlen(rest));
	if (!strchr("1234", type) && *rest)
		tar_add(tar, rest, strlen(rest));
}

/* Entries until NULL, and the end mark. */
static inline struct tar
tar_make(const char *const *entries)
{
	struct tar tar = {0};
	static const char end[1024];

	for (; *entries; entries++)
		tar_entry(&tar, *entries);
	tar_add(&tar, end, sizeof(end));
	return tar;
}

#endif
