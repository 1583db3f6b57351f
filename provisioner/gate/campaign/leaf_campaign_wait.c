/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long nodes wait for tests between leaves. Certificates wait at most HOLD_MS for
 * those of a switch fabric, and not at all for those of a rail alone. The remaining
 * tests, and those that a person repeats, go on until LATE_MS with lent nodes. Asked by
 * leaf_campaign.c at each look, by verdicts.c and run.c. Invariant: no node leaves
 * service for these tests.
 */
#include <string.h>

#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/leaf_campaign_impl.h"

enum { HOLD_MS = 180000, LATE_MS = 900000, AGAIN_MS = 20 };

int
bu_leaf_campaign_is_held(const struct bu_role *role)
{
	size_t rails = role->want->pool->rails_count;
	uint64_t all = rails ? UINT64_MAX >> (64 - rails) : 0;

	return role->ready && !role->certified && rails &&
	       (role->node->live.rails_good & all) == all;
}

int
bu_leaf_campaign_is_late(const struct bu_gate *gate, const struct bu_role *role)
{
	const struct bu_node *node = role->node;

	return (role->ready || role->serves) && node->live.leaf_campaign.late &&
	       bu_loop_now_ms(gate->fleet->loop) - node->live.leaf_campaign.since_ms <
		       LATE_MS;
}

/* On a rail alone a node waits for its own leaf; after a bad test no leaf is done. */
static int
waits(const struct bu_leaf_campaign *campaign, int place)
{
	return campaign->nodes[place].asks &&
	       (!campaign->alone ||
		!bu_leaf_campaign_leaf_is_done(campaign,
					       campaign->topology.leaf_of[place]));
}

/* The tests of a node that is not lent now, as one with jobs, are not over. */
void
bu_leaf_campaign_wait_unlent(const struct bu_leaf_campaign *campaign)
{
	struct bu_role *roles = campaign->gate->roles;

	for (int i = 0; i < campaign->topology.nodes; i++) {
		const struct bu_leaf_campaign_node *node = &campaign->nodes[i];

		if (node->asks && !node->lent)
			roles[node->role - roles].waits = 1;
	}
}

void
bu_leaf_campaign_wait(const struct bu_leaf_campaign *campaign)
{
	struct bu_role *roles = campaign->gate->roles;

	for (int i = 0; i < campaign->topology.nodes; i++)
		if (waits(campaign, i))
			roles[campaign->nodes[i].role - roles].waits = 1;
}

int
bu_leaf_campaign_has_leaves(const struct bu_gate *gate,
			    const struct bu_desired_network *rail)
{
	const struct bu_topology *shape = bu_gate_shape(gate, rail);

	return rail->role == BU_ROLE_FABRIC && (!shape || shape->leaves > 1);
}

static int
has_fabric(const struct bu_desired_pool *pool)
{
	for (size_t i = 0; i < pool->rails_count; i++)
		if (pool->rails[i]->switch_fabric)
			return 1;
	return 0;
}

static int
is_tested_between(const struct bu_gate *gate, const struct bu_desired_pool *pool)
{
	for (size_t i = 0; i < pool->rails_count; i++)
		if (bu_leaf_campaign_has_leaves(gate, pool->rails[i]))
			return 1;
	return has_fabric(pool);
}

void
bu_leaf_campaign_let_go(struct bu_gate *gate)
{
	for (size_t i = 0; i < gate->fleet->desired->nodes_count; i++) {
		const struct bu_role *role = &gate->roles[i];

		if (role->waits || !role->node ||
		    !is_tested_between(gate, role->want->pool))
			continue;
		role->node->live.leaf_campaign.late = 0;
		if (!bu_leaf_campaign_is_held(role) ||
		    role->node->live.leaf_campaign.over ||
		    role->node->live.leaf_campaign.state_seq != role->node->state_seq)
			continue;
		role->node->live.leaf_campaign.over = 1;
		bu_gate_wake_at(gate, bu_loop_now_ms(gate->fleet->loop) + AGAIN_MS);
	}
}

int
bu_leaf_campaign_is_asked_for(const struct bu_gate *gate,
			      const struct bu_desired_network *rail)
{
	for (size_t i = 0; i < gate->fleet->desired->nodes_count; i++) {
		const struct bu_role *role = &gate->roles[i];

		if (((bu_leaf_campaign_is_held(role) &&
		      !role->node->live.leaf_campaign.over) ||
		     bu_leaf_campaign_is_late(gate, role)) &&
		    bu_desired_has_rail(role->want->pool, rail))
			return 1;
	}
	return 0;
}

void
bu_leaf_campaign_forget_late(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	for (size_t i = 0; i < gate->fleet->count; i++) {
		struct bu_node *node = gate->fleet->nodes[i];

		if (now_ms - node->live.leaf_campaign.since_ms >= LATE_MS)
			node->live.leaf_campaign.late = 0;
	}
}

int
bu_leaf_campaign_goes_on(const struct bu_gate *gate)
{
	for (size_t i = 0; i < gate->fleet->count; i++)
		if (gate->fleet->nodes[i]->live.leaf_campaign.late)
			return 1;
	return 0;
}

int
bu_leaf_campaign_holds(const struct bu_gate *gate, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	if (!want || !is_tested_between(gate, want->pool))
		return 0;
	if (node->live.leaf_campaign.state_seq != node->state_seq) {
		node->live.leaf_campaign.state_seq = node->state_seq;
		node->live.leaf_campaign.since_ms = now_ms;
		node->live.leaf_campaign.over = node->live.leaf_campaign.late = 0;
	}
	if (node->live.leaf_campaign.over)
		return 0;
	if (has_fabric(want->pool) &&
	    now_ms - node->live.leaf_campaign.since_ms < HOLD_MS)
		return 1;
	node->live.leaf_campaign.late = 1;
	return 0;
}

/* --- anew --- */

static int
is_of(const struct bu_gate *gate, const struct bu_node *node, const char *key)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	for (size_t i = 0; want && i < want->pool->rails_count; i++)
		if (bu_leaf_campaign_is_of(want->pool->rails[i], key))
			return 1;
	return 0;
}

/* An entry without nodes accuses a spine, and concerns all nodes of the fabric. */
static int
concerns(const struct bu_gate *gate, const char *key, const json_t *entry,
	 const struct bu_node *node)
{
	const json_t *named = json_object_get(entry, "nodes");

	return is_of(gate, node, key) &&
	       (!json_object_size(named) || json_object_get(named, node->name));
}

static void
begin_again(struct bu_gate *gate, const char *key, const json_t *entry)
{
	for (size_t i = 0; i < gate->fleet->count; i++) {
		struct bu_node *node = gate->fleet->nodes[i];

		if (!concerns(gate, key, entry, node))
			continue;
		node->live.leaf_campaign.after_seq = gate->fleet->life.row_seq;
		node->live.leaf_campaign.since_ms = bu_loop_now_ms(gate->fleet->loop);
		node->live.leaf_campaign.late = 1;
	}
}

void
bu_leaf_campaign_again(struct bu_gate *gate, struct bu_node *const *nodes, size_t count)
{
	const char *key;
	json_t *list, *entry;
	size_t i;

	json_object_foreach (gate->leaf_accused, key, list) {
		json_array_foreach (list, i, entry) {
			size_t k = 0;

			while (k < count && !concerns(gate, key, entry, nodes[k]))
				k++;
			if (k < count)
				begin_again(gate, key, entry);
		}
	}
}
