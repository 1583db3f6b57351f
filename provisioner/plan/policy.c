/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges a plan by [policy]: the rules on the profile (profiles/load/policy.c), and
 * whether the versions of image, hardware and manifest fit together. Called by plan.c.
 * Invariant: each violation is an entry of its own, with its node, else with all its
 * nodes.
 */
#include "profiles/load/policy.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "profiles/language/schema.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/plan/plan.h"
#include "provisioner/plan/plan_impl.h"

enum { SECTION_SIZE = BU_NAME_MAX + 16 };

/* why: taken. */
static void
forbid(json_t *plan, const char *rule, const char *node, const struct bu_origin *at,
       json_t *why, int named)
{
	json_array_append_new(json_object_get(plan, "refused"),
			      json_pack("{s:s,s:o,s:s,s:s,s:i,s:b}", "node", node,
					"why", why, "rule", rule, "file",
					at->file ? at->file : "", "line", at->line,
					"named", named));
}

static void
on_violation(const struct bu_violation *violation, void *arg)
{
	forbid(arg, violation->rule, violation->node, &violation->at,
	       json_string(violation->text), 1);
}

/* Nodes of one image, hardware class, root, cluster, storage and division of GPUs; they
 * are judged together. */
struct group {
	const struct bu_plan_input *input;
	json_t *plan;
	const struct bu_desired_node *first;
	const char *nodes; /* folded */
};

static const struct bu_origin *
origin_of(const struct group *group, enum bu_component component)
{
	const struct bu_desired_image *image = group->first->image;
	const struct bu_desired_hardware *hardware = group->first->hardware;
	const char *name = bu_component_name(component);
	const struct bu_key *key = bu_schema_key("image", name);
	const struct bu_origin *origins = image->origins;
	const struct bu_origin *fallback = &image->origin;
	size_t count;

	if (!key) {
		key = bu_schema_key("hardware", name);
		origins = hardware->origins;
		fallback = &hardware->origin;
	}
	if (!key || !origins[key - bu_schema_keys(&count)].line)
		return fallback;
	return &origins[key - bu_schema_keys(&count)];
}

/* "[image debian12]" */
static void
section(const char *kind, const char *name, char ret[SECTION_SIZE])
{
	snprintf(ret, SECTION_SIZE, "[%s %s]", kind, name);
}

/* undeclared: a version that is not declared cannot be judged, so it only warns.
 * Without [policy] compatibility = refuse every misfit only warns. what: taken. */
static void
misfit(const struct group *group, const struct bu_origin *at, int undeclared,
       json_t *what)
{
	const struct bu_desired_policy *policy = &group->input->desired->policy;
	int refuses = !undeclared && policy->compatibility &&
		      strcmp(policy->compatibility, "refuse") == 0;
	char image[SECTION_SIZE], hardware[SECTION_SIZE];
	bu_autofree char *place = bu_xasprintf("%s:%d", at->file, at->line);
	json_t *why;

	section("image", group->first->image->name, image);
	section("hardware", group->first->hardware->name, hardware);
	why = BU_SAID(MISFIT, BU_ARG("at", refuses ? "" : place),
		      BU_ARG("nodes", refuses ? "" : group->nodes),
		      BU_ARG("image", image), BU_ARG("hardware", hardware),
		      BU_ARG_SAID("what", what));
	if (refuses)
		forbid(group->plan, bu_plan_rules[BU_PLAN_RULE_COMPATIBILITY],
		       group->nodes, at, why, 0);
	else
		json_array_append_new(json_object_get(group->plan, "warnings"), why);
}

static void
on_misfit(const struct bu_misfit *found, void *arg)
{
	const struct group *group = arg;

	misfit(group, origin_of(group, found->component), found->undeclared,
	       json_string(found->text));
}

static json_t *
declared_said(const char *what, const char *declared, const char *found)
{
	return BU_SAID(DECLARED, BU_ARG("what", what), BU_ARG("declared", declared),
		       BU_ARG("found", found));
}

