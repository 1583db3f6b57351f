/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a campaign between leaves from the log, while leaf_campaign.c runs it.
 * Invariants: a pair of one rail is asked for between two leaves only, because its
 * rail's campaign asks inside a leaf; of one rail a leaf gets the tests that it needs,
 * and more only after a bad one; a pair that failed BU_GATE_ERRORS times is not asked
 * for again.
 */
#include <string.h>

#include "provisioner/gate/campaign/leaf_campaign_impl.h"

enum { FAILED_PARTNERS = 2, LINK_TESTS = 4 };

static const struct bu_desired_network *
network_of(const struct bu_leaf_campaign *campaign, int port)
{
	return campaign->rail[port % campaign->topology.rails];
}

static const struct bu_leaf_campaign_node *
node_of(const struct bu_leaf_campaign *campaign, int port)
{
	return &campaign->nodes[port / campaign->topology.rails];
}

const struct bu_pair_log *
bu_leaf_campaign_log(const struct bu_leaf_campaign *campaign,
		     const struct bu_flow *flow, int *ret_place, int *ret_dir)
{
	const struct bu_node *a = node_of(campaign, flow->src)->role->node;
	const struct bu_node *b = node_of(campaign, flow->dst)->role->node;
	int swap = strcmp(a->name, b->name) > 0;
	const int ports[2] = {swap ? flow->dst : flow->src,
			      swap ? flow->src : flow->dst};
	struct bu_rail_ends rail = {
		.of = {network_of(campaign, ports[0]), network_of(campaign, ports[1])}};
	char text[BU_NAME_MAX];

	bu_rail_ends_text(&rail, text);
	return bu_gate_log(campaign->gate, text, a, b, ret_place, ret_dir);
}

int
bu_leaf_campaign_leaf_is_done(const struct bu_leaf_campaign *campaign, int leaf)
{
	return !campaign->links_bad &&
	       campaign->links[leaf] >= campaign->links_wanted[leaf];
}

/* Is the flow across rails, or between leaves of one rail that are not done? */
static int
is_wanted(const struct bu_leaf_campaign *campaign, const struct bu_flow *flow)
{
	int from = campaign->topology.leaf_of[flow->src];
	int to = campaign->topology.leaf_of[flow->dst];

	if (network_of(campaign, flow->src) != network_of(campaign, flow->dst))
		return 1;
	return from != to && (!bu_leaf_campaign_leaf_is_done(campaign, from) ||
			      !bu_leaf_campaign_leaf_is_done(campaign, to));
}

/* One end at least asks for tests, and both ends may be probed now. */
static int
may_ask(const struct bu_leaf_campaign *campaign, const struct bu_flow *flow,
	const struct bu_pair_log *log)
{
	const struct bu_leaf_campaign_node *a = node_of(campaign, flow->src);
	const struct bu_leaf_campaign_node *b = node_of(campaign, flow->dst);

	return is_wanted(campaign, flow) && (a->asks || b->asks) && a->lent &&
	       b->lent && (!log || bu_gate_failures(log) < BU_GATE_ERRORS);
}

static int
answer_nothing(struct bu_leaf_campaign *campaign, struct bu_flow *flow,
	       const struct bu_pair_log *log)
{
	flow->doubt = BU_DOUBT_NONE;
	if (!may_ask(campaign, flow, log))
		return 0;
	bu_pairs_add(&campaign->wanted, flow->src, flow->dst);
	/* A failed pair is asked for again, and the campaign does not wait for it. */
	if (log && bu_gate_failures(log))
		return 0;
	flow->doubt |= BU_DOUBT_ASKED;
	return 1;
}

float
bu_leaf_campaign_comparable(const struct bu_leaf_campaign *campaign, int src, int dst,
			    float gbps)
{
	struct bu_rail_ends rail = {
		.of = {network_of(campaign, src), network_of(campaign, dst)}};

	return gbps * (float)(campaign->topology.limit_gbps /
			      bu_rail_slower(&rail)->link_gbps);
}

int64_t
bu_leaf_campaign_after(const struct bu_leaf_campaign *campaign, const int ports[2])
{
	int64_t seq = 0;

	for (int i = 0; i < 2; i++) {
		const struct bu_node *node = node_of(campaign, ports[i])->role->node;

		if (node && node->live.leaf_campaign.after_seq > seq)
			seq = node->live.leaf_campaign.after_seq;
	}
	return seq;
}

