// SPDX-License-Identifier: Apache-2.0
/*
 * Stage C: each suspect meets proven partners, over proven links, until its sequential
 * test decides. Only these tests count, not those that raised the suspicion. Invariant:
 * a bad flow speaks against a suspect only when the rest of its path is clean, unless
 * the fabric has no clean rest to offer; then it speaks against all of them alike.
 */
#include <math.h>

#include "fabric/judge/localise_impl.h"

/* DIRTY_FROM: from this round on who never met a clean partner takes any. */
enum { ROUNDS_MAX = 48, TRIES = 64, DIRTY_FROM = 3 };

struct retest {
	struct campaign *c;
	struct bu_sprt_rule rule;
	uint64_t random;
	unsigned char *busy; /* parts in use this round */
	struct bu_flow *flows;
	int count;
};

static int
is_link(const struct campaign *c, int part)
{
	return part >= 2 * bu_topology_ports(c->t);
}

/* No symptom is open or stands. */
static int
is_clean(const struct campaign *c, int part)
{
	for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
		int place = c->suspect_of[part * BU_SYMPTOMS_COUNT + s];

		if (place >= 0 && c->suspects[place].state >= 0)
			return 0;
	}
	return 1;
}

static int
pick(struct retest *r, int count)
{
	return (int)(bu_campaign_random(&r->random) % (uint64_t)count);
}

static int
link_part(const struct campaign *c, int leaf, int spine, int dir)
{
	return 2 * (bu_topology_ports(c->t) + leaf * c->t->spines + spine) + dir;
}

/* A spine between two leaves whose links are free; -1 = there is none. */
static int
pick_spine(struct retest *r, int from, int to, int want_clean)
{
	struct campaign *c = r->c;
	int spines = c->t->spines, first = pick(r, spines);

	for (int i = 0; i < spines; i++) {
		int spine = (first + i) % spines;
		int up = link_part(c, from, spine, BU_LINK_UP);
		int down = link_part(c, to, spine, BU_LINK_DOWN);

		if (r->busy[up] || r->busy[down])
			continue;
		if (!want_clean || (is_clean(c, up) && is_clean(c, down)))
			return spine;
	}
	return -1;
}

/* Takes the parts for this round; 0 when one of them is taken already. */
static int
add_flow(struct retest *r, int src, int dst, int via)
{
	struct bu_flow flow = {.src = src, .dst = dst, .via = via, .path = via};
	int list[BU_FLOW_PARTS_MAX];
	int n = bu_flow_parts(r->c->t, r->c->leaf_of, &flow, list);

	for (int i = 0; i < n; i++) {
		if (r->busy[list[i]])
			return 0;
	}
	for (int i = 0; i < n; i++)
		r->busy[list[i]] = 1;
	flow.path = BU_PATH_UNKNOWN;
	r->flows[r->count++] = flow;
	return 1;
}

static int
fits(const struct retest *r, int part, int want_clean)
{
	return !r->busy[part] && (!want_clean || is_clean(r->c, part));
}

/* Seen on another leaf than planned: no partner for anybody. */
static int
is_miscabled(const struct campaign *c, int port)
{
	for (int half = 0; half < 2; half++) {
		int place = c->suspect_of[(2 * port + half) * BU_SYMPTOMS_COUNT +
					  BU_SYMPTOM_CABLING];

		if (place >= 0 && c->suspects[place].state >= 0)
			return 1;
	}
	return 0;
}

/* A port of the leaf and rail whose other half is free. */
static int
pick_port(struct retest *r, int leaf, int rail, int half, int not_port, int want_clean)
{
	const struct campaign *c = r->c;
	const struct bu_order *order = &c->order;
	int group = leaf * order->rails + rail;
	int n = order->start[group + 1] - order->start[group], first;

	if (n == 0)
		return -1;
	first = pick(r, n);
	for (int i = 0; i < n; i++) {
		int port = order->ports[order->start[group] + (first + i) % n];

		if (port != not_port && !is_miscabled(c, port) &&
		    fits(r, 2 * port + half, want_clean))
			return port;
	}
	return -1;
}

