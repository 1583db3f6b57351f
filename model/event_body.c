/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events' bodies by their tables. Used by what journals and by the replay.
 * Invariant: a row that lacks what is always written is damaged, and is not read.
 */
#include "model/event_body.h"

const char *const bu_certificate_kinds[] = {"boot", "full", NULL};

/* clang-format off */
#define ROW(its_key, its_kind, of, field, ...)                                         \
	BU_FIELD_AS(its_key, its_kind, struct bu_body_##of, field, __VA_ARGS__),
#define TEXT(of, field) TEXT_AS(of, field, #field)
#define TEXT_AS(of, field, key)                                                        \
	ROW(key, STRING, of, field, .unsaid = "")
#define INT(of, field) ROW(#field, INT, of, field, BU_ANY)
#define REAL(of, field) ROW(#field, REAL, of, field, BU_ANY)
#define FLAG(of, field) ROW(#field, FLAG, of, field)
#define WORD(of, field, names) WORD_OR(of, field, names, 0)
#define WORD_OR(of, field, names, value)                                               \
	ROW(#field, WORD, of, field, .words = names, .otherwise = value, .others = 1)
#define REASON(of, field)                                                              \
	ROW(#field, PARTS, of, field, .parts = &bu_reason_parts)
#define JSON(of, field) ROW(#field, JSON, of, field)
#define IF_TEXT(of, field) ROW(#field, STRING, of, field, .need = BU_SPARSE)
#define IF_INT(of, field)                                                              \
	ROW(#field, INT, of, field, .need = BU_SPARSE, .otherwise = BU_UNSAID_INT,     \
	    BU_ANY)
#define IF_MORE(of, field) ROW(#field, INT, of, field, .need = BU_SPARSE, BU_ANY)
#define IF_FLAG(of, field)                                                             \
	ROW(#field, FLAG, of, field, .need = BU_SPARSE, .otherwise = BU_UNSAID)
#define IF_TRUE(of, field) ROW(#field, FLAG, of, field, .need = BU_SPARSE)
#define IF_JSON(of, field) ROW(#field, JSON, of, field, .need = BU_SPARSE)
#define IF_PART(of, field, table)                                                      \
	ROW(#field, RECORD, of, field, .need = BU_SPARSE, .fields = table##_fields)
#define IF_MANY(of, field, table)                                                      \
	BU_FIELD_MANY(LIST, struct bu_body_##of, field, BU_BODY_MANY, table##_fields,  \
		      .need = BU_SPARSE),
/* clang-format on */

#define FIELD(how, ...) how(__VA_ARGS__)
#define B(body, ...)                                                                   \
	static const struct bu_field body##_fields[] = {__VA_ARGS__ BU_FIELD_END};
BU_BODY_PARTS(B, FIELD)
#undef B
#define B(event, body, ...)                                                            \
	static const struct bu_field body##_fields[] = {__VA_ARGS__ BU_FIELD_END};
BU_BODIES(B, FIELD)
#undef B

const struct bu_field *
bu_body_fields(enum bu_event_kind kind)
{
	static const struct bu_field *const tables[BU_EVENT_COUNT] = {
#define B(event, body, ...) [BU_EVENT_##event] = body##_fields,
		BU_BODIES(B, FIELD)
#undef B
	};

	return tables[kind];
}

void
bu_event_make(struct bu_event *ret, enum bu_event_kind kind, const char *node,
	      const union bu_body *body)
{
	bu_event_init(ret, kind, node, bu_record_to_json(bu_body_fields(kind), body));
}

int
bu_event_read(const struct bu_event *event, union bu_body *ret, struct bu_err *err)
{
	return bu_record_from_json(bu_body_fields(event->kind), event->body, ret, err);
}
