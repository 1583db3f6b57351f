/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks: Basic, or a session's token. Sessions have a cap and a time after which an
 * unused one ends, as real ones do.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/crypto.h"
#include "lab/bmc/engine.h"

static const char accounts[] = "/redfish/v1/AccountService/Accounts";
static const char sessions[] = "/redfish/v1/SessionService/Sessions";

/* --- passwords --- */

struct wanted {
	const char *user, *uri;
};

static int
find_user(struct bu_bmc *bmc, const char *uri, const json_t *resource, void *arg)
{
	struct wanted *wanted = arg;

	if (strcmp(bu_json_str(resource, "UserName", ""), wanted->user) != 0)
		return 0;
	wanted->uri = bu_json_str(resource, "@odata.id", NULL);
	return 1;
}

/* The account's URI, or NULL. Too many wrong passwords in a row lock it. */
static const char *
check_password(struct bu_bmc *bmc, const char *user, const char *password)
{
	int64_t lockout = bu_json_int(bu_bmc_get(bmc, "/redfish/v1/AccountService"),
				      "AccountLockoutThreshold", 0);
	int64_t tries;
	struct wanted wanted = {.user = user};
	json_t *account;

	if (!*user || !bu_bmc_members(bmc, accounts, find_user, &wanted))
		return NULL;
	account = bu_bmc_own(bmc, wanted.uri);
	if (!bu_json_bool(account, "Enabled", 1) || bu_json_bool(account, "Locked", 0))
		return NULL;
	if (bu_equal_secret(password, bu_json_str(account, "#password", ""))) {
		json_object_set_new(account, "#tries", json_integer(0));
		return wanted.uri;
	}
	tries = bu_json_int(account, "#tries", 0) + 1;
	json_object_set_new(account, "#tries", json_integer(tries));
	if (lockout && tries >= lockout)
		json_object_set_new(account, "Locked", json_true());
	return NULL;
}

/* Decodes base64 in place; what is no base64 ends it. */
static void
decode(const char *text, char *ret, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, count = 0;
	size_t used = 0;

	for (; *text && used + 1 < size; text++) {
		const char *digit = strchr(digits, *text);

		if (!digit)
			break;
		bits = bits << 6 | (unsigned)(digit - digits);
		count += 6;
		if (count >= 8) {
			count -= 8;
			ret[used++] = (char)(bits >> count & 0xff);
		}
	}
	ret[used] = '\0';
}

static const char *
login_basic(struct bu_bmc *bmc, const char *authorization)
{
	char pair[300], *colon;

	if (strncasecmp(authorization, "Basic", 5) != 0 || authorization[5] != ' ')
		return NULL;
	decode(authorization + 6, pair, sizeof(pair));
	colon = strchr(pair, ':');
	if (!colon)
		return NULL;
	*colon = '\0';
	return check_password(bmc, pair, colon + 1);
}

/* --- sessions --- */

static int64_t
timeout_ms(const struct bu_bmc *bmc)
{
	return bu_json_int(bu_bmc_get(bmc, "/redfish/v1/SessionService"),
			   "SessionTimeout", 1800) *
	       1000;
}

static int
end_old(struct bu_bmc *bmc, const char *uri, const json_t *session, void *arg)
{
	int *count = arg;

	if (bu_json_int(session, "#used_ms", 0) + timeout_ms(bmc) < bmc->now_ms)
		json_object_del(bmc->own, uri);
	else
		++*count;
	return 0;
}

struct by_token {
	const char *token, *uri;
};

static int
find_token(struct bu_bmc *bmc, const char *uri, const json_t *session, void *arg)
{
	struct by_token *wanted = arg;

	if (!bu_equal_secret(wanted->token, bu_json_str(session, "#token", "")))
		return 0;
	wanted->uri = bu_json_str(session, "@odata.id", NULL);
	return 1;
}

static int
login_session(struct bu_bmc_call *call)
{
	struct by_token wanted = {.token = call->request->token};
	json_t *session;

	if (!*wanted.token || !bu_bmc_members(call->bmc, sessions, find_token, &wanted))
		return -1;
	session = bu_bmc_own(call->bmc, wanted.uri);
	json_object_set_new(session, "#used_ms", json_integer(call->bmc->now_ms));
	call->session = wanted.uri;
	call->account = bu_json_str(session, "#account", NULL);
	return bu_bmc_get(call->bmc, call->account) ? 0 : -1;
}

int
bu_bmc_login(struct bu_bmc_call *call)
{
	const struct bu_bmc_request *request = call->request;
	int count = 0;

	bu_bmc_members(call->bmc, sessions, end_old, &count);
	if (!request->token && !request->authorization)
		return 0;
	if (request->token && login_session(call) == 0)
		return 0;
	if (!request->token)
		call->account = login_basic(call->bmc, request->authorization);
	if (call->account && !call->session && !request->token)
		return 0;
	call->account = call->session = NULL;
	return -1;
}

