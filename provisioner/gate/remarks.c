/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people should hear of and nobody is held for. Asked by the API and by
 * evidence.c. Invariant: nothing here changes what happens to a node.
 */
#include <string.h>

#include "provisioner/gate/internal.h"

/* Each text once. */
static void
add(json_t *list, char *text)
{
	size_t i;
	json_t *said;

	json_array_foreach (list, i, said) {
		if (text && strcmp(json_string_value(said), text) == 0) {
			free(text);
			return;
		}
	}
	if (text)
		json_array_append_new(list, json_string(text));
	free(text);
}

static void
add_rates(const struct bu_gate *gate, const struct bu_desired_pool *pool, json_t *list)
{
	for (size_t i = 0; i < pool->rails_count; i++)
		add(list, bu_gate_bw_warning(gate, pool->validation, pool->rails[i]));
}

json_t *
bu_gate_warnings(const struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;
	json_t *list = json_array();

	for (size_t i = 0; desired && i < desired->pools_count; i++)
		add_rates(gate, &desired->pools[i], list);
	return list;
}

json_t *
bu_gate_remarks(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	json_t *list = json_array();

	if (!want || !want->validation)
		return list;
	add_rates(gate, want->pool, list);
	for (size_t i = 0; i < want->pool->rails_count; i++)
		add(list, bu_gate_rtt_placement(gate, node, want->pool->rails[i]));
	return list;
}
