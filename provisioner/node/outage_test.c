/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes meet while the log cannot be written, and after it. */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "profiles/load/load.h"
#include "tests/support/baddisk.h"
#include "tests/support/gate.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

enum { HOUR_MS = 3600 * 1000 };

static const struct bu_condition *
disk_full(const struct rig *rig)
{
	return &rig->fleet->conditions[BU_CONDITION_DISK_FULL];
}

static void
room(struct rig *rig)
{
	bad_disk_install();
	rig_pass(rig, 2001);
	rig_pass(rig, 1001);
	ck_assert_ptr_null(bu_store_down(rig->store));
	ck_assert_int_eq(disk_full(rig)->on, 0);
}

START_TEST(a_full_disk_makes_bringup_read_only)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};
	int64_t version, since_ms;
	char kinds[4096];

	bad_disk_install();
	node = rig_up_to(&rig, RIG_ENROLLED);
	version = rig.fleet->version;
	rig_pass(&rig, 1000);
	rig_events_after(&rig, 0, kinds);
	bad_disk.full = 1;
	rig_fire(&rig, node, BU_TRIGGER_START);
	since_ms = bu_wall_ms(&rig.clock);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	ck_assert_int_eq(node->live.appending, 0);
	ck_assert_int_eq(node->order->begun, 0);
	ck_assert_int_eq(disk_full(&rig)->on, 1);
	ck_assert_int_le(disk_full(&rig)->since_ms - since_ms, 2);
	rig_text_has(rig_sentence(disk_full(&rig)->detail), "database or disk is full");
	ck_assert_int_gt(rig.fleet->version, version);
	ck_assert_int_eq(bu_reconcile_fire(rig.rec, node, BU_TRIGGER_START, NULL, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	rig_text_has(err.text, "bytes are free there");
	rig_why_says(&rig, node, "enrolled");
	rig_pass(&rig, HOUR_MS);
	rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	room(&rig);
	/* As it was, and what was out is in the log. */
	rig_events_after(&rig, 0, kinds + strlen(kinds));
	ck_assert_str_eq(kinds, "- order - order - - - ");
	rig_start(&rig, 1);
	rig_end(&rig);
}
END_TEST

static int
on_condition(const struct bu_event *event, void *arg)
{
	int64_t *times = arg;

	if (event->kind == BU_EVENT_CONDITION) {
		times[0]++;
		times[1] = bu_json_int(event->body, "since_ms", 0);
		times[2] = event->time_ms;
		times[3] = bu_json_bool(event->body, "on", 1);
	}
	return 0;
}

START_TEST(from_when_to_when_it_was_is_in_the_log)
{
	struct rig rig;
	int64_t times[4] = {0}, began_ms, ended_ms;

	bad_disk_install();
	rig_up_to(&rig, RIG_ENROLLED);
	bad_disk.full = 1;
	rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_START);
	began_ms = bu_wall_ms(&rig.clock);
	rig_pass(&rig, HOUR_MS);
	began_ms += HOUR_MS; /* only now it was tried */
	rig_pass(&rig, HOUR_MS);
	ended_ms = bu_wall_ms(&rig.clock);
	room(&rig);
	bu_ignore(bu_store_read(rig.store, 0, 0, on_condition, times, NULL));
	ck_assert_int_eq(times[0], 2);
	ck_assert_int_le(llabs(times[1] - began_ms), 5);
	ck_assert_int_le(times[2] - ended_ms, 3010);
	ck_assert_int_eq(times[3], 0);
	rig_end(&rig);
}
END_TEST

/* The disk becomes full when the first intent is in. */
static void
fill_at_intent(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	if (node && node->step.status == BU_STEP_OPEN)
		bad_disk.full = 1;
}

/* A boot that was done, and whose outcome could not be written. */
static struct bu_node *
lose_outcome(struct rig *rig)
{
	struct bu_node *node;

	bad_disk_install();
	node = rig_up_to(rig, RIG_ENROLLED);
	bu_fleet_watch(rig->fleet, fill_at_intent, NULL);
	rig_fire(rig, node, BU_TRIGGER_START);
	rig_pass(rig, 1);
	bu_fleet_unwatch(rig->fleet, fill_at_intent, NULL);
	ck_assert_int_eq(bad_disk.full, 1);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	ck_assert_int_eq(rig_count(rig, "boot network node001"), 1);
	rig_pass(rig, HOUR_MS);
	rig_pass(rig, HOUR_MS);
	ck_assert_int_eq(rig_count(rig, "boot network node001"), 1);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	return node;
}

