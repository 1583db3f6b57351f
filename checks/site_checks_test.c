/* SPDX-License-Identifier: Apache-2.0 */
/* The site's own checks are really run. */
#include "checks/site_checks.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/bringup-site-XXXXXX";

static void
run(const char *name, const char *content, int timeout_ms, struct bu_checks *ret)
{
	bu_autojson json_t *site = json_pack("[{s:s,s:s,s:i}]", "name", name, "content",
					     content, "timeout_ms", timeout_ms);
	bu_autojson json_t *groups = json_pack("[s]", "site");
	struct bu_checks_ctx ctx = {.root = root, .site = site};
	struct bu_err err = {0};

	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_msg(bu_checks_run(&ctx, groups, ret, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(ret->count, 1);
}

static void
clean(struct bu_checks *checks)
{
	static const char *const folders[] = {"/var/lib/bringup", "/var/lib", "/var",
					      ""};

	bu_checks_fini(checks);
	for (size_t i = 0; i < BU_LEN(folders); i++) {
		bu_autofree char *path = bu_xasprintf("%s%s", root, folders[i]);

		ck_assert_msg(rmdir(path) == 0, "something was left in %s", path);
	}
}

static const struct {
	const char *name, *content;
	enum bu_verdict verdict;
	const char *text, *seen;
} cases[] = {
	{"good", "#!/bin/sh\necho all is well\n", BU_VERDICT_PASS, "", "all is well"},
	{"bad", "#!/bin/sh\necho looking\necho 'scratch is not mounted'\nexit 3\n",
	 BU_VERDICT_FAIL, "scratch is not mounted", "exit status 3"},
	{"silent", "#!/bin/sh\nexit 1\n", BU_VERDICT_FAIL,
	 "exit status 1 without output", "exit status 1"},
	/* As LBNL NHC ends: its word on standard error, exit status 1. */
	{"nhc",
	 "#!/bin/bash\nNAME=nhc\ndie() {\n  echo \"ERROR:  $NAME:  Health check "
	 "failed:  $*\" >&2\n  exit 1\n}\ncheck_fs_mount() {\n  grep -q \" $1 \" "
	 "/proc/mounts || die \"check_fs_mount:  $1 not mounted\"\n}\n"
	 "check_fs_mount /no/such/place\n",
	 BU_VERDICT_FAIL,
	 "ERROR:  nhc:  Health check failed:  check_fs_mount:  /no/such/place not "
	 "mounted",
	 "exit status 1"},
	{"json",
	 "#!/bin/sh\necho '{\"verdict\":\"warn\",\"text\":\"fan 2 is "
	 "slow\",\"seen\":\"900 rpm\"}'\n",
	 BU_VERDICT_WARN, "fan 2 is slow", "900 rpm"},
	{"liar",
	 "#!/bin/sh\necho '{\"verdict\":\"pass\",\"text\":\"no license\"}'\nexit 2\n",
	 BU_VERDICT_FAIL, "no license", "exit status 2"},
	{"noexec", "#!/no/such/interpreter\n", BU_VERDICT_FAIL, NULL, NULL},
};

START_TEST(each_check_leaves_one_row_in_its_own_words)
{
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_checks checks;
		const struct bu_check *row;

		run(cases[i].name, cases[i].content, 10000, &checks);
		row = &checks.list[0];
		ck_assert_msg(row->verdict == cases[i].verdict, "%s: %s (%s)",
			      cases[i].name, bu_verdict_name(row->verdict), row->text);
		ck_assert_str_eq(row->group, "site");
		ck_assert_str_eq(row->id + 5, cases[i].name);
		if (cases[i].text)
			ck_assert_str_eq(row->text, cases[i].text);
		else
			ck_assert(row->text[0]);
		if (cases[i].seen)
			ck_assert_str_eq(row->seen, cases[i].seen);
		clean(&checks);
	}
}
END_TEST

START_TEST(one_that_does_not_end_is_ended)
{
	struct bu_checks checks;

	run("slow", "#!/bin/sh\necho begun\nsleep 600\n", 1000, &checks);
	ck_assert_int_eq(checks.list[0].verdict, BU_VERDICT_FAIL);
	ck_assert_str_eq(checks.list[0].text, "did not end within 1 s: begun");
	clean(&checks);
}
END_TEST

/* Late or not: its group of checks is killed when that is over. */
START_TEST(one_leaves_no_process_behind)
{
	static const char *const rows[] = {"sleep 600 >/dev/null 2>&1 &",
					   "sleep 600; echo no"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xasprintf("#!/bin/sh\n%s\n", rows[i]);
		struct pollfd held = {.events = POLLIN};
		struct bu_checks checks;
		int fds[2];
		char byte;

		ck_assert_int_eq(pipe(fds), 0);
		run("leaves", text, 1000, &checks);
		close(fds[1]);
		held.fd = fds[0];
		ck_assert_msg(poll(&held, 1, 10000) == 1, "it left a process");
		ck_assert_int_eq(read(fds[0], &byte, 1), 0);
		close(fds[0]);
		clean(&checks);
	}
}
END_TEST

START_TEST(a_name_that_leaves_the_folder_is_refused)
{
	struct bu_checks checks;

	run("../../evil", "#!/bin/sh\nexit 0\n", 1000, &checks);
	ck_assert_int_eq(checks.list[0].verdict, BU_VERDICT_FAIL);
	ck_assert_str_eq(checks.list[0].text, "a check of the site has no usable name");
	clean(&checks);
}
END_TEST

BU_UNIT("site", each_check_leaves_one_row_in_its_own_words,
	one_that_does_not_end_is_ended, one_leaves_no_process_behind,
	a_name_that_leaves_the_folder_is_refused)
