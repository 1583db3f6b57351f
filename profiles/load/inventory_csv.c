/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the vendor's CSV. Called by the loader. Invariant: a row is either complete and
 * checked by the same rules as a [node] section, or a finding; no two rows share a
 * name, MAC, serial number or BMC.
 */
#include "profiles/load/inventory_csv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "profiles/language/schema.h"
#include "profiles/nodeset/nodeset.h"

enum { FIELDS_MAX = 64, LINE_MAX_BYTES = 4096 };

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

struct reader {
	struct bu_inventory_csv *inventory;
	struct bu_findings *findings;
	const char *file;
	int line;
	char separator;
	int header;               /* the header line has been read */
	int of_field[FIELDS_MAX]; /* column of each field */
	size_t fields;            /* of the header line */
	const struct bu_key *keys[BU_INVENTORY_CSV_COLUMNS];
};

const char *
bu_inventory_csv_column(enum bu_inventory_csv_column column)
{
	return columns[column];
}

#define WRONG(rd, ...)                                                                 \
	bu_findings_add((rd)->findings, BU_FINDING_ERROR, (rd)->file, (rd)->line,      \
			__VA_ARGS__)

/* Cuts the next field out of *text, in place; NULL when a quote is not closed. */
static char *
next_field(char **text, char separator)
{
	char *p = *text + strspn(*text, " \t"), *field = p, *to = p;

	if (*p == '"') {
		field = to = ++p;
		while (*p && (*p != '"' || p[1] == '"')) {
			p += *p == '"'; /* "" is one quote */
			*to++ = *p++;
		}
		if (*p != '"')
			return NULL;
		p++;
		p += strspn(p, " \t");
		if (*p && *p != separator)
			return NULL;
	} else {
		while (*p && *p != separator)
			p++;
		to = p;
	}
	*text = *p ? p + 1 : NULL;
	while (to > field && isblank((unsigned char)to[-1]))
		to--;
	*to = '\0';
	return field + strspn(field, " \t");
}

/* Fields of the line, at most FIELDS_MAX; -1 with a finding. */
static int
split(struct reader *rd, char *line, char *fields[FIELDS_MAX])
{
	int count = 0;

	while (line) {
		if (count == FIELDS_MAX) {
			WRONG(rd, "has too many fields; at most %d", FIELDS_MAX);
			return -1;
		}
		fields[count] = next_field(&line, rd->separator);
		if (!fields[count++]) {
			WRONG(rd,
			      "has a wrong quote; a quoted field starts and ends with "
			      "'\"'");
			return -1;
		}
	}
	return count;
}

static int
column_of(const char *name)
{
	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		if (strcasecmp(columns[i], name) == 0)
			return i;
	return -1;
}

static void
read_header(struct reader *rd, char *line)
{
	char *fields[FIELDS_MAX];
	unsigned int seen = 0;
	int count;

	rd->header = 1;
	rd->separator = strchr(line, ';') && !strchr(line, ',') ? ';' : ',';
	count = split(rd, line, fields);
	for (int i = 0; i < count; i++) {
		int column = column_of(fields[i]);

		rd->of_field[i] = column;
		if (column < 0) {
			bu_autofree char *hint =
				bu_did_you_mean(fields[i], columns, BU_LEN(columns));

			WRONG(rd,
			      "column '%.40s' is unknown%s; allowed is name, mac, "
			      "serial, uuid, bmc, rack, slot, zone",
			      fields[i], hint);
		} else if (seen & (1u << column)) {
			WRONG(rd, "column '%s' is there twice; give it once",
			      columns[column]);
		} else {
			seen |= 1u << column;
		}
	}
	rd->fields = count > 0 ? (size_t)count : 0;
	if (count >= 0 && !(seen & (1u << BU_INVENTORY_CSV_NAME)))
		WRONG(rd, "column 'name' is missing; the first line names the columns");
}

static void
free_row(struct bu_inventory_csv_row *row)
{
	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		free(row->fields[i]);
}

static int
set_field(struct reader *rd, struct bu_inventory_csv_row *row, int column,
	  const char *text)
{
	static const struct bu_key name = {.section = "node", .type = BU_KEY_NAME};
	const struct bu_key *key = rd->keys[column];
	struct bu_err err;

	if (!*text)
		return 0;
	if (bu_value_parse(key ? key : &name, text, &row->fields[column], &err) == 0)
		return 0;
	WRONG(rd, "%s: %s", columns[column], err.text);
	return -1;
}

