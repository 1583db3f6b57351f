/* SPDX-License-Identifier: Apache-2.0 */
/* The words of one end of a connection, line by line; for both ends. */
#ifndef BU_BOOT_LINES_H
#define BU_BOOT_LINES_H

#include <stddef.h>

/* Hands each whole line of the `*size` bytes over, without its '\n', and keeps what is
 * behind the last one. fn returns 0 when no more of them are to be read: then text and
 * *size are what it has left. */
void bu_lines_take(char *text, size_t *size, int (*fn)(char *line, void *arg),
		   void *arg);

#endif
