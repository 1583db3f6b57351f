/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells webhooks of rows of the log. Made by bringupd. Invariants: a receiver gets a
 * row only after it has taken each row before; a row is behind the position only once
 * it was taken, and the log has that position, so that a restart tells some rows twice
 * and none never. The log is the queue: nothing is kept in memory but the row under
 * way.
 */
#include <stdio.h>
#include <string.h>

#include "base/http_async.h"
#include "base/json.h"
#include "base/log.h"
#include "base/secret.h"
#include "base/secrets.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/api/api.h"
#include "provisioner/api/webhook_form.h"

/* LOOK: rows of one turn of the loop. PASSED: so many unwanted ones are worth a row. */
enum {
	LOOK = 200,
	PASSED = 10000,
	KEEP_MS = 60 * 1000,
	BEHIND_MS = 5 * 60 * 1000,
	TIMEOUT_MS = 30 * 1000,
	CONNECT_MS = 10 * 1000,
	AGAIN_MIN_MS = 1000,
	AGAIN_MAX_MS = 60 * 1000,
	ANSWER_MAX = 64 * 1024,
};

struct hook {
	struct bu_webhooks *all;
	const struct bu_webhook_opts *opts;
	struct bu_webhook_filter filter;
	int64_t at;    /* rows up to this one were taken, or are not wanted */
	int64_t taken; /* the last row that was taken; 0 = none since the start */
	struct {
		int64_t seq; /* 0 = none is under way */
		int64_t time_ms;
		char *text; /* {"type","timestamp","data"} */
	} row;
	struct bu_http_exchange *exchange;
	struct bu_timer *timer;
	int waits;       /* until the timer, after a failure */
	int failures;    /* in a row */
	long status;     /* of the last answer; 0 = there was none */
	char error[400]; /* "" = there is an answer */
};

struct bu_webhooks {
	struct bu_api *api;
	struct bu_http_async *http;
	struct bu_secrets *secrets;
	struct bu_timer *keep;
	struct hook *hooks;
	size_t count;
};

static struct bu_fleet *
fleet_of(const struct hook *hook)
{
	return hook->all->api->fleet;
}

static int64_t
wall_ms(const struct bu_fleet *fleet)
{
	return bu_wall_ms(bu_loop_clock(fleet->loop));
}

/* --- how far it is --- */

/* By the log; -1 = it knows nothing of it. */
static int64_t
kept(const struct hook *hook)
{
	return bu_json_int(fleet_of(hook)->delivered, hook->opts->name, -1);
}

static void
keep(struct hook *hook)
{
	int64_t last = kept(hook);
	struct bu_event event;

	if (last >= 0 && hook->taken <= last && hook->at - last < PASSED)
		return;
	BU_EVENT_MAKE(&event, BU_EVENT_DELIVERED, "", delivered,
		      .webhook = hook->opts->name, .seq = hook->at);
	bu_reconcile_note(hook->all->api->rec, &event, 1);
}

/* For so long the row under way has waited, since this process began. */
static int64_t
waited_ms(const struct hook *hook)
{
	const struct bu_fleet *fleet = fleet_of(hook);
	int64_t here_ms = bu_loop_now_ms(fleet->loop) - fleet->started_ms;
	int64_t old_ms = wall_ms(fleet) - hook->row.time_ms;

	if (!hook->row.seq)
		return 0;
	return old_ms < here_ms ? old_ms : here_ms;
}

static json_t *
trouble(const struct hook *hook)
{
	return BU_SAID(WEBHOOK_BEHIND, BU_ARG("name", hook->opts->name),
		       BU_ARG("url", hook->status ? hook->opts->url : ""),
		       BU_ARG_NUMBER("status", hook->status),
		       BU_ARG("error", hook->error),
		       BU_ARG_NUMBER("slow", !hook->failures));
}

static void
look_behind(struct bu_webhooks *all)
{
	struct bu_fleet *fleet = all->api->fleet;
	const struct bu_condition *now =
		&fleet->conditions[BU_CONDITION_WEBHOOK_BEHIND];
	const struct hook *first = NULL;
	bu_autojson json_t *detail = NULL;
	struct bu_event event;

	for (size_t i = 0; i < all->count && !first; i++)
		if (waited_ms(&all->hooks[i]) >= BEHIND_MS)
			first = &all->hooks[i];
	if (!first == !now->on)
		return;
	detail = first ? trouble(first) : NULL;
	BU_EVENT_MAKE(&event, BU_EVENT_CONDITION, "", condition,
		      .name = bu_condition_info(BU_CONDITION_WEBHOOK_BEHIND)->name,
		      .on = first != NULL, .detail = detail);
	bu_reconcile_note(all->api->rec, &event, 1);
}

