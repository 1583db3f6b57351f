/* SPDX-License-Identifier: Apache-2.0 */
/* Small things done to text, in one place each. */
#ifndef BU_BASE_TEXT_H
#define BU_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* Replaces each byte that is no part of UTF-8 by '?'; a character cut off at the end
 * goes. For JSON of others, before it is parsed: what is in it may still be anything
 * (base/plain.h). */
void bu_text_clean(char *text);
/* As much of text as fits, as base/plain.h has it; lines stay. */
void bu_text_copy(char *ret, size_t size, const char *text);
/* Into an array. */
#define BU_TEXT_COPY(array, text) bu_text_copy((array), sizeof(array), (text))
/* The same of its first `length` bytes. */
void bu_text_copy_part(char *ret, size_t size, const char *text, size_t length);
/* 1 when both are the same, or both NULL. */
int bu_text_same(const char *a, const char *b);
/* 1 when it is not empty and has only these bytes. */
int bu_text_is(const char *text, const char *bytes);
/* 1 when all of it is printable ASCII, as nothing at all is. */
int bu_text_is_ascii(const char *text);
/* The text without blanks and line ends around it; writes into it. */
char *bu_text_trim(char *text);
/* The words with each character that GRUB might take for its own behind a backslash;
 * owned. */
char *bu_text_grub(const char *words);
/* Its last line, trimmed at the end; writes into the text. */
char *bu_text_last_line(char *text);
/* The whole text as a decimal number: digits, perhaps after a '-'. -1, and ret as it
 * was, when it is none or out of range. */
int bu_text_int(const char *text, int64_t min, int64_t max, int64_t *ret);
/* Adds one to a list: the separator, where there is something before it, then the rest.
 * NULL is the empty list; *list is owned. */
void bu_text_add(char **list, const char *separator, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
