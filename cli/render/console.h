/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine wrote to its console, made harmless for a terminal. */
#ifndef BU_CLI_RENDER_CONSOLE_H
#define BU_CLI_RENDER_CONSOLE_H

#include <stddef.h>
#include <stdio.h>

/* Where it is in a sequence that the next part goes on with; starts as 0. */
struct bu_console_text {
	int state;
};
/* Lines and printable ASCII stay; sequences that drive terminals are left out, other
 * control characters and what is not ASCII become '?'. */
void bu_render_console(struct bu_console_text *text, const char *bytes, size_t size,
		       FILE *out);

#endif
