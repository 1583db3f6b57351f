/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system that is mirrored, on two disks that are files; mdadm is a paper one, which
 * keeps beside each disk what it was told to make of it. Of the real one the virtual
 * rack tells (tests/system/install-matrix). sgdisk judges the partition tables.
 */
#include "tests/support/install.h"

#include "images/install/gpt.h"

static const char paper[] =
	"#!/bin/sh\n"
	"cd '%1$s' || exit 9\n"
	"echo \"$*\" >>md.log\n"
	"case $1 in\n"
	"--create) [ ! -e broken ] || { echo mdadm: broken >&2; exit 1; }\n"
	"	for word; do case $word in\n"
	"		--uuid=*) uuid=${word#*=} ;;\n"
	"		--level=*) level=${word#*=} ;;\n"
	"		--raid-devices=*) count=${word#*=} ;;\n"
	"		'%1$s'/*) [ $word = \"$(cat without 2>/dev/null)\" ] ||\n"
	"			printf 'MD_LEVEL=%%s\\nMD_DEVICES=%%s\\nMD_UUID=%%s\\n' \\\n"
	"				$level $count $uuid >$word.md ;;\n"
	"	esac; done ;;\n"
	"--stop) ls root >>md.log ;;\n"
	"--examine) cat \"$3.md\" 2>/dev/null ;;\n"
	"esac\n";

static char second[64], mdadm_path[64];

/* The second disk has this size. */
static void
begin(off_t bytes)
{
	bu_autoclose int fd = -1;

	strcpy(dir, "/tmp/bringup-install-XXXXXX");
	with_mirror = 1;
	setup();
	cancel_after = -1;
	snprintf(second, sizeof(second), "%s/second", dir);
	fd = open(second, O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, bytes), 0);
	snprintf(mdadm_path, sizeof(mdadm_path), "%s/mdadm", dir);
	ck_assert_int_eq(bu_file_write_text(mdadm_path, 0755, NULL, paper, dir), 0);
	ck_assert_int_eq(chmod(mdadm_path, 0755), 0);
}

static struct bu_install_opts
mirrored(void)
{
	struct bu_install_opts opts = defaults();

	opts.mirror = second;
	opts.mirror_granted = 1;
	opts.mirror_uuid = "aaaaaaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee";
	opts.mdadm = mdadm_path;
	return opts;
}

static char *
all_of(const char *path, size_t *ret_size)
{
	char *bytes = bu_file_read(path, 128 << 20, ret_size, NULL);

	ck_assert_ptr_nonnull(bytes);
	return bytes;
}

static int
is_untouched(const char *path)
{
	size_t size;
	bu_autofree char *got = all_of(path, &size);

	return !got[0] && memcmp(got, got + 1, size - 1) == 0;
}

/* What mdadm was asked, and what was in the root when the array was taken down. */
static char *
md_log(void)
{
	bu_autofree char *path = bu_xasprintf("%s/md.log", dir);
	char *log = bu_file_read(path, 1 << 20, NULL, NULL);

	return log ? log : bu_xstrdup("");
}

static char *
sgdisk(const char *option, const char *number, const char *path)
{
	const char *argv[] = {"sgdisk", option, number ? number : path,
			      number ? path : NULL, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 30000};
	struct bu_err err = {0};
	char *out = NULL;

	ck_assert_msg(bu_job_run(&opts, &out, &err) == 0, "%s", err.text);
	return out;
}

/* A line of it, behind its colon. */
static void
line_of(const char *text, const char *key, char ret[64])
{
	const char *at = strstr(text, key);

	ck_assert_msg(at != NULL, "%s: %s", key, text);
	snprintf(ret, 64, "%.*s", (int)strcspn(at, "(\n"), at);
}

/* Both have both partitions at one place, with GUIDs of their own: a boot entry that
 * leads to one of them leads to no other. */
