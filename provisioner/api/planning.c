/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes plans of a checked profile and of what the log says. Called by plans.c.
 * Invariant: nothing in here writes but bu_api_store_plan(), which only adds blobs.
 */
#include <fcntl.h>
#include <string.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/json.h"
#include "base/networks.h"
#include "base/text.h"
#include "base/url.h"
#include "images/kernel.h"
#include "profiles/export/facets.h"
#include "profiles/load/load.h"
#include "profiles/load/named.h"
#include "profiles/load/reserved.h"
#include "provisioner/api/api.h"
#include "provisioner/node/adopt.h"

enum { RESERVED_MAX = 4 };

struct reserved {
	struct bu_reserved list[RESERVED_MAX];
	size_t count;
};

/* An address that is named twice is reserved once. */
static void
reserve(struct reserved *reserved, const char *text, const char *what)
{
	struct bu_reserved *next = &reserved->list[reserved->count];

	if (!text || bu_reserved_parse(text, what, next) != 0)
		return;
	for (size_t i = 0; i < reserved->count; i++)
		if (reserved->list[i].first == next->first &&
		    reserved->list[i].last == next->last)
			return;
	reserved->count++;
}

/* What only bringupd knows: where it listens itself, and what it hands out. */
static void
check_own(const struct bu_api *api, const struct bu_desired *desired,
	  struct bu_findings *findings)
{
	struct bu_url boot = {.port = -1}, agents = boot;
	struct reserved own = {0};

	if (api->work.http_url)
		bu_url_parse(api->work.http_url, &boot);
	if (api->agent_url)
		bu_url_parse(api->agent_url, &agents);

	reserve(&own, api->work.boot_address,
		"the appliance's own (boot_address in bringupd.conf)");
	reserve(&own, boot.host, "the appliance's own (boot_listen in bringupd.conf)");
	reserve(&own, agents.host,
		"the appliance's own (agent_listen in bringupd.conf)");
	reserve(&own, api->dhcp_range,
		"handed out to unknown machines (dhcp_range in bringupd.conf)");
	bu_reserved_check(desired, own.list, own.count, findings);
}

/* A medium that cannot be made would be found missing node by node. */
static void
check_media(const struct bu_api *api, const struct bu_desired *desired,
	    struct bu_findings *findings)
{
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		struct bu_err err = {0};

		if (!bu_medium_is(node) || bu_api_medium_check(api, &err) == 0)
			continue;
		bu_findings_add(findings, BU_FINDING_ERROR, node->origin.file,
				node->origin.line,
				"%s boots from a medium (boot = media), which this "
				"appliance has not: %s",
				node->name, err.text);
		return;
	}
}

/* What machines load from the network, too: each would be switched on, find nothing and
 * be late. */
static void
check_ramdisk(const struct bu_api *api, const struct bu_desired *desired,
	      struct bu_findings *findings)
{
	static const char *const files[] = {"vmlinuz", "agent.img"};
	bu_autofree char *missing = NULL;
	size_t first = 0;

	while (first < desired->nodes_count && bu_medium_is(&desired->nodes[first]))
		first++;
	for (size_t i = 0; first < desired->nodes_count && i < BU_LEN(files); i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/%s", api->ramdisk_dir, files[i]);

		if (!bu_file_exists(path))
			bu_text_add(&missing, " and ", "%s", files[i]);
	}
	if (missing)
		bu_findings_add(findings, BU_FINDING_ERROR,
				desired->nodes[first].origin.file,
				desired->nodes[first].origin.line,
				"%s boots the appliance's ramdisk, and %s has no %s; "
				"bringup image build ramdisk makes it and names its "
				"folder: copy what is there to %s",
				desired->nodes[first].name, api->ramdisk_dir, missing,
				api->ramdisk_dir);
}

static void
check_loaders(const struct bu_api *api, const struct bu_desired *desired,
	      struct bu_findings *findings)
{
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		struct bu_err err = {0};

		if (node->hardware->boot_loader != BU_BOOT_LOADER_GRUB ||
		    bu_medium_is(node) ||
		    bu_loaders_check_signed(&api->loader_dirs, &err) == 0)
			continue;
		bu_findings_add(findings, BU_FINDING_ERROR, node->origin.file,
				node->origin.line,
				"%s boots by shim and signed GRUB (boot_loader = "
				"grub), which this appliance has not: %s",
				node->name, err.text);
		return;
	}
}

