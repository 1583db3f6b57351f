/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no key alone can tell: combinations that would fail on the machines, later and
 * worse. Called by load.c when everything else has been read. Invariant: fields may be
 * missing then, which is a finding already.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/url.h"
#include "profiles/load/gpu.h"
#include "profiles/load/load_internal.h"
#include "profiles/load/policy.h"

/* A resolver cannot look up whom it asks. */
static void
check_dns(struct bu_loader *ld)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);
	const struct bu_desired_site *site = &ld->desired->site;
	const char *rest = site->dns;
	struct in_addr in;
	char *word;

	while (rest && (word = bu_value_next_word(&rest))) {
		bu_autofree char *server = word;
		const struct bu_origin *at =
			&site->origins[bu_schema_key("site", "dns") - keys];

		if (inet_pton(AF_INET, server, &in) != 1)
			bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file,
					at->line,
					"[site] dns: '%.80s' is a name, and only a "
					"DNS server could resolve it; give its "
					"address",
					server);
	}
}

/* Nobody could open what is sealed to nobody. */
static void
check_backup(struct bu_loader *ld)
{
	const struct bu_desired_site *site = &ld->desired->site;

	if (site->backup && !site->backup_recipient)
		bu_findings_add(ld->findings, BU_FINDING_ERROR, site->origin.file,
				site->origin.line,
				"[site] backup needs backup_recipient; bringup backup "
				"keygen makes one");
}

static void
check_site(struct bu_loader *ld)
{
	const char *file = ld->desired->files_count ? "site.ini" : "";

	check_dns(ld);
	check_backup(ld);
	if (ld->desired->pools_count == 0)
		bu_findings_add(ld->findings, BU_FINDING_ERROR, file, 0,
				"the tree has no [pool NAME]; nodes come from pools");
}

/* Names are the agent's to know, see docs/checks.md; it says when there is none such.
 */
static void
check_each(struct bu_loader *ld, const struct bu_ini_section *section, const char *key,
	   const char *list, int (*ok)(const char *value), const char *allowed)
{
	char *word;

	while (list && (word = bu_value_next_word(&list))) {
		const char *value = strchr(word, '=');

		if (value && !ok(value + 1))
			bu_load_wrong(ld, section, key, "%s: '%s'; allowed is %s", word,
				      value + 1, allowed);
		free(word);
	}
}

static int
is_number(const char *value)
{
	char *end;

	return strtod(value, &end) >= 0 && end != value && !*end;
}

static int
is_severity(const char *value)
{
	return strcmp(value, "fail") == 0 || strcmp(value, "warn") == 0 ||
	       strcmp(value, "off") == 0;
}

/* A network that a validation names, or that it measures without naming it. */
static void
check_rail(struct bu_loader *ld, const struct bu_desired_network *fabric,
	   const struct bu_ini_section *section, const char *key)
{
	if (fabric->role != BU_ROLE_FABRIC)
		bu_load_wrong(
			ld, section, key,
			"[network %s] has another role; allowed is a network with "
			"role = fabric",
			fabric->name);
	if (fabric->rdma == BU_RDMA_NONE)
		bu_load_wrong(
			ld, section, key,
			"[network %s] has no RDMA to measure; give it rdma = rxe, "
			"hardware or infiniband",
			fabric->name);
	if (fabric->link_gbps == 0)
		bu_load_wrong(
			ld, section, key,
			"[network %s] has no link_gbps, and bw_min is a share of it",
			fabric->name);
}

static void
check_validation(struct bu_loader *ld, const struct bu_desired_validation *validation,
		 const struct bu_ini_section *section)
{
	if (validation->message_bytes > validation->run_bytes)
		bu_load_wrong(
			ld, section, "message_size",
			"is larger than run_size; a run holds one message at least");
	check_each(ld, section, "thresholds", validation->thresholds, is_number,
		   "a number from 0");
	check_each(ld, section, "severity", validation->severity, is_severity,
		   "fail, warn or off");
	for (size_t i = 0; i < validation->fabrics_count; i++)
		check_rail(ld, validation->fabrics[i], section, "fabric");
}

