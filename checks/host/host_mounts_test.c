/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems of servers, over a tree that plays /proc and the mount points; mount(8)
 * is a paper one, which writes what it was asked and what the kernel would then list.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "checks/host/host_impl.h"
#include "tests/support/unit.h"

#define HOME "lake1:/export/home /home nfs4 rw,hard 0 0\n"
#define WORK "10.1.0.5@o2ib:/work /work lustre rw 0 0\n"
#define AUTO "systemd-1 /home autofs rw,fd=46,direct 0 0\n"
#define ROOT "/dev/vda2 / ext4 rw 0 0\n"

/* When somebody opens /home, it is mounted. */
static int automounts;

static char dir[] = "/tmp/bringup-mounts-XXXXXX";

static void
put(const char *path, mode_t mode, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", dir, path);

	ck_assert_int_eq(bu_file_write_text(full, mode, NULL, "%s", text), 0);
	ck_assert_int_eq(chmod(full, mode), 0);
}

/* In place of the C library's. */
DIR *
opendir(const char *path)
{
	bu_autofree char *home = bu_xasprintf("%s/home", dir);
	bu_autofree char *copy = bu_xasprintf("cp %s/later %s/proc/mounts", dir, dir);
	int fd;

	if (automounts && strncmp(path, home, strlen(home)) == 0)
		ck_assert_int_eq(system(copy), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopendir(fd);
}

/* mounts: what the kernel lists; later: what it lists once mount(8) was called. */
static void
begin(const char *mounts, const char *later)
{
	static const char *const folders[] = {"proc/self", "bin", "home/check", "work"};
	bu_autofree char *path = NULL, *script = NULL;

	strcpy(dir, "/tmp/bringup-mounts-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(folders); i++) {
		bu_autofree char *full = bu_xasprintf("%s/%s", dir, folders[i]);

		ck_assert_int_eq(bu_mkdir_p(full, 0755, NULL), 0);
	}
	put("proc/mounts", 0644, mounts);
	put("later", 0644, later ? later : mounts);
	script = bu_xasprintf(
		"#!/bin/sh\nD=%s\necho \"$*\" >>$D/asked\n"
		"cp $D/later $D/proc/mounts\n"
		"[ ! -e $D/hangs ] || exec sleep 100000\n"
		"[ ! -e $D/refuses ] || {\n"
		"echo \"mount.nfs4: Connection refused\" >&2; exit 32; }\n",
		dir);
	put("bin/mount", 0755, script);
	path = bu_xasprintf("%s/bin:/usr/bin:/bin", dir);
	setenv("PATH", path, 1);
}

static void
end(void)
{
	setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
run(const char *mounts, struct bu_checks *ret)
{
	bu_autojson json_t *expect = NULL;
	bu_autofree char *text = bu_xasprintf("{\"mounts\":[%s]}", mounts);
	struct bu_checks_ctx ctx = {.root = dir};

	expect = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(expect);
	ctx.expect = expect;
	bu_checks_init(ret);
	bu_host_mounts(&ctx, ret);
}

/* What is in a file of the tree; "" without it. */
static char *
content(const char *path)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", dir, path);
	char *text = bu_file_read(full, 1 << 16, NULL, NULL);

	return text ? text : bu_xstrdup("");
}

#define WANT_HOME                                                                      \
	"{\"name\":\"home\",\"source\":\"lake1:/export/home\",\"path\":\"/home\","     \
	"\"fs\":\"nfs4\"}"
#define WANT_HOME_RW                                                                   \
	"{\"name\":\"home\",\"source\":\"lake1:/export/home/\",\"path\":\"/home/\","   \
	"\"fs\":\"nfs\",\"write\":\"/home/check\"}"
#define WANT_WORK                                                                      \
	"{\"name\":\"work\",\"source\":\"10.1.0.4@o2ib:/work\",\"path\":\"/work\","    \
	"\"fs\":\"lustre\"}"
#define SAID "home (lake1:/export/home on /home): file system of a server: "

static const struct {
	const char *mounts, *later; /* later: NULL = mount(8) changes nothing */
	const char *want;
	const char *text; /* of the row; NULL = it passes */
	const char *asked;
} rows[] = {
	{ROOT HOME, NULL, WANT_HOME, NULL, ""},
	{ROOT HOME, NULL, WANT_HOME_RW, NULL, ""},
	/* Lustre's servers may go by other names. */
	{ROOT WORK, NULL, WANT_WORK, NULL, ""},
	{ROOT "10.1.0.4@o2ib:/other /work lustre rw 0 0\n", NULL, WANT_WORK,
	 "work (10.1.0.4@o2ib:/work on /work): file system of a server: "
	 "10.1.0.4@o2ib:/other (lustre) is mounted there; expected mounted, can be "
	 "read",
	 ""},
	/* systemd's try was too early. */
	{ROOT, ROOT HOME, WANT_HOME, NULL, "/home\n"},
	{ROOT, NULL, WANT_HOME, SAID "is not mounted; expected mounted, can be read",
	 "/home\n"},
	{ROOT "lake1:/export/home /homes nfs4 rw 0 0\n", NULL, WANT_HOME,
	 SAID "is not mounted; expected mounted, can be read", "/home\n"},
	/* The later one hides the first. */
	{ROOT HOME "/dev/vdb1 /home ext4 rw 0 0\n", NULL, WANT_HOME,
	 SAID "/dev/vdb1 (ext4) is mounted there; expected mounted, can be read", ""},
	{ROOT "lake2:/export/home /home nfs4 rw 0 0\n", NULL, WANT_HOME,
	 SAID "lake2:/export/home (nfs4) is mounted there; expected mounted, can be "
	      "read",
	 ""},
};

START_TEST(each_mount_is_the_one_of_the_profile)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *asked = NULL;
		struct bu_checks checks;

		begin(rows[i].mounts, rows[i].later);
		run(rows[i].want, &checks);
		ck_assert_uint_eq(checks.count, 1);
		ck_assert_str_eq(checks.list[0].id, "mount");
		ck_assert_str_eq(checks.list[0].text, rows[i].text ? rows[i].text : "");
		ck_assert_int_eq(checks.list[0].verdict,
				 rows[i].text ? BU_VERDICT_FAIL : BU_VERDICT_PASS);
		asked = content("asked");
		ck_assert_str_eq(asked, rows[i].asked);
		bu_checks_fini(&checks);
		end();
	}
}
END_TEST

