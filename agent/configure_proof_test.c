/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that need no command: what proves them, and what becomes of those that are
 * not proven. */
#include "agent/configure.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "tests/support/changed.h"

#define FOLDER "/etc/chrony/bringup.sources"

static const char *answers; /* "yn": of each confirm; behind its end they are "n" */
static int measurements;
static int64_t asked_ms[8]; /* when, of each of the first */

static int
confirm(const char *id, const void *arg, struct bu_err *err)
{
	if (measurements < (int)BU_LEN(asked_ms))
		asked_ms[measurements] = bu_mono_ms(bu_clock_system());
	measurements++;
	if (*answers && *answers++ == 'y')
		return 0;
	return bu_err_set(err, BU_ERR_TIMEOUT, 0, "no answer");
}

static void
begin(void)
{
	bu_log_init("configure_proof_test", BU_LOG_ERROR - 1);
	make_root();
	put(FOLDER "/one", "1\n");
	measurements = 0;
}

static int
change(const struct bu_change_file *files, size_t count, int64_t confirm_ms,
       size_t *ret_changed, struct bu_err *err)
{
	struct bu_configure configure = {
		.root = root, .boot_id = "b1", .pause_ms = 20, .confirm = confirm};
	struct bu_work_configure item = {
		.work = {"configure", "c1", 1}, .live = 1, .confirm_ms = confirm_ms};
	json_t *result = NULL;
	int rc = bu_configure_run(&configure, &item, files, count, &result, err);

	*ret_changed = json_array_size(json_object_get(result, "changed"));
	json_decref(result);
	return rc;
}

