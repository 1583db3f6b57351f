/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A power action, ordered or seen, ends what was known of the boot before it: only the
 * hello of a later boot counts from then on. Written by replay alone, so that a start
 * knows the same.
 */
#ifndef BU_NODE_OVER_H
#define BU_NODE_OVER_H

#include "provisioner/node/replay_impl.h"

/* An intent, already in node->step, whose step switches the machine off; its outcome: a
 * step that failed gives the boot back, and its agent is to be heard anew. */
void bu_over_intent(struct bu_fleet *fleet, struct bu_node *node,
		    const struct bu_event *event);
void bu_over_outcome(struct bu_node *node, int done);
/* The same of what a person asks for; node->power is of the row that asked. */
void bu_over_deed(struct bu_node *node, const struct bu_event *event,
		  const struct bu_body_power *body);
bu_must int bu_over_seen(BU_REPLAY_ARGS);

/* The boot that was known has ended, and no later one has said hello. */
int bu_over_is(const struct bu_node *node);
/* A hello of this boot comes too late. */
int bu_over_ended(const struct bu_node *node, const char *boot_id);
/* The boot that runs, or that has just ended, is of the installed system. */
int bu_over_was_installed(const struct bu_node *node);
/* In words, what ended it; owned. */
char *bu_over_words(const struct bu_node *node);

#endif
