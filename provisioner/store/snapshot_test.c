/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a log that is written meanwhile, and what its blobs are named by. */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "model/event_body.h"
#include "provisioner/store/store.h"
#include "tests/support/unit.h"

struct log {
	char dir[64], path[80], copy[80];
	struct bu_loop *loop;
	struct bu_store *store;
};

static void
begin(struct log *log)
{
	strcpy(log->dir, "/tmp/bringup-snapshot-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(log->dir));
	snprintf(log->path, sizeof(log->path), "%s/log.db", log->dir);
	snprintf(log->copy, sizeof(log->copy), "%s/copy.db", log->dir);
	log->loop = bu_loop_create(NULL);
	log->store = bu_store_open_sqlite(log->loop, log->path, NULL);
	ck_assert_ptr_nonnull(log->store);
}

static void
finish(struct log *log)
{
	bu_store_destroy(log->store);
	bu_loop_destroy(log->loop);
	ck_assert_int_eq(bu_remove_tree(log->dir, NULL), 0);
}

static void
add(struct log *log, int rows)
{
	for (int i = 0; i < rows; i++) {
		struct bu_event event;

		BU_EVENT_MAKE(&event, BU_EVENT_AGAIN, "node001", again, .by = "me");
		bu_store_append(log->store, &event, 1, 0, NULL, NULL);
	}
	while (bu_store_committed(log->store) < bu_store_appended(log->store))
		bu_loop_step(log->loop, 5);
}

/* In a process of its own, as SQLite wants it; 0 when it was made. */
static int
snapshot(const struct log *log)
{
	pid_t pid = fork();
	int status = 0;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(bu_store_snapshot(log->path, log->copy, NULL) == 0 ? 0 : 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
ends_at(const struct log *log, int64_t seq, const char *hash)
{
	struct bu_store *store = bu_store_open_sqlite(log->loop, log->copy, NULL);
	struct bu_chain at = {0}, end;

	ck_assert_ptr_nonnull(store);
	ck_assert_int_eq(bu_store_verify(store, &at, 0, NULL), 0);
	ck_assert_int_eq(at.seq, seq);
	ck_assert_str_eq(at.hash, hash);
	bu_store_end(store, &end);
	ck_assert_int_eq(end.seq, seq);
	ck_assert_str_eq(end.hash, hash);
	bu_store_destroy(store);
}

/* What a plain copy of the file lacks: all of it is in the WAL. */
START_TEST(has_what_is_in_the_wal)
{
	struct bu_chain end;
	struct log log;

	begin(&log);
	bu_store_end(log.store, &end);
	ck_assert_int_eq(end.seq, 0);
	add(&log, 7);
	bu_store_end(log.store, &end);
	ck_assert_int_eq(end.seq, 7);
	ck_assert_int_eq(snapshot(&log), 0);
	add(&log, 1);
	ends_at(&log, 7, end.hash);
	finish(&log);
}
END_TEST

START_TEST(writes_over_nothing)
{
	struct log log;

	begin(&log);
	add(&log, 1);
	ck_assert_int_eq(bu_file_write(log.copy, "mine", 4, 0600, NULL), 0);
	ck_assert_int_ne(snapshot(&log), 0);
	strcpy(log.path, "/tmp/bringup-there-is-none.db");
	unlink(log.copy);
	ck_assert_int_ne(snapshot(&log), 0);
	ck_assert_int_eq(bu_file_exists(log.path), 0);
	finish(&log);
}
END_TEST

/* Another process appends without a pause while copies are made. */
static void
write_on(struct log *log)
{
	log->loop = bu_loop_create(NULL);
	log->store = bu_store_open_sqlite(log->loop, log->path, NULL);
	while (log->store)
		add(log, 3);
	_exit(1);
}

START_TEST(each_copy_is_one_moment)
{
	struct log log;
	pid_t writer;

	begin(&log);
	add(&log, 1);
	bu_store_destroy(bu_steal(&log.store));
	writer = fork();
	if (writer == 0)
		write_on(&log);
	for (int i = 0; i < 5; i++) {
		struct bu_chain at = {0};
		struct bu_store *store;

		usleep(20 * 1000);
		ck_assert_int_eq(snapshot(&log), 0);
		store = bu_store_open_sqlite(log.loop, log.copy, NULL);
		ck_assert_ptr_nonnull(store);
		ck_assert_int_eq(bu_store_verify(store, &at, 0, NULL), 0);
		ck_assert_int_ge(at.seq, 1);
		bu_store_destroy(store);
		unlink(log.copy);
	}
	kill(writer, SIGKILL);
	waitpid(writer, NULL, 0);
	finish(&log);
}
END_TEST

static void
sql(const struct log *log, const char *text)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(log->path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void
reopen_after(struct log *log, const char *text)
{
	bu_store_destroy(bu_steal(&log->store));
	sql(log, text);
	log->store = bu_store_open_sqlite(log->loop, log->path, NULL);
}

START_TEST(a_changed_or_missing_blob_is_found)
{
	struct bu_event event;
	struct bu_err err = {0};
	char digest[65], text[120];
	int64_t after = 0;
	struct log log;

	begin(&log);
	ck_assert_int_eq(bu_store_put_blob(log.store, "evidence", digest, NULL), 0);
	BU_EVENT_MAKE(&event, BU_EVENT_EVIDENCE, "node001", evidence, .digest = digest,
		      .hint = "");
	bu_store_append(log.store, &event, 1, 0, NULL, NULL);
	add(&log, 3);
	ck_assert_int_eq(bu_store_verify_blobs(log.store, &after, 2, 0, NULL), 0);
	ck_assert_int_eq(after, 2);
	ck_assert_int_eq(bu_store_verify_blobs(log.store, &after, 0, 0, NULL), 0);
	ck_assert_int_eq(after, 4);
	/* The bytes of the first one are enough for this call. */
	after = 0;
	ck_assert_int_eq(bu_store_verify_blobs(log.store, &after, 0, 1, NULL), 0);
	ck_assert_int_eq(after, 1);
	reopen_after(&log, "UPDATE blob SET text='other'");
	after = 0;
	ck_assert_int_eq(bu_store_verify_blobs(log.store, &after, 0, 0, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	snprintf(text, sizeof(text), "log row 1 (evidence): blob %s", digest);
	ck_assert_msg(strstr(err.text, text) == err.text, "%s", err.text);
	reopen_after(&log, "DELETE FROM blob");
	ck_assert_int_eq(bu_store_verify_blobs(log.store, &after, 0, 0, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	finish(&log);
}
END_TEST

BU_UNIT("snapshot", has_what_is_in_the_wal, writes_over_nothing,
	each_copy_is_one_moment, a_changed_or_missing_blob_is_found)
