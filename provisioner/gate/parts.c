/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Basics of the gate: its data, its wake-ups, which nodes are heard, a node's leaf, the
 * slowest rail. Called by all files of the gate. Invariant: data that does not fit
 * together changes nothing.
 */
#include "provisioner/gate/gate.h"

#include <stdio.h>

#include "base/json.h"
#include "base/text.h"
#include "fabric/judge/cohort.h"
#include "fabric/judge/gpus.h"
#include "model/kernel_event.h"
#include "provisioner/gate/internal.h"
#include "provisioner/node/over.h"

enum { HEARD_MS = 90000, LEAF_PLACES = 128 };

int
bu_gate_hears(const struct bu_gate *gate, const struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->fleet->loop));

	return !bu_over_is(node) && node->live.last_seen_ms &&
	       now_ms - node->live.last_seen_ms < HEARD_MS;
}

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

int
bu_gate_load_data(struct bu_gate *gate, const char *rates_path, const char *gpus_path,
		  struct bu_err *err)
{
	bu_autojson json_t *gpus = bu_json_load(gpus_path, err);
	struct bu_rates rates;

	if (!gpus || bu_rates_load(rates_path, &rates, err) != 0)
		return -1;
	if (bu_gpus_check(gpus, &rates, err) != 0) {
		bu_rates_fini(&rates);
		return bu_err_wrap(err, "%s", gpus_path);
	}
	bu_rates_fini(&gate->rates);
	json_decref(gate->gpus);
	gate->rates = rates;
	gate->gpus = json_incref(gpus);
	return 0;
}

int
bu_gate_load_events(struct bu_gate *gate, const char *path, struct bu_err *err)
{
	bu_autojson json_t *events = bu_json_load(path, err);

	if (!events)
		return -1;
	if (bu_kernel_events_check(events, err) != 0)
		return bu_err_wrap(err, "%s", path);
	json_decref(gate->events);
	gate->events = bu_kernel_events_wire(events);
	return 0;
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

void
bu_gate_wake_at(struct bu_gate *gate, int64_t due_ms)
{
	if (gate->due_ms && gate->due_ms <= due_ms)
		return;
	gate->due_ms = due_ms;
	bu_timer_set(gate->look, due_ms - bu_loop_now_ms(gate->fleet->loop));
}

/* A look has seen its own changes. */
void
bu_gate_kick(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	if (!gate->looking)
		bu_gate_wake_at(gate,
				gate->rested_ms > now_ms ? gate->rested_ms : now_ms);
}
