/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following a rollout: a function of the status documents of bringupd, one after the
 * other. No clock, no terminal, no network: apply.c brings those.
 */
#ifndef BU_CLI_RENDER_FOLLOW_H
#define BU_CLI_RENDER_FOLLOW_H

#include <stdio.h>

#include "base/err.h"
#include "model/shown_status.h"

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
/* What is read of a document: the status, with the whole rollout in its place. */
struct bu_followed {
	int64_t version, time_ms;
	struct bu_shown_rollout rollout; /* its id NULL: not yet there */
};
/* Takes the next document. Writes a line for each change of a node's state, for each
 * 10 % of its progress and for each change of what keeps it (not of the figures in it)
 * to `changes` (NULL = nowhere), and one for each change of the rollout's state, its
 * canaries and what a pool waits for to `notes`. */
bu_must int bu_follow_update(struct bu_follow *follow, json_t *document, FILE *changes,
			     FILE *notes, enum bu_follow_end *ret, struct bu_err *err);
/* The last document. */
const struct bu_followed *bu_follow_last(const struct bu_follow *follow);
/* The rollout's nodes, in the order of their names; the list itself is owned. */
struct bu_shown_nodes bu_follow_nodes(const struct bu_follow *follow);
/* A line "name: state: note" for each of them that is not ready to be used. */
void bu_follow_print_unready(const struct bu_follow *follow, FILE *out);
/* "node[001-002]" of those that are neither ready, failed, quarantined nor held, with
 * the note of the first; owned, "" when there are none. */
char *bu_follow_unsettled(const struct bu_follow *follow);

#endif
