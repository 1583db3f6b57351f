/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoch as a fence between appliances of one site. Each agent keeps the newest
 * anchor of the log that it was told (model/anchor.h), and shows it in its hello. An
 * anchor of a later log than this one sets the condition `epoch-behind`; a restore sets
 * `epoch-unchecked`. While either is set the fence is shut: nothing is begun, and no
 * secret is handed out.
 */
#ifndef BU_NODE_FENCE_H
#define BU_NODE_FENCE_H

#include <jansson.h>

#include "provisioner/node/reconcile.h"

/* fenced.c. The conditions that shut the fence. */
enum { BU_FENCE_CONDITIONS = 2 };
extern const enum bu_condition_id bu_fence_conditions[BU_FENCE_CONDITIONS];
/* 1 = the fence is shut. */
int bu_fence_is_shut(const struct bu_fleet *fleet);
/* 0 = open. Else err, of this kind, has the condition and what leads out. */
bu_must int bu_fence_check(const struct bu_fleet *fleet, enum bu_err_kind kind,
			   struct bu_err *err);
/* An agent shows the anchor that it keeps. Only a caller with a certificate of our CA
 * may come here. who: its node, or its machine. node: NULL = it may not speak for a
 * node; its anchor is signed and counts, but its word confirms nothing. anchor: NULL =
 * it keeps none. */
void bu_fence_hear(struct bu_reconcile *rec, const char *who,
		   const struct bu_node *node, const json_t *anchor);
/* 1 = this log has the row seq of this epoch. */
int bu_fence_has(const struct bu_fleet *fleet, int64_t epoch, int64_t seq);
/* A person's word that this appliance leads: an epoch above all that was heard of. The
 * rows are on their way to the log. BU_ERR_STATE: the fence is open, or there is no
 * higher epoch. */
bu_must int bu_fence_take_over(struct bu_reconcile *rec, const char *by,
			       const char *reason, int64_t *ret_epoch,
			       struct bu_err *err);
/* The anchor for an agent that keeps one whose list of what is revoked has this digest;
 * NULL = any. Borrowed until the next call; NULL = the agent has that list, or the log
 * is empty. */
json_t *bu_fence_anchor(struct bu_reconcile *rec, const char *revoked);

#endif
