/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a campaign between leaves from the log, while across.c runs it. Invariants: a
 * pair of one rail is asked for between two leaves only, because its rail's campaign
 * asks inside a leaf; of one rail a leaf gets the tests that it needs, and more only
 * after a bad one; a pair that failed BU_GATE_ERRORS times is not asked for again.
 */
#include <string.h>

#include "provisioner/gate/campaign/across_impl.h"

enum { FAILED_PARTNERS = 2, LINK_TESTS = 4 };

static const struct bu_desired_network *
network_of(const struct bu_across *across, int port)
{
	return across->rail[port % across->topology.rails];
}

static const struct bu_across_node *
node_of(const struct bu_across *across, int port)
{
	return &across->nodes[port / across->topology.rails];
}

const struct bu_pair_log *
bu_across_log(const struct bu_across *across, const struct bu_flow *flow,
	      int *ret_place, int *ret_dir)
{
	const struct bu_node *a = node_of(across, flow->src)->role->node;
	const struct bu_node *b = node_of(across, flow->dst)->role->node;
	int swap = strcmp(a->name, b->name) > 0;
	const int ports[2] = {swap ? flow->dst : flow->src,
			      swap ? flow->src : flow->dst};
	struct bu_rail_ends rail = {
		.of = {network_of(across, ports[0]), network_of(across, ports[1])}};
	char text[BU_NAME_MAX];

	bu_rail_ends_text(&rail, text);
	return bu_gate_log(across->gate, text, a, b, ret_place, ret_dir);
}

int
bu_across_leaf_is_done(const struct bu_across *across, int leaf)
{
	return !across->links_bad && across->links[leaf] >= across->links_wanted[leaf];
}

/* Is the flow across rails, or between leaves of one rail that are not done? */
static int
is_wanted(const struct bu_across *across, const struct bu_flow *flow)
{
	int from = across->topology.leaf_of[flow->src];
	int to = across->topology.leaf_of[flow->dst];

	if (network_of(across, flow->src) != network_of(across, flow->dst))
		return 1;
	return from != to && (!bu_across_leaf_is_done(across, from) ||
			      !bu_across_leaf_is_done(across, to));
}

/* One end at least asks for tests, and both ends may be probed now. */
static int
may_ask(const struct bu_across *across, const struct bu_flow *flow,
	const struct bu_pair_log *log)
{
	const struct bu_across_node *a = node_of(across, flow->src);
	const struct bu_across_node *b = node_of(across, flow->dst);

	return is_wanted(across, flow) && (a->asks || b->asks) && a->lent && b->lent &&
	       (!log || bu_gate_failures(log) < BU_GATE_ERRORS);
}

static int
answer_nothing(struct bu_across *across, struct bu_flow *flow,
	       const struct bu_pair_log *log)
{
	flow->doubt = BU_DOUBT_NONE;
	if (!may_ask(across, flow, log))
		return 0;
	bu_pairs_add(&across->wanted, flow->src, flow->dst);
	/* A failed pair is asked for again, and the campaign does not wait for it. */
	if (log && bu_gate_failures(log))
		return 0;
	flow->doubt |= BU_DOUBT_ASKED;
	return 1;
}

float
bu_across_comparable(const struct bu_across *across, int src, int dst, float gbps)
{
	struct bu_rail_ends rail = {
		.of = {network_of(across, src), network_of(across, dst)}};

	return gbps *
	       (float)(across->topology.limit_gbps / bu_rail_slower(&rail)->link_gbps);
}

int64_t
bu_across_after(const struct bu_across *across, const int ports[2])
{
	int64_t seq = 0;

	for (int i = 0; i < 2; i++) {
		const struct bu_node *node = node_of(across, ports[i])->role->node;

		if (node && node->live.across.after_seq > seq)
			seq = node->live.across.after_seq;
	}
	return seq;
}

