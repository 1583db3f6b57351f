/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restores a backup. Called by the program's main(). Invariant: the state directory is
 * made as place.c says; killed, a restore is simply begun again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/secret.h"
#include "provisioner/backup/backup.h"

static void
tell_age(const struct bu_restored *restored, int64_t now_ms, FILE *out)
{
	int64_t minutes = (now_ms - restored->made_ms) / 60000;
	char at[24];

	bu_time_iso(restored->made_ms, at);
	fprintf(out, "site %s, backup of %s", *restored->site ? restored->site : "-",
		at);
	if (minutes >= 0)
		fprintf(out, " (%lld h %lld min ago)", (long long)minutes / 60,
			(long long)minutes % 60);
	fprintf(out, ", %lld rows, epoch %lld\n", (long long)restored->rows,
		(long long)restored->epoch);
	if (restored->has_keys)
		fprintf(out,
			"the log and its blobs are whole, signed by the key with the "
			"SHA-256 %s\n",
			restored->key);
	else
		fputs("the log and its blobs are whole; without the appliance's keys "
		      "(--keys DIR) nothing says that the log is this appliance's\n",
		      out);
	fprintf(out, "the last rows:\n%s", restored->last ? restored->last : "");
}

static void
tell_next(const char *state, int64_t epoch, FILE *out)
{
	fprintf(out,
		"restored into %s with epoch %lld\n"
		"what happened after the backup is not in it. Next:\n"
		"  1. keep the old appliance off: two would act on the same "
		"machines\n"
		"  2. copy %s/bringupd.conf to /etc/bringup, and correct its "
		"addresses\n"
		"  3. put images and ramdisk where it says; they are not in a backup\n"
		"  4. start bringupd; bringup status, bringup audit verify --anchor "
		"FILE\n"
		"     with the newest anchor of the syslog; retire again what that "
		"lists\n"
		"  5. nothing is switched until an agent confirms this epoch; if none "
		"can:\n"
		"     bringup site take-over\n",
		state, (long long)epoch, state);
}

static int
restore_in(const struct bu_restore_ask *ask, const char *work, const char *state,
	   FILE *out, struct bu_err *err)
{
	bu_autoclose int fd = open(ask->file, O_RDONLY | O_CLOEXEC);
	char *identity = bu_place_identity(ask->identity, err);
	struct bu_restored restored = {0};
	int64_t epoch = 0;
	int rc = -1;

	if (identity && fd < 0)
		bu_err_set(err, BU_ERR_IO, errno, "open '%s'", ask->file);
	else if (identity && bu_unpack(fd, identity, work, err) != 0)
		bu_err_wrap(err, "%s", ask->file);
	else if (identity)
		rc = 0;
	if (identity)
		bu_secret_free(identity, strlen(identity));
	if (rc == 0 && ask->keys)
		rc = bu_place_copy_keys(ask->keys, work, err);
	if (rc == 0 && !ask->dry_run)
		rc = bu_place_check_keys(work, err);
	if (rc == 0) {
		rc = bu_backup_check(work, ask->now_ms, &restored,
				     ask->dry_run ? NULL : &epoch, err);
		if (rc != 0)
			bu_err_wrap(err, "%s", ask->file);
	}
	if (rc == 0 && !ask->dry_run)
		rc = bu_place_put(work, state, err);
	if (rc == 0) {
		tell_age(&restored, ask->now_ms, out);
		if (!ask->dry_run)
			tell_next(state, epoch, out);
	}
	bu_restored_fini(&restored);
	return rc;
}

int
bu_restore(const struct bu_restore_ask *ask, FILE *out, struct bu_err *err)
{
	bu_autofree char *state = bu_place_name(ask->state);
	bu_autofree char *work = bu_xasprintf("%s.restore", state);
	bu_autoclose int lock = -1;
	int rc;

	if (!ask->dry_run && bu_place_check_free(state, err) != 0)
		return -1;
	lock = bu_place_begin(work, err);
	if (lock < 0)
		return -1;
	rc = restore_in(ask, work, state, out, err);
	if (rc != 0 || ask->dry_run)
		bu_ignore(bu_remove_tree(work, NULL));
	return rc;
}
