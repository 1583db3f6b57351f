/* SPDX-License-Identifier: Apache-2.0 */
/* What the log knows about measurements: which results count, and for how long. */
#include "provisioner/node/measurements.h"

#include <string.h>

#include "base/json.h"
#include "model/check.h"
#include "provisioner/node/fleet.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

static void
replay(struct rig *rig, enum bu_event_kind kind, const char *node, const char *body)
{
	struct bu_event event;
	struct bu_err err = {0};

	row_init(&event, kind, node, quoted(body));
	event.seq = 1000;
	ck_assert_msg(bu_fleet_replay(rig->fleet, &event, &err) == 0, "%s", err.text);
	bu_event_fini(&event);
}

static const struct bu_pair_log *
log_of(const struct rig *rig, const char *a, const char *b, const char *rail)
{
	int place = bu_measurements_find(rig->fleet, a, b, rail);

	return place < 0 ? NULL : &rig->fleet->measurements.logs[place];
}

#define FLOWS                                                                          \
	"'flows':[{'rate_gbps':1.5,'lat_us':2,'lat99_us':3,'lat_min_us':1,'lost':4},"  \
	"{'rate_gbps':2.5,'lat_us':4,'lat99_us':5,'lat_min_us':3,'doubt':2}]"

/* Whichever end has restarted, what was measured before is over. */
START_TEST(what_was_measured_in_another_boot_counts_for_nothing)
{
	static const struct {
		const char *boot_a, *boot_b, *flows;
		size_t count;
		int errors;
	} rows[] = {
		{"1", "1", FLOWS, 1, 0},        {"1", "1", "'flows':[]", 1, 1},
		{"1", "1", "'flows':[]", 1, 2}, {"1", "1", FLOWS, 2, 0},
		{"2", "1", FLOWS, 1, 0},        {"2", "1", FLOWS, 2, 0},
		{"2", "2", FLOWS, 1, 0},        {"2", "2", "'flows':[]", 1, 1},
		{"3", "3", "'flows':[]", 0, 1}, {"3", "2", "'flows':[]", 0, 1},
		{"4", "2", FLOWS, 1, 0},
	};
	struct rig rig;

	rig_begin(&rig, 2);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *body = bu_xasprintf(
			"{'probe':'p-%zu','rail':'fabric','a':'node001','b':'node002',"
			"'boot_a':'%s','boot_b':'%s','mtu':4096,%s}",
			i, rows[i].boot_a, rows[i].boot_b, rows[i].flows);
		const struct bu_pair_log *log;

		replay(&rig, BU_EVENT_PAIR, "", body);
		log = log_of(&rig, "node001", "node002", "fabric");
		ck_assert_ptr_nonnull(log);
		ck_assert_msg(
			log->count == rows[i].count && log->errors == rows[i].errors,
			"row %zu: %zu results, %d errors", i, log->count, log->errors);
		ck_assert_str_eq(log->boot[0], rows[i].boot_a);
		ck_assert_str_eq(log->boot[1], rows[i].boot_b);
		ck_assert_int_eq(log->last.seq, 1000);
	}
	ck_assert_uint_eq(rig.fleet->measurements.count, 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_result_keeps_its_figures)
{
	struct rig rig;
	const struct bu_pair_log *log;
	const struct bu_measured *m;
	bu_autojson json_t *brief = NULL, *want = NULL;
	bu_autofree char *is = NULL, *should = NULL;

	rig_begin(&rig, 2);
	replay(&rig, BU_EVENT_PAIR, "",
	       "{'probe':'p-1','rail':'fabric','a':'node001','b':'node002',"
	       "'boot_a':'x','boot_b':'y','ab_gbps':1.5,'ba_gbps':2.5,"
	       "'expect_gbps':2.0,'lat_us':2.0,'verdict':'warn','error':'odd',"
	       "'mtu':4096," FLOWS "}");
	log = log_of(&rig, "node002", "node001", "fabric");
	ck_assert_ptr_nonnull(log);
	m = &log->list[0];
	ck_assert_int_eq(m->seq, 1000);
	ck_assert_int_eq(m->mtu, 4096);
	ck_assert_double_eq(m->dir[0].rate_gbps, 1.5);
	ck_assert_double_eq(m->dir[0].lat_us, 2);
	ck_assert_double_eq(m->dir[0].lat99_us, 3);
	ck_assert_double_eq(m->dir[0].lost, 4);
	ck_assert_int_eq(m->dir[0].doubt, 0);
	ck_assert_double_eq(m->dir[1].rate_gbps, 2.5);
	ck_assert_int_eq(m->dir[1].doubt, 2);
	brief = bu_measurements_brief(log);
	want = quoted("{'probe':'p-1','rail':'fabric','a':'node001','b':'node002',"
		      "'boot_a':'x','boot_b':'y','ab_gbps':1.5,'ba_gbps':2.5,"
		      "'expect_gbps':2.0,'lat_us':2.0,'verdict':'warn',"
		      "'error':'odd','mtu':4096,'seq':1000}");
	is = bu_json_canonical(brief);
	should = bu_json_canonical(want);
	ck_assert_str_eq(is, should);
	rig_end(&rig);
}
END_TEST

