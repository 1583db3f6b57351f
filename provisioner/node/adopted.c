/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adoption, and the begin of another epoch, as a function of the log. Called by
 * replay.c alone. Invariants: no grant outlives its epoch; after its row the adopted
 * node is what the stamp says, whatever this log had of it before; only the row of
 * its state that follows takes it into service.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/stamp.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/orders.h"
#include "provisioner/node/replay_impl.h"

/* As a node that was never seen. */
static void
begin_anew(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms)
{
	bu_orders_adopted(fleet, node, time_ms);
	bu_binding_forget(fleet, node);
	bu_node_drop_hold(node);
	bu_node_drop_next(node);
	bu_node_drop_reason(node);
	bu_node_drop_joined(node);
	memset(&node->step, 0, sizeof(node->step));
	node->state = BU_STATE_ENROLLED;
	node->admitted_ms = 0;
	node->agent_revoked = 0;
	node->reset = node->repeats = node->outdated = 0;
}

static void
set_installed(struct bu_node *node, const struct bu_stamp *stamp)
{
	bu_node_set_installed_step(node, stamp->step);
	bu_node_set_installed_image(node, stamp->image);
	bu_node_set_installed_digest(node, stamp->digest);
	bu_node_set_facets(node, stamp->facets);
	bu_node_set_commit(node, stamp->commit);
	bu_node_set_called(node, stamp->called);
	BU_TEXT_COPY(node->slot, stamp->slot);
	node->raw = stamp->raw;
	node->proven = node->disk_touched = 1;
}

/* In the boot of the stamp, jobs may run; in a later one no client of the cluster was
 * started. */
static void
set_boot(struct bu_node *node, const struct bu_stamp *stamp, const char *boot_id,
	 int64_t time_ms)
{
	bu_node_set_boot_id(node, stamp->boot_id);
	node->booted_ms = time_ms;
	node->boot_installed = 1;
	node->serves = strcmp(stamp->state, bu_state_name(BU_STATE_READY)) == 0 &&
		       strcmp(stamp->boot_id, boot_id) == 0;
}

static void
set_joined(struct bu_node *node, const struct bu_stamp *stamp)
{
	struct bu_joined *joined;

	if (!stamp->cluster[0])
		return;
	joined = bu_node_joined(node);
	BU_TEXT_COPY(joined->cluster, stamp->cluster);
	BU_TEXT_COPY(joined->driver, stamp->driver);
	BU_TEXT_COPY(joined->handle, stamp->handle);
	BU_TEXT_COPY(joined->node, stamp->member);
}

int
bu_replay_adopted(BU_REPLAY_ARGS)
{
	struct bu_stamp stamp;
	struct bu_machine machine;

	if (bu_stamp_from_json(body->adopted.stamp, &stamp, err) != 0)
		return -1;
	begin_anew(fleet, node, event->time_ms);
	bu_binding_set(fleet, node, stamp.machine);
	bu_machine_from_json(body->adopted.told, &machine);
	bu_binding_told(fleet, node, &machine, event->time_ms);
	bu_node_set_agent_cert(node, stamp.cert);
	node->agent_cert_until_ms = stamp.cert_until_ms;
	bu_node_set_agent_cert_next(node, stamp.next);
	node->agent_cert_next_until_ms = stamp.next_until_ms;
	bu_node_set_agent_cert_renewed(node, "");
	set_installed(node, &stamp);
	set_boot(node, &stamp, body->adopted.boot_id, event->time_ms);
	set_joined(node, &stamp);
	*bu_node_adopted(node) =
		(struct bu_adopted){stamp.epoch, stamp.seq, event->time_ms, 1, 0};
	bu_node_drop_adopts(node);
	bu_node_set_condition(node, BU_CONDITION_UNADOPTED, 0, 0, NULL);
	return 0;
}

/* The list goes on in the anchors of this log. */
int
bu_replay_learned(BU_REPLAY_ARGS)
{
	json_t *revoked = (json_t *)(uintptr_t)body->learned.revoked;
	const char *key;
	json_t *value;

	json_object_foreach (revoked, key, value)
		if (!bu_fleet_node_of(fleet, key) &&
		    !json_object_get(fleet->revoked, key))
			json_object_set(fleet->revoked, key, value);
	fleet->revoked_version++;
	json_decref(fleet->learned.revoked);
	fleet->learned.revoked = json_incref(revoked);
	fleet->learned.epoch = body->learned.epoch;
	fleet->learned.seq = body->learned.seq;
	return 0;
}

/* Another appliance may have gone on with these nodes: what was allowed before, and
 * what this log takes for its own boots, ends with the epoch. */
void
bu_adopted_epoch(struct bu_fleet *fleet, const struct bu_event *event)
{
	struct bu_reason why;

	bu_reason_set(&why, BU_REASON_EPOCH_BEGAN, NULL);
	bu_reason_set_number(&why, "epoch", fleet->epoch);
	bu_orders_epoch(fleet, event->time_ms, &why);
	fleet->start.seq = 0;
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		node->reset = 0;
		if (node->machine[0])
			bu_node_adopted(node)->unproven = 1;
		/* A join may be begun again, and no ladder of it switches anything. */
		if (bu_state_info(node->state)->settled ||
		    node->state == BU_STATE_JOINING)
			continue;
		node->booted_by_us = 0;
		if (node->hold->owner)
			continue;
		bu_hold_set(bu_node_hold(node), BU_OWNER_BRINGUP, NULL, &why);
		bu_node_hold(node)->since_ms = event->time_ms;
	}
}
