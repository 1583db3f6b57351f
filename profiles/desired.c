/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking things up in the desired state, and its end. Called by every room that acts
 * on profiles. Invariant: nothing in here changes a desired state.
 */
#include "profiles/desired.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "profiles/language/schema.h"
#include "profiles/load/inventory_csv.h"
#include "profiles/load/load_internal.h"
#include "profiles/nodeset/nodeset.h"

const char *const bu_bond_names[] = {BU_BONDS(BU_CHOICE_NAME)};
const char *const bu_root_names[] = {BU_ROOTS(BU_CHOICE_NAME)};

const char *
bu_network_role_name(enum bu_network_role role)
{
	static const char *const names[] = {BU_ROLES(BU_CHOICE_NAME)};

	return names[role];
}

enum bu_counters_from
bu_desired_counters(const struct bu_desired_network *network)
{
	if (!network->switch_counters)
		return BU_COUNTERS_NONE;
	return strcmp(network->switch_counters, "infiniband") == 0
		       ? BU_COUNTERS_INFINIBAND
		       : BU_COUNTERS_PROMETHEUS;
}

static int
compare_name(const void *key, const void *member)
{
	return strcmp(key, ((const struct bu_desired_node *)member)->name);
}

const struct bu_desired_node *
bu_desired_node(const struct bu_desired *desired, const char *name)
{
	if (desired->nodes_count == 0)
		return NULL;
	return bsearch(name, desired->nodes, desired->nodes_count,
		       sizeof(*desired->nodes), compare_name);
}

static int
compare_mac(const void *key, const void *member)
{
	return strcmp(key, (*(struct bu_desired_node *const *)member)->mac);
}

const struct bu_desired_node *
bu_desired_node_by_mac(const struct bu_desired *desired, const char *mac)
{
	struct bu_desired_node **found;
	char clean[18];

	if (desired->by_mac_count == 0 || bu_mac_normalize(mac, clean) < 0)
		return NULL;
	found = bsearch(clean, desired->by_mac, desired->by_mac_count,
			sizeof(struct bu_desired_node *), compare_mac);
	return found ? *found : NULL;
}

const struct bu_desired_image *
bu_desired_image(const struct bu_desired *desired, const char *name)
{
	for (size_t i = 0; i < desired->images_count; i++)
		if (strcmp(desired->images[i].name, name) == 0)
			return &desired->images[i];
	return NULL;
}

int
bu_desired_has_rail(const struct bu_desired_pool *pool,
		    const struct bu_desired_network *network)
{
	for (size_t i = 0; i < pool->rails_count; i++) {
		if (pool->rails[i] == network)
			return 1;
	}
	return 0;
}

const struct bu_desired_network *
bu_desired_node_network(const struct bu_desired_node *node, enum bu_network_role role)
{
	for (size_t i = 0; i < node->pool->networks_count; i++)
		if (node->pool->networks[i]->role == role)
			return node->pool->networks[i];
	return NULL;
}

int
bu_desired_node_address(const struct bu_desired_node *node,
			const struct bu_desired_network *network,
			char ret_text[INET_ADDRSTRLEN])
{
	struct in_addr in = {.s_addr = htonl(node->addresses[network->index])};

	if (in.s_addr == 0)
		return -1;
	inet_ntop(AF_INET, &in, ret_text, INET_ADDRSTRLEN);
	return 0;
}

/* The column of this key, -1 when it has none. */
static int
column_of(const char *key)
{
	for (int i = BU_INVENTORY_CSV_NAME + 1; i < BU_INVENTORY_CSV_COLUMNS; i++)
		if (strcmp(bu_inventory_csv_column(i), key) == 0)
			return i;
	return -1;
}

const struct bu_origin *
bu_desired_origin(const struct bu_desired_node *node, const char *key)
{
	const struct bu_key *row = bu_schema_key("node", key);
	const struct bu_key *of_pool = bu_schema_key("pool", key);
	const struct bu_origin *origin;
	int column = column_of(key);
	size_t count;

	for (size_t i = 0; row && i < node->origins_count; i++)
		if (node->origins[i].key == row)
			return &node->origins[i].origin;
	if (column >= 0 && node->csv_columns & (1u << column))
		return &node->csv_origin;
	if (!row || !of_pool)
		return NULL;
	origin = &node->pool->origins[of_pool - bu_schema_keys(&count)];
	return origin->line ? origin : NULL;
}

