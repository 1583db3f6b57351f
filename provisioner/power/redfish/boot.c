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

enum { READS = 3, BODIES_MAX = 4, SHOWN_SIZE = 160 };

struct wish {
	const char *target;  /* "None" = no override */
	const char *enabled; /* "Once", "Continuous", "Disabled" */
	char mode[16];       /* asked for, or as it was; "" = the BMC does not say */
	char before[32];     /* target as it was */
	int may_last;        /* it was seen to know no other */
	int names_once;      /* the BMC says that it can boot once */
	int anew;            /* it was ended and written again */
	struct bu_err swallowed; /* the first write that was taken and does not show */
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
		rf_tells(targets) && rf_allows(targets, "UsbCd") ? "UsbCd" : "Cd";
	if (rf_allows(targets, wish->target))
		return 0;
	allowed = bu_json_canonical(targets);
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s: the machine allows no boot from a CD; it allows %s",
			  op->bmc->origin, allowed);
}

static int
make_wish(struct rf_op *op, struct rf_tree *tree, struct wish *ret, struct bu_err *err)
{
	static const char *const modes[] = {
		[BU_BOOT_MODE_BIOS] = "Legacy", [BU_BOOT_MODE_UEFI] = "UEFI"};
	bu_autojson json_t *system = rf_system(op, err);
	const json_t *boot = json_object_get(system, "Boot");
	const json_t *targets, *ways;

	if (!system || rf_know_boot(op, tree, system, err) != 0)
		return -1;
	targets = json_object_get(tree->boot, TARGET ALLOWABLE);
	ways = json_object_get(tree->boot, ENABLED ALLOWABLE);
	bu_text_copy(ret->mode, sizeof(ret->mode),
		     modes[op->mode] ? modes[op->mode] : bu_json_str(boot, MODE, ""));
	bu_text_copy(ret->before, sizeof(ret->before), bu_json_str(boot, TARGET, ""));
	ret->enabled = rf_allows(ways, "Once") ? "Once" : "Continuous";
	ret->may_last = tree->lasts;
	ret->names_once = rf_tells(ways) && rf_allows(ways, "Once");
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

/* 1 when they differ. */
static int
compare(char **text, const char *took, const char *shows)
{
	if (strcasecmp(took, shows) == 0)
		return 0;
	bu_text_add(text, "; ", "took %s, shows %s", took,
		    shows[0] ? shows : "nothing");
	return 1;
}

/* What a place shows instead of what it took. */
struct shown {
	int read;              /* 0 = it could not be */
	char text[SHOWN_SIZE]; /* "" = nothing */
	int lasts;             /* the right boot, and not once but from now on */
};

/* 1 when it shows what it took. A BMC that shows no mode keeps the one that it has. */
static int
shows(const json_t *boot, const struct wish *wish, struct shown *ret)
{
	const char *enabled = bu_json_str(boot, ENABLED, "");
	const char *mode = bu_json_str(boot, MODE, "");
	const char *target = bu_json_str(boot, TARGET, "");
	bu_autofree char *text = NULL;
	int others = 0, more = strcmp(enabled, "Continuous") == 0;

	if (is_off(wish)) {
		if (strcmp(target, "None") != 0)
			compare(&text, wish->enabled, enabled);
	} else {
		others = compare(&text, wish->target, target);
		if (wish->mode[0] && mode[0])
			others += compare(&text, wish->mode, mode);
		if (wish->may_last && more)
			enabled = wish->enabled;
		if (strcmp(wish->enabled, "Once") == 0 || strcmp(enabled, "Once") != 0)
			compare(&text, wish->enabled, enabled);
	}
	bu_text_copy(ret->text, sizeof(ret->text), text ? text : "");
	ret->lasts = text && !is_off(wish) && !others && more;
	return !text;
}

static int
shows_at(struct rf_op *op, const char *path, const struct wish *wish, struct shown *ret,
	 struct bu_err *err)
{
	bu_autojson json_t *object = rf_get(op, path, NULL, err);
	const json_t *boot = json_object_get(object, "Boot");

	ret->read |= object != NULL;

	return boot && shows(boot, wish, ret);
}

/* Where it was written, else at the system. What is told is what that place shows. */
static int
reads_back(struct rf_op *op, const struct rf_tree *tree, const char *place,
	   const struct wish *wish, struct shown *ret, struct bu_err *err)
{
	struct shown elsewhere = {0};

	*ret = elsewhere;
	for (int i = 0; i < READS; i++) {
		if (shows_at(op, place, wish, ret, err) ||
		    (strcmp(place, tree->system) != 0 &&
		     shows_at(op, tree->system, wish, &elsewhere, err)))
			return 1;
		if (rf_pause(op, op->driver->times.settle_ms, NULL) != 0)
			break;
	}
	if (!ret->read)
		*ret = elsewhere;
	return 0;
}

/* --- the ladder --- */

/* The first setting that was swallowed is what a person must know: what was tried after
 * it says less. */
static void
note_swallowed(const struct rf_op *op, const char *place, const struct shown *shown,
	       struct wish *wish)
{
	if (wish->swallowed.kind)
		return;
	if (shown->text[0])
		bu_err_set(&wish->swallowed, BU_ERR_VERIFY, 0, "%s: PATCH %s: %s",
			   op->bmc->origin, place, shown->text);
	else
		bu_err_set(&wish->swallowed, BU_ERR_VERIFY, 0,
			   "%s: PATCH %s: took %s, shows nothing", op->bmc->origin,
			   place, is_off(wish) ? wish->enabled : wish->target);
}

/* An override that lasts is ended first, then written again: some BMCs keep what lasts
 * until then. One that does not name Once, and lasts after that too, can do no other:
 * before each start it is written anew. */
static enum rf_taken
write_anew(struct rf_op *op, struct rf_tree *tree, const char *place,
	   const json_t *body, struct wish *wish)
{
	bu_autojson json_t *off = body_of(NULL, "Disabled", NULL);
	struct shown shown;

	wish->anew = 1;
	if (rf_patch(op, place, off, NULL) == RF_FAILED ||
	    rf_patch(op, place, body, NULL) != RF_TAKEN)
		return RF_NOT_THIS;
	if (reads_back(op, tree, place, wish, &shown, NULL))
		return RF_TAKEN;
	if (!shown.lasts || wish->names_once)
		return RF_NOT_THIS;
	tree->lasts = 1;
	return RF_TAKEN;
}

static enum rf_taken
write_body(struct rf_op *op, struct rf_tree *tree, const char *place,
	   const json_t *body, struct wish *wish, struct bu_err *err)
{
	enum rf_taken taken = rf_patch(op, place, body, err);
	struct shown shown;

	if (taken != RF_TAKEN || reads_back(op, tree, place, wish, &shown, err))
		return taken;
	if (shown.read)
		note_swallowed(op, place, &shown, wish);
	return shown.lasts && !wish->anew ? write_anew(op, tree, place, body, wish)
					  : RF_NOT_THIS;
}

/* Each way at one place. RF_NOT_THIS when none of them is seen to be taken. */
static enum rf_taken
write_at(struct rf_op *op, struct rf_tree *tree, const char *place, struct wish *wish,
	 struct bu_err *err)
{
	json_t *bodies[BODIES_MAX];
	size_t count = make_bodies(tree, wish, bodies);
	enum rf_taken taken = RF_NOT_THIS;

	for (size_t i = 0; i < count && taken == RF_NOT_THIS; i++) {
		taken = write_body(op, tree, place, bodies[i], wish, err);
		if (taken == RF_NOT_THIS && rf_go_on(op, err) != 0)
			taken = RF_FAILED;
	}
	for (size_t i = 0; i < count; i++)
		json_decref(bodies[i]);
	return taken;
}

int
rf_boot_first(struct rf_op *op, struct bu_err *err)
{
	struct rf_tree *tree = rf_tree(op, err);
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
	if (taken == RF_TAKEN)
		return 0;
	if (wish.swallowed.kind && err->kind != BU_ERR_CANCELLED &&
	    err->kind != BU_ERR_DENIED)
		*err = wish.swallowed;
	return -1;
}