static int
try_leaf(struct retest *r, int port, int half, int leaf, int want_clean)
{
	struct campaign *c = r->c;
	int own = c->leaf_of[port], via = -1;
	int other = pick_port(r, leaf, port % c->t->rails, !half, port, want_clean);

	if (other < 0)
		return 0;
	if (leaf != own && !c->t->sprayed && c->t->spines > 0) {
		via = pick_spine(r, half ? leaf : own, half ? own : leaf, want_clean);
		if (via < 0)
			return 0;
	}
	return half ? add_flow(r, other, port, via) : add_flow(r, port, other, via);
}

/* A partner in its own leaf; where that has none, in another one. Cabling cannot be
 * seen there, and would load links that nobody expects. */
static int
test_port(struct retest *r, int part, int symptom, int want_clean)
{
	struct campaign *c = r->c;
	int port = part / 2, half = part % 2, own = c->leaf_of[port];

	if (!c->usable[port])
		return 1;
	if (r->busy[part])
		return 1;
	if (try_leaf(r, port, half, own, want_clean))
		return 1;
	if (symptom == BU_SYMPTOM_CABLING)
		return 0;
	for (int i = 0; i < TRIES && c->t->leaves > 1; i++) {
		int leaf = pick(r, c->t->leaves);

		if (leaf != own && try_leaf(r, port, half, leaf, want_clean))
			return 1;
	}
	return 0;
}

static int
test_link(struct retest *r, int part, int want_clean)
{
	struct campaign *c = r->c;
	int link = part / 2 - bu_topology_ports(c->t), dir = part % 2;
	int leaf = link / c->t->spines, spine = link % c->t->spines;
	int first = pick(r, c->t->leaves);

	if (r->busy[part])
		return 1;
	for (int i = 0; i < c->t->leaves * c->t->rails; i++) {
		int other = (first + i) % c->t->leaves;
		int rail = (i / c->t->leaves + first) % c->t->rails, far, src, dst;

		far = link_part(c, other, spine,
				dir == BU_LINK_UP ? BU_LINK_DOWN : BU_LINK_UP);
		if (other == leaf || !fits(r, far, want_clean))
			continue;
		src = pick_port(r, dir == BU_LINK_UP ? leaf : other, rail, 0, -1, 1);
		dst = pick_port(r, dir == BU_LINK_UP ? other : leaf, rail, 1, -1, 1);
		if (src >= 0 && dst >= 0 && add_flow(r, src, dst, spine))
			return 1;
	}
	return 0;
}

/* The leaf's links as a whole, which is all that sprayed flows show. */
static int
test_uplinks(struct retest *r, int part)
{
	struct campaign *c = r->c;
	int first = 2 * (bu_topology_ports(c->t) + c->t->leaves * c->t->spines);
	int leaf = (part - first) / 2, dir = part % 2;

	for (int i = 0; i < TRIES && c->t->leaves > 1; i++) {
		int other = pick(r, c->t->leaves), rail = pick(r, c->t->rails), src,
		    dst;

		if (other == leaf)
			continue;
		src = pick_port(r, dir == BU_LINK_UP ? leaf : other, rail, 0, -1, 1);
		dst = pick_port(r, dir == BU_LINK_UP ? other : leaf, rail, 1, -1, 1);
		if (src >= 0 && dst >= 0 && add_flow(r, src, dst, -1))
			return 1;
	}
	return 0;
}

static int
test_suspect(struct retest *r, const struct suspect *suspect, int want_clean)
{
	struct campaign *c = r->c;
	int part = suspect->part;
	int ports = 2 * bu_topology_ports(c->t);

	if (part < ports)
		return test_port(r, part, suspect->symptom, want_clean);
	if (!c->t->sprayed)
		return test_link(r, part, want_clean);
	if (part < ports + 2 * c->t->leaves * c->t->spines)
		return 1; /* its switch's counters decide */
	return test_uplinks(r, part);
}

