/* SPDX-License-Identifier: Apache-2.0 */
/* Instruments in doubt: what they say is measured again and decides nothing, whoever
 * asks for the measurement; and a node that does not go on says why. */
#include "provisioner/gate/gate.h"
#include "tests/support/gate.h"
#include "tests/support/row.h"

enum { NEVER = 1000000, BYTES = 65536 };

static void
joins(const struct rig *rig, int first, int last)
{
	for (int i = first; i <= last; i++) {
		struct bu_node *node = rig_node(rig, i);

		bu_autofree char *says = bu_reason_text(node->live.wait_reason);

		ck_assert_msg(node->state == BU_STATE_JOINING, "%s is %s (%s), says %s",
			      node->name, bu_state_name(node->state),
			      rig_said(node->reason), says);
		ck_assert_str_eq(says, "");
	}
}

/* The first so many probes are odd, in either way; then both get in by themselves. */
START_TEST(a_doubtful_probe_is_repeated_until_it_is_good)
{
	static const struct {
		int odd, clocks, seconds;
	} rows[] = {{1, 0, 10}, {1, 1, 10},  {2, 0, 15},
		    {2, 1, 15}, {5, 0, 200}, {5, 1, 200}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct links links = good_links();

		links.odd_until = rows[i].odd + 1;
		links.odd_clocks = rows[i].clocks;
		begin(&rig, 2);
		measure(&rig, &links, 2, rows[i].seconds);
		joins(&rig, 1, 2);
		ck_assert_int_eq(links.probed[1], rows[i].odd + 1);
		/* Nobody was switched off for it. */
		ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(the_repetition_is_the_same_then_of_another_size)
{
	static const json_int_t bytes[] = {BYTES, BYTES, BYTES / 2};
	struct rig rig;
	struct links links = good_links();

	links.odd_until = 4;
	begin(&rig, 2);
	for (int i = 0; i < 3; i++) {
		for (int s = 0; s < 20 && links.probed[1] <= i; s++)
			measure(&rig, &links, 2, 1);
		ck_assert_int_eq(links.probed[1], i + 1);
		ck_assert_int_eq(links.bytes[1], bytes[i]);
		ck_assert_int_eq(links.bytes[2], bytes[i]);
	}
	rig_end(&rig);
}
END_TEST

static const char *
last_error(const struct rig *rig)
{
	int place = bu_measurements_find(rig->fleet, "node001", "node002", "fabric");

	ck_assert_int_ge(place, 0);
	ck_assert_ptr_nonnull(rig->fleet->measurements.logs[place].last.error);
	return rig->fleet->measurements.logs[place].last.error;
}

/* Said within a look, seldom measured, and its deadline decides with the reason. */
START_TEST(a_doubt_without_end_is_named_and_the_deadline_decides)
{
	for (int clocks = 0; clocks < 2; clocks++) {
		const char *why = clocks ? "clock in doubt: 20.63 Mbit/s is more"
					 : "20.63 Mbit/s is more than the link can";
		struct rig rig;
		struct links links = good_links();
		struct bu_node *node;
		bu_autojson json_t *json = NULL;
		const char *trouble;

		links.odd_until = NEVER;
		links.odd_clocks = clocks;
		begin(&rig, 2);
		measure(&rig, &links, 2, 30);
		node = rig_node(&rig, 1);
		rig_reason_is(node->live.wait_reason, PROBES_IN_DOUBT);
		json = bu_node_to_json(node);
		trouble = rig_sentence(json_object_get(json, "says"));
		says(trouble, "3 probes node001 <-> node002 gave no usable result: ");
		says(trouble, why);
		says(last_error(&rig), why); /* as it is in the log */
		says(trouble, "it is measured again, once a minute");
		ck_assert_int_gt(bu_reconcile_deadline(rig.rec, node), 0);
		ck_assert_int_eq(links.probed[1], 3);
		measure(&rig, &links, 2, 500);
		ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
		ck_assert_int_ge(links.probed[1], 10); /* never given up silently */
		ck_assert_int_le(links.probed[1], 13);
		measure(&rig, &links, 2, 80);
		rig_until(&rig, node, BU_STATE_BOOTING);
		rig_reason_has(node->reason,
			       "the fabric was not measured within 600 s: ");
		rig_reason_has(node->reason, why);
		ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), 0);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(what_a_person_measures_counts)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *nodes[2];
	struct bu_err err = {0};

	links.odd_until = 4;
	begin(&rig, 2);
	/* Three that say nothing; the next one would come in a minute. */
	for (int s = 0; s < 30 && links.probed[1] < 3; s++)
		measure(&rig, &links, 2, 1);
	measure(&rig, &links, 2, 3);
	ck_assert_int_eq(links.probed[1], 3);
	for (int i = 0; i < 2; i++)
		nodes[i] = rig_node(&rig, i + 1);
	ck_assert_msg(bu_gate_run(rig.gate, nodes, 2, &err) != NULL, "%s", err.text);
	measure(&rig, &links, 2, 8);
	ck_assert_int_eq(links.probed[1], 4);
	joins(&rig, 1, 2);
	rig_end(&rig);
}
END_TEST

/* One pair says nothing; each of it is good with the third one. */
START_TEST(another_partner_is_asked)
{
	struct rig rig;
	struct links links = good_links();

	links.odd_until = NEVER;
	links.odd_node = 1;
	links.odd_peer = 2;
	begin(&rig, 3);
	measure(&rig, &links, 3, 60);
	joins(&rig, 1, 3);
	rig_end(&rig);
}
END_TEST

/* One node's instrument says nothing with anybody: the others go on without it, and it
 * does not wear out more partners than it needs to be named. */
START_TEST(one_bad_instrument_holds_back_its_node_alone)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	links.odd_until = NEVER;
	links.odd_node = 1;
	begin(&rig, 8);
	measure(&rig, &links, 8, 50);
	joins(&rig, 2, 8);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_reason_has(node->live.wait_reason,
		       "gave no usable result: 20.63 Mbit/s is more");
	/* Three with each of three, and those that a fourth was free for meanwhile. */
	ck_assert_int_le(links.probed[1], 12);
	measure(&rig, &links, 8, 100);
	ck_assert_int_ge(links.probed[1], 11);
	ck_assert_int_le(links.probed[1], 15);
	links.odd_until = 0; /* mended: nobody has to do anything */
	measure(&rig, &links, 8, 190);
	joins(&rig, 1, 1);
	rig_end(&rig);
}
END_TEST

