/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of [policy] over a desired state. Called by the loader and by the plan.
 * Invariant: a violation names the line that breaks the rule, and the rule's own line.
 */
#include "profiles/policy.h"

#include <fnmatch.h>
#include <string.h>

#include "profiles/schema.h"

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

/* zone NULL: nobody said where it is, which a residency rule cannot let pass. */
static void
check_zone(const struct judge *judge, const struct bu_origin *at, const char *node,
	   const char *kind, const char *name, const char *zone)
{
	const char *residency = judge->desired->policy.residency;
	bu_autofree char *what = NULL;

	if (zone && matches(residency, zone))
		return;
	what = bu_xasprintf("[%s%s%s %s%s", kind, *name ? " " : "", name,
			    zone ? "is in zone " : "has no zone", zone ? zone : "");
	broken(judge, "residency", residency, at, node, what);
}

static void
check_residency(const struct judge *judge)
{
	const struct bu_desired *desired = judge->desired;
	const char *home = desired->site.zone;

	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		const struct bu_origin *at = bu_desired_origin(node, "zone");
		bu_autofree char *name = bu_xasprintf("%s]", node->name);

		check_zone(judge, at ? at : &node->origin, node->name, "node", name,
			   node->zone);
	}
	for (size_t i = 0; i < desired->images_count; i++) {
		const struct bu_desired_image *image = &desired->images[i];
		bu_autofree char *name = bu_xasprintf("%s]", image->name);

		check_zone(judge, &image->origin, "", "image", name,
			   image->zone ? image->zone : home);
	}
	for (size_t i = 0; i < desired->clusters_count; i++) {
		const struct bu_desired_cluster *cluster = &desired->clusters[i];
		bu_autofree char *name = bu_xasprintf("%s]", cluster->name);

		check_zone(judge, &cluster->origin, "", "cluster", name,
			   cluster->zone ? cluster->zone : home);
	}
	if (desired->site.backup)
		check_zone(judge, &desired->site.origin, "", "site] backup", "",
			   desired->site.backup_zone);
}

/* "registry.example.org:5000" of a URL; owned. */
static char *
host_of(const char *url)
{
	const char *host = strstr(url, "://");

	return host ? bu_xstrndup(host + 3, strcspn(host + 3, "/")) : bu_xstrdup("");
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
		what = bu_xasprintf("[image %s] comes from %s", image->name, host);
		broken(judge, "registries", policy->registries, &image->origin, "",
		       what);
	} else if (policy->image_keys && (!key || !matches(policy->image_keys, key))) {
		what = bu_xasprintf("[image %s] is signed with %s", image->name,
				    key ? key : "the appliance's key");
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
