/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan says beside its steps: what is not as it should be, what takes effect
 * without a step, and which orders go on by another revision. Called by
 * planned_print.c.
 */
#include "cli/render/planned_beside.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/render/output.h"
#include "cli/render/planned_group.h"
#include "model/sentence.h"

enum { INDENT = BU_PLANNED_INDENT, WIDTH = 80 };

/* On one line where that is short enough to be read at a glance. */
void
bu_planned_print_change(const struct bu_plan_change *change, const char *each_its_own,
			FILE *out)
{
	bu_autofree char *old = bu_out_clean(change->old, 0);
	bu_autofree char *new = bu_out_clean(change->new, 0);
	bu_autofree char *head = bu_xasprintf("%s:%" PRId64 " %s", change->file,
					      change->line, change->facet);
	bu_autofree char *tail =
		each_its_own ? bu_xasprintf(" (%s; each its own)", each_its_own)
			     : bu_xstrdup("");
	const char *from = *old ? old : "(none)", *to = *new ? new : "(none)";

	if (INDENT + strlen(head) + strlen(from) + strlen(to) + strlen(tail) + 6 <=
	    WIDTH)
		fprintf(out, "%*s%s: %s -> %s%s\n", INDENT, "", head, from, to, tail);
	else
		fprintf(out, "%*s%s%s\n%*swas %s\n%*sis  %s\n", INDENT, "", head, tail,
			INDENT + 2, "", from, INDENT + 2, "", to);
}

static char *
drift_key(const void *all, size_t i)
{
	const struct bu_plan_drift *entry = &((const struct bu_plan_drift *)all)[i];
	bu_autofree char *text = bu_said_text(entry->said);

	return bu_xasprintf("%s\n%s\n%s", entry->state, entry->condition, text);
}

static const char *
drift_name(const void *all, size_t i)
{
	return ((const struct bu_plan_drift *)all)[i].node;
}

/* Ready, and not to be counted on: "gpu0004: ready, but unreachable: ...". */
static void
print_drift(const struct bu_plan *plan, FILE *out)
{
	bu_autojson json_t *groups =
		bu_planned_alike(plan->drift, plan->drift_count, drift_key, drift_name);
	json_t *group;
	size_t i;

	json_array_foreach (groups, i, group) {
		const struct bu_plan_drift *first =
			&plan->drift[bu_planned_first(group)];
		bu_autofree char *nodes = bu_out_fold(json_object_get(group, "nodes"));
		bu_autofree char *text = bu_out_said(first->said);

		fprintf(out, "drift: %s: %s, but %s: %s\n", nodes, first->state,
			first->condition, text);
	}
}

/* What is as it should be, and does not work. */
static void
print_quarantined(const struct bu_plan *plan, FILE *out)
{
	for (size_t i = 0; i < plan->quarantined_count; i++) {
		bu_autofree char *why = bu_out_said(plan->quarantined[i].why);

		fprintf(out, "left as it is: %s: %s\n", plan->quarantined[i].node, why);
	}
}

/* --- what takes effect at once --- */

static void
print_reach(const struct bu_plan *plan, FILE *out)
{
	const char *nodes = "";

	for (size_t i = 0; i < plan->reach_count; i++) {
		const struct bu_plan_reach *reach = &plan->reach[i];
		const struct bu_plan_change change = {reach->facet, "",
						      reach->old,   reach->new,
						      reach->file,  reach->line};

		if (strcmp(nodes, reach->nodes) != 0)
			fprintf(out, "takes effect at once: %s\n", reach->nodes);
		nodes = reach->nodes;
		bu_planned_print_change(&change, NULL, out);
	}
}

/* --- orders under way --- */

static char *
under_way_key(const void *all, size_t i)
{
	const struct bu_plan_under_way *one =
		&((const struct bu_plan_under_way *)all)[i];
	char *key = bu_xasprintf("%s\n%s\n%s", one->state, one->rollout, one->revision);

	for (size_t k = 0; k < one->reach_count; k++)
		bu_text_add(&key, "", "\n%s", one->reach[k]);
	for (size_t k = 0; k < one->content_count; k++) {
		const struct bu_plan_change *change = &one->content[k];

		bu_text_add(&key, "", "\n%s:%" PRId64 " %s %s %s", change->file,
			    change->line, change->facet, change->old, change->new);
	}
	return key;
}

static const char *
under_way_name(const void *all, size_t i)
{
	return ((const struct bu_plan_under_way *)all)[i].node;
}

static void
print_order(const struct bu_plan_under_way *one, const char *nodes, FILE *out)
{
	bu_autofree char *commit = bu_out_commit(one->commit);

	fprintf(out, "under way: %s: %s, by rollout %s of revision %.12s%s%s%s\n",
		nodes, one->state, one->rollout, one->revision,
		*commit ? " (commit " : "", commit, *commit ? ")" : "");
	if (one->reach_count) {
		fprintf(out, "%*stakes effect at once: ", INDENT, "");
		for (size_t i = 0; i < one->reach_count; i++)
			fprintf(out, "%s%s", i ? ", " : "", one->reach[i]);
		fputc('\n', out);
	}
	if (!one->content_count)
		return;
	fprintf(out,
		"%*sstays as ordered until that has ended, or bringup apply "
		"--restart-orders %s:\n",
		INDENT, "", nodes);
	for (size_t i = 0; i < one->content_count; i++)
		bu_planned_print_change(&one->content[i], NULL, out);
}

static void
print_under_way(const struct bu_plan *plan, FILE *out)
{
	bu_autojson json_t *groups = bu_planned_alike(
		plan->under_way, plan->under_way_count, under_way_key, under_way_name);
	json_t *group;
	size_t i;

	json_array_foreach (groups, i, group) {
		bu_autofree char *nodes = bu_out_fold(json_object_get(group, "nodes"));

		print_order(&plan->under_way[bu_planned_first(group)], nodes, out);
	}
}

void
bu_planned_print_beside(const struct bu_plan *plan, FILE *out)
{
	print_drift(plan, out);
	print_quarantined(plan, out);
	print_reach(plan, out);
	print_under_way(plan, out);
}
