/* SPDX-License-Identifier: Apache-2.0 */
/* A child that stays: it is started again when it ends, and only then. */
#include "provisioner/boot/child.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

enum { PATIENCE = 1000, RESTART_MS = 2000 };

struct site {
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_child *child;
};

static int starts, refuses;
static const char *runs;

static struct bu_job *
start(struct bu_loop *loop, const char *conf_path, bu_job_fn fn, void *arg,
      struct bu_err *err)
{
	const char *argv[] = {"sh", "-c", runs, NULL};
	struct bu_job_opts opts = {.argv = argv};

	starts++;
	if (!refuses)
		return bu_job_start(loop, &opts, fn, arg, err);
	bu_err_set(err, BU_ERR_IO, 0, "no such program");
	return NULL;
}

static void
begin(struct site *site, const char *what)
{
	starts = 0;
	refuses = 0;
	runs = what;
	bu_clock_fake(&site->clock, 0);
	site->loop = bu_loop_create(&site->clock);
	site->child = bu_child_create(site->loop, "child", "conf", start);
}

static void
finish(struct site *site)
{
	bu_child_destroy(site->child);
	bu_loop_destroy(site->loop);
}

static void
pass(struct site *site, int64_t ms)
{
	bu_clock_advance(&site->clock, ms);
	bu_loop_step(site->loop, 0);
}

START_TEST(one_that_ends_has_no_pid_and_is_started_again)
{
	struct site site;

	begin(&site, "exit 1");
	ck_assert_int_eq(bu_child_pid(site.child), 0); /* not started yet */
	bu_child_restart(site.child);
	ck_assert_int_eq(starts, 1);
	ck_assert_int_gt(bu_child_pid(site.child), 0);
	for (int i = 0; i < PATIENCE && bu_child_pid(site.child); i++)
		bu_loop_step(site.loop, 10);
	/* Nothing that is gone is signalled, or ended once more. */
	ck_assert_int_eq(bu_child_pid(site.child), 0);
	pass(&site, RESTART_MS - 1);
	ck_assert_int_eq(starts, 1);
	runs = "sleep 60";
	pass(&site, 2);
	ck_assert_int_eq(starts, 2);
	ck_assert_int_gt(bu_child_pid(site.child), 0);
	pass(&site, 10 * RESTART_MS);
	ck_assert_int_eq(starts, 2);
	bu_child_stop(site.child);
	ck_assert_int_eq(bu_child_pid(site.child), 0);
	pass(&site, 10 * RESTART_MS);
	ck_assert_int_eq(starts, 2);
	finish(&site);
}
END_TEST

START_TEST(one_that_cannot_be_started_is_tried_again)
{
	struct site site;

	begin(&site, "sleep 60");
	refuses = 1;
	bu_child_restart(site.child);
	ck_assert_int_eq(bu_child_pid(site.child), 0);
	pass(&site, RESTART_MS + 1);
	ck_assert_int_eq(starts, 2);
	refuses = 0;
	pass(&site, RESTART_MS + 1);
	ck_assert_int_gt(bu_child_pid(site.child), 0);
	finish(&site);
}
END_TEST

START_TEST(what_has_not_changed_is_not_written)
{
	char dir[] = "/tmp/bringup-child-XXXXXX";
	bu_autofree char *path = NULL, *present = NULL, *text = bu_xstrdup("a");
	bu_autofree char *same = bu_xstrdup("a"), *other = bu_xstrdup("b");
	int changed = 0;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("%s/conf", dir);
	ck_assert_int_eq(bu_child_put(path, &present, &text, &changed, NULL), 0);
	ck_assert_int_eq(changed, 1);
	changed = 0;
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(bu_child_put(path, &present, &same, &changed, NULL), 0);
	ck_assert_int_eq(changed, 0);
	ck_assert_int_eq(bu_file_exists(path), 0);
	ck_assert_int_eq(bu_child_put(path, &present, &other, &changed, NULL), 0);
	ck_assert_int_eq(changed, 1);
	ck_assert_str_eq(present, "b");
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("child", one_that_ends_has_no_pid_and_is_started_again,
	one_that_cannot_be_started_is_tried_again, what_has_not_changed_is_not_written)
