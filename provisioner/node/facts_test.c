/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of what agents and clusters say: each condition by its cause, to the ms.
 */
#include <string.h>

#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum { AWAKE_MS = 1000000 };

static struct rig rig;

/* Awake for so long, and this very moment. */
static void
be_awake(int64_t ms)
{
	rig.rec->awake_ms = ms;
	rig.rec->ticked_ms = bu_mono_ms(&rig.clock);
}

/* Its agent and its cluster have nothing to say against it. */
static void
be_good(struct bu_node *node)
{
	bu_node_drop_agent(node);
	bu_node_agent(node)->heard_ms = AWAKE_MS;
	bu_node_agent(node)->showed = 1;
	*bu_node_cluster(node) = (struct bu_cluster_fact){
		.at_ms = bu_mono_ms(&rig.clock), .known = 1, .responds = 1};
	strcpy(bu_node_cluster(node)->state, "IDLE");
	/* it was sent back just now: it is not once more */
	node->live.lost_ms = AWAKE_MS;
}

/* "unreachable: detail; ", as they are when that is in the log; owned. */
static char *
conditions(struct bu_node *node)
{
	char *text = bu_xstrdup("");

	bu_observe_tick(rig.rec);
	/* the log alone: no tick looks once more */
	bu_clock_advance(&rig.clock, 1);
	while (bu_loop_step(rig.loop, 0))
		;
	for (int id = 0; id < BU_CONDITION_COUNT; id++)
		if (node->conditions[id].on)
			bu_text_add(&text, "; ", "%s: %s", bu_condition_info(id)->name,
				    rig_sentence(node->conditions[id].detail));
	return text;
}

static void
heard_before(struct bu_node *node, int64_t ms)
{
	bu_node_agent(node)->heard_ms = AWAKE_MS - ms;
}

static void
silent(struct bu_node *node)
{
	heard_before(node, 25000);
}

static void
almost_silent(struct bu_node *node)
{
	heard_before(node, 24999);
}

static void
at_work(struct bu_node *node)
{
	heard_before(node, 99000);
	bu_node_agent(node)->busy_ms = AWAKE_MS + 1;
}

static void
at_work_until_now(struct bu_node *node)
{
	heard_before(node, 99000);
	bu_node_agent(node)->busy_ms = AWAKE_MS;
}

static void
not_heard_yet(struct bu_node *node)
{
	bu_node_agent(node)->heard_ms = 0;
	be_awake(29999);
}

static void
not_heard_in_time(struct bu_node *node)
{
	bu_node_agent(node)->heard_ms = 0;
	be_awake(30000);
}

static void
heard_at_the_start(struct bu_node *node)
{
	bu_node_agent(node)->heard_ms = 5001;
	be_awake(30000);
}

static void
foreign(struct bu_node *node)
{
	strcpy(bu_node_agent(node)->foreign, "the system has no stamp");
}

static void
unknown_to_its_cluster(struct bu_node *node)
{
	bu_node_cluster(node)->known = 0;
	bu_node_cluster(node)->down = 1;
}

static void
down(struct bu_node *node)
{
	bu_node_cluster(node)->down = 1;
}

static void
out_of_touch(struct bu_node *node)
{
	bu_node_cluster(node)->responds = 0;
	strcpy(bu_node_cluster(node)->reason, "Not responding");
}

static void
drained_by_us(struct bu_node *node)
{
	bu_node_cluster(node)->drain = BU_DRAIN_OURS;
}

static void
drained_by_a_person(struct bu_node *node)
{
	bu_node_cluster(node)->drain = BU_DRAIN_OTHER;
	strcpy(bu_node_cluster(node)->reason, "DIMM\377 A3");
	strcpy(bu_node_cluster(node)->by, "root");
}

static void
drained_and_down(struct bu_node *node)
{
	bu_node_cluster(node)->drain = BU_DRAIN_OTHER;
	strcpy(bu_node_cluster(node)->reason, "DIMM");
	bu_node_cluster(node)->down = 1;
}

static void
not_answered_for(struct bu_node *node)
{
	bu_node_cluster(node)->at_ms = 0;
	bu_node_cluster(node)->known = 0;
	silent(node);
}

