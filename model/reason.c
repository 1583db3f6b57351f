/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of reasons, and their arguments. Used by what decides; sentence.c makes
 * their sentences, reason_wire.c their JSON. Invariant: two reasons
 * with the same code and arguments are the same bytes.
 */
#include "model/reason.h"

#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "model/reason_impl.h"

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
					    "hold",  "fault", "plan",    "line"};

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

struct bu_hole
bu_hole_at(const char *brace)
{
	struct bu_hole hole = {.is_shown = brace[1] != '?',
			       .is_reason = brace[1] == '!',
			       .between = ", "};
	const char *name = brace + 1;
	size_t size, column;

	hole.is_number = *name == '#' || *name == '?';
	name += hole.is_number || hole.is_reason;
	size = strcspn(name, ":;| }");
	bu_assert(size < sizeof(hole.name));
	memcpy(hole.name, name, size);
	hole.after = strchr(name, '}') + 1;
	if (name[size] == ':') {
		column = (size_t)(hole.after - name) - size - 2;
		bu_assert(column < sizeof(hole.column));
		memcpy(hole.column, name + size + 1, column);
	}
	if (name[size] == ';')
		hole.between = "; ";
	if (name[size] == '|')
		hole.between = " or ";
	if (name[size] == ' ')
		hole.words = name + size + 1;
	return hole;
}

int
bu_hole_find(const struct bu_hole *list, int count, const char *name)
{
	int i = 0;

	while (i < count && strcmp(list[i].name, name) != 0)
		i++;
	return i;
}

struct bu_slots
bu_slots_of(enum bu_reason_code code)
{
	struct bu_slots slots = {.texts = 0};
	const char *at = infos[code].text;

	while ((at = strchr(at, '{'))) {
		struct bu_hole hole = bu_hole_at(at);
		struct bu_hole *list = hole.is_number ? slots.number : slots.text;
		int *count = hole.is_number ? &slots.numbers : &slots.texts;
		int max = hole.is_number ? BU_REASON_NUMBERS : BU_REASON_TEXTS;

		if (bu_hole_find(list, *count, hole.name) == *count) {
			bu_assert(*count < max);
			list[(*count)++] = hole;
		}
		at = hole.after;
	}
	return slots;
}

void
bu_reason_unpack(const struct bu_reason *reason, const char *ret[BU_REASON_TEXTS])
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
	memset(ret, 0, sizeof(*ret)); /* its padding is compared, too */
	ret->code = code;
	memcpy(ret->number, args->number, sizeof(ret->number));
	pack(ret, args->text);
}

void
bu_reason_set_text(struct bu_reason *reason, const char *name, const char *text)
{
	struct bu_slots slots = bu_slots_of(reason->code);
	struct bu_reason old = *reason;
	const char *texts[BU_REASON_TEXTS];
	int i = bu_hole_find(slots.text, slots.texts, name);

	if (i == slots.texts)
		return;
	bu_reason_unpack(&old, texts);
	texts[i] = text;
	pack(reason, texts);
}

void
bu_reason_set_number(struct bu_reason *reason, const char *name, int64_t number)
{
	struct bu_slots slots = bu_slots_of(reason->code);
	int i = bu_hole_find(slots.number, slots.numbers, name);

	if (i < slots.numbers)
		reason->number[i] = number;
}

const char *
bu_reason_arg(const struct bu_reason *reason, const char *name)
{
	struct bu_slots slots = bu_slots_of(reason->code);
	const char *texts[BU_REASON_TEXTS];
	int i = bu_hole_find(slots.text, slots.texts, name);

	bu_reason_unpack(reason, texts);
	return i == slots.texts ? "" : texts[i];
}
