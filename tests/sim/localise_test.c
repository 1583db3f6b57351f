/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/judge/localise.h"

#include <string.h>

#include "fabric/judge/parts.h"
#include "fabric/judge/stats.h"
#include "tests/sim/sim.h"
#include "tests/support/unit.h"

static struct bu_report
campaign_of(struct sim *sim, uint64_t seed)
{
	struct bu_site site = sim_site(sim);
	struct bu_localise_opts opts = {.seed = seed};
	struct bu_report report;
	struct bu_err err = {0};

	ck_assert_msg(bu_localise(&sim->plan, &site, &opts, &report, &err) == 0, "%s",
		      err.text);
	return report;
}

static struct bu_report
campaign(struct sim *sim)
{
	return campaign_of(sim, 5);
}

/* Of a port, a leaf or a spine; what a link's switch counted has no symptom of its own.
 */
static const struct {
	enum sim_kind kind;
	enum bu_symptom symptom;
} shows[] = {
	{SIM_PORT_RATE, BU_SYMPTOM_RATE},       {SIM_PORT_LOSS, BU_SYMPTOM_LOSS},
	{SIM_PORT_LATENCY, BU_SYMPTOM_LATENCY}, {SIM_PORT_MTU, BU_SYMPTOM_MTU},
	{SIM_SWAP, BU_SYMPTOM_CABLING},         {SIM_LEAF_RATE, BU_SYMPTOM_RATE},
	{SIM_SPINE_RATE, BU_SYMPTOM_RATE},
};

static void
check_accusation(const struct sim *sim, enum sim_kind kind,
		 const struct bu_accusation *one)
{
	bu_autofree char *text = bu_accusation_text(&sim->plan, one);
	int is_instrument =
		kind == SIM_CLOCK || kind == SIM_LOOPBACK || kind == SIM_LOOPBACK_HALF;

	ck_assert_msg(sim_judge(sim, one) == 0, "%s: %s", sim_kind_name(kind), text);
	ck_assert_int_eq(one->doubt != 0, is_instrument);
	ck_assert_int_eq(one->sign_count == 0, is_instrument);
	for (size_t i = 0; i < BU_LEN(shows); i++)
		ck_assert_msg(kind != shows[i].kind ||
				      bu_accusation_has(one, shows[i].symptom),
			      "%s: %s", sim_kind_name(kind), text);
	/* What is said of it: nothing arrived, it is not slow. */
	ck_assert_int_eq(strstr(text, "nothing arrives") != NULL,
			 kind == SIM_PORT_ZERO);
}

/* One fault each, in four leaves of eight with four spines. */
static void
check_one(struct sim_fault fault, int sprayed, int lldp)
{
	struct sim sim;
	struct bu_report report;

	sim_init(&sim, 32, 1, 8, 4, 42);
	sim.plan.sprayed = sprayed;
	sim.plan.has_lldp = lldp;
	sim_add(&sim, fault);
	report = campaign(&sim);
	ck_assert_msg(report.count >= 1, "%s: nobody accused",
		      sim_kind_name(fault.kind));
	for (int i = 0; i < report.count; i++)
		check_accusation(&sim, fault.kind, &report.accusations[i]);
	ck_assert_int_eq(report.count, fault.kind == SIM_SWAP ? 2 : 1);
	if (fault.kind == SIM_PORT_RATE || fault.kind == SIM_LINK_RATE)
		ck_assert_int_eq(report.accusations[0].dir, fault.dir);
	bu_report_fini(&report);
	sim_fini(&sim);
}

