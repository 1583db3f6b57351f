/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State as a function of the log: a node's steps and power, its agent's certificate
 * and its installed system. Called by replay.c alone.
 */
#include "provisioner/node/replay_impl.h"

#include <string.h>

#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/found.h"
#include "provisioner/node/life.h"
#include "provisioner/node/membership.h"
#include "provisioner/node/orders.h"
#include "provisioner/node/over.h"
#include "provisioner/node/revisions.h"

int
bu_replay_intent(BU_REPLAY_ARGS)
{
	/* A ready node has steps only by an order, as in bu_moved(). */
	if (node->state == BU_STATE_READY && !node->order->open)
		return 0;
	node->step.action = bu_action_from_name(body->intent.action);
	node->step.attempt = body->intent.attempt;
	node->step.status = BU_STEP_OPEN;
	node->step.intent_seq = event->seq;
	BU_TEXT_COPY(node->step.id, body->intent.step);
	node->live.effect_running = 0;
	bu_over_intent(fleet, node, event);
	if (node->step.action == BU_ACTION_INSTALL) {
		node->disk_touched = 1;
		/* The root that the loader goes back to is not written. */
		node->writing = !bu_fallback_stays(node);
		if (node->writing)
			bu_fallback_gone(node);
		bu_node_order(node)->written = 1;
		bu_node_order(node)->installed = 0;
	}
	if (node->step.action == BU_ACTION_JOIN) {
		node->serves = node->entering = 1;
		/* Each attempt is anew: the cluster's client may be the fault. */
		node->live.join_started = 0;
	}
	/* The step has its own time: its state has no deadline, or a longer one. */
	bu_life_set_clock(fleet, node);
	bu_orders_step(fleet, node, event);
	return 0;
}

static void
join(struct bu_joined *joined, const struct bu_body_joined *body)
{
	BU_TEXT_COPY(joined->cluster, body->cluster);
	BU_TEXT_COPY(joined->driver, body->driver);
	BU_TEXT_COPY(joined->handle, body->handle);
	BU_TEXT_COPY(joined->node, body->node);
}

int
bu_replay_outcome(BU_REPLAY_ARGS)
{
	int done = body->outcome.result == BU_OUTCOME_DONE;
	int joined = done && node->step.action == BU_ACTION_JOIN;

	if (strcmp(body->outcome.step, node->step.id) != 0)
		return 0;
	if (joined && !body->outcome.joined.cluster)
		return bu_err_set(err, BU_ERR_INVAL, 0, "joined: missing");
	node->step.status = done ? BU_STEP_DONE : BU_STEP_FAILED;
	bu_node_set_step_error(node, done ? "" : body->outcome.detail);
	node->live.effect_running = 0;
	bu_over_outcome(node, done);
	/* The agent reports its files anew. A failed step may have written nothing, so
	 * the last report counts until then. */
	if (done && node->step.action == BU_ACTION_CONFIGURE) {
		bu_found_forget(node);
		bu_node_set_called(node, "");
	}
	if (bu_action_info(node->step.action)->actor == BU_ACTOR_POWER) {
		node->booted_by_us |= done;
		node->power_failures += !done;
	}
	if (joined) {
		node->entering = 0;
		join(bu_node_joined(node), &body->outcome.joined);
		json_object_del(node->drained, node->joined->cluster);
	}
	if (done && node->step.action == BU_ACTION_LEAVE) {
		node->serves = node->entering = 0;
		bu_node_drop_joined(node);
	}
	/* The cluster is asked anew. */
	if (node->step.action == BU_ACTION_JOIN || node->step.action == BU_ACTION_LEAVE)
		bu_node_drop_cluster(node);
	bu_orders_step(fleet, node, event);
	return 0;
}

int
bu_replay_admitted(BU_REPLAY_ARGS)
{
	struct bu_machine machine;

	bu_fallback_admitted(node);
	bu_node_set_admitted_step(node, body->admitted.step);
	bu_node_set_admitted_request(node, body->admitted.request);
	bu_binding_set(fleet, node, body->admitted.machine);
	bu_machine_from_json(body->admitted.told, &machine);
	bu_binding_told(fleet, node, &machine, event->time_ms);
	bu_node_set_agent_cert(node, body->admitted.fingerprint);
	node->agent_cert_until_ms = body->admitted.until_ms;
	bu_node_set_agent_cert_next(node, "");
	bu_node_set_agent_cert_renewed(node, "");
	bu_node_set_condition(node, BU_CONDITION_CREDENTIAL_COPIED, 0, 0, NULL);
	bu_node_set_condition(node, BU_CONDITION_UNADOPTED, 0, 0, NULL);
	if (node->adopted->unproven)
		bu_node_adopted(node)->unproven = 0;
	node->agent_revoked = 0;
	node->admitted_ms = event->time_ms;
	bu_node_drop_refusal(node);
	return 0;
}

int
bu_replay_renewed(BU_REPLAY_ARGS)
{
	bu_node_set_agent_cert_next(node, body->renewed.fingerprint);
	node->agent_cert_next_until_ms = body->renewed.until_ms;
	return 0;
}

