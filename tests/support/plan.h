/* SPDX-License-Identifier: Apache-2.0 */
/* A site to plan for: the profile that is applied, the one that is planned, and what
 * the daemon would know. */
#ifndef BU_TESTS_SUPPORT_PLAN_H
#define BU_TESTS_SUPPORT_PLAN_H

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/plan.h"
#include "model/sentence.h"
#include "profiles/export/facets.h"
#include "provisioner/plan/plan.h"
#include "tests/support/profiles.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

enum { NODES = 2 };

/* A site of node001 and node002, ready with all that the good profile wants, unless a
 * test says otherwise; and what the daemon would know of it. */
struct site {
	struct bu_desired *desired; /* that is planned */
	struct bu_desired *applied;
	struct bu_node *nodes[NODES];
	json_t *blobs; /* facets by digest */
	struct bu_plan_image image;
	enum bu_plan_disk disk;
	double minutes;
	struct bu_plan_input input;
	int images_asked, minutes_asked;
};

static inline const struct bu_plan_image *
image_of(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	struct site *site = arg;

	ck_assert_str_eq(image->name, "debian12");
	site->images_asked++;
	if (!site->image.digest[0]) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "image debian12 is not signed");
		return NULL;
	}
	return &site->image;
}

static inline json_t *
facets_of(void *arg, const char *digest)
{
	struct site *site = arg;

	return json_incref(json_object_get(site->blobs, digest));
}

static inline enum bu_plan_disk
disk_of(void *arg, const struct bu_node *node, const char *path)
{
	struct site *site = arg;

	ck_assert_str_eq(path, "smallest");
	return site->disk;
}

static inline double
minutes_of(void *arg, const char *pool, enum bu_class class)
{
	struct site *site = arg;

	ck_assert_str_eq(pool, "train");
	site->minutes_asked++;
	return site->minutes;
}

/* Of a step or a refusal; until the next one. */
static inline const char *
why_of(const json_t *entry)
{
	static char text[4096];
	bu_autofree char *why = bu_said_text(json_object_get(entry, "why"));

	snprintf(text, sizeof(text), "%s", why);
	return text;
}

static inline const char *
refusal(const json_t *plan)
{
	return why_of(json_array_get(json_object_get(plan, "refused"), 0));
}

static inline struct bu_desired *
load(const char *from, const char *to)
{
	bu_autofree char *text = bu_testing_replace(
		bu_testing_site, from ? from : "[site]\n", from ? to : "[site]\n");
	struct bu_desired *desired;
	bu_autofree char *found = bu_testing_check(text, bu_testing_racks, &desired);

	ck_assert_msg(desired != NULL, "%s", found);
	return desired;
}

static inline void
install(struct site *site, int number)
{
	struct bu_node *node = site->nodes[number];
	const struct bu_desired_node *was = bu_desired_node(site->applied, node->name);
	bu_autojson json_t *facets = bu_facets_json(site->applied, was);
	char digest[BU_DIGEST_SIZE];

	if (was->cluster)
		strcpy(bu_node_joined(node)->cluster, was->cluster->name);
	node->state = BU_STATE_READY;
	node->disk_touched = 1;
	bu_node_set_installed_image(node, "debian12");
	bu_node_set_installed_digest(node, "d1");
	bu_json_digest(facets, digest);
	bu_node_set_facets(node, digest);
	json_object_set(site->blobs, node->facets, facets);
	strcpy(bu_node_order(node)->image_digest, "d1");
	strcpy(bu_node_order(node)->facets, node->facets);
	strcpy(bu_node_order(node)->rollout, "r-1");
}

/* The profile as it is applied, and the one that is planned, as differences from the
 * good one. */
static inline void
begin(struct site *site, const char *was_from, const char *was_to, const char *from,
      const char *to)
{
	static const char *const names[] = {"node001", "node002"};

	memset(site, 0, sizeof(*site));
	site->applied = load(was_from, was_to);
	site->desired = load(from, to);
	site->blobs = json_object();
	strcpy(site->image.digest, "d1");
	strcpy(site->image.kernel, "6.1.0-28-amd64");
	site->minutes = -1;
	for (int i = 0; i < NODES; i++) {
		site->nodes[i] = bu_node_create(names[i]);
		install(site, i);
	}
	site->input = (struct bu_plan_input){.desired = site->desired,
					     .applied = site->applied,
					     .revision = site->desired->digest,
					     .base = site->applied->digest,
					     .commit = "abc",
					     .nodes = site->nodes,
					     .count = NODES,
					     .image = image_of,
					     .facets = facets_of,
					     .disk = disk_of,
					     .minutes = minutes_of,
					     .arg = site};
}

static inline void
end(struct site *site)
{
	for (int i = 0; i < NODES; i++)
		bu_node_destroy(site->nodes[i]);
	json_decref(site->blobs);
	bu_desired_destroy(site->desired);
	bu_desired_destroy(site->applied);
}

static inline json_t *
make(struct site *site)
{
	struct bu_err err = {0};
	json_t *plan = bu_plan_make(&site->input, &err);
	struct bu_plan read;

	ck_assert_msg(plan != NULL, "%s", err.text);
	reads_as(bu_plan_fields, plan, &read);
	return plan;
}

/* The only warning, as a sentence; "" = none. Owned. */
static inline char *
warning_of(const json_t *plan)
{
	const json_t *warnings = json_object_get(plan, "warnings");

	ck_assert_uint_le(json_array_size(warnings), 1);
	return bu_said_text(json_array_get(warnings, 0));
}

static inline const json_t *
step_of(const json_t *plan, int index)
{
	return json_array_get(json_object_get(plan, "steps"), (size_t)index);
}

static inline int
plan_allowed(const json_t *value, struct bu_err *err)
{
	struct bu_plan plan;
	int rc;

	ck_assert_int_eq(bu_plan_read(value, &plan, NULL), 0);
	rc = bu_plan_allowed(&plan, err);
	bu_record_fini(bu_plan_fields, &plan);
	return rc;
}

#endif
