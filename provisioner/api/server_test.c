/* SPDX-License-Identifier: Apache-2.0 */
/* The server over loopback, with routes of its own. */
#include "provisioner/api/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/server.h"

START_TEST(routes_take_their_paths)
{
	static const struct {
		const char *path;
		int status;
		const char *body;
	} rows[] = {
		{"/", 200, "hello world"},
		{"/?name=you&x=1", 200, "hello you"},
		{"/?name=a%20b", 200, "hello a b"},
		{"/?n=59", 200, "59"},
		{"/?n=99999999999999999999", 200, "60"},
		{"/?n=-1", 200, "0"},
		{"/a/1/b/2", 200, "{\"one\":\"1\",\"two\":\"2\"}"},
		{"/a/x%2Fy", 404, NULL}, /* decoded before it is matched */
		{"/rest/x/y/z", 201, "x/y/z"},
		{"/rest/", 404, NULL},
		{"/a/", 404, NULL},
		{"/a/1/b/", 404, NULL},
		{"/a/1/b/2/c", 404, NULL},
		{"/rest", 404, NULL},
		{"/fil", 404, NULL},
		{"/files", 404, NULL},
		{"/nothing", 404, NULL},
		{"/secret", 404, NULL}, /* not on this listener */
		{"/deny/eve", 403,
		 "{\"error\":{\"kind\":\"denied\",\"text\":\"not "
		 "you, eve\"}}"},
		/* what is no UTF-8 is still answered with words */
		{"/deny/%e9x", 403,
		 "{\"error\":{\"kind\":\"denied\",\"text\":\"not "
		 "you, \xef\xbf\xbdx\"}}"},
	};
	struct site site;

	begin(&site);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct talk talk;

		get(&site, &talk, rows[i].path, NULL);
		ck_assert_msg(talk.status == rows[i].status, "%s: %d", rows[i].path,
			      talk.status);
		if (rows[i].body)
			ck_assert_str_eq(talk.body, rows[i].body);
		else
			ck_assert_ptr_nonnull(strstr(talk.body, "\"not-found\""));
		talk_end(&talk);
	}
	finish(&site);
}
END_TEST

START_TEST(answers_carry_their_headers)
{
	struct site site;
	struct talk talk;

	begin(&site);
	get(&site, &talk, "/rest/x", NULL);
	ck_assert_ptr_nonnull(strstr(talk.text, "Content-Type: text/odd\r\n"));
	ck_assert_ptr_nonnull(strstr(talk.text, "X-Content-Type-Options: nosniff\r\n"));
	ck_assert_ptr_nonnull(
		strstr(talk.text, "Content-Security-Policy: default-src"));
	ck_assert_ptr_nonnull(strstr(talk.text, "Cache-Control: no-store\r\n"));
	talk_end(&talk);
	get(&site, &talk, "/a/1", NULL);
	ck_assert_ptr_nonnull(strstr(talk.text, "Content-Type: application/json\r\n"));
	talk_end(&talk);
	finish(&site);
}
END_TEST

START_TEST(another_method_is_said_so)
{
	struct site site;
	struct talk talk;

	begin(&site);
	say(&site, &talk,
	    "DELETE /file HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 0);
	ck_assert_int_eq(talk.status, 404);
	ck_assert_ptr_nonnull(strstr(talk.body, "another method is"));
	talk_end(&talk);
	finish(&site);
}
END_TEST

START_TEST(ranges_of_a_file)
{
	static const struct {
		const char *range;
		int status;
		uint64_t from, count;
	} rows[] = {
		{"bytes=0-9", 206, 0, 10},
		{"bytes=100-100", 206, 100, 1},
		{"bytes=199990-", 206, 199990, 10},
		{"bytes=199990-999999999", 206, 199990, 10},
		{"bytes=0-", 206, 0, FILE_SIZE},
		{"bytes=200000-", 416, 0, 0},
		{"bytes=200000-200001", 416, 0, 0},
		{"bytes=10-9", 416, 0, 0},
		{"bytes=x-y", 416, 0, 0},
		{"bytes=1", 416, 0, 0},
		{"bytes=", 416, 0, 0},
		{"bytes=-5", 416, 0, 0},
		{"bytes=0-1,5-6", 416, 0, 0},
		{"lines=0-1", 416, 0, 0},
		{"bytes=99999999999999999999999-", 416, 0, 0},
	};
	struct site site;

	begin(&site);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *header = bu_xasprintf("Range: %s\r\n", rows[i].range);
		bu_autofree char *said = bu_xasprintf(
			"Content-Range: bytes %llu-%llu/200000\r\n",
			(unsigned long long)rows[i].from,
			(unsigned long long)(rows[i].from + rows[i].count - 1));
		struct talk talk;

		get(&site, &talk, "/file", header);
		ck_assert_msg(talk.status == rows[i].status, "%s: %d", rows[i].range,
			      talk.status);
		ck_assert_uint_eq(talk.size - (size_t)(talk.body - talk.text),
				  rows[i].count);
		ck_assert_ptr_nonnull(
			strstr(talk.text,
			       rows[i].count ? said : "Content-Range: bytes */200000"));
		for (uint64_t k = 0; k < rows[i].count; k++)
			ck_assert_int_eq(talk.body[k],
					 (char)('a' + (rows[i].from + k) % 26));
		talk_end(&talk);
	}
	finish(&site);
}
END_TEST

