/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking things up in the desired state, and its end. Called by every room that acts
 * on profiles. Invariant: nothing in here changes a desired state.
 */
#include "profiles/desired.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "profiles/load_internal.h"

const char *
bu_network_role_name(enum bu_network_role role)
{
	static const char *const names[] = {"boot", "fabric"};

	return names[role];
}

const char *
bu_rdma_kind_name(enum bu_rdma_kind kind)
{
	static const char *const names[] = {"none", "rxe", "hardware"};

	return names[kind];
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

const struct bu_desired_node *
bu_desired_node_by_serial(const struct bu_desired *desired, const char *serial)
{
	for (size_t i = 0; i < desired->nodes_count; i++)
		if (desired->nodes[i].serial &&
		    strcmp(desired->nodes[i].serial, serial) == 0)
			return &desired->nodes[i];
	return NULL;
}

const struct bu_desired_pool *
bu_desired_pool(const struct bu_desired *desired, const char *name)
{
	for (size_t i = 0; i < desired->pools_count; i++)
		if (strcmp(desired->pools[i].name, name) == 0)
			return &desired->pools[i];
	return NULL;
}

const struct bu_desired_image *
bu_desired_image(const struct bu_desired *desired, const char *name)
{
	for (size_t i = 0; i < desired->images_count; i++)
		if (strcmp(desired->images[i].name, name) == 0)
			return &desired->images[i];
	return NULL;
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

void
bu_desired_destroy(struct bu_desired *desired)
{
	if (!desired)
		return;
	bu_load_free(desired);
	for (size_t i = 0; i < desired->files_count; i++)
		free(desired->files[i]);
	free(desired->files);
	free(desired->by_mac);
	free(desired);
}
