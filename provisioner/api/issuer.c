/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches the keys of an issuer: first its configuration (OpenID Connect Discovery),
 * then the key set that this names. Called by oidc.c. Invariants: the loop waits for no
 * issuer; however many tokens name unknown keys, one fetch begins in AGAIN_MS; keys
 * that no fetch has confirmed for OLD_MS are good for nothing.
 */
#include "provisioner/api/issuer.h"

#include <string.h>

#include "base/http_async.h"
#include "base/json.h"
#include "base/log.h"
#include "base/url.h"

enum {
	AGAIN_MS = 30 * 1000,
	FRESH_MS = 3600 * 1000,
	OLD_MS = 24 * 3600 * 1000,
	TIMEOUT_MS = 15 * 1000,
	CONNECT_MS = 5 * 1000,
};

struct bu_issuer {
	struct bu_loop *loop;
	const char *url, *ca;
	struct bu_http_async *http;
	struct bu_http_exchange *exchange; /* NULL = no fetch is under way */
	struct bu_timer *timer;
	struct bu_jwks *keys; /* NULL = there were none yet */
	int64_t got_ms;       /* keys; monotonic */
	int64_t began_ms;     /* the last fetch */
	struct bu_err why;    /* of the last fetch; BU_ERR_NONE = it went well */
};

static void
end_fetch(struct bu_issuer *issuer, const struct bu_err *why)
{
	int is_news = why && issuer->why.kind == BU_ERR_NONE;
	int is_good_news = !why && issuer->why.kind != BU_ERR_NONE;

	issuer->why = why ? *why : (struct bu_err){0};
	if (is_news)
		bu_warn("oidc",
			"the keys of %s cannot be fetched: %s; those of before are "
			"good for a day",
			issuer->url, why->text);
	else if (is_good_news)
		bu_info("oidc", "the keys of %s are here again", issuer->url);
	bu_timer_set(issuer->timer, why ? AGAIN_MS : FRESH_MS);
}

/* The object that an answer has; new reference. */
static json_t *
read_answer(const struct bu_http_answer *answer, const struct bu_err *failed,
	    const char *what, struct bu_err *err)
{
	json_t *object;

	if (!answer) {
		*err = *failed;
		return NULL;
	}
	if (answer->status != 200) {
		bu_err_set(err, BU_ERR_REMOTE, 0, "%s: status %ld", what,
			   answer->status);
		return NULL;
	}
	object = bu_json_parse(answer->body, answer->size, what, err);
	if (!object || json_is_object(object))
		return object;
	json_decref(object);
	bu_err_set(err, BU_ERR_REMOTE, 0, "%s is not a JSON object", what);
	return NULL;
}

static void
on_keys(struct bu_http_answer *answer, const struct bu_err *failed, void *arg)
{
	struct bu_issuer *issuer = arg;
	struct bu_err err = {0};
	bu_autojson json_t *object = read_answer(answer, failed, "jwks_uri", &err);
	struct bu_jwks *keys =
		object ? bu_jwks_read(answer->body, answer->size, &err) : NULL;

	issuer->exchange = NULL;
	if (keys) {
		bu_jwks_destroy(issuer->keys);
		issuer->keys = keys;
		issuer->got_ms = bu_loop_now_ms(issuer->loop);
		bu_debug("oidc", "%s has %zu keys", issuer->url, bu_jwks_count(keys));
	}
	end_fetch(issuer, keys ? NULL : &err);
}

static void
get(struct bu_issuer *issuer, const char *url, bu_http_answer_fn fn)
{
	issuer->exchange = bu_http_exchange_start(
		issuer->http,
		&(struct bu_http_request){.method = "GET",
					  .url = url,
					  .ca = *issuer->ca ? issuer->ca : NULL,
					  .timeout_ms = TIMEOUT_MS,
					  .connect_timeout_ms = CONNECT_MS,
					  .max = BU_JWKS_SIZE_MAX},
		fn, issuer);
}

/* The issuer says of itself who it is; another one's configuration would name another
 * one's keys. */
static int
check_configuration(const struct bu_issuer *issuer, const json_t *object,
		    struct bu_err *err)
{
	const char *name = bu_json_str(object, "issuer", "");

	if (strcmp(name, issuer->url) != 0)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "it calls itself '%.200s'; oidc_issuer in "
				  "bringupd.conf must be the same to the letter",
				  name);
	if (strncmp(bu_json_str(object, "jwks_uri", ""), "https://", 8) != 0)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "its configuration has no jwks_uri of https");
	return 0;
}

static void
on_configuration(struct bu_http_answer *answer, const struct bu_err *failed, void *arg)
{
	struct bu_issuer *issuer = arg;
	struct bu_err err = {0};
	bu_autojson json_t *object =
		read_answer(answer, failed, "openid-configuration", &err);

	issuer->exchange = NULL;
	if (object && check_configuration(issuer, object, &err) == 0)
		get(issuer, bu_json_str(object, "jwks_uri", ""), on_keys);
	else
		end_fetch(issuer, &err);
}

static void
fetch(struct bu_issuer *issuer)
{
	bu_autofree char *url = bu_url_discovery(issuer->url);

	issuer->began_ms = bu_loop_now_ms(issuer->loop);
	get(issuer, url, on_configuration);
}

static void
on_timer(void *arg)
{
	struct bu_issuer *issuer = arg;

	if (!issuer->exchange)
		fetch(issuer);
}

struct bu_issuer *
bu_issuer_create(struct bu_loop *loop, const char *url, const char *ca)
{
	struct bu_issuer *issuer = bu_xcalloc(1, sizeof(*issuer));

	issuer->loop = loop;
	issuer->url = url;
	issuer->ca = ca;
	issuer->http = bu_http_async_create(loop);
	issuer->timer = bu_timer_create(loop, on_timer, issuer);
	fetch(issuer);
	return issuer;
}

void
bu_issuer_destroy(struct bu_issuer *issuer)
{
	if (!issuer)
		return;
	bu_http_async_destroy(issuer->http);
	bu_timer_destroy(issuer->timer);
	bu_jwks_destroy(issuer->keys);
	free(issuer);
}

const struct bu_jwks *
bu_issuer_keys(const struct bu_issuer *issuer)
{
	return bu_loop_now_ms(issuer->loop) - issuer->got_ms < OLD_MS ? issuer->keys
								      : NULL;
}

int
bu_issuer_ask(struct bu_issuer *issuer, struct bu_err *err)
{
	int64_t left_ms = issuer->began_ms + AGAIN_MS - bu_loop_now_ms(issuer->loop);

	if (!issuer->exchange && left_ms <= 0)
		fetch(issuer);
	if (issuer->exchange)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "the keys of %s are on their way; ask again",
				  issuer->url);
	if (issuer->why.kind != BU_ERR_NONE)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "bringupd cannot verify this token, because it "
				  "cannot fetch the keys of %s: %s",
				  issuer->url, issuer->why.text);
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "no key of %s signed this token; log in again", issuer->url);
}
