/* SPDX-License-Identifier: Apache-2.0 */
/* What bringup writes on a node, and what of others' it leaves there. */
#include <string.h>

#include "base/json.h"
#include "provisioner/cluster/kubernetes/kube.h"
#include "tests/support/paper_patch.h"
#include "tests/support/unit.h"

#define GATE "{\"key\":\"" BU_KUBE_GATE "\",\"effect\":\"NoSchedule\"}"
#define GPU "{\"key\":\"gpu\",\"value\":\"true\",\"effect\":\"NoSchedule\"}"
#define OTHER "{\"key\":\"disk-pressure\",\"effect\":\"NoSchedule\"}"

/* {"spec":...,"metadata":...}: taints as JSON, NULL = no such field. */
static json_t *
node_of(const char *taints, int cordoned, const char *notes)
{
	bu_autofree char *text = bu_xasprintf(
		"{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"%s%s},"
		"\"spec\":{\"x\":1%s%s%s}}",
		notes ? ",\"annotations\":" : "", notes ? notes : "",
		taints ? ",\"taints\":" : "", taints ? taints : "",
		cordoned ? ",\"unschedulable\":true" : "");
	json_t *node = json_loads(text, 0, NULL);

	ck_assert_msg(node != NULL, "%s", text);
	return node;
}

/* The node as the patch leaves it; without one it stays. */
static void
patched(json_t *node, const struct bu_kube_spec *spec)
{
	bu_autojson json_t *patch = bu_kube_spec_patch(node, spec);

	ck_assert(!patch || paper_patch(node, patch) == 0);
	json_decref(patch);
	/* and then there is nothing left to do */
	patch = bu_kube_spec_patch(node, spec);
	ck_assert_ptr_null(patch);
}

