/* SPDX-License-Identifier: Apache-2.0 */
/* People who come with a token of the site's identity provider (OpenID Connect). */
#ifndef BU_API_OIDC_H
#define BU_API_OIDC_H

#include <jansson.h>

#include "provisioner/api/server.h"

/* Of bringupd.conf; texts are borrowed. */
struct bu_oidc_opts {
	const char *issuer; /* https URL */
	const char *client; /* the audience of tokens */
	const char *ca;     /* path of its CAs in PEM; "" = the system's */
	const char *scopes; /* that a login asks for */
	const char *groups_claim;
	const char *name_claim;                /* "" = preferred_username, else email */
	const struct bu_callers_group *groups; /* BU_PERSON_COUNT, with their names */
};
/* BU_ERR_INVAL names the key of bringupd.conf. No issuer is no error. */
bu_must int bu_oidc_check(const struct bu_oidc_opts *opts, struct bu_err *err);

struct bu_oidc;
/* opts have passed bu_oidc_check(), and are copied. NULL = there is no issuer. */
struct bu_oidc *bu_oidc_create(struct bu_loop *loop, const struct bu_oidc_opts *opts);
void bu_oidc_destroy(struct bu_oidc *oidc);
/* The caller with this token, "oidc:NAME". BU_ERR_DENIED: nobody; BU_ERR_BUSY,
 * BU_ERR_REMOTE: see bu_issuer_ask(). */
bu_must int bu_oidc_open(struct bu_oidc *oidc, const char *token, struct bu_caller *ret,
			 struct bu_err *err);
/* Issuer, client and scopes, for a login; new reference. */
json_t *bu_oidc_json(const struct bu_oidc *oidc);

#endif
