/* SPDX-License-Identifier: Apache-2.0 */
/* Which socket it is, and what is said when nobody is behind it. */
#include "cli/client.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/unit.h"

static void
set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

START_TEST(the_nearest_word_names_the_socket)
{
	static const struct {
		const char *option, *socket, *rack, *want;
	} rows[] = {
		{"/a", "/b", "/c", "/a"},
		{NULL, "/b", "/c", "/b"},
		{NULL, NULL, "/c", "/c/run/bringup/sock"},
		{NULL, "", "", "/run/bringup/sock"},
		{NULL, NULL, NULL, "/run/bringup/sock"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *path = NULL;

		set("BRINGUP_SOCKET", rows[i].socket);
		set("BRINGUP_RACK", rows[i].rack);
		path = bu_client_socket(rows[i].option);
		ck_assert_str_eq(path, rows[i].want);
	}
}
END_TEST

START_TEST(a_missing_socket_is_named)
{
	bu_autoclient struct bu_client *client =
		bu_client_create("/nonexistent/bringup.sock");
	struct bu_err err;

	ck_assert_ptr_null(bu_client_get(client, 0, &err, "/v1/status"));
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_msg(strstr(err.text, "/nonexistent/bringup.sock: No such file"), "%s",
		      err.text);
	ck_assert_ptr_nonnull(strstr(err.text, "--socket"));
}
END_TEST

/* What a killed daemon leaves behind. */
START_TEST(a_dead_socket_is_named)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct bu_err err;
	struct bu_client *client;

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/client_test.%d",
		 (int)getpid());
	unlink(address.sun_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	client = bu_client_create(address.sun_path);
	ck_assert_ptr_null(bu_client_get(client, 0, &err, "/v1/status"));
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_msg(strstr(err.text, address.sun_path), "%s", err.text);
	bu_client_destroy(client);
	close(fd);
	unlink(address.sun_path);
}
END_TEST

START_TEST(a_name_cannot_leave_its_path)
{
	static const char *const bad[] = {"", "../status", "a/b", "A", "a?x=1", "a b"};
	bu_autoclient struct bu_client *client = bu_client_create("/nonexistent");
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		ck_assert_ptr_null(bu_client_node(client, bad[i], &err));
		ck_assert_msg(err.kind == BU_ERR_INVAL, "'%s'", bad[i]);
	}
}
END_TEST

BU_UNIT("client", the_nearest_word_names_the_socket, a_missing_socket_is_named,
	a_dead_socket_is_named, a_name_cannot_leave_its_path)
