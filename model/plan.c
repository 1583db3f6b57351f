/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of plan.h, and what they cannot say. */
#include "model/plan.h"

#include "base/err.h"
#include "model/class.h"

enum { MANY = 1000000 };

/* clang-format off */
#define RULE_WORD(code, word) word,
const char *const bu_plan_rules[] = {BU_PLAN_RULES(RULE_WORD) NULL};
const struct bu_field bu_plan_change_fields[] =
	BU_ROW_TABLE(BU_PLAN_CHANGE_ROWS, struct bu_plan_change);
static const struct bu_field disk_fields[] =
	BU_ROW_TABLE(BU_PLAN_DISK_ROWS, struct bu_plan_lost);
static const struct bu_field refusal_fields[] =
	BU_ROW_TABLE(BU_PLAN_REFUSAL_ROWS, struct bu_plan_refusal);
static const struct bu_field quarantined_fields[] =
	BU_ROW_TABLE(BU_PLAN_QUARANTINED_ROWS, struct bu_plan_quarantined);
const struct bu_field bu_plan_drift_fields[] =
	BU_ROW_TABLE(BU_PLAN_DRIFT_ROWS, struct bu_plan_drift);
const struct bu_field bu_plan_reach_fields[] =
	BU_ROW_TABLE(BU_PLAN_REACH_ROWS, struct bu_plan_reach);
const struct bu_field bu_plan_pool_fields[] =
	BU_ROW_TABLE(BU_PLAN_POOL_ROWS, struct bu_plan_pool);
const struct bu_field bu_plan_step_fields[] = {
	BU_PLAN_STEP_ROWS(BU_ROW, struct bu_plan_step)
	BU_FIELD_MANY(LIST, struct bu_plan_step, changes, MANY, bu_plan_change_fields),
	BU_PLAN_STEP_MORE_ROWS(BU_ROW, struct bu_plan_step)
	BU_FIELD(RECORD, struct bu_plan_step, disk, .fields = disk_fields,
		 .need = BU_SPARSE),
	BU_FIELD(RECORD, struct bu_plan_step, mirror, .fields = disk_fields,
		 .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_plan_step, scratch, MANY, disk_fields,
		      .need = BU_SPARSE),
	BU_FIELD_END,
};
static const struct bu_field text_field[] = {
	BU_FIELD_ONE(STRING, sizeof(const char *)),
};
static const struct bu_field under_way_fields[] = {
	BU_PLAN_UNDER_WAY_ROWS(BU_ROW, struct bu_plan_under_way)
	BU_FIELD_MANY(ARRAY, struct bu_plan_under_way, reach, MANY, text_field),
	BU_FIELD_MANY(LIST, struct bu_plan_under_way, content, MANY,
		      bu_plan_change_fields),
	BU_FIELD_END,
};
const struct bu_field bu_plan_fields[] = {
	BU_FIELD_V(2, 2),
	BU_FIELD(STRING, struct bu_plan, revision),
	BU_FIELD(STRING, struct bu_plan, base),
	BU_FIELD(STRING, struct bu_plan, commit),
	BU_FIELD(STRING, struct bu_plan, limit),
	BU_FIELD(STRING, struct bu_plan, restart, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD_MANY(LIST, struct bu_plan, steps, MANY, bu_plan_step_fields),
	BU_FIELD_MANY(LIST, struct bu_plan, refused, MANY, refusal_fields),
	BU_FIELD_MANY(LIST, struct bu_plan, quarantined, MANY, quarantined_fields,
		      .need = BU_SPARSE),
	BU_FIELD_MANY(ARRAY, struct bu_plan, left, MANY, text_field),
	BU_FIELD_MANY(ARRAY, struct bu_plan, adopts, MANY, text_field,
		      .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_plan, pools),
	BU_FIELD(JSON, struct bu_plan, renames, .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_plan, waiting, .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_plan, warnings),
	BU_FIELD_MANY(LIST, struct bu_plan, drift, MANY, bu_plan_drift_fields,
		      .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_plan, reach, MANY, bu_plan_reach_fields,
		      .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_plan, under_way, MANY, under_way_fields,
		      .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_plan, observed),
	BU_FIELD(INT, struct bu_plan, unchanged),
	BU_FIELD(INT, struct bu_plan, left_out),
	BU_FIELD_END,
};
/* clang-format on */

static int
check(const struct bu_plan *plan, struct bu_err *err)
{
	enum bu_class class;
	const char *from;
	json_t *to;

	for (size_t i = 0; i < plan->steps_count; i++)
		if (bu_class_read(plan->steps[i].class, &class, err) != 0)
			return bu_err_wrap(err, "steps[%zu]", i);
	json_object_foreach ((json_t *)plan->renames, from, to)
		if (!json_is_string(to))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "renames.%s: expected a text", from);
	return 0;
}

int
bu_plan_read(const json_t *value, struct bu_plan *ret, struct bu_err *err)
{
	if (bu_record_from_json(bu_plan_fields, value, ret, err) != 0)
		return -1;
	if (check(ret, err) == 0)
		return 0;
	bu_record_fini(bu_plan_fields, ret);
	return -1;
}
