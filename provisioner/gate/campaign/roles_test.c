/* SPDX-License-Identifier: Apache-2.0 */
/* What a node is to all campaigns, and what keeps it out of them: heard, checked, held,
 * a machine with a past, a wait without an end. */
#include "provisioner/gate/certify/certify.h"
#include "tests/support/between.h"

enum { DAY_MS = 24 * 3600 * 1000 };

/* Node 1 of two is checked in its present boot. */
static struct bu_node *
begin(struct between *b)
{
	struct bu_node *node;

	between_begin(b, 2, 2, 2, NULL);
	bu_gate_roles_drop(b->gate);
	b->rig.clock.fake_mono_ms += 2 * (int64_t)DAY_MS;
	node = rig_node(&b->rig, 1);
	node->state = BU_STATE_VALIDATING;
	node->live.last_seen_ms = b->rig.clock.fake_wall_ms;
	node->checks.body = json_object();
	node->checks.is.boot_id = node->boot_id;
	node->checks.is.verdict = BU_VERDICT_PASS;
	bu_node_set_machine(node, "machine-1");
	return node;
}

/* Times of quarantines of its machine, so long ago; 0 = none. */
static void
was_out(const struct between *b, int64_t first_ms, int64_t second_ms)
{
	const int64_t ago[] = {first_ms, second_ms};
	json_t *list = json_array();

	for (int i = 0; i < 2; i++)
		if (ago[i])
			json_array_append_new(
				list,
				json_pack("{s:s,s:I,s:s}", "node", "node007", "at_ms",
					  (json_int_t)(b->rig.clock.fake_wall_ms -
						       ago[i]),
					  "reason", "it was slow"));
	json_object_set_new(b->rig.fleet->measurements.incidents, "machine-1", list);
}

START_TEST(a_candidate_is_heard_checked_and_not_held)
{
	enum {
		READY,
		STATE,
		HELD,
		UNHEARD,
		UNCHECKED,
		BOOT,
		FAILED,
		WARNED,
		UNMEASURED,
		SOAKS,
		CASES
	};

	for (int one = READY; one < CASES; one++) {
		struct bu_desired_node *want;
		struct bu_node *node;
		struct between b;

		node = begin(&b);
		want = &b.rig.fleet->desired->nodes[0];
		b.gate->leaves_seen = 0; /* it looks */
		if (one == STATE)
			node->state = BU_STATE_BOOTING;
		if (one == HELD)
			bu_node_hold(node)->owner = BU_OWNER_PERSON;
		if (one == UNHEARD)
			node->live.last_seen_ms -= 90000;
		if (one == UNCHECKED)
			json_decref(bu_steal(&node->checks.body));
		if (one == BOOT)
			node->checks.is.boot_id = "old";
		if (one == FAILED)
			node->checks.is.verdict = BU_VERDICT_FAIL;
		if (one == WARNED)
			node->checks.is.verdict = BU_VERDICT_WARN;
		if (one == SOAKS)
			((struct bu_desired_validation *)(uintptr_t)want->validation)
				->soak_ms = 1;
		if (one == UNMEASURED)
			want->validation = NULL;
		ck_assert_int_eq(bu_gate_roles(b.gate), 1);
		ck_assert_msg(b.gate->roles[0].ready == (one == READY || one == WARNED),
			      "case %d", one);
		ck_assert_ptr_eq(b.gate->roles[0].node, node);
		ck_assert_ptr_eq(b.gate->roles[0].want, want);
		ck_assert_int_eq(b.gate->roles[0].certified, 0);
		between_end(&b);
	}
}
END_TEST

