/* SPDX-License-Identifier: Apache-2.0 */
/* How often the gate looks at a large site: however dear a look is, and however much
 * goes on that is none of its business. */
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/task.h"
#include "tests/support/gate.h"

enum { NODES = 200 };

/* Each reading is so much later than the one before: a look costs one or two. */
static int64_t reading_ms, step_ms;

static int64_t
later(const struct bu_clock *clock)
{
	reading_ms += step_ms;
	return reading_ms;
}

static const struct bu_clock dear = {.mono_ms = later, .wall_ms = later};

static int
joining(const struct rig *rig)
{
	int count = 0;

	for (int i = 1; i <= NODES; i++)
		count += rig_node(rig, i)->state == BU_STATE_JOINING;
	return count;
}

/* With a change every two seconds that has nothing to do with the gate. */
static int
minutes_until_joining(struct rig *rig, int64_t look_costs_ms, int minutes)
{
	struct links *links = bu_xcalloc(1, sizeof(*links));
	int second = 0;

	*links = good_links();
	rig_begin(rig, NODES);
	rig_open_gate(rig);
	step_ms = look_costs_ms;
	bu_gate_set_stopwatch(rig->gate, &dear);
	for (int i = 1; i <= NODES; i++)
		put_node(rig, i), put_checks(rig, i);
	rig_pass(rig, 1);
	for (; second < minutes * 60 && joining(rig) < NODES; second++) {
		measure(rig, links, NODES, 1);
		if (second % 2)
			bu_gate_kick(rig->gate);
	}
	free(links);
	ck_assert_msg(joining(rig) == NODES, "%d joined in %d minutes; node001: %s",
		      joining(rig), minutes,
		      bu_reason_info(rig_node(rig, 1)->live.wait_reason->code)->name);
	rig_end(rig);
	return second / 60;
}

static int
verified(const struct rig *rig)
{
	int count = 0;

	for (int i = 1; i <= NODES; i++)
		count += rig_node(rig, i)->live.full_look.as[0] != 0;
	return count;
}

/* At a start, or when another profile is applied: the loop has other work, too. */
START_TEST(certificates_are_verified_look_by_look)
{
	enum {
		STEP_MS = 20,
		REST_MS = 1020,
		OF_A_LOOK = 11,
		WHOLE = NODES - NODES % OF_A_LOOK
	};
	static const char *const switched[] = {"switch_fabric = hall\n",
					       "switch_fabric = hall\n"};
	struct rig rig;
	struct links *links = bu_xcalloc(1, sizeof(*links));

	*links = good_links();
	rig_begin(&rig, NODES);
	rig_open_gate(&rig);
	rig_give_rails_with(&rig, NODES, 2, switched);
	for (int i = 1; i <= NODES; i++)
		put_node(&rig, i), put_checks(&rig, i);
	measure(&rig, links, NODES, 60);
	for (int i = 1; i <= NODES; i++)
		put_event(&rig, BU_EVENT_STATE, rig_node(&rig, i)->name,
			  json_pack("{s:s,s:s}", "to", "ready", "on", "joined"));
	rig_pass(&rig, 1);
	rig_restart(&rig);
	step_ms = STEP_MS;
	bu_gate_set_stopwatch(rig.gate, &dear);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(verified(&rig), OF_A_LOOK);
	for (int i = 2 * OF_A_LOOK; i <= WHOLE; i += OF_A_LOOK) {
		rig_pass(&rig, REST_MS);
		ck_assert_int_eq(verified(&rig), i);
	}
	rig_pass(&rig, 10000);
	ck_assert_int_eq(verified(&rig), NODES);
	free(links);
	rig_end(&rig);
}
END_TEST

START_TEST(a_change_every_two_seconds_puts_no_look_off)
{
	struct rig rig;

	ck_assert_int_le(minutes_until_joining(&rig, 150, 5), 5);
}
END_TEST

/* A look of three seconds, as of thousands of nodes: it rests for ten, not for sixty.
 */