START_TEST(a_whole_file_and_an_empty_one)
{
	struct site site;
	struct talk talk;

	begin(&site);
	get(&site, &talk, "/file", NULL);
	ck_assert_int_eq(talk.status, 200);
	ck_assert_uint_eq(talk.size - (size_t)(talk.body - talk.text), FILE_SIZE);
	ck_assert_ptr_nonnull(strstr(talk.text, "Accept-Ranges: bytes\r\n"));
	talk_end(&talk);
	ck_assert_int_eq(truncate(site.file, 0), 0);
	get(&site, &talk, "/file", NULL);
	ck_assert_int_eq(talk.status, 200);
	ck_assert_str_eq(talk.body, "");
	talk_end(&talk);
	get(&site, &talk, "/file", "Range: bytes=0-0\r\n");
	ck_assert_int_eq(talk.status, 416);
	talk_end(&talk);
	finish(&site);
}
END_TEST

START_TEST(head_is_get_without_a_body)
{
	struct site site;
	struct talk talk;

	begin(&site);
	say(&site, &talk,
	    "HEAD /file HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 0);
	ck_assert_int_eq(talk.status, 200);
	ck_assert_ptr_nonnull(strstr(talk.text, "Content-Length: 200000\r\n"));
	ck_assert_str_eq(talk.body, "");
	talk_end(&talk);
	finish(&site);
}
END_TEST

static char *
post(const char *body, size_t size)
{
	return bu_xasprintf(
		"POST /body HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		size, body);
}

START_TEST(bodies_are_json)
{
	static const struct {
		const char *body;
		int status;
		const char *says;
	} rows[] = {
		{"{\"x\":[1,2]}", 200, "{\"body\":{\"x\":[1,2]}}"},
		{"", 200, "{\"body\":null}"},
		{"{\"x\":", 400, "\"invalid\""},
		{"{}{}", 400, "\"invalid\""},
		{"\"\xe9\"", 400, "\"invalid\""},
	};
	struct site site;

	begin(&site);
	site.port = site.local;
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = post(rows[i].body, strlen(rows[i].body));
		struct talk talk;

		say(&site, &talk, text, 0);
		ck_assert_msg(talk.status == rows[i].status, "%s: %s", rows[i].body,
			      talk.text);
		ck_assert_msg(strstr(talk.body, rows[i].says) != NULL, "%s", talk.body);
		talk_end(&talk);
	}
	finish(&site);
}
END_TEST

/* A profile's texts are its own; those of a machine are made plain. */
START_TEST(what_an_agent_says_is_made_plain)
{
	static const char body[] =
		"{\"x\\u202e\":[\"a\\u009bb\",{\"y\":\"\\u001b[\"}]}";
	static const char *const says[] = {
		"{\"body\":{\"x\xe2\x80\xae\":[\"a\xc2\x9b"
		"b\",{\"y\":\"\\u001B[\"}]}}",
		"{\"body\":{\"x\xef\xbf\xbd\":[\"a\xef\xbf\xbd"
		"b\",{\"y\":\"\xef\xbf\xbd[\"}]}}",
	};
	struct site site;

	begin(&site);
	for (int agent = 0; agent < 2; agent++) {
		bu_autofree char *text = post(body, strlen(body));
		struct talk talk;

		site.port = agent ? site.agent : site.local;
		say(&site, &talk, text, 0);
		ck_assert_str_eq(talk.body, says[agent]);
		talk_end(&talk);
	}
	finish(&site);
}
END_TEST

static void
refuse_body(size_t size, int page)
{
	struct site site;
	struct talk talk;
	bu_autofree char *head = post("", size), *chunk = bu_xcalloc(1, 65536);
	size_t sent = 0;

	begin(&site);
	memset(chunk, ' ', 65536);
	talk_begin(&talk, page ? site.port : site.local, head, 0);
	while (sent < size && !talk.ended) {
		ssize_t now =
			send(talk.fd, chunk, size - sent < 65536 ? size - sent : 65536,
			     MSG_DONTWAIT | MSG_NOSIGNAL);

		if (now > 0)
			sent += (size_t)now;
		bu_loop_step(site.loop, 0);
		talk_take(&talk);
	}
	for (int i = 0; i < PATIENCE && !talk.ended; i++)
		turn(&site, &talk);
	ck_assert_int_eq(talk.status, 400);
	ck_assert_ptr_nonnull(strstr(talk.body, "request larger than"));
	talk_end(&talk);
	finish(&site);
}

START_TEST(a_body_that_is_too_large_is_refused)
{
	refuse_body(65 * 1024 * 1024, 0);
	refuse_body(5000, 1); /* who only reads sends nothing */
}
END_TEST

START_TEST(addresses_to_listen_on)
{
	static const char *const bad[] = {
		"",
		"127.0.0.1",
		"127.0.0.1:",
		"localhost:80",
		"127.0.0.1:x",
		"127.0.0.1:65536",
		"127.0.0.1:-1",
		"300.0.0.1:80",
		":80",
	};
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		ck_assert_msg(bu_listen_tcp(bad[i], &err) == -1, "'%s'", bad[i]);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_ptr_nonnull(strstr(err.text, bad[i]));
	}
}
END_TEST

