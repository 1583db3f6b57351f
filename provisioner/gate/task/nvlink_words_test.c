/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a node's copies over NVLink, from what the log has of it and of the
 * others of its domain. */
#include "model/check.h"
#include "provisioner/gate/task/nvlink.h"

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define DOMAIN "8c3c0000-0000-0000-0000-000000000001.7"

enum { NODES = 6 };

static void
begin(struct rig *rig)
{
	rig_begin(rig, NODES);
	rig_open_gate(rig);
	for (int i = 1; i <= NODES; i++) {
		struct bu_node *node = rig_node(rig, i);

		rig_set_boot(node, i);
		node->checks.body = json_object();
		node->checks.is.boot_id = node->boot_id;
		node->checks.is.domain = DOMAIN;
	}
}

/* With whom it was how, and rows of the last test: with ' for ". The values live in its
 * body. */
static void
told(const struct rig *rig, int number, enum bu_verdict verdict, const char *with,
     const char *rows)
{
	struct bu_node *node = rig_node(rig, number);
	json_t *body = json_object();

	json_object_set_new(body, "with", quoted(with));
	json_object_set_new(body, "rows", quoted(rows));
	json_decref(node->nvlink.body);
	node->nvlink.body = body;
	node->nvlink.is = (struct bu_body_nvlink){.boot_id = node->boot_id,
						  .peer = "node002",
						  .verdict = verdict,
						  .with = json_object_get(body, "with"),
						  .rows = json_object_get(body, "rows"),
						  .error = ""};
}

/* A rate of one GPU, in GB/s. */
static void
is_as_fast(const struct rig *rig, int number, const char *id, const char *seen)
{
	bu_autofree char *rows = bu_xasprintf(
		"[{'id':'%s','seen':'%s GB/s','subject':'GPU 0'}]", id, seen);

	told(rig, number, BU_VERDICT_PASS, "{}", rows);
}

/* Of node 1; NULL = nothing. */
static void
is_said(const struct rig *rig, const char *want)
{
	bu_autojson json_t *said = bu_gate_nvlink_said(rig->gate, rig_node(rig, 1));

	if (want)
		ck_assert_str_eq(rig_sentence(said), want);
	else
		ck_assert_msg(!said, "%s", rig_sentence(said));
}

#define SLOW "NVLink between nodes is slow: GPU 0"
#define REACH "other nodes of its NVLink domain reach 100.0 GB/s"

/* Less than nine tenths of the median of three others of its domain, of the same kind
 * of figure. */