/* A port on another leaf than planned loads links that nobody expects: what is wrongly
 * cabled is settled before the rest. */
static int
only_cabling(const struct campaign *c, int round)
{
	enum { CABLING_ROUNDS = 12 };

	for (size_t i = 0; i < c->suspect_count && round < CABLING_ROUNDS; i++) {
		if (c->suspects[i].symptom == BU_SYMPTOM_CABLING &&
		    c->suspects[i].state == 0)
			return 1;
	}
	return 0;
}

/* Clean partners first; what found none is tested with whatever is free. */
static void
choose_flows(struct retest *r, int round)
{
	struct campaign *c = r->c;
	size_t first = c->suspect_count ? (size_t)pick(r, (int)c->suspect_count) : 0;
	bu_autofree unsigned char *left = bu_xcalloc(c->suspect_count + 1, 1);
	int cabling = only_cabling(c, round);

	r->count = 0;
	for (int i = 0; i < c->parts_count; i++)
		r->busy[i] = 0;
	for (int want_clean = 1; want_clean >= 0; want_clean--) {
		for (size_t i = 0; i < c->suspect_count; i++) {
			size_t place = (first + i) % c->suspect_count;
			struct suspect *suspect = &c->suspects[place];

			if (suspect->state != 0 ||
			    (cabling && suspect->symptom != BU_SYMPTOM_CABLING) ||
			    (!want_clean && (!left[place] || suspect->clean > 0 ||
					     round < DIRTY_FROM)))
				continue;
			left[place] = !test_suspect(r, suspect, want_clean);
		}
	}
}

/* The rest of the flow's parts, for one symptom: something there stands accused, or is
 * open still. */
static void
look_at_rest(const struct campaign *c, const int *list, int n, int own, int symptom,
	     int *ret_stands, int *ret_open)
{
	*ret_stands = *ret_open = 0;
	for (int k = 0; k < n; k++) {
		int place = c->suspect_of[list[k] * BU_SYMPTOMS_COUNT + symptom];

		if (k == own || place < 0)
			continue;
		*ret_stands |= c->suspects[place].state > 0;
		*ret_open |= c->suspects[place].state == 0;
	}
}

static void
count_suspect(struct retest *r, struct suspect *suspect, const struct bu_flow *flow,
	      int bad, int stands, int open)
{
	if (bad && (stands || (open && suspect->clean > 0)))
		return;
	suspect->clean += !stands && !open;
	bu_sprt_add(&suspect->sprt, &r->rule, bad);
	if (flow->rate_gbps > suspect->best_gbps)
		suspect->best_gbps = flow->rate_gbps;
}

static void
count_flow(struct retest *r, const struct bu_flow *flow)
{
	struct campaign *c = r->c;
	int list[BU_FLOW_PARTS_MAX], n = bu_flow_parts(c->t, c->leaf_of, flow, list);
	unsigned int bits = bu_flow_symptoms(&c->gate, c->leaf_of, flow);

	for (int i = 0; i < n && !flow->doubt; i++) {
		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
			int place = c->suspect_of[list[i] * BU_SYMPTOMS_COUNT + s];
			int stands, open;

			if (place < 0 || c->suspects[place].state != 0)
				continue;
			look_at_rest(c, list, n, i, s, &stands, &open);
			count_suspect(r, &c->suspects[place], flow, bits >> s & 1,
				      stands, open);
		}
	}
}

/* How often a healthy flow is bad by chance, from those that nothing lasting spoils. */
static double
chance(const struct campaign *c)
{
	size_t all = 0, bad = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int list[BU_FLOW_PARTS_MAX];
		int n = bu_flow_parts(c->t, c->leaf_of, flow, list),
		    spoiled = flow->doubt;

		for (int k = 0; k < n; k++) {
			const struct bu_part *part = &c->parts[list[k]];

			for (int s = 0; s < BU_SYMPTOMS_COUNT; s++)
				spoiled |= 8 * part->bad[s] > part->flows;
		}
		if (spoiled || n == 0)
			continue;
		all++;
		bad += bu_flow_symptoms(&c->gate, c->leaf_of, flow) != 0;
	}
	return all ? (double)bad / (double)all : 0;
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

