/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following a rollout: a function of the status documents of bringupd, one after the
 * other. No clock, no terminal, no network: apply.c brings those.
 */
#ifndef BU_CLI_RENDER_FOLLOW_H
#define BU_CLI_RENDER_FOLLOW_H

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"

enum bu_follow_end {
	BU_FOLLOW_MORE,    /* something is under way */
	BU_FOLLOW_READY,   /* every node is as it was ordered */
	BU_FOLLOW_BAD,     /* settled, but not all are ready */
	BU_FOLLOW_AWAY,    /* as ordered, but some of them cannot be counted on */
	BU_FOLLOW_STOPPED, /* by itself or by a person: no node gets a turn any more */
};

struct bu_follow;

/* nodes: names (an array of strings) of the rollout. */
struct bu_follow *bu_follow_create(const json_t *nodes);
void bu_follow_destroy(struct bu_follow *follow);
/* Takes the next document: {"nodes" as in the status, "rollout" as GET /v1/rollouts/ID
 * has it, null = not yet there}. Writes a line for each change of a node's state, for
 * each 10 % of its progress and for each change of what keeps it (not of the figures in
 * it) to `changes` (NULL = nowhere), and one for each change of the rollout's state,
 * its canaries and what a pool waits for to `notes`. */
enum bu_follow_end bu_follow_update(struct bu_follow *follow, const json_t *document,
				    FILE *changes, FILE *notes);
/* The rollout's nodes of the last document, in the order of their names; borrowed
 * objects in a new array. */
json_t *bu_follow_nodes(const struct bu_follow *follow);
/* A line "name: state: note" for each of them that is not ready to be used. */
void bu_follow_print_unready(const struct bu_follow *follow, FILE *out);
/* "node[001-002]" of those that are neither ready, failed, quarantined nor held, with
 * the note of the first; owned, "" when there are none. */
char *bu_follow_unsettled(const struct bu_follow *follow);

#endif
