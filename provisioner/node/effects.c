/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What steps do to the world: power through bringup-power, clusters through their
 * driver. The agent's steps have no effect here: the agent comes and fetches them.
 *
 * Callbacks may come late: they carry the step and attempt that they belong to, and
 * what is no longer the node's open step is dropped.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/node/reconcile_impl.h"

enum { RELABEL_MS = 60000 };

struct bu_effect {
	struct bu_effect *next;
	struct bu_reconcile *rec;
	char node[BU_NAME_MAX];
	char step[112];
	int attempt;
	const struct bu_cluster_driver *driver; /* NULL: of bringup-power */
	struct bu_cluster_op *op;
};

static struct bu_effect *
effect_of(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_effect *effect = bu_xcalloc(1, sizeof(*effect));

	effect->rec = rec;
	memcpy(effect->node, node->name, sizeof(effect->node));
	memcpy(effect->step, node->step.id, sizeof(effect->step));
	effect->attempt = node->step.attempt;
	effect->next = rec->effects;
	rec->effects = effect;
	node->effect_running = 1;
	return effect;
}

static int
is_current(const struct bu_effect *effect, const struct bu_node *node)
{
	return node && node->step.status == BU_STEP_OPEN &&
	       strcmp(node->step.id, effect->step) == 0 &&
	       node->step.attempt == effect->attempt;
}

/* Frees the effect; NULL when the node has gone on without it. */
static struct bu_node *
effect_node(struct bu_effect *effect)
{
	struct bu_node *node = bu_world_node(effect->rec->world, effect->node);
	struct bu_effect **link = &effect->rec->effects;
	int current = is_current(effect, node);

	while (*link != effect)
		link = &(*link)->next;
	*link = effect->next;
	free(effect);
	return current ? node : NULL;
}

/* Who is only late goes on: what it waits for may still come. */
static int
held_by_person(const struct bu_node *node)
{
	return node->held_by[0] && strcmp(node->held_by, "bringup") != 0;
}

void
bu_effects_overtaken(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_effect **link = &rec->effects, *effect;

	while ((effect = *link)) {
		if (!effect->op || strcmp(effect->node, node->name) != 0 ||
		    (is_current(effect, node) && !held_by_person(node))) {
			link = &effect->next;
			continue;
		}
		/* It begins anew with the release. */
		if (is_current(effect, node))
			node->effect_running = 0;
		*link = effect->next;
		effect->driver->cancel(effect->op);
		free(effect);
	}
}

void
bu_effects_drop(struct bu_reconcile *rec)
{
	struct bu_effect *effect;

	while ((effect = rec->effects)) {
		rec->effects = effect->next;
		if (effect->op)
			effect->driver->cancel(effect->op);
		free(effect);
	}
}

void
bu_outcome_event(struct bu_event *event, const struct bu_node *node,
		 const struct bu_err *failure, const char *detail)
{
	bu_event_init(event, BU_EVENT_OUTCOME, node->name,
		      json_pack("{s:s,s:i,s:s,s:s,s:s,s:s}", "step", node->step.id,
				"attempt", node->step.attempt, "action",
				bu_action_name(node->step.action), "result",
				failure ? "failed" : "done", "kind",
				bu_err_name(failure ? failure->kind : BU_ERR_NONE),
				"detail", failure ? failure->text : detail));
}

/* An outcome may meet another batch of the node on its way to the log (it is lent as a
 * partner, its agent was heard). It is never dropped for that: if that batch ends the
 * step, the log passes over this word on it. */
static void
journal_outcome(struct bu_reconcile *rec, struct bu_node *node,
		const struct bu_err *failure, const char *detail)
{
	struct bu_event event;

	bu_outcome_event(&event, node, failure, detail);
	bu_reconcile_append(rec, node, &event, 1);
}

/* Nobody knows whose it is: it stays on until a person says what may be done. */
static void
hold_on(struct bu_reconcile *rec, struct bu_node *node, const struct bu_err *err)
{
	bu_autofree char *reason = bu_xasprintf(
		"%s; bringup apply with --grant reset:%s allows it; or switch it off, "
		"then bringup node release %s goes on",
		err->text, node->name, node->name);
	struct bu_event events[2];

	bu_outcome_event(&events[0], node, err, "");
	bu_event_init(&events[1], BU_EVENT_HELD, node->name,
		      json_pack("{s:s,s:s,s:s}", "owner", "bringup", "code",
				bu_hold_name(BU_HOLD_IS_ON), "reason", reason));
	bu_reconcile_append(rec, node, events, 2);
}

static void
on_boot(enum bu_power_state state, const struct bu_err *err, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_node *node = effect_node(effect);

	if (node && err && err->kind == BU_ERR_DENIED)
		hold_on(rec, node, err);
	else if (node)
		journal_outcome(rec, node, err, bu_power_state_name(state));
}

/* A machine that is on is switched off only where a grant says so, or where the boot
 * that runs is ours, and never while it may run work of its cluster. */
static int
may_reset(const struct bu_node *node)
{
	const struct bu_order *order = &node->order;
	int granted = order->open && order->begun && order->reset;

	return !node->serves && (granted || node->booted_by_us);
}

