/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the check reports of machines that should be alike. Called by the gate.
 * Invariants: no machine is odd in a group of fewer than three, or without a majority
 * of more than half; a machine without a report is not judged.
 */
#include "fabric/judge/cohort.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "model/result.h"

enum { LEAST = 3 };
/* Shares of the median of similar machines: below odd_share the row warns, below
 * bad_share it fails. */
static const double odd_share = 0.9, bad_share = 0.8;

struct cohort {
	const struct bu_cohort_node *nodes;
	size_t count;
	const char *only; /* the only node with findings; NULL = every node */
	void (*found)(const char *node, const struct bu_check *row, void *arg);
	void *arg;
};

/* A finding, without its text. */
struct finding {
	const char *id;
	enum bu_verdict verdict;
	const char *expected, *hint;
};

/* Are findings about this node wanted? */
static int
is_asked(const struct cohort *c, const char *node)
{
	return !c->only || strcmp(c->only, node) == 0;
}

static void tell(const struct cohort *c, const char *node, const struct bu_check *about,
		 const struct finding *finding, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
static void
tell(const struct cohort *c, const char *node, const struct bu_check *about,
     const struct finding *finding, const char *fmt, ...)
{
	struct bu_check row = {.verdict = finding->verdict};
	bu_autofree char *text = NULL;
	va_list args;

	if (!is_asked(c, node))
		return;
	BU_CHECK_SET(row.id, "%s", finding->id);
	BU_CHECK_SET(row.group, "audit");
	BU_CHECK_SET(row.subject, "%s", about->subject);
	BU_CHECK_SET(row.seen, "%s", about->seen);
	BU_CHECK_SET(row.expected, "%s", finding->expected);
	BU_CHECK_SET(row.hint, "%s", finding->hint);
	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	BU_TEXT_COPY(row.text, text);
	c->found(node, &row, c->arg);
}

/* Checks whose passed rows have a value to compare. */
static const struct {
	const char *id, *what;
	int unique; /* 0: most machines must have the same value */
} rules[] = {
	{"identity", "host name", 1},    {BU_CHECK_GID, "address", 1},
	{"guid", "node GUID", 1},        {"ib-gid", "GID", 1},
	{"ib-pkey", "partitions", 0},    {"nic-firmware", "firmware", 0},
	{"gpu-driver", "GPU driver", 0}, {"gpu-vbios", "VBIOS", 0},
	{"gpu-model", "GPU model", 0},
};

static int
is_about(const struct bu_check *row, size_t rule)
{
	return strcmp(row->id, rules[rule].id) == 0 &&
	       row->verdict == BU_VERDICT_PASS && *row->seen;
}

/* Rates that are compared between similar machines. */
static const char *const figures[] = {"gpu-h2d", "gpu-d2h", "gpu-hbm", "gpu-p2p",
				      "gpu-p2p-all"};

static int
is_figure(const struct bu_check *row, size_t figure)
{
	return strcmp(row->id, figures[figure]) == 0 &&
	       row->verdict == BU_VERDICT_PASS && strtod(row->seen, NULL) > 0;
}

int
bu_cohort_compares(const struct bu_check *row)
{
	for (size_t figure = 0; figure < BU_LEN(figures); figure++)
		if (is_figure(row, figure))
			return 1;
	for (size_t rule = 0; rule < BU_LEN(rules); rule++)
		if (is_about(row, rule))
			return 1;
	/* A row of several places has no leaf to compare. */
	return (strcmp(row->id, BU_CHECK_LLDP) == 0 &&
		row->verdict == BU_VERDICT_PASS && !*row->value) ||
	       (strcmp(row->id, BU_CHECK_CABLING) == 0 &&
		row->verdict == BU_VERDICT_FAIL);
}

int
bu_cohort_is_unique(const char *id)
{
	for (size_t rule = 0; rule < BU_LEN(rules); rule++)
		if (rules[rule].unique && strcmp(rules[rule].id, id) == 0)
			return 1;
	return 0;
}

/* The values of the wanted nodes; NULL = all nodes are wanted. New reference. */
static json_t *
values_asked(const struct cohort *c, size_t rule)
{
	json_t *values = c->only ? json_object() : NULL;

	for (size_t i = 0; values && i < c->count; i++) {
		const struct bu_checks *checks = c->nodes[i].checks;

		for (size_t k = 0; is_asked(c, c->nodes[i].node) && k < checks->count;
		     k++)
			if (is_about(&checks->list[k], rule))
				json_object_set_new(values,
						    bu_check_value(&checks->list[k]),
						    json_true());
	}
	return values;
}

/* owner: value -> the first node with it. A second node with the value accuses both. */
static void
judge_unique(const struct cohort *c, size_t rule)
{
	static const struct finding twice = {"duplicate", BU_VERDICT_FAIL,
					     "another one",
					     "find out which of the two is wrong"};
	bu_autojson json_t *owner = json_object(), *asked = values_asked(c, rule);

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_checks *checks = c->nodes[i].checks;

		for (size_t k = 0; k < checks->count; k++) {
			const struct bu_check *row = &checks->list[k];
			const char *node = c->nodes[i].node, *other;
			const char *value = bu_check_value(row);

			if (!is_about(row, rule) ||
			    (asked && !json_object_get(asked, value)))
				continue;
			other = bu_json_str(owner, value, NULL);
			if (!other) {
				json_object_set_new(owner, value, json_string(node));
				continue;
			}
			if (strcmp(other, node) == 0)
				continue; /* the node's own checks tell it */
			tell(c, other, row, &twice, "%s and %s have the same %s: %s",
			     other, node, rules[rule].what, value);
			tell(c, node, row, &twice, "%s and %s have the same %s: %s",
			     node, other, rules[rule].what, value);
		}
	}
}

