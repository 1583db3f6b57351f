/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header line of an inventory. Called by inventory_csv.c. Invariant: what is wrong
 * with its columns is one finding, as far as it has one cause.
 */
#include "profiles/load/inventory_header.h"

#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/text.h"
#include "profiles/language/schema.h"
#include "profiles/load/inventory_csv.h"

enum { NAMED_MAX = 5 }; /* of unknown columns */

const char bu_inventory_separators[] = ",;\t";

static const char *const columns[BU_INVENTORY_CSV_COLUMNS] = {
	[BU_INVENTORY_CSV_NAME] = "name",
	[BU_INVENTORY_CSV_MAC] = "mac",
	[BU_INVENTORY_CSV_SERIAL] = "serial",
	[BU_INVENTORY_CSV_UUID] = "uuid",
	[BU_INVENTORY_CSV_BMC] = "bmc",
	[BU_INVENTORY_CSV_RACK] = "rack",
	[BU_INVENTORY_CSV_SLOT] = "slot",
	[BU_INVENTORY_CSV_ZONE] = "zone",
	[BU_INVENTORY_CSV_FACTORY] = "bmc_factory"};

#define WRONG(at, ...)                                                                 \
	bu_findings_add((at)->findings, BU_FINDING_ERROR, (at)->file, (at)->line,      \
			__VA_ARGS__)

const char *
bu_inventory_csv_column(enum bu_inventory_csv_column column)
{
	return columns[column];
}

/* "name, mac, ..."; owned. */
char *
bu_inventory_all_columns(void)
{
	char *list = NULL;

	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		bu_text_add(&list, ", ", "%s", columns[i]);
	return list;
}

/* '#' before the first name marks the line as a comment. */
static int
column_of(const char *name)
{
	name += strspn(name, "# ");
	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		if (strcasecmp(columns[i], name) == 0)
			return i;
	return BU_INVENTORY_UNKNOWN;
}

static int
split(const char *text, char separator, int *ret_has_name)
{
	bu_autofree char *copy = bu_xstrdup(text);
	char *cells[BU_INVENTORY_CELLS_MAX];
	const char *problem;
	int count =
		bu_csv_split(copy, separator, cells, BU_INVENTORY_CELLS_MAX, &problem);

	while (count && !*cells[count - 1])
		count--;
	*ret_has_name = 0;
	for (int i = 0; i < count; i++)
		*ret_has_name |= column_of(cells[i]) == BU_INVENTORY_CSV_NAME;
	return problem ? -1 : count;
}

int
bu_inventory_count_cells(const char *text, char separator)
{
	int has_name;

	return split(text, separator, &has_name);
}

char
bu_inventory_names_columns(const char *text)
{
	int has_name;

	for (const char *p = bu_inventory_separators; *p; p++)
		if (split(text, *p, &has_name) > 0 && has_name)
			return *p;
	return '\0';
}

static char
separator_of(const char *header)
{
	char found = bu_inventory_names_columns(header);

	for (const char *p = bu_inventory_separators; !found && *p; p++)
		if (strchr(header, *p))
			found = *p;
	return found ? found : ',';
}

/* Columns that nobody knows. */
struct unknown {
	char *names; /* owned */
	int count;
};

static void
add_unknown(struct unknown *unknown, const char *name)
{
	bu_autofree char *hint = bu_did_you_mean(name, columns, BU_LEN(columns));

	if (++unknown->count <= NAMED_MAX)
		bu_text_add(&unknown->names, ", ", "'%.40s'%s", name, hint);
}

static void
tell_unknown(const struct bu_inventory_place *at, const struct unknown *unknown,
	     int has_name)
{
	bu_autofree char *allowed = bu_inventory_all_columns(), *more = NULL;

	if (unknown->count > NAMED_MAX)
		more = bu_xasprintf(" and %d more", unknown->count - NAMED_MAX);
	if (unknown->count)
		WRONG(at, "column%s %s%s %s unknown%s; allowed is %s",
		      unknown->count == 1 ? "" : "s", unknown->names, more ? more : "",
		      unknown->count == 1 ? "is" : "are",
		      has_name ? "" : ", and column 'name' is missing", allowed);
	else if (!has_name)
		WRONG(at, "column 'name' is missing; the first line names the columns");
	free(unknown->names);
}

static void
take_columns(const struct bu_inventory_place *at, char **cells, int count,
	     struct bu_inventory_header *ret)
{
	struct unknown unknown = {NULL, 0};
	unsigned int seen = 0;
	int has_name, twice = 0;

	for (int i = 0; i < count; i++) {
		int column = column_of(cells[i]);

		ret->of_cell[i] = *cells[i] ? column : BU_INVENTORY_UNNAMED;
		if (ret->of_cell[i] == BU_INVENTORY_UNKNOWN) {
			add_unknown(&unknown, cells[i]);
		} else if (column >= 0 && seen & (1u << column)) {
			WRONG(at, "column '%s' is there twice; give it once",
			      columns[column]);
			ret->of_cell[i] = BU_INVENTORY_UNKNOWN;
			twice = 1;
		} else if (column >= 0) {
			seen |= 1u << column;
		}
	}
	has_name = (seen & (1u << BU_INVENTORY_CSV_NAME)) != 0;
	tell_unknown(at, &unknown, has_name);
	ret->cells = has_name ? count : 0;
	if (unknown.count || twice)
		ret->lost = ~seen;
}

void
bu_inventory_header_read(char *line, const struct bu_inventory_place *at,
			 struct bu_inventory_header *ret)
{
	char *cells[BU_INVENTORY_CELLS_MAX];
	const char *problem;
	int count;

	*ret = (struct bu_inventory_header){.separator = separator_of(line)};
	count = bu_csv_split(line, ret->separator, cells, BU_INVENTORY_CELLS_MAX,
			     &problem);
	while (count && !*cells[count - 1])
		count--;
	if (problem)
		WRONG(at, "%s", problem);
	else
		take_columns(at, cells, count, ret);
}
