/* SPDX-License-Identifier: Apache-2.0 */
/* Which socket it is, and what is said when nobody answers there: over real sockets. */
#include "cli/reach.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/client.h"
#include "tests/support/unit.h"

static void
set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

/* A socket that is bound to a fresh path; listening when queue is not negative. */
static int
bind_at(char path[64], int queue)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(path, 64, "/tmp/reach_test.%d", (int)getpid());
	unlink(path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (queue >= 0)
		ck_assert_int_eq(listen(fd, queue), 0);
	return fd;
}

/* Asks for the status there; the error is of this kind and has all of these words. */
static void
expect(const char *socket, int64_t answer_ms, enum bu_err_kind kind,
       const char *const *has)
{
	bu_autoclient struct bu_client *client = bu_client_create(socket);
	struct bu_err err = {0};

	bu_client_set_answer_ms(client, answer_ms);
	ck_assert_ptr_null(bu_client_get(client, 0, &err, "/v1/status"));
	ck_assert_msg(err.kind == kind, "%s: %s", bu_err_name(err.kind), err.text);
	for (; *has; has++)
		ck_assert_msg(strstr(err.text, *has), "'%s' is not in '%s'", *has,
			      err.text);
}
#define EXPECT(socket, answer_ms, kind, ...)                                           \
	expect(socket, answer_ms, kind, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(the_nearest_word_names_the_socket)
{
	static const struct {
		const char *option, *socket, *rack, *want;
		enum bu_reach_by by;
	} rows[] = {
		{"/a", "/b", "/c", "/a", BU_REACH_OPTION},
		{NULL, "/b", "/c", "/b", BU_REACH_SOCKET},
		{NULL, NULL, "/c", "/c/run/bringup/sock", BU_REACH_RACK},
		{NULL, "", "", "/run/bringup/sock", BU_REACH_DEFAULT},
		{NULL, NULL, NULL, "/run/bringup/sock", BU_REACH_DEFAULT},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_reach reach;

		set("BRINGUP_SOCKET", rows[i].socket);
		set("BRINGUP_RACK", rows[i].rack);
		bu_reach_init(&reach, rows[i].option);
		ck_assert_str_eq(reach.path, rows[i].want);
		ck_assert_int_eq(reach.by, rows[i].by);
		bu_reach_fini(&reach);
	}
}
END_TEST

START_TEST(a_missing_socket_names_who_chose_it)
{
	EXPECT("/nonexistent/sock", 1000, BU_ERR_REMOTE,
	       "/nonexistent/sock (from --socket): no such socket",
	       "`socket` in bringupd.conf");
	set("BRINGUP_SOCKET", "/nonexistent/env");
	EXPECT(NULL, 1000, BU_ERR_REMOTE, "/nonexistent/env (from BRINGUP_SOCKET): ");
	set("BRINGUP_SOCKET", NULL);
	set("BRINGUP_RACK", "/nonexistent/rack");
	EXPECT(NULL, 1000, BU_ERR_REMOTE,
	       "/nonexistent/rack/run/bringup/sock (from BRINGUP_RACK): ",
	       "`bringup lab status`");
}
END_TEST

START_TEST(what_is_no_socket_is_said_as_that)
{
	EXPECT("/etc/passwd", 1000, BU_ERR_REMOTE,
	       "/etc/passwd (from --socket): this is not a socket");
	EXPECT("/etc/passwd/sock", 1000, BU_ERR_REMOTE, "no such socket");
}
END_TEST

/* What a killed daemon leaves behind. */
START_TEST(a_stopped_daemon_is_said_as_that)
{
	char path[64];
	int fd = bind_at(path, -1);

	EXPECT(path, 1000, BU_ERR_REMOTE, path,
	       "nothing listens on this socket; bringupd has stopped",
	       "systemctl status bringupd");
	close(fd);
	unlink(path);
}
END_TEST

START_TEST(a_socket_of_others_is_said_as_that)
{
	char path[64];
	int fd = bind_at(path, 1);

	ck_assert_int_eq(chmod(path, 0), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(setuid(65534), 0);
	EXPECT(path, 1000, BU_ERR_DENIED, path, "may not use this socket", "with sudo");
	close(fd);
}
END_TEST

/* It listens, nobody takes the call: a daemon that is stuck. */
START_TEST(a_daemon_that_does_not_answer_is_said_as_that)
{
	char path[64];
	int fd = bind_at(path, 8);

	EXPECT(path, 200, BU_ERR_TIMEOUT, path,
	       "bringupd runs and does not answer in time", "journalctl -u bringupd");
	close(fd);
	unlink(path);
}
END_TEST

struct answer {
	int fd;
	const char *text;
};

static void *
answer_once(void *arg)
{
	const struct answer *answer = arg;
	int fd = accept(answer->fd, NULL, NULL);
	char request[4096];

	if (read(fd, request, sizeof(request)) > 0)
		(void)!write(fd, answer->text, strlen(answer->text));
	close(fd);
	return NULL;
}

/* One answer of whoever listens there. */
static void
expect_after(const char *text, enum bu_err_kind kind, const char *const *has)
{
	char path[64];
	struct answer answer = {.fd = bind_at(path, 8), .text = text};
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, answer_once, &answer), 0);
	expect(path, 5000, kind, has);
	pthread_join(thread, NULL);
	close(answer.fd);
	unlink(path);
}
#define EXPECT_AFTER(text, kind, ...)                                                  \
	expect_after(text, kind, (const char *const[]){__VA_ARGS__, NULL})

START_TEST(another_program_is_not_taken_for_bringupd)
{
	static const char not_ours[] = "(from --socket): the program that listens "
				       "there is not bringupd";

	EXPECT_AFTER("SSH-2.0-OpenSSH_9.2\r\n", BU_ERR_REMOTE, not_ours);
	EXPECT_AFTER("HTTP/1.1 404 Not Found\r\nContent-Length: 25\r\n\r\n"
		     "{\"message\":\"not found\"}\r\n",
		     BU_ERR_REMOTE, not_ours);
	EXPECT_AFTER("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", BU_ERR_REMOTE,
		     not_ours);
}
END_TEST

/* An answer of bringupd itself is not blamed on the socket. */
START_TEST(what_bringupd_says_stays_as_it_is)
{
	static const char told[] =
		"HTTP/1.1 504 x\r\nContent-Length: 59\r\n\r\n"
		"{\"error\":{\"kind\":\"timeout\",\"text\":\"squeue takes too long\"}}";
	char path[64];
	struct answer answer = {.fd = bind_at(path, 8), .text = told};
	bu_autoclient struct bu_client *client = bu_client_create(path);
	struct bu_err err = {0};
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, answer_once, &answer), 0);
	ck_assert_ptr_null(bu_client_get(client, 0, &err, "/v1/status"));
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(err.text, "squeue takes too long");
	pthread_join(thread, NULL);
	close(answer.fd);
	unlink(path);
}
END_TEST

BU_UNIT("reach", the_nearest_word_names_the_socket, a_missing_socket_names_who_chose_it,
	what_is_no_socket_is_said_as_that, a_stopped_daemon_is_said_as_that,
	a_socket_of_others_is_said_as_that,
	a_daemon_that_does_not_answer_is_said_as_that,
	another_program_is_not_taken_for_bringupd, what_bringupd_says_stays_as_it_is)
