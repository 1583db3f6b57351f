/* SPDX-License-Identifier: Apache-2.0 */
/* A disk with two roots is written again and again: the root that is confirmed stays as
 * it is, whatever happens to the other one. */
#include "images/install/roots.h"

#include "tests/support/install.h"
#include "tests/support/slots.h"

enum { ROOMY = 1200 << 20, MIB = 1 << 20 };
/* Of a disk of that size: what lies where, by hand. */
enum {
	BOOT_AT = 1 * MIB,
	MARK_A = 321 * MIB,
	ESP_A = 322 * MIB,
	ROOT_A = 642 * MIB,
	ROOT_SIZE = 118 * MIB,
	MARK_B = ROOT_A + ROOT_SIZE,
	ESP_B = MARK_B + MIB,
	ROOT_B = ESP_B + 320 * MIB,
};

static const struct {
	const char *name;
	uint32_t number;
	uint64_t at, size;
} places[] = {
	{"esp", 1, BOOT_AT, 320 * MIB},   {"ESP-a", 2, ESP_A, 320 * MIB},
	{"root-a", 3, ROOT_A, ROOT_SIZE}, {"ESP-b", 4, ESP_B, 320 * MIB},
	{"root-b", 5, ROOT_B, ROOT_SIZE},
};

static char esp_dir[64], boot_dir[64], text_a[200], sig_a[BU_SIG_HEX_SIZE];
static struct bu_install_slot done;

/* The mark of a step that installs the image. */
static void
sign_mark(const char *step, const char *image)
{
	snprintf(text_a, sizeof(text_a), "{\"digest\":\"%s\",\"step\":\"%s\"}", image,
		 step);
	ck_assert_int_eq(bu_sign(boss_key, text_a, strlen(text_a), sig_a, NULL), 0);
}

static struct bu_install_opts
two_roots(int64_t disk_bytes)
{
	struct bu_install_opts opts = defaults();

	ck_assert_int_eq(truncate(disk, disk_bytes), 0);
	snprintf(esp_dir, sizeof(esp_dir), "%s/esp", dir);
	snprintf(boot_dir, sizeof(boot_dir), "%s/boot", dir);
	make_esp(esp_dir);
	make_esp(boot_dir);
	sign_mark("s-1", digest);
	opts.mark_text = text_a;
	opts.mark_sig = sig_a;
	opts.roots = 2;
	opts.esp_dir = esp_dir;
	opts.boot_dir = boot_dir;
	opts.kargs = "mine=1";
	opts.ret_slot = &done;
	cancel_after = -1;
	return opts;
}

static char *
bytes_at(uint64_t at, size_t size)
{
	bu_autoclose int fd = open(disk, O_RDONLY);
	char *text = bu_xmalloc(size + 1);

	ck_assert_int_eq(pread(fd, text, size, (off_t)at), (ssize_t)size);
	text[size] = '\0';
	return text;
}

static int
holds(const char *raw, uint64_t at)
{
	size_t size;
	bu_autofree char *want = bu_file_read(raw, 0, &size, NULL);
	bu_autofree char *got = bytes_at(at, size);

	return !memcmp(want, got, size);
}

static void
sum(uint64_t at, size_t size, char ret[BU_DIGEST_SIZE])
{
	bu_autofree char *text = bytes_at(at, size);

	bu_sha256_hex(text, size, ret);
}

static int
starts_with(uint64_t at, const char *text)
{
	bu_autofree char *got = bytes_at(at, strlen(text));

	return !strcmp(got, text);
}

static void
check_choice(int slot, int try)
{
	struct bu_chooser is;

	ck_assert_int_eq(bu_chooser_read(boot_dir, &is, NULL), 0);
	ck_assert_int_eq(is.slot, slot);
	ck_assert_int_eq(is.try, try);
}

static void
choose(int slot, int try)
{
	ck_assert_int_eq(
		bu_chooser_set(boot_dir, &(struct bu_chooser){slot, try}, NULL), 0);
}

static void
writes(const struct bu_install_opts *opts, int slot, int tried, int reused)
{
	struct bu_err err;

	done = (struct bu_install_slot){-1, -1, -1};
	ck_assert_msg(!install(opts, &err), "%s", err.text);
	ck_assert_int_eq(done.slot, slot);
	ck_assert_int_eq(done.tried, tried);
	ck_assert_int_eq(done.reused, reused);
}

static void
again(struct bu_install_opts *opts, const char *step)
{
	sign_mark(step, digest);
	opts->step_id = step;
	opts->keep_data = 1;
	/* As the frames bring it. */
	make_esp(esp_dir);
}

