/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes something at a BMC; called by boot.c and driver.c. A status is no proof:
 * whoever writes reads back.
 *
 * Invariant: a POST goes out once; If-Match goes with PATCH alone, for some BMCs refuse
 * it with actions.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/record.h"
#include "provisioner/power/redfish/redfish.h"

enum {
	RUNGS = 6,
	MATCH_SIZE = RF_ETAG_SIZE + 4,
	BACK_OFFS_MAX = 3,
	TASK_READS_MAX = 20,
};

/* --- tasks --- */

/* Follows the task that a 202 names. -1 when it ended badly, or (lost) when the BMC
 * does not say how. One that goes on, or waits for a reset, is left alone: reading back
 * decides. */
static int
follow_task(struct rf_op *op, const char *monitor, int *ret_lost, struct bu_err *err)
{
	static const char *const bad[] = {"Exception", "Killed", "Cancelled", NULL};
	static const char *const moving[] = {"New", "Starting", "Running", NULL};
	struct rf_ask ask = {.method = "GET", .path = monitor};

	for (int i = 0; monitor[0] && i < TASK_READS_MAX; i++) {
		rf_autoreply struct rf_reply reply = {0};
		const char *state;

		*ret_lost = 1;
		if (rf_pause(op, op->driver->times.settle_ms, err) != 0 ||
		    rf_call(op, &ask, &reply, err) != 0)
			return -1;
		*ret_lost = reply.status >= 500;
		state = bu_json_str(reply.json, "TaskState", "");
		if (bu_word_find(bad, state) >= 0)
			return bu_err_set(err, BU_ERR_REMOTE, 0,
					  "%s: the BMC's task %s ended as %s",
					  op->bmc->origin, monitor, state);
		if (reply.status >= 400 && reply.status != 404 && reply.status != 410)
			return rf_refused(op, &ask, &reply, err);
		if (reply.status != 202 && bu_word_find(moving, state) < 0)
			return 0;
	}
	return 0;
}

/* --- If-Match --- */

/* What to send on this rung for the ETag that the BMC gave; "" = no If-Match; -1: the
 * rung is as another one. */
static int
rung_etag(int rung, const char *given, char ret[MATCH_SIZE])
{
	const char *gzip = strstr(given, "-gzip\"");
	int weak = strncmp(given, "W/", 2) == 0;

	ret[0] = '\0';
	switch (rung) {
	case 0: /* as given */
		strcpy(ret, given);
		return 0;
	case 1: /* weak as strong, strong as weak */
		if (given[0])
			snprintf(ret, MATCH_SIZE, "%s%s", weak ? "" : "W/",
				 given + (weak ? 2 : 0));
		return given[0] ? 0 : -1;
	case 2: /* without what a compressing server adds */
		if (gzip)
			snprintf(ret, MATCH_SIZE, "%.*s\"", (int)(gzip - given), given);
		return gzip ? 0 : -1;
	case 3: /* in quotes */
		if (given[0] && !strchr(given, '"'))
			snprintf(ret, MATCH_SIZE, "\"%s\"", given);
		return ret[0] ? 0 : -1;
	case 4: /* none */
		return given[0] ? 0 : -1;
	default: /* whatever it is */
		strcpy(ret, "*");
		return 0;
	}
}

/* Of the last look in this operation, where that will do. */
static int
etag_of(struct rf_op *op, const char *path, int seen, char ret[RF_ETAG_SIZE],
	struct bu_err *err)
{
	bu_autojson json_t *now = NULL;

	if (seen && rf_seen_etag(op, path, ret) == 0)
		return 0;
	now = rf_get(op, path, ret, err);
	return now ? 0 : -1;
}

/* PATCH with the ETag of a moment ago, then with what else BMCs have taken for it. 0
 * with an answer that is not about the ETag. */
static int
patch_matching(struct rf_op *op, const char *path, const json_t *body,
	       struct rf_reply *ret, struct bu_err *err)
{
	char given[RF_ETAG_SIZE], before[RF_ETAG_SIZE] = "", match[MATCH_SIZE];
	struct rf_ask ask = {.method = "PATCH", .path = path, .body = body};
	int raced = 0;

	for (int rung = 0; rung < RUNGS; rung++) {
		if (etag_of(op, path, rung == 0 && !raced, given, err) != 0)
			return -1;
		/* Somebody wrote in between: that was no matter of spelling. */
		if (rung > 0 && !raced && strcmp(given, before) != 0) {
			raced = 1;
			rung = 0;
		}
		strcpy(before, given);
		if (rung_etag(rung, given, match) != 0)
			continue;
		ask.etag = match[0] ? match : NULL;
		rf_reply_fini(ret);
		if (rf_call(op, &ask, ret, err) != 0)
			return -1;
		if (ret->status != 412 && ret->status != 428)
			return 0;
	}
	return 0;
}

/* --- writes --- */

/* Refused for now: in POST, or with another job at hand. */
static int
is_not_now(const struct rf_reply *reply)
{
	return reply->status == 409 || reply->status == 429 || reply->status == 503 ||
	       rf_says(reply, "UnableToModifyDuringSystemPOST") ||
	       rf_says(reply, "SYS518");
}

enum rf_taken
rf_patch(struct rf_op *op, const char *path, const json_t *body, struct bu_err *err)
{
	struct rf_ask ask = {.method = "PATCH", .path = path, .body = body};

	for (int i = 0, lost;; i++) {
		rf_autoreply struct rf_reply reply = {0};

		if (patch_matching(op, path, body, &reply, err) != 0)
			return RF_FAILED;
		if (reply.status == 202)
			return follow_task(op, reply.location, &lost, err) == 0
				       ? RF_TAKEN
				       : RF_FAILED;
		if (reply.status >= 200 && reply.status < 300)
			return RF_TAKEN;
		rf_refused(op, &ask, &reply, err);
		if (!is_not_now(&reply))
			return reply.status == 403 ? RF_FAILED : RF_NOT_THIS;
		if (i >= BACK_OFFS_MAX)
			return RF_FAILED;
		if (rf_pause(op, op->driver->times.again_ms << i, NULL) != 0)
			return RF_FAILED;
	}
}

/* It went out, and what came back does not say whether it was done. */
static int
fail_lost(struct bu_err *err)
{
	if (err && err->kind != BU_ERR_CANCELLED && err->kind != BU_ERR_DENIED)
		err->kind = BU_ERR_TIMEOUT;
	return -1;
}

int
rf_action(struct rf_op *op, const char *path, const json_t *body, struct bu_err *err)
{
	int sent = 0, lost = 0;
	struct rf_ask ask = {
		.method = "POST", .path = path, .body = body, .sent = &sent};
	rf_autoreply struct rf_reply reply = {0};

	if (rf_call(op, &ask, &reply, err) != 0)
		return sent ? fail_lost(err) : -1;
	if (reply.status == 202 && follow_task(op, reply.location, &lost, err) != 0)
		return lost ? fail_lost(err) : -1;
	if (reply.status >= 200 && reply.status < 300)
		return 0;
	rf_refused(op, &ask, &reply, err);
	if (is_not_now(&reply) || reply.status >= 500)
		return bu_err_set(err, BU_ERR_BUSY, 0, "%s", err ? err->text : "");
	return -1;
}