static int64_t
much_later(const struct bu_clock *clock)
{
	static int64_t ms;

	return ms += 1000;
}

/* A disk that was full, say. Until then its nodes are busy, and nobody is judged. */
START_TEST(what_the_log_did_not_take_is_measured_again)
{
	struct rig rig;
	struct links links = good_links();
	const struct bu_clock dear = {.mono_ms = much_later};
	int place = -1;

	begin(&rig, 2);
	check_all(&rig, 2);
	bu_gate_set_stopwatch(rig.gate, &dear); /* the gate rests after this look */
	rig_pass(&rig, 2001);
	bu_gate_set_stopwatch(rig.gate, &rig.clock);
	links.broken = 1;
	agent(&rig, &links, 1);
	agent(&rig, &links, 2);
	for (int i = 0; i < 100 && place < 0; i++) {
		rig_pass(&rig, 1);
		place = bu_measurements_find(rig.fleet, "node001", "node002", "fabric");
	}
	ck_assert_int_ge(place, 0);
	strcpy(rig.fleet->measurements.logs[place].newest, "another");
	links.broken = 0;
	measure(&rig, &links, 2, 50);
	ck_assert_int_eq(links.probed[1], 1);
	measure(&rig, &links, 2, 30);
	joins(&rig, 1, 2);
	rig_end(&rig);
}
END_TEST

/* --- why it does not go on --- */

static int told;

static void
on_told(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	told++;
}

/* Within one look: the clock stands still, agents are silent. */
static void
look(struct rig *rig)
{
	rig_pass(rig, 2001);
}

