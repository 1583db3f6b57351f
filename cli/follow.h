/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following a rollout: a function of the status documents of bringupd, one after the
 * other. No clock, no terminal, no network: apply.c brings those.
 */
#ifndef BU_CLI_FOLLOW_H
#define BU_CLI_FOLLOW_H

#include <jansson.h>
#include <stdio.h>

#include "base/err.h"

enum bu_follow_end {
	BU_FOLLOW_MORE,     /* something is under way */
	BU_FOLLOW_READY,    /* every node is ready */
	BU_FOLLOW_BAD,      /* settled, but not all are ready */
	BU_FOLLOW_REPLACED, /* another rollout took its place */
};

struct bu_follow;

/* nodes: names (an array of strings) of the rollout, as many as it has orders. */
struct bu_follow *bu_follow_create(const char *rollout, const json_t *nodes);
void bu_follow_destroy(struct bu_follow *follow);
/* Takes the next document. Writes a line for each change of a node's state, for each
 * 10 % of its progress and when it begins to wait to `changes` (NULL = nowhere). */
enum bu_follow_end bu_follow_update(struct bu_follow *follow, const json_t *status,
				    FILE *changes);
/* The rollout's nodes of the last document, in the order of their names; borrowed
 * objects in a new array. */
json_t *bu_follow_nodes(const struct bu_follow *follow);
/* A line "name: state: note" for each of them that is not ready. */
void bu_follow_print_unready(const struct bu_follow *follow, FILE *out);
/* "node[001-002]" of those that are neither ready, failed, quarantined nor held, with
 * the note of the first; owned, "" when there are none. */
char *bu_follow_unsettled(const struct bu_follow *follow);

#endif
