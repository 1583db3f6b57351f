/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running effect: its node, whether its answer still counts, and how it is cancelled.
 * Begun by effects.c, gating.c and joining.c. Invariant: an answer counts only for the
 * step and the attempt that it belongs to.
 */
#include "provisioner/node/effect.h"

#include <string.h>

/* --- clusters that are told before a restart --- */

static int
is_gated_for(const struct bu_node *node, int64_t seq)
{
	return (node->step.status == BU_STEP_OPEN && node->step.intent_seq == seq) ||
	       (node->power->result == BU_OUTCOME_ASKED && node->power->seq == seq);
}

struct bu_node *
bu_gating_node(const struct bu_gating *gating)
{
	const struct bu_fleet *fleet = gating->rec->fleet;

	for (size_t i = 0; i < fleet->count; i++)
		if (is_gated_for(fleet->nodes[i], gating->seq))
			return fleet->nodes[i];
	return NULL;
}

void
bu_gating_end(struct bu_gating *gating)
{
	struct bu_gating **link = &gating->rec->gatings;

	while (*link != gating)
		link = &(*link)->next;
	*link = gating->next;
	if (gating->op)
		gating->driver->cancel(gating->op);
	bu_timer_destroy(gating->timer);
	free(gating);
}

static const struct bu_gating *
gating_of(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_gating *gating = rec->gatings;

	while (gating && !is_gated_for(node, gating->seq))
		gating = gating->next;
	return gating;
}

int
bu_gating_runs(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return gating_of(rec, node) != NULL;
}

static void
gatings_overtaken(struct bu_reconcile *rec)
{
	struct bu_gating *next;

	for (struct bu_gating *gating = rec->gatings; gating; gating = next) {
		next = gating->next;
		if (!bu_gating_node(gating))
			bu_gating_end(gating);
	}
}

static void
drop_gatings(struct bu_reconcile *rec)
{
	while (rec->gatings)
		bu_gating_end(rec->gatings);
}

/* --- commands of steps --- */

struct bu_effect *
bu_effect_of(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_effect *effect = bu_xcalloc(1, sizeof(*effect));

	effect->rec = rec;
	memcpy(effect->node, node->name, sizeof(effect->node));
	memcpy(effect->step, node->step.id, sizeof(effect->step));
	effect->attempt = node->step.attempt;
	effect->next = rec->effects;
	rec->effects = effect;
	node->live.effect_running = 1;
	return effect;
}

static const struct bu_effect *
switching(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_effect *effect = rec->effects;

	while (effect && (!effect->switches || strcmp(effect->node, node->name) != 0))
		effect = effect->next;
	return effect;
}

int
bu_effect_switches(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return switching(rec, node) != NULL || bu_gating_runs(rec, node);
}

int
bu_power_request_runs(const struct bu_node *node)
{
	return node->live.power_running == BU_POWER_RUN_RUNS;
}

int
bu_power_request_restarts(const struct bu_node *node)
{
	return bu_power_request_runs(node) &&
	       node->power->op == BU_POWER_REQUEST_BMC_RESET;
}

int
bu_effects_switch(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return bu_effect_switches(rec, node) || bu_power_request_runs(node);
}

int
bu_effects_restart(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_effect *effect = switching(rec, node);

	return bu_power_request_restarts(node) || (effect && effect->restarts);
}

static int
is_current(const struct bu_effect *effect, const struct bu_node *node)
{
	return node && node->step.status == BU_STEP_OPEN &&
	       strcmp(node->step.id, effect->step) == 0 &&
	       node->step.attempt == effect->attempt;
}

struct bu_node *
bu_effect_node(struct bu_effect *effect)
{
	struct bu_node *node = bu_fleet_node(effect->rec->fleet, effect->node);
	struct bu_effect **link = &effect->rec->effects;
	int current = is_current(effect, node);

	while (*link != effect)
		link = &(*link)->next;
	*link = effect->next;
	free(effect);
	return current ? node : NULL;
}

/* bringup's own hold, of a late node, cancels nothing: the effect may still succeed. */
static int
held_by_person(const struct bu_node *node)
{
	return node->hold->owner && node->hold->owner != BU_OWNER_BRINGUP;
}

void
bu_effects_overtaken(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_effect **link = &rec->effects, *effect;

	gatings_overtaken(rec);
	while ((effect = *link)) {
		if (!effect->op || strcmp(effect->node, node->name) != 0 ||
		    (is_current(effect, node) && !held_by_person(node))) {
			link = &effect->next;
			continue;
		}
		/* The release begins the effect anew. */
		if (is_current(effect, node))
			node->live.effect_running = 0;
		*link = effect->next;
		effect->driver->cancel(effect->op);
		free(effect);
	}
}

void
bu_effects_drop(struct bu_reconcile *rec)
{
	struct bu_effect *effect;

	drop_gatings(rec);
	while ((effect = rec->effects)) {
		rec->effects = effect->next;
		if (effect->op)
			effect->driver->cancel(effect->op);
		free(effect);
	}
}

void
bu_effects_pause(struct bu_reconcile *rec)
{
	struct bu_effect **link = &rec->effects, *effect;

	drop_gatings(rec);
	while ((effect = *link)) {
		if (!effect->op) {
			link = &effect->next;
			continue;
		}
		*link = effect->next;
		effect->driver->cancel(effect->op);
		free(effect);
	}
}

void
bu_effects_resume(struct bu_reconcile *rec)
{
	for (size_t i = 0; i < rec->fleet->count; i++)
		rec->fleet->nodes[i]->live.effect_running = 0;
	for (struct bu_effect *effect = rec->effects; effect; effect = effect->next) {
		struct bu_node *node = bu_fleet_node(rec->fleet, effect->node);

		if (is_current(effect, node))
			node->live.effect_running = 1;
	}
}
