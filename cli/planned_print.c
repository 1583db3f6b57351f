/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people: what happens to whom, and what that costs. Pure. */
#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/output.h"
#include "cli/planned.h"
#include "model/step.h"

static const char *const class_help[] = {
#define X(id, name, grant, help) help,
	BU_CLASSES(X)
#undef X
};

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

/* Whether this is a class of steps that a person can grant. */
static int
is_grant(const char *name)
{
	return bu_class_needs_grant(bu_class_from_name(name));
}

/* Steps that read the same are one row: key -> {"step": the first, "nodes": [names]}.
 */
static json_t *
group(const json_t *steps, const char *const *keys, size_t count)
{
	json_t *groups = json_object(), *step;
	size_t i;

	json_array_foreach (steps, i, step) {
		bu_autofree char *key = bu_xstrdup("");
		json_t *found;

		for (size_t k = 0; k < count; k++) {
			bu_autofree char *old = key;

			key = bu_xasprintf("%s\n%s", old,
					   bu_json_str(step, keys[k], ""));
		}
		found = json_object_get(groups, key);
		if (!found) {
			found = json_pack("{s:O,s:[]}", "step", step, "nodes");
			json_object_set_new(groups, key, found);
		}
		json_array_append_new(json_object_get(found, "nodes"),
				      json_string(bu_json_str(step, "node", "?")));
	}
	return groups;
}

static void
print_steps(const json_t *steps, FILE *out)
{
	static const char *const headings[] = {"POOL",  ">COUNT", "NODES", "STEP",
					       "IMAGE", "WHY",    NULL};
	static const char *const keys[] = {"pool", "class", "image", "why"};
	bu_autojson json_t *groups = group(steps, keys, BU_LEN(keys));
	struct bu_table *table = bu_table_create(headings);
	const char *key;
	json_t *found;

	json_object_foreach (groups, key, found) {
		const json_t *step = json_object_get(found, "step");
		const json_t *names = json_object_get(found, "nodes");
		bu_autofree char *count = bu_xasprintf("%zu", json_array_size(names));
		bu_autofree char *nodes = bu_out_fold(names);

		bu_table_row(table, (const char *const[]){
					    bu_json_str(step, "pool", ""), count, nodes,
					    bu_json_str(step, "class", ""),
					    bu_json_str(step, "image", ""),
					    bu_json_str(step, "why", "")});
	}
	bu_table_print(table, out);
	bu_table_destroy(table);
}

static void
print_consequences(const json_t *steps, FILE *out)
{
	size_t counts[BU_LEN(class_help)] = {0}, i;
	json_t *step;

	json_array_foreach (steps, i, step)
		counts[bu_class_from_name(bu_json_str(step, "class", ""))]++;
	for (i = BU_CLASS_NONE + 1; i < BU_LEN(counts); i++) {
		if (!counts[i])
			continue;
		fprintf(out, "%s: %zu node%s, %s%s%s\n",
			bu_class_name((enum bu_class)i), counts[i],
			counts[i] == 1 ? "" : "s", class_help[i],
			is_grant(bu_class_name((enum bu_class)i)) ? "; needs --grant "
								  : "",
			is_grant(bu_class_name((enum bu_class)i))
				? bu_class_name((enum bu_class)i)
				: "");
	}
}

static void
print_refused(const json_t *refused, FILE *out)
{
	static const char *const keys[] = {"why"};
	bu_autojson json_t *groups = group(refused, keys, BU_LEN(keys));
	const char *key;
	json_t *found;

	json_object_foreach (groups, key, found) {
		bu_autofree char *nodes = bu_out_fold(json_object_get(found, "nodes"));
		bu_autofree char *why = bu_out_clean(
			bu_json_str(json_object_get(found, "step"), "why", ""), 0);

		fprintf(out, "refused: %s: %s\n", nodes, why);
	}
}

void
bu_planned_print(const struct bu_planned *planned, FILE *out)
{
	const json_t *plan = planned->plan;
	const json_t *left = json_object_get(plan, "left");
	const char *commit = bu_json_str(plan, "commit", "");
	long long unchanged = (long long)bu_json_int(plan, "unchanged", 0);

	if (bu_planned_steps(planned)) {
		print_steps(steps_of(planned), out);
		print_consequences(steps_of(planned), out);
	} else {
		fputs("nothing to do\n", out);
	}
	print_refused(json_object_get(plan, "refused"), out);
	if (json_array_size(left)) {
		bu_autofree char *nodes = bu_out_fold(left);

		fprintf(out, "no longer in the profile, left as they are: %s\n", nodes);
	}
	fprintf(out, "unchanged: %lld node%s\n", unchanged, unchanged == 1 ? "" : "s");
	fprintf(out, "plan %.12s of revision %.12s%s%.12s%s\n", planned->digest,
		bu_json_str(plan, "revision", ""), *commit ? " (commit " : "", commit,
		*commit ? ")" : "");
}
