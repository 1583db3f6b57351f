/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the machine behind a BMC: which of its systems it is. Called by known.c, which
 * keeps what was found.
 *
 * Invariants: a system that cannot be reset and booted is never taken for the machine
 * (boards of GPUs, and the network cards that are computers, list themselves as
 * systems, too); where two could be, the profile says which. A search that runs out of
 * time is gone on with: what was passed over is not read again.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

/* --- which one --- */

struct search {
	const char *wanted; /* "" = the only machine */
	json_t *passed;     /* of the tree */
	int found;
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

/* By its path, or by its own name where this is another path to it. */
static int
is_found(const struct search *search, const char *path, const json_t *system)
{
	const char *name = bu_json_str(system, "@odata.id", "");
	const char *found = bu_json_str(search->system, "@odata.id", "");

	if (!search->system)
		return 0;
	return rf_same_path(path, search->path) ||
	       (name[0] && found[0] && rf_same_path(name, found) &&
		bu_machine_same_uuid(bu_json_str(system, "UUID", ""),
				     bu_json_str(search->system, "UUID", "")));
}

static int
consider(struct rf_op *op, const char *path, const json_t *system, void *arg)
{
	struct search *search = arg;

	if (is_found(search, path, system))
		return 0;
	if (is_dpu(system) || (search->wanted[0] ? !rf_same_path(path, search->wanted)
						 : !is_machine(system))) {
		json_object_set_new(search->passed, path, json_boolean(is_dpu(system)));
		return 0;
	}
	bu_text_add(&search->names, ", ", "%s", path);
	if (search->found++ == 0) {
		strcpy(search->path, path);
		op->found_at = op->asks;
		search->system = json_incref((json_t *)system);
	}
	return 0;
}

static int
has_dpu(const struct search *search)
{
	const char *path;
	json_t *is;

	json_object_foreach (search->passed, path, is)
		if (json_is_true(is))
			return 1;
	return 0;
}

/* What it could not be asked may be why. */
static int
add_unread(const struct rf_op *op, struct bu_err *err)
{
	bu_autofree char *text = bu_xstrdup(err->text);

	if (op->unread)
		bu_err_set(err, err->kind, 0, "%s; %d could not be read: %s", text,
			   op->unread, op->unread_why.text);
	return -1;
}

static int
judge(const struct rf_op *op, const struct search *search, struct bu_err *err)
{
	int passed = (int)json_object_size(search->passed);

	if (search->found == 1)
		return 0;
	if (search->found > 1)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s has %d systems that could be the machine (%s); "
				  "write the path of the right one behind the address "
				  "in bmc",
				  op->bmc->origin, search->found, search->names);
	if (has_dpu(search))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s is the BMC of a network card that is a computer "
				  "(a DPU), not of a host; write the address of the "
				  "host's own BMC",
				  op->bmc->origin);
	if (search->wanted[0])
		bu_err_set(err, op->unread ? BU_ERR_REMOTE : BU_ERR_INVAL, 0,
			   "%s has no system %s among its %d", op->bmc->origin,
			   search->wanted, passed + op->unread);
	else
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "%s has %d systems, and none that can be reset and booted",
			   op->bmc->origin, passed + op->unread);
	return add_unread(op, err);
}

/* --- the search --- */

/* The one that the profile names is read at once; another spelling of it may be in the
 * list. */
static int
look_at_wanted(struct rf_op *op, struct search *search, struct bu_err *err)
{
	bu_autojson json_t *system = NULL;

	if (!search->wanted[0] || json_object_size(search->passed))
		return 0;
	system = rf_get(op, search->wanted, NULL, err);
	if (system)
		consider(op, search->wanted, system, search);
	return system || op->status == 400 || rf_is_gone(op->status) ? 0 : -1;
}

static int
look_at_all(struct rf_op *op, struct search *search, struct bu_err *err)
{
	const char *systems = op->bmc->root.systems;
	const char *astray = op->bmc->root.astray;

	/* One that has just started may do so later. */
	if (!systems[0]) {
		op->bmc->root.until_ms = 0;
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "%s: the BMC lists no systems%s%s", op->bmc->origin,
				  astray[0] ? ": its root leads to " : "", astray);
	}
	return rf_members_but(op, systems, search->passed, consider, search, err);
}

int
rf_find(struct rf_op *op, struct rf_tree *tree, const char *wanted, struct bu_err *err)
{
	struct search search = {.wanted = wanted};
	int rc;

	if (!tree->passed)
		tree->passed = json_object();
	search.passed = json_incref(tree->passed);
	rc = look_at_wanted(op, &search, err);
	if (rc == 0 && search.found == 0)
		rc = look_at_all(op, &search, err);
	if (rc == 0) {
		rc = judge(op, &search, err);
		/* All of it was read: what is not right now may be so later. */
		if (op->unread == 0)
			json_object_clear(search.passed);
	}
	if (rc == 0) {
		strcpy(tree->system, search.path);
		json_decref(op->found);
		op->found = json_incref(search.system);
	}
	json_decref(search.passed);
	json_decref(search.system);
	free(search.names);
	return rc;
}
