/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of [policy] over a desired state. Called by the loader and by the plan.
 * Invariant: a violation names the line that breaks the rule, and the rule's own line.
 */
#include "profiles/load/policy.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/url.h"
#include "profiles/language/schema.h"
#include "profiles/nodeset/nodeset.h"

struct judge {
	const struct bu_desired *desired;
	void (*fn)(const struct bu_violation *violation, void *arg);
	void *arg;
};

/* 1 when some pattern of the list fits. */
static int
matches(const char *patterns, const char *text)
{
	char *word;

	while ((word = bu_value_next_word(&patterns))) {
		bu_autofree char *pattern = word;

		if (fnmatch(pattern, text, 0) == 0)
			return 1;
	}
	return 0;
}

static void
broken(const struct judge *judge, const char *rule, const char *value,
       const struct bu_origin *at, const char *node, const char *what)
{
	const struct bu_key *key = bu_schema_key("policy", rule);
	size_t count;
	const struct bu_origin *said =
		&judge->desired->policy.origins[key - bu_schema_keys(&count)];
	bu_autofree char *text =
		bu_xasprintf("%s; [policy] %s = %s (%s:%d) allows no "
			     "other",
			     what, rule, value, said->file, said->line);

	judge->fn(
		&(struct bu_violation){
			.rule = rule, .node = node, .at = *at, .text = text},
		judge->arg);
}

/* zone NULL: it has none, which a residency rule cannot let pass. */
static void
check_zone(const struct judge *judge, const struct bu_origin *at, const char *name,
	   const char *zone)
{
	const char *residency = judge->desired->policy.residency;
	bu_autofree char *what = NULL;

	if (zone && matches(residency, zone))
		return;
	what = bu_xasprintf("%s %s%s", name, zone ? "is in zone " : "has no zone",
			    zone ? zone : "");
	broken(judge, "residency", residency, at, "", what);
}

/* A node that is in the wrong place, and the line that put it there. */
struct stray {
	const struct bu_desired_node *node;
	const struct bu_origin *at;
};

static int
by_line(const void *a, const void *b)
{
	const struct stray *x = a, *y = b;
	int order = strcmp(x->at->file, y->at->file);

	if (order == 0)
		order = (x->at->line > y->at->line) - (x->at->line < y->at->line);
	if (order == 0)
		order = strcmp(x->node->zone ? x->node->zone : "",
			       y->node->zone ? y->node->zone : "");
	return order;
}

/* One violation for all nodes that the same line puts into the same zone. */
static void
blame_line(const struct judge *judge, const struct stray *strays, size_t count)
{
	const char *residency = judge->desired->policy.residency;
	const char *zone = strays->node->zone;
	bu_autofree const char **names = bu_xcalloc(count, sizeof(*names));
	bu_autofree char *nodes = NULL, *what = NULL;

	for (size_t i = 0; i < count; i++)
		names[i] = strays[i].node->name;
	nodes = bu_nodeset_fold(names, count);
	if (count == 1)
		what = bu_xasprintf("[node %s] %s%s", nodes,
				    zone ? "is in zone " : "has no zone",
				    zone ? zone : "");
	else
		what = bu_xasprintf("nodes %s %s%s", nodes,
				    zone ? "are in zone " : "have no zone",
				    zone ? zone : "");
	broken(judge, "residency", residency, strays->at, nodes, what);
}

static void
check_nodes(const struct judge *judge)
{
	const struct bu_desired *desired = judge->desired;
	bu_autofree struct stray *strays =
		bu_xcalloc(desired->nodes_count, sizeof(*strays));
	size_t count = 0, end;

	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		const struct bu_origin *at;

		if (node->zone && matches(desired->policy.residency, node->zone))
			continue;
		at = bu_desired_origin(node, "zone");
		strays[count++] = (struct stray){node, at ? at : &node->origin};
	}
	if (count)
		qsort(strays, count, sizeof(*strays), by_line);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && by_line(&strays[i], &strays[end]) == 0;
		     end++)
			;
		blame_line(judge, &strays[i], end - i);
	}
}

static void
check_residency(const struct judge *judge)
{
	const struct bu_desired *desired = judge->desired;
	const char *home = desired->site.zone;

	check_nodes(judge);
	for (size_t i = 0; i < desired->images_count; i++) {
		const struct bu_desired_image *image = &desired->images[i];
		bu_autofree char *name = bu_xasprintf("[image %s]", image->name);

		check_zone(judge, &image->origin, name,
			   image->zone ? image->zone : home);
	}
	for (size_t i = 0; i < desired->clusters_count; i++) {
		const struct bu_desired_cluster *cluster = &desired->clusters[i];
		bu_autofree char *name = bu_xasprintf("[cluster %s]", cluster->name);

		check_zone(judge, &cluster->origin, name,
			   cluster->zone ? cluster->zone : home);
	}
	if (desired->site.backup)
		check_zone(judge, &desired->site.origin, "[site] backup",
			   desired->site.backup_zone);
}

/* "registry.example.org:5000" of a URL; owned. */
static char *
host_of(const char *text)
{
	struct bu_url url;

	if (bu_url_parse(text, &url) < 0)
		return bu_xstrdup("");
	return url.port < 0 ? bu_xstrdup(url.host)
			    : bu_xasprintf("%s:%d", url.host, url.port);
}

static void
check_registry(const struct judge *judge, const struct bu_desired_image *image,
	       const char *host, const char *says)
{
	const char *registries = judge->desired->policy.registries;
	bu_autofree char *what = NULL;

	if (!registries || matches(registries, host))
		return;
	what = bu_xasprintf("[image %s] comes from %s%s", image->name, host, says);
	broken(judge, "registries", registries, &image->origin, "", what);
}

static void
check_image(const struct judge *judge, const struct bu_desired_image *image)
{
	const struct bu_desired_policy *policy = &judge->desired->policy;
	bu_autofree char *host = image->source ? host_of(image->source) : NULL;
	bu_autofree char *key =
		image->key_path ? bu_xasprintf("file:%s", image->key_path) : NULL;
	bu_autofree char *what = NULL;

	if (policy->registries && host && !matches(policy->registries, host)) {
		check_registry(judge, image, host, "");
	} else if (policy->image_keys && key && !matches(policy->image_keys, key)) {
		what = bu_xasprintf("[image %s] is signed with %s", image->name, key);
		broken(judge, "image_keys", policy->image_keys, &image->origin, "",
		       what);
	}
}

void
bu_policy_judge(const struct bu_desired *desired,
		void (*fn)(const struct bu_violation *violation, void *arg), void *arg)
{
	const struct judge judge = {desired, fn, arg};

	if (desired->policy.residency)
		check_residency(&judge);
	for (size_t i = 0; i < desired->images_count; i++)
		check_image(&judge, &desired->images[i]);
}

void
bu_policy_judge_registry(const struct bu_desired *desired,
			 const struct bu_desired_image *image, const char *host,
			 void (*fn)(const struct bu_violation *violation, void *arg),
			 void *arg)
{
	const struct judge judge = {desired, fn, arg};
	bu_autofree char *declared = image->source ? host_of(image->source) : NULL;

	/* What its own `source` says was judged by that. */
	if (!declared || strcmp(declared, host) != 0)
		check_registry(&judge, image, host, ", as its manifest says");
}
