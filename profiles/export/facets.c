/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facets of a node, by the table of keys. Called by the plan, the rollout and what
 * asks what a node should have. Invariant: nothing in here knows a key by name but the
 * image and the address, so a new key is a facet as soon as its row says what it costs.
 */
#include "profiles/export/facets.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/sshkey.h"
#include "profiles/language/schema.h"

#define ADDRESS "address"

/* Kinds of sections whose keys are facets; those of node have no prefix. */
static const char *const prefixes[] = {"site",  "access",   "image",
				       "disks", "hardware", "cluster"};
/* Kinds of sections of which there may be many: "user.alice.uid". */
static const char *const named[] = {"network", "group", "user", "mount"};

static int
is_facet(const struct bu_key *key)
{
	return key->change != BU_CLASS_NONE && key->offset != BU_KEY_NO_FIELD &&
	       strcmp(key->key, "image") != 0;
}

/* In the greatest unit that leaves no rest: "32 GiB". */
static int
size_text(uint64_t bytes, char *ret, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (unit + 1 < BU_LEN(units) && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	return bytes ? snprintf(ret, size, "%" PRIu64 " %s", bytes, units[unit]) : 0;
}

/* Keys by their fingerprints, as people compare them; of more than have room, how many
 * there are and a digest of all. */
static int
keys_text(const char *keys, char *ret, size_t size)
{
	struct bu_sshkey *key = bu_xcalloc(1, sizeof(*key));
	char print[BU_SSHKEY_FINGERPRINT_SIZE], *line, hex[BU_DIGEST_SIZE];
	bu_autofree char *all = NULL;
	size_t count = 0;

	while ((line = bu_sshkey_next(&keys))) {
		if (bu_sshkey_parse(line, key, NULL) == 0) {
			bu_sshkey_fingerprint(key, print);
			bu_text_add(&all, ",", "%s", print);
			count++;
		}
		free(line);
	}
	free(key);
	if (!all || strlen(all) < size)
		return snprintf(ret, size, "%s", all ? all : "");
	bu_sha256_hex(all, strlen(all), hex);
	return snprintf(ret, size, "%zu keys, together %s", count, hex);
}

/* Writes the value as a profile says it; 0 when it is not set. */
static int
value_text(const struct bu_key *key, const void *object, char *ret, size_t size)
{
	const void *at = (const char *)object + key->offset;
	const struct bu_cidr *cidr = at;
	struct in_addr in;
	const char *text;

	switch (key->type) {
	case BU_KEY_INT:
		return *(const int *)at >= key->min
			       ? snprintf(ret, size, "%d", *(const int *)at)
			       : 0;
	case BU_KEY_DURATION:
		return *(const int64_t *)at ? snprintf(ret, size, "%" PRId64 " ms",
						       *(const int64_t *)at)
					    : 0;
	case BU_KEY_SIZE:
		return size_text(*(const uint64_t *)at, ret, size);
	case BU_KEY_REAL:
	case BU_KEY_PERCENT:
		return *(const double *)at > 0
			       ? snprintf(ret, size, "%.15g", *(const double *)at)
			       : 0;
	case BU_KEY_ENUM:
		text = key->arg;
		for (int i = *(const int *)at; i > 0; i--)
			text += strcspn(text, "|") + 1;
		return snprintf(ret, size, "%.*s", (int)strcspn(text, "|"), text);
	case BU_KEY_CIDR:
		if (!cidr->prefix_len)
			return 0;
		in.s_addr = htonl(cidr->net);
		inet_ntop(AF_INET, &in, ret, (socklen_t)size);
		return snprintf(ret + strlen(ret), size - strlen(ret), "/%d",
				cidr->prefix_len);
	case BU_KEY_REF: /* every object that can be referred to begins with its name */
		text = *(char *const *const *)at ? **(char *const *const *)at : NULL;
		break;
	case BU_KEY_SSHKEYS:
		return keys_text(*(char *const *)at, ret, size);
	default:
		bu_assert(bu_key_is_text(key));
		text = *(char *const *)at;
	}
	return text ? snprintf(ret, size, "%s", text) : 0;
}

static void
add(struct bu_facets *facets, const char *name, const char *value, enum bu_class change,
    const struct bu_origin *origin)
{
	struct bu_facet *facet;

	facets->items = bu_xgrow(facets->items, &facets->cap, facets->count + 1,
				 sizeof(*facets->items));
	facet = &facets->items[facets->count++];
	*facet = (struct bu_facet){
		.name = bu_xstrdup(name), .value = bu_xstrdup(value), .change = change};
	if (origin && origin->line)
		facet->origin = *origin;
}

/* Where the value stands: in the list of origins of its section, or wherever a node has
 * it from. */
struct source {
	const struct bu_origin *origins;    /* by bu_schema_keys() */
	const struct bu_desired_node *node; /* instead of origins */
};

static void
add_key(struct bu_facets *facets, const struct bu_key *key, const char *prefix,
	const void *object, const struct source *source)
{
	const char *fallback = bu_key_default(key);
	char value[600], name[BU_FACET_NAME_MAX];
	size_t count;

	if (!value_text(key, object, value, sizeof(value)) ||
	    (fallback && strcmp(fallback, value) == 0))
		return;
	snprintf(name, sizeof(name), "%s%s%s", prefix, *prefix ? "." : "", key->key);
	add(facets, name, value, key->change,
	    source->node ? bu_desired_origin(source->node, key->key)
			 : &source->origins[key - bu_schema_keys(&count)]);
}

/* The networks that are in the node itself. */
static void
add_networks(struct bu_facets *facets, const struct bu_desired_node *node,
	     const struct bu_key *key)
{
	for (size_t i = 0; i < node->pool->networks_count; i++) {
		const struct bu_desired_network *network = node->pool->networks[i];
		const struct source source = {.origins = network->origins};
		char prefix[BU_FACET_NAME_MAX];

		snprintf(prefix, sizeof(prefix), "network.%.80s", network->name);
		if (network->role != BU_ROLE_BMC)
			add_key(facets, key, prefix, network, &source);
	}
}

/* What its pool mounts. */
static void
add_mounts(struct bu_facets *facets, const struct bu_desired_node *node,
	   const struct bu_key *key)
{
	for (size_t i = 0; i < node->pool->mounts_count; i++) {
		const struct bu_desired_mount *mount = node->pool->mounts[i];
		const struct source source = {.origins = mount->origins};
		char prefix[BU_FACET_NAME_MAX];

		snprintf(prefix, sizeof(prefix), "mount.%.80s", mount->name);
		add_key(facets, key, prefix, mount, &source);
	}
}

/* Accounts, which every node has. */
static void
add_accounts(struct bu_facets *facets, const struct bu_desired *desired,
	     const struct bu_key *key)
{
	char prefix[BU_FACET_NAME_MAX];
	int of_users = strcmp(key->section, "user") == 0;
	size_t count = of_users ? desired->users_count : desired->groups_count;

	for (size_t i = 0; i < count; i++) {
		const struct source source = {
			.origins = of_users ? desired->users[i].origins
					    : desired->groups[i].origins};
		const void *object = of_users ? (const void *)&desired->users[i]
					      : (const void *)&desired->groups[i];

		snprintf(prefix, sizeof(prefix), "%s.%.80s", key->section,
			 *(char *const *)object);
		add_key(facets, key, prefix, object, &source);
	}
}

static void
add_addresses(struct bu_facets *facets, const struct bu_desired_node *node)
{
	const struct bu_key *key = bu_schema_key("network", "addresses");
	size_t count, index = (size_t)(key - bu_schema_keys(&count));

	for (size_t i = 0; i < node->pool->networks_count; i++) {
		const struct bu_desired_network *network = node->pool->networks[i];
		char name[BU_FACET_NAME_MAX], address[INET_ADDRSTRLEN];

		if (bu_desired_node_address(node, network, address) != 0)
			continue;
		snprintf(name, sizeof(name), "network.%.80s." ADDRESS, network->name);
		add(facets, name, address, key->change, &network->origins[index]);
	}
}

/* What holds the keys of this kind of section for the node, NULL when nothing does. */
static const void *
object_of(const char *kind, const struct bu_desired *desired,
	  const struct bu_desired_node *node, struct source *ret)
{
	const struct {
		const char *kind;
		const void *object;
		const struct bu_origin *origins;
	} objects[] = {
		{"site", &desired->site, desired->site.origins},
		{"access", desired->access.origins ? &desired->access : NULL,
		 desired->access.origins},
		{"image", node->image, node->image->origins},
		{"disks", node->hardware->disks,
		 node->hardware->disks ? node->hardware->disks->origins : NULL},
		{"hardware", node->hardware, node->hardware->origins},
		{"pool", node->pool, node->pool->origins},
		{"cluster", node->cluster,
		 node->cluster ? node->cluster->origins : NULL},
	};

	for (size_t i = 0; i < BU_LEN(objects); i++) {
		if (strcmp(objects[i].kind, kind) != 0)
			continue;
		ret->origins = objects[i].origins;
		return objects[i].object;
	}
	return NULL;
}

/* Keys that a node has itself stand in its own section, whatever they come from. */
static void
add_one(struct bu_facets *facets, const struct bu_desired *desired,
	const struct bu_desired_node *node, const struct bu_key *key)
{
	struct source source = {NULL, NULL};
	const void *object;

	if (strcmp(key->section, "network") == 0) {
		add_networks(facets, node, key);
	} else if (strcmp(key->section, "mount") == 0) {
		add_mounts(facets, node, key);
	} else if (strcmp(key->section, "user") == 0 ||
		   strcmp(key->section, "group") == 0) {
		add_accounts(facets, desired, key);
	} else if (strcmp(key->section, "node") == 0) {
		source.node = node;
		add_key(facets, key, "", node, &source);
	} else if (!bu_schema_key("node", key->key)) {
		object = object_of(key->section, desired, node, &source);
		if (object)
			add_key(facets, key,
				strcmp(key->section, "pool") == 0 ? "" : key->section,
				object, &source);
	}
}

static int
compare(const void *a, const void *b)
{
	const struct bu_facet *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void
empty(struct bu_facets *facets)
{
	for (size_t i = 0; i < facets->count; i++) {
		free(facets->items[i].name);
		free(facets->items[i].value);
	}
	facets->count = 0;
}

/* Nodes without a section of their own differ from others of their pool in nothing but
 * their addresses. */
static void
replace_addresses(struct bu_facets *facets, const struct bu_desired_node *node)
{
	for (size_t i = 0; i < node->pool->networks_count; i++) {
		const struct bu_desired_network *network = node->pool->networks[i];
		char name[BU_FACET_NAME_MAX], address[INET_ADDRSTRLEN];
		struct bu_facet *facet;

		if (bu_desired_node_address(node, network, address) != 0)
			continue;
		snprintf(name, sizeof(name), "network.%.80s." ADDRESS, network->name);
		facet = (struct bu_facet *)(uintptr_t)bu_facets_find(facets, name);
		free(facet->value);
		facet->value = bu_xstrdup(address);
	}
}

void
bu_facets_collect(struct bu_facets *facets, const struct bu_desired *desired,
		  const struct bu_desired_node *node)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	if (facets->plain_of == node->pool && node->origins_count == 0) {
		replace_addresses(facets, node);
		return;
	}
	empty(facets);
	for (size_t i = 0; i < count; i++)
		if (is_facet(&keys[i]))
			add_one(facets, desired, node, &keys[i]);
	add_addresses(facets, node);
	qsort(facets->items, facets->count, sizeof(*facets->items), compare);
	facets->plain_of = node->origins_count == 0 ? node->pool : NULL;
}

void
bu_facets_reach(struct bu_facets *facets, const struct bu_desired *desired,
		const struct bu_desired_node *node)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	empty(facets);
	facets->plain_of = NULL;
	for (size_t i = 0; i < count; i++)
		if (keys[i].use == BU_KEY_REACH && keys[i].offset != BU_KEY_NO_FIELD)
			add_one(facets, desired, node, &keys[i]);
	qsort(facets->items, facets->count, sizeof(*facets->items), compare);
}