START_TEST(the_rest_after_a_dear_look_is_bounded)
{
	struct rig rig;

	ck_assert_int_le(minutes_until_joining(&rig, 3000, 8), 8);
}
END_TEST

/* Nothing changes, and no kick is lost: the next look comes by itself, and at once when
 * somebody asks for one. */
START_TEST(a_kick_brings_a_look_forward)
{
	struct rig rig;

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	ck_assert_ptr_nonnull(rig.gate);
	rig_node(&rig, 1)->live.last_seen_ms = 0;
	rig_pass(&rig, 100);
	rig_reason_is(rig_node(&rig, 1)->live.wait_reason, NONE);
	bu_gate_kick(rig.gate);
	rig_pass(&rig, 1);
	rig_reason_is(rig_node(&rig, 1)->live.wait_reason, UNHEARD);
	rig_end(&rig);
}
END_TEST

START_TEST(so_does_a_person_who_has_it_measured_anew)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err;

	begin(&rig, 1);
	check_all(&rig, 1);
	rig_pass(&rig, 2001);
	node = rig_node(&rig, 1);
	node->live.last_seen_ms = 0;
	rig_pass(&rig, 100);
	rig_reason_is(node->live.wait_reason, NO_PARTNER);
	ck_assert_msg(bu_gate_again(rig.gate, node, "root", &err) == 0, "%s", err.text);
	rig_pass(&rig, 1);
	rig_reason_is(node->live.wait_reason, UNHEARD);
	rig_end(&rig);
}
END_TEST

static int
joined_of(const struct rig *rig, int first, int last)
{
	int count = 0;

	for (int i = first; i <= last; i++)
		count += rig_node(rig, i)->state == BU_STATE_JOINING;
	return count;
}

enum { RACK = 16, CLEAN_S = 16, PROBE_S = 41 };

/* Whoever hangs with a probe in its hands keeps its partner for one probe's deadline,
 * and nobody else; nobody is certified for it, and it is asked again when it is back.
 */
START_TEST(a_node_that_hangs_holds_up_nobody_else)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, RACK);
	check_all(&rig, RACK);
	measure(&rig, &links, RACK, 2);
	links.silent[5] = 1;
	measure(&rig, &links, RACK, CLEAN_S);
	/* All but the one or two that were with it. */
	ck_assert_int_ge(joined_of(&rig, 1, RACK), RACK - 3);
	measure(&rig, &links, RACK, PROBE_S);
	ck_assert_int_eq(joined_of(&rig, 1, RACK), RACK - 1);
	ck_assert_int_eq(rig_node(&rig, 5)->state, BU_STATE_VALIDATING);
	links.silent[5] = 0;
	measure(&rig, &links, RACK, 120);
	ck_assert_int_eq(joined_of(&rig, 5, 5), 1);
	rig_end(&rig);
}
END_TEST

/* Three that hang from the beginning: as three times one, not one after the other. */
START_TEST(several_that_hang_do_not_add_up)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, RACK);
	check_all(&rig, RACK);
	links.silent[2] = links.silent[7] = links.silent[11] = 1;
	measure(&rig, &links, RACK, CLEAN_S + PROBE_S);
	ck_assert_int_eq(joined_of(&rig, 1, RACK), RACK - 3);
	rig_end(&rig);
}
END_TEST

/* An agent that does not come any more: nobody is given an item with it, and who was to
 * be measured with it goes on after seconds, not after a probe's own deadline. */
START_TEST(who_does_not_come_is_not_waited_for)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin(&rig, RACK);
	check_all(&rig, RACK);
	rig_pass(&rig, BU_GATE_HERE_MS + 2000);
	links.silent[5] = 1;
	measure(&rig, &links, RACK, CLEAN_S + 3 * BU_GATE_TAKE_MS / 1000);
	ck_assert_int_eq(joined_of(&rig, 1, RACK), RACK - 1);
	node = rig_node(&rig, 5);
	ck_assert_int_eq(links.probed[5], 0);
	ck_assert_int_eq(node->live.unanswered, 1);
	rig_text_has(bu_reason_arg(node->live.wait_reason, "error"),
		     "node005 did not come for its work in time");
	links.silent[5] = 0;
	measure(&rig, &links, RACK, 60);
	ck_assert_int_eq(joined_of(&rig, 5, 5), 1);
	rig_end(&rig);
}
END_TEST

