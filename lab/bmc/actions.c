/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Actions: a POST to a target that the resource lists. Parameters are checked against
 * the values that the resource, or its ActionInfo, allows: what a client can read is
 * what it is held to.
 */
#include <string.h>

#include "lab/bmc/engine.h"

/* The resource before "/Actions/", owned; and its action, or NULL. */
static const json_t *
find(const struct bu_bmc *bmc, const char *uri, char **ret_resource)
{
	const char *at = strstr(uri, "/Actions/"), *key;
	json_t *action;

	*ret_resource = at ? bu_xstrndup(uri, (size_t)(at - uri)) : NULL;
	if (!at)
		return NULL;
	json_object_foreach (json_object_get(bu_bmc_get(bmc, *ret_resource), "Actions"),
			     key, action) {
		const char *target = bu_json_str(action, "target", "");
		size_t length = strlen(uri);

		if (strncmp(target, uri, length) == 0 &&
		    (!target[length] || strcmp(target + length, "/") == 0))
			return action;
	}
	return NULL;
}

int
bu_bmc_is_action(const struct bu_bmc *bmc, const char *uri)
{
	bu_autofree char *resource = NULL;

	return find(bmc, uri, &resource) != NULL;
}

/* The values that a parameter may have; NULL when nobody says. */
static const json_t *
allowed(const struct bu_bmc *bmc, const json_t *action, const char *parameter)
{
	bu_autofree char *key = bu_xasprintf("%s@Redfish.AllowableValues", parameter);
	const json_t *list = json_object_get(action, key), *info;
	json_t *one;
	size_t i;

	if (list)
		return list;
	info = bu_bmc_get(bmc, bu_json_str(action, "@Redfish.ActionInfo", ""));
	json_array_foreach (json_object_get(info, "Parameters"), i, one)
		if (strcmp(bu_json_str(one, "Name", ""), parameter) == 0)
			return json_object_get(one, "AllowableValues");
	return NULL;
}

/* The ResetType, when it is there and one of the list. */
static const char *
reset_type(struct bu_bmc_call *call, const json_t *action, const char *name)
{
	const json_t *list = allowed(call->bmc, action, "ResetType");
	const char *type = bu_json_str(call->body, "ResetType", NULL), *key;
	json_t *value;
	size_t i;

	json_object_foreach (call->body, key, value)
		if (strcmp(key, "ResetType") != 0)
			bu_bmc_refuse(call->reply, BU_BMC_PARAMETER_UNKNOWN, key, name);
	if (!type)
		bu_bmc_refuse(call->reply, BU_BMC_PARAMETER, "ResetType", name);
	if (call->reply->status)
		return NULL;
	json_array_foreach (list, i, value)
		if (strcmp(json_string_value(value), type) == 0)
			return type;
	bu_bmc_refuse(call->reply, BU_BMC_PARAMETER_VALUE, "ResetType", type);
	return NULL;
}

static void
reset_system(struct bu_bmc_call *call, const json_t *action, const char *resource)
{
	const char *type = reset_type(call, action, "ComputerSystem.Reset");
	int64_t status = bu_bmc_rule_int(call->bmc, "reset", 204);

	if (!type || bu_bmc_reset(call, type) != 0)
		return;
	call->reply->status = (int)status;
	if (status == 202)
		bu_bmc_begin_task(call, "Reset",
				  bu_bmc_rule_int(call->bmc, "power_ms", 0));
	else if (status == 200) {
		bu_bmc_refuse(call->reply, BU_BMC_SUCCESS, NULL);
		call->reply->status = 200;
	}
}

static void
reset_manager(struct bu_bmc_call *call, const json_t *action, const char *resource)
{
	if (!reset_type(call, action, "Manager.Reset"))
		return;
	if (bu_bmc_fault_get(call->bmc, BU_BMC_FAULT_INERT) == BU_BMC_NOT)
		bu_bmc_restart(call->bmc);
	call->reply->status = 204;
}

static void
insert_media(struct bu_bmc_call *call, const json_t *action, const char *resource)
{
	bu_bmc_insert_media(call, resource);
}

static void
eject_media(struct bu_bmc_call *call, const json_t *action, const char *resource)
{
	bu_bmc_eject_media(call, resource);
}

static const struct {
	const char *name;
	const char *privilege;
	void (*fn)(struct bu_bmc_call *call, const json_t *action,
		   const char *resource);
} actions[] = {
	{"ComputerSystem.Reset", "ConfigureComponents", reset_system},
	{"Manager.Reset", "ConfigureManager", reset_manager},
	{"LogService.ClearLog", "ConfigureManager", bu_bmc_clear_log},
	{"VirtualMedia.InsertMedia", "ConfigureManager", insert_media},
	{"VirtualMedia.EjectMedia", "ConfigureManager", eject_media},
};

void
bu_bmc_act(struct bu_bmc_call *call)
{
	bu_autofree char *resource = NULL;
	const json_t *action = find(call->bmc, call->uri, &resource);
	const char *name = strrchr(call->uri, '/') + 1;

	for (size_t i = 0; action && i < BU_LEN(actions); i++) {
		if (strcmp(actions[i].name, name) != 0)
			continue;
		if (!bu_bmc_may(call, actions[i].privilege))
			bu_bmc_refuse(call->reply, BU_BMC_DENIED, NULL);
		else
			actions[i].fn(call, action, resource);
		return;
	}
	bu_bmc_refuse(call->reply, BU_BMC_NO_ACTION, name);
}
