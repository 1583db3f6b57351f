/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a campaign from the log, while campaign_state.c runs it. Invariants: a probe
 * without a sound result (none, or an instrument in doubt) decides nothing: it is
 * passed over if there is a better one, else repeated; a pair that failed
 * BU_GATE_ERRORS times is asked for once a minute, and the campaign goes on to other
 * partners.
 */
#include <string.h>

#include "provisioner/gate/campaign/campaign.h"

enum { TIRED_PARTNERS = 3, FAILED_PARTNERS = 2 };

void
bu_pairs_add(struct bu_pairs *pairs, int a, int b)
{
	const struct bu_wanted *last =
		pairs->count ? &pairs->list[pairs->count - 1] : NULL;

	if (last && ((last->a == a && last->b == b) || (last->a == b && last->b == a)))
		return;
	pairs->list = bu_xgrow(pairs->list, &pairs->cap, pairs->count + 1,
			       sizeof(*pairs->list));
	pairs->list[pairs->count++] = (struct bu_wanted){a, b};
}

/* The results of a pair, by places of the campaign. The last pair is remembered. */
static const struct bu_found *
find(struct bu_campaign_state *campaign, int a, int b)
{
	struct bu_found *found = &campaign->found;

	if (found->a == b && found->b == a && a != b)
		found->dir = !found->dir;
	else if (found->a != a || found->b != b || a == b)
		found->indexed = bu_pair_index_find(campaign, a, b, &found->dir);
	found->a = a;
	found->b = b;
	return found;
}

/* 1 = the node has TIRED_PARTNERS tired pairs: another partner is tried in turns
 * BU_TURN_OTHERS only. */
static int
is_weary(const struct bu_campaign_state *campaign, int node)
{
	return !campaign->trusted[node] && campaign->tired_of[node] >= TIRED_PARTNERS &&
	       campaign->gate->slow_turn != BU_TURN_OTHERS;
}

static void
tire(struct bu_campaign_state *campaign, struct bu_flow *flow,
     struct bu_indexed_pair *indexed, uint8_t doubt)
{
	int ends[2] = {flow->src, flow->dst};

	flow->doubt |= doubt;
	for (int i = 0; i < 2; i++) {
		campaign->tired_of[ends[i]] += !indexed->is_tired;
		campaign->tired_doubt[ends[i]] |= doubt;
	}
	if (!indexed->is_tired)
		bu_pairs_add(&campaign->tired, flow->src, flow->dst);
	indexed->is_tired = 1;
}

/* Answers a flow without a sound result. 1 = its pair is asked for. */
static int
answer_nothing(struct bu_campaign_state *campaign, struct bu_flow *flow,
	       struct bu_indexed_pair *indexed, int dir)
{
	int weary = is_weary(campaign, flow->src)   ? flow->src
		    : is_weary(campaign, flow->dst) ? flow->dst
						    : -1;
	const struct bu_pair_log *log = indexed ? indexed->log : NULL;

	flow->doubt = BU_DOUBT_NONE;
	/* Pairs of proven nodes are not asked for. */
	if (campaign->trusted[flow->src] && campaign->trusted[flow->dst])
		return 0;
	if (log && bu_gate_failures(log) >= BU_GATE_ERRORS) {
		tire(campaign, flow, indexed,
		     log->count ? (uint8_t)log->list[log->count - 1].dir[dir].doubt
				: 0);
		return 0;
	}
	if (weary >= 0) {
		flow->doubt |= campaign->tired_doubt[weary];
		return 0;
	}
	bu_pairs_add(&campaign->wanted, flow->src, flow->dst);
	flow->doubt |= BU_DOUBT_ASKED;
	return 1;
}

