/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds by the schedule: inside the leaves, and from leaf to leaf. Called by the
 * stages, and by switches.c to load the fabric. Invariant: no flow has an end that is
 * absent or doubted.
 */
#include "fabric/judge/campaign.h"

/* Number of other leaves that each leaf meets: of its rail, and across rails. */
enum { CROSS_PARTNERS = 4, ACROSS_PARTNERS = 16 };

/* lacks: runs only pairs with a port that lacks partners; NULL = all. */
static int
leaf_round(struct campaign *c, enum stage stage, int round, const int *lacks,
	   struct bu_err *err)
{
	size_t ports = (size_t)c->order.port_count + 2;
	bu_autofree struct bu_pair *pairs = bu_xcalloc(ports, sizeof(*pairs));
	bu_autofree struct bu_flow *flows = bu_xcalloc(ports, sizeof(*flows));
	int count = bu_stage_leaf_round(&c->order, c->seed, round, pairs), n = 0;

	for (int i = 0; i < count; i++) {
		/* Results of two trusted ports count for the cohort. */
		int both = c->trusted_parts[2 * pairs[i].a] &&
			   c->trusted_parts[2 * pairs[i].b];

		if (!lacks || both || lacks[pairs[i].a] > 0 || lacks[pairs[i].b] > 0)
			n += bu_campaign_pair(c, pairs[i].a, pairs[i].b, -1, flows + n);
	}
	return bu_campaign_round(c, stage, flows, n, err);
}

int
bu_campaign_leaf_round(struct campaign *c, enum stage stage, int round,
		       struct bu_err *err)
{
	return leaf_round(c, stage, round, NULL, err);
}

static int
group_of(const struct campaign *c, int port)
{
	return c->leaf_of[port] * c->t->rails + port % c->t->rails;
}

/* Usable ports by group. */
static int *
group_sizes(const struct campaign *c)
{
	int *sizes = bu_xcalloc((size_t)(c->t->leaves * c->t->rails), sizeof(*sizes));

	for (int port = 0; port < bu_topology_ports(c->t); port++)
		sizes[group_of(c, port)] += c->usable[port];
	return sizes;
}

/* Sets the partners that each port lacks. In a lean campaign a smaller leaf needs no
 * more partners than it has: more rounds would repeat its pairs. */
static void
want_partners(const struct campaign *c, int partners, int *lacks)
{
	int ports = bu_topology_ports(c->t);
	bu_autofree int *sizes = group_sizes(c);

	for (int port = 0; port < ports; port++) {
		int node = port / c->t->rails, others = sizes[group_of(c, port)] - 1;
		int effort = c->opts->effort ? c->opts->effort[node] : BU_EFFORT_USUAL;
		int usual = c->opts->lean && others > 0 && others < partners ? others
									     : partners;

		lacks[port] = c->trusted_parts[2 * port]  ? 0
			      : effort == BU_EFFORT_BRIEF ? 1
			      : effort == BU_EFFORT_TWICE ? 2 * partners
							  : usual;
	}
}

/* The next free port of the rail on another leaf, after `skip` others; -1 = none. */
static int
find_elsewhere(const struct campaign *c, int port, int skip, const unsigned char *busy)
{
	int nodes = c->t->nodes, rails = c->t->rails, node = port / rails, seen = 0;

	for (int i = 1; i <= (skip + 2) * nodes; i++) {
		int other = (node + i) % nodes * rails + port % rails;

		if (c->usable[other] && c->leaf_of[other] != c->leaf_of[port] &&
		    seen++ >= skip && !busy[other])
			return other;
	}
	return -1;
}

/* Ports of a probe under way since flow `first` are not through. */
static void
note_lonely(struct campaign *c, size_t first, const int *lacks, const int *lonely)
{
	for (size_t i = first; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];

		if (lonely[flow->src] && lacks[flow->src] > 0 &&
		    flow->doubt & BU_DOUBT_ASKED)
			c->seeks[flow->src] = 1;
	}
}

/* Usable ports of the rail on other leaves. */
static int
count_elsewhere(const struct campaign *c, const int *sizes, int port)
{
	int rail = port % c->t->rails, count = -sizes[group_of(c, port)];

	for (int leaf = 0; leaf < c->t->leaves; leaf++)
		count += sizes[leaf * c->t->rails + rail];
	return count;
}

/* The rounds in which a lonely port takes part. Where other leaves have fewer ports
 * than `partners`, these are enough: lacks is lowered to their number. */
static int
rounds_elsewhere(const struct campaign *c, const int *sizes, int port, int partners,
		 int *lacks)
{
	int effort =
		c->opts->effort ? c->opts->effort[port / c->t->rails] : BU_EFFORT_USUAL;
	int others = count_elsewhere(c, sizes, port);

	if (!c->site->known || effort == BU_EFFORT_TWICE || others >= partners)
		return partners;
	lacks[port] = lacks[port] > others ? others : lacks[port];
	return others;
}

/* Ports without a partner in their leaf get some of other leaves. lonely: by port, its
 * number of rounds. */
