/* SPDX-License-Identifier: Apache-2.0 */
#include "model/check.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unseen.h"

static void
fill(struct bu_checks *checks)
{
	struct bu_check *row;

	bu_checks_init(checks);
	strcpy(checks->boot_id, "5f0c6d3e-94a1-4f25-a3a5-1f9d3c6c1c11");
	checks->at_ms = 1795276435550;
	bu_checks_add(checks, "audit", "pcie-width", BU_VERDICT_PASS, "0000:17:00.0");
	row = bu_checks_add(checks, "audit", "nic-mtu", BU_VERDICT_FAIL, "eth1");
	BU_CHECK_SET(row->seen, "%d bytes", 1500);
	BU_CHECK_SET(row->value, "%d", 1500);
	BU_CHECK_SET(row->expected, "%d", 9000);
	BU_CHECK_SET(row->hint, "set the MTU");
	BU_CHECK_SET(row->text, "eth1 has MTU %d, expected %d", 1500, 9000);
	row->took_ms = 3;
}

START_TEST(reads_what_it_wrote)
{
	struct bu_checks a, b;
	bu_autojson json_t *value = NULL;
	struct bu_err err;

	fill(&a);
	value = bu_checks_to_json(&a);
	ck_assert_int_eq(bu_checks_from_json(value, &b, &err), 0);
	ck_assert_str_eq(b.boot_id, a.boot_id);
	ck_assert_int_eq(b.at_ms, a.at_ms);
	ck_assert_uint_eq(b.count, 2);
	ck_assert_int_eq(memcmp(a.list, b.list, 2 * sizeof(*a.list)), 0);
	ck_assert_str_eq(bu_check_value(&b.list[1]), "1500");
	b.list[1].value[0] = '\0';
	ck_assert_str_eq(bu_check_value(&b.list[1]), "1500 bytes");
	bu_checks_fini(&a);
	bu_checks_fini(&b);
}
END_TEST

START_TEST(what_programs_print_is_made_printable)
{
	struct bu_checks a, b;
	bu_autojson json_t *value = NULL;

	fill(&a);
	strcpy(a.list[1].text, "bad\nline \xff");
	value = bu_checks_to_json(&a);
	ck_assert_int_eq(bu_checks_from_json(value, &b, NULL), 0);
	ck_assert_str_eq(b.list[1].text, "bad line \xef\xbf\xbd");
	bu_checks_fini(&a);
	bu_checks_fini(&b);
}
END_TEST

static json_t *
again(const json_t *document)
{
	struct bu_checks checks;
	json_t *value;

	if (bu_checks_from_json(document, &checks, NULL) != 0)
		return NULL;
	value = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return value;
}

/* boot_id, and of each row the subject, what was seen and expected, text and hint. */
START_TEST(no_text_of_a_report_is_unseen)
{
	struct bu_checks checks;
	bu_autojson json_t *document = NULL;

	fill(&checks);
	document = bu_checks_to_json(&checks);
	unseen_everywhere(document, again, 1 + 5 * (int)checks.count);
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(the_worst_counts)
{
	struct bu_checks a;

	bu_checks_init(&a);
	ck_assert_int_eq(bu_checks_worst(&a), BU_VERDICT_INCONCLUSIVE);
	bu_checks_add(&a, "gpu", "x", BU_VERDICT_PASS, "");
	ck_assert_int_eq(bu_checks_worst(&a), BU_VERDICT_PASS);
	bu_checks_add(&a, "gpu", "x", BU_VERDICT_WARN, "");
	ck_assert_int_eq(bu_checks_worst(&a), BU_VERDICT_WARN);
	bu_checks_add(&a, "gpu", "x", BU_VERDICT_INCONCLUSIVE, "");
	ck_assert_int_eq(bu_checks_worst(&a), BU_VERDICT_INCONCLUSIVE);
	bu_checks_add(&a, "gpu", "x", BU_VERDICT_FAIL, "");
	ck_assert_int_eq(bu_checks_worst(&a), BU_VERDICT_FAIL);
	ck_assert_uint_eq(bu_checks_count(&a, BU_VERDICT_WARN), 1);
	bu_checks_fini(&a);
}
END_TEST

START_TEST(a_lost_row_fails)
{
	struct bu_checks a, b;
	bu_autojson json_t *value = NULL;

	bu_checks_init(&a);
	for (int i = 0; i < BU_CHECKS_MAX; i++)
		bu_checks_add(&a, "site", "site:x", BU_VERDICT_PASS, "");
	ck_assert_int_eq(bu_checks_worst(&a), BU_VERDICT_PASS);
	strcpy(bu_checks_add(&a, "site", "site:x", BU_VERDICT_PASS, "")->text, "lost");
	ck_assert_uint_eq(a.count, BU_CHECKS_MAX);
	ck_assert_int_eq(bu_checks_worst(&a), BU_VERDICT_FAIL);
	ck_assert_str_eq(a.list[BU_CHECKS_MAX - 1].id, "checks-left-out");
	ck_assert_str_eq(a.list[BU_CHECKS_MAX - 1].group, "site");
	value = bu_checks_to_json(&a);
	ck_assert_int_eq(bu_checks_from_json(value, &b, NULL), 0);
	json_array_append(json_object_get(value, "checks"),
			  json_array_get(json_object_get(value, "checks"), 0));
	ck_assert_int_eq(bu_checks_from_json(value, &a, NULL), -1);
	bu_checks_fini(&a);
	bu_checks_fini(&b);
}
END_TEST

START_TEST(nothing_is_believed)
{
	static const struct {
		const char *path, *key, *json, *text;
	} bad[] = {
		{"row", "id", "\"a b\"", "checks[1].id: is not 1 to 47 of"},
		{"row", "id", "\"\"", "checks[1].id: is not"},
		{"row", "id", "7", "checks[1].id: expected a text"},
		{"row", "group", "\"nonsense\"", "group: is not a group of checks"},
		{"row", "verdict", "\"good\"", "verdict: 'good' is unknown"},
		{"row", "took_ms", "-1", "took_ms: 0 to"},
		{"row", "seen", "null", "checks[1].seen: expected a text"},
		{"row", "value", "7", "checks[1].value: expected a text"},
		{"row", "hint", NULL, "checks[1].hint: missing"},
		{"top", "v", "2", "v: version 2; 1 is known"},
		{"top", "checks", "{}", "checks: expected a list"},
		{"top", "at_ms", "\"now\"", "at_ms: expected a whole number"},
		{"top", "boot_id", "[]", "boot_id: expected a text"},
	};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		struct bu_checks a;
		struct bu_err err = {0};
		bu_autojson json_t *value = NULL;
		json_t *target;

		fill(&a);
		value = bu_checks_to_json(&a);
		bu_checks_fini(&a);
		target = strcmp(bad[i].path, "top") == 0
				 ? value
				 : json_array_get(json_object_get(value, "checks"), 1);
		if (bad[i].json)
			json_object_set_new(
				target, bad[i].key,
				json_loads(bad[i].json, JSON_DECODE_ANY, NULL));
		else
			json_object_del(target, bad[i].key);
		ck_assert_int_eq(bu_checks_from_json(value, &a, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, bad[i].text), "%zu: %s", i, err.text);
	}
	ck_assert_int_eq(bu_checks_from_json(NULL, &(struct bu_checks){0}, NULL), -1);
}
END_TEST

BU_UNIT("check", reads_what_it_wrote, what_programs_print_is_made_printable,
	no_text_of_a_report_is_unseen, the_worst_counts, a_lost_row_fails,
	nothing_is_believed)
