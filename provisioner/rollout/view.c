/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The base of decisions about turns: nodes away in each pool, progress of each rollout.
 * Called at each look of rollout.c, and by show.c. Invariant: all of it comes from the
 * log's state, so a restart counts the same.
 */
#include <stdio.h>
#include <string.h>

#include "provisioner/rollout/rollout_impl.h"

static size_t
pools_of(const struct bu_fleet *fleet)
{
	return fleet->desired ? fleet->desired->pools_count : 0;
}

size_t
bu_view_pool(const struct bu_fleet *fleet, const struct bu_desired_node *want)
{
	return (size_t)(want->pool - fleet->desired->pools);
}

struct bu_share *
bu_view_share(const struct bu_view *view, const struct bu_rollout *rollout, size_t pool)
{
	size_t index = (size_t)(rollout - view->fleet->rollouts);

	return &view->shares[index * pools_of(view->fleet) + pool];
}

/* Can only a person bring the node back? */
static int
is_stuck(const struct bu_node *node)
{
	return node->hold->owner ||
	       (node->state != BU_STATE_READY && bu_state_info(node->state)->settled);
}

/* Is the effect of the withdrawn turn unknown? The node is on its way back, or a person
 * took it out midway and can let it go on. */
static int
is_open_question(const struct bu_node *node)
{
	if (node->state == BU_STATE_PARKED || node->state == BU_STATE_SERVICING)
		return node->order->midway;
	return !bu_state_info(node->state)->settled;
}

static void
count_gave_up(struct bu_share *share, const struct bu_node *node)
{
	int back = is_open_question(node);

	if (back || !share->back)
		share->gave_up = node;
	share->back += back;
}

static void
count_order(struct bu_share *share, const struct bu_rollout *rollout,
	    const struct bu_node *node)
{
	const struct bu_order *order = node->order;
	int disturbs = bu_class_info(order->class)->disturbs && order->served;

	share->total++;
	share->withdrawn += order->withdrawn;
	share->failed += order->failed;
	share->turn += order->open && !order->begun;
	share->under_way += order->open && order->begun;
	if (order->open && order->begun && disturbs) {
		share->trying++;
		share->tries = node;
	}
	/* withdrawn midway: its effect shows once the node is at rest */
	if (order->withdrawn && order->begun && disturbs)
		count_gave_up(share, node);
	if (!order->open && !order->failed && !order->withdrawn) {
		share->done++;
		share->proven += disturbs;
	}
	if (order->served && !order->withdrawn &&
	    order->fault_seq > rollout->resumed_seq) {
		share->faults++;
		share->canary_faults += disturbs;
		share->faulty = node;
	}
}

int
bu_view_is_away(const struct bu_node *node)
{
	const struct bu_order *order = node->order;

	return node->state != BU_STATE_READY || node->live.appending ||
	       bu_node_is_away_by_condition(node) ||
	       (order->open && order->begun && bu_class_info(order->class)->disturbs);
}

void
bu_view_add_away(struct bu_view *view, size_t pool, const struct bu_node *node)
{
	const struct bu_node **example = &view->example[pool];

	view->away[pool]++;
	if (!*example || (!is_stuck(*example) && is_stuck(node)))
		*example = node;
}

/* Both lists are sorted by name. */
static const struct bu_desired_node *
next_desired(const struct bu_fleet *fleet, const struct bu_node *node, size_t *at)
{
	const struct bu_desired *desired = fleet->desired;
	int order = -1;

	while (*at < desired->nodes_count) {
		order = strcmp(desired->nodes[*at].name, node->name);
		if (order >= 0)
			break;
		(*at)++;
	}
	return order == 0 ? &desired->nodes[*at] : NULL;
}

void
bu_view_init(struct bu_view *view, const struct bu_fleet *fleet)
{
	const struct bu_rollout *rollout = NULL;
	size_t pools = pools_of(fleet);

	view->fleet = fleet;
	view->relabels = 0;
	view->now_s = bu_wall_ms(bu_loop_clock(fleet->loop)) / 1000;
	view->away = bu_xcalloc(pools + 1, sizeof(*view->away));
	view->example = bu_xcalloc(pools + 1, sizeof(*view->example));
	view->shares = bu_xcalloc(pools * BU_ROLLOUTS_MAX + 1, sizeof(*view->shares));
	for (size_t i = 0, k = 0; pools && i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];
		const struct bu_desired_node *want = next_desired(fleet, node, &k);
		const struct bu_order *order = node->order;
		size_t pool;

		if (!want)
			continue;
		pool = bu_view_pool(fleet, want);
		if (bu_view_is_away(node))
			bu_view_add_away(view, pool, node);
		view->relabels +=
			order->open && order->begun && order->class == BU_CLASS_RELABEL;
		/* adjacent nodes mostly have the same rollout */
		if (!rollout || strcmp(rollout->id, order->rollout) != 0)
			rollout = order->seq
					  ? bu_fleet_rollout((struct bu_fleet *)fleet,
							     order->rollout)
					  : NULL;
		if (rollout)
			count_order(bu_view_share(view, rollout, pool), rollout, node);
	}
}

void
bu_view_fini(struct bu_view *view)
{
	free(view->away);
	free(view->example);
	free(view->shares);
}

int
bu_rollout_spent(const struct bu_view *view, const struct bu_rollout *rollout,
		 struct bu_reason *ret)
{
	for (size_t i = 0; i < pools_of(view->fleet); i++) {
		const struct bu_desired_pool *pool = &view->fleet->desired->pools[i];
		const struct bu_share *share = bu_view_share(view, rollout, i);
		const struct bu_node *node = share->faulty;
		int canary = share->canary_faults && share->proven < pool->canary;
		bu_autofree char *why = NULL;

		if (!canary && (!share->faults || share->faults < pool->failure_budget))
			continue;
		why = bu_reason_text(node->order->reason.code ? &node->order->reason
							      : &node->hold->reason);
		bu_reason_set(ret,
			      canary ? BU_REASON_CANARY_FAULT : BU_REASON_BUDGET_SPENT,
			      &(struct bu_reason_args){
				      {pool->name, node->name, why},
				      {share->faults, pool->failure_budget}});
		return 1;
	}
	return 0;
}
