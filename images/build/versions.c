/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two orders of versions; scan.c calls them. Invariant: numbers of any length are
 * compared as numbers (no overflow), and every text has a place in the order.
 */
#include "images/build/versions.h"

#include <string.h>

static int
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int
sign(long value)
{
	return (value > 0) - (value < 0);
}

/* Two numbers at *a and *b, which are left behind. */
static int
compare_numbers(const char **a, const char **b)
{
	const char *x = *a + strspn(*a, "0"), *y = *b + strspn(*b, "0");
	size_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");

	*a = x + m;
	*b = y + n;
	return m != n ? (m > n) - (m < n) : sign(strncmp(x, y, m));
}

/* A text without a number before ':' has epoch 0. */
static int
compare_epochs(const char **a, const char **b)
{
	const char *zero = "0";
	size_t m = strspn(*a, "0123456789"), n = strspn(*b, "0123456789");
	const char *x = (*a)[m] == ':' ? *a : zero, *y = (*b)[n] == ':' ? *b : zero;

	*a += x == *a ? m + 1 : 0;
	*b += y == *b ? n + 1 : 0;
	return compare_numbers(&x, &y);
}

/* --- dpkg --- */

/* '~' is before the end, letters are before all else. */
static int
rank(char c)
{
	if (c == '~')
		return -1;
	if (!c || is_digit(c))
		return 0;
	return is_alpha(c) ? (unsigned char)c : (unsigned char)c + 256;
}

/* Both end at `end` bytes of their text: upstream version or revision. */
static int
compare_part(const char *a, const char *a_end, const char *b, const char *b_end)
{
	while (a < a_end || b < b_end) {
		int order;

		while ((a < a_end && !is_digit(*a)) || (b < b_end && !is_digit(*b))) {
			int x = a < a_end ? rank(*a) : 0, y = b < b_end ? rank(*b) : 0;

			if (x != y)
				return x < y ? -1 : 1;
			a += a < a_end;
			b += b < b_end;
		}
		/* Digits end at the part's end: what follows it is none of them. */
		order = compare_numbers(&a, &b);
		if (order)
			return order;
	}
	return 0;
}

static const char *
revision_of(const char *version)
{
	const char *dash = strrchr(version, '-');

	return dash ? dash : version + strlen(version);
}

int
bu_deb_compare(const char *a, const char *b)
{
	int order = compare_epochs(&a, &b);
	const char *x = revision_of(a), *y = revision_of(b);

	if (!order)
		order = compare_part(a, x, b, y);
	if (order)
		return order;
	x += *x == '-';
	y += *y == '-';
	return compare_part(x, x + strlen(x), y, y + strlen(y));
}

/* --- rpm --- */

static const char *
skip_separators(const char *text)
{
	while (*text && !is_digit(*text) && !is_alpha(*text) && *text != '~' &&
	       *text != '^')
		text++;
	return text;
}

/* -1 and 1 decide; 0: both had it and are behind it; 2: neither has one. '~' is before
 * the end, '^' behind it and before anything else. */
static int
compare_marks(const char **a, const char **b)
{
	if (**a == '~' || **b == '~') {
		if (**a != **b)
			return **a == '~' ? -1 : 1;
	} else if (**a == '^' || **b == '^') {
		if (!**a || !**b)
			return **a ? 1 : -1;
		if (**a != **b)
			return **a == '^' ? -1 : 1;
	} else {
		return 2;
	}
	(*a)++;
	(*b)++;
	return 0;
}

static size_t
alpha_span(const char *text)
{
	size_t size = 0;

	while (is_alpha(text[size]))
		size++;
	return size;
}

/* A number is newer than a word. */
static int
compare_segments(const char **a, const char **b)
{
	size_t m, n;
	int order;

	if (is_digit(**a) != is_digit(**b))
		return is_digit(**a) ? 1 : -1;
	if (is_digit(**a))
		return compare_numbers(a, b);
	m = alpha_span(*a);
	n = alpha_span(*b);
	order = sign(strncmp(*a, *b, m < n ? m : n));
	*a += m;
	*b += n;
	return order ? order : (m > n) - (m < n);
}

/* The texts up to their ends; they are changed by nobody. */
static int
compare_rpm_part(const char *a, const char *b)
{
	while (*a || *b) {
		int order;

		a = skip_separators(a);
		b = skip_separators(b);
		order = compare_marks(&a, &b);
		if (order == 0)
			continue;
		if (order != 2)
			return order;
		if (!*a || !*b)
			break;
		order = compare_segments(&a, &b);
		if (order)
			return order;
	}
	return (*a != 0) - (*b != 0);
}

/* The part before the last '-', which ret has room for; the release follows it. */
static const char *
split_rpm(const char *text, char *ret, size_t size)
{
	const char *dash = strrchr(text, '-');
	size_t length = dash ? (size_t)(dash - text) : strlen(text);

	if (length >= size)
		length = size - 1;
	memcpy(ret, text, length);
	ret[length] = '\0';
	return dash ? dash + 1 : NULL;
}

int
bu_rpm_compare(const char *a, const char *b)
{
	char x[256], y[256];
	int order = compare_epochs(&a, &b);
	const char *m = split_rpm(a, x, sizeof(x)), *n = split_rpm(b, y, sizeof(y));

	if (!order)
		order = compare_rpm_part(x, y);
	if (order)
		return order;
	return m && n ? compare_rpm_part(m, n) : (m != NULL) - (n != NULL);
}
