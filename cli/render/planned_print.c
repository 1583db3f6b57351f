/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan for people: what happens to whom, why, in which order, and at the end, where
 * the eye is when the question comes, what it costs. Pure.
 */
#include <string.h>

#include "base/json.h"
#include "cli/render/output.h"
#include "cli/render/planned.h"
#include "cli/render/planned_group.h"

enum { INDENT = 14, WIDTH = 80 };

static json_t *
steps_of(const struct bu_planned *planned)
{
	return json_object_get(planned->plan, "steps");
}

size_t
bu_planned_steps(const struct bu_planned *planned)
{
	return json_array_size(steps_of(planned));
}

char *
bu_planned_hostlist(const struct bu_planned *planned)
{
	bu_autojson json_t *names = bu_out_pick(steps_of(planned), "node");

	return bu_out_fold(names);
}

static const char *
plural(size_t count)
{
	return count == 1 ? "" : "s";
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
canaries_of(const struct bu_planned *planned, const char *pool)
{
	bu_autojson json_t *names = json_array();
	json_t *step;
	size_t i;

	json_array_foreach (steps_of(planned), i, step)
		if (bu_json_int(step, "batch", -1) == 0 &&
		    strcmp(bu_json_str(step, "pool", ""), pool) == 0)
			json_array_append(names, json_object_get(step, "node"));
	return bu_out_fold(names);
}

/* Those that need no turn. */
static size_t
count_at_once(const struct bu_planned *planned, const char *pool)
{
	size_t count = 0, i;
	json_t *step;

	json_array_foreach (steps_of(planned), i, step)
		count += bu_json_int(step, "batch", -1) < 0 &&
			 strcmp(bu_json_str(step, "class", ""), "none") != 0 &&
			 strcmp(bu_json_str(step, "pool", ""), pool) == 0;
	return count;
}

/* "pool train: gpu[0001-0002] first, then 21 batches of 51; about 3h 20m", and when it
 * stops by itself. */
static void
print_pool(const struct bu_planned *planned, const char *pool, FILE *out)
{
	const json_t *limits =
		json_object_get(json_object_get(planned->plan, "pools"), pool);
	struct bu_planned_time time = bu_planned_time(steps_of(planned), pool);
	const char *maintenance = bu_json_str(limits, "maintenance", "");
	int at_once = (int)bu_json_int(limits, "max_unavailable", 0);
	int budget = (int)bu_json_int(limits, "failure_budget", 0);
	bu_autofree char *first = canaries_of(planned, pool);
	bu_autofree char *took = time.minutes > 0 ? minutes_text(time.minutes) : NULL;
	size_t others = count_at_once(planned, pool);

	fprintf(out, "pool %s: %s%s", pool, *first ? first : "all at once",
		*first ? " first" : "");
	if (time.batches > 0)
		fprintf(out, ", then %d batch%s of %d", time.batches,
			time.batches == 1 ? "" : "es", at_once);
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
		fprintf(out, "  stops itself at %d failure%s%s%s\n", budget,
			plural((size_t)budget), *maintenance ? "; only in " : "",
			maintenance);
}

/* On one line where that is short enough to be read at a glance. */
static void
print_change(const json_t *change, const char *each_its_own, FILE *out)
{
	bu_autofree char *old = bu_out_clean(bu_json_str(change, "old", ""), 0);
	bu_autofree char *new = bu_out_clean(bu_json_str(change, "new", ""), 0);
	bu_autofree char *head = bu_xasprintf(
		"%s:%d %s", bu_json_str(change, "file", ""),
		(int)bu_json_int(change, "line", 0), bu_json_str(change, "facet", ""));
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

static void
print_changes(const json_t *group, FILE *out)
{
	const json_t *step = json_object_get(group, "step");
	const json_t *differ = json_object_get(group, "differ");
	json_t *change;
	size_t i;

	json_array_foreach (json_object_get(step, "changes"), i, change)
		print_change(change,
			     json_object_get(differ, bu_json_str(change, "facet", ""))
				     ? bu_json_str(step, "node", "")
				     : NULL,
			     out);
}

/* What a group's steps say for themselves: why it is out of service, or what went wrong
 * the last time; what is changed follows with its lines. */
static void
print_why(const json_t *group, FILE *out)
{
	const json_t *step = json_object_get(group, "step");
	bu_autofree char *why = bu_out_clean(bu_json_str(step, "why", ""), 0);
	bu_autofree char *last =
		bu_out_clean(bu_json_str(json_object_get(step, "args"), "last", ""), 0);

	if (json_array_size(json_object_get(step, "changes")) == 0 ||
	    strcmp(bu_json_str(step, "from", ""), "ready") != 0)
		fprintf(out, "%*s%s\n", INDENT, "", why);
	else if (*last)
		fprintf(out, "%*slast time: %s\n", INDENT, "", last);
}

/* What is lost is on this disk, and a grant is for no other. */
static void
print_disk(const json_t *group, FILE *out)
{
	const json_t *step = json_object_get(group, "step");
	const json_t *disk = json_object_get(step, "disk");
	bu_autofree char *path = bu_out_clean(bu_json_str(disk, "path", ""), 0);
	bu_autofree char *wanted = bu_out_clean(bu_json_str(disk, "wanted", ""), 0);
	bu_autofree char *serial = bu_out_clean(bu_json_str(disk, "serial", ""), 0);
	bu_autofree char *holds = bu_out_clean(bu_json_str(disk, "holds", ""), 0);
	double size_bytes = (double)bu_json_int(disk, "size_bytes", 0);

	if (!disk)
		return;
	fprintf(out, "%*sdisk %s", INDENT, "", *path ? path : wanted);
	if (*serial)
		fprintf(out, ", serial number %s", serial);
	if (size_bytes > 0)
		fprintf(out, ", %.1f GB", size_bytes / 1e9);
	if (*holds)
		fprintf(out, "; on it: %s", holds);
	if (json_object_get(json_object_get(group, "differ"), "disk"))
		fprintf(out, " (%s; each its own)", bu_json_str(step, "node", ""));
	fputc('\n', out);
}

static void
print_group(const json_t *group, FILE *out)
{
	const json_t *names = json_object_get(group, "nodes");
	const char *class = bu_json_str(group, "class", "");
	bu_autofree char *nodes = bu_out_fold(names);
	size_t count = json_array_size(names);

	fprintf(out, "  %-11s %s", strcmp(class, "none") == 0 ? "take back" : class,
		nodes);
	if (count > 1)
		fprintf(out, " (%zu nodes)", count);
	fputc('\n', out);
	print_disk(group, out);
	print_why(group, out);
	print_changes(group, out);
}

static void
print_steps(const struct bu_planned *planned, FILE *out)
{
	bu_autojson json_t *groups = bu_planned_groups(steps_of(planned));
	const char *pool = "";
	json_t *group;
	size_t i;

	json_array_foreach (groups, i, group) {
		const char *of_group = bu_json_str(group, "pool", "");

		if (strcmp(pool, of_group) != 0)
			print_pool(planned, of_group, out);
		pool = of_group;
		print_group(group, out);
	}
	fputc('\n', out);
}

int
bu_planned_allowed(const struct bu_planned *planned, struct bu_err *err)
{
	size_t i, count = 0;
	json_t *entry;

	json_array_foreach (json_object_get(planned->plan, "refused"), i, entry)
		count += json_object_get(entry, "rule") != NULL;
	if (count == 0)
		return 0;
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "this plan cannot be applied, for %zu reason%s", count,
			  plural(count));
}

/* Nodes of which the plan says anything: some that are refused have a step, too, which
 * takes back what waits. */
static size_t
count_nodes(const struct bu_planned *planned, const json_t *refused)
{
	bu_autojson json_t *names = json_object();
	size_t count = (size_t)bu_json_int(planned->plan, "unchanged", 0), i;
	const char *rollout;
	json_t *entry;

	json_array_foreach (refused, i, entry)
		json_object_set_new(names, bu_json_str(entry, "node", ""), json_true());
	json_array_foreach (steps_of(planned), i, entry)
		json_object_set_new(names, bu_json_str(entry, "node", ""), json_true());
	json_object_foreach (json_object_get(planned->plan, "waiting"), rollout, entry)
		count += (size_t)json_integer_value(entry);
	return count + json_object_size(names);
}

int
bu_planned_whole(const struct bu_planned *planned, struct bu_err *err)
{
	const json_t *refused = json_object_get(planned->plan, "refused");
	const json_t *first = json_array_get(refused, 0);
	bu_autojson json_t *names = bu_out_pick(refused, "node");
	bu_autofree char *nodes = bu_out_fold(names);
	bu_autofree char *why = bu_out_clean(bu_json_str(first, "why", ""), 0);
	size_t count = json_array_size(refused);

	if (count == 0)
		return 0;
	return bu_err_set(err, BU_ERR_PARTLY, 0,
			  "%zu of %zu nodes %s refused, nothing was ordered for %s: "
			  "%.120s%s%s: %.200s",
			  count, count_nodes(planned, refused),
			  count == 1 ? "was" : "were", count == 1 ? "it" : "them",
			  nodes, count == 1 ? "" : "; ",
			  count == 1 ? "" : bu_json_str(first, "node", ""), why);
}

/* What keeps the plan from being applied. */
static void
print_forbidden(const struct bu_planned *planned, FILE *out)
{
	int first = 1;
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(planned->plan, "refused"), i, entry) {
		const char *whom = bu_json_str(entry, "node", "");
		bu_autofree char *why = bu_out_clean(bu_json_str(entry, "why", ""), 0);
		int named = !*whom || bu_json_bool(entry, "named", 0);

		if (!json_object_get(entry, "rule"))
			continue;
		if (first)
			fputs("This plan cannot be applied:\n", out);
		first = 0;
		fprintf(out, "  %s:%d: %s%s%s\n", bu_json_str(entry, "file", ""),
			(int)bu_json_int(entry, "line", 0), named ? "" : whom,
			named ? "" : ": ", why);
	}
}

