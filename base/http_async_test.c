/* SPDX-License-Identifier: Apache-2.0 */
/* Requests on the loop: whom the CAs of a request vouch for, and answers that come in
 * parts. */
#include "base/http_async.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "tests/support/unit.h"

enum { TIMEOUT_MS = 10000 };

static char folder[] = "/tmp/bringup-async-XXXXXX";
static struct bu_loop *loop;
static struct bu_http_async *async;
static struct MHD_Daemon *server;
static char base_url[64];
static atomic_int may_go_on; /* "/slow" sends its second part */

/* --- the server --- */

static ssize_t
slow_body(void *arg, uint64_t at, char *buffer, size_t size)
{
	static const char parts[] = "one\ntwo\n";

	if (at >= 4 && !atomic_load(&may_go_on))
		return 0;
	if (at >= strlen(parts))
		return MHD_CONTENT_READER_END_OF_STREAM;
	memcpy(buffer, parts + at, 4);
	return 4;
}

static enum MHD_Result
on_request(void *arg, struct MHD_Connection *connection, const char *url,
	   const char *method, const char *version, const char *upload,
	   size_t *upload_size, void **state)
{
	int slow = strcmp(url, "/slow") == 0;
	struct MHD_Response *response =
		slow ? MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4, slow_body,
							 NULL, NULL)
		     : MHD_create_response_from_buffer(5, (char *)(uintptr_t) "hello",
						       MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc = MHD_queue_response(
		connection, strcmp(url, "/none") == 0 ? 404 : 200, response);

	MHD_destroy_response(response);
	return rc;
}

static void
serve(char *key, char *cert)
{
	struct MHD_OptionItem options[] = {
		{MHD_OPTION_HTTPS_MEM_KEY, 0, key},
		{MHD_OPTION_HTTPS_MEM_CERT, 0, cert},
		{MHD_OPTION_END, 0, NULL},
	};
	unsigned int tls = key ? MHD_USE_TLS : 0;

	server = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | tls, 0, NULL, NULL,
				  on_request, NULL, MHD_OPTION_ARRAY,
				  key ? options : &options[2], MHD_OPTION_END);
	ck_assert_ptr_nonnull(server);
	snprintf(base_url, sizeof(base_url), "%s://127.0.0.1:%u",
		 key ? "https" : "http",
		 (unsigned int)MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)
			 ->port);
}

/* --- the client --- */

static struct {
	int ended;
	long status;
	size_t size;
	struct bu_err err;
	char parts[64];
	int times; /* a part came */
} got;

static void
on_answer(struct bu_http_answer *answer, const struct bu_err *err, void *arg)
{
	got.ended = 1;
	got.status = answer ? answer->status : 0;
	got.size = answer ? answer->size : 0;
	got.err = err ? *err : (struct bu_err){0};
}

static void
on_part(const char *data, size_t size, void *arg)
{
	size_t at = strlen(got.parts);

	ck_assert_uint_lt(at + size, sizeof(got.parts));
	memcpy(got.parts + at, data, size);
	got.times++;
}

static struct bu_http_exchange *
start(const char *path, const char *ca, int in_parts)
{
	bu_autofree char *url = bu_xasprintf("%s%s", base_url, path);
	struct bu_http_request request = {.method = "GET",
					  .url = url,
					  .ca = ca,
					  .timeout_ms = TIMEOUT_MS,
					  .connect_timeout_ms = TIMEOUT_MS,
					  .max = 100,
					  .part = in_parts ? on_part : NULL};

	memset(&got, 0, sizeof(got));
	return bu_http_exchange_start(async, &request, on_answer, NULL);
}

static void
ask(const char *path, const char *ca, int in_parts)
{
	start(path, ca, in_parts);
	while (!got.ended)
		bu_loop_step(loop, 100);
}

static void
begin(void)
{
	loop = bu_loop_create(bu_clock_system());
	async = bu_http_async_create(loop);
	atomic_store(&may_go_on, 0);
}