START_TEST(each_reason_comes_and_goes_with_its_cause)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	char since[24];

	rig_begin(&rig, 2);
	rig_open_gate(&rig);
	bu_fleet_watch(rig.fleet, on_told, NULL);
	rig_to_validating(&rig, 1);
	node = rig_node(&rig, 1);
	node->live.last_seen_ms = 0;
	told = 0;
	look(&rig);
	rig_reason_is(node->live.wait_reason, UNHEARD);
	ck_assert_int_eq(told, 1);
	look(&rig);
	ck_assert_int_eq(told, 1); /* nothing changed, nobody is woken */
	node->live.last_seen_ms = rig.clock.fake_wall_ms;
	look(&rig);
	rig_reason_is(node->live.wait_reason, CHECKS_AWAITED);
	measure(&rig, &links, 1, 5);
	rig_reason_is(node->live.wait_reason, NO_PARTNER);
	bu_time_iso(node->live.last_seen_ms, since);
	rig_pass(&rig, 100000);
	look(&rig);
	rig_reason_is(node->live.wait_reason, UNHEARD_SINCE);
	ck_assert_str_eq(bu_reason_arg(node->live.wait_reason, "since"), since);
	ck_assert_int_gt(bu_reconcile_deadline(rig.rec, node), 0);
	measure(&rig, &links, 1, 3);
	rig_reason_is(node->live.wait_reason, NO_PARTNER);
	rig_to_validating(&rig, 2);
	measure(&rig, &links, 2, 8);
	joins(&rig, 1, 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_reason_is_gone_when_the_profile_is_mended)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1",
		  "cluster = hpc\nvalidation = pairs\n", "");
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	node = rig_node(&rig, 1);
	look(&rig);
	rig_reason_is(node->live.wait_reason, NO_VALIDATION);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d2", NULL, NULL);
	look(&rig);
	rig_reason_is(node->live.wait_reason, UNHEARD); /* what comes next */
	rig_end(&rig);
}
END_TEST

/* --- measured anew --- */

static void
note_again(struct rig *rig, struct bu_node *node, int moves)
{
	struct bu_event events[2];

	row_init(&events[0], BU_EVENT_AGAIN, node->name,
		 json_pack("{s:s}", "by", "ann"));
	if (moves)
		row_init(&events[1], BU_EVENT_STATE, node->name,
			 json_pack("{s:s,s:s,s:s,s:s}", "from",
				   bu_state_name(node->state), "to", "validating", "on",
				   "again", "reason", ""));
	bu_reconcile_note(rig->rec, events, moves ? 2 : 1);
	rig_pass(rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert_ptr_null(node->checks.body);
	ck_assert_int_eq(node->again, 1);
}

START_TEST(measured_anew_is_twice_the_rounds_and_forgets_the_old_ones)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin(&rig, 2);
	measure(&rig, &links, 2, 10);
	joins(&rig, 1, 2);
	ck_assert_int_eq(links.probed[1], 1);
	node = rig_node(&rig, 1);
	note_again(&rig, node, 1);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	rig_restart(&rig); /* the log knows it */
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->again, 1);
	measure(&rig, &links, 2, 30);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_eq(links.probed[1], 3);
	ck_assert_int_eq(node->again, 0);
	rig_end(&rig);
}
END_TEST

/* Its link became slow while it was being measured: the answer to what was asked before
 * is not heard any more. */
START_TEST(what_was_asked_before_a_person_measures_anew_counts_for_nothing)
{
	struct rig rig;
	struct links links = good_links();
	bu_autojson json_t *item = NULL, *good = NULL;
	struct bu_node *node;
	int place;

	begin(&rig, 2);
	check_all(&rig, 2);
	node = rig_node(&rig, 1);
	for (int i = 1; i <= 2; i++)
		rig_node(&rig, i)->live.last_seen_ms = rig.clock.fake_wall_ms;
	bu_gate_kick(rig.gate);
	rig_pass(&rig, 10);
	item = bu_gate_work(rig.gate, node);
	ck_assert_str_eq(bu_json_str(item, "kind", ""), "probe");
	good = result_of(&links, item);
	note_again(&rig, node, 0);
	bu_gate_result(rig.gate, node, bu_json_str(item, "id", ""), good, NULL);
	bu_gate_result(rig.gate, rig_node(&rig, 2), bu_json_str(item, "id", ""), good,
		       NULL);
	rig_pass(&rig, 10);
	place = bu_measurements_find(rig.fleet, "node001", "node002", "fabric");
	ck_assert(place < 0 || rig.fleet->measurements.logs[place].count == 0);
	rig_end(&rig);
}
END_TEST

