// SPDX-License-Identifier: Apache-2.0
/*
 * The campaign: which rounds run, and what is asked of the site when. Invariants: links
 * are measured only by ports that were good inside their leaf, and nothing is accused
 * here; that is for what retest.c lets stand.
 */
#include "fabric/judge/localise_impl.h"

#include <math.h>
#include <string.h>

enum {
	CROSS_PARTNERS = 4,
	EXTRA_LEAF = 8,
	EXTRA_CROSS = 4,
	SWITCH_READINGS = 8,
	SWITCH_READINGS_MAX = 24
};

uint64_t
bu_campaign_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* A source port that takes the spine that the test asks for. */
static int
find_source_port(struct campaign *c, struct bu_flow *flow, struct bu_err *err)
{
	enum { TRIED = 64 };
	int spines[TRIED];

	if (c->site->trace(c->site->arg, flow->src, flow->dst, flow->sport, TRIED,
			   spines, err) != 0)
		return -1;
	for (int i = 0; i < TRIED; i++) {
		if (spines[i] != flow->via)
			continue;
		flow->sport = (uint16_t)(flow->sport + i);
		break;
	}
	return 0;
}

/* A path that was told wins; else the test went where it was asked to go. */
static void
settle_paths(struct campaign *c, struct bu_flow *flows, int count)
{
	int crossing = 0, astray = 0;

	for (int i = 0; i < count; i++) {
		if (flows[i].via < 0)
			continue;
		crossing++;
		astray += flows[i].path != BU_PATH_UNKNOWN &&
			  flows[i].path != flows[i].via;
		if (flows[i].path == BU_PATH_UNKNOWN && !c->ignores_via)
			flows[i].path = flows[i].via;
	}
	if (2 * astray > crossing)
		c->ignores_via = 1;
}

/* Two flows that took the same link share it: neither says anything about the rate. */
static void
drop_collisions(struct campaign *c, struct bu_flow *flows, int count)
{
	bu_autofree unsigned char *used =
		bu_xcalloc((size_t)c->parts_count + 1, sizeof(*used));
	int list[BU_FLOW_PARTS_MAX];

	for (int pass = 0; pass < 2 && !c->t->sprayed; pass++) {
		for (int i = 0; i < count; i++) {
			int n = bu_flow_parts(c->t, c->leaf_of, &flows[i], list);

			for (int k = 2; k < n; k++) {
				if (pass == 0 && used[list[k]] < 2)
					used[list[k]]++;
				else if (pass == 1 && used[list[k]] > 1)
					flows[i].doubt |= BU_DOUBT_NONE;
			}
		}
	}
}

int
bu_campaign_round(struct campaign *c, enum stage stage, struct bu_flow *flows,
		  int count, struct bu_err *err)
{
	uint64_t state = c->seed ^ (uint64_t)c->count;

	if (count == 0)
		return 0;
	for (int i = 0; i < count; i++) {
		int crosses = c->leaf_of[flows[i].src] != c->leaf_of[flows[i].dst];

		flows[i].round =
			(uint16_t)(c->report->rounds[0] + c->report->rounds[1] +
				   c->report->rounds[2] + c->report->rounds[3]);
		flows[i].sport = (uint16_t)(49152 + bu_campaign_random(&state) % 16000);
		flows[i].qps = (uint8_t)(crosses ? c->qps_cross : 4);
		flows[i].path = BU_PATH_UNKNOWN;
		if (flows[i].via >= 0 && c->ignores_via && c->site->trace &&
		    find_source_port(c, &flows[i], err) != 0)
			return -1;
	}
	if (c->site->round(c->site->arg, flows, count, err) != 0)
		return -1;
	settle_paths(c, flows, count);
	drop_collisions(c, flows, count);
	c->report->rounds[stage]++;
	c->report->flows += count;
	c->flows = bu_xgrow(c->flows, &c->cap, c->count + (size_t)count,
			    sizeof(*c->flows));
	memcpy(c->flows + c->count, flows, (size_t)count * sizeof(*flows));
	c->count += (size_t)count;
	return 0;
}