static void
tables_agree(void)
{
	static const char *const same[] = {"Partition GUID code", "First sector",
					   "Last sector", "Partition name"};

	for (int part = 1; part <= 2; part++) {
		char number[2] = {(char)('0' + part), 0}, a[64], b[64];
		bu_autofree char *one = sgdisk("-i", number, disk);
		bu_autofree char *two = sgdisk("-i", number, second);

		for (size_t i = 0; i < BU_LEN(same); i++) {
			line_of(one, same[i], a);
			line_of(two, same[i], b);
			ck_assert_str_eq(a, b);
		}
		line_of(one, "Partition unique GUID", a);
		line_of(two, "Partition unique GUID", b);
		ck_assert_str_ne(a, b);
		ck_assert_int_eq(part == 2, strstr(one, "'bringup-root'") != NULL);
		ck_assert_int_eq(part == 2, strstr(one, BU_RAID_TYPE) != NULL);
	}
}

START_TEST(both_disks_get_all_of_it)
{
	static const off_t sizes[] = {DISK_BYTES, DISK_BYTES - (9 << 20),
				      DISK_BYTES + 512 * 12345};

	for (size_t i = 0; i < BU_LEN(sizes); i++) {
		struct bu_install_opts opts;
		const char *const paths[] = {disk, second};
		bu_autofree char *esp = NULL, *raw = NULL;
		size_t esp_size, raw_size;

		begin(sizes[i]);
		opts = mirrored();
		works(&opts);
		esp = all_of(esp_raw, &esp_size);
		raw = all_of(root_raw, &raw_size);
		for (size_t k = 0; k < BU_LEN(paths); k++) {
			size_t size;
			bu_autofree char *got = all_of(paths[k], &size);
			bu_autofree char *said = sgdisk("-v", NULL, paths[k]);

			ck_assert_msg(strstr(said, "No problems found") != NULL, "%s",
				      said);
			ck_assert_int_eq(memcmp(got + (1 << 20), esp, esp_size), 0);
			ck_assert_int_eq(memcmp(got + (2 << 20), raw, raw_size), 0);
			ck_assert(has(paths[k], BU_MARK_OFFSET, "BUDONE01"));
			/* It starts by BIOS, too: code, and a signature of its own. */
			ck_assert_int_eq((uint8_t)got[0], 0x90);
			ck_assert_int_ne(memcmp(got + 440, "\0\0\0", 4), 0);
		}
		tables_agree();
		teardown();
	}
}
END_TEST

/* In step, at the end of the partitions, with all that was written to the root. */
START_TEST(the_roots_are_one_array)
{
	struct bu_install_opts opts;
	bu_autofree char *log = NULL, *want = NULL;

	begin(DISK_BYTES);
	opts = mirrored();
	works(&opts);
	log = md_log();
	want = bu_xasprintf("--create /dev/md127 --run --force --homehost=any "
			    "--level=raid1 "
			    "--uuid=aaaaaaaa:bbbb8ccc:8dddeeee:eeeeeeee "
			    "--raid-devices=2 --metadata=1.0 --bitmap=internal "
			    "--assume-clean --name=root %s %s\n--stop /dev/md127\netc\n"
			    "usr\nvar\n--examine --export %s\n--examine --export %s\n",
			    disk, second, disk, second);
	ck_assert_str_eq(log, want);
	teardown();
}
END_TEST

/* The last MiB of its partition is the array's: an image that fills the smaller of the
 * disks without it leaves no room. */
