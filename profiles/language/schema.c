/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding one's way in the table of sections and keys (schema_keys.c). Called by the
 * loader; documentation loops over it. Invariant: nothing in here knows a key by name.
 */
#include "profiles/language/schema.h"

#include <stdlib.h>
#include <string.h>

const struct bu_section_kind *
bu_schema_kind(const char *kind)
{
	size_t count;
	const struct bu_section_kind *kinds = bu_schema_kinds(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return &kinds[i];
	return NULL;
}

static int
compare_keys(const void *a, const void *b)
{
	const struct bu_key *x = *(const struct bu_key *const *)a;
	const struct bu_key *y = *(const struct bu_key *const *)b;
	int order = strcmp(x->key, y->key);

	return order ? order : strcmp(x->section, y->section);
}

/* Asked for every key of every node: the table is sorted once, for all of them. */
const struct bu_key *
bu_schema_key(const char *kind, const char *key)
{
	static const struct bu_key *sorted[BU_SCHEMA_MAX];
	const struct bu_key wanted = {.section = kind, .key = key}, *at = &wanted;
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);
	const struct bu_key **found;

	if (!sorted[0]) {
		for (size_t i = 0; i < count; i++)
			sorted[i] = &keys[i];
		qsort(sorted, count, sizeof(*sorted), compare_keys);
	}
	found = bsearch(&at, sorted, count, sizeof(*sorted), compare_keys);
	return found ? *found : NULL;
}

int
bu_key_required(const struct bu_key *key)
{
	return key->need && strcmp(key->need, "required") == 0;
}

const char *
bu_key_default(const struct bu_key *key)
{
	return bu_key_required(key) ? NULL : key->need;
}

enum { WORD_MAX = 40 };

/* Levenshtein; longer words are cut, for a suggestion that does. */
static size_t
distance(const char *a, const char *b)
{
	size_t m = strnlen(a, WORD_MAX), n = strnlen(b, WORD_MAX);
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; i <= m; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

char *
bu_did_you_mean(const char *word, const char *const *candidates, size_t count)
{
	const char *best = NULL;
	size_t least = strlen(word) > 5 ? 3 : 2;

	for (size_t i = 0; i < count; i++) {
		size_t d = candidates[i] ? distance(word, candidates[i]) : least + 1;

		if (d <= least && (!best || d < least)) {
			best = candidates[i];
			least = d;
		}
	}
	return best ? bu_xasprintf(" (did you mean '%s'?)", best) : bu_xstrdup("");
}

char *
bu_schema_suggest(const char *kind, const char *key)
{
	const char *candidates[BU_SCHEMA_MAX];
	size_t count = 0, keys_count, kinds_count;
	const struct bu_key *keys = bu_schema_keys(&keys_count);
	const struct bu_section_kind *kinds = bu_schema_kinds(&kinds_count);

	for (size_t i = 0; !key && i < kinds_count; i++)
		candidates[count++] = kinds[i].kind;
	for (size_t i = 0; key && i < keys_count; i++)
		if (strcmp(keys[i].section, kind) == 0)
			candidates[count++] = keys[i].key;
	return bu_did_you_mean(key ? key : kind, candidates, count);
}

static size_t
value_size(const struct bu_key *key)
{
	return key->type == BU_KEY_INT ? sizeof(int) : sizeof(char *);
}

size_t
bu_schema_inherits(const char *kind, const char *from,
		   struct bu_inherit ret[BU_INHERIT_MAX])
{
	size_t count, found = 0;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		const struct bu_key *base;

		if (strcmp(keys[i].section, kind) != 0 ||
		    keys[i].offset == BU_KEY_NO_FIELD)
			continue;
		base = bu_schema_key(from, keys[i].key);
		if (!base || base->type != keys[i].type)
			continue;
		bu_assert(found < BU_INHERIT_MAX);
		ret[found++] = (struct bu_inherit){&keys[i], base, value_size(base)};
	}
	return found;
}
