/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the vendor's CSV. Called by load_inventory.c. Invariants: a row is either
 * complete and checked by the same rules as a [node] section, or a finding and told
 * among those that were not read; no two rows share a name, MAC, serial number, UUID or
 * BMC; what all rows have in common is one finding.
 */
#include "profiles/load/inventory_csv.h"

#include <string.h>

#include "base/csv.h"
#include "model/machine.h"
#include "profiles/language/schema.h"
#include "profiles/load/inventory_header.h"
#include "profiles/nodeset/nodeset.h"

enum { LINE_MAX_BYTES = 4096 };
/* What is told once. */
enum { FOREIGN_SEPARATOR = 1, UNNAMED_COLUMN = 2, TOO_MANY_ROWS = 4 };

/* A row that has not as many cells as there are columns. */
struct width {
	int line, cells;
};

struct reader {
	struct bu_inventory_csv *inventory;
	struct bu_findings *findings;
	const char *file;
	int line;
	struct bu_inventory_header header;
	int header_line; /* 0 before it was read */
	char *guess;     /* owned; a comment that names columns, and its line */
	int guess_line;
	int told;    /* bits of what is told once */
	size_t rows; /* that have been looked at */
	struct width *wide;
	size_t wide_count, wide_cap;
	const struct bu_key *keys[BU_INVENTORY_CSV_COLUMNS];
};

static const struct bu_key name_key = {.section = "node", .type = BU_KEY_NAME};

#define WRONG(rd, ...)                                                                 \
	bu_findings_add((rd)->findings, BU_FINDING_ERROR, (rd)->file, (rd)->line,      \
			__VA_ARGS__)

static void
read_header(struct reader *rd, char *line, int number)
{
	rd->header_line = number;
	bu_inventory_header_read(
		line, &(struct bu_inventory_place){rd->findings, rd->file, number},
		&rd->header);
	rd->inventory->nameless |= !rd->header.cells;
	rd->inventory->lost = rd->header.lost;
}

static void
free_row(struct bu_inventory_csv_row *row)
{
	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		free(row->fields[i]);
}

/* "N/A", "-"; an address of zeros is a wrong address. */
static int
is_word_for_none(const char *text)
{
	return !bu_machine_says(text) &&
	       (strlen(text) < 12 || text[strspn(text, "0123456789abcdefABCDEF:.-")]);
}

static int
is_placeholder(int column, const char *text)
{
	return (column == BU_INVENTORY_CSV_SERIAL || column == BU_INVENTORY_CSV_UUID) &&
	       !bu_machine_says(text);
}

static int
set_field(struct reader *rd, struct bu_inventory_csv_row *row, int column,
	  const char *text)
{
	const struct bu_key *key = rd->keys[column];
	struct bu_err err;

	if (!*text || (column == BU_INVENTORY_CSV_MAC && is_word_for_none(text)))
		return 0;
	/* load_machines.c takes it out, and tells how many there are. */
	if (is_placeholder(column, text)) {
		row->fields[column] = bu_xstrdup(text);
		return 0;
	}
	if (bu_value_parse(key ? key : &name_key, text, &row->fields[column], &err) ==
	    0)
		return 0;
	WRONG(rd, "%s: %s", bu_inventory_csv_column(column), err.text);
	return -1;
}

/* Takes the name of a row that was not read; NULL when that was not read, too. */
static void
lose_name(struct bu_inventory_csv *inventory, char *name)
{
	if (!name) {
		inventory->nameless = 1;
		return;
	}
	inventory->unread =
		bu_xgrow(inventory->unread, &inventory->unread_cap,
			 inventory->unread_count + 1, sizeof(*inventory->unread));
	inventory->unread[inventory->unread_count++] = name;
}

static void
lose_row(struct reader *rd, char **cells, int count)
{
	char *name = NULL;
	struct bu_err err;

	for (int i = 0; i < count && i < rd->header.cells; i++)
		if (rd->header.of_cell[i] == BU_INVENTORY_CSV_NAME &&
		    bu_value_parse(&name_key, cells[i], &name, &err) < 0)
			name = NULL;
	lose_name(rd->inventory, name);
}

static void
tell_once(struct reader *rd, int what, const char *text)
{
	if (!(rd->told & what))
		WRONG(rd, "%s", text);
	rd->told |= what;
}

static const char *
separator_name(char separator)
{
	return separator == '\t' ? "a tab" : separator == ';' ? "';'" : "','";
}

/* The number of cells is not that of the columns. */
static void
add_width(struct reader *rd, const char *text, int count)
{
	for (const char *p = bu_inventory_separators; *p; p++)
		if (*p != rd->header.separator && rd->header.cells > 1 &&
		    bu_inventory_count_cells(text, *p) == rd->header.cells) {
			bu_autofree char *words = bu_xasprintf(
				"has %s between its cells, and the header line %s; "
				"write the same in each line",
				separator_name(*p),
				separator_name(rd->header.separator));

			tell_once(rd, FOREIGN_SEPARATOR, words);
			return;
		}
	rd->wide = bu_xgrow(rd->wide, &rd->wide_cap, rd->wide_count + 1,
			    sizeof(*rd->wide));
	rd->wide[rd->wide_count++] = (struct width){rd->line, count};
}

