/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on a terminal that are drawn again in place. */
#ifndef BU_CLI_SCREEN_H
#define BU_CLI_SCREEN_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

struct bu_screen {
	FILE *out;
	int lines; /* drawn and to be drawn over */
};

/* Width and height of the terminal behind out; 80 and 24 when it does not say. */
void bu_screen_size(FILE *out, int *ret_width, int *ret_height);
/* One line for each node, as many as fit; those that are not settled come first when
 * there are too many, and a last line counts the rest. */
void bu_screen_nodes(struct bu_screen *screen, const json_t *nodes, int64_t now_ms);
/* A single line in place of what is there. */
void bu_screen_text(struct bu_screen *screen, const char *text);
/* Takes the lines away. */
void bu_screen_clear(struct bu_screen *screen);

#endif
