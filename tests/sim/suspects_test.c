/* SPDX-License-Identifier: Apache-2.0 */
/* Suspects at the end of a campaign: what clears them, what accuses them, with what the
 * earlier stages measured and in whose company. */
#include "fabric/judge/accuse_impl.h"
#include "fabric/judge/retest.h"
#include "tests/sim/sim.h"
#include "tests/support/unit.h"

static const struct bu_sprt_rule usual = {0.003, 0.2, 3e-5, 5e-3};

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

/* Four nodes, so many of them at each leaf. */
static void
set_up_leaves(int leaf_size)
{
	static const struct bu_site site = {.round = all_good};

	sim_init(&sim, 4, 1, leaf_size, 1, 1);
	sim.plan.has_lldp = sim.plan.has_switch = 0;
	opts = (struct bu_localise_opts){.retests = 4};
	report = (struct bu_report){0};
	c = (struct campaign){
		.t = &sim.plan, .site = &site, .opts = &opts, .report = &report};
	bu_campaign_init(&c);
	ck_assert_int_eq(bu_campaign_lldp(&c, NULL), 0);
	c.order = (struct bu_order){.leaves = sim.plan.leaves, .rails = 1, .spines = 1};
	bu_order_init(&c.order, c.leaf_of, 4, c.usable);
	c.limits =
		(struct bu_limits){.median_gbps = {390, 390}, .min_gbps = {380, 380}};
	r = (struct retest){.c = &c};
}

static void
set_up(void)
{
	set_up_leaves(4);
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
add_flows_of(int from, int to, int count, double gbps)
{
	int crosses = c.leaf_of[from] != c.leaf_of[to];

	for (int i = 0; i < count; i++) {
		c.flows = bu_xgrow(c.flows, &c.cap, c.count + 1, sizeof(*c.flows));
		c.flows[c.count] =
			(struct bu_flow){.src = from,
					 .dst = to,
					 .via = -1,
					 .path = crosses ? 0 : BU_PATH_UNKNOWN,
					 .round = (uint16_t)c.count,
					 .rate_gbps = (float)gbps};
		c.count++;
	}
}

static void
add_flows(int to, int count, double gbps)
{
	add_flows_of(PORT, to, count, gbps);
}

/* The flows so far are those of the stages before. */
static struct suspect *
suspect_part(int part, int bad, double weight, int good)
{
	struct bu_flows flows = bu_campaign_flows(&c);
	struct suspect *suspect = bu_campaign_suspect(&c, part, BU_SYMPTOM_RATE);

	bu_parts_decode(&flows, &c.limits, c.parts);
	c.retest_first = c.count;
	suspect->rule = usual;
	for (int i = 0; i < bad; i++)
		bu_sprt_add_bad(&suspect->sprt, &usual, weight);
	for (int i = 0; i < good; i++)
		bu_sprt_add(&suspect->sprt, &usual, 0);
	suspect->witnesses = bad ? BU_WITNESSES : 0;
	for (int i = 0; i < suspect->witnesses; i++)
		suspect->witness[i] = i + 1;
	return suspect;
}

static struct suspect *
suspect_it(int bad, double weight, int good)
{
	return suspect_part(SENDS, bad, weight, good);
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

/* A port needs several nodes that it was bad with; a link has none. */
START_TEST(a_link_is_bad_by_all_without_witnesses)
{
	double llr = 0;

	set_up_leaves(2);
	add_flows(ODD, 3, 200);
	add_flows(EVEN, 7, 390);
	suspect_part(2 * 4, 3, 1, 17)->witnesses = 0;
	suspect_it(3, 1, 17)->witnesses = 0;
	bu_retest_count_unexplained(&r);
	ck_assert_int_eq(bu_retest_is_bad_by_all(&r, 0, &llr), 1);
	ck_assert_int_eq(bu_retest_is_bad_by_all(&r, 1, &llr), 0);
	tear_down();
}
END_TEST

/* What healthy ones do by chance is learned from the others, where there are as many.
 */
START_TEST(what_a_suspect_showed_is_not_chance)
{
	for (int others = 0; others < 2; others++) {
		set_up();
		add_flows(ODD, 2, 200);
		add_flows(ODD, 15, 390);
		add_flows_of(OTHER, EVEN, others ? 17 : 16, 390);
		suspect_it(0, 0, 0);
		opts.retests = 1;
		ck_assert_int_eq(bu_campaign_retest(&c, NULL), 0);
		ck_assert_double_eq_tol(c.suspects[0].rule.healthy,
					others ? 0.003 : 4.0 / 33, 1e-9);
		tear_down();
	}
}
END_TEST

/* Of campaigns that a fault comes and goes in, those that name it; ret_wrong: wrong
 * accusations. */
static int
count_named(const struct sim *like, struct sim_fault fault, int leaf_size,
	    int *ret_wrong)
{
	int named = 0;

	*ret_wrong = 0;
	for (unsigned int seed = 1; seed <= 20; seed++) {
		struct bu_site site;
		int found = 0;

		sim_init(&sim, like->plan.nodes, 1, leaf_size, like->plan.spines,
			 seed * 77);
		sim.plan.sprayed = like->plan.sprayed;
		sim.plan.has_switch = like->plan.has_switch;
		sim_add(&sim, fault);
		site = sim_site(&sim);
		opts = (struct bu_localise_opts){.seed = seed, .lean = 1};
		ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, NULL),
				 0);
		for (int i = 0; i < report.count; i++) {
			int right = sim_judge(&sim, &report.accusations[i]) == 0;

			found |= right;
			*ret_wrong += !right;
		}
		named += found;
		bu_report_fini(&report);
		sim_fini(&sim);
	}
	return named;
}