START_TEST(an_outcome_that_could_not_be_written_is_observed)
{
	struct rig rig;
	struct bu_node *node = lose_outcome(&rig);

	room(&rig);
	rig_pass(&rig, 20000);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	rig_inspect(&rig, 1); /* its boot proves it */
	rig_end(&rig);
}
END_TEST

START_TEST(a_machine_that_is_off_after_it_is_booted)
{
	struct rig rig;
	struct bu_node *node = lose_outcome(&rig);

	rig_write(&rig, "power.node001", "off");
	room(&rig);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	rig_end(&rig);
}
END_TEST

/* What a BMC answers while nothing can be written begins nothing either. */
START_TEST(an_observation_on_a_full_disk_boots_nobody)
{
	struct rig rig;
	struct bu_node *node;

	lose_outcome(&rig);
	rig_write(&rig, "power.node001", "off");
	rig_restart(&rig); /* on the full disk */
	node = rig_node(&rig, 1);
	rig_pass(&rig, 1);
	ck_assert_int_eq(disk_full(&rig)->on, 1);
	rig_pass(&rig, HOUR_MS);
	rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	room(&rig);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(the_cluster_is_not_spoken_to_until_it_is_over)
{
	struct rig rig;
	struct bu_node *node;
	bu_autofree char *told = NULL;

	bad_disk_install();
	node = rig_up_to(&rig, RIG_JOINING);
	rig_write(&rig, "sinfo", "down*\n");
	rig_answer(&rig, node, NULL);
	rig_pass(&rig, 100);
	bad_disk.full = 1;
	ck_assert_int_eq(bu_store_put_blob(rig.store, "{}", (char[65]){""}, NULL), -1);
	rig_write(&rig, "sinfo", "drained\n");
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 1000);
	told = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(told, "");
	rig_write(&rig, "sinfo.next", "idle\n");
	room(&rig);
	rig_until(&rig, node, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(the_time_of_an_outage_is_given_back_and_no_more)
{
	struct rig rig;
	struct bu_node *node;

	bad_disk_install();
	node = rig_up_to(&rig, RIG_STARTED);
	rig_pass(&rig, 200 * 1000);
	bad_disk.full = 1;
	bu_ignore(bu_store_put_blob(rig.store, "{}", (char[65]){""}, NULL));
	for (int i = 0; i < 3; i++)
		rig_pass(&rig, HOUR_MS);
	room(&rig);
	rig_pass(&rig, 95 * 1000);
	ck_assert_int_eq(node->repeats, 0);
	rig_restart(&rig); /* the log knows it, too */
	node = rig_node(&rig, 1);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->repeats, 0);
	rig_pass(&rig, 61 * 1000);
	rig_pass(&rig, 1000);
	ck_assert_int_eq(node->repeats, 1);
	rig_end(&rig);
}
END_TEST

/* The row is in the log, its blob cannot be read: memory waits for it, and loses
 * nothing. */
START_TEST(what_is_in_the_log_and_cannot_be_read_is_read_later)
{
	struct rig rig;
	struct bu_event event;
	struct bu_tree *tree;
	bu_autojson json_t *value = NULL;
	bu_autofree char *text = NULL, *large = NULL;
	static const char line[] = "; no page that is read anyway has room for this\n";
	char revision[BU_DIGEST_SIZE];

	bad_disk_install();
	rig_begin(&rig, 1);
	large = bu_xcalloc(1, sizeof(line) + 400 * strlen(line));
	strcpy(large, "format = 1\n");
	for (int i = 0; i < 400; i++)
		strcat(large, line);
	tree = rig_tree(2, "format = 1\n", large);
	value = bu_tree_to_json(tree);
	text = bu_json_canonical(value);
	bu_tree_destroy(tree);
	ck_assert_int_eq(bu_store_put_blob(rig.store, text, revision, NULL), 0);
	rig_restart(&rig); /* so that it has to be read from the disk */
	rig_pass(&rig, 1);
	/* The pages that a row is written to are in memory. */
	row_init(&event, BU_EVENT_LEASE, "node001", json_object());
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	bad_disk.unread = 1;
	row_init(&event, BU_EVENT_APPLIED, "",
		 json_pack("{s:s,s:s,s:s}", "rollout", "r-2", "plan", "p", "revision",
			   revision));
	bu_reconcile_note(rig.rec, &event, 1);
	row_init(&event, BU_EVENT_LEASE, "node001", json_object());
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	ck_assert_str_ne(rig.fleet->revision, revision);
	rig_pass(&rig, 5000);
	ck_assert_str_ne(rig.fleet->revision, revision);
	room(&rig);
	ck_assert_str_eq(rig.fleet->revision, revision);
	ck_assert_ptr_nonnull(bu_fleet_node(rig.fleet, "node002"));
	rig_end(&rig);
}
END_TEST

/* All results of a probe come while the log takes nothing. */
START_TEST(a_probe_whose_result_was_lost_is_repeated)
{
	struct rig rig;
	struct links links = good_links();

	bad_disk_install();
	begin(&rig, 2);
	check_all(&rig, 2);
	for (int i = 0; i < 30 && !links.probes; i++) {
		agent(&rig, &links, 1);
		if (!links.probes)
			rig_pass(&rig, 1000);
	}
	ck_assert_int_eq(links.probes, 1);
	bad_disk.full = 1;
	measure(&rig, &links, 2, 10);
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), 0);
	room(&rig);
	measure(&rig, &links, 2, 120);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* The disk becomes full between a state and the first intent in it. */
