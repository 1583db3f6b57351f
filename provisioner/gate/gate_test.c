/* SPDX-License-Identifier: Apache-2.0 */
/* The gate over nodes of paper: what their links carry is a table of this test. */
#include "provisioner/gate/gate.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "fabric/judge/fabcert.h"
#include "model/check.h"
#include "model/result.h"
#include "tests/support/unit.h"
#include "tests/support/world.h"

/* Of a link of 0.02 Gbit/s 80 % must arrive. */
static const double good = 0.019, slow = 0.005;

struct links {
	double sends[5], receives[5]; /* by number of the node, Gbit/s */
	int silent[5];                /* does not answer any more */
	int broken;                   /* no probe gives a result */
	int probes;
	int probed[5]; /* work items that this node was given */
};

static struct links
good_links(void)
{
	struct links links = {.probes = 0};

	for (int i = 0; i < 5; i++)
		links.sends[i] = links.receives[i] = good;
	return links;
}

static int
number_of(const char *name)
{
	return (int)strtol(name + 4, NULL, 10);
}

static double
rate(const struct links *links, int from, int to)
{
	return links->sends[from] < links->receives[to] ? links->sends[from]
							: links->receives[to];
}

static json_t *
result_of(const struct links *links, const json_t *item)
{
	struct bu_pair_result result;
	int number[2];

	bu_pair_result_init(&result);
	snprintf(result.probe, sizeof(result.probe), "%s",
		 bu_json_str(item, "probe", ""));
	for (int i = 0; i < 2; i++) {
		const char *name = bu_json_str(item, i ? "b" : "a", "");

		snprintf(result.end[i].node, sizeof(result.end[i].node), "%s", name);
		strcpy(result.end[i].device, "rxe0");
		number[i] = number_of(name);
	}
	for (int dir = 0; dir < 2; dir++) {
		result.dir[dir].lat_count = 200;
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(&result.dir[dir],
					rate(links, number[dir], number[!dir]));
	}
	return bu_pair_result_to_json(&result);
}

/* A report with one row of this verdict. */
static json_t *
report_of(const struct bu_node *node, const char *id, enum bu_verdict verdict,
	  const char *text)
{
	struct bu_checks checks;
	struct bu_check *row;
	json_t *value;

	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
	row = bu_checks_add(&checks, strncmp(id, "site:", 5) ? "audit" : "site", id,
			    verdict, "eth1");
	BU_CHECK_SET(row->text, "%s", text);
	BU_CHECK_SET(row->hint, "set it");
	value = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return value;
}

/* An agent comes for its checks and tells this; 0 when it was asked for none. */
static int
check(struct rig *rig, int number, const char *id, enum bu_verdict verdict,
      const char *text)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = bu_gate_work(rig->gate, node), *report = NULL;

	node->last_seen_ms = rig->clock.fake_wall_ms;
	if (!item || strcmp(bu_json_str(item, "kind", ""), "checks") != 0)
		return 0;
	report = report_of(node, id, verdict, text);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), report, NULL);
	rig_pass(rig, 1);
	return 1;
}

/* Nodes 1 to count are checked, and good. */
static void
check_all(struct rig *rig, int count)
{
	for (int i = 1; i <= count; i++)
		check(rig, i, "nic-mtu", BU_VERDICT_PASS, "");
}

/* An agent comes for work, does it, tells the result. */
static void
agent(struct rig *rig, struct links *links, int number)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = NULL, *result = NULL;
	struct bu_err failure;

	if (links->silent[number])
		return;
	node->last_seen_ms = rig->clock.fake_wall_ms;
	if (check(rig, number, "nic-mtu", BU_VERDICT_PASS, ""))
		return;
	item = bu_gate_work(rig->gate, node);
	if (!item)
		return;
	ck_assert_str_eq(bu_json_str(item, "node", ""), node->name);
	links->probes++;
	links->probed[number]++;
	if (links->broken) {
		bu_err_set(&failure, BU_ERR_IO, 0, "no device rxe0");
		bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), NULL,
			       &failure);
		return;
	}
	result = result_of(links, item);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), result, NULL);
}

