/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts from firmware, BMCs, switches, neighbours and agents. Any
 * character that is not seen as itself becomes U+FFFD, so that no text drives a
 * terminal, turns its line around or hides a part of itself: control characters of
 * ASCII and U+0080 to U+009F, marks of direction, characters without width, U+2028 and
 * U+2029, and bytes that are no UTF-8.
 */
#ifndef BU_BASE_PLAIN_H
#define BU_BASE_PLAIN_H

#include <jansson.h>
#include <stddef.h>

/* 1 when it is so as it stands. lines: line feeds and tabs are, too. */
int bu_plain_is(const char *text, int lines);
/* Of its first `length` bytes, as much as fits; ends with a whole character. */
void bu_plain_copy(char *ret, size_t size, const char *text, size_t length, int lines);
/* Owned. */
char *bu_plain(const char *text, int lines);
/* One line into an array. */
#define BU_PLAIN_COPY(array, text)                                                     \
	bu_plain_copy((array), sizeof(array), (text), SIZE_MAX, 0)
/* All texts and keys of the value, in place; lines stay. */
void bu_plain_json(json_t *value);

#endif
