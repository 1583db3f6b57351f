/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system loaded into memory, from the server of the installer's tests. Nothing is
 * mounted here: that is for machines (tests/system/install-matrix ram).
 */
#include "images/install/ram.h"

#include "tests/support/install.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>

static char ram_dir[80], loaded[96];
static struct bu_ram_place place;

static void
begin(void)
{
	image_kernel = "6.1.0-28";
	setup();
	cancel_after = -1;
	stages[0] = '\0';
	snprintf(ram_dir, sizeof(ram_dir), "%s/ram", dir);
	snprintf(loaded, sizeof(loaded), "%s/image", ram_dir);
	ck_assert_int_eq(bu_mkdir_p(ram_dir, 0755, NULL), 0);
	place = (struct bu_ram_place){ram_dir, "6.1.0-28", UINT64_C(1) << 30};
}

/* disk NULL: whoever opens one fails. */
static int
load(struct bu_err *err)
{
	static const struct bu_install_hooks hooks = {.progress = note_progress,
						      .cancelled = ask_cancelled};
	struct bu_install_opts opts = defaults();

	opts.disk = NULL;
	memset(err, 0, sizeof(*err));
	return bu_ram_load(&opts, &hooks, &place, err);
}

static void
check_nothing_loaded(void)
{
	struct stat st;

	ck_assert_int_eq(stat(loaded, &st), -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(server.ranges, 0);
}

START_TEST(the_root_as_it_is_and_the_files_beside_it)
{
	char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
	bu_autofree char *want = NULL, *got = NULL;
	size_t want_size, got_size;
	struct bu_err err;
	struct stat st;

	begin();
	ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
	ck_assert_msg(load(&err) == 0, "%s", err.text);
	want = bu_file_read(root_raw, 0, &want_size, NULL);
	got = bu_file_read(loaded, 0, &got_size, NULL);
	ck_assert_uint_eq(got_size, want_size);
	ck_assert_int_eq(memcmp(got, want, want_size), 0);
	/* The frame of zeros is not fetched, and takes no memory. */
	ck_assert_int_eq(server.ranges, 3);
	ck_assert_int_eq(stat(loaded, &st), 0);
	ck_assert_int_lt((int64_t)st.st_blocks * 512, ROOT_BYTES - BU_FRAME_BYTES / 2);
	check_file("etc/hostname", "node001\n", 0644);
	check_file("var/lib/bringup/stamp.json", "{\"stamp\":1}", 0600);
	ck_assert_str_eq(stages, "manifest write files done ");
	ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
	ck_assert_str_eq(before, after);
	teardown();
}
END_TEST

START_TEST(too_little_memory_is_said_before_anything)
{
	struct bu_err err;

	begin();
	place.memory_bytes = 130 << 20;
	ck_assert_int_eq(load(&err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_str_eq(err.text, "image small needs 137 MiB of memory to run from "
				   "it, and 130 MiB are free");
	check_nothing_loaded();
	place.memory_bytes = 137 << 20;
	ck_assert_msg(load(&err) == 0, "%s", err.text);
	teardown();
}
END_TEST

/* Its modules would fit to no kernel that runs. */
START_TEST(another_kernel_is_said_before_anything)
{
	struct bu_err err;

	begin();
	place.kernel = "6.1.0-30";
	ck_assert_int_eq(load(&err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_msg(strstr(err.text, "has kernel 6.1.0-28, and the boot ramdisk "
				       "6.1.0-30") != NULL,
		      "%s", err.text);
	check_nothing_loaded();
	teardown();
}
END_TEST

START_TEST(a_wrong_signature_stops_before_anything)
{
	char *right;
	struct bu_err err;

	begin();
	right = image_pub;
	image_pub = boss_pub;
	ck_assert_int_eq(load(&err), -1);
	image_pub = right;
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	check_nothing_loaded();
	digest[0] ^= 1;
	ck_assert_int_eq(load(&err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	check_nothing_loaded();
	teardown();
}
END_TEST

/* An answer that is cut off is asked for again, with the frames before it kept; a
 * server that is away for a moment is waited for. */
START_TEST(a_cut_is_gone_on_from)
{
	struct bu_err err;

	begin();
	server.cuts = 1;
	server.outages = 2;
	ck_assert_msg(load(&err) == 0, "%s", err.text);
	ck_assert_int_eq(server.ranges, 4);
	teardown();
}
END_TEST

START_TEST(a_wrong_frame_leaves_nothing)
{
	struct bu_err err;
	struct stat st;

	begin();
	server.flips = -1;
	ck_assert_int_eq(load(&err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, "wrong twice") != NULL, "%s", err.text);
	ck_assert_int_eq(stat(loaded, &st), -1);
	server.flips = 0;
	ck_assert_msg(load(&err) == 0, "%s", err.text);
	teardown();
}
END_TEST

static int
is_mount(const char *path)
{
	bu_autofree char *mounts = bu_file_read("/proc/self/mounts", 0, NULL, NULL);
	bu_autofree char *words = bu_xasprintf(" %s", path);

	ck_assert_ptr_nonnull(mounts);
	return strstr(mounts, words) != NULL;
}

/* The agent ended in the midst of a load, twice, and is started again. */
START_TEST(what_a_load_left_holds_no_memory)
{
	BU_NEEDS("root");
	bu_autofree char *part = NULL;
	struct bu_ram_place found;
	char release[65];
	struct bu_err err;

	begin();
	part = bu_xasprintf("%s/rw", ram_dir);
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(mount("image", ram_dir, "tmpfs", 0, NULL), 0);
		ck_assert_int_eq(bu_mkdir_p(part, 0755, NULL), 0);
		ck_assert_int_eq(mount("written", part, "tmpfs", 0, NULL), 0);
	}
	ck_assert(is_mount(ram_dir));
	ck_assert_msg(bu_ram_place(ram_dir, release, &found, &err) == 0, "%s",
		      err.text);
	ck_assert(!is_mount(ram_dir));
	ck_assert_str_eq(found.dir, ram_dir);
	ck_assert_uint_gt(found.memory_bytes, 0);
	teardown();
}
END_TEST

BU_UNIT("ram", what_a_load_left_holds_no_memory,
	the_root_as_it_is_and_the_files_beside_it,
	too_little_memory_is_said_before_anything,
	another_kernel_is_said_before_anything, a_wrong_signature_stops_before_anything,
	a_cut_is_gone_on_from, a_wrong_frame_leaves_nothing)
