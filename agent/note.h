/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a change of files: what was there before, and what no file says. It is
 * the file STATE/change/change.json; the old content of files lies in 0, 1, ... beside
 * it.
 */
#ifndef BU_AGENT_NOTE_H
#define BU_AGENT_NOTE_H

#include "base/record.h"

/* What stood at a path. */
enum bu_was { BU_WAS_NOTHING, BU_WAS_FILE, BU_WAS_LINK };

struct bu_note_file {
	const char *path;
	enum bu_was was;
	const char *link;       /* where a link pointed to */
	int64_t old;            /* number of a file's content */
	int64_t mode, uid, gid; /* of a file; -1 = unsaid, as all three else */
};

struct bu_note_value {
	const char *path, *value;
};

struct bu_note_mtu {
	const char *name;
	int mtu;
};

struct bu_note {
	const char *id;
	int attempt;
	const char *boot_id;
	int live;
	int64_t confirm_ms;
	const char *kargs; /* what they were; NULL = they do not change */
	const char **groups;
	const char **drops; /* virtual devices that are made anew */
	struct bu_note_file *files;
	struct bu_note_value *values;
	struct bu_note_mtu *mtus;
	size_t groups_count, drops_count, files_count, values_count, mtus_count;
};

/* New reference. */
json_t *bu_note_to_json(const struct bu_note *note);
/* Texts are borrowed from the value. BU_ERR_INVAL with the path of what is missing or
 * makes no sense; then the note holds nothing. */
bu_must int bu_note_from_json(const json_t *value, struct bu_note *ret,
			      struct bu_err *err);
/* Releases its lists; the texts are the maker's. */
void bu_note_fini(struct bu_note *note);

/* Adds a word to a list of texts on the heap, borrowed, unless it is there. */
void bu_note_add_word(const char ***list, size_t *count, const char *word);
/* 1 when the list has it. */
int bu_note_has_word(const char *const *list, size_t count, const char *word);

#endif