static void
on_keep(void *arg)
{
	struct bu_webhooks *all = arg;

	bu_timer_set(all->keep, KEEP_MS);
	for (size_t i = 0; i < all->count; i++)
		keep(&all->hooks[i]);
	look_behind(all);
}

/* --- the next row --- */

static void
take_row(struct hook *hook, const struct bu_event *event)
{
	char when[24];
	bu_autojson json_t *json = NULL;

	bu_time_iso(event->time_ms, when);
	json = json_pack("{s:s,s:s,s:o}", "type", bu_event_name(event->kind),
			 "timestamp", when, "data", bu_event_to_json(event));
	hook->row.seq = event->seq;
	hook->row.time_ms = event->time_ms;
	hook->row.text = json_dumps(json, JSON_COMPACT);
}

static int
look_at(const struct bu_event *event, void *arg)
{
	struct hook *hook = arg;
	const struct bu_node *node = bu_fleet_node(fleet_of(hook), event->node);

	if (bu_webhook_wants(&hook->filter, event, node ? node->live.pool : "")) {
		take_row(hook, event);
		return 1;
	}
	hook->at = event->seq;
	return 0;
}

static void
drop_row(struct hook *hook)
{
	free(bu_steal(&hook->row.text));
	hook->row.seq = 0;
}

/* --- it is told --- */

/* status: of an answer that took nothing; 0 = the error says why there was none. */
static void
fail(struct hook *hook, long status, const char *error)
{
	int64_t again_ms = AGAIN_MAX_MS;

	if (hook->failures < 6)
		again_ms = (int64_t)AGAIN_MIN_MS << hook->failures;
	hook->status = status;
	BU_TEXT_COPY(hook->error, error);
	/* The first one, and that it goes on. */
	if (hook->failures++ % 10 == 0) {
		bu_autojson json_t *why = trouble(hook);
		bu_autofree char *text = bu_said_text(why);

		if (hook->row.seq)
			bu_warn("webhook", "%s; event %lld is told again", text,
				(long long)hook->row.seq);
		else
			bu_warn("webhook", "%s; the next event is looked for again",
				text);
	}
	hook->waits = 1;
	bu_timer_set(hook->timer, again_ms);
}

static void
succeed(struct hook *hook)
{
	if (hook->failures)
		bu_info("webhook", "%s: it takes events again, from %lld on",
			hook->opts->name, (long long)hook->row.seq);
	hook->failures = 0;
	hook->at = hook->taken = hook->row.seq;
	drop_row(hook);
	bu_timer_set(hook->timer, 0);
}

static void
on_answer(struct bu_http_answer *answer, const struct bu_err *err, void *arg)
{
	struct hook *hook = arg;

	hook->exchange = NULL;
	if (answer && answer->status >= 200 && answer->status < 300)
		succeed(hook);
	else
		fail(hook, answer ? answer->status : 0, answer ? "" : err->text);
}

/* A row that is in a log of a higher epoch may be another one by the same number. */
static char *
id_of(const struct hook *hook)
{
	return bu_xasprintf("%lld-%lld", (long long)fleet_of(hook)->epoch,
			    (long long)hook->row.seq);
}

/* NULL: err says why, BU_ERR_BUSY: the secret is not there yet. */
static char *
sign(const struct hook *hook, const char *id, long long now_s, struct bu_err *err)
{
	bu_autofree char *text = bu_xasprintf("%s.%lld.%s", id, now_s, hook->row.text);
	size_t size;
	char *secret =
		bu_secrets_get(hook->all->secrets, hook->opts->secret, &size, err);
	char *signature;

	if (!secret)
		return NULL;
	while (size && strchr("\r\n", secret[size - 1]))
		secret[--size] = '\0';
	signature = bu_webhook_sign(secret, size, text, err);
	bu_secret_free(secret, size);
	return signature;
}

static void
tell(struct hook *hook)
{
	long long now_s = wall_ms(fleet_of(hook)) / 1000;
	struct bu_err err = {0};
	bu_autofree char *id = id_of(hook);
	bu_autofree char *signature = sign(hook, id, now_s, &err);
	bu_autofree char *id_line = bu_xasprintf("webhook-id: %s", id);
	bu_autofree char *time_line = bu_xasprintf("webhook-timestamp: %lld", now_s);
	bu_autofree char *sign_line =
		bu_xasprintf("webhook-signature: %s", signature ? signature : "");
	const char *const headers[] = {"Content-Type: application/json",
				       "User-Agent: bringup/" BU_VERSION,
				       id_line,
				       time_line,
				       sign_line,
				       NULL};

	if (!signature) {
		if (err.kind != BU_ERR_BUSY)
			fail(hook, 0, err.text);
		return;
	}
	hook->exchange = bu_http_exchange_start(
		hook->all->http,
		&(struct bu_http_request){
			.method = "POST",
			.url = hook->opts->url,
			.headers = headers,
			.body = hook->row.text,
			.ca = *hook->opts->ca ? hook->opts->ca : NULL,
			.timeout_ms = TIMEOUT_MS,
			.connect_timeout_ms = CONNECT_MS,
			.max = ANSWER_MAX,
		},
		on_answer, hook);
}

