/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan for people: what happens to whom, why, in which order, and at the end, where
 * the eye is when the question comes, what it costs. Pure.
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cli/render/output.h"
#include "cli/render/planned.h"
#include "cli/render/planned_beside.h"
#include "cli/render/planned_group.h"
#include "model/disk_own.h"
#include "profiles/nodeset/nodeset.h"

enum { INDENT = BU_PLANNED_INDENT };

char *
bu_planned_hostlist(const struct bu_planned *planned)
{
	bu_autojson json_t *names =
		bu_out_pick(json_object_get(planned->plan, "steps"), "node");

	return bu_out_fold(names);
}

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
}

size_t
bu_planned_reach(const struct bu_planned *planned)
{
	return planned->read.reach_count;
}

int
bu_planned_changes(const struct bu_planned *planned)
{
	return planned->read.steps_count > 0 || bu_planned_reach(planned) > 0;
}

/* "about 2h 06m"; owned. */
static char *
minutes_text(double minutes)
{
	bu_autofree char *time = bu_out_duration((int64_t)(minutes * 60 * 1000));

	return bu_xasprintf("about %s", time);
}

/* Those that go first, alone; owned. */
static char *
canaries_of(const struct bu_plan *plan, const char *pool)
{
	bu_autojson json_t *names = json_array();

	for (size_t i = 0; i < plan->steps_count; i++)
		if (plan->steps[i].batch == 0 && strcmp(plan->steps[i].pool, pool) == 0)
			json_array_append_new(names, json_string(plan->steps[i].node));
	return bu_out_fold(names);
}

/* Those that need no turn. */
static size_t
count_at_once(const struct bu_plan *plan, const char *pool)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->steps_count; i++)
		count += plan->steps[i].batch < 0 &&
			 strcmp(plan->steps[i].class, "none") != 0 &&
			 strcmp(plan->steps[i].pool, pool) == 0;
	return count;
}

/* "pool train: gpu[0001-0002] first, then 21 batches of 51; about 3h 20m", and when it
 * stops by itself. */
static void
print_pool(const struct bu_plan *plan, const char *pool, FILE *out)
{
	struct bu_plan_pool limits;
	struct bu_planned_time time = bu_planned_time(plan, pool);
	bu_autofree char *first = canaries_of(plan, pool);
	bu_autofree char *took = time.minutes > 0 ? minutes_text(time.minutes) : NULL;
	size_t others = count_at_once(plan, pool);

	/* bu_planned_from_json() has read them; a pool may have none. */
	bu_ignore(bu_record_from_json(bu_plan_pool_fields,
				      json_object_get(plan->pools, pool), &limits,
				      NULL));
	fprintf(out, "pool %s: %s%s", pool, *first ? first : "all at once",
		*first ? " first" : "");
	if (time.batches > 0)
		fprintf(out, ", then %d batch%s of %" PRId64, time.batches,
			time.batches == 1 ? "" : "es", limits.max_unavailable);
	if (time.minutes < 0)
		fputs("; time unknown: no such step was done here yet", out);
	else if (took)
		fprintf(out, "; %s", took);
	fputc('\n', out);
	if (*first && others)
		fprintf(out,
			"  %zu other%s at once: out of service, or relabelled only\n",
			others, plural(others));
	if (*first)
		fprintf(out, "  stops itself at %" PRId64 " failure%s%s%s\n",
			limits.failure_budget, plural((size_t)limits.failure_budget),
			*limits.maintenance ? "; only in " : "", limits.maintenance);
}

/* What a group's steps say for themselves: why it is out of service, or what went wrong
 * the last time; what is changed follows with its lines. */
static void
print_why(const struct bu_plan_step *step, FILE *out)
{
	bu_autofree char *why = bu_out_said(step->why);
	bu_autofree char *said = bu_planned_last(step);
	bu_autofree char *last = bu_out_clean(said, 0);

	if (step->changes_count == 0 || strcmp(step->from, "ready") != 0)
		fprintf(out, "%*s%s\n", INDENT, "", why);
	else if (*last)
		fprintf(out, "%*slast time: %s\n", INDENT, "", last);
}

