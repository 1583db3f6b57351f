/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accuses links, and the spine or leaf that accused links have in common. Called by
 * accuse.c after the leaves. Invariant: links that no test tells apart share one
 * accusation.
 */
#include "fabric/judge/accuse_impl.h"

/* Accused links of a spine from which on its open suspects count as bad, too. */
enum { SPINE_STANDS = 2 };

static struct bu_accusation
link_of(const struct view *v, int leaf, int spine)
{
	struct bu_accusation one = {.what = BU_WHAT_LINK, .leaf = leaf, .spine = spine};

	one.dir = bu_view_dirs(v, bu_view_link(v, leaf, spine));
	bu_view_explain(v, bu_view_link(v, leaf, spine), &one);
	return one;
}

/* Sprayed flows use all links of a leaf with ports. */
static int
is_tested(const struct view *v, int leaf, int part)
{
	const struct bu_order *order = &v->c->order;

	if (v->t->sprayed)
		return order->start[(leaf + 1) * order->rails] >
		       order->start[leaf * order->rails];
	return v->c->parts[part].flows + v->c->parts[part + 1].flows > 0 ||
	       bu_view_dirs(v, part);
}

/* Counts the accused links of a leaf (spine < 0) or a spine (leaf < 0). ret_last: the
 * last of them. */
static int
count_links(const struct view *v, int leaf, int spine, int *ret_tested, int *ret_last)
{
	int count = 0;

	*ret_tested = 0;
	for (int i = 0; i < (leaf < 0 ? v->t->leaves : v->t->spines); i++) {
		int l = leaf < 0 ? i : leaf, s = spine < 0 ? i : spine;
		int part = bu_view_link(v, l, s);

		if (v->leaf_out[l] || v->spine_out[s])
			continue;
		*ret_tested += is_tested(v, l, part);
		if (bu_view_dirs(v, part)) {
			count++;
			*ret_last = part;
		}
	}
	return count;
}

static void
say_number(struct bu_accusation *whole, int accused, int tested)
{
	whole->accused = accused;
	whole->tested = tested;
	whole->by_links = 1;
}

/* Counts the open links of a spine that had no test over an otherwise clean path,
 * because the spine's other links are accused. */
static int
count_open(const struct view *v, int spine)
{
	const struct campaign *c = v->c;
	int count = 0;

	for (int leaf = 0; leaf < v->t->leaves; leaf++) {
		int part = bu_view_link(v, leaf, spine), open = 0;

		for (int i = 0; i < 2 * BU_SYMPTOMS_COUNT; i++) {
			int place = c->suspect_of[part * BU_SYMPTOMS_COUNT + i];

			open |= place >= 0 && c->suspects[place].state == 0 &&
				c->suspects[place].clean == 0;
		}
		count += open && !v->leaf_out[leaf] && !bu_view_dirs(v, part);
	}
	return count;
}

void
bu_accuse_spines(struct view *v)
{
	for (int spine = 0; spine < v->t->spines; spine++) {
		struct bu_accusation whole = {.what = BU_WHAT_SPINE, .spine = spine};
		int tested, last = -1, bad = count_links(v, -1, spine, &tested, &last);
		int shown = bad >= SPINE_STANDS ? bad + count_open(v, spine) : bad;

		if (shown < BU_BLAST_LEAST || shown <= v->blast * tested)
			continue;
		bu_view_explain(v, last, &whole);
		say_number(&whole, bad, tested);
		v->spine_out[spine] = 1;
		bu_view_add(v, whole);
	}
}

void
bu_accuse_leaf_by_links(struct view *v)
{
	for (int leaf = 0; leaf < v->t->leaves; leaf++) {
		struct bu_accusation whole = {.what = BU_WHAT_LEAF, .leaf = leaf};
		int tested, last = -1, bad = count_links(v, leaf, -1, &tested, &last);

		if (v->leaf_out[leaf] || bad < BU_BLAST_LEAST ||
		    bad <= v->blast * tested)
			continue;
		bu_view_explain(v, last, &whole);
		say_number(&whole, bad, tested);
		v->leaf_out[leaf] = 1;
		bu_view_add(v, whole);
	}
}

