// SPDX-License-Identifier: Apache-2.0
/*
 * The decoder, asked by the gate after each round. Pure. Invariants: a certified node
 * is never judged; nobody is accused without a proven peer that saw it; a slow pair of
 * two unproven nodes accuses neither; a half that any probe passed is not accused.
 */
#include "fabric/judge/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum half { SENDS, RECEIVES, HALVES };

static const char *const half_names[] = {"sending", "receiving"};

/* One direction of one result. */
struct sight {
	int node[HALVES]; /* index of the end that sends, and of the one that receives
			   */
	enum bu_verdict verdict;
	const struct bu_pair_dir *dir;
	char reason[BU_REASON_SIZE];
};

struct decoder {
	const struct bu_decode_node *nodes;
	int node_count;
	struct sight *sights;
	int sight_count;
	unsigned char (*good)[HALVES]; /* per node */
	double wanted_gbps;
};

const char *
bu_finding_name(enum bu_finding_kind kind)
{
	static const char *const names[] = {
#define X(id, name) [BU_FINDING_##id] = name,
		BU_FINDINGS(X)
#undef X
	};

	return (size_t)kind < BU_LEN(names) ? names[kind] : "inconclusive";
}

static int
find_node(const struct decoder *d, const char *name)
{
	for (int i = 0; i < d->node_count; i++) {
		if (strcmp(d->nodes[i].name, name) == 0)
			return i;
	}
	return -1;
}

static int
passed(const struct sight *sight)
{
	return sight->verdict == BU_VERDICT_PASS || sight->verdict == BU_VERDICT_WARN;
}

static int
is_proven(const struct decoder *d, int node)
{
	return d->good[node][SENDS] && d->good[node][RECEIVES];
}

static void
collect(struct decoder *d, const struct bu_pair_result *result,
	const struct bu_expect *expect)
{
	int node[2] = {find_node(d, result->end[BU_END_A].node),
		       find_node(d, result->end[BU_END_B].node)};

	if (node[0] < 0 || node[1] < 0 || node[0] == node[1])
		return;
	for (int from = 0; from < 2; from++) {
		struct sight *sight = &d->sights[d->sight_count++];

		sight->node[SENDS] = node[from];
		sight->node[RECEIVES] = node[!from];
		sight->dir = &result->dir[from];
		sight->verdict = bu_expect_judge(expect, result, from, sight->reason);
		if (sight->verdict == BU_VERDICT_INCONCLUSIVE &&
		    result->error.kind != BU_ERR_NONE)
			snprintf(sight->reason, sizeof(sight->reason), "%s",
				 result->error.text);
		if (!passed(sight))
			continue;
		d->good[node[from]][SENDS] = 1;
		d->good[node[!from]][RECEIVES] = 1;
	}
}

