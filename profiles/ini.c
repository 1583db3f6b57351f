/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sections that the scanner found, of all files together. Called by the scanner and
 * the loader. Invariant: after bu_ini_check_twice() without a finding, kind and name
 * together are unique.
 */
#include <string.h>

#include "profiles/scan.h"

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
	const struct bu_ini_section *x = *(const struct bu_ini_section *const *)a;
	const struct bu_ini_section *y = *(const struct bu_ini_section *const *)b;
	int order = strcmp(x->kind, y->kind);

	if (order == 0)
		order = strcmp(x->name, y->name);
	return order ? order : (x > y) - (x < y);
}

void
bu_ini_check_twice(const struct bu_ini *ini, struct bu_findings *findings)
{
	const struct bu_ini_section **list = bu_xcalloc(ini->count + 1, sizeof(*list));

	for (size_t i = 0; i < ini->count; i++)
		list[i] = &ini->sections[i];
	qsort(list, ini->count, sizeof(*list), compare_sections);
	for (size_t i = 1; i < ini->count; i++) {
		const struct bu_ini_section *a = list[i - 1], *b = list[i];

		if (strcmp(a->kind, b->kind) == 0 && strcmp(a->name, b->name) == 0)
			bu_findings_add(findings, BU_FINDING_ERROR, b->file, b->line,
					"[%s%s%s] is in %s:%d already; put all of its "
					"keys there",
					b->kind, b->name[0] ? " " : "", b->name,
					a->file, a->line);
	}
	free(list);
}

void
bu_ini_clear(struct bu_ini *ini)
{
	for (size_t i = 0; i < ini->count; i++) {
		struct bu_ini_section *section = &ini->sections[i];

		for (size_t j = 0; j < section->count; j++) {
			free(section->entries[j].key);
			free(section->entries[j].value);
		}
		free(section->entries);
		free(section->kind);
		free(section->name);
	}
	free(ini->sections);
	*ini = (struct bu_ini){0};
}
