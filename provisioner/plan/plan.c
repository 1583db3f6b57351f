/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as one document: a decision per node (decide.c), batches under the limits of
 * the pools, violations of policy (policy.c), and a digest of the observed state.
 * Called by the API. Invariant: the same input gives the same bytes.
 */
#include "provisioner/plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/class.h"
#include "model/plan.h"
#include "model/sentence.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/node/fallback.h"
#include "provisioner/plan/plan_impl.h"

struct maker {
	const struct bu_plan_input *input;
	json_t *plan;
	struct bu_plan_image *images; /* by position in desired->images */
	int *pool_steps;    /* steps of nodes in service, by position of the pool */
	const char **limit; /* sorted; NULL = all */
	size_t limit_count;
	struct bu_sha256_state *observed;
	struct bu_facets facets; /* of the node being decided; reused */
	json_t *changes;         /* of the last step; the next may share them */
	json_t *why;             /* likewise, its reason */
	json_t *texts;           /* texts that steps share */
	json_t *minutes;         /* by pool and class: {"train reboot": 12.5} */
	json_t *identities;      /* index of bu_machine_identity_index() */
	size_t unchanged, left_out;
};

static json_t *
list(const struct maker *maker, const char *name)
{
	return json_object_get(maker->plan, name);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char *
read_limit(struct maker *maker)
{
	const struct bu_nodeset *limit = maker->input->limit;

	if (!limit)
		return bu_xstrdup("");
	maker->limit = bu_xcalloc(limit->count, sizeof(*maker->limit));
	maker->limit_count = limit->count;
	memcpy(maker->limit, limit->names, limit->count * sizeof(*maker->limit));
	qsort(maker->limit, limit->count, sizeof(*maker->limit), by_name);
	return bu_nodeset_fold(maker->limit, maker->limit_count);
}

static int
limited(const struct maker *maker, const char *name)
{
	return maker->limit && !bsearch(&name, maker->limit, maker->limit_count,
					sizeof(*maker->limit), by_name);
}

/* Adds the state that a decision uses: not times, not progress, not the inventory of a
 * node in service. */
static void
observe(struct maker *maker, const struct bu_node *node)
{
	const char *inventory = node->state == BU_STATE_READY ? "" : node->inventory;
	bu_autofree char *reason = bu_reason_text(node->reason);
	char text[2048];

	snprintf(text, sizeof(text), "%s|%s|%s|%s|%s|%s|%s|%s|%d|%d%d%d|%s|%s|%s|%s\n",
		 node->name, node->machine, bu_state_name(node->state), reason,
		 node->hold->by, node->installed_digest, node->facets, inventory,
		 node->disk_touched, node->order->open, node->order->begun,
		 node->order->failed, node->order->image_digest, node->order->facets,
		 node->order->rollout, node->found->row);
	bu_sha256_add(maker->observed, text, strlen(text));
}

static struct bu_plan_image *
image_of(struct maker *maker, const struct bu_desired_node *want, struct bu_err *err)
{
	const struct bu_plan_input *input = maker->input;
	struct bu_plan_image *image =
		&maker->images[want->image - input->desired->images];
	const struct bu_plan_image *found;

	if (image->digest[0])
		return image;
	found = input->image(input->arg, want->image, err);
	if (!found) {
		bu_err_wrap(err, "node %s", want->name);
		return NULL;
	}
	*image = *found;
	return image;
}

/* Canaries are batch 0; the batches after them have max_unavailable nodes each. Steps
 * that disturb no node in service start at once: -1. */
static int
batch_of(struct maker *maker, const struct bu_plan_node *it,
	 const struct bu_decision *decision)
{
	const struct bu_desired_pool *pool = it->want->pool;
	int *steps = &maker->pool_steps[pool - maker->input->desired->pools];

	if (!decision->served || !bu_class_info(decision->class)->disturbs)
		return -1;
	if ((*steps)++ < pool->canary)
		return 0;
	return 1 + (*steps - 1 - pool->canary) / pool->max_unavailable;
}

/* -1 = unknown. Queried once per pool and class: each answer is a median of many. */
static double
minutes_of(struct maker *maker, const char *pool, enum bu_class class)
{
	bu_autofree char *key = bu_xasprintf("%s %s", pool, bu_class_name(class));
	const json_t *value = json_object_get(maker->minutes, key);
	double minutes;

	if (value)
		return json_real_value(value);
	minutes = maker->input->minutes(maker->input->arg, pool, class);
	if (class == BU_CLASS_NONE || minutes < 0)
		minutes = -1;
	else
		minutes = (double)(int64_t)(minutes * 10 + 0.5) / 10;
	json_object_set_new(maker->minutes, key, json_real(minutes));
	return minutes;
}

/* Adds the limits of each pool with a step, for tools that show or follow the plan. */
static void
note_pool(struct maker *maker, const struct bu_desired_pool *pool)
{
	json_t *pools = list(maker, "pools");

	if (json_object_get(pools, pool->name))
		return;
	json_object_set_new(
		pools, pool->name,
		bu_record_to_json(
			bu_plan_pool_fields,
			&(struct bu_plan_pool){
				.canary = pool->canary,
				.max_unavailable = pool->max_unavailable,
				.failure_budget = pool->failure_budget,
				.drain_deadline_ms = pool->drain_deadline_ms,
				.maintenance = pool->maintenance,
				.cluster = pool->cluster ? pool->cluster->name : "",
			}));
}

/* Steps with the same text share one value. */
static json_t *
text(struct maker *maker, const char *words)
{
	json_t *value = json_object_get(maker->texts, words);

	if (value)
		return json_incref(value);
	value = json_string(words);
	json_object_set(maker->texts, words, value);
	return value;
}

/* Shares the texts of a step but node and facets. */
static void
share_texts(struct maker *maker, json_t *step)
{
	const char *key;
	json_t *value;

	json_object_foreach (step, key, value)
		if (json_is_string(value) && strcmp(key, "node") != 0 &&
		    strcmp(key, "facets") != 0)
			json_object_set_new(step, key,
					    text(maker, json_string_value(value)));
}

/* Adjacent steps with the same changes share one list. */
static json_t *
shared(struct maker *maker, json_t *changes)
{
	if (!changes)
		changes = json_array();
	if (maker->changes && json_equal(maker->changes, changes)) {
		json_decref(changes);
		return json_incref(maker->changes);
	}
	json_decref(maker->changes);
	maker->changes = json_incref(changes);
	return changes;
}

/* Adjacent entries with the same reason share it. New reference. */
static json_t *
said(struct maker *maker, const struct bu_reason *reason)
{
	json_t *why = bu_said_of(reason);

	if (json_equal(maker->why, why)) {
		json_decref(why);
		return json_incref(maker->why);
	}
	json_decref(maker->why);
	maker->why = json_incref(why);
	return why;
}

/* The disk whose content goes: a grant is for this disk alone. */
static json_t *
disk_of(const struct maker *maker, const struct bu_plan_node *it)
{
	const struct bu_plan_input *input = maker->input;
	const char *wanted = it->want->hardware->disk;
	json_t *disk = it->node && input->disk_id
			       ? input->disk_id(input->arg, it->node, wanted)
			       : NULL;

	if (!disk)
		disk = json_pack("{s:s}", "path", "");
	json_object_set_new(disk, "wanted", json_string(wanted));
	return disk;
}

/* The image of the running root, which stays: of two roots the other one is written. */
static const char *
stays(const struct bu_plan_node *it, const struct bu_decision *decision)
{
	return it->node && it->node->slot[0] && decision->class == BU_CLASS_REIMAGE
		       ? it->node->installed_image
		       : "";
}

static void
add_step(struct maker *maker, const struct bu_plan_node *it,
	 struct bu_decision *decision)
{
	const struct bu_desired_node *want = it->want;
	const char *pool = want->pool->name;
	bu_autojson json_t *why = said(maker, &decision->why);
	json_t *step;

	note_pool(maker, want->pool);
	step = bu_record_to_json(
		bu_plan_step_fields,
		&(struct bu_plan_step){
			.node = want->name,
			.pool = pool,
			.class = bu_class_name(decision->class),
			.image = want->image->name,
			.digest = it->image->digest,
			.facets = it->digest,
			.from = it->node ? bu_state_name(it->node->state) : "",
			.batch = batch_of(maker, it, decision),
			.minutes = minutes_of(maker, pool, decision->class),
			.why = why,
			.reset = decision->reset,
			.anew = decision->anew,
			.replace = it->identity->kind == BU_MACHINE_IDENTITY_REPLACED,
			.stays = stays(it, decision),
			.there = *stays(it, decision) &&
				 bu_fallback_has(it->node, it->image->digest,
						 it->digest),
		});
	share_texts(maker, step);
	json_object_set_new(step, "changes",
			    shared(maker, bu_steal(&decision->changes)));
	if (bu_class_needs_grant(decision->class)) {
		json_t *mirror = bu_plan_mirror(maker->input, it);
		json_t *scratch = bu_plan_scratch(maker->input, it);

		json_object_set_new(step, "disk", disk_of(maker, it));
		if (mirror)
			json_object_set_new(step, "mirror", mirror);
		if (scratch)
			json_object_set_new(step, "scratch", scratch);
		if (scratch && bu_desired_forgets_scratch(it->want))
			json_object_set_new(step, "forgets", json_true());
	}
	json_array_append_new(list(maker, "steps"), step);
}

static void
add_waiting(struct maker *maker, const struct bu_node *node)
{
	json_t *waiting = list(maker, "waiting");
	json_int_t count = bu_json_int(waiting, node->order->rollout, 0);

	json_object_set_new(waiting, node->order->rollout, json_integer(count + 1));
}

/* For a node outside of --limit. */
static void
plan_left_out(struct maker *maker, const struct bu_plan_node *it)
{
	struct bu_decision decision = {0};

	if (!bu_plan_overtakes(it, &decision)) {
		maker->left_out++;
		return;
	}
	observe(maker, it->node);
	add_step(maker, it, &decision);
}

/* Adds an entry to a list beside the steps; borrowed. */
static json_t *
tell(struct maker *maker, const char *name, const char *node,
     const struct bu_reason *why)
{
	json_t *entry = json_pack("{s:s,s:o}", "node", node, "why", said(maker, why));

	json_array_append_new(list(maker, name), entry);
	return entry;
}

/* Refuses the plan whatever its nodes: the revision as a whole would be applied. */
static void
contradict(struct maker *maker, const struct bu_desired_node *want,
	   const struct bu_machine_identity *identity)
{
	json_object_update_new(tell(maker, "refused", want->name, &identity->why),
			       json_pack("{s:s,s:s,s:i}", "rule",
					 bu_plan_rules[BU_PLAN_RULE_MACHINES], "file",
					 want->origin.file ? want->origin.file : "",
					 "line", want->origin.line));
}

static void
plan_decided(struct maker *maker, const struct bu_plan_node *it)
{
	const struct bu_desired_node *want = it->want;
	struct bu_decision decision;

	if (it->node)
		observe(maker, it->node);
	bu_plan_decide(maker->input, it, &decision);
	if (decision.adopts) {
		json_array_append_new(list(maker, "adopts"), json_string(want->name));
		return;
	}
	if (decision.stays)
		tell(maker, "quarantined", want->name, &decision.why);
	if (it->identity->kind == BU_MACHINE_IDENTITY_CONFLICT) {
		contradict(maker, want, it->identity);
	} else if (decision.refused) {
		tell(maker, "refused", want->name, &decision.why);
		if (bu_plan_overtakes(it, &decision))
			add_step(maker, it, &decision);
	} else if (decision.class != BU_CLASS_NONE || decision.withdraw) {
		add_step(maker, it, &decision);
	} else if (decision.waits) {
		add_waiting(maker, it->node);
	} else if (!decision.renamed) {
		maker->unchanged++;
	}
	if (decision.renamed)
		json_object_set_new(list(maker, "renames"), it->node->name,
				    json_string(want->name));
	json_decref(decision.changes);
}

static int
plan_node(struct maker *maker, const struct bu_desired_node *want, struct bu_err *err)
{
	const struct bu_plan_input *input = maker->input;
	const struct bu_node *own =
		bu_nodes_find(input->nodes, input->count, want->name);
	struct bu_machine_identity identity = {.node = own};
	struct bu_plan_node it = {.want = want, .identity = &identity};
	int out = limited(maker, want->name);

	bu_machine_identity_find(input, maker->identities, want, &identity);
	if (out && identity.kind == BU_MACHINE_IDENTITY_CONFLICT)
		contradict(maker, want, &identity);
	if (out)
		identity = (struct bu_machine_identity){.node = own};
	it.node = identity.node;
	it.image = image_of(maker, want, err);
	if (!it.image)
		return -1;
	/* facets matter only for nodes in the plan, or with an open order */
	if (!out || (it.node && it.node->order->open)) {
		bu_facets_collect(&maker->facets, input->desired, want);
		bu_facets_digest(&maker->facets, it.digest);
		it.facets = maker->facets;
	}
	if (!out && it.node) {
		bu_plan_drift(maker->plan, it.node);
		bu_plan_runs_drift(&it, list(maker, "drift"));
		if (!bu_plan_restarts(input, &it) ||
		    bu_node_check_recall(it.node, NULL) != 0)
			bu_plan_under_way(input, &it, maker->plan);
	}
	if (out)
		plan_left_out(maker, &it);
	else
		plan_decided(maker, &it);
	return 0;
}

static int
plan_nodes(struct maker *maker, struct bu_err *err)
{
	const struct bu_plan_input *input = maker->input;

	for (size_t i = 0; i < input->desired->nodes_count; i++)
		if (plan_node(maker, &input->desired->nodes[i], err) != 0)
			return -1;
	for (size_t i = 0; i < input->count; i++)
		if (!bu_node_is_gone(input->nodes[i]) &&
		    !bu_desired_node(input->desired, input->nodes[i]->name) &&
		    !json_object_get(list(maker, "renames"), input->nodes[i]->name))
			json_array_append_new(list(maker, "left"),
					      json_string(input->nodes[i]->name));
	return 0;
}

json_t *
bu_plan_make(const struct bu_plan_input *input, struct bu_err *err)
{
	struct maker maker = {.input = input};
	bu_autofree char *limit = read_limit(&maker);
	bu_autofree char *restart = bu_plan_restart_text(input);
	char observed[BU_DIGEST_SIZE];
	int rc;

	maker.plan = json_pack(
		"{s:i,s:s,s:s,s:s,s:s,s:s,s:[],s:[],s:[],s:[],s:[],s:{},s:{},s:{},s:[],s:[],s:[],s:[]}",
		"v", 2, "revision", input->revision, "base",
		input->base ? input->base : "", "commit", input->commit, "limit", limit,
		"restart", restart, "steps", "refused", "quarantined", "left", "adopts",
		"pools", "renames", "waiting", "warnings", "drift", "reach",
		"under_way");
	maker.images = bu_xcalloc(input->desired->images_count, sizeof(*maker.images));
	maker.pool_steps = bu_xcalloc(input->desired->pools_count, sizeof(int));
	maker.observed = bu_sha256_begin();
	maker.texts = json_object();
	maker.minutes = json_object();
	maker.identities = bu_machine_identity_index(input);
	rc = plan_nodes(&maker, err);
	bu_sha256_final(maker.observed, observed);
	if (rc == 0) {
		bu_plan_reach(input, maker.plan);
		bu_plan_restart_warn(input, maker.plan);
		bu_plan_policy(input, maker.images, maker.plan);
		json_object_update_new(
			maker.plan, json_pack("{s:s,s:I,s:I}", "observed", observed,
					      "unchanged", (json_int_t)maker.unchanged,
					      "left_out", (json_int_t)maker.left_out));
	} else {
		json_decref(maker.plan);
		maker.plan = NULL;
	}
	bu_facets_clear(&maker.facets);
	json_decref(maker.changes);
	json_decref(maker.why);
	json_decref(maker.texts);
	json_decref(maker.minutes);
	json_decref(maker.identities);
	free(maker.limit);
	free(maker.images);
	free(maker.pool_steps);
	return maker.plan;
}
