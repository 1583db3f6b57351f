/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of checks as structs and as JSON; used by the agent's runner, the gate and
 * whatever shows findings. Invariant: a report that came out of bu_checks_from_json()
 * has at most BU_CHECKS_MAX rows of known groups with printable texts, from any sender;
 * a report that lost a row fails.
 */
#include "model/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/record.h"
#include "base/text.h"

static const char *const groups[] = {BU_CHECK_GROUPS, NULL};

int
bu_check_id_is_valid(const char *id)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-";
	size_t size = strlen(id);

	return size > 0 && size < BU_CHECK_ID_SIZE && strspn(id, allowed) == size;
}

int
bu_check_group_is_valid(const char *group)
{
	return bu_word_find(groups, group) >= 0;
}

/* clang-format off */
#define MS .max = INT64_C(1) << 50
/* clang-format on */
static const struct bu_form id_form = {bu_check_id_is_valid,
				       "1 to 47 of [A-Za-z0-9._:-]"};
static const struct bu_form group_form = {bu_check_group_is_valid, "a group of checks"};

static const struct bu_field row_fields[] = {
	BU_FIELD(TEXT, struct bu_check, id, .form = &id_form),
	BU_FIELD(TEXT, struct bu_check, group, .form = &group_form),
	BU_FIELD(WORD, struct bu_check, verdict, .words = bu_verdict_names),
	BU_FIELD(INT, struct bu_check, took_ms, MS),
	BU_FIELD(TEXT, struct bu_check, subject),
	BU_FIELD(TEXT, struct bu_check, seen),
	BU_FIELD(TEXT, struct bu_check, value, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct bu_check, expected),
	BU_FIELD(TEXT, struct bu_check, hint),
	BU_FIELD(TEXT, struct bu_check, text),
	BU_FIELD_END,
};
const struct bu_field bu_check_said_fields[] = {
	BU_FIELD(STRING, struct bu_check_said, id),
	BU_FIELD(STRING, struct bu_check_said, group),
	BU_FIELD(WORD, struct bu_check_said, verdict, .words = bu_verdict_names,
		 .others = 1),
	BU_FIELD(STRING, struct bu_check_said, subject),
	BU_FIELD(STRING, struct bu_check_said, text),
	BU_FIELD(STRING, struct bu_check_said, hint),
	BU_FIELD_END,
};
static const struct bu_field report_fields[] = {
	BU_FIELD_V(1, 1),
	BU_FIELD(TEXT, struct bu_checks, boot_id),
	BU_FIELD(INT, struct bu_checks, at_ms, MS),
	BU_FIELD_MANY_AS("checks", LIST, struct bu_checks, list, count, BU_CHECKS_MAX,
			 row_fields),
	BU_FIELD_END,
};

char *
bu_check_said_name(const struct bu_check_said *said)
{
	return bu_xasprintf("check %s%s%s%s", said->id, *said->subject ? " (" : "",
			    said->subject, *said->subject ? ")" : "");
}

void
bu_checks_init(struct bu_checks *checks)
{
	memset(checks, 0, sizeof(*checks));
}

void
bu_checks_fini(struct bu_checks *checks)
{
	free(checks->list);
	memset(checks, 0, sizeof(*checks));
}

void
bu_check_set(char *field, size_t size, const char *fmt, ...)
{
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	bu_text_copy(field, size, text);
}

static void
row_init(struct bu_check *row, const char *group, const char *id,
	 enum bu_verdict verdict, const char *subject)
{
	bu_assert(bu_check_group_is_valid(group) && bu_check_id_is_valid(id));
	memset(row, 0, sizeof(*row));
	BU_CHECK_SET(row->group, "%s", group);
	BU_CHECK_SET(row->id, "%s", id);
	BU_CHECK_SET(row->subject, "%s", subject);
	row->verdict = verdict;
}

struct bu_check *
bu_checks_add(struct bu_checks *checks, const char *group, const char *id,
	      enum bu_verdict verdict, const char *subject)
{
	struct bu_check *row = &checks->spare;

	if (checks->count == BU_CHECKS_MAX) {
		struct bu_check *last = &checks->list[BU_CHECKS_MAX - 1];

		row_init(last, group, "checks-left-out", BU_VERDICT_FAIL, "");
		BU_CHECK_SET(last->text, "more than %d checks: the rest is left out",
			     BU_CHECKS_MAX);
		BU_CHECK_SET(last->hint, "let the site's checks report fewer rows");
	} else {
		checks->list = bu_xgrow(checks->list, &checks->cap, checks->count + 1,
					sizeof(*checks->list));
		row = &checks->list[checks->count++];
	}
	row_init(row, group, id, verdict, subject);
	return row;
}

const char *
bu_check_value(const struct bu_check *row)
{
	return row->value[0] ? row->value : row->seen;
}

size_t
bu_checks_count(const struct bu_checks *checks, enum bu_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < checks->count; i++)
		count += checks->list[i].verdict == verdict;
	return count;
}

enum bu_verdict
bu_checks_worst(const struct bu_checks *checks)
{
	static const enum bu_verdict order[] = {
		BU_VERDICT_FAIL,
		BU_VERDICT_INCONCLUSIVE,
		BU_VERDICT_WARN,
		BU_VERDICT_PASS,
	};

	for (size_t i = 0; i < BU_LEN(order); i++)
		if (bu_checks_count(checks, order[i]) > 0)
			return order[i];
	return BU_VERDICT_INCONCLUSIVE;
}

json_t *
bu_checks_to_json(const struct bu_checks *checks)
{
	return bu_record_to_json(report_fields, checks);
}

int
bu_checks_from_json(const json_t *value, struct bu_checks *ret, struct bu_err *err)
{
	struct bu_checks checks;

	bu_checks_init(&checks);
	if (bu_record_from_json(report_fields, value, &checks, err))
		return bu_err_wrap(err, "report of checks");
	checks.cap = checks.count;
	*ret = checks;
	return 0;
}
