/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of failed checks, and of many of them. */
#include "base/json.h"
#include "provisioner/gate/certify/certify.h"
#include "tests/support/unit.h"

static json_t *
row(const char *id, const char *verdict, const char *hint)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "id", id, "group", "", "verdict",
			 verdict, "subject", "eth1", "text", "is wrong", "hint", hint);
}

START_TEST(three_are_named_and_the_others_counted)
{
	static const char *const wants[] = {
		"",
		"check a (eth1): is wrong; swap a",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong; "
		"check c (eth1): is wrong; swap c",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong; "
		"check c (eth1): is wrong; swap c; and 1 more",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong; "
		"check c (eth1): is wrong; swap c; and 2 more",
	};
	static const char *const ids[] = {"a", "b", "c", "d", "e"};
	static const char *const hints[] = {"swap a", "", "swap c", "swap d", ""};
	bu_autojson json_t *rows = json_pack("[o]", row("w", "warn", "look"));

	for (size_t i = 0; i < BU_LEN(wants); i++) {
		const char *hint = NULL;
		bu_autofree char *text = bu_report_words(rows, &hint);

		ck_assert_str_eq(text, wants[i]);
		ck_assert_str_eq(hint, i ? "swap a" : "");
		if (i < BU_LEN(ids))
			json_array_append_new(rows, row(ids[i], "fail", hints[i]));
		json_array_append_new(rows, row("p", "pass", ""));
	}
}
END_TEST

