/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer on its way out: JSON, a text, a file or a range of one, with the headers
 * that each answer carries. Called by server.c.
 */
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "provisioner/api/server_impl.h"

enum { FILE_BLOCK = 256 * 1024, RETRY_S = 5 };

static struct MHD_Response *
response_of_text(char *text)
{
	return MHD_create_response_from_buffer(strlen(text), text,
					       MHD_RESPMEM_MUST_FREE);
}

struct bu_shared {
	size_t refs, size;
	char *text;
};

struct bu_shared *
bu_shared_create(char *text)
{
	struct bu_shared *shared = bu_xcalloc(1, sizeof(*shared));

	shared->refs = 1;
	shared->text = text;
	shared->size = strlen(text);
	return shared;
}

const char *
bu_shared_text(const struct bu_shared *shared)
{
	return shared->text;
}

struct bu_shared *
bu_shared_ref(struct bu_shared *shared)
{
	shared->refs++;
	return shared;
}

void
bu_shared_unref(struct bu_shared *shared)
{
	if (!shared || --shared->refs)
		return;
	free(shared->text);
	free(shared);
}

static void
on_sent(void *arg)
{
	bu_shared_unref(arg);
}

static struct MHD_Response *
response_of_shared(struct bu_shared *shared)
{
	return MHD_create_response_from_buffer_with_free_callback_cls(
		shared->size, shared->text, on_sent, shared);
}

void
bu_server_headers(struct MHD_Response *response, const char *content_type,
		  const char *etag)
{
	MHD_add_response_header(response, "Content-Type", content_type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Content-Security-Policy",
				"default-src 'none'; script-src 'self'; style-src "
				"'self'; img-src 'self'; connect-src 'self'; base-uri "
				"'none'; form-action 'none'; frame-ancestors 'none'; "
				"require-trusted-types-for 'script'");
	MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(response, "Cross-Origin-Resource-Policy",
				"same-origin");
	MHD_add_response_header(response, "Cache-Control",
				etag ? "no-cache" : "no-store");
	if (etag)
		MHD_add_response_header(response, "ETag", etag);
}

/* "bytes=a-b" or "bytes=a-"; 0 when it fits into size. */
static int
parse_range(const char *text, uint64_t size, uint64_t *ret_from, uint64_t *ret_count)
{
	unsigned long long from, to;
	int end = 0;

	if (sscanf(text, "bytes=%llu-%llu%n", &from, &to, &end) == 2 && !text[end]) {
		if (to >= size)
			to = size - 1;
	} else if (sscanf(text, "bytes=%llu-%n", &from, &end) == 1 && !text[end]) {
		to = size ? size - 1 : 0;
	} else {
		return -1;
	}
	if (from >= size || from > to)
		return -1;
	*ret_from = from;
	*ret_count = to - from + 1;
	return 0;
}

/* libmicrohttpd reads files in blocks of 4 KiB; one turn of the loop each is slow. */
struct file_part {
	int fd;
	uint64_t from;
	uint64_t *sent; /* NULL = nobody counts */
	struct bu_overlay *overlays;
	size_t overlays_count;
};

/* at: where buf is in the file. */
static void
lay_over(const struct bu_overlay *overlay, uint64_t at, char *buf, size_t size)
{
	uint64_t from = at > overlay->offset ? at : overlay->offset;
	uint64_t end = at + size, overlay_end = overlay->offset + overlay->size;

	if (end > overlay_end)
		end = overlay_end;
	if (from < end)
		memcpy(buf + (from - at), overlay->bytes + (from - overlay->offset),
		       end - from);
}

