/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client against a real server on the loopback and on a Unix socket; the server
 * misbehaves in every way that the client must notice. TLS is in tls_test.c.
 */
#include "base/http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

enum { DATA_SIZE = 10000, TIMEOUT_MS = 10000 };

static char data[DATA_SIZE];

/* What the server answers; range is what it does with a Range header. */
enum range { IGNORES, HONOURS, ONE_LESS, ONE_MORE };
struct page {
	const char *path;
	unsigned int status;
	const char *text; /* NULL = data */
	enum range range;
};
static const struct page pages[] = {
	{"/ok", 200, "{\"a\":1}", IGNORES},
	{"/empty", 204, "", IGNORES},
	{"/error", 409, "{\"error\":{\"kind\":\"wrong-state\",\"text\":\"is held\"}}",
	 IGNORES},
	{"/plain-error", 500, "boom", IGNORES},
	{"/odd-error", 404, "{\"error\":\"x\"}", IGNORES},
	{"/moved", 302, "", IGNORES},
	{"/no-json", 200, "<html>", IGNORES},
	{"/data", 200, NULL, HONOURS},
	{"/whole", 200, NULL, IGNORES},
	{"/short", 200, NULL, ONE_LESS},
	{"/long", 200, NULL, ONE_MORE},
};

static enum MHD_Result
answer(struct MHD_Connection *connection, unsigned int status, const void *bytes,
       size_t size)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result rc;

	if (status == 302)
		MHD_add_response_header(response, "Location", "/ok");
	rc = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return rc;
}

/* Says what came: method, body, token. */
static enum MHD_Result
answer_echo(struct MHD_Connection *connection, const char *method, const char *body)
{
	const char *token = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							"Authorization");
	const char *type = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       "Content-Type");
	char text[600];
	int size = snprintf(text, sizeof(text),
			    "{\"method\":\"%s\",\"body\":%s,\"token\":\"%s\",\"type\":"
			    "\"%s\"}",
			    method, body && *body ? body : "null", token ? token : "",
			    type ? type : "");

	return answer(connection, 200, text, (size_t)size);
}

static enum MHD_Result
answer_page(struct MHD_Connection *connection, const struct page *page)
{
	const char *range =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
	unsigned int from;
	unsigned int to;

	if (page->text)
		return answer(connection, page->status, page->text, strlen(page->text));
	if (!range || page->range == IGNORES ||
	    sscanf(range, "bytes=%u-%u", &from, &to) != 2 || to < from)
		return answer(connection, page->status, data, sizeof(data));
	if (to >= sizeof(data))
		to = sizeof(data) - 1;
	if (page->range == ONE_LESS)
		to--;
	if (page->range == ONE_MORE)
		to++;
	return answer(connection, 206, data + from, to - from + 1);
}

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	char *body = *state;

	if (!body) {
		*state = bu_xcalloc(1, 512);
		return MHD_YES;
	}
	if (*upload_size) {
		strncat(body, upload, *upload_size);
		*upload_size = 0;
		return MHD_YES;
	}
	if (strcmp(url, "/echo") == 0)
		return answer_echo(connection, method, body);
	if (strcmp(url, "/slow") == 0)
		usleep(500 * 1000);
	for (size_t i = 0; i < BU_LEN(pages); i++)
		if (strcmp(url, pages[i].path) == 0)
			return answer_page(connection, &pages[i]);
	return answer(connection, 404, "", 0);
}

static void
on_done(void *arg, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode code)
{
	free(*state);
}

static struct MHD_Daemon *server;
static char base_url[64];

/* fd: a bound socket that listens. */
static void
serve(int fd)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)('a' + i % 23);
	server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL,
				  on_request, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
				  MHD_OPTION_NOTIFY_COMPLETED, on_done, NULL,
				  MHD_OPTION_END);
	ck_assert_ptr_nonnull(server);
}

static int
listen_tcp(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, size), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	getsockname(fd, (struct sockaddr *)&addr, &size);
	snprintf(base_url, sizeof(base_url), "http://127.0.0.1:%u",
		 ntohs(addr.sin_port));
	return fd;
}

static struct bu_http *
begin(const char *token)
{
	struct bu_http_opts opts = {.base_url = base_url, .token = token};

	serve(listen_tcp());
	return bu_http_create(&opts);
}

static void
end(struct bu_http *http)
{
	bu_http_destroy(http);
	MHD_stop_daemon(server);
}

