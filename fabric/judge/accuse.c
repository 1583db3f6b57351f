// SPDX-License-Identifier: Apache-2.0
/*
 * From what stood the second test to accusations: halves become ports, ports a leaf
 * when too many of it are accused, links a spine or a leaf. Invariants: what a larger
 * part explains is not accused besides, and parts that no test tells apart come
 * together.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fabric/judge/localise_impl.h"

/* Share of a leaf's ports, or of the links of a leaf or spine, from which on the larger
 * part is accused: the blast limit. */
static const double blast_share = 0.5;
enum { BLAST_LEAST = 3 };

struct view {
	struct campaign *c;
	const struct bu_topology *t;
	unsigned char *leaf_out; /* accused as a whole */
	unsigned char *spine_out;
};

static int
stands(const struct campaign *c, int part)
{
	int bits = 0;

	for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
		int place = c->suspect_of[part * BU_SYMPTOMS_COUNT + s];

		if (place >= 0 && c->suspects[place].state > 0)
			bits |= 1 << s;
	}
	return bits;
}

static int
link_part(const struct view *v, int leaf, int spine)
{
	return 2 * (bu_topology_ports(v->t) + leaf * v->t->spines + spine);
}

static int
dirs_of(const struct view *v, int part)
{
	return (stands(v->c, part) ? BU_DIR_OUT : 0) |
	       (stands(v->c, part + 1) ? BU_DIR_IN : 0);
}

static struct bu_accusation *
add(struct view *v, struct bu_accusation accusation)
{
	struct bu_report *report = v->c->report;

	report->accusations =
		bu_xrealloc(report->accusations,
			    ((size_t)report->count + 1) * sizeof(*report->accusations));
	report->accusations[report->count] = accusation;
	return &report->accusations[report->count++];
}

static void __attribute__((format(printf, 2, 3)))
say(struct bu_accusation *accusation, const char *fmt, ...)
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

/* The symptoms of a part and of its other direction, with the figures of the tests
 * again. */
static void
explain(const struct view *v, int part, struct bu_accusation *accusation)
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
			say(accusation, "%s%s: %d of %d %s", comma,
			    its->by_switch ? "slow or lossy" : hint(s), its->sprt.bad,
			    its->sprt.tests,
			    its->by_switch ? "readings of its switch" : "tests again");
			if (s == BU_SYMPTOM_RATE && !its->by_switch &&
			    its->sprt.bad == its->sprt.tests && its->best_gbps > 0)
				say(accusation, ", at best %.1f Gbit/s of %.1f",
				    (double)its->best_gbps, c->gate.median_gbps[0]);
			break;
		}
	}
}

/* All three: tested ports of a leaf, those that stand accused. */
static void
count_leaf(const struct view *v, int leaf, int *ret_all, int *ret_bad)
{
	const struct bu_order *order = &v->c->order;

	*ret_all = order->start[(leaf + 1) * order->rails] -
		   order->start[leaf * order->rails];
	*ret_bad = 0;
	for (int i = 0; i < *ret_all; i++) {
		int port = order->ports[order->start[leaf * order->rails] + i];

		*ret_bad += dirs_of(v, 2 * port) != 0;
	}
}

static struct bu_accusation
endpoint(const struct view *v, int port)
{
	struct bu_accusation one = {.what = BU_WHAT_ENDPOINT, .port = port};

	one.dir = dirs_of(v, 2 * port);
	explain(v, 2 * port, &one);
	return one;
}

static struct bu_accusation
any_of(const struct bu_accusation *list, int count, const char *cause)
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

static void
accuse_leaf(struct view *v, int leaf)
{
	const struct bu_order *order = &v->c->order;
	struct bu_accusation whole = {.what = BU_WHAT_LEAF, .leaf = leaf}, list[3];
	int all, bad, first = order->start[leaf * order->rails];

	count_leaf(v, leaf, &all, &bad);
	if (bad == 0 || bad <= blast_share * all)
		return;
	if (all < BLAST_LEAST && bad == all) {
		list[0] = whole;
		for (int i = 0; i < all; i++)
			list[i + 1] = endpoint(v, order->ports[first + i]);
		v->leaf_out[leaf] = 1;
		add(v, any_of(list, all + 1, "the leaf has no port that is good"));
	}
	if (bad < BLAST_LEAST)
		return;
	for (int i = 0; i < all; i++) {
		explain(v, 2 * order->ports[first + i], &whole);
		if (whole.cause[0])
			break;
	}
	say(&whole, "; %d of its %d ports are accused, so the leaf is", bad, all);
	v->leaf_out[leaf] = 1;
	add(v, whole);
}

