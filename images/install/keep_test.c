/* SPDX-License-Identifier: Apache-2.0 */
/* What an install finds on a disk and leaves there: foreign data, the mark of an
 * unfinished install, data partitions. */
#include "tests/support/install.h"

START_TEST(what_is_on_the_disk_stays)
{
	static const uint64_t places[] = {0, 1080, BU_MARK_OFFSET, DISK_BYTES - 1};
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	for (size_t i = 0; i < BU_LEN(places); i++) {
		char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];

		ck_assert_int_eq(truncate(disk, 0) | truncate(disk, DISK_BYTES), 0);
		put(disk, places[i], "x");
		ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
		ck_assert_int_eq(install(&opts, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_STATE);
		ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
		ck_assert_str_eq(before, after);
	}
	opts.allow_wipe = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	teardown();
}
END_TEST

/* The power went between the last byte and the word on it. */
START_TEST(a_step_that_nobody_heard_of_is_done_again)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	ck_assert_int_eq(server.ranges, 6);
	/* What another step has installed is somebody's system. */
	next_step(&opts);
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	check_finished();
	teardown();
}
END_TEST

START_TEST(only_the_steps_own_mark_counts)
{
	struct bu_install_opts opts;
	struct bu_err err;
	bu_autofree char *other_key = NULL;
	bu_autofree char *other_pub = NULL;

	setup();
	opts = defaults();
	cancel_after = 3; /* after the mark, before all frames */
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	check_unfinished();
	cancel_after = -1;
	/* Another step finds a foreign mark. */
	next_step(&opts);
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	/* The same step, but the appliance's key is another one. */
	opts = defaults();
	ck_assert_int_eq(bu_sign_key_create(&other_key, &other_pub, NULL), 0);
	opts.appliance_public_pem = other_pub;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	opts = defaults();
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	teardown();
}
END_TEST

/* A block that says of itself that it is a mark, with any length in it. */
START_TEST(a_mark_of_any_length_is_foreign)
{
	static const uint32_t sizes[] = {
		0,          1,          BU_MARK_TEXT_MAX, BU_MARK_TEXT_MAX + 1,
		0xffff,     0x00ffffff, 0x7fffffff,       0x80000000,
		0xff000000, 0xfffff000, 0xffffffff};
	static const char *const magics[] = {"BUMARK01", "BUDONE01"};
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	for (size_t i = 0; i < BU_LEN(sizes) * BU_LEN(magics); i++) {
		char block[16], before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];

		snprintf(block, sizeof(block), "%s....{}", magics[i % 2]);
		for (int k = 0; k < 4; k++)
			block[8 + k] = (char)(sizes[i / 2] >> 8 * k | (k ? 0 : 1));
		if (sizes[i / 2] == 0)
			block[8] = '\0';
		{
			bu_autoclose int fd = open(disk, O_RDWR);

			ck_assert_int_eq(pwrite(fd, block, 14, BU_MARK_OFFSET), 14);
		}
		ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
		ck_assert_int_eq(install(&opts, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_STATE);
		ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
		ck_assert_str_eq(before, after);
	}
	teardown();
}
END_TEST

/* Signed, and yet it would not fit into its block. */
START_TEST(a_mark_that_does_not_fit_writes_nothing)
{
	bu_autofree char *text =
		bu_xasprintf("{\"step\":\"s-1\",\"x\":\"%0*d\"}", BU_MARK_TEXT_MAX, 0);
	char sig[BU_SIG_HEX_SIZE], before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
	ck_assert_int_eq(bu_sign(boss_key, text, strlen(text), sig, NULL), 0);
	opts.mark_text = text;
	opts.mark_sig = sig;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(err.text, "wrong size"));
	opts.mark_text = mark;
	opts.mark_sig = "cafe";
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
	ck_assert_str_eq(before, after);
	teardown();
}
END_TEST

/* Firmware looks at the end of the disk when it finds no table in front. */
START_TEST(a_wipe_that_ends_in_the_middle_leaves_no_table)
{
	struct bu_install_opts opts;
	struct bu_err err;
	size_t size;
	bu_autofree char *got = NULL;

	setup();
	cancel_after = -1;
	opts = defaults();
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	put(disk, BU_EDGE_BYTES - 1, "x");
	put(disk, DISK_BYTES - BU_EDGE_BYTES, "x");
	next_step(&opts);
	opts.allow_wipe = 1;
	server.flips = -1;
	ck_assert_int_eq(install(&opts, &err), -1);
	check_unfinished();
	got = bu_file_read(disk, 128 << 20, &size, NULL);
	for (size_t i = 0; i < BU_EDGE_BYTES; i++) {
		int is_mark = i >= BU_MARK_OFFSET && i < BU_MARK_OFFSET + BU_MARK_SIZE;

		ck_assert(is_mark || !got[i]);
		ck_assert(!got[size - BU_EDGE_BYTES + i]);
	}
	teardown();
}
END_TEST