/* Gives the next sound result of the pair. 1 = it is asked for. */
static int
answer_flow(struct bu_campaign_state *campaign, struct bu_flow *flow)
{
	const struct bu_found *found = find(campaign, flow->src, flow->dst);
	struct bu_indexed_pair *indexed = found->indexed;
	int dir = indexed ? found->dir : 0;

	flow->path = BU_PATH_UNKNOWN;
	if (indexed)
		indexed->taken[dir] =
			bu_gate_next_sound(indexed->log, indexed->taken[dir], dir);
	if (!indexed || indexed->taken[dir] >= indexed->log->count)
		return answer_nothing(campaign, flow, indexed, dir);
	bu_gate_give(&indexed->log->list[indexed->taken[dir]++], dir, flow);
	return 0;
}

int
bu_gate_place(const struct bu_topology *topology, const char *name)
{
	int low = 0, high = topology->nodes;

	while (low < high) {
		int mid = (low + high) / 2;
		const char *at = json_string_value(
			json_array_get(topology->node_ids.list, (size_t)mid));
		int order = strcmp(name, at);

		if (order == 0)
			return mid;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return -1;
}

enum bu_known
bu_gate_known(void *arg, const struct bu_flow *flow)
{
	struct bu_campaign_state *campaign = arg;
	const struct bu_found *found = find(campaign, flow->src, flow->dst);
	const struct bu_indexed_pair *indexed = found->indexed;
	int failures;

	if (indexed && bu_gate_next_sound(indexed->log, indexed->taken[found->dir],
					  found->dir) < indexed->log->count)
		return BU_KNOWN_RESULT;
	failures = indexed ? bu_gate_failures(indexed->log) : 0;
	if (failures >= BU_GATE_ERRORS || is_weary(campaign, flow->src) ||
	    is_weary(campaign, flow->dst))
		return BU_KNOWN_TIRED;
	return failures ? BU_KNOWN_FAILED : BU_KNOWN_NOT;
}

size_t
bu_pair_index_pairs(void *arg, const struct bu_pair **ret)
{
	const struct bu_campaign_state *campaign = arg;

	*ret = campaign->index_pairs;
	return campaign->index_count;
}

void
bu_gate_put_last(struct bu_campaign_state *campaign)
{
	for (int i = 0; i < campaign->topology.nodes; i++) {
		const struct bu_node *node = campaign->nodes[i];

		campaign->last[i] =
			campaign->failed_of[i] >= FAILED_PARTNERS ||
			(node && (node->live.unanswered ||
				  node->live.slow_probe >= FAILED_PARTNERS));
		campaign->slow_probe[i] = node && node->live.slow_probe;
	}
}

int
bu_gate_answer(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	int missing = 0;

	for (int i = 0; i < count; i++)
		missing |= answer_flow(arg, &flows[i]);
	return missing;
}

/* Fewest failures first, so that no pair keeps its nodes from others. */
static int
by_failures(const void *a, const void *b, void *arg)
{
	const struct bu_campaign_state *campaign = arg;
	const struct bu_wanted *pairs[2] = {a, b};
	int failures[2];

	for (int i = 0; i < 2; i++) {
		int place, dir;
		const struct bu_pair_log *log =
			bu_gate_log(campaign->gate, campaign->fabric->name,
				    campaign->nodes[pairs[i]->a],
				    campaign->nodes[pairs[i]->b], &place, &dir);

		failures[i] = log ? bu_gate_failures(log) : 0;
	}
	return failures[0] - failures[1];
}

void
bu_gate_order_tired(struct bu_campaign_state *campaign)
{
	if (campaign->tired.count > 1)
		qsort_r(campaign->tired.list, campaign->tired.count,
			sizeof(*campaign->tired.list), by_failures, campaign);
}

void
bu_gate_tire(struct bu_campaign_state *campaign, int node)
{
	for (int i = 0; i < campaign->topology.nodes; i++) {
		int place, dir;

		if (i != node && !campaign->absent[i] &&
		    bu_gate_log(campaign->gate, campaign->fabric->name,
				campaign->nodes[node], campaign->nodes[i], &place,
				&dir))
			bu_pairs_add(&campaign->tired, node, i);
	}
}