/* "serial number S6X1", "WWN eui.0025" where it shares that; "" = it has neither. */
static char *
number_of(const struct bu_plan_lost *disk)
{
	bu_autofree char *number =
		bu_out_clean(bu_disk_number(disk->serial, disk->wwn), 0);

	return *number ? bu_xasprintf("%s %s", *disk->serial ? "serial number" : "WWN",
				      number)
		       : bu_xstrdup("");
}

/* What is lost is on this disk, and a grant is for no other. */
static void
print_disk(const struct bu_planned_group *group, const char *what,
	   const struct bu_plan_lost *disk, FILE *out)
{
	bu_autofree char *name =
		bu_out_clean(*disk->path ? disk->path : disk->wanted, 0);
	bu_autofree char *number = number_of(disk);
	bu_autofree char *holds = bu_out_clean(disk->holds, 0);

	if (!*name)
		return;
	fprintf(out, "%*s%s %s", INDENT, "", what, name);
	if (*number)
		fprintf(out, ", %s", number);
	if (disk->size_bytes > 0)
		fprintf(out, ", %.1f GB", (double)disk->size_bytes / 1e9);
	if (*holds)
		fprintf(out, "; on it: %s", holds);
	if (group->disks_differ)
		fprintf(out, " (%s; each its own)", group->step->node);
	fputc('\n', out);
}

/* The disks of the array: a reimage keeps it, a wipe does not, nor does any start of an
 * array whose key each start forgets. */
static void
print_scratch(const struct bu_planned_group *group, FILE *out)
{
	const struct bu_plan_step *step = group->step;
	int keeps = strcmp(step->class, "reimage") == 0;

	for (size_t i = 0; i < step->scratch_count; i++) {
		const struct bu_plan_lost *disk = &step->scratch[i];
		bu_autofree char *path = bu_out_clean(disk->path, 0);
		bu_autofree char *number = number_of(disk);
		bu_autofree char *holds = bu_out_clean(disk->holds, 0);

		fprintf(out, "%*sscratch disk %s, %s, %.1f GB", INDENT, "", path,
			number, (double)disk->size_bytes / 1e9);
		if (*holds)
			fprintf(out, "; on it: %s", holds);
		if (group->disks_differ)
			fprintf(out, " (%s; each its own)", step->node);
		fprintf(out, "%s\n",
			!keeps          ? ""
			: step->forgets ? ", emptied by the restart"
					: ", kept");
	}
}

/* Of two roots one stays, and what does not come up makes way for it. */
static void
print_roots(const struct bu_plan_step *step, FILE *out)
{
	bu_autofree char *stays = bu_out_clean(step->stays, 0);

	if (*stays)
		fprintf(out, "%*sinto the other root; %s stays to go back to%s\n",
			INDENT, "", stays,
			step->there ? "; the image is there, nothing is fetched" : "");
}

static void
print_group(const struct bu_planned_group *group, FILE *out)
{
	const struct bu_plan_step *step = group->step;
	bu_autofree char *nodes = bu_out_fold(group->nodes);
	size_t count = json_array_size(group->nodes);

	fprintf(out, "  %-11s %s",
		strcmp(step->class, "none") == 0 ? "take back" : step->class, nodes);
	if (count > 1)
		fprintf(out, " (%zu nodes)", count);
	fputc('\n', out);
	print_disk(group, "disk", &step->disk, out);
	print_disk(group, "mirror disk", &step->mirror, out);
	print_scratch(group, out);
	print_roots(step, out);
	if (step->anew)
		fprintf(out, "%*sits order under way is withdrawn, and begins anew\n",
			INDENT, "");
	print_why(step, out);
	for (size_t i = 0; i < step->changes_count; i++)
		bu_planned_print_change(&step->changes[i],
					group->differ[i] ? step->node : NULL, out);
}

