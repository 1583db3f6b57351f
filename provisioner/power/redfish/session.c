/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who we are to a BMC; every other part asks the BMC through rf_call().
 *
 * Invariants: a BMC has at most one session of ours, and it is ended when nothing uses
 * it any more (driver.c). An operation ends when its password is refused: it tries it
 * once, and credentials.c counts the operations.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

enum { LOGINS_MAX = 2, BASIC_FOR_MS = 60000 };

static void
digest(const struct rf_op *op, char ret_hex[BU_DIGEST_SIZE])
{
	bu_autofree char *both =
		bu_xasprintf("%zu:%s:%s", strlen(op->target.user), op->target.user,
			     op->target.password ? op->target.password : "");

	bu_sha256_hex(both, strlen(both), ret_hex);
	explicit_bzero(both, strlen(both));
}

static int
refuse(struct rf_op *op, struct bu_err *err)
{
	op->refused = 1;
	return rf_go_on(op, err);
}

/* That says nothing about the password. */
static int
fail_token(const struct rf_op *op, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s: the BMC does not honour its own sessions",
			  op->bmc->origin);
}

/* The root is read without a password; where it is not, the usual place is right. One
 * that names no sessions has none: a BMC that refuses to say so without a password
 * would answer a log-in as if that were wrong. */
static int
find_sessions(struct rf_op *op, struct bu_err *err)
{
	struct rf_bmc *bmc = op->bmc;
	int known = bu_loop_now_ms(op->driver->loop) < bmc->root.until_ms;

	if (bmc->sessions[0] || known)
		return 0;
	if (!bmc->root.closed && rf_root_open(op, err) != 0)
		return -1;
	if (bmc->root.closed)
		strcpy(bmc->sessions, RF_ROOT "SessionService/Sessions");
	return 0;
}

/* POST of the session; a cancelled operation waits for its name all the same. */
static int
ask_session(struct rf_op *op, struct rf_reply *ret, struct bu_err *err)
{
	bu_autojson json_t *body =
		json_pack("{s:s,s:s}", "UserName", op->target.user, "Password",
			  op->target.password ? op->target.password : "");
	struct rf_ask ask = {
		.method = "POST", .path = op->bmc->sessions, .body = body, .moves = 1};
	int rc;

	if (!body)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: user or password is not UTF-8", op->bmc->origin);
	op->deaf = 1;
	rc = rf_wire(op, &ask, ret, err);
	op->deaf = 0;
	return rc;
}

static void
set_token(struct rf_bmc *bmc, char *token)
{
	if (bmc->token)
		explicit_bzero(bmc->token, strlen(bmc->token));
	free(bmc->token);
	bmc->token = token;
	bmc->token_number += token != NULL;
	if (!token)
		bmc->session[0] = '\0';
}

/* By its Location, else by its own name in the answer. */
static void
name_session(struct rf_bmc *bmc, const struct rf_reply *reply)
{
	strcpy(bmc->session, reply->location);
	if (!bmc->session[0] &&
	    rf_path(bmc, bu_json_str(reply->json, "@odata.id", ""), bmc->session) != 0)
		bmc->session[0] = '\0';
}

/* One whose token cannot be used. */
static void
drop_session(struct rf_op *op)
{
	struct rf_ask ask = {.method = "DELETE", .as = RF_AS_BASIC};
	rf_autoreply struct rf_reply reply = {0};
	char session[RF_PATH_SIZE];

	strcpy(session, op->bmc->session);
	op->bmc->session[0] = '\0';
	ask.path = session;
	if (session[0])
		bu_ignore(rf_wire(op, &ask, &reply, NULL));
}

/* Whatever it says but "no": there may be no sessions, or none free. */
static int
log_in(struct rf_op *op, const char *who, struct bu_err *err)
{
	rf_autoreply struct rf_reply reply = {0};
	struct rf_bmc *bmc = op->bmc;
	int made;

	if (op->logins++ >= LOGINS_MAX)
		return fail_token(op, err);
	if (find_sessions(op, err) != 0 ||
	    (bmc->sessions[0] && ask_session(op, &reply, err) != 0))
		return -1;
	if (reply.status == 401 ||
	    (reply.status == 403 && !rf_says(&reply, "SessionLimitExceeded")))
		return refuse(op, err);
	strcpy(bmc->who, who);
	made = reply.status >= 200 && reply.status < 300;
	if (made)
		name_session(bmc, &reply);
	if (made && !reply.token)
		drop_session(op);
	if (!made || !reply.token) {
		bmc->basic_until_ms = bu_loop_now_ms(op->driver->loop) + BASIC_FOR_MS;
		/* Where they are made is looked for again then. */
		if (rf_is_gone(reply.status))
			bmc->sessions[0] = '\0';
		if (!bmc->sessions[0] && bmc->root.until_ms > bmc->basic_until_ms)
			bmc->root.until_ms = bmc->basic_until_ms;
		return 0;
	}
	set_token(bmc, bu_steal(&reply.token));
	strcpy(bmc->sessions, reply.path);
	strcpy(bmc->fingerprint, op->target.fingerprint ? op->target.fingerprint : "");
	return rf_go_on(op, err);
}

