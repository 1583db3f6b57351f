/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no key alone can tell: combinations that would fail on the machines, later and
 * worse. Called by load.c when everything else has been read; fields may be missing
 * then, which is a finding already. Invariant: two nodes never share a MAC, a serial
 * number or a BMC: a shared BMC would switch off the wrong machine.
 */
#include <string.h>

#include "profiles/load_internal.h"

static void
check_site(struct bu_loader *ld)
{
	const char *file = ld->desired->files_count ? "site.ini" : "";

	if (ld->desired->pools_count == 0)
		bu_findings_add(ld->findings, BU_FINDING_ERROR, file, 0,
				"the tree holds no [pool NAME]; nodes come from pools");
	for (size_t i = 0; i < ld->desired->networks_count; i++) {
		const struct bu_desired_network *a = &ld->desired->networks[i];

		for (size_t j = 0; j < i; j++) {
			const struct bu_desired_network *b = &ld->desired->networks[j];
			int bits = a->cidr.prefix_len < b->cidr.prefix_len
					   ? a->cidr.prefix_len
					   : b->cidr.prefix_len;

			if (bits == 0 || (a->cidr.net ^ b->cidr.net) >> (32 - bits))
				continue;
			bu_load_wrong(
				ld, ld->network_sections[i], "cidr",
				"overlaps with [network %s]; each network has its "
				"own addresses",
				b->name);
		}
	}
}

static void
check_validation(struct bu_loader *ld, const struct bu_desired_validation *validation,
		 const struct bu_ini_section *section)
{
	const struct bu_desired_network *fabric = validation->fabric;

	if (validation->message_bytes > validation->run_bytes)
		bu_load_wrong(
			ld, section, "message_size",
			"is larger than run_size; a run holds one message at least");
	if (!fabric)
		return;
	if (fabric->role != BU_ROLE_FABRIC)
		bu_load_wrong(
			ld, section, "fabric",
			"[network %s] has another role; allowed is a network with "
			"role = fabric",
			fabric->name);
	if (fabric->rdma == BU_RDMA_NONE)
		bu_load_wrong(
			ld, section, "fabric",
			"[network %s] has no RDMA to measure; give it rdma = rxe or "
			"rdma = hardware",
			fabric->name);
	if (fabric->link_gbps == 0)
		bu_load_wrong(
			ld, section, "fabric",
			"[network %s] has no link_gbps, of which bw_min is a part",
			fabric->name);
}

static void
check_pool_networks(struct bu_loader *ld, const struct bu_desired_pool *pool,
		    const struct bu_ini_section *section)
{
	int boot = 0, nics = pool->hardware ? pool->hardware->nics : 0;

	for (size_t i = 0; i < pool->networks_count; i++) {
		const struct bu_desired_network *network = pool->networks[i];

		boot += network->role == BU_ROLE_BOOT;
		for (size_t j = 0; j < i; j++)
			if (pool->networks[j]->nic == network->nic)
				bu_load_wrong(
					ld, section, "networks",
					"'%s' and '%s' are both on nic %d; give each "
					"network a NIC of its own",
					pool->networks[j]->name, network->name,
					network->nic);
		if (nics && network->nic >= nics)
			bu_load_wrong(
				ld, section, "networks",
				"'%s' is on nic %d; [hardware %s] has NICs 0 to %d",
				network->name, network->nic, pool->hardware->name,
				nics - 1);
	}
	if (pool->networks_count && boot != 1)
		bu_load_wrong(
			ld, section, "networks",
			"holds %d networks with role = boot; allowed is exactly one",
			boot);
}

static void
check_pool(struct bu_loader *ld, const struct bu_desired_pool *pool,
	   const struct bu_ini_section *section)
{
	const struct bu_desired_network *fabric =
		pool->validation ? pool->validation->fabric : NULL;
	size_t i = 0;

	check_pool_networks(ld, pool, section);
	while (i < pool->networks_count && pool->networks[i] != fabric)
		i++;
	if (fabric && i == pool->networks_count)
		bu_load_wrong(
			ld, section, "validation",
			"measures [network %s], which the pool has not; add it to "
			"networks",
			fabric->name);
	if (bu_ini_entry(section, "cluster") && !bu_ini_entry(section, "validation"))
		bu_load_wrong(ld, section, "validation",
			      "is missing; what joins a cluster is validated first");
}