static void
read_row(struct reader *rd, char *line)
{
	struct bu_inventory_csv *inventory = rd->inventory;
	struct bu_inventory_csv_row row = {.line = rd->line};
	char *fields[FIELDS_MAX];
	int count = split(rd, line, fields), bad = count < 0;

	if (count >= 0 && (size_t)count != rd->fields) {
		WRONG(rd, "has %d fields; the header line has %zu", count, rd->fields);
		return;
	}
	for (int i = 0; i < count; i++)
		if (rd->of_field[i] >= 0 &&
		    set_field(rd, &row, rd->of_field[i], fields[i]))
			bad = 1;
	if (!bad && !row.fields[BU_INVENTORY_CSV_NAME]) {
		WRONG(rd, "name: is empty; each row names a node");
		bad = 1;
	}
	if (bad) {
		free_row(&row);
		return;
	}
	inventory->rows = bu_xgrow(inventory->rows, &inventory->cap,
				   inventory->count + 1, sizeof(*inventory->rows));
	inventory->rows[inventory->count++] = row;
}

static void
read_line(struct reader *rd, const char *start, size_t size)
{
	char line[LINE_MAX_BYTES + 1], *text = line;

	while (size && isspace((unsigned char)start[size - 1]))
		size--;
	if (size > LINE_MAX_BYTES) {
		WRONG(rd, "the line is longer than %d bytes", LINE_MAX_BYTES);
		return;
	}
	for (size_t i = 0; i < size; i++) {
		line[i] = start[i];
		if ((unsigned char)line[i] < ' ' && line[i] != '\t') {
			WRONG(rd,
			      "holds a control character; the inventory is plain text");
			return;
		}
	}
	line[size] = '\0';
	text += strspn(text, " \t");
	if (!*text || *text == '#')
		return;
	if (!rd->header)
		read_header(rd, text);
	else if (!text[strspn(text, ",; \t\"")])
		return; /* spreadsheets leave rows of nothing but separators */
	else if (rd->inventory->count >= BU_NODESET_MAX)
		WRONG(rd, "has too many rows; at most %d", BU_NODESET_MAX);
	else if (rd->fields)
		read_row(rd, text);
}

/* qsort has no argument for its callback: each entry carries its own key. */
struct entry {
	const char *key;
	int line;
};

static int
compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void
check_twice(struct reader *rd, enum bu_inventory_csv_column column)
{
	struct bu_inventory_csv *inventory = rd->inventory;
	struct entry *list = bu_xcalloc(inventory->count, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < inventory->count; i++)
		if (inventory->rows[i].fields[column])
			list[count++] =
				(struct entry){inventory->rows[i].fields[column],
					       inventory->rows[i].line};
	qsort(list, count, sizeof(*list), compare_entries);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(list[i].key, list[i - 1].key) != 0)
			continue;
		rd->line = list[i].line;
		WRONG(rd, "%s: '%s' is in line %d already; each machine has its own",
		      columns[column], list[i].key, list[i - 1].line);
	}
	free(list);
}

struct bu_inventory_csv *
bu_inventory_csv_parse(const struct bu_tree_file *file, struct bu_findings *findings)
{
	struct reader rd = {.inventory = bu_xcalloc(1, sizeof(struct bu_inventory_csv)),
			    .findings = findings,
			    .file = file->path};
	const char *p = file->text, *end = p + file->size;

	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		rd.keys[i] = bu_schema_key("node", columns[i]);
	if (strncmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			stop = end;
		rd.line++;
		read_line(&rd, p, (size_t)(stop - p));
		p = stop < end ? stop + 1 : end;
	}
	rd.line = rd.line ? rd.line : 1;
	if (!rd.header)
		WRONG(&rd,
		      "holds no header line; the first line names the columns name, "
		      "mac, serial, uuid, bmc, rack, slot, zone");
	check_twice(&rd, BU_INVENTORY_CSV_NAME);
	check_twice(&rd, BU_INVENTORY_CSV_MAC);
	check_twice(&rd, BU_INVENTORY_CSV_SERIAL);
	check_twice(&rd, BU_INVENTORY_CSV_UUID);
	check_twice(&rd, BU_INVENTORY_CSV_BMC);
	return rd.inventory;
}

void
bu_inventory_csv_destroy(struct bu_inventory_csv *inventory)
{
	if (!inventory)
		return;
	for (size_t i = 0; i < inventory->count; i++)
		free_row(&inventory->rows[i]);
	free(inventory->rows);
	free(inventory);
}
