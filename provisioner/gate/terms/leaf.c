/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a node hangs: its leaf, the slowest rail of its pool, and the topologies of the
 * last looks. Called by all of the gate. Invariant: topologies are of the applied
 * profile.
 */

#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "fabric/judge/cohort.h"
#include "provisioner/gate/terms/terms.h"

enum { LEAF_PLACES = 128 };

/* The leaf: the switch that LLDP heard, else that of the profile (switch_ports), else
 * the rack, else LEAF_PLACES places of the rail together. */
int
bu_gate_leaf(const struct bu_node *node, const struct bu_desired_network *rail,
	     const struct bu_desired_node *want, int place, char ret[BU_GATE_LEAF_SIZE])
{
	const json_t *heard = node ? node->checks.is.ports : NULL;
	const char *port = bu_json_str(heard, rail->name, "");
	bu_autojson json_t *said = NULL;
	int length;

	if (!*port && want->switch_ports) {
		said = bu_gate_settings(want->switch_ports);
		port = bu_json_str(said, rail->name, "");
	}
	length = (int)bu_cohort_switch_length(port);
	if (length)
		snprintf(ret, BU_GATE_LEAF_SIZE, "%.*s", length, port);
	else if (want->rack && want->rack[0])
		snprintf(ret, BU_GATE_LEAF_SIZE, "%s", want->rack);
	else
		snprintf(ret, BU_GATE_LEAF_SIZE, "places %d to %d",
			 place / LEAF_PLACES * LEAF_PLACES + 1,
			 (place / LEAF_PLACES + 1) * LEAF_PLACES);
	return length > 0;
}

const struct bu_desired_network *
bu_gate_slowest(const struct bu_desired_pool *pool)
{
	const struct bu_desired_network *slowest = pool->rails[0];

	for (size_t i = 1; i < pool->rails_count; i++)
		if (pool->rails[i]->link_gbps < slowest->link_gbps)
			slowest = pool->rails[i];
	return slowest;
}

void
bu_gate_shapes_drop(struct bu_gate *gate)
{
	for (size_t i = 0; i < gate->shapes_count; i++)
		bu_topology_fini(&gate->shapes[i]);
	free(gate->shapes);
	gate->shapes = NULL;
	gate->shapes_count = 0;
	gate->shapes_of[0] = '\0';
}

const struct bu_topology *
bu_gate_shape(const struct bu_gate *gate, const struct bu_desired_network *rail)
{
	const struct bu_topology *shape;

	if (strcmp(gate->shapes_of, gate->fleet->desired->digest) != 0)
		return NULL;
	shape = &gate->shapes[rail->index];
	return shape->nodes ? shape : NULL;
}

void
bu_gate_keep_shape(struct bu_gate *gate, const struct bu_desired_network *rail,
		   struct bu_topology *topology)
{
	const struct bu_desired *desired = gate->fleet->desired;

	/* Another profile has other places of networks. */
	if (strcmp(gate->shapes_of, desired->digest) != 0) {
		bu_gate_shapes_drop(gate);
		gate->shapes_count = desired->networks_count;
		gate->shapes = bu_xcalloc(gate->shapes_count, sizeof(*gate->shapes));
		BU_TEXT_COPY(gate->shapes_of, desired->digest);
	}
	bu_topology_fini(&gate->shapes[rail->index]);
	gate->shapes[rail->index] = *topology;
	*topology = (struct bu_topology){0};
}
