/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One boot entry's bytes, for bootvars.c: EFI_LOAD_OPTION and device paths. Pure. What
 * firmware has written may be anything: what cannot be understood is another's.
 */
#include "images/install/bootoption.h"

#include <string.h>

#define NAME "bringup"
#define LOADER "\\EFI\\BOOT\\BOOTX64.EFI"

enum {
	OPTION_HEAD = 6, /* attributes, length of the path */
	OPTION_ACTIVE = 1,
	NODE_HEAD = 4,      /* of a device path: type, subtype, length */
	NODE_DISK = 0x0401, /* a partition of a disk */
	NODE_FILE = 0x0404,
	NODE_MAC = 0x030b,
	NODE_END = 0x7fff,
	DISK_NODE = 42,
	FILE_NODE = NODE_HEAD + 2 * sizeof(LOADER),
	PATH_SIZE = DISK_NODE + FILE_NODE + NODE_HEAD,
};
_Static_assert(OPTION_HEAD + 2 * sizeof(NAME) + PATH_SIZE == BU_BOOTOPTION_SIZE,
	       "the size of an entry of ours");

unsigned
bu_bootoption_le16(const char *at)
{
	return (uint8_t)at[0] | (unsigned)(uint8_t)at[1] << 8;
}

/* Is this UCS-2 text, which ends with a zero within its size? */
static int
is_text(const char *at, size_t size, const char *text)
{
	size_t length = strlen(text);

	if (size < 2 * (length + 1))
		return 0;
	for (size_t i = 0; i <= length; i++)
		if (bu_bootoption_le16(at + 2 * i) != (uint8_t)text[i])
			return 0;
	return 1;
}

/* Bytes of the text with its zero; 0 = it does not end. */
static size_t
text_size(const char *at, size_t size)
{
	for (size_t i = 0; i + 2 <= size; i += 2)
		if (bu_bootoption_le16(at + i) == 0)
			return i + 2;
	return 0;
}

/* The nodes of a device path, which firmware may have written wrong. */
static enum bu_bootoption
kind_of_path(const char *at, size_t size, int named)
{
	int disk = 0, file = 0;

	while (size >= NODE_HEAD) {
		unsigned node = (unsigned)(uint8_t)at[0] << 8 | (uint8_t)at[1];
		unsigned length = bu_bootoption_le16(at + 2);

		if (length < NODE_HEAD || length > size)
			return BU_BOOT_OTHER;
		if (node == NODE_MAC)
			return BU_BOOT_NETWORK;
		disk |= node == NODE_DISK;
		file |= node == NODE_FILE &&
			is_text(at + NODE_HEAD, length - NODE_HEAD, LOADER);
		if (node == NODE_END)
			break;
		at += length;
		size -= length;
	}
	return named && disk && file ? BU_BOOT_OURS : BU_BOOT_OTHER;
}

enum bu_bootoption
bu_bootoption_kind(const char *option, size_t size)
{
	size_t name, path;

	if (size < OPTION_HEAD)
		return BU_BOOT_OTHER;
	path = bu_bootoption_le16(option + 4);
	name = text_size(option + OPTION_HEAD, size - OPTION_HEAD);
	if (!name || path > size - OPTION_HEAD - name)
		return BU_BOOT_OTHER;
	return kind_of_path(option + OPTION_HEAD + name, path,
			    is_text(option + OPTION_HEAD, name, NAME));
}

void
bu_bootoption_put(char *at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (char)(value >> 8 * i);
}

static char *
put_text(char *at, const char *text)
{
	size_t i = 0;

	do
		bu_bootoption_put(at + 2 * i, (uint8_t)text[i], 2);
	while (text[i++]);
	return at + 2 * i;
}

static char *
put_node(char *at, unsigned node, size_t length)
{
	at[0] = (char)(node >> 8);
	at[1] = (char)node;
	bu_bootoption_put(at + 2, length, 2);
	return at + NODE_HEAD;
}

/* The partition by its GUID and the removable loader in it. */
void
bu_bootoption_make(const struct bu_gpt_esp *esp, char option[BU_BOOTOPTION_SIZE])
{
	char *at = option;

	bu_bootoption_put(at, OPTION_ACTIVE, 4);
	bu_bootoption_put(at + 4, PATH_SIZE, 2);
	at = put_node(put_text(at + OPTION_HEAD, NAME), NODE_DISK, DISK_NODE);
	bu_bootoption_put(at, esp->number, 4);
	bu_bootoption_put(at + 4, esp->first_sector, 8);
	bu_bootoption_put(at + 12, esp->sectors, 8);
	memcpy(at + 20, esp->guid, sizeof(esp->guid));
	bu_bootoption_put(at + 36, 0x0202, 2); /* GPT, and a GUID */
	at = put_text(put_node(at + 38, NODE_FILE, FILE_NODE), LOADER);
	put_node(at, NODE_END, NODE_HEAD);
}
