/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maintenance windows. Called by the loader (form) and before anything that disturbs a
 * node (open). Invariant: what has the right form can be asked, what has not is never
 * open.
 */
#include "profiles/language/window.h"

#include <ctype.h>
#include <string.h>

enum { DAY_MIN = 24 * 60 };

struct span {
	int first_day, last_day; /* 0 = Monday; last may be less: over the weekend */
	int from_min, to_min;    /* of the day */
};

static int
read_day(const char **text)
{
	static const char names[] = "montuewedthufrisatsun";

	for (int i = 0; i < 7; i++)
		if (strncmp(*text, names + 3 * i, 3) == 0) {
			*text += 3;
			return i;
		}
	return -1;
}

/* "HH:MM" to minutes; 24:00 is the end of the day. */
static int
read_time(const char **text)
{
	const char *p = *text;
	int hour, minute;

	for (int i = 0; i < 5; i++)
		if (i == 2 ? p[i] != ':' : !isdigit((unsigned char)p[i]))
			return -1;
	hour = (p[0] - '0') * 10 + p[1] - '0';
	minute = (p[3] - '0') * 10 + p[4] - '0';
	*text += 5;
	if (minute > 59 || hour > 24 || (hour == 24 && minute))
		return -1;
	return hour * 60 + minute;
}

/* The next span; 1 at the end, -1 when the form is wrong. */
static int
next_span(const char **text, struct span *ret)
{
	const char *p = *text;

	if (!*p)
		return 1;
	ret->first_day = ret->last_day = read_day(&p);
	if (*p == '-') {
		p++;
		ret->last_day = read_day(&p);
	}
	if (ret->first_day < 0 || ret->last_day < 0 || *p++ != ' ')
		return -1;
	ret->from_min = read_time(&p);
	if (ret->from_min < 0 || ret->from_min == DAY_MIN || *p++ != '-')
		return -1;
	ret->to_min = read_time(&p);
	if (ret->to_min <= 0 || ret->to_min == ret->from_min)
		return -1;
	if (*p == ',') {
		p++;
		p += strspn(p, " ");
		if (!*p)
			return -1;
	} else if (*p) {
		return -1;
	}
	*text = p;
	return 0;
}

int
bu_window_form_ok(const char *text)
{
	struct span span;
	int spans = 0, rc;

	while ((rc = next_span(&text, &span)) == 0)
		spans++;
	return rc == 1 && spans > 0;
}

static int
has_day(const struct span *span, int day)
{
	if (span->first_day <= span->last_day)
		return day >= span->first_day && day <= span->last_day;
	return day >= span->first_day || day <= span->last_day;
}

static int
is_open(const struct span *span, int day, int minute)
{
	if (span->from_min < span->to_min)
		return has_day(span, day) && minute >= span->from_min &&
		       minute < span->to_min;
	return (has_day(span, day) && minute >= span->from_min) ||
	       (has_day(span, (day + 6) % 7) && minute < span->to_min);
}

int
bu_window_open(const char *text, int64_t unix_s)
{
	/* The first of January 1970 was a Thursday. */
	int day = (int)((unix_s / 86400 + 3) % 7);
	int minute = (int)(unix_s % 86400 / 60);
	struct span span;

	if (!text)
		return 1;
	while (next_span(&text, &span) == 0)
		if (is_open(&span, day, minute))
			return 1;
	return 0;
}
