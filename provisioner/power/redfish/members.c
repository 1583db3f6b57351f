/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collections and lists of allowed values; called by all that reads a tree. Invariants:
 * a member is visited once, however often it is listed; a list that tells nothing
 * allows all.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/power/redfish/redfish.h"

enum { PAGES_MAX = 16 };

#define ALLOWABLE "@Redfish.AllowableValues"

int
rf_tells(const json_t *values)
{
	const json_t *item;
	size_t i;

	json_array_foreach (values, i, item)
		if (!json_is_null(item) &&
		    !(json_is_string(item) && json_string_length(item) == 0))
			return 1;
	return 0;
}

int
rf_allows(const json_t *values, const char *value)
{
	const json_t *item;
	size_t i;

	if (!rf_tells(values))
		return 1;
	json_array_foreach (values, i, item)
		if (json_is_string(item) && strcmp(json_string_value(item), value) == 0)
			return 1;
	return 0;
}

/* --- collections --- */

struct walk {
	rf_member_fn fn;
	void *arg;
	const json_t *but;
	json_t *seen; /* paths without the slash at their end */
};

/* Some list a member twice. */
static int
is_new(struct walk *walk, const char *path)
{
	bu_autofree char *key = bu_xstrdup(path);
	size_t size = strlen(key);

	if (size > 1 && key[size - 1] == '/')
		key[size - 1] = '\0';
	if (json_object_get(walk->seen, key))
		return 0;
	json_object_set_new(walk->seen, key, json_true());
	return json_object_size(walk->seen) <= RF_MEMBERS_MAX;
}

static void
note_astray(struct rf_op *op, const char *link)
{
	bu_autofree char *where = rf_elsewhere(op->bmc, link);

	if (op->unread++ == 0)
		bu_err_set(&op->unread_why, BU_ERR_REMOTE, 0, "it leads to %s", where);
}

static int
visit(struct rf_op *op, const json_t *page, struct walk *walk)
{
	const json_t *list = json_object_get(page, "Members"), *item;
	char path[RF_PATH_SIZE];
	size_t i;

	json_array_foreach (list, i, item) {
		const char *link = bu_json_str(item, "@odata.id", "");
		bu_autojson json_t *member = NULL;
		struct bu_err why = {0};
		int rc;

		if (rf_path(op->bmc, link, path) != 0) {
			note_astray(op, link);
			continue;
		}
		if (!is_new(walk, path) || json_object_get(walk->but, path))
			continue;
		member = rf_get(op, path, NULL, &why);
		if (!member && op->unread++ == 0)
			op->unread_why = why;
		rc = member ? walk->fn(op, path, member, walk->arg) : 0;
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
rf_members_but(struct rf_op *op, const char *collection, const json_t *but,
	       rf_member_fn fn, void *arg, struct bu_err *err)
{
	bu_autojson json_t *seen = json_object();
	struct walk walk = {fn, arg, but, seen};
	char path[RF_PATH_SIZE];
	int rc = 0;

	op->unread = 0;
	snprintf(path, sizeof(path), "%s", collection);
	for (int i = 0; rc == 0 && path[0] && i < PAGES_MAX; i++) {
		bu_autojson json_t *page = rf_get(op, path, NULL, err);
		const char *next;

		if (!page)
			return -1;
		rc = visit(op, page, &walk);
		next = bu_json_str(page, "Members@odata.nextLink", "");
		if (rf_path(op->bmc, next, path) != 0)
			path[0] = '\0';
		if (next[0] && !path[0])
			note_astray(op, next);
	}
	return rf_go_on(op, err);
}

int
rf_members(struct rf_op *op, const char *collection, rf_member_fn fn, void *arg,
	   struct bu_err *err)
{
	return rf_members_but(op, collection, NULL, fn, arg, err);
}

/* --- what an action allows --- */

json_t *
rf_info_values(struct rf_op *op, const char *path)
{
	bu_autojson json_t *info = rf_get(op, path, NULL, NULL);
	const json_t *parameters = json_object_get(info, "Parameters"), *item, *values;
	size_t i;

	json_array_foreach (parameters, i, item) {
		values = json_object_get(item, "AllowableValues");
		if (strcmp(bu_json_str(item, "Name", ""), "ResetType") == 0 &&
		    rf_tells(values))
			return json_incref((json_t *)values);
	}
	return NULL;
}

/* Inline, or in the object that @Redfish.ActionInfo names. */
json_t *
rf_reset_values(struct rf_op *op, const json_t *action)
{
	const json_t *values = json_object_get(action, "ResetType" ALLOWABLE);
	char path[RF_PATH_SIZE];

	if (rf_tells(values))
		return json_incref((json_t *)values);
	if (rf_path(op->bmc, bu_json_str(action, "@Redfish.ActionInfo", ""), path) != 0)
		return NULL;
	return rf_info_values(op, path);
}