START_TEST(speaks_json)
{
	struct bu_http *http = begin("secret");
	struct bu_err err = {0};
	json_t *body = json_pack("{s:i}", "n", 7);
	json_t *reply = NULL;

	ck_assert_msg(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/ok", NULL, TIMEOUT_MS},
			     &reply, &err) == 0,
		"%s", err.text);
	ck_assert_int_eq(bu_json_int(reply, "a", 0), 1);
	json_decref(reply);
	for (int i = 0; i < 3; i++) {
		static const char *const methods[] = {"POST", "PUT", "DELETE"};

		ck_assert_int_eq(
			bu_http_json(http,
				     &(struct bu_http_call){methods[i], "/echo", body,
							    TIMEOUT_MS},
				     &reply, &err),
			0);
		ck_assert_str_eq(bu_json_str(reply, "method", ""), methods[i]);
		ck_assert_str_eq(bu_json_str(reply, "token", ""), "Bearer secret");
		ck_assert_str_eq(bu_json_str(reply, "type", ""), "application/json");
		ck_assert_int_eq(bu_json_int(json_object_get(reply, "body"), "n", 0),
				 7);
		json_decref(reply);
	}
	/* After a body the next GET has none. */
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/echo", NULL, TIMEOUT_MS},
			     &reply, &err),
		0);
	ck_assert_str_eq(bu_json_str(reply, "method", ""), "GET");
	ck_assert(json_is_null(json_object_get(reply, "body")));
	json_decref(reply);
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"POST", "/empty", NULL, TIMEOUT_MS},
			     &reply, &err),
		0);
	ck_assert_ptr_null(reply);
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/ok", NULL, TIMEOUT_MS},
			     NULL, &err),
		0);
	json_decref(body);
	end(http);
}
END_TEST

START_TEST(reports_errors)
{
	static const struct {
		const char *path;
		enum bu_err_kind kind;
		const char *text;
	} cases[] = {
		{"/error", BU_ERR_STATE, "is held"},
		{"/plain-error", BU_ERR_REMOTE, "status 500"},
		{"/odd-error", BU_ERR_REMOTE, "status 404"},
		{"/moved", BU_ERR_REMOTE, "status 302"},
		{"/no-json", BU_ERR_REMOTE, "not JSON"},
	};
	struct bu_http *http = begin(NULL);
	json_t *untouched = json_null();
	json_t *body = json_object();

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_err err = {0};

		ck_assert_int_eq(
			bu_http_json(http,
				     &(struct bu_http_call){"GET", cases[i].path, NULL,
							    TIMEOUT_MS},
				     &untouched, &err),
			-1);
		ck_assert_int_eq(err.kind, cases[i].kind);
		ck_assert_msg(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
		/* only the first are its own words */
		ck_assert_int_eq(bu_http_was_told(http), i == 0);
		ck_assert_ptr_eq(untouched, json_null());
		ck_assert_int_eq(
			bu_http_json(http,
				     &(struct bu_http_call){"GET", cases[i].path, NULL,
							    TIMEOUT_MS},
				     NULL, NULL),
			-1);
	}
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/ok", body, TIMEOUT_MS},
			     NULL, NULL),
		-1);
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"TRACE", "/ok", NULL, TIMEOUT_MS},
			     NULL, NULL),
		-1);
	json_decref(body);
	end(http);
}
END_TEST

START_TEST(reports_nobody_and_slowness)
{
	struct bu_http *http = begin(NULL);
	struct bu_err err = {0};

	ck_assert_int_eq(bu_http_json(http,
				      &(struct bu_http_call){"GET", "/slow", NULL, 100},
				      NULL, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/error", NULL, TIMEOUT_MS},
			     NULL, &err),
		-1);
	ck_assert_int_eq(bu_http_was_told(http), 1);
	MHD_stop_daemon(server);
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/ok", NULL, TIMEOUT_MS},
			     NULL, &err),
		-1);
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_int_eq(bu_http_was_told(http), 0);
	bu_http_destroy(http);
}
END_TEST

/* A server that went on after its answer's end, say: that is tried again, as what is
 * wrong with a server is. */
START_TEST(an_answer_that_is_no_http_is_the_servers_fault)
{
	int fd = listen_tcp();
	struct bu_http_opts opts = {.base_url = base_url};
	struct bu_http *http = bu_http_create(&opts);
	struct bu_err err = {0};
	char buf[4096];
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		int client = accept(fd, NULL, NULL);

		_exit(read(client, buf, sizeof(buf)) <= 0 ||
		      write(client, "XYZ\n", 4) != 4);
	}
	ck_assert_int_eq(bu_http_range(http, &(struct bu_http_part){"/data", 0, 4}, buf,
				       TIMEOUT_MS, &err),
			 -1);
	ck_assert_msg(err.kind == BU_ERR_REMOTE, "%s", err.text);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	close(fd);
	bu_http_destroy(http);
	/* What we ask for wrongly is ours. */
	opts.base_url = "gopher://127.0.0.1";
	http = bu_http_create(&opts);
	ck_assert_int_eq(bu_http_range(http, &(struct bu_http_part){"/data", 0, 4}, buf,
				       TIMEOUT_MS, &err),
			 -1);
	ck_assert_msg(err.kind == BU_ERR_INVAL, "%s", err.text);
	bu_http_destroy(http);
}
END_TEST

static int
third_time(void *arg)
{
	return ++*(int *)arg >= 3;
}

