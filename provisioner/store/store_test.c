/* SPDX-License-Identifier: Apache-2.0 */
/* The log over a real SQLite file. */
#include "provisioner/store/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

struct log {
	char dir[64];
	char path[80];
	struct bu_loop *loop;
	struct bu_store *store;
	int done;
	int refused;
	char seen[256];
};

static void
reopen(struct log *log)
{
	bu_store_destroy(log->store);
	log->store = bu_store_open_sqlite(log->loop, log->path, NULL);
	ck_assert_ptr_nonnull(log->store);
}

static void
begin(struct log *log)
{
	memset(log, 0, sizeof(*log));
	strcpy(log->dir, "/tmp/bringup-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(log->dir));
	snprintf(log->path, sizeof(log->path), "%s/log.db", log->dir);
	log->loop = bu_loop_create(NULL);
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
		ck_assert_int_eq(decided->err->kind, BU_ERR_DENIED);
		log->refused++;
		return;
	}
	ck_assert_int_gt(decided->seq, 0);
	ck_assert_int_gt(decided->time_ms, 0);
	log->done++;
}

static void
add(struct log *log, enum bu_event_kind kind, const char *node, json_t *body,
    int64_t fence)
{
	struct bu_event event;

	bu_event_init(&event, kind, node, body);
	bu_store_append(log->store, &event, 1, fence, on_done, log);
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

START_TEST(what_was_appended_is_read_in_order_after_a_restart)
{
	struct log log;

	begin(&log);
	add(&log, BU_EVENT_HELD, "a", json_pack("{s:s}", "owner", "x"), 0);
	add(&log, BU_EVENT_HELD, "b", json_object(), 0);
	ck_assert_int_eq(log.done, 0);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(log.done, 2);
	add(&log, BU_EVENT_HELD, "c", json_object(), 0);
	reopen(&log); /* closing commits what is queued */
	ck_assert_int_eq(log.done, 3);
	ck_assert_str_eq(nodes_in(&log), "abc");
	finish(&log);
}
END_TEST

START_TEST(a_lower_epoch_writes_nothing)
{
	struct log log;

	begin(&log);
	add(&log, BU_EVENT_EPOCH, "", json_pack("{s:i}", "epoch", 7), 0);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(bu_store_epoch(log.store), 7);
	add(&log, BU_EVENT_HELD, "old", json_object(), 6);
	add(&log, BU_EVENT_HELD, "new", json_object(), 7);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(log.refused, 1);
	ck_assert_str_eq(nodes_in(&log), "new");
	finish(&log);
}
END_TEST

START_TEST(reading_old_rows_lowers_no_epoch)
{
	struct log log;

	begin(&log);
	add(&log, BU_EVENT_EPOCH, "", json_pack("{s:i}", "epoch", 5), 0);
	add(&log, BU_EVENT_EPOCH, "", json_pack("{s:i}", "epoch", 7), 5);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(bu_store_read(log.store, 0, 1, on_row, &log, NULL), 0);
	ck_assert_int_eq(bu_store_epoch(log.store), 7);
	add(&log, BU_EVENT_HELD, "old", json_object(), 5);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(log.refused, 1);
	finish(&log);
}
END_TEST

START_TEST(a_changed_row_breaks_the_chain)
{
	struct bu_chain at = {0};
	struct log log;
	struct bu_err err = {0};
	sqlite3 *db;

	begin(&log);
	for (int i = 0; i < 5; i++)
		add(&log, BU_EVENT_HELD, "n", json_pack("{s:i}", "i", i), 0);
	bu_loop_step(log.loop, 20);
	/* a part at a time, as far as there are rows */
	for (int64_t to = 2; to <= 6; to += 2) {
		ck_assert_int_eq(bu_store_verify(log.store, &at, 2, NULL), 0);
		ck_assert_int_eq(at.seq, to < 5 ? to : 5);
	}
	ck_assert_int_eq(sqlite3_open(log.path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db,
				      "UPDATE journal SET body='{\"i\":9}' WHERE seq=3",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	at = (struct bu_chain){0};
	ck_assert_int_eq(bu_store_verify(log.store, &at, 0, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_str_eq(err.text, "log row 3 is missing or was changed");
	ck_assert_int_eq(at.seq, 2);
	finish(&log);
}
END_TEST

static int
on_time(const struct bu_event *event, void *arg)
{
	*(int64_t *)arg = event->time_ms;
	return 0;
}

/* When it was written, not when somebody began to think of it. */
START_TEST(a_row_has_the_time_of_its_commit)
{
	struct log log;
	int64_t began_ms, at_ms = 0;

	begin(&log);
	add(&log, BU_EVENT_HELD, "n", json_object(), 0);
	began_ms = bu_wall_ms(bu_clock_system());
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(bu_store_read(log.store, 0, 0, on_time, &at_ms, NULL), 0);
	ck_assert_int_ge(at_ms, began_ms);
	ck_assert_int_le(at_ms, bu_wall_ms(bu_clock_system()));
	finish(&log);
}
END_TEST

/* Somebody took its table away: it is said in SQLite's words. */
START_TEST(a_log_that_cannot_be_read_says_why)
{
	struct log log;
	struct bu_err err = {0};
	sqlite3 *db;

	begin(&log);
	add(&log, BU_EVENT_HELD, "n", json_object(), 0);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(bu_store_read(log.store, 0, 0, on_row, &log, &err), 0);
	ck_assert_str_eq(err.text, "");
	ck_assert_int_eq(sqlite3_open(log.path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "ALTER TABLE journal RENAME TO gone", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	ck_assert_int_eq(bu_store_read(log.store, 0, 0, on_row, &log, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_str_eq(err.text, "read the log: no such table: journal");
	finish(&log);
}
END_TEST

START_TEST(blobs_are_named_by_what_is_in_them)
{
	struct log log;
	char digest[65];
	bu_autofree char *text = NULL;
	struct bu_err err = {0};

	begin(&log);
	ck_assert_int_eq(bu_store_put_blob(log.store, "{\"a\":1}", digest, NULL), 0);
	ck_assert_int_eq(bu_store_put_blob(log.store, "{\"a\":1}", digest, NULL), 0);
	text = bu_store_get_blob(log.store, digest, NULL);
	ck_assert_str_eq(text, "{\"a\":1}");
	digest[0] ^= 1;
	ck_assert_ptr_null(bu_store_get_blob(log.store, digest, &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	finish(&log);
}
END_TEST

START_TEST(many_blobs_are_kept_at_once)
{
	static const char *const texts[] = {"[1]", "[2]", "[3]"};
	struct log log;

	begin(&log);
	ck_assert_int_eq(bu_store_put_blobs(log.store, texts, BU_LEN(texts), NULL), 0);
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		char digest[BU_DIGEST_SIZE];
		bu_autofree char *text = NULL;

		bu_sha256_hex(texts[i], strlen(texts[i]), digest);
		text = bu_store_get_blob(log.store, digest, NULL);
		ck_assert_pstr_eq(text, texts[i]);
	}
	finish(&log);
}
END_TEST

START_TEST(the_tail_is_the_last_rows_oldest_first)
{
	struct log log;
	char name[2] = "a";

	begin(&log);
	for (; name[0] < 'g'; name[0]++)
		add(&log, BU_EVENT_HELD, name, json_object(), 0);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(bu_store_read_tail(log.store, 2, on_row, &log, NULL), 0);
	ck_assert_str_eq(log.seen, "ef");
	finish(&log);
}
END_TEST

START_TEST(one_process_has_the_log)
{
	struct log log;
	struct bu_err err = {0};

	begin(&log);
	ck_assert_ptr_null(bu_store_open_sqlite(log.loop, log.path, &err));
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "another bringupd has the log '/tmp/"));
	add(&log, BU_EVENT_HELD, "n", json_object(), 0);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(log.done, 1);
	reopen(&log);
	finish(&log);
}
END_TEST

/* Who asks without an end puts off nobody's commit. */
START_TEST(a_batch_waits_for_no_later_one)
{
	struct log log;
	struct bu_clock clock;

	begin(&log);
	bu_store_destroy(bu_steal(&log.store));
	bu_loop_destroy(log.loop);
	bu_clock_fake(&clock, 0);
	log.loop = bu_loop_create(&clock);
	reopen(&log);
	for (int i = 0; i < 2; i++) {
		add(&log, BU_EVENT_HELD, "n", json_object(), 0);
		bu_clock_advance(&clock, 1);
	}
	add(&log, BU_EVENT_HELD, "n", json_object(), 0);
	ck_assert_int_eq(bu_store_committed(log.store), 0);
	bu_loop_step(log.loop, 0);
	ck_assert_int_eq(bu_store_appended(log.store), 3);
	ck_assert_int_eq(bu_store_committed(log.store), 3);
	finish(&log);
}
END_TEST

/* What followers take; fails_at: a node's name, 0 = none. */
struct taken {
	struct log *log;
	char names[64];
	int done_before[64]; /* answers that were given before the row */
	char fails_at;
};

static int
take(const struct bu_event *event, void *arg, struct bu_err *err)
{
	struct taken *taken = arg;
	size_t at = strlen(taken->names);

	if (event->node[0] == taken->fails_at)
		return bu_err_set(err, BU_ERR_IO, 0, "a blob cannot be read");
	taken->done_before[at] = taken->log->done;
	taken->names[at] = event->node[0];
	return 0;
}

START_TEST(followers_have_each_row_once_and_before_its_answer)
{
	struct log log;
	struct taken first = {.log = &log}, second = {.log = &log};
	struct bu_follower *one, *two;

	begin(&log);
	add(&log, BU_EVENT_HELD, "a", json_object(), 0);
	bu_loop_step(log.loop, 20);
	one = bu_store_follow(log.store, take, &first, NULL);
	ck_assert_str_eq(first.names, "a");
	add(&log, BU_EVENT_HELD, "b", json_object(), 0);
	add(&log, BU_EVENT_HELD, "c", json_object(), 0);
	ck_assert_str_eq(first.names, "a");
	bu_loop_step(log.loop, 20);
	two = bu_store_follow(log.store, take, &second, NULL);
	add(&log, BU_EVENT_HELD, "d", json_object(), 0);
	bu_loop_step(log.loop, 20);
	ck_assert_str_eq(first.names, "abcd");
	ck_assert_str_eq(second.names, "abcd");
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(first.done_before[i], i);
	bu_store_unfollow(one);
	add(&log, BU_EVENT_HELD, "e", json_object(), 0);
	bu_store_destroy(bu_steal(&log.store));
	ck_assert_str_eq(first.names, "abcd");
	ck_assert_str_eq(second.names, "abcde");
	bu_store_unfollow(two); /* also when the store is gone */
	reopen(&log);
	finish(&log);
}
END_TEST

START_TEST(a_row_that_could_not_be_taken_comes_again)
{
	struct log log;
	struct taken whole = {.log = &log}, stuck = {.log = &log, .fails_at = 'b'};
	struct bu_follower *one, *two;
	struct bu_event event;

	begin(&log);
	one = bu_store_follow(log.store, take, &whole, NULL);
	two = bu_store_follow(log.store, take, &stuck, NULL);
	add(&log, BU_EVENT_HELD, "a", json_object(), 0);
	add(&log, BU_EVENT_HELD, "b", json_object(), 0);
	add(&log, BU_EVENT_HELD, "c", json_object(), 0);
	bu_loop_step(log.loop, 20);
	ck_assert_int_eq(log.done, 3); /* all are in the log */
	ck_assert_str_eq(whole.names, "abc");
	ck_assert_str_eq(stuck.names, "a");
	ck_assert_ptr_nonnull(bu_store_down(log.store));
	ck_assert_int_eq(bu_store_mend(log.store, NULL), -1);
	ck_assert_ptr_null(bu_store_follow(log.store, take, &stuck, NULL));
	stuck.fails_at = 0;
	ck_assert_int_eq(bu_store_mend(log.store, NULL), 0);
	ck_assert_str_eq(stuck.names, "aabc"); /* the second "a" is of the try above */
	bu_event_init(&event, BU_EVENT_RELEASED, "d", json_object());
	ck_assert_int_eq(bu_store_resume(log.store, &event, 1, NULL), 0);
	bu_event_fini(&event);
	ck_assert_str_eq(whole.names, "abcd");
	ck_assert_str_eq(stuck.names, "aabcd");
	bu_store_unfollow(one);
	bu_store_unfollow(two);
	finish(&log);
}
END_TEST

/* Both are in the log or neither is, and the row has the text's digest. */
START_TEST(a_text_goes_into_the_log_with_its_row)
{
	bu_autofree char *text = NULL;
	char digests[2][BU_DIGEST_SIZE];
	struct log log;

	begin(&log);
	add(&log, BU_EVENT_EPOCH, "", json_pack("{s:i}", "epoch", 5), 5);
	bu_loop_step(log.loop, 20);
	for (int i = 0; i < 2; i++) {
		struct bu_event event;

		bu_event_init(&event, BU_EVENT_CERTIFICATE, "a", json_object());
		bu_event_attach(&event, "digest", bu_xstrdup(i ? "late" : "proof"));
		strcpy(digests[i], event.blob.digest);
		ck_assert_str_eq(bu_json_str(event.body, "digest", ""), digests[i]);
		bu_store_append(log.store, &event, 1, 5 - i, on_done, &log);
	}
	ck_assert_ptr_null(bu_store_get_blob(log.store, digests[0], NULL));
	ck_assert_int_ge(bu_store_bytes(log.store), 9);
	reopen(&log);
	ck_assert_int_eq(log.refused, 1);
	text = bu_store_get_blob(log.store, digests[0], NULL);
	ck_assert_str_eq(text, "proof");
	ck_assert_ptr_null(bu_store_get_blob(log.store, digests[1], NULL));
	finish(&log);
}
END_TEST

BU_UNIT("store", followers_have_each_row_once_and_before_its_answer,
	a_row_that_could_not_be_taken_comes_again, many_blobs_are_kept_at_once,
	a_row_has_the_time_of_its_commit, one_process_has_the_log,
	a_batch_waits_for_no_later_one,
	what_was_appended_is_read_in_order_after_a_restart,
	a_lower_epoch_writes_nothing, reading_old_rows_lowers_no_epoch,
	a_changed_row_breaks_the_chain, a_log_that_cannot_be_read_says_why,
	blobs_are_named_by_what_is_in_them, a_text_goes_into_the_log_with_its_row,
	the_tail_is_the_last_rows_oldest_first)
