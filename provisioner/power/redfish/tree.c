/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the machine behind a BMC: which of its systems it is, and what that system says
 * it allows. Called by every operation; what was found is kept for some minutes.
 *
 * Invariant: a system that cannot be reset and booted is never taken for the machine
 * (boards of GPUs, and the network cards that are computers, list themselves as
 * systems, too); where two could be, the profile says which.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

enum { PAGES_MAX = 16 };

#define ALLOWABLE "@Redfish.AllowableValues"

int
rf_allows(const json_t *values, const char *value)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(values))
		return 1;
	json_array_foreach (values, i, item)
		if (json_is_string(item) && strcmp(json_string_value(item), value) == 0)
			return 1;
	return 0;
}

/* --- collections --- */

static int
visit(struct rf_op *op, const json_t *page, rf_member_fn fn, void *arg, int *members)
{
	const json_t *list = json_object_get(page, "Members"), *item;
	char path[RF_PATH_SIZE];
	size_t i;

	json_array_foreach (list, i, item) {
		bu_autojson json_t *member = NULL;
		int rc;

		if (rf_path(op->bmc, bu_json_str(item, "@odata.id", ""), path) != 0 ||
		    ++*members > RF_MEMBERS_MAX)
			continue;
		member = rf_get(op, path, NULL, NULL);
		rc = member ? fn(op, path, member, arg) : 0;
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
rf_members(struct rf_op *op, const char *collection, rf_member_fn fn, void *arg,
	   struct bu_err *err)
{
	char path[RF_PATH_SIZE];
	int members = 0, rc = 0;

	snprintf(path, sizeof(path), "%s", collection);
	for (int i = 0; rc == 0 && path[0] && i < PAGES_MAX; i++) {
		bu_autojson json_t *page = rf_get(op, path, NULL, err);

		if (!page)
			return -1;
		rc = visit(op, page, fn, arg, &members);
		if (rf_path(op->bmc, bu_json_str(page, "Members@odata.nextLink", ""),
			    path) != 0)
			path[0] = '\0';
	}
	return rf_go_on(op, err);
}

/* --- which one --- */

struct search {
	const char *wanted; /* "" = the only machine */
	int found, seen, dpus;
	char path[RF_PATH_SIZE];
	json_t *system;
	char *names; /* of those that could be it */
};

/* A network card that is a computer has a BMC, a reset and a boot order of its own.
 * Some firmware of it says Physical as its type. */
static int
is_dpu(const json_t *system)
{
	static const char *const names[] = {"Id", "Model", "SubModel"};

	for (size_t i = 0; i < BU_LEN(names); i++)
		if (bu_machine_is_dpu(bu_json_str(system, names[i], "")))
			return 1;
	return strcmp(bu_json_str(system, "SystemType", ""), "DPU") == 0;
}

static int
is_machine(const json_t *system)
{
	const json_t *reset = json_object_get(json_object_get(system, "Actions"),
					      "#ComputerSystem.Reset");

	return bu_json_str(reset, "target", NULL) &&
	       (json_object_get(system, "Boot") ||
		json_object_get(system, "@Redfish.Settings"));
}

/* Neither is empty. */
static int
same_path(const char *a, const char *b)
{
	size_t a_size = strlen(a), b_size = strlen(b);

	a_size -= a[a_size - 1] == '/';
	b_size -= b[b_size - 1] == '/';
	return a_size == b_size && strncasecmp(a, b, a_size) == 0;
}

static int
consider(struct rf_op *op, const char *path, const json_t *system, void *arg)
{
	struct search *search = arg;

	(void)op;
	search->seen++;
	if (is_dpu(system)) {
		search->dpus++;
		return 0;
	}
	if (search->wanted[0] ? !same_path(path, search->wanted) : !is_machine(system))
		return 0;
	bu_text_add(&search->names, ", ", "%s", path);
	if (search->found++ == 0) {
		strcpy(search->path, path);
		search->system = json_incref((json_t *)system);
	}
	return 0;
}

static int
judge(const struct rf_op *op, const struct search *search, struct bu_err *err)
{
	if (search->found == 1)
		return 0;
	if (search->found > 1)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s has %d systems that could be the machine (%s); "
				  "write the path of the right one behind the address "
				  "in bmc",
				  op->bmc->origin, search->found, search->names);
	if (search->dpus)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s is the BMC of a network card that is a computer "
				  "(a DPU), not of a host; write the address of the "
				  "host's own BMC",
				  op->bmc->origin);
	if (search->wanted[0])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s has no system %s among its %d", op->bmc->origin,
				  search->wanted, search->seen);
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s has %d systems, and none that can be reset and booted",
			  op->bmc->origin, search->seen);
}

/* --- what it allows --- */

/* Inline, or in the object that @Redfish.ActionInfo names. */
json_t *
rf_reset_values(struct rf_op *op, const json_t *action)
{
	const json_t *values = json_object_get(action, "ResetType" ALLOWABLE);
	const json_t *parameters, *item;
	bu_autojson json_t *info = NULL;
	char path[RF_PATH_SIZE];
	size_t i;

	if (json_is_array(values))
		return json_incref((json_t *)values);
	if (rf_path(op->bmc, bu_json_str(action, "@Redfish.ActionInfo", ""), path) != 0)
		return NULL;
	info = rf_get(op, path, NULL, NULL);
	parameters = json_object_get(info, "Parameters");
	json_array_foreach (parameters, i, item) {
		values = json_object_get(item, "AllowableValues");
		if (strcmp(bu_json_str(item, "Name", ""), "ResetType") == 0 &&
		    json_is_array(values))
			return json_incref((json_t *)values);
	}
	return NULL;
}