/* So many seconds of all agents of nodes 1 to count. */
static void
measure(struct rig *rig, struct links *links, int count, int seconds)
{
	for (int second = 0; second < seconds; second++) {
		for (int i = 1; i <= count; i++)
			agent(rig, links, i);
		rig_pass(rig, 1000);
	}
}

static void
begin(struct rig *rig, int nodes)
{
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
}

static void
says(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' does not say '%s'", text, part);
}

static int
count_kind(const struct bu_event *event, void *arg)
{
	int *counts = arg;

	counts[event->kind]++;
	return 0;
}

static int
events_of(const struct rig *rig, enum bu_event_kind kind)
{
	int counts[BU_EVENT_COUNT] = {0};

	bu_store_read(rig->store, 0, 0, count_kind, counts, NULL);
	return counts[kind];
}

START_TEST(two_good_nodes_prove_each_other)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	measure(&rig, &links, 2, 10);
	for (int i = 1; i <= 2; i++) {
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
		ck_assert_int_eq(bu_world_certified(rig.world, rig_node(&rig, i), NULL),
				 0);
		ck_assert_int_eq(links.probed[i], 1);
	}
	ck_assert_int_eq(events_of(&rig, BU_EVENT_PAIR), 1);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_LEASE), 0);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), 4);
	rig_end(&rig);
}
END_TEST

START_TEST(a_work_item_is_complete)
{
	struct rig rig;
	bu_autojson json_t *a = NULL, *b = NULL;

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	a = bu_gate_work(rig.gate, rig_node(&rig, 1));
	b = bu_gate_work(rig.gate, rig_node(&rig, 2));
	ck_assert_str_eq(bu_json_str(a, "role", ""), "connect");
	ck_assert_str_eq(bu_json_str(b, "role", ""), "listen");
	ck_assert_str_eq(bu_json_str(a, "addr", ""), "10.77.0.12");
	ck_assert_str_eq(bu_json_str(b, "addr", ""), "10.77.0.12");
	ck_assert_str_eq(bu_json_str(b, "peer", ""), "10.77.0.11");
	ck_assert_str_eq(bu_json_str(a, "local_ip", ""), "10.78.0.11");
	ck_assert_str_eq(bu_json_str(b, "local_ip", ""), "10.78.0.12");
	ck_assert_str_eq(bu_json_str(a, "secret", "a"), bu_json_str(b, "secret", "b"));
	ck_assert_uint_eq(strlen(bu_json_str(a, "secret", "")), 64);
	rig_end(&rig);
}
END_TEST

START_TEST(a_slow_pair_waits_and_says_so)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	links.sends[2] = links.receives[2] = slow;
	measure(&rig, &links, 2, 1000); /* longer than validating may last */
	for (int i = 1; i <= 2; i++) {
		struct bu_node *node = rig_node(&rig, i);
		bu_autofree char *why = bu_reconcile_why(rig.rec, node);

		ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
		ck_assert_int_eq(node->repeats, 0);
		says(node->waiting, "slow pair with node00");
		says(node->waiting,
		     "no third machine or certified partner can tell which");
		says(why, "waits: slow pair with");
		ck_assert_int_eq(links.probed[i], 4); /* once, and three times again */
	}
	ck_assert_int_eq(events_of(&rig, BU_EVENT_HELD), 0);
	bu_clock_advance(&rig.clock, 24 * 3600 * 1000);
	measure(&rig, &links, 2, 5);
	for (int i = 1; i <= 2; i++) {
		says(rig_node(&rig, i)->held_reason, "slow pair with node00");
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_VALIDATING);
	}
	ck_assert_int_eq(events_of(&rig, BU_EVENT_HELD), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(of_three_the_slow_one_is_named)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 3);
	links.sends[2] = links.receives[2] = slow;
	measure(&rig, &links, 3, 90);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_QUARANTINED);
	says(rig_node(&rig, 2)->reason, "5.00 Mbit/s");
	says(rig_node(&rig, 2)->reason, "16.00 Mbit/s");
	says(rig_node(&rig, 2)->reason, "node001");
	says(rig_node(&rig, 2)->reason, "node003");
	ck_assert_int_eq(bu_world_certified(rig.world, rig_node(&rig, 2), NULL), -1);
	rig_end(&rig);
}
END_TEST

