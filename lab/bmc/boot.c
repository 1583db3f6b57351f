/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine boots from: the override and the boot order, with the strange ways
 * of each vendor as rules of its tree. `Once` is spent when the machine goes from off
 * to on.
 */
#include <string.h>

#include "base/text.h"
#include "lab/bmc/engine.h"

#define TARGET "BootSourceOverrideTarget"
#define ENABLED "BootSourceOverrideEnabled"
#define MODE "BootSourceOverrideMode"

static const struct bu_bmc_writable writable[] = {
	{"AssetTag", 's'},
	{"IndicatorLED", 's'},
	{"LocationIndicatorActive", 'b'},
	{"Boot", 'o'},
	{"Boot/" TARGET, 's'},
	{"Boot/" ENABLED, 's'},
	{"Boot/" MODE, 's'},
	{"Boot/HttpBootUri", 's'},
	{"Boot/UefiTargetBootSourceOverride", 's'},
	{"Boot/BootOrder", 'a'},
	{0},
};

/* Where Boot is written; the system itself unless the tree says otherwise. */
static const char *
place(const struct bu_bmc *bmc, const char *rule)
{
	return bu_bmc_rule(bmc, rule, bmc->tree->system);
}

static void
refuse_value(struct bu_bmc_call *call, const char *property, const char *value)
{
	bu_autofree char *pointer = bu_xasprintf("/Boot/%s", property);

	bu_bmc_refuse_at(call->reply, BU_BMC_VALUE, pointer,
			 (const char *const[3]){property, value});
}

/* The value is one of those that the resource, or the system, lists. */
static void
check_value(struct bu_bmc_call *call, const json_t *boot, const char *property)
{
	const char *value = bu_json_str(boot, property, NULL);
	bu_autofree char *key = bu_xasprintf("%s@Redfish.AllowableValues", property);
	const json_t *resources[] = {call->resource,
				     bu_bmc_get(call->bmc, call->bmc->tree->system)};
	const json_t *allowed = NULL;
	json_t *one;
	size_t i;

	for (int place = 0; place < 2 && !allowed; place++)
		allowed =
			json_object_get(json_object_get(resources[place], "Boot"), key);
	if (!value || !allowed)
		return;
	json_array_foreach (allowed, i, one)
		if (strcmp(json_string_value(one), value) == 0)
			return;
	refuse_value(call, property, value);
}

/* The order names every boot option there is, each once or not at all. */
static void
check_order(struct bu_bmc_call *call, const json_t *boot)
{
	const json_t *now = json_object_get(
		json_object_get(bu_bmc_get(call->bmc, call->bmc->tree->system), "Boot"),
		"BootOrder");
	json_t *wanted = json_object_get(boot, "BootOrder"), *one, *other;
	size_t i, j;

	if (!wanted)
		return;
	if (!now) {
		bu_bmc_refuse_at(call->reply, BU_BMC_UNKNOWN, "/Boot/BootOrder",
				 (const char *const[3]){"BootOrder"});
		return;
	}
	json_array_foreach (wanted, i, one) {
		int found = 0;

		json_array_foreach (now, j, other)
			found |= json_equal(one, other);
		for (j = 0; j < i; j++)
			found &= !json_equal(one, json_array_get(wanted, j));
		if (!found)
			refuse_value(call, "BootOrder",
				     json_is_string(one) ? json_string_value(one)
							 : "?");
	}
}

static void
refuse_elsewhere(struct bu_bmc_call *call, const char *property, const char *uri)
{
	bu_bmc_refuse_at(call->reply, BU_BMC_AMI_FUTURE, "/Boot",
			 (const char *const[3]){property, uri});
}

static void
check_rules(struct bu_bmc_call *call, const json_t *boot)
{
	struct bu_bmc *bmc = call->bmc;
	int has_order = json_object_get(boot, "BootOrder") != NULL;
	int has_override = json_object_size(boot) > (size_t)has_order;
	const char *target = bu_json_str(boot, TARGET, "");

	if (has_order && strcmp(call->uri, place(bmc, "order_at")) != 0)
		refuse_elsewhere(call, "BootOrder", place(bmc, "order_at"));
	if (!has_override)
		return;
	if (strcmp(call->uri, place(bmc, "boot_at")) != 0)
		refuse_elsewhere(call, "Boot", place(bmc, "boot_at"));
	if (bmc->phase == BU_BMC_IN_POST &&
	    bu_bmc_rule_is(bmc, "post_refuses_boot", "yes"))
		bu_bmc_refuse(call->reply, BU_BMC_ILO_POST, NULL);
	if (json_object_get(boot, MODE) &&
	    bu_bmc_rule_is(bmc, "boot_mode", "read-only"))
		bu_bmc_refuse_at(call->reply, BU_BMC_READ_ONLY, "/Boot/" MODE,
				 (const char *const[3]){MODE});
	if (strcmp(target, "None") == 0 &&
	    bu_bmc_rule_is(bmc, "boot_disable", "keep-target"))
		refuse_value(call, TARGET, target);
	if (bu_bmc_rule_is(bmc, "boot_full_request", "yes") &&
	    !(*target && json_object_get(boot, ENABLED)))
		bu_bmc_refuse(call->reply, BU_BMC_PROPERTY, *target ? ENABLED : TARGET);
}