static struct bu_flow
flow_of(int src, int dst, int via)
{
	return (struct bu_flow){.src = src, .dst = dst, .via = via};
}

static int
run_leaf_round(struct campaign *c, enum stage stage, int round, struct bu_err *err)
{
	size_t ports = (size_t)c->order.port_count + 2;
	bu_autofree struct bu_pair *pairs = bu_xcalloc(ports, sizeof(*pairs));
	bu_autofree struct bu_flow *flows = bu_xcalloc(ports, sizeof(*flows));
	int count = bu_stage_leaf_round(&c->order, c->seed, round, pairs);

	for (int i = 0; i < count; i++) {
		flows[2 * i] = flow_of(pairs[i].a, pairs[i].b, -1);
		flows[2 * i + 1] = flow_of(pairs[i].b, pairs[i].a, -1);
	}
	return bu_campaign_round(c, stage, flows, 2 * count, err);
}

static int
run_cross_round(struct campaign *c, enum stage stage, const struct bu_order *order,
		int round, struct bu_err *err)
{
	size_t ports = (size_t)order->port_count + 2;
	bu_autofree struct bu_cross *pairs = bu_xcalloc(ports, sizeof(*pairs));
	bu_autofree struct bu_flow *flows = bu_xcalloc(ports, sizeof(*flows));
	int count = bu_stage_cross_round(order, c->seed, round, pairs);
	int names = !c->t->sprayed && c->t->spines > 0;

	for (int i = 0; i < count; i++) {
		int via = names ? pairs[i].spine : -1;

		flows[2 * i] = flow_of(pairs[i].a, pairs[i].b, via);
		flows[2 * i + 1] = flow_of(pairs[i].b, pairs[i].a, via);
	}
	return bu_campaign_round(c, stage, flows, 2 * count, err);
}

static void
decode(struct campaign *c)
{
	bu_gate_learn(&c->gate, c->t, c->leaf_of, c->flows, c->count);
	memset(c->parts, 0, (size_t)c->parts_count * sizeof(*c->parts));
	bu_parts_decode(c->t, c->leaf_of, &c->gate, c->flows, c->count, c->parts);
}

struct suspect *
bu_campaign_suspect(struct campaign *c, int part, int symptom)
{
	int *place = &c->suspect_of[part * BU_SYMPTOMS_COUNT + symptom];

	if (*place < 0) {
		c->suspects = bu_xgrow(c->suspects, &c->suspect_cap,
				       c->suspect_count + 1, sizeof(*c->suspects));
		*place = (int)c->suspect_count;
		c->suspects[c->suspect_count++] =
			(struct suspect){.part = part, .symptom = symptom};
	}
	return &c->suspects[*place];
}

static void
suspect_all(struct campaign *c)
{
	bu_autofree unsigned char *bits = bu_xcalloc((size_t)c->parts_count + 1, 1);

	bu_parts_suspect(c->t, c->leaf_of, &c->gate, c->parts, c->flows, c->count,
			 bits);
	for (int part = 0; part < c->parts_count; part++) {
		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
			if (bits[part] >> s & 1)
				bu_campaign_suspect(c, part, s);
		}
	}
}

/* The node in the largest share of doubtful flows, when that is most of its own. */
static int
most_doubted(const struct campaign *c, unsigned char *ret_doubt)
{
	int nodes = c->t->nodes, rails = c->t->rails, found = -1;
	bu_autofree int *all = bu_xcalloc((size_t)nodes + 1, sizeof(*all));
	bu_autofree int *bad = bu_xcalloc((size_t)nodes + 1, sizeof(*bad));
	bu_autofree unsigned char *what = bu_xcalloc((size_t)nodes + 1, 1);
	bu_autofree int *partner = bu_xcalloc((size_t)nodes + 1, sizeof(*partner));
	double most = 0.6;

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int ends[2] = {flow->src / rails, flow->dst / rails};
		unsigned char doubt = flow->doubt & (unsigned char)~BU_DOUBT_NONE;

		if (c->doubted[ends[0]] || c->doubted[ends[1]])
			continue;
		for (int k = 0; k < 2; k++) {
			all[ends[k]]++;
			bad[ends[k]] += doubt != 0;
			what[ends[k]] |= doubt;
			if (doubt && partner[ends[k]] == 0)
				partner[ends[k]] = ends[!k] + 1;
			else if (doubt && partner[ends[k]] != ends[!k] + 1)
				partner[ends[k]] = -1;
		}
	}
	for (int node = 0; node < nodes; node++) {
		/* With one partner only, it may be that one's. */
		if (bad[node] < 3 || bad[node] <= most * all[node] || partner[node] > 0)
			continue;
		most = (double)bad[node] / all[node];
		found = node;
		*ret_doubt = what[node];
	}
	return found;
}