START_TEST(a_new_disk_has_both_and_starts_the_first)
{
	struct bu_install_opts opts;
	bu_autofree char *shim = NULL, *boot_shim = NULL, *nothing = NULL;
	struct bu_gpt_esp part;

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	for (size_t i = 0; i < BU_LEN(places); i++) {
		ck_assert_int_eq(bu_gpt_find_part(disk, places[i].name, &part, NULL),
				 0);
		ck_assert_uint_eq(part.number, places[i].number);
		ck_assert_uint_eq(part.first_sector * 512, places[i].at);
		ck_assert_uint_eq(part.sectors * 512, places[i].size);
	}
	/* What a firmware looks for is there once, or not at all in these images. */
	ck_assert_int_eq(bu_gpt_find_esp(disk, &part, NULL), -1);
	ck_assert(holds(esp_raw, BOOT_AT) && holds(esp_raw, ESP_A));
	ck_assert(holds(root_raw, ROOT_A));
	nothing = bytes_at(ESP_B, 8 * MIB);
	ck_assert(nothing[0] == 0 && !memcmp(nothing, nothing + 1, 8 * MIB - 1));
	ck_assert(starts_with(BU_MARK_OFFSET, "BUDONE01"));
	ck_assert(starts_with(MARK_A, "BUDONE01"));
	check_choice(BU_SLOT_A, BU_SLOT_NONE);
	shim = bu_xasprintf("%s/EFI/BOOT/BOOTX64.EFI", esp_dir);
	boot_shim = bu_xasprintf("%s/EFI/BOOT/BOOTX64.EFI", boot_dir);
	ck_assert(!bu_file_exists(shim) && bu_file_exists(boot_shim));
	check_file("etc/hostname", "node001\n", 0644);
	teardown();
}
END_TEST

/* The writes of a reimage lie in the other slot and nowhere else. */
START_TEST(a_reimage_writes_the_other_root_alone)
{
	char before[2][BU_DIGEST_SIZE], after[2][BU_DIGEST_SIZE];
	struct bu_install_opts opts;
	bu_autofree char *kargs_path = NULL, *kargs = NULL;

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	sum(0, MARK_B, before[0]);
	sum(ROOT_B + ROOT_SIZE, ROOMY - ROOT_B - ROOT_SIZE, before[1]);
	again(&opts, "s-2");
	writes(&opts, BU_SLOT_B, 1, 0);
	check_choice(BU_SLOT_A, BU_SLOT_B);
	ck_assert(holds(esp_raw, ESP_B) && holds(root_raw, ROOT_B));
	ck_assert(starts_with(MARK_B, "BUDONE01"));
	kargs_path = bu_xasprintf("%s/kargs", esp_dir);
	kargs = bu_file_read(kargs_path, 0, NULL, NULL);
	ck_assert_str_eq(kargs, "rw quiet bringup.slot=b\n");
	/* It was not confirmed: the same one again, and never the first. */
	again(&opts, "s-3");
	writes(&opts, BU_SLOT_B, 1, 0);
	sum(0, MARK_B, after[0]);
	sum(ROOT_B + ROOT_SIZE, ROOMY - ROOT_B - ROOT_SIZE, after[1]);
	ck_assert_str_eq(before[0], after[0]);
	ck_assert_str_eq(before[1], after[1]);
	/* Confirmed, it is the one that stays. */
	choose(BU_SLOT_B, BU_SLOT_NONE);
	sum(MARK_B, ROOMY - MARK_B, before[0]);
	again(&opts, "s-4");
	writes(&opts, BU_SLOT_A, 1, 0);
	sum(MARK_B, ROOMY - MARK_B, after[0]);
	ck_assert_str_eq(before[0], after[0]);
	check_choice(BU_SLOT_B, BU_SLOT_A);
	teardown();
}
END_TEST

/* Cut off: the mark is that of the slot, and the loader tries nothing. */
START_TEST(what_broke_off_is_never_tried)
{
	char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
	struct bu_install_opts opts;

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	again(&opts, "s-2");
	writes(&opts, BU_SLOT_B, 1, 0);
	sum(0, MARK_B, before);
	again(&opts, "s-3");
	server.flips = -1;
	fails(&opts, BU_ERR_VERIFY, "wrong twice");
	ck_assert(starts_with(MARK_B, "BUMARK01"));
	check_choice(BU_SLOT_A, BU_SLOT_NONE);
	cancel_after = 3;
	server.flips = 0;
	fails(&opts, BU_ERR_CANCELLED, "cancelled");
	check_choice(BU_SLOT_A, BU_SLOT_NONE);
	sum(0, MARK_B, after);
	ck_assert_str_eq(before, after);
	cancel_after = -1;
	writes(&opts, BU_SLOT_B, 1, 0);
	check_choice(BU_SLOT_A, BU_SLOT_B);
	teardown();
}
END_TEST