static void
accuse_ports(struct view *v)
{
	for (int port = 0; port < bu_topology_ports(v->t); port++) {
		if (v->c->usable[port] && !v->leaf_out[v->c->leaf_of[port]] &&
		    dirs_of(v, 2 * port))
			add(v, endpoint(v, port));
	}
}

static struct bu_accusation
link_of(const struct view *v, int leaf, int spine)
{
	struct bu_accusation one = {.what = BU_WHAT_LINK, .leaf = leaf, .spine = spine};

	one.dir = dirs_of(v, link_part(v, leaf, spine));
	explain(v, link_part(v, leaf, spine), &one);
	return one;
}

/* Sprayed flows use all links of a leaf that has ports. */
static int
is_tested(const struct view *v, int leaf, int part)
{
	const struct bu_order *order = &v->c->order;

	if (v->t->sprayed)
		return order->start[(leaf + 1) * order->rails] >
		       order->start[leaf * order->rails];
	return v->c->parts[part].flows + v->c->parts[part + 1].flows > 0 ||
	       dirs_of(v, part);
}

/* Links accused along a leaf (spine < 0) or a spine (leaf < 0), and the last of them.
 */
static int
count_links(const struct view *v, int leaf, int spine, int *ret_tested, int *ret_last)
{
	int count = 0;

	*ret_tested = 0;
	for (int i = 0; i < (leaf < 0 ? v->t->leaves : v->t->spines); i++) {
		int l = leaf < 0 ? i : leaf, s = spine < 0 ? i : spine;
		int part = link_part(v, l, s);

		if (v->leaf_out[l] || v->spine_out[s])
			continue;
		*ret_tested += is_tested(v, l, part);
		if (dirs_of(v, part)) {
			count++;
			*ret_last = part;
		}
	}
	return count;
}

static void
accuse_spines(struct view *v)
{
	for (int spine = 0; spine < v->t->spines; spine++) {
		struct bu_accusation whole = {.what = BU_WHAT_SPINE, .spine = spine};
		int tested, last = -1, bad = count_links(v, -1, spine, &tested, &last);

		if (bad < BLAST_LEAST || bad <= blast_share * tested)
			continue;
		explain(v, last, &whole);
		say(&whole, "; %d of its %d links are accused, so the spine is", bad,
		    tested);
		v->spine_out[spine] = 1;
		add(v, whole);
	}
}

static void
accuse_leaf_by_links(struct view *v)
{
	for (int leaf = 0; leaf < v->t->leaves; leaf++) {
		struct bu_accusation whole = {.what = BU_WHAT_LEAF, .leaf = leaf};
		int tested, last = -1, bad = count_links(v, leaf, -1, &tested, &last);

		if (v->leaf_out[leaf] || bad < BLAST_LEAST ||
		    bad <= blast_share * tested)
			continue;
		explain(v, last, &whole);
		say(&whole, "; %d of its %d links are accused, so the leaf is", bad,
		    tested);
		v->leaf_out[leaf] = 1;
		add(v, whole);
	}
}

/* For each part of a link the one that all its flows share, -1 when there are several;
 * such twins stand or fall together. */