/* The value of more than half of at least LEAST rows; NULL = none. counts: by value. */
static const char *
majority(json_t *counts, int64_t *ret_many, int64_t *ret_all)
{
	const char *value, *best = NULL;
	json_t *number;

	*ret_many = *ret_all = 0;
	json_object_foreach (counts, value, number) {
		*ret_all += json_integer_value(number);
		if (json_integer_value(number) > *ret_many) {
			*ret_many = json_integer_value(number);
			best = value;
		}
	}
	return *ret_all >= LEAST && *ret_many * 2 > *ret_all ? best : NULL;
}

static json_t *
counts_of(json_t *groups, const char *key)
{
	json_t *counts = json_object_get(groups, key);

	if (!counts) {
		counts = json_object();
		json_object_set_new(groups, key, counts);
	}
	return counts;
}

static void
judge_equal(const struct cohort *c, size_t rule)
{
	bu_autojson json_t *groups = json_object(); /* subject -> counts */

	for (int telling = 0; telling < 2; telling++) {
		for (size_t i = 0; i < c->count; i++) {
			const struct bu_checks *checks = c->nodes[i].checks;

			if (telling && !is_asked(c, c->nodes[i].node))
				continue;
			for (size_t k = 0; k < checks->count; k++) {
				const struct bu_check *row = &checks->list[k];
				json_t *counts;
				const char *most;
				int64_t many, all;

				if (!is_about(row, rule))
					continue;
				counts = counts_of(groups, row->subject);
				if (!telling) {
					bu_json_count_up(counts, row->seen);
					continue;
				}
				most = majority(counts, &many, &all);
				if (!most || strcmp(most, row->seen) == 0)
					continue;
				tell(c, c->nodes[i].node, row,
				     &(struct finding){
					     "cohort-odd", BU_VERDICT_WARN, most,
					     "make it like the others, or say in the profile "
					     "what is right"},
				     "%s%s%s is %s, that of %lld of %lld machines like "
				     "it %s",
				     rules[rule].what, *row->subject ? " of " : "",
				     row->subject, row->seen, (long long)many,
				     (long long)all, most);
			}
		}
	}
}

