/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the campaigns between leaves: of one rail, or across the rails of a switch
 * fabric, whose networks reach each other by the profile (switch_fabric). Where each
 * rail of a group of nodes has its own leaf, no pair of one rail uses a spine, only
 * pairs across rails do. A rail's own campaign is over with a node that is good inside
 * its leaf. Called by gate.c after the rails. Where flows are traced, spines.c judges
 * single links after the bundles. The campaign keeps no state: each look runs it from
 * its start over the results in the log. Invariants: only ports that are good on their
 * rail take part, so the fault is between the leaves; no node is accused; no
 * certificate depends on the verdict (leaf_campaign_wait.c: how long certificates
 * wait).
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/spines.h"
#include "provisioner/gate/task/asks.h"

static int
is_of(const struct bu_desired_network *network, const char *fabric)
{
	return network->switch_fabric && network->role == BU_ROLE_FABRIC &&
	       strcmp(network->switch_fabric, fabric) == 0;
}

static int
is_rail(const struct bu_leaf_campaign *campaign,
	const struct bu_desired_network *network)
{
	return campaign->alone ? network == campaign->alone
			       : is_of(network, campaign->fabric);
}

/* Bits of the rails of the pool that take part. */
static uint64_t
rails_of(const struct bu_leaf_campaign *campaign, const struct bu_desired_pool *pool)
{
	uint64_t rails = 0;

	for (size_t i = 0; i < pool->rails_count; i++)
		if (is_rail(campaign, pool->rails[i]))
			rails |= UINT64_C(1) << i;
	return rails;
}

static void
find_rails(struct bu_leaf_campaign *campaign)
{
	const struct bu_desired *desired = campaign->gate->fleet->desired;
	struct bu_topology *t = &campaign->topology;

	for (size_t i = 0; i < desired->networks_count; i++) {
		const struct bu_desired_network *network = &desired->networks[i];

		if (!is_rail(campaign, network) || t->rails == BU_TOPOLOGY_RAILS_MAX)
			continue;
		campaign->rail[t->rails++] = network;
		if (!t->limit_gbps || network->link_gbps < t->limit_gbps)
			t->limit_gbps = network->link_gbps;
	}
}

/* Place of the switch; of an unknown switch, place of a leaf of this rail alone. */
static int
leaf_of(struct bu_leaf_campaign *campaign, const struct bu_role *role,
	const struct bu_desired_network *rail, int place)
{
	char leaf[BU_GATE_LEAF_SIZE], own[BU_GATE_LEAF_SIZE + BU_NAME_MAX];

	if (bu_gate_leaf(role->node, rail, role->want, place, leaf))
		return bu_ids_place(&campaign->topology.leaf_ids, leaf);
	snprintf(own, sizeof(own), "%s of rail %s", leaf, rail->name);
	json_object_set_new(campaign->own_leaves, own, json_true());
	return bu_ids_place(&campaign->topology.leaf_ids, own);
}

static void
add_node(struct bu_leaf_campaign *campaign, const struct bu_role *role)
{
	struct bu_topology *t = &campaign->topology;
	int place = t->nodes++;

	bu_ids_place(&t->node_ids, role->want->name);
	campaign->nodes[place].role = role;
	for (int rail = 0; rail < t->rails; rail++) {
		int port = place * t->rails + rail;

		campaign->no_port[port] =
			!bu_desired_has_rail(role->want->pool, campaign->rail[rail]);
		t->leaf_of[port] =
			campaign->no_port[port]
				? 0
				: leaf_of(campaign, role, campaign->rail[rail], place);
	}
}

