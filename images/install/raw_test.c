/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Somebody else's whole disk onto a file: each byte is where it was but for table, mark
 * and cloud-init's partition, which sgdisk, sfdisk, fsck.vfat and mtools judge; what
 * does not fit is refused before the first write.
 */
#include "images/install/raw.h"

#include "tests/support/install.h"
#include "tests/support/shell.h"

enum { TABLE_BYTES = 1024 + 16384, IMAGE_BYTES = 40 << 20 };

static char whole_digest[BU_DIGEST_SIZE];
static char source[64];

static const struct bu_install_file seed[] = {
	{"meta-data", 0600, "instance-id: a\n", 15},
	{"user-data", 0600, "", 0},
};

static void
sh(const char *commands)
{
	bu_autofree char *text = bu_xasprintf("cd %s && { %s; }", dir, commands);

	ck_assert_msg(system(text) == 0, "%s", commands);
}

/* The image small becomes a disk; make: shell, which makes the file source. */
static void
begin(const char *make, uint32_t sector_bytes)
{
	struct bu_manifest *manifest = bu_xcalloc(1, sizeof(*manifest));
	bu_autofree char *folder = NULL, *json_path = NULL, *sig_path = NULL;
	bu_autofree char *frames = NULL, *text = NULL;
	bu_autojson json_t *value = NULL;
	char sig[BU_SIG_HEX_SIZE];
	struct bu_part *part = &manifest->parts[0];
	struct bu_err err = {0};

	setup();
	cancel_after = -1;
	folder = bu_xasprintf("%s/images/small", dir);
	json_path = bu_xasprintf("%s/manifest.json", folder);
	sig_path = bu_xasprintf("%s/manifest.sig", folder);
	frames = bu_xasprintf("%s/root.frames", folder);
	snprintf(source, sizeof(source), "%s/source", dir);
	sh(make);
	sh("truncate -s 128M disk");
	strcpy(manifest->name, "small");
	manifest->described = manifest->holding_count = with_mirror;
	strcpy(manifest->holdings[0].name, "mirror");
	strcpy(part->name, "disk");
	strcpy(part->file, "root.frames"); /* that the server damages */
	strcpy(part->type, "0FC63DAF-8483-4772-8E79-3D69D8477DE4");
	ck_assert_msg(!bu_frames_pack(source, frames, 1, part, &err), "%s", err.text);
	bu_sha256_hex(
		"", 0,
		bu_origin_add(&manifest->origin, BU_SOURCE_RAW, "", NULL)->digest);
	manifest->part_count = 1;
	manifest->disk = (struct bu_whole_disk){.sector_bytes = sector_bytes,
						.size_bytes = IMAGE_BYTES};
	ck_assert_int_eq(bu_sha256_file(source, manifest->disk.digest, NULL), 0);
	value = bu_manifest_to_json(manifest);
	text = bu_json_canonical(value);
	bu_sha256_hex(text, strlen(text), whole_digest);
	ck_assert_int_eq(bu_sign(image_key, text, strlen(text), sig, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(json_path, 0644, NULL, "%s", text), 0);
	ck_assert_int_eq(bu_file_write_text(sig_path, 0644, NULL, "%s\n", sig), 0);
	bu_manifest_destroy(manifest);
}

/* Two partitions, random bytes in the second, behind a first MiB of nothing. */
static const char plain_disk[] =
	"truncate -s 40M source && printf 'g\\nn\\n1\\n\\n+8M\\nn\\n2\\n\\n+16M\\nw\\n' "
	"| fdisk -b 512 source >/dev/null && dd if=/dev/urandom of=source bs=1M "
	"seek=9 count=12 conv=notrunc status=none && printf 'boot code' | dd of=source "
	"conv=notrunc status=none";

static struct bu_install_opts
whole_opts(void)
{
	struct bu_install_opts opts = defaults();

	opts.raw = 1;
	opts.manifest_digest = whole_digest;
	opts.seed_files = seed;
	opts.seed_file_count = BU_LEN(seed);
	return opts;
}

/* All but the table, and the mark where it stays. */
static void
check_bytes(int mark_stays)
{
	size_t size, disk_size;
	bu_autofree char *want = bu_file_read(source, 0, &size, NULL);
	bu_autofree char *got = bu_file_read(disk, 256 << 20, &disk_size, NULL);
	size_t end = mark_stays ? BU_MARK_OFFSET : IMAGE_BYTES;

	ck_assert_uint_eq(size, IMAGE_BYTES);
	ck_assert(memcmp(want, got, 446) == 0);
	ck_assert(memcmp(want + TABLE_BYTES, got + TABLE_BYTES, end - TABLE_BYTES) ==
		  0);
	if (!mark_stays)
		return;
	ck_assert(memcmp(got + BU_MARK_OFFSET, "BUDONE01", 8) == 0);
	end += BU_MARK_SIZE;
	ck_assert(memcmp(want + end, got + end, size - end) == 0);
}

static void
check_whole(void)
{
	check_bytes(1);
	sh("sgdisk --verify disk >says && grep -q 'No problems found' says");
	sh("sfdisk --verify disk >says && grep -q 'No errors detected' says");
	sh("for i in source disk; do sfdisk --dump $i | grep \"^$i[12] :\" | "
	   "sed \"s/^$i//\" >$i.parts; done; cmp source.parts disk.parts && "
	   "test $(wc -l <disk.parts) = 2");
	sh("test \"$(sfdisk --disk-id source)\" = \"$(sfdisk --disk-id disk)\"");
	sh("sfdisk --dump disk | grep -q 'disk3 : start= *194560, size= *65536,.*"
	   "name=\"CIDATA\"'");
	sh("dd if=disk of=fat bs=1M skip=95 count=32 status=none && "
	   "fsck.vfat -n fat >says && "
	   "test \"$(mcopy -i fat ::meta-data -)\" = 'instance-id: a'");
}

#define NEEDS() BU_NEEDS("fdisk", "sfdisk", "sgdisk", "fsck.vfat", "mcopy")

START_TEST(writes_it_as_it_is)
{
	struct bu_install_opts opts;
	struct bu_err err;

	NEEDS();
	begin(plain_disk, 512);
	sh("echo old | dd of=disk bs=1M seek=52 conv=notrunc status=none");
	opts = whole_opts();
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_whole();
	/* Behind it nothing is left. */
	sh("test -z \"$(tail -c +54525953 disk | head -c 9 | tr -d '\\000')\"");
	ck_assert_str_eq(stages, "manifest disk write files done ");
	ck_assert(progress_done <= progress_total);
	/* Nothing is written into its file systems. */
	sh("test -z \"$(find root -type f)\"");
	/* That nobody heard of it: the same step over its own disk. */
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_whole();
	/* Another step is not let. */
	opts.step_id = "s-2";
	ck_assert_int_eq(install(&opts, &err), -1);
	teardown();
}
END_TEST

/* A partition from sector 64 on: a boot loader of BIOS, where our mark is meanwhile. */
static const char full_disk[] =
	"truncate -s 40M source && sgdisk -a 1 -n 1:64:2047 -n 2:2048:65536 source "
	">/dev/null && dd if=/dev/urandom of=source bs=4k seek=8 count=2000 "
	"conv=notrunc status=none";

static const char stamp[] = "{\"kind\":\"stamp\",\"step\":\"s-1\"}";
static char stamp_sig[BU_SIG_HEX_SIZE];
static const struct bu_install_file stamped[] = {
	{"meta-data", 0600, "{}", 2},
	{"stamp.json", 0600, stamp, sizeof(stamp) - 1},
	{"stamp.sig", 0600, stamp_sig, BU_SIG_HEX_SIZE - 1},
};

START_TEST(what_is_under_the_mark_comes_back)
{
	struct bu_install_opts opts;
	char sig[BU_SIG_HEX_SIZE];
	struct bu_err err;

	NEEDS();
	begin(full_disk, 512);
	opts = whole_opts();
	opts.seed_files = stamped;
	opts.seed_file_count = BU_LEN(stamped);
	ck_assert_int_eq(bu_sign(boss_key, stamp, strlen(stamp), stamp_sig, NULL), 0);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_bytes(0);
	sh("sgdisk --verify disk >says && grep -q 'No problems found' says");
	/* That nobody heard of it: no mark says so, and its stamp does. */
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_bytes(0);
	opts.step_id = "s-2";
	opts.mark_text = "{\"step\":\"s-2\"}";
	ck_assert_int_eq(
		bu_sign(boss_key, opts.mark_text, strlen(opts.mark_text), sig, NULL),
		0);
	opts.mark_sig = sig;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_ptr_nonnull(strstr(
		err.text,
		"wiping it was not granted; if what is on it may go, plan again and apply "
		"with --grant wipe:NODE"));
	check_bytes(0);
	teardown();
}
END_TEST

/* A stamp of this step that the appliance did not sign is nobody's leave. */
START_TEST(a_forged_stamp_is_no_leave)
{
	struct bu_install_opts opts;
	struct bu_err err;

	NEEDS();
	begin(full_disk, 512);
	opts = whole_opts();
	opts.seed_files = stamped;
	opts.seed_file_count = BU_LEN(stamped);
	ck_assert_int_eq(bu_sign(image_key, stamp, strlen(stamp), stamp_sig, NULL), 0);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "wiping it was not granted"));
	check_bytes(0);
	teardown();
}
END_TEST

