/* SPDX-License-Identifier: Apache-2.0 */
/* The table of conditions, and their one JSON shape. */
#include "model/condition.h"

#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "model/shown_node.h"

static const struct bu_condition_info infos[] = {
#define X(id, name, of, away, set, cleared, words)                                     \
	{name, BU_CONDITION_OF_##of, away, set, cleared, words},
	BU_CONDITIONS(X)
#undef X
};

const struct bu_condition_info *
bu_condition_info(enum bu_condition_id id)
{
	bu_assert(id < BU_CONDITION_COUNT);
	return &infos[id];
}

enum bu_condition_id
bu_condition_from_name(const char *name)
{
	int id = 0;

	while (id < BU_CONDITION_COUNT && strcmp(infos[id].name, name) != 0)
		id++;
	return (enum bu_condition_id)id;
}

void
bu_condition_set(struct bu_condition *condition, int on, int64_t time_ms,
		 json_t *detail)
{
	json_t *old = condition->detail;
	const char *text = json_string_value(detail);

	if (on && !condition->on)
		condition->since_ms = time_ms;
	condition->on = on;
	if (!on || (text && !*text))
		json_decref(bu_steal(&detail));
	condition->detail = detail;
	json_decref(old);
}

int
bu_condition_same(const struct bu_condition *a, const struct bu_condition *b)
{
	return a->on == b->on &&
	       (!a->on || a->detail == b->detail || json_equal(a->detail, b->detail));
}

const char *
bu_conditions_first(const struct bu_condition conditions[BU_CONDITION_COUNT])
{
	for (int id = 0; id < BU_CONDITION_COUNT; id++)
		if (conditions[id].on && infos[id].away)
			return infos[id].name;
	return NULL;
}

json_t *
bu_conditions_to_json(const struct bu_condition conditions[BU_CONDITION_COUNT])
{
	json_t *list = json_array();

	for (int id = 0; id < BU_CONDITION_COUNT; id++) {
		if (!conditions[id].on)
			continue;
		json_array_append_new(
			list, bu_record_to_json(
				      bu_shown_condition_fields,
				      &(struct bu_shown_condition){
					      infos[id].name, conditions[id].since_ms,
					      conditions[id].detail, infos[id].away}));
	}
	return list;
}
