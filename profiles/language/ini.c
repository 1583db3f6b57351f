/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections that the scanner found, of all files together. Called by the scanner and
 * the loader. Invariant: after bu_ini_join() without a finding, kind and name
 * together are unique.
 */
#include <string.h>

#include "profiles/language/scan.h"

const struct bu_ini_entry *
bu_ini_entry(const struct bu_ini_section *section, const char *key)
{
	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->entries[i].key, key) == 0)
			return &section->entries[i];
	return NULL;
}

static int
compare_sections(const void *a, const void *b)
{
	const struct bu_ini_section *x = *(struct bu_ini_section *const *)a;
	const struct bu_ini_section *y = *(struct bu_ini_section *const *)b;
	int order = strcmp(x->kind, y->kind);

	if (order == 0)
		order = strcmp(x->name, y->name);
	return order ? order : (x > y) - (x < y);
}

/* Moves the drop-in's entries into the section. */
static void
lay_over(struct bu_ini_section *section, struct bu_ini_section *drop_in)
{
	for (size_t i = 0; i < drop_in->count; i++) {
		struct bu_ini_entry *entry = &drop_in->entries[i];
		struct bu_ini_entry *old =
			(struct bu_ini_entry *)bu_ini_entry(section, entry->key);

		if (old) {
			free(old->key);
			free(old->value);
		} else {
			section->entries =
				bu_xgrow(section->entries, &section->cap,
					 section->count + 1, sizeof(*section->entries));
			old = &section->entries[section->count++];
		}
		*old = *entry;
	}
	drop_in->count = 0;
}

static void
clear_section(struct bu_ini_section *section)
{
	for (size_t j = 0; j < section->count; j++) {
		free(section->entries[j].key);
		free(section->entries[j].value);
	}
	free(section->entries);
	free(section->kind);
	free(section->name);
	*section = (struct bu_ini_section){0};
}

static void
drop_empty(struct bu_ini *ini)
{
	size_t kept = 0;

	for (size_t i = 0; i < ini->count; i++)
		if (ini->sections[i].kind)
			ini->sections[kept++] = ini->sections[i];
	ini->count = kept;
}

void
bu_ini_join(struct bu_ini *ini, struct bu_findings *findings)
{
	struct bu_ini_section **list = bu_xcalloc(ini->count, sizeof(*list));
	size_t count = ini->count;

	for (size_t i = 0; i < count; i++)
		list[i] = &ini->sections[i];
	qsort(list, count, sizeof(*list), compare_sections);
	for (size_t first = 0, i = 1; i < count; i++) {
		struct bu_ini_section *a = list[first], *b = list[i];

		if (strcmp(a->kind, b->kind) != 0 || strcmp(a->name, b->name) != 0) {
			first = i;
		} else if (b->drop_in) {
			lay_over(a, b);
			clear_section(b);
		} else {
			bu_findings_add(findings, BU_FINDING_ERROR, b->file, b->line,
					"[%s%s%s] is in %s:%d already; put all of its "
					"keys there",
					b->kind, b->name[0] ? " " : "", b->name,
					a->file, a->line);
		}
	}
	free(list);
	drop_empty(ini);
}

void
bu_ini_clear(struct bu_ini *ini)
{
	for (size_t i = 0; i < ini->count; i++)
		clear_section(&ini->sections[i]);
	free(ini->sections);
	*ini = (struct bu_ini){0};
}
