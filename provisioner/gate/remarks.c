/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people should hear of and nobody is held for. Asked by the API and by
 * evidence.c. Invariant: nothing here changes what happens to a node.
 */
#include "provisioner/gate/internal.h"

static void
add(json_t *list, char *text)
{
	if (text)
		json_array_append_new(list, json_string(text));
	free(text);
}

json_t *
bu_gate_warnings(const struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;
	json_t *list = json_array();

	for (size_t i = 0; desired && i < desired->validations_count; i++)
		add(list, bu_gate_bw_warning(gate, &desired->validations[i]));
	return list;
}

json_t *
bu_gate_remarks(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	json_t *list = json_array();

	if (!want || !want->validation)
		return list;
	add(list, bu_gate_bw_warning(gate, want->validation));
	add(list, bu_gate_rtt_placement(gate, node));
	return list;
}
