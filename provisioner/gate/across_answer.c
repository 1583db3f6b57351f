/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a campaign across rails is answered from the log. Asked by across.c while the
 * campaign runs. Invariants: only pairs across rails are asked for, what is of one rail
 * is that rail's campaign to ask; a pair that gave nothing so often is not asked again.
 */
#include <string.h>

#include "provisioner/gate/across_impl.h"

enum { FAILED_PARTNERS = 2 };

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

/* What was measured of these ports in the present boots; NULL = nothing. */
static const struct bu_pair_log *
log_of(const struct bu_across *across, const struct bu_flow *flow, int *ret_place,
       int *ret_dir)
{
	const struct bu_node *a = node_of(across, flow->src)->role->node;
	const struct bu_node *b = node_of(across, flow->dst)->role->node;
	int swap = strcmp(a->name, b->name) > 0;
	const int ports[2] = {swap ? flow->dst : flow->src,
			      swap ? flow->src : flow->dst};
	struct bu_rail_ends rail = {
		{network_of(across, ports[0]), network_of(across, ports[1])}};
	char text[BU_NAME_MAX];

	bu_rail_ends_text(&rail, text);
	return bu_gate_log(across->gate, text, a, b, ret_place, ret_dir);
}

/* Of what is proven no more is asked, nor of who is not there for it. */
static int
may_ask(const struct bu_across *across, const struct bu_flow *flow,
	const struct bu_pair_log *log)
{
	const struct bu_across_node *a = node_of(across, flow->src);
	const struct bu_across_node *b = node_of(across, flow->dst);

	return network_of(across, flow->src) != network_of(across, flow->dst) &&
	       (a->asks || b->asks) && a->lent && b->lent &&
	       (!log || bu_gate_failures(log) < BU_GATE_ERRORS);
}

static int
answer_nothing(struct bu_across *across, struct bu_flow *flow,
	       const struct bu_pair_log *log)
{
	struct bu_pairs *wanted = &across->wanted;

	flow->doubt = BU_DOUBT_NONE;
	if (!may_ask(across, flow, log))
		return 0;
	wanted->list = bu_xgrow(wanted->list, &wanted->cap, wanted->count + 1,
				sizeof(*wanted->list));
	wanted->list[wanted->count++] = (struct bu_wanted){flow->src, flow->dst};
	/* Who gave nothing is asked again while the others go on. */
	if (log && bu_gate_failures(log))
		return 0;
	flow->doubt |= BU_DOUBT_ASKED;
	return 1;
}

/* A rate counts as its share of the slower link of its pair, in terms of the slowest of
 * the fabric: all pairs are compared with each other. */
static float
comparable(const struct bu_across *across, const struct bu_flow *flow, float gbps)
{
	struct bu_rail_ends rail = {
		{network_of(across, flow->src), network_of(across, flow->dst)}};

	return gbps *
	       (float)(across->topology.limit_gbps / bu_rail_slower(&rail)->link_gbps);
}

static void
note_leaves(struct bu_across *across, const struct bu_flow *flow)
{
	const int ports[2] = {flow->src, flow->dst};
	int good = flow->rate_gbps >= (float)across->min_gbps && !flow->lost;

	if (network_of(across, flow->src) == network_of(across, flow->dst))
		return;
	for (int i = 0; i < 2; i++) {
		int leaf = across->topology.leaf_of[ports[i]];

		across->tested[leaf] = 1;
		across->good[leaf] |= good;
	}
}

static int
answer_flow(struct bu_across *across, struct bu_flow *flow)
{
	int place = 0, dir = 0;
	const struct bu_pair_log *log = log_of(across, flow, &place, &dir);
	size_t *taken = &across->taken[2 * place + dir];

	flow->path = BU_PATH_UNKNOWN;
	if (log)
		*taken = bu_gate_next_sound(log, *taken, dir);
	if (!log || *taken >= log->count)
		return answer_nothing(across, flow, log);
	bu_gate_give(&log->list[(*taken)++], dir, flow);
	flow->rate_gbps = comparable(across, flow, flow->rate_gbps);
	note_leaves(across, flow);
	return 0;
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

	for (size_t i = 0; i < all->count; i++)
		if (bu_rail_is_across(all->logs[i].rail))
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
