/* SPDX-License-Identifier: Apache-2.0 */
/* A plain table for terminals: columns as wide as their content; libsmartcols draws it.
 */
#ifndef BU_BASE_TABLE_H
#define BU_BASE_TABLE_H

#include <stdio.h>

struct bu_table;
/* headings: NULL-terminated. A heading that starts with '>' is right-aligned. */
struct bu_table *bu_table_create(const char *const *headings);
/* cells: as many as there are headings; NULL is an empty cell. Copied. */
void bu_table_row(struct bu_table *table, const char *const *cells);
void bu_table_print(const struct bu_table *table, FILE *out);
void bu_table_destroy(struct bu_table *table);

#endif