static void
tell_widths(struct reader *rd)
{
	int same = rd->wide_count > 1 && rd->wide_count == rd->rows;

	for (size_t i = 1; i < rd->wide_count; i++)
		same &= rd->wide[i].cells == rd->wide[0].cells;
	for (size_t i = 0; i < rd->wide_count && !same; i++) {
		int cells = rd->wide[i].cells;

		rd->line = rd->wide[i].line;
		WRONG(rd, "has %d cell%s; the header line has %d%s", cells,
		      cells == 1 ? "" : "s", rd->header.cells,
		      cells > rd->header.cells ? "; a cell with a separator in it is "
						 "put in quotes"
					       : "; an empty cell has its separator");
	}
	if (!same)
		return;
	rd->line = rd->header_line;
	WRONG(rd, "has %d cell%s, and each of the %zu rows has %d; name each column",
	      rd->header.cells, rd->header.cells == 1 ? "" : "s", rd->rows,
	      rd->wide[0].cells);
}

static int
take_cells(struct reader *rd, struct bu_inventory_csv_row *row, char **cells)
{
	int rc = 0;

	for (int i = 0; i < rd->header.cells; i++) {
		if (rd->header.of_cell[i] >= 0 &&
		    set_field(rd, row, rd->header.of_cell[i], cells[i]))
			rc = -1;
		if (rd->header.of_cell[i] == BU_INVENTORY_UNNAMED && *cells[i])
			tell_once(rd, UNNAMED_COLUMN,
				  "has a cell in a column that has no name; name it in "
				  "the header line, or take it out");
	}
	if (rc == 0 && !row->fields[BU_INVENTORY_CSV_NAME]) {
		WRONG(rd, "name: is empty; each row names a node");
		rc = -1;
	}
	return rc;
}

static void
read_row(struct reader *rd, char *line)
{
	struct bu_inventory_csv *inventory = rd->inventory;
	struct bu_inventory_csv_row row = {.line = rd->line};
	bu_autofree char *text = bu_xstrdup(line);
	char *cells[BU_INVENTORY_CELLS_MAX];
	const char *problem;
	int count = bu_csv_split(line, rd->header.separator, cells,
				 BU_INVENTORY_CELLS_MAX, &problem);

	rd->rows++;
	while (!problem && count > rd->header.cells && !*cells[count - 1])
		count--;
	if (problem)
		WRONG(rd, "%s", problem);
	else if (count != rd->header.cells)
		add_width(rd, text, count);
	else if (take_cells(rd, &row, cells) == 0) {
		inventory->rows =
			bu_xgrow(inventory->rows, &inventory->cap, inventory->count + 1,
				 sizeof(*inventory->rows));
		inventory->rows[inventory->count++] = row;
		return;
	}
	free_row(&row);
	lose_row(rd, cells, count);
}

/* -1 with a finding. */
static int
copy_line(struct reader *rd, const char *start, size_t size,
	  char line[LINE_MAX_BYTES + 1])
{
	if (size > LINE_MAX_BYTES) {
		WRONG(rd, "the line is longer than %d bytes", LINE_MAX_BYTES);
		return -1;
	}
	for (size_t i = 0; i < size; i++) {
		line[i] = start[i];
		if ((unsigned char)line[i] < ' ' && line[i] != '\t') {
			WRONG(rd,
			      "holds a control character; the inventory is plain text");
			return -1;
		}
	}
	line[size] = '\0';
	return 0;
}

/* Some mark the header line as a comment. */
static void
read_comment(struct reader *rd, const char *text)
{
	text += strspn(text, "# \t");
	if (rd->header_line || !bu_inventory_names_columns(text))
		return;
	free(rd->guess);
	rd->guess = bu_xstrdup(text);
	rd->guess_line = rd->line;
}

/* Neither a comment nor empty. */
static void
read_text(struct reader *rd, char *line)
{
	if (!rd->header_line && rd->guess && !bu_inventory_names_columns(line))
		read_header(rd, rd->guess, rd->guess_line);
	if (!rd->header_line) {
		read_header(rd, line, rd->line);
	} else if (!line[strspn(line, ",; \t\"")] || !rd->header.cells) {
		return; /* spreadsheets leave rows of nothing but
			   bu_inventory_separators */
	} else if (rd->inventory->count >= BU_NODESET_MAX) {
		bu_autofree char *words =
			bu_xasprintf("has too many rows; at most %d", BU_NODESET_MAX);

		tell_once(rd, TOO_MANY_ROWS, words);
		rd->inventory->nameless = 1;
	} else {
		read_row(rd, line);
	}
}

