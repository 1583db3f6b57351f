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