static void
print_steps(const struct bu_plan *plan, FILE *out)
{
	size_t count;
	struct bu_planned_group *groups = bu_planned_groups(plan, &count);
	const char *pool = "";

	for (size_t i = 0; i < count; i++) {
		const char *of_group = groups[i].step->pool;

		if (strcmp(pool, of_group) != 0)
			print_pool(plan, of_group, out);
		pool = of_group;
		print_group(&groups[i], out);
	}
	fputc('\n', out);
	bu_planned_groups_free(groups, count);
}

int
bu_planned_allowed(const struct bu_planned *planned, struct bu_err *err)
{
	size_t count = 0;

	for (size_t i = 0; i < planned->read.refused_count; i++)
		count += planned->read.refused[i].rule != BU_PLAN_RULE_NONE;
	if (count == 0)
		return 0;
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "this plan cannot be applied, for %zu reason%s", count,
			  plural(count));
}

/* Nodes of which the plan says anything: some that are refused have a step, too, which
 * takes back what waits. */
static size_t
count_nodes(const struct bu_plan *plan)
{
	bu_autojson json_t *names = json_object();
	size_t count = (size_t)plan->unchanged, i;
	const char *rollout;
	json_t *nodes;

	for (i = 0; i < plan->refused_count; i++)
		json_object_set_new(names, plan->refused[i].node, json_true());
	for (i = 0; i < plan->steps_count; i++)
		json_object_set_new(names, plan->steps[i].node, json_true());
	json_object_foreach ((json_t *)plan->waiting, rollout, nodes)
		count += (size_t)json_integer_value(nodes);
	return count + json_object_size(names);
}

int
bu_planned_whole(const struct bu_planned *planned, struct bu_err *err)
{
	const struct bu_plan *plan = &planned->read;
	bu_autojson json_t *names =
		bu_out_pick(json_object_get(planned->plan, "refused"), "node");
	bu_autofree char *nodes = bu_out_fold(names);
	bu_autofree char *why = NULL;
	size_t count = plan->refused_count;

	if (count == 0)
		return 0;
	why = bu_out_said(plan->refused[0].why);
	return bu_err_set(err, BU_ERR_PARTLY, 0,
			  "%zu of %zu nodes %s refused, nothing was ordered for %s: "
			  "%.120s%s%s: %.200s",
			  count, count_nodes(plan), count == 1 ? "was" : "were",
			  count == 1 ? "it" : "them", nodes, count == 1 ? "" : "; ",
			  count == 1 ? "" : plan->refused[0].node, why);
}

/* What keeps the plan from being applied. */
static void
print_forbidden(const struct bu_plan *plan, FILE *out)
{
	int first = 1;

	for (size_t i = 0; i < plan->refused_count; i++) {
		const struct bu_plan_refusal *entry = &plan->refused[i];
		bu_autofree char *why = bu_out_said(entry->why);
		int named = !*entry->node || entry->named;

		if (!entry->rule)
			continue;
		if (first)
			fputs("This plan cannot be applied:\n", out);
		first = 0;
		fprintf(out, "  %s:%" PRId64 ": %s%s%s\n", entry->file, entry->line,
			named ? "" : entry->node, named ? "" : ": ", why);
	}
}

/* Of a refusal; that of the whole plan is in a group of its own. */
static char *
refusal_key(const void *all, size_t i)
{
	const struct bu_plan_refusal *entry = &((const struct bu_plan_refusal *)all)[i];
	bu_autofree char *why = bu_json_canonical(entry->why);

	return bu_xasprintf("%d\n%s", entry->rule != BU_PLAN_RULE_NONE, why);
}

static const char *
refusal_name(const void *all, size_t i)
{
	return ((const struct bu_plan_refusal *)all)[i].node;
}

