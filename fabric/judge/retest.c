/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage C: proven partners test each suspect over proven links until its sequential
 * test decides. Called by localise.c. Flows from before stage C count only as chance.c
 * says. Invariant: a bad flow counts against a suspect only when the rest of its path
 * is clean. Where the fabric has no clean path, it counts against all suspects on it
 * alike.
 */
#include <math.h>

#include "fabric/judge/retest.h"

/* EMPTY: rounds in a row without any test that end the stage. The choice is partly
 * random, so after these no suspect has a partner. */
enum { RETESTS = 48, EMPTY = 16, NEIGHBOUR_TESTS = 2, WITNESS_TESTS = 3 };

/* Accepted shares of healthy suspects that are accused, and of faulty ones that are
 * cleared, by the retests alone. */
static const double alpha = 3e-5, beta = 5e-3;

static int
is_link(const struct campaign *c, int part)
{
	return part >= 2 * bu_topology_ports(c->t);
}

/* The other parts of a flow, for one symptom: is one accused, about to be, or open? */
struct rest {
	int stands, leans, open;
};

static struct rest
look_at_rest(const struct campaign *c, const int *list, int n, int own, int symptom)
{
	struct rest rest = {0, 0, 0};

	for (int k = 0; k < n; k++) {
		int place = c->suspect_of[list[k] * BU_SYMPTOMS_COUNT + symptom];

		if (k == own || place < 0)
			continue;
		rest.stands |= bu_campaign_spoils(c, list[k], symptom);
		rest.leans |= c->suspects[place].leans;
		rest.open |= c->suspects[place].state == 0;
	}
	return rest;
}

static int
is_port(const struct campaign *c, const struct suspect *suspect)
{
	return suspect->part < 2 * bu_topology_ports(c->t);
}

static int
partner_of(const struct campaign *c, const struct suspect *suspect,
	   const struct bu_flow *flow)
{
	return (suspect->part % 2 ? flow->src : flow->dst) / c->t->rails;
}

/* The suspect's good tests in stage C with this node. */
static int
count_good(const struct campaign *c, const struct suspect *suspect, int node)
{
	int count = 0;

	for (size_t i = c->retest_first; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int own = suspect->part % 2 ? flow->dst : flow->src;

		count += own == suspect->part / 2 && !flow->doubt &&
			 partner_of(c, suspect, flow) == node &&
			 !(bu_flow_symptoms(&c->limits, c->leaf_of, flow) >>
				   suspect->symptom &
			   1);
	}
	return count;
}

static void
count_witness(const struct campaign *c, struct suspect *suspect,
	      const struct bu_flow *flow, int bad)
{
	int node = partner_of(c, suspect, flow);
	int place = bu_retest_witness(suspect, node);

	if (place < 0 && bad && suspect->witnesses < BU_WITNESSES) {
		place = suspect->witnesses++;
		suspect->witness[place] = node;
		suspect->good_with[place] = count_good(c, suspect, node);
	}
	if (place >= 0 && bad)
		suspect->bad_with[place]++;
	else if (place >= 0)
		suspect->good_with[place]++;
}

static void
count_suspect(const struct campaign *c, struct suspect *suspect,
	      const struct bu_flow *flow, int bad, struct rest rest)
{
	if (bad && (rest.stands || rest.leans || (rest.open && suspect->clean > 0)))
		return;
	suspect->clean += !rest.stands && !rest.open;
	if (is_port(c, suspect))
		count_witness(c, suspect, flow, bad);
	if (bad)
		bu_sprt_add_bad(&suspect->sprt, &suspect->rule,
				bu_flow_weight(&c->limits, c->leaf_of, flow,
					       (enum bu_symptom)suspect->symptom));
	else
		bu_sprt_add(&suspect->sprt, &suspect->rule, 0);
	if (flow->rate_gbps > suspect->best_gbps)
		suspect->best_gbps = flow->rate_gbps;
}

static void
count_flow(struct campaign *c, const struct bu_flow *flow)
{
	int list[BU_FLOW_PARTS_MAX], n = bu_flow_parts(c->t, c->leaf_of, flow, list);
	unsigned int bits = bu_flow_symptoms(&c->limits, c->leaf_of, flow);

	for (int i = 0; i < n && !flow->doubt; i++) {
		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
			int place = c->suspect_of[list[i] * BU_SYMPTOMS_COUNT + s];

			if (place < 0 || c->suspects[place].state != 0)
				continue;
			count_suspect(c, &c->suspects[place], flow, bits >> s & 1,
				      look_at_rest(c, list, n, i, s));
		}
	}
}

/* Flows through parts that are rarely bad, and the bad ones among them. */
struct seen {
	size_t all, bad;
};

