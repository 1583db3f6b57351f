/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [policy] as far as profiles alone tell: zones of nodes, images, clusters and backups,
 * registries and keys of images. Called by load_checks.c. Invariant: a finding names
 * the line that breaks the rule, and the rule's own line.
 */
#include <fnmatch.h>
#include <string.h>

#include "profiles/load_internal.h"

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
broken(struct bu_loader *ld, const struct bu_origin *at, const char *rule,
       const char *what, const char *value)
{
	const struct bu_ini_entry *entry = bu_ini_entry(ld->policy, rule);

	bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file, at->line,
			"%s%s%s; [policy] %s = %s (%s:%d) allows no other", what,
			value ? " " : "", value ? value : "", rule, entry->value,
			entry->file, entry->line);
}

/* zone NULL: nobody said where it is, which a residency rule cannot let pass. */
static void
check_zone(struct bu_loader *ld, const struct bu_origin *at, const char *what,
	   const char *zone)
{
	bu_autofree char *text = NULL;

	if (zone && matches(ld->desired->policy.residency, zone))
		return;
	text = bu_xasprintf("%s %s", what, zone ? "is in zone" : "has no zone");
	broken(ld, at, "residency", text, zone);
}

static void
check_residency(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;
	const char *home = desired->site.zone;

	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		const struct bu_origin *at = bu_desired_origin(node, "zone");
		bu_autofree char *what = bu_xasprintf("[node %s]", node->name);

		check_zone(ld, at ? at : &node->origin, what, node->zone);
	}
	for (size_t i = 0; i < desired->images_count; i++) {
		const struct bu_desired_image *image = &desired->images[i];
		bu_autofree char *what = bu_xasprintf("[image %s]", image->name);

		check_zone(ld, &image->origin, what, image->zone ? image->zone : home);
	}
	for (size_t i = 0; i < desired->clusters_count; i++) {
		const struct bu_desired_cluster *cluster = &desired->clusters[i];
		bu_autofree char *what = bu_xasprintf("[cluster %s]", cluster->name);

		check_zone(ld, &cluster->origin, what,
			   cluster->zone ? cluster->zone : home);
	}
	if (desired->site.backup)
		check_zone(ld, &desired->site.origin, "[site] backup",
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
check_images(struct bu_loader *ld)
{
	const struct bu_desired_policy *policy = &ld->desired->policy;

	for (size_t i = 0; i < ld->desired->images_count; i++) {
		const struct bu_desired_image *image = &ld->desired->images[i];
		bu_autofree char *host = image->source ? host_of(image->source) : NULL;
		bu_autofree char *reference =
			image->key_path ? bu_xasprintf("file:%s", image->key_path)
					: NULL;
		bu_autofree char *what = NULL;

		if (policy->registries && host && !matches(policy->registries, host)) {
			what = bu_xasprintf("[image %s] comes from", image->name);
			broken(ld, &image->origin, "registries", what, host);
		} else if (policy->image_keys &&
			   (!reference || !matches(policy->image_keys, reference))) {
			what = bu_xasprintf("[image %s] is signed with", image->name);
			broken(ld, &image->origin, "image_keys", what,
			       reference ? reference : "the appliance's key");
		}
	}
}

void
bu_load_check_policy(struct bu_loader *ld)
{
	if (!ld->policy)
		return;
	if (ld->desired->policy.residency)
		check_residency(ld);
	check_images(ld);
}
