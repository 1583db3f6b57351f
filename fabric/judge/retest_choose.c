/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the tests of a round of stage C: proven partners over proven links, in the
 * suspect's own leaf where it has one. After a bad test with a node other nodes come
 * first. Called by retest.c. Invariant: no part of the fabric carries two flows of a
 * round.
 */
#include "fabric/judge/retest.h"

/* DIRTY_FROM: from this round on a suspect without a clean test takes any partner. */
enum { TRIES = 64, DIRTY_FROM = 3 };

/* Is no symptom of the part open, accused, or dropped with its accused port? */
static int
is_clean(const struct campaign *c, int part)
{
	for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
		int place = c->suspect_of[part * BU_SYMPTOMS_COUNT + s];

		if (place >= 0 &&
		    (c->suspects[place].state >= 0 || c->suspects[place].with_port))
			return 0;
	}
	return 1;
}

static int
pick(struct retest *r, int count)
{
	return (int)(bu_schedule_random(&r->random) % (uint64_t)count);
}

/* The same number for both halves of a port in a round: one probe tests both. */
static int
pick_for(const struct retest *r, int port, int count)
{
	uint64_t random = r->of_round ^ (uint64_t)port;

	return (int)(bu_schedule_random(&random) % (uint64_t)count);
}

static int
link_part(const struct campaign *c, int leaf, int spine, int dir)
{
	return 2 * (bu_topology_ports(c->t) + leaf * c->t->spines + spine) + dir;
}

/* A spine with free links between two leaves; -1 = none. */
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

/* Occupies the flow's parts for this round; 0 where one is taken. */
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

/* A trusted part without a good flow now. */
static int
is_worn(const struct campaign *c, int part)
{
	const struct bu_part *its = &c->parts[part];

	for (int s = 0; c->trusted_parts[part] && s < BU_SYMPTOMS_COUNT; s++) {
		if (its->flows > 1 && its->bad[s] == its->flows)
			return 1;
	}
	return 0;
}

static int
fits(const struct retest *r, int part, int want_clean)
{
	return !r->busy[part] &&
	       (!want_clean || (is_clean(r->c, part) && !is_worn(r->c, part)));
}

/* May the port be on another leaf than planned? Such a port is no partner. */
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

int
bu_retest_witness(const struct suspect *suspect, int node)
{
	for (int i = 0; i < suspect->witnesses; i++)
		if (suspect->witness[i] == node)
			return i;
	return -1;
}

/* May this node test now? A witness with bad tests alone comes after all other nodes;
 * so does every witness while the suspect leans. r->only leaves one node. */
static int
is_wanted(const struct retest *r, int node)
{
	int place = r->avoids ? bu_retest_witness(r->avoids, node) : -1;

	if (r->only)
		return node == r->only - 1;
	return place < 0 || (r->avoids->good_with[place] && !r->avoids->leans);
}

/* A port of this leaf and rail, `half` free, of another node than not_port; -1 =
 * none. */