static void
read_line(struct reader *rd, const char *start, size_t size)
{
	char line[LINE_MAX_BYTES + 1], *text = line;
	size_t blanks = 0;

	while (size && strchr("\r\v\f ", start[size - 1]))
		size--;
	while (blanks < size && strchr(" \t", start[blanks]))
		blanks++;
	if (blanks == size)
		return;
	if (copy_line(rd, start, size, line) == 0) {
		text += blanks;
		if (*text == '#')
			read_comment(rd, text);
		else
			read_text(rd, rd->header.separator == '\t' ? line : text);
	} else if (start[blanks] != '#') {
		rd->inventory->nameless = 1;
		rd->header_line = rd->header_line ? rd->header_line : rd->line;
	}
}

/* --- rows against each other --- */

/* qsort has no argument for its callback: each entry carries its own key. */
struct entry {
	const char *key;
	struct bu_inventory_csv_row *row;
};

static int
compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void
check_twice(struct reader *rd, enum bu_inventory_csv_column column)
{
	struct bu_inventory_csv *inventory = rd->inventory;
	struct entry *list = bu_xcalloc(inventory->count, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < inventory->count; i++)
		if (inventory->rows[i].fields[column] &&
		    !is_placeholder(column, inventory->rows[i].fields[column]))
			list[count++] = (struct entry){
				inventory->rows[i].fields[column], &inventory->rows[i]};
	qsort(list, count, sizeof(*list), compare_entries);
	for (size_t i = 1; i < count; i++) {
		const struct bu_inventory_csv_row *first = list[i - 1].row;

		if (strcmp(list[i].key, list[i - 1].key) != 0 ||
		    list[i].row->twin == first->line)
			continue; /* one finding for two rows, whatever they share */
		list[i].row->twin = first->line;
		rd->line = list[i].row->line;
		WRONG(rd, "%s: '%s' is in line %d already; each machine has its own",
		      bu_inventory_csv_column(column), list[i].key, first->line);
	}
	free(list);
}

/* Of rows that share something, the first stays. */
static void
drop_twins(struct bu_inventory_csv *inventory)
{
	size_t kept = 0;

	for (size_t i = 0; i < inventory->count; i++) {
		struct bu_inventory_csv_row *row = &inventory->rows[i];

		if (!row->twin) {
			inventory->rows[kept++] = *row;
			continue;
		}
		lose_name(inventory, bu_steal(&row->fields[BU_INVENTORY_CSV_NAME]));
		free_row(row);
	}
	inventory->count = kept;
}

static void
check_rows(struct reader *rd)
{
	static const enum bu_inventory_csv_column unique[] = {
		BU_INVENTORY_CSV_NAME, BU_INVENTORY_CSV_MAC, BU_INVENTORY_CSV_SERIAL,
		BU_INVENTORY_CSV_UUID, BU_INVENTORY_CSV_BMC};

	tell_widths(rd);
	for (size_t i = 0; i < BU_LEN(unique); i++)
		check_twice(rd, unique[i]);
	drop_twins(rd->inventory);
}

static void
read_file(struct reader *rd, const char *p, const char *end)
{
	if (strncmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			stop = end;
		rd->line++;
		read_line(rd, p, (size_t)(stop - p));
		p = stop < end ? stop + 1 : end;
	}
	rd->line = rd->line ? rd->line : 1;
	if (!rd->header_line && rd->guess)
		read_header(rd, rd->guess, rd->guess_line);
}

struct bu_inventory_csv *
bu_inventory_csv_parse(const struct bu_tree_file *file, struct bu_findings *findings)
{
	struct reader rd = {.inventory = bu_xcalloc(1, sizeof(struct bu_inventory_csv)),
			    .findings = findings,
			    .file = file->path};

	for (int i = 0; i < BU_INVENTORY_CSV_COLUMNS; i++)
		rd.keys[i] = bu_schema_key("node", bu_inventory_csv_column(i));
	read_file(&rd, file->text, file->text + file->size);
	if (!rd.header_line) {
		bu_autofree char *allowed = bu_inventory_all_columns();

		WRONG(&rd, "holds no header line; the first line names the columns %s",
		      allowed);
		rd.inventory->nameless = 1;
	}
	check_rows(&rd);
	free(rd.guess);
	free(rd.wide);
	return rd.inventory;
}

void
bu_inventory_csv_destroy(struct bu_inventory_csv *inventory)
{
	if (!inventory)
		return;
	for (size_t i = 0; i < inventory->count; i++)
		free_row(&inventory->rows[i]);
	for (size_t i = 0; i < inventory->unread_count; i++)
		free(inventory->unread[i]);
	free(inventory->rows);
	free(inventory->unread);
	free(inventory);
}
