/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of files that can be taken back, whatever happens in between: what was
 * there is kept in a journal on the disk before the first file is touched, and stays
 * there until the change is either kept or undone.
 *
 * The journal is the folder STATE/change: change.json
 *	{"v":1,"id","attempt","boot_id","live","confirm_ms","groups":[...],
 *	 "files":[{"path","mode","uid","gid","link","old"}],"values":[{"path","value"}],
 *	 "drops":[...],"mtus":[{"name","mtu"}],"kargs"}
 * with the old content of files in 0, 1, ... beside it ("old"; absent = there was no
 * such file; "link" = it was a symbolic link to there).
 */
#ifndef BU_AGENT_CHANGE_H
#define BU_AGENT_CHANGE_H

#include <jansson.h>
#include <sys/types.h>

#include "base/err.h"

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
	char **names; /* owned: of files that are to go */
	size_t names_count, names_cap;
	json_t *journal; /* NULL = nothing is written yet */
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

/* Writes the journal: `head` (its members but "files") is stolen. */
bu_must int bu_change_begin(struct bu_change *change, json_t *head, struct bu_err *err);
/* Files as they shall be. What fails leaves some written: undo. */
bu_must int bu_change_write(const struct bu_change *change, struct bu_err *err);
/* The journal of a change that was neither kept nor undone: 1 and change->journal. */
int bu_change_load(struct bu_change *change);
/* The old content of one of the journal's files; owned. */
char *bu_change_old(const struct bu_change *change, const json_t *file,
		    size_t *ret_size, struct bu_err *err);
/* Puts the old files back; the journal stays. */
bu_must int bu_change_restore(const struct bu_change *change, struct bu_err *err);
/* Ends it: the journal goes. */
bu_must int bu_change_close(struct bu_change *change, struct bu_err *err);
void bu_change_fini(struct bu_change *change);

#endif
