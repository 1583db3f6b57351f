/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clears suspects that were bad only in flows through parts with more bad tests. Called
 * before the accusations are made. Invariant: a suspect that its own retests accuse
 * stays accused. So does one that switches accuse, and one that the flows of all stages
 * accuse, where only unexplained flows count.
 */
#include "fabric/judge/accuse_impl.h"

/* Is the suspect still accused without its bad retests through `stronger` parts? */
static int
stands_alone(const struct campaign *c, const struct suspect *suspect,
	     const unsigned char *stronger)
{
	struct bu_sprt sprt = {0};
	size_t shared = 0;

	for (size_t i = c->retest_first; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int list[BU_FLOW_PARTS_MAX], mine = 0, other = 0;
		int n = bu_flow_parts(c->t, c->leaf_of, flow, list);
		int bad = bu_flow_symptoms(&c->limits, c->leaf_of, flow) >>
				  suspect->symptom &
			  1;

		for (int k = 0; k < n; k++) {
			mine |= list[k] == suspect->part;
			other |= stronger[list[k]];
		}
		if (!mine || flow->doubt)
			continue;
		shared += other != 0;
		if (!(bad && other))
			bu_sprt_add(&sprt, &suspect->rule, bad);
	}
	return shared == 0 || bu_sprt_decided(&sprt, &suspect->rule) > 0;
}

/* Twins are bad equally often, so neither clears the other. */
void
bu_campaign_explain_away(struct campaign *c)
{
	bu_autofree unsigned char *stronger = bu_xcalloc((size_t)c->parts_count, 1);

	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];

		if (suspect->state <= 0 || suspect->absorbed || suspect->by_switch ||
		    suspect->by_all)
			continue;
		for (int part = 0; part < c->parts_count; part++) {
			int place = c->suspect_of[part * BU_SYMPTOMS_COUNT +
						  suspect->symptom];

			stronger[part] =
				place >= 0 && c->suspects[place].state > 0 &&
				c->suspects[place].sprt.bad > suspect->sprt.bad;
		}
		if (!stands_alone(c, suspect, stronger))
			suspect->state = -1;
	}
}
