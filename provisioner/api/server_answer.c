/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a handler has said, on its way to the sender. Called by server_request.c.
 * Invariant: an answer that says something of the log waits until the log has it.
 */
#include "base/json.h"
#include "provisioner/api/server_impl.h"

enum { UNKNOWN_MS = 5000 }; /* so long a log may be silent about what it was given */

/* Why the answer that was kept is not given; NULL = nothing is against it (yet). */
static const struct bu_err *
what_is_against(const struct bu_exchange *exchange, struct bu_err *unknown)
{
	const struct bu_store *store = exchange->kept.logged;
	const struct bu_err *down = bu_store_down(store);
	int64_t now_ms = bu_loop_now_ms(exchange->listener->server->loop);

	if (bu_store_committed(store) >= exchange->kept_until)
		return bu_store_refused(store, exchange->kept_after,
					exchange->kept_until);
	if (!down || now_ms - exchange->kept_ms < UNKNOWN_MS)
		return NULL;
	*unknown = *down;
	bu_err_wrap(unknown, "it is not known yet whether this is in the log");
	return unknown;
}

void
bu_server_drop_kept(struct bu_exchange *exchange)
{
	if (!exchange->is_kept)
		return;
	exchange->is_kept = 0;
	json_decref(exchange->kept.json);
	bu_shared_unref(exchange->kept.shared);
	free(exchange->kept.text);
	free(exchange->kept.cookie);
}

enum MHD_Result
bu_server_send_kept(struct bu_exchange *exchange)
{
	struct bu_err unknown;
	const struct bu_err *bad = what_is_against(exchange, &unknown);

	if (bad) {
		bu_server_drop_kept(exchange);
		return bu_server_refuse(exchange, bad);
	}
	if (bu_store_committed(exchange->kept.logged) < exchange->kept_until) {
		bu_server_suspend(exchange);
		return MHD_YES;
	}
	exchange->is_kept = 0;
	return bu_server_send(exchange->connection, &exchange->kept);
}

enum MHD_Result
bu_server_answer(struct bu_exchange *exchange, struct bu_reply *reply)
{
	if (reply->stream.next)
		return bu_server_stream(exchange, &reply->stream);
	if (!reply->logged)
		return bu_server_send(exchange->connection, reply);
	exchange->is_kept = 1;
	exchange->kept = *reply;
	exchange->kept_after = bu_store_committed(reply->logged);
	exchange->kept_until = bu_store_appended(reply->logged);
	exchange->kept_ms = bu_loop_now_ms(exchange->listener->server->loop);
	return bu_server_send_kept(exchange);
}
