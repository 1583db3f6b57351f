/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the desired state keeps the objects of each kind, and their end. Called by
 * load_objects.c, which fills them, and by desired.c. Invariant: a text is freed by the
 * object that has it of its own, not by those that inherit it.
 */
#include "profiles/load/layout.h"

#include <string.h>

#define LAYOUT(type, field)                                                            \
	{                                                                              \
#type, sizeof(struct bu_desired_##type),                               \
			offsetof(struct bu_desired_##type, origin),                    \
			offsetof(struct bu_desired_##type, origins),                   \
			offsetof(struct bu_desired, field),                            \
			offsetof(struct bu_desired, field##_count),                    \
			offsetof(struct bu_loader, type##_sections)                    \
	}

const struct bu_layout bu_layouts[BU_LAYOUTS] = {
	LAYOUT(network, networks),
	LAYOUT(image, images),
	LAYOUT(disks, disks),
	LAYOUT(mount, mounts),
	LAYOUT(hardware, hardware),
	LAYOUT(cluster, clusters),
	LAYOUT(validation, validations),
	LAYOUT(group, groups),
	LAYOUT(user, users),
	LAYOUT(pool, pools),
};

const struct bu_layout *
bu_layout_find(const char *kind)
{
	for (size_t i = 0; i < BU_LEN(bu_layouts); i++)
		if (strcmp(bu_layouts[i].kind, kind) == 0)
			return &bu_layouts[i];
	return NULL;
}

char *
bu_layout_list(const struct bu_layout *layout, const struct bu_desired *desired)
{
	char *list;

	memcpy(&list, (const char *)desired + layout->list, sizeof(list));
	return list;
}

size_t *
bu_layout_count(const struct bu_layout *layout, struct bu_desired *desired)
{
	return (size_t *)((char *)desired + layout->count);
}

/* Sections without a name. */
#define SINGLE(kind)                                                                   \
	{                                                                              \
#kind, offsetof(struct bu_desired, kind),                              \
			offsetof(struct bu_desired, kind.origin),                      \
			offsetof(struct bu_desired, kind.origins)                      \
	}
static const struct bu_single singles[] = {SINGLE(site), SINGLE(policy),
					   SINGLE(access)};

const struct bu_single *
bu_single_find(const char *kind)
{
	for (size_t i = 0; i < BU_LEN(singles); i++)
		if (strcmp(singles[i].kind, kind) == 0)
			return &singles[i];
	return NULL;
}

/* The object's own texts; those of `base`, what it inherits from, are left alone. */
static void
free_texts(const char *kind, char *object, const struct bu_inherit *pairs,
	   size_t pairs_count, const char *base)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; base && i < pairs_count; i++) {
		char **own = (char **)(object + pairs[i].key->offset);

		if (bu_key_is_text(pairs[i].key) &&
		    *own == *(char *const *)(base + pairs[i].from->offset))
			*own = NULL;
	}
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i].section, kind) == 0 && bu_key_is_text(&keys[i]) &&
		    keys[i].offset != BU_KEY_NO_FIELD)
			free(*(char **)(object + keys[i].offset));
}

static void
free_list(struct bu_desired *desired, const struct bu_layout *layout)
{
	char *list = bu_layout_list(layout, desired);
	struct bu_inherit pairs[BU_INHERIT_MAX];
	size_t count = bu_schema_inherits("pool", "hardware", pairs);

	for (size_t i = 0; i < *bu_layout_count(layout, desired); i++) {
		char *object = list + i * layout->size;
		const void *base = NULL;

		if (strcmp(layout->kind, "pool") == 0)
			base = desired->pools[i].hardware;
		free_texts(layout->kind, object, pairs, count, base);
		free(*(char **)object); /* the name */
		free(*(struct bu_origin **)(object + layout->origins));
	}
	free(list);
}

static void
free_node(struct bu_desired_node *node, const struct bu_inherit *pairs, size_t count)
{
	free_texts("node", (char *)node, pairs, count, (const char *)node->pool);
	free(node->origins);
	free(node->addresses);
	free(node->name);
}

void
bu_load_free_node(struct bu_desired_node *node)
{
	struct bu_inherit pairs[BU_INHERIT_MAX];

	free_node(node, pairs, bu_schema_inherits("node", "pool", pairs));
}

void
bu_load_free(struct bu_desired *desired)
{
	struct bu_inherit pairs[BU_INHERIT_MAX];
	size_t count = bu_schema_inherits("node", "pool", pairs);

	for (size_t i = 0; i < desired->nodes_count; i++)
		free_node(&desired->nodes[i], pairs, count);
	free(desired->nodes);
	for (size_t i = 0; i < desired->pools_count; i++) {
		free(desired->pools[i].networks);
		free(desired->pools[i].rails);
		free(desired->pools[i].mounts);
	}
	for (size_t i = 0; i < desired->validations_count; i++)
		free(desired->validations[i].fabrics);
	/* Pools come last in the list and go first: they point to hardware classes. */
	for (size_t i = BU_LEN(bu_layouts); i-- > 0;)
		free_list(desired, &bu_layouts[i]);
	for (size_t i = 0; i < BU_LEN(singles); i++) {
		char *at = (char *)desired;

		free_texts(singles[i].kind, at + singles[i].object, NULL, 0, NULL);
		free(*(struct bu_origin **)(at + singles[i].origins));
	}
}
