/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings of a node's agent, for the plan. Called by changes.c and plan.c. Invariant:
 * a finding overrules the effect that orders should have had; without findings only
 * orders count.
 */
#include <string.h>

#include "base/json.h"
#include "model/applied.h"
#include "model/plan.h"
#include "model/sentence.h"
#include "profiles/export/facets.h"
#include "provisioner/config/tuning.h"
#include "provisioner/node/found.h"
#include "provisioner/node/over.h"
#include "provisioner/plan/plan_impl.h"

/* Facets of the kernel's command line (config/tuning.h). */
static const char *const of_kernel[] = {"kargs", "hugepages", "hardware.disk_wait"};

int
bu_plan_runs_other(const struct bu_plan_node *it)
{
	const char *facets = it->node->found->facets;

	return *facets && strcmp(facets, it->digest) != 0;
}

/* The facets of this digest: of the applied or the desired revision, or of an order. A
 * system in memory has those of the applied revision, which may be in no order. */
static json_t *
known_facets(const struct bu_plan_input *input, const struct bu_plan_node *it,
	     const char *digest)
{
	const struct bu_desired_node *was =
		input->applied ? bu_desired_node(input->applied, it->node->name) : NULL;
	bu_autojson json_t *applied = was ? bu_facets_json(input->applied, was) : NULL;
	char of_applied[65] = "";

	if (applied)
		bu_json_digest(applied, of_applied);
	if (strcmp(digest, of_applied) == 0)
		return json_incref(applied);
	if (strcmp(digest, it->digest) == 0)
		return bu_facets_to_json(&it->facets);
	return input->facets(input->arg, digest);
}

json_t *
bu_plan_runs_facets(const struct bu_plan_input *input, const struct bu_plan_node *it,
		    json_t *have)
{
	const char *facets = it->node->found->facets;
	bu_autojson json_t *told = NULL;

	if (!*facets || strcmp(facets, it->node->facets) == 0)
		return have;
	told = known_facets(input, it, facets);
	if (told)
		return bu_found_facets(have, told);
	json_decref(have);
	return NULL;
}

static int
is_of_kernel(const json_t *change)
{
	const char *facet = bu_json_str(change, "facet", "");

	for (size_t i = 0; i < BU_LEN(of_kernel); i++)
		if (strcmp(of_kernel[i], facet) == 0)
			return 1;
	return 0;
}

/* The first change of the kernel's arguments; NULL = none. */
static json_t *
kernel_change(json_t *changes)
{
	json_t *change;
	size_t i;

	json_array_foreach (changes, i, change)
		if (is_of_kernel(change))
			return change;
	return NULL;
}

static void
add(json_t *changes, const struct bu_plan_node *it, const char *what,
    enum bu_class class, const char *old, const char *new)
{
	const struct bu_origin *at = &it->want->origin;

	json_array_append_new(
		changes,
		bu_record_to_json(
			bu_plan_change_fields,
			&(struct bu_plan_change){what, bu_class_name(class), old, new,
						 at->file ? at->file : "", at->line}));
}

/* The kernel runs with the desired arguments: only the boot loader's text differs. */
static void
soften(json_t *changes)
{
	json_t *change;
	size_t i;

	json_array_foreach (changes, i, change)
		if (is_of_kernel(change))
			json_object_set_new(
				change, "class",
				json_string(bu_class_name(BU_CLASS_RECONFIGURE)));
}

static void
add_kernel(const struct bu_plan_node *it, json_t *changes)
{
	const struct bu_runs_found *found = it->node->found;
	const char *booted = bu_over_is(it->node) ? NULL : found->booted;
	bu_autofree char *kargs = NULL, *plain = NULL;

	if (!found->kargs || it->node->ram || it->node->raw)
		return;
	kargs = bu_config_kargs(it->want);
	plain = bu_kargs_plain(kargs);
	if (booted && strcmp(booted, plain) == 0)
		soften(changes);
	if (kernel_change(changes))
		return;
	/* the text as written: another version of bringup may word it differently */
	if (booted && strcmp(booted, found->kargs) != 0 && strcmp(booted, plain) != 0)
		add(changes, it, "kernel arguments", BU_CLASS_REBOOT, booted, plain);
	else if (found->loader && strcmp(found->loader, found->kargs) != 0)
		add(changes, it, "kernel arguments of the next boot",
		    BU_CLASS_RECONFIGURE, found->loader, plain);
}

static void
add_files(const struct bu_plan_node *it, json_t *changes)
{
	const struct bu_runs_found *found = it->node->found;
	const json_t *first = json_array_get(found->differs, 0);
	long long more = (long long)json_array_size(found->differs) + found->more - 1;
	bu_autofree char *old = NULL;

	if (!found->differs && !found->more)
		return;
	old = more > 0 ? bu_xasprintf("%s %s and %lld more",
				      bu_json_str(first, "path", "?"),
				      bu_json_str(first, "how", ""), more)
		       : bu_xasprintf("%s %s", bu_json_str(first, "path", "?"),
				      bu_json_str(first, "how", ""));
	add(changes, it, "files", BU_CLASS_RECONFIGURE, old, "as the profile says");
}

void
bu_plan_runs_changes(const struct bu_plan_node *it, json_t *changes)
{
	add_kernel(it, changes);
	add_files(it, changes);
}

/* For a node that has the image: only the image brings another kernel. */
void
bu_plan_runs_drift(const struct bu_plan_node *it, json_t *list)
{
	const struct bu_node *node = it->node;
	const char *runs = node->found->kernel, *has = it->image->kernel;
	bu_autojson json_t *said = NULL;

	if (node->state != BU_STATE_READY || !*runs || !*has || node->ram ||
	    node->raw || strcmp(node->installed_digest, it->image->digest) != 0 ||
	    strcmp(runs, has) == 0)
		return;
	said = BU_SAID(OTHER_KERNEL, BU_ARG("runs", runs),
		       BU_ARG("image", node->installed_image), BU_ARG("has", has));
	json_array_append_new(
		list,
		bu_record_to_json(bu_plan_drift_fields,
				  &(struct bu_plan_drift){
					  node->name, bu_state_name(node->state),
					  bu_condition_info(BU_CONDITION_DRIFTED)->name,
					  said}));
}
