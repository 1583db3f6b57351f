/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a boot: after a power action, ordered or seen, facts about the earlier
 * boot do not count, and only a later boot's hello does. Only replay writes this, so
 * that it survives a restart of bringupd.
 */
#ifndef BU_NODE_OVER_H
#define BU_NODE_OVER_H

#include "provisioner/node/replay_impl.h"

/* bu_over_intent(): an intent, already in node->step, whose step switches the machine
 * off. bu_over_outcome(): its outcome. A failed step restores the boot, and its agent
 * must be heard anew. */
void bu_over_intent(struct bu_fleet *fleet, struct bu_node *node,
		    const struct bu_event *event);
void bu_over_outcome(struct bu_node *node, int done);
/* The same for a person's power command; node->power->seq is its row. */
void bu_over_power_request(struct bu_node *node, const struct bu_event *event,
			   const struct bu_body_power *body);
bu_must int bu_over_seen(BU_REPLAY_ARGS);

/* 1 = the last known boot has ended, and no later one has said hello. */
int bu_over_is(const struct bu_node *node);
/* 1 = this boot has ended: its hello comes too late. */
int bu_over_ended(const struct bu_node *node, const char *boot_id);
/* 1 = the present boot, or one just ended, is of the installed system. */
int bu_over_was_installed(const struct bu_node *node);
/* The power action that ended the boot, with its time. New reference. */
json_t *bu_over_said(const struct bu_node *node);

#endif
