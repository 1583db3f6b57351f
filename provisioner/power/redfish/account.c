/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account that we log in as: whether the BMC takes its password, and another one
 * for it; called by driver.c. A BMC that wants another password first shows nothing but
 * that account, and says where it is: its number is nowhere the same.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/power/redfish/redfish.h"

static const char service[] = RF_ROOT "AccountService";

struct found {
	const char *user;
	char path[RF_PATH_SIZE];
};

static int
on_account(struct rf_op *op, const char *path, const json_t *member, void *arg)
{
	struct found *found = arg;

	(void)op;
	if (strcmp(bu_json_str(member, "UserName", ""), found->user) != 0)
		return 0;
	strcpy(found->path, path);
	return 1;
}

/* The account that a BMC names when it wants another password first; -1: it does not.
 */
static int
named_account(const struct rf_op *op, const struct rf_reply *reply,
	      char ret[RF_PATH_SIZE])
{
	const json_t *args = rf_says_args(reply, "PasswordChangeRequired");
	const char *at = json_string_value(json_array_get(args, 0));

	return at ? rf_path(op->bmc, at, ret) : -1;
}

int
rf_login(struct rf_op *op, struct bu_err *err)
{
	struct rf_ask ask = {.method = "GET", .path = service};
	rf_autoreply struct rf_reply reply = {0};

	/* Whatever it answers: at a refused password the call fails. */
	return rf_call(op, &ask, &reply, err);
}

static int
find_account(struct rf_op *op, struct found *ret, struct bu_err *err)
{
	struct rf_ask ask = {.method = "GET", .path = service};
	rf_autoreply struct rf_reply reply = {0};
	char accounts[RF_PATH_SIZE];

	if (rf_call(op, &ask, &reply, err) != 0)
		return -1;
	if (named_account(op, &reply, ret->path) == 0)
		return 0;
	if (reply.status != 200)
		return rf_refused(op, &ask, &reply, err);
	rf_link(op, reply.json, "Accounts", accounts);
	if (rf_members(op, accounts, on_account, ret, err) != 0)
		return -1;
	if (ret->path[0])
		return 0;
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s: the BMC lists no account '%s' that could get another "
			  "password",
			  op->bmc->origin, ret->user);
}

int
rf_set_password(struct rf_op *op, struct bu_err *err)
{
	struct found found = {.user = op->target.user ? op->target.user : ""};
	bu_autojson json_t *body = json_pack("{s:s}", "Password", op->new_password);
	int rc = -1;

	if (!body)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: the new password is not UTF-8", op->bmc->origin);
	if (find_account(op, &found, err) == 0 &&
	    rf_patch(op, found.path, body, err) == RF_TAKEN)
		rc = 0;
	return rc;
}