int
bu_replay_agent(BU_REPLAY_ARGS)
{
	enum bu_agent_change result = (enum bu_agent_change)body->agent.result;
	struct bu_agent_fault *fault;

	bu_node_drop_agent_failed(node);
	if (result == BU_AGENT_CHANGED)
		return 0;
	fault = bu_node_agent_failed(node);
	fault->result = result;
	if (result == BU_AGENT_RELEASED)
		return 0;
	BU_TEXT_COPY(fault->version, body->agent.version);
	BU_TEXT_COPY(fault->digest, body->agent.digest);
	BU_TEXT_COPY(fault->detail, body->agent.detail);
	fault->at_ms = event->time_ms;
	return 0;
}

/* The renewed certificate replaces the revoked one. */
int
bu_replay_revoked(BU_REPLAY_ARGS)
{
	int all = body->revoked.all;

	bu_fallback_revoked(node, all ? NULL : body->revoked.fingerprint);
	if (all)
		bu_node_adopted(node)->forgotten_seq = event->seq;
	if (!all && strcmp(body->revoked.fingerprint, node->agent_cert) != 0)
		return 0;
	node->agent_revoked = all || !node->agent_cert_next[0];
	if (node->agent_revoked && node->agent_cert[0]) {
		json_object_set_new(fleet->revoked, node->agent_cert,
				    json_string(node->name));
		fleet->revoked_version++;
	}
	bu_node_set_agent_cert_renewed(node,
				       node->agent_revoked ? "" : node->agent_cert);
	bu_node_set_agent_cert(node, node->agent_revoked ? "" : node->agent_cert_next);
	node->agent_cert_until_ms = node->agent_cert_next_until_ms;
	bu_node_set_agent_cert_next(node, "");
	return 0;
}

int
bu_replay_booted(BU_REPLAY_ARGS)
{
	node->live.checks_errors = 0;
	/* JOIN alone starts the cluster's client, in each boot anew. */
	if (strcmp(node->boot_id, body->booted.boot_id) != 0)
		node->serves = node->entering = node->outdated = node->live.slow_probe =
			0;
	node->booted_by_us = 1;
	node->booted_ms = event->time_ms;
	bu_node_set_boot_id(node, body->booted.boot_id);
	node->boot_installed = body->booted.where == BU_WHERE_INSTALLED;
	if (node->boot_installed)
		bu_fallback_booted(node);
	return 0;
}

int
bu_replay_seeded(BU_REPLAY_ARGS)
{
	bu_node_set_seeded_step(node, body->seeded.step);
	node->seeded_ms = event->time_ms;
	return 0;
}

int
bu_replay_installed(BU_REPLAY_ARGS)
{
	/* A system in memory is there anew in each boot, ordered or not. */
	int ordered = !body->installed.ram || (node->order->open && node->order->begun);

	node->writing = 0;
	node->kexecs = body->installed.kexec;
	node->ram = body->installed.ram;
	node->raw = body->installed.raw;
	/* An ordered install accepts the machine's hardware as it is. */
	if (ordered)
		bu_node_known(node)->again = 1;
	bu_node_set_called(node, "");
	bu_found_forget(node);
	bu_fallback_installed(node, &body->installed);
	bu_node_set_installed_image(node, body->installed.image);
	bu_node_set_installed_digest(node, body->installed.digest);
	bu_node_set_installed_step(node, body->installed.step);
	if (ordered) {
		bu_node_order(node)->installed = 1;
		bu_node_set_facets(node, node->order->facets);
		bu_revisions_install(fleet, node,
				     node->ram ? node->order->revision : "");
	}
	return 0;
}

/* Of the request that is under way. */
static void
note_wake(struct bu_node_power_request *request, const struct bu_event *event,
	  enum bu_outcome result)
{
	if (request->op == BU_POWER_REQUEST_SUSPEND && result == BU_OUTCOME_DONE)
		memset(&request->woken, 0, sizeof(request->woken));
	if (request->op != BU_POWER_REQUEST_WAKE &&
	    request->op != BU_POWER_REQUEST_WAKE_FAILED)
		return;
	request->woken.seq = request->seq;
	request->woken.at_ms = event->time_ms;
	request->woken.failed = result == BU_OUTCOME_FAILED ||
				request->op == BU_POWER_REQUEST_WAKE_FAILED;
}

int
bu_replay_power(BU_REPLAY_ARGS)
{
	struct bu_node_power_request *request = bu_node_power(node);

	if (body->power.result == BU_OUTCOME_ASKED) {
		*request = (struct bu_node_power_request){.seq = event->seq,
							  .op = body->power.op,
							  .woken = request->woken};
		BU_TEXT_COPY(request->by, bu_body_text(body->power.by));
	}
	note_wake(request, event, body->power.result);
	bu_over_power_request(node, event, &body->power);
	request->result = body->power.result;
	BU_TEXT_COPY(request->power, bu_body_text(body->power.power));
	BU_TEXT_COPY(request->detail, bu_body_text(body->power.detail));
	request->at_ms = event->time_ms;
	return 0;
}

int
bu_replay_delivered(BU_REPLAY_ARGS)
{
	json_object_set_new(fleet->delivered, body->delivered.webhook,
			    json_integer(body->delivered.seq));
	return 0;
}