/* ret_parts: by part. */
static struct seen
count_seen(const struct campaign *c, struct seen *ret_parts)
{
	struct seen seen = {0};

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int list[BU_FLOW_PARTS_MAX];
		int n = bu_flow_parts(c->t, c->leaf_of, flow, list),
		    spoiled = flow->doubt, bad;

		for (int k = 0; k < n; k++) {
			const struct bu_part *part = &c->parts[list[k]];

			for (int s = 0; s < BU_SYMPTOMS_COUNT; s++)
				spoiled |= 8 * part->bad[s] > part->flows;
		}
		if (spoiled || n == 0)
			continue;
		bad = bu_flow_symptoms(&c->limits, c->leaf_of, flow) != 0;
		seen.all++;
		seen.bad += (size_t)bad;
		for (int k = 0; k < n; k++) {
			ret_parts[list[k]].all++;
			ret_parts[list[k]].bad += (size_t)bad;
		}
	}
	return seen;
}

/* Learns how often a healthy flow is bad by chance. The suspect's own flows are left
 * out while the others are at least half of all. */
static void
learn_rules(struct campaign *c)
{
	bu_autofree struct seen *parts =
		bu_xcalloc((size_t)c->parts_count, sizeof(*parts));
	struct seen all = count_seen(c, parts);

	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];
		const struct seen *halves = &parts[suspect->part & ~1];
		struct seen others = {all.all - halves[0].all - halves[1].all,
				      all.bad - halves[0].bad - halves[1].bad};
		const struct seen *of = 2 * others.all < all.all ? &all : &others;
		double bad = of->all ? (double)of->bad / (double)of->all : 0;
		double by_chance = fmin(0.2, fmax(0.003, 2 * bad));

		suspect->rule = (struct bu_sprt_rule){
			by_chance, fmin(0.8, fmax(0.2, 5 * by_chance)), alpha, beta};
	}
}

static int
is_anything_open(const struct campaign *c)
{
	for (size_t i = 0; i < c->suspect_count; i++) {
		if (c->suspects[i].state == 0 &&
		    !(c->t->sprayed && is_link(c, c->suspects[i].part) &&
		      c->suspects[i].part < c->parts_count - 2 * c->t->leaves))
			return 1;
	}
	return 0;
}

/* A miscabled port is out until its cable is corrected: that explains other
 * symptoms. */
static void
drop_miscabled(struct campaign *c)
{
	int ports = bu_topology_ports(c->t);

	for (size_t i = 0; i < c->suspect_count; i++) {
		int part = c->suspects[i].part & ~1;

		if (c->suspects[i].symptom != BU_SYMPTOM_CABLING ||
		    c->suspects[i].state <= 0 || part >= 2 * ports)
			continue;
		for (int k = 0; k < 2 * BU_SYMPTOMS_COUNT; k++) {
			int place = c->suspect_of[part * BU_SYMPTOMS_COUNT + k];

			if (place >= 0 &&
			    c->suspects[place].symptom != BU_SYMPTOM_CABLING)
				c->suspects[place].state = -1;
		}
	}
}

static int
is_accused(const struct campaign *c, int port)
{
	for (int i = 0; i < 2 * BU_SYMPTOMS_COUNT; i++) {
		int place = c->suspect_of[2 * port * BU_SYMPTOMS_COUNT + i];

		if (place >= 0 && c->suspects[place].state > 0)
			return 1;
	}
	return 0;
}

/* An accused port is out, and is measured anew when it returns. Its other open symptoms
 * with a good test are dropped without a decision. */
static void
drop_alternating(struct campaign *c)
{
	int halves = 2 * bu_topology_ports(c->t);

	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];

		if (suspect->state == 0 && suspect->part < halves &&
		    suspect->sprt.bad < suspect->sprt.tests &&
		    is_accused(c, suspect->part / 2)) {
			suspect->state = -1;
			suspect->with_port = 1;
		}
	}
}

/* Sets 1 for each suspect with a bad flow that has no other accused part. */
static unsigned char *
find_unexplained(const struct campaign *c)
{
	unsigned char *ret = bu_xcalloc(c->suspect_count, 1);

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int list[BU_FLOW_PARTS_MAX];
		int n = bu_flow_parts(c->t, c->leaf_of, flow, list);
		unsigned int bits = bu_flow_symptoms(&c->limits, c->leaf_of, flow);

		for (int k = 0; k < n && bits && !flow->doubt; k++) {
			for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
				int place =
					c->suspect_of[list[k] * BU_SYMPTOMS_COUNT + s];

				if (place >= 0 && bits >> s & 1 &&
				    !look_at_rest(c, list, n, k, s).stands)
					ret[place] = 1;
			}
		}
	}
	return ret;
}

/* Clears healthy neighbours of accused parts: all their bad flows are explained and all
 * their retests are good. These need fewer good tests than other suspects. */
static void
acquit_neighbours(struct retest *r)
{
	struct campaign *c = r->c;
	bu_autofree unsigned char *unexplained = NULL;

	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];
		struct bu_sprt_rule soon = suspect->rule;

		soon.beta = 0.08; /* no bad flow is unexplained */
		if (suspect->state != 0 || suspect->sprt.bad ||
		    (suspect->clean < NEIGHBOUR_TESTS &&
		     bu_sprt_decided(&suspect->sprt, &soon) >= 0))
			continue;
		if (!unexplained)
			unexplained = find_unexplained(c);
		if (!unexplained[i])
			suspect->state = -1;
	}
}

