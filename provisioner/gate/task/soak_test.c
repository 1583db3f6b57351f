/* SPDX-License-Identifier: Apache-2.0 */
/* Who loads whose links while they soak. */
#include "model/work.h"
#include "provisioner/gate/task/soak.h"
#include "tests/support/gate.h"

static char last_id[BU_NAME_SIZE]; /* that answers() was given */

static void
begin_soak_as(struct rig *rig, int nodes, const char *validation)
{
	last_id[0] = '\0';
	rig_begin(rig, 0);
	rig_apply(rig, nodes, BU_CLASS_INSTALL, "d-soak", "fabric = fabric\n",
		  validation);
	rig_open_gate(rig);
	for (int i = 1; i <= nodes; i++) {
		rig_to_validating(rig, i);
		rig_node(rig, i)->live.last_seen_ms = rig->clock.fake_wall_ms;
	}
}

static void
begin_soak(struct rig *rig, int nodes)
{
	begin_soak_as(rig, nodes, "fabric = fabric\nsoak = 25 m\n");
}

/* What the node is given for its next slice; 0 = no neighbour. */
static int
link_of(struct rig *rig, int number, struct bu_work_probe *ret)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = bu_gate_work(rig->gate, node);
	const json_t *soak = json_object_get(json_object_get(item, "expect"), "soak");
	const json_t *link = json_object_get(soak, "link");
	struct bu_err err;

	ck_assert_ptr_nonnull(soak);
	/* As the agent reads it; its texts are the item's. */
	if (link)
		ck_assert_msg(bu_work_probe_from_json(link, ret, &err) == 0, "%s",
			      err.text);
	ret->work = (struct bu_work){.attempt = 1};
	return link != NULL;
}

START_TEST(two_that_soak_are_told_the_same)
{
	struct bu_work_probe a, b, again;
	struct rig rig;

	begin_soak(&rig, 2);
	check(&rig, 1, "nic-mtu", BU_VERDICT_PASS, "");
	ck_assert_int_eq(link_of(&rig, 1, &a), 0); /* the other is not checked yet */
	check(&rig, 2, "nic-mtu", BU_VERDICT_PASS, "");
	ck_assert_int_eq(link_of(&rig, 1, &a), 1);
	ck_assert_int_eq(link_of(&rig, 2, &b), 1);
	ck_assert_int_eq(a.role, BU_PROBE_CONNECT);
	ck_assert_int_eq(b.role, BU_PROBE_LISTEN);
	ck_assert_str_eq(a.probe, b.probe);
	ck_assert_str_eq(a.secret, b.secret);
	ck_assert_str_eq(a.addr, b.addr);
	ck_assert_str_eq(a.addr, "10.77.0.12");
	ck_assert_str_eq(b.peer, "10.77.0.11");
	ck_assert_str_eq(a.self, "node001");
	ck_assert_str_eq(b.self, "node002");
	for (int i = 0; i < 2; i++)
		ck_assert_str_eq(a.node[i], b.node[i]);
	ck_assert_uint_eq(a.bytes, b.bytes);
	ck_assert_uint_eq(a.rails_count, 1);
	ck_assert_str_eq(a.rails[0].address, "10.78.0.11");
	ck_assert_str_eq(b.rails[0].address, "10.78.0.12");
	ck_assert_int_eq(a.duplex, 1);
	ck_assert_int_le(a.deadline_ms, 60000);
	/* The next slice goes on with it. */
	ck_assert_int_eq(link_of(&rig, 1, &again), 1);
	ck_assert_str_eq(again.secret, a.secret);
	rig_end(&rig);
}
END_TEST