void
rf_logout(struct rf_op *op)
{
	struct rf_ask ask = {.method = "DELETE", .as = RF_AS_TOKEN};
	rf_autoreply struct rf_reply reply = {0};
	struct rf_bmc *bmc = op->bmc;
	char session[RF_PATH_SIZE];

	if (bmc->token && bmc->session[0]) {
		strcpy(session, bmc->session);
		ask.path = session;
		bu_ignore(rf_wire(op, &ask, &reply, NULL));
	}
	set_token(bmc, NULL);
}

/* As whom to ask; logs in where that is needed. Behind the door. */
static int
enter(struct rf_op *op, enum rf_as *ret, struct bu_err *err)
{
	struct rf_bmc *bmc = op->bmc;
	char who[BU_DIGEST_SIZE];
	int same;

	*ret = RF_AS_NOBODY;
	if (!op->target.user)
		return 0;
	digest(op, who);
	same = strcmp(bmc->who, who) == 0;
	if (bmc->token && !same)
		rf_logout(op);
	if (!bmc->token &&
	    !(same && bmc->basic_until_ms > bu_loop_now_ms(op->driver->loop)) &&
	    log_in(op, who, err) != 0)
		return -1;
	*ret = bmc->token ? RF_AS_TOKEN : RF_AS_BASIC;
	return 0;
}

static int
pass_door(struct rf_op *op, enum rf_as *ret, struct bu_err *err)
{
	struct bu_task_lock *door = &op->bmc->door;
	struct bu_task_turn turn;
	int rc;

	bu_task_queue(door, &turn);
	while (!bu_task_has(door, &turn) && !op->cancelled)
		bu_task_wait();
	rc = rf_go_on(op, err);
	if (rc == 0)
		rc = enter(op, ret, err);
	bu_task_leave(door, &turn);
	return rc;
}

/* A token that is refused has expired, unless it was made just now. */
static void
forget_token(struct rf_bmc *bmc, int64_t number)
{
	if (bmc->token_number == number)
		set_token(bmc, NULL);
}

/* --- what was read --- */

int
rf_seen_etag(const struct rf_op *op, const char *path, char ret[RF_ETAG_SIZE])
{
	for (size_t i = 0; i < BU_LEN(op->seen); i++)
		if (op->seen[i].path[0] && strcmp(op->seen[i].path, path) == 0) {
			strcpy(ret, op->seen[i].etag);
			return 0;
		}
	return -1;
}

static void
note_seen(struct rf_op *op, const char *path, const char *etag)
{
	struct rf_seen *seen = op->seen;

	while (seen < op->seen + BU_LEN(op->seen) && strcmp(seen->path, path) != 0)
		seen++;
	if (seen == op->seen + BU_LEN(op->seen))
		seen = &op->seen[op->seen_next++ % BU_LEN(op->seen)];
	bu_text_copy(seen->path, sizeof(seen->path), path);
	strcpy(seen->etag, etag);
}

/* What changes something makes the rest old. */
static void
note_change(struct rf_op *op)
{
	memset(op->seen, 0, sizeof(op->seen));
	json_decref(op->found);
	op->found = NULL;
}

/* Refused for good: what is known of what it allows may be why. */
static int
is_objection(long status)
{
	return status >= 400 && status < 500 && status != 401 && status != 408 &&
	       status != 409 && status != 412 && status != 428 && status != 429;
}

/* --- as whom --- */

static int
call(struct rf_op *op, const struct rf_ask *ask, struct rf_reply *ret,
     struct bu_err *err)
{
	struct rf_ask now = *ask;

	for (int again = 1;; again--) {
		int64_t token;

		if (pass_door(op, &now.as, err) != 0)
			return -1;
		token = op->bmc->token_number;
		if (rf_wire(op, &now, ret, err) != 0)
			return -1;
		if (ret->status != 401)
			break;
		if (now.as == RF_AS_TOKEN)
			forget_token(op->bmc, token);
		if (now.as == RF_AS_BASIC)
			return refuse(op, err);
		if (now.as == RF_AS_NOBODY)
			return rf_refused(op, ask, ret, err);
		if (!again)
			return fail_token(op, err);
	}
	return 0;
}

int
rf_call(struct rf_op *op, const struct rf_ask *ask, struct rf_reply *ret,
	struct bu_err *err)
{
	int changes = strcmp(ask->method, "GET") != 0;
	int rc;

	if (changes)
		note_change(op);
	op->status = 0;
	rc = call(op, ask, ret, err);
	if (rc == 0)
		op->status = ret->status;
	if (changes && is_objection(op->status))
		op->objected = 1;
	return rc;
}

json_t *
rf_get(struct rf_op *op, const char *path, char etag[RF_ETAG_SIZE], struct bu_err *err)
{
	struct rf_ask ask = {.method = "GET", .path = path};
	rf_autoreply struct rf_reply reply = {0};
	const char *inside;

	if (rf_call(op, &ask, &reply, err) != 0)
		return NULL;
	if (reply.status != 200) {
		rf_refused(op, &ask, &reply, err);
		return NULL;
	}
	if (!json_is_object(reply.json)) {
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "%s: GET %s: the answer is not a JSON object%s%s",
			   op->bmc->origin, path, reply.why[0] ? ": " : "", reply.why);
		return NULL;
	}
	inside = bu_json_str(reply.json, "@odata.etag", "");
	if (!reply.etag[0] && strlen(inside) < RF_ETAG_SIZE)
		strcpy(reply.etag, inside);
	note_seen(op, path, reply.etag);
	if (etag)
		strcpy(etag, reply.etag);
	return json_incref(reply.json);
}