static void
find_doubted(struct campaign *c)
{
	unsigned char doubt = 0;
	int node;

	while ((node = most_doubted(c, &doubt)) >= 0) {
		c->doubted[node] = doubt;
		for (int rail = 0; rail < c->t->rails; rail++)
			c->usable[node * c->t->rails + rail] = 0;
	}
	for (size_t i = 0; i < c->count; i++) {
		if (c->doubted[c->flows[i].src / c->t->rails] ||
		    c->doubted[c->flows[i].dst / c->t->rails])
			c->flows[i].doubt |= BU_DOUBT_NONE;
	}
}

static void
renew_order(struct campaign *c)
{
	bu_order_fini(&c->order);
	bu_order_init(&c->order, c->leaf_of, bu_topology_ports(c->t), c->t->rails,
		      c->t->leaves, c->t->spines, c->usable);
}

static int
is_proven(const struct campaign *c, int port)
{
	for (int half = 0; half < 2; half++) {
		const struct bu_part *part = &c->parts[2 * port + half];

		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
			if (part->flows > 0 && part->bad[s] == part->flows)
				return 0;
		}
	}
	return 1;
}

/* Ports without a lasting symptom so far; where a leaf has none, all that are not
 * wrongly cabled, since nobody can be proven there. */
static void
proven_order(const struct campaign *c, struct bu_order *ret)
{
	int ports = bu_topology_ports(c->t), rails = c->t->rails;
	bu_autofree unsigned char *proven = bu_xcalloc((size_t)ports + 1, 1);
	bu_autofree int *in_group =
		bu_xcalloc((size_t)(c->t->leaves * rails) + 1, sizeof(int));

	for (int port = 0; port < ports; port++) {
		proven[port] = c->usable[port] && is_proven(c, port);
		in_group[c->leaf_of[port] * rails + port % rails] += proven[port];
	}
	for (int port = 0; port < ports; port++) {
		if (!in_group[c->leaf_of[port] * rails + port % rails])
			proven[port] = c->usable[port] &&
				       !c->parts[2 * port].bad[BU_SYMPTOM_CABLING];
	}
	bu_order_init(ret, c->leaf_of, ports, rails, c->t->leaves, c->t->spines,
		      proven);
}

/* Can one queue pair carry a whole link here? If not, links need as many as ports. */
static int
one_qp_is_enough(const struct campaign *c)
{
	bu_autofree float *rates = bu_xcalloc(c->count + 1, sizeof(*rates));
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (c->flows[i].qps == 1 && !c->flows[i].doubt)
			rates[kept++] = c->flows[i].rate_gbps;
	}
	return kept == 0 ||
	       bu_stats_quarter(rates, kept, 3) > 0.97 * c->gate.median_gbps[0];
}

/* The links that the last flows may have used: by leaf, then direction. */
static unsigned char *
used_leaves(const struct campaign *c, size_t first)
{
	unsigned char *used = bu_xcalloc(2 * (size_t)c->t->leaves + 1, 1);

	for (size_t i = first; i < c->count; i++) {
		used[2 * c->leaf_of[c->flows[i].src] + BU_LINK_UP] = 1;
		used[2 * c->leaf_of[c->flows[i].dst] + BU_LINK_DOWN] = 1;
	}
	return used;
}