/* GPUs are compared with those of the same place and expected rate: a slot with fewer
 * lanes expects less. Owned. */
static char *
figure_key(const struct bu_check *row)
{
	return bu_xasprintf("%s, %s", row->subject, row->expected);
}

/* figure_key() -> [figures] of all machines. */
static json_t *
figures_of(const struct cohort *c, size_t figure)
{
	json_t *groups = json_object();

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_checks *checks = c->nodes[i].checks;

		for (size_t k = 0; k < checks->count; k++) {
			const struct bu_check *row = &checks->list[k];
			bu_autofree char *key = figure_key(row);
			json_t *list = json_object_get(groups, key);

			if (!is_figure(row, figure))
				continue;
			if (!list) {
				list = json_array();
				json_object_set_new(groups, key, list);
			}
			json_array_append_new(list, json_real(strtod(row->seen, NULL)));
		}
	}
	return groups;
}

static double
median_of(const json_t *list)
{
	size_t count = json_array_size(list), i;
	bu_autofree double *values = bu_xcalloc(count, sizeof(*values));
	json_t *value;

	json_array_foreach (list, i, value)
		values[i] = json_number_value(value);
	return count < LEAST ? 0 : bu_quantile(values, (int)count, 0.5);
}

/* Healthy machines of one kind differ by 5 to 8 %: cuda-samples#449. */
static void
judge_figure(const struct cohort *c, size_t figure)
{
	bu_autojson json_t *groups = figures_of(c, figure);

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_checks *checks = c->nodes[i].checks;

		for (size_t k = 0; is_asked(c, c->nodes[i].node) && k < checks->count;
		     k++) {
			const struct bu_check *row = &checks->list[k];
			bu_autofree char *key = figure_key(row);
			double median, seen = strtod(row->seen, NULL);
			char expected[64];

			if (!is_figure(row, figure))
				continue;
			median = median_of(json_object_get(groups, key));
			if (median <= 0 || seen >= odd_share * median)
				continue;
			snprintf(expected, sizeof(expected), "about %.1f GB/s", median);
			tell(c, c->nodes[i].node, row,
			     &(struct finding){
				     row->id,
				     seen < bad_share * median ? BU_VERDICT_FAIL
							       : BU_VERDICT_WARN,
				     expected,
				     "compare it with a machine like it: slot, cooling, "
				     "power limit"},
			     "%s: %s is %s; machines like it reach %.1f GB/s",
			     row->subject, row->id, row->seen, median);
		}
	}
}

/* --- cables --- */

size_t
bu_cohort_switch_length(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon ? (size_t)(colon - text) : strlen(text);
}

int
bu_cohort_port_fits(const char *seen, const char *expected)
{
	size_t have = bu_cohort_switch_length(seen),
	       want = bu_cohort_switch_length(expected);
	size_t label = strcspn(seen, ".:");

	if (want == 0 || (have != want && label != want) ||
	    strncasecmp(seen, expected, want) != 0)
		return 0;
	return !expected[want] || strcasecmp(seen + have, expected + want) == 0;
}

static int
is_wrong_cable(const struct bu_check *row)
{
	return strcmp(row->id, BU_CHECK_CABLING) == 0 &&
	       row->verdict == BU_VERDICT_FAIL;
}

/* places: "leaf01:swp3, leaf02:swp3" of a bond. One match is enough. */
static int
is_cabled_to(const char *places, const char *expected)
{
	bu_autofree char *copy = bu_xstrdup(places);
	char *save, *place;

	for (place = strtok_r(copy, ",", &save); place;
	     place = strtok_r(NULL, ",", &save))
		if (bu_cohort_port_fits(place + strspn(place, " "), expected))
			return 1;
	return 0;
}