/* Of a slice counts what was soaked, or its length, and nothing when it ended badly. */
START_TEST(a_slice_counts_when_it_ended_well)
{
	static const struct {
		enum bu_verdict verdict;
		const char *soaked; /* seconds; NULL: no such row */
		int64_t slice_ms, ms;
	} rows[] = {
		{BU_VERDICT_PASS, NULL, 5000, 5000},
		{BU_VERDICT_PASS, "4 s", 5000, 4000},
		{BU_VERDICT_WARN, "4 s", 5000, 4000},
		{BU_VERDICT_FAIL, "4 s", 5000, 0},
		{BU_VERDICT_FAIL, NULL, 5000, 0},
		{BU_VERDICT_INCONCLUSIVE, NULL, 5000, 0},
		{BU_VERDICT_FAIL, "4 s", BU_UNSAID_INT, -1},
		{BU_VERDICT_PASS, NULL, BU_UNSAID_INT, -1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *body = NULL;
		struct bu_checks report;

		bu_checks_init(&report);
		bu_checks_add(&report, "soak", "soak-cpu", rows[i].verdict, "");
		if (rows[i].soaked)
			BU_CHECK_SET(bu_checks_add(&report, "soak", "soak-time",
						   BU_VERDICT_PASS, "")
					     ->seen,
				     "%s", rows[i].soaked);
		body = bu_report_body(&report, "d1", rows[i].slice_ms, "");
		ck_assert_msg(bu_json_int(body, "ms", -1) == rows[i].ms,
			      "row %zu: %lld", i,
			      (long long)bu_json_int(body, "ms", -1));
		ck_assert_int_eq(bu_json_int(body, "soak_ms", -1),
				 rows[i].soaked ? 4000 : -1);
		bu_checks_fini(&report);
	}
}
END_TEST

/* A row of a report. */
struct line {
	const char *id;
	enum bu_verdict verdict;
	const char *subject, *seen, *value;
};

static json_t *
body_of(const struct line *lines, size_t count)
{
	struct bu_checks report;
	json_t *body;

	bu_checks_init(&report);
	for (size_t i = 0; i < count && lines[i].id; i++) {
		struct bu_check *check =
			bu_checks_add(&report, "audit", lines[i].id, lines[i].verdict,
				      lines[i].subject);

		BU_CHECK_SET(check->seen, "%s", lines[i].seen ? lines[i].seen : "");
		BU_CHECK_SET(check->value, "%s", lines[i].value ? lines[i].value : "");
	}
	body = bu_report_body(&report, "d1", BU_UNSAID_INT, NULL);
	bu_checks_fini(&report);
	return body;
}

/* Where all GPUs tell the same one. */
START_TEST(a_domain_is_what_all_gpus_tell)
{
	static const struct {
		struct line lines[3];
		const char *domain;
	} rows[] = {
		{{{"gpu-fabric", BU_VERDICT_PASS, "GPU 0", "x", "8c3c.1"}}, "8c3c.1"},
		{{{"gpu-fabric", BU_VERDICT_PASS, "GPU 0", "x", "8c3c.1"},
		  {"gpu-fabric", BU_VERDICT_PASS, "GPU 1", "x", "8c3c.1"}},
		 "8c3c.1"},
		{{{"gpu-fabric", BU_VERDICT_PASS, "GPU 0", "x", "8c3c.1"},
		  {"gpu-fabric", BU_VERDICT_PASS, "GPU 1", "x", "8c3c.2"}},
		 ""},
		{{{"gpu-fabric", BU_VERDICT_PASS, "GPU 0", "x", ""},
		  {"gpu-fabric", BU_VERDICT_PASS, "GPU 1", "x", "8c3c.2"}},
		 "8c3c.2"},
		{{{"gpu-count", BU_VERDICT_PASS, "", "x", "8"},
		  {"gpu-fabric", BU_VERDICT_PASS, "GPU 1", "x", "8c3c.2"}},
		 "8c3c.2"},
		{{{"gpu-fabric", BU_VERDICT_PASS, "GPU 0", "x", ""}}, ""},
		{{{"gpu-count", BU_VERDICT_PASS, "", "x", "8"}}, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *body = body_of(rows[i].lines, 3);

		ck_assert_str_eq(bu_json_str(body, "domain", ""), rows[i].domain);
	}
}
END_TEST

/* What the interface of a network heard, where both checks passed. */
START_TEST(a_network_has_the_switch_port_that_its_interface_heard)
{
	static const struct {
		struct line lines[3];
		const char *port;
	} rows[] = {
		{{{"nic-missing", BU_VERDICT_PASS, "fabric", "eth1", ""},
		  {"lldp", BU_VERDICT_PASS, "eth0", "leaf09:p9", ""},
		  {"lldp", BU_VERDICT_PASS, "eth1", "leaf01:p1", ""}},
		 "leaf01:p1"},
		{{{"nic-missing", BU_VERDICT_PASS, "fabric", "bond0", ""},
		  {"lldp", BU_VERDICT_PASS, "bond0", "leaf01:p1, leaf02:p1",
		   "leaf02:p1"}},
		 "leaf02:p1"},
		{{{"nic-missing", BU_VERDICT_FAIL, "fabric", "eth1", ""},
		  {"lldp", BU_VERDICT_PASS, "eth1", "leaf01:p1", ""}},
		 ""},
		{{{"nic-mtu", BU_VERDICT_PASS, "fabric", "eth1", ""},
		  {"lldp", BU_VERDICT_PASS, "eth1", "leaf01:p1", ""}},
		 ""},
		{{{"nic-missing", BU_VERDICT_PASS, "fabric", "eth1", ""},
		  {"lldp", BU_VERDICT_WARN, "eth1", "leaf01:p1", ""}},
		 ""},
		{{{"nic-missing", BU_VERDICT_PASS, "fabric", "eth1", ""},
		  {"cabling", BU_VERDICT_PASS, "eth1", "leaf01:p1", ""}},
		 ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *body = body_of(rows[i].lines, 3);

		ck_assert_str_eq(
			bu_json_str(json_object_get(body, "ports"), "fabric", ""),
			rows[i].port);
	}
}
END_TEST

/* Failures first, then what could not be seen, then warnings; all of them count. */
START_TEST(rows_that_do_not_pass_are_kept_the_worst_first)
{
	static const struct line lines[] = {
		{"a", BU_VERDICT_WARN, "", "", ""},
		{"b", BU_VERDICT_PASS, "", "", ""},
		{"c", BU_VERDICT_INCONCLUSIVE, "", "", ""},
		{"d", BU_VERDICT_FAIL, "", "", ""},
		{"e", BU_VERDICT_WARN, "", "", ""},
		{"f", BU_VERDICT_FAIL, "", "", ""},
	};
	bu_autojson json_t *body = body_of(lines, BU_LEN(lines));
	const json_t *counts = json_object_get(body, "counts");
	const char *want = "dfcae";
	json_t *one;
	size_t i;

	ck_assert_uint_eq(json_array_size(json_object_get(body, "rows")), strlen(want));
	json_array_foreach (json_object_get(body, "rows"), i, one)
		ck_assert_int_eq(bu_json_str(one, "id", "")[0], want[i]);
	ck_assert_int_eq(bu_json_int(counts, "pass", -1), 1);
	ck_assert_int_eq(bu_json_int(counts, "warn", -1), 2);
	ck_assert_int_eq(bu_json_int(counts, "fail", -1), 2);
	ck_assert_int_eq(bu_json_int(counts, "inconclusive", -1), 1);
	ck_assert_str_eq(bu_json_str(body, "verdict", ""), "fail");
	ck_assert_str_eq(bu_json_str(body, "digest", ""), "d1");
}
END_TEST

START_TEST(so_many_rows_are_kept_and_no_more)
{
	for (int fails = 63; fails <= 65; fails++) {
		struct line lines[66] = {{.id = NULL}};
		bu_autojson json_t *body = NULL;
		const json_t *rows;
		size_t kept = fails < 64 ? (size_t)fails + 1 : 64;

		lines[0] = (struct line){"w", BU_VERDICT_WARN, "", "", ""};
		for (int i = 1; i <= fails; i++)
			lines[i] = (struct line){"f", BU_VERDICT_FAIL, "", "", ""};
		body = body_of(lines, 66);
		rows = json_object_get(body, "rows");
		ck_assert_uint_eq(json_array_size(rows), kept);
		ck_assert_str_eq(bu_json_str(json_array_get(rows, 0), "id", ""), "f");
		ck_assert_int_eq(
			bu_json_int(json_object_get(body, "counts"), "fail", -1),
			fails);
	}
}
END_TEST

/* Nothing to complain of. */
START_TEST(a_report_without_rows_passes)
{
	bu_autojson json_t *body = body_of(NULL, 0);

	ck_assert_str_eq(bu_json_str(body, "verdict", ""), "pass");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "rows")), 0);
}
END_TEST

BU_UNIT("report", a_domain_is_what_all_gpus_tell,
	a_network_has_the_switch_port_that_its_interface_heard,
	rows_that_do_not_pass_are_kept_the_worst_first,
	so_many_rows_are_kept_and_no_more, a_report_without_rows_passes,
	a_slice_counts_when_it_ended_well, three_are_named_and_the_others_counted)
