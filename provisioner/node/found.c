/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of agents on their nodes, as the log has them. Called by replay.c and where
 * a node is written; drifted.c and the plan interpret them. Invariant: a write forgets
 * all earlier findings and their row.
 */
#include "provisioner/node/found.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "profiles/export/facets.h"
#include "provisioner/node/node.h"

void
bu_found_digest(const struct bu_body_runs *runs, char ret[65])
{
	bu_autojson json_t *body =
		bu_record_to_json(bu_body_fields(BU_EVENT_RUNS), runs);

	bu_json_digest(body, ret);
}

void
bu_found_forget(struct bu_node *node)
{
	const struct bu_runs_found *found = node->found;

	free(found->kargs);
	free(found->loader);
	free(found->booted);
	json_decref(found->differs);
	bu_node_drop_found(node);
}

static char *
copy(const char *text)
{
	return text ? bu_xstrdup(text) : NULL;
}

int
bu_found_replay(BU_REPLAY_ARGS)
{
	const struct bu_body_runs *runs = &body->runs;
	const char *called = bu_body_text(runs->called);
	struct bu_runs_found *found;

	bu_found_forget(node);
	if (!runs->kernel)
		return 0;
	found = bu_node_found(node);
	bu_found_digest(runs, found->row);
	BU_TEXT_COPY(found->facets, bu_body_text(runs->facets));
	BU_TEXT_COPY(found->kernel, runs->kernel);
	found->kargs = copy(runs->kargs);
	found->loader = copy(runs->loader);
	found->booted = copy(runs->booted);
	found->differs = json_incref((json_t *)(uintptr_t)runs->differs);
	found->more = runs->more;
	/* The files on the node have this name, whether or not their order was done. */
	if (*called)
		bu_node_set_called(node, strcmp(called, node->name) == 0 ? "" : called);
	return 0;
}

int
bu_found_lies(const char *facet)
{
	return bu_facet_change(facet) >= BU_CLASS_RECONFIGURE;
}

json_t *
bu_found_facets(json_t *have, const json_t *told)
{
	json_t *all = json_object();
	const char *name;
	json_t *value;

	json_object_foreach (have, name, value)
		if (!bu_found_lies(name))
			json_object_set(all, name, value);
	json_object_foreach ((json_t *)(uintptr_t)told, name, value)
		if (bu_found_lies(name))
			json_object_set(all, name, value);
	json_decref(have);
	return all;
}