START_TEST(who_looks_into_an_automount_has_it_mounted)
{
	static const struct {
		const char *before, *later, *want, *text;
	} cases[] = {
		{ROOT AUTO, ROOT AUTO HOME, WANT_HOME, ""},
		{ROOT AUTO HOME, NULL, WANT_HOME_RW, ""},
		{ROOT AUTO, ROOT AUTO HOME, WANT_HOME_RW, ""},
		{ROOT AUTO, NULL, WANT_HOME,
		 SAID "is not mounted; expected mounted, can be read"},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autofree char *asked = NULL;
		struct bu_checks checks;

		begin(cases[i].before, cases[i].later);
		automounts = 1;
		run(cases[i].want, &checks);
		automounts = 0;
		ck_assert_uint_eq(checks.count, 1);
		ck_assert_str_eq(checks.list[0].text, cases[i].text);
		asked = content("asked");
		ck_assert_str_eq(asked, "");
		bu_checks_fini(&checks);
		end();
	}
}
END_TEST

START_TEST(why_an_automount_gave_nothing_is_told)
{
	bu_autofree char *gone = NULL;
	struct bu_checks checks;

	begin(ROOT AUTO, NULL);
	gone = bu_xasprintf("%s/home", dir);
	ck_assert_int_eq(bu_remove_tree(gone, NULL), 0);
	run(WANT_HOME, &checks);
	ck_assert_int_eq(checks.list[0].verdict, BU_VERDICT_FAIL);
	ck_assert_msg(strstr(checks.list[0].text, "is not mounted: its automount: No "
						  "such file or directory"),
		      "%s", checks.list[0].text);
	bu_checks_fini(&checks);
	end();
}
END_TEST

START_TEST(mounts_own_words_are_told)
{
	struct bu_checks checks;

	begin(ROOT, NULL);
	put("refuses", 0644, "");
	run(WANT_HOME, &checks);
	ck_assert_msg(
		strstr(checks.list[0].text, "is not mounted: ") &&
			strstr(checks.list[0].text, "mount.nfs4: Connection refused"),
		"%s", checks.list[0].text);
	ck_assert_ptr_nonnull(strstr(checks.list[0].hint, "nfs-common"));
	bu_checks_fini(&checks);
	end();
}
END_TEST

/* The folder is missing, as it is where the export is another one than people think. */
START_TEST(what_cannot_be_written_is_named)
{
	bu_autofree char *gone = NULL;
	struct bu_checks checks;

	begin(ROOT HOME, NULL);
	gone = bu_xasprintf("%s/home/check", dir);
	ck_assert_int_eq(bu_remove_tree(gone, NULL), 0);
	run(WANT_HOME_RW, &checks);
	ck_assert_int_eq(checks.list[0].verdict, BU_VERDICT_FAIL);
	ck_assert_msg(strstr(checks.list[0].text, "cannot write ") &&
			      strstr(checks.list[0].text, "No such file or directory"),
		      "%s", checks.list[0].text);
	bu_checks_fini(&checks);
	end();
}
END_TEST

