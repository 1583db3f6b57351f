/* SPDX-License-Identifier: Apache-2.0 */
/* What is bad now and then: what a bad flow counts for, and how long it is followed. */
#include <math.h>
#include <string.h>

#include "fabric/judge/localise.h"
#include "fabric/judge/parts.h"
#include "fabric/judge/stats.h"
#include "tests/sim/sim.h"
#include "tests/support/unit.h"

/* Some flows of a port are slow, the first ones, and no other. */
enum { WHIM = 9 };

static struct bu_site whim_base;
static int whims, whim_flows, one_qp_is_weak, leaf_size = 16, crossing, idle_tested;
static float whim_gbps;

static int
whim_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	int rc = whim_base.round(whim_base.arg, flows, count, err);

	for (int i = 0; i < count; i++) {
		int crosses = flows[i].src / leaf_size != flows[i].dst / leaf_size;

		crossing |= crosses;
		idle_tested += crossing && !crosses;
		if (one_qp_is_weak && crosses && flows[i].qps == 1)
			flows[i].rate_gbps /= 2;
		if (flows[i].src != WHIM)
			continue;
		if (whim_flows++ < whims)
			flows[i].rate_gbps = whim_gbps;
	}
	return rc;
}

static struct bu_report
whim_campaign(int count, double of_limit)
{
	struct sim sim;
	struct bu_site site = {.round = whim_round};
	struct bu_localise_opts opts = {.seed = 5, .lean = 1};
	struct bu_report report;

	sim_init(&sim, 32, 1, leaf_size, 2, 42);
	sim.outliers = 0;
	sim.plan.has_switch = sim.plan.has_lldp = 0;
	whim_base = sim_site(&sim);
	whims = count;
	whim_flows = crossing = idle_tested = 0;
	whim_gbps = (float)(of_limit * sim.plan.limit_gbps);
	ck_assert_int_eq(bu_localise(&sim.plan, &site, &opts, &report, NULL), 0);
	sim_fini(&sim);
	ck_assert_int_eq(report.count, 0);
	ck_assert_int_eq(report.ports[WHIM], BU_PORT_GOOD);
	return report;
}

static int
rounds_of(const struct bu_report *report)
{
	return report->rounds[0] + report->rounds[1] + report->rounds[2] +
	       report->rounds[3];
}

/* What a port measured since its bad flow, whatever the stage, counts for it: it is
 * tested in rounds that others need, too. Two bad ones are followed for longer, one
 * that is just below the limit not so long. */
START_TEST(a_whim_takes_no_more_than_a_fault_needs_to_come_back)
{
	struct bu_report once = whim_campaign(1, 0.5), twice = whim_campaign(2, 0.5);
	int flows = whim_flows, all = rounds_of(&once);
	struct bu_report least = whim_campaign(1, 0.948);

	ck_assert_int_ge(flows, rounds_of(&twice) - 2); /* it was in each round */
	ck_assert_int_le(all, 32);
	ck_assert_int_ge(once.rounds[2], 4);
	ck_assert_int_gt(rounds_of(&twice), all + 1);
	ck_assert_int_lt(rounds_of(&least), all - 1);
	bu_report_fini(&once);
	bu_report_fini(&twice);
	bu_report_fini(&least);
}
END_TEST

/* The round that only tells how many queue pairs a link needs is thrown away, and who
 * it was slow for is not watched: else it is tested whenever it idles, as one is that
 * was bad before. */
START_TEST(a_round_that_is_thrown_away_makes_nobody_watched)
{
	struct bu_report clean, once;

	one_qp_is_weak = 1;
	leaf_size = 8;
	clean = whim_campaign(0, 1);
	ck_assert_int_eq(crossing, 1);
	ck_assert_int_eq(idle_tested, 0);
	once = whim_campaign(1, 0.5);
	ck_assert_int_gt(idle_tested, 0);
	one_qp_is_weak = 0;
	leaf_size = 16;
	bu_report_fini(&clean);
	bu_report_fini(&once);
}
END_TEST

static struct bu_flow
flow_at(int src, int dst, double share, int round)
{
	return (struct bu_flow){.src = src,
				.dst = dst,
				.rate_gbps = (float)(share * 400),
				.mtu = 4096,
				.path = BU_PATH_UNKNOWN,
				.round = (uint16_t)round};
}