/* The third waits for nobody; when one of the two is gone, it takes its place. */
START_TEST(nobody_has_two_neighbours)
{
	struct bu_work_probe link[4];
	struct rig rig;

	begin_soak(&rig, 3);
	check_all(&rig, 3);
	ck_assert_int_eq(link_of(&rig, 1, &link[1]), 1);
	ck_assert_int_eq(link_of(&rig, 2, &link[2]), 1);
	ck_assert_int_eq(link_of(&rig, 3, &link[3]), 0);
	rig_node(&rig, 1)->live.last_seen_ms = 1; /* it is not heard any more */
	ck_assert_int_eq(link_of(&rig, 3, &link[3]), 1);
	ck_assert_str_eq(link[3].node[BU_END_A], "node002");
	ck_assert_str_ne(link[3].secret, link[1].secret);
	ck_assert_int_eq(link_of(&rig, 2, &link[2]), 1);
	ck_assert_str_eq(link[2].secret, link[3].secret);
	rig_end(&rig);
}
END_TEST

START_TEST(who_is_held_is_no_neighbour)
{
	struct bu_work_probe link;
	struct rig rig;

	begin_soak(&rig, 2);
	check_all(&rig, 2);
	bu_node_hold(rig_node(&rig, 2))->owner = BU_OWNER_PERSON;
	ck_assert_int_eq(link_of(&rig, 1, &link), 0);
	bu_node_hold(rig_node(&rig, 2))->owner = BU_OWNER_NONE;
	ck_assert_int_eq(link_of(&rig, 1, &link), 1);
	rig_end(&rig);
}
END_TEST

/* Between two leaves the load would be others'. */
START_TEST(neighbours_are_of_one_leaf)
{
	bu_autojson json_t *same = json_pack("{s:s}", "fabric", "leaf01:p1"),
			   *other = json_pack("{s:s}", "fabric", "leaf02:p1");
	struct bu_work_probe link;
	struct rig rig;

	begin_soak(&rig, 3);
	check_all(&rig, 3);
	for (int i = 1; i <= 3; i++)
		rig_node(&rig, i)->checks.is.ports = i == 2 ? other : same;
	ck_assert_int_eq(link_of(&rig, 2, &link), 0);
	ck_assert_int_eq(link_of(&rig, 1, &link), 1);
	ck_assert_str_eq(link.node[BU_END_B], "node003");
	rig_end(&rig);
}
END_TEST

/* All get their slices, then all report: payload comes changed with this node alone. */
static void
soak_slice(struct rig *rig, int nodes, int bad)
{
	json_t *items[8];

	for (int i = 1; i <= nodes; i++) {
		rig_node(rig, i)->live.last_seen_ms = rig->clock.fake_wall_ms;
	}
	for (int i = 1; i <= nodes; i++)
		items[i] = bu_gate_work(rig->gate, rig_node(rig, i));
	for (int i = 1; i <= nodes; i++) {
		const char *peer = bu_gate_soak_peer(rig->gate, rig_node(rig, i));
		int other = peer ? number_of(peer) : 0;
		bu_autojson json_t *report =
			report_of(rig_node(rig, i), BU_CHECK_SOAK_PAYLOAD,
				  other && (i == bad || other == bad) ? BU_VERDICT_WARN
								      : BU_VERDICT_PASS,
				  "payload came changed");

		bu_gate_result(rig->gate, rig_node(rig, i),
			       bu_json_str(items[i], "id", ""), report, NULL);
		json_decref(items[i]);
		rig_pass(rig, 1);
	}
}

/* It tells that payload came changed in the slice that it was given. */
static void
tells_changed(struct rig *rig, int number, const json_t *item)
{
	bu_autojson json_t *report =
		report_of(rig_node(rig, number), BU_CHECK_SOAK_PAYLOAD, BU_VERDICT_WARN,
			  "payload came changed");

	bu_gate_result(rig->gate, rig_node(rig, number), bu_json_str(item, "id", ""),
		       report, NULL);
	rig_pass(rig, 1);
}

/* Slices do not end together: who hears of it in the middle of its own keeps the
 * neighbour of that one. */
