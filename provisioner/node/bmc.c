/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BMC that a request to bringup-power is for, from the applied profile (reach.c),
 * and the machine that should be behind it. Called before each request. Invariant: a
 * number that two nodes of the site share identifies neither and is left out.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/identity_index.h"
#include "provisioner/node/reconcile_impl.h"

/* Several machines tell the number of their chassis. */
static void
drop_shared(const struct bu_fleet *fleet, const struct bu_node *node,
	    struct bu_machine *machine)
{
	struct bu_machine own = *machine;

	if (bu_identity_index_tells_another(fleet, node, own.serial))
		machine->serial[0] = '\0';
	machine->numbers_count = 0;
	for (size_t i = 0; i < own.numbers_count; i++)
		if (!bu_identity_index_tells_another(fleet, node, own.numbers[i].text))
			bu_machine_add_number(machine, own.numbers[i].of,
					      own.numbers[i].text);
}

/* The bound machine by its inventory, without a UUID that another node has too. */
static void
bound_machine(const struct bu_fleet *fleet, const struct bu_node *node,
	      struct bu_machine *ret)
{
	bu_node_machine(node, ret);
	if (bu_identity_index_has_uuid(fleet, node, node->uuid))
		ret->uuid[0] = '\0';
}

int
bu_medium_is(const struct bu_desired_node *want)
{
	return want->hardware->boot == BU_BOOT_BY_MEDIA;
}

int
bu_bmc_is(const struct bu_desired_node *want)
{
	return want && !bu_manual_is(want) && strcmp(want->power, "libvirt") != 0;
}

void
bu_node_bmc(struct bu_fleet *fleet, const struct bu_node *node, struct bu_node_bmc *ret)
{
	const struct bu_desired_node *want = bu_fleet_reach(fleet, node);
	struct bu_machine *machine = &ret->machine;

	memset(ret, 0, sizeof(*ret));
	if (node->machine[0]) {
		bound_machine(fleet, node, machine);
	} else {
		bu_text_copy(machine->serial, sizeof(machine->serial),
			     want->serial ? want->serial : "");
		bu_text_copy(machine->uuid, sizeof(machine->uuid),
			     want->uuid ? want->uuid : "");
		bu_machine_add_mac(machine, want->mac);
	}
	drop_shared(fleet, node, machine);
	ret->bmc = (struct bu_power_bmc){
		.driver = want->power,
		.bmc = want->bmc ? want->bmc : "",
		.machine = strcmp(want->pool->bmc_identity, "ignore") == 0 ? NULL
									   : machine,
		.fingerprint = want->bmc_fingerprint,
		.credentials = want->pool->bmc_credentials,
		.before = want->pool->bmc_credentials_before,
		.factory = want->bmc_factory,
		.mode = bu_boot_mode_from_name(node->live.firmware),
	};
}

void
bu_node_bmc_says(struct bu_node *node, const struct bu_power_seen *seen)
{
	if (!seen->differs)
		return;
	node->live.bmc_said = 1;
	bu_node_set_bmc_differs(node, seen->differs);
}
