/* SPDX-License-Identifier: Apache-2.0 */
/* Whose signatures count for an image, by the profile's policy. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "images/programs.h"
#include "provisioner/work/work.h"
#include "tests/support/image.h"
#include "tests/support/unit.h"

static char dir[40], own[64], site_a[64], site_b[64];
static char *key_own, *key_a;
static struct bu_work_input input;

static void
write_pub(const char *path, char **ret_key)
{
	char *key, *pub;

	ck_assert_int_eq(bu_sign_key_create(&key, &pub, NULL), 0);
	ck_assert_int_eq(bu_file_write(path, pub, strlen(pub), 0644, NULL), 0);
	free(pub);
	if (ret_key)
		*ret_key = key;
	else
		free(key);
}

static char said[400]; /* by the last refusal */

static void
setup(void)
{
	strcpy(dir, "/tmp/bringup-keys-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(own, sizeof(own), "%s/own.pub", dir);
	snprintf(site_a, sizeof(site_a), "%s/a.pub", dir);
	snprintf(site_b, sizeof(site_b), "%s/b.pub", dir);
	write_pub(own, &key_own);
	write_pub(site_a, &key_a);
	write_pub(site_b, NULL);
	input = (struct bu_work_input){.images_dir = dir, .image_key = own};
}

static void
teardown(void)
{
	free(key_own);
	free(key_a);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
expect(const struct bu_desired_image *image, enum bu_err_kind want, const char *what)
{
	struct bu_err err = {0};
	struct bu_plan_image found;
	int rc = bu_work_plan_image(&input, image, &found, &err);

	ck_assert_msg((rc != 0) == (want != BU_ERR_NONE), "%s: %s", what, err.text);
	ck_assert_msg(err.kind == want, "%s: %s", what, err.text);
	snprintf(said, sizeof(said), "%s", err.text);
}

/* Whose keys were asked, and what to do. */
static void
says_how_to_sign(const char *key_file)
{
	ck_assert_msg(strstr(said, key_file) &&
			      strstr(said, "bringup image sign small --key FILE"),
		      "%s", said);
}

START_TEST(the_policys_keys_count)
{
	bu_autofree char *both = NULL, *only_b = NULL, *sig = NULL;
	struct bu_desired_image image = {.name = (char *)"small"};
	char digest[65];

	setup();
	both = bu_xasprintf("file:%s,file:%s", site_b, site_a);
	only_b = bu_xasprintf("file:%s", site_b);
	sig = bu_xasprintf("%s/small/manifest.sig", dir);
	ck_assert_int_eq(
		paper_image(dir, "small", "2026-01-01T00:00:00Z", key_a, digest, NULL),
		0);
	expect(&image, BU_ERR_VERIFY, "the appliance's key");
	says_how_to_sign(own);
	image.site_keys = both;
	expect(&image, BU_ERR_NONE, "one of the site's");
	image.site_keys = only_b;
	expect(&image, BU_ERR_VERIFY, "a retired one");
	says_how_to_sign(site_b);
	image.key_path = site_a;
	expect(&image, BU_ERR_NONE, "the image's own");
	image.key_path = NULL;
	/* A wrong signature is none that may be missing. */
	image.may_be_unsigned = 1;
	expect(&image, BU_ERR_VERIFY, "wrongly signed, where unsigned is allowed");
	ck_assert_int_eq(unlink(sig), 0);
	expect(&image, BU_ERR_NONE, "unsigned, where that is allowed");
	image.may_be_unsigned = 0;
	expect(&image, BU_ERR_NOTFOUND, "unsigned");
	says_how_to_sign("manifest.sig");
	teardown();
}
END_TEST

/* An empty file asks for no signature by accident; nobody is to have one. */
START_TEST(a_file_without_a_key_lets_nothing_pass)
{
	static const char *const texts[] = {"", "\n", "no key\n"};
	struct bu_desired_image image = {.name = (char *)"small"};
	bu_autofree char *empty = NULL, *both = NULL, *sig = NULL;
	char digest[65];

	setup();
	empty = bu_xasprintf("file:%s", site_b);
	both = bu_xasprintf("file:%s,file:%s", site_a, site_b);
	sig = bu_xasprintf("%s/small/manifest.sig", dir);
	ck_assert_int_eq(
		paper_image(dir, "small", "2026-01-01T00:00:00Z", key_a, digest, NULL),
		0);
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		bu_autofree char *keys = NULL;
		struct bu_err err = {0};

		ck_assert_int_eq(bu_file_write_text(own, 0644, NULL, "%s", texts[i]),
				 0);
		ck_assert_int_eq(bu_file_write_text(site_b, 0644, NULL, "%s", texts[i]),
				 0);
		image.site_keys = NULL;
		expect(&image, BU_ERR_INVAL, "the appliance's");
		image.site_keys = empty;
		expect(&image, BU_ERR_INVAL, "the site's");
		image.site_keys = both;
		expect(&image, BU_ERR_INVAL, "one of the site's");
		image.key_path = site_b;
		expect(&image, BU_ERR_INVAL, "the image's own");
		image.may_be_unsigned = 1;
		expect(&image, BU_ERR_INVAL, "signed, where unsigned is allowed");
		image.may_be_unsigned = 0;
		keys = bu_work_image_keys(&input, &image, digest, &err);
		ck_assert_ptr_null(keys); /* a node's order */
		ck_assert_ptr_nonnull(strstr(err.text, site_b));
		image.key_path = NULL;
	}
	image.site_keys = (char *)"";
	expect(&image, BU_ERR_INVAL, "a policy that names none");
	image.site_keys = empty;
	image.may_be_unsigned = 1;
	ck_assert_int_eq(unlink(sig), 0);
	expect(&image, BU_ERR_NONE, "unsigned, where that is allowed");
	teardown();
}
END_TEST

/* As its manifest says it, for [policy] registries and for what its pool needs. */
START_TEST(a_plan_learns_what_an_image_is_made_of)
{
	const struct bu_desired_image image = {.name = (char *)"small",
					       .may_be_unsigned = 1};
	struct bu_plan_image found;
	bu_autofree char *path = NULL, *sig = NULL, *text = NULL;
	bu_autojson json_t *manifest = NULL;
	struct bu_err err = {0};
	char digest[65];

	setup();
	path = bu_xasprintf("%s/small/manifest.json", dir);
	sig = bu_xasprintf("%s/small/manifest.sig", dir);
	ck_assert_int_eq(
		paper_image(dir, "small", "2026-01-01T00:00:00Z", key_a, digest, NULL),
		0);
	manifest = bu_json_load(path, NULL);
	json_object_set_new(manifest, "sources",
			    json_pack("[{s:s, s:s, s:s, s:s}]", "kind", "oci", "name",
				      "oci://reg/a:1", "host", "reg", "digest",
				      digest));
	json_object_set_new(manifest, "holds",
			    json_pack("{s:s, s:s}", "systemd", "252", "sudo", ""));
	text = bu_json_canonical(manifest);
	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
	ck_assert_int_eq(unlink(sig), 0);
	ck_assert_msg(bu_work_plan_image(&input, &image, &found, &err) == 0, "%s",
		      err.text);
	ck_assert_uint_eq(found.origin.source_count, 1);
	ck_assert_str_eq(found.origin.sources[0].host, "reg");
	ck_assert_uint_eq(found.programs, UINT32_C(1) << BU_PROGRAM_SYSTEMD |
						  UINT32_C(1) << BU_PROGRAM_SUDO);
	teardown();
}
END_TEST

BU_UNIT("api_images", the_policys_keys_count, a_file_without_a_key_lets_nothing_pass,
	a_plan_learns_what_an_image_is_made_of)