enum { PAIRS = 300 };

/* More of them than the table begins with. */
#define WAYS "'paths':{'a_to_b':[{'hops':['10.1.0.1','10.9.1.2','10.2.0.1']}]},"

/* A test of one way is no result of the pair; a row may have no ways. */
START_TEST(what_is_of_one_way_is_kept_apart)
{
	static const struct {
		const char *boot, *more;
		size_t count, paths;
		int errors;
		const char *last; /* probe */
	} rows[] = {
		{"1", FLOWS, 1, 0, 0, "p-0"},
		{"1", WAYS FLOWS, 2, 1, 0, "p-1"},
		{"1", WAYS "'single':true," FLOWS, 2, 2, 0, "p-1"},
		{"1", "'single':true,'flows':[]", 2, 2, 1, "p-1"},
		{"1", "'single':true," FLOWS, 2, 3, 0, "p-1"}, /* nothing answered */
		{"2", WAYS "'single':true," FLOWS, 0, 1, 0, "p-1"},
	};
	struct rig rig;

	rig_begin(&rig, 2);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *probe = bu_xasprintf("p-%zu", i);
		bu_autofree char *body = bu_xasprintf(
			"{'probe':'%s','rail':'fabric','a':'node001','b':'node002',"
			"'boot_a':'%s','boot_b':'1','mtu':4096,%s}",
			probe, rows[i].boot, rows[i].more);
		const struct bu_pair_log *log;

		replay(&rig, BU_EVENT_PAIR, "", body);
		log = log_of(&rig, "node001", "node002", "fabric");
		ck_assert_msg(log->count == rows[i].count &&
				      log->paths_count == rows[i].paths &&
				      log->errors == rows[i].errors,
			      "row %zu: %zu results, %zu ways, %d errors", i,
			      log->count, log->paths_count, log->errors);
		ck_assert_str_eq(log->last.probe, rows[i].last);
		ck_assert_str_eq(log->newest, probe);
	}
	ck_assert_int_eq(log_of(&rig, "node001", "node002", "fabric")->paths[0].single,
			 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_pair_is_found_on_its_rail_whoever_is_named_first)
{
	struct rig rig;
	char a[16], b[16];

	rig_begin(&rig, 1);
	ck_assert_ptr_null(log_of(&rig, "a0", "b0", "r0"));
	for (int i = 0; i < PAIRS; i++) {
		bu_autofree char *body = bu_xasprintf(
			"{'probe':'p','rail':'r%d','a':'a%d','b':'b%d','boot_a':'',"
			"'boot_b':''}",
			i % 2, i / 2, i / 2);

		replay(&rig, BU_EVENT_PAIR, "", body);
	}
	ck_assert_uint_eq(rig.fleet->measurements.count, PAIRS);
	for (int i = 0; i < PAIRS; i++) {
		const char *rail = i % 2 ? "r1" : "r0";
		struct bu_pairs_of pairs;

		snprintf(a, sizeof(a), "a%d", i / 2);
		snprintf(b, sizeof(b), "b%d", i / 2);
		ck_assert_int_eq(bu_measurements_find(rig.fleet, a, b, rail), i);
		ck_assert_int_eq(bu_measurements_find(rig.fleet, b, a, rail), i);
		ck_assert_int_eq(bu_measurements_find(rig.fleet, a, b, "r2"), -1);
		ck_assert_int_eq(bu_measurements_find(rig.fleet, a, a, rail), -1);
		pairs = bu_measurements_of(rig.fleet, i % 3 ? a : b, rail);
		ck_assert_uint_eq(pairs.count, 1);
		ck_assert_int_eq(pairs.places[0], i);
	}
	rig_end(&rig);
}
END_TEST