static void
make_topology(struct bu_leaf_campaign *campaign)
{
	struct bu_gate *gate = campaign->gate;
	struct bu_topology *t = &campaign->topology;
	size_t count = gate->fleet->desired->nodes_count, ports;

	find_rails(campaign);
	ports = count * (size_t)t->rails;
	t->node_ids = (struct bu_ids){json_array(), json_object()};
	t->leaf_ids = (struct bu_ids){json_array(), json_object()};
	t->spine_ids = (struct bu_ids){json_array(), json_object()};
	bu_ids_place(&t->spine_ids, "spines");
	campaign->own_leaves = json_object();
	t->spines = t->across = 1;
	t->leaf_of = bu_xcalloc(ports, sizeof(*t->leaf_of));
	campaign->no_port = bu_xcalloc(ports, 1);
	campaign->nodes = bu_xcalloc(count, sizeof(*campaign->nodes));
	campaign->absent = bu_xcalloc(count, 1);
	campaign->trusted = bu_xcalloc(count, 1);
	for (size_t i = 0; i < count; i++) {
		const struct bu_role *role = &gate->roles[i];

		if (role->want->validation && rails_of(campaign, role->want->pool))
			add_node(campaign, role);
	}
	t->leaves = (int)json_array_size(t->leaf_ids.list);
	campaign->tested = bu_xcalloc((size_t)t->leaves, 1);
	campaign->good = bu_xcalloc((size_t)t->leaves, 1);
	campaign->bad = bu_xcalloc((size_t)t->leaves, sizeof(int));
	campaign->links = bu_xcalloc((size_t)t->leaves, sizeof(int));
	campaign->links_wanted = bu_xcalloc((size_t)t->leaves, sizeof(int));
}

/* A certified node counts with its results, even while no probe of it may start. */
static int
is_proven(const struct bu_leaf_campaign *campaign, const struct bu_role *role)
{
	uint64_t rails = rails_of(campaign, role->want->pool);

	if (!role->node || (role->ready && !role->certified))
		return 0;
	return role->certified ||
	       (bu_state_serves(role->node->state) &&
		(bu_fleet_proven_rails(campaign->gate->fleet, role->node) & rails) ==
			rails);
}

/* 0 = fewer than two nodes take part, or a rail alone has one leaf. */
static int
find_roles(struct bu_leaf_campaign *campaign)
{
	struct bu_gate *gate = campaign->gate;
	int there = 0;

	for (int i = 0; i < campaign->topology.nodes; i++) {
		struct bu_leaf_campaign_node *node = &campaign->nodes[i];
		const struct bu_role *role = node->role;

		/* A node that is measured anew has to be good in its leaf again. */
		node->held = bu_leaf_campaign_is_held(role);
		node->there = node->held || is_proven(campaign, role);
		node->asks = node->held ||
			     (node->there && bu_leaf_campaign_is_late(gate, role));
		node->lent =
			role->ready ||
			(role->serves && bu_gate_lends(gate, role->node, role->want));
		there += node->there;
		if (node->there && !campaign->validation)
			campaign->validation = role->want->validation;
	}
	bu_leaf_campaign_leave_out(campaign);
	return there > 1 && (!campaign->alone || campaign->topology.leaves > 1);
}

static const struct bu_desired_network *
slowest(const struct bu_leaf_campaign *campaign)
{
	const struct bu_desired_network *ret = campaign->rail[0];

	for (int i = 1; i < campaign->topology.rails; i++)
		if (campaign->rail[i]->link_gbps < ret->link_gbps)
			ret = campaign->rail[i];
	return ret;
}

static struct bu_localise_opts
opts_of(const struct bu_leaf_campaign *campaign)
{
	struct bu_expect expect = bu_gate_expect_all(
		campaign->gate, campaign->validation, slowest(campaign));

	return (struct bu_localise_opts){
		.seed = campaign->gate->seed,
		.trusted = campaign->trusted,
		.absent = campaign->absent,
		.no_port = campaign->no_port,
		.reject = expect.percent / 100,
		.lat_max_us = expect.lat_max_us,
		.retests = BU_GATE_QUICK,
		.lean = 1,
	};
}

/* 1 = the campaign is over, and no pair is wanted. */
static int
run(struct bu_leaf_campaign *campaign)
{
	struct bu_site site = {.round = bu_leaf_campaign_answer, .arg = campaign};
	struct bu_localise_opts opts = opts_of(campaign);
	struct bu_err err = {0};
	int rc;

	campaign->min_gbps = opts.reject * campaign->topology.limit_gbps;
	bu_leaf_campaign_count_links(campaign);
	rc = bu_localise(&campaign->topology, &site, &opts, &campaign->report, &err);

	bu_assert(rc >= 0); /* this site never fails */
	return rc == 0 && !campaign->wanted.count;
}

void
bu_leaf_campaign_ask(const struct bu_leaf_campaign *campaign,
		     const struct bu_pairs *pairs, int single)
{
	const struct bu_topology *t = &campaign->topology;

	for (size_t i = 0; i < pairs->count; i++) {
		const struct bu_wanted *pair = &pairs->list[i];
		struct bu_rail_ends rail = {.of = {campaign->rail[pair->a % t->rails],
						   campaign->rail[pair->b % t->rails]},
					    .qps = BU_GATE_LINK_QPS,
					    .single = single};

		bu_gate_ask_for(campaign->gate,
				campaign->nodes[pair->a / t->rails].role->node->name,
				campaign->nodes[pair->b / t->rails].role->node->name,
				&rail);
	}
}