/* The manifest's version will run; a declared version must be the same. */
static void
judge_found(const struct group *group, struct bu_versions *versions,
	    enum bu_component component, const char *found)
{
	const char *declared = versions->of[component];

	if (!found[0])
		return;
	if (declared && strcmp(declared, found) != 0)
		misfit(group, origin_of(group, component), 0,
		       declared_said(bu_component_name(component), declared, found));
	versions->of[component] = found;
}

/* The manifest has the image's real source; the declared source must be the same. */
static void
judge_source(const struct group *group, const struct bu_plan_image *image)
{
	const struct bu_desired_image *declared = group->first->image;
	const struct bu_origin *at;
	const char *found = NULL;
	size_t count;

	for (size_t i = 0; declared->source && i < image->origin.source_count; i++) {
		const struct bu_image_source *source = &image->origin.sources[i];

		if (source->kind != BU_SOURCE_OCI)
			continue;
		/* the same digest may have another tag */
		if (strcmp(source->name, declared->source) == 0 ||
		    strstr(declared->source, source->digest))
			return;
		found = source->name;
	}
	if (!found)
		return;
	at = &declared->origins[bu_schema_key("image", "source") -
				bu_schema_keys(&count)];
	misfit(group, at, 0, declared_said("source", declared->source, found));
}

/* A node without its cluster's client is installed and measured, but never joins. Older
 * images do not list their clients. */
static void
judge_client(const struct group *group, const struct bu_plan_image *image)
{
	const struct bu_desired_node *first = group->first;
	const struct bu_desired_cluster *cluster = first->cluster;
	char of_pool[SECTION_SIZE], of_cluster[SECTION_SIZE];
	size_t at = 0;

	while (cluster && bu_cluster_drivers[at] &&
	       strcmp(bu_cluster_drivers[at]->name, cluster->driver) != 0)
		at++;
	if (!image->described || !cluster || !bu_cluster_drivers[at] ||
	    (image->clients & 1U << at))
		return;
	section("pool", first->pool->name, of_pool);
	section("cluster", cluster->name, of_cluster);
	misfit(group, &first->image->origin, 0,
	       BU_SAID(NO_CLIENT, BU_ARG("client", bu_cluster_drivers[at]->needs),
		       BU_ARG("pool", of_pool), BU_ARG("cluster", of_cluster)));
}

static void
judge_programs(const struct group *group, const struct bu_plan_image *image)
{
	bu_autojson json_t *missing = json_array();
	size_t i;
	json_t *one;

	bu_plan_needs(group->input->desired, group->first, image->programs, missing);
	json_array_foreach (missing, i, one)
		misfit(group, &group->first->image->origin, 0, json_incref(one));
}

static void
forbid_image(const struct group *group, json_t *why)
{
	forbid(group->plan, bu_plan_rules[BU_PLAN_RULE_IMAGE], group->nodes,
	       &group->first->pool->origin, why, 0);
}

/* The installer would refuse the image, after the machine was switched off. */
static void
judge_kind(const struct group *group, const struct bu_plan_image *image)
{
	const struct bu_desired_node *first = group->first;
	char of_image[SECTION_SIZE], of_pool[SECTION_SIZE];

	if (!image->is_disk == !bu_desired_is_raw(first))
		return;
	section("image", first->image->name, of_image);
	section("pool", first->pool->name, of_pool);
	forbid_image(group, BU_SAID(OTHER_KIND, BU_ARG("image", of_image),
				    BU_ARG_NUMBER("not", !image->is_disk),
				    BU_ARG("pool", of_pool),
				    BU_ARG("root", bu_root_names[first->pool->root])));
}

/* A system in memory runs the boot ramdisk's kernel with the image's modules. */
static void
judge_ram(const struct group *group, const struct bu_plan_image *image)
{
	const struct bu_desired_node *first = group->first;
	const char *kernel = group->input->ramdisk_kernel;
	char of_image[SECTION_SIZE], of_pool[SECTION_SIZE];

	if (!bu_desired_is_ram(first) || image->is_disk || !kernel ||
	    strcmp(image->kernel, kernel) == 0)
		return;
	section("image", first->image->name, of_image);
	section("pool", first->pool->name, of_pool);
	forbid_image(group, BU_SAID(RAMDISK_DIFFERS, BU_ARG("image", of_image),
				    BU_ARG("kernel", image->kernel),
				    BU_ARG("ramdisk", kernel), BU_ARG("pool", of_pool),
				    BU_ARG("name", first->image->name)));
}

