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

/* JSON leaves some characters as they are which YAML forbids in quotes, U+007F to
 * U+009F, or takes for the end of a line, U+2028 and U+2029. */
static void
print_quoted(const char *json, FILE *out)
{
	for (const unsigned char *at = (const unsigned char *)json; *at; at++)
		if (*at == 0x7f)
			fputs("\\x7f", out);
		else if (*at == 0xc2 && at[1] < 0xa0)
			fprintf(out, "\\x%02x", *++at);
		else if (*at == 0xe2 && at[1] == 0x80 && (at[2] | 1) == 0xa9) {
			fprintf(out, "\\u20%02x", at[2] - 0x80);
			at += 2;
		} else
			fputc(*at, out);
}

static void
print_scalar(const json_t *value, FILE *out)
{
	bu_autofree char *json = NULL;

	if (json_is_string(value) && is_plain(json_string_value(value))) {
		fputs(json_string_value(value), out);
		return;
	}
	json = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
	print_quoted(json, out);
}

/* The value of an item or a key: on its line, or below it. */
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
