/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostlists to names. Called by the loader for pools and by the command line for its
 * arguments. Invariant: an expansion never makes more than BU_NODESET_MAX names,
 * whatever the text says, and a text that is wrong makes none.
 */
#include "profiles/nodeset.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { BRACKETS_MAX = 8, DIGITS_MAX = 9, TEXT_MAX = 255 };

/* One pattern while it is being expanded, a bracket at a time. */
struct expansion {
	struct bu_nodeset *nodeset;
	const char *pattern; /* for messages */
	char name[TEXT_MAX + 1];
	struct bu_err *err;
};

struct bu_nodeset *
bu_nodeset_create(void)
{
	return bu_xcalloc(1, sizeof(struct bu_nodeset));
}

void
bu_nodeset_destroy(struct bu_nodeset *nodeset)
{
	if (!nodeset)
		return;
	for (size_t i = 0; i < nodeset->count; i++)
		free(nodeset->names[i]);
	free(nodeset->names);
	free(nodeset);
}

int
bu_nodeset_add(struct bu_nodeset *nodeset, const char *name, struct bu_err *err)
{
	if (nodeset->count >= BU_NODESET_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "makes more than %d names; write smaller ranges",
				  BU_NODESET_MAX);
	nodeset->names = bu_xgrow(nodeset->names, &nodeset->cap, nodeset->count + 1,
				  sizeof(*nodeset->names));
	nodeset->names[nodeset->count++] = bu_xstrdup(name);
	return 0;
}

int
bu_node_name_ok(const char *name)
{
	size_t len = strlen(name);

	if (len == 0 || len > BU_NODE_NAME_MAX || name[0] == '-' ||
	    name[len - 1] == '-')
		return 0;
	return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static int emit(struct expansion *exp, size_t len, const char *rest, int brackets);

/* Digits at *text; their count, or -1 when there are none or too many. */
static int
read_number(const char **text, long *ret_value)
{
	int digits = 0;

	for (*ret_value = 0; isdigit((unsigned char)**text); (*text)++) {
		if (++digits > DIGITS_MAX)
			return -1;
		*ret_value = *ret_value * 10 + (**text - '0');
	}
	return digits ? digits : -1;
}

/* "<low>" or "<low>-<high>" at *text; width is 0 for numbers without padding. */
static int
read_range(struct expansion *exp, const char **text, long *ret_low, long *ret_high,
	   int *ret_width)
{
	const char *start = *text;
	int low_digits = read_number(text, ret_low), high_digits = low_digits;

	*ret_high = *ret_low;
	if (low_digits > 0 && **text == '-') {
		(*text)++;
		high_digits = read_number(text, ret_high);
	}
	if (low_digits < 0 || high_digits < 0 || !strchr(",]", **text))
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  "'%s' does not hold a range where '%.20s' stands; "
				  "write [1-4,7], each number at most 9 digits",
				  exp->pattern, start);
	*ret_width = *start == '0' ? low_digits : 0;
	if (*ret_high < *ret_low)
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  "'%s' holds the inverted range %ld-%ld; write the "
				  "smaller number first",
				  exp->pattern, *ret_low, *ret_high);
	/* [01-5] and [1-05] could mean either padding. */
	if (high_digits < low_digits ||
	    (high_digits > low_digits && (*text)[-high_digits] == '0'))
		return bu_err_set(
			exp->err, BU_ERR_INVAL, 0,
			"'%s' pads the two ends of a range differently; write "
			"[01-16] or [1-16]",
			exp->pattern);
	return 0;
}

/* body points behind '['. */
static int
emit_bracket(struct expansion *exp, size_t len, const char *body, int brackets)
{
	const char *close = strchr(body, ']');
	long low, high;
	int width = 0;

	if (!close || brackets >= BRACKETS_MAX)
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  close ? "'%s' has too many brackets; at most 8"
					: "'%s' has a '[' without ']'",
				  exp->pattern);
	while (1) {
		if (read_range(exp, &body, &low, &high, &width) < 0)
			return -1;
		for (long n = low; n <= high; n++) {
			size_t room = sizeof(exp->name) - len;
			int wrote = snprintf(exp->name + len, room, "%0*ld", width, n);

			if ((size_t)wrote >= room)
				return bu_err_set(exp->err, BU_ERR_INVAL, 0,
						  "'%s' makes too long a name",
						  exp->pattern);
			if (emit(exp, len + (size_t)wrote, close + 1, brackets + 1) < 0)
				return -1;
		}
		if (*body == ']')
			return 0;
		body++;
	}
}

/* name[0..len) is settled; rest is what of the pattern comes after it. */
static int
emit(struct expansion *exp, size_t len, const char *rest, int brackets)
{
	size_t plain = strcspn(rest, "[]");

	if (rest[plain] == ']')
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  "'%s' has a ']' without '['", exp->pattern);
	if (len + plain >= sizeof(exp->name))
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  "'%s' makes too long a name", exp->pattern);
	memcpy(exp->name + len, rest, plain);
	exp->name[len + plain] = '\0';
	if (rest[plain] == '[')
		return emit_bracket(exp, len + plain, rest + plain + 1, brackets);
	return bu_nodeset_add(exp->nodeset, exp->name, exp->err);
}