static int *
find_twins(const struct view *v)
{
	const struct campaign *c = v->c;
	int *twin = bu_xcalloc((size_t)c->parts_count + 1, sizeof(*twin));
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

/* The link of a twin; both its directions when both have twins there. */
static int
add_twins(struct view *v, const int *twin, int leaf, int spine)
{
	int part = link_part(v, leaf, spine), tested, last, count = 2;
	int far = -1, first = link_part(v, 0, 0);
	struct bu_accusation list[3];

	for (int dir = 0; dir < 2; dir++) {
		int other = twin[part + dir];

		if (stands(v->c, part + dir) && other >= 0 && stands(v->c, other) &&
		    twin[other] == part + dir)
			far = (other - first) / 2 / v->t->spines;
	}
	if (far < 0)
		return 0;
	if (far < leaf)
		return 1; /* its twin said it */
	list[0] = link_of(v, leaf, spine);
	list[1] = link_of(v, far, spine);
	count_links(v, -1, spine, &tested, &last);
	if (tested == 2 && list[0].dir == (BU_DIR_OUT | BU_DIR_IN))
		list[count++] =
			(struct bu_accusation){.what = BU_WHAT_SPINE, .spine = spine};
	add(v, any_of(list, count, list[0].cause));
	return 1;
}

static void
accuse_links(struct view *v)
{
	bu_autofree int *twin = find_twins(v);

	for (int spine = 0; spine < v->t->spines; spine++) {
		for (int leaf = 0; leaf < v->t->leaves && !v->spine_out[spine];
		     leaf++) {
			if (!v->leaf_out[leaf] &&
			    dirs_of(v, link_part(v, leaf, spine)) &&
			    !add_twins(v, twin, leaf, spine))
				add(v, link_of(v, leaf, spine));
		}
	}
}

/* Sprayed flows say which leaf's links, its switches did not say which one. */
static void
accuse_uplinks(struct view *v)
{
	int bad = 0, found = -1, spines = v->t->spines;
	int first = 2 * (bu_topology_ports(v->t) + v->t->leaves * spines), part;
	bu_autofree struct bu_accusation *list =
		bu_xcalloc((size_t)spines + 1, sizeof(*list));

	for (int leaf = 0; leaf < v->t->leaves; leaf++) {
		if (v->leaf_out[leaf] || !dirs_of(v, first + 2 * leaf))
			continue;
		bad++;
		found = leaf;
	}
	/* Beside anything else that is accused, it is that. */
	if (bad != 1 || v->c->report->count > 0 || spines == 0)
		return;
	part = first + 2 * found;
	for (int spine = 0; spine < spines; spine++) {
		list[spine] = (struct bu_accusation){.what = BU_WHAT_LINK,
						     .leaf = found,
						     .spine = spine,
						     .dir = dirs_of(v, part)};
		explain(v, part, &list[spine]);
	}
	add(v, any_of(list, spines, "flows are sprayed over all links of the leaf"));
}

static void
accuse_doubted(struct view *v)
{
	for (int node = 0; node < v->t->nodes; node++) {
		int doubt = v->c->doubted[node];
		struct bu_accusation one = {
			.what = BU_WHAT_INCONCLUSIVE, .node = node, .confidence = 0.99};

		if (!doubt)
			continue;
		say(&one, "instrument in doubt with every partner:%s%s%s",
		    doubt & BU_DOUBT_LIMIT ? " rate above the framing limit" : "",
		    doubt & BU_DOUBT_CLOCK ? " clocks of both ends differ" : "",
		    doubt & BU_DOUBT_BYTES ? " bytes do not give the rate" : "");
		add(v, one);
	}
}

static void
accuse_cabling(struct view *v)
{
	char leaf[80], planned[80];

	for (int port = 0; port < bu_topology_ports(v->t); port++) {
		struct bu_accusation one = {.what = BU_WHAT_ENDPOINT,
					    .port = port,
					    .dir = BU_DIR_OUT | BU_DIR_IN,
					    .confidence = 0.999};

		if (v->c->leaf_of[port] == v->t->leaf_of[port])
			continue;
		bu_ids_text(&v->t->leaf_ids, v->c->leaf_of[port], leaf, sizeof(leaf));
		bu_ids_text(&v->t->leaf_ids, v->t->leaf_of[port], planned,
			    sizeof(planned));
		say(&one, "cabling: hangs on leaf %s, planned was %s", leaf, planned);
		add(v, one);
	}
}

/* Parts below a leaf or spine that is accused need no explanation. */
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
			 .leaf_out = bu_xcalloc((size_t)c->t->leaves + 1, 1),
			 .spine_out = bu_xcalloc((size_t)c->t->spines + 1, 1)};

	accuse_doubted(&v);
	accuse_cabling(&v);
	for (int leaf = 0; leaf < c->t->leaves; leaf++)
		accuse_leaf(&v, leaf);
	accuse_spines(&v);
	accuse_leaf_by_links(&v);
	absorb(&v);
	bu_campaign_explain_away(c);
	accuse_ports(&v);
	accuse_links(&v);
	if (c->t->sprayed)
		accuse_uplinks(&v);
	free(v.leaf_out);
	free(v.spine_out);
}