/* A name is looked at when it is resolved, and each address before it is connected to:
 * this only says it earlier. */
static void
check_bmcs(const struct bu_desired *desired, struct bu_findings *findings)
{
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];
		struct bu_err err = {0};

		if (node->bmc && bu_bmc_is(node) &&
		    bu_networks_check_bmc(node->bmc, &err) != 0)
			bu_findings_add(findings, BU_FINDING_ERROR, node->origin.file,
					node->origin.line, "%s: bmc %s: %s", node->name,
					node->bmc, err.text);
	}
}

/* A file is opened again, and looked at as here, each time that it is used. */
static int
check_named_file(const struct bu_named *named, struct bu_err *err)
{
	switch (named->kind) {
	case BU_NAMED_IMAGES:
		return bu_confine_check(BU_CONFINE_IMAGES, named->path, O_DIRECTORY,
					err);
	case BU_NAMED_PUBLIC:
		if (bu_confine_check(BU_CONFINE_SECRETS | BU_CONFINE_IMAGES,
				     named->path, 0, err) != 0)
			return -1;
		return strcmp(named->key->key, "directory_ca") == 0
			       ? bu_work_check_directory_ca(named->path, err)
			       : 0;
	default:
		return bu_confine_check(BU_CONFINE_SECRETS, named->path, 0, err);
	}
}

static void
check_named(const struct bu_named *named, void *arg)
{
	struct bu_err err = {0};

	if (check_named_file(named, &err) == 0)
		return;
	bu_findings_add(arg, BU_FINDING_ERROR, named->at.file, named->at.line,
			"[%s%s%s] %s: %s", named->key->section, named->name ? " " : "",
			named->name ? named->name : "", named->key->key, err.text);
}

struct bu_desired *
bu_api_desired(const struct bu_api *api, const struct bu_tree *tree, struct bu_err *err)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);

	if (desired)
		bu_named_each(desired, check_named, &findings);
	if (desired)
		check_own(api, desired, &findings);
	if (desired)
		check_media(api, desired, &findings);
	if (desired)
		check_ramdisk(api, desired, &findings);
	if (desired)
		check_loaders(api, desired, &findings);
	if (desired)
		check_bmcs(desired, &findings);
	if (findings.errors) {
		bu_findings_err(&findings, err);
		bu_desired_destroy(desired);
		desired = NULL;
	}
	bu_findings_clear(&findings);
	return desired;
}

/* The argument of the plan's questions. */
struct planning {
	struct bu_api *api;
	struct bu_plan_image image; /* the last one that was asked for */
};

static const struct bu_plan_image *
image_of(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	struct planning *planning = arg;
	struct bu_plan_image *found = &planning->image;

	if (bu_work_plan_image(&planning->api->work, image, found, err) != 0)
		return NULL;
	bu_api_scanned(planning->api, image, found->digest, found->kept_out,
		       sizeof(found->kept_out));
	return found;
}

static json_t *
facets_of(void *arg, const char *digest)
{
	const struct bu_api *api = ((const struct planning *)arg)->api;
	bu_autofree char *text = bu_store_get_blob(api->fleet->store, digest, NULL);

	return text ? bu_json_parse(text, strlen(text), "facets", NULL) : NULL;
}

static enum bu_plan_disk
disk_of(void *arg, const struct bu_node *node, const char *path)
{
	const struct bu_api *api = ((const struct planning *)arg)->api;
	struct bu_seen_disk disk;

	if (bu_fleet_disk(api->fleet, node, path, &disk) != 0)
		return BU_PLAN_DISK_UNKNOWN;
	return disk.written ? BU_PLAN_DISK_WRITTEN : BU_PLAN_DISK_EMPTY;
}

static json_t *
disk_id_of(void *arg, const struct bu_node *node, const char *path)
{
	const struct bu_api *api = ((const struct planning *)arg)->api;
	struct bu_seen_disk disk;

	if (bu_fleet_disk(api->fleet, node, path, &disk) != 0)
		return NULL;
	return json_pack("{s:s,s:s,s:s,s:I,s:s}", "path", disk.path, "serial",
			 disk.serial, "wwn", disk.wwn, "size_bytes",
			 (json_int_t)disk.size_bytes, "holds", disk.holds);
}

