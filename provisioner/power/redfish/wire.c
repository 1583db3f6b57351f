/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to a BMC and its answer; called by session.c.
 *
 * Invariants: a BMC has one request at a time, and they keep their distance. A request
 * goes to the BMC of the profile alone, wherever its answers point. Nothing that is not
 * idempotent is sent twice.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

enum {
	ANSWER_MAX = 4 * 1024 * 1024,
	DEPTH_MAX =
		64, /* of JSON: what frees it recurses, and a task's stack is small */
	REDIRECTS_MAX = 3,
	BUSY_MAX = 3, /* how often a busy BMC is asked again */
	AFTER_MAX_S = 10,
};

void
rf_reply_fini(struct rf_reply *reply)
{
	json_decref(reply->json);
	memset(reply, 0, sizeof(*reply));
}

int
rf_go_on(const struct rf_op *op, struct bu_err *err)
{
	if (op->refused)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "%s: the BMC refuses the password of '%s'; correct "
				  "bmc_credentials",
				  op->bmc->origin, op->target.user);
	if (op->cancelled)
		return bu_err_set(err, BU_ERR_CANCELLED, 0, "%s: cancelled",
				  op->target.bmc);
	if (bu_loop_now_ms(op->driver->loop) >= op->until_ms)
		return bu_err_set(err, BU_ERR_TIMEOUT, 0,
				  "%s: the BMC was not done within %lld s",
				  op->target.bmc,
				  (long long)(op->driver->times.op_ms / 1000));
	return 0;
}

int
rf_pause(struct rf_op *op, int64_t for_ms, struct bu_err *err)
{
	int64_t now_ms = bu_loop_now_ms(op->driver->loop);
	int64_t end_ms = now_ms + for_ms;

	if (end_ms > op->until_ms)
		end_ms = op->until_ms;
	while (!op->cancelled && now_ms < end_ms) {
		bu_task_sleep(op->driver->loop, end_ms - now_ms);
		now_ms = bu_loop_now_ms(op->driver->loop);
	}
	return rf_go_on(op, err);
}

int
rf_path(const struct rf_bmc *bmc, const char *text, char ret[RF_PATH_SIZE])
{
	size_t origin = strlen(bmc->origin);

	if (strncasecmp(text, bmc->origin, origin) == 0 && text[origin] == '/')
		text += origin;
	if (text[0] != '/' || text[1] == '/' || strlen(text) >= RF_PATH_SIZE)
		return -1;
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f)
			return -1;
	strcpy(ret, text);
	return 0;
}

void
rf_link(const struct rf_op *op, const json_t *object, const char *key,
	char ret[RF_PATH_SIZE])
{
	const json_t *link = json_object_get(object, key);

	if (rf_path(op->bmc, bu_json_str(link, "@odata.id", ""), ret) != 0)
		ret[0] = '\0';
}

/* --- what the BMC said --- */

static const json_t *
messages_of(const json_t *json)
{
	const json_t *list = json_object_get(json_object_get(json, "error"),
					     "@Message.ExtendedInfo");

	return list ? list : json_object_get(json, "@Message.ExtendedInfo");
}

static int
ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && strcasecmp(text + size - end_size, end) == 0;
}

const json_t *
rf_says_args(const struct rf_reply *reply, const char *message)
{
	const json_t *item;
	size_t i;

	json_array_foreach (messages_of(reply->json), i, item)
		if (ends_with(bu_json_str(item, "MessageId", ""), message))
			return json_object_get(item, "MessageArgs");
	return NULL;
}

int
rf_says(const struct rf_reply *reply, const char *message)
{
	const json_t *error = json_object_get(reply->json, "error");
	const json_t *item;
	size_t i;

	json_array_foreach (messages_of(reply->json), i, item)
		if (ends_with(bu_json_str(item, "MessageId", ""), message))
			return 1;
	return ends_with(bu_json_str(error, "code", ""), message);
}

/* Of PasswordChangeRequired: the account, whose number nobody may guess. */
static const char *
changed_at(const json_t *message)
{
	const json_t *args = json_object_get(message, "MessageArgs");
	const char *at = json_string_value(json_array_get(args, 0));

	return at ? at : "its account";
}

