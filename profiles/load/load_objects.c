/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections to objects, names to pointers, as the table says. Called by load.c.
 * Invariant: the lists of objects never move once they are filled, so that pointers
 * into them hold.
 */
#include <stdarg.h>
#include <string.h>

#include "profiles/load/load_internal.h"

const struct bu_ini_section *
bu_load_site(const struct bu_ini *ini)
{
	for (size_t i = 0; i < ini->count; i++)
		if (strcmp(ini->sections[i].kind, "site") == 0)
			return &ini->sections[i];
	return NULL;
}

/* Where bu_desired keeps the objects of a kind. Each object starts with its name. */
struct layout {
	const char *kind;
	size_t size, origin, origins, list, count;
	size_t sections; /* in struct bu_loader */
};
#define LAYOUT(type, field)                                                            \
	{                                                                              \
#type, sizeof(struct bu_desired_##type),                               \
			offsetof(struct bu_desired_##type, origin),                    \
			offsetof(struct bu_desired_##type, origins),                   \
			offsetof(struct bu_desired, field),                            \
			offsetof(struct bu_desired, field##_count),                    \
			offsetof(struct bu_loader, type##_sections)                    \
	}

static const struct layout layouts[] = {
	LAYOUT(network, networks),
	LAYOUT(image, images),
	LAYOUT(hardware, hardware),
	LAYOUT(cluster, clusters),
	LAYOUT(validation, validations),
	LAYOUT(group, groups),
	LAYOUT(user, users),
	LAYOUT(pool, pools),
};

static const struct layout *
find_layout(const char *kind)
{
	for (size_t i = 0; i < BU_LEN(layouts); i++)
		if (strcmp(layouts[i].kind, kind) == 0)
			return &layouts[i];
	return NULL;
}

static char *
list_of(const struct bu_desired *desired, const struct layout *layout)
{
	char *list;

	memcpy(&list, (const char *)desired + layout->list, sizeof(list));
	return list;
}

static const struct bu_ini_section **
sections_of(struct bu_loader *ld, const struct layout *layout)
{
	const struct bu_ini_section **list;

	memcpy(&list, (const char *)ld + layout->sections, sizeof(list));
	return list;
}

static void
set_sections(struct bu_loader *ld, const struct layout *layout, void *list)
{
	memcpy((char *)ld + layout->sections, &list, sizeof(list));
}

static size_t *
count_of(struct bu_desired *desired, const struct layout *layout)
{
	return (size_t *)((char *)desired + layout->count);
}

void
bu_load_wrong(struct bu_loader *ld, const struct bu_ini_section *section,
	      const char *key, const char *fmt, ...)
{
	const struct bu_ini_entry *entry = key ? bu_ini_entry(section, key) : NULL;
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	bu_findings_add(ld->findings, BU_FINDING_ERROR,
			entry ? entry->file : section->file,
			entry ? entry->line : section->line, "[%s%s%s] %s%s%s",
			section->kind, section->name[0] ? " " : "", section->name,
			key ? key : "", key ? ": " : "", text);
}

static void
load_key(struct bu_loader *ld, const struct bu_ini_section *section,
	 const struct bu_key *key, char *object)
{
	const struct bu_ini_entry *entry = bu_ini_entry(section, key->key);
	const char *text = entry ? entry->value : bu_key_default(key);
	int has_field = key->offset != BU_KEY_NO_FIELD && key->type != BU_KEY_REF &&
			key->type != BU_KEY_LIMIT; /* a part of what is not known yet */
	struct bu_err err;

	if (!text && bu_key_required(key))
		bu_load_wrong(ld, section, key->key, "is missing; it says: %s",
			      key->help);
	if (text && bu_value_parse(key, text, has_field ? object + key->offset : NULL,
				   &err) < 0)
		bu_load_wrong(ld, section, key->key, "%s", err.text);
	else if (entry)
		bu_load_check_served(ld, section, key, entry);
}

void
bu_load_values(struct bu_loader *ld, const struct bu_ini_section *section, void *object)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i].section, section->kind) == 0)
			load_key(ld, section, &keys[i], object);
	for (size_t i = 0; i < section->count; i++) {
		const char *key = section->entries[i].key;

		if (bu_schema_key(section->kind, key))
			continue;
		bu_autofree char *hint = bu_schema_suggest(section->kind, key);

		bu_load_wrong(ld, section, key,
			      "is an unknown key%s; the reference lists what [%s] may "
			      "hold",
			      hint, section->kind);
	}
}

