/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From pools to nodes: names from nodesets, addresses by position, then the inventory
 * and the [node] sections over them. Called by load.c. Invariant: nodes are sorted by
 * name before anything points to one, and never move afterwards.
 */
#include <arpa/inet.h>
#include <string.h>

#include "profiles/load/load_internal.h"
#include "profiles/nodeset/nodeset.h"

static void
init_node(const struct bu_loader *ld, struct bu_desired_node *node,
	  const struct bu_desired_pool *pool, const struct bu_origin *origin)
{
	node->pool = pool;
	node->hardware = pool->hardware;
	node->cluster = pool->cluster;
	node->validation = pool->validation;
	for (size_t i = 0; i < ld->of_pool_count; i++)
		memcpy((char *)node + ld->of_pool[i].key->offset,
		       (const char *)pool + ld->of_pool[i].from->offset,
		       ld->of_pool[i].size);
	node->addresses = bu_xcalloc(ld->desired->networks_count, sizeof(uint32_t));
	node->origin = *origin;
}

/* A percentage is of the pool, so it waits until the pool's size is known. */
static void
set_limits(struct bu_desired_pool *pool, const struct bu_ini_section *section)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		const struct bu_ini_entry *entry;

		if (keys[i].type != BU_KEY_LIMIT)
			continue;
		entry = bu_ini_entry(section, keys[i].key);
		*(int *)((char *)pool + keys[i].offset) =
			bu_value_limit(entry ? entry->value : bu_key_default(&keys[i]),
				       pool->nodes_count);
	}
}

static void
add_pool(struct bu_loader *ld, struct bu_desired_pool *pool,
	 const struct bu_ini_section *section, size_t *cap)
{
	const struct bu_ini_entry *entry = bu_ini_entry(section, "nodes");
	struct bu_desired *desired = ld->desired;
	struct bu_nodeset *nodeset;
	struct bu_err err;

	if (!entry)
		return;
	nodeset = bu_nodeset_parse_unique(entry->value, &err);
	if (!nodeset) {
		bu_load_wrong(ld, section, "nodes", "%s", err.text);
		return;
	}
	if (nodeset->count == 0 ||
	    desired->nodes_count + nodeset->count > BU_NODESET_MAX) {
		if (nodeset->count)
			bu_load_wrong(ld, section, "nodes",
				      "the site has too many nodes; at most %d",
				      BU_NODESET_MAX);
		else
			bu_load_wrong(ld, section, "nodes",
				      "'%.80s' selects no node; name at least one",
				      entry->value);
		bu_nodeset_destroy(nodeset);
		return;
	}
	desired->nodes =
		bu_xgrow(desired->nodes, cap, desired->nodes_count + nodeset->count,
			 sizeof(*desired->nodes));
	for (size_t i = 0; i < nodeset->count; i++) {
		struct bu_desired_node *node = &desired->nodes[desired->nodes_count++];
		struct bu_origin origin = {entry->file, entry->line};

		*node = (struct bu_desired_node){.name = bu_steal(&nodeset->names[i])};
		init_node(ld, node, pool, &origin);
	}
	pool->nodes_count = nodeset->count;
	set_limits(pool, section);
	bu_load_zip(ld, section, &desired->nodes[desired->nodes_count - nodeset->count],
		    nodeset->count);
	bu_nodeset_destroy(nodeset);
}

static int
names_network(const struct bu_desired_pool *pool,
	      const struct bu_desired_network *network)
{
	for (size_t i = 0; i < pool->networks_count; i++)
		if (pool->networks[i] == network)
			return 1;
	return 0;
}

static int
compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void
check_address_twice(struct bu_loader *ld, const struct bu_ini_section *section,
		    const uint32_t *list, size_t count)
{
	uint32_t *sorted = bu_xcalloc(count, sizeof(*sorted));

	memcpy(sorted, list, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_u32);
	for (size_t i = 1; i < count; i++)
		if (sorted[i] == sorted[i - 1]) {
			struct in_addr in = {.s_addr = htonl(sorted[i])};
			char text[INET_ADDRSTRLEN];

			inet_ntop(AF_INET, &in, text, sizeof(text));
			bu_load_wrong(ld, section, "addresses",
				      "names %s twice; each address once", text);
			break;
		}
	free(sorted);
}

/* The network's addresses in order, owned; NULL with a finding. */
static uint32_t *
read_addresses(struct bu_loader *ld, const struct bu_desired_network *network,
	       const struct bu_ini_section *section, size_t *ret_count)
{
	const struct bu_ini_entry *entry = bu_ini_entry(section, "addresses");
	struct bu_nodeset *texts;
	uint32_t *list, last;
	struct bu_err err;

	if (!entry && network->role != BU_ROLE_BMC && !network->port)
		bu_load_wrong(ld, section, "addresses",
			      "is missing; it says: the addresses that nodes get");
	if (!entry || network->cidr.prefix_len == 0) /* missing or wrong: a finding */
		return NULL;
	texts = bu_nodeset_expand(entry->value, &err);
	if (!texts) {
		bu_load_wrong(ld, section, "addresses", "%s", err.text);
		return NULL;
	}
	list = bu_xcalloc(texts->count, sizeof(*list));
	last = network->cidr.net | (UINT32_MAX >> network->cidr.prefix_len);
	for (size_t i = 0; i < texts->count; i++) {
		struct in_addr in;
		int form = inet_pton(AF_INET, texts->names[i], &in);

		list[i] = form == 1 ? ntohl(in.s_addr) : 0;
		if (form == 1 && list[i] > network->cidr.net && list[i] < last)
			continue;
		bu_load_wrong(ld, section, "addresses",
			      form == 1 ? "'%.40s' is not a host address of the "
					  "network; allowed are those inside cidr"
					: "'%.40s' is wrong; allowed is IPv4 like "
					  "10.78.0.[11-138]",
			      texts->names[i]);
		free(list);
		bu_nodeset_destroy(texts);
		return NULL;
	}
	*ret_count = texts->count;
	bu_nodeset_destroy(texts);
	check_address_twice(ld, section, list, *ret_count);
	return list;
}

