/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches of a node. Called by the operations. Invariant: what others have put on the
 * node stays: a patch of the taints holds only for the taints that were looked at, and
 * labels are applied as bringup's alone.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

/* --- taints --- */

/* "gpu=true:NoSchedule". New reference. */
static json_t *
taint_of(const char *text, size_t size)
{
	bu_autofree char *own = bu_xstrndup(text, size);
	char *taint = bu_text_trim(own), *effect = strrchr(taint, ':');
	char *value = strchr(taint, '=');
	json_t *ret = json_object();

	if (effect) {
		*effect = '\0';
		json_object_set_new(ret, "effect", json_string(effect + 1));
	}
	if (value) {
		*value = '\0';
		if (value[1])
			json_object_set_new(ret, "value", json_string(value + 1));
	}
	json_object_set_new(ret, "key", json_string(taint));
	return ret;
}

/* New reference. */
static json_t *
taints_of(const char *text)
{
	json_t *ret = json_array();

	for (const char *end; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, ',');
		json_array_append_new(ret, taint_of(text, (size_t)(end - text)));
	}
	return ret;
}

static int
is_same_taint(const json_t *a, const json_t *b)
{
	return strcmp(bu_json_str(a, "key", ""), bu_json_str(b, "key", "")) == 0 &&
	       strcmp(bu_json_str(a, "effect", ""), bu_json_str(b, "effect", "")) == 0;
}

static int
has_taint(const json_t *all, const json_t *taint)
{
	const json_t *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (is_same_taint(one, taint))
			return 1;
	return 0;
}

static void
drop_taints(json_t *from, const json_t *these)
{
	for (size_t i = json_array_size(from); i-- > 0;)
		if (has_taint(these, json_array_get(from, i)))
			json_array_remove(from, i);
}

static void
put_taints(json_t *into, const json_t *these)
{
	json_t *one;
	size_t i;

	json_array_foreach (these, i, one)
		if (!has_taint(into, one))
			json_array_append(into, one);
}

/* Those of the profile that were there before go, others' stay as they are. */
static json_t *
want_taints(const json_t *node, const struct bu_kube_spec *spec)
{
	const json_t *now = bu_kube_at(node, "spec", "taints", NULL);
	const json_t *notes = bu_kube_at(node, "metadata", "annotations", NULL);
	bu_autojson json_t *gate =
		json_pack("[{s:s,s:s}]", "key", BU_KUBE_GATE, "effect", "NoSchedule");
	bu_autojson json_t *before = taints_of(bu_json_str(notes, BU_KUBE_TAINTS, ""));
	bu_autojson json_t *own = taints_of(spec->taints ? spec->taints : "");
	json_t *ret = now ? json_deep_copy(now) : json_array();

	if (spec->taints) {
		drop_taints(before, own);
		drop_taints(ret, before);
		put_taints(ret, own);
	}
	if (spec->gate == 0)
		drop_taints(ret, gate);
	if (spec->gate == 1)
		put_taints(ret, gate);
	return ret;
}

/* --- the patch --- */

static void
step(json_t *patch, const char *op, const char *path, json_t *value)
{
	json_t *one = json_pack("{s:s,s:s}", "op", op, "path", path);

	if (value)
		json_object_set_new(one, "value", value);
	json_array_append_new(patch, one);
}

/* Fails at the server when somebody has changed them meanwhile. */
static void
patch_taints(json_t *patch, const json_t *node, const struct bu_kube_spec *spec)
{
	json_t *now = bu_kube_at(node, "spec", "taints", NULL);
	bu_autojson json_t *want = want_taints(node, spec);

	if (now ? json_equal(now, want) : json_array_size(want) == 0)
		return;
	if (now)
		step(patch, "test", "/spec/taints", json_incref(now));
	else
		step(patch, "test", "/metadata/resourceVersion",
		     json_incref(
			     bu_kube_at(node, "metadata", "resourceVersion", NULL)));
	step(patch, now ? "replace" : "add", "/spec/taints", json_incref(want));
}

static void
patch_note(json_t *patch, const json_t *node, const char *key, const char *path,
	   const char *value)
{
	const json_t *notes = bu_kube_at(node, "metadata", "annotations", NULL);
	const char *now = bu_json_str(notes, key, NULL);

	if (bu_text_same(now, value))
		return;
	if (value)
		step(patch, "add", path, json_string(value));
	else
		step(patch, "remove", path, NULL);
}

/* Adding to what is not there is an error. */
static void
patch_notes(json_t *patch, const json_t *node, const char *leaves, const char *drained)
{
	if ((leaves || drained) && !bu_kube_at(node, "metadata", "annotations", NULL))
		step(patch, "add", "/metadata/annotations", json_object());
	patch_note(patch, node, BU_KUBE_LEAVES,
		   "/metadata/annotations/bringup.dev~1leaves", leaves);
	patch_note(patch, node, BU_KUBE_DRAINED,
		   "/metadata/annotations/bringup.dev~1drained", drained);
}

static void
patch_cordon(json_t *patch, const json_t *node, const struct bu_kube_spec *spec)
{
	int now = bu_json_bool(json_object_get(node, "spec"), "unschedulable", 0);

	if (spec->cordon < 0)
		return;
	if (spec->cordon && !now)
		step(patch, "add", "/spec/unschedulable", json_true());
	if (!spec->cordon && now)
		step(patch, "remove", "/spec/unschedulable", NULL);
	patch_notes(patch, node, spec->cordon && !spec->drained ? "true" : NULL,
		    spec->cordon ? spec->drained : NULL);
}

json_t *
bu_kube_spec_patch(const json_t *node, const struct bu_kube_spec *spec)
{
	json_t *patch = json_array();

	patch_taints(patch, node, spec);
	patch_cordon(patch, node, spec);
	if (json_array_size(patch))
		return patch;
	json_decref(patch);
	return NULL;
}

/* --- labels --- */

static void
put_labels(json_t *labels, const char *text)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		bu_autofree char *own = NULL;
		char *key, *value;

		end = strchrnul(text, ',');
		own = bu_xstrndup(text, (size_t)(end - text));
		key = bu_text_trim(own);
		value = strchr(key, '=');
		if (!value)
			continue;
		*value = '\0';
		json_object_set_new(labels, key, json_string(value + 1));
	}
}

/* What is left out is taken off. The uid: a node that is gone is not made anew. */
json_t *
bu_kube_labels(const json_t *node, const struct bu_cluster_op *op)
{
	json_t *labels = json_object();
	json_t *uid = bu_kube_at(node, "metadata", "uid", NULL);

	put_labels(labels, op->labels);
	json_object_set_new(labels, BU_KUBE_VALIDATED, json_string("true"));
	if (op->address[0])
		json_object_set_new(labels, BU_KUBE_ADDRESS, json_string(op->address));
	return json_pack("{s:s,s:s,s:{s:s,s:O,s:o,s:{s:s}}}", "apiVersion", "v1",
			 "kind", "Node", "metadata", "name", op->node, "uid",
			 uid ? uid : json_null(), "labels", labels, "annotations",
			 BU_KUBE_TAINTS, op->taints);
}