START_TEST(a_rate_is_odd_beside_the_others)
{
	static const struct {
		const char *id, *own;
		int others; /* nodes 2 and on that reach 100 */
		const char *others_id;
		const char *says;
	} rows[] = {
		{"nvlink-rate", "89.9", 3, "nvlink-rate", SLOW ": 89.9 GB/s; " REACH},
		{"nvlink-rate", "90.0", 3, "nvlink-rate", NULL},
		{"nvlink-rate", "10.0", 2, "nvlink-rate", NULL},
		{"nvlink-rate", "89.9", 5, "nvlink-rate", SLOW ": 89.9 GB/s; " REACH},
		{"nvlink-both", "89.9", 3, "nvlink-both",
		 SLOW ", both directions at once: 89.9 GB/s; " REACH},
		{"nvlink-both", "89.9", 3, "nvlink-rate", NULL},
		{"nvlink-imex", "89.9", 3, "nvlink-imex", NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		begin(&rig);
		is_as_fast(&rig, 1, rows[i].id, rows[i].own);
		for (int k = 0; k < rows[i].others; k++)
			is_as_fast(&rig, NODES - k, rows[i].others_id, "100.0");
		is_said(&rig, rows[i].says);
		rig_end(&rig);
	}
}
END_TEST

/* In the middle of several, of this boot and domain; several figures of a node are one
 * node's. */
START_TEST(others_are_those_of_its_domain)
{
	static const char two[] = "[{'id':'nvlink-rate','seen':'100 GB/s'},"
				  "{'id':'nvlink-rate','seen':'100 GB/s'},"
				  "{'id':'nvlink-rate','seen':'100 GB/s'}]";
	struct rig rig;

	begin(&rig);
	is_as_fast(&rig, 1, "nvlink-rate", "50");
	is_as_fast(&rig, 2, "nvlink-rate", "100");
	told(&rig, 3, BU_VERDICT_PASS, "{}", two);
	is_said(&rig, NULL);
	is_as_fast(&rig, 4, "nvlink-rate", "40");
	is_said(&rig, SLOW ": 50 GB/s; " REACH);
	rig_node(&rig, 4)->checks.is.domain = "8c3c0000-0000-0000-0000-000000000001.8";
	is_said(&rig, NULL);
	rig_node(&rig, 4)->checks.is.domain = NULL;
	is_said(&rig, NULL);
	rig_node(&rig, 4)->checks.is.domain = DOMAIN;
	rig_node(&rig, 4)->nvlink.is.boot_id = "old";
	is_said(&rig, NULL);
	rig_node(&rig, 4)->nvlink.is.boot_id = rig_node(&rig, 4)->boot_id;
	is_said(&rig, SLOW ": 50 GB/s; " REACH);
	/* It has started anew itself, or has no domain now. */
	rig_node(&rig, 1)->checks.is.domain = NULL;
	is_said(&rig, NULL);
	rig_node(&rig, 1)->checks.is.domain = DOMAIN;
	rig_node(&rig, 1)->nvlink.is.boot_id = "old";
	is_said(&rig, NULL);
	rig_end(&rig);
}
END_TEST

#define BAD "NVLink between node001 and node002 is bad: "
#define FAULT "the other end saw a fault"

/* Which of two it is, as far as a third tells. */
START_TEST(a_third_node_tells_which_one_it_is)
{
	static const struct {
		const char *own;       /* with whom node 1 was how */
		const char *others[2]; /* the same of nodes 2 and 3 */
		const char *says;
	} rows[] = {
		{"{'node002':'warn'}",
		 {NULL, NULL},
		 BAD FAULT "; no third node has told yet whether it is this node or "
			   "node002"},
		{"{'node002':'warn','node004':'pass'}",
		 {NULL, NULL},
		 BAD FAULT "; good with node004: look at node002"},
		{"{'node002':'warn','node003':'warn'}",
		 {NULL, NULL},
		 BAD FAULT "; no third node has told yet whether it is this node or "
			   "node002, node003"},
		{"{'node002':'warn','node003':'warn'}",
		 {"{'node001':'warn','node004':'pass'}", NULL},
		 BAD FAULT "; bad with node002, node003: look at this node"},
		{"{'node002':'warn','node003':'warn'}",
		 {NULL, "{'node001':'warn','node004':'pass'}"},
		 BAD FAULT "; bad with node002, node003: look at this node"},
		{"{'node002':'warn','node003':'warn'}",
		 {"{'node001':'warn'}", "{'node001':'warn'}"},
		 BAD FAULT "; no third node has told yet whether it is this node or "
			   "node002, node003"},
		/* one is not enough, and what said nothing counts for none */
		{"{'node002':'warn','node003':'inconclusive'}",
		 {"{'node001':'warn','node004':'pass'}", NULL},
		 BAD FAULT "; no third node has told yet whether it is this node or "
			   "node002"},
		{"{'node002':'inconclusive'}", {NULL, NULL}, BAD FAULT},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		begin(&rig);
		told(&rig, 1, BU_VERDICT_WARN, rows[i].own, "[]");
		for (int k = 0; k < 2; k++)
			if (rows[i].others[k])
				told(&rig, 2 + k, BU_VERDICT_WARN, rows[i].others[k],
				     "[]");
		is_said(&rig, rows[i].says);
		rig_end(&rig);
	}
}
END_TEST

/* Its own finding, else its error, else the other end's. */
START_TEST(what_it_saw_itself_is_said_first)
{
	static const struct {
		const char *rows, *error, *says;
	} rows[] = {
		{"[{'verdict':'pass','text':'A'},{'verdict':'warn','text':'B'},"
		 "{'verdict':'fail','text':'C'}]",
		 "E", "B"},
		{"[{'verdict':'fail','text':'C'}]", "E", "C"},
		{"[{'verdict':'pass','text':'A'},{'verdict':'inconclusive','text':'I'}]",
		 "E", "E"},
		{"[]", "", FAULT},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *alone = bu_xasprintf(
			"node001 cannot use NVLink to other nodes: %s", rows[i].says);
		struct rig rig;

		begin(&rig);
		/* It had no result with that node. */
		told(&rig, 1, BU_VERDICT_WARN, "{'node003':'warn'}", rows[i].rows);
		rig_node(&rig, 1)->nvlink.is.error = rows[i].error;
		is_said(&rig, alone);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(what_was_not_measured_says_why)
{
	struct rig rig;

	begin(&rig);
	is_said(&rig, NULL);
	told(&rig, 1, BU_VERDICT_INCONCLUSIVE, "{}", "[]");
	rig_node(&rig, 1)->nvlink.is.error = "nobody came";
	is_said(&rig,
		"NVLink between node001 and node002 was not measured: nobody came");
	rig_end(&rig);
}
END_TEST

/* What a report of one end comes to; NULL = no report. */
struct row {
	const char *group, *id;
	enum bu_verdict verdict;
};

static json_t *
read_rows(const struct row *rows, size_t count)
{
	bu_autojson json_t *report = NULL;
	struct bu_checks checks;

	bu_checks_init(&checks);
	for (size_t i = 0; i < count && rows[i].id; i++) {
		struct bu_check *row = bu_checks_add(&checks, rows[i].group, rows[i].id,
						     rows[i].verdict, "GPU 0");

		BU_CHECK_SET(row->seen, "700 GB/s");
		BU_CHECK_SET(row->text, "text %zu", i);
	}
	report = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return bu_gate_nvlink_read(report);
}

/* Rates count where all is well; a finding is of the node or of the pair. */
START_TEST(a_report_is_of_the_node_or_of_the_pair)
{
	static const struct {
		struct row rows[3];
		int rates, of_node, of_pair;
		size_t kept;
		const char *error;
	} cases[] = {
		{{{"nvlink", "nvlink-rate", BU_VERDICT_PASS}}, 1, 0, 0, 1, ""},
		{{{"nvlink", "nvlink-both", BU_VERDICT_PASS}}, 1, 0, 0, 1, ""},
		{{{"nvlink", "nvlink-imex", BU_VERDICT_PASS}}, 0, 0, 0, 1, ""},
		{{{"nvlink", "nvlink-imex", BU_VERDICT_WARN}}, 0, 1, 0, 1, "text 0"},
		{{{"nvlink", "nvlink-imex", BU_VERDICT_FAIL}}, 0, 1, 0, 1, "text 0"},
		{{{"nvlink", "nvlink-imex", BU_VERDICT_INCONCLUSIVE}},
		 0,
		 0,
		 0,
		 1,
		 "text 0"},
		{{{"nvlink", "nvlink-rate", BU_VERDICT_WARN}}, 0, 0, 1, 1, "text 0"},
		{{{"nvlink", "nvlink-rate", BU_VERDICT_PASS},
		  {"nvlink", "nvlink-peer", BU_VERDICT_INCONCLUSIVE},
		  {"nvlink", "nvlink-peer", BU_VERDICT_FAIL}},
		 0,
		 0,
		 1,
		 3,
		 "text 1"},
		/* of another group */
		{{{"gpu", "nvlink-rate", BU_VERDICT_FAIL}}, 0, 0, 0, 0, ""},
		{{{.id = NULL}}, 0, 0, 0, 0, ""},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autojson json_t *said = read_rows(cases[i].rows, 3);
		const json_t *rows = json_object_get(said, "rows");

		ck_assert_msg(bu_json_bool(said, "rates", -1) == cases[i].rates,
			      "case %zu", i);
		ck_assert_int_eq(bu_json_bool(said, "of_node", -1), cases[i].of_node);
		ck_assert_int_eq(bu_json_bool(said, "of_pair", -1), cases[i].of_pair);
		ck_assert_uint_eq(json_array_size(rows), cases[i].kept);
		ck_assert_str_eq(bu_json_str(said, "error", "?"), cases[i].error);
		if (cases[i].kept) {
			const json_t *row = json_array_get(rows, 0);

			ck_assert_str_eq(bu_json_str(row, "id", ""),
					 cases[i].rows[0].id);
			ck_assert_str_eq(bu_json_str(row, "verdict", ""),
					 bu_verdict_name(cases[i].rows[0].verdict));
			ck_assert_str_eq(bu_json_str(row, "subject", ""), "GPU 0");
			ck_assert_str_eq(bu_json_str(row, "seen", ""), "700 GB/s");
			ck_assert_str_eq(bu_json_str(row, "text", ""), "text 0");
		}
	}
	ck_assert_ptr_null(bu_gate_nvlink_read(NULL));
	{
		bu_autojson json_t *other = json_object();

		ck_assert_ptr_null(bu_gate_nvlink_read(other));
	}
}
END_TEST

/* What two ends said, by "NRP": finding of the node, rates, finding of the pair. */
START_TEST(two_reports_come_to_one_verdict)
{
	static const struct {
		const char *own, *other;
		enum bu_verdict verdict;
		int of_pair;
	} cases[] = {
		{"R", "R", BU_VERDICT_PASS, 1},
		{"R", "", BU_VERDICT_INCONCLUSIVE, 0},
		{"", "R", BU_VERDICT_INCONCLUSIVE, 0},
		{"R", NULL, BU_VERDICT_INCONCLUSIVE, 0},
		{NULL, "R", BU_VERDICT_INCONCLUSIVE, 0},
		{"P", "R", BU_VERDICT_WARN, 1},
		{"R", "P", BU_VERDICT_WARN, 1},
		{"P", NULL, BU_VERDICT_WARN, 1},
		{"N", "R", BU_VERDICT_WARN, 0},
		/* What the other one lacks says nothing of this one. */
		{"", "N", BU_VERDICT_INCONCLUSIVE, 0},
		{"R", "N", BU_VERDICT_INCONCLUSIVE, 0},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		const char *const words[] = {cases[i].own, cases[i].other};
		json_t *said[2];

		for (int k = 0; k < 2; k++)
			said[k] = words[k] ? json_pack("{s:b,s:b,s:b}", "of_node",
						       strchr(words[k], 'N') != NULL,
						       "rates",
						       strchr(words[k], 'R') != NULL,
						       "of_pair",
						       strchr(words[k], 'P') != NULL)
					   : NULL;
		ck_assert_msg(bu_gate_nvlink_verdict(said[0], said[1]) ==
				      cases[i].verdict,
			      "case %zu", i);
		ck_assert_msg(bu_gate_nvlink_is_of_pair(said[0], said[1]) ==
				      cases[i].of_pair,
			      "case %zu", i);
		for (int k = 0; k < 2; k++)
			json_decref(said[k]);
	}
}
END_TEST

RIG_UNIT("nvlink_words", a_report_is_of_the_node_or_of_the_pair,
	 two_reports_come_to_one_verdict, a_rate_is_odd_beside_the_others,
	 others_are_those_of_its_domain, a_third_node_tells_which_one_it_is,
	 what_it_saw_itself_is_said_first, what_was_not_measured_says_why)
