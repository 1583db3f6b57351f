/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads cells of CSV; called by whatever writes such a file, and by the
 * loader of the inventory. Invariant: what is written is read as it was, and is a
 * formula nowhere.
 */
#include "base/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"
#include "base/text.h"

/* The last four are as wide as letters of East Asia. */
static const char *const openers[] = {
	"=",
	"+",
	"-",
	"@",
	"\xef\xbc\x9d",
	"\xef\xbc\x8b",
	"\xef\xbc\x8d",
	"\xef\xbc\xa0",
};

static int
is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return !*end && bu_text_is(text, "+-.0123456789eE");
}

static int
is_formula(const char *text)
{
	for (size_t i = 0; i < BU_LEN(openers); i++)
		if (strncmp(text, openers[i], strlen(openers[i])) == 0)
			return !is_number(text);
	return 0;
}

char *
bu_csv_cell(const char *text)
{
	bu_autofree char *plain = bu_plain(text, 0);
	int quoted = strpbrk(plain, ",;\"# ") != NULL;
	char *cell = bu_xmalloc(2 * strlen(plain) + 4), *to = cell;

	if (quoted)
		*to++ = '"';
	if (is_formula(plain))
		*to++ = '\'';
	for (const char *at = plain; *at; at++) {
		if (*at == '"')
			*to++ = '"';
		*to++ = *at;
	}
	if (quoted)
		*to++ = '"';
	*to = '\0';
	return cell;
}

const char *
bu_csv_value(const char *cell)
{
	return *cell == '\'' && is_formula(cell + 1) ? cell + 1 : cell;
}

/* Cuts the next cell out of *text, in place; NULL when a quote is not closed. */
static char *
next_cell(char **text, char separator)
{
	const char *blanks = separator == '\t' ? " " : " \t";
	char *p = *text + strspn(*text, blanks), *cell = p, *to = p;

	if (*p == '"') {
		cell = to = ++p;
		while (*p && (*p != '"' || p[1] == '"')) {
			p += *p == '"'; /* "" is one quote */
			*to++ = *p++;
		}
		if (*p != '"')
			return NULL;
		p++;
		p += strspn(p, blanks);
		if (*p && *p != separator)
			return NULL;
	} else {
		while (*p && *p != separator)
			p++;
		to = p;
	}
	*text = *p ? p + 1 : NULL;
	while (to > cell && strchr(" \t", to[-1]))
		to--;
	*to = '\0';
	return (char *)bu_csv_value(cell + strspn(cell, " \t"));
}

int
bu_csv_split(char *line, char separator, char **cells, int max,
	     const char **ret_problem)
{
	int count = 0;

	*ret_problem = NULL;
	while (line) {
		if (count == max) {
			*ret_problem =
				"has too many cells; take out what is not needed";
			return count;
		}
		cells[count] = next_cell(&line, separator);
		if (!cells[count]) {
			*ret_problem = "has a wrong quote; a quoted cell starts and "
				       "ends with '\"'";
			return count;
		}
		count++;
	}
	return count;
}
