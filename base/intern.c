/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned texts, in a hash table of the process. Used by what keeps the same text for
 * each of thousands of nodes. Invariant: two equal texts have one address.
 */
#include "base/intern.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

static struct {
	char **slots;
	size_t slot_count; /* a power of two */
	size_t count;
} table;

/* The slot of the text, or the empty one for it. At most half of them are taken. */
static char **
slot_of(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t at;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	at = (hash ^ hash >> 32) & (table.slot_count - 1);
	while (table.slots[at] && strcmp(table.slots[at], text) != 0)
		at = (at + 1) & (table.slot_count - 1);
	return &table.slots[at];
}

static void
grow(void)
{
	char **old = table.slots;
	size_t old_count = table.slot_count;

	table.slot_count = old_count ? 2 * old_count : 256;
	table.slots = bu_xcalloc(table.slot_count, sizeof(*table.slots));
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			*slot_of(old[i]) = old[i];
	free(old);
}

const char *
bu_intern(const char *text)
{
	char **slot;

	if (!text)
		return NULL;
	if (2 * (table.count + 1) > table.slot_count)
		grow();
	slot = slot_of(text);
	if (!*slot) {
		*slot = bu_xstrdup(text);
		table.count++;
	}
	return *slot;
}