/* Whichever node is slow, and in whichever direction. */
START_TEST(one_slow_half_accuses_its_node_and_no_other)
{
	for (int bad = 1; bad <= 3; bad++) {
		for (int half = 0; half < 2; half++) {
			struct rig rig;
			struct links links = good_links();

			begin(&rig, 3);
			*(half ? &links.receives[bad] : &links.sends[bad]) = slow;
			measure(&rig, &links, 3, 90);
			for (int i = 1; i <= 3; i++)
				ck_assert_msg(rig_node(&rig, i)->state ==
						      (i == bad ? BU_STATE_QUARANTINED
								: BU_STATE_JOINING),
					      "node %d, slow %d, half %d: %s", i, bad,
					      half,
					      bu_state_name(rig_node(&rig, i)->state));
			says(rig_node(&rig, bad)->reason, half ? "receives" : "sends");
			rig_end(&rig);
		}
	}
}
END_TEST

START_TEST(a_late_node_borrows_a_certified_partner)
{
	struct rig rig;
	struct links links = good_links();
	int certificates, leases, before;

	rig_begin(&rig, 3);
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	rig_to_validating(&rig, 2);
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_LEASE), 0);
	certificates = events_of(&rig, BU_EVENT_CERTIFICATE);
	rig_to_validating(&rig, 3);
	before = links.probed[3];
	links.sends[3] = links.receives[3] = slow;
	measure(&rig, &links, 3, 90);
	leases = events_of(&rig, BU_EVENT_LEASE);
	ck_assert_int_eq(leases, links.probed[3] - before);
	ck_assert_int_gt(links.probed[1], 1); /* both were asked */
	ck_assert_int_gt(links.probed[2], 1);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_QUARANTINED);
	/* and the certified ones were not judged by it */
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), certificates);
	rig_end(&rig);
}
END_TEST

START_TEST(who_waited_for_a_partner_is_not_late_when_one_comes)
{
	struct rig rig;
	struct links links = good_links();

	rig_begin(&rig, 2);
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	measure(&rig, &links, 1, 2000);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
	says(rig_node(&rig, 1)->waiting, "no partner");
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, rig_node(&rig, 1)), 0);
	rig_to_validating(&rig, 2);
	rig_node(&rig, 1)->last_seen_ms = rig.clock.fake_wall_ms;
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	ck_assert_str_eq(rig_node(&rig, 1)->waiting, ""); /* being probed */
	rig_pass(&rig, 2001);
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(three_probes_without_a_result_end_with_their_reason)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	bu_autofree char *why = NULL;

	begin(&rig, 2);
	links.broken = 1;
	measure(&rig, &links, 2, 60);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(links.probed[1], 3);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_PAIR), 3);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert_str_eq(node->waiting, ""); /* its deadline goes on */
	why = bu_reconcile_why(rig.rec, node);
	says(why, "3 probes node001 <-> node002 gave no result");
	says(why, "no device rxe0");
	measure(&rig, &links, 2, 545);
	rig_until(&rig, node, BU_STATE_BOOTING); /* the ladder */
	says(node->reason, "the fabric was not measured within 600 s: 3 probes");
	rig_end(&rig);
}
END_TEST

