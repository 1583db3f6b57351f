/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of a plan's steps. Called by planned_print.c. Invariant: every step is in
 * exactly one group, so that counts on the screen are counts of nodes.
 */
#include "cli/render/planned_group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"

/* "\npools/train.ini:12 kargs" of each change; owned. */
static char *
places_of(const struct bu_plan_step *step)
{
	char *text = bu_xstrdup("");

	for (size_t i = 0; i < step->changes_count; i++) {
		const struct bu_plan_change *change = &step->changes[i];

		bu_text_add(&text, "", "\n%s:%" PRId64 " %s", change->file,
			    change->line, change->facet);
	}
	return text;
}

char *
bu_planned_last(const struct bu_plan_step *step)
{
	return bu_said_text(
		json_object_get(json_object_get(step->why, "args"), "last"));
}

/* A node in service is in a group by what is changed, another by what is wrong with it;
 * what failed the last time is said, too. */
static char *
key_of(const void *all, size_t i)
{
	const struct bu_plan_step *step = &((const struct bu_plan_step *)all)[i];
	bu_autofree char *places = places_of(step), *why = NULL;
	bu_autofree char *last = bu_planned_last(step);

	if (*places && (step->batch >= 0 || strcmp(step->from, "ready") == 0))
		return bu_xasprintf("%s\n%s%s%d%d\n%s%s", step->pool, step->class,
				    step->stays, step->there, step->anew, last, places);
	why = bu_json_canonical(step->why);
	return bu_xasprintf("%s\n%s%s%d%d\n%s%s", step->pool, step->class, step->stays,
			    step->there, step->anew, why, places);
}

static const char *
name_of(const void *all, size_t i)
{
	return ((const struct bu_plan_step *)all)[i].node;
}

static int
same_disk(const struct bu_plan_lost *a, const struct bu_plan_lost *b)
{
	return strcmp(a->path, b->path) == 0 && strcmp(a->serial, b->serial) == 0 &&
	       strcmp(a->wwn, b->wwn) == 0 && a->size_bytes == b->size_bytes &&
	       strcmp(a->holds, b->holds) == 0 && strcmp(a->wanted, b->wanted) == 0;
}

static int
same_scratch(const struct bu_plan_step *a, const struct bu_plan_step *b)
{
	size_t i = 0;

	if (a->scratch_count != b->scratch_count)
		return 0;
	while (i < a->scratch_count && same_disk(&a->scratch[i], &b->scratch[i]))
		i++;
	return i == a->scratch_count;
}

/* Steps of a group have changes of the same lines. */
static void
note_difference(struct bu_planned_group *group, const struct bu_plan_step *step)
{
	group->disks_differ |= !same_disk(&group->step->disk, &step->disk) ||
			       !same_disk(&group->step->mirror, &step->mirror) ||
			       !same_scratch(group->step, step);
	for (size_t i = 0; i < step->changes_count && i < group->step->changes_count;
	     i++) {
		const struct bu_plan_change *a = &group->step->changes[i];
		const struct bu_plan_change *b = &step->changes[i];

		group->differ[i] |= strcmp(a->old, b->old) != 0 ||
				    strcmp(a->new, b->new) != 0 ||
				    strcmp(a->class, b->class) != 0;
	}
}

static const struct bu_plan_step *
step_at(const struct bu_plan *plan, const json_t *places, size_t i)
{
	return &plan->steps[json_integer_value(json_array_get(places, i))];
}

static void
add_group(struct bu_planned_group *group, const struct bu_plan *plan,
	  const json_t *found)
{
	const json_t *places = json_object_get(found, "places");

	group->step = step_at(plan, places, 0);
	group->nodes = json_incref(json_object_get(found, "nodes"));
	group->differ = bu_xcalloc(group->step->changes_count, 1);
	for (size_t i = 0; i < json_array_size(places); i++)
		note_difference(group, step_at(plan, places, i));
}

struct bu_planned_group *
bu_planned_groups(const struct bu_plan *plan, size_t *ret_count)
{
	bu_autojson json_t *all =
		bu_planned_alike(plan->steps, plan->steps_count, key_of, name_of);
	bu_autojson json_t *pools = json_object();
	size_t count = json_array_size(all), used = 0, i;
	struct bu_planned_group *groups = bu_xcalloc(count, sizeof(*groups));
	json_t *found, *value;
	const char *pool;

	for (i = 0; i < plan->steps_count; i++)
		json_object_set_new(pools, plan->steps[i].pool, json_true());
	json_object_foreach (pools, pool, value)
		for (int class = BU_CLASS_WIPE; class >= BU_CLASS_NONE; class --)
			json_array_foreach (all, i, found) {
				const struct bu_plan_step *step = step_at(
					plan, json_object_get(found, "places"), 0);

				if (strcmp(step->pool, pool) == 0 &&
				    (int)bu_class_from_name(step->class) == class)
					add_group(&groups[used++], plan, found);
			}
	*ret_count = used;
	return groups;
}

void
bu_planned_groups_free(struct bu_planned_group *groups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_decref(groups[i].nodes);
		free(groups[i].differ);
	}
	free(groups);
}

json_t *
bu_planned_alike(const void *all, size_t count, char *(*key)(const void *, size_t),
		 const char *(*name)(const void *, size_t))
{
	bu_autojson json_t *groups = json_object();
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++) {
		bu_autofree char *its = key(all, i);
		json_t *found = json_object_get(groups, its);

		if (!found) {
			found = json_pack("{s:[],s:[]}", "places", "nodes");
			json_object_set_new(groups, its, found);
			json_array_append(list, found);
		}
		json_array_append_new(json_object_get(found, "places"),
				      json_integer((json_int_t)i));
		json_array_append_new(json_object_get(found, "nodes"),
				      json_string(name(all, i)));
	}
	return list;
}

size_t
bu_planned_first(const json_t *group)
{
	return (size_t)json_integer_value(
		json_array_get(json_object_get(group, "places"), 0));
}

/* Batches run one after the other, the nodes of one at the same time. */
static void
add_batch(json_t *longest, const struct bu_plan_step *step, struct bu_planned_time *ret)
{
	char name[24];

	if (step->batch > ret->batches)
		ret->batches = (int)step->batch;
	if (strcmp(step->class, "none") == 0)
		return;
	snprintf(name, sizeof(name), "%" PRId64, step->batch);
	if (step->minutes < 0)
		ret->minutes = -1;
	else if (bu_json_real(longest, name, 0) < step->minutes)
		json_object_set_new(longest, name, json_real(step->minutes));
}

struct bu_planned_time
bu_planned_time(const struct bu_plan *plan, const char *pool)
{
	struct bu_planned_time time = {0};
	bu_autojson json_t *longest = json_object();
	const char *batch;
	json_t *minutes;
	double sum = 0, at_once = 0;

	for (size_t i = 0; i < plan->steps_count; i++)
		if (strcmp(plan->steps[i].pool, pool) == 0)
			add_batch(longest, &plan->steps[i], &time);
	json_object_foreach (longest, batch, minutes)
		*(batch[0] == '-' ? &at_once : &sum) += json_real_value(minutes);
	if (time.minutes >= 0)
		time.minutes = sum > at_once ? sum : at_once;
	return time;
}
