/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was learnt of a BMC: its root, the path of each machine, what that allows.
 * Called by every operation. A BMC may take five seconds for an answer: nothing is
 * asked before it is needed, or twice.
 *
 * Invariants: an error of the network, or one that says "later", leaves all of it as it
 * is; a system that is gone, or is another one than before, and a change that the BMC
 * does not take, end what was learnt.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

#define TARGETS "BootSourceOverrideTarget@Redfish.AllowableValues"

static int64_t
now_ms(const struct rf_op *op)
{
	return bu_loop_now_ms(op->driver->loop);
}

/* --- the root --- */

int
rf_root(struct rf_op *op, struct bu_err *err)
{
	struct rf_root *root = &op->bmc->root;
	bu_autojson json_t *read = NULL;

	if (now_ms(op) < root->until_ms)
		return 0;
	if (!root->closed && rf_root_open(op, err) != 0)
		return -1;
	if (now_ms(op) < root->until_ms)
		return 0;
	read = rf_get(op, RF_ROOT, NULL, err);
	if (read)
		rf_root_take(op, read);
	return read ? 0 : -1;
}

/* --- what the system says of itself --- */

static void
take_resets(struct rf_op *op, struct rf_tree *tree, const json_t *system)
{
	const json_t *action = json_object_get(json_object_get(system, "Actions"),
					       "#ComputerSystem.Reset");
	const json_t *values =
		json_object_get(action, "ResetType@Redfish.AllowableValues");

	if (rf_path(op->bmc, bu_json_str(action, "target", ""), tree->reset) != 0)
		tree->reset[0] = '\0';
	if (rf_path(op->bmc, bu_json_str(action, "@Redfish.ActionInfo", ""),
		    tree->info) != 0)
		tree->info[0] = '\0';
	if (!rf_tells(values) && tree->info[0])
		return;
	json_decref(tree->resets);
	tree->resets = rf_tells(values) ? json_incref((json_t *)values) : NULL;
	tree->knows |= RF_KNOWS_RESETS;
}

static void
take_boot(struct rf_tree *tree, const json_t *boot, int in_settings)
{
	json_decref(tree->boot);
	tree->boot = json_incref((json_t *)boot);
	tree->boot_in_settings = in_settings;
	tree->knows |= RF_KNOWS_BOOT;
}

static void
take_system(struct rf_op *op, struct rf_tree *tree, const json_t *system)
{
	const json_t *boot = json_object_get(system, "Boot");
	const json_t *managers =
		json_object_get(json_object_get(system, "Links"), "ManagedBy");

	bu_text_copy(tree->serial, sizeof(tree->serial),
		     bu_json_str(system, "SerialNumber", ""));
	bu_text_copy(tree->uuid, sizeof(tree->uuid), bu_json_str(system, "UUID", ""));
	rf_link(op, json_object_get(system, "@Redfish.Settings"), "SettingsObject",
		tree->settings);
	if (rf_path(op->bmc, bu_json_str(json_array_get(managers, 0), "@odata.id", ""),
		    tree->manager) != 0)
		tree->manager[0] = '\0';
	take_resets(op, tree, system);
	if (!tree->settings[0] || rf_tells(json_object_get(boot, TARGETS)))
		take_boot(tree, boot, 0);
}

static void
name_vendor(struct rf_op *op, struct rf_tree *tree, const json_t *system)
{
	const struct rf_root *root = &op->bmc->root;

	bu_text_copy(tree->vendor, sizeof(tree->vendor),
		     root->vendor[0] ? root->vendor
				     : bu_json_str(system, "Manufacturer", ""));
	bu_text_copy(tree->product, sizeof(tree->product),
		     root->product[0] ? root->product
				      : bu_json_str(system, "Model", ""));
	tree->quirks = rf_quirks_of(tree->vendor, tree->product, tree->firmware);
}

/* --- the machine --- */

/* Two operations may look at once: each makes a whole one, and the last one stays. */
static int
renew(struct rf_op *op, struct rf_tree *tree, struct bu_err *err)
{
	struct rf_tree fresh = {.passed = tree->passed};

	tree->passed = NULL;
	if (rf_root(op, err) != 0 || rf_find(op, &fresh, tree->wanted, err) != 0) {
		json_decref(tree->passed);
		tree->passed = fresh.passed;
		return -1;
	}
	strcpy(fresh.wanted, tree->wanted);
	take_system(op, &fresh, op->found);
	name_vendor(op, &fresh, op->found);
	fresh.until_ms = now_ms(op) + op->driver->times.tree_ms;
	fresh.next = tree->next;
	rf_tree_fini(tree);
	*tree = fresh;
	return 0;
}

struct rf_tree *
rf_tree(struct rf_op *op, struct bu_err *err)
{
	struct rf_tree *tree = op->bmc->trees;

	while (tree && strcmp(tree->wanted, op->wanted) != 0)
		tree = tree->next;
	if (!tree) {
		tree = bu_xcalloc(1, sizeof(*tree));
		strcpy(tree->wanted, op->wanted);
		tree->next = op->bmc->trees;
		op->bmc->trees = tree;
	}
	if (now_ms(op) >= tree->until_ms && renew(op, tree, err) != 0)
		return NULL;
	return tree;
}

