/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of bringupd (model/shown_node.h) in words: what lists, the screen of `apply`
 * and its lines share. Pure; what is returned is owned.
 */
#ifndef BU_CLI_RENDER_NODE_TEXT_H
#define BU_CLI_RENDER_NODE_TEXT_H

#include "model/shown_status.h"

/* 0 to 100; -1 when it shows no progress. */
int bu_node_percent(const struct bu_shown_node *node);
/* "write 45 %", "" when there is none. */
char *bu_node_progress(const struct bu_shown_node *node);
/* "ready", or "ready, unreachable". */
char *bu_node_state(const struct bu_shown_node *node);
/* Name of the first condition by which it counts as away; borrowed, NULL = none. */
const char *bu_node_away(const struct bu_shown_node *node);
/* Ready, and no condition says otherwise. */
int bu_node_is_ready(const struct bu_shown_node *node);
int bu_node_is_held(const struct bu_shown_node *node);
/* What keeps it where it is now: hold, wait, conditions, a change that failed; "" =
 * nothing. */
char *bu_node_wait(const struct bu_shown_node *node);
/* The same, with what its turn waits for; else the reason of its state. */
char *bu_node_note(const struct bu_shown_node *node);
/* Failed, quarantined, or something keeps it. */
int bu_node_needs_a_look(const struct bu_shown_node *node);

/* Columns of lines that are drawn again. */
struct bu_node_widths {
	int line, name, state;
};
/* line: what is there. */
struct bu_node_widths bu_node_widths(const struct bu_shown_nodes *nodes, int line);
/* At most rows lines: the note stands behind the figures where it fits, else below
 * them. now_ms: Unix time of the appliance. */
char *bu_node_lines(const struct bu_shown_node *node, int64_t now_ms,
		    const struct bu_node_widths *widths, int rows);
/* "1/4 ready, 1 unreachable, 2 imaging, 1 held": of all nodes. */
char *bu_node_summary(const struct bu_shown_nodes *nodes);

#endif
