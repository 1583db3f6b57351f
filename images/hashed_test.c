/* SPDX-License-Identifier: Apache-2.0 */
/* A manifest is hashed once for each version of it, and a new one is never missed. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/file.h"
#include "images/store.h"
#include "tests/support/unit.h"

#define DIGEST_A "559aead08264d5795d3909718cdd05abd49572e84fe55590eef31a88a08fdffd"
#define DIGEST_B "df7e70e5021544f4834bbee64a9e3789febc4be81470df629cad6ddb03320a5c"

static int hashed;
static int64_t later_us;

int __real_bu_sha256_file(const char *path, char ret_hex[BU_DIGEST_SIZE],
			  struct bu_err *err);
int __wrap_bu_sha256_file(const char *path, char ret_hex[BU_DIGEST_SIZE],
			  struct bu_err *err);
int64_t __real_bu_wall_us(void);
int64_t __wrap_bu_wall_us(void);

int
__wrap_bu_sha256_file(const char *path, char ret_hex[BU_DIGEST_SIZE],
		      struct bu_err *err)
{
	hashed++;
	return __real_bu_sha256_file(path, ret_hex, err);
}

int64_t
__wrap_bu_wall_us(void)
{
	return __real_bu_wall_us() + later_us;
}

static void
put(const char *dir, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

/* The same bytes of the file, in the same place: no other size, no other inode. */
static void
overwrite(const char *dir, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);
	const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	FILE *file = fopen(path, "r+");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(a_manifest_is_hashed_once_for_each_version)
{
	char dir[] = "/tmp/bringup-test-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	put(dir, "A");
	later_us = 5000000;
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 1);
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_B), 0);
	ck_assert_int_eq(hashed, 1);
	usleep(20000); /* the file system's clock goes on */
	overwrite(dir, "B");
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 0);
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_B), 1);
	ck_assert_int_eq(hashed, 2);
	put(dir, "A");
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 1);
	ck_assert_int_eq(hashed, 3);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 0);
}
END_TEST

/* Written twice within one tick it has one time. */
START_TEST(what_has_just_changed_is_not_remembered)
{
	char dir[] = "/tmp/bringup-test-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	put(dir, "A");
	later_us = hashed = 0;
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 1);
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 1);
	ck_assert_int_eq(hashed, 2);
	later_us = -3600000000; /* the clock was wrong when it was written */
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 1);
	ck_assert_int_eq(bu_image_has_digest(dir, DIGEST_A), 1);
	ck_assert_int_eq(hashed, 4);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* More images than are remembered: each is answered rightly all the same. */
START_TEST(many_images_take_turns)
{
	enum { IMAGES = 50 };
	char dir[] = "/tmp/bringup-test-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	later_us = 5000000;
	for (int i = 0; i < 2 * IMAGES; i++) {
		bu_autofree char *one = bu_xasprintf("%s/%d", dir, i % IMAGES);

		if (i < IMAGES) {
			ck_assert_int_eq(mkdir(one, 0755), 0);
			put(one, i % 2 ? "A" : "B");
		}
		ck_assert_int_eq(bu_image_has_digest(one, i % 2 ? DIGEST_A : DIGEST_B),
				 1);
		ck_assert_int_eq(bu_image_has_digest(one, i % 2 ? DIGEST_B : DIGEST_A),
				 0);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("hashed", a_manifest_is_hashed_once_for_each_version,
	what_has_just_changed_is_not_remembered, many_images_take_turns)