START_TEST(the_smaller_disk_has_room_for_the_array)
{
	static const struct {
		off_t mib;
		int fits;
	} rows[] = {{17, 1}, {16, 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_install_opts opts;

		begin(rows[i].mib << 20);
		opts = mirrored();
		if (rows[i].fits) {
			works(&opts);
		} else {
			fails(&opts, BU_ERR_INVAL, "the disk has 16 MiB");
			ck_assert(is_untouched(disk) && is_untouched(second));
		}
		teardown();
	}
}
END_TEST

/* What is on one of them; nothing is written to either. */
START_TEST(a_disk_that_is_not_empty_stops_everything)
{
	for (int which = 0; which < 2; which++) {
		struct bu_install_opts opts;
		const char *path, *other;
		bu_autofree char *says = NULL;

		begin(DISK_BYTES);
		path = which ? second : disk;
		other = which ? disk : second;
		says = bu_xasprintf("%s is not empty", path);
		opts = mirrored();
		put(path, 5000, "x");
		fails(&opts, BU_ERR_STATE, says);
		ck_assert(is_untouched(other));
		ck_assert(has(path, 5000, "x"));
		/* the grant for the one is none for the other */
		opts.allow_wipe = 1;
		opts.mirror_granted = 0;
		if (which) {
			fails(&opts, BU_ERR_STATE, says);
			ck_assert(is_untouched(other));
			opts.mirror_granted = 1;
		}
		works(&opts);
		ck_assert(!has(path, 5000, "x"));
		teardown();
	}
}
END_TEST

START_TEST(what_cannot_be_a_mirror_is_refused)
{
	struct bu_install_opts opts;

	begin(DISK_BYTES);
	opts = mirrored();
	opts.mirror = disk;
	fails(&opts, BU_ERR_INVAL, "its own mirror");
	opts.mirror = "/no/such/disk";
	fails(&opts, BU_ERR_NOTFOUND, "/no/such/disk");
	ck_assert(is_untouched(disk));
	opts = mirrored();
	opts.scratch = &(struct bu_install_member){
		second, "11111111-2222-8333-8444-555555555551"};
	opts.scratch_count = 1;
	opts.scratch_uuid = opts.mirror_uuid;
	fails(&opts, BU_ERR_INVAL, "is the system's");
	ck_assert(is_untouched(disk) && is_untouched(second));
	teardown();
	/* Its initial ramdisk would not find the root. */
	begin(DISK_BYTES);
	with_mirror = 0;
	make_image();
	opts = mirrored();
	fails(&opts, BU_ERR_STATE, "does not support a mirrored root");
	ck_assert(is_untouched(disk) && is_untouched(second));
	teardown();
}
END_TEST

/* Whatever stops it: neither disk boots, and the same step does it again. */
START_TEST(a_step_that_broke_off_is_done_again)
{
	static const char *const why[] = {"broken", "without"};

	for (size_t i = 0; i < BU_LEN(why); i++) {
		struct bu_install_opts opts;
		bu_autofree char *path = NULL;

		begin(DISK_BYTES);
		path = bu_xasprintf("%s/%s", dir, why[i]);
		ck_assert_int_eq(bu_file_write_text(path, 0600, NULL, "%s", second), 0);
		opts = mirrored();
		fails(&opts, BU_ERR_IO, i ? "is not in the array" : "broken");
		check_unfinished();
		ck_assert(has(second, BU_MARK_OFFSET, "BUMARK01"));
		ck_assert(!has(second, 512, "EFI PART"));
		unlink(path);
		works(&opts);
		ck_assert(has(second, BU_MARK_OFFSET, "BUDONE01"));
		/* and once more, when nobody heard of it */
		works(&opts);
		teardown();
	}
}
END_TEST

/* Of nodes whose other disks are kept: the pair is written again, and one of it may be
 * new. A system that is not mirrored is another thing. */
START_TEST(a_reimage_takes_the_pair_or_an_empty_disk)
{
	struct bu_install_opts opts, alone;

	begin(DISK_BYTES);
	opts = mirrored();
	works(&opts);
	opts.keep_data = 1;
	works(&opts);
	ck_assert_int_eq(truncate(second, 0), 0);
	ck_assert_int_eq(truncate(second, DISK_BYTES), 0);
	works(&opts);
	alone = opts;
	alone.mirror = NULL;
	fails(&alone, BU_ERR_STATE, "bringup-root");
	alone.keep_data = 0;
	alone.allow_wipe = 1;
	works(&alone);
	fails(&opts, BU_ERR_STATE, "root");
	teardown();
}
END_TEST

BU_UNIT("mirror", both_disks_get_all_of_it, the_roots_are_one_array,
	the_smaller_disk_has_room_for_the_array,
	a_disk_that_is_not_empty_stops_everything, what_cannot_be_a_mirror_is_refused,
	a_step_that_broke_off_is_done_again, a_reimage_takes_the_pair_or_an_empty_disk)