/* What somebody laid there is neither followed nor waited for, and nothing of ours is
 * left. */
START_TEST(only_a_file_of_ours_is_written_and_it_goes)
{
	static const char *const laid[] = {"ln -s ../../other", "ln ../../other",
					   "mkfifo", "touch", ":"};

	for (size_t i = 0; i < BU_LEN(laid); i++) {
		bu_autofree char *command = NULL, *look = NULL;
		bu_autofree char *left = NULL, *other = NULL;
		struct bu_checks checks;

		begin(ROOT HOME, NULL);
		command = bu_xasprintf("cd %s && echo mine >other && cd home/check && "
				       "%s .bringup-check-$(uname -n)",
				       dir, laid[i]);
		ck_assert_int_eq(system(command), 0);
		run(WANT_HOME_RW, &checks);
		ck_assert_msg(checks.list[0].verdict == BU_VERDICT_PASS, "%s: %s",
			      laid[i], checks.list[0].text);
		bu_checks_fini(&checks);
		look = bu_xasprintf("cd %s && ls -A home/check >left", dir);
		ck_assert_int_eq(system(look), 0);
		left = content("left");
		ck_assert_str_eq(left, "");
		other = content("other");
		ck_assert_str_eq(other, "mine\n");
		end();
	}
}
END_TEST

START_TEST(each_of_several_has_its_row)
{
	struct bu_checks checks;

	begin(ROOT WORK, NULL);
	run(WANT_HOME "," WANT_WORK, &checks);
	ck_assert_uint_eq(checks.count, 2);
	ck_assert_int_eq(checks.list[0].verdict, BU_VERDICT_FAIL);
	ck_assert_int_eq(checks.list[1].verdict, BU_VERDICT_PASS);
	bu_checks_fini(&checks);
	end();
	begin(ROOT, NULL);
	run("", &checks);
	ck_assert_uint_eq(checks.count, 0);
	bu_checks_fini(&checks);
	end();
}
END_TEST

/* One after the other took long: what was not looked at has no row that passes. */
START_TEST(what_was_not_looked_at_is_named)
{
	bu_autojson json_t *expect =
		json_loads("{\"mounts\":[" WANT_HOME "," WANT_WORK "]}", 0, NULL);
	struct bu_checks_ctx ctx = {.root = dir, .expect = expect, .deadline_ms = 1};
	struct bu_checks checks;

	begin(ROOT HOME WORK, NULL);
	bu_checks_init(&checks);
	bu_host_mounts(&ctx, &checks);
	ck_assert_uint_eq(checks.count, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_str_eq(checks.list[i].id, "mount");
		ck_assert_int_eq(checks.list[i].verdict, BU_VERDICT_FAIL);
		ck_assert_ptr_nonnull(strstr(checks.list[i].text,
					     "was not looked at: the time ran out"));
	}
	bu_checks_fini(&checks);
	end();
}
END_TEST

/* It is ended with the time of the checks, not after its own. */
START_TEST(a_mount_that_hangs_leaves_time_to_name_the_others)
{
	bu_autojson json_t *expect =
		json_loads("{\"mounts\":[" WANT_HOME "," WANT_WORK "]}", 0, NULL);
	struct bu_checks_ctx ctx = {.root = dir, .expect = expect};
	struct bu_checks checks;

	begin(ROOT, NULL);
	put("hangs", 0644, "");
	ctx.deadline_ms = bu_mono_ms(bu_clock_system()) + 500;
	bu_checks_init(&checks);
	bu_host_mounts(&ctx, &checks);
	ck_assert_uint_eq(checks.count, 2);
	ck_assert_ptr_nonnull(strstr(checks.list[0].text, "is not mounted"));
	ck_assert_ptr_nonnull(strstr(checks.list[1].text, "was not looked at"));
	bu_checks_fini(&checks);
	end();
}
END_TEST

BU_UNIT("host_mounts", a_mount_that_hangs_leaves_time_to_name_the_others,
	who_looks_into_an_automount_has_it_mounted,
	why_an_automount_gave_nothing_is_told, what_was_not_looked_at_is_named,
	each_mount_is_the_one_of_the_profile, mounts_own_words_are_told,
	what_cannot_be_written_is_named, only_a_file_of_ours_is_written_and_it_goes,
	each_of_several_has_its_row)
