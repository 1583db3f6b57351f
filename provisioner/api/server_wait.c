/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait. Called by the files that answer. Invariant: whoever waits is
 * called again after bu_server_wake(), and after AGAIN_MS in any case.
 */
#include "provisioner/api/server_impl.h"

enum { AGAIN_MS = 1000 };

void
bu_server_suspend(struct bu_exchange *exchange)
{
	struct bu_server *server = exchange->listener->server;

	exchange->waiting = 1;
	exchange->next = server->waiting;
	server->waiting = exchange;
	MHD_suspend_connection(exchange->connection);
	if (!server->wake_ms) {
		server->wake_ms = bu_loop_now_ms(server->loop) + AGAIN_MS;
		bu_timer_set(server->wake, AGAIN_MS);
	}
}
