/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is written about the table of keys: the JSON Schema of an export and the
 * reference page. Called by `bringup export --schema` and by the documentation's test.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "profiles/export/export.h"
#include "profiles/language/values.h"

static json_t *
choices_of(const char *choices)
{
	json_t *list = json_array();

	while (*choices) {
		size_t size = strcspn(choices, "|");

		json_array_append_new(list, json_stringn(choices, size));
		choices += size + (choices[size] == '|');
	}
	return list;
}

static const char *
schema_type(const struct bu_key *key)
{
	switch (key->type) {
	case BU_KEY_INT:
	case BU_KEY_SIZE:
	case BU_KEY_DURATION:
	case BU_KEY_LIMIT:
		return "integer";
	case BU_KEY_REAL:
	case BU_KEY_PERCENT:
		return "number";
	default:
		return "string";
	}
}

static json_t *
value_schema(const struct bu_key *key)
{
	json_t *value = json_pack("{s:s,s:s}", "type", schema_type(key), "description",
				  key->help);

	if (key->type == BU_KEY_CHOICE || key->type == BU_KEY_ENUM)
		json_object_set_new(value, "enum", choices_of(key->arg));
	if (strcmp(schema_type(key), "string") != 0 && key->max > 0) {
		json_object_set_new(value, "minimum", json_real(key->min));
		json_object_set_new(value, "maximum", json_real(key->max));
	}
	return value;
}

static json_t *
text_schema(const char *description)
{
	return json_pack("{s:s,s:s}", "type", "string", "description", description);
}

static json_t *
map_schema(const char *description)
{
	return json_pack("{s:s,s:s,s:{s:s}}", "type", "object", "description",
			 description, "additionalProperties", "type", "string");
}

static json_t *
names_schema(void)
{
	return json_pack("{s:s,s:{s:s}}", "type", "array", "items", "type", "string");
}

/* Members that no key has: what a pool, a validation and a node get besides. */
static void
add_more(const char *kind, json_t *members)
{
	static const char *const of_node[] = {"pool", "hardware", "cluster",
					      "validation"};

	if (strcmp(kind, "pool") == 0) {
		json_object_set_new(members, "nodes", text_schema("hostlist"));
		json_object_set_new(members, "networks", names_schema());
	}
	if (strcmp(kind, "validation") == 0)
		json_object_set_new(members, "fabric", names_schema());
	if (strcmp(kind, "node") != 0)
		return;
	for (size_t i = 0; i < BU_LEN(of_node); i++)
		json_object_set_new(members, of_node[i], text_schema("name"));
	json_object_set_new(members, "addresses", map_schema("by network"));
	json_object_set_new(members, "origin", map_schema("file:line by key"));
}

static json_t *
section_schema(const struct bu_section_kind *kind)
{
	json_t *members = json_object(), *required = json_array();
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	if (kind->named) {
		json_object_set_new(members, "name", text_schema(kind->named));
		json_array_append_new(required, json_string("name"));
	}
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *name = NULL;

		if (strcmp(keys[i].section, kind->kind) != 0 ||
		    keys[i].offset == BU_KEY_NO_FIELD)
			continue;
		name = bu_key_json_name(&keys[i]);
		json_object_set_new(members, name, value_schema(&keys[i]));
		if (bu_key_required(&keys[i]))
			json_array_append_new(required, json_string(name));
	}
	add_more(kind->kind, members);
	return json_pack("{s:s,s:s,s:o,s:o,s:b}", "type", "object", "description",
			 kind->help, "properties", members, "required", required,
			 "additionalProperties", 0);
}

json_t *
bu_desired_schema(void)
{
	json_t *members = json_pack("{s:{s:i},s:{s:s}}", "format", "const", 1,
				    "revision", "type", "string");
	json_t *required = json_pack("[s,s,s]", "format", "revision", "site");
	size_t count;
	const struct bu_section_kind *kinds = bu_schema_kinds(&count);

	for (size_t i = 0; i < count; i++) {
		json_t *section = section_schema(&kinds[i]);

		if (kinds[i].named)
			section = json_pack("{s:s,s:o}", "type", "array", "items",
					    section);
		json_object_set_new(members, kinds[i].kind, section);
	}
	return json_pack("{s:s,s:s,s:s,s:o,s:o,s:b}", "$schema",
			 "https://json-schema.org/draft/2020-12/schema", "title",
			 "bringup export", "type", "object", "properties", members,
			 "required", required, "additionalProperties", 0);
}

/* '|' would end a cell of the table. */
static void
print_cell(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '|')
			fputs(", ", out);
		else
			fputc(*text, out);
	}
}

void
bu_schema_print_reference(FILE *out)
{
	size_t kinds_count, count;
	const struct bu_section_kind *kinds = bu_schema_kinds(&kinds_count);
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < kinds_count; i++) {
		fprintf(out,
			"\n### [%s%s]\n\n%c%s.\n\n"
			"| key | default | value | what it is | change |\n"
			"|---|---|---|---|---|\n",
			kinds[i].kind, kinds[i].named ? " NAME" : "",
			kinds[i].help[0] - ('a' - 'A') * (kinds[i].help[0] >= 'a'),
			kinds[i].help + 1);
		for (size_t j = 0; j < count; j++) {
			bu_autofree char *allowed = NULL;

			if (strcmp(keys[j].section, kinds[i].kind) != 0)
				continue;
			allowed = bu_key_allowed(&keys[j]);
			fprintf(out, "| `%s` | %s | ", keys[j].key,
				keys[j].need ? keys[j].need : "");
			print_cell(allowed, out);
			fprintf(out, " | %s", keys[j].help);
			fprintf(out, " | %s |\n",
				keys[j].use == BU_KEY_REACH ? "at once"
				: keys[j].change ? bu_class_name(keys[j].change)
						 : "");
		}
	}
	fputc('\n', out);
}