static void
forbid_roots(const struct group *group, enum bu_reason_code why)
{
	char image[SECTION_SIZE], hardware[SECTION_SIZE];

	section("image", group->first->image->name, image);
	section("hardware", group->first->hardware->name, hardware);
	forbid_image(group, bu_said_new(why, (const struct bu_arg[]){
						     BU_ARG("image", image),
						     BU_ARG("hardware", hardware),
						     {.name = NULL}}));
}

/* The initial ramdisk of an image without such support would look for a plain root. */
static void
judge_roots(const struct group *group, const struct bu_plan_image *image)
{
	if (bu_desired_mirror(group->first) && !image->mirrors)
		forbid_roots(group, BU_REASON_NO_MIRROR);
	if (bu_desired_has_two_roots(group->first) && !image->slots)
		forbid_roots(group, BU_REASON_ONE_ROOT);
}

static void
judge_group(const struct group *group, const struct bu_plan_image *image)
{
	const struct bu_desired_node *first = group->first;
	struct bu_versions versions;

	bu_versions_of(first->image, first->hardware, first->mig, &versions);
	judge_found(group, &versions, BU_COMPONENT_KERNEL, image->kernel);
	judge_found(group, &versions, BU_COMPONENT_DRIVER, image->driver);
	judge_found(group, &versions, BU_COMPONENT_FABRIC_MANAGER,
		    image->fabric_manager);
	judge_source(group, image);
	judge_client(group, image);
	judge_programs(group, image);
	judge_kind(group, image);
	judge_ram(group, image);
	judge_roots(group, image);
	if (group->input->compat)
		bu_compat_judge(group->input->compat, &versions, on_misfit,
				(void *)(uintptr_t)group);
}

static int
same_storage(const struct bu_desired_pool *a, const struct bu_desired_pool *b)
{
	return bu_text_same(a->data, b->data) && a->data_keys == b->data_keys &&
	       a->mounts_count == b->mounts_count &&
	       (!a->mounts_count ||
		memcmp(a->mounts, b->mounts,
		       a->mounts_count * sizeof(struct bu_desired_mount *)) == 0);
}

static int
same_group(const struct bu_desired_node *a, const struct bu_desired_node *b)
{
	return a->image == b->image && a->hardware == b->hardware &&
	       a->pool->root == b->pool->root && a->cluster == b->cluster &&
	       same_storage(a->pool, b->pool) && bu_text_same(a->mig, b->mig);
}

static void
judge_versions(const struct bu_plan_input *input, const struct bu_plan_image *images,
	       json_t *plan)
{
	const struct bu_desired *desired = input->desired;
	bu_autofree char *done = bu_xcalloc(desired->nodes_count, 1);
	bu_autofree const char **names =
		bu_xcalloc(desired->nodes_count, sizeof(*names));

	for (size_t i = 0; i < desired->nodes_count; i++) {
		struct group group = {input, plan, &desired->nodes[i], NULL};
		bu_autofree char *nodes = NULL;
		size_t count = 0;

		if (done[i])
			continue;
		for (size_t j = i; j < desired->nodes_count; j++) {
			if (done[j] || !same_group(group.first, &desired->nodes[j]))
				continue;
			done[j] = 1;
			names[count++] = desired->nodes[j].name;
		}
		group.nodes = nodes = bu_nodeset_fold(names, count);
		judge_group(&group, &images[group.first->image - desired->images]);
	}
}

