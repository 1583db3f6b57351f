/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests between the machines and the daemon's routes, as provisioner/api/server.c
 * has them: a handler that answers "later" is asked again when something changed and
 * after a second, an answer that rests on the log waits for it. Invariant: a peer that
 * went away is still asked for (its connection stays open), and an answer may be lost
 * on its way while its effect is done.
 */
#include <string.h>

#include "base/json.h"
#include "tests/sim/harm/harm.h"

enum { LATENCY_MS = 20, AGAIN_MS = 100, LOOK_AGAIN_MS = 1000 };

struct exchange {
	struct exchange *next;
	struct machine *machine; /* NULL: nobody waits any more */
	const char *path;
	json_t *body;
	struct ident ident;
	int64_t since_ms, until_ms; /* until: the asker's patience */
	int64_t asked_ms;
	int64_t deliver_ms; /* 0 = not answered */
	int64_t kept;       /* batches that must be in the log; 0 = none */
	int64_t kept_after; /* those before them are not its own */
	json_t *reply;
	struct bu_err err;
	int lost;
	int local; /* it never left the machine */
	wire_fn fn;
};

static struct exchange *first;

static void
exchange_free(struct exchange *exchange)
{
	json_decref(exchange->body);
	json_decref(exchange->reply);
	free(exchange);
}

static const struct bu_route *
route_of(const char *method, const char *path, int listener,
	 const char *params[BU_PARAMS_MAX], char *store)
{
	for (const struct bu_route *route = bu_api_routes; route->method; route++) {
		const char *want = route->path, *have = path;
		int count = 0, same = strcmp(route->method, method) == 0 &&
				      (route->listeners & listener);

		strcpy(store, path);
		while (same && (*want || *have)) {
			size_t w = *want ? strcspn(want + 1, "/") + 1 : 0;
			size_t h = *have ? strcspn(have + 1, "/") + 1 : 0;

			if (!w || !h) {
				same = 0;
			} else if (w == 2 && want[1] == '*') {
				params[count++] = store + (have - path) + 1;
				store[(have - path) + (long)h] = '\0';
			} else if (w != h || strncmp(want, have, w) != 0) {
				same = 0;
			}
			want += w;
			have += h;
		}
		if (same)
			return route;
	}
	return NULL;
}

static enum bu_answer
call(const char *method, const char *path, int listener, const json_t *body,
     const struct ident *ident, int64_t waited_ms, struct bu_reply *reply,
     struct bu_err *err)
{
	struct bu_caller caller = {.who = "local", .roles = ~0U};
	struct bu_request request = {.caller = &caller,
				     .method = method,
				     .path = path,
				     .body = body,
				     .peer = ident ? ident->peer : "",
				     .peer_cert = ident ? ident->cert : "",
				     .peer_fault = "",
				     .waited_ms = waited_ms};
	char store[512];
	const struct bu_route *route =
		route_of(method, path, listener, request.params, store);

	memset(reply, 0, sizeof(*reply));
	memset(err, 0, sizeof(*err));
	if (!route)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no route %s %s", method,
				  path);
	return route->fn(daemon_api(), &request, reply, err);
}

static void
answer(struct exchange *exchange)
{
	exchange->deliver_ms = now_ms() + LATENCY_MS;
	exchange->lost = sim.lose_answers_ms > now_ms() && dice(3) == 0;
}

static void
ask(struct exchange *exchange)
{
	struct bu_reply reply;
	enum bu_answer what =
		call("POST", exchange->path, BU_LISTEN_AGENT, exchange->body,
		     &exchange->ident, now_ms() - exchange->since_ms, &reply,
		     &exchange->err);

	exchange->asked_ms = now_ms();
	if (what == BU_ANSWER_LATER)
		return;
	exchange->reply = reply.json;
	free(reply.text);
	if (what == BU_ANSWER_NOW && reply.logged) {
		exchange->kept = bu_store_appended(reply.logged);
		exchange->kept_after = bu_store_committed(reply.logged);
	} else {
		answer(exchange);
	}
}

