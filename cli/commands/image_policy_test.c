/* SPDX-License-Identifier: Apache-2.0 */
/* Which registries images may come from: before an import, and of images that are here.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/commands/image.h"
#include "tests/support/image.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static char dir[40];

static char *
in(const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

static void
setup(const char *policy)
{
	bu_autofree char *profile = NULL, *site = NULL, *racks = NULL, *text = NULL;

	strcpy(dir, "/tmp/bringup-regs-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(setenv("BRINGUP_CACHE", dir, 1), 0);
	profile = in("profile");
	site = in("profile/site.ini");
	racks = in("profile/racks.csv");
	text = bu_testing_replace(bu_testing_site, "[image debian12]\n", policy);
	ck_assert_int_eq(bu_mkdir_p(profile, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(site, 0644, NULL, "%s", text), 0);
	ck_assert_int_eq(bu_file_write_text(racks, 0644, NULL, "%s", bu_testing_racks),
			 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* An image in the cache whose manifest names this registry. */
static void
put(const char *host)
{
	bu_autofree char *images = in("images"), *key = NULL, *pub = NULL;
	bu_autofree char *path = in("images/debian12/manifest.json"), *text = NULL;
	bu_autojson json_t *manifest = NULL;
	char digest[65];

	ck_assert_int_eq(bu_sign_key_create(&key, &pub, NULL), 0);
	ck_assert_int_eq(paper_image(images, "debian12", "2026-01-01T00:00:00Z", key,
				     digest, NULL),
			 0);
	manifest = bu_json_load(path, NULL);
	json_object_set_new(manifest, "sources",
			    json_pack("[{s:s, s:s, s:s, s:s}]", "kind", "oci", "name",
				      "oci://x/y:1", "host", host, "digest", digest));
	text = bu_json_canonical(manifest);
	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

static int
check(struct bu_err *err)
{
	bu_autofree char *profile = in("profile");
	char *args[] = {profile, NULL};
	struct bu_options options = {.args = args};

	memset(err, 0, sizeof(*err));
	return bu_cmd_check(&options, err);
}

START_TEST(check_looks_at_the_images_that_are_here)
{
	struct bu_err err;

	setup("[policy]\nregistries = reg.lab\n[image debian12]\n");
	ck_assert_msg(check(&err) == 0, "%s", err.text);
	put("reg.lab");
	ck_assert_msg(check(&err) == 0, "%s", err.text);
	put("evil:5000");
	ck_assert_int_eq(check(&err), -1);
	ck_assert_msg(strstr(err.text, "[policy] forbids it, for 1 reason") != NULL,
		      "%s", err.text);
	teardown();
	setup("[image debian12]\n");
	put("evil:5000");
	ck_assert_msg(check(&err) == 0, "%s", err.text);
	teardown();
}
END_TEST

static int
import(const char *name, const char *source)
{
	bu_autofree char *profile = in("profile");
	char *argv[] = {(char *)"image",   (char *)"import",       (char *)name,
			(char *)source,    (char *)"--profile",    profile,
			(char *)"--agent", (char *)"/nonexistent", NULL};

	return bu_cmd_image(8, argv);
}

/* What is allowed ends at the agent that is missing: nothing is fetched either way. */
START_TEST(an_import_is_judged_before_it_begins)
{
	static const struct {
		const char *name, *source;
		enum bu_err_kind kind;
	} rows[] = {
		{"debian12", "oci://evil:5000/a/b:1", BU_ERR_DENIED},
		{"other", "oci://evil:5000/a/b:1", BU_ERR_DENIED},
		{"other", "oci://reg.lab.evil/a/b:1", BU_ERR_DENIED},
		{"other", "oci://reg.lab:5000/a/b:1", BU_ERR_DENIED},
		{"other", "oci://", BU_ERR_INVAL},
		{"debian12", "oci://reg.lab/a/b:1", BU_ERR_NOTFOUND},
		{"other", "oci://reg.lab/a/b:1", BU_ERR_NOTFOUND},
		{"other", "oci-layout:/nonexistent", BU_ERR_NOTFOUND},
	};

	/* What the profile says of its source is not what is imported. */
	setup("[policy]\nregistries = reg.lab\n[image debian12]\n"
	      "source = oci://reg.lab/a/b:1\n");
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(import(rows[i].name, rows[i].source) ==
				      bu_err_exit_code(rows[i].kind),
			      "row %zu", i);
	teardown();
}
END_TEST

/* Before anything is fetched or made. */
START_TEST(a_platform_is_checked_before_an_import_begins)
{
	static const struct {
		const char *source, *platform;
		enum bu_err_kind kind;
	} rows[] = {
		{"oci-layout:/nonexistent", "linux/arm64", BU_ERR_INVAL},
		{"/bin/sh", "linux/amd64/v3", BU_ERR_INVAL},
		{"raw:/bin/sh", "linux/amd64", BU_ERR_INVAL},
		/* ends at the agent that is missing */
		{"oci-layout:/nonexistent", "linux/amd64/v3", BU_ERR_NOTFOUND},
	};

	setup("[image debian12]\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char *argv[] = {(char *)"image",
				(char *)"import",
				(char *)"debian12",
				(char *)rows[i].source,
				(char *)"--platform",
				(char *)rows[i].platform,
				(char *)"--agent",
				(char *)"/nonexistent",
				NULL};

		ck_assert_msg(bu_cmd_image(8, argv) == bu_err_exit_code(rows[i].kind),
			      "row %zu", i);
	}
	teardown();
}
END_TEST

BU_UNIT("image_policy", a_platform_is_checked_before_an_import_begins,
	check_looks_at_the_images_that_are_here, an_import_is_judged_before_it_begins)
