/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words the verdicts of the gate: figures, expectations and names from the results in
 * the log. Asked by verdicts.c. Invariant: a text says only what results say.
 */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/probe.h"

enum { WITNESSES_MAX = 8 }; /* that are named */

/* One result of a node in one direction. */
struct sight {
	const struct bu_pair_log *log;
	const struct bu_measured *m;
	int dir;  /* of the log */
	int peer; /* node of the campaign */
};

struct sights {
	struct sight *list;
	size_t count, cap;
};

/* All results of a node in its present boot. half: 0 = those in which it sends, 1 =
 * those in which it receives. */
static struct sights
sights_of(const struct bu_campaign_state *campaign, int node, int half)
{
	const struct bu_fleet *fleet = campaign->gate->fleet;
	const struct bu_node *own = campaign->nodes[node];
	struct sights sights = {NULL, 0, 0};
	struct bu_pairs_of pairs =
		bu_measurements_of(fleet, own->name, campaign->fabric->name);

	for (size_t i = 0; i < pairs.count; i++) {
		const struct bu_pair_log *log =
			&fleet->measurements.logs[pairs.places[i]];
		int side, peer;

		if (!bu_gate_is_of(log, campaign->fabric->name, own, &side))
			continue;
		peer = bu_gate_place(&campaign->topology, log->name[!side]);
		for (size_t k = 0; k < log->count && peer >= 0; k++) {
			sights.list = bu_xgrow(sights.list, &sights.cap,
					       sights.count + 1, sizeof(*sights.list));
			sights.list[sights.count++] = (struct sight){
				log, &log->list[k], half == 0 ? side : !side, peer};
		}
	}
	return sights;
}

static const char *
name_of(const struct sight *sight, int end)
{
	return sight->log->name[end ? !sight->dir : sight->dir];
}

static int
is_proven(const struct bu_campaign_state *campaign, int node)
{
	return campaign->trusted[node] || campaign->report.ports[node] == BU_PORT_GOOD;
}

/* The bad result with the highest rate, with a proven partner if there is one: the text
 * against a node quotes the result that accuses it least. */
static const struct sight *
best_bad(const struct bu_campaign_state *campaign, const struct sights *sights)
{
	double min_gbps = bu_expect_min_gbps(&campaign->expect, 0);
	const struct sight *best = NULL;

	for (int proven = 1; proven >= 0 && !best; proven--) {
		for (size_t i = 0; i < sights->count; i++) {
			const struct sight *sight = &sights->list[i];
			const struct bu_measured_dir *dir = &sight->m->dir[sight->dir];

			if (dir->doubt || dir->rate_gbps >= min_gbps ||
			    (proven && !is_proven(campaign, sight->peer)))
				continue;
			if (!best || dir->rate_gbps > best->m->dir[best->dir].rate_gbps)
				best = sight;
		}
	}
	return best;
}

/* How the accused node sends or receives; words: its argument of this name. */
static json_t *
way_said(const struct sight *sight, int half, struct bu_arg words)
{
	const struct bu_arg args[] = {BU_ARG("from", name_of(sight, 0)),
				      BU_ARG("to", name_of(sight, 1)),
				      words,
				      {.name = NULL}};

	return bu_said_new(half ? BU_REASON_RECEIVES : BU_REASON_SENDS, args);
}

static json_t *
rate_said(const struct bu_campaign_state *campaign, const struct sight *sight, int half)
{
	char reason[BU_REASON_SIZE] = "slow";
	bu_autofree struct bu_pair_result *result = bu_xcalloc(1, sizeof(*result));

	if (bu_probe_read(campaign->gate, sight->m->seq, result) == 0)
		bu_expect_judge(&campaign->expect, result, sight->dir, reason);
	return way_said(sight, half, (struct bu_arg)BU_ARG("words", reason));
}

