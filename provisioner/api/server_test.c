/* SPDX-License-Identifier: Apache-2.0 */
/* The server over loopback, with routes of its own. */
#include "provisioner/api/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/talk.h"
#include "tests/support/unit.h"

enum { FILE_SIZE = 200000, PATIENCE = 1000, CLIENTS_MAX = 1300 };

struct site {
	struct bu_loop *loop;
	struct bu_server *server;
	int port, local;
	char seen[CLIENTS_MAX]; /* numbers that asked the waiting handler */
	int clients;            /* of them */
	int asked;              /* how often the waiting handler was */
	int open;               /* it answers now */
	char file[64];
	struct bu_store *store;
	int client;            /* who asked for /logged */
	enum bu_commit commit; /* what the log says to it */
	int early;             /* it had an answer before the log had the event */
};

static enum bu_answer
text_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	const char *name = bu_request_query(request, "name");

	if (bu_request_query(request, "n"))
		reply->text = bu_xasprintf(
			"%lld", (long long)bu_request_number(request, "n", 7, 60));
	else
		reply->text = bu_xasprintf("hello %s", name ? name : "world");
	return BU_ANSWER_NOW;
}

static enum bu_answer
params_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	       struct bu_err *err)
{
	reply->json = json_pack("{s:s,s:s?}", "one", request->params[0], "two",
				request->params[1]);
	return BU_ANSWER_NOW;
}

static enum bu_answer
rest_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	reply->text = bu_xstrdup(request->params[0]);
	reply->content_type = "text/odd";
	reply->status = 201;
	return BU_ANSWER_NOW;
}

static enum bu_answer
body_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	reply->json = json_pack("{s:O?}", "body", request->body);
	return BU_ANSWER_NOW;
}

static enum bu_answer
file_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	     struct bu_err *err)
{
	const struct site *site = arg;
	struct stat st;

	reply->has_fd = 1;
	reply->fd = open(site->file, O_RDONLY | O_CLOEXEC);
	fstat(reply->fd, &st);
	reply->fd_size = (uint64_t)st.st_size;
	return BU_ANSWER_NOW;
}

static enum bu_answer
later_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	      struct bu_err *err)
{
	struct site *site = arg;
	int number;

	site->asked++;
	number = (int)bu_request_number(request, "n", 0, CLIENTS_MAX - 1);
	site->clients += !site->seen[number];
	site->seen[number] = 1;
	if (!site->open)
		return BU_ANSWER_LATER;
	reply->json = json_pack("{s:b}", "waited", request->waited_ms > 0);
	return BU_ANSWER_NOW;
}

/* --- time that a test moves on --- */

static int64_t ahead_ms;

static int64_t
hasty_ms(const struct bu_clock *clock)
{
	return bu_mono_ms(bu_clock_system()) + ahead_ms;
}

static const struct bu_clock hasty = {.mono_ms = hasty_ms, .wall_ms = hasty_ms};

/* --- a log of paper --- */

static enum bu_commit
paper_commit(void *driver, struct bu_event *events, size_t count, struct bu_err *err)
{
	struct site *site = driver;
	char byte;

	site->early = recv(site->client, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
	if (site->commit != BU_COMMIT_DONE)
		bu_err_set(err, BU_ERR_IO, 0, "the disk is full; 0 bytes are free");
	return site->commit;
}

static enum bu_commit
paper_settle(void *driver, struct bu_event *events, size_t count, struct bu_err *err)
{
	return BU_COMMIT_UNKNOWN;
}

static void
paper_close(void *driver)
{
}

static const struct bu_store_ops paper_log = {.name = "paper",
					      .commit = paper_commit,
					      .settle = paper_settle,
					      .close = paper_close};

static enum bu_answer
logged_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	       struct bu_err *err)
{
	struct site *site = arg;
	struct bu_event event;

	site->asked++;
	bu_event_init(&event, BU_EVENT_RELEASED, "node001", json_object());
	bu_store_append(site->store, &event, 1, 0, NULL, NULL);
	reply->text = bu_xstrdup("it is in the log");
	reply->logged = site->store;
	return BU_ANSWER_NOW;
}

static enum bu_answer
error_handler(void *arg, const struct bu_request *request, struct bu_reply *reply,
	      struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_DENIED, 0, "not you, %s", request->params[0]);
}

static const struct bu_route routes[] = {
	{"GET", "/", BU_LISTEN_PAGE, text_handler, ""},
	{"GET", "/a/*/b/*", BU_LISTEN_PAGE, params_handler, ""},
	{"GET", "/a/*", BU_LISTEN_PAGE, params_handler, ""},
	{"GET", "/rest/**", BU_LISTEN_PAGE, rest_handler, ""},
	{"POST", "/body", BU_LISTEN_PAGE | BU_LISTEN_LOCAL, body_handler, ""},
	{"GET", "/file", BU_LISTEN_PAGE, file_handler, ""},
	{"GET", "/later", BU_LISTEN_PAGE | BU_LISTEN_BOOT, later_handler, ""},
	{"GET", "/logged", BU_LISTEN_PAGE, logged_handler, ""},
	{"GET", "/deny/*", BU_LISTEN_PAGE, error_handler, ""},
	{"GET", "/secret", BU_LISTEN_AGENT | BU_LISTEN_LOCAL, text_handler, ""},
	{NULL, NULL, 0, NULL, NULL},
};

