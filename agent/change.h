/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of files that can be taken back, whatever happens in between: what was
 * there is kept in a journal on the disk before the first file is touched, and stays
 * there until the change is either kept or undone.
 */
#ifndef BU_AGENT_CHANGE_H
#define BU_AGENT_CHANGE_H

#include <jansson.h>
#include <sys/types.h>

#include "agent/note.h"

struct bu_change_file {
	const char *path; /* absolute; below the root */
	mode_t mode;
	const char *apply;   /* group that makes it hold; "" = none */
	const char *content; /* NULL = shall not be there */
	size_t size;
};

struct bu_change {
	const char *root;             /* prefix of all paths; "" on a node */
	struct bu_change_file *files; /* what is to be changed, alone; borrowed texts */
	size_t count, cap;
	char **texts; /* owned: what files and notes borrow */
	size_t texts_count, texts_cap;
	int has_journal; /* it is on the disk */
	struct bu_note journal;
	json_t *journal_json; /* its texts */
};

/* Notes the file unless it is so already. BU_ERR_INVAL for a path that is not plain. */
bu_must int bu_change_add(struct bu_change *change, const struct bu_change_file *file,
			  struct bu_err *err);
/* Notes that what matches the pattern ('*' = any characters but '/') and is none of
 * the kept files goes. */
void bu_change_add_old(struct bu_change *change, const char *pattern,
		       const struct bu_change_file *keep, size_t count);
/* The content that stands there now (what an undo brings back when the change is not
 * written yet); owned, NULL when there is none. */
char *bu_change_present(const struct bu_change *change, const char *path);

/* Keeps a text for as long as the change lives. */
const char *bu_change_own(struct bu_change *change, char *text);
/* Writes the journal: the note, and its files as they are now. */
bu_must int bu_change_begin(struct bu_change *change, struct bu_note *note,
			    struct bu_err *err);
/* Files as they shall be. What fails leaves some written: undo. The record of them
 * (model/applied.h) is written apart. */
bu_must int bu_change_write(const struct bu_change *change, struct bu_err *err);
bu_must int bu_change_write_record(const struct bu_change *change, struct bu_err *err);
/* The journal of a change that was neither kept nor undone, if there is one:
 * has_journal and journal. A journal that cannot be read is an error, and stays. */
bu_must int bu_change_load(struct bu_change *change, struct bu_err *err);
/* The old content of one of the journal's files; owned. */
char *bu_change_old(const struct bu_change *change, const struct bu_note_file *file,
		    size_t *ret_size, struct bu_err *err);
/* Puts the old files back; the journal stays. */
bu_must int bu_change_restore(const struct bu_change *change, struct bu_err *err);
/* Ends it: the journal goes. */
bu_must int bu_change_close(struct bu_change *change, struct bu_err *err);
void bu_change_fini(struct bu_change *change);

#endif
