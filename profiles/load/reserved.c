/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bringupd reserves against what a profile hands out; called by bringupd before it
 * plans, which alone knows its own addresses. Invariant: what gets an address in the
 * profile's networks is looked at, nodes and BMCs.
 */
#include "profiles/load/reserved.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/url.h"
#include "profiles/load/load_internal.h"

int
bu_reserved_parse(const char *text, const char *what, struct bu_reserved *ret)
{
	size_t size = strcspn(text, ",");
	bu_autofree char *first = bu_xstrndup(text, size);
	const char *last = text[size] ? text + size + 1 : first;

	ret->what = what;
	return bu_load_ipv4(first, &ret->first) || bu_load_ipv4(last, &ret->last) ? -1
										  : 0;
}

static int
is_in(const struct bu_reserved *reserved, uint32_t address)
{
	return address >= reserved->first && address <= reserved->last;
}

static void
check_network(const struct bu_desired *desired,
	      const struct bu_desired_network *network,
	      const struct bu_reserved *reserved, struct bu_findings *findings)
{
	const struct bu_desired_node *found = NULL;
	const struct bu_origin *at = &network->origin;
	char text[INET_ADDRSTRLEN], more[40] = "";
	size_t count, others = 0;
	const struct bu_key *keys = bu_schema_keys(&count);
	const struct bu_origin *key =
		&network->origins[bu_schema_key("network", "addresses") - keys];

	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		uint32_t address = node->addresses[network->index];

		if (!address || !is_in(reserved, address))
			continue;
		others += found != NULL;
		found = found ? found : node;
	}
	if (!found)
		return;
	bu_desired_node_address(found, network, text);
	if (others)
		snprintf(more, sizeof(more), " (and %zu more)", others);
	at = key->line ? key : at;
	bu_findings_add(findings, BU_FINDING_ERROR, at->file, at->line,
			"[network %s] addresses: %s of node '%s'%s is %s; take it out",
			network->name, text, found->name, more, reserved->what);
}

static void
check_bmcs(const struct bu_desired *desired, const struct bu_reserved *reserved,
	   struct bu_findings *findings)
{
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		const struct bu_origin *at = bu_desired_origin(node, "bmc");
		uint32_t address;

		if (!at || !node->bmc || bu_url_ipv4(node->bmc, &address) < 0 ||
		    !is_in(reserved, address))
			continue;
		bu_findings_add(findings, BU_FINDING_ERROR, at->file, at->line,
				"[node %s] bmc: '%.80s' is %s; give the controller's",
				node->name, node->bmc, reserved->what);
	}
}

void
bu_reserved_check(const struct bu_desired *desired, const struct bu_reserved *list,
		  size_t count, struct bu_findings *findings)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < desired->networks_count; k++)
			check_network(desired, &desired->networks[k], &list[i],
				      findings);
		check_bmcs(desired, &list[i], findings);
	}
}