static int
listen_on(struct site *site, enum bu_listener kind)
{
	struct bu_err err = {0};
	int fd = bu_listen_tcp("127.0.0.1:0", &err), port;

	ck_assert_msg(fd >= 0, "%s", err.text);
	port = talk_port(fd);
	ck_assert_int_eq(
		bu_server_listen(site->server, kind, fd, NULL, NULL, NULL, &err), 0);
	return port;
}

static void
begin(struct site *site)
{
	bu_autofree char *data = bu_xmalloc(FILE_SIZE);
	int fd;

	memset(site, 0, sizeof(*site));
	strcpy(site->file, "/tmp/bringup-server-XXXXXX");
	fd = mkstemp(site->file);
	for (int i = 0; i < FILE_SIZE; i++)
		data[i] = (char)('a' + i % 26);
	ck_assert_int_eq(bu_write_all(fd, data, FILE_SIZE, NULL), 0);
	close(fd);
	site->loop = bu_loop_create(&hasty);
	site->server = bu_server_create(site->loop, routes, site);
	site->port = listen_on(site, BU_LISTEN_PAGE);
	site->local = listen_on(site, BU_LISTEN_LOCAL);
}

static void
finish(struct site *site)
{
	bu_server_destroy(site->server);
	bu_loop_destroy(site->loop);
	unlink(site->file);
}

static void
turn(struct site *site, struct talk *talk)
{
	bu_loop_step(site->loop, 10);
	talk_take(talk);
}

static void
say(struct site *site, struct talk *talk, const char *request, size_t size)
{
	talk_begin(talk, site->port, request, size);
	for (int i = 0; i < PATIENCE && !talk->ended; i++)
		turn(site, talk);
	ck_assert_msg(talk->ended, "no answer to %s", request);
}

