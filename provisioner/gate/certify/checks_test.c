/* SPDX-License-Identifier: Apache-2.0 */
/* Who is asked for checks and slices of a soak, what of an answer counts, and which two
 * nodes soak together. */
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/soak.h"
#include "provisioner/gate/task/task.h"
#include "tests/support/between.h"

enum { HOUR_MS = 3600 * 1000, SLICE_MS = 600000 };

static struct bu_desired_validation *
validation_of(const struct between *b)
{
	return (struct bu_desired_validation *)(uintptr_t)b->rig.fleet->desired
		->nodes[0]
		.validation;
}

static void
is_checked(struct bu_node *node)
{
	node->checks.body = json_object();
	node->checks.is.boot_id = node->boot_id;
	node->checks.is.verdict = BU_VERDICT_PASS;
}

/* All validate; soak_ms: of the profile. Node 1. */
static struct bu_node *
begin(struct between *b, int nodes, int64_t soak_ms)
{
	between_begin(b, nodes, 1, nodes, NULL);
	bu_gate_roles_drop(b->gate);
	validation_of(b)->soak_ms = soak_ms;
	for (int i = 1; i <= nodes; i++) {
		struct bu_node *node = rig_node(&b->rig, i);
		bu_autofree char *machine = bu_xasprintf("machine-%d", i);

		node->state = BU_STATE_VALIDATING;
		node->live.last_seen_ms = b->rig.clock.fake_wall_ms;
		bu_node_set_machine(node, machine);
	}
	return rig_node(&b->rig, 1);
}

static void
has_soaked(const struct between *b, const struct bu_node *node, int64_t ms)
{
	json_object_set_new(b->rig.fleet->measurements.soaked, node->machine,
			    json_integer(ms));
}

START_TEST(who_is_asked_for_something)
{
	enum {
		CHECKS,
		SOAK,
		SOAKED,
		NO_SOAK,
		STATE,
		HELD,
		APPENDING,
		NOT_WANTED,
		UNMEASURED,
		ERRORS,
		FEWER,
		CASES
	};

	for (int one = CHECKS; one < CASES; one++) {
		bu_autojson json_t *item = NULL;
		char id[BU_NAME_SIZE] = "";
		struct bu_node *node;
		struct between b;
		int asked = one <= SOAK || one == FEWER;

		node = begin(&b, 1, one == NO_SOAK ? 0 : HOUR_MS);
		if (one == SOAK || one == SOAKED || one == NO_SOAK)
			is_checked(node);
		if (one == SOAKED)
			has_soaked(&b, node, HOUR_MS);
		if (one == STATE)
			node->state = BU_STATE_READY;
		if (one == HELD)
			bu_node_hold(node)->owner = BU_OWNER_PERSON;
		if (one == APPENDING)
			node->live.appending = 1;
		if (one == NOT_WANTED)
			strcpy(node->name, "node009");
		if (one == UNMEASURED)
			b.rig.fleet->desired->nodes[0].validation = NULL;
		if (one == ERRORS || one == FEWER)
			node->live.checks_errors = BU_GATE_ERRORS - (one == FEWER);
		ck_assert_msg(bu_gate_checks_asked(b.gate, node, id) == asked,
			      "case %d", one);
		item = bu_gate_checks_work(b.gate, node);
		ck_assert_int_eq(item != NULL, asked);
		ck_assert_str_eq(bu_json_str(item, "id", ""), id);
		if (asked)
			ck_assert_int_eq(id[0], one == SOAK ? 's' : 'c');
		between_end(&b);
	}
}
END_TEST

