/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of a plan's steps. Called by planned_print.c. Invariant: every step is in
 * exactly one group, so that counts on the screen are counts of nodes.
 */
#include "cli/render/planned_group.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* "\npools/train.ini:12 kargs" of each change; owned. */
static char *
places_of(const json_t *step)
{
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);
	json_t *change;

	bu_assert(out != NULL);
	json_array_foreach (json_object_get(step, "changes"), i, change)
		fprintf(out, "\n%s:%d %s", bu_json_str(change, "file", ""),
			(int)bu_json_int(change, "line", 0),
			bu_json_str(change, "facet", ""));
	fclose(out);
	return text;
}

/* A node in service is in a group by what is changed, another by what is wrong with it;
 * what failed the last time is said, too. */
static char *
key_of(const json_t *step)
{
	bu_autofree char *places = places_of(step), *why = NULL;
	const json_t *args = json_object_get(step, "args");
	int changed = *places && bu_json_int(step, "batch", -1) >= 0;

	if (*places && strcmp(bu_json_str(step, "from", ""), "ready") == 0)
		changed = 1;
	if (changed)
		return bu_xasprintf("%s\n%s\n%s%s", bu_json_str(step, "pool", ""),
				    bu_json_str(step, "class", ""),
				    bu_json_str(args, "last", ""), places);
	why = args ? bu_json_canonical(args) : NULL;
	return bu_xasprintf("%s\n%s\n%s %s%s", bu_json_str(step, "pool", ""),
			    bu_json_str(step, "class", ""),
			    bu_json_str(step, "code", ""), why ? why : "", places);
}

static void
note_difference(json_t *group, const json_t *step)
{
	const json_t *first =
		json_object_get(json_object_get(group, "step"), "changes");
	const json_t *changes = json_object_get(step, "changes");
	json_t *change;
	size_t i;

	if (!json_equal(json_object_get(json_object_get(group, "step"), "disk"),
			json_object_get(step, "disk")))
		json_object_set_new(json_object_get(group, "differ"), "disk",
				    json_true());
	if (first == changes || json_equal(first, changes))
		return;
	json_array_foreach (changes, i, change)
		if (!json_equal(change, json_array_get(first, i)))
			json_object_set_new(json_object_get(group, "differ"),
					    bu_json_str(change, "facet", ""),
					    json_true());
}

/* {key: group} */
static json_t *
collect(const json_t *steps)
{
	json_t *groups = json_object(), *step;
	size_t i;

	json_array_foreach (steps, i, step) {
		bu_autofree char *key = key_of(step);
		json_t *group = json_object_get(groups, key);

		if (!group) {
			group = json_pack("{s:s,s:s,s:[],s:O,s:{}}", "pool",
					  bu_json_str(step, "pool", ""), "class",
					  bu_json_str(step, "class", ""), "nodes",
					  "step", step, "differ");
			json_object_set_new(groups, key, group);
		}
		note_difference(group, step);
		json_array_append_new(json_object_get(group, "nodes"),
				      json_string(bu_json_str(step, "node", "?")));
	}
	return groups;
}

/* Appends the pool's groups, the severest first. */
static void
append_pool(json_t *list, json_t *groups, const char *pool)
{
	const char *key;
	json_t *group;

	for (int class = BU_CLASS_WIPE; class >= BU_CLASS_NONE; class --)
		json_object_foreach (groups, key, group)
			if (strcmp(bu_json_str(group, "pool", ""), pool) == 0 &&
			    (int)bu_class_from_name(bu_json_str(group, "class", "")) ==
				    class)
				json_array_append(list, group);
}

json_t *
bu_planned_groups(const json_t *steps)
{
	bu_autojson json_t *groups = collect(steps), *pools = json_object();
	json_t *list = json_array(), *group;
	const char *key;

	json_object_foreach (groups, key, group) {
		const char *pool = bu_json_str(group, "pool", "");

		if (json_object_get(pools, pool))
			continue;
		json_object_set_new(pools, pool, json_true());
		append_pool(list, groups, pool);
	}
	return list;
}

json_t *
bu_planned_alike(const json_t *objects, const char *const *members, size_t count)
{
	bu_autojson json_t *groups = json_object();
	json_t *list = json_array(), *object;
	size_t i;

	json_array_foreach (objects, i, object) {
		bu_autofree char *key = bu_xstrdup("");
		json_t *found;

		for (size_t k = 0; k < count; k++) {
			const json_t *value = json_object_get(object, members[k]);
			bu_autofree char *old = key, *text = NULL;

			text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
			key = bu_xasprintf("%s\n%s", old, text ? text : "");
		}
		found = json_object_get(groups, key);
		if (!found) {
			found = json_pack("{s:O,s:[]}", "first", object, "nodes");
			json_object_set_new(groups, key, found);
			json_array_append(list, found);
		}
		json_array_append_new(json_object_get(found, "nodes"),
				      json_string(bu_json_str(object, "node", "")));
	}
	return list;
}

/* Batches run one after the other, the nodes of one at the same time. */
static void
add_batch(json_t *longest, const json_t *step, struct bu_planned_time *ret)
{
	int batch = (int)bu_json_int(step, "batch", -1);
	double minutes = bu_json_real(step, "minutes", -1);
	char name[24];

	if (batch > ret->batches)
		ret->batches = batch;
	if (strcmp(bu_json_str(step, "class", ""), "none") == 0)
		return;
	snprintf(name, sizeof(name), "%d", batch);
	if (minutes < 0)
		ret->minutes = -1;
	else if (bu_json_real(longest, name, 0) < minutes)
		json_object_set_new(longest, name, json_real(minutes));
}

struct bu_planned_time
bu_planned_time(const json_t *steps, const char *pool)
{
	struct bu_planned_time time = {0};
	bu_autojson json_t *longest = json_object();
	const char *batch;
	json_t *step, *minutes;
	double sum = 0, at_once = 0;
	size_t i;

	json_array_foreach (steps, i, step)
		if (strcmp(bu_json_str(step, "pool", ""), pool) == 0)
			add_batch(longest, step, &time);
	json_object_foreach (longest, batch, minutes)
		*(batch[0] == '-' ? &at_once : &sum) += json_real_value(minutes);
	if (time.minutes >= 0)
		time.minutes = sum > at_once ? sum : at_once;
	return time;
}