const void *
bu_load_find(struct bu_loader *ld, const struct bu_ini_section *section,
	     const char *key, const char *kind, const char *name)
{
	const struct layout *layout = find_layout(kind);
	size_t count = *count_of(ld->desired, layout);
	const char **names = bu_xcalloc(count + 1, sizeof(*names));
	const char *found = NULL;

	for (size_t i = 0; i < count && !found; i++) {
		const char *object = list_of(ld->desired, layout) + i * layout->size;

		memcpy(&names[i], object, sizeof(names[i]));
		if (strcmp(names[i], name) == 0)
			found = object;
	}
	if (!found) {
		bu_autofree char *hint = bu_did_you_mean(name, names, count);

		bu_load_wrong(ld, section, key,
			      "there is no [%s %.80s]%s; allowed is the name of a [%s] "
			      "section",
			      kind, name, hint, kind);
	}
	free(names);
	return found;
}

void
bu_load_references(struct bu_loader *ld, const struct bu_ini_section *section,
		   void *object)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		const struct bu_ini_entry *entry;
		const void *found;

		if (keys[i].type != BU_KEY_REF ||
		    strcmp(keys[i].section, section->kind) != 0)
			continue;
		entry = bu_ini_entry(section, keys[i].key);
		if (!entry)
			continue;
		found = bu_load_find(ld, section, entry->key, keys[i].arg,
				     entry->value);
		if (found)
			memcpy((char *)object + keys[i].offset, &found, sizeof(found));
	}
}

static void
check_section_name(struct bu_loader *ld, const struct bu_ini_section *section)
{
	const struct bu_section_kind *kind = bu_schema_kind(section->kind);

	if (!kind) {
		bu_autofree char *hint = bu_schema_suggest(section->kind, NULL);

		bu_load_wrong(
			ld, section, NULL,
			"is an unknown section%s; allowed is site, policy, access, "
			"group, user, network, image, hardware, cluster, validation, pool, node",
			hint);
	} else if (kind->named && !section->name[0]) {
		bu_load_wrong(ld, section, NULL, "has no name; write [%s NAME]",
			      section->kind);
	} else if (!kind->named && section->name[0]) {
		bu_load_wrong(ld, section, NULL, "has a name; write [%s]",
			      section->kind);
	}
}

static void
create_lists(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;

	for (size_t i = 0; i < ld->ini.count; i++) {
		const struct layout *layout = find_layout(ld->ini.sections[i].kind);

		check_section_name(ld, &ld->ini.sections[i]);
		if (layout)
			++*count_of(desired, layout);
	}
	for (size_t i = 0; i < BU_LEN(layouts); i++) {
		size_t *count = count_of(desired, &layouts[i]);
		void *list = bu_xcalloc(*count + 1, layouts[i].size);

		memcpy((char *)desired + layouts[i].list, &list, sizeof(list));
		set_sections(ld, &layouts[i],
			     bu_xcalloc(*count + 1, sizeof(struct bu_ini_section *)));
		*count = 0; /* counted again as they are filled */
	}
}

/* Where each key of the section stands; line 0 for those that it does not give. */
static struct bu_origin *
origins_of(const struct bu_ini_section *section)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);
	struct bu_origin *origins = bu_xcalloc(count, sizeof(*origins));

	for (size_t i = 0; i < section->count; i++) {
		const struct bu_ini_entry *entry = &section->entries[i];
		const struct bu_key *key = bu_schema_key(section->kind, entry->key);

		if (key)
			origins[key - keys] =
				(struct bu_origin){entry->file, entry->line};
	}
	return origins;
}

static void
load_object(struct bu_loader *ld, const struct bu_ini_section *section)
{
	const struct layout *layout = find_layout(section->kind);
	struct bu_desired *desired = ld->desired;
	struct bu_origin *origins;
	size_t index;
	char *object, *name;

	if (!layout)
		return;
	index = (*count_of(desired, layout))++;
	object = list_of(desired, layout) + index * layout->size;
	name = bu_xstrdup(section->name);
	memcpy(object, &name, sizeof(name));
	*(struct bu_origin *)(object + layout->origin) =
		(struct bu_origin){.file = section->file, .line = section->line};
	sections_of(ld, layout)[index] = section;
	if (strcmp(section->kind, "network") == 0) {
		desired->networks[index].index = index;
		desired->networks[index].rail = -1;
		desired->networks[index].dscp = -1;
		desired->networks[index].gid_index = -1;
	}
	bu_load_values(ld, section, object);
	origins = origins_of(section);
	memcpy(object + layout->origins, &origins, sizeof(origins));
}

