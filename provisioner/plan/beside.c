/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a plan beside its steps: conditions of nodes, changes that count from
 * the apply on, orders under way of another revision. Called by plan.c. Invariant:
 * nothing here decides a step.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/plan.h"
#include "model/sentence.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/plan/plan_impl.h"

/* Conditions are shown only: each ends in its own way. */
void
bu_plan_drift(json_t *plan, const struct bu_node *node)
{
	for (int id = 0; id < BU_CONDITION_COUNT; id++) {
		const struct bu_condition *condition = &node->conditions[id];
		const char *name = bu_condition_info(id)->name;
		bu_autojson json_t *said = NULL;

		if (!condition->on)
			continue;
		said = BU_SAID(CONDITION, BU_ARG("name", name),
			       BU_ARG_SAID("detail", json_incref(condition->detail)));
		json_array_append_new(
			json_object_get(plan, "drift"),
			bu_record_to_json(
				bu_plan_drift_fields,
				&(struct bu_plan_drift){node->name,
							bu_state_name(node->state),
							name, said}));
	}
}

/* --- changes that count at once --- */

typedef void (*change_fn)(const char *facet, const char *old, const char *new,
			  const struct bu_origin *at, void *arg);

static const struct bu_origin *
place_of(const struct bu_facet *facet, const struct bu_desired_node *now)
{
	return facet && facet->origin.line ? &facet->origin : &now->origin;
}

/* Calls fn for each facet that differs; both lists are sorted by name. */
static void
compare(const struct bu_facets *was, const struct bu_facets *is,
	const struct bu_desired_node *now, change_fn fn, void *arg)
{
	size_t i = 0, j = 0;

	while (i < was->count || j < is->count) {
		const struct bu_facet *old = i < was->count ? &was->items[i] : NULL;
		const struct bu_facet *new = j < is->count ? &is->items[j] : NULL;
		int order = !old ? 1 : !new ? -1 : strcmp(old->name, new->name);
		const char *name = order <= 0 ? old->name : new->name;
		const char *from = order <= 0 ? old->value : bu_facet_default(name);
		const char *to = order >= 0 ? new->value : bu_facet_default(name);

		if (strcmp(from, to) != 0)
			fn(name, from, to, place_of(order >= 0 ? new : NULL, now), arg);
		i += order <= 0;
		j += order >= 0;
	}
}

/* Kept for many nodes, to reuse the memory of the lists. */
struct sides {
	struct bu_facets was, is;
};

static void
each_reach(const struct bu_plan_input *input, struct sides *sides, const char *before,
	   const struct bu_desired_node *now, change_fn fn, void *arg)
{
	const struct bu_desired_node *was =
		input->applied ? bu_desired_node(input->applied, before) : NULL;

	if (!was || bu_reach_same(was, now))
		return;
	bu_facets_reach(&sides->was, input->applied, was);
	bu_facets_reach(&sides->is, input->desired, now);
	compare(&sides->was, &sides->is, now, fn, arg);
}

/* Nodes with the same change share one entry; `nodes` is a list until all are in it. */
struct reach {
	json_t *list, *by_key;
	const char *node;
};

static void
add_reach(const char *facet, const char *old, const char *new,
	  const struct bu_origin *at, void *arg)
{
	struct reach *reach = arg;
	const char *file = at->file ? at->file : "";
	bu_autofree char *key =
		bu_xasprintf("%s\n%s\n%s\n%s\n%d", facet, old, new, file, at->line);
	json_t *entry = json_object_get(reach->by_key, key);

	if (!entry) {
		entry = bu_record_to_json(
			bu_plan_reach_fields,
			&(struct bu_plan_reach){"", facet, old, new, file, at->line});
		json_object_set_new(entry, "nodes", json_array());
		json_object_set(reach->by_key, key, entry);
		json_array_append_new(reach->list, entry);
	}
	json_array_append_new(json_object_get(entry, "nodes"),
			      json_string(reach->node));
}

