/* SPDX-License-Identifier: Apache-2.0 */
/* Text in the columns of a terminal: wide characters take two, accents none. */
#ifndef BU_CLI_RENDER_COLUMNS_H
#define BU_CLI_RENDER_COLUMNS_H

/* Columns that the text takes. */
int bu_columns(const char *text);
/* Cuts it in place to at most width columns, never inside a character. */
void bu_columns_cut(char *text, int width);
/* Lines of at most width columns, each after indent spaces, broken between words where
 * that is possible; at most rows of them, the last one cut with "...". Owned, without a
 * line end after the last. */
char *bu_columns_wrap(const char *text, int width, int indent, int rows);

#endif
