/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of an identity provider are good for minutes: before a request the command
 * line makes the context's token anew, by its refresh token. Called by client.c.
 * Invariant: a refresh token is used by one command at a time, and the one that follows
 * it is kept before it is used: some issuers end a login whose refresh token comes
 * twice.
 */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/idp.h"

enum { EARLY_S = 30 };

int
bu_context_is_due(const struct bu_context *context)
{
	int64_t now_s = bu_wall_ms(bu_clock_system()) / 1000;

	return context->oidc.token_url && now_s + EARLY_S >= context->oidc.until_s;
}

static int
renew(const char *name, struct bu_context *context, struct bu_err *err)
{
	const struct bu_context_oidc *oidc = &context->oidc;
	const char *const pairs[] = {"grant_type",  "refresh_token", "refresh_token",
				     oidc->refresh, "client_id",     oidc->client,
				     NULL};
	bu_autojson json_t *answer = NULL;

	if (!oidc->refresh)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "its token is over, and the identity provider gave "
				  "none to make it anew; log in again (bringup login "
				  "%s --oidc --context %s)",
				  context->url, name);
	answer = bu_idp_post(oidc->token_url, oidc->ca_file, pairs, err);
	if (!answer)
		return -1;
	if (json_object_get(answer, "error")) {
		bu_idp_refused(answer, err);
		return bu_err_wrap(
			err, "log in again (bringup login %s --oidc --context %s)",
			context->url, name);
	}
	return bu_idp_take(answer, context, err) == 0
		       ? bu_context_update(name, context, err)
		       : -1;
}

int
bu_context_renew(const char *name, struct bu_context *context, struct bu_err *err)
{
	int fd = bu_context_lock(name, err), rc = -1;

	if (fd < 0)
		return -1;
	bu_context_fini(context);
	if (bu_context_load(name, context, err) == 0)
		rc = bu_context_is_due(context) ? renew(name, context, err) : 0;
	close(fd);
	return rc;
}