/* A turn: the row under way, or the next one that is wanted. */
static void
turn(struct hook *hook)
{
	struct bu_fleet *fleet = fleet_of(hook);
	struct bu_err err = {0};

	if (hook->exchange || hook->waits)
		return;
	if (!hook->row.seq &&
	    bu_store_read(fleet->store, hook->at, LOOK, look_at, hook, &err) != 0) {
		fail(hook, 0, err.text);
		return;
	}
	if (hook->row.seq) {
		tell(hook);
		return;
	}
	if (hook->at < fleet->life.row_seq)
		bu_timer_set(hook->timer, 0);
	else if (fleet->conditions[BU_CONDITION_WEBHOOK_BEHIND].on)
		look_behind(hook->all);
}

static void
on_turn(void *arg)
{
	struct hook *hook = arg;

	hook->waits = 0;
	turn(hook);
}

/* Rows may be on their way into memory: they are read in the next turn of the loop. */
static void
on_change(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	struct bu_webhooks *all = arg;

	for (size_t i = 0; i < all->count; i++) {
		struct hook *hook = &all->hooks[i];

		if (!hook->exchange && !hook->waits && !hook->row.seq &&
		    hook->at < fleet->life.row_seq)
			bu_timer_set(hook->timer, 0);
	}
}

static void
on_secret(void *arg)
{
	struct bu_webhooks *all = arg;

	for (size_t i = 0; i < all->count; i++)
		if (all->hooks[i].row.seq)
			turn(&all->hooks[i]);
}

static void
begin(struct hook *hook)
{
	struct bu_fleet *fleet = fleet_of(hook);
	int rc = bu_webhook_filter_read(hook->opts, &hook->filter, NULL);

	bu_assert(rc == 0); /* it was checked with the settings */
	hook->timer = bu_timer_create(fleet->loop, on_turn, hook);
	hook->at = kept(hook) < 0 ? fleet->life.row_seq : kept(hook);
	keep(hook);
	bu_timer_set(hook->timer, 0);
}

struct bu_webhooks *
bu_webhooks_create(struct bu_api *api, const struct bu_webhook_opts *opts, size_t count)
{
	struct bu_webhooks *all = bu_xcalloc(1, sizeof(*all));
	struct bu_loop *loop = api->fleet->loop;

	all->api = api;
	all->count = count;
	all->hooks = bu_xcalloc(count + 1, sizeof(*all->hooks));
	all->http = bu_http_async_create(loop);
	all->secrets = bu_secrets_create(loop, on_secret, all);
	all->keep = bu_timer_create(loop, on_keep, all);
	for (size_t i = 0; i < count; i++) {
		all->hooks[i] = (struct hook){.all = all, .opts = &opts[i]};
		begin(&all->hooks[i]);
	}
	/* One that is told no more is not behind, either. */
	bu_timer_set(all->keep, count ? KEEP_MS : 0);
	bu_fleet_watch(api->fleet, on_change, all);
	return all;
}

void
bu_webhooks_destroy(struct bu_webhooks *all)
{
	if (!all)
		return;
	bu_fleet_unwatch(all->api->fleet, on_change, all);
	for (size_t i = 0; i < all->count; i++) {
		struct hook *hook = &all->hooks[i];

		if (hook->exchange)
			bu_http_exchange_abort(hook->exchange);
		keep(hook);
		drop_row(hook);
		bu_timer_destroy(hook->timer);
		bu_webhook_filter_fini(&hook->filter);
	}
	bu_timer_destroy(all->keep);
	bu_secrets_destroy(all->secrets);
	bu_http_async_destroy(all->http);
	free(all->hooks);
	free(all);
}

int64_t
bu_webhooks_waiting(const struct bu_webhooks *all, size_t at, const char **ret_name)
{
	const struct hook *hook;

	if (!all || at >= all->count)
		return -1;
	hook = &all->hooks[at];
	*ret_name = hook->opts->name;
	return hook->row.seq ? hook->row.time_ms : 0;
}