static void append(struct bu_finding *finding, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void
append(struct bu_finding *finding, const char *fmt, ...)
{
	size_t used = strlen(finding->text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(finding->text + used, sizeof(finding->text) - used, fmt, args);
	va_end(args);
}

/* The peer of a sight, when this half of the node is the one that took part; else -1.
 */
static int
peer_of(const struct sight *sight, int node, enum half half)
{
	return sight->node[half] == node ? sight->node[!half] : -1;
}

static void
add_peer(struct bu_finding *finding, int peer)
{
	for (int i = 0; i < finding->peer_count; i++) {
		if (finding->peers[i] == peer)
			return;
	}
	if (finding->peer_count < BU_PEERS_MAX)
		finding->peers[finding->peer_count++] = peer;
}

/* What arrived; runs before a loss do not count. */
static double
figure_of(const struct sight *sight)
{
	return sight->dir->error.kind == BU_ERR_NONE ? sight->dir->bw_median_gbps : 0;
}

/* Accuses one half when a proven peer saw it fail and nobody saw it pass. */
static void
accuse_half(const struct decoder *d, int node, enum half half,
	    struct bu_finding *finding)
{
	const struct sight *best = NULL;

	if (d->good[node][half])
		return;
	for (int i = 0; i < d->sight_count; i++) {
		const struct sight *sight = &d->sights[i];
		int peer = peer_of(sight, node, half);

		if (peer < 0 || sight->verdict != BU_VERDICT_FAIL ||
		    !is_proven(d, peer))
			continue;
		add_peer(finding, peer);
		if (!best || figure_of(sight) > figure_of(best))
			best = sight;
	}
	if (!best)
		return;
	if (finding->kind != BU_FINDING_ACCUSED ||
	    figure_of(best) < finding->figure_gbps)
		finding->figure_gbps = figure_of(best);
	finding->kind = BU_FINDING_ACCUSED;
	finding->wanted_gbps = d->wanted_gbps;
	*(half == SENDS ? &finding->sends_slow : &finding->receives_slow) = 1;
	append(finding, "%s%s (%s to %s): %s", finding->text[0] ? "; " : "",
	       half_names[half], d->nodes[best->node[SENDS]].name,
	       d->nodes[best->node[RECEIVES]].name, best->reason);
}

static void
name_peers(const struct decoder *d, struct bu_finding *finding)
{
	append(finding, " (seen by proven");
	for (int i = 0; i < finding->peer_count; i++)
		append(finding, "%s %s", i ? "," : "",
		       d->nodes[finding->peers[i]].name);
	append(finding, ")");
}

static void
find_partner(const struct decoder *d, int node, struct bu_finding *finding)
{
	for (int i = 0; i < d->sight_count; i++) {
		const struct sight *sight = &d->sights[i];
		int peer = sight->node[SENDS] == node      ? sight->node[RECEIVES]
			   : sight->node[RECEIVES] == node ? sight->node[SENDS]
							   : -1;

		if (peer < 0 || !passed(sight))
			continue;
		if (finding->partner < 0 ||
		    (d->nodes[peer].certified && !d->nodes[finding->partner].certified))
			finding->partner = peer;
	}
	append(finding, "both directions pass with %s",
	       d->nodes[finding->partner].name);
}

static void
explain_slow(const struct decoder *d, int node, const struct sight *slow, int others,
	     struct bu_finding *finding)
{
	int peer = slow->node[slow->node[SENDS] == node ? RECEIVES : SENDS];

	append(finding, "slow pair with %s (%s to %s: %s)", d->nodes[peer].name,
	       d->nodes[slow->node[SENDS]].name, d->nodes[slow->node[RECEIVES]].name,
	       slow->reason);
	if (others)
		append(finding,
		       "; slow with others too, none of them proven: check the "
		       "switch and the expected rate");
	else
		append(finding,
		       "; no third machine or certified partner can tell which");
}

/* Neither proven nor accused. A failing direction whose other end is unproven waits for
 * a third machine; else the instrument failed, or there was no probe yet. */
static void
explain_open(const struct decoder *d, int node, struct bu_finding *finding)
{
	const struct sight *slow = NULL, *broken = NULL;
	int slow_peer = -1, others = 0;

	for (int i = 0; i < d->sight_count; i++) {
		const struct sight *sight = &d->sights[i];

		for (enum half half = SENDS; half < HALVES; half++) {
			int peer = peer_of(sight, node, half);

			if (peer < 0 || d->good[node][half])
				continue;
			if (sight->verdict == BU_VERDICT_INCONCLUSIVE)
				broken = sight;
			if (sight->verdict != BU_VERDICT_FAIL)
				continue;
			others |= slow_peer >= 0 && slow_peer != peer;
			slow_peer = peer;
			slow = sight;
		}
	}
	finding->kind = BU_FINDING_WAITING;
	if (slow) {
		explain_slow(d, node, slow, others, finding);
	} else if (broken) {
		finding->kind = BU_FINDING_INCONCLUSIVE;
		append(finding, "probe %s to %s: %s",
		       d->nodes[broken->node[SENDS]].name,
		       d->nodes[broken->node[RECEIVES]].name, broken->reason);
	} else {
		append(finding, "no partner has probed it yet");
	}
}

static void
judge_node(const struct decoder *d, int node, struct bu_finding *finding)
{
	*finding = (struct bu_finding){.kind = BU_FINDING_WAITING, .partner = -1};
	if (d->nodes[node].certified) {
		finding->kind = BU_FINDING_CERTIFIED;
		append(finding, "holds a certificate");
		return;
	}
	if (is_proven(d, node)) {
		finding->kind = BU_FINDING_PROVEN;
		find_partner(d, node, finding);
		return;
	}
	accuse_half(d, node, SENDS, finding);
	accuse_half(d, node, RECEIVES, finding);
	if (finding->kind == BU_FINDING_ACCUSED)
		name_peers(d, finding);
	else
		explain_open(d, node, finding);
}

void
bu_decode(const struct bu_decode_node *nodes, int node_count,
	  const struct bu_pair_result *const *results, int result_count,
	  const struct bu_expect *expect, struct bu_finding *ret)
{
	bu_autofree struct sight *sights =
		bu_xcalloc(2 * (size_t)result_count + 1, sizeof(*sights));
	bu_autofree void *good = bu_xcalloc((size_t)node_count + 1, HALVES);
	struct decoder d = {.nodes = nodes,
			    .node_count = node_count,
			    .sights = sights,
			    .good = good,
			    .wanted_gbps = bu_expect_min_gbps(expect)};

	for (int i = 0; i < node_count; i++)
		memset(d.good[i], nodes[i].certified != 0, HALVES);
	for (int i = 0; i < result_count; i++)
		collect(&d, results[i], expect);
	for (int i = 0; i < node_count; i++)
		judge_node(&d, i, &ret[i]);
}