static const struct {
	const char *role;
	const char *privileges[6];
} roles[] = {
	{"Administrator",
	 {"Login", "ConfigureManager", "ConfigureUsers", "ConfigureSelf",
	  "ConfigureComponents"}},
	{"Operator", {"Login", "ConfigureSelf", "ConfigureComponents"}},
	{"ReadOnly", {"Login", "ConfigureSelf"}},
};

int
bu_bmc_may(const struct bu_bmc_call *call, const char *privilege)
{
	const json_t *account = bu_bmc_get(call->bmc, call->account);
	const char *role = bu_json_str(account, "RoleId", "");

	for (size_t i = 0; i < BU_LEN(roles); i++)
		for (int j = 0;
		     strcmp(role, roles[i].role) == 0 && roles[i].privileges[j]; j++)
			if (strcmp(roles[i].privileges[j], privilege) == 0)
				return 1;
	return 0;
}

int
bu_bmc_must_change_password(const struct bu_bmc_call *call)
{
	return call->account && bu_json_bool(bu_bmc_get(call->bmc, call->account),
					     "PasswordChangeRequired", 0);
}

static int
is_full(struct bu_bmc *bmc)
{
	int count = 0;

	bu_bmc_members(bmc, sessions, end_old, &count);
	return bu_bmc_fault_get(bmc, BU_BMC_FAULT_SESSIONS_FULL) != BU_BMC_NOT ||
	       count >= bu_bmc_rule_int(bmc, "sessions", 16);
}

/* The answer to a new session: its token, and 201 with all of it. */
static void
grant(struct bu_bmc_call *call, const char *user)
{
	char token[33], uri[256], now[24];
	json_t *session = json_object();

	bu_random_hex(token, 16);
	bu_bmc_time(call->bmc, now);
	json_object_set_new(session, "@odata.type",
			    json_string("#Session.v1_5_0.Session"));
	json_object_set_new(session, "Name", json_string("User Session"));
	json_object_set_new(session, "UserName", json_string(user));
	json_object_set_new(session, "CreatedTime", json_string(now));
	json_object_set_new(session, "#token", json_string(token));
	json_object_set_new(session, "#account", json_string(call->account));
	json_object_set_new(session, "#used_ms", json_integer(call->bmc->now_ms));
	bu_bmc_add(call->bmc, sessions, BU_BMC_ID_SESSION, session, uri);
	call->reply->status = 201;
	call->reply->body = bu_bmc_render(call->bmc, uri);
	bu_bmc_header(call->reply, "Location", "%s", uri);
	bu_bmc_header(call->reply, "X-Auth-Token", "%s", token);
	if (bu_bmc_must_change_password(call)) {
		const char *const args[3] = {call->account};
		json_t *message = bu_bmc_message(BU_BMC_PASSWORD_CHANGE, NULL, args);

		json_object_set_new(call->reply->body, "@Message.ExtendedInfo",
				    json_pack("[o]", message));
	}
}

void
bu_bmc_create_session(struct bu_bmc_call *call)
{
	const char *user = bu_json_str(call->body, "UserName", NULL);
	const char *password = bu_json_str(call->body, "Password", NULL);
	int is_rac = bu_bmc_rule_is(call->bmc, "sessions_message", "rac");

	if (!user || !password) {
		bu_bmc_refuse(call->reply, BU_BMC_PROPERTY,
			      user ? "Password" : "UserName");
		return;
	}
	call->account = check_password(call->bmc, user, password);
	if (!call->account)
		bu_bmc_refuse(call->reply, BU_BMC_NO_SESSION, NULL);
	else if (is_full(call->bmc))
		bu_bmc_refuse(call->reply, is_rac ? BU_BMC_RAC0218 : BU_BMC_SESSIONS,
			      NULL);
	else
		grant(call, user);
}

void
bu_bmc_delete_session(struct bu_bmc_call *call)
{
	const char *owner = bu_json_str(call->resource, "#account", "");

	if (strcmp(owner, call->account) != 0 &&
	    !bu_bmc_may(call, "ConfigureManager")) {
		bu_bmc_refuse(call->reply, BU_BMC_DENIED, NULL);
		return;
	}
	json_object_del(call->bmc->own, call->uri);
	call->session = NULL;
	call->reply->status = 204;
}

static int
drop(struct bu_bmc *bmc, const char *uri, const json_t *session, void *arg)
{
	json_object_del(bmc->own, uri);
	return 0;
}

void
bu_bmc_drop_sessions(struct bu_bmc *bmc)
{
	bu_bmc_members(bmc, sessions, drop, NULL);
}
