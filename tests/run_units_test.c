/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/run-units counts, with programs that only print what Check would. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/err.h"
#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static char dir[64];

static void
put(const char *name, const char *script)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *text = bu_xasprintf("#!/bin/sh\n%s\n", script);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
}

/* Its last line for these programs, and whether it failed. */
static char *
last_line(const char *programs, int *ret_failed)
{
	bu_autofree char *script = bu_xasprintf(
		BU_SRCDIR "/tests/run-units %s %s >%s/out; echo $? >%s/rc; "
			  "tail -n 1 %s/out; cat %s/rc",
		dir, programs, dir, dir, dir, dir);
	const char *const argv[] = {"sh", "-c", script, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};
	char *out = NULL, *end;

	ck_assert_int_eq(bu_job_run(&opts, &out, NULL), 0);
	end = strchr(out, '\n');
	ck_assert_ptr_nonnull(end);
	*end = '\0';
	*ret_failed = atoi(end + 1);
	return out;
}

START_TEST(each_single_test_is_counted_once)
{
	static const struct {
		const char *programs, *want;
		int failed;
	} rows[] = {
		{"good", "3 passed, 0 failed", 0},
		{"good bad", "4 passed, 1 failed", 1},
		{"good some", "4 passed, 0 failed, 2 skipped", 0},
		{"some none", "1 passed, 0 failed, 3 skipped", 0},
		{"good crash", "3 passed, 1 failed", 1},
		{"good late", "5 passed, 1 failed", 1},
	};

	strcpy(dir, "/tmp/bringup-units-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	put("good", "echo '100%: Checks: 3, Failures: 0, Errors: 0'");
	put("bad", "echo '50%: Checks: 2, Failures: 1, Errors: 0'; exit 1");
	put("some", "echo 'skipped: a needs root'; echo 'skipped: b needs node'\n"
		    "echo '100%: Checks: 3, Failures: 0, Errors: 0'");
	put("none", "echo 'no such program'; exit 77");
	put("crash", "kill -SEGV $$");
	put("late", "echo '100%: Checks: 2, Failures: 0, Errors: 0'; exit 3");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int failed;
		bu_autofree char *line = last_line(rows[i].programs, &failed);

		ck_assert_str_eq(line, rows[i].want);
		ck_assert_int_eq(failed, rows[i].failed);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

static int went_on;

static void
ask(const char *what)
{
	BU_NEEDS("sh", "/", what);
	went_on = 1;
}

START_TEST(what_is_missing_is_found_missing)
{
	ask("sh");
	ck_assert_int_eq(went_on, 1);
	ck_assert(bu_unit_has("/proc/self/status"));
	ck_assert(!bu_unit_has("/no/such/file"));
	ck_assert(!bu_unit_has("no-such-program"));
}
END_TEST

/* In a child, so that the line is not counted. */
START_TEST(a_test_that_lacks_something_says_what)
{
	char path[] = "/tmp/bringup-needs-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	bu_autofree char *said = NULL;
	int status;
	pid_t child;

	ck_assert_int_ge(fd, 0);
	child = fork();
	if (child == 0) {
		if (dup2(fd, STDOUT_FILENO) < 0)
			_exit(9);
		ask("no-such-program");
		fflush(stdout);
		_exit(went_on);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	said = bu_file_read(path, 0, NULL, NULL);
	ck_assert_str_eq(said, "skipped: ask needs no-such-program\n");
	unlink(path);
}
END_TEST

BU_UNIT("run-units", each_single_test_is_counted_once, what_is_missing_is_found_missing,
	a_test_that_lacks_something_says_what)