/* Sections without a name. */
#define SINGLE(kind)                                                                   \
	{                                                                              \
#kind, offsetof(struct bu_desired, kind),                              \
			offsetof(struct bu_desired, kind.origin),                      \
			offsetof(struct bu_desired, kind.origins)                      \
	}
static const struct single {
	const char *kind;
	size_t object, origin, origins;
} singles[] = {SINGLE(site), SINGLE(policy), SINGLE(access)};

static const struct single *
find_single(const char *kind)
{
	for (size_t i = 0; i < BU_LEN(singles); i++)
		if (strcmp(singles[i].kind, kind) == 0)
			return &singles[i];
	return NULL;
}

/* The first of them counts, another is a finding already. */
static void
load_single(struct bu_loader *ld, const struct bu_ini_section *section,
	    const struct single *single)
{
	char *desired = (char *)ld->desired;
	struct bu_origin *origin = (struct bu_origin *)(desired + single->origin),
			 *origins;

	if (origin->line)
		return;
	*origin = (struct bu_origin){section->file, section->line};
	origins = origins_of(section);
	memcpy(desired + single->origins, &origins, sizeof(origins));
	bu_load_values(ld, section, desired + single->object);
}

/* What a pool does not say, its hardware class says; where, too. */
static void
inherit_hardware(struct bu_desired_pool *pool)
{
	struct bu_inherit pairs[BU_INHERIT_MAX];
	size_t count = bu_schema_inherits("pool", "hardware", pairs), keys_count;
	const struct bu_key *keys = bu_schema_keys(&keys_count);

	for (size_t i = 0; pool->hardware && i < count; i++) {
		const struct bu_origin *from =
			&pool->hardware->origins[pairs[i].from - keys];
		struct bu_origin *to = &pool->origins[pairs[i].key - keys];

		if (to->line || !from->line)
			continue;
		*to = *from;
		memcpy((char *)pool + pairs[i].key->offset,
		       (const char *)pool->hardware + pairs[i].from->offset,
		       pairs[i].size);
	}
}

static void
load_pool_references(struct bu_loader *ld, struct bu_desired_pool *pool,
		     const struct bu_ini_section *section)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);
	const struct bu_ini_section *site = bu_load_site(&ld->ini);
	const struct bu_ini_entry *zone = site ? bu_ini_entry(site, "zone") : NULL;

	bu_load_references(ld, section, pool);
	bu_load_pool_networks(ld, section, pool);
	inherit_hardware(pool);
	if (!pool->zone && zone && ld->desired->site.zone) {
		pool->zone = bu_xstrdup(ld->desired->site.zone);
		pool->origins[bu_schema_key("pool", "zone") - keys] =
			(struct bu_origin){zone->file, zone->line};
	}
}

void
bu_load_objects(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;

	create_lists(ld);
	ld->of_pool_count = bu_schema_inherits("node", "pool", ld->of_pool);
	for (size_t i = 0; i < ld->ini.count; i++) {
		const struct bu_ini_section *section = &ld->ini.sections[i];
		const struct single *single = find_single(section->kind);

		if (single)
			load_single(ld, section, single);
		else
			load_object(ld, section);
	}
	for (size_t i = 0; i < desired->validations_count; i++)
		desired->validations[i].fabrics =
			bu_load_network_list(ld, ld->validation_sections[i], "fabric",
					     &desired->validations[i].fabrics_count);
	for (size_t i = 0; i < desired->users_count; i++)
		bu_load_references(ld, ld->user_sections[i], &desired->users[i]);
	for (size_t i = 0; i < desired->pools_count; i++)
		load_pool_references(ld, &desired->pools[i], ld->pool_sections[i]);
}

void
bu_load_fini(struct bu_loader *ld)
{
	for (size_t i = 0; i < BU_LEN(layouts); i++)
		free(sections_of(ld, &layouts[i]));
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
free_list(struct bu_desired *desired, const struct layout *layout)
{
	char *list = list_of(desired, layout);
	struct bu_inherit pairs[BU_INHERIT_MAX];
	size_t count = bu_schema_inherits("pool", "hardware", pairs);

	for (size_t i = 0; i < *count_of(desired, layout); i++) {
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
	}
	for (size_t i = 0; i < desired->validations_count; i++)
		free(desired->validations[i].fabrics);
	/* Pools come last in the list and go first: they point to hardware classes. */
	for (size_t i = BU_LEN(layouts); i-- > 0;)
		free_list(desired, &layouts[i]);
	for (size_t i = 0; i < BU_LEN(singles); i++) {
		char *at = (char *)desired;

		free_texts(singles[i].kind, at + singles[i].object, NULL, 0, NULL);
		free(*(struct bu_origin **)(at + singles[i].origins));
	}
}
