/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller behind a token of the site's identity provider. Called by tokens.c for
 * each request with one. Invariants: a caller has the roles of the groups that the
 * issuer names in this very token, and no others; nothing of a token is kept.
 */
#include "provisioner/api/oidc.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/jwt.h"
#include "base/text.h"
#include "base/url.h"
#include "provisioner/api/api.h"
#include "provisioner/api/issuer.h"

enum { NAME_MAX = 80 };

struct bu_oidc {
	struct bu_loop *loop;
	struct bu_oidc_opts opts;
	struct bu_callers callers; /* its groups alone */
	struct bu_issuer *issuer;
};

int
bu_oidc_check(const struct bu_oidc_opts *opts, struct bu_err *err)
{
	struct bu_url url;

	if (!*opts->issuer)
		return *opts->client ? bu_err_set(err, BU_ERR_INVAL, 0,
						  "oidc_client without oidc_issuer")
				     : 0;
	if (bu_url_parse(opts->issuer, &url) != 0 || strcmp(url.scheme, "https") != 0 ||
	    url.has_user || strpbrk(opts->issuer, "?# "))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "oidc_issuer = %s: https://HOST/PATH is needed, as "
				  "the issuer writes itself",
				  opts->issuer);
	if (!*opts->client || !*opts->groups_claim)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "oidc_issuer also needs oidc_client, the id of "
				  "bringup's client there, and oidc_groups_claim");
	if (*opts->ca && *opts->ca != '/')
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "oidc_ca = %s is not an absolute path", opts->ca);
	return 0;
}

struct bu_oidc *
bu_oidc_create(struct bu_loop *loop, const struct bu_oidc_opts *opts)
{
	struct bu_oidc *oidc;

	if (!*opts->issuer)
		return NULL;
	oidc = bu_xcalloc(1, sizeof(*oidc));
	oidc->loop = loop;
	oidc->opts = *opts;
	memcpy(oidc->callers.groups, opts->groups, sizeof(oidc->callers.groups));
	oidc->issuer = bu_issuer_create(loop, opts->issuer, opts->ca);
	return oidc;
}

void
bu_oidc_destroy(struct bu_oidc *oidc)
{
	if (!oidc)
		return;
	bu_issuer_destroy(oidc->issuer);
	free(oidc);
}

/* "" = none that counts: an address of mail that the issuer has not verified is
 * anybody's. */
static const char *
name_in(const json_t *claims, const char *claim)
{
	const json_t *verified = json_object_get(claims, "email_verified");

	if (strcmp(claim, "email") == 0 && verified && !json_is_true(verified))
		return "";
	return bu_json_str(claims, claim, "");
}

/* Whoever reads `by` takes it apart at blanks, colons and brackets. */
static int
is_name(const char *name)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz"
				       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				       "._-+@|/\\";

	return isalnum((unsigned char)*name) && strlen(name) <= NAME_MAX &&
	       bu_text_is(name, alphabet);
}

static int
name_caller(const struct bu_oidc *oidc, const json_t *claims, struct bu_caller *ret,
	    struct bu_err *err)
{
	const char *claim = oidc->opts.name_claim, *name;

	if (!*claim)
		claim = *name_in(claims, "preferred_username") ? "preferred_username"
							       : "email";
	name = name_in(claims, claim);
	if (!is_name(name))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "this token of an identity provider has no name in "
				  "its claim '%s' (oidc_name_claim): up to %d letters, "
				  "digits and '._-+@|/\\', and a letter or digit first",
				  claim, NAME_MAX);
	snprintf(ret->who, sizeof(ret->who), "oidc:%s", name);
	return 0;
}

static int
add_roles(const struct bu_oidc *oidc, const json_t *claims, struct bu_caller *ret,
	  struct bu_err *err)
{
	const json_t *groups = json_object_get(claims, oidc->opts.groups_claim), *group;
	bu_autofree char *names = NULL;
	size_t i;

	if (json_is_string(groups))
		ret->roles =
			bu_callers_roles(&oidc->callers, json_string_value(groups));
	json_array_foreach (groups, i, group)
		if (json_is_string(group))
			ret->roles |= bu_callers_roles(&oidc->callers,
						       json_string_value(group));
	if (ret->roles)
		return 0;
	names = bu_callers_groups(&oidc->callers, "");
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "%s is in none of the groups that may use bringup: %s; the "
			  "issuer lists groups in the claim '%s', and this token has "
			  "%zu of them",
			  ret->who, names ? names : "none", oidc->opts.groups_claim,
			  json_is_string(groups) ? 1 : json_array_size(groups));
}

int
bu_oidc_open(struct bu_oidc *oidc, const char *token, struct bu_caller *ret,
	     struct bu_err *err)
{
	const struct bu_jwt_wanted wanted = {oidc->opts.issuer, oidc->opts.client,
					     bu_wall_ms(bu_loop_clock(oidc->loop)) /
						     1000};
	struct bu_err why = {0};
	bu_autojson json_t *claims =
		bu_jwt_open(token, &wanted, bu_issuer_keys(oidc->issuer), &why);

	memset(ret, 0, sizeof(*ret));
	if (claims)
		return name_caller(oidc, claims, ret, err) == 0
			       ? add_roles(oidc, claims, ret, err)
			       : -1;
	if (why.kind == BU_ERR_NOTFOUND)
		return bu_issuer_ask(oidc->issuer, err);
	if (err)
		*err = why;
	return -1;
}

json_t *
bu_oidc_json(const struct bu_oidc *oidc)
{
	return json_pack("{s:s,s:s,s:s}", "issuer", oidc->opts.issuer, "client",
			 oidc->opts.client, "scopes", oidc->opts.scopes);
}

/* Asked before there is a token: nothing here is secret. */
BU_HANDLER(bu_api_login_ways)
{
	const struct bu_api *api = arg;

	if (!api->oidc) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "this appliance has no identity provider (oidc_issuer in "
			   "bringupd.conf); log in with a token");
		return BU_ANSWER_ERROR;
	}
	reply->json = json_pack("{s:o}", "oidc", bu_oidc_json(api->oidc));
	return BU_ANSWER_NOW;
}
