/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every driver of the log keeps, over SQLite and over one that decides turns
 * later. A log's trace has a small letter for each row that a follower took, the same
 * letter in upper case when the batch that begins with it is in the log, and (A) when
 * it is not.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/store/store.h"
#include "tests/support/baddisk.h"
#include "tests/support/slow_log.h"
#include "tests/support/unit.h"

enum { TURNS = 3, DOUBT_TURNS = 2 };

struct bench {
	const struct world *world;
	char dir[64], path[80];
	struct bu_loop *loop;
	struct slow_log *slow;
	struct bu_store *store;
	struct bu_follower *follower;
	char trace[128];
	struct bu_err refusal; /* the last one */
	int downs;
};

struct world {
	const char *name;
	struct bu_store *(*open)(struct bench *bench, struct bu_err *err);
	/* The next commit has an unknown end, and is in the log or not, until heal().
	 */
	void (*doubt)(struct bench *bench, int is_in);
	void (*heal)(struct bench *bench);
	/* Appends "ab" as one batch and ends the process so many turns later. Returns
	 * whether it was told that they are in the log. */
	int (*crash)(struct bench *bench, int turns);
	/* A row of another appliance; NULL = there is no other one. */
	void (*write_other)(struct bench *bench, const char *node);
};

/* --- what is traced --- */

static int
on_row(const struct bu_event *event, void *arg, struct bu_err *err)
{
	struct bench *bench = arg;

	ck_assert_int_gt(event->time_ms, 0);
	strcat(bench->trace, event->node);
	return 0;
}

struct asked {
	struct bench *bench;
	char letter;
};

static void
on_decided(const struct bu_decided *decided, void *arg)
{
	struct asked *asked = arg;
	char *end = strchr(asked->bench->trace, '\0');

	if (decided->err) {
		ck_assert_int_eq(decided->seq, 0);
		asked->bench->refusal = *decided->err;
	} else {
		ck_assert(decided->seq > 0 && decided->time_ms > 0);
	}
	sprintf(end, decided->err ? "(%c)" : "%c", asked->letter);
	free(asked);
}

static void
on_down(void *arg)
{
	((struct bench *)arg)->downs++;
}

static size_t
make_rows(const char *nodes, struct bu_event *ret)
{
	size_t count = strlen(nodes);

	for (size_t i = 0; i < count; i++) {
		const char name[] = {nodes[i], '\0'};

		bu_event_init(&ret[i], BU_EVENT_HELD, name, json_object());
	}
	return count;
}

static struct asked *
ask(struct bench *bench, char letter)
{
	struct asked *asked = bu_xcalloc(1, sizeof(*asked));

	*asked = (struct asked){bench, (char)toupper(letter)};
	return asked;
}

/* A batch with a row for each letter. */
static void
add(struct bench *bench, const char *nodes, int64_t fence)
{
	struct bu_event events[8];
	size_t count = make_rows(nodes, events);

	bu_store_append(bench->store, events, count, fence, on_decided,
			ask(bench, nodes[0]));
}

static void
add_epoch(struct bench *bench, int64_t epoch)
{
	struct bu_event event;

	bu_event_init(&event, BU_EVENT_EPOCH, "",
		      json_pack("{s:I}", "epoch", (json_int_t)epoch));
	bu_store_append(bench->store, &event, 1, 0, NULL, NULL);
}

static void
step(struct bench *bench, int turns)
{
	for (int i = 0; i < turns; i++)
		bu_loop_step(bench->loop, 5);
}

/* Until all that was appended is decided, and the rows of others are there. */
static void
run(struct bench *bench)
{
	for (int i = 0; i < 100 && bu_store_committed(bench->store) <
					   bu_store_appended(bench->store);
	     i++)
		step(bench, 1);
	step(bench, 2);
}

static void
is_trace(const struct bench *bench, const char *want)
{
	ck_assert_msg(strcmp(bench->trace, want) == 0, "%s: %s, not %s",
		      bench->world->name, bench->trace, want);
}

static int
on_read(const struct bu_event *event, void *arg)
{
	strcat(arg, event->node);
	return 0;
}

static void
is_log(struct bench *bench, const char *want)
{
	struct bu_chain at = {0};
	char seen[128] = "";

	ck_assert_int_eq(bu_store_read(bench->store, 0, 0, on_read, seen, NULL), 0);
	ck_assert_msg(strcmp(seen, want) == 0, "%s: %s, not %s", bench->world->name,
		      seen, want);
	ck_assert_int_eq(bu_store_verify(bench->store, &at, 0, NULL), 0);
}