/* Once its sending half stands, the other one is not followed; links that it is tested
 * with do not pay for it. */
START_TEST(a_port_that_is_out_condemns_no_link)
{
	const struct sim like = {.plan = {.nodes = 32, .spines = 3}};
	const struct sim_fault fault = {.kind = SIM_PORT_LOSS,
					.port = 15,
					.port2 = -1,
					.dir = BU_DIR_OUT | BU_DIR_IN,
					.factor = 4e-4,
					.share = 0.55};
	int wrong, named = count_named(&like, fault, 5, &wrong);

	ck_assert_int_ge(named, 19);
	ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(a_switch_that_counts_now_and_then_names_its_link)
{
	const struct sim like = {
		.plan = {.nodes = 64, .spines = 4, .sprayed = 1, .has_switch = 1}};
	const struct sim_fault fault = {.kind = SIM_LINK_RATE,
					.port2 = -1,
					.leaf = 2,
					.spine = 1,
					.dir = BU_DIR_OUT,
					.factor = 0.4,
					.share = 0.22};
	int wrong, named = count_named(&like, fault, 16, &wrong);

	ck_assert_int_ge(named, 16);
	ck_assert_int_eq(wrong, 0);
}
END_TEST

static struct bu_site patchy_base;

static int
patchy_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	(void)arg;
	return patchy_base.round(patchy_base.arg, flows, count, err);
}

/* A bad link, which is read each ninth time. */
static int
patchy_switches(void *arg, struct bu_link_count *ret, struct bu_err *err)
{
	enum { LINK = 2 * (3 * 4 + 1) + BU_LINK_UP };
	int *readings = arg;

	(void)err;
	for (int i = 0; i < 2 * 8 * 4; i++)
		ret[i] = (struct bu_link_count){i < 8 ? 0 : -1, -1, 0};
	ret[9].bad = 5; /* a few are no fault, beside what others count */
	ret[LINK].bad = (*readings)++ % 9 == 1 ? 1000 : -1;
	return 0;
}

