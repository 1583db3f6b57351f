/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the log that say what a test is about: the rest of their fields is nothing,
 * or the first of its kind. A hold is a person's, but bringup's own. */
#ifndef BU_TESTS_SUPPORT_ROW_H
#define BU_TESTS_SUPPORT_ROW_H

#include <jansson.h>
#include <string.h>

#include "base/json.h"
#include "model/check.h"
#include "model/event_body.h"

static inline json_t *
row_nothing(const struct bu_field *field)
{
	static const char *const ones[] = {"attempt", "nodes", "test", NULL};
	static const char *const lists[] = {"grants", "senders", "rails",
					    "rows",   "facts",   NULL};

	if (field->kind == BU_FIELD_INT)
		return json_integer(bu_word_find(ones, field->key) >= 0);
	if (field->kind == BU_FIELD_REAL)
		return json_real(0);
	if (field->kind == BU_FIELD_FLAG)
		return json_false();
	if (field->kind == BU_FIELD_JSON)
		return bu_word_find(lists, field->key) >= 0 ? json_array()
							    : json_object();
	return json_string(field->kind == BU_FIELD_WORD ? field->words[field->otherwise]
							: "");
}

static inline void
row_fill(const struct bu_field *fields, json_t *body)
{
	for (const struct bu_field *field = fields; field->key; field++) {
		json_t *its = json_object_get(body, field->key), *one;
		size_t i;

		if (!its && field->need == BU_REQUIRED)
			json_object_set_new(body, field->key, row_nothing(field));
		if (field->kind == BU_FIELD_RECORD && json_is_object(its))
			row_fill(field->fields, its);
		if (field->kind != BU_FIELD_LIST)
			continue;
		json_array_foreach (its, i, one)
			row_fill(field->fields, one);
	}
}

/* A join that was done says where to, which other steps do not heed; a report has whole
 * rows. */
static inline void
row_parts(enum bu_event_kind kind, const char *node, json_t *body)
{
	json_t *row;
	size_t i;

	if (kind == BU_EVENT_OUTCOME && !json_object_get(body, "joined") &&
	    strcmp(bu_json_str(body, "result", ""), "done") == 0)
		json_object_set_new(body, "joined",
				    json_pack("{s:s,s:s,s:s,s:s}", "cluster", "hpc",
					      "driver", "slurm", "handle",
					      "/etc/slurm/slurm.conf", "node", node));
	if (kind == BU_EVENT_CHECKS || kind == BU_EVENT_SOAK)
		json_array_foreach (json_object_get(body, "rows"), i, row)
			row_fill(bu_check_said_fields, row);
}

/* Tests give a reason as its words: {'reason':'late'} is a reason of code `other`. */
static inline void
row_reason(json_t *body)
{
	bu_autojson json_t *words = json_incref(json_object_get(body, "reason"));

	if (!json_is_string(words))
		return;
	json_object_del(body, "reason");
	if (!*json_string_value(words) || json_object_get(body, "code"))
		return;
	json_object_set_new(body, "code", json_string("other"));
	json_object_set_new(body, "args", json_pack("{s:O}", "words", words));
}

/* body: changed, and returned. */
static inline json_t *
row_whole(enum bu_event_kind kind, const char *node, json_t *body)
{
	const char *owner = bu_json_str(body, "owner", "");

	if (kind == BU_EVENT_HELD && !json_object_get(body, "kind"))
		json_object_set_new(body, "kind",
				    json_string(strcmp(owner, "bringup") == 0
							? "bringup"
							: "person"));
	row_parts(kind, node, body);
	if (kind == BU_EVENT_HELD || kind == BU_EVENT_STATE ||
	    kind == BU_EVENT_ROLLOUT) {
		row_reason(body);
		row_reason(json_object_get(body, "next"));
	}
	row_fill(bu_body_fields(kind), body);
	return body;
}

/* As bu_event_init(). */
static inline void
row_init(struct bu_event *ret, enum bu_event_kind kind, const char *node, json_t *body)
{
	bu_event_init(ret, kind, node, row_whole(kind, node, body));
}

#endif