/* Its partner said that it waited in vain: it is free a moment later. */
START_TEST(who_was_left_alone_goes_on)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, RACK);
	check_all(&rig, RACK);
	links.hung = 5;
	measure(&rig, &links, RACK, CLEAN_S + 2 * BU_GATE_GRACE_MS / 1000);
	ck_assert_int_eq(joined_of(&rig, 1, RACK), RACK - 1);
	ck_assert_int_eq(rig_node(&rig, 5)->state, BU_STATE_VALIDATING);
	ck_assert_int_eq(rig_node(&rig, 5)->live.unanswered, 1);
	links.hung = 0;
	measure(&rig, &links, RACK, 120);
	ck_assert_int_eq(joined_of(&rig, 5, 5), 1);
	rig_end(&rig);
}
END_TEST

/* It need not see what becomes of the other one: its next probe begins before that. */
START_TEST(who_was_left_alone_is_free_at_once)
{
	struct rig rig;
	struct links links = good_links();
	int others;

	begin(&rig, 4);
	check_all(&rig, 4);
	links.hung = 4;
	for (int i = 0; i < 20 && !links.probed[4]; i++)
		measure(&rig, &links, 4, 1);
	ck_assert_int_eq(links.probed[4], 1);
	others = links.probes;
	links.silent[4] = 1;
	measure(&rig, &links, 4, BU_GATE_GRACE_MS / 1000 - 2);
	ck_assert_int_eq(bu_task_is_busy(rig.gate, "node004"), 1);
	ck_assert_int_ge(links.probes - others, 2);
	rig_end(&rig);
}
END_TEST

/* Two that come by turns, each after the other one has looked in vain, meet all the
 * same. */
START_TEST(who_comes_seldom_is_met)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, BU_GATE_HERE_MS + 2000);
	for (int i = 0; i < 8 && !links.probed[1]; i++) {
		agent(&rig, &links, 1);
		rig_pass(&rig, BU_GATE_HERE_MS + 1000);
		agent(&rig, &links, 2);
		rig_pass(&rig, 1000);
	}
	ck_assert_int_eq(links.probed[1], 1);
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(joined_of(&rig, 1, 2), 2);
	rig_end(&rig);
}
END_TEST

static void
put_fact(struct rig *rig, int number, const char *id, const char *seen)
{
	bu_autojson json_t *facts = NULL;
	struct bu_checks report;
	struct bu_check *row;
	struct bu_event event;

	bu_checks_init(&report);
	snprintf(report.boot_id, sizeof(report.boot_id), "boot-%d", number);
	row = bu_checks_add(&report, "audit", id, BU_VERDICT_PASS, "mlx5_0");
	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->value, "%s", seen);
	facts = bu_gate_facts(&report);
	bu_event_init(&event, BU_EVENT_CHECKS, rig_node(rig, number)->name,
		      bu_report_body(&report, "", BU_UNSAID_INT, NULL));
	bu_event_attach(&event, "facts", bu_json_canonical(facts));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
	bu_checks_fini(&report);
}

static void
put_guid(struct rig *rig, int number, const char *guid)
{
	put_fact(rig, number, "guid", guid);
}

static int
is_double(struct rig *rig, int number, const char *guid)
{
	struct bu_checks report;
	struct bu_check *row;
	int found = 0;

	bu_checks_init(&report);
	row = bu_checks_add(&report, "audit", "guid", BU_VERDICT_PASS, "mlx5_0");
	BU_CHECK_SET(row->seen, "%s", guid);
	bu_gate_compare(rig->gate, rig_node(rig, number), &report);
	for (size_t i = 0; i < report.count; i++)
		found |= strcmp(report.list[i].id, "duplicate") == 0;
	bu_checks_fini(&report);
	return found;
}