/* Keys of a section of this name that another kind of cluster than this one knows. */
static void
check_driver_keys(struct bu_loader *ld, const struct bu_ini_section *section,
		  const char *named, const struct bu_desired_cluster *cluster)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; cluster && cluster->driver && i < count; i++) {
		const char *driver = strcmp(keys[i].section, named) == 0
					     ? bu_key_driver(&keys[i])
					     : NULL;

		if (driver && bu_ini_entry(section, keys[i].key) &&
		    strcmp(driver, cluster->driver) != 0)
			bu_load_wrong(ld, section, keys[i].key,
				      "is for clusters with driver = %s; [cluster %s] "
				      "has driver = %s",
				      driver, cluster->name, cluster->driver);
	}
}

/* Settings of the GPUs, which the hardware class knows, wherever they were given. */
struct gpu_settings {
	const char *who, *mig;
	int slices;
	const struct bu_origin *mig_at, *slices_at; /* NULL = given elsewhere */
};

static void
check_gpus(struct bu_loader *ld, const struct bu_desired_hardware *hardware,
	   const struct gpu_settings *its)
{
	struct bu_err err;

	if (!hardware)
		return;
	if (its->mig && its->mig_at &&
	    bu_gpu_mig_check(its->mig, hardware->gpu_model, hardware->gpus, &err) < 0)
		bu_findings_add(ld->findings, BU_FINDING_ERROR, its->mig_at->file,
				its->mig_at->line, "[%s] mig: %s", its->who, err.text);
	if (!hardware->gpus && (its->mig || its->slices)) {
		const struct bu_origin *at = its->mig ? its->mig_at : its->slices_at;

		if (at)
			bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file,
					at->line,
					"[%s] %s: [hardware %s] has no gpus to divide",
					its->who, its->mig ? "mig" : "gpu_slices",
					hardware->name);
	}
}

/* Modes of AMD's GPUs from MI300 on. */
static void
check_partition(struct bu_loader *ld, const struct bu_desired_hardware *hardware,
		const struct bu_ini_section *section)
{
	const struct {
		const char *key, *wanted;
	} keys[] = {{"gpu_compute_partition", hardware->gpu_compute_partition},
		    {"gpu_memory_partition", hardware->gpu_memory_partition}};
	const char *model = hardware->gpu_model;

	for (size_t i = 0; i < BU_LEN(keys); i++) {
		if (!keys[i].wanted)
			continue;
		if (!hardware->gpus)
			bu_load_wrong(ld, section, keys[i].key,
				      "this class has no gpus to divide; give gpus, or "
				      "leave it out");
		else if (model && strncmp(model, "mi3", 3) != 0)
			bu_load_wrong(ld, section, keys[i].key,
				      "is a mode of AMD's GPUs from MI300 on, and "
				      "gpu_model is %s; leave it out",
				      model);
	}
}

/* A pool is scaled where it has a max, and only then. */
static void
check_scale(struct bu_loader *ld, const struct bu_desired_pool *pool,
	    const struct bu_ini_section *section)
{
	static const char *const keys[] = {"count", "min", "idle_off"};
	const int given[] = {pool->count, pool->min, pool->idle_off_ms > 0};

	for (size_t i = 0; !pool->max && i < BU_LEN(keys); i++)
		if (given[i])
			bu_load_wrong(ld, section, keys[i],
				      "counts only in a pool that is scaled; give it "
				      "max, too");
	if (!pool->max)
		return;
	if (pool->nodes_count && (size_t)pool->max > pool->nodes_count)
		bu_load_wrong(ld, section, "max", "is %d, and the pool has %zu nodes",
			      pool->max, pool->nodes_count);
	if (pool->min > pool->max)
		bu_load_wrong(ld, section, "min", "is %d, more than max with %d",
			      pool->min, pool->max);
	if (pool->count && (pool->count < pool->min || pool->count > pool->max))
		bu_load_wrong(ld, section, "count",
			      "is %d, not within min and max (%d to %d)", pool->count,
			      pool->min, pool->max);
	if (pool->idle_off_ms && !pool->cluster)
		bu_load_wrong(ld, section, "idle_off",
			      "needs a cluster, which says what is idle");
}

