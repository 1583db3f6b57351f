/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the language knows and no driver of this version does. Called by load_checks.c.
 * Such a profile is well written: `check` says so beside it, and bringupd plans none,
 * so that no node begins what it cannot end.
 */
#include <string.h>

#include "profiles/load/load_internal.h"

/* "a|b" has the word. */
static int
has_driver(const char *drivers, const char *word)
{
	size_t size = strlen(word);

	for (const char *p = drivers; *p; p += strspn(p, "|")) {
		size_t length = strcspn(p, "|");

		if (length == size && memcmp(p, word, size) == 0)
			return 1;
		p += length;
	}
	return 0;
}

static void
say(struct bu_loader *ld, const struct bu_origin *at, const char *who, const char *key,
    const char *value, const char *drivers)
{
	bu_findings_add(
		ld->findings, BU_FINDING_UNSUPPORTED, at->file, at->line,
		"[%s] %s: this version has no driver for '%s' and makes no plan "
		"with it; allowed is %s",
		who, key, value, drivers);
}

/* A node that says something else than its pool. */
static void
check_node(struct bu_loader *ld, const struct bu_desired_node *node)
{
	const struct bu_origin *at;
	bu_autofree char *who = NULL;

	if (!node->power || !node->pool->power || node->power == node->pool->power ||
	    strcmp(node->power, node->pool->power) == 0 ||
	    has_driver(BU_POWER_DRIVERS, node->power))
		return;
	at = bu_desired_origin(node, "power");
	who = bu_xasprintf("node %s", node->name);
	if (at)
		say(ld, at, who, "power", node->power, BU_POWER_DRIVERS);
}

/* Does some pool join it? */
static int
is_joined(const struct bu_desired *desired, const struct bu_desired_cluster *cluster)
{
	for (size_t i = 0; i < desired->pools_count; i++)
		if (desired->pools[i].cluster == cluster)
			return 1;
	return 0;
}

void
bu_load_check_drivers(struct bu_loader *ld)
{
	const struct bu_desired *desired = ld->desired;
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < desired->clusters_count; i++) {
		const struct bu_desired_cluster *cluster = &desired->clusters[i];
		bu_autofree char *who = bu_xasprintf("cluster %s", cluster->name);

		if (is_joined(desired, cluster) && cluster->driver &&
		    !has_driver(BU_CLUSTER_DRIVERS, cluster->driver))
			say(ld,
			    &cluster->origins[bu_schema_key("cluster", "driver") -
					      keys],
			    who, "driver", cluster->driver, BU_CLUSTER_DRIVERS);
	}
	for (size_t i = 0; i < desired->pools_count; i++) {
		const struct bu_desired_pool *pool = &desired->pools[i];
		bu_autofree char *who = bu_xasprintf("pool %s", pool->name);

		if (pool->nodes_count && pool->power &&
		    !has_driver(BU_POWER_DRIVERS, pool->power))
			say(ld, &pool->origins[bu_schema_key("pool", "power") - keys],
			    who, "power", pool->power, BU_POWER_DRIVERS);
	}
	for (size_t i = 0; i < desired->nodes_count; i++)
		check_node(ld, &desired->nodes[i]);
}
