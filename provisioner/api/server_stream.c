/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers without an end. Called by server_answer.c, and by libmicrohttpd when there is
 * room for more. Invariants: of each answer one part is kept, and the next one is made
 * when the client has taken it, so that slow readers cost no memory; a client that has
 * everything is suspended until bu_server_wake(), and hears something now and then, so
 * that both ends notice when the other one is gone; who may no longer come gets no
 * further part.
 */
#include <stdlib.h>
#include <string.h>

#include "provisioner/api/server_impl.h"

enum { BLOCK = 16 * 1024, ALIVE_MS = 15 * 1000 };

/* Long enough that a client that watches the speed takes it for life. */
static const char still[] = ": there is nothing new, and bringupd is here\n\n";

struct open_stream {
	struct bu_stream of;
	struct bu_exchange *exchange;
	struct bu_meter *meter;
	char *key; /* of the meter */
	char *part;
	size_t at; /* of the part */
	int64_t sent_ms;
};

static void
take_next(struct open_stream *stream)
{
	int64_t now_ms = bu_loop_now_ms(stream->exchange->listener->server->loop);

	stream->at = 0;
	stream->part = stream->of.next(stream->of.state);
	if (!stream->part && now_ms - stream->sent_ms >= ALIVE_MS)
		stream->part = bu_xstrdup(still);
	if (stream->part)
		stream->sent_ms = now_ms;
}

static ssize_t
read_stream(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct open_stream *stream = arg;
	size_t size;

	if (!stream->part && bu_server_call(stream->exchange, NULL) != 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!stream->part)
		take_next(stream);
	if (!stream->part) {
		bu_server_suspend(stream->exchange);
		return 0;
	}
	size = strlen(stream->part + stream->at);
	if (size > max)
		size = max;
	memcpy(buf, stream->part + stream->at, size);
	stream->at += size;
	if (!stream->part[stream->at])
		free(bu_steal(&stream->part));
	return (ssize_t)size;
}

static void
free_stream(void *arg)
{
	struct open_stream *stream = arg;

	bu_meter_give(stream->meter, stream->key, 1);
	stream->of.end(stream->of.state);
	free(stream->key);
	free(stream->part);
	free(stream);
}

static enum MHD_Result
refuse(struct bu_exchange *exchange, const struct bu_stream *of, int wait_s)
{
	struct bu_err err;

	of->end(of->state);
	exchange->retry_s = wait_s;
	bu_err_set(&err, BU_ERR_BUSY, 0,
		   "more than %lld %s; close one, or ask again in %d s",
		   (long long)bu_limit_info(BU_LIMIT_STREAMS)->most,
		   bu_limit_info(BU_LIMIT_STREAMS)->unit, wait_s);
	return bu_server_refuse(exchange, &err);
}

enum MHD_Result
bu_server_stream(struct bu_exchange *exchange, const struct bu_stream *of)
{
	struct bu_server *server = exchange->listener->server;
	struct bu_meter *meter = server->meters[BU_LIMIT_STREAMS];
	const char *key = bu_connection_key(exchange->of);
	int wait_s = bu_meter_take(meter, key, 1);
	struct open_stream *stream;
	struct MHD_Response *response;
	enum MHD_Result rc;

	if (wait_s)
		return refuse(exchange, of, wait_s);
	stream = bu_xcalloc(1, sizeof(*stream));
	*stream = (struct open_stream){.of = *of,
				       .exchange = exchange,
				       .meter = meter,
				       .key = bu_xstrdup(key)};
	/* The head alone would be held back until there is more. */
	stream->part = bu_xstrdup("retry: 2000\n\n");
	stream->sent_ms = bu_loop_now_ms(server->loop);
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK,
						     read_stream, stream, free_stream);
	bu_assert(response);
	bu_server_headers(response, "text/event-stream", NULL);
	rc = MHD_queue_response(exchange->connection, 200, response);
	MHD_destroy_response(response);
	return rc;
}