/* Flows of one round are of the same seconds: what they have in common was bad once,
 * and not at all where one of them was good. */
START_TEST(flows_of_the_same_seconds_are_one_test)
{
	struct bu_limits limits = {0};
	struct bu_part *parts;
	unsigned char *bits;
	struct sim sim;
	int all;

	sim_init(&sim, 8, 1, 4, 1, 1);
	sim.plan.sprayed = 1;
	sim.plan.limit_gbps = 400;
	all = 2 * (8 + 2);
	{
		const struct bu_flow list[] = {
			flow_at(0, 4, 0.5, 0),  flow_at(1, 5, 0.5, 0),
			flow_at(2, 6, 0.5, 1),  flow_at(3, 7, 0.98, 1),
			flow_at(0, 5, 0.98, 2), flow_at(1, 4, 0.98, 3),
		};
		struct bu_flows flows = {&sim.plan, sim.leaf_of, list, BU_LEN(list)};

		bu_limits_learn(&limits, &flows);
		parts = bu_xcalloc((size_t)bu_parts_count(&sim.plan) + 1,
				   sizeof(*parts));
		bits = bu_xcalloc((size_t)bu_parts_count(&sim.plan) + 1, 1);
		bu_parts_decode(&flows, &limits, parts);
		ck_assert_uint_eq(parts[all].flows, 6);
		ck_assert_uint_eq(parts[all].rounds, 4);
		ck_assert_uint_eq(parts[all].bad[BU_SYMPTOM_RATE], 3);
		ck_assert_uint_eq(parts[all].bad_rounds[BU_SYMPTOM_RATE], 1);
		bu_parts_suspect(&flows, &limits, parts, NULL, bits);
		ck_assert_int_ne(bits[all], 0);
	}
	{
		/* The uplinks carried another one well in that very second. */
		const struct bu_flow list[] = {
			flow_at(0, 4, 0.5, 0),
			flow_at(1, 5, 0.98, 0),
			flow_at(0, 5, 0.98, 1),
			flow_at(1, 4, 0.98, 1),
		};
		struct bu_flows flows = {&sim.plan, sim.leaf_of, list, BU_LEN(list)};

		memset(parts, 0, (size_t)bu_parts_count(&sim.plan) * sizeof(*parts));
		memset(bits, 0, (size_t)bu_parts_count(&sim.plan));
		bu_parts_decode(&flows, &limits, parts);
		bu_parts_suspect(&flows, &limits, parts, NULL, bits);
		ck_assert_uint_eq(parts[all].bad_rounds[BU_SYMPTOM_RATE], 0);
		ck_assert_int_eq(bits[all], 0);
		ck_assert_int_ne(bits[0], 0);
	}
	free(parts);
	free(bits);
	sim_fini(&sim);
}
END_TEST

START_TEST(far_below_the_limit_counts_for_more)
{
	const struct bu_limits limits = {.min_gbps = {380, 380},
					 .max_us = {4, 4},
					 .max99_us = {8, 8},
					 .max_lost = 4};
	static const int leaf_of[2];
	static const struct {
		enum bu_symptom symptom;
		struct bu_flow flow;
		double weight;
	} rows[] = {
		{BU_SYMPTOM_RATE, {.dst = 1, .rate_gbps = 379}, 0.5},
		{BU_SYMPTOM_RATE, {.dst = 1, .rate_gbps = 380 * 0.97f}, 0.75},
		{BU_SYMPTOM_RATE, {.dst = 1, .rate_gbps = 300}, 1},
		{BU_SYMPTOM_RATE, {.dst = 1}, 1},
		{BU_SYMPTOM_LATENCY, {.dst = 1, .lat_us = 4.1f, .lat99_us = 6}, 0.5},
		{BU_SYMPTOM_LATENCY, {.dst = 1, .lat_us = 3, .lat99_us = 16}, 1},
		{BU_SYMPTOM_LOSS, {.dst = 1, .lost = 5}, 0.5},
		{BU_SYMPTOM_LOSS, {.dst = 1, .lost = 100}, 1},
	};
	const struct bu_sprt_rule rule = {0.003, 0.2, 3e-5, 5e-3};
	struct bu_sprt full = {0}, half = {0};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_double_eq_tol(bu_flow_weight(&limits, leaf_of, &rows[i].flow,
						       rows[i].symptom),
					rows[i].weight, 1e-3);
	for (int i = 0; i < 3; i++) {
		bu_sprt_add_bad(&full, &rule, 1);
		bu_sprt_add_bad(&half, &rule, 0.5);
	}
	ck_assert_int_eq(bu_sprt_decided(&full, &rule), 1);
	ck_assert_int_eq(bu_sprt_decided(&half, &rule), 0);
	for (int i = 0; i < 3; i++)
		bu_sprt_add_bad(&half, &rule, 0.5);
	ck_assert_int_eq(bu_sprt_decided(&half, &rule), 1);
}
END_TEST