static void
in_no_cluster(struct bu_node *node)
{
	unknown_to_its_cluster(node);
	bu_node_joined(node)->cluster[0] = '\0';
}

static void
not_ready(struct bu_node *node)
{
	silent(node);
	foreign(node);
	down(node);
	node->state = BU_STATE_PARKED;
}

static void
nothing(struct bu_node *node)
{
}

START_TEST(conditions_and_their_causes)
{
	static const struct {
		void (*be)(struct bu_node *node);
		const char *says;
	} cases[] = {
		{nothing, ""},
		{silent, "unreachable: "},
		{almost_silent, ""},
		{at_work, ""},
		{at_work_until_now, "unreachable: "},
		/* nothing new is known: what was so stays so */
		{not_heard_yet, "unreachable: "},
		{nothing, ""},
		{not_heard_yet, ""},
		{not_heard_in_time, "unreachable: "},
		{heard_at_the_start, ""},
		{foreign, "stamp-differs: the system has no stamp"},
		{unknown_to_its_cluster, "not-in-cluster: hpc does not know it"},
		{down, "not-in-cluster: hpc says IDLE"},
		{out_of_touch, "not-in-cluster: hpc says IDLE: Not responding"},
		{drained_by_us, "not-in-cluster: hpc says IDLE"},
		{drained_by_a_person, "drained-by-other: DIMM\xef\xbf\xbd A3 (root)"},
		/* of the cluster nothing new is known, of the agent all is */
		{not_answered_for,
		 "unreachable: ; drained-by-other: DIMM\xef\xbf\xbd A3 (root)"},
		{drained_and_down, "not-in-cluster: hpc says IDLE: DIMM; "
				   "drained-by-other: DIMM (by an unknown user)"},
		{in_no_cluster, ""},
		{down, "not-in-cluster: hpc says IDLE"},
		{not_ready, ""},
	};
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autofree char *says = NULL;

		be_good(node);
		be_awake(AWAKE_MS);
		node->state = BU_STATE_READY;
		strcpy(bu_node_joined(node)->cluster, "hpc");
		cases[i].be(node);
		says = conditions(node);
		ck_assert_msg(strcmp(says, cases[i].says) == 0,
			      "case %zu wants '%s', is '%s'", i, cases[i].says, says);
	}
	/* what stays as it is has one row */
	{
		char kinds[4096];
		int64_t seq;

		node->state = BU_STATE_READY;
		down(node);
		free(conditions(node));
		seq = rig.fleet->life.row_seq;
		free(conditions(node));
		rig_events_after(&rig, seq, kinds);
		ck_assert_str_eq(kinds, "");
		strcpy(bu_node_cluster(node)->state, "DOWN");
		free(conditions(node));
		rig_events_after(&rig, seq, kinds);
		ck_assert_str_eq(kinds, "condition ");
	}
	rig_end(&rig);
}
END_TEST

/* Sent back to its cluster, or left as it is. */
static void
lost(struct bu_node *node)
{
	bu_node_cluster(node)->known = 0;
	node->live.lost_ms = 0;
}

static void
lost_again(struct bu_node *node)
{
	lost(node);
	node->live.lost_ms = AWAKE_MS - 60000;
}

static void
lost_again_too_soon(struct bu_node *node)
{
	lost(node);
	node->live.lost_ms = AWAKE_MS - 59999;
}

static void
refused_by_its_cluster(struct bu_node *node)
{
	lost(node);
	bu_node_cluster(node)->known = 1;
	drained_by_us(node);
	strcpy(bu_node_cluster(node)->reason, "gres");
}

static void
lost_by_a_person(struct bu_node *node)
{
	lost(node);
	bu_node_cluster(node)->known = 1;
	drained_by_a_person(node);
}

static void
lost_with_a_silent_agent(struct bu_node *node)
{
	lost(node);
	silent(node);
}

static void
lost_and_not_heard(struct bu_node *node)
{
	lost(node);
	bu_node_agent(node)->heard_ms = 0;
	bu_node_agent(node)->busy_ms = AWAKE_MS + 1;
}

static void
lost_and_held(struct bu_node *node)
{
	lost(node);
	bu_node_hold(node)->owner = BU_OWNER_PERSON;
}