/* By part: the other link that all its flows share, its twin. -1 = several links, -2 =
 * no flow. No test tells twins apart. */
static int *
find_twins(const struct view *v)
{
	const struct campaign *c = v->c;
	int *twin = bu_xcalloc((size_t)c->parts_count, sizeof(*twin));
	int list[BU_FLOW_PARTS_MAX];

	for (int i = 0; i < c->parts_count; i++)
		twin[i] = -2;
	for (size_t i = 0; i < c->count && !c->t->sprayed; i++) {
		if (c->flows[i].doubt ||
		    bu_flow_parts(c->t, c->leaf_of, &c->flows[i], list) < 4)
			continue;
		for (int k = 2; k < 4; k++) {
			int other = list[5 - k], *its = &twin[list[k]];

			*its = *its == -2 || *its == other ? other : -1;
		}
	}
	return twin;
}

/* Accuses a link and its twin in one ANY. Returns 0 where no twin of it is accused. */
static int
add_twins(struct view *v, const int *twin, int leaf, int spine)
{
	int part = bu_view_link(v, leaf, spine), tested, last, count = 2;
	int far = -1, first = bu_view_link(v, 0, 0);
	struct bu_accusation list[3];

	for (int dir = 0; dir < 2; dir++) {
		int other = twin[part + dir];

		if (bu_view_stands(v->c, part + dir) && other >= 0 &&
		    bu_view_stands(v->c, other) && twin[other] == part + dir)
			far = (other - first) / 2 / v->t->spines;
	}
	if (far < 0)
		return 0;
	if (far < leaf)
		return 1; /* added with its twin */
	list[0] = link_of(v, leaf, spine);
	list[1] = link_of(v, far, spine);
	count_links(v, -1, spine, &tested, &last);
	if (tested == 2 && list[0].dir == (BU_DIR_OUT | BU_DIR_IN))
		list[count++] =
			(struct bu_accusation){.what = BU_WHAT_SPINE, .spine = spine};
	bu_view_add(v, bu_view_any(list, count, BU_ALIKE_TWINS));
	return 1;
}

void
bu_accuse_links(struct view *v)
{
	bu_autofree int *twin = find_twins(v);

	for (int spine = 0; spine < v->t->spines; spine++) {
		for (int leaf = 0; leaf < v->t->leaves && !v->spine_out[spine];
		     leaf++) {
			if (!v->leaf_out[leaf] &&
			    bu_view_dirs(v, bu_view_link(v, leaf, spine)) &&
			    !add_twins(v, twin, leaf, spine))
				bu_view_add(v, link_of(v, leaf, spine));
		}
	}
}

/* Sprayed flows accuse all links of a leaf together. Where no switch counter tells
 * which one is bad, the accusation is an ANY of these links. */
void
bu_accuse_uplinks(struct view *v)
{
	int bad = 0, found = -1, spines = v->t->spines;
	int first = 2 * (bu_topology_ports(v->t) + v->t->leaves * spines), part;
	bu_autofree struct bu_accusation *list =
		bu_xcalloc((size_t)spines, sizeof(*list));

	for (int leaf = 0; leaf < v->t->leaves; leaf++) {
		if (v->leaf_out[leaf] || !bu_view_dirs(v, first + 2 * leaf))
			continue;
		bad++;
		found = leaf;
	}
	/* Any other accusation explains these flows. */
	if (bad != 1 || v->c->report->count > 0 || spines == 0)
		return;
	part = first + 2 * found;
	for (int spine = 0; spine < spines; spine++) {
		list[spine] = (struct bu_accusation){.what = BU_WHAT_LINK,
						     .leaf = found,
						     .spine = spine,
						     .dir = bu_view_dirs(v, part)};
		bu_view_explain(v, part, &list[spine]);
	}
	bu_view_add(v, bu_view_any(list, spines, BU_ALIKE_SPRAYED));
}