/* Each is refused, and not a byte of the disk has changed. */
START_TEST(what_does_not_fit_writes_nothing)
{
	static const struct {
		const char *make, *size, *text;
		uint32_t sector_bytes;
	} rows[] = {
		{plain_disk, "truncate -s 39M disk", "the disk has 40894464 bytes",
		 512},
		{plain_disk, "truncate -s 40M disk", "no room for the partition CIDATA",
		 512},
		{"truncate -s 40M source && printf 'g\\nn\\n1\\n\\n+8M\\nw\\n' | "
		 "fdisk -b 4096 source >/dev/null",
		 ":", "sectors of 4096 bytes, and this one has sectors of 512", 4096},
		{plain_disk, ":", "other sectors than its manifest says", 4096},
		{"truncate -s 40M source", ":", "has none (GPT)", 512},
		{plain_disk, "printf x | dd of=disk conv=notrunc status=none",
		 "is not empty", 512},
	};

	NEEDS();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
		struct bu_install_opts opts;
		struct bu_err err;

		strcpy(dir + strlen(dir) - 6, "XXXXXX");
		begin(rows[i].make, rows[i].sector_bytes);
		sh(rows[i].size);
		ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
		opts = whole_opts();
		ck_assert_int_eq(install(&opts, &err), -1);
		ck_assert_msg(strstr(err.text, rows[i].text) != NULL, "%zu: %s", i,
			      err.text);
		ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
		ck_assert_str_eq(before, after);
		teardown();
	}
}
END_TEST

