/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to an identity provider. Called by device_grant.c and context_renew.c.
 * Invariants: over https alone, verified; what the issuer says is printed without its
 * control characters; no error has a token or a code.
 */
#include "cli/idp.h"

#include <string.h>
#include <unistd.h>

#include "base/http_async.h"
#include "base/json.h"
#include "base/jwt.h"
#include "base/loop.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/client.h"
#include "cli/render/output.h"

enum { TIMEOUT_MS = 30000, CONNECT_MS = 10000, ANSWER_MAX = 256 * 1024, TRIES = 20 };

struct asked {
	json_t *object;
	struct bu_err *err;
};

static void
on_answer(struct bu_http_answer *answer, const struct bu_err *failed, void *arg)
{
	struct asked *asked = arg;

	if (!answer) {
		if (asked->err)
			*asked->err = *failed;
		return;
	}
	asked->object =
		json_loadb(answer->body, answer->size, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(asked->object))
		return;
	json_decref(bu_steal(&asked->object));
	bu_err_set(asked->err, BU_ERR_REMOTE, 0,
		   "status %ld, and the answer is not a JSON object", answer->status);
}

static json_t *
ask(const struct bu_http_request *request, struct bu_err *err)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_http_async *async = bu_http_async_create(loop);
	struct asked asked = {.err = err};

	bu_err_set(err, BU_ERR_TIMEOUT, 0, "no answer");
	bu_http_exchange_start(async, request, on_answer, &asked);
	bu_http_async_finish(async, TIMEOUT_MS + 1000);
	bu_http_async_destroy(async);
	bu_loop_destroy(loop);
	if (!asked.object)
		bu_err_wrap(err, "identity provider %s", request->url);
	return asked.object;
}

json_t *
bu_idp_post(const char *url, const char *ca, const char *const *pairs,
	    struct bu_err *err)
{
	static const char *const headers[] = {
		"Content-Type: application/x-www-form-urlencoded",
		"Accept: application/json", NULL};
	char *form = NULL;
	json_t *object;

	for (; *pairs; pairs += 2) {
		bu_autofree char *value = bu_url_escape(pairs[1]);

		bu_text_add(&form, "&", "%s=%s", pairs[0], value);
	}
	object = ask(&(struct bu_http_request){.method = "POST",
					       .url = url,
					       .headers = headers,
					       .body = form,
					       .ca = ca,
					       .timeout_ms = TIMEOUT_MS,
					       .connect_timeout_ms = CONNECT_MS,
					       .max = ANSWER_MAX},
		     err);
	explicit_bzero(form, strlen(form));
	free(form);
	return object;
}

json_t *
bu_idp_find(const struct bu_idp *idp, struct bu_err *err)
{
	bu_autofree char *url = bu_url_discovery(idp->issuer);
	json_t *object;

	if (strncmp(url, "https://", 8) != 0) {
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "the appliance names an identity provider without https");
		return NULL;
	}
	object = ask(&(struct bu_http_request){.method = "GET",
					       .url = url,
					       .ca = idp->ca,
					       .timeout_ms = TIMEOUT_MS,
					       .connect_timeout_ms = CONNECT_MS,
					       .max = ANSWER_MAX},
		     err);
	if (!object || strcmp(bu_json_str(object, "issuer", ""), idp->issuer) == 0)
		return object;
	json_decref(object);
	bu_err_set(err, BU_ERR_REMOTE, 0,
		   "%s: the identity provider calls itself something else than %s", url,
		   idp->issuer);
	return NULL;
}

const char *
bu_idp_url(const json_t *configuration, const char *name, struct bu_err *err)
{
	const char *url = bu_json_str(configuration, name, "");

	if (strncmp(url, "https://", 8) == 0)
		return url;
	bu_err_set(err, BU_ERR_REMOTE, 0,
		   "the identity provider has no https URL '%s' in its configuration; "
		   "its administrator enables the device authorization grant",
		   name);
	return NULL;
}

int
bu_idp_refused(const json_t *answer, struct bu_err *err)
{
	bu_autofree char *code = bu_out_clean(bu_json_str(answer, "error", "?"), 0);
	bu_autofree char *words =
		bu_out_clean(bu_json_str(answer, "error_description", ""), 0);

	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "the identity provider refuses: %.60s%s%.200s", code,
			  *words ? ": " : "", words);
}

int
bu_idp_take(const json_t *answer, struct bu_context *ret, struct bu_err *err)
{
	const char *const names[] = {"id_token", "access_token"};
	const char *refresh = bu_json_str(answer, "refresh_token", NULL);
	const char *token = NULL;

	for (size_t i = 0; i < BU_LEN(names) && !token; i++)
		if (bu_jwt_ends_s(bu_json_str(answer, names[i], "")) > 0)
			token = bu_json_str(answer, names[i], "");
	if (!token)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "the identity provider gave no token that the "
				  "appliance can verify (a JWT of at most %d bytes): "
				  "ask for the scope openid (oidc_scopes in "
				  "bringupd.conf)",
				  BU_JWT_MAX);
	free(ret->token);
	ret->token = bu_xstrdup(token);
	ret->oidc.until_s = bu_jwt_ends_s(token);
	if (refresh) {
		free(ret->oidc.refresh);
		ret->oidc.refresh = bu_xstrdup(refresh);
	}
	return 0;
}

int
bu_idp_call(struct bu_http *http, const struct bu_http_call *call, json_t **ret_reply,
	    struct bu_err *err)
{
	struct bu_err why = {0};

	for (int i = 0; i < TRIES; i++) {
		if (bu_http_json(http, call, ret_reply, &why) == 0)
			return 0;
		if (why.kind != BU_ERR_BUSY || !bu_http_was_told(http))
			break;
		sleep(1);
	}
	if (err)
		*err = why;
	return -1;
}
