/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a BMC answers, and whether it keeps its connections; called by wire.c.
 * Invariant: whoever waits for a slow BMC waits in proportion to what it was seen to
 * take, within bounds.
 */
#include <string.h>

#include "provisioner/power/redfish/redfish.h"

enum {
	/* An operation is so many answers, and one may take three times as long as
	 * those before. */
	OP_ANSWERS = 12,
	REQUEST_ANSWERS = 3,
	FADES = 4, /* a faster answer counts for one fourth */
	/* A kept connection that is lost under a request weighs as much as three that
	 * serve one; so many, and none is kept for an hour. */
	LOSS = 3,
	LOSSES_MAX = 2 * LOSS,
	CLOSE_FOR_MS = 3600000,
};

static int64_t
within(int64_t wanted, int64_t least, int64_t most)
{
	if (wanted < least || most < least)
		return least;
	return wanted < most ? wanted : most;
}

static int64_t
op_ms(const struct rf_op *op)
{
	const struct rf_times *times = &op->driver->times;

	return within(op->bmc->pace_ms * OP_ANSWERS, times->op_ms, times->op_most_ms);
}

int64_t
rf_pace_request_ms(const struct rf_op *op)
{
	const struct rf_times *times = &op->driver->times;

	return within(op->bmc->pace_ms * REQUEST_ANSWERS, times->request_ms,
		      times->request_most_ms);
}

int
rf_pace_check(const struct rf_op *op, const char *method, const char *path,
	      struct bu_err *err)
{
	int64_t left_ms = op->until_ms - bu_loop_now_ms(op->driver->loop);

	if ((strcmp(method, "POST") != 0 && strcmp(method, "PATCH") != 0) ||
	    left_ms >= op->bmc->pace_ms)
		return 0;
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s: %s %s was not sent: an answer takes %lld s, and the "
			  "operation has %lld s left; try again",
			  op->bmc->origin, method, path,
			  (long long)op->bmc->pace_ms / 1000,
			  (long long)left_ms / 1000);
}

void
rf_pace_learn(struct rf_op *op, int64_t took_ms, int answered)
{
	struct rf_bmc *bmc = op->bmc;

	/* An address that nobody answers at says nothing of a pace. */
	if (!answered && took_ms <= 2 * op->driver->times.connect_ms)
		return;
	if (took_ms > bmc->pace_ms)
		bmc->pace_ms = took_ms;
	else if (answered)
		bmc->pace_ms -= (bmc->pace_ms - took_ms) / FADES;
	rf_pace_waited(op, 0);
}

void
rf_pace_waited(struct rf_op *op, int64_t waited_ms)
{
	const struct rf_times *times = &op->driver->times;
	int64_t most_ms = within(times->op_most_ms, times->op_ms, INT64_MAX);
	int64_t lasts_ms = op->until_ms - op->begun_ms;

	if (lasts_ms < op_ms(op))
		lasts_ms = op_ms(op);
	lasts_ms = within(lasts_ms + waited_ms, lasts_ms, most_ms);
	op->until_ms = op->begun_ms + lasts_ms;
}

/* Some BMCs reset each connection after one answer, and the next request goes out
 * twice. After the hour one loss is enough to know. */
void
rf_keep_learn(struct rf_bmc *bmc, int lost)
{
	bmc->losses += lost ? LOSS : -(bmc->losses > 0);
	if (bmc->losses < LOSSES_MAX)
		return;
	bmc->losses = LOSSES_MAX - LOSS;
	bmc->close_until_ms = bu_loop_now_ms(bmc->driver->loop) + CLOSE_FOR_MS;
}

int
rf_keeps_none(const struct rf_bmc *bmc)
{
	return (bmc->trees && (bmc->trees->quirks & RF_QUIRK_CLOSE)) ||
	       bu_loop_now_ms(bmc->driver->loop) < bmc->close_until_ms;
}