/* A port that hangs elsewhere is out until it is cabled rightly: what else was
 * suspected of it came from there. */
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
run(struct retest *r, struct bu_err *err)
{
	struct campaign *c = r->c;

	for (int round = 0; round < ROUNDS_MAX && is_anything_open(c); round++) {
		size_t before = c->count;

		choose_flows(r, round);
		if (bu_campaign_round(c, STAGE_C, r->flows, r->count, err) != 0)
			return -1;
		for (size_t i = before; i < c->count; i++)
			count_flow(r, &c->flows[i]);
		for (size_t i = 0; i < c->suspect_count; i++) {
			struct suspect *suspect = &c->suspects[i];

			if (suspect->state == 0)
				suspect->state =
					bu_sprt_decided(&suspect->sprt, &r->rule);
		}
		drop_miscabled(c);
		if (c->gate.median_gbps[1] ==
		    0) /* no leaf had met another one so far */
			bu_gate_learn(&c->gate, c->t, c->leaf_of, c->flows, c->count);
	}
	return 0;
}

/* Of the tests again of one suspect: those that speak for it, once the flows through
 * `stronger` parts are left out. */
static int
stands_alone(const struct campaign *c, const struct suspect *suspect,
	     const unsigned char *stronger)
{
	struct bu_sprt sprt = {0};
	size_t shared = 0;

	for (size_t i = c->retest_first; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int list[BU_FLOW_PARTS_MAX], mine = 0, other = 0;
		int n = bu_flow_parts(c->t, c->leaf_of, flow, list);
		int bad = bu_flow_symptoms(&c->gate, c->leaf_of, flow) >>
				  suspect->symptom &
			  1;

		for (int k = 0; k < n; k++) {
			mine |= list[k] == suspect->part;
			other |= stronger[list[k]];
		}
		if (!mine || flow->doubt)
			continue;
		shared += other != 0;
		if (!(bad && other))
			bu_sprt_add(&sprt, &c->rule, bad);
	}
	return shared == 0 || bu_sprt_decided(&sprt, &c->rule) > 0;
}

/* What was bad only in the company of parts that were bad more often is cleared. Twins,
 * which are bad equally often, stay together. */
void
bu_campaign_explain_away(struct campaign *c)
{
	bu_autofree unsigned char *stronger = bu_xcalloc((size_t)c->parts_count + 1, 1);

	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];

		if (suspect->state <= 0 || suspect->absorbed || suspect->by_switch)
			continue;
		for (int part = 0; part < c->parts_count; part++) {
			int place = c->suspect_of[part * BU_SYMPTOMS_COUNT +
						  suspect->symptom];

			stronger[part] =
				place >= 0 && c->suspects[place].state > 0 &&
				c->suspects[place].sprt.bad > suspect->sprt.bad;
		}
		if (!stands_alone(c, suspect, stronger))
			suspect->state = -1;
	}
}

int
bu_campaign_retest(struct campaign *c, struct bu_err *err)
{
	double by_chance = fmin(0.2, fmax(0.003, 2 * chance(c)));
	struct retest r = {
		.c = c,
		.rule = {by_chance, fmin(0.8, fmax(0.2, 5 * by_chance)), 3e-5, 5e-3},
		.random = c->seed ^ UINT64_C(0xc),
		.busy = bu_xcalloc((size_t)c->parts_count + 1, 1),
		.flows = bu_xcalloc((size_t)bu_topology_ports(c->t) + 1,
				    sizeof(struct bu_flow)),
	};
	int rc;

	c->rule = r.rule;
	c->retest_first = c->count;
	rc = run(&r, err);
	for (size_t i = 0; i < c->suspect_count; i++)
		c->report->undecided += c->suspects[i].state == 0;
	free(r.busy);
	free(r.flows);
	return rc;
}