static ssize_t
read_part(void *arg, uint64_t at, char *buf, size_t size)
{
	const struct file_part *part = arg;
	ssize_t got = pread(part->fd, buf, size, (off_t)(part->from + at));

	for (size_t i = 0; got > 0 && i < part->overlays_count; i++)
		lay_over(&part->overlays[i], part->from + at, buf, (size_t)got);
	if (got > 0 && part->sent)
		*part->sent += (uint64_t)got;
	/* A file that was cut meanwhile ends the connection, not the answer. */
	return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void
free_part(void *arg)
{
	struct file_part *part = arg;

	close(part->fd);
	free(part->overlays);
	free(part);
}

static struct MHD_Response *
response_of_part(const struct bu_reply *reply, uint64_t from, uint64_t count)
{
	struct file_part *part = bu_xcalloc(1, sizeof(*part));

	part->fd = reply->fd;
	part->sent = reply->fd_sent;
	part->overlays = reply->overlays;
	part->overlays_count = reply->overlays_count;
	part->from = from;
	return MHD_create_response_from_callback(count, FILE_BLOCK, read_part, part,
						 free_part);
}

static struct MHD_Response *
response_of_fd(struct MHD_Connection *connection, struct bu_reply *reply, int *status)
{
	const char *range =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Range");
	uint64_t from = 0, count = reply->fd_size;
	struct MHD_Response *response;
	char text[80];

	if (range && parse_range(range, reply->fd_size, &from, &count) != 0) {
		close(reply->fd);
		free(reply->overlays);
		*status = 416;
		snprintf(text, sizeof(text), "bytes */%llu",
			 (unsigned long long)reply->fd_size);
		response = MHD_create_response_from_buffer(0, NULL,
							   MHD_RESPMEM_PERSISTENT);
		MHD_add_response_header(response, "Content-Range", text);
		return response;
	}
	response = response_of_part(reply, from, count);
	MHD_add_response_header(response, "Accept-Ranges", "bytes");
	if (range) {
		*status = 206;
		snprintf(text, sizeof(text), "bytes %llu-%llu/%llu",
			 (unsigned long long)from,
			 (unsigned long long)(from + count - 1),
			 (unsigned long long)reply->fd_size);
		MHD_add_response_header(response, "Content-Range", text);
	}
	return response;
}

/* Has the client this very answer? */
static int
is_kept(struct MHD_Connection *connection, const struct bu_reply *reply)
{
	const char *kept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       "If-None-Match");

	return reply->etag && kept && strcmp(kept, reply->etag) == 0;
}

enum MHD_Result
bu_server_send(struct MHD_Connection *connection, struct bu_reply *reply)
{
	int status = reply->status ? reply->status : 200;
	const char *type = reply->content_type ? reply->content_type : "text/plain";
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (is_kept(connection, reply)) {
		status = 304;
		free(reply->text);
		reply->text = NULL;
	}
	if (reply->has_fd) {
		response = response_of_fd(connection, reply, &status);
	} else if (reply->json) {
		type = "application/json";
		response = response_of_text(json_dumps(reply->json, JSON_COMPACT));
		json_decref(reply->json);
	} else if (reply->shared) {
		type = "application/json";
		response = response_of_shared(reply->shared);
	} else {
		response = response_of_text(reply->text ? reply->text : bu_xstrdup(""));
	}
	if (!response)
		return MHD_NO;
	bu_server_headers(response, type, reply->etag);
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate",
					"Bearer realm=\"bringup\"");
	if (reply->cookie) {
		MHD_add_response_header(response, "Set-Cookie", reply->cookie);
		free(bu_steal(&reply->cookie));
	}
	if (status == 503) {
		char text[16];

		snprintf(text, sizeof(text), "%d",
			 reply->retry_s ? reply->retry_s : RETRY_S);
		MHD_add_response_header(response, "Retry-After", text);
	}
	rc = MHD_queue_response(connection, (unsigned)status, response);
	MHD_destroy_response(response);
	return rc;
}

enum MHD_Result
bu_server_send_error(struct MHD_Connection *connection, int status, int retry_s,
		     const struct bu_err *err)
{
	struct bu_reply reply = {.status = status ? status : bu_err_http(err->kind),
				 .retry_s = retry_s};

	reply.json = json_pack("{s:o}", "error", bu_json_from_err(err));
	return bu_server_send(connection, &reply);
}

enum MHD_Result
bu_server_refuse(struct bu_exchange *exchange, const struct bu_err *err)
{
	return bu_server_send_error(exchange->connection, 0, exchange->retry_s, err);
}