/* Place of the next sound result that counts, see bu_across_after(). */
static size_t
next_of(const struct bu_across *across, const struct bu_flow *flow,
	const struct bu_pair_log *log, size_t at, int dir)
{
	int64_t after = bu_across_after(across, (const int[]){flow->src, flow->dst});

	while (at < log->count && log->list[at].seq <= after)
		at++;
	return bu_gate_next_sound(log, at, dir);
}

/* The newest sound result alone decides: a mended path is not bad any more. */
static int
is_newest_bad(const struct bu_across *across, const struct bu_flow *flow,
	      const struct bu_pair_log *log, int dir)
{
	size_t at = log->count;

	while (at > 1 && bu_gate_next_sound(log, at - 1, dir) != at - 1)
		at--;
	return bu_across_comparable(across, flow->src, flow->dst,
				    log->list[at - 1].dir[dir].rate_gbps) <
		       (float)across->min_gbps ||
	       log->list[at - 1].dir[dir].lost > 0;
}

static void
note_leaves(struct bu_across *across, const struct bu_flow *flow, int bad)
{
	const int leaves[2] = {across->topology.leaf_of[flow->src],
			       across->topology.leaf_of[flow->dst]};
	int good = flow->rate_gbps >= (float)across->min_gbps && !flow->lost;
	int rails = network_of(across, flow->src) != network_of(across, flow->dst);

	for (int i = 0; i < 2 && (rails || leaves[0] != leaves[1]); i++) {
		across->tested[leaves[i]] |= rails;
		across->good[leaves[i]] |= good || !bad;
		across->bad[leaves[i]] += bad;
	}
}

/* Is the flow inside a leaf of a rail alone? Such results count only for comparison,
 * after a bad test between leaves. */
static int
is_beside(const struct bu_across *across, const struct bu_flow *flow)
{
	const int *leaf_of = across->topology.leaf_of;

	return across->alone && !across->links_bad &&
	       leaf_of[flow->src] == leaf_of[flow->dst];
}

static int
answer_flow(struct bu_across *across, struct bu_flow *flow)
{
	int place = 0, dir = 0;
	const struct bu_pair_log *log;
	size_t *taken;

	flow->qps = BU_GATE_LINK_QPS;
	flow->path = BU_PATH_UNKNOWN;
	if (is_beside(across, flow))
		return answer_nothing(across, flow, NULL);
	log = bu_across_log(across, flow, &place, &dir);
	taken = &across->taken[2 * place + dir];
	if (log)
		*taken = next_of(across, flow, log, *taken, dir);
	if (!log || *taken >= log->count)
		return answer_nothing(across, flow, log);
	bu_gate_give(&log->list[(*taken)++], dir, flow);
	flow->rate_gbps =
		bu_across_comparable(across, flow->src, flow->dst, flow->rate_gbps);
	note_leaves(across, flow, is_newest_bad(across, flow, log, dir));
	return 0;
}

/* Do the rails' campaigns have this pair of the log on another rail? */
static int
is_elsewhere(const struct bu_across *across, size_t place)
{
	const struct bu_gate *gate = across->gate;

	return across->alone && place < gate->pairs_count &&
	       gate->pairs[place].network != (int)across->alone->index &&
	       strcmp(gate->pairs_of, gate->fleet->desired->digest) == 0;
}

/* Ports of a pair of one rail, in the present boots of both nodes; 0 = another pair, or
 * both ports are at one leaf. */
static int
ports_between(const struct bu_across *across, size_t at_log, int ret_ports[2])
{
	const struct bu_topology *t = &across->topology;
	const struct bu_pair_log *log = &across->gate->fleet->measurements.logs[at_log];
	int rail = 0;

	if (is_elsewhere(across, at_log))
		return 0;
	while (rail < t->rails && strcmp(across->rail[rail]->name, log->rail) != 0)
		rail++;
	for (int i = 0; rail < t->rails && i < 2; i++) {
		const json_t *place = json_object_get(t->node_ids.index, log->name[i]);
		int at = place ? (int)json_integer_value(place) : -1;
		const struct bu_node *node =
			place ? across->nodes[at].role->node : NULL;

		if (!node || strcmp(log->boot[i], node->boot_id) != 0)
			return 0;
		ret_ports[i] = at * t->rails + rail;
		if (across->no_port[ret_ports[i]])
			return 0;
	}
	return rail < t->rails && t->leaf_of[ret_ports[0]] != t->leaf_of[ret_ports[1]];
}

