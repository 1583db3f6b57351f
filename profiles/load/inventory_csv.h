/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory as a vendor ships it: CSV with a header line that names the columns
 * below in any order and case. Accepted as
 * they come: a byte order mark, CRLF, quotes, blanks around fields, empty rows, lines
 * that start with '#' (the header line, too), MACs with '-', '.' or nothing between the
 * digits, ';' or a tab instead of ',', separators behind the last cell.
 */
#ifndef BU_PROFILES_LOAD_INVENTORY_CSV_H
#define BU_PROFILES_LOAD_INVENTORY_CSV_H

#include <stddef.h>

#include "profiles/load/findings.h"
#include "profiles/load/tree.h"

enum bu_inventory_csv_column {
	BU_INVENTORY_CSV_NAME,
	BU_INVENTORY_CSV_MAC,
	BU_INVENTORY_CSV_SERIAL,
	BU_INVENTORY_CSV_UUID,
	BU_INVENTORY_CSV_BMC,
	BU_INVENTORY_CSV_RACK,
	BU_INVENTORY_CSV_SLOT,
	BU_INVENTORY_CSV_ZONE,
	BU_INVENTORY_CSV_FACTORY,
	BU_INVENTORY_CSV_COLUMNS
};

struct bu_inventory_csv_row {
	char *fields[BU_INVENTORY_CSV_COLUMNS]; /* NULL = empty; the MAC is normalized
						 */
	int line;
	int twin; /* while it is read: line of a row that shares something with it */
};

struct bu_inventory_csv {
	struct bu_inventory_csv_row *rows; /* as in the file; names, MACs are unique */
	size_t count, cap;
	char **unread; /* names of rows that could not be read, which are findings */
	size_t unread_count, unread_cap;
	int nameless;      /* 1: not even the name of another row could be read */
	unsigned int lost; /* a bit for each column that may be one of those that the
			      header calls by an unknown name */
};

/* Name of the column, which is also the name of the key of [node NAME]. */
const char *bu_inventory_csv_column(enum bu_inventory_csv_column column);
/* Rows that are wrong become findings and are left out; never NULL. */
struct bu_inventory_csv *bu_inventory_csv_parse(const struct bu_tree_file *file,
						struct bu_findings *findings);
void bu_inventory_csv_destroy(struct bu_inventory_csv *inventory);

#endif
