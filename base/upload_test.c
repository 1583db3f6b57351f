/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads to a server of a few lines, which takes, refuses or breaks off. */
#include "base/upload.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

enum { SIZE = 5000 };

static char dir[64], body[SIZE + 1];
static int port;

/* One request: what came of its body goes into the file "got". */
static void
serve_one(int fd, const char *status)
{
	bu_autofree char *got = bu_xasprintf("%s/got", dir);
	char text[2 * SIZE], *at = NULL;
	size_t used = 0;
	ssize_t more;

	do {
		more = read(fd, text + used, sizeof(text) - used - 1);
		used += more > 0 ? (size_t)more : 0;
		text[used] = '\0';
		at = strstr(text, "\r\n\r\n");
	} while (more > 0 && (!at || used - (size_t)(at + 4 - text) < SIZE));
	if (at && strncmp(text, "PUT /b/one HTTP/1.1\r\n", 21) == 0)
		bu_ignore(bu_file_write(got, at + 4, used - (size_t)(at + 4 - text),
					0600, NULL));
	bu_ignore(bu_write_all(fd, status, strlen(status), NULL));
	close(fd);
}

static pid_t
serve(const char *status)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pid_t pid;

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	port = ntohs(at.sin_port);
	pid = fork();
	if (pid == 0) {
		serve_one(accept(fd, NULL, NULL), status);
		_exit(0);
	}
	close(fd);
	return pid;
}

static enum bu_err_kind
upload(const char *status)
{
	bu_autofree char *path = bu_xasprintf("%s/file", dir), *url = NULL;
	struct bu_err err = {0};
	pid_t pid = serve(status);
	int rc;

	memset(body, 'x', SIZE);
	ck_assert_int_eq(bu_file_write(path, body, SIZE, 0600, NULL), 0);
	url = bu_xasprintf("http://127.0.0.1:%d/b/one", port);
	rc = bu_upload(url, path, &err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rc == 0 ? BU_ERR_NONE : err.kind;
}

#define ANSWER(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"

START_TEST(only_a_server_that_took_it_has_it)
{
	static const struct {
		const char *answer;
		enum bu_err_kind kind;
	} rows[] = {
		{ANSWER("201 Created"), BU_ERR_NONE},
		{ANSWER("204 No Content"), BU_ERR_NONE},
		{ANSWER("202 Accepted"), BU_ERR_REMOTE},
		{ANSWER("301 Moved"), BU_ERR_REMOTE},
		{ANSWER("401 Unauthorized"), BU_ERR_DENIED},
		{ANSWER("507 Full"), BU_ERR_REMOTE},
		{"", BU_ERR_REMOTE},
	};
	bu_autofree char *path = NULL;

	strcpy(dir, "/tmp/bringup-upload-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("%s/got", dir);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *got = NULL;
		size_t size = 0;

		ck_assert_int_eq(upload(rows[i].answer), rows[i].kind);
		got = bu_file_read(path, 0, &size, NULL);
		ck_assert_uint_eq(size, SIZE);
		unlink(path);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(a_password_stays_out_of_addresses)
{
	struct bu_err err = {0};

	ck_assert_int_eq(bu_upload("http://u:p@127.0.0.1:1/x", "/dev/null", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_null(strstr(err.text, "u:p"));
}
END_TEST

BU_UNIT("upload", only_a_server_that_took_it_has_it, a_password_stays_out_of_addresses)
