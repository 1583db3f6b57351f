/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a node's machine is reached and known: BMC, credentials and certificate, serial
 * number, UUID and MACs, ways to switch and boot it. Asked before each power request,
 * by the boot scripts and by enroll.c. Invariants: an applied correction of a
 * BU_KEY_REACH key (profiles/language/schema_keys.c) counts at once, also for an order
 * that began with another revision; an order keeps its machine when the applied
 * revision means another one by the name; a grant for one machine is valid for no
 * other.
 */
#include <string.h>

#include "base/text.h"
#include "profiles/export/facets.h"
#include "provisioner/node/identity_index.h"
#include "provisioner/node/reconcile_impl.h"

typedef int (*same_fn)(const char *a, const char *b);

/* Does the number decide? -1 = no, else whether it is the bound machine's. A number
 * that applied and ordered revision share is the machine's. */
static int
decides(same_fn same, const char *applied, const char *ordered, const char *told)
{
	if (!applied || !bu_machine_says(applied))
		return -1;
	if (ordered && same(applied, ordered))
		return 1;
	return bu_machine_says(told) ? same(applied, told) : -1;
}

static int
is_mac_of(const struct bu_node *node, const char *applied, const char *ordered)
{
	struct bu_machine bound;

	if (!applied || (ordered && strcmp(applied, ordered) == 0))
		return 1;
	bu_node_machine(node, &bound);
	return bound.macs_count == 0 || bu_machine_has_mac(&bound, applied);
}

/* Does the applied revision still mean the machine of the order? A serial number
 * decides before a UUID, and a UUID before MACs. */
static int
is_same_machine(const struct bu_node *node, const struct bu_desired_node *applied,
		const struct bu_desired_node *ordered)
{
	int same = decides(bu_machine_same, applied->serial, ordered->serial,
			   node->serial);

	if (same < 0)
		same = decides(bu_machine_same_uuid, applied->uuid, ordered->uuid,
			       node->uuid);
	return same >= 0 ? same : is_mac_of(node, applied->mac, ordered->mac);
}

const struct bu_desired_node *
bu_fleet_reach(struct bu_fleet *fleet, const struct bu_node *node)
{
	const struct bu_desired_node *applied = bu_fleet_desired(fleet, node);
	const struct bu_desired_node *ordered = NULL;

	if (node->order->open && node->order->begun && (!applied || node->machine[0]))
		ordered = bu_fleet_ordered(fleet, node);
	return ordered && (!applied || !is_same_machine(node, applied, ordered))
		       ? ordered
		       : applied;
}

/* A correction leaves the serial number, the UUID or the MAC of a machine as it was. */
static int
shares_a_name(const struct bu_desired_node *a, const struct bu_desired_node *b)
{
	return decides(bu_machine_same, a->serial, b->serial, "") > 0 ||
	       decides(bu_machine_same_uuid, a->uuid, b->uuid, "") > 0 ||
	       (a->mac && b->mac && strcmp(a->mac, b->mac) == 0);
}

int
bu_reach_is_granted(struct bu_fleet *fleet, const struct bu_node *node)
{
	const struct bu_order *order = node->order;
	const struct bu_desired_node *reach = bu_fleet_reach(fleet, node);
	const struct bu_desired_node *ordered =
		order->open && order->begun ? bu_fleet_ordered(fleet, node) : NULL;

	return !reach || !ordered || reach == ordered || shares_a_name(reach, ordered);
}

/* The applied revision comes first, then those of begun orders, whose nodes may have
 * left it. MACs of inventories come last. */
struct bu_node *
bu_fleet_node_by_mac(struct bu_fleet *fleet, const char *mac)
{
	const struct bu_desired *desired;
	struct bu_node *node;

	for (size_t i = 0; (desired = bu_fleet_state(fleet, i)); i++) {
		const struct bu_desired_node *want =
			bu_desired_node_by_mac(desired, mac);

		node = want ? bu_fleet_node(fleet, want->name) : NULL;
		if (node && bu_fleet_reach(fleet, node) == want)
			return node;
	}
	node = bu_identity_index_by_mac(fleet, mac);
	return node && bu_fleet_reach(fleet, node) ? node : NULL;
}

void
bu_reach_digest(struct bu_fleet *fleet, const struct bu_node *node, char ret[65])
{
	const struct bu_desired_node *reach = bu_fleet_reach(fleet, node);
	struct bu_facets facets = {0};

	ret[0] = '\0';
	if (!reach || reach != bu_fleet_desired(fleet, node))
		return;
	bu_facets_reach(&facets, fleet->desired, reach);
	bu_facets_digest(&facets, ret);
	bu_facets_clear(&facets);
}

void
bu_reach_used(const struct bu_reconcile *rec, struct bu_node *node)
{
	bu_reach_digest(rec->fleet, node, bu_node_reach(node)->digest);
	BU_TEXT_COPY(bu_node_reach(node)->revision, rec->fleet->revision);
}
