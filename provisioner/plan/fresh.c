/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a plan with the same plan made again, and names the difference. Called
 * before a plan is applied. Invariant: only expected minutes may differ: a person's
 * consent is not about them.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/plan/plan.h"

enum { NAMED_MAX = 3 };

/* batch_too: compares the batch, which another node's failure can change. */
static int
same_step(const json_t *a, const json_t *b, int batch_too)
{
	const char *key;
	json_t *value;

	if (json_object_size(a) != json_object_size(b))
		return 0;
	json_object_foreach ((json_t *)(uintptr_t)a, key, value)
		if (strcmp(key, "minutes") != 0 &&
		    (batch_too || strcmp(key, "batch") != 0) &&
		    !json_equal(value, json_object_get(b, key)))
			return 0;
	return 1;
}

/* Adds nodes of `steps` without the same step in `others`; both are sorted by name. */
static void
add_differing(json_t *names, const json_t *steps, const json_t *others)
{
	size_t j = 0;
	json_t *step;
	size_t i;

	json_array_foreach (steps, i, step) {
		const char *name = bu_json_str(step, "node", "");
		const json_t *other = NULL;

		while (j < json_array_size(others) &&
		       strcmp(bu_json_str(json_array_get(others, j), "node", ""),
			      name) < 0)
			j++;
		other = json_array_get(others, j);
		if (other && same_step(step, other, 0))
			continue;
		json_object_set_new(names, name, json_true());
	}
}

/* Names the nodes that differ; -1. */
static int
nodes_moved(const json_t *plan, const json_t *again, struct bu_err *err)
{
	bu_autojson json_t *names = json_object();
	const char *found[NAMED_MAX];
	const char *name;
	json_t *value;
	size_t count = 0;
	bu_autofree char *folded = NULL;

	add_differing(names, json_object_get(plan, "steps"),
		      json_object_get(again, "steps"));
	add_differing(names, json_object_get(again, "steps"),
		      json_object_get(plan, "steps"));
	json_object_foreach (names, name, value)
		if (count++ < NAMED_MAX)
			found[count - 1] = name;
	if (count == 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "what was observed of the nodes has changed since "
				  "this plan was made; plan again");
	folded = bu_nodeset_fold(found, count < NAMED_MAX ? count : NAMED_MAX);
	if (count > NAMED_MAX)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "%s and %zu more nodes have changed since this plan "
				  "was made; plan again",
				  folded, count - NAMED_MAX);
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "%s %s changed since this plan was made; plan again", folded,
			  count == 1 ? "has" : "have");
}

int
bu_plan_same(const json_t *plan, const json_t *again, struct bu_err *err)
{
	static const char *const members[] = {
		"refused",  "left",    "pools", "renames",   "waiting", "unchanged",
		"left_out", "restart", "reach", "under_way", "adopts"};
	const char *base = bu_json_str(plan, "base", "");
	const char *now = bu_json_str(again, "base", "");
	const json_t *steps = json_object_get(plan, "steps");
	json_t *step;
	size_t i;
	int same;

	if (strcmp(base, now) != 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "another revision was applied (%.12s, it was %.12s) "
				  "since this plan was made; plan again",
				  now, *base ? base : "none");
	if (strcmp(bu_json_str(plan, "observed", ""),
		   bu_json_str(again, "observed", "")) != 0)
		return nodes_moved(plan, again, err);
	same = json_array_size(steps) ==
	       json_array_size(json_object_get(again, "steps"));
	json_array_foreach (steps, i, step)
		same = same &&
		       same_step(step,
				 json_array_get(json_object_get(again, "steps"), i), 1);
	for (i = 0; i < BU_LEN(members); i++)
		same = same && json_equal(json_object_get(plan, members[i]),
					  json_object_get(again, members[i]));
	return same ? 0 : nodes_moved(plan, again, err);
}