static void
end(void)
{
	bu_http_async_destroy(async);
	bu_loop_destroy(loop);
	MHD_stop_daemon(server);
}

/* A CA in a file of the folder; owned. */
static char *
make_ca(const char *name, char **ret_key, char **ret_cert)
{
	char *path = bu_xasprintf("%s/%s.pem", folder, name);

	ck_assert_int_eq(bu_tls_key_create(ret_key, NULL), 0);
	ck_assert_int_eq(bu_ca_create(name, *ret_key, ret_cert, NULL), 0);
	ck_assert_int_eq(bu_file_write(path, *ret_cert, strlen(*ret_cert), 0600, NULL),
			 0);
	return path;
}

/* Also on a connection that another request has left open: what one CA vouches for,
 * another does not. */
START_TEST(a_request_trusts_its_own_cas_alone)
{
	static const char *const names[] = {"IP:127.0.0.1", NULL};
	bu_autofree char *ours = NULL, *ours_key = NULL, *ours_cert = NULL;
	bu_autofree char *other = NULL, *other_key = NULL, *other_cert = NULL;
	bu_autofree char *key = NULL, *cert = NULL, *none = NULL;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ours = make_ca("ours", &ours_key, &ours_cert);
	other = make_ca("other", &other_key, &other_cert);
	none = bu_xasprintf("%s/none.pem", folder);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ours_cert, ours_key}, key,
					    names, &cert, NULL),
			 0);
	serve(key, cert);
	begin();
	ask("/", ours, 0);
	ck_assert_msg(got.status == 200, "%s", got.err.text);
	ask("/", other, 0);
	ck_assert_int_eq(got.err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(got.err.text, "other.pem"));
	ask("/", NULL, 0); /* the system's */
	ck_assert_int_eq(got.err.kind, BU_ERR_VERIFY);
	ask("/", none, 0);
	ck_assert_int_eq(got.err.kind, BU_ERR_VERIFY);
	ask("/", ours, 0);
	ck_assert_int_eq(got.status, 200);
	end();
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}
END_TEST

/* The first is empty: the head has come. Nothing is kept for the answer. */
START_TEST(parts_come_before_the_end)
{
	serve(NULL, NULL);
	begin();
	start("/slow", NULL, 1);
	while (strcmp(got.parts, "one\n") != 0)
		bu_loop_step(loop, 100);
	ck_assert_int_ge(got.times, 2);
	ck_assert(!got.ended);
	ck_assert_int_eq(bu_loop_awaited(loop)->exchanges, 0);
	atomic_store(&may_go_on, 1);
	while (!got.ended)
		bu_loop_step(loop, 100);
	ck_assert_str_eq(got.parts, "one\ntwo\n");
	ck_assert_int_eq(got.status, 200);
	ck_assert_uint_eq(got.size, 0);
	end();
}
END_TEST

/* A refusal is an answer like any other. */
START_TEST(a_refusal_has_no_parts)
{
	serve(NULL, NULL);
	begin();
	ask("/none", NULL, 1);
	ck_assert_int_eq(got.status, 404);
	ck_assert_uint_eq(got.size, 5);
	ck_assert_int_eq(got.times, 0);
	end();
}
END_TEST

START_TEST(an_aborted_exchange_tells_nothing_more)
{
	struct bu_http_exchange *exchange;

	serve(NULL, NULL);
	begin();
	exchange = start("/slow", NULL, 1);
	while (!got.parts[0])
		bu_loop_step(loop, 100);
	bu_http_exchange_abort(exchange);
	atomic_store(&may_go_on, 1);
	for (int i = 0; i < 20; i++)
		bu_loop_step(loop, 10);
	ck_assert_str_eq(got.parts, "one\n");
	ck_assert(!got.ended);
	end();
}
END_TEST

BU_UNIT("http_async", a_request_trusts_its_own_cas_alone, parts_come_before_the_end,
	a_refusal_has_no_parts, an_aborted_exchange_tells_nothing_more)