START_TEST(out_of_quarantine_the_report_of_before_does_not_count)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin(&rig, 2);
	check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500, 9000 is wanted");
	rig_pass(&rig, 10);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	note_again(&rig, node, 1);
	measure(&rig, &links, 2, 30);
	joins(&rig, 1, 2);
	ck_assert_int_eq(links.probed[1], 2);
	rig_end(&rig);
}
END_TEST

static void
id_of_checks(struct rig *rig, char ret[BU_NAME_SIZE])
{
	bu_autojson json_t *item = bu_gate_work(rig->gate, rig_node(rig, 1));

	ck_assert_str_eq(bu_json_str(item, "kind", ""), "checks");
	bu_text_copy(ret, BU_NAME_SIZE, bu_json_str(item, "id", ""));
}

/* Its agent would answer the item of before from memory. */
START_TEST(after_a_restart_checks_are_asked_for_by_another_name)
{
	char before[BU_NAME_SIZE], after[BU_NAME_SIZE];
	struct rig rig;

	begin(&rig, 2);
	id_of_checks(&rig, before);
	check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500, 9000 is wanted");
	rig_pass(&rig, 10);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_QUARANTINED);
	rig_restart(&rig);
	note_again(&rig, rig_node(&rig, 1), 1);
	id_of_checks(&rig, after);
	ck_assert_str_ne(before, after);
	rig_end(&rig);
}
END_TEST

/* In service it keeps its certificates until it is taken out. */
START_TEST(who_is_to_be_measured_anew_later_keeps_what_it_has)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	struct bu_event event;

	begin(&rig, 2);
	measure(&rig, &links, 2, 10);
	node = rig_node(&rig, 1);
	row_init(&event, BU_EVENT_AGAIN, node->name, json_pack("{s:s}", "by", "ann"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), 0);
	ck_assert_ptr_nonnull(node->checks.body);
	rig_end(&rig);
}
END_TEST

/* --- a person's run --- */

static void
refuses(struct rig *rig, const char *part)
{
	struct bu_node *nodes[2] = {rig_node(rig, 1), rig_node(rig, 2)};
	struct bu_err err = {0};

	ck_assert_ptr_null(bu_gate_run(rig->gate, nodes, 2, &err));
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	says(err.text, part);
}

START_TEST(a_run_says_exactly_why_it_does_not_measure)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	rig_begin(&rig, 2);
	rig_open_gate(&rig);
	rig_to_validating(&rig, 2);
	rig_node(&rig, 2)->live.last_seen_ms = rig.clock.fake_wall_ms;
	refuses(&rig, "node001 is enrolled; its agent was not heard since bringupd");
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	node = rig_node(&rig, 1);
	node->live.last_seen_ms = rig.clock.fake_wall_ms;
	refuses(&rig, "node001 is imaging; it runs the boot ramdisk");
	rig_install(&rig, 1);
	rig_come_up(&rig, 1, "boot-1");
	measure(&rig, &links, 1, 1);
	rig_pass(&rig, 120000);
	rig_node(&rig, 2)->live.last_seen_ms = rig.clock.fake_wall_ms;
	refuses(&rig, "node001 is validating; its agent was not heard for 12");
	rig_end(&rig);
}
END_TEST

