/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine wrote to its console, made harmless for a terminal. */
#ifndef BU_BASE_TERMINAL_H
#define BU_BASE_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Where it is in a sequence that the next part goes on with; starts as 0. */
struct bu_terminal_text {
	int state;
};
/* Lines and printable ASCII stay; sequences that drive terminals are left out, other
 * control characters and what is not ASCII become '?'. */
void bu_terminal_plain(struct bu_terminal_text *text, const char *bytes, size_t size,
		       FILE *out);

#endif
