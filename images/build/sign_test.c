/* SPDX-License-Identifier: Apache-2.0 */
/* Several keys sign one image; one of them is enough, a retired one is not. */
#include "images/build/sign.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "images/manifest.h"
#include "images/store.h"
#include "tests/support/image.h"
#include "tests/support/unit.h"

static char dir[40];
static char *keys[3], *pubs[3];

static void
setup(void)
{
	strcpy(dir, "/tmp/bringup-sign-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(bu_sign_key_create(&keys[i], &pubs[i], NULL), 0);
}

static void
teardown(void)
{
	for (size_t i = 0; i < 3; i++) {
		free(keys[i]);
		free(pubs[i]);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static int
load(const char *pems, struct bu_err *err)
{
	struct bu_image image;

	memset(err, 0, sizeof(*err));
	if (bu_image_load(dir, "small", pems, &image, err))
		return -1;
	bu_image_fini(&image);
	return 0;
}

START_TEST(one_key_of_several_is_enough)
{
	bu_autofree char *folder = NULL, *path = NULL, *before = NULL, *after = NULL;
	bu_autofree char *both = NULL, *others = NULL;
	char digest[65], same[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	setup();
	folder = bu_xasprintf("%s/small", dir);
	path = bu_xasprintf("%s/manifest.sig", folder);
	ck_assert_int_eq(paper_image(dir, "small", "2026-01-01T00:00:00Z", keys[0],
				     digest, &err),
			 0);
	before = bu_file_read(path, 4096, NULL, NULL);
	ck_assert_int_eq(load(pubs[1], &err), -1);
	ck_assert_int_eq(bu_image_sign(folder, keys[1], same, &err), 1);
	ck_assert_str_eq(same, digest);
	ck_assert_int_eq(bu_image_sign(folder, keys[1], same, &err), 0);
	after = bu_file_read(path, 4096, NULL, NULL);
	ck_assert_int_eq(strncmp(after, before, BU_SIG_HEX_SIZE - 1), 0);
	ck_assert_int_eq(load(pubs[0], &err), 0);
	ck_assert_int_eq(load(pubs[1], &err), 0);
	both = bu_xasprintf("%s\n%s", pubs[2], pubs[1]);
	ck_assert_int_eq(load(both, &err), 0);
	/* The keys that signed it are retired. */
	others = bu_xasprintf("%s%s", pubs[2], pubs[2]);
	ck_assert_int_eq(load(others, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, "any of the 2 keys") != NULL, "%s", err.text);
	ck_assert_int_eq(load(pubs[2], &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	free(bu_steal(&path));
	path = bu_xasprintf("%s/manifest.json", folder);
	ck_assert_int_eq(bu_sha256_file(path, same, NULL), 0);
	ck_assert_str_eq(same, digest);
	teardown();
}
END_TEST

START_TEST(what_nodes_would_refuse_is_not_signed)
{
	bu_autofree char *folder = NULL, *path = NULL, *sig = NULL;
	char digest[65], same[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	setup();
	folder = bu_xasprintf("%s/small", dir);
	path = bu_xasprintf("%s/manifest.json", folder);
	sig = bu_xasprintf("%s/manifest.sig", folder);
	ck_assert_int_eq(paper_image(dir, "small", "2026-01-01T00:00:00Z", keys[0],
				     digest, &err),
			 0);
	ck_assert_int_eq(bu_image_sign(folder, pubs[0], same, &err), -1);
	ck_assert_int_eq(load(pubs[0], &err), 0);
	for (int i = 1; i < BU_IMAGE_KEYS_MAX; i++) {
		bu_autofree char *key = NULL, *pub = NULL;

		ck_assert_int_eq(bu_sign_key_create(&key, &pub, NULL), 0);
		ck_assert_int_eq(bu_image_sign(folder, key, same, &err), 1);
		ck_assert_int_eq(load(pub, &err), 0);
	}
	ck_assert_int_eq(bu_image_sign(folder, keys[2], same, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(unlink(sig), 0);
	ck_assert_int_eq(load(pubs[0], &err), -1);
	ck_assert_int_eq(load(NULL, &err), 0);
	ck_assert_int_eq(load("", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "{}"), 0);
	ck_assert_int_eq(bu_image_sign(folder, keys[0], same, &err), -1);
	ck_assert_int_eq(load(NULL, &err), -1);
	teardown();
}
END_TEST

/* Somebody changed what the store calls by a digest: no key vouches for that. */
START_TEST(a_folder_of_another_digest_is_not_signed)
{
	bu_autofree char *folder = NULL, *stored = NULL, *path = NULL;
	char digest[65], other[65], got[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	setup();
	folder = bu_xasprintf("%s/small", dir);
	ck_assert_int_eq(paper_image(dir, "small", "2026-01-01T00:00:00Z", keys[0],
				     digest, &err),
			 0);
	stored = bu_xasprintf("%s/%s", dir, digest);
	path = bu_xasprintf("%s/manifest.sig", stored);
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
	ck_assert_int_eq(
		paper_image(dir, "small", "2026-02-02T00:00:00Z", keys[0], other, &err),
		0);
	ck_assert_int_eq(rename(folder, stored), 0);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(bu_image_sign(stored, keys[1], got, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert(!bu_file_exists(path));
	teardown();
}
END_TEST

BU_UNIT("sign", one_key_of_several_is_enough, what_nodes_would_refuse_is_not_signed,
	a_folder_of_another_digest_is_not_signed)