START_TEST(taints_of_others_stay)
{
	static const struct {
		const char *taints, *notes;
		struct bu_kube_spec spec;
		const char *want;
	} rows[] = {
		{NULL, NULL, {.gate = 1, .cordon = -1}, "[" GATE "]"},
		{"[]", NULL, {.gate = 1, .cordon = -1}, "[" GATE "]"},
		{"[" OTHER "]",
		 NULL,
		 {.gate = 1, .cordon = -1},
		 "[" OTHER "," GATE "]"},
		{"[" GATE "]", NULL, {.gate = 1, .cordon = -1}, "[" GATE "]"},
		{"[" GATE "," OTHER "]", NULL, {.cordon = -1}, "[" OTHER "]"},
		{"[" GATE "]", NULL, {.cordon = -1}, "[]"},
		{"[" GATE "," OTHER "]",
		 NULL,
		 {.taints = "gpu=true:NoSchedule", .gate = -1, .cordon = -1},
		 "[" GATE "," OTHER "," GPU "]"},
		/* those of the profile before go, and nobody else's */
		{"[" GPU "," OTHER "]",
		 "{\"" BU_KUBE_TAINTS "\":\"gpu=true:NoSchedule\"}",
		 {.taints = "", .gate = -1, .cordon = -1},
		 "[" OTHER "]"},
		{"[" GPU "]",
		 NULL,
		 {.taints = "", .gate = -1, .cordon = -1},
		 "[" GPU "]"},
		{"[" GPU "]",
		 "{\"" BU_KUBE_TAINTS "\":\"gpu=true:NoSchedule\"}",
		 {.taints = "gpu=true:NoSchedule", .gate = -1, .cordon = -1},
		 "[" GPU "]"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *node = node_of(rows[i].taints, 0, rows[i].notes);
		bu_autojson json_t *want = json_loads(rows[i].want, 0, NULL);
		bu_autofree char *got = NULL;

		patched(node, &rows[i].spec);
		got = json_dumps(bu_kube_at(node, "spec", "taints", NULL),
				 JSON_COMPACT | JSON_SORT_KEYS);
		ck_assert_msg(
			json_equal(bu_kube_at(node, "spec", "taints", NULL), want),
			"%zu: %s in place of %s", i, got, rows[i].want);
	}
}
END_TEST

/* Somebody has written taints since the look: the server refuses the patch. */
START_TEST(a_patch_holds_for_what_was_looked_at)
{
	static const struct bu_kube_spec gate = {.gate = 1, .cordon = -1};
	static const char *const before[] = {NULL, "[" OTHER "]"};

	for (size_t i = 0; i < BU_LEN(before); i++) {
		bu_autojson json_t *node = node_of(before[i], 0, NULL);
		bu_autojson json_t *patch = bu_kube_spec_patch(node, &gate);
		bu_autojson json_t *later = node_of("[" OTHER "," GPU "]", 0, NULL);

		json_object_set_new(json_object_get(later, "metadata"),
				    "resourceVersion", json_string("8"));
		ck_assert_int_eq(paper_patch(later, patch), -1);
	}
}
END_TEST

START_TEST(a_cordon_says_whose_it_is)
{
	static const struct bu_kube_spec leaves = {.gate = -1, .cordon = 1};
	static const struct bu_kube_spec again = {
		.gate = -1, .cordon = 1, .drained = "DIMM A3"};
	static const struct bu_kube_spec opens = {.gate = -1, .cordon = 0};
	static const struct bu_kube_spec stays = {.gate = -1, .cordon = -1};
	bu_autojson json_t *node = node_of(NULL, 0, NULL);
	bu_autojson json_t *theirs = node_of(NULL, 1, NULL);
	struct bu_cluster_fact fact;

	patched(node, &leaves);
	bu_kube_fact(node, &fact);
	ck_assert_int_eq(fact.drain, BU_DRAIN_OURS);
	patched(node, &again);
	bu_kube_fact(node, &fact);
	ck_assert_int_eq(fact.drain, BU_DRAIN_OTHER);
	ck_assert_str_eq(fact.reason, "DIMM A3");
	patched(node, &opens);
	bu_kube_fact(node, &fact);
	ck_assert_int_eq(fact.drain, BU_DRAIN_NONE);
	ck_assert_uint_eq(
		json_object_size(bu_kube_at(node, "metadata", "annotations", NULL)), 0);
	patched(theirs, &stays);
	bu_kube_fact(theirs, &fact);
	ck_assert_int_eq(fact.drain, BU_DRAIN_OTHER);
	ck_assert_str_eq(fact.reason, "cordoned by an unknown manager");
}
END_TEST

START_TEST(labels_are_those_of_the_profile_and_of_trust)
{
	struct bu_cluster_op op = {.node = (char *)(uintptr_t) "a",
				   .labels =
					   (char *)(uintptr_t) "tier=gold, empty=,bad",
				   .taints = (char *)(uintptr_t) "gpu=true:NoSchedule",
				   .address = (char *)(uintptr_t) "10.77.0.11"};
	bu_autojson json_t *node = node_of(NULL, 0, NULL);
	bu_autojson json_t *body = NULL, *want = NULL;

	json_object_set_new(json_object_get(node, "metadata"), "uid",
			    json_string("u1"));
	body = bu_kube_labels(node, &op);
	want = json_pack("{s:s,s:s,s:s,s:s}", "tier", "gold", "empty", "",
			 BU_KUBE_VALIDATED, "true", BU_KUBE_ADDRESS, "10.77.0.11");
	ck_assert(json_equal(bu_kube_at(body, "metadata", "labels", NULL), want));
	/* a node that is gone meanwhile is not made anew */
	ck_assert_str_eq(json_string_value(bu_kube_at(body, "metadata", "uid", NULL)),
			 "u1");
}
END_TEST

BU_UNIT("kubernetes_spec", taints_of_others_stay, a_patch_holds_for_what_was_looked_at,
	a_cordon_says_whose_it_is, labels_are_those_of_the_profile_and_of_trust)
