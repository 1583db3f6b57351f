/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon that knows no machine makes a plan of each sample site: a step for each node
 * of it, and nothing refused. The README of a sample has a line for each of its pools,
 * and each test that it names is there.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "images/programs.h"
#include "profiles/load/load.h"
#include "provisioner/plan/plan.h"
#include "tests/support/unit.h"

#define SAMPLES BU_SRCDIR "/profiles/samples"
enum { SAMPLES_LEAST = 9, README_MAX = 16 * 1024 };

/* An image that has everything, for the pool's hardware is not here. */
static const struct bu_plan_image *
image_of(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	static struct bu_plan_image ret;

	ret = (struct bu_plan_image){.clients = ~0U,
				     .programs = (UINT32_C(1) << BU_PROGRAMS) - 1,
				     .mirrors = 1,
				     .slots = 1};
	snprintf(ret.digest, sizeof(ret.digest), "digest of %s", image->name);
	strcpy(ret.kernel, "6.1.0-28-amd64");
	return &ret;
}

static json_t *
facets_of(void *arg, const char *digest)
{
	return NULL;
}

static enum bu_plan_disk
disk_of(void *arg, const struct bu_node *node, const char *wanted)
{
	return BU_PLAN_DISK_UNKNOWN;
}

static double
minutes_of(void *arg, const char *pool, enum bu_class class)
{
	return -1;
}

static json_t *
plan_of(const struct bu_desired *desired)
{
	const struct bu_plan_input input = {.desired = desired,
					    .revision = desired->digest,
					    .base = "",
					    .commit = "",
					    .image = image_of,
					    .facets = facets_of,
					    .disk = disk_of,
					    .minutes = minutes_of};
	struct bu_err err = {0};
	json_t *plan = bu_plan_make(&input, &err);

	ck_assert_msg(plan != NULL, "%s", err.text);
	return plan;
}

static struct bu_desired *
load(const char *name)
{
	bu_autofree char *path = bu_xasprintf(SAMPLES "/%s", name);
	struct bu_findings findings = {0};
	struct bu_err err = {0};
	struct bu_tree *tree = bu_tree_load(path, &err);
	struct bu_desired *desired;

	ck_assert_msg(tree != NULL, "%s", err.text);
	desired = bu_profiles_load(tree, &findings);
	ck_assert_ptr_nonnull(desired);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	return desired;
}

/* Nothing is known to be on a new machine's disk: it is written, and that needs a grant
 * only where there is something to lose. */
static void
check_step(const struct bu_desired *desired, const json_t *step)
{
	const struct bu_desired_node *want =
		bu_desired_node(desired, bu_json_str(step, "node", ""));
	bu_autofree char *digest = NULL;

	ck_assert_msg(want != NULL, "%s", bu_json_str(step, "node", ""));
	digest = bu_xasprintf("digest of %s", want->image->name);
	ck_assert_str_eq(bu_json_str(step, "pool", ""), want->pool->name);
	ck_assert_str_eq(bu_json_str(step, "image", ""), want->image->name);
	ck_assert_str_eq(bu_json_str(step, "digest", ""), digest);
	ck_assert_str_eq(bu_json_str(step, "class", ""),
			 bu_class_name(BU_CLASS_INSTALL));
	ck_assert(*bu_json_str(json_object_get(step, "why"), "code", ""));
}

static void
check_plan(const char *name, const struct bu_desired *desired)
{
	bu_autojson json_t *plan = plan_of(desired);
	const json_t *steps = json_object_get(plan, "steps"), *step;
	bu_autofree char *refused = json_dumps(json_object_get(plan, "refused"), 0);
	bu_autojson json_t *named = json_object();
	size_t i;

	ck_assert_msg(!json_array_size(json_object_get(plan, "refused")), "%s: %s",
		      name, refused);
	ck_assert_msg(json_array_size(steps) == desired->nodes_count,
		      "%s: %zu steps for %zu nodes", name, json_array_size(steps),
		      desired->nodes_count);
	json_array_foreach (steps, i, step) {
		check_step(desired, step);
		json_object_set_new(named, bu_json_str(step, "node", ""), json_true());
	}
	ck_assert_uint_eq(json_object_size(named), desired->nodes_count);
}

/* `tests/system/kubernetes`, in code marks. */
static void
check_tests(const char *name, const char *text)
{
	static const char mark[] = "`tests/", unit[] = "`provisioner/";
	int named = 0;

	for (const char *at = text; (at = strchr(at, '`')); at++) {
		bu_autofree char *path = NULL;

		if (strncmp(at, mark, strlen(mark)) != 0 &&
		    strncmp(at, unit, strlen(unit)) != 0)
			continue;
		path = bu_xasprintf(BU_SRCDIR "/%.*s", (int)strcspn(at + 1, "`"),
				    at + 1);
		ck_assert_msg(access(path, R_OK) == 0, "%s: %s is not there", name,
			      path);
		named++;
	}
	ck_assert_msg(named > 0, "%s: README.md names no test", name);
}

static void
check_readme(const char *name, const struct bu_desired *desired)
{
	bu_autofree char *path = bu_xasprintf(SAMPLES "/%s/README.md", name);
	struct bu_err err = {0};
	bu_autofree char *text = bu_file_read(path, README_MAX, NULL, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
	for (size_t i = 0; i < desired->pools_count; i++) {
		bu_autofree char *row =
			bu_xasprintf("\n| `%s` |", desired->pools[i].name);

		ck_assert_msg(strstr(text, row) != NULL,
			      "%s/README.md says nothing of pool %s", name,
			      desired->pools[i].name);
	}
	ck_assert_msg(strstr(text, "\n## What is proven, and where\n") != NULL, "%s",
		      name);
	check_tests(name, text);
}

START_TEST(each_sample_has_a_plan_and_a_readme)
{
	DIR *dir = opendir(SAMPLES);
	struct dirent *entry;
	int samples = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		struct bu_desired *desired;

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		desired = load(entry->d_name);
		check_plan(entry->d_name, desired);
		check_readme(entry->d_name, desired);
		bu_desired_destroy(desired);
		samples++;
	}
	closedir(dir);
	ck_assert_int_ge(samples, SAMPLES_LEAST);
}
END_TEST

BU_UNIT("plan/samples", each_sample_has_a_plan_and_a_readme)
