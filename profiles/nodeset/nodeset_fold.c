/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names to hostlists, and the order in which people expect them. Called wherever nodes
 * are printed. Invariant: expanding what was folded gives the same set of names.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profiles/nodeset/nodeset.h"

enum { DIGITS_MAX = 9 }; /* as the expansion accepts */

/* A name cut at its last number. */
struct cut {
	const char *name;
	size_t prefix; /* bytes before the number */
	size_t digits; /* 0 = there is no number */
	long value;
};

static struct cut
cut_name(const char *name)
{
	struct cut cut = {.name = name, .prefix = strlen(name)};
	size_t end = strlen(name), start;

	while (end > 0 && !isdigit((unsigned char)name[end - 1]))
		end--;
	for (start = end; start > 0 && isdigit((unsigned char)name[start - 1]);)
		start--;
	if (end == 0 || end - start > DIGITS_MAX)
		return cut;
	cut.prefix = start;
	cut.digits = end - start;
	for (size_t i = start; i < end; i++)
		cut.value = cut.value * 10 + (name[i] - '0');
	return cut;
}

static const char *
suffix(const struct cut *cut)
{
	return cut->name + cut->prefix + cut->digits;
}

static size_t
digits_at(const char *text, size_t size)
{
	size_t len = 0;

	while (len < size && isdigit((unsigned char)text[len]))
		len++;
	return len;
}

/* Numbers compare by length, then by value: rack2 comes before rack10. What both begin
 * with is looked at once, or long numbers would take quadratic time. */
static int
compare_natural(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t least = a_size < b_size ? a_size : b_size, i = 0, x, y;

	while (i < least && a[i] == b[i])
		i++;
	if (i == least)
		return (a_size > b_size) - (a_size < b_size);
	while (i > 0 && isdigit((unsigned char)a[i - 1]))
		i--; /* where the number begins in which they differ */
	x = digits_at(a + i, a_size - i);
	y = digits_at(b + i, b_size - i);
	if (x && y && x != y)
		return x < y ? -1 : 1;
	return memcmp(a + i, b + i, least - i);
}

static int
compare_cuts(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;
	int order = compare_natural(x->name, x->prefix, y->name, y->prefix);

	if (order == 0)
		order = strcmp(suffix(x), suffix(y));
	if (order == 0)
		order = (x->digits > y->digits) - (x->digits < y->digits);
	return order ? order : (x->value > y->value) - (x->value < y->value);
}

static struct cut *
sorted_cuts(const char *const *names, size_t count)
{
	struct cut *cuts = bu_xcalloc(count, sizeof(*cuts));

	for (size_t i = 0; i < count; i++)
		cuts[i] = cut_name(names[i]);
	qsort(cuts, count, sizeof(*cuts), compare_cuts);
	return cuts;
}

void
bu_nodeset_sort(struct bu_nodeset *nodeset)
{
	struct cut *cuts =
		sorted_cuts((const char *const *)nodeset->names, nodeset->count);
	size_t kept = 0;

	for (size_t i = 0; i < nodeset->count; i++) {
		if (kept && strcmp(nodeset->names[kept - 1], cuts[i].name) == 0)
			free((char *)cuts[i].name);
		else
			nodeset->names[kept++] = (char *)cuts[i].name;
	}
	nodeset->count = kept;
	free(cuts);
}

static int
same_series(const struct cut *x, const struct cut *y)
{
	return x->digits && y->digits && x->prefix == y->prefix &&
	       strncmp(x->name, y->name, x->prefix) == 0 &&
	       strcmp(suffix(x), suffix(y)) == 0;
}

/* 09 and 10 follow each other, 9 and 10 too, 9 and 010 do not. */
static int
follows(const struct cut *x, const struct cut *y)
{
	return y->value == x->value + 1 &&
	       (x->digits == y->digits || y->name[y->prefix] != '0');
}

static void
print_number(FILE *out, const struct cut *cut)
{
	fprintf(out, "%.*s", (int)cut->digits, cut->name + cut->prefix);
}

/* cuts[0..count) are one series. */
static void
print_series(FILE *out, const struct cut *cuts, size_t count)
{
	if (count == 1) {
		fputs(cuts[0].name, out);
		return;
	}
	fprintf(out, "%.*s[", (int)cuts[0].prefix, cuts[0].name);
	for (size_t i = 0; i < count;) {
		size_t last = i;

		while (last + 1 < count && follows(&cuts[last], &cuts[last + 1]))
			last++;
		if (i)
			fputc(',', out);
		print_number(out, &cuts[i]);
		if (last > i) {
			fputc('-', out);
			print_number(out, &cuts[last]);
		}
		i = last + 1;
	}
	fprintf(out, "]%s", suffix(&cuts[0]));
}

char *
bu_nodeset_fold(const char *const *names, size_t count)
{
	struct cut *cuts = sorted_cuts(names, count);
	char *text = NULL;
	size_t size = 0, kept = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort(); /* only for want of memory */
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(cuts[kept - 1].name, cuts[i].name) != 0)
			cuts[kept++] = cuts[i];
	for (size_t i = 0; i < kept;) {
		size_t end = i + 1;

		while (end < kept && same_series(&cuts[i], &cuts[end]))
			end++;
		if (i)
			fputc(',', out);
		print_series(out, cuts + i, end - i);
		i = end;
	}
	fclose(out);
	free(cuts);
	return text;
}