/* Whatever its manifest says: a second disk would get the frames, and nothing would
 * have looked what is on it. */
START_TEST(a_mirror_of_it_is_refused)
{
	bu_autofree char *second = NULL;
	struct bu_install_opts opts;
	struct bu_err err;

	NEEDS();
	with_mirror = 1;
	begin(plain_disk, 512);
	sh("truncate -s 128M second && echo kept >>second && cp second before && "
	   "cp disk disk.before");
	second = bu_xasprintf("%s/second", dir);
	opts = whole_opts();
	opts.mirror = second;
	opts.mirror_uuid = "aaaaaaaa-bbbb-8ccc-8ddd-eeeeeeeeeeee";
	opts.mirror_granted = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_msg(strstr(err.text, "no mirror goes with it") != NULL, "%s",
		      err.text);
	sh("cmp second before && cmp disk disk.before");
	teardown();
}
END_TEST

/* The order says which kind it is for; data and arrays do not go with a whole disk. */
START_TEST(another_kind_writes_nothing)
{
	static const struct bu_install_data data[] = {
		{"lake", "01234567-89ab-4def-8123-456789abcdef", 0}};
	char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
	struct bu_install_opts opts;
	struct bu_err err;

	NEEDS();
	begin(plain_disk, 512);
	ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
	opts = whole_opts();
	opts.raw = 0;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "is a whole disk"));
	opts = whole_opts();
	opts.data = data;
	opts.data_count = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	opts = whole_opts();
	opts.keep_data = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
	ck_assert_str_eq(before, after);
	teardown();
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	setup();
	cancel_after = -1;
	opts = defaults();
	opts.raw = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "is not a whole disk"));
	teardown();
}
END_TEST