static void
judge_swap(const struct cohort *c, size_t i, const struct bu_check *mine, size_t k,
	   const struct bu_check *other)
{
	if (!is_wrong_cable(other) || !is_cabled_to(mine->seen, other->expected) ||
	    !is_cabled_to(other->seen, mine->expected))
		return;
	tell(c, c->nodes[i].node, mine,
	     &(struct finding){BU_CHECK_CABLING, BU_VERDICT_FAIL, mine->expected,
			       "exchange the two cables at the switch"},
	     "the cables of %s %s and %s %s are swapped: %s is cabled to %s, %s to %s",
	     c->nodes[i].node, mine->subject, c->nodes[k].node, other->subject,
	     c->nodes[i].node, mine->seen, c->nodes[k].node, other->seen);
}

static void
judge_swaps(const struct cohort *c)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct bu_checks *a = c->nodes[i].checks;

		for (size_t x = 0; is_asked(c, c->nodes[i].node) && x < a->count; x++) {
			if (!is_wrong_cable(&a->list[x]))
				continue;
			for (size_t k = 0; k < c->count; k++) {
				const struct bu_checks *b = c->nodes[k].checks;

				for (size_t y = 0; k != i && y < b->count; y++)
					judge_swap(c, i, &a->list[x], k, &b->list[y]);
			}
		}
	}
}

/* The LLDP row of an interface; NULL subject: the first. A row of several places (a
 * bond at two switches) has no leaf to compare. */
static const struct bu_check *
heard(const struct bu_checks *checks, const char *subject)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, BU_CHECK_LLDP) == 0 &&
		    checks->list[i].verdict == BU_VERDICT_PASS &&
		    !*checks->list[i].value &&
		    (!subject || strcmp(checks->list[i].subject, subject) == 0))
			return &checks->list[i];
	return NULL;
}

/* Nodes whose first rails share a leaf must share one on each other rail, too. */
static void
judge_rails(const struct cohort *c)
{
	bu_autojson json_t *groups =
		json_object(); /* first leaf, interface -> counts */

	for (int telling = 0; telling < 2; telling++) {
		for (size_t i = 0; i < c->count; i++) {
			const struct bu_checks *checks = c->nodes[i].checks;
			const struct bu_check *first = heard(checks, NULL);

			if (telling && !is_asked(c, c->nodes[i].node))
				continue;
			for (size_t k = 0; first && k < checks->count; k++) {
				const struct bu_check *row = &checks->list[k];
				bu_autofree char *key = NULL, *leaf = NULL;
				const char *most;
				int64_t many, all;

				if (row == first || strcmp(row->id, first->id) != 0 ||
				    heard(checks, row->subject) != row)
					continue;
				key = bu_xasprintf(
					"%.*s %s",
					(int)bu_cohort_switch_length(first->seen),
					first->seen, row->subject);
				leaf = bu_xstrndup(row->seen,
						   bu_cohort_switch_length(row->seen));
				if (!telling) {
					bu_json_count_up(counts_of(groups, key), leaf);
					continue;
				}
				most = majority(counts_of(groups, key), &many, &all);
				if (!most || strcmp(most, leaf) == 0)
					continue;
				tell(c, c->nodes[i].node, row,
				     &(struct finding){
					     BU_CHECK_CABLING, BU_VERDICT_FAIL, most,
					     "compare its cables with its neighbours'"},
				     "%s is cabled to %s, that of %lld of %lld "
				     "machines at %.*s is cabled to %s",
				     row->subject, leaf, (long long)many,
				     (long long)all,
				     (int)bu_cohort_switch_length(first->seen),
				     first->seen, most);
			}
		}
	}
}

void
bu_cohort_judge(const struct bu_cohort_node *nodes, size_t count, const char *only,
		void (*found)(const char *node, const struct bu_check *row, void *arg),
		void *arg)
{
	const struct cohort c = {nodes, count, only, found, arg};

	for (size_t rule = 0; rule < BU_LEN(rules); rule++) {
		if (rules[rule].unique)
			judge_unique(&c, rule);
		else
			judge_equal(&c, rule);
	}
	for (size_t figure = 0; figure < BU_LEN(figures); figure++)
		judge_figure(&c, figure);
	judge_swaps(&c);
	judge_rails(&c);
}
