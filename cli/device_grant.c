/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Login at an identity provider from a terminal, by the device authorization grant (RFC
 * 8628): a code is shown here and confirmed in any browser. Called by bringup login.
 * Invariant: the issuer is asked no more often than it allows, and no longer than its
 * code is good.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/idp.h"
#include "cli/render/output.h"

enum {
	INTERVAL_S = 5,
	SLOWER_S = 5,
	INTERVAL_MAX_S = 60,
	LASTS_S = 600,
	LASTS_MAX_S = 3600
};

static int
within(int64_t value, int least, int most)
{
	return value < least ? least : value > most ? most : (int)value;
}

static void
pass(const struct bu_idp *idp, int seconds)
{
	if (idp->sleep_s)
		idp->sleep_s(seconds);
	else
		sleep((unsigned)seconds);
}

static int
show_code(const json_t *begun, struct bu_err *err)
{
	bu_autofree char *url =
		bu_out_clean(bu_json_str(begun, "verification_uri", ""), 0);
	bu_autofree char *whole =
		bu_out_clean(bu_json_str(begun, "verification_uri_complete", ""), 0);
	bu_autofree char *code = bu_out_clean(bu_json_str(begun, "user_code", ""), 0);

	if (!*url || !*code || !*bu_json_str(begun, "device_code", ""))
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "the identity provider gave no code to confirm");
	fprintf(stderr, "open %s in a browser and confirm the code %s\n", url, code);
	if (*whole)
		fprintf(stderr, "or open %s\n", whole);
	fflush(stderr);
	return 0;
}

/* 1 = not yet, and the interval may be longer now. */
static int
judge(const json_t *answer, int *interval_s, struct bu_err *err)
{
	const char *code = bu_json_str(answer, "error", NULL);

	if (!code)
		return 0;
	if (strcmp(code, "authorization_pending") == 0)
		return 1;
	if (strcmp(code, "slow_down") == 0) {
		*interval_s = within(*interval_s + SLOWER_S, 1, INTERVAL_MAX_S);
		return 1;
	}
	if (strcmp(code, "access_denied") == 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the login was refused at the identity provider");
	if (strcmp(code, "expired_token") == 0)
		return bu_err_set(err, BU_ERR_TIMEOUT, 0,
				  "the code was not confirmed in time; log in again");
	return bu_idp_refused(answer, err);
}

/* An issuer that does not answer is asked again. */
static json_t *
wait_for_token(const struct bu_idp *idp, const char *token_url, const json_t *begun,
	       struct bu_err *err)
{
	const char *const pairs[] = {
		"grant_type",  "urn:ietf:params:oauth:grant-type:device_code",
		"device_code", bu_json_str(begun, "device_code", ""),
		"client_id",   idp->client,
		NULL};
	int interval_s =
		within(bu_json_int(begun, "interval", INTERVAL_S), 1, INTERVAL_MAX_S);
	int left_s = within(bu_json_int(begun, "expires_in", LASTS_S), 1, LASTS_MAX_S);

	for (; left_s > 0; left_s -= interval_s) {
		bu_autojson json_t *answer = NULL;
		int rc;

		pass(idp, interval_s);
		answer = bu_idp_post(token_url, idp->ca, pairs, err);
		if (!answer && err->kind == BU_ERR_VERIFY)
			return NULL;
		rc = answer ? judge(answer, &interval_s, err) : 1;
		if (rc < 0)
			return NULL;
		if (rc == 0)
			return bu_steal(&answer);
	}
	bu_err_set(err, BU_ERR_TIMEOUT, 0,
		   "the code was not confirmed in time; log in again");
	return NULL;
}

static json_t *
begin(const struct bu_idp *idp, const json_t *found, struct bu_err *err)
{
	const char *const pairs[] = {"client_id", idp->client, "scope", idp->scopes,
				     NULL};
	const char *url = bu_idp_url(found, "device_authorization_endpoint", err);
	json_t *begun = url ? bu_idp_post(url, idp->ca, pairs, err) : NULL;

	if (!begun || !json_object_get(begun, "error"))
		return begun;
	bu_idp_refused(begun, err);
	json_decref(begun);
	return NULL;
}

int
bu_device_grant(const struct bu_idp *idp, struct bu_context *ret, struct bu_err *err)
{
	bu_autojson json_t *found = bu_idp_find(idp, err);
	const char *token_url = found ? bu_idp_url(found, "token_endpoint", err) : NULL;
	bu_autojson json_t *begun = token_url ? begin(idp, found, err) : NULL;
	bu_autojson json_t *answer = NULL;

	if (!begun || show_code(begun, err) != 0)
		return -1;
	answer = wait_for_token(idp, token_url, begun, err);
	if (!answer || bu_idp_take(answer, ret, err) != 0)
		return -1;
	ret->oidc.token_url = bu_xstrdup(token_url);
	ret->oidc.client = bu_xstrdup(idp->client);
	return 0;
}
