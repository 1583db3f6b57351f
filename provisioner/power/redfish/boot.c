/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the machine boots from at its next start; called by driver.c.
 *
 * The same wish is written in several ways and at two places, until one of them reads
 * back: BMCs want more fields or fewer, take them at the system or at the object for
 * what is to come, and some say yes and keep what they had. Invariant: success was
 * read, and the mode of the firmware (UEFI or Legacy) is the one that was asked for, or
 * what it was.
 */
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

#define TARGET "BootSourceOverrideTarget"
#define ENABLED "BootSourceOverrideEnabled"
#define MODE "BootSourceOverrideMode"
#define ALLOWABLE "@Redfish.AllowableValues"

enum { READS = 3, BODIES_MAX = 4, SHOWN_SIZE = 100 };

struct wish {
	const char *target;     /* "None" = no override */
	const char *enabled;    /* "Once", "Continuous", "Disabled" */
	char mode[16];          /* asked for, or as it was; "" = the BMC does not say */
	char before[32];        /* target as it was */
	char shown[SHOWN_SIZE]; /* what was read back last */
};

static int
is_off(const struct wish *wish)
{
	return strcmp(wish->enabled, "Disabled") == 0;
}

/* --- what to ask for --- */

static int
wish_network(const struct rf_op *op, const json_t *targets, struct wish *wish,
	     struct bu_err *err)
{
	bu_autofree char *allowed = NULL;

	wish->target = rf_allows(targets, "Pxe") ? "Pxe" : "UefiHttp";
	if (rf_allows(targets, wish->target))
		return 0;
	allowed = bu_json_canonical(targets);
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s: the machine allows no boot from the network; it allows "
			  "%s",
			  op->bmc->origin, allowed);
}

/* Supermicro's Cd is a drive that it does not have. */
static int
wish_media(const struct rf_op *op, const json_t *targets, struct wish *wish,
	   struct bu_err *err)
{
	bu_autofree char *allowed = NULL;

	wish->target =
		json_is_array(targets) && rf_allows(targets, "UsbCd") ? "UsbCd" : "Cd";
	if (rf_allows(targets, wish->target))
		return 0;
	allowed = bu_json_canonical(targets);
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s: the machine allows no boot from a CD; it allows %s",
			  op->bmc->origin, allowed);
}

static int
make_wish(struct rf_op *op, const struct rf_tree *tree, struct wish *ret,
	  struct bu_err *err)
{
	static const char *const modes[] = {
		[BU_BOOT_MODE_BIOS] = "Legacy", [BU_BOOT_MODE_UEFI] = "UEFI"};
	bu_autojson json_t *system = rf_get(op, tree->system, NULL, err);
	const json_t *boot = json_object_get(system, "Boot");
	const json_t *targets = json_object_get(tree->boot, TARGET ALLOWABLE);

	if (!system)
		return -1;
	bu_text_copy(ret->mode, sizeof(ret->mode),
		     modes[op->mode] ? modes[op->mode] : bu_json_str(boot, MODE, ""));
	bu_text_copy(ret->before, sizeof(ret->before), bu_json_str(boot, TARGET, ""));
	ret->enabled = rf_allows(json_object_get(tree->boot, ENABLED ALLOWABLE), "Once")
			       ? "Once"
			       : "Continuous";
	if (op->first == BU_BOOT_NETWORK)
		return wish_network(op, targets, ret, err);
	if (op->first == BU_BOOT_MEDIA)
		return wish_media(op, targets, ret, err);
	ret->target = "Hdd";
	if (!rf_allows(targets, "Hdd") || (tree->quirks & RF_QUIRK_NO_HDD)) {
		ret->target = "None";
		ret->enabled = "Disabled";
	}
	return 0;
}

/* {"Boot":{...}}; what is NULL or "" is left out. */
static json_t *
body_of(const char *target, const char *enabled, const char *mode)
{
	json_t *boot = json_object();

	if (target && target[0])
		json_object_set_new(boot, TARGET, json_string(target));
	json_object_set_new(boot, ENABLED, json_string(enabled));
	if (mode && mode[0])
		json_object_set_new(boot, MODE, json_string(mode));
	return json_pack("{s:o}", "Boot", boot);
}