START_TEST(an_image_that_is_there_costs_no_bytes)
{
	char other[BU_DIGEST_SIZE], before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
	struct bu_install_opts opts;
	bu_autofree char *old = NULL;

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	again(&opts, "s-2");
	opts.reuse = 1; /* there is nothing yet */
	server.ranges = 0;
	writes(&opts, BU_SLOT_B, 1, 0);
	ck_assert_int_ne(server.ranges, 0);
	choose(BU_SLOT_B, BU_SLOT_NONE);
	/* What the node has written to it since stays, and its own files are new. */
	sum(ESP_A, 440 * MIB / 2, before);
	again(&opts, "s-3");
	server.ranges = 0;
	opts.stamp_text = "{\"stamp\":3}";
	old = bu_xasprintf("%s/var/lib/bringup/next.key.pem", root);
	ck_assert_int_eq(bu_file_write(old, "x", 1, 0600, NULL), 0);
	writes(&opts, BU_SLOT_A, 1, 1);
	ck_assert_int_eq(server.ranges, 0);
	sum(ESP_A, 440 * MIB / 2, after);
	ck_assert_str_eq(before, after);
	/* A certificate of before would be shown to the appliance. */
	ck_assert(!bu_file_exists(old));
	check_file("var/lib/bringup/stamp.json", "{\"stamp\":3}", 0600);
	check_choice(BU_SLOT_B, BU_SLOT_A);
	/* Who wants it written anew gets that. */
	opts.reuse = 0;
	again(&opts, "s-4");
	writes(&opts, BU_SLOT_A, 1, 0);
	ck_assert_int_ne(server.ranges, 0);
	/* One that broke off, and one of another image, are written. */
	opts.reuse = 1;
	again(&opts, "s-5");
	cancel_after = 3;
	opts.reuse = 0;
	fails(&opts, BU_ERR_CANCELLED, "cancelled");
	cancel_after = -1;
	opts.reuse = 1;
	writes(&opts, BU_SLOT_A, 1, 0);
	memset(other, 'd', sizeof(other) - 1);
	other[sizeof(other) - 1] = '\0';
	again(&opts, "s-6");
	sign_mark("s-6", other); /* the slot is said to be of another one then */
	opts.reuse = 0;
	writes(&opts, BU_SLOT_A, 1, 0);
	opts.reuse = 1;
	again(&opts, "s-7");
	writes(&opts, BU_SLOT_A, 1, 0);
	teardown();
}
END_TEST

START_TEST(a_mark_that_nobody_signed_saves_nothing)
{
	struct bu_install_opts opts;
	bu_autoclose int fd = -1;

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	again(&opts, "s-2");
	writes(&opts, BU_SLOT_B, 1, 0);
	fd = open(disk, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "00000000", 8, MARK_B + 12 + (off_t)strlen(text_a)),
			 8);
	again(&opts, "s-3");
	opts.reuse = 1;
	writes(&opts, BU_SLOT_B, 1, 0);
	teardown();
}
END_TEST

START_TEST(a_wipe_begins_anew)
{
	struct bu_install_opts opts;

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	again(&opts, "s-2");
	writes(&opts, BU_SLOT_B, 1, 0);
	choose(BU_SLOT_B, BU_SLOT_NONE);
	again(&opts, "s-3");
	make_esp(boot_dir);
	opts.keep_data = 0;
	opts.allow_wipe = 1;
	writes(&opts, BU_SLOT_A, 0, 0);
	check_choice(BU_SLOT_A, BU_SLOT_NONE);
	ck_assert(starts_with(MARK_A, "BUDONE01") && !starts_with(MARK_B, "BU"));
	teardown();
}
END_TEST

