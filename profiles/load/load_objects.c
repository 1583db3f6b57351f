/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections to objects, names to pointers, as the table says. Called by load.c.
 * Invariant: the lists of objects never move once they are filled, so that pointers
 * into them hold.
 */
#include <stdarg.h>
#include <string.h>

#include "profiles/load/layout.h"

const struct bu_ini_section *
bu_load_site(const struct bu_ini *ini)
{
	for (size_t i = 0; i < ini->count; i++)
		if (strcmp(ini->sections[i].kind, "site") == 0)
			return &ini->sections[i];
	return NULL;
}

static const struct bu_ini_section **
sections_of(struct bu_loader *ld, const struct bu_layout *layout)
{
	const struct bu_ini_section **list;

	memcpy(&list, (const char *)ld + layout->sections, sizeof(list));
	return list;
}

static void
set_sections(struct bu_loader *ld, const struct bu_layout *layout, void *list)
{
	memcpy((char *)ld + layout->sections, &list, sizeof(list));
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
	if (entry && key->type == BU_KEY_SSHKEYS && bu_load_names_keys(text))
		bu_load_sshkeys(ld, section, entry, (char **)(object + key->offset));
	else if (text &&
		 bu_value_parse(key, text, has_field ? object + key->offset : NULL,
				&err) < 0)
		bu_load_wrong(ld, section, key->key, "%s", err.text);
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
	const struct bu_layout *layout = bu_layout_find(kind);
	size_t count = *bu_layout_count(layout, ld->desired);
	const char **names = bu_xcalloc(count, sizeof(*names));
	const char *found = NULL;

	for (size_t i = 0; i < count && !found; i++) {
		const char *object =
			bu_layout_list(layout, ld->desired) + i * layout->size;

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
			"group, user, network, image, disks, mount, hardware, cluster, validation, pool, node",
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
		const struct bu_layout *layout =
			bu_layout_find(ld->ini.sections[i].kind);

		check_section_name(ld, &ld->ini.sections[i]);
		if (layout)
			++*bu_layout_count(layout, desired);
	}
	for (size_t i = 0; i < BU_LEN(bu_layouts); i++) {
		size_t *count = bu_layout_count(&bu_layouts[i], desired);
		void *list = bu_xcalloc(*count, bu_layouts[i].size);

		memcpy((char *)desired + bu_layouts[i].list, &list, sizeof(list));
		set_sections(ld, &bu_layouts[i],
			     bu_xcalloc(*count, sizeof(struct bu_ini_section *)));
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
	const struct bu_layout *layout = bu_layout_find(section->kind);
	struct bu_desired *desired = ld->desired;
	struct bu_origin *origins;
	size_t index;
	char *object, *name;

	if (!layout)
		return;
	index = (*bu_layout_count(layout, desired))++;
	object = bu_layout_list(layout, desired) + index * layout->size;
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
		desired->networks[index].flow_label = -1;
	}
	bu_load_values(ld, section, object);
	origins = origins_of(section);
	memcpy(object + layout->origins, &origins, sizeof(origins));
}

/* The first of them counts, another is a finding already. */
static void
load_single(struct bu_loader *ld, const struct bu_ini_section *section,
	    const struct bu_single *single)
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

/* Those that a key names, each once; an owned list of pointers to them. */
static const void **
load_list(struct bu_loader *ld, const struct bu_ini_section *section, const char *key,
	  size_t *ret_count)
{
	const struct bu_ini_entry *entry = bu_ini_entry(section, key);
	const char *kind = bu_schema_key(section->kind, key)->arg;
	const void **list = NULL;
	const char *rest = entry ? entry->value : "";
	size_t cap = 0, count = 0;
	char *word;

	while ((word = bu_value_next_word(&rest))) {
		bu_autofree char *name = word;
		const void *found = bu_load_find(ld, section, key, kind, name);
		size_t i = 0;

		while (i < count && list[i] != found)
			i++;
		if (i < count)
			bu_load_wrong(ld, section, key,
				      "names '%.80s' twice; name each %s once", name,
				      kind);
		else if (found) {
			list = bu_xgrow(list, &cap, i + 1, sizeof(*list));
			list[count++] = found;
		}
	}
	*ret_count = count;
	return list;
}

static const struct bu_desired_network **
load_network_list(struct bu_loader *ld, const struct bu_ini_section *section,
		  const char *key, size_t *ret_count)
{
	bu_autofree const void **found = load_list(ld, section, key, ret_count);
	const struct bu_desired_network **list = bu_xcalloc(*ret_count, sizeof(*list));

	for (size_t i = 0; i < *ret_count; i++)
		list[i] = found[i];
	return list;
}

static void
load_pool_mounts(struct bu_loader *ld, const struct bu_ini_section *section,
		 struct bu_desired_pool *pool)
{
	bu_autofree const void **found =
		load_list(ld, section, "mounts", &pool->mounts_count);

	pool->mounts = bu_xcalloc(pool->mounts_count, sizeof(*pool->mounts));
	for (size_t i = 0; i < pool->mounts_count; i++)
		pool->mounts[i] = found[i];
}

/* Those of the pool that its validation names; without names, all that can be measured.
 */
static int
is_measured(const struct bu_desired_validation *validation,
	    const struct bu_desired_network *network)
{
	if (validation->fabrics_count == 0)
		return network->role == BU_ROLE_FABRIC && network->rdma != BU_RDMA_NONE;
	for (size_t i = 0; i < validation->fabrics_count; i++) {
		if (validation->fabrics[i] == network)
			return 1;
	}
	return 0;
}

/* Those that [pool] networks names, and the rails among them. */
static void
load_pool_networks(struct bu_loader *ld, const struct bu_ini_section *section,
		   struct bu_desired_pool *pool)
{
	pool->networks =
		load_network_list(ld, section, "networks", &pool->networks_count);
	pool->rails = bu_xcalloc(pool->networks_count, sizeof(*pool->rails));
	for (size_t i = 0; pool->validation && i < pool->networks_count; i++) {
		if (is_measured(pool->validation, pool->networks[i]))
			pool->rails[pool->rails_count++] = pool->networks[i];
	}
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
	load_pool_networks(ld, section, pool);
	load_pool_mounts(ld, section, pool);
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
		const struct bu_single *single = bu_single_find(section->kind);

		if (single)
			load_single(ld, section, single);
		else
			load_object(ld, section);
	}
	for (size_t i = 0; i < desired->validations_count; i++)
		desired->validations[i].fabrics =
			load_network_list(ld, ld->validation_sections[i], "fabric",
					  &desired->validations[i].fabrics_count);
	for (size_t i = 0; i < desired->users_count; i++)
		bu_load_references(ld, ld->user_sections[i], &desired->users[i]);
	for (size_t i = 0; i < desired->hardware_count; i++)
		bu_load_references(ld, ld->hardware_sections[i], &desired->hardware[i]);
	for (size_t i = 0; i < desired->pools_count; i++)
		load_pool_references(ld, &desired->pools[i], ld->pool_sections[i]);
}

void
bu_load_fini(struct bu_loader *ld)
{
	free(ld->unread);
	for (size_t i = 0; i < BU_LEN(bu_layouts); i++)
		free(sections_of(ld, &bu_layouts[i]));
}