static void
check_disk(const char *want, uint64_t at)
{
	bu_autoclose int fd = open(disk, O_RDONLY);
	char got[4];

	ck_assert_int_eq(pread(fd, got, 4, at), 4);
	ck_assert(!memcmp(got, want, 4));
}

/* A file system that is mounted has its disk opened in this way, too. */
START_TEST(a_disk_in_use_is_refused)
{
	BU_NEEDS("root", "losetup");
	const char *attach[] = {"losetup", "--find", "--show", disk, NULL};
	const char *detach[] = {"losetup", "--detach", NULL, NULL};
	struct bu_job_opts job = {.argv = attach, .deadline_ms = 20000};
	bu_autofree char *path = NULL;
	const struct bu_install_hooks hooks = {0};
	struct bu_disk opened;
	struct bu_err err = {0};

	setup();
	ck_assert_msg(!bu_job_run(&job, &path, &err), "%s", err.text);
	path[strcspn(path, "\n")] = '\0';
	/* it goes with the last that has it open, also when this test fails */
	bu_autoclose int held = open(path, O_RDONLY | O_CLOEXEC);
	detach[2] = path;
	job.argv = detach;
	ck_assert_int_eq(bu_job_run(&job, NULL, NULL), 0);
	{
		bu_autoclose int user = open(path, O_RDWR | O_EXCL | O_CLOEXEC);

		ck_assert_int_ge(user, 0);
		ck_assert_int_eq(bu_disk_open(path, &opened, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	}
	ck_assert_int_eq(bu_disk_open(path, &opened, &err), 0);
	ck_assert_int_eq(opened.is_block, 1);
	ck_assert_uint_eq(opened.size_bytes, DISK_BYTES);
	ck_assert_int_eq(bu_disk_write(opened.fd, "old", 4, 5 << 20, NULL), 0);
	ck_assert_int_eq(bu_disk_write(opened.fd, "old", 4, 6 << 20, NULL), 0);
	ck_assert_int_eq(bu_disk_sync(&opened, NULL), 0);
	ck_assert_int_eq(bu_disk_discard(&opened, 5 << 20, 1 << 20,
					 &(struct bu_discard){.hooks = &hooks}, &err),
			 0);
	bu_disk_close(&opened);
	/* In the file below the loop device. */
	check_disk("\0\0\0\0", 5 << 20);
	check_disk("old", 6 << 20);
	ck_assert_int_ge(held, 0);
	teardown();
}
END_TEST

enum { SLICES = 6 }; /* of 8 GiB */

/* A slow array: what is told and asked within one discard. */
static struct {
	int asked, cancel_at, slow_at;
	int told;
	uint64_t done, total;
} slow;

static int
ask_slow(void *arg)
{
	if (slow.asked == slow.slow_at)
		usleep(600 * 1000);
	return slow.asked++ == slow.cancel_at;
}

static void
note_slow(const char *stage, uint64_t done, uint64_t total, void *arg)
{
	ck_assert_str_eq(stage, "disk");
	slow.told++;
	slow.done = done;
	slow.total = total;
}

/* Each slice of the file begins with a byte, and so does what is behind them. */
static int
discard_slices(const char *path, int cancel_at, int slow_at)
{
	static const struct bu_install_hooks hooks = {.progress = note_slow,
						      .cancelled = ask_slow};
	struct bu_discard discard = {
		.hooks = &hooks, .done_bytes = 4096, .total_bytes = UINT64_C(8) << 33};
	struct bu_disk opened;
	struct bu_err err = {0};
	int rc;

	ck_assert_int_eq(truncate(path, INT64_C(8) << 33), 0);
	ck_assert_int_eq(bu_disk_open(path, &opened, &err), 0);
	for (uint64_t i = 0; i < SLICES + 1; i++)
		ck_assert_int_eq(bu_disk_write(opened.fd, "old", 4, i << 33, NULL), 0);
	memset(&slow, 0, sizeof(slow));
	slow.cancel_at = cancel_at;
	slow.slow_at = slow_at;
	rc = bu_disk_discard(&opened, 4096, ((uint64_t)SLICES << 33) - 4096, &discard,
			     &err);
	ck_assert_int_eq(rc ? err.kind : BU_ERR_CANCELLED, BU_ERR_CANCELLED);
	bu_disk_close(&opened);
	return rc;
}

static void
check_slices(const char *path, int first, int end, const char *want)
{
	bu_autoclose int fd = open(path, O_RDONLY);
	char got[4];

	for (uint64_t i = (uint64_t)first; i < (uint64_t)end; i++) {
		ck_assert_int_eq(pread(fd, got, 4, (off_t)(i << 33)), 4);
		ck_assert_msg(memcmp(got, want, 4) == 0, "slice %d", (int)i);
	}
}

START_TEST(a_huge_discard_is_told_and_can_be_cancelled)
{
	setup();
	/* "old" before and behind the range stays. */
	ck_assert_int_eq(discard_slices(disk, -1, 3), 0);
	ck_assert_int_eq(slow.asked, SLICES);
	ck_assert_int_ge(slow.told, 2);
	ck_assert_uint_ge(slow.done, UINT64_C(4) << 33); /* with what was before */
	ck_assert_uint_eq(slow.done % (UINT64_C(1) << 33), 0);
	ck_assert_uint_eq(slow.total, UINT64_C(8) << 33);
	check_slices(disk, 0, 1, "old");
	check_slices(disk, 1, SLICES, "\0\0\0");
	check_slices(disk, SLICES, SLICES + 1, "old");
	ck_assert_int_eq(discard_slices(disk, 2, -1), -1);
	ck_assert_int_eq(slow.asked, 3);
	check_slices(disk, 1, 2, "\0\0\0");
	check_slices(disk, 2, SLICES + 1, "old");
	teardown();
}
END_TEST

static const struct bu_install_data data[] = {
	{"scratch", "96f62889-af4e-8f85-861b-0b5cbec056e2", 20 << 20}};
enum { DATA_BEGIN = DISK_BYTES - (21 << 20), DATA_LAST = DISK_BYTES - (1 << 20) - 4 };

static void
write_disk(const char *text, uint64_t at)
{
	bu_autoclose int fd = open(disk, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, text, 4, at), 4);
}

/* Names of the partitions, as util-linux reads the disk. */
static void
check_names(const char *want)
{
	const char *const argv[] = {"partx", "-g", "--raw", "-o", "NAME", disk, NULL};
	const struct bu_job_opts job = {.argv = argv, .deadline_ms = 20000};
	bu_autofree char *out = NULL;

	ck_assert_int_eq(bu_job_run(&job, &out, NULL), 0);
	ck_assert_str_eq(out, want);
}

START_TEST(a_reimage_keeps_data_whatever_happens)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	opts.data = data;
	opts.data_count = BU_LEN(data);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_names("esp\nroot\nscratch\n");
	write_disk("head", DATA_BEGIN);
	write_disk("tail", DATA_LAST);
	/* Nothing was granted. */
	next_step(&opts);
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	opts.keep_data = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	check_names("esp\nroot\nscratch\n");
	/* It ends in the middle: nothing boots, and the data can still be found, also
	 * by a later step that does not know of this one. */
	server.flips = -1;
	ck_assert_int_eq(install(&opts, &err), -1);
	check_names("scratch\n");
	/* Nor does the same step forget it, when the profile has changed meanwhile. */
	opts.data_count = 0;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	check_names("scratch\n");
	opts.data_count = 1;
	write_disk("none", BU_MARK_OFFSET);
	server.flips = 0;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	check_disk("head", DATA_BEGIN);
	check_disk("tail", DATA_LAST);
	/* The step that goes on over a table that was torn keeps it, too. */
	server.flips = -1;
	ck_assert_int_eq(install(&opts, &err), -1);
	server.flips = 0;
	write_disk("torn", 512);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_names("esp\nroot\nscratch\n");
	check_disk("head", DATA_BEGIN);
	check_disk("tail", DATA_LAST);
	/* A profile without the partition does not get it by a reimage. */
	opts.data_count = 0;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "a partition 'scratch'"));
	check_names("esp\nroot\nscratch\n");
	/* A wipe leaves nothing that looks like a file system. */
	opts.data_count = 1;
	opts.keep_data = 0;
	opts.allow_wipe = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_disk("\0\0\0\0", DATA_BEGIN);
	check_disk("\0\0\0\0", DATA_LAST);
	teardown();
}
END_TEST

