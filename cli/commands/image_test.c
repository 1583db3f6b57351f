/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup image` by its exit code: keys that are none, and what a signature is of. */
#include "cli/commands/image.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "images/build/shelf.h"
#include "tests/support/image.h"
#include "tests/support/unit.h"

static char dir[40], images[64];
static char *key, *pub;

static void
setup(void)
{
	bu_autofree char *keys = NULL;

	strcpy(dir, "/tmp/bringup-image-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(images, sizeof(images), "%s/images", dir);
	keys = bu_xasprintf("%s/keys", dir);
	ck_assert_int_eq(bu_mkdir_p(keys, 0755, NULL), 0);
	ck_assert_int_eq(bu_sign_key_create(&key, &pub, NULL), 0);
	ck_assert_int_eq(setenv("BRINGUP_CACHE", dir, 1), 0);
}

static void
teardown(void)
{
	free(key);
	free(pub);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
write_file(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write_text(path, 0600, NULL, "%s", text), 0);
}

static int
run(const char *verb, const char *option, const char *file)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, file);
	char *argv[] = {(char *)"image", (char *)verb, (char *)"small",
			(char *)option,  path,         NULL};

	return bu_cmd_image(option ? 5 : 3, argv);
}

static void
put(const char *created, char *ret_digest)
{
	bu_autofree char *made = bu_xasprintf("%s/made", dir);
	bu_autofree char *out = bu_xasprintf("%s/small", made);

	ck_assert_int_eq(paper_image(made, "small", created, key, ret_digest, NULL), 0);
	ck_assert_int_eq(bu_shelf_put(images, "small", out, NULL), 0);
}

/* The image has another key's signature: nothing may call it correct. */
START_TEST(a_file_without_a_key_verifies_nothing)
{
	static const char *const texts[] = {"", "\n", "no key\n"};
	char digest[65];

	setup();
	put("2026-01-01T00:00:00Z", digest);
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		write_file("empty.pub", texts[i]);
		write_file("keys/image.pub", texts[i]);
		ck_assert_int_eq(run("verify", "--key", "empty.pub"),
				 bu_err_exit_code(BU_ERR_INVAL));
		ck_assert_int_eq(run("verify", NULL, ""),
				 bu_err_exit_code(BU_ERR_INVAL));
		ck_assert_int_eq(run("show", NULL, ""), bu_err_exit_code(BU_ERR_INVAL));
		ck_assert_int_eq(run("scan", "--advisories", "empty.pub"),
				 bu_err_exit_code(BU_ERR_INVAL));
	}
	write_file("keys/image.pub", pub);
	ck_assert_int_eq(run("show", NULL, ""), 0);
	teardown();
}
END_TEST

/* Whatever has the name when the others are done is what is signed, and told. */
START_TEST(a_signature_is_of_what_has_the_name)
{
	char one[65], two[65];
	bu_autofree char *text = NULL, *json = NULL, *said = NULL;

	setup();
	write_file("release.key", key);
	put("2026-01-01T00:00:00Z", one);
	put("2026-02-02T00:00:00Z", two);
	said = bu_xasprintf("%s/said", dir);
	fflush(stdout);
	{
		int saved = dup(STDOUT_FILENO);

		ck_assert_ptr_nonnull(freopen(said, "w", stdout));
		ck_assert_int_eq(run("sign", "--key", "release.key"), 0);
		fflush(stdout);
		ck_assert_int_ge(dup2(saved, STDOUT_FILENO), 0);
		close(saved);
	}
	text = bu_file_read(said, 4096, NULL, NULL);
	ck_assert_msg(strstr(text, two) != NULL, "%s", text);
	json = bu_xasprintf("images/.store/%s/manifest.json", two);
	write_file(json, "{}");
	ck_assert_int_ne(run("sign", "--key", "release.key"), 0);
	teardown();
}
END_TEST

/* What was not understood is not done in part. */
START_TEST(a_wrong_command_line_does_nothing)
{
	static const char *const wrong[][4] = {
		{"image"},
		{"image", "--ofline", "show", "small"},
		{"image", "show", "small", "--ofline"},
		{"image", "show", "small", "--key"},
		{"image", "shwo", "small"},
		{"image", "show"},
		{"image", "sign", "small", "small"},
	};
	const int usage = bu_err_exit_code(BU_ERR_USAGE);
	char digest[65];

	setup();
	write_file("keys/image.pub", pub);
	put("2026-01-01T00:00:00Z", digest);
	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		char *argv[5] = {NULL};
		int argc = 0;

		for (; argc < 4 && wrong[i][argc]; argc++)
			argv[argc] = (char *)(uintptr_t)wrong[i][argc];
		ck_assert_msg(bu_cmd_image(argc, argv) == usage, "row %zu", i);
	}
	ck_assert_int_eq(run("show", NULL, ""), 0);
	teardown();
}
END_TEST

BU_UNIT("image", a_wrong_command_line_does_nothing,
	a_file_without_a_key_verifies_nothing, a_signature_is_of_what_has_the_name)