/* Broken off anywhere, the disk does not boot, and the same step goes on. */
START_TEST(an_unfinished_one_does_not_boot)
{
	struct bu_install_opts opts;
	struct bu_err err;

	NEEDS();
	begin(plain_disk, 512);
	opts = whole_opts();
	opts.threads = 1;
	sh("printf 'old boot code' | dd of=disk conv=notrunc status=none");
	opts.allow_wipe = 1;
	for (int after = 3; after < 9; after++) {
		cancel_after = after;
		if (install(&opts, &err) == 0)
			break;
		ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
		if (after > 3)
			check_unfinished();
		opts.allow_wipe = 0;
	}
	cancel_after = -1;
	server.flips = -1;
	opts = whole_opts();
	opts.allow_wipe = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, "frame 0") != NULL, "%s", err.text);
	server.flips = 1;
	server.cuts = 1;
	opts.allow_wipe = 0;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_whole();
	teardown();
}
END_TEST

/* The kernel's own view: the image is of a disk with sectors of 4096 bytes, and so is
 * the device. */
START_TEST(a_device_with_large_sectors)
{
	struct bu_install_opts opts;
	bu_autofree char *device = NULL;
	bu_autoclose int held = -1;
	struct bu_err err;
	size_t size, disk_size, table = 2 * 4096 + 16384;
	bu_autofree char *want = NULL, *got = NULL;

	NEEDS();
	begin("truncate -s 40M source && printf 'g\\nn\\n1\\n\\n+8M\\nw\\n' | fdisk "
	      "-b 4096 source >/dev/null && dd if=/dev/urandom of=source bs=1M seek=2 "
	      "count=30 conv=notrunc status=none",
	      4096);
	device = shell_told(dir, "losetup -P -f --show --sector-size 4096 disk "
				 "2>/dev/null || true");
	device[strcspn(device, "\n")] = '\0';
	if (!*device) {
		printf("skipped: %s needs a loop device\n", __func__);
		teardown();
		return;
	}
	/* It goes when nobody has it open, whichever way this ends. */
	held = open(device, O_RDONLY | O_CLOEXEC);
	setenv("device", device, 1);
	sh("losetup -d $device");
	opts = whole_opts();
	opts.disk = device;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	want = bu_file_read(source, 0, &size, NULL);
	got = bu_file_read(disk, 256 << 20, &disk_size, NULL);
	ck_assert(memcmp(want + table, got + table, BU_MARK_OFFSET - table) == 0);
	table = BU_MARK_OFFSET + BU_MARK_SIZE;
	ck_assert(memcmp(want + table, got + table, size - table) == 0);
	sh("sfdisk --verify $device >says && grep -q 'No errors detected' says");
	sh("test \"$(partx -g -S 4096 --raw -o NR,NAME $device | tail -n 1)\" = "
	   "'2 CIDATA'");
	sh("partx -u $device; test \"$(blkid -p -o value -s LABEL -s TYPE "
	   "${device}p2 | tr '\\n' ' ')\" = 'CIDATA vfat '");
	teardown();
}
END_TEST

BU_UNIT("raw", writes_it_as_it_is, what_is_under_the_mark_comes_back,
	a_forged_stamp_is_no_leave, what_does_not_fit_writes_nothing,
	another_kind_writes_nothing, a_mirror_of_it_is_refused,
	an_unfinished_one_does_not_boot, a_device_with_large_sectors)
