/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running effect: its node, whether its answer still counts, and how it is cancelled.
 * Begun by effects.c and joining.c. Invariant: an answer counts only for the step and
 * the attempt that it belongs to.
 */
#include "provisioner/node/effect.h"

#include <string.h>

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
	return switching(rec, node) != NULL;
}

int
bu_wish_runs(const struct bu_node *node)
{
	return node->live.power_running == BU_WISH_RUNS;
}

int
bu_wish_restarts(const struct bu_node *node)
{
	return bu_wish_runs(node) && node->power->op == BU_DEED_BMC_RESET;
}

int
bu_effects_switch(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return bu_effect_switches(rec, node) || bu_wish_runs(node);
}

int
bu_effects_restart(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_effect *effect = switching(rec, node);

	return bu_wish_restarts(node) || (effect && effect->restarts);
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
