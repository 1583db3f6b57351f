/* SPDX-License-Identifier: Apache-2.0 */
/* The builder around a recipe of a few lines: signed, kept, whole or not at all. */
#include "images/build/recipe.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "images/build/sign.h"
#include "images/store.h"
#include "tests/support/unit.h"

static const char recipe[] =
	"set -eu\n"
	"case $1 in\n"
	"key) cat \"$RECIPES/input\" ;;\n"
	"build)\n"
	"  echo run >>\"$RECIPES/runs\"\n"
	"  mkdir -p \"$WORK/root/var/lib/dpkg\"\n"
	"  printf 'Package: bash\\nStatus: install ok installed\\nVersion: 1\\n'"
	"'Architecture: all\\n' >\"$WORK/root/var/lib/dpkg/status\"\n"
	"  head -c 440 /dev/zero >\"$OUT/boot.bin\"\n"
	"  (cat \"$RECIPES/input\"; head -c 65536 /dev/zero) | head -c 65536 "
	">\"$OUT/r.raw\"\n"
	"  grep -q broken \"$RECIPES/input\" && exit 7\n"
	"  echo '{\"arch\": \"amd64\", \"kernel\": \"6\", \"kargs\": \"quiet\",\n"
	"   \"boot_code\": \"boot.bin\", \"parts\": [{\"name\": \"root\", \"label\": "
	"\"r\",\n"
	"   \"type\": \"4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709\", \"attrs\": 0,\n"
	"   \"raw\": \"r.raw\", \"grow\": true}]}' >\"$OUT/image.json\" ;;\n"
	"esac\n";

static char dir[] = "/tmp/bringup-recipe-XXXXXX";
static char recipes[64], cache[64], images[64], input[80], runs[80];