/* One answer may have come through what is going away, and so may two at once. */
START_TEST(the_appliance_is_reached_twice_in_a_row)
{
	struct bu_change_file file = {HOSTS, 0644, "hosts", "x\n", 2};
	struct bu_err err = {0};
	size_t changed;

	begin();
	answers = "ynynnyy";
	ck_assert_msg(change(&file, 1, 60000, &changed, &err) == 0, "%s", err.text);
	ck_assert_int_eq(measurements, 7);
	for (int i = 1; i < 7; i++)
		ck_assert_int_ge(asked_ms[i] - asked_ms[i - 1], 19);
	ck_assert_uint_eq(changed, 1);
	has(HOSTS, "x\n", 0644);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(one_answer_is_not_enough)
{
	struct bu_change_file file = {HOSTS, 0600, "hosts", "x\n", 2};
	struct bu_err err = {0};
	size_t changed;

	begin();
	answers = "y";
	ck_assert_int_eq(change(&file, 1, 0, &changed, &err), -1);
	ck_assert_msg(strstr(err.text, "the old configuration is back") != NULL, "%s",
		      err.text);
	ck_assert_int_eq(measurements, 2);
	has(HOSTS, "127.0.0.1 localhost\n", 0644);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* The file is the same; who may read it is not. */
START_TEST(another_mode_is_a_change)
{
	struct bu_change_file file = {HOSTS, 0600, "hosts", "127.0.0.1 localhost\n",
				      20};
	struct bu_err err = {0};
	size_t changed;

	begin();
	answers = "yy";
	ck_assert_int_eq(change(&file, 1, 0, &changed, &err), 0);
	ck_assert_uint_eq(changed, 1);
	has(HOSTS, "127.0.0.1 localhost\n", 0600);
	answers = "";
	ck_assert_int_eq(change(&file, 1, 0, &changed, &err), 0);
	ck_assert_uint_eq(changed, 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* Nothing is written, and no journal stays to undo what was never done. */
START_TEST(what_is_no_file_is_not_replaced)
{
	struct bu_change_file files[] = {{HOSTS, 0644, "hosts", "x\n", 2},
					 {FOLDER, 0644, "time", "x\n", 2}};
	struct bu_err err = {0};
	size_t changed;

	begin();
	answers = "";
	ck_assert_int_eq(change(files, BU_LEN(files), 0, &changed, &err), -1);
	ck_assert_msg(strstr(err.text, "exists and is not a file") != NULL, "%s",
		      err.text);
	ck_assert_int_eq(measurements, 0);
	has(HOSTS, "127.0.0.1 localhost\n", 0644);
	has(FOLDER "/one", "1\n", 0644);
	ck_assert_int_eq(is_there("/var/lib/bringup/change"), 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* --- the kernel's arguments --- */

static char kargs_now[64], kargs_calls[256];
static const char *kargs_fail; /* which call fails: "get", or what is to be set */

static int
bootargs(const char *kargs, char **ret_old, struct bu_err *err)
{
	size_t used = strlen(kargs_calls);

	ck_assert((kargs == NULL) != (ret_old == NULL));
	snprintf(kargs_calls + used, sizeof(kargs_calls) - used, "%s;",
		 kargs ? kargs : "get");
	if (kargs_fail && strcmp(kargs_fail, kargs ? kargs : "get") == 0)
		return bu_err_set(err, BU_ERR_STATE, 0, "no boot loader");
	if (ret_old)
		*ret_old = bu_xstrdup(kargs_now);
	else
		snprintf(kargs_now, sizeof(kargs_now), "%s", kargs);
	return 0;
}

START_TEST(kernel_arguments_are_changed_where_they_differ)
{
	static const struct {
		const char *kargs, *fails, *path, *answers, *calls, *now;
		const char *says; /* NULL = it is done */
		int changed;
	} rows[] = {
		{NULL, NULL, HOSTS, "yy", "", "quiet", NULL, 1},
		{NULL, NULL, HOSTS, "", "", "quiet", "rolled back: ", 0},
		{"quiet", NULL, HOSTS, "yy", "get;", "quiet", NULL, 1},
		{"a=1", NULL, HOSTS, "yy", "get;a=1;", "a=1", NULL, 2},
		{"", NULL, NULL, "yy", "get;;", "", NULL, 1},
		{"a=1", NULL, NULL, "", "get;a=1;quiet;", "quiet", "rolled back: ", 0},
		/* one that keeps none by itself is fine as long as none is wanted */
		{"", "get", HOSTS, "yy", "get;", "quiet", NULL, 1},
		{"a=1", "get", HOSTS, "yy", "get;", "quiet", "no boot loader", 0},
		{"a=1", "a=1", HOSTS, "", "get;a=1;quiet;", "quiet",
		 "rolled back: ", 0},
		{"a=1", "quiet", HOSTS, "", "get;a=1;quiet;", "a=1",
		 "putting the old configuration back failed: no boot loader", 0},
		/* and they are not changed before the files are there */
		{"a=1", NULL, HOSTS "/x", "", "get;quiet;", "quiet",
		 "rolled back: ", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_configure configure = {
			.root = root, .boot_id = "b1", .confirm = confirm};
		struct bu_work_configure item = {.work = {"configure", "k1", 1},
						 .live = 1,
						 .kargs = rows[i].kargs};
		struct bu_change_file file = {rows[i].path, 0644, "hosts", "x\n", 2};
		bu_autojson json_t *result = NULL;
		struct bu_err err = {0};
		int rc;

		begin();
		strcpy(kargs_now, "quiet");
		kargs_calls[0] = '\0';
		kargs_fail = rows[i].fails;
		answers = rows[i].answers;
		configure.bootargs = bootargs;
		rc = bu_configure_run(&configure, &item, &file, rows[i].path != NULL,
				      &result, &err);
		ck_assert_msg(rc == (rows[i].says ? -1 : 0), "row %zu: %s", i,
			      err.text);
		ck_assert_str_eq(kargs_calls, rows[i].calls);
		ck_assert_str_eq(kargs_now, rows[i].now);
		if (rows[i].says)
			ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s",
				      err.text);
		ck_assert_int_eq(
			(int)json_array_size(json_object_get(result, "changed")),
			rows[i].changed);
		/* What could not be put back may be at the next start. */
		ck_assert_int_eq(is_there(STATE),
				 rows[i].fails && !strcmp(rows[i].fails, "quiet"));
		ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
	}
}
END_TEST

/* An agent that is given none to change them with leaves them alone. */
START_TEST(kernel_arguments_may_be_left_alone)
{
	const struct bu_configure configure = {
		.root = root, .boot_id = "b1", .confirm = confirm};
	const struct bu_work_configure item = {
		.work = {"configure", "k1", 1}, .live = 1, .kargs = "a=1"};
	bu_autojson json_t *result = NULL;
	struct bu_err err = {0};

	begin();
	answers = "";
	ck_assert_msg(bu_configure_run(&configure, &item, NULL, 0, &result, &err) == 0,
		      "%s", err.text);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(measurements, 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* --- the end of a change --- */

#define LEFT(live)                                                                     \
	"{\"v\":1,\"id\":\"l1\",\"attempt\":1,\"boot_id\":\"b1\",\"live\":" live ","   \
	"\"confirm_ms\":0,\"groups\":[],\"drops\":[],\"files\":[],\"mtus\":[],"        \
	"\"values\":[{\"path\":\"/proc/sys/x\",\"value\":\"1\"}]}"

/* One that waits for its boot has set nothing yet; one that was live has. */
START_TEST(an_unfinished_change_is_undone_as_far_as_it_went)
{
	for (int live = 0; live < 2; live++) {
		const struct bu_configure configure = {
			.root = root, .boot_id = "b1", .confirm = confirm};
		const struct bu_work_configure item = {.work = {"configure", "l2", 1},
						       .live = 1};
		bu_autojson json_t *result = NULL;
		struct bu_err err = {0};

		begin();
		put("/proc/sys/x", "2");
		put(STATE "/change.json", live ? LEFT("true") : LEFT("false"));
		ck_assert_msg(bu_configure_run(&configure, &item, NULL, 0, &result,
					       &err) == 0,
			      "%s", err.text);
		has("/proc/sys/x", live ? "1" : "2", 0644);
		ck_assert_int_eq(is_there(STATE), 0);
		ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
	}
}
END_TEST

static int
confirm_and_spoil(const char *id, const void *arg, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s" STATE "/change.json", root);

	if (measurements++ == 0) {
		ck_assert_int_eq(unlink(path), 0);
		ck_assert_int_eq(mkdir(path, 0755), 0);
	}
	return 0;
}

/* A journal that stays would undo at the next start what was reported as done. */
START_TEST(a_change_whose_journal_stays_is_not_done)
{
	const struct bu_configure configure = {
		.root = root, .boot_id = "b1", .confirm = confirm_and_spoil};
	const struct bu_work_configure item = {.work = {"configure", "j1", 1},
					       .live = 1};
	struct bu_change_file file = {HOSTS, 0644, "hosts", "x\n", 2};
	json_t *result = NULL;
	struct bu_err err = {0};

	begin();
	ck_assert_int_eq(bu_configure_run(&configure, &item, &file, 1, &result, &err),
			 -1);
	ck_assert_ptr_null(result);
	ck_assert_msg(strstr(err.text, "change.json") != NULL, "%s", err.text);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* Whose time is over is asked once. */
START_TEST(no_time_is_one_try)
{
	struct bu_change_file file = {HOSTS, 0644, "hosts", "x\n", 2};
	struct bu_err err = {0};
	size_t changed;

	begin();
	answers = "";
	ck_assert_int_eq(change(&file, 1, 0, &changed, &err), -1);
	ck_assert_int_eq(measurements, 1);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* The same item asked for again is told what stopped: the agent, or the machine. */
START_TEST(what_was_undone_says_what_stopped)
{
	for (int same = 0; same < 2; same++) {
		const struct bu_configure configure = {.root = root,
						       .boot_id = same ? "b1" : "b2",
						       .confirm = confirm};
		const struct bu_work_configure item = {.work = {"configure", "l1", 1},
						       .live = 1};
		json_t *result = NULL;
		struct bu_err err = {0};

		begin();
		put("/proc/sys/x", "2");
		put(STATE "/change.json", LEFT("true"));
		bu_configure_recover(&configure);
		has("/proc/sys/x", "1", 0644);
		ck_assert_int_eq(
			bu_configure_run(&configure, &item, NULL, 0, &result, &err),
			-1);
		ck_assert_str_eq(err.text,
				 same ? "rolled back: the agent stopped before the "
					"change was confirmed"
				      : "rolled back: the machine stopped before the "
					"change was confirmed");
		ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
	}
}
END_TEST

BU_UNIT("configure proof", the_appliance_is_reached_twice_in_a_row,
	one_answer_is_not_enough, another_mode_is_a_change,
	what_is_no_file_is_not_replaced, kernel_arguments_are_changed_where_they_differ,
	kernel_arguments_may_be_left_alone,
	an_unfinished_change_is_undone_as_far_as_it_went,
	a_change_whose_journal_stays_is_not_done, no_time_is_one_try,
	what_was_undone_says_what_stopped)
