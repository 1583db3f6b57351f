/* SPDX-License-Identifier: Apache-2.0 */
/* The log on a disk that is full, that loses writes, that cannot be read. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/store/store.h"
#include "tests/support/baddisk.h"
#include "tests/support/unit.h"

struct log {
	char dir[64];
	char path[80];
	struct bu_loop *loop;
	struct bu_store *store;
	int done, refused, downs;
	struct bu_err refusal;
	char seen[256];
};

static void
on_down(void *arg)
{
	struct log *log = arg;

	/* Before anybody hears of his batch. */
	ck_assert_int_eq(log->refused, 0);
	log->downs++;
}

static void
reopen(struct log *log)
{
	struct bu_err err = {0};

	bu_store_destroy(bu_steal(&log->store));
	log->store = bu_store_open_sqlite(log->loop, log->path, &err);
	ck_assert_msg(log->store != NULL, "%s", err.text);
	bu_store_on_down(log->store, on_down, log);
}

static void
begin(struct log *log)
{
	memset(log, 0, sizeof(*log));
	strcpy(log->dir, "/tmp/bringup-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(log->dir));
	snprintf(log->path, sizeof(log->path), "%s/log.db", log->dir);
	log->loop = bu_loop_create(NULL);
	bad_disk_install();
	reopen(log);
}

static void
finish(struct log *log)
{
	bu_store_destroy(log->store);
	bu_loop_destroy(log->loop);
	ck_assert_int_eq(bu_remove_tree(log->dir, NULL), 0);
}

static void
on_done(const struct bu_decided *decided, void *arg)
{
	struct log *log = arg;

	if (decided->err) {
		log->refused++;
		log->refusal = *decided->err;
		return;
	}
	ck_assert_int_gt(decided->seq, 0);
	log->done++;
}

static void
add(struct log *log, const char *node)
{
	struct bu_event event;

	bu_event_init(&event, BU_EVENT_HELD, node, json_object());
	bu_store_append(log->store, &event, 1, 0, on_done, log);
}

static void
add_now(struct log *log, const char *node)
{
	int64_t appended;

	add(log, node);
	appended = bu_store_appended(log->store);
	for (int i = 0; i < 5 && bu_store_committed(log->store) < appended; i++)
		bu_loop_step(log->loop, 20);
}

static int
on_row(const struct bu_event *event, void *arg)
{
	struct log *log = arg;

	strcat(log->seen, event->node);
	return 0;
}

static const char *
nodes_in(struct log *log)
{
	log->seen[0] = '\0';
	ck_assert_int_eq(bu_store_read(log->store, 0, 0, on_row, log, NULL), 0);
	return log->seen;
}

static void
on_resumed(const struct bu_decided *decided, void *arg)
{
	*(int *)arg = decided->err ? -1 : 0;
	ck_assert(decided->err || (decided->time_ms > 0 && decided->seq > 0));
}

static int
resume(struct log *log, const char *node)
{
	struct bu_event event;
	int rc = bu_store_mend(log->store, NULL);

	if (rc != 0)
		return rc;
	bu_event_init(&event, BU_EVENT_RELEASED, node, json_object());
	bu_store_resume(log->store, &event, 1, 0, on_resumed, &rc);
	return rc;
}

static int
is_whole(const struct log *log)
{
	struct bu_chain at = {0};

	return bu_store_verify(log->store, &at, 0, NULL) == 0;
}

/* What stands now stands after a start, and its chain holds. */
static void
is_safe(struct log *log, const char *nodes)
{
	ck_assert_str_eq(nodes_in(log), nodes);
	reopen(log);
	ck_assert_str_eq(nodes_in(log), nodes);
	ck_assert(is_whole(log));
	add_now(log, "z");
	ck_assert(is_whole(log));
}

START_TEST(what_a_full_disk_refuses_is_not_in_the_log)
{
	struct log log;
	int64_t before;

	begin(&log);
	add_now(&log, "a");
	ck_assert_int_eq(log.done, 1);
	before = bu_store_committed(log.store);
	bad_disk.full = 1;
	add(&log, "b");
	add_now(&log, "c");
	ck_assert_int_eq(log.refused, 2);
	ck_assert_int_eq(log.downs, 1);
	ck_assert_int_eq(log.refusal.kind, BU_ERR_IO);
	ck_assert_ptr_nonnull(strstr(log.refusal.text, log.path));
	ck_assert_ptr_nonnull(strstr(log.refusal.text, "disk is full"));
	ck_assert_ptr_nonnull(strstr(log.refusal.text, " bytes are free there; "));
	ck_assert_ptr_nonnull(bu_store_down(log.store));
	ck_assert_ptr_null(bu_store_refused(log.store, 0, before));
	ck_assert_ptr_nonnull(bu_store_refused(log.store, before, before + 1));
	ck_assert_str_eq(nodes_in(&log), "a");
	ck_assert_int_eq(resume(&log, "r"), -1);
	/* there is room again, but nobody has tried: still nothing is written */
	bad_disk.full = 0;
	bad_disk.writes = 0;
	add_now(&log, "d");
	ck_assert_int_eq(log.refused, 3);
	ck_assert_int_eq(bad_disk.writes, 0);
	ck_assert_int_eq(resume(&log, "r"), 0);
	ck_assert_ptr_null(bu_store_down(log.store));
	add_now(&log, "e");
	ck_assert_int_eq(log.done, 2);
	ck_assert_ptr_null(bu_store_refused(log.store,
					    bu_store_committed(log.store) - 1,
					    bu_store_committed(log.store)));
	is_safe(&log, "are");
	finish(&log);
}
END_TEST

START_TEST(a_commit_that_was_not_synced_is_not_taken_for_done)
{
	struct log log;

	begin(&log);
	add_now(&log, "a");
	bad_disk.syncs = 1;
	add_now(&log, "b");
	ck_assert_int_eq(log.done, 1);
	ck_assert_int_eq(log.refused, 1);
	ck_assert_ptr_nonnull(bu_store_down(log.store));
	ck_assert_int_eq(resume(&log, "r"), 0);
	is_safe(&log, "ar");
	finish(&log);
}
END_TEST

START_TEST(batches_of_one_turn_are_synced_once)
{
	struct log log;

	begin(&log);
	add_now(&log, "a");
	bad_disk.syncs = -1;
	bad_disk.syncs_ok = 1;
	add(&log, "b");
	add_now(&log, "c");
	ck_assert_int_eq(log.done, 3);
	bad_disk.syncs = 0;
	finish(&log);
}
END_TEST

/* All frames are written, and the sync after them fails, again and again: a start would
 * read the row, and nobody may be told that it is not there. */
START_TEST(a_commit_of_unknown_end_is_found_out)
{
	struct log log;

	begin(&log);
	add_now(&log, "a");
	bad_disk.syncs = -1;
	add_now(&log, "b");
	add_now(&log, "c");
	ck_assert_int_eq(log.done, 1);
	ck_assert_int_eq(log.refused, 0);
	bad_disk.unread = 1;
	ck_assert_int_eq(bu_store_mend(log.store, NULL), -1);
	ck_assert_int_eq(bu_store_read(log.store, 0, 0, on_row, &log, NULL), -1);
	bad_disk.unread = 0;
	ck_assert_int_eq(bu_store_mend(log.store, NULL), -1);
	ck_assert_int_eq(log.done + log.refused, 1);
	bad_disk.syncs = 0;
	ck_assert_int_eq(resume(&log, "r"), 0);
	ck_assert_int_eq(log.done, 2);
	ck_assert_int_eq(log.refused, 1); /* what came after it */
	is_safe(&log, "abr");
	finish(&log);
}
END_TEST

START_TEST(a_blob_that_cannot_be_kept_takes_the_store_down)
{
	struct log log;
	struct bu_err err = {0};
	char digest[65] = "";
	const char *texts[] = {"{}", "[]"};

	begin(&log);
	bad_disk.full = 1;
	ck_assert_int_eq(bu_store_put_blob(log.store, "{\"a\":1}", digest, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_str_eq(digest, "");
	ck_assert_int_eq(log.downs, 1);
	bad_disk.full = 0;
	bad_disk.writes = 0;
	ck_assert_int_eq(bu_store_put_blobs(log.store, texts, 2, &err), -1);
	ck_assert_int_eq(bad_disk.writes, 0);
	ck_assert_int_eq(resume(&log, "r"), 0);
	ck_assert_int_eq(bu_store_put_blob(log.store, "{\"a\":1}", digest, &err), 0);
	finish(&log);
}
END_TEST

/* Each row: a disk on which nothing can be written. */
START_TEST(a_log_is_read_on_a_disk_that_takes_nothing)
{
	static const struct bad_disk rows[] = {
		{.full = 1}, {.read_only = 1, .syncs = -1}, {.syncs = -1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct log log;

		begin(&log);
		add_now(&log, "a");
		bad_disk = rows[i];
		reopen(&log);
		ck_assert_str_eq(nodes_in(&log), "a");
		add_now(&log, "b");
		ck_assert_ptr_nonnull(bu_store_down(log.store));
		ck_assert_int_eq(log.done, 1);
		bad_disk_install();
		ck_assert_int_eq(resume(&log, "r"), 0);
		ck_assert_int_eq(log.done + log.refused, 2);
		is_safe(&log, log.refused ? "ar" : "abr");
		finish(&log);
	}
}
END_TEST

START_TEST(a_close_decides_what_was_not_known)
{
	struct log log;

	begin(&log);
	bad_disk.syncs = -1;
	add_now(&log, "a");
	ck_assert_int_eq(log.done + log.refused, 0);
	bu_store_destroy(bu_steal(&log.store));
	ck_assert_int_eq(log.refused, 1);
	bad_disk.syncs = 0;
	reopen(&log);
	ck_assert(is_whole(&log));
	finish(&log);
}
END_TEST

/* Whoever appended last hears it, too: nobody is left with a batch that never ends. */
START_TEST(a_close_on_a_disk_that_fails_answers_the_last_batch)
{
	struct log log;

	begin(&log);
	bad_disk.syncs = -1;
	add(&log, "a");
	bu_store_destroy(bu_steal(&log.store));
	ck_assert_int_eq(log.done, 0);
	ck_assert_int_eq(log.refused, 1);
	bad_disk.syncs = 0;
	reopen(&log);
	finish(&log);
}
END_TEST

START_TEST(how_long_a_process_lived_is_of_its_own_row)
{
	struct log log;

	begin(&log);
	ck_assert_int_eq(bu_store_kept_lead(log.store, 1), -1);
	bu_store_keep_lead(log.store, 7, 123456);
	bu_store_keep_lead(log.store, 7, 9);
	reopen(&log);
	ck_assert_int_eq(bu_store_kept_lead(log.store, 7), 9);
	ck_assert_int_eq(bu_store_kept_lead(log.store, 8), -1);
	finish(&log);
}
END_TEST

/* A file system of its own; 0 when there can be none. */
static int
mount_small(const char *dir)
{
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("tmpfs", dir, "tmpfs", 0, "size=512k") == 0;
}

static void
fill(const char *path)
{
	char block[4096] = "x";
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

START_TEST(a_real_disk_becomes_full_and_has_room_again)
{
	struct log log;
	bu_autofree char *ballast = NULL;
	char dir[] = "/tmp/bringup-small-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	if (!mount_small(dir)) {
		printf("skipped: no file system can be mounted here\n");
		rmdir(dir);
		return;
	}
	begin(&log);
	bu_store_destroy(bu_steal(&log.store));
	snprintf(log.path, sizeof(log.path), "%s/log.db", dir);
	reopen(&log);
	add_now(&log, "a");
	ballast = bu_xasprintf("%s/ballast", dir);
	fill(ballast);
	for (int i = 0; i < 500 && !log.refused; i++)
		add_now(&log, "");
	ck_assert_ptr_nonnull(bu_store_down(log.store));
	ck_assert_str_eq(nodes_in(&log), "a");
	ck_assert_int_eq(resume(&log, "r"), -1);
	/* a start finds it as full as it was */
	reopen(&log);
	ck_assert_str_eq(nodes_in(&log), "a");
	log.refused = 0;
	for (int i = 0; i < 500 && !log.refused; i++)
		add_now(&log, "");
	ck_assert_ptr_nonnull(bu_store_down(log.store));
	unlink(ballast);
	ck_assert_int_eq(resume(&log, "r"), 0);
	is_safe(&log, "ar");
	bu_store_destroy(bu_steal(&log.store));
	umount2(dir, MNT_DETACH);
	rmdir(dir);
	finish(&log);
}
END_TEST

BU_UNIT("baddisk", what_a_full_disk_refuses_is_not_in_the_log,
	a_commit_that_was_not_synced_is_not_taken_for_done,
	batches_of_one_turn_are_synced_once, a_commit_of_unknown_end_is_found_out,
	a_blob_that_cannot_be_kept_takes_the_store_down,
	a_log_is_read_on_a_disk_that_takes_nothing, a_close_decides_what_was_not_known,
	a_close_on_a_disk_that_fails_answers_the_last_batch,
	how_long_a_process_lived_is_of_its_own_row,
	a_real_disk_becomes_full_and_has_room_again)