/* Bad counters: far above those of the better links; a rate far under the median's. */
static void
add_switch_counts(struct campaign *c, const struct bu_link_count *counts, size_t first,
		  const struct bu_sprt_rule *rule)
{
	int links = 2 * c->t->leaves * c->t->spines, base = 2 * bu_topology_ports(c->t);
	bu_autofree unsigned char *used = used_leaves(c, first);
	bu_autofree float *bad = bu_xcalloc((size_t)links + 1, sizeof(*bad));
	bu_autofree float *rate = bu_xcalloc((size_t)links + 1, sizeof(*rate));
	double most_bad, median_rate, sigma;
	size_t n = 0;

	for (int i = 0; i < links; i++) {
		if (!used[i / 2 / c->t->spines * 2 + i % 2])
			continue;
		bad[n] = counts[i].bad;
		rate[n++] = counts[i].rate;
	}
	most_bad = 10 * bu_stats_quarter(bad, n, 1) + 10;
	median_rate = bu_stats_median(rate, n);
	sigma = bu_stats_sigma(rate, n, median_rate);
	for (int i = 0; i < links; i++) {
		int lossy = counts[i].bad > most_bad;
		int slow = counts[i].rate >= 0 && counts[i].rate < 0.8 * median_rate &&
			   counts[i].rate < median_rate - 8 * sigma;

		if (!used[i / 2 / c->t->spines * 2 + i % 2])
			continue;
		if (lossy || slow || c->suspect_of[(base + i) * BU_SYMPTOMS_COUNT] >= 0)
			bu_sprt_add(&bu_campaign_suspect(c, base + i, 0)->sprt, rule,
				    lossy || slow);
	}
}

static int
is_a_link_open(const struct campaign *c, const struct bu_sprt_rule *rule)
{
	for (size_t i = 0; i < c->suspect_count; i++) {
		if (bu_sprt_decided(&c->suspects[i].sprt, rule) == 0)
			return 1;
	}
	return 0;
}

/* Sprayed flows cannot name a link, its switches can: after each of some rounds at full
 * load their counters are read, and the same sequential test decides. */
static int
read_switches(struct campaign *c, const struct bu_order *order, struct bu_err *err)
{
	const struct bu_sprt_rule rule = {0.02, 0.5, 1e-6, 1e-3};
	size_t links = 2 * (size_t)c->t->leaves * (size_t)c->t->spines;
	bu_autofree struct bu_link_count *counts =
		bu_xcalloc(links + 1, sizeof(*counts));
	size_t first = c->count;

	if (!c->site->switches || !c->t->has_switch || links == 0)
		return 0;
	for (int i = 0; i <= SWITCH_READINGS_MAX; i++) {
		if (c->site->switches(c->site->arg, counts, err) != 0)
			return -1;
		if (i > 0)
			add_switch_counts(c, counts, first, &rule);
		first = c->count;
		if (i >= SWITCH_READINGS && !is_a_link_open(c, &rule))
			break;
		if (i < SWITCH_READINGS_MAX &&
		    run_cross_round(c, STAGE_D, order, i, err) != 0)
			return -1;
	}
	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];

		suspect->state = bu_sprt_decided(&suspect->sprt, &rule);
		suspect->by_switch = suspect->state > 0;
		if (suspect->state == 0) /* flows begin anew, by their own rule */
			suspect->sprt = (struct bu_sprt){0};
	}
	return 0;
}

static int
run_links(struct campaign *c, struct bu_err *err)
{
	struct bu_order proven;
	size_t before = c->count;
	int rounds, extra, rc = 0;

	proven_order(c, &proven);
	proven.sprayed = c->t->sprayed;
	c->qps_cross = 1;
	rounds = bu_stage_cross_rounds(&proven, CROSS_PARTNERS);
	extra = bu_stage_cross_rounds(&proven, 1) * EXTRA_CROSS;
	if (rounds > 0)
		rc = run_cross_round(c, STAGE_B, &proven, 0, err);
	if (rc == 0 && !one_qp_is_enough(c)) {
		c->qps_cross = 4;
		c->count = before;
		rc = run_cross_round(c, STAGE_B, &proven, 0, err);
	}
	for (int round = 1; rc == 0 && round < rounds; round++)
		rc = run_cross_round(c, STAGE_B, &proven, round, err);
	for (int round = 0; rc == 0 && round < extra; round++)
		rc = run_cross_round(c, STAGE_D, &proven, rounds + round, err);
	if (rc == 0)
		rc = read_switches(c, &proven, err);
	bu_order_fini(&proven);
	return rc;
}