static int
lonely_round(struct campaign *c, int round, const int *lacks, const int *lonely,
	     struct bu_err *err)
{
	int ports = bu_topology_ports(c->t), n = 0;
	bu_autofree unsigned char *busy = bu_xcalloc((size_t)ports, 1);
	bu_autofree struct bu_flow *flows =
		bu_xcalloc((size_t)ports + 2, sizeof(*flows));

	for (int port = 0; port < ports; port++) {
		int other;

		if (lonely[port] <= round || lacks[port] <= 0 || busy[port])
			continue;
		other = find_elsewhere(c, port, round, busy);
		if (other < 0)
			continue;
		busy[port] = busy[other] = 1;
		n += bu_campaign_pair(c, port, other, -1, flows + n);
	}
	return bu_campaign_round(c, STAGE_A, flows, n, err);
}

static int
lonely_stage(struct campaign *c, int partners, int *lacks, struct bu_err *err)
{
	int ports = bu_topology_ports(c->t), any = 0;
	size_t first = c->count;
	bu_autofree int *lonely = bu_xcalloc((size_t)ports, sizeof(*lonely));
	bu_autofree int *wanted = bu_xcalloc((size_t)ports, sizeof(*wanted));
	bu_autofree int *sizes = group_sizes(c);

	want_partners(c, partners, wanted);
	for (int port = 0; port < ports; port++) {
		if (!c->usable[port] || lacks[port] <= 0 ||
		    lacks[port] != wanted[port] ||
		    (c->waiting && sizes[group_of(c, port)] > 1))
			continue;
		lonely[port] = rounds_elsewhere(c, sizes, port, partners, lacks);
		any |= lonely[port] > 0;
	}
	for (int round = 0; any && round < partners && c->t->leaves > 1; round++) {
		size_t before = c->count;
		int rc = lonely_round(c, round, lacks, lonely, err);

		if (rc != 0)
			return rc;
		bu_campaign_count_lacks(c, before, lacks);
	}
	note_lonely(c, first, lacks, lonely);
	return 0;
}

static int
wants_twice(const struct campaign *c)
{
	for (int node = 0; c->opts->effort && node < c->t->nodes; node++) {
		if (c->opts->effort[node] == BU_EFFORT_TWICE)
			return 1;
	}
	return 0;
}

static int
leaf_rounds(struct campaign *c, int rounds, struct bu_err *err)
{
	for (int round = 0; round < rounds; round++) {
		size_t before = c->count;
		int rc = leaf_round(c, STAGE_A, round, c->lacks, err);

		if (rc != 0)
			return rc;
		if (bu_campaign_count_lacks(c, before, c->lacks) == 0)
			break;
	}
	return 0;
}

int
bu_campaign_leaf_stage(struct campaign *c, int partners, struct bu_err *err)
{
	int ports = bu_topology_ports(c->t), rc;
	/* twice: the circle begins again where the leaf has no more partners */
	int rounds = bu_stage_leaf_rounds(&c->order, ports) * (wants_twice(c) ? 2 : 1);

	c->lacks = bu_xcalloc((size_t)ports, sizeof(*c->lacks));
	want_partners(c, partners, c->lacks);
	rc = c->site->known ? bu_campaign_leaf_pieces(c, rounds, err)
			    : leaf_rounds(c, rounds, err);
	if (rc == 0 && c->opts->lean)
		rc = lonely_stage(c, partners, c->lacks, err);
	return rc == 0 && c->waiting ? 1 : rc;
}

/* Is a symptom bad in all flows of a half of the port? */
static int
is_spoiled(const struct campaign *c, int port)
{
	for (int i = 0; i < 2 * BU_SYMPTOMS_COUNT; i++) {
		const struct bu_part *half = &c->parts[2 * port + i % 2];

		if (half->flows > 0 && half->bad[i / 2] == half->flows)
			return 1;
	}
	return 0;
}

int
bu_campaign_is_fickle(const struct campaign *c, const struct bu_flow *flow)
{
	int list[BU_FLOW_PARTS_MAX], lasting = 0;
	int n = bu_flow_parts(c->t, c->leaf_of, flow, list);
	unsigned int bits = bu_flow_symptoms(&c->limits, c->leaf_of, flow);

	if (c->trusted_parts[2 * flow->src] && c->trusted_parts[2 * flow->dst])
		return 0;
	for (int k = 0; k < n; k++) {
		const struct bu_part *part = &c->parts[list[k]];

		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++)
			lasting |= bits >> s & 1 && part->flows > 0 &&
				   part->bad[s] == part->flows;
	}
	return bits && !flow->doubt && !lasting && !is_spoiled(c, flow->src) &&
	       !is_spoiled(c, flow->dst);
}

void
bu_campaign_watch(struct campaign *c, size_t first)
{
	for (size_t i = first; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];

		if (!bu_campaign_is_fickle(c, flow))
			continue;
		c->watched[flow->src] |= !c->trusted_parts[2 * flow->src];
		c->watched[flow->dst] |= !c->trusted_parts[2 * flow->dst];
	}
}

