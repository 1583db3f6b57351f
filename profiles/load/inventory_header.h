/* SPDX-License-Identifier: Apache-2.0 */
/* The line of an inventory that names its columns. For inventory_csv.c alone. */
#ifndef BU_PROFILES_LOAD_INVENTORY_HEADER_H
#define BU_PROFILES_LOAD_INVENTORY_HEADER_H

#include "profiles/load/findings.h"

enum { BU_INVENTORY_CELLS_MAX = 64 };

/* Of a cell that belongs to no column: its name is unknown, or empty. */
enum { BU_INVENTORY_UNKNOWN = -1, BU_INVENTORY_UNNAMED = -2 };

struct bu_inventory_header {
	char separator;
	int of_cell[BU_INVENTORY_CELLS_MAX]; /* enum bu_inventory_csv_column, or one
						of the two above */
	int cells; /* without the empty ones at its end; 0: no row can be read */
	unsigned int lost; /* as in struct bu_inventory_csv */
};

struct bu_inventory_place {
	struct bu_findings *findings;
	const char *file;
	int line;
};

/* Separators of cells. */
extern const char bu_inventory_separators[];

/* Cuts the line, in place. What is wrong becomes findings. */
void bu_inventory_header_read(char *line, const struct bu_inventory_place *at,
			      struct bu_inventory_header *ret);
/* The separator with which the line names the column 'name'; '\0' when none does. */
char bu_inventory_names_columns(const char *text);
/* Cells of a line, without the empty ones at its end; -1 when it cannot be cut. */
int bu_inventory_count_cells(const char *text, char separator);
/* "name, mac, ..."; owned. */
char *bu_inventory_all_columns(void);

#endif
