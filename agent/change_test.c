/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of files that need no command: what proves them, and what they do not touch.
 */
#include "agent/change.h"

#include <string.h>
#include <sys/stat.h>

#include "agent/configure.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "tests/support/unit.h"

#define HOSTS "/etc/hosts"
#define FOLDER "/etc/chrony/bringup.sources"

static char root[] = "/tmp/bringup-change-XXXXXX";
static const char *answers; /* "yn": of each confirm; behind its end they are "n" */
static int measurements;
static int64_t asked_ms[8]; /* when, of each of the first */

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, strrchr(full, '/') - full);

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0644, NULL), 0);
}

static void
has(const char *path, const char *text, int mode)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *now = bu_file_read(full, 0, NULL, NULL);
	struct stat st;

	ck_assert_pstr_eq(now, text);
	ck_assert_int_eq(stat(full, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, mode);
}

static int
is_there(const char *path)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);

	return bu_file_exists(full);
}

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
	bu_log_init("change_test", BU_LOG_ERROR);
	ck_assert_ptr_nonnull(mkdtemp(root));
	put(HOSTS, "127.0.0.1 localhost\n");
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

/* Nothing else may be written: that a file goes makes its kind hold anew. */
START_TEST(what_goes_is_applied_with_its_kind)
{
	static const struct {
		const char *path, *apply;
	} rows[] = {
		{"/etc/systemd/network/10-bringup-x.network", "network"},
		{"/etc/sysctl.d/90-bringup.conf", "sysctl"},
		{"/etc/ssh/sshd_config.d/50-bringup.conf", "access"},
		{"/etc/sssd/conf.d/bringup.conf", "access"},
		{"/etc/hosts.bringup", ""},
	};
	struct bu_change change = {.root = root};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put(rows[i].path, "x\n");
		bu_change_add_old(&change, rows[i].path, NULL, 0);
		ck_assert_uint_eq(change.count, i + 1);
		ck_assert_str_eq(change.files[i].path, rows[i].path);
		ck_assert_str_eq(change.files[i].apply, rows[i].apply);
	}
	bu_change_fini(&change);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("change", what_goes_is_applied_with_its_kind,
	the_appliance_is_reached_twice_in_a_row, one_answer_is_not_enough,
	another_mode_is_a_change, what_is_no_file_is_not_replaced)
