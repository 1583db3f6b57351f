/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what stands to accusations: accuse.c (ports, leaves, instruments, cabling) asks
 * accuse_links.c (links, spines) and explain.c; all stand on view.c.
 */
#ifndef BU_FABRIC_JUDGE_ACCUSE_IMPL_H
#define BU_FABRIC_JUDGE_ACCUSE_IMPL_H

#include "fabric/judge/campaign.h"

/* Above a share of its ports or links it is the larger part; fewer say nothing. */
enum { BU_BLAST_LEAST = 3 };

struct view {
	struct campaign *c;
	const struct bu_topology *t;
	unsigned char *leaf_out; /* accused as a whole */
	unsigned char *spine_out;
	double blast; /* share of a leaf's ports, or of the links of a leaf or spine */
};

int bu_view_stands(const struct campaign *c, int part); /* bits of symptoms */
int bu_view_link(const struct view *v, int leaf, int spine);
int bu_view_dirs(const struct view *v, int part);
struct bu_accusation *bu_view_add(struct view *v, struct bu_accusation accusation);
/* Adds the symptoms of a part and of its other direction, with their figures; asked
 * once for an accusation. */
void bu_view_explain(const struct view *v, int part, struct bu_accusation *accusation);
/* Parts that no test tells apart, as one accusation; twins show what the first shows.
 */
struct bu_accusation bu_view_any(const struct bu_accusation *list, int count,
				 enum bu_alike alike);

void bu_accuse_spines(struct view *v);
void bu_accuse_leaf_by_links(struct view *v);
void bu_accuse_links(struct view *v);
void bu_accuse_uplinks(struct view *v);
/* What was bad only in the company of parts that were bad more often is cleared. */
void bu_campaign_explain_away(struct campaign *c);

#endif