START_TEST(each_fault_by_its_name)
{
	static const struct sim_fault faults[] = {
		{.kind = SIM_PORT_RATE, .port = 9, .dir = 1, .factor = 0.9},
		{.kind = SIM_PORT_RATE, .port = 9, .dir = 2, .factor = 0.5},
		{.kind = SIM_PORT_RATE, .port = 31, .dir = 3, .factor = 0.92},
		{.kind = SIM_PORT_LOSS, .port = 3, .dir = 1, .factor = 1e-5},
		{.kind = SIM_PORT_LATENCY, .port = 3, .dir = 3, .factor = 2},
		{.kind = SIM_PORT_MTU, .port = 17, .dir = 3},
		{.kind = SIM_SWAP, .port = 4, .port2 = 12},
		{.kind = SIM_CLOCK, .node = 7, .factor = 1.05},
		{.kind = SIM_LOOPBACK, .node = 7, .factor = 1.02},
		{.kind = SIM_LOOPBACK_HALF, .node = 7, .dir = 1, .factor = 1.02},
		{.kind = SIM_LOOPBACK_HALF, .node = 7, .dir = 2, .factor = 1.02},
		{.kind = SIM_PORT_ZERO, .port = 9, .dir = 1},
		{.kind = SIM_PORT_ZERO, .port = 9, .dir = 3},
		{.kind = SIM_LEAF_RATE, .leaf = 2, .factor = 0.8},
	};

	for (size_t i = 0; i < BU_LEN(faults); i++) {
		check_one(faults[i], 0, 1);
		check_one(faults[i], 1, 1);
	}
	check_one(faults[6], 0, 0);
}
END_TEST

/* The smallest leaf's link has no good one to be tested with: its others stand accused.
 */
START_TEST(a_spine_is_named_from_three_leaves_on)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sim sim;
		struct bu_report report;

		sim_init(&sim, 24, 1, 11, 8, seed);
		sim_add(&sim, (struct sim_fault){.kind = SIM_SPINE_RATE,
						 .spine = 4,
						 .factor = 0.6});
		report = campaign_of(&sim, seed);
		ck_assert_msg(report.count == 1, "seed %d", (int)seed);
		ck_assert_int_eq(report.accusations[0].what, BU_WHAT_SPINE);
		ck_assert_int_eq(report.accusations[0].spine, 4);
		bu_report_fini(&report);
		sim_fini(&sim);
	}
}
END_TEST

START_TEST(a_healthy_neighbour_is_acquitted_soon)
{
	struct sim sim;
	struct bu_report report;

	sim_init(&sim, 32, 1, 8, 4, 42);
	sim.outliers = 0;
	sim_add(&sim, (struct sim_fault){.kind = SIM_PORT_RATE,
					 .port = 9,
					 .dir = 1,
					 .factor = 0.5,
					 .share = 0.5});
	report = campaign(&sim);
	ck_assert_int_eq(report.count, 1);
	ck_assert_int_le(report.rounds[2], 8);
	bu_report_fini(&report);
	sim_fini(&sim);
}
END_TEST

/* The links of one leaf carry a tenth of what the others do, one of them less. */
enum { QUIET_LEAF = 3, SLOW_SPINE = 1 };

struct quiet_site {
	const struct sim *sim;
	float slow; /* of its leaf's others */
};

static struct bu_site quiet_base;

static int
quiet_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	return quiet_base.round(quiet_base.arg, flows, count, err);
}

static int
quiet_switches(void *arg, struct bu_link_count *ret, struct bu_err *err)
{
	const struct quiet_site *quiet = arg;
	const struct bu_topology *plan = &quiet->sim->plan;

	for (int i = 0; i < 2 * plan->leaves * plan->spines; i++) {
		int leaf = i / 2 / plan->spines, spine = i / 2 % plan->spines;

		ret[i] = (struct bu_link_count){.rate = leaf == QUIET_LEAF ? 10.0F
									   : 100.0F};
		if (leaf == QUIET_LEAF && spine == SLOW_SPINE && i % 2 == BU_LINK_UP)
			ret[i].rate *= quiet->slow;
	}
	return 0;
}

static struct bu_report
quiet_campaign(struct sim *sim, float slow)
{
	struct quiet_site quiet = {sim, slow};
	struct bu_site site = {
		.round = quiet_round, .switches = quiet_switches, .arg = &quiet};
	struct bu_localise_opts opts = {.seed = 5};
	struct bu_report report;

	quiet_base = sim_site(sim);
	ck_assert_int_eq(bu_localise(&sim->plan, &site, &opts, &report, NULL), 0);
	return report;
}

