/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log, row by row: at the start, and as rows come. Called by bringupd. Invariant: a
 * profile that does not load any more keeps no daemon from its start.
 */
#include <stdio.h>

#include "base/log.h"
#include "model/event_body.h"
#include "provisioner/node/life.h"
#include "provisioner/node/orders.h"
#include "provisioner/node/replay_impl.h"

static void
note_trouble(struct bu_fleet *fleet, const struct bu_err *err)
{
	bu_error("log", "%s; no node is moved until a corrected profile is applied",
		 err->text);
	snprintf(fleet->trouble, sizeof(fleet->trouble), "%s", err->text);
	fleet->unread = 1;
	if (!fleet->desired)
		return;
	bu_desired_destroy(fleet->last);
	fleet->last = bu_steal(&fleet->desired);
}

static int
load(struct bu_fleet *fleet, const struct bu_event *event, struct bu_err *err)
{
	union bu_body body;

	fleet->loaded_seq = event->seq;
	if (bu_fleet_replay(fleet, event, err) == 0)
		return 0;
	if (event->kind != BU_EVENT_APPLIED)
		return -1;
	note_trouble(fleet, err);
	if (bu_event_read(event, &body, NULL) == 0)
		bu_orders_applied(fleet, event, &body);
	return 0;
}

/* A blob that cannot be read holds up its row and the rows after it. */
static int
on_row(const struct bu_event *event, void *arg, struct bu_err *err)
{
	struct bu_fleet *fleet = arg;

	if (fleet->loading)
		return load(fleet, event, err);
	if (bu_fleet_replay(fleet, event, err) != 0) {
		bu_error("log", "%s", err->text);
		return err->kind == BU_ERR_IO ? -1 : 0;
	}
	bu_journald_row(event);
	return 0;
}

int
bu_fleet_load(struct bu_fleet *fleet, struct bu_err *err)
{
	fleet->loading = 1;
	fleet->follower = bu_store_follow(fleet->store, on_row, fleet, err);
	if (!fleet->follower)
		return -1;
	bu_life_settle(fleet);
	fleet->loading = 0;
	fleet->version++; /* of all that was read */
	return 0;
}
