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
	REDIRECTS_MAX = 3,
	BUSY_MAX = 3, /* how often a busy BMC is asked again */
	AFTER_MAX_S = 10,
	LOCATION_MAX = 2000,
};

void
rf_reply_fini(struct rf_reply *reply)
{
	json_decref(reply->json);
	if (reply->token)
		explicit_bzero(reply->token, strlen(reply->token));
	free(reply->token);
	free(reply->leads);
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
				  (long long)((op->until_ms - op->begun_ms) / 1000));
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

int
rf_is_gone(long status)
{
	return status == 404 || status == 410;
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
	int kept; /* it goes over a connection that was kept, if there is one */
};

static void
copy_header(const struct bu_http_answer *answer, const char *name, char *ret,
	    size_t size)
{
	const char *value = bu_http_answer_header(answer, name);

	/* Half a token or ETag is none. */
	if (value && strlen(value) < size && bu_text_is_ascii(value))
		strcpy(ret, value);
}

static char *
header_of(const struct bu_http_answer *answer, const char *name, size_t most)
{
	const char *value = bu_http_answer_header(answer, name);

	return value && value[0] && strlen(value) <= most && bu_text_is_ascii(value)
		       ? bu_xstrdup(value)
		       : NULL;
}

static void
on_answer(struct bu_http_answer *answer, const struct bu_err *err, void *arg)
{
	struct pending *pending = arg;
	struct rf_reply *reply = pending->reply;
	char after[16] = "";
	int64_t after_s = 0;

	pending->done = 1;
	pending->exchange = NULL;
	if (err) {
		pending->err = *err;
		/* Before the rest, which is long: nothing of it may be cut off. */
		if (err->kind == BU_ERR_VERIFY && !pending->op->target.fingerprint)
			bu_err_wrap(&pending->err,
				    "its certificate is trusted once its [node] has "
				    "bmc_fingerprint");
		if (pending->kept && err->kind == BU_ERR_REMOTE)
			rf_keep_learn(pending->op->bmc, 1);
	} else {
		if (pending->kept)
			rf_keep_learn(pending->op->bmc, answer->sent > 1);
		reply->status = answer->status;
		pending->op->bmc->connection = answer->connection;
		BU_TEXT_COPY(pending->op->bmc->address, answer->address);
		bu_text_clean(answer->body);
		reply->json = rf_json(answer->body, reply->why);
		copy_header(answer, "ETag", reply->etag, sizeof(reply->etag));
		reply->token = header_of(answer, "X-Auth-Token", RF_TOKEN_MAX);
		copy_header(answer, "Retry-After", after, sizeof(after));
		reply->leads = header_of(answer, "Location", LOCATION_MAX);
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
	bu_autofree char *token =
		bu_xasprintf("X-Auth-Token: %s", bmc->token ? bmc->token : "");
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
		.timeout_ms = shorter(rf_pace_request_ms(op), left_ms),
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
	pending->kept = bmc->is_open && !request.fresh;
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
	int64_t from_ms = bu_loop_now_ms(op->driver->loop);
	struct bu_task_turn turn;
	int rc;

	bu_task_queue(&bmc->wire, &turn);
	while (!bu_task_has(&bmc->wire, &turn) && !op->cancelled)
		bu_task_wait();
	rf_pace_waited(op, bu_loop_now_ms(op->driver->loop) - from_ms);
	rc = rf_pause(op, wait_ms(op), err);
	if (rc == 0)
		rc = rf_pace_check(op, ask->method, ask->path, err);
	if (rc == 0) {
		op->asks++;
		from_ms = bu_loop_now_ms(op->driver->loop);
		pending.exchange = start(&pending, ask, last);
		if (ask->sent)
			*ask->sent = 1;
		while (!pending.done && (!op->cancelled || op->deaf))
			bu_task_wait();
		if (ask->sent && pending.done && !pending.err.kind)
			*ask->sent = 0;
		if (!pending.done)
			bu_http_exchange_abort(pending.exchange);
		else if (!pending.err.kind || pending.err.kind == BU_ERR_TIMEOUT)
			rf_pace_learn(op, bu_loop_now_ms(op->driver->loop) - from_ms,
				      !pending.err.kind);
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
		if (ret->leads && rf_path(bmc, ret->leads, ret->location) != 0)
			ret->location[0] = '\0';
	}
	bu_task_leave(&bmc->wire, &turn);
	return rc;
}

/* --- what is asked again --- */

/* What is there under the same path with a slash, or without, is the same: nothing was
 * done yet. Elsewhere only 307 and 308 keep what is asked for, unless that may be said
 * again. */
static int
is_redirect(const struct rf_ask *ask, const char *path, const struct rf_reply *reply)
{
	int keeps = reply->status == 307 || reply->status == 308;
	int moved = reply->status == 301 || reply->status == 302;

	if (!reply->leads || (!keeps && !moved && reply->status != 303))
		return 0;
	return keeps || strcmp(ask->method, "GET") == 0 ||
	       (moved && (ask->moves || !reply->location[0] ||
			  rf_same_path(path, reply->location)));
}

static int
fail_away(const struct rf_op *op, const struct rf_ask *ask, const char *path,
	  const struct rf_reply *reply, struct bu_err *err)
{
	bu_autofree char *where = rf_elsewhere(op->bmc, reply->leads);

	return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: %s %s: status %ld leads to %s",
			  op->bmc->origin, ask->method, path, reply->status, where);
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

	if (exchange(op, ask, rf_keeps_none(op->bmc), ret, &first) == 0)
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
	struct rf_ask now = *ask;
	int redirects = 0, busy = 0;
	char path[RF_PATH_SIZE];

	bu_text_copy(path, sizeof(path), ask->path);
	now.path = path;
	for (;;) {
		rf_reply_fini(ret);
		if (exchange_surely(op, &now, ret, err) != 0)
			return -1;
		if (ret->status == 406 && !op->bmc->compressed) {
			op->bmc->compressed = 1;
		} else if (is_redirect(ask, path, ret) && !ret->location[0]) {
			return fail_away(op, ask, path, ret, err);
		} else if (is_redirect(ask, path, ret) && redirects++ < REDIRECTS_MAX) {
			strcpy(path, ret->location);
		} else if (is_busy(op, ask, ret) && busy++ < BUSY_MAX) {
			if (rf_pause(op,
				     ret->after_ms ? ret->after_ms
						   : op->driver->times.again_ms,
				     err) != 0)
				return -1;
		} else {
			strcpy(ret->path, path);
			return 0;
		}
	}
}