static void
check_pool_settings(struct bu_loader *ld, const struct bu_desired_pool *pool,
		    const struct bu_ini_section *section)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);
	bu_autofree char *who = bu_xasprintf("pool %s", pool->name);

	check_gpus(ld, pool->hardware,
		   &(struct gpu_settings){
			   who, pool->mig, pool->gpu_slices,
			   &pool->origins[bu_schema_key("pool", "mig") - keys],
			   &pool->origins[bu_schema_key("pool", "gpu_slices") - keys]});
	check_driver_keys(ld, section, "pool", pool->cluster);
	bu_load_check_data(ld, pool, section);
	check_scale(ld, pool, section);
	if (pool->nodes_count && pool->canary > pool->max_unavailable)
		bu_load_wrong(ld, section, "canary",
			      "is %d nodes, more than max_unavailable with %d; a "
			      "canary must not be larger",
			      pool->canary, pool->max_unavailable);
}

/* What the pool's validation measures, the pool has. */
static void
check_pool_rails(struct bu_loader *ld, const struct bu_desired_pool *pool,
		 const struct bu_ini_section *section)
{
	const struct bu_desired_validation *validation = pool->validation;

	if (!validation)
		return;
	if (validation->acceptance && !validation->acceptance_image && pool->cluster &&
	    pool->cluster->driver && strcmp(pool->cluster->driver, "kubernetes") == 0)
		bu_load_wrong(ld, section, "validation",
			      "has an acceptance without acceptance_image; [cluster "
			      "%s] runs it in a container",
			      pool->cluster->name);
	for (size_t i = 0; i < validation->fabrics_count; i++) {
		if (!bu_desired_has_rail(pool, validation->fabrics[i]))
			bu_load_wrong(ld, section, "validation",
				      "measures [network %s], which the pool does not "
				      "have; add it to networks",
				      validation->fabrics[i]->name);
	}
	for (size_t i = 0; validation->fabrics_count == 0 && i < pool->rails_count; i++)
		check_rail(ld, pool->rails[i], section, "validation");
	if (validation->fabrics_count == 0 && pool->rails_count == 0 &&
	    pool->networks_count > 0)
		bu_load_wrong(ld, section, "validation",
			      "has nothing to measure; add a network with role = "
			      "fabric and rdma = rxe, hardware or infiniband to "
			      "networks");
}

/* IPMI and hypervisors have no drive that takes an address. */
static void
check_pool_boot(struct bu_loader *ld, const struct bu_desired_pool *pool,
		const struct bu_ini_section *section)
{
	if (pool->hardware && pool->power && pool->hardware->boot == BU_BOOT_BY_MEDIA &&
	    strcmp(pool->power, "redfish") != 0)
		bu_load_wrong(
			ld, section, "power",
			"is %s, and [hardware %s] says boot = media; only a "
			"Redfish BMC has a virtual drive: power = redfish, or boot "
			"= network",
			pool->power, pool->hardware->name);
}

static void
check_pool(struct bu_loader *ld, const struct bu_desired_pool *pool,
	   const struct bu_ini_section *section)
{
	bu_load_check_pool_networks(ld, pool, section);
	check_pool_settings(ld, pool, section);
	check_pool_rails(ld, pool, section);
	check_pool_boot(ld, pool, section);
	if (bu_ini_entry(section, "cluster") && !bu_ini_entry(section, "validation"))
		bu_load_wrong(ld, section, "validation",
			      "is missing; nodes of a cluster must be validated");
}

/* What the power drivers take as bmc. */
static const struct bmc_form {
	const char *power, *form;
} bmc_forms[] = {
	{"libvirt", "a libvirt URI and a domain, like qemu:///system#node001"},
	{"redfish", "an https URL, like https://bmc-gpu001.oob"},
	{"ipmi", "an address or a host name"},
};

static int
bmc_ok(const char *power, const char *bmc)
{
	struct bu_url url;
	const char *hash;

	if (bu_url_parse(bmc, &url) < 0)
		return 0;
	hash = strchr(url.path, '#');
	if (strcmp(power, "libvirt") == 0)
		return url.scheme[0] && !url.host[0] && hash && hash[1];
	if (strcmp(power, "redfish") == 0)
		return strcmp(url.scheme, "https") == 0 && url.host[0] &&
		       (!url.path[0] || strcmp(url.path, "/") == 0 ||
			strncmp(url.path, "/redfish/v1/", 12) == 0);
	return bu_url_is_host(&url);
}

#define NODE_WRONG(ld, node, ...)                                                      \
	bu_findings_add((ld)->findings, BU_FINDING_ERROR, (node)->origin.file,         \
			(node)->origin.line, __VA_ARGS__)