/* By position: pools in the order of the profile, nodes in the order of their nodeset.
 * Nodes are not sorted yet, so a pool's nodes lie together. */
static void
hand_out_addresses(struct bu_loader *ld, const struct bu_desired_network *network,
		   const struct bu_ini_section *section)
{
	struct bu_desired *desired = ld->desired;
	size_t count = 0, used = 0, first = 0;
	bu_autofree uint32_t *list = read_addresses(ld, network, section, &count);

	if (!list)
		return;
	for (size_t i = 0; i < desired->pools_count; i++) {
		const struct bu_desired_pool *pool = &desired->pools[i];

		if (names_network(pool, network)) {
			for (size_t j = 0; j < pool->nodes_count; j++)
				if (used + j < count)
					desired->nodes[first + j]
						.addresses[network->index] =
						list[used + j];
			used += pool->nodes_count;
		}
		first += pool->nodes_count;
	}
	if (used > count)
		bu_load_wrong(ld, section, "addresses",
			      "holds %zu addresses for %zu nodes; give one for each",
			      count, used);
}

static int
compare_nodes(const void *a, const void *b)
{
	const struct bu_desired_node *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->pool > y->pool) - (x->pool < y->pool);
}

/* Of a node in two pools the first pool's stays, so that later checks make sense. */
static void
sort_nodes(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;
	struct bu_desired_node *nodes = desired->nodes;
	size_t kept = 0;

	if (desired->nodes_count)
		qsort(nodes, desired->nodes_count, sizeof(*nodes), compare_nodes);
	for (size_t i = 0; i < desired->nodes_count; i++) {
		if (kept == 0 || strcmp(nodes[i].name, nodes[kept - 1].name) != 0) {
			nodes[kept] = nodes[i];
			nodes[kept].index = kept;
			kept++;
			continue;
		}
		bu_load_wrong(ld, ld->pool_sections[nodes[i].pool - desired->pools],
			      "nodes",
			      "'%s' is in [pool %s] already; a node is in one pool",
			      nodes[i].name, nodes[kept - 1].pool->name);
		bu_load_free_node(&nodes[i]);
	}
	desired->nodes_count = kept;
}

/* Before the section's values replace them, the pool's texts must not be the node's. */
static void
own_texts(struct bu_loader *ld, struct bu_desired_node *node,
	  const struct bu_ini_section *section)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct bu_ini_entry *entry = &section->entries[i];
		const struct bu_key *key = bu_schema_key("node", entry->key);

		if (!key)
			continue;
		bu_load_note_origin(node, key, entry->file, entry->line);
		for (size_t j = 0; j < ld->of_pool_count; j++)
			if (ld->of_pool[j].key == key && bu_key_is_text(key) &&
			    *(char **)((char *)node + key->offset) ==
				    *(char *const *)((const char *)node->pool +
						     ld->of_pool[j].from->offset))
				bu_load_set_text(node, key, NULL);
	}
}

static void
apply_node_section(struct bu_loader *ld, const struct bu_ini_section *section)
{
	struct bu_desired *desired = ld->desired;
	const struct bu_desired_node *found = bu_desired_node(desired, section->name);
	struct bu_desired_node *node;

	if (!found) {
		const char **names = bu_xcalloc(desired->nodes_count, sizeof(*names));

		for (size_t i = 0; i < desired->nodes_count; i++)
			names[i] = desired->nodes[i].name;

		bu_autofree char *hint =
			bu_did_you_mean(section->name, names, desired->nodes_count);

		bu_load_wrong(ld, section, NULL,
			      "is in no pool%s; [node NAME] changes a node that a pool "
			      "names",
			      hint);
		free(names);
		return;
	}
	node = &desired->nodes[found->index];
	own_texts(ld, node, section);
	bu_load_values(ld, section, node);
	bu_load_references(ld, section, node);
	node->origin = (struct bu_origin){section->file, section->line};
}

void
bu_load_nodes(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;
	size_t cap = 0;

	for (size_t i = 0; i < desired->pools_count; i++)
		add_pool(ld, &desired->pools[i], ld->pool_sections[i], &cap);
	for (size_t i = 0; i < desired->networks_count; i++)
		hand_out_addresses(ld, &desired->networks[i], ld->network_sections[i]);
	sort_nodes(ld);
	bu_load_inventory(ld);
	for (size_t i = 0; i < ld->ini.count; i++)
		if (strcmp(ld->ini.sections[i].kind, "node") == 0 &&
		    ld->ini.sections[i].name[0])
			apply_node_section(ld, &ld->ini.sections[i]);
}
