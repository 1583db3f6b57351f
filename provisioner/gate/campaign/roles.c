/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The role of each node of the profile in the campaigns of all rails, found once in a
 * look of the gate instead of once for each rail. Asked by campaign_state.c. gate.c
 * drops the roles at the end of the look. Invariant: no role is kept for the next look.
 */
#include <string.h>

#include "base/text.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/switches.h"
#include "provisioner/gate/task/soak.h"

static int
is_candidate(struct bu_gate *gate, struct bu_node *node)
{
	return node->state == BU_STATE_VALIDATING && !node->hold->owner &&
	       bu_gate_hears(gate, node) && bu_gate_is_checked(gate, node);
}

/* In or on its way into the cluster, heard, not held, and not failed by an outside
 * system. */
static int
is_in_service(struct bu_gate *gate, struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->fleet->loop));

	return bu_state_serves(node->state) && !node->hold->owner &&
	       bu_gate_hears(gate, node) && !bu_measurements_external(node, now_ms);
}

/* A node with a full certificate of this hardware needs one proven partner in this
 * boot. A node that was quarantined lately, or that a person has measured anew, needs
 * twice as many tests as usual. */
static enum bu_effort
effort_of(const struct bu_gate *gate, struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->fleet->loop));

	if (node->again ||
	    bu_measurements_incidents(gate->fleet, node->machine, now_ms) > 0)
		return BU_EFFORT_TWICE;
	return bu_fleet_is_full(gate->fleet, node) ? BU_EFFORT_BRIEF : BU_EFFORT_USUAL;
}

static void
fill(struct bu_gate *gate, const struct bu_desired_node *want, struct bu_role *ret)
{
	struct bu_node *node = bu_fleet_node(gate->fleet, want->name);

	*ret = (struct bu_role){.node = node, .want = want};
	if (!node || !want->validation)
		return;
	ret->ready = is_candidate(gate, node);
	if (ret->ready) {
		ret->certified = bu_fleet_certified(gate->fleet, node, NULL) == 0;
		ret->effort = ret->certified ? BU_EFFORT_USUAL : effort_of(gate, node);
		return;
	}
	ret->serves = is_in_service(gate, node);
	ret->proven = ret->serves ? bu_fleet_proven_rails(gate->fleet, node) : 0;
}

static int
is_anybody_validating(const struct bu_fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->nodes[i]->state == BU_STATE_VALIDATING)
			return 1;
	return 0;
}

/* Roles are needed once after a start, too, for the look between leaves. */
static int
needs_roles(const struct bu_gate *gate)
{
	return !gate->leaves_seen || is_anybody_validating(gate->fleet) ||
	       bu_leaf_campaign_goes_on(gate) || bu_switches_go_on(gate);
}

int
bu_gate_verify(struct bu_gate *gate)
{
	const struct bu_fleet *fleet = gate->fleet;
	int64_t start_ms, took_ms = 0;

	if (!fleet->desired || strcmp(gate->verified_of, fleet->desired->digest) == 0 ||
	    !needs_roles(gate))
		return 0;
	start_ms = bu_mono_ms(gate->stopwatch);
	while (gate->verified < fleet->count && took_ms <= BU_GATE_BUDGET_MS) {
		struct bu_node *node = fleet->nodes[gate->verified++];

		if (!node->full_cert[0])
			continue;
		bu_ignore(bu_fleet_certified(fleet, node, NULL));
		took_ms = bu_mono_ms(gate->stopwatch) - start_ms;
	}
	gate->once_ms += took_ms;
	if (gate->verified < fleet->count)
		return 1;
	BU_TEXT_COPY(gate->verified_of, fleet->desired->digest);
	gate->verified = 0;
	return 0;
}

int
bu_gate_roles(struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;
	int64_t start_ms;

	if (gate->roles)
		return 1;
	if (!needs_roles(gate))
		return 0;
	start_ms = bu_mono_ms(gate->stopwatch);
	gate->roles = bu_xcalloc(desired->nodes_count, sizeof(*gate->roles));
	for (size_t i = 0; i < desired->nodes_count; i++)
		fill(gate, &desired->nodes[i], &gate->roles[i]);
	/* Nearly all of this time goes to verifying new certificates. */
	gate->once_ms += bu_mono_ms(gate->stopwatch) - start_ms;
	return 1;
}

void
bu_gate_roles_drop(struct bu_gate *gate)
{
	free(gate->roles);
	gate->roles = NULL;
}

int
bu_role_place(const struct bu_role *role, const struct bu_desired_network *rail)
{
	const struct bu_desired_pool *pool = role->want->pool;

	for (size_t i = 0; i < pool->rails_count; i++)
		if (pool->rails[i] == rail)
			return (int)i;
	return -1;
}

int
bu_role_proves(const struct bu_role *role, const struct bu_desired_network *rail)
{
	int place = bu_role_place(role, rail);

	return place >= 0 && role->proven >> place & 1;
}