START_TEST(a_link_is_held_against_its_own_leaf)
{
	struct sim sim;
	struct bu_report report;

	sim_init(&sim, 64, 1, 8, 4, 42);
	sim.plan.sprayed = 1;
	report = quiet_campaign(&sim, 1);
	ck_assert_int_eq(report.count, 0);
	bu_report_fini(&report);
	report = quiet_campaign(&sim, 0.4F);
	ck_assert_int_eq(report.count, 1);
	ck_assert_int_eq(report.accusations[0].leaf, QUIET_LEAF);
	ck_assert_int_eq(report.accusations[0].spine, SLOW_SPINE);
	bu_report_fini(&report);
	sim_fini(&sim);
}
END_TEST

START_TEST(each_link_by_its_name)
{
	static const struct sim_fault faults[] = {
		{.kind = SIM_LINK_RATE, .leaf = 1, .spine = 2, .dir = 1, .factor = 0.5},
		{.kind = SIM_LINK_RATE, .leaf = 1, .spine = 2, .dir = 2, .factor = 0.8},
		{.kind = SIM_LINK_LOSS,
		 .leaf = 3,
		 .spine = 0,
		 .dir = 2,
		 .factor = 1e-4},
		{.kind = SIM_SPINE_RATE, .spine = 3, .dir = 3, .factor = 0.6},
	};

	for (size_t i = 0; i < BU_LEN(faults); i++) {
		check_one(faults[i], 0, 1);
		check_one(faults[i], 1, 1);
	}
}
END_TEST

START_TEST(what_comes_and_goes)
{
	struct sim_fault fault = {.kind = SIM_PORT_RATE,
				  .port = 9,
				  .dir = 1,
				  .factor = 0.6,
				  .share = 0.4};

	check_one(fault, 0, 1);
}
END_TEST

/* Two leaves: up of one and down of the other always come together. */
START_TEST(what_no_test_tells_apart_comes_together)
{
	struct sim sim;
	struct bu_report report;

	sim_init(&sim, 16, 1, 8, 4, 42);
	sim.plan.has_switch = 0;
	sim_add(&sim, (struct sim_fault){.kind = SIM_LINK_RATE,
					 .leaf = 1,
					 .spine = 2,
					 .dir = BU_DIR_OUT,
					 .factor = 0.5});
	report = campaign(&sim);
	ck_assert_int_eq(report.count, 1);
	ck_assert_int_eq(report.accusations[0].what, BU_WHAT_ANY);
	ck_assert_int_eq(report.accusations[0].of_count, 2);
	ck_assert_int_eq(sim_judge(&sim, &report.accusations[0]), 0);
	bu_report_fini(&report);
	sim_fini(&sim);
}
END_TEST

/* All are 20 % slow: the cohort sees nothing, the absolute rule does. */
START_TEST(a_fleet_that_is_slow_together)
{
	struct sim sim;
	struct bu_report report;

	sim_init(&sim, 32, 1, 8, 4, 42);
	for (int leaf = 0; leaf < 4; leaf++)
		sim_add(&sim, (struct sim_fault){.kind = SIM_LEAF_RATE,
						 .leaf = leaf,
						 .factor = 0.8});
	report = campaign(&sim);
	ck_assert_int_eq(report.count, 4);
	for (int i = 0; i < 4; i++)
		ck_assert_int_eq(report.accusations[i].what, BU_WHAT_LEAF);
	bu_report_fini(&report);
	sim_fini(&sim);
}
END_TEST

START_TEST(the_clean_are_not_accused)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct sim sim;
		struct bu_report report;

		sim_init(&sim, 8 + (int)seed * 3, 1 + (int)seed % 2, 8, 4, seed);
		sim.plan.sprayed = seed % 3 == 0;
		report = campaign(&sim);
		ck_assert_msg(report.count == 0, "seed %d", (int)seed);
		bu_report_fini(&report);
		sim_fini(&sim);
	}
}
END_TEST

