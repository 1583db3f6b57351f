/* SPDX-License-Identifier: Apache-2.0 */
/* Suspects at the end of a campaign: what clears them, what accuses them, with what the
 * earlier stages measured and in whose company. */
#include "fabric/judge/accuse_impl.h"
#include "fabric/judge/retest.h"
#include "tests/sim/sim.h"
#include "tests/support/unit.h"

/* PORT sends badly now and then; of its partners OTHER receives. */
enum { PORT = 0, OTHER = 1, ODD = 2, EVEN = 3, SENDS = 2 * PORT };

static struct sim sim;
static struct bu_localise_opts opts;
static struct bu_report report;
static struct campaign c;
static struct retest r;

static int
all_good(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	(void)arg;
	(void)err;
	for (int i = 0; i < count; i++)
		flows[i].rate_gbps = 390;
	return 0;
}

/* Four nodes at one leaf. */
static void
set_up(void)
{
	static const struct bu_site site = {.round = all_good};

	sim_init(&sim, 4, 1, 4, 1, 1);
	sim.plan.has_lldp = sim.plan.has_switch = 0;
	opts = (struct bu_localise_opts){.retests = 4};
	report = (struct bu_report){0};
	c = (struct campaign){
		.t = &sim.plan, .site = &site, .opts = &opts, .report = &report};
	bu_campaign_init(&c);
	ck_assert_int_eq(bu_campaign_lldp(&c, NULL), 0);
	c.order = (struct bu_order){.leaves = 1, .rails = 1, .spines = 1};
	bu_order_init(&c.order, c.leaf_of, 4, c.usable);
	c.limits =
		(struct bu_limits){.median_gbps = {390, 390}, .min_gbps = {380, 380}};
	r = (struct retest){.c = &c, .rule = {0.003, 0.2, 3e-5, 5e-3}};
}

static void
tear_down(void)
{
	free(r.unexplained);
	bu_campaign_fini(&c);
	bu_report_fini(&report);
	sim_fini(&sim);
}

static void
add_flows(int to, int count, double gbps)
{
	for (int i = 0; i < count; i++) {
		c.flows = bu_xgrow(c.flows, &c.cap, c.count + 1, sizeof(*c.flows));
		c.flows[c.count] = (struct bu_flow){.src = PORT,
						    .dst = to,
						    .via = -1,
						    .path = BU_PATH_UNKNOWN,
						    .round = (uint16_t)c.count,
						    .rate_gbps = (float)gbps};
		c.count++;
	}
}

/* The flows so far are those of the stages before. */
static struct suspect *
suspect_it(int bad, double weight, int good)
{
	struct bu_flows flows = bu_campaign_flows(&c);
	struct suspect *suspect = bu_campaign_suspect(&c, SENDS, BU_SYMPTOM_RATE);

	bu_parts_decode(&flows, &c.limits, c.parts);
	c.retest_first = c.count;
	for (int i = 0; i < bad; i++)
		bu_sprt_add_bad(&suspect->sprt, &r.rule, weight);
	for (int i = 0; i < good; i++)
		bu_sprt_add(&suspect->sprt, &r.rule, 0);
	suspect->witnesses = bad ? BU_WITNESSES : 0;
	for (int i = 0; i < suspect->witnesses; i++)
		suspect->witness[i] = i + 1;
	return suspect;
}

static int
is_bad_by_all(double gbps)
{
	double llr = 0;
	int bad;

	set_up();
	add_flows(ODD, 3, gbps);
	add_flows(EVEN, 7, 390);
	suspect_it(3, 0.5, 14);
	bu_retest_count_unexplained(&r);
	bad = bu_retest_is_bad_by_all(&r, 0, &llr);
	ck_assert_double_gt(llr, c.suspects[0].sprt.llr);
	tear_down();
	return bad;
}

START_TEST(a_little_too_slow_counts_for_half_before_its_tests_too)
{
	ck_assert_int_eq(is_bad_by_all(200), 1);
	ck_assert_int_eq(is_bad_by_all(379), 0);
}
END_TEST

/* Bad once, then in 30 tests good; another one was bad, too, while somebody else was
 * open. */
START_TEST(who_was_bad_in_its_tests_was_not_bad_by_chance)
{
	set_up();
	add_flows(ODD, 1, 200);
	add_flows(EVEN, 9, 390);
	suspect_it(0, 0, 30);
	bu_retest_count_unexplained(&r);
	ck_assert_int_eq(bu_retest_was_chance(&r, 0), 1);
	add_flows(ODD, 1, 200);
	ck_assert_int_eq(bu_retest_was_chance(&r, 0), 0);
	bu_campaign_suspect(&c, 2 * ODD + 1, BU_SYMPTOM_RATE)->state = 1;
	ck_assert_int_eq(bu_retest_was_chance(&r, 0), 1);
	tear_down();
}
END_TEST

/* Its last test is with one that was bad more often; its tests say nothing without the
 * rounds before, in which that one had no part. */
START_TEST(who_is_bad_by_all_stays_accused_and_with_confidence)
{
	struct bu_accusation one = {0};
	struct view v = {.c = &c};
	struct suspect *other;

	set_up();
	add_flows(ODD, 4, 200);
	add_flows(EVEN, 6, 390);
	suspect_it(3, 0.5, 32);
	other = bu_campaign_suspect(&c, 2 * OTHER + 1, BU_SYMPTOM_RATE);
	other->state = 1;
	other->sprt.bad = other->sprt.tests = 9;
	c.usable[ODD] = c.usable[EVEN] = 0;
	ck_assert_double_lt(c.suspects[0].sprt.llr, 0);
	ck_assert_int_eq(bu_campaign_retest(&c, NULL), 0);
	ck_assert_uint_eq(c.count, c.retest_first + 1);
	ck_assert_int_eq(c.suspects[0].state, 1);
	bu_campaign_explain_away(&c);
	ck_assert_int_eq(c.suspects[0].state, 1);
	bu_view_explain(&v, SENDS, &one);
	ck_assert_double_gt(one.confidence, 0.999);
	tear_down();
}
END_TEST

/* Two of three send badly: the third, which receives from these alone, does not make it
 * the leaf. */
START_TEST(a_healthy_victim_does_not_count_for_its_leaf)
{
	struct bu_site site;

	sim_init(&sim, 3, 1, 3, 1, 42);
	sim.outliers = 0;
	for (int port = 0; port < 2; port++)
		sim_add(&sim, (struct sim_fault){.kind = SIM_PORT_RATE,
						 .port = port,
						 .dir = BU_DIR_OUT,
						 .factor = 0.5});
	site = sim_site(&sim);
	opts = (struct bu_localise_opts){.seed = 5, .lean = 1};
	ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, NULL), 0);
	ck_assert_int_eq(report.count, 2);
	for (int i = 0; i < report.count; i++) {
		ck_assert_int_eq(report.accusations[i].what, BU_WHAT_ENDPOINT);
		ck_assert_int_eq(report.accusations[i].port, i);
		ck_assert_int_eq(report.accusations[i].dir, BU_DIR_OUT);
	}
	bu_report_fini(&report);
	sim_fini(&sim);
}
END_TEST

BU_UNIT("suspects", a_little_too_slow_counts_for_half_before_its_tests_too,
	who_was_bad_in_its_tests_was_not_bad_by_chance,
	who_is_bad_by_all_stays_accused_and_with_confidence,
	a_healthy_victim_does_not_count_for_its_leaf)
