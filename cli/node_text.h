/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node of bringupd's JSON (model/node.c) in words: what lists, the screen of `apply`
 * and its lines share. Pure; what is returned is owned.
 */
#ifndef BU_CLI_NODE_TEXT_H
#define BU_CLI_NODE_TEXT_H

#include <jansson.h>
#include <stdint.h>

/* 0 to 100; -1 when it shows no progress. */
int bu_node_percent(const json_t *node);
/* "write 45 %", "" when there is none. */
char *bu_node_progress(const json_t *node);
/* Why it is held, what it waits for, or the reason of its state; "" = nothing. */
char *bu_node_note(const json_t *node);
/* "ready", or "ready, unreachable"; owned. */
char *bu_node_state(const json_t *node);
int bu_node_is_held(const json_t *node);
/* One line of at most width columns, for a line that is drawn again. now_ms: Unix time
 * of the appliance. name_width pads the name. */
char *bu_node_line(const json_t *node, int64_t now_ms, int name_width, int width);

#endif
