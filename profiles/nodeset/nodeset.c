/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hostlists to names. Called by the loader for pools and by the command line for its
 * arguments. Invariant: an expansion never makes more than BU_NODESET_MAX names,
 * whatever the text says, and a text that is wrong makes none.
 */
#include "profiles/nodeset/nodeset.h"

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

struct range {
	long low, high, step;
	int width; /* 0 for numbers without padding */
};

/* "<low>", "<low>-<high>" or "<low>-<high>/<step>" at *text. */
static int
read_range(struct expansion *exp, const char **text, struct range *ret)
{
	const char *start = *text, *high = start;
	int low_digits = read_number(text, &ret->low), high_digits = low_digits;
	int step_digits = 1;

	ret->high = ret->low;
	ret->step = 1;
	if (low_digits > 0 && **text == '-') {
		high = ++*text;
		high_digits = read_number(text, &ret->high);
		if (high_digits > 0 && **text == '/') {
			(*text)++;
			step_digits = read_number(text, &ret->step);
		}
	}
	if (low_digits < 0 || high_digits < 0 || step_digits < 0 || ret->step == 0 ||
	    !strchr(",]", **text))
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  "'%s' does not hold a range where '%.20s' stands; "
				  "write [1-4,7] or [0-8/2], each number at most 9 "
				  "digits",
				  exp->pattern, start);
	ret->width = *start == '0' ? low_digits : 0;
	if (ret->high < ret->low)
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  "'%s' holds the inverted range %ld-%ld; write the "
				  "smaller number first",
				  exp->pattern, ret->low, ret->high);
	/* [01-5] and [1-05] could mean either padding. */
	if (high_digits < low_digits || (high_digits > low_digits && *high == '0'))
		return bu_err_set(
			exp->err, BU_ERR_INVAL, 0,
			"'%s' pads the two ends of a range differently; write "
			"[01-16] or [1-16]",
			exp->pattern);
	return 0;
}

/* One name for each number of the range. */
static int
emit_range(struct expansion *exp, size_t len, const struct range *range,
	   const char *rest, int brackets)
{
	for (long n = range->low; n <= range->high; n += range->step) {
		size_t room = sizeof(exp->name) - len;
		int wrote = snprintf(exp->name + len, room, "%0*ld", range->width, n);

		if ((size_t)wrote >= room)
			return bu_err_set(exp->err, BU_ERR_INVAL, 0,
					  "'%s' makes too long a name", exp->pattern);
		if (emit(exp, len + (size_t)wrote, rest, brackets) < 0)
			return -1;
	}
	return 0;
}

