/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The array of an install, on disks that are files; mdadm is a paper one, which keeps
 * beside each disk what it was told to make of it. Of the real one the virtual rack
 * tells (tests/system/install-matrix). sgdisk judges the partition tables.
 */
#include "tests/support/install.h"

#include "images/install/scratch.h"

enum { MORE = 3 };

static const char paper[] =
	"#!/bin/sh\n"
	"cd '%1$s' || exit 9\n"
	"echo \"$*\" >>md.log\n"
	"case $1 in\n"
	"--create) [ ! -e broken ] || { echo mdadm: broken >&2; exit 1; }\n"
	"	for word; do case $word in\n"
	"		--uuid=*) uuid=${word#*=} ;;\n"
	"		--raid-devices=*) count=${word#*=} ;;\n"
	"		'%1$s'/*) printf 'MD_LEVEL=raid0\\nMD_DEVICES=%%s\\nMD_UUID=%%s\\n' \\\n"
	"			$count $uuid >$word.md ;;\n"
	"	esac; done ;;\n"
	"--examine) cat \"$3.md\" 2>/dev/null ;;\n"
	"esac\n";

static char more[MORE][64], mdadm_path[64];
static const char *const guids[MORE] = {"11111111-2222-8333-8444-555555555551",
					"11111111-2222-8333-8444-555555555552",
					"11111111-2222-8333-8444-555555555553"};
static struct bu_install_member members[MORE];

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-install-XXXXXX");
	setup();
	cancel_after = -1;
	for (int i = 0; i < MORE; i++) {
		bu_autoclose int fd = -1;

		snprintf(more[i], sizeof(more[i]), "%s/more%d", dir, i);
		fd = open(more[i], O_RDWR | O_CREAT, 0600);
		ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
		members[i] = (struct bu_install_member){more[i], guids[i]};
	}
	snprintf(mdadm_path, sizeof(mdadm_path), "%s/mdadm", dir);
	ck_assert_int_eq(bu_file_write_text(mdadm_path, 0755, NULL, paper, dir), 0);
	ck_assert_int_eq(chmod(mdadm_path, 0755), 0);
}

/* Of the first two; the third one is nobody's. */
static struct bu_install_opts
with_array(void)
{
	struct bu_install_opts opts = defaults();

	opts.scratch = members;
	opts.scratch_count = 2;
	opts.scratch_uuid = "aaaaaaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee";
	opts.mdadm = mdadm_path;
	return opts;
}

static int
is_untouched(const char *path)
{
	size_t size;
	bu_autofree char *got = bu_file_read(path, 128 << 20, &size, NULL);

	return size == DISK_BYTES && !got[0] && memcmp(got, got + 1, size - 1) == 0;
}

/* How often the log has that word. */
static int
count(const char *word)
{
	bu_autofree char *path = bu_xasprintf("%s/md.log", dir);
	bu_autofree char *log = bu_file_read(path, 1 << 20, NULL, NULL);
	int found = 0;

	for (const char *at = log; at && (at = strstr(at, word)); at++)
		found++;
	return found;
}

static void
table_is_good(const char *path, const char *guid)
{
	const char *check[] = {"sgdisk", "-v", path, NULL};
	const char *info[] = {"sgdisk", "-i", "1", path, NULL};
	struct bu_job_opts first = {.argv = check, .deadline_ms = 30000};
	struct bu_job_opts second = {.argv = info, .deadline_ms = 30000};
	bu_autofree char *said = NULL, *shown = NULL, *upper = bu_xstrdup(guid);
	struct bu_err err = {0};

	ck_assert_msg(bu_job_run(&first, &said, &err) == 0, "%s", err.text);
	ck_assert_msg(strstr(said, "No problems found") != NULL, "%s", said);
	ck_assert_msg(bu_job_run(&second, &shown, &err) == 0, "%s", err.text);
	ck_assert_msg(strstr(shown, "A19D880F-05FC-4D3B-A006-743F0F84911E") != NULL &&
			      strstr(shown, upper) != NULL &&
			      strstr(shown, "'bringup-scratch'") != NULL &&
			      strstr(shown, "First sector: 2048") != NULL,
		      "%s", shown);
}

START_TEST(empty_disks_become_an_array)
{
	struct bu_install_opts opts;

	begin();
	opts = with_array();
	works(&opts);
	for (int i = 0; i < 2; i++) {
		table_is_good(more[i], guids[i]);
		ck_assert(has(more[i], BU_MARK_OFFSET, "BUDONE01"));
	}
	ck_assert_int_eq(count("--create /dev/md127"), 1);
	ck_assert_int_eq(count("--level=raid0"), 1);
	ck_assert_int_eq(count("--raid-devices=2"), 1);
	ck_assert_int_eq(count("--uuid=aaaaaaaa:bbbb8ccc:8dddeeee:eeeeeeee"), 1);
	ck_assert_int_eq(count("--stop /dev/md127"), 1);
	ck_assert(is_untouched(more[2]));
	teardown();
}
END_TEST