int
rf_refused(const struct rf_op *op, const struct rf_ask *ask,
	   const struct rf_reply *reply, struct bu_err *err)
{
	const json_t *error = json_object_get(reply->json, "error");
	const json_t *first = json_array_get(messages_of(reply->json), 0);
	const char *said = bu_json_str(first, "Message", NULL);
	char text[160];

	bu_text_copy(text, sizeof(text),
		     said ? said : bu_json_str(error, "message", ""));
	if (rf_says(reply, "PasswordChangeRequired"))
		return bu_err_set(
			err, BU_ERR_REMOTE, 0,
			"%s: the BMC wants another password for '%s' before it "
			"does anything; set one at %s",
			op->bmc->origin, op->target.user, changed_at(first));
	return bu_err_set(err, reply->status == 401 ? BU_ERR_DENIED : BU_ERR_REMOTE, 0,
			  "%s: %s %s: status %ld%s%s", op->bmc->origin, ask->method,
			  ask->path, reply->status, text[0] ? ": " : "", text);
}

/* --- one exchange --- */

struct pending {
	struct rf_op *op;
	struct rf_reply *reply;
	struct bu_http_exchange *exchange;
	struct bu_err err;
	int done;
};

/* Does the text nest so deep that it is better not read? */
static int
too_deep(const char *text)
{
	int depth = 0, quoted = 0;

	for (; *text; text++) {
		if (quoted && *text == '\\' && text[1])
			text++;
		else if (*text == '"')
			quoted = !quoted;
		else if (!quoted && (*text == '{' || *text == '['))
			depth++;
		else if (!quoted && (*text == '}' || *text == ']'))
			depth--;
		if (depth > DEPTH_MAX)
			return 1;
	}
	return 0;
}

static void
copy_header(const struct bu_http_answer *answer, const char *name, char *ret,
	    size_t size)
{
	const char *value = bu_http_answer_header(answer, name);

	/* Half a token or ETag is none. */
	if (value && strlen(value) < size && bu_text_is_ascii(value))
		strcpy(ret, value);
}

static void
on_answer(struct bu_http_answer *answer, const struct bu_err *err, void *arg)
{
	struct pending *pending = arg;
	struct rf_reply *reply = pending->reply;
	char location[RF_PATH_SIZE * 2] = "", after[16] = "";
	int64_t after_s = 0;

	pending->done = 1;
	pending->exchange = NULL;
	if (err) {
		pending->err = *err;
	} else {
		reply->status = answer->status;
		pending->op->bmc->connection = answer->connection;
		bu_text_clean(answer->body);
		if (!too_deep(answer->body))
			reply->json = json_loads(answer->body, 0, NULL);
		copy_header(answer, "ETag", reply->etag, sizeof(reply->etag));
		copy_header(answer, "X-Auth-Token", reply->token, sizeof(reply->token));
		copy_header(answer, "Retry-After", after, sizeof(after));
		copy_header(answer, "Location", location, sizeof(location));
		if (rf_path(pending->op->bmc, location, reply->location) != 0)
			reply->location[0] = '\0';
		if (bu_text_int(after, 0, AFTER_MAX_S, &after_s) == 0)
			reply->after_ms = after_s * 1000;
	}
	bu_task_wake(pending->op->task);
}

