/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interfaces of an audit: which has a name or a network, and what lies over and
 * below it: bonds, VLANs, bridges, and the NICs with the cables of their networks.
 * Called by audit_facts.c and by the rows. Invariant: a NIC with a network of its own
 * keeps that, whatever is over it.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

enum { LAYERS_MAX = 4 }; /* a VLAN on a bond has two */

const char *
bu_audit_network_name(const json_t *network)
{
	return bu_json_str(network, "name", "?");
}

void
bu_audit_label(char *ret, size_t size, const char *name, const json_t *network)
{
	if (network)
		snprintf(ret, size, "%s (network %.48s)", name,
			 bu_audit_network_name(network));
	else
		snprintf(ret, size, "%s", name);
}

struct bu_audit_nic *
bu_audit_nic_find(struct bu_audit *a, const char *name)
{
	for (size_t i = 0; i < a->nic_count; i++)
		if (strcmp(a->nics[i].name, name) == 0)
			return &a->nics[i];
	return NULL;
}

const struct bu_audit_nic *
bu_audit_nic_of(const struct bu_audit *a, const json_t *network)
{
	for (size_t i = 0; i < a->nic_count; i++)
		if (a->nics[i].network == network)
			return &a->nics[i];
	return NULL;
}

void
bu_audit_find_bonds(struct bu_audit *a)
{
	for (size_t i = 0; i < a->nic_count; i++) {
		char master[16];
		struct bu_audit_nic *bond;

		bu_sysroot_link(a->root, master, sizeof(master),
				"sys/class/net/%s/master", a->nics[i].name);
		bond = bu_audit_nic_find(a, master);
		if (!bond ||
		    !bu_sysroot_exists(a->root, "sys/class/net/%s/bonding", master))
			continue;
		bond->is_bond = 1;
		a->nics[i].bond = bond;
	}
}

struct below {
	const char *root;
	void (*fn)(const char *name, void *arg);
	void *arg;
	int depth, found;
};

static void each_below(struct below *of, const char *name);

static void
visit_below(const char *name, void *arg)
{
	struct below *of = arg, next = *of;

	if (strncmp(name, "lower_", 6) != 0)
		return;
	of->found = 1;
	next.depth++;
	next.found = 0;
	each_below(&next, name + 6);
}

static void
each_below(struct below *of, const char *name)
{
	if (of->depth < LAYERS_MAX)
		bu_sysroot_each(of->root, visit_below, of, "sys/class/net/%s", name);
	if (!of->found)
		of->fn(name, of->arg);
}

void
bu_audit_each_below(const char *root, const char *name,
		    void (*fn)(const char *name, void *arg), void *arg)
{
	struct below of = {.root = root, .fn = fn, .arg = arg};

	each_below(&of, name);
}

struct cables {
	struct bu_audit *a;
	const json_t *network;
};

static void
give_cable(const char *name, void *arg)
{
	const struct cables *cables = arg;
	struct bu_audit_nic *nic = bu_audit_nic_find(cables->a, name);

	if (!nic || nic->cable)
		return;
	nic->cable = cables->network;
	bu_audit_label(nic->label, sizeof(nic->label), name, nic->cable);
}

void
bu_audit_find_cables(struct bu_audit *a)
{
	/* Those that have a network of their own first: a VLAN may be over them. */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < a->nic_count; i++) {
			const struct bu_audit_nic *nic = &a->nics[i];
			struct cables cables = {.a = a, .network = nic->network};
			int is_card = bu_sysroot_exists(
				a->root, "sys/class/net/%s/device", nic->name);

			if (nic->network && is_card == !pass)
				bu_audit_each_below(a->root, nic->name, give_cable,
						    &cables);
		}
}