/* Each of its readings was bad: the others do not clear it. */
START_TEST(what_was_not_read_clears_nothing)
{
	int readings = 0;
	struct bu_site site = {
		.round = patchy_round, .switches = patchy_switches, .arg = &readings};

	opts = (struct bu_localise_opts){.seed = 5};
	sim_init(&sim, 64, 1, 8, 4, 42);
	sim.plan.sprayed = 1;
	patchy_base = sim_site(&sim);
	ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, NULL), 0);
	ck_assert_int_eq(report.count, 1);
	ck_assert_int_eq(report.accusations[0].what, BU_WHAT_LINK);
	ck_assert_int_eq(report.accusations[0].leaf, 3);
	ck_assert_int_eq(report.accusations[0].spine, 1);
	bu_report_fini(&report);
	sim_fini(&sim);
}
END_TEST

/* A second look at the same part, or at one beside it, adds no second sign. */
START_TEST(a_symptom_is_told_once)
{
	struct bu_accusation one = {0};
	struct view v = {.c = &c};

	set_up();
	add_flows(ODD, 4, 200);
	suspect_it(4, 1, 0)->state = 1;
	for (int i = 0; i < BU_SYMPTOMS_COUNT + 1; i++)
		bu_view_explain(&v, SENDS, &one);
	ck_assert_int_eq(one.sign_count, 1);
	ck_assert_int_eq(one.signs[0].symptom, BU_SYMPTOM_RATE);
	tear_down();
}
END_TEST

/* Flows of an instrument that is in doubt say nothing of what a path carries. */
START_TEST(doubtful_flows_name_no_mtu)
{
	struct bu_limits limits = {0};
	struct bu_flows flows;

	set_up();
	add_flows(ODD, 2, 390);
	add_flows(EVEN, 5, 390);
	for (size_t i = 0; i < c.count; i++) {
		c.flows[i].mtu = i < 2 ? 4096 : 9000;
		c.flows[i].doubt = i < 2 ? 0 : BU_DOUBT_NONE;
	}
	flows = bu_campaign_flows(&c);
	bu_limits_learn(&limits, &flows);
	ck_assert_int_eq(limits.mtu, 4096);
	tear_down();
}
END_TEST

static int
bad_in_the_third(void *arg, struct bu_link_count *ret, struct bu_err *err)
{
	int *readings = arg;

	(void)err;
	for (int i = 0; i < 2 * 2; i++)
		ret[i] = (struct bu_link_count){.rate = -1};
	/* The first reading is the baseline. */
	if (++*readings == 1 + 3)
		ret[BU_LINK_UP].bad = 1000;
	return 0;
}

/* A link becomes a suspect by a bad reading; the good ones before it are not lost. */
START_TEST(readings_before_the_first_bad_one_count)
{
	static int readings;
	const struct bu_site site = {
		.round = all_good, .switches = bad_in_the_third, .arg = &readings};
	const struct suspect *its;

	set_up_leaves(2);
	sim.plan.sprayed = 1;
	c.site = &site;
	readings = 0;
	ck_assert_int_eq(bu_campaign_switches(&c, &c.order, 5, NULL), 0);
	ck_assert_uint_eq(c.suspect_count, 1);
	its = &c.suspects[0];
	ck_assert_int_eq(its->sprt.tests, 5);
	ck_assert_int_eq(its->sprt.bad, 1);
	tear_down();
}
END_TEST

BU_UNIT("suspects", a_little_too_slow_counts_for_half_before_its_tests_too,
	who_was_bad_in_its_tests_was_not_bad_by_chance,
	who_is_bad_by_all_stays_accused_and_with_confidence,
	a_healthy_victim_does_not_count_for_its_leaf,
	a_link_is_bad_by_all_without_witnesses, what_a_suspect_showed_is_not_chance,
	a_port_that_is_out_condemns_no_link,
	a_switch_that_counts_now_and_then_names_its_link,
	what_was_not_read_clears_nothing, a_symptom_is_told_once,
	doubtful_flows_name_no_mtu, readings_before_the_first_bad_one_count)