/* Names the nodes whose boots wait for a person. */
static void
warn_by_hand(const struct bu_desired *desired, json_t *plan)
{
	bu_autofree const char **names =
		bu_xcalloc(desired->nodes_count, sizeof(*names));
	bu_autofree char *nodes = NULL;
	size_t count = 0, i;
	json_t *step;

	json_array_foreach (json_object_get(plan, "steps"), i, step) {
		const struct bu_desired_node *node =
			bu_desired_node(desired, bu_json_str(step, "node", ""));

		if (node && strcmp(node->power, "manual") == 0 &&
		    bu_class_from_name(bu_json_str(step, "class", "")) >=
			    BU_CLASS_REBOOT &&
		    count < desired->nodes_count)
			names[count++] = node->name;
	}
	if (!count)
		return;
	nodes = bu_nodeset_fold(names, count);
	json_array_append_new(json_object_get(plan, "warnings"),
			      BU_SAID(BY_HANDS, BU_ARG("nodes", nodes)));
}

static void
judge_registries(const struct bu_plan_input *input, const struct bu_plan_image *images,
		 json_t *plan)
{
	const struct bu_desired *desired = input->desired;

	for (size_t i = 0; i < desired->images_count; i++)
		for (size_t k = 0; k < images[i].origin.source_count; k++)
			if (images[i].origin.sources[k].kind == BU_SOURCE_OCI)
				bu_policy_judge_registry(
					desired, &desired->images[i],
					images[i].origin.sources[k].host, on_violation,
					plan);
}

/* Each violation names the lines of the image and of the scanner. */
static void
judge_scans(const struct bu_plan_input *input, const struct bu_plan_image *images,
	    json_t *plan)
{
	const struct bu_desired *desired = input->desired;
	size_t count, place;

	place = (size_t)(bu_schema_key("policy", "scanner") - bu_schema_keys(&count));
	for (size_t i = 0; i < desired->images_count; i++) {
		const struct bu_desired_image *image = &desired->images[i];
		bu_autofree char *rule = NULL, *at = NULL;
		const struct bu_origin *origin;
		char name[SECTION_SIZE];

		if (!images[i].kept_out[0])
			continue;
		/* without [policy] there is no origin */
		origin = &desired->policy.origins[place];
		at = bu_xasprintf("%s:%d", origin->file, origin->line);
		rule = bu_xasprintf("[policy] scanner = %s", image->scanner);
		section("image", image->name, name);
		forbid(plan, bu_plan_rules[BU_PLAN_RULE_SCANNER], "", &image->origin,
		       BU_SAID(KEPT_OUT, BU_ARG("image", name),
			       BU_ARG("words", images[i].kept_out),
			       BU_ARG("rule", rule), BU_ARG("at", at)),
		       1);
	}
}

void
bu_plan_policy(const struct bu_plan_input *input, const struct bu_plan_image *images,
	       json_t *plan)
{
	if (input->desired->policy.origin.line)
		bu_policy_judge(input->desired, on_violation, plan);
	judge_registries(input, images, plan);
	judge_scans(input, images, plan);
	judge_versions(input, images, plan);
	warn_by_hand(input->desired, plan);
}

int
bu_plan_allowed(const struct bu_plan *plan, struct bu_err *err)
{
	const struct bu_plan_refusal *first = NULL;
	bu_autofree char *why = NULL;
	size_t count = 0;

	for (size_t i = 0; i < plan->refused_count; i++) {
		if (!plan->refused[i].rule)
			continue;
		first = first ? first : &plan->refused[i];
		count++;
	}
	if (!first)
		return 0;
	why = bu_said_text(first->why);
	bu_err_set(err, BU_ERR_DENIED, 0, "%s:%d: %s", first->file, (int)first->line,
		   why);
	if (first->rule == BU_PLAN_RULE_MACHINES)
		return bu_err_wrap(err,
				   "the profile contradicts what is known of machines; "
				   "node %s",
				   first->node);
	if (first->rule == BU_PLAN_RULE_IMAGE)
		return bu_err_wrap(err, "this plan cannot install node %s",
				   first->node);
	if (count > 1)
		return bu_err_wrap(err,
				   "policy forbids this plan, for %zu reasons; the "
				   "first",
				   count);
	return bu_err_wrap(err, "policy forbids this plan");
}
