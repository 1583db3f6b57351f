/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the actual state of a node with the desired one. Called by decide.c.
 * Invariant: each change names the line that asks for it: that of the new value, else
 * that of the section where the value would stand.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/plan.h"
#include "profiles/language/schema.h"
#include "provisioner/plan/plan_impl.h"

static void
add(json_t *changes, const char *facet, enum bu_class class, const char *old,
    const char *new, const struct bu_origin *at)
{
	json_array_append_new(
		changes,
		bu_record_to_json(
			bu_plan_change_fields,
			&(struct bu_plan_change){facet, bu_class_name(class), old, new,
						 at->file ? at->file : "", at->line}));
}

/* The section where the facet's value would stand. */
static const struct bu_origin *
section_of(const struct bu_desired *desired, const struct bu_desired_node *want,
	   const char *facet)
{
	if (strncmp(facet, "site.", 5) == 0)
		return &desired->site.origin;
	if (strncmp(facet, "user.", 5) == 0 || strncmp(facet, "group.", 6) == 0 ||
	    strncmp(facet, "access.", 7) == 0)
		return desired->access.origin.line ? &desired->access.origin
						   : &desired->site.origin;
	if (strncmp(facet, "cluster.", 8) == 0 && want->cluster)
		return &want->cluster->origin;
	for (size_t i = 0; i < desired->networks_count; i++) {
		const struct bu_desired_network *network = &desired->networks[i];
		size_t size = strlen(network->name);

		if (strncmp(facet, "network.", 8) == 0 &&
		    strncmp(facet + 8, network->name, size) == 0 &&
		    facet[8 + size] == '.' && want->addresses[network->index])
			return &network->origin;
	}
	return &want->pool->origin;
}

static json_t *
disks_of(const struct bu_plan_input *input, const struct bu_plan_node *it,
	 const char *facet, const char *wanted)
{
	if (strcmp(facet, "hardware.disk") == 0 && input->disk_id)
		return input->disk_id(input->arg, it->node, wanted);
	if (strcmp(facet, "disks.mirror") == 0 && input->mirror && *wanted)
		return input->mirror(input->arg, it->node, it->want->hardware, wanted);
	if (strcmp(facet, "disks.scratch") == 0 && input->scratch && *wanted)
		return input->scratch(input->arg, it->node, it->want->hardware, wanted);
	return NULL;
}

/* Do both words select the same disks? Then nothing needs to be written. */
static int
same_disks(const struct bu_plan_input *input, const struct bu_plan_node *it,
	   const char *facet, const char *old, const char *new)
{
	bu_autojson json_t *was = disks_of(input, it, facet, old);
	bu_autojson json_t *is = disks_of(input, it, facet, new);

	return was && is && json_equal(was, is) &&
	       (!json_is_array(is) || json_array_size(is) > 0);
}

static void
compare_facets(const struct bu_plan_input *input, const struct bu_plan_node *it,
	       const json_t *have, json_t *changes)
{
	const struct bu_desired *desired = input->desired;
	const char *name;
	json_t *value;

	for (size_t i = 0; i < it->facets.count; i++) {
		const struct bu_facet *facet = &it->facets.items[i];
		const char *old = bu_json_str(have, facet->name, NULL);

		if (!old)
			old = bu_facet_default(facet->name);
		if (strcmp(old, facet->value) != 0 &&
		    !same_disks(input, it, facet->name, old, facet->value))
			add(changes, facet->name, facet->change, old, facet->value,
			    facet->origin.line
				    ? &facet->origin
				    : section_of(desired, it->want, facet->name));
	}
	json_object_foreach ((json_t *)(uintptr_t)have, name, value) {
		const char *new;

		if (bu_facets_find(&it->facets, name) ||
		    bu_facet_change(name) == BU_CLASS_NONE)
			continue;
		new = bu_facet_default(name);
		if (strcmp(new, bu_json_str(have, name, "")) != 0)
			add(changes, name, bu_facet_change(name),
			    bu_json_str(have, name, ""), new,
			    section_of(desired, it->want, name));
	}
}

/* have, digest: the image to compare with. */
static void
compare_image(const struct bu_plan_node *it, const char *have, const char *digest,
	      json_t *changes)
{
	const struct bu_desired_image *image = it->want->image;
	bu_autofree char *old = bu_xasprintf("%s %.12s", have, digest);
	bu_autofree char *new =
		bu_xasprintf("%s %.12s", image->name, it->image->digest);
	const struct bu_origin *at = NULL;

	if (strcmp(digest, it->image->digest) == 0)
		return;
	if (strcmp(have, image->name) != 0)
		at = bu_desired_origin(it->want, "image");
	/* a layout with data keeps it */
	add(changes, "image",
	    bu_desired_keeps(it->want) ? BU_CLASS_REIMAGE : BU_CLASS_WIPE, old, new,
	    at ? at : &image->origin);
}