static void
get(struct site *site, struct talk *talk, const char *path, const char *headers)
{
	bu_autofree char *text =
		bu_xasprintf("GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
			     "%s\r\n",
			     path, headers ? headers : "");

	say(site, talk, text, 0);
}

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
		 "you, ?x\"}}"},
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
	    "DELETE /file HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0);
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
	say(&site, &talk, "HEAD /file HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
	    0);
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
	return bu_xasprintf("POST /body HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
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

/* An agent of a large site each. */
START_TEST(more_wait_than_select_could_watch)
{
	struct rlimit files;
	struct site site;
	bu_autofree struct talk *talks = bu_xcalloc(CLIENTS_MAX, sizeof(*talks));

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = 2 * CLIENTS_MAX + 100;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	begin(&site);
	site.port = listen_on(&site, BU_LISTEN_BOOT);
	for (int i = 0; i < CLIENTS_MAX; i++) {
		bu_autofree char *text =
			bu_xasprintf("GET /later?n=%d HTTP/1.1\r\nHost: x\r\n\r\n", i);

		talk_begin(&talks[i], site.port, text, 0);
		bu_loop_step(site.loop, 0);
	}
	for (int i = 0; i < PATIENCE && site.clients < CLIENTS_MAX; i++)
		bu_loop_step(site.loop, 1);
	ck_assert_int_ge(site.clients, CLIENTS_MAX);
	site.open = 1;
	bu_server_wake(site.server);
	for (int i = 0; i < CLIENTS_MAX; i++) {
		for (int k = 0; k < PATIENCE && !talks[i].size; k++)
			turn(&site, &talks[i]);
		ck_assert_int_eq(talks[i].status, 200);
		talk_end(&talks[i]);
	}
	finish(&site);
}
END_TEST

START_TEST(who_waits_is_woken)
{
	struct site site;
	struct talk talk;
	int asked;

	begin(&site);
	talk_begin(&talk, site.port,
		   "GET /later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0);
	for (int i = 0; i < PATIENCE && !site.asked; i++)
		turn(&site, &talk);
	for (int i = 0; i < 10; i++)
		turn(&site, &talk);
	asked = site.asked;
	ck_assert_int_eq(asked, 1); /* it is not asked all the time */
	ck_assert_int_eq(talk.ended, 0);
	bu_server_wake(site.server);
	for (int i = 0; i < PATIENCE && site.asked == asked; i++)
		turn(&site, &talk);
	ck_assert_int_eq(site.asked, 2);
	site.open = 1; /* nobody wakes: a second later it is asked anyway */
	for (int i = 0; i < PATIENCE && !talk.ended; i++)
		turn(&site, &talk);
	ck_assert_str_eq(talk.body, "{\"waited\":true}");
	talk_end(&talk);
	finish(&site);
}
END_TEST

START_TEST(an_answer_that_needs_the_log_waits_for_it)
{
	struct site site;
	struct talk talk;

	begin(&site);
	site.store = bu_store_create(site.loop, &paper_log, &site);
	talk_begin(&talk, site.port, "GET /logged HTTP/1.1\r\nHost: x\r\n\r\n", 0);
	site.client = talk.fd;
	while (!bu_store_committed(site.store))
		bu_loop_step(site.loop, 5);
	ck_assert_int_eq(site.early, 0);
	for (int i = 0; i < PATIENCE && !talk.size; i++)
		turn(&site, &talk);
	ck_assert_str_eq(talk.body, "it is in the log");
	ck_assert_int_eq(site.asked, 1);
	talk_end(&talk);
	/* one that is cut off leaves nothing behind */
	talk_begin(&talk, site.port, "GET /logged HTTP/1.1\r\nHost: x\r\n\r\n", 0);
	while (site.asked < 2)
		bu_loop_step(site.loop, 5);
	talk_end(&talk);
	bu_server_destroy(bu_steal(&site.server));
	bu_store_destroy(site.store);
	finish(&site);
}
END_TEST

/* Each row: how the log fails, what whoever asked is told. */
START_TEST(an_answer_whose_rows_are_not_in_the_log_is_none)
{
	static const struct {
		enum bu_commit commit;
		const char *says;
	} rows[] = {
		{BU_COMMIT_NOT, "\"the disk is full; 0 bytes are free\""},
		{BU_COMMIT_UNKNOWN, "\"it is not known yet whether this is in the log: "
				    "the disk is full; 0 bytes are free\""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;
		struct talk talk;

		begin(&site);
		site.commit = rows[i].commit;
		site.store = bu_store_create(site.loop, &paper_log, &site);
		talk_begin(&talk, site.port, "GET /logged HTTP/1.1\r\nHost: x\r\n\r\n",
			   0);
		site.client = talk.fd;
		while (!bu_store_down(site.store))
			turn(&site, &talk);
		turn(&site, &talk);
		ck_assert_uint_eq(talk.size, 0); /* whoever waits is woken at times */
		for (int k = 0; k < PATIENCE && !talk.size; k++) {
			ahead_ms += 100;
			turn(&site, &talk);
		}
		ck_assert_int_eq(talk.status, 500);
		ck_assert_ptr_nonnull(strstr(talk.body, rows[i].says));
		ck_assert_ptr_nonnull(strstr(talk.body, "\"kind\":\"io\""));
		talk_end(&talk);
		bu_server_destroy(bu_steal(&site.server));
		bu_store_destroy(site.store);
		finish(&site);
	}
}
END_TEST

START_TEST(many_wait_and_some_go_away)
{
	struct site site;
	struct talk talks[20];

	begin(&site);
	for (int i = 0; i < 20; i++)
		talk_begin(
			&talks[i], site.port,
			"GET /later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
			0);
	for (int i = 0; i < PATIENCE && site.asked < 20; i++)
		bu_loop_step(site.loop, 10);
	for (int i = 0; i < 20; i += 2)
		talk_end(&talks[i]);
	site.open = 1;
	bu_server_wake(site.server);
	for (int i = 1; i < 20; i += 2) {
		for (int k = 0; k < PATIENCE && !talks[i].ended; k++)
			turn(&site, &talks[i]);
		ck_assert_str_eq(talks[i].body, "{\"waited\":true}");
		talk_end(&talks[i]);
	}
	finish(&site);
}
END_TEST

START_TEST(a_server_ends_with_clients_waiting)
{
	struct site site;
	struct talk talk;

	begin(&site);
	talk_begin(&talk, site.port,
		   "GET /later HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", 0);
	for (int i = 0; i < PATIENCE && !site.asked; i++)
		turn(&site, &talk);
	finish(&site);
	talk_end(&talk);
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
	ck_assert_int_eq(st.st_mode & 0777, 0600);
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
	bu_remove_tree(dir, NULL);
}
END_TEST

BU_UNIT("server", routes_take_their_paths, answers_carry_their_headers,
	another_method_is_said_so, ranges_of_a_file, a_whole_file_and_an_empty_one,
	head_is_get_without_a_body, bodies_are_json,
	a_body_that_is_too_large_is_refused, more_wait_than_select_could_watch,
	who_waits_is_woken, an_answer_that_needs_the_log_waits_for_it,
	an_answer_whose_rows_are_not_in_the_log_is_none, many_wait_and_some_go_away,
	a_server_ends_with_clients_waiting, addresses_to_listen_on,
	a_unix_socket_replaces_a_stale_one_and_nothing_else)