/* What keeps single nodes out of the plan. */
static void
print_refused(const struct bu_planned *planned, FILE *out)
{
	static const char *const members[] = {"code", "args"};
	bu_autojson json_t *chosen = json_array(), *groups = NULL;
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(planned->plan, "refused"), i, entry)
		if (!json_object_get(entry, "rule"))
			json_array_append(chosen, entry);
	groups = bu_planned_alike(chosen, members, BU_LEN(members));
	json_array_foreach (groups, i, entry) {
		const json_t *first = json_object_get(entry, "first");
		bu_autofree char *nodes = bu_out_fold(json_object_get(entry, "nodes"));
		bu_autofree char *why = bu_out_clean(bu_json_str(first, "why", ""), 0);

		fprintf(out, "refused: %s: %s\n", nodes, why);
	}
}

static void
print_consequences(const json_t *steps, FILE *out)
{
	size_t counts[BU_CLASS_COUNT] = {0}, i;
	json_t *step;

	json_array_foreach (steps, i, step)
		counts[bu_class_from_name(bu_json_str(step, "class", ""))]++;
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
}

static void
print_rest(const struct bu_planned *planned, FILE *out)
{
	const json_t *plan = planned->plan;
	const json_t *left = json_object_get(plan, "left");
	long long unchanged = (long long)bu_json_int(plan, "unchanged", 0);
	long long left_out = (long long)bu_json_int(plan, "left_out", 0);
	const char *rollout;
	json_t *value;
	size_t i;

	json_array_foreach (json_object_get(plan, "warnings"), i, value) {
		bu_autofree char *text = bu_out_clean(json_string_value(value), 0);

		fprintf(out, "warning: %s\n", text);
	}
	json_object_foreach (json_object_get(plan, "waiting"), rollout, value)
		fprintf(out,
			"ordered already: %lld node%s, see bringup rollout show %s\n",
			(long long)json_integer_value(value),
			json_integer_value(value) == 1 ? "" : "s", rollout);
	if (json_array_size(left)) {
		bu_autofree char *nodes = bu_out_fold(left);

		fprintf(out, "no longer in the profile, left as they are: %s\n", nodes);
	}
	if (left_out)
		fprintf(out, "left out by --limit %s: %lld node%s\n",
			bu_json_str(plan, "limit", ""), left_out,
			left_out == 1 ? "" : "s");
	fprintf(out, "unchanged: %lld node%s\n", unchanged, unchanged == 1 ? "" : "s");
}

