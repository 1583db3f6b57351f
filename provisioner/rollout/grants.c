/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grants of a plan. Called by apply.c. Invariant: a step that destroys data, or
 * that switches off a running machine, needs an explicit grant for its node.
 */
#include <string.h>

#include "base/json.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/rollout/rollout_impl.h"

/* One grant: its class (NONE = a reset alone); its nodes as keys, NULL = all. */
struct consent {
	enum bu_class class;
	json_t *nodes;
};

struct bu_grants {
	size_t count;
	struct consent list[];
};

static int
read_nodes(const json_t *grant, const char *class, json_t **ret, struct bu_err *err)
{
	const json_t *whom = json_object_get(grant, "nodes");
	const char *text = json_string_value(whom);
	struct bu_nodeset *nodes;

	if (!whom)
		return 0;
	/* an empty set never means all nodes */
	if (!text || !*text)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "grant of %s, field 'nodes': give a nodeset, as "
				  "\"node[001-003]\", or leave it out for all nodes of "
				  "the plan",
				  class);
	nodes = bu_nodeset_parse(text, NULL, NULL, err);
	if (!nodes)
		return bu_err_wrap(err, "grant of %s", class);
	*ret = json_object();
	for (size_t i = 0; i < nodes->count; i++)
		json_object_set_new(*ret, nodes->names[i], json_true());
	bu_nodeset_destroy(nodes);
	return 0;
}

static int
read_grant(const json_t *grant, struct consent *ret, struct bu_err *err)
{
	const char *name = bu_json_str(grant, "class", "");

	if (!bu_grant_name_ok(name))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%s' cannot be granted; " BU_GRANT_NAMES " are",
				  name);
	ret->class = bu_class_from_name(name);
	return read_nodes(grant, name, &ret->nodes, err);
}

struct bu_grants *
bu_grants_read(const json_t *grants, struct bu_err *err)
{
	size_t count = json_array_size(grants);
	struct bu_grants *read =
		bu_xcalloc(1, sizeof(*read) + count * sizeof(*read->list));

	for (; read->count < count; read->count++) {
		if (read_grant(json_array_get(grants, read->count),
			       &read->list[read->count], err) != 0) {
			bu_grants_destroy(read);
			return NULL;
		}
	}
	return read;
}

void
bu_grants_destroy(struct bu_grants *grants)
{
	for (size_t i = 0; grants && i < grants->count; i++)
		json_decref(grants->list[i].nodes);
	free(grants);
}

/* Does a grant of this class, or of a worse one, cover the node? */
static int
covers(const struct bu_grants *grants, enum bu_class class, const char *node)
{
	for (size_t i = 0; i < grants->count; i++) {
		const struct consent *one = &grants->list[i];

		if (one->class >= class &&
		    (!one->nodes || json_object_get(one->nodes, node)))
			return 1;
	}
	return 0;
}

int
bu_grants_reset(const struct bu_grants *grants, const char *node)
{
	return covers(grants, BU_CLASS_NONE, node);
}

struct missing {
	const char **names;
	size_t count;
	enum bu_class worst;
};

static int
refuse(const struct missing *disks, const struct missing *resets, struct bu_err *err)
{
	bu_autofree char *names = NULL;

	if (disks->count) {
		names = bu_nodeset_fold(disks->names, disks->count);
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "these nodes would lose what is on their disk: %s; "
				  "apply with --grant %s:%s if that is wanted",
				  names, bu_class_name(disks->worst), names);
	}
	if (!resets->count)
		return 0;
	names = bu_nodeset_fold(resets->names, resets->count);
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "the machines of these nodes are on, and what runs there is "
			  "unknown: %s; apply with --grant reset:%s to switch them "
			  "off all the same",
			  names, names);
}

static int
find_missing(const struct bu_grants *grants, const struct bu_plan *plan,
	     struct missing *disks, struct missing *resets, struct bu_err *err)
{
	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct bu_plan_step *step = &plan->steps[i];
		enum bu_class class;

		/* a class that is unknown here cannot be granted */
		if (bu_class_read(step->class, &class, err) != 0)
			return bu_err_wrap(err, "node %s", step->node);
		if (bu_class_needs_grant(class) && !covers(grants, class, step->node)) {
			disks->names[disks->count++] = step->node;
			if (class > disks->worst)
				disks->worst = class;
		} else if (step->reset && !bu_grants_reset(grants, step->node)) {
			resets->names[resets->count++] = step->node;
		}
	}
	return 0;
}

int
bu_grants_check(const struct bu_grants *grants, const struct bu_plan *plan,
		struct bu_err *err)
{
	size_t total = plan->steps_count;
	struct missing disks = {bu_xcalloc(total + 1, sizeof(char *)), 0, 0};
	struct missing resets = {bu_xcalloc(total + 1, sizeof(char *)), 0, 0};
	int rc = find_missing(grants, plan, &disks, &resets, err);

	if (rc == 0)
		rc = refuse(&disks, &resets, err);
	free(disks.names);
	free(resets.names);
	return rc;
}