static json_t *
mirror_of(void *arg, const struct bu_node *node,
	  const struct bu_desired_hardware *class, const char *wanted)
{
	const struct bu_api *api = ((const struct planning *)arg)->api;

	return bu_fleet_mirror(api->fleet, node, class, wanted);
}

static json_t *
scratch_of(void *arg, const struct bu_node *node,
	   const struct bu_desired_hardware *class, const char *wanted)
{
	const struct bu_api *api = ((const struct planning *)arg)->api;

	return bu_fleet_scratch(api->fleet, node, class, wanted);
}

static int
adopts(void *arg, const struct bu_node *node)
{
	const struct bu_api *api = ((const struct planning *)arg)->api;

	return bu_adopt_is_due(api->fleet, node);
}

static double
minutes_of(void *arg, const char *pool, enum bu_class class)
{
	const struct bu_api *api = ((const struct planning *)arg)->api;

	return bu_fleet_minutes(api->fleet, pool, class);
}

/* 0 and the nodes, NULL for "". */
static int
read_nodes(struct bu_api *api, const struct bu_desired *desired, const char *text,
	   const char *option, struct bu_nodeset **ret, struct bu_err *err)
{
	*ret = *text ? bu_api_nodeset(api, desired, text, err) : NULL;
	return !*text || *ret ? 0 : bu_err_wrap(err, "%s", option);
}

json_t *
bu_api_make_plan(struct bu_api *api, const struct bu_desired *desired,
		 const struct bu_api_plan_request *wanted, struct bu_err *err)
{
	bu_autofree char *vmlinuz = bu_xasprintf("%s/vmlinuz", api->ramdisk_dir);
	char kernel[BU_KERNEL_RELEASE_SIZE];
	int is_known = bu_kernel_release(vmlinuz, kernel, NULL) == 0;
	struct planning planning = {.api = api};
	struct bu_plan_input input = {
		.desired = desired,
		.rebuild = wanted->rebuild,
		.applied = api->fleet->desired,
		.revision = desired->digest,
		.base = api->fleet->revision,
		.commit = wanted->commit,
		.nodes = api->fleet->nodes,
		.count = api->fleet->count,
		.compat = api->compat,
		.ramdisk_kernel = is_known ? kernel : NULL,
		.image = image_of,
		.facets = facets_of,
		.disk = disk_of,
		.disk_id = disk_id_of,
		.mirror = mirror_of,
		.scratch = scratch_of,
		.adopts = adopts,
		.minutes = minutes_of,
		.arg = &planning,
	};
	struct bu_nodeset *limit = NULL, *restart = NULL;
	json_t *plan = NULL;

	if (read_nodes(api, desired, wanted->limit, "--limit", &limit, err) == 0 &&
	    read_nodes(api, desired, wanted->restart, "--restart-orders", &restart,
		       err) == 0) {
		input.limit = limit;
		input.restart = restart;
		plan = bu_plan_make(&input, err);
	}
	bu_nodeset_destroy(limit);
	bu_nodeset_destroy(restart);
	return plan;
}

json_t *
bu_api_make_rebuild(struct bu_api *api, enum bu_class class, const char *limit,
		    struct bu_err *err)
{
	const struct bu_api_plan_request wanted = {api->fleet->commit, limit, "",
						   class};

	return bu_api_make_plan(api, api->fleet->desired, &wanted, err);
}

int
bu_api_store_plan(struct bu_api *api, const struct bu_desired *desired,
		  const json_t *plan, const struct bu_tree *tree, struct bu_err *err)
{
	const json_t *steps = json_object_get(plan, "steps");
	size_t count = json_array_size(steps), i;
	bu_autofree char **texts = bu_xcalloc(count + 2, sizeof(*texts));
	bu_autojson json_t *tree_json = bu_tree_to_json(tree);
	json_t *step;
	int rc;

	json_array_foreach (steps, i, step) {
		const struct bu_desired_node *want =
			bu_desired_node(desired, bu_json_str(step, "node", ""));
		bu_autojson json_t *facets = bu_facets_json(desired, want);

		texts[i] = bu_json_canonical(facets);
	}
	texts[count++] = bu_json_canonical(tree_json);
	texts[count++] = bu_json_canonical(plan);
	rc = bu_store_put_blobs(api->fleet->store, (const char *const *)texts, count,
				err);
	for (i = 0; i < count; i++)
		free(texts[i]);
	return rc;
}
