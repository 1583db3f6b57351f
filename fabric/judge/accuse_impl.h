/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From standing suspects to accusations: accuse.c (ports, leaves, instruments, cabling)
 * calls accuse_links.c (links, spines) and explain.c; view.c reads the suspects.
 */
#ifndef BU_FABRIC_JUDGE_ACCUSE_IMPL_H
#define BU_FABRIC_JUDGE_ACCUSE_IMPL_H

#include "fabric/judge/campaign.h"

/* The least number of bad ports or links that accuses their leaf or spine instead. */
enum { BU_BLAST_LEAST = 3 };

struct view {
	struct campaign *c;
	const struct bu_topology *t;
	unsigned char *leaf_out;  /* by leaf: accused as a whole */
	unsigned char *spine_out; /* by spine: likewise */
	double blast; /* bad share of ports or links above which the whole is accused */
};

int bu_view_stands(const struct campaign *c, int part); /* bits of symptoms */
int bu_view_link(const struct view *v, int leaf, int spine);
/* BU_DIR_... of the accused ones of `part` and `part` + 1: a port or a link. */
int bu_view_dirs(const struct view *v, int part);
struct bu_accusation *bu_view_add(struct view *v, struct bu_accusation accusation);
/* Adds the signs of `part` and `part` + 1, one per symptom that has none yet, and the
 * confidence. */
void bu_view_explain(const struct view *v, int part, struct bu_accusation *accusation);
/* One accusation of parts that no test tells apart. TWINS: signs of list[0]. */
struct bu_accusation bu_view_any(const struct bu_accusation *list, int count,
				 enum bu_alike alike);

void bu_accuse_spines(struct view *v);
void bu_accuse_leaf_by_links(struct view *v);
void bu_accuse_links(struct view *v);
void bu_accuse_uplinks(struct view *v);
/* Clears suspects that were bad only in flows through parts with more bad tests. */
void bu_campaign_explain_away(struct campaign *c);

#endif