START_TEST(a_slice_is_told_of_the_neighbour_that_it_had)
{
	struct rig rig;
	bu_autojson json_t *first = NULL, *second = NULL;
	const json_t *changed;

	begin_soak(&rig, 3);
	check_all(&rig, 3);
	first = bu_gate_work(rig.gate, rig_node(&rig, 1));
	second = bu_gate_work(rig.gate, rig_node(&rig, 2));
	tells_changed(&rig, 1, first);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(bu_gate_wants(rig.gate, rig_node(&rig, 2),
					       bu_json_str(second, "id", "")),
				 1);
	ck_assert_int_eq(bu_gate_wants(rig.gate, rig_node(&rig, 2), "another"), 0);
	tells_changed(&rig, 2, second);
	changed = bu_measurements_changed(rig.fleet, rig_node(&rig, 2)->machine);
	ck_assert_uint_eq(json_object_size(changed), 1);
	ck_assert_ptr_nonnull(json_object_get(changed, "node001"));
	rig_end(&rig);
}
END_TEST

static void
why_has(const struct rig *rig, int number, const char *part)
{
	bu_autofree char *text = rig_why(rig, rig_node(rig, number));

	says(text, part);
}

/* Each slice has another neighbour, from whoever has it: the one that they have in
 * common is quarantined, and those that were with it stay. What a slice showed is told,
 * also after a restart. */
START_TEST(who_changes_payload_with_all_is_the_one)
{
	struct rig rig;

	begin_soak(&rig, 4);
	check_all(&rig, 4);
	soak_slice(&rig, 4, 1);
	rig_restart(&rig);
	why_has(&rig, 2, "check soak-payload (eth1): warn: payload came changed");
	soak_slice(&rig, 4, 1);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
	why_has(&rig, 1, "check soak-payload (eth1): warn in 2 slices, last: payload");
	soak_slice(&rig, 4, 1);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_QUARANTINED);
	why_has(&rig, 1, "with each of node00");
	for (int i = 2; i <= 4; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_VALIDATING);
	/* A repaired machine begins anew. */
	ck_assert_ptr_null(
		bu_measurements_changed(rig.fleet, rig_node(&rig, 1)->machine));
	rig_end(&rig);
}
END_TEST

/* A site that says so lets it join, whatever it saw with how many. */
START_TEST(a_warning_of_the_profile_stays_one)
{
	struct rig rig;

	begin_soak_as(&rig, 4,
		      "fabric = fabric\nsoak = 1 h\nseverity = soak-payload=warn\n");
	check_all(&rig, 4);
	for (int slice = 0; slice < 5; slice++)
		soak_slice(&rig, 4, 1);
	ck_assert_uint_eq(json_object_size(bu_measurements_changed(
				  rig.fleet, rig_node(&rig, 1)->machine)),
			  3);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
	rig_end(&rig);
}
END_TEST

/* Its answer to the slice that it is given: a report of this verdict, or INCONCLUSIVE
 * and none; the id is no earlier one. 0 = it was given none. */
static int
answers(struct rig *rig, enum bu_verdict verdict, const struct bu_err *failure)
{
	struct bu_node *node = rig_node(rig, 1);
	bu_autojson json_t *item = bu_gate_work(rig->gate, node), *report = NULL;
	const char *id = bu_json_str(item, "id", "");

	if (!item)
		return 0;
	ck_assert_str_ne(id, last_id);
	bu_text_copy(last_id, sizeof(last_id), id);
	report = report_of(node, "soak", verdict, "it was not over in time");
	bu_gate_result(rig->gate, node, id, failure ? NULL : report, failure);
	rig_pass(rig, 2001);
	return 1;
}

static void
lets_go(struct rig *rig)
{
	struct bu_node *node = rig_node(rig, 1);
	struct bu_err err;

	ck_assert_msg(bu_reconcile_release(rig->rec, node, "ann", &err) == 0, "%s",
		      err.text);
	rig_pass(rig, 1);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
}

