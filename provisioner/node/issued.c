/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets that clusters have made for nodes that join now. Kept by joining.c until the
 * node's client runs, handed out by work/. Invariants: a secret is of one attempt of
 * one step; it is wiped when it is forgotten.
 */
#include "provisioner/node/issued.h"

#include <string.h>

#include "base/secret.h"

struct bu_issued {
	struct bu_issued *next;
	char node[BU_NAME_MAX], step[112];
	int attempt;
	char *secret;
	size_t size;
};

void
bu_issued_forget(struct bu_fleet *fleet, const char *node)
{
	struct bu_issued **link = &fleet->issued, *issued;

	while (*link && strcmp((*link)->node, node) != 0)
		link = &(*link)->next;
	issued = *link;
	if (!issued)
		return;
	*link = issued->next;
	bu_secret_free(issued->secret, issued->size);
	free(issued);
}

void
bu_issued_keep(struct bu_fleet *fleet, const struct bu_node *node, const void *secret,
	       size_t size)
{
	struct bu_issued *issued = bu_xcalloc(1, sizeof(*issued));

	bu_issued_forget(fleet, node->name);
	memcpy(issued->node, node->name, sizeof(issued->node));
	memcpy(issued->step, node->step.id, sizeof(issued->step));
	issued->attempt = node->step.attempt;
	issued->secret = bu_xcalloc(1, size + 1);
	memcpy(issued->secret, secret, size);
	issued->size = size;
	issued->next = fleet->issued;
	fleet->issued = issued;
}

const char *
bu_issued_secret(const struct bu_fleet *fleet, const struct bu_node *node,
		 size_t *ret_size)
{
	const struct bu_issued *issued = fleet->issued;

	while (issued && strcmp(issued->node, node->name) != 0)
		issued = issued->next;
	if (!issued || issued->attempt != node->step.attempt ||
	    strcmp(issued->step, node->step.id) != 0)
		return NULL;
	*ret_size = issued->size;
	return issued->secret;
}

void
bu_issued_clear(struct bu_fleet *fleet)
{
	while (fleet->issued)
		bu_issued_forget(fleet, fleet->issued->node);
}
