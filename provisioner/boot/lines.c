/* SPDX-License-Identifier: Apache-2.0 */
/* Lines out of what has come; called by child.c and serve.c. Invariant: no line is
 * handed over before its end has come. */
#include "provisioner/boot/lines.h"

#include <string.h>

void
bu_lines_take(char *text, size_t *size, int (*fn)(char *line, void *arg), void *arg)
{
	char *end;

	while ((end = memchr(text, '\n', *size)) != NULL) {
		size_t length = (size_t)(end - text) + 1;

		*end = '\0';
		if (!fn(text, arg))
			return;
		*size -= length;
		memmove(text, text + length, *size);
	}
}
