/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What [policy] of a profile says to images: `bringup image import --profile` asks
 * before anything is fetched, `bringup check` of images that this machine has. The plan
 * judges by the same function (profiles/load/policy.c).
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/commands/image.h"
#include "cli/commands/image_impl.h"
#include "cli/commands/profile.h"
#include "images/build/registry.h"
#include "images/store.h"
#include "profiles/load/policy.h"

static void
take_registry(const struct bu_violation *violation, void *arg)
{
	if (!strcmp(violation->rule, "registries"))
		bu_err_set(arg, BU_ERR_DENIED, 0, "%s", violation->text);
}

static int
judge_source(const struct bu_desired *desired, const char *name, const char *source,
	     struct bu_err *err)
{
	/* As if the profile had no other image, and nothing else. */
	struct bu_desired_image image = {.name = (char *)name,
					 .source = (char *)source};
	const struct bu_desired alone = {
		.policy = desired->policy, .images = &image, .images_count = 1};
	struct bu_registry_ref ref;
	struct bu_err denied = {0};

	if (strncmp(source, "oci://", 6) != 0)
		return 0;
	if (bu_registry_parse(source, &ref, err))
		return -1;
	bu_policy_judge(&alone, take_registry, &denied);
	if (!denied.kind)
		return 0;
	*err = denied;
	return -1;
}

int
bu_image_policy_source(const char *dir, const char *name, const char *source,
		       struct bu_err *err)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	int rc = bu_profile_check(dir, &findings, &tree, &desired, err);

	if (rc)
		bu_findings_print(&findings, stderr);
	else
		rc = judge_source(desired, name, source, err);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return rc;
}

static void
add_finding(const struct bu_violation *violation, void *arg)
{
	bu_findings_add(arg, BU_FINDING_POLICY, violation->at.file, violation->at.line,
			"%s", violation->text);
}

static void
judge_image(const struct bu_desired *desired, const struct bu_desired_image *image,
	    const char *images_dir, struct bu_findings *findings)
{
	struct bu_image loaded;

	/* Whose signature it has is for the plan to say. */
	if (bu_image_load(image->path ? image->path : images_dir, image->name, NULL,
			  &loaded, NULL))
		return;
	for (size_t i = 0; i < loaded.manifest->origin.source_count; i++)
		if (loaded.manifest->origin.sources[i].kind == BU_SOURCE_OCI)
			bu_policy_judge_registry(
				desired, image, loaded.manifest->origin.sources[i].host,
				add_finding, findings);
	bu_image_fini(&loaded);
}

void
bu_image_policy_check(const struct bu_desired *desired, struct bu_findings *findings)
{
	bu_autofree char *cache = bu_cache_dir(NULL);
	bu_autofree char *images = bu_xasprintf("%s/images", cache ? cache : "");

	if (!desired->policy.registries)
		return;
	for (size_t i = 0; i < desired->images_count; i++)
		judge_image(desired, &desired->images[i], images, findings);
	bu_findings_sort(findings);
}