START_TEST(a_quarantined_and_a_held_node_that_answer_are_measured)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *nodes[2];
	struct bu_err err = {0};
	const char *id;
	bu_autojson json_t *run = NULL;

	begin(&rig, 2);
	check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500");
	rig_pass(&rig, 10);
	for (int i = 0; i < 2; i++) {
		nodes[i] = rig_node(&rig, i + 1);
		nodes[i]->live.last_seen_ms = rig.clock.fake_wall_ms;
	}
	ck_assert_int_eq(nodes[0]->state, BU_STATE_QUARANTINED);
	bu_node_hold(nodes[1])->owner = BU_OWNER_PERSON;
	id = bu_gate_run(rig.gate, nodes, 2, &err);
	ck_assert_msg(id != NULL, "%s", err.text);
	measure(&rig, &links, 2, 10);
	run = bu_gate_run_json(rig.gate, id);
	ck_assert_int_eq(bu_json_bool(run, "done", 0), 1);
	ck_assert_str_eq(bu_json_str(json_array_get(json_object_get(run, "pairs"), 0),
				     "verdict", ""),
			 "pass");
	ck_assert_int_eq(nodes[0]->state, BU_STATE_QUARANTINED);
	rig_end(&rig);
}
END_TEST

START_TEST(a_pair_that_a_run_misses_is_named)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *nodes[3];
	const char *id;
	bu_autojson json_t *run = NULL;
	const json_t *missed;

	begin(&rig, 3);
	measure(&rig, &links, 3, 20);
	joins(&rig, 1, 3);
	for (int i = 0; i < 3; i++)
		nodes[i] = rig_node(&rig, i + 1);
	id = bu_gate_run(rig.gate, nodes, 3, NULL);
	ck_assert_ptr_nonnull(id);
	nodes[0]->live.last_seen_ms -= 100000; /* gone */
	links.silent[1] = 1;
	measure(&rig, &links, 3, 10);
	run = bu_gate_run_json(rig.gate, id);
	ck_assert_int_eq(bu_json_bool(run, "done", 0), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(run, "pairs")), 1);
	missed = json_object_get(run, "missed");
	ck_assert_uint_eq(json_array_size(missed), 2);
	says(bu_json_str(json_array_get(missed, 0), "why", ""),
	     "node001 is joining; its agent was not heard for 1");
	rig_end(&rig);
}
END_TEST

/* What failed in one way and then in another has failed as often as both together. */
START_TEST(a_doubt_and_errors_after_it_add_up)
{
	struct rig rig;
	struct links links = good_links();

	links.odd_until = 2;
	begin(&rig, 2);
	for (int s = 0; s < 60 && links.probed[1] < 1; s++)
		measure(&rig, &links, 2, 1);
	links.broken = 1;
	measure(&rig, &links, 2, 40);
	ck_assert_int_eq(links.probed[1], 3); /* from now on one a minute */
	rig_reason_is(rig_node(&rig, 1)->live.wait_reason, PROBES_SILENT);
	rig_reason_has(rig_node(&rig, 1)->live.wait_reason,
		       "3 probes node001 <-> node002");
	links.broken = 0;
	measure(&rig, &links, 2, 80);
	joins(&rig, 1, 2);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("doubt", a_doubtful_probe_is_repeated_until_it_is_good,
	 the_repetition_is_the_same_then_of_another_size,
	 a_doubt_without_end_is_named_and_the_deadline_decides,
	 what_a_person_measures_counts, another_partner_is_asked,
	 one_bad_instrument_holds_back_its_node_alone,
	 what_the_log_did_not_take_is_measured_again,
	 each_reason_comes_and_goes_with_its_cause,
	 a_reason_is_gone_when_the_profile_is_mended,
	 measured_anew_is_twice_the_rounds_and_forgets_the_old_ones,
	 what_was_asked_before_a_person_measures_anew_counts_for_nothing,
	 out_of_quarantine_the_report_of_before_does_not_count,
	 after_a_restart_checks_are_asked_for_by_another_name,
	 who_is_to_be_measured_anew_later_keeps_what_it_has,
	 a_run_says_exactly_why_it_does_not_measure,
	 a_quarantined_and_a_held_node_that_answer_are_measured,
	 a_pair_that_a_run_misses_is_named, a_doubt_and_errors_after_it_add_up)