/* Place of the next sound result that counts, see bu_leaf_campaign_after(). */
static size_t
next_of(const struct bu_leaf_campaign *campaign, const struct bu_flow *flow,
	const struct bu_pair_log *log, size_t at, int dir)
{
	int64_t after =
		bu_leaf_campaign_after(campaign, (const int[]){flow->src, flow->dst});

	while (at < log->count && log->list[at].seq <= after)
		at++;
	return bu_gate_next_sound(log, at, dir);
}

/* The newest sound result alone decides: a mended path is not bad any more. */
static int
is_newest_bad(const struct bu_leaf_campaign *campaign, const struct bu_flow *flow,
	      const struct bu_pair_log *log, int dir)
{
	size_t at = log->count;

	while (at > 1 && bu_gate_next_sound(log, at - 1, dir) != at - 1)
		at--;
	return bu_leaf_campaign_comparable(campaign, flow->src, flow->dst,
					   log->list[at - 1].dir[dir].rate_gbps) <
		       (float)campaign->min_gbps ||
	       log->list[at - 1].dir[dir].lost > 0;
}

static void
note_leaves(struct bu_leaf_campaign *campaign, const struct bu_flow *flow, int bad)
{
	const int leaves[2] = {campaign->topology.leaf_of[flow->src],
			       campaign->topology.leaf_of[flow->dst]};
	int good = flow->rate_gbps >= (float)campaign->min_gbps && !flow->lost;
	int rails = network_of(campaign, flow->src) != network_of(campaign, flow->dst);

	for (int i = 0; i < 2 && (rails || leaves[0] != leaves[1]); i++) {
		campaign->tested[leaves[i]] |= rails;
		campaign->good[leaves[i]] |= good || !bad;
		campaign->bad[leaves[i]] += bad;
	}
}

/* Is the flow inside a leaf of a rail alone? Such results count only for comparison,
 * after a bad test between leaves. */
static int
is_beside(const struct bu_leaf_campaign *campaign, const struct bu_flow *flow)
{
	const int *leaf_of = campaign->topology.leaf_of;

	return campaign->alone && !campaign->links_bad &&
	       leaf_of[flow->src] == leaf_of[flow->dst];
}

static int
answer_flow(struct bu_leaf_campaign *campaign, struct bu_flow *flow)
{
	int place = 0, dir = 0;
	const struct bu_pair_log *log;
	size_t *taken;

	flow->qps = BU_GATE_LINK_QPS;
	flow->path = BU_PATH_UNKNOWN;
	if (is_beside(campaign, flow))
		return answer_nothing(campaign, flow, NULL);
	log = bu_leaf_campaign_log(campaign, flow, &place, &dir);
	taken = &campaign->taken[2 * place + dir];
	if (log)
		*taken = next_of(campaign, flow, log, *taken, dir);
	if (!log || *taken >= log->count)
		return answer_nothing(campaign, flow, log);
	bu_gate_give(&log->list[(*taken)++], dir, flow);
	flow->rate_gbps = bu_leaf_campaign_comparable(campaign, flow->src, flow->dst,
						      flow->rate_gbps);
	note_leaves(campaign, flow, is_newest_bad(campaign, flow, log, dir));
	return 0;
}

/* Do the rails' campaigns have this pair of the log on another rail? */
static int
is_elsewhere(const struct bu_leaf_campaign *campaign, size_t place)
{
	const struct bu_gate *gate = campaign->gate;

	return campaign->alone && place < gate->pairs_count &&
	       gate->pairs[place].network != (int)campaign->alone->index &&
	       strcmp(gate->pairs_of, gate->fleet->desired->digest) == 0;
}

/* Ports of a pair of one rail, in the present boots of both nodes; 0 = another pair, or
 * both ports are at one leaf. */