/* Between their ends, too: an SSD learns what is free. Not before it is granted, and
 * never what is kept. */
START_TEST(what_was_there_is_discarded)
{
	static const uint64_t in_root = 30 << 20, in_data = DATA_BEGIN + (9 << 20);
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	opts.data = data;
	opts.data_count = BU_LEN(data);
	put(disk, 0, "x");
	write_disk("root", in_root);
	ck_assert_int_eq(install(&opts, &err), -1);
	check_disk("root", in_root);
	opts.allow_wipe = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	ck_assert_uint_eq(discard_total, DISK_BYTES);
	ck_assert_uint_gt(discard_done, 0);
	ck_assert_uint_lt(discard_done, discard_total);
	check_disk("\0\0\0\0", in_root);
	write_disk("root", in_root);
	write_disk("data", in_data);
	next_step(&opts);
	opts.allow_wipe = 0;
	opts.keep_data = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_disk("\0\0\0\0", in_root);
	check_disk("data", in_data);
	opts.allow_wipe = 1;
	opts.keep_data = 0;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_disk("\0\0\0\0", in_data);
	teardown();
}
END_TEST

BU_UNIT("keep", what_is_on_the_disk_stays, a_step_that_nobody_heard_of_is_done_again,
	only_the_steps_own_mark_counts, a_mark_of_any_length_is_foreign,
	a_mark_that_does_not_fit_writes_nothing,
	a_wipe_that_ends_in_the_middle_leaves_no_table, a_disk_in_use_is_refused,
	a_reimage_keeps_data_whatever_happens, what_was_there_is_discarded,
	a_huge_discard_is_told_and_can_be_cancelled)