static const json_t *
soaked_of(const struct rig *rig, const struct bu_node *node)
{
	return json_object_get(rig->fleet->measurements.soaked, node->machine);
}

static void
quarantine(struct rig *rig, struct bu_node *node, int64_t at_ms)
{
	struct bu_reason why;

	BU_REASON_SET(&why, OTHER, .text = {"slow"});
	bu_measurements_state(rig->fleet, node, at_ms, &why, BU_STATE_QUARANTINED);
}

/* So many days, to the millisecond; a node without a machine has none. */
START_TEST(a_quarantine_counts_for_thirty_days)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);
	struct bu_reason why;
	const json_t *list;

	rig_inspect(&rig, 1);
	ck_assert_str_ne(node->machine, "");
	BU_REASON_SET(&why, OTHER, .text = {"slow"});
	bu_measurements_state(rig.fleet, node, 5, &why, BU_STATE_READY);
	ck_assert_int_eq(bu_measurements_incidents(rig.fleet, node->machine, 5), 0);
	json_object_set_new(rig.fleet->measurements.soaked, node->machine,
			    json_integer(7));
	quarantine(&rig, node, 5);
	ck_assert_ptr_null(soaked_of(&rig, node)); /* what is repaired is new */
	quarantine(&rig, node, 6);
	list = json_object_get(rig.fleet->measurements.incidents, node->machine);
	ck_assert_uint_eq(json_array_size(list), 2);
	ck_assert_str_eq(bu_json_str(json_array_get(list, 1), "node", ""), "node001");
	ck_assert_str_eq(bu_json_str(json_array_get(list, 1), "reason", ""), "slow");
	for (int k = 0; k < 3; k++)
		ck_assert_int_eq(bu_measurements_incidents(rig.fleet, node->machine,
							   30 * DAY_MS + 5 + k),
				 2 - k);
	bu_node_set_machine(node, "");
	quarantine(&rig, node, 7);
	ck_assert_uint_eq(json_object_size(rig.fleet->measurements.incidents), 1);
	rig_end(&rig);
}
END_TEST

/* Each source has one word; withdrawn, the others' stay. One with an end holds until
 * then. */
START_TEST(an_outside_word_counts_until_it_is_withdrawn_or_over)
{
	static const struct {
		const char *body, *source;
		int64_t now_ms;
		size_t count;
	} rows[] = {
		{"{'source':'a','verdict':'pass'}", NULL, 0, 0},
		{"{'source':'a','verdict':'fail','text':'x','until_ms':10}", "a", 9, 1},
		{"{'source':'b','verdict':'fail','text':'y'}", "b", 10, 2},
		{"{'source':'a','verdict':'fail','text':'z'}", "a", 10, 2},
		{"{'source':'c','verdict':'fail','text':'z','until_ms':1}", "a", 10, 3},
		{"{'source':'a','verdict':'warn'}", "b", 10, 2},
		{"{'source':'b','verdict':'pass'}", NULL, 10, 1},
		{"{'source':'b','verdict':'pass'}", "c", 0, 1},
		{"{'source':'c','verdict':'pass'}", NULL, 0, 0},
	};
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 1);
	node = rig_node(&rig, 1);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_body_verdict *said;

		replay(&rig, BU_EVENT_VERDICT, "node001", rows[i].body);
		said = bu_measurements_external(node, rows[i].now_ms);
		ck_assert_uint_eq(node->verdicts_count, rows[i].count);
		ck_assert_msg((said != NULL) == (rows[i].source != NULL), "row %zu", i);
		if (said)
			ck_assert_str_eq(said->source, rows[i].source);
	}
	rig_end(&rig);
}
END_TEST

#define ROW(id, verdict, text)                                                         \
	"{'id':'" id "','verdict':'" verdict "','text':'" text "'}"

/* What failed is evidence, a slice of no time is no time; the last row of a name is
 * told, and how many there were. */