void
wire_ask(struct machine *machine, const struct ask *ask)
{
	struct exchange *exchange = bu_xcalloc(1, sizeof(*exchange));
	struct exchange **link = &first;

	exchange->machine = machine;
	exchange->path = ask->path;
	exchange->body = ask->body;
	exchange->ident = *ask->ident;
	exchange->since_ms = now_ms();
	exchange->until_ms = now_ms() + ask->patience_ms;
	exchange->fn = ask->fn;
	if (!daemon_runs() || !machine_reaches(machine)) {
		bu_err_set(&exchange->err, BU_ERR_REMOTE, 0, "no connection");
		exchange->local = 1;
		exchange->deliver_ms = now_ms() + SECONDS(1);
	}
	while (*link)
		link = &(*link)->next;
	*link = exchange;
}

void
wire_forget(struct machine *machine)
{
	for (struct exchange *at = first; at; at = at->next)
		if (at->machine == machine)
			at->machine = NULL;
}

void
wire_reset(void)
{
	for (struct exchange *at = first; at; at = at->next) {
		json_decref(at->reply);
		at->reply = NULL;
		at->kept = 0;
		bu_err_set(&at->err, BU_ERR_REMOTE, 0, "the connection broke");
		at->deliver_ms = now_ms() + LATENCY_MS;
	}
}

/* The asker's patience is over; the daemon goes on with what it was asked. */
static void
give_up(struct exchange *exchange)
{
	struct machine *machine = exchange->machine;
	struct bu_err err;

	if (!machine || machine->hung || now_ms() < exchange->until_ms)
		return;
	if (exchange->deliver_ms && exchange->deliver_ms <= now_ms())
		return;
	bu_err_set(&err, BU_ERR_TIMEOUT, 0, "no answer");
	exchange->machine = NULL;
	exchange->fn(machine, NULL, &err);
}

/* 1 = it is over. */
static int
deliver(struct exchange *exchange)
{
	const struct bu_err *bad;
	struct machine *machine;

	if (exchange->kept && !exchange->deliver_ms &&
	    bu_store_committed(daemon_world()->store) >= exchange->kept) {
		bad = bu_store_refused(daemon_world()->store, exchange->kept_after,
				       exchange->kept);
		if (bad)
			exchange->err = *bad;
		answer(exchange);
	}
	give_up(exchange);
	machine = exchange->machine;
	if (!exchange->deliver_ms || (exchange->deliver_ms > now_ms() && machine))
		return 0;
	if (!machine || machine->hung)
		return 1;
	if (exchange->lost || (!exchange->local && !machine_reaches(machine))) {
		exchange->deliver_ms = INT64_MAX;
		return 0;
	}
	exchange->fn(machine, exchange->err.kind ? NULL : exchange->reply,
		     exchange->err.kind ? &exchange->err : NULL);
	return 1;
}

void
wire_turn(void)
{
	struct exchange **link = &first;
	int woken = daemon_woken();

	while (*link) {
		struct exchange *exchange = *link;

		if (!exchange->deliver_ms && !exchange->kept && daemon_runs() &&
		    (exchange->asked_ms == 0 ||
		     now_ms() - exchange->asked_ms >=
			     (woken ? AGAIN_MS : LOOK_AGAIN_MS)))
			ask(exchange);
		if (!deliver(exchange)) {
			link = &exchange->next;
			continue;
		}
		/* fn may have asked something new: it stands at the end */
		for (link = &first; *link != exchange;)
			link = &(*link)->next;
		*link = exchange->next;
		exchange_free(exchange);
	}
}

int64_t
wire_due_ms(void)
{
	int64_t due_ms = INT64_MAX;

	for (const struct exchange *at = first; at; at = at->next) {
		int64_t next_ms =
			at->deliver_ms ? at->deliver_ms : at->asked_ms + LOOK_AGAIN_MS;

		if (at->kept && !at->deliver_ms)
			next_ms = now_ms() + 1;
		if (next_ms < due_ms)
			due_ms = next_ms;
	}
	return due_ms;
}

