/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole disk becomes an image whose frames are its bytes, from raw and from qcow2
 * (which qemu-img makes); a qcow2 that would make qemu-img open another file is refused
 * before it is started.
 */
#include "images/build/import_disk.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "images/build/import.h"
#include "images/build/sign.h"
#include "images/store.h"
#include "tests/support/unit.h"

enum { BYTES = 40 * 1024 * 1024 + 512 };

static char dir[40], cache[64];

/* With the test's folder as the present one; what the shell ends with. */
static int
sh(const char *commands)
{
	bu_autofree char *text = bu_xasprintf("cd %s && { %s; }", dir, commands);

	return system(text);
}

static void
setup(void)
{
	strcpy(dir, "/tmp/bringup-import-disk-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	ck_assert_int_eq(
		sh("truncate -s 41943552 disk && printf 'label: gpt\\nsize=8MiB, "
		   "type=U\\n type=L\\n' | sfdisk -q disk && seq 300000 | "
		   "dd of=disk bs=1M seek=9 conv=notrunc status=none && "
		   "echo '#!/bin/sh' >agent && chmod +x agent"),
		0);
}

static void
teardown(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static int
import(const char *kind, const char *file, struct bu_err *err)
{
	bu_autofree char *source = bu_xasprintf("%s%s/%s", kind, dir, file);
	bu_autofree char *agent = bu_xasprintf("%s/agent", dir);
	const struct bu_image_build_opts opts = {.cache_dir = cache,
						 .agent_path = agent,
						 .recipes_dir = BU_SRCDIR
						 "/images/build/recipes"};

	memset(err, 0, sizeof(*err));
	return bu_image_import("theirs", source, NULL, &opts, err);
}

static void
load(struct bu_image *image)
{
	bu_autofree char *images = bu_xasprintf("%s/images", cache);
	struct bu_err err = {0};
	bu_autofree char *pem = bu_image_public_key(cache, &err);

	ck_assert_msg(pem && !bu_image_load(images, "theirs", pem, image, &err), "%s",
		      err.text);
}

/* Frame by frame, what the image unpacks to is the source; behind it are zeros. */
static void
check_content(const struct bu_image *image)
{
	const struct bu_part *part = &image->manifest->parts[0];
	bu_autofree char *path = bu_xasprintf("%s/%s", image->dir, part->file);
	bu_autofree char *want_path = bu_xasprintf("%s/disk", dir);
	size_t size, stored;
	bu_autofree char *want = bu_file_read(want_path, 0, &size, NULL);
	bu_autofree char *frames = bu_file_read(path, 0, &stored, NULL);
	bu_autofree char *got = bu_xcalloc(1, part->size_bytes);

	ck_assert_uint_eq(size, BYTES);
	for (size_t i = 0; i < part->frame_count; i++)
		if (part->frames[i].size)
			ck_assert_uint_eq(
				ZSTD_decompress(got + i * part->frame_bytes,
						bu_part_frame_bytes(part, i),
						frames + part->frames[i].offset,
						part->frames[i].size),
				bu_part_frame_bytes(part, i));
	ck_assert(memcmp(want, got, size) == 0);
	for (size_t i = size; i < part->size_bytes; i++)
		ck_assert_int_eq(got[i], 0);
}

START_TEST(a_raw_disk_becomes_an_image)
{
	struct bu_image image;
	struct bu_err err;
	char digest[BU_DIGEST_SIZE];
	bu_autofree char *path = NULL;

	BU_NEEDS("sfdisk");
	setup();
	ck_assert_msg(!import("raw:", "disk", &err), "%s", err.text);
	load(&image);
	path = bu_xasprintf("%s/disk", dir);
	ck_assert_int_eq(bu_sha256_file(path, digest, NULL), 0);
	ck_assert_str_eq(image.manifest->disk.digest, digest);
	ck_assert_uint_eq(image.manifest->disk.size_bytes, BYTES);
	ck_assert_uint_eq(image.manifest->disk.sector_bytes, 512);
	ck_assert_int_eq(image.manifest->described, 0);
	ck_assert_uint_eq(image.manifest->part_count, 1);
	ck_assert_uint_eq(image.manifest->parts[0].size_bytes % 4096, 0);
	/* What is empty is not stored. */
	ck_assert_uint_eq(image.manifest->parts[0].frames[5].size, 0);
	ck_assert_msg(!sh("find cache/tmp -type f | grep . && exit 1; exit 0"), "left");
	check_content(&image);
	bu_image_fini(&image);
	teardown();
}
END_TEST

/* The same disk is the same frames, whatever it came in; that is said, too. */
START_TEST(a_qcow2_is_the_same_disk)
{
	struct bu_image raw, qcow2;
	struct bu_err err;
	bu_autofree char *path = NULL;
	char digest[BU_DIGEST_SIZE], its[BU_DIGEST_SIZE];

	BU_NEEDS("sfdisk", "qemu-img", "prlimit");
	setup();
	ck_assert_msg(!import("raw:", "disk", &err), "%s", err.text);
	load(&raw);
	memcpy(digest, raw.manifest->disk.digest, sizeof(digest));
	ck_assert_int_eq(raw.manifest->origin.sources[0].kind, BU_SOURCE_RAW);
	ck_assert_str_eq(raw.manifest->origin.sources[0].name, "disk");
	ck_assert_str_eq(raw.manifest->origin.sources[0].digest, digest);
	bu_image_fini(&raw);
	path = bu_xasprintf("%s/disk.qcow2", dir);
	for (int i = 0; i < 3; i++) {
		static const char *const how[] = {
			"-O qcow2", "-O qcow2 -o compat=0.10",
			"-c -O qcow2 -o compression_type=zstd"};
		bu_autofree char *line = bu_xasprintf(
			"qemu-img convert -f raw %s disk disk.qcow2", how[i]);

		ck_assert_int_eq(sh(line), 0);
		ck_assert_msg(!import("qcow2:", "disk.qcow2", &err), "%s", err.text);
		load(&qcow2);
		ck_assert_str_eq(qcow2.manifest->disk.digest, digest);
		ck_assert_int_eq(bu_sha256_file(path, its, NULL), 0);
		ck_assert_int_eq(qcow2.manifest->origin.sources[0].kind,
				 BU_SOURCE_QCOW2);
		ck_assert_str_eq(qcow2.manifest->origin.sources[0].name, "disk.qcow2");
		ck_assert_str_eq(qcow2.manifest->origin.sources[0].digest, its);
		check_content(&qcow2);
		bu_image_fini(&qcow2);
	}
	teardown();
}
END_TEST

/* disk.qcow2 is what the commands make of a disk that says what is not for others. */
static const struct {
	const char *make, *text;
} wrongs[] = {
	{"qemu-img create -q -f qcow2 -b ../secret -F raw disk.qcow2",
	 "it has a backing file"},
	{"qemu-img create -q -f qcow2 -o data_file=other,data_file_raw=on disk.qcow2 "
	 "40M",
	 "in another file"},
	/* The same, with the bit that says so taken away. */
	{"qemu-img create -q -f qcow2 -o data_file=other,data_file_raw=on disk.qcow2 "
	 "40M && printf '\\0' | dd of=disk.qcow2 bs=1 seek=79 conv=notrunc status=none",
	 "it names another file"},
	/* By hand: qemu-img measures the CPU for its keys, which fails now and then. */
	{"qemu-img create -q -f qcow2 disk.qcow2 40M && printf '\\2' | dd "
	 "of=disk.qcow2 bs=1 seek=35 conv=notrunc status=none",
	 "it is encrypted"},
	{"qemu-img create -q -f qcow2 disk.qcow2 2T", "larger than 1 TiB"},
	{"qemu-img create -q -f qcow2 disk.qcow2 40M && printf '\\2' | dd "
	 "of=disk.qcow2 bs=1 seek=79 conv=notrunc status=none",
	 "it is damaged"},
	{"qemu-img create -q -f qcow2 disk.qcow2 40M && printf '\\200' | dd "
	 "of=disk.qcow2 bs=1 seek=72 conv=notrunc status=none",
	 "made by a newer QEMU"},
	{"qemu-img create -q -f qcow2 disk.qcow2 40M && printf '\\4' | dd "
	 "of=disk.qcow2 bs=1 seek=7 conv=notrunc status=none",
	 "only versions 2 and 3"},
	{"cp disk disk.qcow2", "the file is none"},
	{": >disk.qcow2", "the file is none"},
	{"qemu-img create -q -f qcow2 disk.qcow2 40M", "has none (GPT)"},
};

/* qemu-img is another program here, which would say that it was started. */
START_TEST(a_qcow2_that_names_files_is_refused)
{
	bu_autofree char *path = NULL, *before = bu_xstrdup(getenv("PATH"));
	struct bu_err err;

	BU_NEEDS("sfdisk", "qemu-img", "prlimit");
	setup();
	ck_assert_int_eq(sh("mkdir bin at && cp disk secret && printf "
			    "'#!/bin/sh\\necho started >&2; exit 7\\n' "
			    ">bin/qemu-img && chmod +x bin/qemu-img"),
			 0);
	path = bu_xasprintf("%s/bin:%s", dir, before);
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		bu_autofree char *line = bu_xasprintf(
			"rm -f at/* && cd at && cp ../disk . && %s", wrongs[i].make);
		int last = i + 1 == BU_LEN(wrongs);

		ck_assert_int_eq(sh(line), 0);
		setenv("PATH", last ? before : path, 1);
		ck_assert_int_eq(import("qcow2:", "at/disk.qcow2", &err), -1);
		setenv("PATH", before, 1);
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
		ck_assert_msg(strstr(err.text, wrongs[i].text) != NULL, "%zu: %s", i,
			      err.text);
		ck_assert_int_ne(sh("test -e cache/images/theirs"), 0);
	}
	teardown();
}
END_TEST

START_TEST(what_is_no_disk_is_refused)
{
	struct bu_err err;

	BU_NEEDS("sfdisk");
	setup();
	ck_assert_int_eq(import("raw:", "nothing", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(sh("mkfifo pipe && head -c 5000000 /dev/zero >zeros &&"
			    "head -c 1000 disk >short"),
			 0);
	ck_assert_int_eq(import("raw:", "pipe", &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "a plain file"));
	ck_assert_int_eq(import("raw:", "zeros", &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "has none (GPT)"));
	ck_assert_int_eq(import("raw:", "short", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	teardown();
}
END_TEST

BU_UNIT("import_disk", a_raw_disk_becomes_an_image, a_qcow2_is_the_same_disk,
	a_qcow2_that_names_files_is_refused, what_is_no_disk_is_refused)
