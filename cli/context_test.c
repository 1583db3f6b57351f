/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: kept for their owner alone, and which appliance a command speaks with. */
#include "cli/context.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/client.h"
#include "tests/support/unit.h"

static char dir[64];

static void
begin(void)
{
	snprintf(dir, sizeof(dir), "/tmp/context_test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("XDG_CONFIG_HOME", dir, 1);
	unsetenv("BRINGUP_SOCKET");
	unsetenv("BRINGUP_CONTEXT");
	unsetenv("BRINGUP_RACK");
}

static void
save(const char *name)
{
	char url[] = "https://127.0.0.1:1", token[] = "bringup_0123";

	ck_assert_int_eq(
		bu_context_save(name, &(struct bu_context){.url = url, .token = token},
				"PEM\n", NULL),
		0);
}

static unsigned
mode_of(const char *path)
{
	bu_autofree char *whole = bu_xasprintf("%s/%s", dir, path);
	struct stat st;

	ck_assert_int_eq(stat(whole, &st), 0);
	return st.st_mode & 07777;
}

START_TEST(what_is_kept_is_its_owners_alone)
{
	struct bu_context context;
	mode_t old = umask(0);

	begin();
	save("prod");
	umask(old);
	ck_assert_uint_eq(mode_of("bringup"), 0700);
	ck_assert_uint_eq(mode_of("bringup/prod.json"), 0600);
	ck_assert_uint_eq(mode_of("bringup/prod.pem"), 0600);
	ck_assert_int_eq(bu_context_load("prod", &context, NULL), 0);
	ck_assert_str_eq(context.url, "https://127.0.0.1:1");
	ck_assert_str_eq(context.token, "bringup_0123");
	bu_context_fini(&context);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(what_others_may_read_is_not_used)
{
	bu_autofree char *path = NULL;
	struct bu_context context;
	struct bu_err err = {0};

	begin();
	save("prod");
	path = bu_xasprintf("%s/bringup/prod.json", dir);
	ck_assert_int_eq(chmod(path, 0640), 0);
	ck_assert_int_eq(bu_context_load("prod", &context, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(err.text, "chmod 600"));
	ck_assert_ptr_null(strstr(err.text, "bringup_0123"));
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(a_key_that_others_may_read_is_not_used)
{
	char url[] = "https://127.0.0.1:1", cert[] = "/etc/hostname";
	bu_autofree char *key = NULL;
	struct bu_context context;
	struct bu_err err = {0};

	begin();
	key = bu_xasprintf("%s/key.pem", dir);
	ck_assert_int_eq(bu_file_write(key, "KEY\n", 4, 0600, NULL), 0);
	ck_assert_int_eq(bu_context_save("cert",
					 &(struct bu_context){.url = url,
							      .cert_file = cert,
							      .key_file = key},
					 "PEM\n", NULL),
			 0);
	ck_assert_int_eq(bu_context_load("cert", &context, NULL), 0);
	ck_assert_ptr_null(context.token);
	ck_assert_str_eq(context.cert_file, cert);
	ck_assert_str_eq(context.key_file, key);
	bu_context_fini(&context);
	ck_assert_int_eq(chmod(key, 0640), 0);
	ck_assert_int_eq(bu_context_load("cert", &context, &err), -1);
	bu_context_fini(&context);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(err.text, "key.pem"));
	ck_assert_ptr_nonnull(strstr(err.text, "chmod 600"));
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(a_name_cannot_leave_the_folder)
{
	static const char *const names[] = {"",     ".",  "..", "a/b",
					    "../x", "-o", ".x", "a b"};
	struct bu_context context;
	struct bu_err err = {0};

	begin();
	for (size_t i = 0; i < BU_LEN(names); i++) {
		ck_assert_int_eq(bu_context_load(names[i], &context, &err), -1);
		ck_assert_msg(err.kind == BU_ERR_INVAL, "'%s': %s", names[i], err.text);
	}
	ck_assert_int_eq(bu_context_load("none", &context, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(err.text, "bringup login URL --context none"));
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* By what the error names: nobody listens at any of them. */
START_TEST(the_nearest_word_names_the_appliance)
{
	static const struct {
		const char *socket, *context, *env_socket, *env_context, *says;
	} rows[] = {
		{NULL, "prod", NULL, NULL, "context 'prod'"},
		{NULL, "prod", "/nonexistent/env", "lab", "context 'prod'"},
		{NULL, NULL, NULL, "prod", "context 'prod'"},
		{NULL, NULL, "/nonexistent/env", "prod", "/nonexistent/env"},
		{"/nonexistent/x", NULL, NULL, "prod", "/nonexistent/x"},
		{"/nonexistent/x", "prod", NULL, NULL, "two appliances"},
		{NULL, NULL, NULL, "lab", "there is no context 'lab'"},
		{NULL, NULL, NULL, "", "/run/bringup/sock"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_options options = {.socket = rows[i].socket,
						   .context = rows[i].context};
		struct bu_client *client;
		struct bu_err err = {0};

		begin();
		save("prod");
		if (rows[i].env_socket)
			setenv("BRINGUP_SOCKET", rows[i].env_socket, 1);
		if (rows[i].env_context)
			setenv("BRINGUP_CONTEXT", rows[i].env_context, 1);
		client = bu_client_open(&options);
		ck_assert_ptr_null(bu_client_get(client, 0, &err, "/v1/status"));
		ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%zu: %s", i,
			      err.text);
		bu_cleanup_client(&client);
		ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
	}
}
END_TEST

BU_UNIT("context", what_is_kept_is_its_owners_alone, what_others_may_read_is_not_used,
	a_key_that_others_may_read_is_not_used, a_name_cannot_leave_the_folder,
	the_nearest_word_names_the_appliance)