/* 0 when all that the answer rests on is in the log. */
static int
is_logged(const struct bu_store *store, struct bu_err *err)
{
	int64_t after = bu_store_committed(store), until = bu_store_appended(store);
	const struct bu_err *bad;

	for (int i = 0; i < 20 && bu_store_committed(store) < until; i++)
		daemon_turn();
	if (bu_store_committed(store) < until)
		return bu_err_set(err, BU_ERR_IO, 0, "nobody knows yet");
	bad = bu_store_refused(store, after, until);
	if (bad)
		*err = *bad;
	return bad ? -1 : 0;
}

/* What is on its way to the log is there: the next call waits for nothing else's. */
void
wire_settle(void)
{
	const struct bu_store *store;
	struct bu_err err;

	for (int i = 0; i < 5 && daemon_runs(); i++) {
		store = daemon_world()->store;
		if (bu_store_committed(store) == bu_store_appended(store))
			return;
		(void)is_logged(store, &err);
	}
}

json_t *
wire_call(const char *method, const char *path, json_t *body, struct bu_err *err)
{
	bu_autojson json_t *owned = body;
	struct bu_reply reply;
	enum bu_answer what;

	if (!daemon_runs()) {
		bu_err_set(err, BU_ERR_REMOTE, 0, "the daemon does not run");
		return NULL;
	}
	what = call(method, path, BU_LISTEN_LOCAL, owned, NULL, 0, &reply, err);
	if (what == BU_ANSWER_LATER)
		bu_err_set(err, BU_ERR_BUSY, 0, "ask again");
	if (what == BU_ANSWER_NOW && !reply.json && reply.text)
		reply.json = json_loads(reply.text, 0, NULL);
	if (what == BU_ANSWER_NOW && reply.shared)
		reply.json = json_loads(bu_shared_text(reply.shared), 0, NULL);
	bu_shared_unref(reply.shared);
	free(reply.text);
	if (what == BU_ANSWER_NOW && reply.logged && is_logged(reply.logged, err) != 0)
		what = BU_ANSWER_ERROR;
	if (what == BU_ANSWER_NOW)
		return reply.json ? reply.json : json_object();
	json_decref(reply.json);
	return NULL;
}

char *
wire_boot_script(const char *mac)
{
	bu_autofree char *path = bu_xasprintf("/boot/script/%s", mac);
	struct bu_reply reply;
	struct bu_err err;

	if (!daemon_runs() || call("GET", path, BU_LISTEN_BOOT, NULL, NULL, 0, &reply,
				   &err) != BU_ANSWER_NOW)
		return NULL;
	return reply.text;
}

json_t *
wire_stranger(const char *node, const char *token, char *csr, const json_t *inventory,
	      struct bu_err *err)
{
	bu_autofree char *owned = csr;
	bu_autojson json_t *body =
		json_pack("{s:s,s:s,s:s,s:O}", "node", node, "token", token, "csr",
			  owned, "inventory", inventory);
	struct bu_reply reply;
	enum bu_answer what = call("POST", "/v1/agent/enroll", BU_LISTEN_AGENT, body,
				   NULL, 0, &reply, err);

	if (what == BU_ANSWER_LATER)
		bu_err_set(err, BU_ERR_BUSY, 0, "later");
	return what == BU_ANSWER_NOW ? reply.json : NULL;
}

int
wire_site_has(const char *name)
{
	struct bu_err err;
	bu_autojson json_t *status = wire_call("GET", "/v1/status", NULL, &err);
	size_t i;
	json_t *condition;

	json_array_foreach (json_object_get(status, "conditions"), i, condition)
		if (strcmp(bu_json_str(condition, "name", ""), name) == 0)
			return 1;
	return 0;
}