/* Is the node in service in another cluster than desired, or in none? The cluster that
 * it joined last counts, not its files. */
static int
is_elsewhere(const struct bu_plan_node *it)
{
	const char *wanted = it->want->cluster ? it->want->cluster->name : "";

	return it->node->state == BU_STATE_READY &&
	       strcmp(it->node->joined->cluster, wanted) != 0;
}

/* Takes the reference of have. */
static json_t *
with_joined(json_t *have, const struct bu_node *node)
{
	json_t *seen = json_copy(have);

	json_object_set_new(seen, "cluster", json_string(node->joined->cluster));
	json_decref(have);
	return seen;
}

/* The facets that the node has; NULL = they are not known. */
static json_t *
facets_of(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	json_t *have = it->node->facets[0] ? input->facets(input->arg, it->node->facets)
					   : NULL;

	have = bu_plan_runs_facets(input, it, have);
	return have && is_elsewhere(it) ? with_joined(have, it->node) : have;
}

static int
by_severity(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	int left = bu_class_from_name(bu_json_str(x, "class", ""));
	int right = bu_class_from_name(bu_json_str(y, "class", ""));

	if (left != right)
		return right - left;
	return strcmp(bu_json_str(x, "facet", ""), bu_json_str(y, "facet", ""));
}

static json_t *
sorted(json_t *changes)
{
	size_t count = json_array_size(changes);
	bu_autofree json_t **items = bu_xcalloc(count, sizeof(json_t *));
	json_t *result = json_array();

	for (size_t i = 0; i < count; i++)
		items[i] = json_array_get(changes, i);
	qsort(items, count, sizeof(json_t *), by_severity);
	for (size_t i = 0; i < count; i++)
		json_array_append(result, items[i]);
	json_decref(changes);
	return result;
}

/* root = ram: a change that would write a disk is a reboot into the other system. */
static void
spare_disk(json_t *changes)
{
	json_t *change;
	size_t i;

	json_array_foreach (changes, i, change)
		if (bu_class_from_name(bu_json_str(change, "class", "")) >
		    BU_CLASS_REBOOT)
			json_object_set_new(
				change, "class",
				json_string(bu_class_name(BU_CLASS_REBOOT)));
}

json_t *
bu_plan_changes(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	json_t *changes = json_array();

	compare_image(it, it->node->installed_image, it->node->installed_digest,
		      changes);
	if (strcmp(it->node->facets, it->digest) != 0 || is_elsewhere(it) ||
	    bu_plan_runs_other(it)) {
		bu_autojson json_t *have = facets_of(input, it);

		/* All files are written once more. */
		if (!have)
			add(changes, "settings", BU_CLASS_RECONFIGURE, "unknown",
			    "as the profile says", &it->want->origin);
		else
			compare_facets(input, it, have, changes);
	}
	bu_plan_runs_changes(it, changes);
	if (bu_desired_is_ram(it->want))
		spare_disk(changes);
	return sorted(changes);
}

json_t *
bu_plan_content(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	const struct bu_order *order = it->node->order;
	bu_autojson json_t *have =
		order->facets[0] ? input->facets(input->arg, order->facets) : NULL;
	json_t *changes = json_array();

	compare_image(it, order->image, order->image_digest, changes);
	if (have && strcmp(order->facets, it->digest) != 0)
		compare_facets(input, it, have, changes);
	if (bu_desired_is_ram(it->want))
		spare_disk(changes);
	return sorted(changes);
}

enum bu_class
bu_plan_changes_class(const json_t *changes)
{
	const json_t *first = json_array_get(changes, 0);

	return first ? bu_class_from_name(bu_json_str(first, "class", ""))
		     : BU_CLASS_NONE;
}

void
bu_plan_changes_text(const json_t *changes, char *ret, size_t size)
{
	const json_t *first = json_array_get(changes, 0);
	const char *old = bu_json_str(first, "old", "");
	const char *new = bu_json_str(first, "new", "");
	bu_autofree char *more =
		json_array_size(changes) > 1
			? bu_xasprintf("; and %zu more", json_array_size(changes) - 1)
			: bu_xstrdup("");

	snprintf(ret, size, "%s:%d %s %.120s%s%.120s%s", bu_json_str(first, "file", ""),
		 (int)bu_json_int(first, "line", 0), bu_json_str(first, "facet", ""),
		 *old ? old : "(none)", " -> ", *new ? new : "(none)", more);
}