/* A BMC that was exchanged, or moved to another machine. */
static int
is_another(const struct rf_tree *tree, const json_t *system)
{
	const char *serial = bu_json_str(system, "SerialNumber", "");
	const char *uuid = bu_json_str(system, "UUID", "");

	return (bu_machine_says(tree->serial) && bu_machine_says(serial) &&
		!bu_machine_same(tree->serial, serial)) ||
	       (bu_machine_says(tree->uuid) && bu_machine_says(uuid) &&
		!bu_machine_same_uuid(tree->uuid, uuid));
}

json_t *
rf_system(struct rf_op *op, struct bu_err *err)
{
	for (int again = 1;; again--) {
		struct rf_tree *tree = rf_tree(op, err);
		bu_autojson json_t *system = NULL;
		char path[RF_PATH_SIZE];

		if (!tree)
			return NULL;
		/* Its state is no older than the last answer. */
		if (op->found && op->found_at == op->asks)
			return bu_steal(&op->found);
		strcpy(path, tree->system);
		system = rf_get(op, path, NULL, err);
		if (again &&
		    (system ? is_another(tree, system) : rf_is_gone(op->status))) {
			rf_forget(op->bmc);
			continue;
		}
		if (system)
			take_system(op, tree, system);
		return bu_steal(&system);
	}
}

/* --- what it allows --- */

int
rf_know_resets(struct rf_op *op, struct rf_tree *tree, struct bu_err *err)
{
	json_t *values;

	if (!(tree->knows & RF_KNOWS_RESETS) && !tree->info[0]) {
		bu_autojson json_t *system = rf_system(op, err);

		if (!system)
			return -1;
	}
	if (tree->knows & RF_KNOWS_RESETS)
		return 0;
	values = rf_info_values(op, tree->info);
	json_decref(tree->resets);
	tree->resets = values;
	/* Without an answer it is asked again by the next one. */
	if (op->status == 200)
		tree->knows |= RF_KNOWS_RESETS;
	return rf_go_on(op, err);
}

/* Of the object that holds what it will be after a reset. */
static void
read_settings(struct rf_op *op, struct rf_tree *tree, const json_t *system)
{
	bu_autojson json_t *later = rf_get(op, tree->settings, NULL, NULL);
	const json_t *boot = json_object_get(system, "Boot");
	const json_t *later_boot = json_object_get(later, "Boot");
	int there = rf_tells(json_object_get(later_boot, TARGETS)) ||
		    (json_is_object(later_boot) && !json_is_object(boot));

	take_boot(tree, there ? later_boot : boot, there);
	if (op->status != 200)
		tree->knows &= ~(unsigned)RF_KNOWS_BOOT;
}

/* Of the manager that the system names. */
static void
read_firmware(struct rf_op *op, struct rf_tree *tree)
{
	bu_autojson json_t *manager =
		tree->manager[0] ? rf_get(op, tree->manager, NULL, NULL) : NULL;

	bu_text_copy(tree->firmware, sizeof(tree->firmware),
		     bu_json_str(manager, "FirmwareVersion", ""));
	tree->quirks = rf_quirks_of(tree->vendor, tree->product, tree->firmware);
	if (manager || !tree->manager[0] || rf_is_gone(op->status))
		tree->knows |= RF_KNOWS_FIRMWARE;
}

int
rf_know_boot(struct rf_op *op, struct rf_tree *tree, const json_t *system,
	     struct bu_err *err)
{
	if (!(tree->knows & RF_KNOWS_BOOT))
		read_settings(op, tree, system);
	if (!(tree->knows & RF_KNOWS_FIRMWARE) &&
	    rf_quirks_ask_firmware(tree->vendor, tree->product))
		read_firmware(op, tree);
	return rf_go_on(op, err);
}

/* --- the end of it --- */

void
rf_doubt(struct rf_bmc *bmc)
{
	for (struct rf_tree *tree = bmc->trees; tree; tree = tree->next)
		tree->knows = 0;
}

void
rf_forget(struct rf_bmc *bmc)
{
	rf_doubt(bmc);
	for (struct rf_tree *tree = bmc->trees; tree; tree = tree->next) {
		tree->until_ms = 0;
		json_decref(tree->passed);
		tree->passed = NULL;
	}
	memset(&bmc->root, 0, sizeof(bmc->root));
	bmc->sessions[0] = bmc->alias[0] = bmc->stranger[0] = '\0';
}

void
rf_tree_fini(struct rf_tree *tree)
{
	json_decref(tree->passed);
	json_decref(tree->resets);
	json_decref(tree->boot);
}

void
rf_trees_free(struct rf_bmc *bmc)
{
	struct rf_tree *tree;

	while ((tree = bmc->trees)) {
		bmc->trees = tree->next;
		rf_tree_fini(tree);
		free(tree);
	}
}
