/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State as a function of the log: a node's steps, its agent's certificate and what is
 * installed on it. Called by replay.c alone.
 */
#include "provisioner/node/replay_impl.h"

#include <string.h>

#include "base/json.h"
#include "base/record.h"
#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/life.h"
#include "provisioner/node/orders.h"

int
bu_replay_intent(struct bu_fleet *fleet, struct bu_node *node,
		 const struct bu_event *event, struct bu_err *err)
{
	/* In service only an order asks for steps: as in on_state(). */
	if (node->state == BU_STATE_READY && !node->order.open)
		return 0;
	node->step.action = bu_action_from_name(bu_json_str(event->body, "action", ""));
	node->step.attempt = (int)bu_json_int(event->body, "attempt", 1);
	node->step.status = BU_STEP_OPEN;
	node->step.intent_seq = event->seq;
	bu_replay_copy(node->step.id, sizeof(node->step.id), event->body, "step");
	node->live.effect_running = 0;
	if (node->step.action == BU_ACTION_INSTALL) {
		node->disk_touched = 1;
		node->writing = 1;
		node->order.written = 1;
	}
	if (node->step.action == BU_ACTION_JOIN) {
		node->serves = node->entering = 1;
		/* Each attempt from the beginning: its client may be what fails. */
		node->live.join_started = 0;
	}
	/* A step of its own time: the state has no deadline, or a longer one. */
	bu_life_set_clock(fleet, node);
	bu_orders_step(fleet, node, event);
	return 0;
}

/* What a JOIN has joined. Of a log that does not say it: the cluster of the profile
 * that was applied then. */
static void
join(const struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event)
{
	const json_t *body = json_object_get(event->body, "joined");
	const struct bu_desired *desired =
		fleet->desired ? fleet->desired : fleet->last;
	const struct bu_desired_node *want =
		desired && !body ? bu_desired_node(desired, node->name) : NULL;
	struct bu_joined *joined = &node->joined;

	memset(joined, 0, sizeof(*joined));
	if (want && want->cluster) {
		bu_fleet_joined(want, joined);
		return;
	}
	bu_replay_copy(joined->cluster, sizeof(joined->cluster), body, "cluster");
	bu_replay_copy(joined->driver, sizeof(joined->driver), body, "driver");
	bu_replay_copy(joined->conf, sizeof(joined->conf), body, "conf");
	bu_replay_copy(joined->node, sizeof(joined->node), body, "node");
}

int
bu_replay_outcome(struct bu_fleet *fleet, struct bu_node *node,
		  const struct bu_event *event, struct bu_err *err)
{
	int done = bu_json_word(event->body, "result", bu_outcome_names,
				BU_OUTCOME_FAILED) == BU_OUTCOME_DONE;

	if (strcmp(bu_json_str(event->body, "step", ""), node->step.id) != 0)
		return 0;
	node->step.status = done ? BU_STEP_DONE : BU_STEP_FAILED;
	bu_replay_copy(node->step_error, sizeof(node->step_error), event->body,
		       done ? "" : "detail");
	node->live.effect_running = 0;
	if (done && node->step.action == BU_ACTION_CONFIGURE)
		node->called[0] = '\0';
	if (done && bu_action_info(node->step.action)->actor == BU_ACTOR_POWER)
		node->booted_by_us = 1;
	if (done && node->step.action == BU_ACTION_JOIN) {
		node->entering = 0;
		join(fleet, node, event);
		json_object_del(node->drained, node->joined.cluster);
	}
	if (done && node->step.action == BU_ACTION_LEAVE) {
		node->serves = node->entering = 0;
		memset(&node->joined, 0, sizeof(node->joined));
	}
	/* It is asked anew. */
	if (node->step.action == BU_ACTION_JOIN || node->step.action == BU_ACTION_LEAVE)
		memset(&node->live.cluster, 0, sizeof(node->live.cluster));
	bu_orders_step(fleet, node, event);
	return 0;
}