static void
fill_at_state(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	if (node && node->state == BU_STATE_INSPECTING)
		bad_disk.full = 1;
}

START_TEST(a_refused_intent_is_not_asked_for_again_and_again)
{
	struct rig rig;
	struct bu_node *node;
	int64_t appended;

	bad_disk_install();
	node = rig_up_to(&rig, RIG_ENROLLED);
	bu_fleet_watch(rig.fleet, fill_at_state, NULL);
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	appended = bu_store_appended(rig.store);
	for (int i = 0; i < 10; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(bu_store_appended(rig.store), appended);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	bu_fleet_unwatch(rig.fleet, fill_at_state, NULL);
	room(&rig);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_end(&rig);
}
END_TEST

static int
add_up(const struct bu_event *event, void *arg)
{
	int64_t *lasted_ms = arg;

	if (event->kind == BU_EVENT_STARTED)
		*lasted_ms += bu_json_int(event->body, "lasted_ms", 0);
	return 0;
}

/* The first row of a process is in the log, and its sync failed: another first row
 * follows when it is known. */
START_TEST(a_life_is_counted_once)
{
	struct rig rig;
	int64_t lasted_ms = 0;

	bad_disk_install();
	rig_up_to(&rig, RIG_STARTED);
	for (int i = 0; i < 100; i++)
		rig_pass(&rig, 1000);
	bad_disk.syncs = -1;
	rig_restart(&rig);
	rig_pass(&rig, 10000);
	room(&rig);
	bu_ignore(bu_store_read(rig.store, 0, 0, add_up, &lasted_ms, NULL));
	ck_assert_int_ge(lasted_ms, 99 * 1000);
	ck_assert_int_le(lasted_ms, 101 * 1000);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("outage", a_refused_intent_is_not_asked_for_again_and_again,
	 a_life_is_counted_once, a_full_disk_makes_bringup_read_only,
	 from_when_to_when_it_was_is_in_the_log,
	 an_outcome_that_could_not_be_written_is_observed,
	 a_machine_that_is_off_after_it_is_booted,
	 an_observation_on_a_full_disk_boots_nobody,
	 the_cluster_is_not_spoken_to_until_it_is_over,
	 the_time_of_an_outage_is_given_back_and_no_more,
	 what_is_in_the_log_and_cannot_be_read_is_read_later,
	 a_probe_whose_result_was_lost_is_repeated)
