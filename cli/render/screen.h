/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on a terminal that are drawn again in place. */
#ifndef BU_CLI_RENDER_SCREEN_H
#define BU_CLI_RENDER_SCREEN_H

#include <stdio.h>

#include "model/shown_status.h"

struct bu_screen {
	FILE *out;
	int lines; /* drawn and to be drawn over */
};

/* Each node with what keeps it, and a last line that counts them. Where not all fit,
 * those that need a look come first, then those that are not settled. */
void bu_screen_nodes(struct bu_screen *screen, const struct bu_shown_nodes *nodes);
/* Takes the lines away. */
void bu_screen_clear(struct bu_screen *screen);

#endif
