/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a tree: common.json, what of it differs at this vendor (a merge patch), and the
 * rules that the engine follows. What differs between vendors is data, never code.
 */
#include <dirent.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "lab/bmc/engine.h"

static const char folder[] = "lab/bmc/trees";

/* How a BMC behaves. A rule that is not named here is a mistake in a tree. */
static const char *const rules[] = {
	"etag",              /* none, weak, strong */
	"if_match",          /* optional, required */
	"if_match_message",  /* ami: the vendor's own refusal */
	"action_if_match",   /* refused: 412 for an action with If-Match */
	"sessions",          /* at once */
	"sessions_message",  /* rac: the vendor's own refusal */
	"patch",             /* 200, 204 */
	"reset",             /* 204, 200, 202 */
	"power_ms",          /* PoweringOn, PoweringOff */
	"post_ms",           /* from On to the boot loader */
	"shutdown_ms",       /* the system of a paper machine */
	"early_on_ms",       /* 409 to On, so long after off */
	"boot_at",           /* URI where Boot is written, when not the system's */
	"order_at",          /* the same of BootOrder */
	"boot_mode",         /* writable, read-only, resets (unless sent) */
	"boot_disable",      /* any, keep-target: None is refused */
	"boot_full_request", /* yes: target, enabled and mode, all three */
	"post_refuses_boot", /* yes: 400 while in POST */
	"bios_task",         /* yes: 202 with a task that the next reset ends */
	"trailing_slash",    /* yes: each link ends with '/' */
	"media_ms",          /* an insertion is a task that takes so long */
	"media_wants",       /* a parameter that an insertion must have */
	"media_refuses",     /* one that it must not have */
	"media_stays",       /* yes: an empty drive goes on saying Inserted */
	"virtual_cd",        /* the boot target that means the virtual drive */
	"manager_ms",        /* restart of the BMC */
	"log_max",           /* entries; one more, and the oldest goes */
	"log_page",          /* entries in an answer; 0 = all of them */
	"log_order",         /* oldest, newest: which comes first */
	"log_members",       /* full, links */
};

static int
is_rule(const char *name)
{
	for (size_t i = 0; i < BU_LEN(rules); i++)
		if (strcmp(rules[i], name) == 0)
			return 1;
	return 0;
}

/* {system} and the like replaced by the tree's names; owned. */
static char *
replace(const char *text, const json_t *names)
{
	char *made = NULL;

	while (*text) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;
		bu_autofree char *name =
			end ? bu_xstrndup(text + 1, (size_t)(end - text - 1)) : NULL;
		const char *value = name ? bu_json_str(names, name, NULL) : NULL;

		if (value) {
			bu_text_add(&made, "", "%s", value);
			text = end + 1;
		} else
			bu_text_add(&made, "", "%c", *text++);
	}
	return made ? made : bu_xstrdup("");
}

static json_t *
named(const json_t *value, const json_t *names)
{
	const char *key;
	json_t *made, *member;
	size_t i;

	if (json_is_string(value)) {
		bu_autofree char *text = replace(json_string_value(value), names);

		return json_string(text);
	}
	if (json_is_array(value)) {
		made = json_array();
		json_array_foreach (value, i, member)
			json_array_append_new(made, named(member, names));
		return made;
	}
	if (!json_is_object(value))
		return json_deep_copy(value);
	made = json_object();
	json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
		bu_autofree char *text = replace(key, names);

		json_object_set_new(made, text, named(member, names));
	}
	return made;
}

/* RFC 7396: null removes. */
static void
merge(json_t *into, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)patch, key, value) {
		json_t *old = json_object_get(into, key);

		if (json_is_null(value))
			json_object_del(into, key);
		else if (json_is_object(value) && json_is_object(old))
			merge(old, value);
		else
			json_object_set_new(into, key, json_deep_copy(value));
	}
}

static json_t *
load_file(const char *name, struct bu_err *err)
{
	bu_autofree char *relative = bu_xasprintf("%s/%s.json", folder, name);
	bu_autofree char *path = bu_data_path(relative);

	return bu_json_load(path, err);
}

static int
check_rules(const char *name, const json_t *object, struct bu_err *err)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)object, key, value)
		if (!is_rule(key))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "tree %s: there is no rule '%s'", name, key);
	return 0;
}

static struct bu_bmc_tree *
make(const json_t *common, const json_t *vendor)
{
	const json_t *names = json_object_get(vendor, "names");
	struct bu_bmc_tree *tree = bu_xcalloc(1, sizeof(*tree));
	bu_autojson json_t *patch = named(json_object_get(vendor, "resources"), names);
	const char *uri;
	json_t *resource;

	tree->resources = named(json_object_get(common, "resources"), names);
	merge(tree->resources, patch);
	tree->rules = named(json_object_get(common, "rules"), names);
	patch = (json_decref(patch), named(json_object_get(vendor, "rules"), names));
	merge(tree->rules, patch);
	tree->factory = json_deep_copy(json_object_get(vendor, "factory"));
	tree->system = bu_xasprintf("/redfish/v1/Systems/%s",
				    bu_json_str(names, "system", "1"));
	json_object_foreach (tree->resources, uri, resource)
		json_object_set_new(resource, "@odata.id", json_string(uri));
	return tree;
}

struct bu_bmc_tree *
bu_bmc_tree_load(const char *name, struct bu_err *err)
{
	bu_autofree char *names = bu_bmc_tree_names();
	bu_autojson json_t *common = NULL, *vendor = NULL;
	struct bu_bmc_tree *tree;

	if (!bu_text_is(name, "abcdefghijklmnopqrstuvwxyz0123456789-") ||
	    strcmp(name, "common") == 0) {
		bu_err_set(err, BU_ERR_USAGE, 0, "there is no tree '%s', but %s", name,
			   names);
		return NULL;
	}
	common = load_file("common", err);
	vendor = common ? load_file(name, err) : NULL;
	if (!vendor) {
		bu_err_wrap(err, "tree %s (there are: %s)", name, names);
		return NULL;
	}
	tree = make(common, vendor);
	if (check_rules(name, tree->rules, err) == 0)
		return tree;
	bu_bmc_tree_free(tree);
	return NULL;
}

void
bu_bmc_tree_free(struct bu_bmc_tree *tree)
{
	if (!tree)
		return;
	json_decref(tree->resources);
	json_decref(tree->rules);
	json_decref(tree->factory);
	free(tree->system);
	free(tree);
}

static int
is_tree(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".json") == 0 &&
	       strcmp(entry->d_name, "common.json") != 0;
}

char *
bu_bmc_tree_names(void)
{
	bu_autofree char *path = bu_data_path(folder);
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_tree, alphasort);
	char *list = NULL;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		bu_text_add(&list, " ", "%.*s", (int)(strlen(name) - 5), name);
		free(entries[i]);
	}
	free(entries);
	return list ? list : bu_xstrdup("");
}

const char *
bu_bmc_tree_user(const struct bu_bmc_tree *tree)
{
	return bu_json_str(tree->factory, "user", "admin");
}

const char *
bu_bmc_tree_password(const struct bu_bmc_tree *tree)
{
	return bu_json_str(tree->factory, "password", "password");
}