START_TEST(a_unix_socket_replaces_a_stale_one_and_nothing_else)
{
	char dir[] = "/tmp/bringup-listen-XXXXXX";
	bu_autofree char *path = NULL, *longer = NULL;
	struct bu_err err = {0};
	struct stat st;
	int first, second;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("%s/sock", dir);
	first = bu_listen_unix(path, &err);
	ck_assert_msg(first >= 0, "%s", err.text);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0666);
	ck_assert_int_eq(bu_listen_unix(path, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "another bringupd listens"));
	close(first); /* as after a kill: the file stays */
	second = bu_listen_unix(path, &err);
	ck_assert_msg(second >= 0, "%s", err.text);
	close(second);
	unlink(path);
	ck_assert_int_eq(bu_file_write(path, "precious", 8, 0600, NULL), 0);
	ck_assert_int_eq(bu_listen_unix(path, &err), -1);
	ck_assert_int_eq(bu_file_exists(path), 1);
	longer = bu_xasprintf("%s/%0200d", dir, 1);
	ck_assert_int_eq(bu_listen_unix(longer, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* The user of dnsmasq passes it: the umask of bringupd is no matter, and the mode of a
 * folder that was there is its owner's. */
START_TEST(the_folder_of_a_unix_socket_is_made_for_all_to_pass)
{
	char dir[] = "/tmp/bringup-listen-XXXXXX";
	bu_autofree char *made = NULL, *path = NULL, *other = NULL;
	bu_autoclose int first = -1, second = -1;
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	made = bu_xasprintf("%s/run", dir);
	path = bu_xasprintf("%s/sock", made);
	other = bu_xasprintf("%s/sock", dir);
	umask(077);
	first = bu_listen_unix(path, NULL);
	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(stat(made, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0755);
	second = bu_listen_unix(other, NULL);
	ck_assert_int_ge(second, 0);
	ck_assert_int_eq(stat(dir, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* A role is asked for where a route is found, whatever the listener. */
START_TEST(a_route_is_for_those_who_have_its_role)
{
	static const char text[] = "POST /operate HTTP/1.1\r\nHost: localhost\r\n"
				   "Connection: close\r\nContent-Length: 0\r\n\r\n";
	struct site site;
	struct talk talk;

	begin(&site);
	say(&site, &talk, text, 0);
	ck_assert_int_eq(talk.status, 403);
	ck_assert_ptr_nonnull(strstr(talk.body, "needs the role 'operate'"));
	talk_end(&talk);
	site.port = site.local;
	say(&site, &talk, text, 0);
	ck_assert_int_eq(talk.status, 200);
	talk_end(&talk);
	finish(&site);
}
END_TEST

BU_UNIT("server", a_route_is_for_those_who_have_its_role, routes_take_their_paths,
	answers_carry_their_headers, another_method_is_said_so, ranges_of_a_file,
	a_whole_file_and_an_empty_one, head_is_get_without_a_body, bodies_are_json,
	what_an_agent_says_is_made_plain, a_body_that_is_too_large_is_refused,
	addresses_to_listen_on, a_unix_socket_replaces_a_stale_one_and_nothing_else,
	the_folder_of_a_unix_socket_is_made_for_all_to_pass)