/* As much as is left, ten minutes at most, and two more to tell. */
START_TEST(a_slice_is_what_is_left)
{
	static const struct {
		int64_t soaked_ms, slice_ms;
	} rows[] = {{0, SLICE_MS},
		    {HOUR_MS - SLICE_MS, SLICE_MS},
		    {HOUR_MS - SLICE_MS + 1, SLICE_MS - 1},
		    {HOUR_MS - 1, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *item = NULL;
		const json_t *soak;
		struct bu_node *node;
		struct between b;

		node = begin(&b, 1, HOUR_MS);
		is_checked(node);
		has_soaked(&b, node, rows[i].soaked_ms);
		ck_assert_int_eq(bu_gate_soak_left_ms(b.gate, node),
				 HOUR_MS - rows[i].soaked_ms);
		item = bu_gate_checks_work(b.gate, node);
		soak = json_object_get(json_object_get(item, "expect"), "soak");
		ck_assert_int_eq(bu_json_int(soak, "slice_ms", 0), rows[i].slice_ms);
		ck_assert_int_eq(bu_json_int(item, "deadline_ms", 0),
				 rows[i].slice_ms + 120000);
		ck_assert_int_eq(bu_json_int(item, "attempt", 0), 1);
		ck_assert_uint_eq(json_array_size(json_object_get(item, "groups")), 1);
		between_end(&b);
	}
}
END_TEST

/* What is missing until it is a candidate. */
START_TEST(what_is_missing_is_said)
{
	static const struct {
		int checked;
		enum bu_verdict verdict;
		int64_t soaked_ms;
		int errors;
		enum bu_reason_code before, says;
	} rows[] = {
		{0, 0, 0, 0, 0, BU_REASON_CHECKS_AWAITED},
		{0, 0, 0, 1, BU_REASON_CHECKS_SILENT, BU_REASON_CHECKS_SILENT},
		{0, 0, 0, 0, BU_REASON_CHECKS_SILENT, BU_REASON_CHECKS_AWAITED},
		{0, 0, 0, 1, BU_REASON_NO_PARTNER, BU_REASON_CHECKS_AWAITED},
		{1, BU_VERDICT_PASS, 0, 0, 0, BU_REASON_SOAKS},
		{1, BU_VERDICT_PASS, 0, 2, 0, BU_REASON_SOAKS},
		{1, BU_VERDICT_PASS, 0, 3, 0, BU_REASON_CHECKS_AWAITED},
		{1, BU_VERDICT_PASS, 0, 3, BU_REASON_CHECKS_SILENT,
		 BU_REASON_CHECKS_SILENT},
		{1, BU_VERDICT_PASS, HOUR_MS, 0, 0, BU_REASON_NONE},
		{1, BU_VERDICT_PASS, HOUR_MS, 3, 0, BU_REASON_NONE},
		{1, BU_VERDICT_FAIL, HOUR_MS, 0, 0, BU_REASON_CHECK_FAILED},
		{1, BU_VERDICT_WARN, HOUR_MS + 1, 0, 0, BU_REASON_NONE},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_reason reason = {.code = BU_REASON_NONE};
		struct bu_node *node;
		struct between b;

		node = begin(&b, 1, HOUR_MS);
		if (rows[i].checked)
			is_checked(node);
		node->checks.is.verdict = rows[i].verdict;
		has_soaked(&b, node, rows[i].soaked_ms);
		node->live.checks_errors = rows[i].errors;
		*bu_node_wait_reason(node) = (struct bu_reason){.code = rows[i].before};
		bu_gate_unchecked(b.gate, node, &reason);
		ck_assert_msg(reason.code == rows[i].says, "row %zu: %s", i,
			      bu_reason_info(reason.code)->name);
		ck_assert_int_eq(bu_gate_is_checked(b.gate, node),
				 rows[i].says == BU_REASON_NONE);
		between_end(&b);
	}
}
END_TEST

/* An answer: of which boot, NULL = a failure; and its soak time. */
static json_t *
report_of(const char *boot, const char *id, enum bu_verdict verdict)
{
	struct bu_checks checks;
	json_t *value;

	bu_checks_init(&checks);
	BU_TEXT_COPY(checks.boot_id, boot);
	BU_CHECK_SET(bu_checks_add(&checks, "soak", id, verdict, "eth1")->text,
		     "in words");
	value = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return value;
}

/* Only to the question that is open. */
START_TEST(an_answer_counts_for_its_question)
{
	enum { RIGHT, OTHER_ID, STATE, APPENDING, CASES };

	for (int one = RIGHT; one < CASES; one++) {
		bu_autojson json_t *report = NULL;
		char id[BU_NAME_SIZE];
		struct bu_node *node;
		struct between b;

		node = begin(&b, 1, HOUR_MS);
		report = report_of(node->boot_id, "nic-mtu", BU_VERDICT_PASS);
		ck_assert_int_eq(bu_gate_checks_asked(b.gate, node, id), 1);
		if (one == OTHER_ID)
			id[strlen(id) - 1]++;
		if (one == STATE)
			node->state = BU_STATE_READY;
		if (one == APPENDING)
			node->live.appending = 1;
		bu_gate_checks_result(b.gate, node, id, report, NULL);
		ck_assert_int_eq(node->live.checks_told, one == RIGHT);
		ck_assert_int_eq(node->live.appending,
				 one == RIGHT || one == APPENDING);
		between_end(&b);
	}
}
END_TEST

/* What gives no report is said with its count; of one that is held nothing is. */
START_TEST(an_answer_without_a_report_is_an_error)
{
	static const struct {
		const char *boot; /* of a report; NULL = none */
		int fails, held, soaks;
		int errors, lost;
		const char *says;
	} rows[] = {
		{NULL, 1, 0, 0, 2, 0, "no device"},
		{NULL, 0, 0, 0, 2, 0, "there is none"},
		{"old", 0, 0, 0, 2, 0, "the report is of boot old, not of boot-1"},
		{NULL, 1, 0, 1, 2, 1, "no device"},
		{NULL, 1, 1, 0, 1, 0, ""},
		{NULL, 1, 1, 1, 1, 1, ""},
		{"boot-1", 0, 0, 0, 0, 0, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err failure = {.kind = BU_ERR_IO};
		bu_autojson json_t *report = NULL;
		char id[BU_NAME_SIZE];
		struct bu_node *node;
		struct between b;

		node = begin(&b, 1, HOUR_MS);
		if (rows[i].soaks)
			is_checked(node);
		node->live.checks_errors = 1;
		strcpy(failure.text, "no device");
		bu_gate_checks_asked(b.gate, node, id);
		if (rows[i].held)
			bu_node_hold(node)->owner = BU_OWNER_PERSON;
		if (rows[i].boot)
			report = report_of(rows[i].boot, "nic-mtu", BU_VERDICT_PASS);
		bu_gate_checks_result(b.gate, node, id, report,
				      rows[i].fails ? &failure : NULL);
		ck_assert_msg(node->live.checks_errors == rows[i].errors, "row %zu", i);
		ck_assert_int_eq(node->live.slices_lost, rows[i].lost);
		rig_text_has(rig_said(node->live.wait_reason), rows[i].says);
		ck_assert_int_eq(node->live.wait_reason->code,
				 *rows[i].says ? BU_REASON_CHECKS_SILENT
					       : BU_REASON_NONE);
		between_end(&b);
	}
}
END_TEST

/* What a group has not judged is not passed over: it is asked for again. What fails
 * besides is told at once, and a group that there is nothing to judge for holds nobody.
 */
START_TEST(a_group_that_broke_off_is_asked_for_again)
{
	static const struct {
		enum bu_verdict verdict;
		const char *seen;
		int fails, errors;
	} rows[] = {
		{BU_VERDICT_INCONCLUSIVE, BU_CHECK_UNDONE, 0, 1},
		{BU_VERDICT_INCONCLUSIVE, "", 0, 0},
		{BU_VERDICT_WARN, BU_CHECK_UNDONE, 0, 0},
		{BU_VERDICT_INCONCLUSIVE, BU_CHECK_UNDONE, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *report = NULL;
		struct bu_checks checks;
		char id[BU_NAME_SIZE], again[BU_NAME_SIZE];
		struct bu_check *row;
		struct bu_node *node;
		struct between b;

		node = begin(&b, 1, 0);
		bu_checks_init(&checks);
		BU_TEXT_COPY(checks.boot_id, node->boot_id);
		bu_checks_add(&checks, "audit", "nic-mtu",
			      rows[i].fails ? BU_VERDICT_FAIL : BU_VERDICT_PASS, "");
		row = bu_checks_add(&checks, "gpu", "gpu-not-run", rows[i].verdict, "");
		BU_CHECK_SET(row->seen, "%s", rows[i].seen);
		BU_CHECK_SET(row->text, "the gpu checks did not run: it is late");
		report = bu_checks_to_json(&checks);
		bu_checks_fini(&checks);
		bu_gate_checks_asked(b.gate, node, id);
		bu_gate_checks_result(b.gate, node, id, report, NULL);
		ck_assert_msg(node->live.checks_errors == rows[i].errors, "%zu", i);
		ck_assert_int_eq(node->live.appending, !rows[i].errors);
		if (rows[i].errors) {
			rig_text_has(rig_said(node->live.wait_reason),
				     "the gpu checks did not run: it is late");
			ck_assert_int_eq(bu_gate_checks_asked(b.gate, node, again), 1);
			ck_assert_str_ne(again, id);
		}
		between_end(&b);
	}
}
END_TEST

/* A report clears what was said of the trouble before it. */
START_TEST(a_report_ends_its_trouble)
{
	static const enum bu_reason_code said[] = {BU_REASON_CHECKS_SILENT,
						   BU_REASON_NO_PARTNER};

	for (size_t i = 0; i < BU_LEN(said); i++) {
		for (int soaks = 0; soaks < 2; soaks++) {
			bu_autojson json_t *report = NULL;
			char id[BU_NAME_SIZE];
			struct bu_node *node;
			struct between b;

			node = begin(&b, 1, HOUR_MS);
			b.rig.clock.fake_mono_ms += 1000;
			node->live.clock_ms = 7;
			if (soaks)
				is_checked(node);
			*bu_node_wait_reason(node) =
				(struct bu_reason){.code = said[i]};
			bu_gate_checks_asked(b.gate, node, id);
			report = report_of(node->boot_id, "soak-cpu", BU_VERDICT_PASS);
			bu_gate_checks_result(b.gate, node, id, report, NULL);
			ck_assert_int_eq(node->live.wait_reason->code,
					 i ? BU_REASON_NO_PARTNER : BU_REASON_NONE);
			/* Time that it soaked does not count as late. */
			ck_assert_int_eq(node->live.clock_ms,
					 soaks ? bu_loop_now_ms(b.rig.fleet->loop) : 7);
			between_end(&b);
		}
	}
}
END_TEST

/* What keeps the second of two from soaking with the first. */
START_TEST(neighbours_soak_both_at_one_leaf)
{
	enum {
		BOTH,
		STATE,
		HELD,
		UNCHECKED,
		FAILED,
		SOAKED,
		UNHEARD,
		POOL,
		NO_RAIL,
		LEAF,
		CASES
	};

	for (int one = BOTH; one < CASES; one++) {
		bu_autojson json_t *link = NULL;
		struct bu_desired_node *want;
		struct bu_desired_pool pool;
		struct bu_node *node, *other;
		struct between b;

		node = begin(&b, 2, HOUR_MS);
		other = rig_node(&b.rig, 2);
		want = &b.rig.fleet->desired->nodes[1];
		pool = *want->pool;
		is_checked(node);
		is_checked(other);
		if (one == STATE)
			other->state = BU_STATE_READY;
		if (one == HELD)
			bu_node_hold(other)->owner = BU_OWNER_PERSON;
		if (one == UNCHECKED)
			other->checks.is.boot_id = "old";
		if (one == FAILED)
			other->checks.is.verdict = BU_VERDICT_FAIL;
		if (one == SOAKED)
			has_soaked(&b, other, HOUR_MS);
		if (one == UNHEARD)
			other->live.last_seen_ms -= 90000;
		if (one == POOL)
			want->pool = &pool;
		if (one == NO_RAIL) {
			pool.rails_count = 0;
			b.rig.fleet->desired->nodes[0].pool = want->pool = &pool;
		}
		if (one == LEAF) {
			free(want->switch_ports);
			want->switch_ports = bu_xstrdup("fabric=leaf09:p1");
		}
		link = bu_gate_soak_link(b.gate, node);
		ck_assert_msg((link != NULL) == (one == BOTH), "case %d", one);
		ck_assert_int_eq(bu_gate_soak_peer(b.gate, node) != NULL, one == BOTH);
		ck_assert_uint_eq(json_object_size(b.gate->shared),
				  one == BOTH ? 2 : 0);
		between_end(&b);
	}
}
END_TEST

/* "2143" is the neighbour of each node in their order, 0 = none; owned. */
static char *
neighbours(const struct between *b)
{
	char *text = bu_xstrdup("");

	for (int i = 1; i <= b->nodes; i++) {
		int end = 0;
		const struct bu_task *task =
			bu_task_with(b->gate->shared, rig_node(&b->rig, i), &end);
		const char *peer = task ? task->name[!end] : "node000";
		bu_autofree char *before = text;

		text = bu_xasprintf("%s%c", before, peer[6]);
	}
	return text;
}

/* Two that saw it part, from another if need be, and meet again when nobody else is
 * there. */
START_TEST(payload_that_came_changed_parts_two)
{
	static const struct {
		int nodes;
		const char *asked;      /* nodes, in turn */
		const char *changed[2]; /* what nodes 1 and 2 saw it with */
		const char *then;       /* and these ask after that */
		const char *want;
	} rows[] = {
		{4, "13", {NULL, NULL}, "1324", "2143"},
		{4, "13", {"node002", NULL}, "1", "3010"},
		{4, "13", {NULL, "node001"}, "1", "3010"},
		{4, "13", {"node002", NULL}, "12", "3412"},
		{4, "1", {"node002", NULL}, "1", "3010"},
		{2, "1", {"node002", NULL}, "1", "21"},
		{2, "", {"node002", NULL}, "1", "21"},
		{3, "1", {"node003", NULL}, "1", "210"},
		{3, "", {"node002", NULL}, "1", "301"},
		{3, "1", {NULL, NULL}, "3", "210"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;
		struct between b;

		begin(&b, rows[i].nodes, HOUR_MS);
		for (int k = 1; k <= rows[i].nodes; k++)
			is_checked(rig_node(&b.rig, k));
		for (const char *at = rows[i].asked; *at; at++)
			json_decref(
				bu_gate_soak_link(b.gate, rig_node(&b.rig, *at - '0')));
		for (int k = 0; k < 2; k++)
			if (rows[i].changed[k])
				json_object_set_new(b.rig.fleet->measurements.showed,
						    rig_node(&b.rig, k + 1)->machine,
						    json_pack("{s:{s:b}}", "changed",
							      rows[i].changed[k], 1));
		for (const char *at = rows[i].then; *at; at++)
			json_decref(
				bu_gate_soak_link(b.gate, rig_node(&b.rig, *at - '0')));
		text = neighbours(&b);
		ck_assert_msg(strcmp(text, rows[i].want) == 0, "row %zu: %s", i, text);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("checks", payload_that_came_changed_parts_two, who_is_asked_for_something,
	 a_slice_is_what_is_left, what_is_missing_is_said,
	 an_answer_counts_for_its_question, an_answer_without_a_report_is_an_error,
	 a_group_that_broke_off_is_asked_for_again, a_report_ends_its_trouble,
	 neighbours_soak_both_at_one_leaf)
