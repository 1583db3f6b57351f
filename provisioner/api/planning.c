/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes plans of a checked profile and of what the log says. Called by plans.c.
 * Invariant: nothing in here writes but bu_api_store_plan(), which only adds blobs.
 */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/url.h"
#include "images/kernel.h"
#include "profiles/export/facets.h"
#include "profiles/load/load.h"
#include "profiles/load/reserved.h"
#include "provisioner/api/api.h"

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

	if (api->http_url)
		bu_url_parse(api->http_url, &boot);
	if (api->agent_url)
		bu_url_parse(api->agent_url, &agents);

	reserve(&own, api->boot_address,
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
	size_t first = 0;

	while (first < desired->nodes_count && bu_medium_is(&desired->nodes[first]))
		first++;
	for (size_t i = 0; first < desired->nodes_count && i < BU_LEN(files); i++) {
		const struct bu_desired_node *node = &desired->nodes[first];
		bu_autofree char *path =
			bu_xasprintf("%s/%s", api->ramdisk_dir, files[i]);

		if (!bu_file_exists(path))
			bu_findings_add(findings, BU_FINDING_ERROR, node->origin.file,
					node->origin.line,
					"%s boots the appliance's ramdisk, and '%s' is "
					"missing; bringup image build ramdisk makes it",
					node->name, path);
	}
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

struct bu_desired *
bu_api_desired(const struct bu_api *api, const struct bu_tree *tree, struct bu_err *err)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);

	if (desired)
		check_own(api, desired, &findings);
	if (desired)
		check_media(api, desired, &findings);
	if (desired)
		check_ramdisk(api, desired, &findings);
	if (desired)
		check_loaders(api, desired, &findings);
	if (findings.errors || findings.unsupported) {
		bu_findings_err(&findings, err);
		bu_desired_destroy(desired);
		desired = NULL;
	}
	bu_findings_clear(&findings);
	return desired;
}

static json_t *
facets_of(void *arg, const char *digest)
{
	const struct bu_api *api = arg;
	bu_autofree char *text = bu_store_get_blob(api->fleet->store, digest, NULL);

	return text ? bu_json_parse(text, strlen(text), "facets", NULL) : NULL;
}

static enum bu_plan_disk
disk_of(void *arg, const struct bu_node *node, const char *path)
{
	const struct bu_api *api = arg;
	struct bu_seen_disk disk;

	if (bu_fleet_disk(api->fleet, node, path, &disk) != 0)
		return BU_PLAN_DISK_UNKNOWN;
	return disk.written ? BU_PLAN_DISK_WRITTEN : BU_PLAN_DISK_EMPTY;
}

static json_t *
disk_id_of(void *arg, const struct bu_node *node, const char *path)
{
	const struct bu_api *api = arg;
	struct bu_seen_disk disk;

	if (bu_fleet_disk(api->fleet, node, path, &disk) != 0)
		return NULL;
	return json_pack("{s:s,s:s,s:I,s:s}", "path", disk.path, "serial", disk.serial,
			 "size_bytes", (json_int_t)disk.size_bytes, "holds",
			 disk.holds);
}

static json_t *
mirror_of(void *arg, const struct bu_node *node,
	  const struct bu_desired_hardware *class, const char *wanted)
{
	const struct bu_api *api = arg;

	return bu_fleet_mirror(api->fleet, node, class, wanted);
}

static json_t *
scratch_of(void *arg, const struct bu_node *node,
	   const struct bu_desired_hardware *class, const char *wanted)
{
	const struct bu_api *api = arg;

	return bu_fleet_scratch(api->fleet, node, class, wanted);
}

static double
minutes_of(void *arg, const char *pool, enum bu_class class)
{
	const struct bu_api *api = arg;

	return bu_fleet_minutes(api->fleet, pool, class);
}

static json_t *
make(struct bu_api *api, const struct bu_desired *desired, enum bu_class rebuild,
     const char *commit, const char *limit, struct bu_err *err)
{
	bu_autofree char *vmlinuz = bu_xasprintf("%s/vmlinuz", api->ramdisk_dir);
	char kernel[BU_KERNEL_RELEASE_SIZE];
	int is_known = bu_kernel_release(vmlinuz, kernel, NULL) == 0;
	struct bu_plan_input input = {
		.desired = desired,
		.rebuild = rebuild,
		.applied = api->fleet->desired,
		.revision = desired->digest,
		.base = api->fleet->revision,
		.commit = commit,
		.nodes = api->fleet->nodes,
		.count = api->fleet->count,
		.compat = api->compat,
		.ramdisk_kernel = is_known ? kernel : NULL,
		.image = bu_api_plan_image,
		.facets = facets_of,
		.disk = disk_of,
		.disk_id = disk_id_of,
		.mirror = mirror_of,
		.scratch = scratch_of,
		.minutes = minutes_of,
		.arg = api,
	};
	struct bu_nodeset *names = NULL;
	json_t *plan;

	if (*limit) {
		names = bu_api_nodeset(api, desired, limit, err);
		if (!names) {
			bu_err_wrap(err, "--limit");
			return NULL;
		}
		input.limit = names;
	}
	plan = bu_plan_make(&input, err);
	bu_nodeset_destroy(names);
	return plan;
}

json_t *
bu_api_make_plan(struct bu_api *api, const struct bu_desired *desired,
		 const char *commit, const char *limit, struct bu_err *err)
{
	return make(api, desired, BU_CLASS_NONE, commit, limit, err);
}

json_t *
bu_api_make_rebuild(struct bu_api *api, enum bu_class class, const char *limit,
		    struct bu_err *err)
{
	return make(api, api->fleet->desired, class, api->fleet->commit, limit, err);
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
