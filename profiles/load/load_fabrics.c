/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Networks that are rails of one switch fabric: what would keep their ports from
 * reaching each other. Called by load_networks.c. Invariant: what is tested across
 * rails can be reached by what the profile says itself.
 */
#include <arpa/inet.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/topology.h"
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
	if (!bu_text_same(a->spine_addresses, b->spine_addresses))
		bu_load_wrong(ld, section, "switch_fabric",
			      "[network %s] is of it with other spine_addresses; give "
			      "both networks the same, with the addresses of all rails",
			      b->name);
}

/* In the one spelling that inet_ntop() has for it. */
static int
read_address(const char *text, char ret[INET6_ADDRSTRLEN])
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(family, text, bytes) == 1 &&
	       inet_ntop(family, bytes, ret, INET6_ADDRSTRLEN);
}

/* An address is of one spine alone. */
static void
check_address(struct bu_loader *ld, const struct bu_ini_section *section,
	      const char *spine, const char *address, json_t *of)
{
	char same[INET6_ADDRSTRLEN] = "";
	int valid = read_address(address, same);
	const json_t *other = json_object_get(of, same);

	if (!valid)
		bu_load_wrong(ld, section, "spine_addresses",
			      "'%s' is not an address; name the addresses of %s with "
			      "blanks between them, like %s=10.9.1.1 10.9.2.1",
			      address, spine, spine);
	else if (other)
		bu_load_wrong(ld, section, "spine_addresses",
			      "%s is named for %s and for %s; an address is of one "
			      "spine, and is named once",
			      same, json_string_value(other), spine);
	else
		json_object_set_new(of, same, json_string(spine));
}

static void
check_spine_addresses(struct bu_loader *ld, const struct bu_desired_network *one,
		      const struct bu_ini_section *section)
{
	const char *rest = one->spine_addresses;
	bu_autofree char *spine = NULL;
	json_t *of = json_object(), *spines = json_object();

	while (rest) {
		bu_autofree char *word = bu_value_next_word(&rest);
		char *value = word ? strchr(word, '=') : NULL;

		if (!word)
			break;
		if (value) {
			free(spine);
			spine = bu_xstrndup(word, (size_t)(value - word));
			json_object_set_new(spines, spine, json_true());
		}
		check_address(ld, section, spine ? spine : "", value ? value + 1 : word,
			      of);
	}
	if (json_object_size(spines) > BU_TOPOLOGY_SPINES_MAX)
		bu_load_wrong(ld, section, "spine_addresses",
			      "names %zu spines; allowed are %d",
			      json_object_size(spines), BU_TOPOLOGY_SPINES_MAX);
	json_decref(of);
	json_decref(spines);
}

/* Traces are of flows that each take one spine. */
static void
check_traced(struct bu_loader *ld, const struct bu_desired_network *one,
	     const struct bu_ini_section *section)
{
	if (!one->spine_addresses)
		return;
	if (one->role != BU_ROLE_FABRIC || one->rdma == BU_RDMA_NONE ||
	    one->rdma == BU_RDMA_INFINIBAND)
		bu_load_wrong(ld, section, "spine_addresses",
			      "is for role = fabric with RoCE; flows of other networks "
			      "are not traced");
	else if (!bu_text_same(one->routing, "static"))
		bu_load_wrong(ld, section, "spine_addresses",
			      "is for routing = static; sprayed flows take all spines, "
			      "and no trace tells which");
	check_spine_addresses(ld, one, section);
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
		check_traced(ld, one, section);
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
