/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INI files with origins. The syntax is narrower than iniparser's, so that nothing that
 * iniparser 4.1 silently cuts, merges or lower-cases ever gets through:
 *
 *	# comment                      only at the start of a line or after a blank
 *	[kind name]                    lower-case letters, digits, '-', '_', '.'
 *	key = value                    one line; a comment may follow after a blank
 *	key = "value # with anything"  quotes keep '#', ';' and blanks at the ends
 */
#ifndef BU_PROFILES_LANGUAGE_SCAN_H
#define BU_PROFILES_LANGUAGE_SCAN_H

#include <stddef.h>

#include "profiles/load/findings.h"
#include "profiles/load/tree.h"

enum {
	BU_INI_LINE_MAX = 1000,     /* bytes; iniparser stops at 1,024 */
	BU_INI_KEYS_MAX = 256,      /* of one section */
	BU_INI_SECTIONS_MAX = 20000 /* of all files */
};

struct bu_ini_entry {
	char *key, *value; /* the value as iniparser gives it */
	const char *file;  /* not the section's when it comes from conf.d */
	int line;
};

struct bu_ini_section {
	char *kind; /* "pool" */
	char *name; /* "train"; "" when there is none */
	const char *file;
	int line;
	int drop_in; /* of conf.d: its keys go over those of the section itself */
	struct bu_ini_entry *entries;
	size_t count, cap;
};

/* Starts zeroed. */
struct bu_ini {
	struct bu_ini_section *sections; /* of all files scanned so far, in order */
	size_t count, cap;
};

/* Adds the file's sections; what is wrong becomes findings. The file's path is borrowed
 * by the sections. */
void bu_ini_scan(struct bu_ini *ini, const struct bu_tree_file *file, int drop_in,
		 struct bu_findings *findings);
/* Makes one of sections of the same kind and name: the keys of a drop-in go over those
 * that are there, later files over earlier ones. Two that are no drop-ins are a
 * finding.
 */
void bu_ini_join(struct bu_ini *ini, struct bu_findings *findings);
const struct bu_ini_entry *bu_ini_entry(const struct bu_ini_section *section,
					const char *key);
void bu_ini_clear(struct bu_ini *ini);

#endif
