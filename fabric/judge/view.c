/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accused parts after stage C, with their figures. Called by accuse.c and
 * accuse_links.c. Invariant: only the report is changed.
 */
#include <math.h>
#include <string.h>

#include "fabric/judge/accuse_impl.h"

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

/* The sign of a suspect, with the figures of its retests. */
static struct bu_sign
sign_of(const struct campaign *c, const struct suspect *its)
{
	struct bu_sign sign = {.symptom = (enum bu_symptom)its->symptom,
			       .by_switch = its->by_switch,
			       .bad = its->sprt.bad,
			       .tests = its->sprt.tests};

	if (its->symptom != BU_SYMPTOM_RATE || its->by_switch)
		return sign;
	sign.nothing = its->sprt.tests > 0 && its->best_gbps <= 0;
	if (its->sprt.bad == its->sprt.tests && its->best_gbps > 0) {
		sign.best_gbps = (double)its->best_gbps;
		sign.median_gbps = c->limits.median_gbps[0];
	}
	return sign;
}

/* One per symptom: the part that was explained first has it. */
static void
add_sign(struct bu_accusation *accusation, struct bu_sign sign)
{
	for (int i = 0; i < accusation->sign_count; i++)
		if (accusation->signs[i].symptom == sign.symptom)
			return;
	accusation->signs[accusation->sign_count++] = sign;
}

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

			if (!its || its->state <= 0)
				continue;
			accusation->confidence =
				fmax(accusation->confidence,
				     1 - exp(-fmin(its->sprt.llr, 30)));
			add_sign(accusation, sign_of(c, its));
			break;
		}
	}
}

struct bu_accusation
bu_view_any(const struct bu_accusation *list, int count, enum bu_alike alike)
{
	struct bu_accusation any = {
		.what = BU_WHAT_ANY, .of_count = count, .alike = alike};

	any.of = bu_xcalloc((size_t)count, sizeof(*any.of));
	memcpy(any.of, list, (size_t)count * sizeof(*any.of));
	for (int i = 0; i < count; i++)
		any.confidence = fmax(any.confidence, list[i].confidence);
	if (alike != BU_ALIKE_TWINS)
		return any;
	memcpy(any.signs, list[0].signs, sizeof(any.signs));
	any.sign_count = list[0].sign_count;
	return any;
}