START_TEST(slices_add_up_and_say_what_they_showed)
{
	static const struct {
		const char *body, *words;
		int64_t ms;
		size_t changed;
	} rows[] = {
		{"{'verdict':'fail','ms':5,'peer':'p1','rows':[" ROW("soak-payload",
								     "fail", "x") "]}",
		 "", 0, 0},
		{"{'verdict':'pass','ms':5}", "", 5, 0},
		{"{'verdict':'warn','ms':0,'peer':'p1','rows':[" ROW(
			 "soak-clock", "warn", "slow") "]}",
		 "check soak-clock: warn: slow", 5, 0},
		{"{'verdict':'warn','ms':6,'rows':[" ROW("soak-payload", "warn",
							 "changed") "]}",
		 "check soak-clock: warn: slow\ncheck soak-payload: warn: changed", 11,
		 0},
		{"{'verdict':'warn','ms':1,'peer':'p1','rows':[" ROW(
			 "soak-payload", "warn", "again") "]}",
		 "check soak-clock: warn: slow\n"
		 "check soak-payload: warn in 2 slices, last: again",
		 12, 1},
	};
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);

	rig_inspect(&rig, 1);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *lines = json_array();
		bu_autofree char *text = NULL;

		replay(&rig, BU_EVENT_SOAK, "node001", rows[i].body);
		bu_measurements_soak_say(rig.fleet, node->machine, lines);
		text = rig_lines(lines);
		text[strlen(text) - (*text != '\0')] = '\0';
		ck_assert_str_eq(text, rows[i].words);
		ck_assert_int_eq(json_integer_value(soaked_of(&rig, node)), rows[i].ms);
		ck_assert_uint_eq(json_object_size(bu_measurements_changed(
					  rig.fleet, node->machine)),
				  rows[i].changed);
	}
	bu_node_set_machine(node, "");
	replay(&rig, BU_EVENT_SOAK, "node001", "{'verdict':'pass','ms':5}");
	ck_assert_uint_eq(json_object_size(rig.fleet->measurements.soaked), 1);
	rig_end(&rig);
}
END_TEST

/* Of all its pairs and of no other; later, where it is not validating now. */
START_TEST(what_is_measured_anew_forgets_what_was)
{
	static const char *const ends[][2] = {
		{"node001", "node002"}, {"node003", "node001"}, {"node002", "node003"}};
	struct rig rig;
	struct bu_node *node;
	struct bu_reason why = {0};

	rig_begin(&rig, 3);
	node = rig_node(&rig, 1);
	for (size_t i = 0; i < BU_LEN(ends); i++) {
		bu_autofree char *body = bu_xasprintf(
			"{'probe':'p','rail':'fabric','a':'%s','b':'%s','boot_a':'',"
			"'boot_b':''," FLOWS "}",
			ends[i][0], ends[i][1]);

		replay(&rig, BU_EVENT_PAIR, "", body);
	}
	node->live.checks_errors = 2;
	node->live.rails_good = 1;
	node->live.leaf_campaign.over = 1;
	node->live.leaf_campaign.state_seq = 7;
	node->state = BU_STATE_READY;
	bu_measurements_again(rig.fleet, node);
	ck_assert_int_eq(node->again, 1);
	ck_assert_uint_eq(rig.fleet->measurements.logs[0].count, 1);
	bu_measurements_state(rig.fleet, node, 1, &why, BU_STATE_PARKED);
	ck_assert_uint_eq(rig.fleet->measurements.logs[0].count, 1);
	bu_measurements_state(rig.fleet, node, 1, &why, BU_STATE_VALIDATING);
	ck_assert_uint_eq(rig.fleet->measurements.logs[0].count, 0);
	ck_assert_uint_eq(rig.fleet->measurements.logs[1].count, 0);
	ck_assert_uint_eq(rig.fleet->measurements.logs[2].count, 1);
	ck_assert_int_eq(node->live.checks_errors, 0);
	ck_assert_uint_eq(node->live.rails_good, 0);
	ck_assert_int_eq(node->live.leaf_campaign.over, 0);
	ck_assert_int_eq(node->live.leaf_campaign.state_seq, 0);
	node = rig_node(&rig, 2);
	bu_measurements_state(rig.fleet, node, 1, &why, BU_STATE_VALIDATING);
	ck_assert_uint_eq(rig.fleet->measurements.logs[2].count, 1);
	node->state = BU_STATE_VALIDATING;
	bu_measurements_again(rig.fleet, node);
	ck_assert_uint_eq(rig.fleet->measurements.logs[2].count, 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("measurements", what_was_measured_in_another_boot_counts_for_nothing,
	 what_is_of_one_way_is_kept_apart, a_result_keeps_its_figures,
	 a_pair_is_found_on_its_rail_whoever_is_named_first,
	 a_quarantine_counts_for_thirty_days,
	 an_outside_word_counts_until_it_is_withdrawn_or_over,
	 slices_add_up_and_say_what_they_showed, what_is_measured_anew_forgets_what_was)