static void
lost_and_ordered(struct bu_node *node)
{
	lost(node);
	bu_node_order(node)->open = bu_node_order(node)->begun = 1;
}

static void
lost_before_its_turn(struct bu_node *node)
{
	lost(node);
	bu_node_order(node)->open = 1;
	bu_node_order(node)->begun = 0;
}

static void
lost_and_not_answered_for(struct bu_node *node)
{
	lost(node);
	bu_node_cluster(node)->at_ms = 0;
}

static void
changing(struct bu_node *node)
{
	lost(node);
	node->live.appending = 1;
}

START_TEST(what_a_cluster_lost_goes_back)
{
	static const struct {
		void (*be)(struct bu_node *node);
		const char *reason; /* why it joins; NULL = it does not */
	} cases[] = {
		{lost, "hpc does not know it"},
		{lost_again, "hpc does not know it"},
		{refused_by_its_cluster, "hpc says IDLE: gres"},
		{lost_before_its_turn, "hpc does not know it"},
		{nothing, NULL},
		{lost_again_too_soon, NULL},
		{lost_by_a_person, NULL},
		{lost_with_a_silent_agent, NULL},
		{lost_and_not_heard, NULL},
		{lost_and_held, NULL},
		{lost_and_ordered, NULL},
		{lost_and_not_answered_for, NULL},
		{changing, NULL},
	};
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		const struct bu_order before = *node->order;
		int64_t lost_ms;

		be_good(node);
		be_awake(AWAKE_MS);
		cases[i].be(node);
		lost_ms = cases[i].reason ? AWAKE_MS : node->live.lost_ms;
		bu_observe_tick(rig.rec);
		bu_node_hold(node)->owner = BU_OWNER_NONE;
		*bu_node_order(node) = before;
		ck_assert_int_eq(node->live.lost_ms, lost_ms);
		bu_clock_advance(&rig.clock, 1);
		while (bu_loop_step(rig.loop, 0))
			;
		ck_assert_msg(node->state == (cases[i].reason ? BU_STATE_JOINING
							      : BU_STATE_READY),
			      "case %zu", i);
		if (cases[i].reason)
			rig_reason_says(node->reason, cases[i].reason);
		node->state = BU_STATE_READY;
		node->live.appending = 0;
	}
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_is_idle_as_long_as_its_cluster_said_so)
{
	static const struct {
		int64_t ago_ms;
		int known, responds, jobs, idle;
	} cases[] = {
		{0, 1, 1, 0, 1},  {30000, 1, 1, 0, 1}, {30001, 1, 1, 0, 0},
		{0, 0, 1, 0, 0},  {0, 1, 0, 0, 0},     {0, 1, 1, 1, 0},
		{-1, 1, 1, 0, 0}, /* it never did */
	};
	struct bu_node *node;

	rig_begin(&rig, 1);
	rig_pass(&rig, 60000);
	node = rig_node(&rig, 1);
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		*bu_node_cluster(node) = (struct bu_cluster_fact){
			.known = cases[i].known,
			.responds = cases[i].responds,
			.jobs = cases[i].jobs,
			.at_ms = cases[i].ago_ms < 0
					 ? 0
					 : bu_mono_ms(&rig.clock) - cases[i].ago_ms};
		ck_assert_int_eq(bu_reconcile_is_idle(rig.rec, node), cases[i].idle);
	}
	rig_end(&rig);
}
END_TEST

/* What moves on, and what is only said once more. */
START_TEST(progress_counts_when_it_gets_further)
{
	static const struct {
		const char *stage;
		uint64_t bytes;
		int further;
	} cases[] = {
		{"image", 0, 1},  {"image", 0, 0}, {"image", 5, 1}, {"image", 5, 0},
		{"image", 3, 0},  {"image", 5, 0}, {"image", 6, 1}, {"loader", 1, 1},
		{"loader", 1, 0}, {"image", 1, 1},
	};
	struct bu_node *node;

	rig_begin(&rig, 1);
	node = rig_node(&rig, 1);
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		int64_t before_ms = node->live.progress_ms, version;

		bu_clock_advance(&rig.clock, 10);
		version = rig.fleet->version;
		bu_reconcile_progress(rig.rec, node, cases[i].stage, cases[i].bytes, 9);
		ck_assert_int_eq(node->live.progress_ms,
				 cases[i].further ? bu_mono_ms(&rig.clock) : before_ms);
		ck_assert_uint_eq(node->live.progress_done_bytes, cases[i].bytes);
		ck_assert_uint_eq(node->live.progress_total_bytes, 9);
		ck_assert_str_eq(node->live.progress_stage, cases[i].stage);
		ck_assert_int_gt(rig.fleet->version, version);
	}
	rig_end(&rig);
}
END_TEST