START_TEST(a_silent_end_is_named_in_time)
{
	struct rig rig;
	struct links links = good_links();
	const json_t *pair;

	begin(&rig, 2);
	check_all(&rig, 2);
	links.silent[2] = 1;
	links.broken = 0;
	measure(&rig, &links, 1, 2);
	rig_node(&rig, 2)->last_seen_ms = rig.clock.fake_wall_ms;
	for (int i = 0; i < 300 && !events_of(&rig, BU_EVENT_PAIR); i++)
		measure(&rig, &links, 1, 1);
	pair = json_array_get(rig.world->pairs, 0);
	ck_assert_ptr_nonnull(pair);
	/* one end told a result: it counts, though the other end is silent */
	ck_assert_str_eq(bu_json_str(pair, "verdict", ""), "pass");
	rig_end(&rig);
}
END_TEST

/* An agent that reports something else than it was asked. */
START_TEST(a_result_of_other_nodes_proves_nothing)
{
	static const char *const spoil[][2] = {
		{"probe", "p-other"}, {"a", "node009"}, {"b", "node001"}};

	for (size_t i = 0; i < BU_LEN(spoil); i++) {
		struct rig rig;
		const json_t *pair;

		begin(&rig, 2);
		check_all(&rig, 2);
		rig_pass(&rig, 2001);
		for (int k = 1; k <= 2; k++) {
			struct links links = good_links();
			bu_autojson json_t *item =
				bu_gate_work(rig.gate, rig_node(&rig, k));
			bu_autojson json_t *result = NULL;

			ck_assert_ptr_nonnull(item);
			result = result_of(&links, item);
			if (i == 0)
				json_object_set_new(result, "probe",
						    json_string(spoil[i][1]));
			else
				json_object_set_new(
					json_object_get(result, spoil[i][0]), "node",
					json_string(spoil[i][1]));
			bu_gate_result(rig.gate, rig_node(&rig, k),
				       bu_json_str(item, "id", ""), result, NULL);
		}
		rig_pass(&rig, 1);
		pair = json_array_get(rig.world->pairs, 0);
		ck_assert_str_eq(bu_json_str(pair, "verdict", ""), "inconclusive");
		says(bu_json_str(pair, "error", ""), "not of this one");
		rig_pass(&rig, 10);
		ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), 0);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(an_error_in_any_alphabet_is_journaled)
{
	struct rig rig;
	struct bu_err failure = {.kind = BU_ERR_IO};
	const json_t *pair;

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	for (size_t i = 0; i + 2 < sizeof(failure.text); i += 2)
		memcpy(failure.text + i, "\xc3\xa9", 2);
	for (int k = 1; k <= 2; k++) {
		bu_autojson json_t *item = bu_gate_work(rig.gate, rig_node(&rig, k));

		bu_gate_result(rig.gate, rig_node(&rig, k), bu_json_str(item, "id", ""),
			       NULL, &failure);
	}
	rig_pass(&rig, 1);
	pair = json_array_get(rig.world->pairs, 0);
	says(bu_json_str(pair, "error", ""), "\xc3\xa9\xc3\xa9");
	rig_end(&rig);
}
END_TEST

START_TEST(results_and_words_outlive_a_restart)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	links.sends[2] = links.receives[2] = slow;
	measure(&rig, &links, 2, 10);
	rig_restart(&rig);
	links.probes = 0;
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(links.probes, 0); /* it is in the log */
	says(rig_node(&rig, 1)->waiting, "slow pair with node002");
	rig_come_up(&rig, 2, "boot-new"); /* a new boot is a new machine */
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(links.probes, 8);
	rig_end(&rig);
}
END_TEST

START_TEST(without_a_validation_nobody_joins)
{
	struct rig rig;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1",
		  "cluster = hpc\nvalidation = pairs\n", "");
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	rig_pass(&rig, 2001);
	says(rig_node(&rig, 1)->waiting, "pool train names no validation");
	bu_clock_advance(&rig.clock, 24 * 3600 * 1000);
	rig_pass(&rig, 2001);
	rig_pass(&rig, 2001);
	says(rig_node(&rig, 1)->held_reason, "names no validation");
	rig_end(&rig);
}
END_TEST

