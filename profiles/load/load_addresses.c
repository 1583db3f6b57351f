/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One address for two: nodes, management controllers, gateways, servers, the appliance.
 * Called by load_networks.c. Invariant: whatever a profile says of an address, no node
 * gets one that is in use elsewhere.
 */
#include <arpa/inet.h>
#include <string.h>

#include "base/url.h"
#include "profiles/load/load_internal.h"

int
bu_load_ipv4(const char *text, uint32_t *ret)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1)
		return -1;
	*ret = ntohl(in.s_addr);
	return 0;
}

int
bu_load_in_cidr(const struct bu_cidr *cidr, uint32_t address)
{
	return cidr->prefix_len &&
	       (address & (UINT32_MAX << (32 - cidr->prefix_len))) == cidr->net;
}

struct taken {
	uint32_t address;
	const char *who; /* a node or a network, borrowed */
	const struct bu_desired_network *network;
};

static int
compare_taken(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* All addresses of nodes, sorted, owned. */
static struct taken *
list_taken(const struct bu_desired *desired, size_t *ret_count)
{
	struct taken *list = bu_xcalloc(desired->nodes_count * desired->networks_count,
					sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < desired->nodes_count; i++)
		for (size_t j = 0; j < desired->networks_count; j++)
			if (desired->nodes[i].addresses[j])
				list[count++] = (struct taken){
					desired->nodes[i].addresses[j],
					desired->nodes[i].name, &desired->networks[j]};
	qsort(list, count, sizeof(*list), compare_taken);
	*ret_count = count;
	return list;
}

static void
check_bmc(struct bu_loader *ld, const struct bu_desired_node *node,
	  const struct taken *list, size_t count)
{
	const struct bu_origin *at = bu_desired_origin(node, "bmc");
	const struct bu_desired_network *network = node->pool->bmc_network;
	struct taken key, *found;

	if (!at || !node->bmc || bu_url_ipv4(node->bmc, &key.address) < 0)
		return;
	found = count ? bsearch(&key, list, count, sizeof(*list), compare_taken) : NULL;
	if (found)
		bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file, at->line,
				"[node %s] bmc: '%.80s' is the address of node '%s' in "
				"[network %s]; each has its own",
				node->name, node->bmc, found->who,
				found->network->name);
	else if (network && network->cidr.prefix_len &&
		 !bu_load_in_cidr(&network->cidr, key.address))
		bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file, at->line,
				"[node %s] bmc: '%.80s' is not in [network %s], the "
				"pool's bmc_network",
				node->name, node->bmc, network->name);
}

static const struct taken *
find(const struct taken *list, size_t count, uint32_t address)
{
	struct taken key = {.address = address};

	return count ? bsearch(&key, list, count, sizeof(*list), compare_taken) : NULL;
}

/* Servers that nodes ask, and the appliance: no node may have their addresses. */
static void
check_servers(struct bu_loader *ld, const char *key, const char *servers,
	      const struct taken *list, size_t count)
{
	const struct bu_ini_section *section = bu_load_site(&ld->ini);
	uint32_t address;
	char *word;

	while (servers && (word = bu_value_next_word(&servers))) {
		bu_autofree char *server = word;
		const struct taken *found = bu_load_ipv4(server, &address) == 0
						    ? find(list, count, address)
						    : NULL;

		if (found)
			bu_load_wrong(ld, section, key,
				      "%s is the address of node '%s' in [network %s]; "
				      "take it out of addresses",
				      server, found->who, found->network->name);
	}
}

/* A gateway of the network, by this key. */
static void
check_gateway(struct bu_loader *ld, size_t network, const char *key,
	      const struct taken *list, size_t count)
{
	const struct bu_ini_section *section = ld->network_sections[network];
	const struct bu_ini_entry *entry = bu_ini_entry(section, key);
	const struct taken *found = NULL;
	uint32_t address;

	if (entry && bu_load_ipv4(entry->value, &address) == 0)
		found = find(list, count, address);
	if (found)
		bu_load_wrong(
			ld, section, key,
			"%s is the address of node '%s'; take it out of addresses",
			entry->value, found->who);
}

void
bu_load_check_addresses(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;
	const struct bu_desired_site *site = &desired->site;
	size_t count;
	struct taken *list = list_taken(desired, &count);

	for (size_t i = 0; i < desired->networks_count; i++) {
		check_gateway(ld, i, "gateway", list, count);
		check_gateway(ld, i, "rail_gateway", list, count);
	}
	check_servers(ld, "appliance", site->appliance, list, count);
	check_servers(ld, "dns", site->dns, list, count);
	check_servers(ld, "ntp", site->ntp, list, count);
	for (size_t i = 0; i < desired->nodes_count; i++)
		check_bmc(ld, &desired->nodes[i], list, count);
	free(list);
}