/* body points behind '['. */
static int
emit_bracket(struct expansion *exp, size_t len, const char *body, int brackets)
{
	const char *close = strchr(body, ']');
	struct range range;

	if (!close || brackets >= BRACKETS_MAX)
		return bu_err_set(exp->err, BU_ERR_INVAL, 0,
				  close ? "'%s' has too many brackets; at most 8"
					: "'%s' has a '[' without ']'",
				  exp->pattern);
	while (1) {
		if (read_range(exp, &body, &range) < 0 ||
		    emit_range(exp, len, &range, close + 1, brackets + 1) < 0)
			return -1;
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

/* One item up to the next of the operators outside of brackets; owned. Moves *text
 * behind it; *ret_op is the operator that ended it, '\0' at the end of the text. */
static char *
next_item(const char **text, const char *operators, char *ret_op)
{
	const char *start = *text + strspn(*text, " \t"), *end = start;

	for (int inside = 0; *end && (inside || !strchr(operators, *end)); end++)
		inside = *end == '[' || (inside && *end != ']');
	*ret_op = *end;
	*text = *end ? end + 1 : end;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return bu_xstrndup(start, (size_t)(end - start));
}

struct evaluation {
	const char *operators;
	bu_nodeset_group_fn group; /* NULL = groups are refused */
	void *arg;
};

static int
add_item(struct bu_nodeset *nodeset, const char *item, const struct evaluation *how,
	 struct bu_err *err)
{
	struct expansion exp = {.nodeset = nodeset, .pattern = item, .err = err};
	int is_query = how->operators[1] && strchr(item, '=') != NULL;

	if (!*item)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"has an empty item; write names with one comma between "
			"them");
	if (*item != '@' && !is_query)
		return emit(&exp, 0, item, 0);
	if (!how->group)
		return bu_err_set(err, BU_ERR_INVAL, 0, "'%s': %s cannot be named here",
				  item, is_query ? "states" : "pools");
	return how->group(item + !is_query, nodeset, how->arg, err);
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

static int
compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in the order of strcmp, for bsearch; owned, the names are not. */
static char **
sorted_names(const struct bu_nodeset *nodeset)
{
	char **names = bu_xcalloc(nodeset->count, sizeof(*names));

	if (nodeset->count)
		memcpy(names, nodeset->names, nodeset->count * sizeof(*names));
	qsort(names, nodeset->count, sizeof(*names), compare_texts);
	return names;
}

static void drop_repetitions(struct bu_nodeset *nodeset, const char **ret_twice);

/* Of the names of left those that are in right ('&') or not in it; the `more` names
 * behind them stay. The number of names that are left. */
static size_t
keep(struct bu_nodeset *left, char op, char **right, size_t right_count, size_t more)
{
	size_t kept = 0;

	for (size_t i = 0; i < left->count; i++) {
		int found = bsearch(&left->names[i], right, right_count, sizeof(*right),
				    compare_texts) != NULL;

		if (found == (op == '&'))
			left->names[kept++] = left->names[i];
		else
			free(left->names[i]);
	}
	if (more)
		memmove(left->names + kept, left->names + left->count,
			more * sizeof(*left->names));
	return kept + more;
}

/* left becomes left op right, op one of '!', '&', '^'; right is used up. */
static void
combine(struct bu_nodeset *left, char op, struct bu_nodeset *right)
{
	size_t kept = 0, cap = left->cap;
	char **old, **new;

	drop_repetitions(left, NULL);
	drop_repetitions(right, NULL);
	old = sorted_names(left);
	new = sorted_names(right);
	for (size_t i = 0; op == '^' && i < right->count; i++) {
		if (bsearch(&right->names[i], old, left->count, sizeof(*old),
			    compare_texts))
			continue;
		left->names = bu_xgrow(left->names, &cap, left->count + kept + 1,
				       sizeof(*left->names));
		left->names[left->count + kept++] = bu_steal(&right->names[i]);
	}
	left->cap = cap;
	left->count = keep(left, op, new, right->count, kept);
	free(old);
	free(new);
}

static struct bu_nodeset *
expand(const char *text, const struct evaluation *how, struct bu_err *err)
{
	struct bu_nodeset *nodeset = bu_nodeset_create();
	char op = ',', next;

	do {
		bu_autofree char *item = next_item(&text, how->operators, &next);
		struct bu_nodeset *right = op == ',' ? nodeset : bu_nodeset_create();
		int rc = add_item(right, item, how, err);

		if (right != nodeset && rc == 0)
			combine(nodeset, op, right);
		if (right != nodeset)
			bu_nodeset_destroy(right);
		if (rc < 0) {
			bu_nodeset_destroy(nodeset);
			return NULL;
		}
		op = next;
	} while (op);
	return nodeset;
}

struct bu_nodeset *
bu_nodeset_expand(const char *text, struct bu_err *err)
{
	const struct evaluation how = {.operators = ","};

	return *text ? expand(text, &how, err)
		     : (bu_err_set(err, BU_ERR_INVAL, 0, "is empty"), NULL);
}

/* Drops later repetitions; with ret_twice only finds one (borrowed) and drops none. */
static void
drop_repetitions(struct bu_nodeset *nodeset, const char **ret_twice)
{
	struct slot *slots = bu_xcalloc(nodeset->count, sizeof(*slots));
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
			return bu_err_set(
				err, BU_ERR_INVAL, 0,
				"'%.80s' is not a node name; a name has 1 to 63 "
				"lower-case letters, digits and '-'",
				nodeset->names[i]);
	return 0;
}

struct bu_nodeset *
bu_nodeset_parse(const char *text, bu_nodeset_group_fn group, void *arg,
		 struct bu_err *err)
{
	const struct evaluation how = {",!&^", group, arg};
	struct bu_nodeset *nodeset;

	if (!*text) {
		bu_err_set(err, BU_ERR_INVAL, 0, "names no node; write gpu[001-128]");
		return NULL;
	}
	nodeset = expand(text, &how, err);
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
	const struct evaluation how = {",!&^", NULL, NULL};
	struct bu_nodeset *nodeset = expand(text, &how, err);
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
