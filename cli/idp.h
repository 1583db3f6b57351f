/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site's identity provider, as the command line speaks with it: a login by the
 * device authorization grant (RFC 8628), and a token that is made anew.
 */
#ifndef BU_CLI_IDP_H
#define BU_CLI_IDP_H

#include <jansson.h>

#include "base/err.h"
#include "base/http.h"
#include "cli/context.h"

/* Where an identity provider is and how it is believed. ca: path of CAs in PEM, NULL =
 * the system's. */
struct bu_idp {
	const char *issuer, *client, *scopes, *ca;
	void (*sleep_s)(int seconds); /* NULL = time passes */
};

/* --- idp.c --- */

/* Posts name=value pairs, which end with NULL; the object of the answer, new reference,
 * also of one that refuses (its "error" says how). */
json_t *bu_idp_post(const char *url, const char *ca, const char *const *pairs,
		    struct bu_err *err);
/* The configuration of the issuer, new reference. */
json_t *bu_idp_find(const struct bu_idp *idp, struct bu_err *err);
/* The https URL of this name in the configuration, borrowed; NULL. */
const char *bu_idp_url(const json_t *configuration, const char *name,
		       struct bu_err *err);
/* Fills err with what the issuer says against a request; always -1. */
int bu_idp_refused(const json_t *answer, struct bu_err *err);
/* Takes token, its end and the refresh token from an answer. */
bu_must int bu_idp_take(const json_t *answer, struct bu_context *ret,
			struct bu_err *err);
/* bu_http_json(), again while the appliance fetches keys of the issuer. */
bu_must int bu_idp_call(struct bu_http *http, const struct bu_http_call *call,
			json_t **ret_reply, struct bu_err *err);

/* --- device_grant.c --- */

/* Asks the person to confirm a code at the issuer, and waits for it. Fills token and
 * oidc of ret, but for ca_file. */
bu_must int bu_device_grant(const struct bu_idp *idp, struct bu_context *ret,
			    struct bu_err *err);

/* --- context_renew.c --- */

/* 1 = the token is over, or nearly so, and can be made anew. */
int bu_context_is_due(const struct bu_context *context);
/* Makes it anew and keeps it. Another command may have done so meanwhile. */
bu_must int bu_context_renew(const char *name, struct bu_context *context,
			     struct bu_err *err);

#endif