/* --- the worlds --- */

static void
open_log(struct bench *bench)
{
	struct bu_err err = {0};

	bench->store = bench->world->open(bench, &err);
	ck_assert_msg(bench->store != NULL, "%s", err.text);
	bu_store_on_down(bench->store, on_down, bench);
}

static void
follow(struct bench *bench)
{
	bench->follower = bu_store_follow(bench->store, on_row, bench, NULL);
	ck_assert_ptr_nonnull(bench->follower);
}

static void
shut(struct bench *bench)
{
	bu_store_destroy(bu_steal(&bench->store));
	bu_store_unfollow(bu_steal(&bench->follower));
}

static struct bu_store *
open_sqlite(struct bench *bench, struct bu_err *err)
{
	return bu_store_open_sqlite(bench->loop, bench->path, err);
}

static struct bu_store *
open_slow(struct bench *bench, struct bu_err *err)
{
	return slow_log_open(bench->slow);
}

/* One sync that fails: the log that is opened anew has no row. All: it has. */
static void
doubt_sqlite(struct bench *bench, int is_in)
{
	bad_disk.syncs = is_in ? -1 : 1;
}

static void
heal_sqlite(struct bench *bench)
{
	bad_disk.syncs = 0;
}

static void
doubt_slow(struct bench *bench, int is_in)
{
	slow_log_fates(bench->slow, is_in ? "i" : "o");
}

static void
heal_slow(struct bench *bench)
{
	slow_log_doubt(bench->slow, DOUBT_TURNS);
	step(bench, DOUBT_TURNS + 1);
}

static int
crash_slow(struct bench *bench, int turns)
{
	int told;

	open_log(bench);
	add(bench, "ab", 0);
	step(bench, turns);
	told = strcmp(bench->trace, "A") == 0;
	slow_log_crash(bench->slow);
	shut(bench);
	bench->trace[0] = '\0';
	return told;
}

static int
crash_sqlite(struct bench *bench, int turns)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		open_log(bench);
		add(bench, "ab", 0);
		step(bench, turns);
		_exit(strcmp(bench->trace, "A") == 0);
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
	return WEXITSTATUS(status);
}

static void
write_slow(struct bench *bench, const char *node)
{
	slow_log_write(bench->slow, node);
}

static const struct world worlds[] = {
	{"sqlite", open_sqlite, doubt_sqlite, heal_sqlite, crash_sqlite, NULL},
	{"slow", open_slow, doubt_slow, heal_slow, crash_slow, write_slow},
};

