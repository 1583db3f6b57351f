/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom bringup-power is asked about: the BMC that the profile gives a node, and the
 * machine that is expected behind it. Called by effects.c and verbs_power.c before each
 * request. Invariant: what two nodes of the site share tells neither from the other,
 * and is not asked for.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/reconcile_impl.h"

/* The bound machine, as it told of itself. */
static void
bound_machine(const struct bu_fleet *fleet, const struct bu_node *node,
	      struct bu_machine *ret)
{
	bu_node_machine(node, ret);
	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *other = fleet->nodes[i];

		if (other == node || !other->machine[0])
			continue;
		if (bu_machine_same(other->serial, node->serial))
			ret->serial[0] = '\0';
		if (bu_machine_same_uuid(other->uuid, node->uuid))
			ret->uuid[0] = '\0';
	}
}

int
bu_medium_is(const struct bu_desired_node *want)
{
	return want->hardware->boot == BU_BOOT_BY_MEDIA;
}

/* How its machine is reached is no part of what an order was granted for: where the BMC
 * that the order names has told of another machine, that of the applied profile is
 * asked, which may have been corrected since. Whose it is, is compared as before. */
static const struct bu_desired_node *
corrected(const struct bu_fleet *fleet, const struct bu_node *node,
	  const struct bu_desired_node *want)
{
	const struct bu_desired_node *applied = bu_fleet_desired(fleet, node);

	return node->bmc_of_another && node->machine[0] && applied &&
			       strcmp(applied->pool->bmc_identity, "check") == 0
		       ? applied
		       : want;
}

int
bu_bmc_is(const struct bu_desired_node *want)
{
	return want && !bu_manual_is(want) && strcmp(want->power, "libvirt") != 0;
}

void
bu_node_bmc(const struct bu_fleet *fleet, const struct bu_node *node,
	    const struct bu_desired_node *want, struct bu_node_bmc *ret)
{
	struct bu_machine *machine = &ret->machine;

	want = corrected(fleet, node, want);
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