/* The lost packets, the counter that shows most of them, and the latency. */
static json_t *
losses_said(const struct bu_campaign_state *campaign, const struct sight *sight)
{
	bu_autofree struct bu_pair_result *result = bu_xcalloc(1, sizeof(*result));
	const struct bu_pair_dir *dir = &result->dir[sight->dir];
	enum bu_counter counter = BU_COUNTER_OUT_OF_SEQUENCE;
	struct bu_arg args[] = {{.name = "link"},    {.name = "lost"},
				{.name = "counter"}, {.name = "count"},
				{.name = "node"},    {.name = "high"},
				{.name = "median"},  {.name = NULL}};
	int end = 0, known;

	known = bu_probe_read(campaign->gate, sight->m->seq, result) == 0 &&
		bu_probe_lost(dir, &counter, &end) > 0;
	args[0].number = bu_counter_kind(counter) == BU_COUNTER_LINK;
	args[1].number = args[0].number ? 0 : (int64_t)sight->m->dir[sight->dir].lost;
	if (known) {
		args[2].text = bu_counter_name(counter);
		args[3].number = dir->counters[end].count[counter];
		args[4].text = result->end[end].node;
		args[5].number = llround(dir->lat_p99_us);
		args[6].number = llround(dir->lat_median_us);
	} else {
		args[2].name = NULL;
	}
	return bu_said_new(BU_REASON_LOSSES, args);
}

static void
add_loss(json_t *list, const struct bu_campaign_state *campaign,
	 const struct sights *sights, int half)
{
	const struct sight *worst = NULL;

	for (size_t i = 0; i < sights->count; i++) {
		const struct sight *sight = &sights->list[i];

		if (sight->m->dir[sight->dir].lost > 0 &&
		    (!worst ||
		     sight->m->dir[sight->dir].lost > worst->m->dir[worst->dir].lost))
			worst = sight;
	}
	if (worst)
		json_array_append_new(
			list, way_said(worst, half,
				       (struct bu_arg)BU_ARG_SAID(
					       "words", losses_said(campaign, worst))));
}

/* Names of proven partners of these results. */
static json_t *
witnesses_of(const struct bu_campaign_state *campaign, const struct sights *sights)
{
	bu_autofree unsigned char *seen =
		bu_xcalloc((size_t)campaign->topology.nodes, 1);
	json_t *names = json_array();

	for (size_t i = 0; i < sights->count; i++)
		seen[sights->list[i].peer] = 1;
	for (int i = 0; i < campaign->topology.nodes; i++)
		if (seen[i] && is_proven(campaign, i) &&
		    json_array_size(names) < WITNESSES_MAX)
			json_array_append_new(names,
					      json_string(campaign->nodes[i]->name));
	return names;
}

/* 1 = no result of these has a rate above 0. */
static int
is_cut_off(const struct sights *sights)
{
	for (size_t i = 0; i < sights->count; i++) {
		if (sights->list[i].m->dir[sights->list[i].dir].rate_gbps > 0)
			return 0;
	}
	return sights->count > 0;
}

json_t *
bu_explain_accused(const struct bu_campaign_state *campaign, int node,
		   const struct bu_accusation *accusation, int or_leaf)
{
	bu_autofree char *cause = bu_accusation_text(&campaign->topology, accusation);
	json_t *seen = json_array(), *by = NULL;
	int cut_off = 1;

	for (int half = 0; half < 2; half++) {
		struct sights sights = sights_of(campaign, node, half);
		const struct sight *bad = best_bad(campaign, &sights);

		cut_off &= is_cut_off(&sights);
		if (accusation->dir & (half ? BU_DIR_IN : BU_DIR_OUT)) {
			if (bad)
				json_array_append_new(seen,
						      rate_said(campaign, bad, half));
			if (!bad || bu_accusation_has(accusation, BU_SYMPTOM_LOSS))
				add_loss(seen, campaign, &sights, half);
		}
		if (half == 1)
			by = witnesses_of(campaign, &sights);
		free(sights.list);
	}
	return BU_SAID(NODE_ACCUSED, BU_ARG_NUMBER("cut_off", cut_off),
		       BU_ARG_NUMBER("told", json_array_size(seen) > 0),
		       BU_ARG_SAID("seen", seen), BU_ARG_SAID("by", by),
		       BU_ARG("cause", cause),
		       BU_ARG("hint", bu_accusation_hint(accusation)),
		       BU_ARG_NUMBER("leaf", or_leaf));
}

/* "slow pair with B (A sends: A to B: REASON)" of best_bad(); NULL = none is bad. New
 * reference. ret_peers: above 0 = the node has results with several partners. */