static const char *
of_pool(const struct bu_desired_node *node)
{
	return node->pool->name;
}

static const char *
of_image(const struct bu_desired_node *node)
{
	return node->image->name;
}

static const char *
of_hardware(const struct bu_desired_node *node)
{
	return node->hardware->name;
}

static const char *
of_rack(const struct bu_desired_node *node)
{
	return node->rack;
}

static const char *
of_zone(const struct bu_desired_node *node)
{
	return node->zone;
}

static const struct question {
	const char *name;
	const char *(*answer)(const struct bu_desired_node *node); /* may be NULL */
} questions[] = {
	{"pool=", of_pool}, {"image=", of_image}, {"hardware=", of_hardware},
	{"rack=", of_rack}, {"zone=", of_zone},
};

static int
say_none(const struct bu_desired *desired, const struct question *question,
	 const char *pattern, struct bu_err *err)
{
	bu_autofree const char **known =
		bu_xcalloc(desired->nodes_count + 1, sizeof(*known));
	bu_autofree char *hint = NULL;

	for (size_t i = 0; i < desired->nodes_count; i++)
		known[i] = question->answer(&desired->nodes[i]);
	hint = bu_did_you_mean(pattern, known, desired->nodes_count);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no node has %s%.80s%s",
			  question->name, pattern, hint);
}

static int
add_matching(const struct bu_desired *desired, const struct question *question,
	     const char *pattern, struct bu_nodeset *nodeset, struct bu_err *err)
{
	size_t found = 0;

	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		const char *answer = question->answer(node);

		if (!answer || fnmatch(pattern, answer, 0) != 0)
			continue;
		if (bu_nodeset_add(nodeset, node->name, err) < 0)
			return -1;
		found++;
	}
	if (found)
		return 0;
	return say_none(desired, question, pattern, err);
}

int
bu_desired_group(const char *group, struct bu_nodeset *nodeset, void *arg,
		 struct bu_err *err)
{
	if (!strchr(group, '='))
		return add_matching(arg, &questions[0], group, nodeset, err);
	for (size_t i = 0; i < BU_LEN(questions); i++) {
		size_t size = strlen(questions[i].name);

		if (strncmp(group, questions[i].name, size) == 0)
			return add_matching(arg, &questions[i], group + size, nodeset,
					    err);
	}
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "'%.80s' cannot be asked here; allowed is pool=, image=, "
			  "hardware=, rack=, zone=",
			  group);
}

void
bu_desired_destroy(struct bu_desired *desired)
{
	if (!desired)
		return;
	bu_load_free(desired);
	for (size_t i = 0; i < desired->files_count; i++)
		free(desired->files[i]);
	free(desired->files);
	free(desired->hosts);
	for (size_t i = 0; i < desired->checks_count; i++) {
		free(desired->checks[i].name);
		free(desired->checks[i].text);
	}
	free(desired->checks);
	free(desired->by_mac);
	free(desired);
}

const char *
bu_desired_mirror(const struct bu_desired_node *node)
{
	return node->hardware->disks ? node->hardware->disks->mirror : NULL;
}

int
bu_desired_has_two_roots(const struct bu_desired_node *node)
{
	return node->hardware->disks && node->hardware->disks->roots == 2;
}

const char *
bu_desired_scratch(const struct bu_desired_node *node)
{
	return node->hardware->disks ? node->hardware->disks->scratch : NULL;
}

int
bu_desired_is_ram(const struct bu_desired_node *node)
{
	return node->pool->root == BU_ROOT_RAM;
}

int
bu_desired_is_raw(const struct bu_desired_node *node)
{
	return node->pool->root == BU_ROOT_RAW;
}

int
bu_desired_encrypts(const struct bu_desired_node *node)
{
	return node->pool->data && node->pool->data_keys != BU_DATA_KEYS_NONE;
}

int
bu_desired_forgets_scratch(const struct bu_desired_node *node)
{
	return bu_desired_scratch(node) &&
	       node->hardware->disks->scratch_keys == BU_SCRATCH_KEYS_VOLATILE;
}

int
bu_desired_seals(const struct bu_desired_node *node)
{
	return node->pool->data && node->pool->data_keys == BU_DATA_KEYS_TPM;
}

int
bu_desired_keeps(const struct bu_desired_node *node)
{
	return node->pool->data || bu_desired_scratch(node) ||
	       bu_desired_has_two_roots(node);
}