/* "fabric=52:54:00:78:00:01,...": the networks are those of the pool, each once. */
static void
check_nics(struct bu_loader *ld, const struct bu_desired_node *node)
{
	const struct bu_origin *at = bu_desired_origin(node, "nics");
	const char *rest = node->nics;
	char *word;

	while (at && rest && (word = bu_value_next_word(&rest))) {
		bu_autofree char *name = word;
		const struct bu_desired_pool *pool = node->pool;
		size_t i = 0;

		name[strcspn(name, "=")] = '\0';
		while (i < pool->networks_count &&
		       strcmp(pool->networks[i]->name, name) != 0)
			i++;
		if (i == pool->networks_count)
			bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file,
					at->line,
					"[node %s] nics: [pool %s] has no network "
					"'%.80s'; name one of its networks",
					node->name, pool->name, name);
		else if (pool->networks[i]->bond != BU_BOND_NONE)
			bu_findings_add(ld->findings, BU_FINDING_ERROR, at->file,
					at->line,
					"[node %s] nics: [network %s] is a bond; its "
					"bond_nics name the NICs",
					node->name, name);
	}
}

static void
check_node(struct bu_loader *ld, const struct bu_desired_node *node)
{
	check_nics(ld, node);
	if (node->origins_count) {
		bu_autofree char *who = bu_xasprintf("node %s", node->name);

		if (node->mig != node->pool->mig)
			check_gpus(ld, node->hardware,
				   &(struct gpu_settings){
					   who, node->mig, node->gpu_slices,
					   bu_desired_origin(node, "mig"), NULL});
	}
	if (!node->power)
		return;
	for (size_t i = 0; i < BU_LEN(bmc_forms); i++) {
		if (strcmp(bmc_forms[i].power, node->power) != 0)
			continue;
		if (!node->bmc && bu_load_is_unread(ld, node, "bmc"))
			continue;
		if (!node->bmc)
			NODE_WRONG(ld, node,
				   "[node %s] bmc: is missing; power = %s takes %s",
				   node->name, node->power, bmc_forms[i].form);
		else if (!bmc_ok(node->power, node->bmc))
			NODE_WRONG(
				ld, node,
				"[node %s] bmc: '%.80s' is wrong; power = %s takes %s",
				node->name, node->bmc, node->power, bmc_forms[i].form);
	}
}

static void
note_violation(const struct bu_violation *violation, void *arg)
{
	struct bu_loader *ld = arg;

	bu_findings_add(ld->findings, BU_FINDING_POLICY, violation->at.file,
			violation->at.line, "%s", violation->text);
}

/* Whose signatures count for an image that names no key of its own, and which program
 * judges it. */
static void
trust_images(struct bu_desired *desired)
{
	const struct bu_desired_policy *policy = &desired->policy;
	int allow = policy->unsigned_images &&
		    strcmp(policy->unsigned_images, "allow") == 0;

	for (size_t i = 0; i < desired->images_count; i++) {
		desired->images[i].site_keys = policy->image_keys;
		desired->images[i].may_be_unsigned = allow;
		desired->images[i].scanner = policy->scanner;
	}
}

void
bu_load_checks(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;

	check_site(ld);
	bu_load_check_networks(ld);
	for (size_t i = 0; i < desired->hardware_count; i++)
		check_partition(ld, &desired->hardware[i], ld->hardware_sections[i]);
	for (size_t i = 0; i < desired->clusters_count; i++)
		check_driver_keys(ld, ld->cluster_sections[i], "cluster",
				  &desired->clusters[i]);
	for (size_t i = 0; i < desired->validations_count; i++)
		check_validation(ld, &desired->validations[i],
				 ld->validation_sections[i]);
	bu_load_check_disks(ld);
	bu_load_check_mounts(ld);
	for (size_t i = 0; i < desired->pools_count; i++)
		check_pool(ld, &desired->pools[i], ld->pool_sections[i]);
	bu_load_check_inventory(ld);
	for (size_t i = 0; i < desired->nodes_count; i++)
		check_node(ld, &desired->nodes[i]);
	bu_load_check_access(ld);
	bu_load_check_sshkeys(ld);
	bu_load_check_machines(ld);
	bu_load_check_names(ld);
	bu_load_site_checks(ld);
	trust_images(desired);
	bu_policy_judge(desired, note_violation, ld);
}
