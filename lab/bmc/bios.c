/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BIOS settings: a PATCH of the pending object changes nothing until the machine is
 * reset. A second set while one waits is refused where the vendor makes jobs of them.
 */
#include <string.h>

#include "lab/bmc/engine.h"

static const struct bu_bmc_writable writable[] = {
	{"Attributes", '*'},
	{0},
};

/* The current object that this one is the pending one of: its link names it. */
static int
find_current(const struct bu_bmc *bmc, const char *pending, const char **ret)
{
	const char *uri;
	json_t *resource;

	json_object_foreach (bmc->tree->resources, uri, resource) {
		const json_t *settings = json_object_get(resource, "@Redfish.Settings");
		const char *link = bu_json_str(
			json_object_get(settings, "SettingsObject"), "@odata.id", "");
		size_t length = strlen(pending);

		if (strncmp(link, pending, length) == 0 &&
		    (!link[length] || strcmp(link + length, "/") == 0)) {
			*ret = uri;
			return 0;
		}
	}
	return -1;
}

void
bu_bmc_patch_bios(struct bu_bmc_call *call)
{
	const json_t *wanted = json_object_get(call->body, "Attributes"), *have;
	json_t *own, *value;
	const char *current, *key;

	if (bu_bmc_check_patch(call, writable) != 0)
		return;
	if (!wanted || find_current(call->bmc, call->uri, &current) != 0) {
		bu_bmc_refuse(call->reply, BU_BMC_PROPERTY, "Attributes");
		return;
	}
	have = json_object_get(bu_bmc_get(call->bmc, current), "Attributes");
	json_object_foreach ((json_t *)(uintptr_t)wanted, key, value) {
		const json_t *old = json_object_get(have, key);

		if (!old)
			bu_bmc_refuse(call->reply, BU_BMC_UNKNOWN, key);
		else if (json_typeof(old) != json_typeof(value))
			bu_bmc_refuse(call->reply, BU_BMC_TYPE, key, "?");
	}
	if (call->reply->status)
		return;
	own = bu_bmc_own(call->bmc, call->uri);
	if (json_object_get(own, "#waits")) {
		bu_bmc_refuse(call->reply, BU_BMC_PENDING, NULL);
		return;
	}
	bu_bmc_apply(own, call->body);
	json_object_set_new(own, "#current", json_string(current));
	if (!bu_bmc_rule_is(call->bmc, "bios_task", "yes")) {
		bu_bmc_patched(call);
		return;
	}
	json_object_set_new(own, "#waits", json_true());
	bu_bmc_begin_task(call, "BIOS Configuration", BU_BMC_AT_RESET);
}

void
bu_bmc_apply_bios(struct bu_bmc *bmc)
{
	const char *uri;
	json_t *resource;

	json_object_foreach (bmc->tree->resources, uri, resource) {
		json_t *pending = json_object_get(bmc->own, uri);
		const char *current = bu_json_str(pending, "#current", NULL);
		json_t *attributes = json_object_get(pending, "Attributes");

		if (!current)
			continue;
		bu_bmc_apply(json_object_get(bu_bmc_own(bmc, current), "Attributes"),
			     attributes);
		json_object_clear(attributes);
		json_object_del(pending, "#waits");
	}
}
