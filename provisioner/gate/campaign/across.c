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
 * certificate depends on the verdict (across_wait.c: how long certificates wait).
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/campaign/across.h"
#include "provisioner/gate/campaign/spines.h"
#include "provisioner/gate/task/asks.h"

static int
is_of(const struct bu_desired_network *network, const char *fabric)
{
	return network->switch_fabric && network->role == BU_ROLE_FABRIC &&
	       strcmp(network->switch_fabric, fabric) == 0;
}

static int
is_rail(const struct bu_across *across, const struct bu_desired_network *network)
{
	return across->alone ? network == across->alone
			     : is_of(network, across->fabric);
}

/* Bits of the rails of the pool that take part. */
static uint64_t
rails_of(const struct bu_across *across, const struct bu_desired_pool *pool)
{
	uint64_t rails = 0;

	for (size_t i = 0; i < pool->rails_count; i++)
		if (is_rail(across, pool->rails[i]))
			rails |= UINT64_C(1) << i;
	return rails;
}

static void
find_rails(struct bu_across *across)
{
	const struct bu_desired *desired = across->gate->fleet->desired;
	struct bu_topology *t = &across->topology;

	for (size_t i = 0; i < desired->networks_count; i++) {
		const struct bu_desired_network *network = &desired->networks[i];

		if (!is_rail(across, network) || t->rails == BU_TOPOLOGY_RAILS_MAX)
			continue;
		across->rail[t->rails++] = network;
		if (!t->limit_gbps || network->link_gbps < t->limit_gbps)
			t->limit_gbps = network->link_gbps;
	}
}

/* Place of the switch; of an unknown switch, place of a leaf of this rail alone. */
static int
leaf_of(struct bu_across *across, const struct bu_role *role,
	const struct bu_desired_network *rail, int place)
{
	char leaf[BU_GATE_LEAF_SIZE], own[BU_GATE_LEAF_SIZE + BU_NAME_MAX];

	if (bu_gate_leaf(role->node, rail, role->want, place, leaf))
		return bu_ids_place(&across->topology.leaf_ids, leaf);
	snprintf(own, sizeof(own), "%s of rail %s", leaf, rail->name);
	json_object_set_new(across->own_leaves, own, json_true());
	return bu_ids_place(&across->topology.leaf_ids, own);
}

static void
add_node(struct bu_across *across, const struct bu_role *role)
{
	struct bu_topology *t = &across->topology;
	int place = t->nodes++;

	bu_ids_place(&t->node_ids, role->want->name);
	across->nodes[place].role = role;
	for (int rail = 0; rail < t->rails; rail++) {
		int port = place * t->rails + rail;

		across->no_port[port] =
			!bu_desired_has_rail(role->want->pool, across->rail[rail]);
		t->leaf_of[port] =
			across->no_port[port]
				? 0
				: leaf_of(across, role, across->rail[rail], place);
	}
}

static void
make_topology(struct bu_across *across)
{
	struct bu_gate *gate = across->gate;
	struct bu_topology *t = &across->topology;
	size_t count = gate->fleet->desired->nodes_count, ports;

	find_rails(across);
	ports = count * (size_t)t->rails;
	t->node_ids = (struct bu_ids){json_array(), json_object()};
	t->leaf_ids = (struct bu_ids){json_array(), json_object()};
	t->spine_ids = (struct bu_ids){json_array(), json_object()};
	bu_ids_place(&t->spine_ids, "spines");
	across->own_leaves = json_object();
	t->spines = t->across = 1;
	t->leaf_of = bu_xcalloc(ports, sizeof(*t->leaf_of));
	across->no_port = bu_xcalloc(ports, 1);
	across->nodes = bu_xcalloc(count, sizeof(*across->nodes));
	across->absent = bu_xcalloc(count, 1);
	across->trusted = bu_xcalloc(count, 1);
	for (size_t i = 0; i < count; i++) {
		const struct bu_role *role = &gate->roles[i];

		if (role->want->validation && rails_of(across, role->want->pool))
			add_node(across, role);
	}
	t->leaves = (int)json_array_size(t->leaf_ids.list);
	across->tested = bu_xcalloc((size_t)t->leaves, 1);
	across->good = bu_xcalloc((size_t)t->leaves, 1);
	across->bad = bu_xcalloc((size_t)t->leaves, sizeof(int));
	across->links = bu_xcalloc((size_t)t->leaves, sizeof(int));
	across->links_wanted = bu_xcalloc((size_t)t->leaves, sizeof(int));
}

/* A certified node counts with its results, even while no probe of it may start. */
static int
is_proven(const struct bu_across *across, const struct bu_role *role)
{
	uint64_t rails = rails_of(across, role->want->pool);

	if (!role->node || (role->ready && !role->certified))
		return 0;
	return role->certified ||
	       (bu_state_serves(role->node->state) &&
		(bu_fleet_proven_rails(across->gate->fleet, role->node) & rails) ==
			rails);
}

/* 0 = fewer than two nodes take part, or a rail alone has one leaf. */
static int
find_roles(struct bu_across *across)
{
	struct bu_gate *gate = across->gate;
	int there = 0;

	for (int i = 0; i < across->topology.nodes; i++) {
		struct bu_across_node *node = &across->nodes[i];
		const struct bu_role *role = node->role;

		/* A node that is measured anew has to be good in its leaf again. */
		node->held = bu_across_is_held(role);
		node->there = node->held || is_proven(across, role);
		node->asks =
			node->held || (node->there && bu_across_is_late(gate, role));
		node->lent =
			role->ready ||
			(role->serves && bu_gate_lends(gate, role->node, role->want));
		there += node->there;
		if (node->there && !across->validation)
			across->validation = role->want->validation;
	}
	bu_across_leave_out(across);
	return there > 1 && (!across->alone || across->topology.leaves > 1);
}