/* One root becomes two, or the other way round, by a wipe alone. */
START_TEST(another_layout_is_no_reimage)
{
	char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
	struct bu_install_opts opts, one;

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	again(&opts, "s-2");
	sum(0, ROOMY, before);
	one = opts;
	one.roots = 0;
	fails(&one, BU_ERR_STATE, "ESP-a");
	opts.root_bytes = 1100ULL * MIB;
	opts.data = &(struct bu_install_data){
		"lake", "11111111-2222-3333-4444-555555555555", 0};
	opts.data_count = 1;
	fails(&opts, BU_ERR_STATE, "lake");
	opts.data_count = 0;
	fails(&opts, BU_ERR_STATE, "a wipe writes it anew");
	opts.root_bytes = 0;
	put_file(boot_dir, "EFI/debian/grubenv", "torn", 4);
	put_file(boot_dir, "syslinux.cfg", "torn", 4);
	fails(&opts, BU_ERR_STATE, "which root is confirmed");
	sum(0, ROOMY, after);
	ck_assert_str_eq(before, after);
	one.keep_data = 0;
	one.allow_wipe = 1;
	ck_assert_int_eq(install(&one, &(struct bu_err){0}), 0);
	one.allow_wipe = 0;
	again(&opts, "s-3");
	fails(&opts, BU_ERR_STATE, "'root'");
	teardown();
}
END_TEST

START_TEST(data_stays_beside_both)
{
	static const struct bu_install_data lake[] = {
		{"lake", "11111111-2222-3333-4444-555555555555", 64 * MIB}};
	struct bu_install_opts opts;
	bu_autoclose int fd = -1;
	uint64_t at = ROOMY - 65ULL * MIB;

	setup();
	opts = two_roots(ROOMY);
	opts.data = lake;
	opts.data_count = 1;
	writes(&opts, BU_SLOT_A, 0, 0);
	fd = open(disk, O_WRONLY);
	ck_assert_int_eq(pwrite(fd, "keep me", 7, (off_t)at), 7);
	for (int i = 0; i < 2; i++) {
		again(&opts, i ? "s-3" : "s-2");
		writes(&opts, i ? BU_SLOT_A : BU_SLOT_B, 1, 0);
		choose(i ? BU_SLOT_A : BU_SLOT_B, BU_SLOT_NONE);
		ck_assert(starts_with(at, "keep me"));
	}
	teardown();
}
END_TEST

/* What could not be read is not written over. */
START_TEST(a_disk_that_is_not_read_is_not_taken_for_one_with_one_root)
{
	struct bu_layout layout = {
		.disk_bytes = ROOMY, .sector_bytes = 512, .count = 5};
	struct bu_install_opts opts;
	struct bu_roots roots;
	struct bu_disk open;
	struct bu_err err = {0};

	setup();
	opts = two_roots(ROOMY);
	writes(&opts, BU_SLOT_A, 0, 0);
	again(&opts, "s-2");
	for (size_t i = 0; i < layout.count; i++) {
		layout.parts[i].name = places[i].name;
		layout.parts[i].begin_bytes = places[i].at;
		layout.parts[i].size_bytes = places[i].size;
	}
	ck_assert_int_eq(bu_roots_look(&opts, &roots, NULL), 0);
	ck_assert_int_eq(roots.keeps, 1);
	ck_assert_int_eq(bu_disk_open(disk, &open, NULL), 0);
	roots.keeps = 0;
	ck_assert_int_eq(bu_roots_choose(&opts, &open, &layout, &roots, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "had none a moment ago; retry it"));
	opts.allow_wipe = 1;
	ck_assert_int_eq(bu_roots_choose(&opts, &open, &layout, &roots, NULL), 0);
	opts.allow_wipe = 0;
	bu_disk_close(&open);
	opts.disk = dir; /* opens, and gives no bytes */
	ck_assert_int_eq(bu_roots_look(&opts, &roots, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	opts.disk = "/nowhere";
	ck_assert_int_eq(bu_roots_look(&opts, &roots, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	teardown();
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
	struct bu_install_opts opts;
	bu_autofree char *has = NULL;

	setup();
	opts = two_roots(900 * MIB);
	has = bu_xasprintf("%s: the disk has 900 MiB, two roots of image small need "
			   "990 MiB",
			   disk);
	fails(&opts, BU_ERR_INVAL, has);
	ck_assert(!starts_with(BU_MARK_OFFSET, "BU"));
	opts = two_roots(990 * MIB);
	writes(&opts, BU_SLOT_A, 0, 0);
	teardown();
}
END_TEST

BU_UNIT("roots", a_new_disk_has_both_and_starts_the_first,
	a_reimage_writes_the_other_root_alone, what_broke_off_is_never_tried,
	an_image_that_is_there_costs_no_bytes, a_mark_that_nobody_signed_saves_nothing,
	a_wipe_begins_anew, another_layout_is_no_reimage, data_stays_beside_both,
	a_disk_that_is_not_read_is_not_taken_for_one_with_one_root,
	what_does_not_fit_is_refused)
