/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands after the second test, and the words for it; for accuse.c and
 * accuse_links.c. Changes nothing but the report.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/judge/accuse_impl.h"
#include "fabric/judge/expect.h"

int
bu_view_stands(const struct campaign *c, int part)
{
	int bits = 0;

	for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
		int place = c->suspect_of[part * BU_SYMPTOMS_COUNT + s];

		if (place >= 0 && c->suspects[place].state > 0)
			bits |= 1 << s;
	}
	return bits;
}

int
bu_view_link(const struct view *v, int leaf, int spine)
{
	return 2 * (bu_topology_ports(v->t) + leaf * v->t->spines + spine);
}

int
bu_view_dirs(const struct view *v, int part)
{
	return (bu_view_stands(v->c, part) ? BU_DIR_OUT : 0) |
	       (bu_view_stands(v->c, part + 1) ? BU_DIR_IN : 0);
}

struct bu_accusation *
bu_view_add(struct view *v, struct bu_accusation accusation)
{
	struct bu_report *report = v->c->report;

	report->accusations =
		bu_xrealloc(report->accusations,
			    ((size_t)report->count + 1) * sizeof(*report->accusations));
	report->accusations[report->count] = accusation;
	return &report->accusations[report->count++];
}

void __attribute__((format(printf, 2, 3)))
bu_view_say(struct bu_accusation *accusation, const char *fmt, ...)
{
	size_t used = strlen(accusation->cause);
	va_list args;

	va_start(args, fmt);
	vsnprintf(accusation->cause + used, sizeof(accusation->cause) - used, fmt,
		  args);
	va_end(args);
}

static const char *
hint(int symptom)
{
	static const char *const hints[BU_SYMPTOMS_COUNT] = {
		[BU_SYMPTOM_RATE] = "slow",
		[BU_SYMPTOM_LATENCY] = "late",
		[BU_SYMPTOM_LOSS] = "loses packets",
		[BU_SYMPTOM_MTU] = "smaller MTU than the others",
		[BU_SYMPTOM_CABLING] = "hangs on another leaf than planned",
	};

	return hints[symptom];
}

static void
say_best(struct bu_accusation *accusation, double best_gbps, double median_gbps)
{
	char best[32], median[32];

	bu_rate_text(best_gbps, best, sizeof(best));
	bu_rate_text(median_gbps, median, sizeof(median));
	bu_view_say(accusation, ", at best %s of %s", best, median);
}

/* The symptoms of a part and of its other direction, with the figures of the tests
 * again. */
void
bu_view_explain(const struct view *v, int part, struct bu_accusation *accusation)
{
	const struct campaign *c = v->c;

	for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
		for (int half = 0; half < 2; half++) {
			int place =
				c->suspect_of[(part + half) * BU_SYMPTOMS_COUNT + s];
			const struct suspect *its =
				place < 0 ? NULL : &c->suspects[place];
			const char *comma = accusation->cause[0] ? "; " : "";

			if (!its || its->state <= 0)
				continue;
			accusation->confidence =
				fmax(accusation->confidence,
				     1 - exp(-fmin(its->sprt.llr, 30)));
			bu_view_say(accusation, "%s%s: %d of %d %s", comma,
				    its->by_switch ? "slow or lossy" : hint(s),
				    its->sprt.bad, its->sprt.tests,
				    its->by_switch ? "readings of its switch"
						   : "tests again");
			if (s == BU_SYMPTOM_RATE && !its->by_switch &&
			    its->sprt.bad == its->sprt.tests && its->best_gbps > 0)
				say_best(accusation, (double)its->best_gbps,
					 c->limits.median_gbps[0]);
			break;
		}
	}
}

struct bu_accusation
bu_view_any(const struct bu_accusation *list, int count, const char *cause)
{
	struct bu_accusation any = {.what = BU_WHAT_ANY, .of_count = count};

	any.of = bu_xcalloc((size_t)count, sizeof(*any.of));
	memcpy(any.of, list, (size_t)count * sizeof(*any.of));
	for (int i = 0; i < count; i++)
		any.confidence = fmax(any.confidence, list[i].confidence);
	snprintf(any.cause, sizeof(any.cause), "no test can tell these apart: %s",
		 cause);
	return any;
}