START_TEST(ends_when_somebody_says_so)
{
	struct bu_http *http = begin(NULL);
	struct bu_err err = {0};
	int asked = 0;

	bu_http_watch(http, third_time, &asked);
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/slow", NULL, TIMEOUT_MS},
			     NULL, &err),
		-1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	ck_assert_int_eq(asked, 3);
	/* And the next call works, and asks nobody. */
	bu_http_watch(http, NULL, NULL);
	ck_assert_int_eq(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/ok", NULL, TIMEOUT_MS},
			     NULL, &err),
		0);
	ck_assert_int_eq(asked, 3);
	end(http);
}
END_TEST

START_TEST(fetches_ranges)
{
	struct bu_http *http = begin(NULL);
	struct bu_err err = {0};
	char buf[DATA_SIZE + 1];

	ck_assert_int_eq(bu_http_range(http, &(struct bu_http_part){"/data", 100, 50},
				       buf, TIMEOUT_MS, &err),
			 0);
	ck_assert_mem_eq(buf, data + 100, 50);
	ck_assert_int_eq(
		bu_http_range(http, &(struct bu_http_part){"/data", DATA_SIZE - 7, 7},
			      buf, TIMEOUT_MS, &err),
		0);
	ck_assert_mem_eq(buf, data + DATA_SIZE - 7, 7);
	ck_assert_int_eq(bu_http_range(http,
				       &(struct bu_http_part){"/whole", 0, DATA_SIZE},
				       buf, TIMEOUT_MS, &err),
			 0);
	ck_assert_mem_eq(buf, data, DATA_SIZE);
	ck_assert_int_eq(bu_http_range(http, &(struct bu_http_part){"/data", 5, 0}, buf,
				       TIMEOUT_MS, &err),
			 0);
	end(http);
}
END_TEST

START_TEST(refuses_wrong_ranges)
{
	static const struct {
		const char *path;
		uint64_t offset;
		size_t size;
	} cases[] = {
		{"/short", 100, 50},      {"/long", 100, 50},
		{"/data", 9990, 11},      {"/whole", 100, 50},
		{"/whole", 0, 50},        {"/whole", 0, DATA_SIZE + 1},
		{"/whole", 1, DATA_SIZE}, {"/missing", 100, 50},
		{"/moved", 0, 50},
	};
	struct bu_http *http = begin(NULL);

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_err err = {0};
		char buf[DATA_SIZE + 2];

		memset(buf, '!', sizeof(buf));
		ck_assert_int_eq(bu_http_range(http,
					       &(struct bu_http_part){cases[i].path,
								      cases[i].offset,
								      cases[i].size},
					       buf, TIMEOUT_MS, &err),
				 -1);
		ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
		ck_assert_int_eq(buf[cases[i].size], '!'); /* never beyond its end */
	}
	end(http);
}
END_TEST

START_TEST(gets_text_up_to_a_limit)
{
	struct bu_http *http = begin(NULL);
	struct bu_err err = {0};
	size_t size = 0;
	char *text;

	ck_assert_int_eq(bu_http_date_s(http), 0); /* nobody was asked yet */
	text = bu_http_get(http, "/data", DATA_SIZE, TIMEOUT_MS, &size, &err);

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_eq(size, DATA_SIZE);
	ck_assert_uint_eq(strlen(text), DATA_SIZE);
	free(text);
	ck_assert_ptr_null(
		bu_http_get(http, "/data", DATA_SIZE - 1, TIMEOUT_MS, &size, &err));
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert(strstr(err.text, "longer than 9999 bytes"));
	text = bu_http_get(http, "/empty", 10, TIMEOUT_MS, &size, &err);
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(size, 0);
	free(text);
	/* its clock is ours */
	ck_assert_int_le(llabs(bu_http_date_s(http) - time(NULL)), 60);
	ck_assert_ptr_null(bu_http_get(http, "/error", 10, TIMEOUT_MS, NULL, &err));
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	end(http);
}
END_TEST

START_TEST(speaks_over_a_unix_socket)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct bu_http_opts opts = {.unix_socket = addr.sun_path};
	struct bu_http *http;
	struct bu_err err = {0};
	json_t *reply = NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "/tmp/bringup-http-%d",
		 getpid());
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	serve(fd);
	http = bu_http_create(&opts);
	ck_assert_msg(
		bu_http_json(http,
			     &(struct bu_http_call){"GET", "/ok", NULL, TIMEOUT_MS},
			     &reply, &err) == 0,
		"%s", err.text);
	ck_assert_int_eq(bu_json_int(reply, "a", 0), 1);
	json_decref(reply);
	end(http);
	unlink(addr.sun_path);
}
END_TEST

BU_UNIT("http", speaks_json, reports_errors, reports_nobody_and_slowness,
	an_answer_that_is_no_http_is_the_servers_fault, ends_when_somebody_says_so,
	fetches_ranges, refuses_wrong_ranges, gets_text_up_to_a_limit,
	speaks_over_a_unix_socket)
