/* SPDX-License-Identifier: Apache-2.0 */
/* What of a fault can be seen at all, and whether what was named is what was put in. */
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

/* Sprayed flows fill a slow link only when two leaves have the ports for it. */
static int
can_fill(const struct sim *sim, const struct sim_fault *fault)
{
	bu_autofree int *ports = bu_xcalloc((size_t)sim->plan.leaves + 1, sizeof(int));
	int first = 0, second = 0, mine;
	int step = sim->plan.leaves / sim_leaves_of_rail(sim);

	for (int port = 0; port < bu_topology_ports(&sim->plan); port++)
		ports[sim->plan.leaf_of[port]]++;
	for (int leaf = fault->leaf % step; leaf < sim->plan.leaves; leaf += step) {
		int count = ports[leaf];

		second = count > first ? first : count > second ? count : second;
		first = count > first ? count : first;
	}
	mine = fault->kind == SIM_SPINE_RATE ? second : ports[fault->leaf];
	mine = mine < second ? mine : second;
	return 0.95 * mine > fault->factor * sim->plan.spines;
}

/* From so many leaves of a rail on a spine is told from its links. */
enum { SPINE_LEAVES = 3 };

int
sim_observable(const struct sim *sim, const struct sim_fault *fault)
{
	switch (fault->kind) {
	case SIM_LINK_RATE:
	case SIM_LINK_LOSS:
		if (sim_leaves_of_rail(sim) < 2)
			return 0;
		return !sim->plan.sprayed ||
		       (sim->plan.has_switch &&
			(fault->kind == SIM_LINK_LOSS || can_fill(sim, fault)));
	case SIM_SPINE_RATE:
		if (sim_leaves_of_rail(sim) < SPINE_LEAVES)
			return 0;
		return !sim->plan.sprayed ||
		       (sim->plan.has_switch && can_fill(sim, fault));
	case SIM_SWAP:
		return sim->plan.has_lldp || !sim->plan.sprayed;
	default:
		return 1;
	}
}

static int
names_one(const struct sim *sim, const struct sim_fault *fault,
	  const struct bu_accusation *accusation)
{
	int dirs = (accusation->dir & fault->dir) != 0;

	switch (fault->kind) {
	case SIM_PORT_RATE:
	case SIM_PORT_LOSS:
	case SIM_PORT_LATENCY:
	case SIM_PORT_ZERO:
		return accusation->what == BU_WHAT_ENDPOINT &&
		       accusation->port == fault->port && dirs;
	case SIM_PORT_MTU:
		return accusation->what == BU_WHAT_ENDPOINT &&
		       accusation->port == fault->port;
	case SIM_SWAP:
		return accusation->what == BU_WHAT_ENDPOINT &&
		       (accusation->port == fault->port ||
			accusation->port == fault->port2);
	case SIM_CLOCK:
	case SIM_LOOPBACK:
	case SIM_LOOPBACK_HALF:
		return accusation->what == BU_WHAT_INCONCLUSIVE &&
		       accusation->node == fault->node;
	case SIM_LINK_RATE:
	case SIM_LINK_LOSS:
		return accusation->what == BU_WHAT_LINK &&
		       accusation->leaf == fault->leaf &&
		       accusation->spine == fault->spine && dirs;
	case SIM_LEAF_RATE:
		return accusation->what == BU_WHAT_LEAF &&
		       accusation->leaf == fault->leaf;
	default:
		return (accusation->what == BU_WHAT_SPINE ||
			(accusation->what == BU_WHAT_LINK &&
			 sim_leaves_of_rail(sim) < SPINE_LEAVES)) &&
		       accusation->spine == fault->spine;
	}
}

int
sim_names(const struct sim *sim, const struct sim_fault *fault,
	  const struct bu_accusation *accusation)
{
	for (int k = 0; k < accusation->of_count; k++) {
		if (names_one(sim, fault, &accusation->of[k]))
			return 1;
	}
	return names_one(sim, fault, accusation);
}

int
sim_judge(const struct sim *sim, const struct bu_accusation *accusation)
{
	for (int i = 0; i < sim->fault_count; i++) {
		if (sim_names(sim, &sim->faults[i], accusation))
			return i;
	}
	return -1;
}