START_TEST(who_serves_is_heard_and_not_held)
{
	enum { SERVES, JOINING, STATE, HELD, UNHEARD, VERDICT, CASES };

	for (int one = SERVES; one < CASES; one++) {
		struct bu_node *node;
		struct between b;

		node = begin(&b);
		node->state = BU_STATE_READY;
		if (one == JOINING)
			node->state = BU_STATE_JOINING;
		if (one == STATE)
			node->state = BU_STATE_QUARANTINED;
		if (one == HELD)
			bu_node_hold(node)->owner = BU_OWNER_PERSON;
		if (one == UNHEARD)
			node->live.last_seen_ms -= 90000;
		if (one == VERDICT) {
			const struct bu_external said = {
				.source = "site", .verdict = "fail", .text = "hot"};

			ck_assert_int_eq(bu_gate_external(b.gate, node, &said, NULL),
					 0);
			rig_pass(&b.rig, 1);
			bu_node_hold(node)->owner = BU_OWNER_NONE;
			bu_gate_roles_drop(b.gate);
		}
		b.gate->leaves_seen = 0;
		bu_gate_roles(b.gate);
		ck_assert_msg(b.gate->roles[0].serves ==
				      (one == SERVES || one == JOINING),
			      "case %d", one);
		ck_assert_int_eq(b.gate->roles[0].ready, 0);
		between_end(&b);
	}
}
END_TEST

/* Twice as much after a quarantine of late, or for a person. */
START_TEST(who_has_a_past_does_twice_as_much)
{
	for (int row = 0; row < 4; row++) {
		struct bu_node *node;
		struct between b;

		node = begin(&b);
		node->again = row == 1;
		if (row == 2)
			was_out(&b, DAY_MS, 0);
		if (row == 3)
			was_out(&b, 31 * (int64_t)DAY_MS, 0);
		bu_gate_roles(b.gate);
		ck_assert_int_eq(b.gate->roles[0].effort, row == 1 || row == 2
								  ? BU_EFFORT_TWICE
								  : BU_EFFORT_USUAL);
		between_end(&b);
	}
}
END_TEST

/* After a start; then while somebody validates, or tests go on. */
START_TEST(nothing_is_looked_at_where_nobody_asks)
{
	for (int row = 0; row < 4; row++) {
		struct bu_node *node;
		struct between b;

		node = begin(&b);
		b.gate->leaves_seen = row != 1;
		if (row != 2)
			node->state = BU_STATE_READY;
		node->live.leaf_campaign.late = row == 3;
		ck_assert_int_eq(bu_gate_roles(b.gate), row > 0);
		ck_assert_int_eq(b.gate->roles != NULL, row > 0);
		between_end(&b);
	}
}
END_TEST

START_TEST(a_rail_has_its_place_in_the_pool)
{
	struct bu_role role = {.proven = 2};
	struct between b;

	begin(&b);
	role.want = &b.rig.fleet->desired->nodes[0];
	ck_assert_int_eq(bu_role_place(&role, between_network(&b, "fabric")), 0);
	ck_assert_int_eq(bu_role_place(&role, between_network(&b, "rail1")), 1);
	ck_assert_int_eq(bu_role_place(&role, between_network(&b, "boot")), -1);
	ck_assert_int_eq(bu_role_proves(&role, between_network(&b, "fabric")), 0);
	ck_assert_int_eq(bu_role_proves(&role, between_network(&b, "rail1")), 1);
	ck_assert_int_eq(bu_role_proves(&role, between_network(&b, "boot")), 0);
	role.proven = 1;
	ck_assert_int_eq(bu_role_proves(&role, between_network(&b, "fabric")), 1);
	between_end(&b);
}
END_TEST

