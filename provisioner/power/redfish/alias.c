/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a name in a BMC's words is its own; called by place.c. A BMC that the profile
 * has by its address may speak of itself by the name that its administrator gave it.
 * The resolver decides, and nothing is connected to. Invariant: a name is a BMC's own
 * only while it leads to the address that the BMC answered from.
 */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

enum { LOOK_MS = 5000, STRANGE_FOR_MS = 60000 };

struct looking {
	struct rf_op *op;
	struct bu_http_exchange *exchange;
	int found, done;
};

static int
on_address(const struct sockaddr *address, void *arg)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	struct looking *looking = arg;
	char text[INET6_ADDRSTRLEN] = "";

	if (address->sa_family == AF_INET)
		inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
	if (address->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
	looking->found |= text[0] && strcmp(text, looking->op->bmc->address) == 0;
	return -1;
}

static void
on_looked(struct bu_http_answer *answer, const struct bu_err *err, void *arg)
{
	struct looking *looking = arg;

	(void)answer, (void)err;
	looking->done = 1;
	bu_task_wake(looking->op->task);
}

static int
look(struct rf_op *op, const char *host)
{
	bu_autofree char *url = bu_xasprintf("http://%s/", host);
	struct bu_http_request request = {
		.method = "GET",
		.url = url,
		.timeout_ms = LOOK_MS,
		.connect_timeout_ms = LOOK_MS,
		.fresh = 1,
		.look = on_address,
	};
	struct looking looking = {.op = op};

	looking.exchange =
		bu_http_exchange_start(op->driver->http, &request, on_looked, &looking);
	while (!looking.done && !op->cancelled)
		bu_task_wait();
	if (!looking.done)
		bu_http_exchange_abort(looking.exchange);
	return looking.found;
}

/* The operation whose task runs; NULL outside of one. */
static struct rf_op *
current(const struct rf_bmc *bmc)
{
	struct bu_task *self = bu_task_self();
	struct rf_op *op = self ? bmc->driver->ops : NULL;

	while (op && op->task != self)
		op = op->next;
	return op;
}

int
rf_is_alias(struct rf_bmc *bmc, const char *host)
{
	struct rf_op *op = current(bmc);
	struct in6_addr in6;

	if (bmc->alias[0] && strcasecmp(host, bmc->alias) == 0)
		return 1;
	if (!op || !bmc->address[0] || strlen(host) >= sizeof(bmc->alias) ||
	    strspn(host, "0123456789.") == strlen(host) ||
	    inet_pton(AF_INET6, host, &in6) == 1 ||
	    (strcasecmp(host, bmc->stranger) == 0 &&
	     bu_loop_now_ms(bmc->driver->loop) < bmc->stranger_until_ms))
		return 0;
	if (look(op, host)) {
		BU_TEXT_COPY(bmc->alias, host);
		return 1;
	}
	BU_TEXT_COPY(bmc->stranger, host);
	bmc->stranger_until_ms = bu_loop_now_ms(bmc->driver->loop) + STRANGE_FOR_MS;
	return 0;
}
