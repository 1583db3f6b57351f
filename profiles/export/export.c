/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Desired state to JSON, by the table of keys. Called by `bringup export` and `bringup
 * node show --origin`. Invariant: what is in the JSON is in the schema (a unit test
 * loops over all samples).
 */
#include "profiles/export/export.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/json.h"
#include "profiles/language/values.h"
#include "profiles/load/load_internal.h"
#include "profiles/nodeset/nodeset.h"

char *
bu_key_json_name(const struct bu_key *key)
{
	static const struct {
		enum bu_key_type type;
		const char *unit;
	} units[] = {{BU_KEY_SIZE, "_bytes"},
		     {BU_KEY_DURATION, "_ms"},
		     {BU_KEY_PERCENT, "_percent"}};

	for (size_t i = 0; i < BU_LEN(units); i++)
		if (units[i].type == key->type)
			return bu_xasprintf("%s%s", key->key, units[i].unit);
	return bu_xstrdup(key->key);
}

/* The name at this position of "a|b|c". */
static json_t *
choice(const char *choices, int position)
{
	size_t size;

	for (; position > 0; position--)
		choices += strcspn(choices, "|") + 1;
	size = strcspn(choices, "|");
	return json_stringn(choices, size);
}

static json_t *
cidr_text(const struct bu_cidr *cidr)
{
	struct in_addr in = {.s_addr = htonl(cidr->net)};
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &in, text, sizeof(text));
	return cidr->prefix_len ? json_sprintf("%s/%d", text, cidr->prefix_len) : NULL;
}

static json_t *
number(double value)
{
	return value > 0 ? json_real(value) : NULL;
}

/* An int without a default is not set when it is below what it may be. */
static json_t *
whole(const struct bu_key *key, int value)
{
	return value >= key->min && value >= 0 ? json_integer(value) : NULL;
}

/* NULL when the value is not set. */
static json_t *
value_of(const struct bu_key *key, const char *object)
{
	const void *at = object + key->offset;
	const char *text;

	switch (key->type) {
	case BU_KEY_INT:
		return whole(key, *(const int *)at);
	case BU_KEY_LIMIT:
		return *(const int *)at ? json_integer(*(const int *)at) : NULL;
	case BU_KEY_ENUM:
		return choice(key->arg, *(const int *)at);
	case BU_KEY_REAL:
	case BU_KEY_PERCENT:
		return number(*(const double *)at);
	case BU_KEY_SIZE:
		return *(const uint64_t *)at
			       ? json_integer((json_int_t) * (const uint64_t *)at)
			       : NULL;
	case BU_KEY_DURATION:
		return *(const int64_t *)at ? json_integer(*(const int64_t *)at) : NULL;
	case BU_KEY_CIDR:
		return cidr_text(at);
	case BU_KEY_REF:
		/* Every object that can be referred to begins with its name. */
		return *(char *const *const *)at
			       ? json_string(**(char *const *const *)at)
			       : NULL;
	default:
		text = *(char *const *)at;
		return text ? json_string(text) : NULL;
	}
}

static json_t *
object_of(const char *kind, const char *name, const void *object)
{
	json_t *value = json_object();
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	if (name)
		json_object_set_new(value, "name", json_string(name));
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *member = NULL;
		json_t *item;

		if (strcmp(keys[i].section, kind) != 0 ||
		    keys[i].offset == BU_KEY_NO_FIELD)
			continue;
		item = value_of(&keys[i], object);
		member = bu_key_json_name(&keys[i]);
		if (item)
			json_object_set_new(value, member, item);
	}
	return value;
}

#define LIST(root, desired, kind, list)                                                \
	do {                                                                           \
		json_t *array = json_array();                                          \
                                                                                       \
		for (size_t n = 0; n < (desired)->list##_count; n++)                   \
			json_array_append_new(array,                                   \
					      object_of(kind, (desired)->list[n].name, \
							&(desired)->list[n]));         \
		json_object_set_new(root, kind, array);                                \
	} while (0)

static json_t *
network_names(const struct bu_desired_network *const *networks, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(networks[i]->name));
	return list;
}

static json_t *
mount_names(const struct bu_desired_pool *pool)
{
	json_t *list = json_array();

	for (size_t i = 0; i < pool->mounts_count; i++)
		json_array_append_new(list, json_string(pool->mounts[i]->name));
	return list;
}

static json_t *
validations_of(const struct bu_desired *desired)
{
	json_t *list = json_array();

	for (size_t i = 0; i < desired->validations_count; i++) {
		const struct bu_desired_validation *validation =
			&desired->validations[i];
		json_t *value = object_of("validation", validation->name, validation);

		json_object_set_new(
			value, "fabric",
			network_names(validation->fabrics, validation->fabrics_count));
		json_array_append_new(list, value);
	}
	return list;
}