/* What the check says is why the node is out, with what to do and the evidence. */
START_TEST(a_failing_check_quarantines_with_its_words)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};
	bu_autojson json_t *shown = NULL;
	bu_autofree char *why = NULL;

	begin(&rig, 2);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(
		check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500, 9000 is wanted"),
		1);
	rig_pass(&rig, 10);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	says(node->reason, "check nic-mtu (eth1): MTU 1500, 9000 is wanted; set it");
	shown = bu_gate_show(rig.gate, node, &err);
	ck_assert_msg(shown != NULL, "%s", err.text);
	ck_assert_str_eq(bu_json_str(shown, "hint", ""), "set it");
	ck_assert_uint_eq(json_array_size(json_object_get(
				  json_object_get(shown, "checks"), "checks")),
			  1);
	ck_assert_uint_gt(json_array_size(json_object_get(shown, "events")), 3);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_EVIDENCE), 1);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(bu_json_str(node->checks, "verdict", ""), "fail");
	ck_assert_uint_eq(strlen(node->evidence), 64);
	rig_end(&rig);
}
END_TEST

START_TEST(a_site_check_holds_back_with_its_own_words)
{
	struct rig rig;

	begin(&rig, 2);
	check(&rig, 1, "site:nhc", BU_VERDICT_FAIL,
	      "ERROR:  nhc:  /scratch not mounted");
	rig_pass(&rig, 10);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_QUARANTINED);
	says(rig_node(&rig, 1)->reason, "ERROR:  nhc:  /scratch not mounted");
	rig_end(&rig);
}
END_TEST

/* Nobody is measured who gave no report of this boot. */
START_TEST(without_a_report_nobody_is_measured)
{
	struct rig rig;
	struct bu_err failure = {.kind = BU_ERR_IO};

	begin(&rig, 2);
	strcpy(failure.text, "no /sys");
	for (int i = 0; i < 5; i++) {
		struct bu_node *node = rig_node(&rig, 1);
		bu_autojson json_t *item = bu_gate_work(rig.gate, node);
		bu_autojson json_t *other =
			report_of(rig_node(&rig, 2), "nic-mtu", BU_VERDICT_PASS, "");

		node->last_seen_ms = rig.clock.fake_wall_ms;
		json_object_set_new(other, "boot_id", json_string("another"));
		if (item)
			bu_gate_result(rig.gate, node, bu_json_str(item, "id", ""),
				       i ? other : NULL, i ? NULL : &failure);
		ck_assert_int_eq(item != NULL, i < 3);
		rig_pass(&rig, 2001);
	}
	check(&rig, 2, "nic-mtu", BU_VERDICT_PASS, "");
	rig_pass(&rig, 2001);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CHECKS), 1);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_PAIR), 0);
	says(rig_node(&rig, 1)->trouble,
	     "gave no report, 3 times: the report is of boot");
	rig_end(&rig);
}
END_TEST

START_TEST(an_outside_system_can_quarantine_and_never_certify)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	struct bu_err err = {0};
	int64_t until_ms;

	begin(&rig, 3);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(bu_gate_external(rig.gate, node, "dcgm", "good", "", 0, &err),
			 -1);
	ck_assert_int_eq(bu_gate_external(rig.gate, node, "dcgm", "pass", "", 0, NULL),
			 0);
	rig_pass(&rig, 2001);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert_int_eq(bu_gate_external(rig.gate, node, "dcgm", "fail",
					  "Xid 79 on GPU 3", 0, NULL),
			 0);
	rig_pass(&rig, 2001);
	rig_pass(&rig, 2001);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	says(node->reason, "dcgm says: Xid 79 on GPU 3");
	measure(&rig, &links, 3, 30);
	node = rig_node(&rig, 2);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	until_ms = rig.clock.fake_wall_ms + 10000;
	bu_gate_external(rig.gate, node, "dcgm", "fail", "hot", until_ms, NULL);
	rig_pass(&rig, 2001);
	rig_pass(&rig, 2001);
	says(node->held_reason, "dcgm says: hot"); /* in service: held, and seen */
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_pass(&rig, 10000);
	rig_pass(&rig, 2001);
	ck_assert_str_eq(node->held_by, ""); /* it expired */
	rig_end(&rig);
}
END_TEST