void
bu_facets_clear(struct bu_facets *facets)
{
	empty(facets);
	free(facets->items);
	free(facets->text);
	*facets = (struct bu_facets){0};
}

const struct bu_facet *
bu_facets_find(const struct bu_facets *facets, const char *name)
{
	const struct bu_facet key = {.name = (char *)(uintptr_t)name};

	if (facets->count == 0)
		return NULL;
	return bsearch(&key, facets->items, facets->count, sizeof(*facets->items),
		       compare);
}

json_t *
bu_facets_to_json(const struct bu_facets *facets)
{
	json_t *value = json_object();

	for (size_t i = 0; i < facets->count; i++)
		json_object_set_new(value, facets->items[i].name,
				    json_string(facets->items[i].value));
	return value;
}

static void
put(struct bu_facets *facets, const char *text, size_t size)
{
	facets->text =
		bu_xgrow(facets->text, &facets->text_cap, facets->text_size + size, 1);
	memcpy(facets->text + facets->text_size, text, size);
	facets->text_size += size;
}

/* As Jansson writes a string: what needs no escape is most of it. */
static void
put_string(struct bu_facets *facets, const char *text)
{
	bu_autojson json_t *value = NULL;
	bu_autofree char *escaped = NULL;
	size_t size = 0;

	while (text[size] >= ' ' && text[size] <= '~' && text[size] != '"' &&
	       text[size] != '\\')
		size++;
	if (text[size]) {
		value = json_string(text);
		escaped = bu_json_canonical(value);
		put(facets, escaped, strlen(escaped));
		return;
	}
	put(facets, "\"", 1);
	put(facets, text, size);
	put(facets, "\"", 1);
}