int
bu_replay_admitted(struct bu_fleet *fleet, struct bu_node *node,
		   const struct bu_event *event, struct bu_err *err)
{
	const json_t *told = json_object_get(event->body, "told");
	struct bu_machine machine;

	bu_replay_copy(node->admitted_step, sizeof(node->admitted_step), event->body,
		       "step");
	bu_replay_copy(node->admitted_request, sizeof(node->admitted_request),
		       event->body, "request");
	bu_binding_set(fleet, node, bu_json_str(event->body, "machine", ""));
	/* Rows of before do not say it: its hello does. */
	if (told) {
		bu_machine_from_json(told, &machine);
		bu_binding_told(fleet, node, &machine, event->time_ms);
	}
	bu_replay_copy(node->agent_cert, sizeof(node->agent_cert), event->body,
		       "fingerprint");
	node->agent_cert_until_ms = bu_json_int(event->body, "until_ms", 0);
	node->agent_cert_next[0] = '\0';
	node->agent_revoked = 0;
	node->admitted_ms = event->time_ms;
	node->live.refusal = (struct bu_reason){0};
	return 0;
}

int
bu_replay_renewed(struct bu_fleet *fleet, struct bu_node *node,
		  const struct bu_event *event, struct bu_err *err)
{
	bu_replay_copy(node->agent_cert_next, sizeof(node->agent_cert_next),
		       event->body, "fingerprint");
	node->agent_cert_next_until_ms = bu_json_int(event->body, "until_ms", 0);
	return 0;
}

int
bu_replay_agent(struct bu_fleet *fleet, struct bu_node *node,
		const struct bu_event *event, struct bu_err *err)
{
	struct bu_agent_fault *fault = &node->agent_failed;

	memset(fault, 0, sizeof(*fault));
	fault->result = (enum bu_agent_change)bu_json_word(
		event->body, "result", bu_agent_change_names, BU_AGENT_CHANGED);
	if (fault->result == BU_AGENT_CHANGED)
		return 0;
	bu_replay_copy(fault->version, sizeof(fault->version), event->body, "version");
	bu_replay_copy(fault->digest, sizeof(fault->digest), event->body, "digest");
	bu_replay_copy(fault->detail, sizeof(fault->detail), event->body, "detail");
	fault->at_ms = event->time_ms;
	return 0;
}

/* The renewed certificate takes the place of the one that goes. */
int
bu_replay_revoked(struct bu_fleet *fleet, struct bu_node *node,
		  const struct bu_event *event, struct bu_err *err)
{
	const char *gone = bu_json_str(event->body, "fingerprint", "");
	int all = bu_json_bool(event->body, "all", 0);

	if (!all && strcmp(gone, node->agent_cert) != 0)
		return 0;
	node->agent_revoked = all || !node->agent_cert_next[0];
	bu_text_copy(node->agent_cert, sizeof(node->agent_cert),
		     node->agent_revoked ? "" : node->agent_cert_next);
	node->agent_cert_until_ms = node->agent_cert_next_until_ms;
	node->agent_cert_next[0] = '\0';
	return 0;
}

int
bu_replay_booted(struct bu_fleet *fleet, struct bu_node *node,
		 const struct bu_event *event, struct bu_err *err)
{
	node->live.checks_errors = 0;
	/* The cluster's client is started by JOIN alone, in each boot anew. */
	if (strcmp(node->boot_id, bu_json_str(event->body, "boot_id", "")) != 0)
		node->serves = node->entering = 0;
	node->booted_by_us = 1;
	node->booted_ms = event->time_ms;
	bu_replay_copy(node->boot_id, sizeof(node->boot_id), event->body, "boot_id");
	node->boot_installed =
		strcmp(bu_json_str(event->body, "where", ""), "installed") == 0;
	return 0;
}

int
bu_replay_installed(struct bu_fleet *fleet, struct bu_node *node,
		    const struct bu_event *event, struct bu_err *err)
{
	node->writing = 0;
	node->kexecs = bu_json_bool(event->body, "kexec", 0);
	/* Whoever installed it has accepted what it is made of. */
	node->known.again = 1;
	node->called[0] = '\0';
	bu_replay_copy(node->installed_image, sizeof(node->installed_image),
		       event->body, "image");
	bu_replay_copy(node->installed_digest, sizeof(node->installed_digest),
		       event->body, "digest");
	bu_replay_copy(node->installed_step, sizeof(node->installed_step), event->body,
		       "step");
	bu_text_copy(node->facets, sizeof(node->facets), node->order.facets);
	return 0;
}