/* Ordered anew, and up in a boot of its own. */
static void
again_to_validating(struct rig *rig, int nodes, int number, const char *boot_id)
{
	rig_apply(rig, nodes, BU_CLASS_REIMAGE, "d1", NULL, NULL);
	rig_start(rig, number);
	rig_inspect(rig, number);
	rig_install(rig, number);
	rig_come_up(rig, number, boot_id);
}

/* The same machine twice in 30 days, whatever it was installed with between. */
START_TEST(a_lemon_is_held_until_a_person_looked)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin(&rig, 2);
	for (int time = 1; time <= 2; time++) {
		node = rig_node(&rig, 1);
		check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500");
		rig_pass(&rig, 10);
		ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
		ck_assert_int_eq(bu_proofs_incidents(rig.world, node->machine,
						     rig.clock.fake_wall_ms),
				 time);
		again_to_validating(&rig, 2, 1, time == 1 ? "boot-b" : "boot-c");
	}
	measure(&rig, &links, 2, 10);
	says(node->held_reason,
	     "lemon: this machine was quarantined 2 times in 30 days");
	says(node->held_reason, "MTU 1500");
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(node->held_by, "bringup");
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", NULL), 0);
	measure(&rig, &links, 2, 30);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Who was quarantined lately meets twice as many. */
START_TEST(readmission_needs_twice_the_rounds)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500");
	rig_pass(&rig, 10);
	again_to_validating(&rig, 2, 1, "boot-b");
	measure(&rig, &links, 2, 40);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(links.probed[1], 2);
	rig_end(&rig);
}
END_TEST

/* The slices are added up over restarts; a fault in one quarantines. */
START_TEST(the_soak_goes_on_after_a_restart)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 2, BU_CLASS_INSTALL, "d1", "fabric = fabric\n",
		  "fabric = fabric\nsoak = 25 m\n");
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	for (int slice = 0; slice < 3; slice++) {
		bu_autojson json_t *item = NULL, *report = NULL;

		if (slice == 0)
			check(&rig, 1, "nic-mtu", BU_VERDICT_PASS, "");
		node = rig_node(&rig, 1);
		node->last_seen_ms = rig.clock.fake_wall_ms;
		rig_pass(&rig, 2001);
		says(node->waiting, slice == 0   ? "soaks: 0 of 25 minutes"
				    : slice == 1 ? "soaks: 10 of 25 minutes"
						 : "soaks: 20 of 25 minutes");
		item = bu_gate_work(rig.gate, node);
		ck_assert_ptr_nonnull(item);
		ck_assert_int_eq(
			bu_json_int(json_object_get(json_object_get(item, "expect"),
						    "soak"),
				    "slice_ms", 0),
			slice < 2 ? 600000 : 300000);
		report = report_of(node, "edac", BU_VERDICT_PASS, "");
		bu_gate_result(rig.gate, node, bu_json_str(item, "id", ""), report,
			       NULL);
		rig_pass(&rig, 1);
		if (slice == 0)
			rig_restart(&rig);
	}
	node->last_seen_ms = rig.clock.fake_wall_ms;
	rig_pass(&rig, 2001);
	says(node->waiting, "no partner"); /* measured from now on */
	ck_assert_int_eq(events_of(&rig, BU_EVENT_SOAK), 3);
	rig_end(&rig);
}
END_TEST

