/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of checks as structs and as JSON; used by the agent's runner, the gate and
 * whatever shows findings. Invariant: a report that came out of bu_checks_from_json()
 * has at most BU_CHECKS_MAX rows of known groups with printable texts, whoever sent it;
 * a report that lost a row fails.
 */
#include "model/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

static const char *const groups[] = {BU_CHECK_GROUPS};
static const int64_t wall_ms_max = INT64_C(1) << 50;

/* The texts of a row: where each is and how long it may be. */
#define TEXT(name)                                                                     \
	{                                                                              \
#name, offsetof(struct bu_check, name),                                \
			sizeof(((struct bu_check *)0)->name)                           \
	}
static const struct {
	const char *name;
	size_t offset;
	size_t size;
} texts[] = {
	TEXT(subject), TEXT(seen), TEXT(expected), TEXT(hint), TEXT(text),
};

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
	for (size_t i = 0; i < BU_LEN(groups); i++)
		if (strcmp(groups[i], group) == 0)
			return 1;
	return 0;
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
	va_list args;

	va_start(args, fmt);
	vsnprintf(field, size, fmt, args);
	va_end(args);
	bu_text_clean(field);
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

/* Texts come from sysfs, firmware and other people's programs. */
static json_t *
printable(const char *text)
{
	bu_autofree char *copy = bu_xstrdup(text);

	bu_text_clean(copy);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = ' ';
	return json_string(copy);
}

static json_t *
row_to_json(const struct bu_check *row)
{
	json_t *value = json_pack("{s:s, s:s, s:s, s:I}", "id", row->id, "group",
				  row->group, "verdict", bu_verdict_name(row->verdict),
				  "took_ms", (json_int_t)row->took_ms);

	for (size_t i = 0; i < BU_LEN(texts); i++)
		json_object_set_new(value, texts[i].name,
				    printable((const char *)row + texts[i].offset));
	return value;
}

json_t *
bu_checks_to_json(const struct bu_checks *checks)
{
	json_t *list = json_array();

	for (size_t i = 0; i < checks->count; i++)
		json_array_append_new(list, row_to_json(&checks->list[i]));
	return json_pack("{s:i, s:o, s:I, s:o}", "v", 1, "boot_id",
			 printable(checks->boot_id), "at_ms", (json_int_t)checks->at_ms,
			 "checks", list);
}

static int
get_text(const json_t *object, const char *key, char *ret, size_t size,
	 struct bu_err *err)
{
	if (bu_json_copy_str(object, key, ret, size, err))
		return -1;
	for (const char *c = ret; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field '%s': holds control characters", key);
	return 0;
}

static int
get_ms(const json_t *object, const char *key, int64_t *ret, struct bu_err *err)
{
	if (bu_json_get_int(object, key, ret, err))
		return -1;
	if (*ret < 0 || *ret > wall_ms_max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': 0 to %lld is wanted", key,
				  (long long)wall_ms_max);
	return 0;
}

static int
row_from_json(const json_t *value, struct bu_check *ret, struct bu_err *err)
{
	char verdict[32];

	if (get_text(value, "id", ret->id, sizeof(ret->id), err) ||
	    get_text(value, "group", ret->group, sizeof(ret->group), err) ||
	    get_text(value, "verdict", verdict, sizeof(verdict), err) ||
	    get_ms(value, "took_ms", &ret->took_ms, err))
		return -1;
	if (!bu_check_id_is_valid(ret->id))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'id': 1 to %d of [A-Za-z0-9._:-] is wanted",
				  BU_CHECK_ID_SIZE - 1);
	if (!bu_check_group_is_valid(ret->group))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'group': no such group '%s'", ret->group);
	if (bu_verdict_from_name(verdict, &ret->verdict))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'verdict': pass, warn, fail or inconclusive");
	for (size_t i = 0; i < BU_LEN(texts); i++)
		if (get_text(value, texts[i].name, (char *)ret + texts[i].offset,
			     texts[i].size, err))
			return -1;
	return 0;
}

static int
rows_from_json(const json_t *list, struct bu_checks *checks, struct bu_err *err)
{
	size_t count = json_array_size(list);

	if (!json_is_array(list) || count > BU_CHECKS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'checks': an array of at most %d is wanted",
				  BU_CHECKS_MAX);
	checks->list = bu_xcalloc(count + 1, sizeof(*checks->list));
	checks->cap = count + 1;
	for (size_t i = 0; i < count; i++, checks->count++)
		if (row_from_json(json_array_get(list, i), &checks->list[i], err))
			return bu_err_wrap(err, "checks[%zu]", i);
	return 0;
}

int
bu_checks_from_json(const json_t *value, struct bu_checks *ret, struct bu_err *err)
{
	struct bu_checks checks;
	int64_t version;

	bu_checks_init(&checks);
	if (bu_json_get_int(value, "v", &version, err) ||
	    get_text(value, "boot_id", checks.boot_id, sizeof(checks.boot_id), err) ||
	    get_ms(value, "at_ms", &checks.at_ms, err) ||
	    rows_from_json(json_object_get(value, "checks"), &checks, err)) {
		bu_checks_fini(&checks);
		return bu_err_wrap(err, "report of checks");
	}
	if (version != 1) {
		bu_checks_fini(&checks);
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "report of checks: version %lld, 1 is wanted",
				  (long long)version);
	}
	*ret = checks;
	return 0;
}