static json_t *
pools_of(const struct bu_desired *desired)
{
	const char **names = bu_xcalloc(desired->nodes_count, sizeof(*names));
	json_t *list = json_array();

	for (size_t i = 0; i < desired->pools_count; i++) {
		const struct bu_desired_pool *pool = &desired->pools[i];
		json_t *value = object_of("pool", pool->name, pool);
		bu_autofree char *nodes = NULL;
		size_t count = 0;

		for (size_t j = 0; j < desired->nodes_count; j++)
			if (desired->nodes[j].pool == pool)
				names[count++] = desired->nodes[j].name;
		nodes = bu_nodeset_fold(names, count);
		json_object_set_new(value, "nodes", json_string(nodes));
		json_object_set_new(
			value, "networks",
			network_names(pool->networks, pool->networks_count));
		if (pool->mounts_count)
			json_object_set_new(value, "mounts", mount_names(pool));
		json_array_append_new(list, value);
	}
	free(names);
	return list;
}

/* {"kargs": "pools/train.ini:12"} of what is set. */
static json_t *
origins_of(const struct bu_desired_node *node)
{
	json_t *origins = json_object();
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		const struct bu_origin *at;

		if (strcmp(keys[i].section, "node") != 0)
			continue;
		at = bu_desired_origin(node, keys[i].key);
		if (at)
			json_object_set_new(origins, keys[i].key,
					    json_sprintf("%s:%d", at->file, at->line));
	}
	return origins;
}

json_t *
bu_desired_node_to_json(const struct bu_desired *desired,
			const struct bu_desired_node *node)
{
	json_t *value = object_of("node", node->name, node);
	json_t *addresses = json_object();

	json_object_set_new(value, "pool", json_string(node->pool->name));
	json_object_set_new(value, "hardware", json_string(node->hardware->name));
	if (node->cluster)
		json_object_set_new(value, "cluster", json_string(node->cluster->name));
	if (node->validation)
		json_object_set_new(value, "validation",
				    json_string(node->validation->name));
	for (size_t i = 0; i < desired->networks_count; i++) {
		char text[INET_ADDRSTRLEN];

		if (bu_desired_node_address(node, &desired->networks[i], text) == 0)
			json_object_set_new(addresses, desired->networks[i].name,
					    json_string(text));
	}
	json_object_set_new(value, "addresses", addresses);
	json_object_set_new(value, "origin", origins_of(node));
	return value;
}

json_t *
bu_desired_to_json(const struct bu_desired *desired)
{
	json_t *nodes = json_array();
	json_t *root =
		json_pack("{s:i,s:s,s:o}", "format", 1, "revision", desired->digest,
			  "site", object_of("site", NULL, &desired->site));

	if (desired->policy.origin.line)
		json_object_set_new(root, "policy",
				    object_of("policy", NULL, &desired->policy));
	if (desired->access.origin.line)
		json_object_set_new(root, "access",
				    object_of("access", NULL, &desired->access));
	LIST(root, desired, "group", groups);
	LIST(root, desired, "user", users);
	LIST(root, desired, "network", networks);
	LIST(root, desired, "image", images);
	LIST(root, desired, "disks", disks);
	LIST(root, desired, "mount", mounts);
	LIST(root, desired, "hardware", hardware);
	LIST(root, desired, "cluster", clusters);
	json_object_set_new(root, "validation", validations_of(desired));
	json_object_set_new(root, "pool", pools_of(desired));
	for (size_t i = 0; i < desired->nodes_count; i++)
		json_array_append_new(
			nodes, bu_desired_node_to_json(desired, &desired->nodes[i]));
	json_object_set_new(root, "node", nodes);
	return root;
}

/* A group's name as Ansible takes it without a warning; owned. */
static char *
group_name(const char *pool)
{
	char *name = bu_xstrdup(pool);

	for (char *p = name; *p; p++)
		if (*p == '-' || *p == '.')
			*p = '_';
	return name;
}

static json_t *
host_of(const struct bu_desired_node *node)
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(node, BU_ROLE_BOOT);
	json_t *host = json_object();
	char text[INET_ADDRSTRLEN];
	const char *const vars[][2] = {
		{"bringup_image", node->image->name},
		{"bringup_hardware", node->hardware->name},
		{"bringup_rack", node->rack},
		{"bringup_slot", node->slot},
		{"bringup_zone", node->zone},
	};

	if (boot && bu_desired_node_address(node, boot, text) == 0)
		json_object_set_new(host, "ansible_host", json_string(text));
	for (size_t i = 0; i < BU_LEN(vars); i++)
		if (vars[i][1])
			json_object_set_new(host, vars[i][0], json_string(vars[i][1]));
	return host;
}

json_t *
bu_desired_ansible(const struct bu_desired *desired)
{
	json_t *groups = json_object();

	for (size_t i = 0; i < desired->pools_count; i++) {
		bu_autofree char *group = group_name(desired->pools[i].name);
		json_t *hosts = json_object();

		for (size_t j = 0; j < desired->nodes_count; j++)
			if (desired->nodes[j].pool == &desired->pools[i])
				json_object_set_new(hosts, desired->nodes[j].name,
						    host_of(&desired->nodes[j]));
		json_object_set_new(groups, group, json_pack("{s:o}", "hosts", hosts));
	}
	return json_pack("{s:{s:o,s:{s:s}}}", "all", "children", groups, "vars",
			 "bringup_site", desired->site.name);
}
