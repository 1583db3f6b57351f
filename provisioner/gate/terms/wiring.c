/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch port of each node's NICs, without the boot network: as its last checks
 * heard by LLDP, else by the profile; its rack where that says no port. Called by the
 * API. Invariant: a node outside the applied profile is in no topology.
 */
#include <string.h>

#include "base/json.h"
#include "model/wiring.h"
#include "provisioner/gate/terms/terms.h"

static void
add_node(struct bu_gate *gate, const struct bu_node *node, struct bu_wiring *wiring)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	const json_t *heard = node->checks.is.ports;
	size_t before = wiring->wire_count;
	bu_autojson json_t *said = NULL;

	if (!want)
		return;
	if (node->checks.is.domain)
		bu_wiring_add_domain(wiring, node->name, node->checks.is.domain);
	said = bu_gate_settings(want->switch_ports ? want->switch_ports : "");
	for (size_t i = 0; i < want->pool->networks_count; i++) {
		const struct bu_desired_network *network = want->pool->networks[i];
		const char *at = bu_json_str(heard, network->name,
					     bu_json_str(said, network->name, NULL));

		if (at && *at && network->role != BU_ROLE_BOOT)
			bu_wiring_add_text(wiring, node->name, network->name,
					   network->rail, at);
	}
	if (wiring->wire_count == before && want->rack)
		bu_wiring_add_rack(wiring, node->name, want->rack);
}

json_t *
bu_gate_wiring(struct bu_gate *gate)
{
	struct bu_wiring wiring = {.wires = NULL};
	json_t *json;

	for (size_t i = 0; i < gate->fleet->count; i++)
		add_node(gate, gate->fleet->nodes[i], &wiring);
	bu_wiring_sort(&wiring);
	json = bu_wiring_to_json(&wiring);
	bu_wiring_fini(&wiring);
	return json;
}