static void
boot(struct bu_reconcile *rec, struct bu_node *node, const struct bu_desired_node *want)
{
	int disk = node->step.action == BU_ACTION_DISKBOOT;
	/* After an install the agent switches its machine off; a repetition of the step
	 * has nobody to wait for. */
	struct bu_power_boot how = {
		.first = disk ? BU_BOOT_DISK : BU_BOOT_NETWORK,
		.wait_off_ms = disk && node->repeats == 0 ? BU_WAIT_OFF_MS : 0,
		.reset = may_reset(node),
	};

	bu_power_boot(rec->power, want->power, want->bmc ? want->bmc : "", &how,
		      on_boot, effect_of(rec, node));
}

static void
on_cluster(const struct bu_err *err, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_node *node = effect_node(effect);

	if (node)
		journal_outcome(rec, node, err, "");
}

static void
on_words(const char *text, void *arg)
{
	const struct bu_effect *effect = arg;
	struct bu_node *node = bu_world_node(effect->rec->world, effect->node);

	if (!node || strcmp(node->step.id, effect->step) != 0)
		return;
	bu_text_copy(node->cluster_words, sizeof(node->cluster_words), text);
	bu_world_touch(effect->rec->world, node);
}

static struct bu_cluster_op *
call_driver(struct bu_reconcile *rec, struct bu_node *node,
	    const struct bu_desired_node *want, struct bu_effect *effect)
{
	struct bu_cluster_target target = {
		.conf = want->cluster->slurm_conf_path,
		.node = node->name,
		.features = want->features,
		.words = on_words,
	};

	switch (node->step.action) {
	case BU_ACTION_LEAVE: /* how long jobs may take the pool says */
		return effect->driver->leave(rec->world->loop, &target, on_cluster,
					     effect);
	case BU_ACTION_RELABEL:
		target.deadline_ms = RELABEL_MS;
		return effect->driver->relabel(rec->world->loop, &target, on_cluster,
					       effect);
	default:
		target.deadline_ms = bu_reconcile_limit_ms(rec, node);
		return effect->driver->admit(rec->world->loop, &target, on_cluster,
					     effect);
	}
}

static void
call_cluster(struct bu_reconcile *rec, struct bu_node *node,
	     const struct bu_desired_node *want)
{
	const struct bu_cluster_driver *driver;
	struct bu_err err;
	struct bu_effect *effect;

	if (node->step.action == BU_ACTION_JOIN && !node->join_started)
		return;
	if (!want->cluster) {
		journal_outcome(rec, node, NULL, "its pool joins no cluster");
		return;
	}
	driver = bu_cluster_driver(want->cluster->driver);
	if (!driver) {
		bu_err_set(&err, BU_ERR_INVAL, 0, "no cluster driver '%s'",
			   want->cluster->driver);
		journal_outcome(rec, node, &err, "");
		return;
	}
	effect = effect_of(rec, node);
	effect->driver = driver;
	effect->op = call_driver(rec, node, want, effect);
}

void
bu_effect_start(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_target target;
	struct bu_err err = {0};

	if (bu_world_target(rec->world, node, &target, &err) != 0) {
		journal_outcome(rec, node, &err, "");
		return;
	}
	switch (bu_action_actor(node->step.action)) {
	case BU_ACTOR_POWER:
		boot(rec, node, target.node);
		return;
	case BU_ACTOR_CLUSTER:
		call_cluster(rec, node, target.node);
		return;
	case BU_ACTOR_AGENT:
	case BU_ACTOR_NOBODY:
		return;
	}
}

/* Off: the boot was not done, and off is confirmed: doing it is safe. On: it may or may
 * not have been; only a new boot id proves it, and the deadline decides. But it may be
 * about to go off, as after an install: it is looked at again. */
static void
on_observed(enum bu_power_state state, const struct bu_err *err, void *arg)
{
	struct bu_effect *effect = arg;
	struct bu_reconcile *rec = effect->rec;
	struct bu_node *node = effect_node(effect);

	if (!node)
		return;
	node->effect_running = 0;
	/* What is on its way to the log may end this step: look again after it. */
	if (node->appending)
		return;
	if (err || state == BU_POWER_UNKNOWN) {
		bu_warn("node", "%s: power is unknown: %s", node->name,
			err ? err->text : "no clear answer");
		node->retry_ms = bu_loop_now_ms(rec->world->loop) + BU_RETRY_MS;
	} else if (state == BU_POWER_OFF) {
		bu_info("node", "%s: %s was not done before the restart; doing it now",
			node->name, bu_action_name(node->step.action));
		bu_effect_start(rec, node);
	} else {
		bu_debug("node",
			 "%s: %s may have been done before the restart; waiting "
			 "for its boot",
			 node->name, bu_action_name(node->step.action));
		node->retry_ms = bu_loop_now_ms(rec->world->loop) + BU_RETRY_MS;
	}
}

void
bu_effect_observe(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_world_ordered(rec->world, node);

	if (bu_action_actor(node->step.action) == BU_ACTOR_POWER && want)
		bu_power_status(rec->power, want->power, want->bmc ? want->bmc : "",
				on_observed, effect_of(rec, node));
	else
		bu_effect_start(rec, node);
}