void
bu_facets_digest(struct bu_facets *facets, char ret_hex[65])
{
	facets->text_size = 0;
	put(facets, "{", 1);
	for (size_t i = 0; i < facets->count; i++) {
		if (i)
			put(facets, ",", 1);
		put_string(facets, facets->items[i].name);
		put(facets, ":", 1);
		put_string(facets, facets->items[i].value);
	}
	put(facets, "}", 1);
	bu_sha256_hex(facets->text, facets->text_size, ret_hex);
}

json_t *
bu_facets_json(const struct bu_desired *desired, const struct bu_desired_node *node)
{
	struct bu_facets facets = {0};
	json_t *value;

	bu_facets_collect(&facets, desired, node);
	value = bu_facets_to_json(&facets);
	bu_facets_clear(&facets);
	return value;
}

/* The key that stands behind a facet of this name. */
static const struct bu_key *
key_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	const struct bu_key *key;

	if (!dot) {
		key = bu_schema_key("node", name);
		return key ? key : bu_schema_key("pool", name);
	}
	for (size_t i = 0; i < BU_LEN(named); i++) {
		size_t size = strlen(named[i]);

		if (strncmp(name, named[i], size) == 0 && name[size] == '.')
			return bu_schema_key(named[i], strcmp(dot + 1, ADDRESS) == 0
							       ? "addresses"
							       : dot + 1);
	}
	for (size_t i = 0; i < BU_LEN(prefixes); i++)
		if (strncmp(name, prefixes[i], (size_t)(dot - name)) == 0 &&
		    !prefixes[i][dot - name])
			return bu_schema_key(prefixes[i], dot + 1);
	return NULL;
}

enum bu_class
bu_facet_change(const char *name)
{
	const struct bu_key *key = key_of(name);

	return key ? key->change : BU_CLASS_NONE;
}

const char *
bu_facet_default(const char *name)
{
	const struct bu_key *key = key_of(name);
	const char *fallback = key ? bu_key_default(key) : NULL;

	return fallback ? fallback : "";
}