static void
begin_closed(struct bench *bench, const struct world *world)
{
	memset(bench, 0, sizeof(*bench));
	bench->world = world;
	strcpy(bench->dir, "/tmp/bringup-store-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(bench->dir));
	snprintf(bench->path, sizeof(bench->path), "%s/log.db", bench->dir);
	bench->loop = bu_loop_create(NULL);
	bench->slow = slow_log_create(bench->loop, TURNS);
	bad_disk_install();
}

static void
begin(struct bench *bench, const struct world *world)
{
	begin_closed(bench, world);
	open_log(bench);
	follow(bench);
}

static void
end(struct bench *bench)
{
	shut(bench);
	slow_log_destroy(bench->slow);
	bu_loop_destroy(bench->loop);
	ck_assert_int_eq(bu_remove_tree(bench->dir, NULL), 0);
}

#define FOR_EACH(world)                                                                \
	for (const struct world *world = worlds; world < worlds + BU_LEN(worlds);      \
	     world++)

/* --- what they keep --- */

START_TEST(rows_come_once_in_order_and_before_their_answer)
{
	FOR_EACH(world)
	{
		struct bench bench;
		struct bu_chain row;

		begin(&bench, world);
		add(&bench, "a", 0);
		is_trace(&bench, "");
		step(&bench, 1);
		add(&bench, "bc", 0);
		add(&bench, "d", 0);
		run(&bench);
		is_trace(&bench, "aAbcBdD");
		add(&bench, "e", 0);
		run(&bench);
		is_trace(&bench, "aAbcBdDeE");
		is_log(&bench, "abcde");
		bu_store_end(bench.store, &row);
		ck_assert_int_eq(bu_store_has(bench.store, &row, NULL), 1);
		row.seq--;
		ck_assert_int_eq(bu_store_has(bench.store, &row, NULL), 0);
		ck_assert_int_eq(bench.downs, 0);
		end(&bench);
	}
}
END_TEST

/* Also by a process that reads the epoch at its start. */
START_TEST(a_lower_fence_is_refused)
{
	FOR_EACH(world)
	{
		struct bench bench;

		begin(&bench, world);
		ck_assert_int_eq(bu_store_lead(bench.store).epoch, 0);
		add_epoch(&bench, 7);
		run(&bench);
		ck_assert_int_eq(bu_store_lead(bench.store).epoch, 7);
		add(&bench, "a", 7);
		add(&bench, "b", 6);
		add(&bench, "c", 8);
		run(&bench);
		is_trace(&bench, "aA(B)cC");
		ck_assert_int_eq(bench.refusal.kind, BU_ERR_DENIED);
		is_log(&bench, "ac");
		ck_assert_int_eq(bench.downs, 0);
		shut(&bench);
		bench.trace[0] = '\0';
		open_log(&bench);
		follow(&bench);
		ck_assert_int_eq(bu_store_lead(bench.store).epoch, 7);
		add(&bench, "d", 6);
		add(&bench, "e", 7);
		run(&bench);
		is_trace(&bench, "ac(D)eE");
		is_log(&bench, "ace");
		end(&bench);
	}
}
END_TEST

START_TEST(a_crash_leaves_a_batch_whole_or_not_at_all)
{
	FOR_EACH(world)
	for (int turns = 0; turns <= TURNS + 2; turns++) {
		struct bench bench;
		int told;

		begin_closed(&bench, world);
		told = world->crash(&bench, turns);
		ck_assert(turns > 0 || !told);
		ck_assert(turns <= TURNS + 1 || told);
		open_log(&bench);
		follow(&bench);
		if (told || bench.trace[0])
			is_trace(&bench, "ab");
		add(&bench, "c", 0);
		run(&bench);
		ck_assert_ptr_nonnull(strstr(bench.trace, "cC"));
		end(&bench);
	}
}
END_TEST

/* The log has it, and the process ended before it heard so. */
START_TEST(what_nobody_was_told_of_is_read_at_the_start)
{
	struct bench bench;

	begin_closed(&bench, &worlds[1]);
	slow_log_fates(bench.slow, "i");
	ck_assert_int_eq(crash_slow(&bench, TURNS + 2), 0);
	open_log(&bench);
	follow(&bench);
	is_trace(&bench, "ab");
	end(&bench);
}
END_TEST

static void
resume(struct bench *bench, const char *node)
{
	struct bu_event event;
	struct bu_err err = {0};

	for (int i = 0; i < 20 && bu_store_mend(bench->store, &err) != 0; i++)
		step(bench, 1);
	make_rows(node, &event);
	bu_store_resume(bench->store, &event, 1, 0, on_decided, ask(bench, node[0]));
	step(bench, TURNS + 2);
}

/* Nobody is told what is not known, and nothing overtakes it. */
START_TEST(an_unknown_end_is_found_out)
{
	FOR_EACH(world)
	for (int is_in = 0; is_in <= 1; is_in++) {
		struct bench bench;

		begin(&bench, world);
		add(&bench, "a", 0);
		run(&bench);
		world->doubt(&bench, is_in);
		add(&bench, "b", 0);
		step(&bench, TURNS + 2);
		ck_assert_int_eq(bench.downs, 1);
		ck_assert_ptr_nonnull(bu_store_down(bench.store));
		if (is_in) {
			is_trace(&bench, "aA");
			ck_assert_int_eq(bu_store_mend(bench.store, NULL), -1);
		}
		add(&bench, "c", 0);
		step(&bench, 2);
		world->heal(&bench);
		resume(&bench, "r");
		is_trace(&bench, is_in ? "aAbB(C)rR" : "aA(B)(C)rR");
		ck_assert_ptr_null(bu_store_down(bench.store));
		add(&bench, "d", 0);
		run(&bench);
		is_log(&bench, is_in ? "abrd" : "ard");
		ck_assert_int_eq(bench.downs, 1);
		end(&bench);
	}
}
END_TEST

/* The batch that ends an outage may itself have an unknown end; what was appended in
 * between is not forgotten. SQLite knows at once: its log was emptied by the mending.
 */
START_TEST(a_resume_of_unknown_end_is_found_out)
{
	struct bench bench;
	struct bu_err err;
	struct bu_event event;

	begin(&bench, &worlds[1]);
	bu_err_set(&err, BU_ERR_IO, 0, "a test");
	bu_store_fail(bench.store, &err);
	add(&bench, "a", 0);
	ck_assert_int_eq(bu_store_mend(bench.store, NULL), 0);
	is_trace(&bench, "(A)");
	doubt_slow(&bench, 1);
	make_rows("r", &event);
	bu_store_resume(bench.store, &event, 1, 0, on_decided, ask(&bench, 'r'));
	add(&bench, "b", 0);
	step(&bench, TURNS + 2);
	is_trace(&bench, "(A)");
	ck_assert_int_eq(bu_store_mend(bench.store, NULL), -1);
	heal_slow(&bench);
	ck_assert_ptr_null(bu_store_down(bench.store));
	run(&bench);
	is_trace(&bench, "(A)rRbB");
	ck_assert_int_eq(bu_store_committed(bench.store), 2);
	end(&bench);
}
END_TEST

START_TEST(a_close_answers_everybody)
{
	FOR_EACH(world)
	{
		struct bench bench;

		begin(&bench, world);
		add(&bench, "a", 0);
		add(&bench, "b", 0);
		shut(&bench);
		if (strcmp(bench.trace, "aAbB") != 0)
			is_trace(&bench, "(A)(B)");
		end(&bench);
	}
}
END_TEST

START_TEST(who_leads_says_since_when_and_for_how_long)
{
	FOR_EACH(world)
	{
		struct bench bench;

		begin(&bench, world);
		ck_assert_int_ge(bu_store_lead(bench.store).since_ms, 0);
		ck_assert_int_eq(bu_store_kept_lead(bench.store, 3), -1);
		bu_store_keep_lead(bench.store, 3, 4711);
		shut(&bench);
		open_log(&bench);
		ck_assert_int_eq(bu_store_kept_lead(bench.store, 3), 4711);
		ck_assert_int_eq(bu_store_kept_lead(bench.store, 4), -1);
		end(&bench);
	}
}
END_TEST

/* --- of a log that others write, too --- */

START_TEST(rows_of_others_come_to_followers_alone)
{
	FOR_EACH(world)
	{
		struct bench bench;

		if (!world->write_other)
			continue;
		begin(&bench, world);
		world->write_other(&bench, "o");
		run(&bench);
		is_trace(&bench, "o");
		ck_assert_int_eq(bu_store_committed(bench.store), 0);
		/* in between, before this one, and in its place */
		slow_log_fates(bench.slow, "dgl");
		add(&bench, "ab", 0);
		add(&bench, "c", 0);
		add(&bench, "d", 0);
		step(&bench, TURNS + 2);
		world->write_other(&bench, "p");
		run(&bench);
		is_trace(&bench, "oabApxcC(D)x");
		ck_assert_int_eq(bench.refusal.kind, BU_ERR_DENIED);
		ck_assert_int_eq(bu_store_committed(bench.store), 3);
		is_log(&bench, "oabpxcx");
		ck_assert_int_eq(bench.downs, 0);
		end(&bench);
	}
}
END_TEST

START_TEST(an_appliance_that_was_replaced_writes_nothing)
{
	struct bench bench;

	begin(&bench, &worlds[1]);
	add_epoch(&bench, 7);
	add(&bench, "a", 7);
	run(&bench);
	add(&bench, "b", 7);
	step(&bench, 1);
	slow_log_lead(bench.slow, 8);
	add(&bench, "c", 7);
	run(&bench);
	is_trace(&bench, "aA(B)(C)");
	ck_assert_int_eq(bench.refusal.kind, BU_ERR_DENIED);
	ck_assert_int_eq(bu_store_lead(bench.store).since_ms, -1);
	ck_assert_int_eq(bu_store_lead(bench.store).epoch, 8);
	end(&bench);
}
END_TEST

BU_UNIT("contract", rows_come_once_in_order_and_before_their_answer,
	a_lower_fence_is_refused, a_crash_leaves_a_batch_whole_or_not_at_all,
	what_nobody_was_told_of_is_read_at_the_start, an_unknown_end_is_found_out,
	a_resume_of_unknown_end_is_found_out, a_close_answers_everybody,
	who_leads_says_since_when_and_for_how_long,
	rows_of_others_come_to_followers_alone,
	an_appliance_that_was_replaced_writes_nothing)