static int
broken_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	(void)arg, (void)flows, (void)count;
	return bu_err_set(err, BU_ERR_REMOTE, 0, "gone");
}

START_TEST(a_site_that_fails)
{
	struct sim sim;
	struct bu_site site;
	struct bu_localise_opts opts = {.seed = 5};
	struct bu_report report;
	struct bu_err err = {0};

	sim_init(&sim, 16, 1, 8, 4, 42);
	site = sim_site(&sim);
	site.round = broken_round;
	ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, &err), -1);
	ck_assert_str_eq(err.text, "gone");
	sim_fini(&sim);
}
END_TEST

START_TEST(statistics)
{
	float values[] = {5, 1, 4, 2, 3}, same[] = {2, 2, 2};
	const struct bu_sprt_rule rule = {0.01, 0.3, 1e-4, 1e-3};
	struct bu_sprt bad = {0}, good = {0};
	double low, high;

	ck_assert_double_eq(bu_stats_median(values, 5), 3);
	ck_assert_double_eq_tol(bu_stats_sigma(values, 5, 3), 1.4826, 1e-9);
	ck_assert_double_eq(bu_stats_sigma(same, 3, 2), 0);
	sim_wilson(396, 400, &low, &high);
	ck_assert_double_eq_tol(low, 0.9746, 1e-3);
	ck_assert_double_eq_tol(high, 0.9961, 1e-3);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(bu_sprt_decided(&bad, &rule), 0);
		bu_sprt_add(&bad, &rule, 1);
	}
	ck_assert_int_eq(bu_sprt_decided(&bad, &rule), 1);
	for (int i = 0; i < 30; i++)
		bu_sprt_add(&good, &rule, 0);
	ck_assert_int_eq(bu_sprt_decided(&good, &rule), -1);
}
END_TEST

START_TEST(instruments_in_doubt)
{
	ck_assert_int_eq(bu_flow_doubt(392.1, 390, 2, 2, 390e9 / 8 * 2), 0);
	ck_assert_int_eq(bu_flow_doubt(392.1, 390, 0, 0, 0), 0);
	ck_assert_int_eq(bu_flow_doubt(392.1, 399.7, 2, 2, 0), BU_DOUBT_LIMIT);
	ck_assert_int_eq(bu_flow_doubt(392.1, 390, 2, 2.1, 0), BU_DOUBT_CLOCK);
	ck_assert_int_eq(bu_flow_doubt(392.1, 390, 2, 2, 1e9), BU_DOUBT_BYTES);
}
END_TEST

/* Of what node 7 sends and receives, all flows after the first `good` ones are in
 * doubt, and all after the first to another leaf. */
enum { ODD = 7, ODD_LEAF = 8 };
struct odd_site {
	struct bu_site real;
	int good;
	int slow; /* the good ones are slow by half */
	int only; /* BU_DIR_...: the partner of the first flows has no other result than
		     what it sends or receives; 0 = it has */
	int seen, crossed; /* flows of node 7 so far */
	int partner;
};

static void
spoil(struct odd_site *odd, struct bu_flow *flow)
{
	int is_odd = flow->src == ODD || flow->dst == ODD;

	if (is_odd && odd->seen == 0)
		odd->partner = flow->src == ODD ? flow->dst : flow->src;
	odd->crossed += is_odd && (flow->src >= ODD_LEAF || flow->dst >= ODD_LEAF);
	if (is_odd && (odd->crossed || odd->seen++ >= odd->good))
		flow->doubt |= BU_DOUBT_CLOCK;
	else if (is_odd && odd->slow)
		flow->rate_gbps /= 2;
	if (is_odd || !odd->only || odd->partner < 0)
		return;
	if (odd->only == BU_DIR_OUT ? flow->dst == odd->partner
				    : flow->src == odd->partner)
		flow->doubt |= BU_DOUBT_NONE;
}