/* What the power drivers take as bmc. */
static const struct bmc_form {
	const char *power, *form;
} bmc_forms[] = {
	{"libvirt", "a libvirt URI and a domain, like qemu:///system#node001"},
	{"redfish", "an https URL, like https://bmc-gpu001.oob"},
	{"ipmi", "an address or a host name"},
};

static int
bmc_ok(const char *power, const char *bmc)
{
	const char *hash = strchr(bmc, '#');

	if (strcmp(power, "libvirt") == 0)
		return strstr(bmc, ":///") && hash && hash[1];
	if (strcmp(power, "redfish") == 0)
		return strncmp(bmc, "https://", 8) == 0 && bmc[8];
	return !strchr(bmc, '/');
}

#define NODE_WRONG(ld, node, ...)                                                      \
	bu_findings_add((ld)->findings, BU_FINDING_ERROR, (node)->origin.file,         \
			(node)->origin.line, __VA_ARGS__)

static void
check_node(struct bu_loader *ld, const struct bu_desired_node *node)
{
	if (!node->mac && !node->serial)
		NODE_WRONG(ld, node,
			   "[node %s] mac: is missing, and serial too; a machine is "
			   "recognised by one of them",
			   node->name);
	if (!node->power)
		return;
	for (size_t i = 0; i < BU_LEN(bmc_forms); i++) {
		if (strcmp(bmc_forms[i].power, node->power) != 0)
			continue;
		if (!node->bmc)
			NODE_WRONG(ld, node,
				   "[node %s] bmc: is missing; power = %s takes %s",
				   node->name, node->power, bmc_forms[i].form);
		else if (!bmc_ok(node->power, node->bmc))
			NODE_WRONG(
				ld, node,
				"[node %s] bmc: '%.80s' is wrong; power = %s takes %s",
				node->name, node->bmc, node->power, bmc_forms[i].form);
	}
}

struct entry {
	const char *key;
	struct bu_desired_node *node;
};

static int
compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : strcmp(x->node->name, y->node->name);
}

/* Nodes that have the field, sorted by it, owned; a finding for each repetition. */
static struct entry *
check_unique(struct bu_loader *ld, const char *key, size_t *ret_count)
{
	struct bu_desired *desired = ld->desired;
	struct entry *list = bu_xcalloc(desired->nodes_count + 1, sizeof(*list));
	size_t count = 0, offset = bu_schema_key("node", key)->offset;

	for (size_t i = 0; i < desired->nodes_count; i++) {
		struct bu_desired_node *node = &desired->nodes[i];
		const char *text = *(char **)((char *)node + offset);

		if (text)
			list[count++] = (struct entry){text, node};
	}
	qsort(list, count, sizeof(*list), compare_entries);
	for (size_t i = 1; i < count; i++)
		if (strcmp(list[i].key, list[i - 1].key) == 0 &&
		    strcmp(list[i].node->name, list[i - 1].node->name) != 0)
			NODE_WRONG(
				ld, list[i].node,
				"[node %s] %s: '%s' is that of node '%s' (%s:%d); each "
				"machine has its own",
				list[i].node->name, key, list[i].key,
				list[i - 1].node->name, list[i - 1].node->origin.file,
				list[i - 1].node->origin.line);
	*ret_count = count;
	return list;
}

static void
check_nodes(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;
	struct entry *list;
	size_t count;

	for (size_t i = 0; i < desired->nodes_count; i++)
		check_node(ld, &desired->nodes[i]);
	free(check_unique(ld, "serial", &count));
	free(check_unique(ld, "bmc", &count));
	list = check_unique(ld, "mac", &count);
	desired->by_mac = bu_xcalloc(count + 1, sizeof(*desired->by_mac));
	desired->by_mac_count = count;
	for (size_t i = 0; i < count; i++)
		desired->by_mac[i] = list[i].node;
	free(list);
}

void
bu_load_checks(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;

	check_site(ld);
	for (size_t i = 0; i < desired->validations_count; i++)
		check_validation(ld, &desired->validations[i],
				 ld->validation_sections[i]);
	for (size_t i = 0; i < desired->pools_count; i++)
		check_pool(ld, &desired->pools[i], ld->pool_sections[i]);
	check_nodes(ld);
}
