/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reasons in the log and on the wire. Called by records that have a reason, and by what
 * shows one. Invariant: a reason that was written is read back as the same bytes.
 */
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/record.h"
#include "base/text.h"
#include "model/reason_impl.h"
#include "model/sentence.h"

/* A reason among the arguments is kept as its JSON; what was cut off of it is gone. */
static json_t *
text_json(const struct bu_hole *hole, const char *text)
{
	json_t *said =
		hole->is_reason && *text == '{' ? json_loads(text, 0, NULL) : NULL;

	if (said)
		return said;
	return json_string(hole->is_reason && *text == '{' ? "" : text);
}

static json_t *
args_json(const struct bu_reason *reason)
{
	struct bu_slots slots = bu_slots_of(reason->code);
	const char *texts[BU_REASON_TEXTS];
	json_t *args = json_object();

	bu_reason_unpack(reason, texts);
	for (int i = 0; i < slots.texts; i++)
		json_object_set_new(args, slots.text[i].name,
				    text_json(&slots.text[i], texts[i]));
	for (int i = 0; i < slots.numbers; i++)
		json_object_set_new(args, slots.number[i].name,
				    json_integer(reason->number[i]));
	return args;
}

json_t *
bu_said_of(const struct bu_reason *reason)
{
	json_t *said;

	if (reason->code == BU_REASON_NONE)
		return NULL;
	said = json_object();
	json_object_set_new(said, "code",
			    json_string(bu_reason_info(reason->code)->name));
	json_object_set_new(said, "args", args_json(reason));
	return said;
}

char *
bu_said_fit(json_t *said, size_t room)
{
	char *text = bu_json_canonical(said);

	if (strlen(text) >= room) {
		free(text);
		text = bu_said_text(said);
	}
	json_decref(said);
	return text;
}

char *
bu_said_pack(json_t *said)
{
	return bu_said_fit(said, BU_REASON_TEXT_MAX / 2);
}

char *
bu_reason_pack(const struct bu_reason *reason)
{
	return reason->code ? bu_said_pack(bu_said_of(reason)) : bu_xstrdup("");
}

char *
bu_reason_text(const struct bu_reason *reason)
{
	bu_autojson json_t *said = bu_said_of(reason);

	return bu_said_text(said);
}

void
bu_reason_to_body(const struct bu_reason *reason, json_t *body)
{
	bu_autojson json_t *said = bu_said_of(reason);

	if (said)
		json_object_update(body, said);
}

struct told {
	const char *code;
	const json_t *args; /* NULL = none */
};

static const struct bu_field told_fields[] = {
	BU_FIELD(STRING, struct told, code, .need = BU_OPTIONAL, .unsaid = ""),
	BU_FIELD(JSON, struct told, args, .need = BU_OPTIONAL),
	BU_FIELD_END,
};

static int
read_args(const json_t *args, enum bu_reason_code code, struct bu_reason *ret,
	  struct bu_err *err)
{
	struct bu_slots slots = bu_slots_of(code);
	struct bu_reason_args given = {.text = {NULL}};
	const char *wrong = NULL, *wanted = "a text";
	char *said[BU_REASON_TEXTS] = {NULL};

	if (!json_is_object(args))
		return bu_err_set(err, BU_ERR_INVAL, 0, "args: expected an object");
	for (int i = 0; i < slots.texts; i++) {
		const json_t *its = json_object_get(args, slots.text[i].name);

		if (slots.text[i].is_reason && json_is_object(its))
			said[i] = bu_json_canonical(its);
		given.text[i] = said[i] ? said[i] : json_string_value(its);
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
	bu_reason_set(ret, code, &given);
	for (int i = 0; i < BU_REASON_TEXTS; i++)
		free(said[i]);
	if (wrong)
		return bu_err_set(err, BU_ERR_INVAL, 0, "args.%s: expected %s", wrong,
				  wanted);
	return 0;
}

int
bu_reason_from_body(const json_t *body, struct bu_reason *ret, struct bu_err *err)
{
	struct told told;
	enum bu_reason_code code;

	if (bu_record_from_json(told_fields, body, &told, err) != 0)
		return -1;
	memset(ret, 0, sizeof(*ret));
	code = bu_reason_from_name(told.code);
	if (*told.code && (code == BU_REASON_NONE ||
			   bu_reason_info(code)->kind == BU_REASON_KIND_LINE))
		return bu_err_set(err, BU_ERR_INVAL, 0, "code: no reason '%s'",
				  told.code);
	if (told.args)
		return read_args(told.args, code, ret, err);
	bu_reason_set(ret, code, NULL);
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
