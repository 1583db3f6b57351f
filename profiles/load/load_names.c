/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that a site gives out: nodes, nodes in a network, controllers. Called by
 * load_checks.c. Invariant: a name has one address, and is one that DNS takes.
 */
#include <string.h>

#include "profiles/load/load_internal.h"
#include "profiles/nodeset/names.h"

enum { LABEL_MAX = 63 };

struct label {
	char *name; /* owned */
	const struct bu_desired_node *node;
};

struct labels {
	struct label *list;
	size_t count, cap;
};

static void
add(const struct bu_name *name, void *arg)
{
	struct labels *labels = arg;

	labels->list = bu_xgrow(labels->list, &labels->cap, labels->count + 1,
				sizeof(*labels->list));
	labels->list[labels->count++] =
		(struct label){bu_xstrdup(name->label), name->node};
}

/* The node that is called so comes last: that one is to be renamed. */
static int
compare(const void *a, const void *b)
{
	const struct label *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order
		     : (strcmp(x->node->name, x->name) == 0) -
			       (strcmp(y->node->name, y->name) == 0);
}

static void
check_label(struct bu_loader *ld, const struct label *label, const struct label *before)
{
	const struct bu_origin *at = &label->node->origin;

	if (strlen(label->name) > LABEL_MAX)
		bu_findings_add(
			ld->findings, BU_FINDING_ERROR, at->file, at->line,
			"[node %s] its name '%s' is longer than the %d characters of "
			"a DNS name; call the node or the network shorter",
			label->node->name, label->name, LABEL_MAX);
	if (before && strcmp(label->name, before->name) == 0)
		bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file, at->line,
				"[node %s] the name '%s' is also one of node '%s' "
				"(%s:%d), with another address; rename one of them",
				label->node->name, label->name, before->node->name,
				before->node->origin.file, before->node->origin.line);
}

void
bu_load_check_names(struct bu_loader *ld)
{
	struct labels labels = {0};

	bu_names_each(ld->desired, add, &labels);
	if (labels.count)
		qsort(labels.list, labels.count, sizeof(*labels.list), compare);
	for (size_t i = 0; i < labels.count; i++)
		check_label(ld, &labels.list[i], i ? &labels.list[i - 1] : NULL);
	for (size_t i = 0; i < labels.count; i++)
		free(labels.list[i].name);
	free(labels.list);
}