/* The next idle port of the group that is not watched; -1 = none. */
static int
find_idle(const struct campaign *c, const struct bu_order *order, int place, int round,
	  const unsigned char *busy)
{
	int group = group_of(c, order->ports[place]), first = order->start[group];
	int size = order->start[group + 1] - first;

	for (int i = 0; i < size; i++) {
		int other = order->ports[first + (place - first + round + i) % size];

		if (!busy[other] && !c->watched[other] && c->usable[other])
			return other;
	}
	return -1;
}

/* Adds idle ports inside their leaf: watched ports, and with c->fills all others. These
 * flows use no links between leaves and disturb no other flow. */
static int
add_idle(const struct campaign *c, const struct bu_order *order, int round,
	 struct bu_flow *flows, int n)
{
	bu_autofree unsigned char *busy =
		bu_xcalloc((size_t)bu_topology_ports(c->t), 1);

	for (int i = 0; i < n; i++)
		busy[flows[i].src] = busy[flows[i].dst] = 1;
	for (int all = 0; all <= c->fills; all++) {
		for (int place = 0; place < order->port_count; place++) {
			int port = order->ports[place], other;

			if (busy[port] || (!all && !c->watched[port]))
				continue;
			busy[port] = 1;
			other = find_idle(c, order, place, round, busy);
			busy[port] = other >= 0;
			if (other < 0)
				continue;
			busy[other] = 1;
			n += bu_campaign_pair(c, port, other, -1, flows + n);
		}
	}
	return n;
}

static int
rounds_across(const struct campaign *c, const struct bu_order *order)
{
	return c->t->across ? bu_stage_across_rounds(order, ACROSS_PARTNERS) : 0;
}

int
bu_campaign_cross_rounds(const struct campaign *c, const struct bu_order *order)
{
	return bu_stage_cross_rounds(order, CROSS_PARTNERS) + rounds_across(c, order);
}

static int
plan_round(const struct campaign *c, const struct bu_order *order, int round,
	   struct bu_cross *ret)
{
	int across = rounds_across(c, order);
	int cross = bu_stage_cross_rounds(order, CROSS_PARTNERS), all = cross + across;

	if (!across)
		return bu_stage_cross_round(order, c->seed, round, ret);
	if (round % all < cross)
		return bu_stage_cross_round(order, c->seed,
					    round % all + round / all * cross, ret);
	return bu_stage_across_round(order, c->seed,
				     round % all - cross + round / all * across, ret);
}

int
bu_campaign_cross_round(struct campaign *c, enum stage stage,
			const struct bu_order *order, int round, struct bu_err *err)
{
	size_t ports = (size_t)order->port_count + 2, before = c->count;
	bu_autofree struct bu_cross *pairs = bu_xcalloc(ports, sizeof(*pairs));
	bu_autofree struct bu_flow *flows = bu_xcalloc(ports, sizeof(*flows));
	int count = plan_round(c, order, round, pairs), n = 0, rc;
	int names = !c->t->sprayed && c->t->spines > 0;

	for (int i = 0; i < count; i++)
		n += bu_campaign_pair(c, pairs[i].a, pairs[i].b,
				      names ? pairs[i].spine : -1, flows + n);
	n = add_idle(c, order, round, flows, n);
	rc = bu_campaign_round(c, stage, flows, n, err);
	if (rc == 0)
		bu_campaign_watch(c, before);
	return rc;
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

/* Where no port of a leaf and rail is proven, all that are not miscabled take part. */
void
bu_campaign_proven_order(const struct campaign *c, struct bu_order *ret)
{
	int ports = bu_topology_ports(c->t), rails = c->t->rails;
	bu_autofree unsigned char *proven = bu_xcalloc((size_t)ports, 1);
	bu_autofree int *in_group =
		bu_xcalloc((size_t)(c->t->leaves * rails), sizeof(int));

	for (int port = 0; port < ports; port++) {
		proven[port] = c->usable[port] && is_proven(c, port);
		in_group[c->leaf_of[port] * rails + port % rails] += proven[port];
	}
	for (int port = 0; port < ports; port++) {
		if (!in_group[c->leaf_of[port] * rails + port % rails])
			proven[port] = c->usable[port] &&
				       !c->parts[2 * port].bad[BU_SYMPTOM_CABLING];
	}
	*ret = (struct bu_order){
		.leaves = c->t->leaves, .rails = rails, .spines = c->t->spines};
	bu_order_init(ret, c->leaf_of, ports, proven);
}

int
bu_campaign_one_qp_is_enough(const struct campaign *c)
{
	bu_autofree float *rates = bu_xcalloc(c->count, sizeof(*rates));
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (c->flows[i].qps == 1 && !c->flows[i].doubt)
			rates[kept++] = c->flows[i].rate_gbps;
	}
	return kept == 0 ||
	       bu_stats_quarter(rates, kept, 3) > 0.97 * c->limits.median_gbps[0];
}
