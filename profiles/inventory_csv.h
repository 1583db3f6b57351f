/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inventory as a vendor ships it: CSV with a header line that names the columns
 * name, mac, serial, bmc, rack, slot, zone in any order and case. Accepted as they
 * come: a byte order mark, CRLF, quotes, blanks around fields, empty lines, lines that
 * start with '#', MACs with '-', '.' or nothing between the digits, ';' instead of ','.
 */
#ifndef BU_PROFILES_INVENTORY_CSV_H
#define BU_PROFILES_INVENTORY_CSV_H

#include <stddef.h>

#include "profiles/findings.h"
#include "profiles/tree.h"

enum bu_inventory_column {
	BU_INVENTORY_NAME,
	BU_INVENTORY_MAC,
	BU_INVENTORY_SERIAL,
	BU_INVENTORY_BMC,
	BU_INVENTORY_RACK,
	BU_INVENTORY_SLOT,
	BU_INVENTORY_ZONE,
	BU_INVENTORY_COLUMNS
};

struct bu_inventory_row {
	char *fields[BU_INVENTORY_COLUMNS]; /* NULL = empty; the MAC is normalized */
	int line;
};

struct bu_inventory {
	struct bu_inventory_row *rows; /* as in the file; names, MACs are unique */
	size_t count, cap;
};

/* Name of the column, which is also the name of the key of [node NAME]. */
const char *bu_inventory_column_name(enum bu_inventory_column column);
/* Rows that are wrong become findings and are left out; never NULL. */
struct bu_inventory *bu_inventory_parse(const struct bu_tree_file *file,
					struct bu_findings *findings);
void bu_inventory_destroy(struct bu_inventory *inventory);

#endif
