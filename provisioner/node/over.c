/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a boot, as a function of the log. Called by replay.c and replay_steps.c;
 * asked wherever an agent's message would count. Invariants: after a row that orders a
 * power action, or tells that the machine was seen off, facts of the boot before do not
 * count; an order that failed gives the boot back, unheard.
 */
#include "provisioner/node/over.h"

#include <string.h>

#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/reconcile_impl.h"

/* how: the action that ended it; its other members are ignored. */
static void
end(struct bu_node *node, const struct bu_event *event, int pending,
    const struct bu_over *how)
{
	struct bu_over *over;

	node->live.over_seen_ms = node->live.last_seen_ms;
	node->live.last_seen_ms = 0;
	if (!node->boot_id[0])
		return;
	over = bu_node_over(node);
	*over = (struct bu_over){.seq = event->seq,
				 .at_ms = event->time_ms,
				 .pending = pending,
				 .installed = node->boot_installed,
				 .action = how->action,
				 .state = node->state,
				 .op = how->op};
	BU_TEXT_COPY(over->boot_id, node->boot_id);
	BU_TEXT_COPY(over->by, how->by);
	bu_node_set_boot_id(node, "");
	node->boot_installed = 0;
}

/* The outcome of the power action that row seq ordered. */
static void
decide(struct bu_node *node, int64_t seq, int ended)
{
	const struct bu_over *over = node->over;

	if (!over->pending || over->seq != seq)
		return;
	bu_node_over(node)->pending = 0;
	if (ended && !node->boot_id[0])
		node->serves = 0;
	if (ended || node->boot_id[0])
		return;
	bu_node_set_boot_id(node, over->boot_id);
	node->boot_installed = over->installed;
	bu_node_drop_over(node);
}

void
bu_over_intent(struct bu_fleet *fleet, struct bu_node *node,
	       const struct bu_event *event)
{
	enum bu_action action = node->step.action;

	/* A step that only looks ends no boot; when a person presses the button is
	 * unknown. */
	if (bu_action_info(action)->actor != BU_ACTOR_POWER || node->kexecs ||
	    !bu_reconcile_cycles(node) || bu_manual_is(bu_fleet_reach(fleet, node)))
		return;
	end(node, event, 1, &(struct bu_over){.action = action});
}

void
bu_over_outcome(struct bu_node *node, int done)
{
	decide(node, node->step.intent_seq, done);
}

void
bu_over_power_request(struct bu_node *node, const struct bu_event *event,
		      const struct bu_body_power *body)
{
	struct bu_over how = {.op = body->op};

	/* A request with an unknown outcome may have been done. */
	if (body->result != BU_OUTCOME_ASKED) {
		decide(node, node->power->seq, body->result != BU_OUTCOME_FAILED);
		return;
	}
	BU_TEXT_COPY(how.by, bu_body_text(body->by));
	if (bu_power_request_ends_boot(body->op))
		end(node, event, 1, &how);
	else if (body->op == BU_POWER_REQUEST_ON || body->op == BU_POWER_REQUEST_WAKE)
		/* Off until now, or running on: the agent will tell. */
		node->live.last_seen_ms = 0;
}

int
bu_over_seen(BU_REPLAY_ARGS)
{
	end(node, event, 0, &(struct bu_over){0});
	node->booted_by_us = node->serves = 0;
	return 0;
}

int
bu_over_is(const struct bu_node *node)
{
	return node->over->seq && !node->boot_id[0];
}

int
bu_over_ended(const struct bu_node *node, const char *boot_id)
{
	return node->over->seq && strcmp(node->over->boot_id, boot_id) == 0;
}

int
bu_over_was_installed(const struct bu_node *node)
{
	return bu_over_is(node) ? node->over->installed : node->boot_installed;
}

json_t *
bu_over_said(const struct bu_node *node)
{
	const struct bu_over *over = node->over;
	char at[24];

	bu_time_iso(over->at_ms, at);
	if (over->action)
		return BU_SAID(
			OVER_STEP, BU_ARG("action", bu_action_name(over->action)),
			BU_ARG("state", bu_state_name(over->state)), BU_ARG("at", at));
	if (over->op)
		return BU_SAID(OVER_DEED,
			       BU_ARG("op", bu_power_request_names[over->op]),
			       BU_ARG("by", over->by), BU_ARG("at", at));
	return BU_SAID(OVER_SEEN, BU_ARG("at", at));
}
