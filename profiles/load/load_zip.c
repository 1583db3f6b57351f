/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges in a pool's values, zipped with its nodes by position: bmc =
 * https://10.1.0.[1-128], rack = r[01-16]*8. Called while pools become nodes, before
 * they are sorted. Invariant: either every node of the pool gets its value or none
 * does.
 */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "profiles/load/load_internal.h"
#include "profiles/nodeset/nodeset.h"

/* One item between commas outside of brackets, owned; moves *text behind it. */
static char *
next_item(const char **text)
{
	const char *start = *text + strspn(*text, " \t"), *end = start;

	for (int inside = 0; *end && (inside || *end != ','); end++)
		inside = *end == '[' || (inside && *end != ']');
	*text = *end ? end + 1 : end;
	while (end > start && isblank((unsigned char)end[-1]))
		end--;
	return bu_xstrndup(start, (size_t)(end - start));
}

/* Cuts "*8" off the end; the number, 1 without one, 0 when it is wrong. */
static int
cut_factor(char *item)
{
	char *star = strrchr(item, '*');
	int64_t factor;

	if (!star)
		return 1;
	if (bu_text_int(star + 1, 1, 99999, &factor) < 0)
		return 0;
	*star = '\0';
	return (int)factor;
}

static int
add_item(struct bu_nodeset *values, char *item, struct bu_err *err)
{
	int factor = cut_factor(item), rc = 0;
	struct bu_nodeset *names;

	if (factor == 0 || !*item)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%.80s' is wrong; write r[01-16], or r[01-16]*8 for "
				  "each of them 8 times",
				  item);
	names = bu_nodeset_expand(item, err);
	if (!names)
		return -1;
	for (size_t i = 0; i < names->count && rc == 0; i++)
		for (int j = 0; j < factor && rc == 0; j++)
			rc = bu_nodeset_add(values, names->names[i], err);
	bu_nodeset_destroy(names);
	return rc;
}

static struct bu_nodeset *
expand(const char *text, struct bu_err *err)
{
	struct bu_nodeset *values = bu_nodeset_create();

	do {
		bu_autofree char *item = next_item(&text);

		if (add_item(values, item, err) < 0) {
			bu_nodeset_destroy(values);
			return NULL;
		}
	} while (*text);
	return values;
}

static void
give(struct bu_loader *ld, const struct bu_ini_section *section,
     const struct bu_key *key, const struct bu_nodeset *values,
     struct bu_desired_node *first, size_t count)
{
	struct bu_err err;

	for (size_t i = 0; i < count; i++) {
		const char *text = values->names[values->count == 1 ? 0 : i];

		if (bu_value_parse(key, text, (char *)&first[i] + key->offset, &err) ==
		    0)
			continue;
		bu_load_wrong(ld, section, key->key, "%s", err.text);
		return;
	}
}

static void
zip(struct bu_loader *ld, const struct bu_ini_section *section,
    const struct bu_ini_entry *entry, struct bu_desired_node *first, size_t count)
{
	const struct bu_key *key = bu_schema_key("node", entry->key);
	/* A place may be shared, a machine's own number may not. */
	int shared = strcmp(entry->key, "rack") == 0 || strcmp(entry->key, "slot") == 0;
	struct bu_err err;
	struct bu_nodeset *values = expand(entry->value, &err);

	if (!values) {
		bu_load_wrong(ld, section, entry->key, "%s", err.text);
		return;
	}
	if (values->count == count || (values->count == 1 && shared))
		give(ld, section, key, values, first, count);
	else
		bu_load_wrong(ld, section, entry->key,
			      "makes %zu values for %zu nodes; give %s", values->count,
			      count,
			      shared ? "one for each, or one for all"
				     : "one for each, in their order");
	bu_nodeset_destroy(values);
}

void
bu_load_zip(struct bu_loader *ld, const struct bu_ini_section *section,
	    struct bu_desired_node *first, size_t count)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct bu_key *key =
			bu_schema_key("pool", section->entries[i].key);

		if (key && key->type == BU_KEY_ZIP)
			zip(ld, section, &section->entries[i], first, count);
	}
}
