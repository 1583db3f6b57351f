/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables on a terminal, called by the command line and the lab. libsmartcols finds the
 * widths and makes control characters in a cell visible, so that no text of a node can
 * drive the terminal.
 */
#include "base/table.h"

#include <libsmartcols.h>

#include "base/err.h"

struct bu_table {
	struct libscols_table *scols;
	size_t columns;
};

struct bu_table *
bu_table_create(const char *const *headings)
{
	struct bu_table *table = bu_xcalloc(1, sizeof(*table));

	table->scols = scols_new_table();
	bu_assert(table->scols != NULL);
	for (; headings[table->columns]; table->columns++) {
		const char *heading = headings[table->columns];
		int right = heading[0] == '>';
		struct libscols_column *column = scols_table_new_column(
			table->scols, heading + right, 0, right ? SCOLS_FL_RIGHT : 0);

		bu_assert(column != NULL);
	}
	return table;
}

void
bu_table_row(struct bu_table *table, const char *const *cells)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);

	bu_assert(line != NULL);
	for (size_t i = 0; i < table->columns; i++) {
		int rc = scols_line_set_data(line, i, cells[i] ? cells[i] : "");

		bu_assert(rc == 0);
	}
}

void
bu_table_print(const struct bu_table *table, FILE *out)
{
	scols_table_set_stream(table->scols, out);
	scols_print_table(table->scols);
}

void
bu_table_destroy(struct bu_table *table)
{
	if (!table)
		return;
	scols_unref_table(table->scols);
	free(table);
}