static void
make_recipe(void)
{
	char path[96];

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(recipes, sizeof(recipes), "%s/recipes", dir);
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	snprintf(images, sizeof(images), "%s/images", cache);
	snprintf(input, sizeof(input), "%s/input", recipes);
	snprintf(runs, sizeof(runs), "%s/runs", recipes);
	snprintf(path, sizeof(path), "%s/small.sh", recipes);
	ck_assert_int_eq(bu_mkdir_p(recipes, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s", recipe), 0);
	ck_assert_int_eq(bu_file_write_text(input, 0644, NULL, "first\n"), 0);
}

static int
build(struct bu_err *err)
{
	const struct bu_image_build_opts opts = {
		.cache_dir = cache, .agent_path = "/bin/sh", .recipes_dir = recipes};

	memset(err, 0, sizeof(*err));
	return bu_image_build("small", &opts, err);
}

static int
count_runs(void)
{
	size_t size;
	bu_autofree char *text = bu_file_read(runs, 0, &size, NULL);

	return text ? size / 4 : 0;
}

static void
load(struct bu_image *image)
{
	struct bu_err err = {0};
	bu_autofree char *pub = bu_image_public_key(cache, &err);

	ck_assert_ptr_nonnull(pub);
	ck_assert_msg(!bu_image_load(images, "small", pub, image, &err), "%s",
		      err.text);
}

START_TEST(builds_once_per_input)
{
	struct bu_image image, again;
	struct stat st;
	char path[96];
	struct bu_err err;

	make_recipe();
	ck_assert_msg(!build(&err), "%s", err.text);
	load(&image);
	ck_assert_int_eq(image.manifest->part_count, 1);
	ck_assert_int_eq(image.manifest->parts[0].size_bytes, 65536);
	ck_assert_str_eq(image.manifest->arch, "amd64");
	ck_assert_str_eq(image.manifest->kernel, "6");
	ck_assert_str_eq(image.manifest->kargs, "quiet");
	ck_assert_int_eq(build(&err), 0);
	ck_assert_int_eq(count_runs(), 1);
	ck_assert_int_eq(bu_file_write_text(input, 0644, NULL, "second\n"), 0);
	ck_assert_int_eq(build(&err), 0);
	ck_assert_int_eq(count_runs(), 2);
	load(&again);
	ck_assert_str_ne(image.digest, again.digest);
	snprintf(path, sizeof(path), "%s/keys/image.key", cache);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	snprintf(path, sizeof(path), "%s/small/r.raw", images);
	ck_assert(!bu_file_exists(path));
	bu_image_fini(&image);
	bu_image_fini(&again);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(the_packages_are_kept_and_signed_for)
{
	struct bu_image image;
	bu_autofree char *text = NULL, *path = NULL;
	struct bu_err err;

	make_recipe();
	ck_assert_msg(!build(&err), "%s", err.text);
	load(&image);
	text = bu_image_sbom(&image, &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	ck_assert_ptr_nonnull(strstr(text, "pkg:deb/unknown/bash@1?arch=all"));
	path = bu_xasprintf("%s/sbom.json", image.dir);
	text[0] = '[';
	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
	ck_assert_ptr_null(bu_image_sbom(&image, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	bu_image_fini(&image);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(a_failed_build_changes_nothing)
{
	struct bu_image before, after;
	char path[96];
	struct bu_err err;

	make_recipe();
	ck_assert_int_eq(build(&err), 0);
	load(&before);
	ck_assert_int_eq(bu_file_write_text(input, 0644, NULL, "broken\n"), 0);
	ck_assert_int_eq(build(&err), -1);
	ck_assert_msg(strstr(err.text, "exit status 7") != NULL, "%s", err.text);
	load(&after);
	ck_assert_str_eq(before.digest, after.digest);
	snprintf(path, sizeof(path), "%s/tmp/small", cache);
	ck_assert(!bu_file_exists(path));
	bu_image_fini(&before);
	bu_image_fini(&after);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* Leaves so many KiB of the little disk at CACHE; the rest is one file. */
static void
fill_disk(const char *filler, int free_kib)
{
	struct statvfs disk;
	bu_autofree char *zeros = NULL;
	int64_t size;

	ck_assert_int_eq(statvfs(cache, &disk), 0);
	size = (int64_t)(disk.f_bavail * disk.f_bsize) - free_kib * INT64_C(1024);
	ck_assert_int_gt(size, 0);
	zeros = bu_xcalloc(1, (size_t)size);
	ck_assert_int_eq(bu_file_write(filler, zeros, (size_t)size, 0600, NULL), 0);
}

/* The disk is full at each write in turn: there is the old image or the new one. */
START_TEST(a_full_disk_leaves_the_old_image_or_the_new_one)
{
	struct bu_image first, now;
	char filler[96], tmp[96];
	int failures = 0, builds = 0;
	struct bu_err err;

	BU_NEEDS("root");
	make_recipe();
	ck_assert_int_eq(bu_mkdir_p(cache, 0755, NULL), 0);
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("small", cache, "tmpfs", 0, "size=1024k"), 0);
	snprintf(filler, sizeof(filler), "%s/filler", cache);
	snprintf(tmp, sizeof(tmp), "%s/tmp/small", cache);
	ck_assert_msg(!build(&err), "%s", err.text);
	load(&first);
	for (int kib = 0; !builds; kib += 4) {
		bu_autofree char *text = bu_xasprintf("build %d\n", kib);

		ck_assert_int_lt(kib, 400);
		ck_assert_int_eq(bu_file_write_text(input, 0644, NULL, "%s", text), 0);
		fill_disk(filler, kib);
		if (build(&err))
			failures++;
		else
			builds++;
		load(&now);
		ck_assert_int_eq(strcmp(now.digest, first.digest) == 0, !builds);
		ck_assert(!bu_file_exists(tmp));
		bu_image_fini(&now);
		ck_assert_int_eq(unlink(filler), 0);
	}
	ck_assert_int_gt(failures, 5);
	bu_image_fini(&first);
	ck_assert_int_eq(umount(cache), 0);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(damage_is_refused_and_repaired)
{
	struct bu_image image;
	bu_autofree char *pub = NULL;
	char path[96];
	char **names;
	size_t count;
	struct bu_err err;

	make_recipe();
	ck_assert_int_eq(build(&err), 0);
	pub = bu_image_public_key(cache, &err);
	ck_assert_ptr_nonnull(pub);
	snprintf(path, sizeof(path), "%s/small/root.frames", images);
	ck_assert_int_eq(truncate(path, 3), 0);
	ck_assert_int_eq(bu_image_load(images, "small", pub, &image, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(build(&err), 0);
	load(&image);
	bu_image_fini(&image);
	snprintf(path, sizeof(path), "%s/small/manifest.sig", images);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "00\n"), 0);
	ck_assert_int_eq(bu_image_load(images, "small", pub, &image, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_image_load(images, "other", pub, &image, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(bu_image_load(images, "../x", pub, &image, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_image_list(images, &names, &count, &err), 0);
	ck_assert_int_eq(count, 1);
	ck_assert_str_eq(names[0], "small");
	free(names[0]);
	free(names);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(reading_makes_no_key_and_a_lost_half_comes_back)
{
	struct bu_err err = {0};
	bu_autofree char *first = NULL, *derived = NULL, *written = NULL;
	char key_path[96], pub_path[96];

	make_recipe();
	snprintf(key_path, sizeof(key_path), "%s/keys/image.key", cache);
	snprintf(pub_path, sizeof(pub_path), "%s/keys/image.pub", cache);
	ck_assert_ptr_null(bu_image_public_key(cache, &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert(!bu_file_exists(cache));
	ck_assert_int_eq(build(&err), 0);
	first = bu_image_public_key(cache, &err);
	ck_assert_int_eq(unlink(pub_path), 0);
	derived = bu_image_public_key(cache, &err);
	ck_assert_pstr_eq(derived, first);
	ck_assert(!bu_file_exists(pub_path));
	ck_assert_int_eq(build(&err), 0);
	written = bu_file_read(pub_path, 0, NULL, &err);
	ck_assert_pstr_eq(written, first);
	ck_assert_int_eq(count_runs(), 1); /* the same key: nothing to do */
	ck_assert_int_eq(unlink(key_path), 0);
	ck_assert_int_eq(build(&err), 0); /* a new pair signs anew */
	ck_assert_int_eq(count_runs(), 2);
	free(written);
	written = bu_file_read(pub_path, 0, NULL, &err);
	ck_assert_str_ne(written, first);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(unknown_names_are_told)
{
	const struct bu_image_build_opts opts = {
		.cache_dir = cache, .agent_path = "/bin/sh", .recipes_dir = recipes};
	const struct bu_image_build_opts no_agent = {.cache_dir = cache,
						     .agent_path = "/nonexistent",
						     .recipes_dir = recipes};
	struct bu_err err = {0};

	make_recipe();
	ck_assert_int_eq(bu_image_build("nothing", &opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(bu_image_build("../small", &opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_image_build("small", &no_agent, &err), -1);
	ck_assert_msg(strstr(err.text, "--agent") != NULL, "%s", err.text);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("recipe", builds_once_per_input, the_packages_are_kept_and_signed_for,
	a_full_disk_leaves_the_old_image_or_the_new_one, a_failed_build_changes_nothing,
	damage_is_refused_and_repaired, reading_makes_no_key_and_a_lost_half_comes_back,
	unknown_names_are_told)
