/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known about the nodes of one fabric network at this moment: who is a
 * candidate, who is certified, what was measured in their present boots. Read by the
 * campaign and by the verdicts; changes nothing.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/gate_impl.h"

enum { HEARD_MS = 90000 };

int
bu_gate_busy(const struct bu_gate *gate, const char *name)
{
	for (const struct bu_probe *probe = gate->probes; probe; probe = probe->next)
		if (strcmp(probe->name[0], name) == 0 ||
		    strcmp(probe->name[1], name) == 0)
			return 1;
	return 0;
}

int
bu_gate_index(const struct bu_field *field, const char *name)
{
	for (int i = 0; i < field->count; i++)
		if (strcmp(field->nodes[i]->name, name) == 0)
			return i;
	return -1;
}

static int
partners_of(const struct bu_field *field, int node)
{
	int count = 0;

	for (int i = 0; i < field->count; i++)
		count += field->probed[node][i];
	return count;
}

int
bu_gate_open_pair(const struct bu_field *field, int a, int b)
{
	if (a == b || field->probed[a][b] || field->errors[a][b] >= BU_GATE_ERRORS)
		return 0;
	if (field->certified[a] && field->certified[b])
		return 0;
	if (!field->certified[a] && partners_of(field, a) < BU_GATE_PARTNERS)
		return 1;
	return !field->certified[b] && partners_of(field, b) < BU_GATE_PARTNERS;
}

static int
heard(const struct bu_gate *gate, const struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->world->loop));

	return node->last_seen_ms && now_ms - node->last_seen_ms < HEARD_MS;
}

/* Candidates are validating; partners are certified and in or on their way into the
 * cluster. */
static void
collect(struct bu_gate *gate, struct bu_field *field, int certified)
{
	for (size_t i = 0; i < gate->world->count; i++) {
		struct bu_node *node = gate->world->nodes[i];
		const struct bu_desired_node *want =
			bu_world_desired(gate->world, node);
		int fits = certified ? node->state == BU_STATE_READY ||
					       node->state == BU_STATE_JOINING
				     : node->state == BU_STATE_VALIDATING;

		if (!fits || !want || !want->validation || node->held_by[0] ||
		    want->validation->fabric != field->fabric || !heard(gate, node) ||
		    field->count == BU_GATE_NODES_MAX ||
		    (certified && bu_world_certified(gate->world, node, NULL) != 0))
			continue;
		if (!certified && !field->validation)
			field->validation = want->validation;
		field->certified[field->count] = certified;
		field->nodes[field->count++] = node;
	}
}

/* Results that were measured in the present boots of both nodes. */
static void
recall(struct bu_gate *gate, struct bu_field *field)
{
	size_t i, count = json_array_size(gate->world->pairs);
	json_t *pair;

	field->results = bu_xcalloc(count, sizeof(*field->results));
	json_array_foreach (gate->world->pairs, i, pair) {
		int a = bu_gate_index(field, bu_json_str(pair, "a", ""));
		int b = bu_gate_index(field, bu_json_str(pair, "b", ""));
		struct bu_pair_result *result = &field->results[field->result_count];

		if (a < 0 || b < 0 ||
		    strcmp(bu_json_str(pair, "boot_a", ""), field->nodes[a]->boot_id) ||
		    strcmp(bu_json_str(pair, "boot_b", ""), field->nodes[b]->boot_id))
			continue;
		if (bu_pair_result_from_json(json_object_get(pair, "result"), result,
					     NULL) == 0 &&
		    strcmp(bu_json_str(pair, "verdict", ""), "inconclusive") != 0) {
			field->result_count++;
			field->probed[a][b] = field->probed[b][a] = 1;
		} else {
			int errors = (int)bu_json_int(pair, "errors", 1);

			field->errors[a][b] = field->errors[b][a] = errors;
			field->broken[a] = field->broken[b] = pair;
		}
	}
}

struct bu_expect
bu_gate_expect(const struct bu_desired_validation *validation)
{
	return (struct bu_expect){
		.link_gbps = validation->fabric->link_gbps,
		.percent = validation->bw_min_percent,
		.lat_max_us = validation->lat_max_us,
	};
}

void
bu_gate_field(struct bu_gate *gate, const struct bu_desired_network *fabric,
	      struct bu_field *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->fabric = fabric;
	collect(gate, ret, 0);
	if (!ret->count)
		return;
	ret->expect = bu_gate_expect(ret->validation);
	collect(gate, ret, 1);
	recall(gate, ret);
}