static void
set(json_t *boot, const char *key, const char *value)
{
	json_object_set_new(boot, key, json_string(value));
}

/* Stores what was asked for, as this vendor does. */
static void
store(struct bu_bmc_call *call, const json_t *wanted)
{
	struct bu_bmc *bmc = call->bmc;
	json_t *boot = json_object_get(bu_bmc_own(bmc, call->uri), "Boot");

	if (bu_bmc_fault_get(bmc, BU_BMC_FAULT_FORGETS_BOOT) != BU_BMC_NOT &&
	    !json_object_get(wanted, "BootOrder"))
		return;
	bu_bmc_apply(boot, wanted);
	if (bu_bmc_rule_is(bmc, "boot_mode", "resets") &&
	    json_object_get(wanted, TARGET) && !json_object_get(wanted, MODE))
		set(boot, MODE, "Legacy");
	/* Redfish: a disabled override has no target. */
	if (strcmp(bu_json_str(wanted, ENABLED, ""), "Disabled") == 0 &&
	    !bu_bmc_rule_is(bmc, "boot_disable", "keep-target"))
		set(boot, TARGET, "None");
	if (strcmp(bu_json_str(wanted, TARGET, ""), "None") == 0)
		set(boot, ENABLED, "Disabled");
}

void
bu_bmc_patch_system(struct bu_bmc_call *call)
{
	const json_t *boot = json_object_get(call->body, "Boot");

	if (bu_bmc_check_patch(call, writable) != 0)
		return;
	if (boot) {
		check_value(call, boot, TARGET);
		check_value(call, boot, ENABLED);
		check_value(call, boot, MODE);
		check_order(call, boot);
		check_rules(call, boot);
	}
	if (call->reply->status)
		return;
	if (boot) {
		bu_autojson json_t *wanted = json_incref((json_t *)(uintptr_t)boot);

		json_object_del(call->body, "Boot");
		store(call, wanted);
	}
	bu_bmc_apply(bu_bmc_own(call->bmc, call->uri), call->body);
	bu_bmc_patched(call);
}

/* --- at power-on --- */

/* Settings objects become current: the system's own Boot is what they say. */
static void
take_pending(struct bu_bmc *bmc)
{
	static const char *const at[] = {"boot_at", "order_at"};
	json_t *system = json_object_get(bu_bmc_own(bmc, bmc->tree->system), "Boot");

	for (size_t i = 0; i < BU_LEN(at); i++) {
		const char *uri = place(bmc, at[i]);
		const json_t *own = json_object_get(bmc->own, uri);
		const json_t *pending = json_object_get(own, "Boot");

		if (strcmp(uri, bmc->tree->system) != 0 && pending)
			bu_bmc_apply(system, pending);
	}
}

/* What an entry of the boot order stands for. */
static const char *
option_target(const struct bu_bmc *bmc, const char *reference)
{
	bu_autofree char *uri =
		bu_xasprintf("%s/BootOptions/%s", bmc->tree->system, reference);

	return bu_json_str(bu_bmc_get(bmc, uri), "#target", "Hdd");
}

static void
spend(struct bu_bmc *bmc, const char *uri)
{
	json_t *boot = json_object_get(bu_bmc_own(bmc, uri), "Boot");

	if (strcmp(bu_json_str(boot, ENABLED, ""), "Once") != 0)
		return;
	set(boot, ENABLED, "Disabled");
	set(boot, TARGET, "None");
}

static int
is_cd(const char *target)
{
	return strcmp(target, "Cd") == 0 || strcmp(target, "UsbCd") == 0;
}

void
bu_bmc_begin_boot(struct bu_bmc *bmc, char *ret_target, size_t size)
{
	const json_t *boot;
	const char *target, *enabled, *first;

	take_pending(bmc);
	boot = json_object_get(bu_bmc_get(bmc, bmc->tree->system), "Boot");
	target = bu_json_str(boot, TARGET, "None");
	enabled = bu_json_str(boot, ENABLED, "Disabled");
	first = json_string_value(
		json_array_get(json_object_get(boot, "BootOrder"), 0));
	if (strcmp(enabled, "Disabled") == 0 || strcmp(target, "None") == 0 ||
	    bu_bmc_fault_get(bmc, BU_BMC_FAULT_IGNORES_BOOT) != BU_BMC_NOT)
		target = first ? option_target(bmc, first) : "Hdd";
	if (is_cd(target))
		target = strcmp(target, bu_bmc_rule(bmc, "virtual_cd", "Cd")) == 0
				 ? "Cd"
				 : "Hdd"; /* the other drive is empty */
	bu_text_copy(ret_target, size, target);
	spend(bmc, bmc->tree->system);
	if (json_object_get(bmc->own, place(bmc, "boot_at")))
		spend(bmc, place(bmc, "boot_at"));
}
