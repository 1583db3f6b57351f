/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes sentences of reasons, by the templates of model/reason.h. Called by what shows
 * a reason to people, and for log lines. webui/words.js does the same with the same
 * templates, by GET /v1/meta. Invariant: whatever the JSON holds, a text comes of it.
 */
#include "model/sentence.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/text.h"
#include "model/boot_link.h"
#include "model/condition.h"
#include "model/reason_impl.h"
#include "model/state.h"

enum { DEPTH_MAX = 8 }; /* of reasons in reasons */

/* --- columns of other tables --- */

static const char *
state_help(const char *key)
{
	enum bu_state state;

	return bu_state_from_name(key, &state, NULL) == 0 ? bu_state_info(state)->help
							  : NULL;
}

static const char *
condition_words(const char *key)
{
	enum bu_condition_id id = bu_condition_from_name(key);

	return id < BU_CONDITION_COUNT ? bu_condition_info(id)->words : NULL;
}

static const char *
condition_cleared(const char *key)
{
	enum bu_condition_id id = bu_condition_from_name(key);

	return id < BU_CONDITION_COUNT ? bu_condition_info(id)->cleared : NULL;
}

static const char *
reason_ends(const char *key)
{
	return bu_reason_info(bu_reason_from_name(key))->ends;
}

const struct bu_column bu_said_columns[] = {
	{"help", state_help},
	{"words", condition_words},
	{"cleared", condition_cleared},
	{"ends", reason_ends},
	{"done", bu_boot_link_done},
	{"missing", bu_boot_link_missing},
	{NULL, NULL},
};

/* --- the sentence --- */

struct rendering {
	char *out;
	size_t size, room;
	int depth;
};

static void say(struct rendering *r, const json_t *said, const char *between);

/* A stream of the C library costs ten times the sentence. */
static void
put(struct rendering *r, const char *text, size_t size)
{
	if (r->size + size + 1 > r->room) {
		r->room = (r->size + size + 1) * 2;
		r->out = bu_xrealloc(r->out, r->room);
	}
	memcpy(r->out + r->size, text, size);
	r->size += size;
	r->out[r->size] = '\0';
}

static void
put_text(struct rendering *r, const char *text)
{
	put(r, text, strlen(text));
}

static void
put_number(struct rendering *r, json_int_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%lld", (long long)number);
	put_text(r, digits);
}

/* The key of a column: the argument, or the code of a reason. "" = neither. */
static const char *
column_of(const json_t *args, const struct bu_hole *hole)
{
	const json_t *value = json_object_get(args, hole->name);
	const char *key = json_is_object(value) ? bu_json_str(value, "code", "")
						: json_string_value(value);
	const char *text = NULL;

	for (const struct bu_column *column = bu_said_columns; column->name; column++)
		if (strcmp(column->name, hole->column) == 0 && key)
			text = column->of(key);
	return text ? text : "";
}

static void
print_hole(struct rendering *r, const json_t *args, const struct bu_hole *hole)
{
	const json_t *value = json_object_get(args, hole->name);
	size_t one;

	if (hole->column[0]) {
		put_text(r, column_of(args, hole));
		return;
	}
	if (!hole->is_number) {
		say(r, value, hole->between);
		return;
	}
	if (hole->is_shown)
		put_number(r, json_integer_value(value));
	if (!hole->words)
		return;
	one = strcspn(hole->words, "|");
	put(r, " ", 1);
	if (json_integer_value(value) == 1)
		put(r, hole->words, one);
	else
		put(r, hole->words + one + 1,
		    (size_t)(hole->after - hole->words) - one - 2);
}

static int
says_something(const json_t *args, const struct bu_hole *hole)
{
	const json_t *value = json_object_get(args, hole->name);

	if (hole->column[0])
		return *column_of(args, hole) != '\0';
	if (hole->is_number)
		return json_integer_value(value) != 0;
	if (json_is_string(value))
		return *json_string_value(value) != '\0';
	return json_is_object(value) || json_array_size(value) > 0;
}

/* Is the part that ends here told? By its {?flag}, else by any of its arguments. */
static int
is_told(const json_t *args, const char *at, const char *end)
{
	int told = 0;

	while ((at = strchr(at, '{')) && at < end) {
		struct bu_hole hole = bu_hole_at(at);

		if (hole.is_number && !hole.is_shown && !hole.words)
			return says_something(args, &hole);
		told |= says_something(args, &hole);
		at = hole.after;
	}
	return told;
}