/* The decision of all retests, without those with nodes that gave bad tests alone. */
static int
weigh_others(const struct suspect *suspect)
{
	int bad = suspect->sprt.bad, good = suspect->sprt.tests - bad;
	struct bu_sprt others = {0};

	for (int i = 0; i < suspect->witnesses; i++)
		bad -= suspect->good_with[i] ? 0 : suspect->bad_with[i];
	for (int i = 0; i < good + bad; i++)
		bu_sprt_add(&others, &suspect->rule, i < bad);
	return bu_sprt_decided(&others, &suspect->rule);
}

/* 1 + a node with bad tests and too few in all; 0 = there is none. */
static int
to_try_again(const struct suspect *suspect)
{
	for (int i = 0; i < suspect->witnesses; i++)
		if (suspect->good_with[i] + suspect->bad_with[i] < WITNESS_TESTS)
			return suspect->witness[i] + 1;
	return 0;
}

/* An intermittent fault has good tests with a witness, too; then all tests count. A
 * suspect that is bad with one witness alone, in each of their tests, is healthy: the
 * fault is the witness's, or of the path between them. */
static void
decide(struct retest *r, size_t place)
{
	struct suspect *suspect = &r->c->suspects[place];
	int state = bu_sprt_decided(&suspect->sprt, &suspect->rule);

	suspect->leans = suspect->again = 0;
	if (suspect->witnesses && suspect->idle < BU_RETEST_IDLE)
		suspect->idle =
			suspect->sprt.tests > suspect->seen ? 0 : suspect->idle + 1;
	suspect->seen = suspect->sprt.tests;
	if (!is_port(r->c, suspect) || suspect->witnesses == BU_WITNESSES ||
	    !suspect->witnesses || state < 0) {
		suspect->state = state;
	} else if (!bu_retest_has_more(r->c, suspect)) {
		suspect->state = state;
		suspect->few = state > 0;
	} else if (weigh_others(suspect) < 0) {
		suspect->again = to_try_again(suspect);
		suspect->state = suspect->again ? 0 : -1;
	} else {
		suspect->leans = state > 0;
	}
	if (suspect->state == 0 && bu_retest_was_chance(r, place))
		suspect->state = -1;
}

/* Decides the suspects that are open after the last round. */
static void
decide_rest(const struct retest *r)
{
	struct campaign *c = r->c;

	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];
		double llr = 0;

		if (suspect->state == 0 && suspect->leans)
			suspect->state = suspect->few = 1;
		else if (suspect->state == 0 && r->unexplained &&
			 bu_retest_is_bad_by_all(r, i, &llr)) {
			suspect->state = suspect->by_all = 1;
			suspect->sprt.llr = llr;
		}
	}
}

static int
run(struct retest *r, struct bu_err *err)
{
	struct campaign *c = r->c;
	int rounds = c->opts->retests ? c->opts->retests : RETESTS, empty = 0;

	for (int round = 0; round < rounds && empty < EMPTY && is_anything_open(c);
	     round++) {
		size_t before = c->count;
		int rc;

		bu_retest_choose(r, round);
		empty = r->count ? 0 : empty + 1;
		rc = bu_campaign_round(c, STAGE_C, r->flows, r->count, err);
		if (rc != 0)
			return rc;
		for (size_t i = before; i < c->count; i++)
			count_flow(c, &c->flows[i]);
		bu_retest_count_unexplained(r);
		for (size_t i = 0; i < c->suspect_count; i++) {
			if (c->suspects[i].state == 0)
				decide(r, i);
		}
		acquit_neighbours(r);
		drop_miscabled(c);
		if (c->opts->lean)
			drop_alternating(c);
		/* no flow between leaves before */
		if (c->limits.median_gbps[1] == 0 && r->count) {
			struct bu_flows flows = bu_campaign_flows(c);

			bu_limits_learn(&c->limits, &flows);
		}
	}
	decide_rest(r);
	return 0;
}

int
bu_campaign_retest(struct campaign *c, struct bu_err *err)
{
	struct retest r = {
		.c = c,
		.random = c->seed ^ UINT64_C(0xc),
		.busy = bu_xcalloc((size_t)c->parts_count, 1),
		.flows = bu_xcalloc((size_t)bu_topology_ports(c->t),
				    sizeof(struct bu_flow)),
	};
	int rc;

	learn_rules(c);
	c->retest_first = c->count;
	rc = run(&r, err);
	for (size_t i = 0; i < c->suspect_count; i++)
		c->report->undecided += c->suspects[i].state == 0;
	free(r.busy);
	free(r.flows);
	free(r.unexplained);
	return rc;
}