/* Its agent stops at once, and would answer the same id from memory. */
START_TEST(who_is_held_in_its_soak_goes_on_when_it_is_released)
{
	struct bu_err stopped = {.kind = BU_ERR_CANCELLED};
	struct rig rig;
	struct bu_node *node;

	begin_soak(&rig, 1);
	check_all(&rig, 1);
	node = rig_node(&rig, 1);
	strcpy(stopped.text, "cancelled");
	for (int i = 0; i < 5; i++) {
		bu_autojson json_t *item = bu_gate_work(rig.gate, node);
		bu_autofree char *id = bu_xstrdup(bu_json_str(item, "id", ""));
		struct bu_reason reason;
		struct bu_event event;

		ck_assert_ptr_nonnull(item);
		BU_REASON_SET(&reason, OTHER, .text = {"a look"});
		bu_hold_event(&event, node->name, BU_OWNER_PERSON, "ann", &reason);
		bu_reconcile_note(rig.rec, &event, 1);
		rig_pass(&rig, 1);
		ck_assert_int_eq(bu_gate_wants(rig.gate, node, id), 0);
		bu_gate_result(rig.gate, node, id, NULL, &stopped);
		ck_assert_int_eq(node->live.checks_errors, 0);
		lets_go(&rig);
		json_decref(item);
		item = bu_gate_work(rig.gate, node);
		ck_assert_str_ne(bu_json_str(item, "id", ""), id);
	}
	/* What nobody stopped is a fault. A person who has looked at it lets it try. */
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(answers(&rig, BU_VERDICT_INCONCLUSIVE, &stopped), 1);
	ck_assert_int_eq(answers(&rig, BU_VERDICT_PASS, NULL), 0);
	bu_node_hold(node)->owner = BU_OWNER_PERSON;
	lets_go(&rig);
	ck_assert_int_eq(answers(&rig, BU_VERDICT_PASS, NULL), 1);
	rig_end(&rig);
}
END_TEST

/* Such a slice is in the log, and no more of them than three at a time. */
START_TEST(slices_that_see_nothing_have_an_end)
{
	struct rig rig;
	struct bu_node *node;
	int64_t clock_ms;

	begin_soak(&rig, 1);
	check_all(&rig, 1);
	node = rig_node(&rig, 1);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(answers(&rig, BU_VERDICT_INCONCLUSIVE, NULL), 1);
		rig_reason_is(node->live.wait_reason, SOAKS);
	}
	ck_assert_int_eq(answers(&rig, BU_VERDICT_WARN, NULL), 1);
	ck_assert_int_eq(node->live.checks_errors, 0);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(answers(&rig, BU_VERDICT_INCONCLUSIVE, NULL), 1);
	clock_ms = node->live.clock_ms;
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(answers(&rig, BU_VERDICT_INCONCLUSIVE, NULL), 0);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_SOAK), 6);
	rig_reason_is(node->live.wait_reason, CHECKS_SILENT);
	rig_reason_has(node->live.wait_reason,
		       "3 times: check soak (eth1): it was not over");
	/* It is late then, as one whose checks say nothing. */
	rig_pass(&rig, 30000);
	ck_assert_int_eq(node->live.clock_ms, clock_ms);
	ck_assert_int_eq(bu_node_stands_still(node), 0);
	rig_end(&rig);
}
END_TEST

static int64_t
soaked(const struct rig *rig)
{
	return bu_json_int(rig->fleet->measurements.soaked, rig_node(rig, 1)->machine,
			   0);
}

/* Its checks once more, in the same boot: these rows fail. */
static void
fails(struct rig *rig, const char *first, const char *second)
{
	struct bu_node *node = rig_node(rig, 1);
	const char *const ids[] = {first, second};
	bu_autojson json_t *item = NULL, *report = NULL;
	struct bu_checks checks;
	struct bu_err err;

	ck_assert_msg(bu_gate_again(rig->gate, node, "ann", &err) == 0, "%s", err.text);
	rig_pass(rig, 1);
	item = bu_gate_work(rig->gate, node);
	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
	for (size_t i = 0; i < BU_LEN(ids) && ids[i]; i++)
		bu_checks_add(&checks, "host", ids[i], BU_VERDICT_FAIL, "x");
	bu_checks_add(&checks, "host", "turbo", BU_VERDICT_WARN, "");
	report = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), report, NULL);
	rig_pass(rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
}

