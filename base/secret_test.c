/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets are found where they lie, and unsafe places are refused. */
#include "base/secret.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-secret-XXXXXX";

static char *
put(const char *name, const char *text, mode_t mode)
{
	char *path = bu_xasprintf("%s/%s", dir, name);
	struct bu_err err;

	ck_assert_msg(bu_file_write(path, text, strlen(text), mode, &err) == 0, "%s",
		      err.text);
	ck_assert_int_eq(chmod(path, mode), 0);
	return path;
}

static void
expect(const char *reference, const char *want)
{
	struct bu_err err = {0};
	size_t size = 0;
	char *secret = bu_secret_resolve(reference, &size, &err);

	ck_assert_msg(secret != NULL, "%s: %s", reference, err.text);
	ck_assert_uint_eq(size, strlen(want));
	ck_assert_str_eq(secret, want);
	bu_secret_free(secret, size);
}

static void
refuse(const char *reference, enum bu_err_kind kind, const char *want)
{
	struct bu_err err = {0};
	size_t size = 7;

	ck_assert_ptr_null(bu_secret_resolve(reference, &size, &err));
	ck_assert_int_eq(err.kind, kind);
	ck_assert_msg(strstr(err.text, want) != NULL, "%s: %s", reference, err.text);
	ck_assert_msg(!strstr(err.text, "s3cret"), "%s", err.text);
	ck_assert_uint_eq(size, 7);
}

START_TEST(secrets_lie_in_four_kinds_of_places)
{
	bu_autofree char *path = NULL, *credential = NULL, *program = NULL;
	bu_autofree char *file = NULL, *exec = NULL;
	char *secret;
	size_t size;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = put("key", "s3cret\n", 0600);
	credential = put("munge.key", "cred", 0400);
	program = put("helper", "#!/bin/sh\necho s3cret\n", 0755);
	file = bu_xasprintf("file:%s", path);
	exec = bu_xasprintf("exec:%s", program);
	expect(file, "s3cret\n");
	expect(exec, "s3cret");
	/* bytes of any value, as a key has them */
	free(program);
	free(exec);
	program = put("binary", "#!/bin/sh\nprintf 'a\\000b\\377'\n", 0755);
	exec = bu_xasprintf("exec:%s", program);
	secret = bu_secret_resolve(exec, &size, NULL);
	ck_assert_ptr_nonnull(secret);
	ck_assert_uint_eq(size, 4);
	ck_assert_mem_eq(secret, "a\0b\377", 4);
	bu_secret_free(secret, size);
	setenv("BU_TEST_SECRET", "from-env", 1);
	expect("env:BU_TEST_SECRET", "from-env");
	setenv("CREDENTIALS_DIRECTORY", dir, 1);
	expect("credential:munge.key", "cred");
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

static void
refuse_at(const char *kind, const char *path, enum bu_err_kind error, const char *want)
{
	bu_autofree char *reference = bu_xasprintf("%s:%s", kind, path);

	refuse(reference, error, want);
}

START_TEST(unsafe_places_are_refused)
{
	bu_autofree char *group = NULL, *empty = NULL, *failing = NULL, *open = NULL;
	bu_autofree char *link = NULL, *none = NULL;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	group = put("group", "s3cret", 0640);
	empty = put("empty", "", 0600);
	failing = put("failing", "#!/bin/sh\necho s3cret >&2\nexit 3\n", 0755);
	open = put("open", "#!/bin/sh\necho s3cret\n", 0775);
	link = bu_xasprintf("%s/link", dir);
	none = bu_xasprintf("%s/none", dir);
	ck_assert_int_eq(symlink(group, link), 0);
	refuse_at("file", group, BU_ERR_DENIED,
		  "mode 0640 lets others read it; chmod 0600");
	refuse_at("file", link, BU_ERR_DENIED, "secret file:/tmp/");
	refuse_at("file", empty, BU_ERR_INVAL, "is empty");
	refuse_at("exec", failing, BU_ERR_IO, "the program failed");
	refuse_at("exec", open, BU_ERR_DENIED,
		  "mode 0775 lets others change it; chmod 0755");
	refuse_at("file", dir, BU_ERR_DENIED, "is not a plain file");
	refuse_at("file", none, BU_ERR_NOTFOUND, "No such file");
	refuse("s3cret", BU_ERR_INVAL, "a secret's reference is wrong");
	refuse("file:s3cret", BU_ERR_INVAL, "a secret's reference is wrong");
	unsetenv("CREDENTIALS_DIRECTORY");
	refuse("credential:x", BU_ERR_NOTFOUND, "LoadCredential=x");
	refuse("env:BU_TEST_NOT_SET", BU_ERR_NOTFOUND, "is not set");
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(a_file_of_another_user_is_refused)
{
	bu_autofree char *foreign = NULL, *source = NULL;

	BU_NEEDS("root");
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	foreign = put("foreign", "s3cret", 0600);
	source = bu_xasprintf("file:%s", foreign);
	ck_assert_int_eq(chown(foreign, 12345, 12345), 0);
	refuse(source, BU_ERR_DENIED, "belongs to user 12345");
	/* munge's own key */
	ck_assert_int_eq(chown(foreign, 112, 112), 0);
	expect(source, "s3cret");
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("secret", secrets_lie_in_four_kinds_of_places, unsafe_places_are_refused,
	a_file_of_another_user_is_refused)