/* What a certificate says follows from its seed and its figures. */
START_TEST(certificates_replay)
{
	struct rig rig;
	struct links links = good_links();
	const char *text;
	bu_autojson json_t *cert = NULL, *moved = NULL, *slower = NULL;
	json_t *result;
	struct bu_err err = {0};

	begin(&rig, 3);
	measure(&rig, &links, 3, 40);
	text = bu_json_str(rig_node(&rig, 2)->full_cert, "text", "");
	cert = bu_fabcert_verify(text, strlen(text), rig.world->public_pem, &err);
	ck_assert_msg(cert != NULL, "%s", err.text);
	ck_assert_uint_eq(json_array_size(json_object_get(cert, "results")), 2);
	ck_assert_str_eq(bu_json_str(json_object_get(cert, "checks"), "verdict", ""),
			 "pass");
	ck_assert_msg(bu_fabcert_replay(cert, &err) == 0, "%s", err.text);
	moved = json_deep_copy(cert);
	result = json_array_get(json_object_get(moved, "results"), 0);
	json_object_set_new(result, "round",
			    json_integer(bu_json_int(result, "round", 0) + 1));
	ck_assert_int_eq(bu_fabcert_replay(moved, &err), -1);
	says(err.text, "the schedule pairs");
	slower = json_deep_copy(cert);
	result = json_object_get(json_array_get(json_object_get(slower, "results"), 0),
				 "a_to_b");
	for (size_t i = 0; i < 5; i++)
		json_array_set_new(json_object_get(result, "bw_gbps"), i,
				   json_real(slow));
	ck_assert_int_eq(bu_fabcert_replay(slower, &err), -1);
	says(err.text, "its figures give fail");
	rig_end(&rig);
}
END_TEST

/* Measured again in service: lent, judged by nobody, moved by nobody. */
START_TEST(a_run_moves_nobody)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *nodes[3];
	struct bu_err err = {0};
	const char *id;
	bu_autojson json_t *run = NULL;

	begin(&rig, 3);
	measure(&rig, &links, 3, 40);
	for (int i = 0; i < 3; i++)
		nodes[i] = rig_node(&rig, i + 1);
	ck_assert_ptr_null(bu_gate_run(rig.gate, nodes, 1, &err));
	links.sends[2] = slow;
	id = bu_gate_run(rig.gate, nodes, 3, &err);
	ck_assert_msg(id != NULL, "%s", err.text);
	measure(&rig, &links, 3, 30);
	run = bu_gate_run_json(rig.gate, id);
	ck_assert_int_eq(bu_json_bool(run, "done", 0), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(run, "pairs")), 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(nodes[i]->state, BU_STATE_JOINING);
	ck_assert_ptr_null(bu_gate_run_json(rig.gate, "run-none"));
	rig_end(&rig);
}
END_TEST

RIG_UNIT("gate", two_good_nodes_prove_each_other, a_work_item_is_complete,
	 a_slow_pair_waits_and_says_so, of_three_the_slow_one_is_named,
	 one_slow_half_accuses_its_node_and_no_other,
	 a_late_node_borrows_a_certified_partner,
	 who_waited_for_a_partner_is_not_late_when_one_comes,
	 three_probes_without_a_result_end_with_their_reason,
	 a_silent_end_is_named_in_time, a_result_of_other_nodes_proves_nothing,
	 an_error_in_any_alphabet_is_journaled, results_and_words_outlive_a_restart,
	 without_a_validation_nobody_joins, a_failing_check_quarantines_with_its_words,
	 a_site_check_holds_back_with_its_own_words,
	 without_a_report_nobody_is_measured,
	 an_outside_system_can_quarantine_and_never_certify,
	 a_lemon_is_held_until_a_person_looked, readmission_needs_twice_the_rounds,
	 the_soak_goes_on_after_a_restart, certificates_replay, a_run_moves_nobody)