/* An outage of a server accuses each machine that is checked meanwhile: it costs them
 * neither their soak nor their good name. */
START_TEST(a_server_that_is_down_is_no_fault_of_the_machine)
{
	static const struct {
		const char *first, *second;
		int incidents;
	} cases[] = {{BU_CHECK_MOUNT, NULL, 0},
		     {BU_CHECK_MOUNT, BU_CHECK_MOUNT, 0},
		     {BU_CHECK_MOUNT, "memory-size", 1},
		     {"memory-size", BU_CHECK_MOUNT, 1},
		     {"memory-size", NULL, 1}};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct rig rig;

		begin_soak(&rig, 1);
		check_all(&rig, 1);
		ck_assert_int_eq(answers(&rig, BU_VERDICT_PASS, NULL), 1);
		ck_assert_int_eq(soaked(&rig), 600000);
		fails(&rig, cases[i].first, cases[i].second);
		rig_restart(&rig);
		ck_assert_int_eq(bu_measurements_incidents(rig.fleet,
							   rig_node(&rig, 1)->machine,
							   rig.clock.fake_wall_ms),
				 cases[i].incidents);
		ck_assert_int_eq(soaked(&rig), cases[i].incidents ? 0 : 600000);
		rig_end(&rig);
	}
}
END_TEST

/* What is soaked is the same after a restart of the appliance, so that a slice that
 * runs is wanted as before. */
START_TEST(a_slice_outlives_the_appliance)
{
	bu_autojson json_t *item = NULL;
	struct rig rig;

	begin_soak(&rig, 1);
	check_all(&rig, 1);
	ck_assert_int_eq(answers(&rig, BU_VERDICT_PASS, NULL), 1);
	item = bu_gate_work(rig.gate, rig_node(&rig, 1));
	rig_restart(&rig);
	ck_assert_int_eq(
		bu_gate_wants(rig.gate, rig_node(&rig, 1), bu_json_str(item, "id", "")),
		1);
	rig_end(&rig);
}
END_TEST

/* Its neighbour has gone: what comes changed now was not between the two. */
START_TEST(who_soaks_alone_again_accuses_nobody)
{
	struct bu_work_probe link;
	struct rig rig;
	struct bu_node *node;
	bu_autojson json_t *item = NULL;

	begin_soak(&rig, 2);
	check_all(&rig, 2);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(link_of(&rig, 1, &link), 1);
	ck_assert_str_eq(bu_gate_soak_peer(rig.gate, node), "node002");
	rig_node(&rig, 2)->live.last_seen_ms = 1;
	item = bu_gate_work(rig.gate, node);
	ck_assert_ptr_null(bu_gate_soak_peer(rig.gate, node));
	tells_changed(&rig, 1, item);
	ck_assert_ptr_null(bu_measurements_changed(rig.fleet, node->machine));
	ck_assert_ptr_null(
		bu_measurements_changed(rig.fleet, rig_node(&rig, 2)->machine));
	ck_assert_int_eq(events_of(&rig, BU_EVENT_SOAK), 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("soak", a_warning_of_the_profile_stays_one,
	 a_server_that_is_down_is_no_fault_of_the_machine,
	 who_is_held_in_its_soak_goes_on_when_it_is_released,
	 slices_that_see_nothing_have_an_end, a_slice_outlives_the_appliance,
	 a_slice_is_told_of_the_neighbour_that_it_had,
	 who_changes_payload_with_all_is_the_one, two_that_soak_are_told_the_same,
	 nobody_has_two_neighbours, who_is_held_is_no_neighbour,
	 neighbours_are_of_one_leaf, who_soaks_alone_again_accuses_nobody)