static const struct bu_desired_network *
slowest(const struct bu_across *across)
{
	const struct bu_desired_network *ret = across->rail[0];

	for (int i = 1; i < across->topology.rails; i++)
		if (across->rail[i]->link_gbps < ret->link_gbps)
			ret = across->rail[i];
	return ret;
}

static struct bu_localise_opts
opts_of(const struct bu_across *across)
{
	struct bu_expect expect =
		bu_gate_expect_all(across->gate, across->validation, slowest(across));

	return (struct bu_localise_opts){
		.seed = across->gate->seed,
		.trusted = across->trusted,
		.absent = across->absent,
		.no_port = across->no_port,
		.reject = expect.percent / 100,
		.lat_max_us = expect.lat_max_us,
		.retests = BU_GATE_QUICK,
		.lean = 1,
	};
}

/* 1 = the campaign is over, and no pair is wanted. */
static int
run(struct bu_across *across)
{
	struct bu_site site = {.round = bu_across_answer, .arg = across};
	struct bu_localise_opts opts = opts_of(across);
	struct bu_err err = {0};
	int rc;

	across->min_gbps = opts.reject * across->topology.limit_gbps;
	bu_across_count_links(across);
	rc = bu_localise(&across->topology, &site, &opts, &across->report, &err);

	bu_assert(rc >= 0); /* this site never fails */
	return rc == 0 && !across->wanted.count;
}

void
bu_across_ask(const struct bu_across *across, const struct bu_pairs *pairs, int single)
{
	const struct bu_topology *t = &across->topology;

	for (size_t i = 0; i < pairs->count; i++) {
		const struct bu_wanted *pair = &pairs->list[i];
		struct bu_rail_ends rail = {.of = {across->rail[pair->a % t->rails],
						   across->rail[pair->b % t->rails]},
					    .qps = BU_GATE_LINK_QPS,
					    .single = single};

		bu_gate_ask_for(across->gate,
				across->nodes[pair->a / t->rails].role->node->name,
				across->nodes[pair->b / t->rails].role->node->name,
				&rail);
	}
}

void
bu_across_close(struct bu_across *across)
{
	bu_topology_fini(&across->topology);
	bu_report_fini(&across->report);
	json_decref(across->own_leaves);
	free(across->nodes);
	free(across->absent);
	free(across->trusted);
	free(across->no_port);
	free(across->tested);
	free(across->good);
	free(across->bad);
	free(across->links);
	free(across->links_wanted);
	free(across->taken);
	free(across->wanted.list);
}

int
bu_across_open(struct bu_gate *gate, const struct bu_desired_network *network,
	       struct bu_across *ret)
{
	*ret = (struct bu_across){.gate = gate};
	bu_across_key(network, ret->fabric);
	ret->alone = network->switch_fabric ? NULL : network;
	ret->taken = bu_xcalloc(2 * gate->fleet->measurements.count + 2,
				sizeof(*ret->taken));
	make_topology(ret);
	return find_roles(ret);
}

/* The bundles are judged. Accusations are kept when single links are judged, too. */
static void
look_at_spines(struct bu_across *across)
{
	struct bu_role *roles = across->gate->roles;
	struct bu_localise_opts opts = opts_of(across);
	struct bu_spines spines;

	if (bu_spines_run(across, &opts, &spines)) {
		bu_across_keep(across, &spines);
	} else {
		bu_across_ask(across, &spines.wanted, 1);
		for (int i = 0; i < across->topology.nodes; i++)
			if (bu_spines_wait(&spines, i))
				roles[across->nodes[i].role - roles].waits = 1;
	}
	bu_spines_close(&spines);
}

static void
look_at(struct bu_gate *gate, const struct bu_desired_network *network)
{
	struct bu_across across;
	int has_two = bu_across_open(gate, network, &across);

	bu_across_wait_unlent(&across);
	if (!has_two) {
		bu_across_forget(gate, across.fabric);
	} else if (run(&across)) {
		look_at_spines(&across);
	} else {
		bu_across_ask(&across, &across.wanted, 0);
		bu_across_wait(&across);
	}
	bu_across_close(&across);
}

/* A rail outside a switch fabric is due after a start, while nodes wait for its tests,
 * and while it has accusations. */
static int
is_alone_due(const struct bu_gate *gate, const struct bu_desired_network *rail)
{
	char key[BU_ACROSS_KEY_SIZE];

	if (rail->role != BU_ROLE_FABRIC || rail->switch_fabric)
		return 0;
	bu_across_key(rail, key);
	return !gate->across_seen ||
	       json_array_size(json_object_get(gate->across, key)) > 0 ||
	       (bu_across_has_leaves(gate, rail) && bu_across_is_asked_for(gate, rail));
}

int
bu_across_is_first(const struct bu_desired *desired, size_t i)
{
	const char *fabric = desired->networks[i].switch_fabric;

	for (size_t k = 0; fabric && k < i; k++)
		if (is_of(&desired->networks[k], fabric))
			return 0;
	return fabric != NULL;
}

void
bu_across_look(struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;

	if (desired)
		bu_across_forget_gone(gate);
	for (size_t i = 0; gate->roles && i < desired->networks_count; i++)
		if (bu_across_is_first(desired, i) ||
		    is_alone_due(gate, &desired->networks[i]))
			look_at(gate, &desired->networks[i]);
	if (!gate->roles)
		return;
	bu_across_let_go(gate);
	gate->across_seen = 1;
	bu_across_forget_late(gate);
}