/* What keeps single nodes out of the plan. */
static void
print_refused(const struct bu_plan *plan, FILE *out)
{
	bu_autojson json_t *groups = bu_planned_alike(
		plan->refused, plan->refused_count, refusal_key, refusal_name);
	json_t *group;
	size_t i;

	json_array_foreach (groups, i, group) {
		const struct bu_plan_refusal *first =
			&plan->refused[bu_planned_first(group)];
		bu_autofree char *nodes = bu_out_fold(json_object_get(group, "nodes"));
		bu_autofree char *why = bu_out_said(first->why);

		if (!first->rule)
			fprintf(out, "refused: %s: %s\n", nodes, why);
	}
}

static void
print_consequences(const struct bu_plan *plan, FILE *out)
{
	size_t counts[BU_CLASS_COUNT] = {0}, i;

	for (i = 0; i < plan->steps_count; i++)
		counts[bu_class_from_name(plan->steps[i].class)]++;
	for (i = BU_CLASS_NONE + 1; i < BU_LEN(counts); i++) {
		const char *name = bu_class_name((enum bu_class)i);
		int grant = bu_class_needs_grant((enum bu_class)i);

		if (counts[i])
			fprintf(out, "%s: %zu node%s, %s%s%s\n", name, counts[i],
				plural(counts[i]),
				bu_class_info((enum bu_class)i)->help,
				grant ? "; needs --grant " : "", grant ? name : "");
	}
	if (counts[BU_CLASS_NONE])
		fprintf(out, "withdrawn: %zu order%s that had not started\n",
			counts[BU_CLASS_NONE], plural(counts[BU_CLASS_NONE]));
	if (plan->reach_count)
		fprintf(out,
			"at once: %zu change%s of how machines are reached and known, "
			"for orders under way, too\n",
			plan->reach_count, plural(plan->reach_count));
}

static void
print_rest(const struct bu_plan *plan, FILE *out)
{
	const char *rollout;
	json_t *value;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)plan->warnings, i, value) {
		bu_autofree char *text = bu_out_said(value);

		fprintf(out, "warning: %s\n", text);
	}
	json_object_foreach ((json_t *)plan->waiting, rollout, value)
		fprintf(out,
			"ordered already: %lld node%s, see bringup rollout show %s\n",
			(long long)json_integer_value(value),
			json_integer_value(value) == 1 ? "" : "s", rollout);
	if (plan->left_count) {
		bu_autofree char *nodes = bu_nodeset_fold(plan->left, plan->left_count);

		fprintf(out, "no longer in the profile, left as they are: %s\n", nodes);
	}
	if (plan->left_out)
		fprintf(out, "left out by --limit %s: %" PRId64 " node%s\n",
			plan->limit, plan->left_out, plural((size_t)plan->left_out));
	fprintf(out, "unchanged: %" PRId64 " node%s\n", plan->unchanged,
		plural((size_t)plan->unchanged));
}

void
bu_planned_print(const struct bu_planned *planned, FILE *out)
{
	const struct bu_plan *plan = &planned->read;
	bu_autofree char *commit = bu_out_commit(plan->commit);

	if (plan->adopts_count) {
		bu_autofree char *nodes =
			bu_nodeset_fold(plan->adopts, plan->adopts_count);

		fprintf(out, "adopted as they run, without a step: %s\n", nodes);
	}
	if (plan->steps_count)
		print_steps(plan, out);
	else if (plan->reach_count)
		fputs("no node gets a step; what changes takes effect at once\n", out);
	else if (plan->drift_count || plan->quarantined_count)
		fputs("nothing to apply, but some nodes are not as they should be\n",
		      out);
	else
		fputs("nothing to do\n", out);
	bu_planned_print_beside(plan, out);
	print_refused(plan, out);
	print_rest(plan, out);
	print_consequences(plan, out);
	fprintf(out, "plan %.12s of revision %.12s%s%s%s\n", planned->digest,
		plan->revision, *commit ? " (commit " : "", commit, *commit ? ")" : "");
	print_forbidden(plan, out);
}
