/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The campaign over single links between leaves and spines. leaf_campaign.c runs it
 * when the campaign over bundles has no more questions. A test has one queue pair,
 * which takes one spine. Source ports differ from those of earlier tests, so that tests
 * reach more spines. Adapters choose ports and switches choose spines, so the gate can
 * only ask for a pair of leaves. A result answers the judge's question about the spine
 * that it crossed, so the site needs no `trace`. Invariants: a leaf is in one such test
 * at a time; a leaf gets the tests that it needs to cross each spine, and a bounded
 * number of further ones while links are bad.
 */
#include <string.h>

#include "model/hello.h"
#include "provisioner/gate/campaign/spines.h"

/* Most tests of a leaf for each spine: to cross all, and while links are bad. */
enum { TO_CROSS = 4, TO_DECIDE = 16 };

static int
bound_of(const struct bu_spines *spines, int each)
{
	return each * (spines->topology.spines + 1);
}

/* By leaf and spine: directions in which the link was crossed, BU_DIR_ bits. */
static unsigned char *
find_crossed(const struct bu_spines *spines)
{
	const struct bu_topology *t = &spines->topology;
	unsigned char *crossed = bu_xcalloc((size_t)t->leaves * (size_t)t->spines, 1);

	for (size_t i = 0; i < spines->count; i++) {
		const struct bu_crossing *one = &spines->list[i];

		crossed[one->from * t->spines + one->spine] |= BU_DIR_OUT;
		crossed[one->to * t->spines + one->spine] |= BU_DIR_IN;
	}
	return crossed;
}

/* A leaf lacks nothing while no trace names one of its spines. */
static void
find_lacks(struct bu_spines *spines)
{
	const struct bu_topology *t = &spines->topology;
	bu_autofree unsigned char *crossed = find_crossed(spines);

	for (int leaf = 0; leaf < t->leaves; leaf++) {
		int all = 1;

		for (int spine = 0; spine < t->spines; spine++) {
			int bits = crossed[leaf * t->spines + spine];

			all &= bits == (BU_DIR_OUT | BU_DIR_IN);
		}
		spines->lacks[leaf] = spines->seen[leaf] && !all &&
				      spines->tests[leaf] < bound_of(spines, TO_CROSS);
	}
}

static struct bu_crossing *
find_crossing(struct bu_spines *spines, const struct bu_flow *flow)
{
	const int *leaf_of = spines->topology.leaf_of;

	for (size_t i = 0; i < spines->count; i++) {
		struct bu_crossing *one = &spines->list[i];

		if (!one->taken && one->spine == flow->via &&
		    one->from == leaf_of[flow->src] && one->to == leaf_of[flow->dst])
			return one;
	}
	return NULL;
}

static int
may_trace(const struct bu_leaf_campaign *campaign, int port)
{
	const struct bu_leaf_campaign_node *node =
		&campaign->nodes[port / campaign->topology.rails];

	return node->lent && node->role->node;
}

static int
is_wanted(const struct bu_spines *spines, int from, int to)
{
	int bound = bound_of(spines, TO_DECIDE);

	if (spines->asked[from] || spines->asked[to])
		return 0;
	return spines->lacks[from] || spines->lacks[to] ||
	       (spines->bad && spines->tests[from] < bound &&
		spines->tests[to] < bound);
}

static int
may_ask(const struct bu_spines *spines, const struct bu_flow *flow)
{
	const struct bu_leaf_campaign *campaign = spines->campaign;
	const struct bu_topology *t = &spines->topology;
	const struct bu_pair_log *log;
	int place, dir;

	if (!is_wanted(spines, t->leaf_of[flow->src], t->leaf_of[flow->dst]) ||
	    !may_trace(campaign, flow->src) || !may_trace(campaign, flow->dst) ||
	    !(campaign->nodes[flow->src / t->rails].asks ||
	      campaign->nodes[flow->dst / t->rails].asks))
		return 0;
	log = bu_leaf_campaign_log(campaign, flow, &place, &dir);
	return !log || bu_gate_failures(log) < BU_GATE_ERRORS;
}

