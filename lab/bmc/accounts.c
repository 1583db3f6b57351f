/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts: who may log in, and changing a password. A password is kept under a key
 * that is never sent; Password reads as null.
 */
#include <string.h>

#include "lab/bmc/engine.h"

static const char accounts[] = "/redfish/v1/AccountService/Accounts";
#define FIRST "/redfish/v1/AccountService/Accounts/1"

static const struct bu_bmc_writable writable[] = {
	{"UserName", 's'},
	{"Password", 's'},
	{"RoleId", 's'},
	{"Enabled", 'b'},
	{"Locked", 'b'},
	{"PasswordChangeRequired", 'b'},
	{0},
};

static void
set_role(json_t *account, const char *role)
{
	json_object_set_new(account, "RoleId", json_string(role));
	json_object_set_new(
		account, "Links",
		json_pack("{s:{s:o}}", "Role", "@odata.id",
			  json_sprintf("/redfish/v1/AccountService/Roles/%s", role)));
}

static json_t *
new_account(const char *user, const char *password, const char *role)
{
	json_t *account =
		json_pack("{s:s,s:s,s:s,s:n,s:b,s:b,s:b,s:[s],s:s}", "@odata.type",
			  "#ManagerAccount.v1_9_0.ManagerAccount", "Name",
			  "User Account", "UserName", user, "Password", "Enabled", 1,
			  "Locked", 0, "PasswordChangeRequired", 0, "AccountTypes",
			  "Redfish", "#password", password);

	set_role(account, role);
	return account;
}

void
bu_bmc_first_account(struct bu_bmc *bmc, const char *user, const char *password)
{
	char uri[256];

	bu_bmc_add(bmc, accounts, BU_BMC_ID_ACCOUNT,
		   new_account(user, password, "Administrator"), uri);
}

void
bu_bmc_demand_change(struct bu_bmc *bmc)
{
	json_object_set_new(bu_bmc_own(bmc, FIRST), "PasswordChangeRequired",
			    json_true());
}

static int
has_role(const struct bu_bmc *bmc, const char *role)
{
	bu_autofree char *uri =
		bu_xasprintf("/redfish/v1/AccountService/Roles/%s", role);

	return bu_bmc_get(bmc, uri) != NULL;
}

static int
has_name(struct bu_bmc *bmc, const char *uri, const json_t *resource, void *arg)
{
	return strcmp(bu_json_str(resource, "UserName", ""), arg) == 0;
}

static int
check_length(struct bu_bmc_call *call, const char *password)
{
	const json_t *service = bu_bmc_get(call->bmc, "/redfish/v1/AccountService");
	int64_t length = (int64_t)strlen(password);

	if (length >= bu_json_int(service, "MinPasswordLength", 0) &&
	    length <= bu_json_int(service, "MaxPasswordLength", 255))
		return 0;
	bu_bmc_refuse_at(call->reply, BU_BMC_VALUE, "/Password",
			 (const char *const[3]){"Password", "******"});
	return -1;
}

static int
check_role(struct bu_bmc_call *call, const char *role)
{
	if (has_role(call->bmc, role))
		return 0;
	bu_bmc_refuse_at(call->reply, BU_BMC_VALUE, "/RoleId",
			 (const char *const[3]){"RoleId", role});
	return -1;
}

void
bu_bmc_create_account(struct bu_bmc_call *call)
{
	static const char *const needed[] = {"UserName", "Password", "RoleId"};
	const char *user = bu_json_str(call->body, "UserName", "");
	const char *password = bu_json_str(call->body, "Password", "");
	const char *role = bu_json_str(call->body, "RoleId", "");
	char uri[256];

	for (size_t i = 0; i < BU_LEN(needed); i++)
		if (!*bu_json_str(call->body, needed[i], ""))
			bu_bmc_refuse(call->reply, BU_BMC_PROPERTY, needed[i]);
	if (call->reply->status || bu_bmc_check_patch(call, writable) != 0 ||
	    check_role(call, role) != 0 || check_length(call, password) != 0)
		return;
	if (bu_bmc_members(call->bmc, accounts, has_name, (void *)(uintptr_t)user)) {
		bu_bmc_refuse(call->reply, BU_BMC_EXISTS, "ManagerAccount", "UserName",
			      user);
		return;
	}
	bu_bmc_add(call->bmc, accounts, BU_BMC_ID_ACCOUNT,
		   new_account(user, password, role), uri);
	if (json_is_boolean(json_object_get(call->body, "Enabled")))
		json_object_set(bu_bmc_own(call->bmc, uri), "Enabled",
				json_object_get(call->body, "Enabled"));
	call->reply->status = 201;
	call->reply->body = bu_bmc_render(call->bmc, uri);
	bu_bmc_header(call->reply, "Location", "%s", uri);
}

/* An account of its own may change its password, and nothing else. */
static int
is_only_password(const json_t *body)
{
	return json_object_size(body) == 1 && json_object_get(body, "Password");
}

void
bu_bmc_patch_account(struct bu_bmc_call *call)
{
	const char *password = bu_json_str(call->body, "Password", NULL);
	const char *role = bu_json_str(call->body, "RoleId", NULL);
	int is_own = strcmp(call->account, call->uri) == 0;
	json_t *account;

	if (!bu_bmc_may(call, "ConfigureUsers") &&
	    !(is_own && is_only_password(call->body))) {
		bu_bmc_refuse(call->reply, BU_BMC_DENIED, NULL);
		return;
	}
	if (bu_bmc_check_patch(call, writable) != 0 ||
	    (password && check_length(call, password) != 0) ||
	    (role && check_role(call, role) != 0))
		return;
	account = bu_bmc_own(call->bmc, call->uri);
	bu_bmc_apply(account, call->body);
	json_object_set_new(account, "#tries", json_integer(0));
	if (role)
		set_role(account, role);
	if (password) {
		json_object_set_new(account, "#password", json_string(password));
		json_object_set_new(account, "Password", json_null());
		if (!json_object_get(call->body, "PasswordChangeRequired"))
			json_object_set_new(account, "PasswordChangeRequired",
					    json_false());
	}
	bu_bmc_patched(call);
}

void
bu_bmc_delete_account(struct bu_bmc_call *call)
{
	if (!bu_bmc_may(call, "ConfigureUsers")) {
		bu_bmc_refuse(call->reply, BU_BMC_DENIED, NULL);
		return;
	}
	if (strcmp(call->account, call->uri) == 0) {
		bu_bmc_refuse(call->reply, BU_BMC_NOT_DELETED, call->uri);
		return;
	}
	json_object_del(call->bmc->own, call->uri);
	call->reply->status = 204;
}