static int64_t
shorter(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static struct bu_http_exchange *
start(struct pending *pending, const struct rf_ask *ask, int last)
{
	struct rf_op *op = pending->op;
	struct rf_bmc *bmc = op->bmc;
	int64_t left_ms = op->until_ms - bu_loop_now_ms(op->driver->loop);
	bu_autofree char *url = bu_xasprintf("%s%s", bmc->origin, ask->path);
	bu_autofree char *token = bu_xasprintf("X-Auth-Token: %s", bmc->token);
	bu_autofree char *match = bu_xasprintf("If-Match: %s", ask->etag);
	bu_autofree char *body = ask->body ? bu_json_canonical(ask->body) : NULL;
	const char *headers[6] = {"Accept: application/json", "OData-Version: 4.0"};
	size_t count = 2;
	struct bu_http_request request = {
		.method = ask->method,
		.url = url,
		.headers = headers,
		.body = body,
		.fingerprint = op->target.fingerprint,
		.timeout_ms = shorter(op->driver->times.request_ms, left_ms),
		.connect_timeout_ms = op->driver->times.connect_ms,
		.max = ANSWER_MAX,
		.compressed = bmc->compressed,
		.fresh = last || op->once || strcmp(ask->method, "POST") == 0,
		.last = last,
	};

	if (body || strcmp(ask->method, "POST") == 0)
		headers[count++] = "Content-Type: application/json";
	if (ask->as == RF_AS_TOKEN)
		headers[count++] = token;
	if (ask->etag)
		headers[count++] = match;
	if (ask->as == RF_AS_BASIC) {
		request.user = op->target.user;
		request.password = op->target.password;
	}
	if (request.fresh)
		bu_http_async_close(op->driver->http, bmc->connection);
	return bu_http_exchange_start(op->driver->http, &request, on_answer, pending);
}

/* A thousand BMCs at once are a thousand handshakes, and the last would be late: new
 * connections keep their distance. */
static int64_t
wait_ms(struct rf_op *op)
{
	struct rf_driver *driver = op->driver;
	int64_t now_ms = bu_loop_now_ms(driver->loop), at_ms = op->bmc->next_ms;

	if (!op->bmc->is_open) {
		if (driver->next_open_ms > at_ms)
			at_ms = driver->next_open_ms;
		driver->next_open_ms =
			(at_ms > now_ms ? at_ms : now_ms) + driver->times.open_ms;
	}
	return at_ms - now_ms;
}

/* Takes the turn at this BMC, asks, and gives it back. */
static int
exchange(struct rf_op *op, const struct rf_ask *ask, int last, struct rf_reply *ret,
	 struct bu_err *err)
{
	struct pending pending = {.op = op, .reply = ret};
	struct rf_bmc *bmc = op->bmc;
	struct bu_task_turn turn;
	int rc;

	bu_task_queue(&bmc->wire, &turn);
	while (!bu_task_has(&bmc->wire, &turn) && !op->cancelled)
		bu_task_wait();
	rc = rf_pause(op, wait_ms(op), err);
	if (rc == 0) {
		pending.exchange = start(&pending, ask, last);
		while (!pending.done && (!op->cancelled || op->deaf))
			bu_task_wait();
		if (!pending.done)
			bu_http_exchange_abort(pending.exchange);
		bmc->is_open = pending.done && !pending.err.kind && !last;
		bmc->next_ms =
			bu_loop_now_ms(op->driver->loop) + op->driver->times.gap_ms;
		if (!pending.done)
			rc = rf_go_on(op, err);
		else if (pending.err.kind != BU_ERR_NONE) {
			if (err)
				*err = pending.err;
			rc = -1;
		}
	}
	bu_task_leave(&bmc->wire, &turn);
	return rc;
}

/* --- what is asked again --- */

static int
is_redirect(const struct rf_ask *ask, const struct rf_reply *reply)
{
	if (!reply->location[0])
		return 0;
	return reply->status == 307 || reply->status == 308 ||
	       (strcmp(ask->method, "GET") == 0 && reply->status >= 301 &&
		reply->status <= 303);
}

static int
is_busy(const struct rf_op *op, const struct rf_ask *ask, const struct rf_reply *reply)
{
	return !op->once && (reply->status == 503 || reply->status == 429) &&
	       (strcmp(ask->method, "GET") == 0 || strcmp(ask->method, "PATCH") == 0);
}

/* Once more where the network failed under a GET: some BMCs reset a connection that
 * they kept themselves. */
static int
exchange_surely(struct rf_op *op, const struct rf_ask *ask, struct rf_reply *ret,
		struct bu_err *err)
{
	struct bu_err first = {0};
	int last = op->bmc->trees && (op->bmc->trees->quirks & RF_QUIRK_CLOSE);

	if (exchange(op, ask, last, ret, &first) == 0)
		return 0;
	if (first.kind == BU_ERR_REMOTE && strcmp(ask->method, "GET") == 0 &&
	    !op->cancelled && !op->once) {
		rf_reply_fini(ret);
		return exchange(op, ask, 1, ret, err);
	}
	if (err)
		*err = first;
	return -1;
}

int
rf_wire(struct rf_op *op, const struct rf_ask *ask, struct rf_reply *ret,
	struct bu_err *err)
{
	char path[RF_PATH_SIZE];
	struct rf_ask now = *ask;
	int redirects = 0, busy = 0;

	for (;;) {
		rf_reply_fini(ret);
		if (exchange_surely(op, &now, ret, err) != 0)
			return -1;
		if (ret->status == 406 && !op->bmc->compressed) {
			op->bmc->compressed = 1;
		} else if (is_redirect(ask, ret) && redirects++ < REDIRECTS_MAX) {
			strcpy(path, ret->location);
			now.path = path;
		} else if (is_busy(op, ask, ret) && busy++ < BUSY_MAX) {
			if (rf_pause(op,
				     ret->after_ms ? ret->after_ms
						   : op->driver->times.again_ms,
				     err) != 0)
				return -1;
		} else {
			return 0;
		}
	}
}