static int
answer_flow(struct bu_spines *spines, struct bu_flow *flow)
{
	const int *leaf_of = spines->topology.leaf_of;
	struct bu_crossing *one = NULL;
	const struct bu_measured_dir *m;

	flow->qps = 1;
	flow->path = BU_PATH_UNKNOWN;
	flow->doubt = BU_DOUBT_NONE;
	if (leaf_of[flow->src] == leaf_of[flow->dst])
		return 0;
	one = find_crossing(spines, flow);
	if (!one) {
		if (!may_ask(spines, flow))
			return 0;
		bu_pairs_add(&spines->wanted, flow->src, flow->dst);
		spines->asked[leaf_of[flow->src]] = spines->asked[leaf_of[flow->dst]] =
			1;
		flow->doubt |= BU_DOUBT_ASKED;
		return 1;
	}
	one->taken = 1;
	m = &one->path->dir[one->dir];
	flow->path = one->spine;
	flow->doubt = 0;
	flow->rate_gbps = bu_leaf_campaign_comparable(spines->campaign, one->src,
						      one->dst, m->rate_gbps);
	flow->lat_us = m->lat_us;
	flow->lat99_us = m->lat99_us;
	flow->lost = m->lost;
	return 0;
}

static int
answer(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	int missing = 0;

	(void)err; /* the log is in memory */
	for (int i = 0; i < count; i++)
		missing |= answer_flow(arg, &flows[i]);
	return missing;
}

int
bu_spines_run(struct bu_leaf_campaign *campaign, const struct bu_localise_opts *opts,
	      struct bu_spines *ret)
{
	size_t leaves = (size_t)campaign->topology.leaves;
	struct bu_site site = {.round = answer, .arg = ret};
	struct bu_err err = {0};
	int rc;

	*ret = (struct bu_spines){.campaign = campaign, .topology = campaign->topology};
	ret->topology.spine_ids = (struct bu_ids){json_array(), json_object()};
	ret->tests = bu_xcalloc(leaves, sizeof(*ret->tests));
	ret->seen = bu_xcalloc(leaves, 1);
	ret->lacks = bu_xcalloc(leaves, 1);
	ret->asked = bu_xcalloc(leaves, 1);
	for (int i = 0; i < campaign->topology.rails; i++)
		if (!bu_rail_is_traced(campaign->rail[i]))
			return 1;
	bu_paths_find(campaign, ret);
	if (!ret->topology.spines)
		return 1;
	find_lacks(ret);
	rc = bu_localise(&ret->topology, &site, opts, &ret->report, &err);
	bu_assert(rc >= 0); /* this site cannot fail */
	return rc == 0 && !ret->wanted.count;
}

void
bu_spines_close(struct bu_spines *spines)
{
	json_decref(spines->topology.spine_ids.list);
	json_decref(spines->topology.spine_ids.index);
	bu_report_fini(&spines->report);
	free(spines->list);
	free(spines->tests);
	free(spines->seen);
	free(spines->lacks);
	free(spines->asked);
	free(spines->wanted.list);
}

int
bu_spines_wait(const struct bu_spines *spines, int node)
{
	const struct bu_topology *t = &spines->topology;

	for (int rail = 0; rail < t->rails; rail++)
		if (!spines->campaign->no_port[node * t->rails + rail] &&
		    spines->lacks[t->leaf_of[node * t->rails + rail]])
			return spines->campaign->nodes[node].asks;
	return spines->bad && spines->campaign->nodes[node].asks;
}

enum bu_link_state
bu_spines_state(const struct bu_spines *spines, const char *leaf, const char *spine,
		int dir)
{
	const json_t *leaves = spines->topology.leaf_ids.index;
	const json_t *place = leaf ? json_object_get(leaves, leaf) : NULL;
	int at = place ? (int)json_integer_value(place) : -1, seen = 0;

	for (size_t i = 0; i < spines->count; i++) {
		const struct bu_crossing *one = &spines->list[i];

		if (!one->newest || strcmp(one->name, spine) != 0 ||
		    (leaf && !(dir & BU_DIR_OUT && one->from == at) &&
		     !(dir & BU_DIR_IN && one->to == at)))
			continue;
		if (one->bad)
			return BU_LINK_BAD;
		seen = 1;
	}
	return seen ? BU_LINK_GOOD : BU_LINK_UNKNOWN;
}