/* Ready, and not to be counted on: "gpu0004: ready, but unreachable: ...". */
static void
print_drift(const json_t *plan, FILE *out)
{
	static const char *const members[] = {"state", "condition", "text"};
	bu_autojson json_t *groups = bu_planned_alike(json_object_get(plan, "drift"),
						      members, BU_LEN(members));
	json_t *entry;
	size_t i;

	json_array_foreach (groups, i, entry) {
		const json_t *first = json_object_get(entry, "first");
		bu_autofree char *nodes = bu_out_fold(json_object_get(entry, "nodes"));
		bu_autofree char *text =
			bu_out_clean(bu_json_str(first, "text", ""), 0);

		fprintf(out, "drift: %s: %s, but %s: %s\n", nodes,
			bu_json_str(first, "state", "?"),
			bu_json_str(first, "condition", "?"), text);
	}
}

void
bu_planned_print(const struct bu_planned *planned, FILE *out)
{
	bu_autofree char *commit =
		bu_out_commit(bu_json_str(planned->plan, "commit", ""));

	if (bu_planned_steps(planned))
		print_steps(planned, out);
	else if (json_array_size(json_object_get(planned->plan, "drift")))
		fputs("nothing to apply, but some nodes are not as they should be\n",
		      out);
	else
		fputs("nothing to do\n", out);
	print_drift(planned->plan, out);
	print_refused(planned, out);
	print_rest(planned, out);
	print_consequences(steps_of(planned), out);
	fprintf(out, "plan %.12s of revision %.12s%s%s%s\n", planned->digest,
		bu_json_str(planned->plan, "revision", ""), *commit ? " (commit " : "",
		commit, *commit ? ")" : "");
	print_forbidden(planned, out);
}
