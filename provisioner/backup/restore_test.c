/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A restore, and an init, is killed before each of its system calls that change a disk:
 * there is no state directory, or a whole one, and the next run makes one.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/loop.h"
#include "tests/support/backup.h"
#include "tests/support/killed.h"

static struct appliance a;

static int
restore(FILE *out)
{
	struct bu_restore_ask ask = appliance_restore(&a);

	return bu_restore(&ask, out, NULL);
}

static int
init(FILE *out)
{
	const struct bu_init_ask ask = {.state = a.other,
					.site_key = a.backup,
					.identity = a.key,
					.site = "falcon",
					.tree = "{\"files\":{}}",
					.commit = ""};

	return bu_init(&ask, APPLIANCE_NOW_MS, out, NULL);
}

static char *
sheet_of(const char *end)
{
	return bu_xasprintf("%s/sheet%s", a.dir, end);
}

static int
init_anew(FILE *out)
{
	bu_autofree char *sheet = sheet_of("");
	const struct bu_init_ask ask = {.state = a.other,
					.sheet = sheet,
					.site = "falcon",
					.tree = "{\"files\":{}}",
					.commit = ""};

	return bu_init(&ask, APPLIANCE_NOW_MS, out, NULL);
}

static void
is_restored(void)
{
	appliance_is_whole(&a, a.other, APPLIANCE_NOW_MS / 1000);
}

static int
count_row(const struct bu_event *event, void *arg)
{
	(void)event;
	++*(int *)arg;
	return 0;
}

/* With the keys of that folder, and a log of its own. */
static void
is_begun_with(const char *keys)
{
	bu_autofree char *path = bu_xasprintf("%s/journal.db", a.other);
	bu_autofree char *theirs = bu_xasprintf("%s/sign.pub", keys);
	bu_autofree char *ours = bu_xasprintf("%s/keys/sign.pub", a.other);
	bu_autofree char *one = bu_file_read(theirs, 65536, NULL, NULL);
	bu_autofree char *other = bu_file_read(ours, 65536, NULL, NULL);
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_store *store = bu_store_open_sqlite(loop, path, NULL);
	int rows = 0;

	ck_assert_int_eq(bu_place_check_keys(a.other, NULL), 0);
	ck_assert_ptr_nonnull(one);
	ck_assert_str_eq(one, other);
	ck_assert_ptr_nonnull(store);
	ck_assert_int_eq(bu_store_read(store, 0, 0, count_row, &rows, NULL), 0);
	ck_assert_int_eq(rows, 4);
	bu_store_destroy(store);
	bu_loop_destroy(loop);
}

static void
is_begun(void)
{
	bu_autofree char *keys = bu_xasprintf("%s/keys", a.state);

	is_begun_with(keys);
}

/* The sheet has its keys: under its name, or under the one before. */
static void
is_begun_anew(void)
{
	bu_autofree char *sheet = sheet_of(""), *before = sheet_of(".new");
	bu_autofree char *keys = sheet_of(".keys");
	const char *file = bu_file_exists(sheet) ? sheet : before;

	ck_assert_int_eq(bu_sheet_read(file, keys, NULL), 0);
	is_begun_with(keys);
	ck_assert_int_eq(bu_remove_tree(keys, NULL), 0);
	ck_assert_int_eq(unlink(file), 0);
}

static void
is_nothing(void)
{
	bu_autofree char *sheet = sheet_of("");

	ck_assert(!bu_file_exists(sheet));
}

static const struct {
	int (*run)(FILE *out);
	void (*is_whole)(void);
} runs[] = {{restore, is_restored}, {init, is_begun}, {init_anew, is_begun_anew}};
static int which;

static int
run_it(void)
{
	FILE *out = fopen("/dev/null", "w");

	return runs[which].run(out);
}

static void
is_none_or_whole(int run)
{
	int points = 0, last, whole = 0;

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	which = run;
	while ((last = killed_at(points, run_it)) >= 0) {
		if (bu_file_exists(a.other)) {
			runs[which].is_whole();
			whole++;
			ck_assert_int_eq(bu_remove_tree(a.other, NULL), 0);
		}
		is_nothing();
		points++;
	}
	if (last == KILLED_NO_TRACE) {
		puts("skipped: there_is_none_or_a_whole_one needs ptrace");
	} else {
		/* The last run followed one that was killed, and made it. */
		runs[which].is_whole();
		ck_assert_int_gt(points, 60);
		/* The rename is the point, and a sync follows. */
		ck_assert_int_ge(whole, 1);
		ck_assert_int_lt(whole, 10);
	}
	appliance_end(&a);
}

START_TEST(there_is_none_or_a_whole_one)
{
	for (int i = 0; i < (int)BU_LEN(runs); i++)
		is_none_or_whole(i);
}
END_TEST

START_TEST(one_works_at_a_time)
{
	bu_autofree char *work = NULL;
	struct bu_restore_ask ask;
	struct bu_err err = {0};
	int status = 0, ready[2], held[2];
	char byte;
	pid_t pid;

	appliance_begin(&a);
	appliance_backup(&a, NULL);
	ask = appliance_restore(&a);
	work = bu_xasprintf("%s.restore", a.other);
	ck_assert_int_eq(bu_mkdir_p(work, 0700, NULL), 0);
	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(held), 0);
	pid = fork();
	if (pid == 0) {
		const char *const argv[] = {
			"flock", work, "sh", "-c", "echo x >&3; read x", NULL};

		dup2(held[0], STDIN_FILENO);
		dup2(ready[1], 3);
		closefrom(4);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	ck_assert_int_eq(bu_restore(&ask, stdout, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "another restore"));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	appliance_end(&a);
}
END_TEST

BU_UNIT("restore", there_is_none_or_a_whole_one, one_works_at_a_time)