static void
fold_nodes(json_t *entry)
{
	json_t *nodes = json_object_get(entry, "nodes");
	size_t count = json_array_size(nodes);
	bu_autofree const char **names = bu_xcalloc(count, sizeof(*names));
	bu_autofree char *folded = NULL;

	for (size_t i = 0; i < count; i++)
		names[i] = json_string_value(json_array_get(nodes, i));
	folded = bu_nodeset_fold(names, count);
	json_object_set_new(entry, "nodes", json_string(folded));
}

/* Was the node refused because another machine takes its name during its order? The
 * order keeps its machine. */
static int
keeps_machine(const json_t *refused, const char *node)
{
	const char *code = bu_reason_info(BU_REASON_REPLACED_ON_WAY)->name;
	json_t *entry;
	size_t i;

	json_array_foreach (refused, i, entry) {
		const json_t *said = json_object_get(entry, "why");

		if (strcmp(bu_json_str(said, "code", ""), code) == 0 &&
		    strcmp(bu_json_str(entry, "node", ""), node) == 0)
			return 1;
	}
	return 0;
}

/* Only nodes of the applied profile can change their reach. */
void
bu_plan_reach(const struct bu_plan_input *input, json_t *plan)
{
	struct reach reach = {.list = json_object_get(plan, "reach"),
			      .by_key = json_object()};
	const json_t *refused = json_object_get(plan, "refused");
	struct sides sides = {0};
	json_t *entry;
	size_t i;

	for (i = 0; i < input->desired->nodes_count; i++) {
		const struct bu_desired_node *now = &input->desired->nodes[i];

		if (keeps_machine(refused, now->name))
			continue;
		reach.node = now->name;
		each_reach(input, &sides, now->name, now, add_reach, &reach);
	}
	json_array_foreach (reach.list, i, entry)
		fold_nodes(entry);
	json_decref(reach.by_key);
	bu_facets_clear(&sides.was);
	bu_facets_clear(&sides.is);
}

/* --- orders under way --- */

static void
add_name(const char *facet, const char *old, const char *new,
	 const struct bu_origin *at, void *arg)
{
	(void)old;
	(void)new;
	(void)at;
	json_array_append_new(arg, json_string(facet));
}

void
bu_plan_under_way(const struct bu_plan_input *input, const struct bu_plan_node *it,
		  json_t *plan)
{
	const struct bu_node *node = it->node;
	const struct bu_order *order = node->order;
	struct sides sides = {0};
	json_t *reach, *entry;

	if (!order->open || !order->begun ||
	    strcmp(order->revision, input->revision) == 0)
		return;
	reach = json_array();
	if (it->identity->kind != BU_MACHINE_IDENTITY_REPLACED)
		each_reach(input, &sides, node->name, it->want, add_name, reach);
	entry = json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o}", "node", node->name, "state",
			  bu_state_name(node->state), "rollout", order->rollout,
			  "revision", order->revision, "commit", order->commit, "reach",
			  reach, "content", bu_plan_content(input, it));
	json_array_append_new(json_object_get(plan, "under_way"), entry);
	bu_facets_clear(&sides.was);
	bu_facets_clear(&sides.is);
}

/* --- orders that begin anew --- */

static char *
fold(const struct bu_nodeset *set, int (*is)(const struct bu_node *node),
     const struct bu_plan_input *input)
{
	bu_autofree const char **names = bu_xcalloc(set->count + 1, sizeof(*names));
	size_t count = 0;

	for (size_t i = 0; i < set->count; i++) {
		const char *name = set->names[i];

		if (!is || is(bu_nodes_find(input->nodes, input->count, name)))
			names[count++] = name;
	}
	return bu_nodeset_fold(names, count);
}

char *
bu_plan_restart_text(const struct bu_plan_input *input)
{
	return input->restart ? fold(input->restart, NULL, input) : bu_xstrdup("");
}

static int
has_none(const struct bu_node *node)
{
	return !node || !node->order->open || !node->order->begun;
}

void
bu_plan_restart_warn(const struct bu_plan_input *input, json_t *plan)
{
	bu_autofree char *names =
		input->restart ? fold(input->restart, has_none, input) : bu_xstrdup("");

	if (*names)
		json_array_append_new(json_object_get(plan, "warnings"),
				      BU_SAID(NOT_UNDER_WAY, BU_ARG("nodes", names)));
}