static int
pick_port(struct retest *r, int leaf, int rail, int half, int not_port, int want_clean)
{
	const struct campaign *c = r->c;
	const struct bu_order *order = &c->order;
	int group = leaf * order->rails + rail;
	int n = order->start[group + 1] - order->start[group], first;

	if (n == 0)
		return -1;
	first = not_port < 0 ? pick(r, n) : pick_for(r, not_port, n);
	for (int i = 0; i < n; i++) {
		int port = order->ports[order->start[group] + (first + i) % n];

		if ((not_port < 0 || port / c->t->rails != not_port / c->t->rails) &&
		    is_wanted(r, port / c->t->rails) && c->usable[port] &&
		    !is_miscabled(c, port) &&
		    fits(r, 2 * port + half, want_clean && !r->only))
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

/* Do clean links connect these leaves? */
static int
is_reached(const struct campaign *c, int from, int to)
{
	if (from == to || c->t->sprayed || c->t->spines == 0)
		return 1;
	for (int spine = 0; spine < c->t->spines; spine++)
		if (is_clean(c, link_part(c, from, spine, BU_LINK_UP)) &&
		    is_clean(c, link_part(c, to, spine, BU_LINK_DOWN)))
			return 1;
	return 0;
}

int
bu_retest_has_more(const struct campaign *c, const struct suspect *suspect)
{
	int port = suspect->part / 2, half = suspect->part % 2;
	int rails = c->t->rails, own = c->leaf_of[port];
	int nodes = suspect->idle < BU_RETEST_IDLE ? c->t->nodes : 0;

	for (int node = 0; node < nodes; node++) {
		int other = node * rails + port % rails, part = 2 * other + !half;
		int leaf = c->leaf_of[other];

		if (node == port / rails || bu_retest_witness(suspect, node) >= 0 ||
		    !c->usable[other] || is_miscabled(c, other) ||
		    bu_campaign_spoils(c, part, suspect->symptom) ||
		    (suspect->symptom == BU_SYMPTOM_CABLING && leaf != own))
			continue;
		if (suspect->clean > 0 && (!is_clean(c, part) || is_worn(c, part)))
			continue;
		if (half ? is_reached(c, leaf, own) : is_reached(c, own, leaf))
			return 1;
	}
	return 0;
}

/* Tests a port with a partner of its own leaf, else of another. Cabling is tested
 * inside the leaf alone: it does not show elsewhere, and loads unexpected links. */
static int
test_port(struct retest *r, const struct suspect *suspect, int want_clean)
{
	struct campaign *c = r->c;
	int part = suspect->part, port = part / 2, half = part % 2;
	int own = c->leaf_of[port];

	if (!c->usable[port])
		return 1;
	if (r->busy[part])
		return 1;
	if (try_leaf(r, port, half, own, want_clean))
		return 1;
	if (suspect->symptom == BU_SYMPTOM_CABLING)
		return 0;
	for (int i = 0; i < TRIES && c->t->leaves > 1; i++) {
		int leaf = pick(r, c->t->leaves);

		if (leaf != own && try_leaf(r, port, half, leaf, want_clean))
			return 1;
	}
	return 0;
}

/* Adds a flow between ports of two leaves: of this rail, else across rails. */
static int
add_between(struct retest *r, int from, int to, int rail, int via)
{
	const struct bu_topology *t = r->c->t;
	int src = pick_port(r, from, rail, 0, -1, 1), dst = -1;

	if (src >= 0)
		dst = pick_port(r, to, rail, 1, -1, 1);
	for (int i = 1; t->across && src >= 0 && dst < 0 && i < t->rails; i++)
		dst = pick_port(r, to, (rail + i) % t->rails, 1, src, 1);
	return dst >= 0 && add_flow(r, src, dst, via);
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
		int rail = (i / c->t->leaves + first) % c->t->rails, far;

		far = link_part(c, other, spine,
				dir == BU_LINK_UP ? BU_LINK_DOWN : BU_LINK_UP);
		if (other == leaf || !fits(r, far, want_clean))
			continue;
		if (dir == BU_LINK_UP ? add_between(r, leaf, other, rail, spine)
				      : add_between(r, other, leaf, rail, spine))
			return 1;
	}
	return 0;
}

/* Tests all links of a leaf together, as sprayed flows take them. */
static int
test_uplinks(struct retest *r, int part)
{
	struct campaign *c = r->c;
	int first = 2 * (bu_topology_ports(c->t) + c->t->leaves * c->t->spines);
	int leaf = (part - first) / 2, dir = part % 2;

	for (int i = 0; i < TRIES && c->t->leaves > 1; i++) {
		int other = pick(r, c->t->leaves), rail = pick(r, c->t->rails);

		if (other == leaf)
			continue;
		if (dir == BU_LINK_UP ? add_between(r, leaf, other, rail, -1)
				      : add_between(r, other, leaf, rail, -1))
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

	r->avoids = part < ports && suspect->witnesses &&
				    suspect->witnesses < BU_WITNESSES &&
				    bu_retest_has_more(c, suspect)
			    ? suspect
			    : NULL;
	r->only = r->avoids ? suspect->again : 0;
	if (part < ports)
		return test_port(r, suspect, want_clean);
	if (!c->t->sprayed)
		return test_link(r, part, want_clean);
	if (part < ports + 2 * c->t->leaves * c->t->spines)
		return 1; /* the switch's counters decide */
	return test_uplinks(r, part);
}

/* Miscabled ports load unexpected links: cabling is decided before other symptoms. */
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

/* Clean partners first. A suspect without one is then tested with any that is free. */
void
bu_retest_choose(struct retest *r, int round)
{
	struct campaign *c = r->c;
	size_t first = c->suspect_count ? (size_t)pick(r, (int)c->suspect_count) : 0;
	bu_autofree unsigned char *left = bu_xcalloc(c->suspect_count, 1);
	int cabling = only_cabling(c, round);

	r->count = 0;
	r->of_round = bu_schedule_random(&r->random);
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