static int
odd_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	struct odd_site *odd = arg;

	if (odd->real.round(odd->real.arg, flows, count, err) != 0)
		return -1;
	for (int i = 0; i < count; i++)
		spoil(odd, &flows[i]);
	return 0;
}

/* Node 7 is named, and nothing else; what is known of its first partner then. */
static enum bu_port_state
odd_campaign(struct odd_site *odd)
{
	struct sim sim;
	struct bu_site site = {.round = odd_round, .arg = odd};
	struct bu_localise_opts opts = {.seed = 5};
	struct bu_report report;
	enum bu_port_state partner;

	odd->partner = -1;
	sim_init(&sim, 4 * ODD_LEAF, 1, ODD_LEAF, 4, 42);
	odd->real = sim_site(&sim);
	sim.plan.has_switch = sim.plan.has_lldp = 0;
	ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, NULL), 0);
	ck_assert_int_eq(report.count, 1);
	ck_assert_int_eq(report.accusations[0].what, BU_WHAT_INCONCLUSIVE);
	ck_assert_int_eq(report.accusations[0].node, ODD);
	ck_assert_int_eq(report.accusations[0].doubt, BU_DOUBT_CLOCK);
	ck_assert_int_ne(report.ports[ODD], BU_PORT_GOOD);
	partner = report.ports[odd->partner];
	bu_report_fini(&report);
	sim_fini(&sim);
	return partner;
}

/* It is used in no further stage. What it measured before, without a doubt, accuses
 * nobody, and proves nobody good, whoever sent. */
START_TEST(what_an_instrument_in_doubt_measured_counts_for_nothing)
{
	static const int only[] = {BU_DIR_OUT, BU_DIR_IN};
	struct odd_site never = {.good = 0}, slow = {.good = 2, .slow = 1};

	ck_assert_int_eq(odd_campaign(&never), BU_PORT_GOOD);
	ck_assert_int_eq(never.crossed, 0);
	ck_assert_int_eq(odd_campaign(&slow), BU_PORT_GOOD);
	ck_assert_int_eq(slow.crossed, 0);
	for (size_t i = 0; i < BU_LEN(only); i++) {
		struct odd_site odd = {.good = 2, .only = only[i]};

		ck_assert_int_eq(odd_campaign(&odd), BU_PORT_OPEN);
	}
}
END_TEST

START_TEST(an_instrument_that_fails_late_is_named)
{
	struct odd_site odd = {.good = 4};

	ck_assert_int_eq(odd_campaign(&odd), BU_PORT_GOOD);
	ck_assert_int_gt(odd.crossed, 0);
}
END_TEST

/* A site whose answers come one round at a time. */
struct slow_site {
	struct bu_site real;
	int rounds_ready, asked;
};

static int
slow_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	struct slow_site *slow = arg;

	if (slow->asked++ >= slow->rounds_ready)
		return 1;
	return slow->real.round(slow->real.arg, flows, count, err);
}

/* Run again and again over the same answers it comes to the same end; the good are
 * known before it, and nobody is accused before. */