void
bu_leaf_campaign_close(struct bu_leaf_campaign *campaign)
{
	bu_topology_fini(&campaign->topology);
	bu_report_fini(&campaign->report);
	json_decref(campaign->own_leaves);
	free(campaign->nodes);
	free(campaign->absent);
	free(campaign->trusted);
	free(campaign->no_port);
	free(campaign->tested);
	free(campaign->good);
	free(campaign->bad);
	free(campaign->links);
	free(campaign->links_wanted);
	free(campaign->taken);
	free(campaign->wanted.list);
}

int
bu_leaf_campaign_open(struct bu_gate *gate, const struct bu_desired_network *network,
		      struct bu_leaf_campaign *ret)
{
	*ret = (struct bu_leaf_campaign){.gate = gate};
	bu_leaf_campaign_key(network, ret->fabric);
	ret->alone = network->switch_fabric ? NULL : network;
	ret->taken = bu_xcalloc(2 * gate->fleet->measurements.count + 2,
				sizeof(*ret->taken));
	make_topology(ret);
	return find_roles(ret);
}

/* The bundles are judged. Accusations are kept when single links are judged, too. */
static void
look_at_spines(struct bu_leaf_campaign *campaign)
{
	struct bu_role *roles = campaign->gate->roles;
	struct bu_localise_opts opts = opts_of(campaign);
	struct bu_spines spines;

	if (bu_spines_run(campaign, &opts, &spines)) {
		bu_leaf_campaign_keep(campaign, &spines);
	} else {
		bu_leaf_campaign_ask(campaign, &spines.wanted, 1);
		for (int i = 0; i < campaign->topology.nodes; i++)
			if (bu_spines_wait(&spines, i))
				roles[campaign->nodes[i].role - roles].waits = 1;
	}
	bu_spines_close(&spines);
}

static void
look_at(struct bu_gate *gate, const struct bu_desired_network *network)
{
	struct bu_leaf_campaign campaign;
	int has_two = bu_leaf_campaign_open(gate, network, &campaign);

	bu_leaf_campaign_wait_unlent(&campaign);
	if (!has_two) {
		bu_leaf_campaign_forget(gate, campaign.fabric);
	} else if (run(&campaign)) {
		look_at_spines(&campaign);
	} else {
		bu_leaf_campaign_ask(&campaign, &campaign.wanted, 0);
		bu_leaf_campaign_wait(&campaign);
	}
	bu_leaf_campaign_close(&campaign);
}

/* A rail outside a switch fabric is due after a start, while nodes wait for its tests,
 * and while it has accusations. */
static int
is_alone_due(const struct bu_gate *gate, const struct bu_desired_network *rail)
{
	char key[BU_LEAF_CAMPAIGN_KEY_SIZE];

	if (rail->role != BU_ROLE_FABRIC || rail->switch_fabric)
		return 0;
	bu_leaf_campaign_key(rail, key);
	return !gate->leaves_seen ||
	       json_array_size(json_object_get(gate->leaf_accused, key)) > 0 ||
	       (bu_leaf_campaign_has_leaves(gate, rail) &&
		bu_leaf_campaign_is_asked_for(gate, rail));
}

int
bu_leaf_campaign_is_first(const struct bu_desired *desired, size_t i)
{
	const char *fabric = desired->networks[i].switch_fabric;

	for (size_t k = 0; fabric && k < i; k++)
		if (is_of(&desired->networks[k], fabric))
			return 0;
	return fabric != NULL;
}

void
bu_leaf_campaign_look(struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;

	if (desired)
		bu_leaf_campaign_forget_gone(gate);
	for (size_t i = 0; gate->roles && i < desired->networks_count; i++)
		if (bu_leaf_campaign_is_first(desired, i) ||
		    is_alone_due(gate, &desired->networks[i]))
			look_at(gate, &desired->networks[i]);
	if (!gate->roles)
		return;
	bu_leaf_campaign_let_go(gate);
	gate->leaves_seen = 1;
	bu_leaf_campaign_forget_late(gate);
}