/* A machine that was out twice of late, changed too often, or waits for a day. */
START_TEST(a_node_that_leads_nowhere_is_held)
{
	static const struct {
		int64_t out_ms[2]; /* ago */
		int outdated;
		enum bu_reason_code says;
		int64_t waits_ms;
		enum bu_state state;
		int is_held;
	} rows[] = {
		{{0, 0}, 0, 0, 0, BU_STATE_VALIDATING, 0},
		{{1, 0}, 0, 0, 0, BU_STATE_VALIDATING, 0},
		{{1, 2}, 0, 0, 0, BU_STATE_VALIDATING, 1},
		{{1, 2}, 0, 0, 0, BU_STATE_READY, 0},
		{{1, 31 * (int64_t)DAY_MS}, 0, 0, 0, BU_STATE_VALIDATING, 0},
		{{0, 0}, 2, 0, 0, BU_STATE_VALIDATING, 0},
		{{0, 0}, 3, 0, 0, BU_STATE_VALIDATING, 1},
		{{0, 0}, 0, BU_REASON_NO_PARTNER, DAY_MS, BU_STATE_VALIDATING, 1},
		{{0, 0}, 0, BU_REASON_NO_PARTNER, DAY_MS - 1, BU_STATE_VALIDATING, 0},
		{{0, 0}, 0, BU_REASON_NO_PARTNER, DAY_MS, BU_STATE_READY, 0},
		/* its deadline goes on by itself */
		{{0, 0}, 0, BU_REASON_PROBES_SILENT, DAY_MS, BU_STATE_VALIDATING, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		for (int busy = 0; busy < 3; busy++) {
			struct bu_node *node;
			struct between b;
			int before;

			node = begin(&b);
			was_out(&b, rows[i].out_ms[0], rows[i].out_ms[1]);
			node->outdated = rows[i].outdated;
			*bu_node_wait_reason(node) =
				(struct bu_reason){.code = rows[i].says};
			node->live.clock_ms =
				bu_loop_now_ms(b.rig.fleet->loop) - rows[i].waits_ms;
			node->state = rows[i].state;
			/* It is held already, or its state is on its way. */
			bu_node_hold(node)->owner =
				busy == 1 ? BU_OWNER_PERSON : BU_OWNER_NONE;
			before = node->live.appending = busy == 2;
			bu_gate_hold(b.gate);
			ck_assert_msg(node->live.appending - before ==
					      (rows[i].is_held && !busy),
				      "row %zu", i);
			between_end(&b);
		}
	}
}
END_TEST

/* In the cluster it is held, before that quarantined; the word of another kind is none.
 */
START_TEST(an_outside_word_holds_or_quarantines)
{
	static const struct {
		enum bu_state state;
		int heeded;
	} rows[] = {{BU_STATE_VALIDATING, 1},
		    {BU_STATE_READY, 1},
		    {BU_STATE_JOINING, 1},
		    {BU_STATE_IMAGING, 0}};
	static const struct {
		const char *source, *verdict, *text;
		int taken;
	} words[] = {{"site", "fail", "hot", 1}, {"site", "pass", "", 1},
		     {"site", "fail", "", 0},    {"site", "warn", "hot", 0},
		     {"site", "what", "hot", 0}, {"a b", "fail", "hot", 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_kept_verdict kept = {.is = {.source = "site",
						      .verdict = BU_VERDICT_FAIL,
						      .text = "hot"}};
		struct bu_node *node;
		struct between b;

		node = begin(&b);
		node->state = rows[i].state;
		node->verdicts = &kept;
		node->verdicts_count = 1;
		bu_gate_hold(b.gate);
		ck_assert_msg(node->live.appending == rows[i].heeded, "row %zu", i);
		node->verdicts_count = 0;
		node->verdicts = NULL;
		between_end(&b);
	}
	for (size_t i = 0; i < BU_LEN(words); i++) {
		const struct bu_external said = {.source = words[i].source,
						 .verdict = words[i].verdict,
						 .text = words[i].text};
		struct bu_err err = {0};
		struct bu_node *node;
		struct between b;

		node = begin(&b);
		ck_assert_msg((bu_gate_external(b.gate, node, &said, &err) == 0) ==
				      words[i].taken,
			      "word %zu", i);
		ck_assert_int_eq(node->live.appending, words[i].taken);
		ck_assert_int_eq(err.kind, words[i].taken ? BU_ERR_NONE : BU_ERR_INVAL);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("roles", a_candidate_is_heard_checked_and_not_held,
	 who_serves_is_heard_and_not_held, who_has_a_past_does_twice_as_much,
	 nothing_is_looked_at_where_nobody_asks, a_rail_has_its_place_in_the_pool,
	 a_node_that_leads_nowhere_is_held, an_outside_word_holds_or_quarantines)