/* A double far beyond those that are looked at anyway is found, and only as long as it
 * has that value. */
START_TEST(a_double_is_found_among_all_machines)
{
	struct rig rig;

	rig_begin(&rig, NODES);
	rig_open_gate(&rig);
	for (int i = 1; i <= NODES; i++)
		put_node(&rig, i), put_checks(&rig, i);
	rig_pass(&rig, 1);
	put_guid(&rig, 180, "0xabcd");
	rig_pass(&rig, 1);
	ck_assert_int_eq(is_double(&rig, 199, "0xabcd"), 1);
	ck_assert_int_eq(is_double(&rig, 199, "0xabce"), 0);
	put_guid(&rig, 180, "0xabce");
	rig_pass(&rig, 1);
	ck_assert_int_eq(is_double(&rig, 199, "0xabcd"), 0);
	ck_assert_int_eq(is_double(&rig, 199, "0xabce"), 1);
	ck_assert_int_eq(is_double(&rig, 180, "0xabce"), 0);
	rig_end(&rig);
}
END_TEST

static char rack[] = "r1";

static void
set_rack(struct rig *rig, int number, char *value)
{
	const struct bu_desired_node *want =
		bu_fleet_desired(rig->fleet, rig_node(rig, number));

	((struct bu_desired_node *)(uintptr_t)want)->rack = value;
}

static int
stands_out(struct rig *rig, int number, const char *domain)
{
	struct bu_checks report;
	struct bu_check *row;
	int found = 0;

	bu_checks_init(&report);
	row = bu_checks_add(&report, "gpu", BU_CHECK_GPU_FABRIC, BU_VERDICT_PASS,
			    "GPU 0");
	BU_CHECK_SET(row->value, "%s", domain);
	bu_gate_compare(rig->gate, rig_node(rig, number), &report);
	for (size_t i = 0; i < report.count; i++)
		found |= strcmp(report.list[i].id, "cohort-odd") == 0;
	bu_checks_fini(&report);
	return found;
}

/* Those of its rack, which may be far beyond those that are looked at anyway. */
START_TEST(a_domain_is_compared_with_those_of_its_rack)
{
	struct rig rig;

	rig_begin(&rig, NODES);
	rig_open_gate(&rig);
	for (int i = 1; i <= NODES; i++)
		put_node(&rig, i), put_checks(&rig, i);
	rig_pass(&rig, 1);
	for (int i = NODES - 3; i < NODES; i++) {
		put_fact(&rig, i, BU_CHECK_GPU_FABRIC, "abcd.1");
		set_rack(&rig, i, rack);
	}
	rig_pass(&rig, 1);
	ck_assert_int_eq(stands_out(&rig, NODES, "abcd.2"), 0);
	set_rack(&rig, NODES, rack);
	ck_assert_int_eq(stands_out(&rig, NODES, "abcd.2"), 1);
	ck_assert_int_eq(stands_out(&rig, NODES, "ef01.1"), 1);
	ck_assert_int_eq(stands_out(&rig, NODES, "abcd.1"), 0);
	for (int i = NODES - 3; i <= NODES; i++)
		set_rack(&rig, i, NULL);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("pace", a_domain_is_compared_with_those_of_its_rack,
	 certificates_are_verified_look_by_look, a_double_is_found_among_all_machines,
	 who_does_not_come_is_not_waited_for, who_was_left_alone_goes_on,
	 who_comes_seldom_is_met, who_was_left_alone_is_free_at_once,
	 a_node_that_hangs_holds_up_nobody_else, several_that_hang_do_not_add_up,
	 a_kick_brings_a_look_forward, so_does_a_person_who_has_it_measured_anew,
	 a_change_every_two_seconds_puts_no_look_off,
	 the_rest_after_a_dear_look_is_bounded)
