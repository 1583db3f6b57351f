/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The campaign of one fabric network: its candidates, their possible partners, and
 * results of their present boots. The campaign keeps no state: each look runs it from
 * its start over the results in the log, until it asks for one that is not there. The
 * same results lead to the same questions.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/campaign/campaign.h"
#include "provisioner/gate/task/asks.h"
#include "provisioner/gate/task/task.h"

static int
is_in(const struct bu_desired_node *want, const struct bu_desired_network *fabric)
{
	return want->validation && bu_desired_has_rail(want->pool, fabric);
}

static int
is_lent(struct bu_campaign_state *campaign, const struct bu_role *role)
{
	int lent = 0;

	if (!role->serves)
		return 0;
	if (!bu_role_proves(role, campaign->fabric)) {
		campaign->unproven +=
			bu_fleet_may_stay(campaign->gate->fleet, role->node);
	} else {
		lent = bu_gate_lends(campaign->gate, role->node, role->want);
		/* One whose agent is gone would not be measured if it were lent. */
		campaign->unlent +=
			!lent && !role->node->conditions[BU_CONDITION_UNREACHABLE].on;
	}
	return lent;
}

/* No path over the spines can be chosen: flows count for all uplinks of a leaf. */
static void
make_topology(struct bu_gate *gate, struct bu_campaign_state *campaign)
{
	const struct bu_desired *desired = gate->fleet->desired;
	struct bu_topology *t = &campaign->topology;
	size_t size = desired->nodes_count + 1;
	char leaf[BU_GATE_LEAF_SIZE];

	t->node_ids = (struct bu_ids){json_array(), json_object()};
	t->leaf_ids = (struct bu_ids){json_array(), json_object()};
	t->spine_ids = (struct bu_ids){json_array(), json_object()};
	t->leaf_of = bu_xcalloc(size, sizeof(*t->leaf_of));
	t->rails = t->spines = t->sprayed = 1;
	t->limit_gbps = campaign->fabric->link_gbps;
	bu_ids_place(&t->spine_ids, "uplinks");
	campaign->nodes = bu_xcalloc(size, sizeof(*campaign->nodes));
	campaign->role = bu_xcalloc(size, sizeof(*campaign->role));
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *want = &desired->nodes[i];
		struct bu_node *node;

		if (!is_in(want, campaign->fabric))
			continue;
		campaign->role[t->nodes] = &gate->roles[i];
		node = gate->roles[i].node;
		campaign->nodes[t->nodes] = node;
		json_array_append_new(t->node_ids.list, json_string(want->name));
		bu_gate_leaf(node, campaign->fabric, want, t->nodes, leaf);
		t->leaf_of[t->nodes++] = bu_ids_place(&t->leaf_ids, leaf);
	}
	t->leaves = (int)json_array_size(t->leaf_ids.list);
}

static void
find_roles(struct bu_gate *gate, struct bu_campaign_state *campaign)
{
	size_t size = (size_t)campaign->topology.nodes + 1;

	campaign->candidate = bu_xcalloc(size, 1);
	campaign->trusted = bu_xcalloc(size, 1);
	campaign->absent = bu_xcalloc(size, 1);
	campaign->effort = bu_xcalloc(size, 1);
	campaign->busy = bu_xcalloc(size, 1);
	for (int i = 0; i < campaign->topology.nodes; i++) {
		struct bu_node *node = campaign->nodes[i];
		const struct bu_role *role = campaign->role[i];

		/* A node certified a moment ago is not judged again. */
		campaign->candidate[i] = role->ready && !role->certified;
		campaign->trusted[i] = !campaign->candidate[i] &&
				       (role->ready || is_lent(campaign, role));
		campaign->absent[i] = !campaign->candidate[i] && !campaign->trusted[i];
		campaign->busy[i] =
			!campaign->absent[i] && (bu_task_is_busy(gate, node->name) ||
						 bu_gate_rests(gate, node));
		campaign->candidates += campaign->candidate[i];
		campaign->partners += campaign->trusted[i];
		if (campaign->candidate[i])
			campaign->effort[i] = role->effort;
	}
}

