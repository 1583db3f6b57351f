/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns suspects that stand after stage C into accusations: halves become ports; too
 * many bad ports or links become a leaf or spine. Invariants: a part that an accused
 * larger part explains is not accused. Parts that no test tells apart share one
 * accusation.
 */
#include <string.h>

#include "fabric/judge/accuse_impl.h"

/* Was every flow of a half of the port bad, undecided after stage C, and not explained
 * by an accused part? In a bad leaf few ports find a good partner for their retests. */
static int
was_never_good(const struct campaign *c, int port)
{
	for (int i = 0; i < 2 * BU_SYMPTOMS_COUNT; i++) {
		const struct bu_part *half =
			&c->parts[2 * port + i / BU_SYMPTOMS_COUNT];
		int symptom = i % BU_SYMPTOMS_COUNT;
		int place = c->suspect_of[2 * port * BU_SYMPTOMS_COUNT + i];
		const struct suspect *its = place < 0 ? NULL : &c->suspects[place];

		if (its && its->state == 0 && half->flows > 1 &&
		    half->bad[symptom] == half->flows &&
		    its->sprt.bad == its->sprt.tests &&
		    bu_campaign_has_unexplained(c, (size_t)place, 0))
			return 1;
	}
	return 0;
}

/* Counts the tested and the accused ports of a leaf. Where one is accused, ports that
 * were never good count as bad. ports: the tested ones, with room for all. */
static void
count_leaf(const struct view *v, int leaf, int *ports, int *ret_all, int *ret_bad)
{
	int open = 0;

	const struct bu_order *order = &v->c->order;
	int first = order->start[leaf * order->rails];
	int end = order->start[(leaf + 1) * order->rails];

	*ret_all = *ret_bad = 0;
	for (int i = first; i < end; i++) {
		int port = order->ports[i];

		if (!v->c->usable[port])
			continue;
		ports[(*ret_all)++] = port;
		if (bu_view_dirs(v, 2 * port))
			(*ret_bad)++;
		else
			open += was_never_good(v->c, port);
	}
	*ret_bad += *ret_bad ? open : 0;
}

/* 1 + the only node that could test this port; 0 = several nodes could. */
static int
witness_of(const struct campaign *c, int port)
{
	int witness = 0;

	for (int i = 0; i < 2 * BU_SYMPTOMS_COUNT; i++) {
		int place = c->suspect_of[2 * port * BU_SYMPTOMS_COUNT + i];
		const struct suspect *its = place < 0 ? NULL : &c->suspects[place];

		if (!its || its->state <= 0)
			continue;
		if (!its->few || its->witnesses != 1 ||
		    (witness && witness != its->witness[0] + 1))
			return 0;
		witness = its->witness[0] + 1;
	}
	return witness;
}

static struct bu_accusation
endpoint(const struct view *v, int port)
{
	struct bu_accusation one = {.what = BU_WHAT_ENDPOINT, .port = port};

	one.dir = bu_view_dirs(v, 2 * port);
	one.witness = witness_of(v->c, port);
	bu_view_explain(v, 2 * port, &one);
	return one;
}

static void
accuse_leaf(struct view *v, int leaf)
{
	struct bu_accusation whole = {.what = BU_WHAT_LEAF, .leaf = leaf};
	struct bu_accusation list[BU_BLAST_LEAST];
	bu_autofree int *ports =
		bu_xcalloc((size_t)v->c->order.port_count, sizeof(*ports));
	int all, bad;

	count_leaf(v, leaf, ports, &all, &bad);
	if (bad == 0 || bad <= v->blast * all)
		return;
	if (all < BU_BLAST_LEAST && bad == all) {
		list[0] = whole;
		for (int i = 0; i < all; i++)
			list[i + 1] = endpoint(v, ports[i]);
		v->leaf_out[leaf] = 1;
		bu_view_add(v, bu_view_any(list, all + 1, BU_ALIKE_NO_GOOD_PORT));
	}
	if (bad < BU_BLAST_LEAST)
		return;
	for (int i = 0; i < all && whole.sign_count == 0; i++)
		bu_view_explain(v, 2 * ports[i], &whole);
	whole.accused = bad;
	whole.tested = all;
	v->leaf_out[leaf] = 1;
	bu_view_add(v, whole);
}

static void
accuse_ports(struct view *v)
{
	for (int port = 0; port < bu_topology_ports(v->t); port++) {
		if (v->c->usable[port] && !v->leaf_out[v->c->leaf_of[port]] &&
		    bu_view_dirs(v, 2 * port))
			bu_view_add(v, endpoint(v, port));
	}
}

static void
accuse_doubted(struct view *v)
{
	for (int node = 0; node < v->t->nodes; node++) {
		struct bu_accusation one = {.what = BU_WHAT_INCONCLUSIVE,
					    .node = node,
					    .confidence = 0.99,
					    .doubt = v->c->doubted[node]};

		if (one.doubt)
			bu_view_add(v, one);
	}
}

static void
accuse_cabling(struct view *v)
{
	for (int port = 0; port < bu_topology_ports(v->t); port++) {
		struct bu_accusation one = {.what = BU_WHAT_ENDPOINT,
					    .port = port,
					    .dir = BU_DIR_OUT | BU_DIR_IN,
					    .confidence = 0.999,
					    .sign_count = 1};

		if (v->c->leaf_of[port] == v->t->leaf_of[port])
			continue;
		one.signs[0] = (struct bu_sign){.symptom = BU_SYMPTOM_CABLING,
						.by_lldp = 1,
						.leaf = v->c->leaf_of[port],
						.planned = v->t->leaf_of[port]};
		bu_view_add(v, one);
	}
}

/* Parts of an accused leaf or spine are not accused themselves. */
static void
absorb(struct view *v)
{
	int links = 2 * bu_topology_ports(v->t), spines = v->t->spines;
	int all = links + 2 * v->t->leaves * spines;

	for (size_t i = 0; i < v->c->suspect_count; i++) {
		struct suspect *suspect = &v->c->suspects[i];
		int link = (suspect->part - links) / 2;

		if (suspect->part < links)
			suspect->absorbed =
				v->leaf_out[v->c->leaf_of[suspect->part / 2]];
		else if (suspect->part < all)
			suspect->absorbed = v->leaf_out[link / spines] ||
					    v->spine_out[link % spines];
	}
}

void
bu_campaign_accuse(struct campaign *c)
{
	struct view v = {.c = c,
			 .t = c->t,
			 .blast = c->opts->blast > 0 ? c->opts->blast : 0.5,
			 .leaf_out = bu_xcalloc((size_t)c->t->leaves, 1),
			 .spine_out = bu_xcalloc((size_t)c->t->spines, 1)};

	accuse_doubted(&v);
	accuse_cabling(&v);
	for (int leaf = 0; leaf < c->t->leaves; leaf++)
		accuse_leaf(&v, leaf);
	bu_accuse_spines(&v);
	bu_accuse_leaf_by_links(&v);
	absorb(&v);
	bu_campaign_explain_away(c);
	accuse_ports(&v);
	bu_accuse_links(&v);
	if (c->t->sprayed)
		bu_accuse_uplinks(&v);
	free(v.leaf_out);
	free(v.spine_out);
}