static int
run_stages(struct campaign *c, int partners, struct bu_err *err)
{
	int rounds;

	renew_order(c);
	rounds = bu_stage_leaf_rounds(&c->order, partners);
	for (int round = 0; round < rounds; round++) {
		if (run_leaf_round(c, STAGE_A, round, err) != 0)
			return -1;
	}
	find_doubted(c);
	decode(c);
	renew_order(c);
	if (run_links(c, err) != 0)
		return -1;
	for (int round = 0; round < EXTRA_LEAF && rounds > 0; round++) {
		if (run_leaf_round(c, STAGE_D, rounds + round, err) != 0)
			return -1;
	}
	find_doubted(c);
	decode(c);
	suspect_all(c);
	return bu_campaign_retest(c, err);
}

static int
ask_lldp(struct campaign *c, struct bu_err *err)
{
	bu_autofree int *heard = NULL;
	int ports = bu_topology_ports(c->t);

	memcpy(c->leaf_of, c->t->leaf_of, (size_t)ports * sizeof(int));
	if (!c->site->lldp || !c->t->has_lldp)
		return 0;
	heard = bu_xcalloc((size_t)ports + 1, sizeof(*heard));
	for (int i = 0; i < ports; i++)
		heard[i] = -1;
	if (c->site->lldp(c->site->arg, heard, err) != 0)
		return -1;
	for (int i = 0; i < ports; i++) {
		if (heard[i] >= 0)
			c->leaf_of[i] = heard[i];
	}
	return 0;
}

static void
campaign_init(struct campaign *c)
{
	size_t ports = (size_t)bu_topology_ports(c->t);

	c->parts_count = bu_parts_count(c->t);
	c->qps_cross = 1;
	c->leaf_of = bu_xcalloc(ports + 1, sizeof(*c->leaf_of));
	c->usable = bu_xcalloc(ports + 1, 1);
	memset(c->usable, 1, ports);
	c->doubted = bu_xcalloc((size_t)c->t->nodes + 1, 1);
	c->parts = bu_xcalloc((size_t)c->parts_count + 1, sizeof(*c->parts));
	c->suspect_of = bu_xcalloc((size_t)c->parts_count * BU_SYMPTOMS_COUNT + 1,
				   sizeof(*c->suspect_of));
	for (int i = 0; i < c->parts_count * BU_SYMPTOMS_COUNT; i++)
		c->suspect_of[i] = -1;
}

static void
campaign_fini(struct campaign *c)
{
	bu_order_fini(&c->order);
	free(c->leaf_of);
	free(c->usable);
	free(c->doubted);
	free(c->parts);
	free(c->suspect_of);
	free(c->suspects);
	free(c->flows);
}

int
bu_localise(const struct bu_topology *topology, const struct bu_site *site,
	    const struct bu_localise_opts *opts, struct bu_report *ret,
	    struct bu_err *err)
{
	struct bu_report report = {0};
	struct campaign c = {
		.t = topology, .site = site, .seed = opts->seed, .report = &report};
	int partners = opts->partners ? opts->partners
				      : bu_stage_partners(bu_topology_ports(topology),
							  0.1, 0.01);
	int rc;

	campaign_init(&c);
	rc = ask_lldp(&c, err);
	if (rc == 0)
		rc = run_stages(&c, partners, err);
	if (rc == 0) {
		bu_campaign_accuse(&c);
		*ret = report;
	}
	campaign_fini(&c);
	return rc;
}

void
bu_report_fini(struct bu_report *report)
{
	for (int i = 0; i < report->count; i++)
		free(report->accusations[i].of);
	free(report->accusations);
	*report = (struct bu_report){0};
}
