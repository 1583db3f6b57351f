/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restarts the BMC itself; called by driver.c. The machine goes on. That it was taken
 * proves nothing: perform.c looks whether the BMC was away (reset.c).
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/power/redfish/redfish.h"

/* Gently first. A BMC that names no values takes the second one. */
static const char *
choose(const json_t *values)
{
	static const char *const types[] = {"GracefulRestart", "ForceRestart"};

	if (!rf_tells(values))
		return types[1];
	for (size_t i = 0; i < BU_LEN(types); i++)
		if (rf_allows(values, types[i]))
			return types[i];
	return NULL;
}

/* It may be gone before it has answered, and takes its sessions along. */
static int
post(struct rf_op *op, const char *target, const char *type, struct bu_err *err)
{
	bu_autojson json_t *body = json_pack("{s:s}", "ResetType", type);
	struct rf_ask ask = {.method = "POST", .path = target, .body = body};
	rf_autoreply struct rf_reply reply = {0};
	struct bu_err why = {0};

	if (rf_call(op, &ask, &reply, &why) != 0) {
		if (why.kind == BU_ERR_REMOTE && rf_go_on(op, NULL) == 0)
			return 0;
		*err = why;
		return -1;
	}
	return reply.status >= 200 && reply.status < 300
		       ? 0
		       : rf_refused(op, &ask, &reply, err);
}

int
rf_reset_manager(struct rf_op *op, struct bu_err *err)
{
	bu_autojson json_t *system = rf_system(op, err);
	bu_autojson json_t *manager = system ? rf_manager(op, system, err) : NULL;
	const json_t *action =
		json_object_get(json_object_get(manager, "Actions"), "#Manager.Reset");
	bu_autojson json_t *values = NULL;
	char target[RF_PATH_SIZE];
	const char *type;

	if (!manager)
		return -1;
	if (rf_path(op->bmc, bu_json_str(action, "target", ""), target) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: the BMC has no reset of its own",
				  op->bmc->origin);
	values = rf_reset_values(op, action);
	type = choose(values);
	if (!type)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: the BMC allows neither GracefulRestart nor "
				  "ForceRestart of itself",
				  op->bmc->origin);
	return post(op, target, type, err);
}
