/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values as YAML in block style, for -o yaml. Called by output.c. Invariant: a
 * text that YAML might read as anything else is in quotes, which JSON's are.
 */
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "cli/render/output.h"

static void print_value(const json_t *value, int indent, FILE *out);

/* Letters first; no word that some version of YAML takes for a boolean or null. */
static int
is_plain(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char *const taken[] = {"y",     "n",  "yes", "no",  "true",
					    "false", "on", "off", "null"};
	size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
				   "Z0123456789_./+-");

	for (size_t i = 0; i < BU_LEN(taken); i++)
		if (strcasecmp(text, taken[i]) == 0)
			return 0;
	return *text && strchr(letters, *text) && text[size] == '\0';
}

static void
print_scalar(const json_t *value, FILE *out)
{
	if (json_is_string(value) && is_plain(json_string_value(value)))
		fputs(json_string_value(value), out);
	else
		json_dumpf(value, out, JSON_ENCODE_ANY | JSON_COMPACT);
}

/* What an item or a key begins: on its line, or below it. */
static void
print_below(const json_t *value, int indent, FILE *out)
{
	int is_block = (json_is_object(value) && json_object_size(value)) ||
		       (json_is_array(value) && json_array_size(value));

	if (is_block) {
		fputc('\n', out);
		print_value(value, indent, out);
		return;
	}
	fputc(' ', out);
	print_scalar(value, out);
	fputc('\n', out);
}

static void
print_value(const json_t *value, int indent, FILE *out)
{
	const char *key;
	json_t *member;
	size_t i;

	json_object_foreach ((json_t *)(uintptr_t)value, key, member) {
		bu_autojson json_t *name = json_string(key);

		fprintf(out, "%*s", indent, "");
		print_scalar(name, out);
		fputc(':', out);
		print_below(member, indent + 2, out);
	}
	json_array_foreach (value, i, member) {
		fprintf(out, "%*s-", indent, "");
		print_below(member, indent + 2, out);
	}
}

void
bu_out_yaml(const json_t *value, FILE *out)
{
	if (json_object_size(value) || json_array_size(value)) {
		print_value(value, 0, out);
		return;
	}
	print_scalar(value, out);
	fputc('\n', out);
}