START_TEST(a_reimage_keeps_the_array_and_a_wipe_does_not)
{
	struct bu_install_opts opts;

	begin();
	opts = with_array();
	works(&opts);
	put(more[0], 1 << 20, "somebody's");
	put(more[1], 40 << 20, "data");
	next_step(&opts);
	opts.keep_data = 1;
	works(&opts);
	ck_assert_int_eq(count("--create"), 1);
	ck_assert(has(more[0], 1 << 20, "somebody's"));
	ck_assert(has(more[1], 40 << 20, "data"));
	opts.keep_data = 0;
	opts.allow_wipe = opts.scratch_wipe = 1;
	works(&opts);
	ck_assert_int_eq(count("--create"), 2);
	ck_assert(!has(more[0], 1 << 20, "somebody's"));
	teardown();
}
END_TEST

/* What is on one of the disks; nothing is written to any. */
START_TEST(a_disk_that_is_not_empty_stops_everything)
{
	static const uint64_t places[] = {5000, BU_EDGE_BYTES - 1, DISK_BYTES - 1};

	for (size_t i = 0; i < BU_LEN(places); i++) {
		struct bu_install_opts opts;

		begin();
		opts = with_array();
		put(more[1], places[i], "x");
		fails(&opts, BU_ERR_STATE, "more1 is not empty");
		ck_assert(is_untouched(disk) && is_untouched(more[0]));
		ck_assert_int_eq(count("--create"), 0);
		/* the grant for the system's disk is none for this one */
		opts.allow_wipe = 1;
		fails(&opts, BU_ERR_STATE, "more1 is not empty");
		ck_assert(is_untouched(disk) && is_untouched(more[0]));
		opts.scratch_wipe = 1;
		works(&opts);
		ck_assert_int_eq(count("--create"), 1);
		ck_assert(!has(more[1], places[i], "x"));
		teardown();
	}
}
END_TEST

/* Its disks are there, and they are no array, another one, or one with more disks. */
START_TEST(only_the_array_that_is_wanted_is_kept)
{
	static const char *const others[] = {
		"", "MD_LEVEL=raid0\nMD_DEVICES=2\nMD_UUID=0:0:0:0\n",
		"MD_LEVEL=raid0\nMD_DEVICES=3\n"
		"MD_UUID=aaaaaaaa:bbbb8ccc:8dddeeee:eeeeeeee\n",
		"MD_LEVEL=raid1\nMD_DEVICES=2\n"
		"MD_UUID=aaaaaaaa:bbbb8ccc:8dddeeee:eeeeeeee\n"};

	for (size_t i = 0; i < BU_LEN(others); i++) {
		struct bu_install_opts opts;
		bu_autofree char *beside = NULL;

		begin();
		opts = with_array();
		works(&opts);
		beside = bu_xasprintf("%s.md", more[1]);
		ck_assert_int_eq(
			bu_file_write_text(beside, 0600, NULL, "%s", others[i]), 0);
		next_step(&opts);
		opts.keep_data = 1;
		fails(&opts, BU_ERR_STATE, "was not granted");
		ck_assert_int_eq(count("--create"), 1);
		teardown();
	}
}
END_TEST

/* Cut off in between, it is done again by its own step, and by no other. */
START_TEST(a_step_that_broke_off_is_done_again)
{
	struct bu_install_opts opts, other;
	bu_autofree char *broken = NULL;

	begin();
	broken = bu_xasprintf("%s/broken", dir);
	ck_assert_int_eq(bu_file_write_text(broken, 0600, NULL, "x"), 0);
	opts = other = with_array();
	fails(&opts, BU_ERR_IO, "broken");
	ck_assert(has(more[0], BU_MARK_OFFSET, "BUMARK01"));
	ck_assert(has(disk, BU_MARK_OFFSET, "BUMARK01"));
	unlink(broken);
	next_step(&other);
	fails(&other, BU_ERR_STATE, "is not empty");
	other.allow_wipe = 1;
	fails(&other, BU_ERR_STATE, "is not empty");
	works(&opts);
	ck_assert(has(more[1], BU_MARK_OFFSET, "BUDONE01"));
	teardown();
}
END_TEST

START_TEST(each_disk_is_one_thing)
{
	struct bu_install_opts opts;

	begin();
	opts = with_array();
	members[1].disk = disk;
	fails(&opts, BU_ERR_INVAL, "is the system's");
	members[1].disk = more[0];
	fails(&opts, BU_ERR_INVAL, "is there twice");
	members[1].disk = "/no/such/disk";
	fails(&opts, BU_ERR_NOTFOUND, "/no/such/disk");
	ck_assert(is_untouched(disk) && is_untouched(more[0]));
	teardown();
}
END_TEST

BU_UNIT("scratch", empty_disks_become_an_array,
	a_reimage_keeps_the_array_and_a_wipe_does_not,
	a_disk_that_is_not_empty_stops_everything,
	only_the_array_that_is_wanted_is_kept, a_step_that_broke_off_is_done_again,
	each_disk_is_one_thing)