/* One item between commas; owned. Moves *text behind it and its comma. */
static char *
next_item(const char **text)
{
	const char *start = *text + strspn(*text, " \t"), *end = start;
	char *item;

	for (int inside = 0; *end && (inside || *end != ','); end++)
		inside = *end == '[' || (inside && *end != ']');
	*text = *end ? end + 1 : end;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	item = bu_xstrndup(start, (size_t)(end - start));
	return item;
}

static int
add_item(struct bu_nodeset *nodeset, const char *item, bu_nodeset_group_fn group,
	 void *arg, struct bu_err *err)
{
	struct expansion exp = {.nodeset = nodeset, .pattern = item, .err = err};

	if (!*item)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"has an empty item; write names with one comma between "
			"them");
	if (*item != '@')
		return emit(&exp, 0, item, 0);
	if (!group)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%s': pools cannot be named here", item);
	return group(item + 1, nodeset, arg, err);
}

static struct bu_nodeset *
expand(const char *text, bu_nodeset_group_fn group, void *arg, struct bu_err *err)
{
	struct bu_nodeset *nodeset = bu_nodeset_create();
	int more = 1;

	while (more) {
		bu_autofree char *item = next_item(&text);

		if (add_item(nodeset, item, group, arg, err) < 0) {
			bu_nodeset_destroy(nodeset);
			return NULL;
		}
		/* A comma at the very end leaves an empty item behind it. */
		more = *text || text[-1] == ',';
	}
	return nodeset;
}

struct bu_nodeset *
bu_nodeset_expand(const char *text, struct bu_err *err)
{
	return *text ? expand(text, NULL, NULL, err)
		     : (bu_err_set(err, BU_ERR_INVAL, 0, "is empty"), NULL);
}

struct slot {
	const char *name;
	size_t pos;
};

static int
compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->pos > y->pos) - (x->pos < y->pos);
}

/* Drops later repetitions; with ret_twice only finds one (borrowed) and drops none. */
static void
drop_repetitions(struct bu_nodeset *nodeset, const char **ret_twice)
{
	struct slot *slots = bu_xcalloc(nodeset->count + 1, sizeof(*slots));
	size_t kept = 0;

	for (size_t i = 0; i < nodeset->count; i++)
		slots[i] = (struct slot){.name = nodeset->names[i], .pos = i};
	qsort(slots, nodeset->count, sizeof(*slots), compare_slots);
	for (size_t i = 1; i < nodeset->count; i++) {
		if (strcmp(slots[i].name, slots[i - 1].name) != 0)
			continue;
		if (ret_twice) {
			*ret_twice = slots[i].name;
			break;
		}
		/* The earlier name may be compared again: free the later one last. */
		nodeset->names[slots[i].pos] = NULL;
	}
	for (size_t i = 1; i < nodeset->count && !ret_twice; i++)
		if (!nodeset->names[slots[i].pos])
			free((char *)slots[i].name);
	for (size_t i = 0; i < nodeset->count && !ret_twice; i++)
		if (nodeset->names[i])
			nodeset->names[kept++] = nodeset->names[i];
	if (!ret_twice)
		nodeset->count = kept;
	free(slots);
}

static int
names_ok(const struct bu_nodeset *nodeset, struct bu_err *err)
{
	for (size_t i = 0; i < nodeset->count; i++)
		if (!bu_node_name_ok(nodeset->names[i]))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%.80s' is no node name; a name has 1 to 63 "
					  "lower-case letters, digits and '-'",
					  nodeset->names[i]);
	return 0;
}

struct bu_nodeset *
bu_nodeset_parse(const char *text, bu_nodeset_group_fn group, void *arg,
		 struct bu_err *err)
{
	struct bu_nodeset *nodeset;

	if (!*text) {
		bu_err_set(err, BU_ERR_INVAL, 0, "is empty; write gpu[001-128]");
		return NULL;
	}
	nodeset = expand(text, group, arg, err);
	if (nodeset && names_ok(nodeset, err) < 0) {
		bu_nodeset_destroy(nodeset);
		return NULL;
	}
	if (nodeset)
		drop_repetitions(nodeset, NULL);
	return nodeset;
}

struct bu_nodeset *
bu_nodeset_parse_unique(const char *text, struct bu_err *err)
{
	struct bu_nodeset *nodeset = bu_nodeset_expand(text, err);
	const char *twice = NULL;

	if (!nodeset)
		return NULL;
	if (names_ok(nodeset, err) < 0) {
		bu_nodeset_destroy(nodeset);
		return NULL;
	}
	drop_repetitions(nodeset, &twice);
	if (twice) {
		bu_err_set(err, BU_ERR_INVAL, 0, "names '%s' twice", twice);
		bu_nodeset_destroy(nodeset);
		return NULL;
	}
	return nodeset;
}

int
bu_nodeset_has(const struct bu_nodeset *nodeset, const char *name)
{
	for (size_t i = 0; i < nodeset->count; i++)
		if (strcmp(nodeset->names[i], name) == 0)
			return 1;
	return 0;
}
