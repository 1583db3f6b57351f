/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups of an appliance: made of a running one, restored to another machine. All of
 * it blocks and runs in the program bringup-backup.
 *
 * A backup is a sealed stream (base/seal.h) of a tar archive with zstd:
 *	anchor.json	anchor of the log (model/anchor.h)
 *	bringupd.conf	as it was; missing where the appliance has none
 *	keys/NAME	the appliance's keys; only where they were asked for
 *	journal.db	the log, as of a moment after the anchor
 */
#ifndef BU_BACKUP_BACKUP_H
#define BU_BACKUP_BACKUP_H

#include <jansson.h>
#include <stdio.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/record.h"

/* What bringupd asks for, as JSON on the standard input of `bringup-backup make`. */
struct bu_backup_ask {
	const char *state; /* the state directory */
	const char *conf;  /* path of bringupd.conf */
	int with_keys;
	const char *to;        /* a path, http(s)://..., or exec:/path */
	const char *recipient; /* of base/seal.h */
	const char *name;      /* "bringup-falcon-20261130T060000Z.backup" */
	const json_t *anchor;
};
extern const struct bu_field bu_backup_ask_fields[];

/* The answer, as JSON on its standard output. */
struct bu_backup_made {
	char to[512]; /* where it lies now: a path, a URL or the program */
	char digest[BU_DIGEST_SIZE];
	int64_t bytes;
};
extern const struct bu_field bu_backup_made_fields[];

/* The backup is at its place, was read back and opened, or there is none. */
bu_must int bu_backup_make(const struct bu_backup_ask *ask, struct bu_backup_made *ret,
			   struct bu_err *err);

/* pack.c. Writes the sealed archive of these files into fd, which is empty, syncs, and
 * reads it back. */
struct bu_pack_file {
	char *name; /* in the archive */
	char *path; /* owned */
};
struct bu_pack {
	struct bu_pack_file *files;
	size_t count, cap;
};
void bu_pack_add(struct bu_pack *pack, const char *name, const char *path);
void bu_pack_fini(struct bu_pack *pack);
bu_must int bu_pack_write(const struct bu_pack *pack, const char *recipient, int fd,
			  struct bu_backup_made *ret, struct bu_err *err);

/* unpack.c. Opens all of the sealed file, then writes its files into the folder, which
 * is empty. BU_ERR_VERIFY: changed, cut, or holds what no backup has. */
bu_must int bu_unpack(int fd, const char *identity, const char *dir,
		      struct bu_err *err);

/* deliver.c. Puts a verified file to `to`. */
bu_must int bu_deliver(const struct bu_backup_ask *ask, const char *path,
		       struct bu_backup_made *made, struct bu_err *err);

/* place.c. A new state directory is made in a folder beside it, STATE.restore. */
/* Files of the appliance's keys; ends with NULL. */
extern const char *const bu_place_keys[];
/* The path without slashes at its end; owned. */
char *bu_place_name(const char *path);
/* 0 = there is nothing of this name, or an empty folder. */
bu_must int bu_place_check_free(const char *state, struct bu_err *err);
/* Makes the folder for the work, empty; returns the file descriptor of its lock, or -1.
 */
bu_must int bu_place_begin(const char *work, struct bu_err *err);
/* The identity (base/seal.h) in a file of bringup backup keygen; for bu_secret_free().
 */
char *bu_place_identity(const char *path, struct bu_err *err);
/* Copies the keys in a folder to keys/ of the work. */
bu_must int bu_place_copy_keys(const char *from, const char *work, struct bu_err *err);
bu_must int bu_place_check_keys(const char *work, struct bu_err *err);
/* A file or a folder is on the disk. */
bu_must int bu_place_sync(const char *path, struct bu_err *err);
/* The work becomes the state directory. */
bu_must int bu_place_put(const char *work, const char *state, struct bu_err *err);

/* sheet.c. The site key as one text file, to be printed: the appliance's keys. */
/* Writes FILE.new, mode 0600; file itself must not be there. */
bu_must int bu_sheet_write(const char *keys, const char *file, int64_t now_ms,
			   struct bu_err *err);
/* FILE.new becomes the file, once the keys are a site's. */
bu_must int bu_sheet_put(const char *file, struct bu_err *err);
/* FILE.new has keys of no site. */
void bu_sheet_drop(const char *file);
/* Writes the keys into the folder, which is made. BU_ERR_VERIFY: a character of it is
 * another one; BU_ERR_NOTFOUND: the file is no sheet. */
bu_must int bu_sheet_read(const char *file, const char *keys, struct bu_err *err);

/* init.c. What `bringup init` asks for, as JSON on the standard input of
 * `bringup-backup init`. */
struct bu_init_ask {
	const char *state;    /* the state directory to make */
	const char *site_key; /* a sheet or a backup with keys; NULL = make new keys */
	const char *identity; /* of that backup; NULL = none */
	const char *sheet;    /* file to write the new keys to; NULL = none */
	const char *site;     /* name of the profile's site */
	const char *tree;     /* the checked profile tree, canonical JSON */
	const char *commit;   /* "" = not from git */
};
extern const struct bu_field bu_init_ask_fields[];
/* Makes a state directory with the keys and a log that has the profile as applied,
 * without an order; behind the fence, where the keys are those of a site. Says on out
 * what comes next. */
bu_must int bu_init(const struct bu_init_ask *ask, int64_t now_ms, FILE *out,
		    struct bu_err *err);

struct bu_restore_ask {
	const char *file, *identity; /* paths */
	const char *keys;            /* folder of the appliance's keys; NULL = none */
	const char *state;           /* the state directory to make */
	int dry_run;
	int64_t now_ms; /* Unix time */
};
/* Says on out what the backup has and what was done. BU_ERR_STATE: the state directory
 * is in use. */
bu_must int bu_restore(const struct bu_restore_ask *ask, FILE *out, struct bu_err *err);

/* check.c. What a verified log says. */
struct bu_restored {
	char site[64];
	char key[BU_DIGEST_SIZE]; /* SHA-256 of the public key that signed the anchor;
				     "" = no keys, nothing was verified */
	int has_keys;
	int64_t rows, made_ms;
	int64_t epoch; /* the highest that it knows */
	char *last;    /* the last rows as lines; owned */
};
void bu_restored_fini(struct bu_restored *restored);
/* Verifies the unpacked backup in the folder: signature, chain, blobs. next_epoch (may
 * be NULL): appends a higher epoch and says which. */
bu_must int bu_backup_check(const char *dir, int64_t now_ms, struct bu_restored *ret,
			    int64_t *next_epoch, struct bu_err *err);

#endif