/* Of the system, or of the object that holds what it will be after a reset. */
static void
read_boot(struct rf_op *op, struct rf_tree *tree, const json_t *system)
{
	const json_t *boot = json_object_get(system, "Boot"), *later_boot;
	bu_autojson json_t *later = NULL;

	if (tree->settings[0] &&
	    !json_object_get(boot, "BootSourceOverrideTarget" ALLOWABLE))
		later = rf_get(op, tree->settings, NULL, NULL);
	later_boot = json_object_get(later, "Boot");
	tree->boot_in_settings =
		json_object_get(later_boot, "BootSourceOverrideTarget" ALLOWABLE) ||
		(json_is_object(later_boot) && !json_is_object(boot));
	tree->boot =
		json_incref((json_t *)(tree->boot_in_settings ? later_boot : boot));
}

static void
read_system(struct rf_op *op, struct rf_tree *tree, const json_t *system)
{
	const json_t *action = json_object_get(json_object_get(system, "Actions"),
					       "#ComputerSystem.Reset");

	rf_link(op, json_object_get(system, "@Redfish.Settings"), "SettingsObject",
		tree->settings);
	if (rf_path(op->bmc, bu_json_str(action, "target", ""), tree->reset) != 0)
		tree->reset[0] = '\0';
	tree->resets = rf_reset_values(op, action);
	read_boot(op, tree, system);
	if (!tree->product[0])
		bu_text_copy(tree->product, sizeof(tree->product),
			     bu_json_str(system, "Model", ""));
	if (!tree->vendor[0])
		bu_text_copy(tree->vendor, sizeof(tree->vendor),
			     bu_json_str(system, "Manufacturer", ""));
}

/* Without a password, as the standard says: an answer to it proves none. */
static json_t *
read_root(struct rf_op *op, struct bu_err *err)
{
	struct rf_ask ask = {.method = "GET", .path = RF_ROOT};
	rf_autoreply struct rf_reply reply = {0};

	if (rf_wire(op, &ask, &reply, err) != 0)
		return NULL;
	if (reply.status == 200 && json_is_object(reply.json))
		return json_incref(reply.json);
	return rf_get(op, RF_ROOT, NULL, err);
}

/* The root's word; where it is null, its Oem object has one key, the vendor's. */
static void
name_vendor(struct rf_tree *tree, const json_t *root)
{
	const char *oem =
		json_object_iter_key(json_object_iter(json_object_get(root, "Oem")));

	bu_text_copy(tree->vendor, sizeof(tree->vendor),
		     bu_json_str(root, "Vendor", oem ? oem : ""));
	bu_text_copy(tree->product, sizeof(tree->product),
		     bu_json_str(root, "Product", ""));
}

/* Of the manager that the system names. */
static void
read_firmware(struct rf_op *op, struct rf_tree *tree, const json_t *system)
{
	const json_t *managers =
		json_object_get(json_object_get(system, "Links"), "ManagedBy");
	bu_autojson json_t *manager = NULL;
	char path[RF_PATH_SIZE];

	if (rf_path(op->bmc, bu_json_str(json_array_get(managers, 0), "@odata.id", ""),
		    path) == 0)
		manager = rf_get(op, path, NULL, NULL);
	bu_text_copy(tree->firmware, sizeof(tree->firmware),
		     bu_json_str(manager, "FirmwareVersion", ""));
}

static int
find(struct rf_op *op, struct rf_tree *tree, struct bu_err *err)
{
	struct search search = {.wanted = tree->wanted};
	bu_autojson json_t *root = read_root(op, err);
	char systems[RF_PATH_SIZE];
	int rc;

	if (!root)
		return -1;
	rf_link(op, root, "Systems", systems);
	if (!systems[0])
		return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: the BMC lists no systems",
				  op->bmc->origin);
	rc = rf_members(op, systems, consider, &search, err);
	if (rc == 0)
		rc = judge(op, &search, err);
	if (rc == 0) {
		name_vendor(tree, root);
		strcpy(tree->system, search.path);
		read_system(op, tree, search.system);
		read_firmware(op, tree, search.system);
		tree->quirks =
			rf_quirks_of(tree->vendor, tree->product, tree->firmware);
		rc = rf_go_on(op, err);
	}
	json_decref(search.system);
	free(search.names);
	return rc;
}

static void
tree_fini(struct rf_tree *tree)
{
	json_decref(tree->resets);
	json_decref(tree->boot);
}

/* Two operations may look at once: each makes a whole one, and the last one stays. */
static int
renew(struct rf_op *op, struct rf_tree *tree, struct bu_err *err)
{
	struct rf_tree fresh = {0};

	strcpy(fresh.wanted, tree->wanted);
	if (find(op, &fresh, err) != 0) {
		tree_fini(&fresh);
		return -1;
	}
	fresh.until_ms = bu_loop_now_ms(op->driver->loop) + op->driver->times.tree_ms;
	fresh.next = tree->next;
	tree_fini(tree);
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
	if (bu_loop_now_ms(op->driver->loop) >= tree->until_ms &&
	    renew(op, tree, err) != 0)
		return NULL;
	return tree;
}

void
rf_trees_free(struct rf_bmc *bmc)
{
	struct rf_tree *tree;

	while ((tree = bmc->trees)) {
		bmc->trees = tree->next;
		tree_fini(tree);
		free(tree);
	}
}
