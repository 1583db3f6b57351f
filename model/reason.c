/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of reasons, and the one place where their sentences are made. Used by
 * what decides, by the log, and by what shows a reason. Invariant: two reasons
 * with the same code and arguments are the same bytes.
 */
#include "model/reason.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/record.h"
#include "base/text.h"

static const struct bu_reason_info infos[] = {{"", BU_REASON_KIND_CAUSE, 0, 0, "", ""},
#define X(id, name, kind, stops, again_s, ends, text)                                  \
	{name, BU_REASON_KIND_##kind, stops, again_s, ends, text},
					      BU_REASONS(X)
#undef X
};

const struct bu_reason_info *
bu_reason_info(enum bu_reason_code code)
{
	bu_assert(code < BU_REASON_COUNT);
	return &infos[code];
}

const char *
bu_reason_kind_name(enum bu_reason_kind kind)
{
	static const char *const names[] = {"cause", "wait",  "trouble", "refusal",
					    "hold",  "fault", "plan"};

	return names[kind];
}

enum bu_reason_code
bu_reason_from_name(const char *name)
{
	for (int code = 1; code < BU_REASON_COUNT; code++)
		if (strcmp(infos[code].name, name) == 0)
			return (enum bu_reason_code)code;
	return BU_REASON_NONE;
}

int
bu_reason_is(const struct bu_reason *reason, enum bu_reason_kind kind)
{
	return reason->code != BU_REASON_NONE && infos[reason->code].kind == kind;
}

int
bu_reason_same(const struct bu_reason *a, const struct bu_reason *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* --- the arguments of a sentence --- */

/* {name}, {#name}, {#name one|many} or {?name} */
struct hole {
	char name[16];
	int is_number, is_shown;
	const char *words; /* "one|many}"; NULL = none */
	const char *after;
};

static struct hole
hole_at(const char *brace)
{
	struct hole hole = {.is_shown = brace[1] != '?'};
	const char *name = brace + 1;
	size_t size;

	hole.is_number = *name == '#' || *name == '?';
	name += hole.is_number;
	size = strcspn(name, " }");
	bu_assert(size < sizeof(hole.name));
	memcpy(hole.name, name, size);
	if (name[size] == ' ')
		hole.words = name + size + 1;
	hole.after = strchr(name, '}') + 1;
	return hole;
}

/* All arguments of a sentence in the order of their first places. */
struct slots {
	struct hole text[BU_REASON_TEXTS], number[BU_REASON_NUMBERS];
	int texts, numbers;
};

static int
find(const struct hole *list, int count, const char *name)
{
	int i = 0;

	while (i < count && strcmp(list[i].name, name) != 0)
		i++;
	return i;
}

static struct slots
slots_of(enum bu_reason_code code)
{
	struct slots slots = {.texts = 0};
	const char *at = infos[code].text;

	while ((at = strchr(at, '{'))) {
		struct hole hole = hole_at(at);
		struct hole *list = hole.is_number ? slots.number : slots.text;
		int *count = hole.is_number ? &slots.numbers : &slots.texts;
		int max = hole.is_number ? BU_REASON_NUMBERS : BU_REASON_TEXTS;

		if (find(list, *count, hole.name) == *count) {
			bu_assert(*count < max);
			list[(*count)++] = hole;
		}
		at = hole.after;
	}
	return slots;
}

static void
unpack(const struct bu_reason *reason, const char *ret[BU_REASON_TEXTS])
{
	const char *at = reason->text, *last = at + sizeof(reason->text) - 1;

	for (int i = 0; i < BU_REASON_TEXTS; i++) {
		ret[i] = at;
		at += strlen(at);
		at += at < last;
	}
}

static void
pack(struct bu_reason *ret, const char *const texts[BU_REASON_TEXTS])
{
	char *at = ret->text, *end = at + sizeof(ret->text);

	memset(ret->text, 0, sizeof(ret->text));
	/* Of each that follows the NUL has its place. */
	for (int i = 0; i < BU_REASON_TEXTS; i++) {
		size_t room = (size_t)(end - at) - (size_t)(BU_REASON_TEXTS - 1 - i);
		size_t size;

		bu_text_copy(at, room, texts[i] ? texts[i] : "");
		size = strlen(at);
		memset(at + size, 0, room - size);
		at += size + 1;
	}
}

void
bu_reason_set(struct bu_reason *ret, enum bu_reason_code code,
	      const struct bu_reason_args *args)
{
	static const struct bu_reason_args none;

	bu_assert(code < BU_REASON_COUNT);
	args = args ? args : &none;
	ret->code = code;
	ret->said = 0;
	memcpy(ret->number, args->number, sizeof(ret->number));
	pack(ret, args->text);
}

void
bu_reason_set_text(struct bu_reason *reason, const char *name, const char *text)
{
	struct slots slots = slots_of(reason->code);
	struct bu_reason old = *reason;
	const char *texts[BU_REASON_TEXTS];
	int i = find(slots.text, slots.texts, name);

	if (reason->said || i == slots.texts)
		return;
	unpack(&old, texts);
	texts[i] = text;
	pack(reason, texts);
}

void
bu_reason_set_number(struct bu_reason *reason, const char *name, int64_t number)
{
	struct slots slots = slots_of(reason->code);
	int i = find(slots.number, slots.numbers, name);

	if (!reason->said && i < slots.numbers)
		reason->number[i] = number;
}

const char *
bu_reason_arg(const struct bu_reason *reason, const char *name)
{
	struct slots slots = slots_of(reason->code);
	const char *texts[BU_REASON_TEXTS];
	int i = find(slots.text, slots.texts, name);

	unpack(reason, texts);
	return reason->said || i == slots.texts ? "" : texts[i];
}

/* --- the sentence --- */

struct rendering {
	char *out;
	size_t size, room;
	const struct bu_reason *reason;
	struct slots slots;
	const char *texts[BU_REASON_TEXTS];
};

/* A stream of the C library costs ten times the sentence: a status has one for each
 * node and order. */
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

static const char *
text_of(const struct rendering *r, const struct hole *hole)
{
	return r->texts[find(r->slots.text, r->slots.texts, hole->name)];
}

static int64_t
number_of(const struct rendering *r, const struct hole *hole)
{
	return r->reason->number[find(r->slots.number, r->slots.numbers, hole->name)];
}

static void
print_hole(struct rendering *r, const struct hole *hole)
{
	int64_t number;
	char digits[24];
	size_t one;

	if (!hole->is_number) {
		put(r, text_of(r, hole), strlen(text_of(r, hole)));
		return;
	}
	number = number_of(r, hole);
	if (hole->is_shown) {
		snprintf(digits, sizeof(digits), "%lld", (long long)number);
		put(r, digits, strlen(digits));
	}
	if (!hole->words)
		return;
	one = strcspn(hole->words, "|");
	put(r, " ", 1);
	if (number == 1)
		put(r, hole->words, one);
	else
		put(r, hole->words + one + 1,
		    (size_t)(hole->after - hole->words) - one - 2);
}

/* Does the part that ends here have an argument that says something? */
static int
is_told(const struct rendering *r, const char *at, const char *end)
{
	while ((at = strchr(at, '{')) && at < end) {
		struct hole hole = hole_at(at);

		if (hole.is_number ? number_of(r, &hole) != 0 : *text_of(r, &hole))
			return 1;
		at = hole.after;
	}
	return 0;
}

static void
print(struct rendering *r)
{
	const char *at = infos[r->reason->code].text;
	size_t plain;

	while (*at) {
		struct hole hole;
		const char *end;

		switch (*at) {
		case '[':
			end = strchr(at, ']');
			at = is_told(r, at, end) ? at + 1 : end + 1;
			break;
		case ']':
			at++;
			break;
		case '{':
			hole = hole_at(at);
			print_hole(r, &hole);
			at = hole.after;
			break;
		default:
			plain = strcspn(at, "[]{");
			put(r, at, plain);
			at += plain;
		}
	}
}

char *
bu_reason_text(const struct bu_reason *reason)
{
	struct rendering r = {.reason = reason};

	if (reason->said)
		return bu_xstrdup(reason->text);
	r.slots = slots_of(reason->code);
	unpack(reason, r.texts);
	put(&r, "", 0);
	print(&r);
	return r.out;
}

/* --- in the log and on the wire --- */

static json_t *
args_json(const struct bu_reason *reason)
{
	struct slots slots = slots_of(reason->code);
	const char *texts[BU_REASON_TEXTS];
	json_t *args = json_object();

	unpack(reason, texts);
	for (int i = 0; i < slots.texts; i++)
		json_object_set_new(args, slots.text[i].name, json_string(texts[i]));
	for (int i = 0; i < slots.numbers; i++)
		json_object_set_new(args, slots.number[i].name,
				    json_integer(reason->number[i]));
	return args;
}

void
bu_reason_to_body(const struct bu_reason *reason, json_t *body)
{
	bu_autofree char *text = bu_reason_text(reason);

	json_object_set_new(body, "reason", json_string(text));
	if (reason->code == BU_REASON_NONE)
		return;
	json_object_set_new(body, "code", json_string(infos[reason->code].name));
	if (!reason->said)
		json_object_set_new(body, "args", args_json(reason));
}

/* Its words and its arguments; args NULL = it has none. */
struct told {
	const char *words, *code;
	const json_t *args;
};

static const struct bu_field told_fields[] = {
	BU_FIELD_AS("reason", STRING, struct told, words, .need = BU_OPTIONAL,
		    .unsaid = ""),
	BU_FIELD(STRING, struct told, code, .need = BU_OPTIONAL, .unsaid = ""),
	BU_FIELD(JSON, struct told, args, .need = BU_OPTIONAL),
	BU_FIELD_END,
};

static int
read_args(const json_t *args, enum bu_reason_code code, struct bu_reason *ret,
	  struct bu_err *err)
{
	struct slots slots = slots_of(code);
	struct bu_reason_args given = {.text = {NULL}};
	const char *wrong = NULL, *wanted = "a text";

	if (!json_is_object(args))
		return bu_err_set(err, BU_ERR_INVAL, 0, "args: expected an object");
	for (int i = 0; i < slots.texts; i++) {
		const json_t *its = json_object_get(args, slots.text[i].name);

		given.text[i] = json_string_value(its);
		if (its && !given.text[i])
			wrong = slots.text[i].name;
	}
	for (int i = 0; i < slots.numbers && !wrong; i++) {
		const json_t *its = json_object_get(args, slots.number[i].name);

		given.number[i] = json_integer_value(its);
		if (its && !json_is_integer(its)) {
			wrong = slots.number[i].name;
			wanted = "a whole number";
		}
	}
	if (wrong)
		return bu_err_set(err, BU_ERR_INVAL, 0, "args.%s: expected %s", wrong,
				  wanted);
	bu_reason_set(ret, code, &given);
	return 0;
}

int
bu_reason_from_body(const json_t *body, struct bu_reason *ret, struct bu_err *err)
{
	struct told told;
	enum bu_reason_code code;

	if (bu_record_from_json(told_fields, body, &told, err) != 0)
		return -1;
	code = bu_reason_from_name(told.code);
	if (code != BU_REASON_NONE && told.args)
		return read_args(told.args, code, ret, err);
	bu_reason_set(ret,
		      code          ? code
		      : *told.words ? BU_REASON_OTHER
				    : BU_REASON_NONE,
		      &(struct bu_reason_args){.text = {told.words}});
	ret->said = ret->code != BU_REASON_NONE;
	return 0;
}

static void
write_parts(const void *member, json_t *object)
{
	bu_reason_to_body(member, object);
}

static int
read_parts(const json_t *object, void *ret_member, struct bu_err *err)
{
	return bu_reason_from_body(object, ret_member, err);
}

const struct bu_parts bu_reason_parts = {write_parts, read_parts};