START_TEST(a_campaign_goes_on_where_it_was)
{
	struct sim sim;
	struct slow_site slow = {.rounds_ready = 0};
	struct bu_site site;
	struct bu_localise_opts opts = {.seed = 5, .lean = 1};
	struct bu_report report;
	int rc = 1, good_before = 0;

	for (int ready = 0; ready < 200 && rc == 1; ready++) {
		sim_init(&sim, 16, 1, 8, 1, 42);
		sim.plan.sprayed = 1;
		sim.plan.has_switch = sim.plan.has_lldp = 0;
		sim_add(&sim, (struct sim_fault){.kind = SIM_PORT_RATE,
						 .port = 3,
						 .dir = BU_DIR_OUT,
						 .factor = 0.6});
		slow = (struct slow_site){sim_site(&sim), ready, 0};
		site = (struct bu_site){.round = slow_round, .arg = &slow};
		rc = bu_localise(&sim.plan, &site, &opts, &report, NULL);
		ck_assert_int_ge(rc, 0);
		if (rc == 1) {
			ck_assert_int_eq(report.count, 0);
			ck_assert_int_ne(report.ports[3], BU_PORT_GOOD);
			good_before |= report.ports[0] == BU_PORT_GOOD;
		} else {
			ck_assert_int_eq(report.count, 1);
			ck_assert_int_eq(sim_judge(&sim, &report.accusations[0]), 0);
			ck_assert_int_eq(report.ports[3], BU_PORT_SUSPECTED);
			ck_assert_int_eq(report.ports[0], BU_PORT_GOOD);
		}
		bu_report_fini(&report);
		sim_fini(&sim);
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_int_eq(good_before, 1);
}
END_TEST

/* A lone candidate and its lent partner: only the candidate can be accused. */
START_TEST(the_trusted_are_never_accused)
{
	unsigned char trusted[8] = {0, 1, 1, 1, 0, 0, 0, 0};
	unsigned char absent[8] = {0, 0, 0, 0, 1, 1, 1, 1};

	for (int bad = 0; bad < 2; bad++) {
		struct sim sim;
		struct bu_site site;
		struct bu_localise_opts opts = {
			.seed = 5, .lean = 1, .trusted = trusted, .absent = absent};
		struct bu_report report;

		sim_init(&sim, 8, 1, 8, 0, 42);
		sim.plan.has_switch = sim.plan.has_lldp = 0;
		sim_add(&sim, (struct sim_fault){.kind = SIM_PORT_RATE,
						 .port = bad,
						 .dir = 3,
						 .factor = 0.5});
		site = sim_site(&sim);
		ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, NULL),
				 0);
		if (bad == 0) {
			ck_assert_int_eq(report.count, 1);
			ck_assert_int_eq(report.accusations[0].what, BU_WHAT_ENDPOINT);
			ck_assert_int_eq(report.accusations[0].port, 0);
		} else {
			/* two other partners speak for the candidate */
			ck_assert_int_eq(report.count, 0);
			ck_assert_int_eq(report.ports[0], BU_PORT_GOOD);
		}
		ck_assert_int_eq(report.ports[5], BU_PORT_OPEN);
		bu_report_fini(&report);
		sim_fini(&sim);
	}
}
END_TEST

/* With a partner that nothing is good with any more: the tests end, and do not look for
 * somebody as often as they may. */
START_TEST(who_has_nobody_to_be_tested_with_costs_nothing)
{
	unsigned char trusted[3] = {1, 0, 0}, absent[3] = {0, 0, 1};
	unsigned char effort[3] = {0, BU_EFFORT_TWICE, 0};
	struct sim sim;
	struct bu_site site;
	struct bu_localise_opts opts = {.seed = 5,
					.lean = 1,
					.trusted = trusted,
					.absent = absent,
					.effort = effort,
					.retests = 2000000000};
	struct bu_report report;

	sim_init(&sim, 3, 1, 3, 0, 42);
	sim.plan.has_switch = sim.plan.has_lldp = 0;
	sim_add(&sim,
		(struct sim_fault){
			.kind = SIM_PORT_RATE, .port = 0, .dir = 3, .factor = 0.5});
	site = sim_site(&sim);
	ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, NULL), 0);
	ck_assert_int_eq(report.count, 0);
	ck_assert_int_gt(report.undecided, 0);
	bu_report_fini(&report);
	sim_fini(&sim);
}
END_TEST

BU_UNIT("localise", each_fault_by_its_name, each_link_by_its_name,
	a_spine_is_named_from_three_leaves_on, a_healthy_neighbour_is_acquitted_soon,
	a_link_is_held_against_its_own_leaf, what_comes_and_goes,
	what_no_test_tells_apart_comes_together, a_fleet_that_is_slow_together,
	the_clean_are_not_accused, a_campaign_goes_on_where_it_was,
	the_trusted_are_never_accused, who_has_nobody_to_be_tested_with_costs_nothing,
	a_site_that_fails, statistics, instruments_in_doubt,
	what_an_instrument_in_doubt_measured_counts_for_nothing,
	an_instrument_that_fails_late_is_named)
