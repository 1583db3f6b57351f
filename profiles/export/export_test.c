/* SPDX-License-Identifier: Apache-2.0 */
/* What is exported follows the schema; values, units and origins are right. */
#include "profiles/export/export.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "profiles/load/load.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static int
has_type(const json_t *value, const char *type)
{
	if (strcmp(type, "object") == 0)
		return json_is_object(value);
	if (strcmp(type, "array") == 0)
		return json_is_array(value);
	if (strcmp(type, "string") == 0)
		return json_is_string(value);
	if (strcmp(type, "integer") == 0)
		return json_is_integer(value);
	return strcmp(type, "number") == 0 && json_is_number(value);
}

static int
is_listed(const json_t *list, const json_t *value)
{
	const json_t *item;
	size_t i;

	json_array_foreach (list, i, item)
		if (json_equal(item, value))
			return 1;
	return 0;
}

/* The part of JSON Schema that the schema uses. */
static void
validate(const json_t *value, const json_t *schema, const char *path)
{
	const char *type = bu_json_str(schema, "type", NULL), *key;
	const json_t *members = json_object_get(schema, "properties");
	const json_t *more = json_object_get(schema, "additionalProperties");
	json_t *item;
	size_t i;

	ck_assert_msg(!type || has_type(value, type), "%s is no %s", path, type);
	if (json_object_get(schema, "enum"))
		ck_assert_msg(is_listed(json_object_get(schema, "enum"), value), "%s",
			      path);
	if (json_is_number(value) && json_object_get(schema, "minimum"))
		ck_assert_msg(json_number_value(value) >=
					      bu_json_real(schema, "minimum", 0) &&
				      json_number_value(value) <=
					      bu_json_real(schema, "maximum", 0),
			      "%s", path);
	json_array_foreach (json_object_get(schema, "required"), i, item)
		ck_assert_msg(json_object_get(value, json_string_value(item)) != NULL,
			      "%s lacks %s", path, json_string_value(item));
	json_array_foreach (value, i, item)
		validate(item, json_object_get(schema, "items"), path);
	if (!json_is_object(value))
		return;
	json_object_foreach ((json_t *)value, key, item) {
		bu_autofree char *below = bu_xasprintf("%s.%s", path, key);
		const json_t *rule = json_object_get(members, key);

		ck_assert_msg(rule || json_is_object(more), "%s is not in the schema",
			      below);
		validate(item, rule ? rule : more, below);
	}
}

static struct bu_desired *
load(struct bu_tree *tree)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);

	bu_findings_print(&findings, stderr);
	ck_assert_ptr_nonnull(desired);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	return desired;
}

START_TEST(exports_of_all_samples_follow_the_schema)
{
	bu_autojson json_t *schema = bu_desired_schema();
	DIR *dir = opendir(BU_SRCDIR "/profiles/samples");
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(dir))) {
		bu_autofree char *path =
			bu_xasprintf(BU_SRCDIR "/profiles/samples/%s", entry->d_name);
		bu_autojson json_t *value = NULL;
		struct bu_desired *desired;

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		desired = load(bu_tree_load(path, NULL));
		value = bu_desired_to_json(desired);
		validate(value, schema, entry->d_name);
		bu_desired_destroy(desired);
		count++;
	}
	closedir(dir);
	ck_assert_int_gt(count, 5);
}
END_TEST

START_TEST(values_have_their_units_and_origins)
{
	struct bu_desired *desired = load(bu_testing_tree(
		"site.ini", bu_testing_site, "racks.csv", bu_testing_racks, NULL));
	bu_autojson json_t *value = bu_desired_to_json(desired);
	const json_t *pool = json_array_get(json_object_get(value, "pool"), 0);
	const json_t *gate = json_array_get(json_object_get(value, "validation"), 0);
	const json_t *net = json_array_get(json_object_get(value, "network"), 1);
	const json_t *node = json_array_get(json_object_get(value, "node"), 1);

	ck_assert_str_eq(bu_json_str(value, "revision", ""), desired->digest);
	ck_assert_str_eq(bu_json_str(pool, "nodes", ""), "node[001-002]");
	ck_assert_str_eq(bu_json_str(pool, "image", ""), "debian12");
	ck_assert_int_eq(bu_json_int(pool, "max_unavailable", 0), 1);
	ck_assert_ptr_null(json_object_get(pool, "mig"));
	ck_assert_int_eq(bu_json_int(gate, "deadline_ms", 0), 120000);
	ck_assert_int_eq(bu_json_int(gate, "message_size_bytes", 0), 65536);
	ck_assert(bu_json_real(gate, "bw_min_percent", 0) == 80);
	ck_assert_str_eq(bu_json_str(net, "cidr", ""), "10.78.0.0/24");
	ck_assert_str_eq(bu_json_str(net, "rdma", ""), "rxe");
	ck_assert_ptr_null(json_object_get(net, "rail"));
	ck_assert_str_eq(bu_json_str(node, "name", ""), "node002");
	ck_assert_str_eq(bu_json_str(json_object_get(node, "addresses"), "fabric", ""),
			 "10.78.0.12");
	ck_assert_str_eq(bu_json_str(json_object_get(node, "origin"), "mac", ""),
			 "racks.csv:3");
	ck_assert_str_eq(bu_json_str(json_object_get(node, "origin"), "features", ""),
			 "site.ini:34");
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(ansible_gets_groups_and_addresses)
{
	struct bu_desired *desired = load(bu_testing_tree(
		"site.ini", bu_testing_site, "racks.csv", bu_testing_racks, NULL));
	bu_autojson json_t *value = bu_desired_ansible(desired);
	bu_autofree char *text = bu_json_canonical(value);

	ck_assert_str_eq(
		text,
		"{\"all\":{\"children\":{\"train\":{\"hosts\":{\"node001\":{"
		"\"ansible_host\":\"10.77.0.11\",\"bringup_hardware\":\"vm\","
		"\"bringup_image\":\"debian12\",\"bringup_zone\":\"z1\"},\"node002\":{"
		"\"ansible_host\":\"10.77.0.12\",\"bringup_hardware\":\"vm\","
		"\"bringup_image\":\"debian12\",\"bringup_zone\":\"z1\"}}}},\"vars\":{"
		"\"bringup_site\":\"lab\"}}}");
	bu_desired_destroy(desired);
}
END_TEST

BU_UNIT("export", exports_of_all_samples_follow_the_schema,
	values_have_their_units_and_origins, ansible_gets_groups_and_addresses)