/* A clock that stands while bringupd does: no step counts for more than 2 s. */
START_TEST(a_tick_that_comes_late_counts_for_little)
{
	static const int64_t steps_ms[][2] = {
		{0, 0}, {1999, 1999}, {2000, 2000}, {2001, 2000}, {900000, 2000}};
	struct bu_node *node;

	rig_begin(&rig, 1);
	node = rig_node(&rig, 1);
	for (size_t i = 0; i < BU_LEN(steps_ms); i++) {
		be_awake(AWAKE_MS);
		bu_clock_advance(&rig.clock, steps_ms[i][0]);
		ck_assert_int_eq(bu_observe_awake_ms(rig.rec),
				 AWAKE_MS + steps_ms[i][1]);
		bu_reconcile_busy(rig.rec, node, 7);
		ck_assert_int_eq(node->live.agent->busy_ms,
				 AWAKE_MS + steps_ms[i][1] + 7);
		bu_reconcile_busy(rig.rec, node, 0);
		ck_assert_int_eq(node->live.agent->busy_ms, 0);
		bu_observe_tick(rig.rec);
		ck_assert_int_eq(rig.rec->awake_ms, AWAKE_MS + steps_ms[i][1]);
		ck_assert_int_eq(rig.rec->ticked_ms, bu_mono_ms(&rig.clock));
	}
	rig_end(&rig);
}
END_TEST

/* Each node by its name there, and by its cluster: one of another configuration is not
 * in the answer of this one. */
START_TEST(each_node_gets_its_own_fact)
{
	rig_begin(&rig, 8);
	for (int i = 1; i <= 8; i++) {
		struct bu_node *node = rig_node(&rig, i);
		bu_autofree char *file = bu_xasprintf("slurm.node00%d", i);
		bu_autofree char *state = bu_xasprintf("S%d why\n", i);

		if (i != 5)
			rig_write(&rig, file, state);
		strcpy(bu_node_joined(node)->driver, "slurm");
		strcpy(bu_node_joined(node)->handle,
		       i == 7 ? "/other" : "/etc/slurm.conf");
		strcpy(bu_node_joined(node)->cluster, i == 6 ? "" : "hpc");
		snprintf(bu_node_joined(node)->node, sizeof(node->joined->node),
			 "node00%d", i);
		strcpy(bu_node_cluster(node)->state, "old");
	}
	strcpy(bu_node_joined(rig_node(&rig, 8))->node, "node003");
	bu_node_joined(rig_node(&rig, 7))->cluster[0] = '\0';
	for (int i = 0; i < 30; i++)
		rig_pass(&rig, 1000);
	for (int i = 1; i <= 8; i++) {
		const struct bu_cluster_fact *fact = rig_node(&rig, i)->live.cluster;
		bu_autofree char *state = bu_xasprintf("S%d", i == 8 ? 3 : i);

		if (i == 6 || i == 7) {
			ck_assert_str_eq(fact->state, "old");
			continue;
		}
		ck_assert_str_eq(fact->state, i == 5 ? "" : state);
		ck_assert_int_eq(fact->known, i != 5);
		ck_assert_int_gt(fact->at_ms, 0);
	}
	rig_end(&rig);
}
END_TEST

RIG_UNIT("facts", conditions_and_their_causes, what_a_cluster_lost_goes_back,
	 a_node_is_idle_as_long_as_its_cluster_said_so,
	 progress_counts_when_it_gets_further, a_tick_that_comes_late_counts_for_little,
	 each_node_gets_its_own_fact)