START_TEST(a_fault_is_let_go_no_more_often_than_said)
{
	for (int seen = 1; seen <= 40; seen++) {
		struct bu_chance chance = {seen, 1, 1, 0.2, 0.004};
		int all = bu_stats_chance(&chance);
		double missed = seen * 0.2 * pow(0.8, all - 1);

		ck_assert_int_ge(all, seen);
		ck_assert(missed <= 0.004 * (1 - pow(0.8, seen)));
		ck_assert(all == seen || missed / 0.8 > 0.004 * (1 - pow(0.8, seen)));
		chance.bad = 2;
		ck_assert(seen < 10 || bu_stats_chance(&chance) >= all);
		for (chance.bad = 1; chance.bad <= 3; chance.bad++) {
			chance.weight = 1;
			all = bu_stats_chance(&chance);
			chance.weight = 0.5;
			ck_assert_int_le(bu_stats_chance(&chance), all);
		}
	}
}
END_TEST

/* The bench asks the judge for no more than its flows showed: not a rate under a slower
 * part, not an idle link, nothing that only a wrong instrument saw. */
START_TEST(what_comes_and_goes_shows_where_it_holds_a_flow)
{
	static const struct {
		struct bu_flow flow;
		int port, loss, link;
	} rows[] = {
		{{.src = 0, .dst = 1, .via = -1}, 1, 1, 0},
		{{.src = 1, .dst = 0, .via = -1}, 0, 0, 0},
		{{.src = 0, .dst = 4, .via = 0}, 0, 1, 1},
		{{.src = 0, .dst = 4, .via = 1}, 1, 1, 0},
		{{.src = 0, .dst = 7, .via = 1}, 0, 0, 0},
		{{.src = 2, .dst = 5, .via = 0}, 0, 0, 1},
	};
	/* As good as lasting, but counted as what comes and goes is. */
	static const struct sim_fault faults[] = {
		{.kind = SIM_PORT_RATE, .dir = 1, .factor = 0.7, .share = 0.9999999},
		{.kind = SIM_PORT_LOSS, .dir = 1, .factor = 1e-4, .share = 0.9999999},
		{.kind = SIM_LINK_RATE, .dir = 1, .factor = 0.3, .share = 0.9999999},
		{.kind = SIM_CLOCK, .node = 7, .factor = 1.03},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_flow flow = rows[i].flow;
		struct bu_site site;
		struct sim sim;

		sim_init(&sim, 8, 1, 4, 2, 1);
		for (size_t k = 0; k < BU_LEN(faults); k++)
			sim_add(&sim, faults[k]);
		site = sim_site(&sim);
		flow.qps = 1;
		ck_assert_int_eq(site.round(site.arg, &flow, 1, NULL), 0);
		ck_assert_int_eq(sim.shown[1], rows[i].loss);
		ck_assert_int_eq(sim.shown[2], rows[i].link);
		ck_assert_int_eq(sim.shown[0], rows[i].port);
		sim_fini(&sim);
	}
}
END_TEST

BU_UNIT("whims", a_whim_takes_no_more_than_a_fault_needs_to_come_back,
	a_round_that_is_thrown_away_makes_nobody_watched,
	flows_of_the_same_seconds_are_one_test, far_below_the_limit_counts_for_more,
	a_fault_is_let_go_no_more_often_than_said,
	what_comes_and_goes_shows_where_it_holds_a_flow)