static int
ports_between(const struct bu_leaf_campaign *campaign, size_t at_log, int ret_ports[2])
{
	const struct bu_topology *t = &campaign->topology;
	const struct bu_pair_log *log =
		&campaign->gate->fleet->measurements.logs[at_log];
	int rail = 0;

	if (is_elsewhere(campaign, at_log))
		return 0;
	while (rail < t->rails && strcmp(campaign->rail[rail]->name, log->rail) != 0)
		rail++;
	for (int i = 0; rail < t->rails && i < 2; i++) {
		const json_t *place = json_object_get(t->node_ids.index, log->name[i]);
		int at = place ? (int)json_integer_value(place) : -1;
		const struct bu_node *node =
			place ? campaign->nodes[at].role->node : NULL;

		if (!node || strcmp(log->boot[i], node->boot_id) != 0)
			return 0;
		ret_ports[i] = at * t->rails + rail;
		if (campaign->no_port[ret_ports[i]])
			return 0;
	}
	return rail < t->rails && t->leaf_of[ret_ports[0]] != t->leaf_of[ret_ports[1]];
}

static void
count_tests(struct bu_leaf_campaign *campaign, const struct bu_pair_log *log,
	    const int ports[2])
{
	float min_gbps = (float)(campaign->min_gbps / campaign->topology.limit_gbps *
				 network_of(campaign, ports[0])->link_gbps);
	int64_t after = bu_leaf_campaign_after(campaign, ports);

	for (int end = 0; end < 2; end++)
		if (!campaign->trusted[ports[end] / campaign->topology.rails])
			return;
	for (size_t i = 0; i < log->count; i++) {
		const struct bu_measured_dir *m = log->list[i].dir;

		if (m[0].doubt || m[1].doubt || log->list[i].seq <= after)
			continue;
		for (int end = 0; end < 2; end++) {
			campaign->links[campaign->topology.leaf_of[ports[end]]]++;
			campaign->links_bad |=
				m[end].rate_gbps < min_gbps || m[end].lost > 0;
		}
	}
}

/* By leaf: bits of the rails on which trusted nodes have ports. */
static uint64_t *
rails_there(const struct bu_leaf_campaign *campaign)
{
	const struct bu_topology *t = &campaign->topology;
	uint64_t *rails = bu_xcalloc((size_t)t->leaves, sizeof(*rails));

	for (int port = 0; port < bu_topology_ports(t); port++)
		if (!campaign->no_port[port] && campaign->trusted[port / t->rails])
			rails[t->leaf_of[port]] |= UINT64_C(1) << port % t->rails;
	return rails;
}

void
bu_leaf_campaign_count_links(struct bu_leaf_campaign *campaign)
{
	const struct bu_measurements *all = &campaign->gate->fleet->measurements;
	bu_autofree uint64_t *rails = rails_there(campaign);
	int leaves = campaign->topology.leaves, ports[2];

	for (int leaf = 0; leaf < leaves; leaf++)
		for (int other = 0; other < leaves; other++)
			if (other != leaf && rails[leaf] & rails[other] &&
			    campaign->links_wanted[leaf] < LINK_TESTS)
				campaign->links_wanted[leaf]++;
	for (size_t i = 0; i < all->count; i++)
		if (ports_between(campaign, i, ports))
			count_tests(campaign, &all->logs[i], ports);
}

static void
count_partners(struct bu_leaf_campaign *campaign, const struct bu_pair_log *log)
{
	struct bu_leaf_campaign_node *ends[2];

	for (int i = 0; i < 2; i++) {
		const json_t *place = json_object_get(campaign->topology.node_ids.index,
						      log->name[i]);
		const struct bu_node *node;

		if (!place)
			return;
		ends[i] = &campaign->nodes[json_integer_value(place)];
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
bu_leaf_campaign_leave_out(struct bu_leaf_campaign *campaign)
{
	const struct bu_measurements *all = &campaign->gate->fleet->measurements;
	int ports[2];

	for (size_t i = 0; i < all->count; i++)
		if ((!campaign->alone && bu_rail_is_across(all->logs[i].rail)) ||
		    ports_between(campaign, i, ports))
			count_partners(campaign, &all->logs[i]);
	for (int i = 0; i < campaign->topology.nodes; i++) {
		const struct bu_leaf_campaign_node *node = &campaign->nodes[i];

		campaign->trusted[i] = node->there && (node->failed < FAILED_PARTNERS ||
						       node->failed <= node->met);
		campaign->absent[i] = !campaign->trusted[i];
	}
}

int
bu_leaf_campaign_answer(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	int missing = 0;

	(void)err; /* the log is in memory */
	for (int i = 0; i < count; i++)
		missing |= answer_flow(arg, &flows[i]);
	return missing;
}