static json_t *
slow_pair(const struct bu_campaign_state *campaign, int node, int *ret_peers)
{
	json_t *said = NULL;
	int last = -1;

	*ret_peers = 0;
	for (int half = 0; half < 2; half++) {
		struct sights sights = sights_of(campaign, node, half);
		const struct sight *bad = best_bad(campaign, &sights);

		for (size_t i = 0; i < sights.count; i++) {
			*ret_peers += last >= 0 && sights.list[i].peer != last ? 1 : 0;
			last = sights.list[i].peer;
		}
		if (bad && !said)
			said = BU_SAID(
				SLOW_PAIR,
				BU_ARG("peer", campaign->nodes[bad->peer]->name),
				BU_ARG_SAID("how", rate_said(campaign, bad, half)));
		free(sights.list);
	}
	return said;
}

void
bu_explain_waiting(const struct bu_campaign_state *campaign, int node,
		   const struct bu_accusation *accusation, struct bu_reason *ret)
{
	bu_autofree char *cause = bu_accusation_text(&campaign->topology, accusation);
	bu_autofree char *text = NULL;
	json_t *pair;
	char leaf[80];
	int peers;

	bu_ids_text(&campaign->topology.leaf_ids, campaign->topology.leaf_of[node],
		    leaf, sizeof(leaf));
	pair = slow_pair(campaign, node, &peers);
	text = pair ? bu_said_pack(pair) : bu_xstrdup(cause);
	if (accusation->what != BU_WHAT_ANY && accusation->what != BU_WHAT_ENDPOINT)
		BU_REASON_SET(ret, LEAF_ACCUSED, .text = {text, leaf, cause});
	else if (peers && accusation->what == BU_WHAT_ANY)
		BU_REASON_SET(ret, NODE_OR_LEAF,
			      .text = {text, leaf, campaign->nodes[node]->name});
	else if (accusation->witness && campaign->unlent)
		BU_REASON_SET(ret, NO_THIRD_IN_USE,
			      .text = {text, campaign->nodes[node]->name},
			      .number = {campaign->unlent});
	else
		BU_REASON_SET(ret, NO_THIRD,
			      .text = {text, campaign->nodes[node]->name});
}

/* Is the log of the present boots of both nodes? */
static int
is_present(const struct bu_fleet *fleet, const struct bu_pair_log *log)
{
	for (int i = 0; i < 2; i++) {
		const struct bu_node *node = bu_fleet_node(fleet, log->name[i]);

		if (!node || strcmp(node->boot_id, log->boot[i]) != 0)
			return 0;
	}
	return 1;
}

/* The error of the last probe, else the doubt about its instrument in one direction. */
static const char *
why_nothing(const struct bu_campaign_state *campaign, const struct bu_pair_brief *last,
	    char text[BU_REASON_SIZE])
{
	const char *error = last->error ? last->error : "";
	bu_autofree struct bu_pair_result *result = bu_xcalloc(1, sizeof(*result));

	if (*error || bu_probe_read(campaign->gate, last->seq, result))
		return error;
	for (int dir = 0; dir < 2; dir++) {
		if (bu_expect_doubt(&campaign->expect, result, dir, text))
			return text;
	}
	return error;
}

/* Words the last pair in the log whose last probe gave no sound result, in the present
 * boots of both nodes. */
int
bu_explain_unmeasured(const struct bu_campaign_state *campaign, int node,
		      struct bu_reason *ret)
{
	const struct bu_fleet *fleet = campaign->gate->fleet;
	const char *own = campaign->nodes[node]->name;
	char reason[BU_REASON_SIZE];
	const struct bu_pair_log *found = NULL;
	int failures = 0, errors = 0;
	struct bu_pairs_of pairs =
		bu_measurements_of(fleet, own, campaign->fabric->name);

	if (campaign->failed_of[node] == 0)
		return 0;
	for (size_t i = 0; i < pairs.count; i++) {
		const struct bu_pair_log *log =
			&fleet->measurements.logs[pairs.places[i]];

		if (bu_gate_failures(log) == 0 || !is_present(fleet, log))
			continue;
		found = log;
		failures = bu_gate_failures(log);
		errors = log->errors;
	}
	if (!found)
		return 0;
	bu_reason_set(ret, errors ? BU_REASON_PROBES_SILENT : BU_REASON_PROBES_IN_DOUBT,
		      &(struct bu_reason_args){
			      .text = {found->name[0], found->name[1],
				       why_nothing(campaign, &found->last, reason)},
			      .number = {failures, campaign->over},
		      });
	return 1;
}