static int
run(struct bu_campaign_state *campaign)
{
	struct bu_site site = {
		.round = bu_gate_answer,
		.known = bu_gate_known,
		.met = bu_pair_index_pairs,
		.arg = campaign,
	};
	struct bu_localise_opts opts = {
		.seed = campaign->gate->seed,
		.trusted = campaign->trusted,
		.absent = campaign->absent,
		.effort = campaign->effort,
		.busy = campaign->busy,
		.last = campaign->last,
		.slow = campaign->slow_probe,
		.reject = campaign->expect.percent / 100,
		.lat_max_us = campaign->expect.lat_max_us,
		.blast = campaign->validation->blast_percent / 100,
		.retests = BU_GATE_RETESTS,
		.lean = 1,
	};
	struct bu_err err = {0};
	int rc =
		bu_localise(&campaign->topology, &site, &opts, &campaign->report, &err);

	bu_assert(rc >= 0); /* this site never fails */
	return rc == 0;
}

int
bu_campaign_state_open(struct bu_gate *gate, const struct bu_desired_network *fabric,
		       struct bu_campaign_state *ret)
{
	const struct bu_desired *desired = gate->fleet->desired;

	*ret = (struct bu_campaign_state){.gate = gate, .fabric = fabric};
	if (bu_gate_roles(gate) == 0)
		return 0;
	for (size_t i = 0; i < desired->nodes_count && !ret->validation; i++)
		if (gate->roles[i].ready && is_in(&desired->nodes[i], fabric))
			ret->validation = desired->nodes[i].validation;
	if (!ret->validation)
		return 0;
	ret->expect = bu_gate_expect_all(gate, ret->validation, fabric);
	make_topology(gate, ret);
	find_roles(gate, ret);
	bu_pair_index_open(ret);
	ret->tired_of = bu_xcalloc((size_t)ret->topology.nodes, sizeof(int));
	ret->tired_doubt = bu_xcalloc((size_t)ret->topology.nodes, 1);
	ret->last = bu_xcalloc((size_t)ret->topology.nodes, 1);
	ret->slow_probe = bu_xcalloc((size_t)ret->topology.nodes, 1);
	bu_gate_put_last(ret);
	ret->over = run(ret);
	bu_gate_order_tired(ret);
	ret->slow = !ret->over && ret->report.rounds[2] >= BU_GATE_QUICK;
	return ret->topology.nodes;
}

void
bu_campaign_state_close(struct bu_campaign_state *campaign)
{
	if (!campaign->validation)
		return;
	bu_topology_fini(&campaign->topology);
	bu_report_fini(&campaign->report);
	free(campaign->nodes);
	free(campaign->role);
	free(campaign->candidate);
	free(campaign->trusted);
	free(campaign->absent);
	free(campaign->effort);
	free(campaign->busy);
	free(campaign->last);
	free(campaign->slow_probe);
	bu_pair_index_close(campaign);
	free(campaign->tired_of);
	free(campaign->tired_doubt);
	free(campaign->wanted.list);
	free(campaign->tired.list);
}

void
bu_gate_ask(struct bu_gate *gate, const struct bu_campaign_state *campaign,
	    const struct bu_pairs *pairs)
{
	struct bu_rail_ends rail = {.of = {campaign->fabric, campaign->fabric}};

	for (size_t i = 0; i < pairs->count; i++) {
		const struct bu_wanted *pair = &pairs->list[i];
		const int *leaf_of = campaign->topology.leaf_of;

		rail.qps = leaf_of[pair->a] != leaf_of[pair->b] ? BU_GATE_LINK_QPS : 0;
		bu_gate_ask_for(gate, campaign->nodes[pair->a]->name,
				campaign->nodes[pair->b]->name, &rail);
	}
}