static void
count_tests(struct bu_across *across, const struct bu_pair_log *log, const int ports[2])
{
	float min_gbps = (float)(across->min_gbps / across->topology.limit_gbps *
				 network_of(across, ports[0])->link_gbps);
	int64_t after = bu_across_after(across, ports);

	for (int end = 0; end < 2; end++)
		if (!across->trusted[ports[end] / across->topology.rails])
			return;
	for (size_t i = 0; i < log->count; i++) {
		const struct bu_measured_dir *m = log->list[i].dir;

		if (m[0].doubt || m[1].doubt || log->list[i].seq <= after)
			continue;
		for (int end = 0; end < 2; end++) {
			across->links[across->topology.leaf_of[ports[end]]]++;
			across->links_bad |=
				m[end].rate_gbps < min_gbps || m[end].lost > 0;
		}
	}
}

/* By leaf: bits of the rails on which trusted nodes have ports. */
static uint64_t *
rails_there(const struct bu_across *across)
{
	const struct bu_topology *t = &across->topology;
	uint64_t *rails = bu_xcalloc((size_t)t->leaves, sizeof(*rails));

	for (int port = 0; port < bu_topology_ports(t); port++)
		if (!across->no_port[port] && across->trusted[port / t->rails])
			rails[t->leaf_of[port]] |= UINT64_C(1) << port % t->rails;
	return rails;
}

void
bu_across_count_links(struct bu_across *across)
{
	const struct bu_measurements *all = &across->gate->fleet->measurements;
	bu_autofree uint64_t *rails = rails_there(across);
	int leaves = across->topology.leaves, ports[2];

	for (int leaf = 0; leaf < leaves; leaf++)
		for (int other = 0; other < leaves; other++)
			if (other != leaf && rails[leaf] & rails[other] &&
			    across->links_wanted[leaf] < LINK_TESTS)
				across->links_wanted[leaf]++;
	for (size_t i = 0; i < all->count; i++)
		if (ports_between(across, i, ports))
			count_tests(across, &all->logs[i], ports);
}

static void
count_partners(struct bu_across *across, const struct bu_pair_log *log)
{
	struct bu_across_node *ends[2];

	for (int i = 0; i < 2; i++) {
		const json_t *place =
			json_object_get(across->topology.node_ids.index, log->name[i]);
		const struct bu_node *node;

		if (!place)
			return;
		ends[i] = &across->nodes[json_integer_value(place)];
		node = ends[i]->role->node;
		if (!node || strcmp(log->boot[i], node->boot_id) != 0)
			return;
	}
	for (int i = 0; i < 2; i++) {
		ends[i]->met += log->count > 0;
		ends[i]->failed += !log->count && bu_gate_failures(log) > 0;
	}
}

void
bu_across_leave_out(struct bu_across *across)
{
	const struct bu_measurements *all = &across->gate->fleet->measurements;
	int ports[2];

	for (size_t i = 0; i < all->count; i++)
		if ((!across->alone && bu_rail_is_across(all->logs[i].rail)) ||
		    ports_between(across, i, ports))
			count_partners(across, &all->logs[i]);
	for (int i = 0; i < across->topology.nodes; i++) {
		const struct bu_across_node *node = &across->nodes[i];

		across->trusted[i] = node->there && (node->failed < FAILED_PARTNERS ||
						     node->failed <= node->met);
		across->absent[i] = !across->trusted[i];
	}
}

int
bu_across_answer(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	int missing = 0;

	(void)err; /* the log is in memory */
	for (int i = 0; i < count; i++)
		missing |= answer_flow(arg, &flows[i]);
	return missing;
}