static void
print(struct rendering *r, const char *at, const json_t *args)
{
	while (*at) {
		struct bu_hole hole;
		const char *end;
		size_t plain = strcspn(at, "[]{");

		put(r, at, plain);
		at += plain;
		if (*at == '[') {
			end = strchr(at, ']');
			at = is_told(args, at, end) ? at + 1 : end + 1;
		} else if (*at == ']') {
			at++;
		} else if (*at == '{') {
			hole = bu_hole_at(at);
			print_hole(r, args, &hole);
			at = hole.after;
		}
	}
}

/* "martians (node: n1)": of a newer bringupd. */
static void
print_unknown(struct rendering *r, const char *code, const json_t *args)
{
	const char *name, *between = " (";
	json_t *value;

	put_text(r, code);
	json_object_foreach ((json_t *)(uintptr_t)args, name, value) {
		put_text(r, between);
		put_text(r, name);
		put_text(r, ": ");
		say(r, value, ", ");
		between = ", ";
	}
	if (json_object_size(args) > 0)
		put_text(r, ")");
}

static void
say_one(struct rendering *r, const json_t *said)
{
	const char *name = bu_json_str(said, "code", "");
	const json_t *args = json_object_get(said, "args");
	enum bu_reason_code code = bu_reason_from_name(name);

	if (code == BU_REASON_NONE)
		print_unknown(r, name, args);
	else
		print(r, bu_reason_info(code)->text, args);
}

static void
say(struct rendering *r, const json_t *said, const char *between)
{
	size_t i;
	json_t *one;

	if (r->depth == DEPTH_MAX)
		return;
	r->depth++;
	if (json_is_string(said))
		put_text(r, json_string_value(said));
	else if (json_is_integer(said))
		put_number(r, json_integer_value(said));
	else if (json_is_object(said))
		say_one(r, said);
	json_array_foreach ((json_t *)(uintptr_t)said, i, one) {
		put_text(r, i ? between : "");
		say(r, one, between);
	}
	r->depth--;
}

char *
bu_said_text(const json_t *said)
{
	struct rendering r = {.depth = 0};

	put(&r, "", 0);
	say(&r, said, ", ");
	return r.out;
}

char *
bu_said_lines(const json_t *list)
{
	struct rendering r = {.depth = 0};
	size_t i;
	json_t *one;

	put(&r, "", 0);
	json_array_foreach ((json_t *)(uintptr_t)list, i, one) {
		say(&r, one, ", ");
		put(&r, "\n", 1);
	}
	return r.out;
}

char *
bu_said_condition(const char *name, const json_t *detail)
{
	const char *words = condition_words(name);
	bu_autofree char *more = bu_said_text(detail);

	return bu_xasprintf("%s%s%s", words ? words : name, *more ? ": " : "", more);
}

/* --- made --- */

static json_t *
value_of(const struct bu_hole *hole, const struct bu_arg *arg)
{
	const char *text = arg->text ? arg->text : "";
	bu_autofree char *plain = NULL;
	json_t *value;

	if (hole->is_number)
		return json_integer(arg->number);
	if (arg->said)
		return arg->said;
	value = json_string(text);
	if (value)
		return value;
	plain = bu_plain(text, 1);
	return json_string(plain);
}

json_t *
bu_said_new(enum bu_reason_code code, const struct bu_arg *args)
{
	const struct bu_reason_info *info = bu_reason_info(code);
	json_t *values = json_object();

	for (; args && args->name; args++) {
		const char *at = info->text;
		struct bu_hole hole;

		do {
			at = strchr(at, '{');
			bu_assert(at != NULL);
			hole = bu_hole_at(at);
			at = hole.after;
		} while (strcmp(hole.name, args->name) != 0);
		json_object_set_new(values, args->name, value_of(&hole, args));
	}
	return json_pack("{s:s,s:o}", "code", info->name, "args", values);
}

void
bu_said_arg(const char *brace, char ret[16])
{
	struct bu_hole hole = bu_hole_at(brace);

	memcpy(ret, hole.name, sizeof(hole.name));
}