/* The ways to write it, the best first. */
static size_t
make_bodies(const struct rf_tree *tree, const struct wish *wish,
	    json_t *ret[BODIES_MAX])
{
	int bare_first = tree->quirks & RF_QUIRK_BARE_BOOT;
	size_t count = 0;

	if (is_off(wish) && (tree->quirks & RF_QUIRK_KEEP_TARGET)) {
		ret[count++] = body_of(wish->before, wish->enabled, NULL);
		ret[count++] = body_of(NULL, wish->enabled, NULL);
		return count;
	}
	if (wish->mode[0] && !bare_first)
		ret[count++] = body_of(wish->target, wish->enabled, wish->mode);
	ret[count++] = body_of(wish->target, wish->enabled, NULL);
	if (wish->mode[0] && bare_first)
		ret[count++] = body_of(wish->target, wish->enabled, wish->mode);
	if (is_off(wish))
		ret[count++] = body_of(NULL, wish->enabled, NULL);
	return count;
}

/* --- was it done? --- */

/* A BMC that keeps no "Once" shows "Continuous": it is written anew before each start,
 * so both do. */
static int
shows(const json_t *boot, struct wish *wish)
{
	const char *target = bu_json_str(boot, TARGET, "");
	const char *enabled = bu_json_str(boot, ENABLED, "");
	const char *mode = bu_json_str(boot, MODE, "");
	bu_autofree char *shown =
		bu_xasprintf("%s, %s, %s", target, enabled, mode[0] ? mode : "no mode");

	bu_text_copy(wish->shown, sizeof(wish->shown), shown);
	if (is_off(wish))
		return strcmp(enabled, "Disabled") == 0 || strcmp(target, "None") == 0;
	if (strcmp(target, wish->target) != 0 ||
	    (strcmp(enabled, "Once") != 0 && strcmp(enabled, "Continuous") != 0))
		return 0;
	return !wish->mode[0] || !mode[0] || strcasecmp(mode, wish->mode) == 0;
}

static int
shows_at(struct rf_op *op, const char *path, struct wish *wish)
{
	bu_autojson json_t *object = rf_get(op, path, NULL, NULL);
	const json_t *boot = json_object_get(object, "Boot");

	return boot && shows(boot, wish);
}

static int
reads_back(struct rf_op *op, const struct rf_tree *tree, const char *place,
	   struct wish *wish)
{
	for (int i = 0; i < READS; i++) {
		if (shows_at(op, place, wish) || (strcmp(place, tree->system) != 0 &&
						  shows_at(op, tree->system, wish)))
			return 1;
		if (rf_pause(op, op->driver->times.settle_ms, NULL) != 0)
			return 0;
	}
	return 0;
}

/* --- the ladder --- */

/* Each way at one place. RF_NOT_THIS when none of them is seen to be taken. */
static enum rf_taken
write_at(struct rf_op *op, const struct rf_tree *tree, const char *place,
	 struct wish *wish, struct bu_err *err)
{
	json_t *bodies[BODIES_MAX];
	size_t count = make_bodies(tree, wish, bodies);
	enum rf_taken taken = RF_NOT_THIS;

	for (size_t i = 0; i < count && taken == RF_NOT_THIS; i++) {
		taken = rf_patch(op, place, bodies[i], err);
		if (taken == RF_TAKEN && !reads_back(op, tree, place, wish)) {
			bu_err_set(err, BU_ERR_VERIFY, 0,
				   "%s: the BMC took boot from %s (%s), and shows %s",
				   op->bmc->origin, wish->target, wish->enabled,
				   wish->shown[0] ? wish->shown : "nothing");
			taken = RF_NOT_THIS;
		}
		if (taken == RF_NOT_THIS && rf_go_on(op, NULL) != 0)
			taken = RF_FAILED;
	}
	for (size_t i = 0; i < count; i++)
		json_decref(bodies[i]);
	return taken;
}

int
rf_boot_first(struct rf_op *op, struct bu_err *err)
{
	const struct rf_tree *tree = rf_tree(op, err);
	const char *places[2];
	struct wish wish = {0};
	enum rf_taken taken = RF_NOT_THIS;
	int later;

	if (!tree || make_wish(op, tree, &wish, err) != 0)
		return -1;
	later = tree->settings[0] &&
		(tree->boot_in_settings || (tree->quirks & RF_QUIRK_BOOT_LATER));
	places[0] = later ? tree->settings : tree->system;
	places[1] = later ? tree->system : tree->settings;
	for (int i = 0; i < 2 && taken == RF_NOT_THIS; i++)
		if (places[i][0])
			taken = write_at(op, tree, places[i], &wish, err);
	return taken == RF_TAKEN ? 0 : -1;
}
