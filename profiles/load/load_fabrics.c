/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks that are rails of one switch fabric: what would keep their ports from
 * reaching each other. Called by load_networks.c. Invariant: what is tested across
 * rails can be reached by what the profile says itself.
 */
#include <stdlib.h>
#include <string.h>

#include "profiles/load/load_internal.h"

/* The log names two networks in the text of one. */
enum { NAME_LENGTH_MAX = 31 };

static int
same_fabric(const struct bu_desired_network *a, const struct bu_desired_network *b)
{
	return a->switch_fabric && b->switch_fabric &&
	       strcmp(a->switch_fabric, b->switch_fabric) == 0;
}

/* The partition, whichever kind of member; -1 = the first of each port. */
static long
partition_of(const struct bu_desired_network *network)
{
	return network->pkey ? strtol(network->pkey, NULL, 16) & 0x7fff : -1;
}

static void
check_two(struct bu_loader *ld, const struct bu_desired_network *a,
	  const struct bu_desired_network *b, const struct bu_ini_section *section)
{
	if (a->rdma != b->rdma)
		bu_load_wrong(ld, section, "switch_fabric",
			      "[network %s] is of it with another rdma; ports of both "
			      "kinds do not reach each other",
			      b->name);
	if (partition_of(a) != partition_of(b))
		bu_load_wrong(ld, section, "switch_fabric",
			      "[network %s] is of it with another pkey; ports of "
			      "different partitions do not reach each other, give both "
			      "networks the same",
			      b->name);
	if (!bu_load_same_switches(a, b))
		bu_load_wrong(ld, section, "switch_fabric",
			      "[network %s] is of it with other switch_counters, "
			      "other keys of it or other spines; give both networks "
			      "the same",
			      b->name);
}

void
bu_load_check_fabrics(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;

	for (size_t i = 0; i < desired->networks_count; i++) {
		const struct bu_desired_network *one = &desired->networks[i];
		const struct bu_ini_section *section = ld->network_sections[i];
		int others = 0;

		bu_load_check_switches(ld, one, section);
		if (!one->switch_fabric)
			continue;
		if (one->role != BU_ROLE_FABRIC)
			bu_load_wrong(ld, section, "switch_fabric",
				      "is for role = fabric; other networks are not "
				      "measured");
		if (strlen(one->name) > NAME_LENGTH_MAX)
			bu_load_wrong(ld, section, "switch_fabric",
				      "the network's name is too long for pairs across "
				      "rails; allowed are %d characters",
				      NAME_LENGTH_MAX);
		for (size_t j = 0; j < desired->networks_count; j++) {
			if (j == i || !same_fabric(one, &desired->networks[j]))
				continue;
			others++;
			if (j < i)
				check_two(ld, one, &desired->networks[j], section);
		}
		if (!others)
			bu_load_wrong(ld, section, "switch_fabric",
				      "no other network is of '%s'; give it to those "
				      "that this one reaches, or take it out",
				      one->switch_fabric);
	}
}
