/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdicts of a campaign on its candidates: certificates, quarantine, or a reason
 * for waiting. Called at each look. Invariants: only a node that is good in every
 * respect is certified; only a node that stands accused after its second test is
 * quarantined. No node is quarantined for an accused larger part, among several
 * suspects that no test tells apart, by tests with one partner alone, or by those with
 * two when it was good with a third.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/task.h"

/* FEW_WITNESSES: may all be at fault themselves. ALIBI_TESTS: good tests that are no
 * luck. WORDS_MAX: bytes of an accusation beside the name of its rail. */
enum {
	FEW_WITNESSES = 2,
	ALIBI_TESTS = 2,
	WORDS_MAX = BU_REASON_TEXT_MAX - BU_NAME_MAX - BU_REASON_TEXTS,
};

/* Bits of the node's rails in the profile. */
static uint64_t
rails_of(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	size_t count = want ? want->pool->rails_count : 0;

	return count ? UINT64_MAX >> (64 - count) : 0;
}

/* For a node that is good on this rail, but not on all of its rails yet. */
static void
await_rails(const struct bu_campaign_state *campaign, struct bu_node *node,
	    uint64_t missing)
{
	const struct bu_desired_node *want =
		bu_fleet_desired(campaign->gate->fleet, node);
	bu_autofree char *names = NULL;
	struct bu_reason reason;

	for (size_t i = 0; i < want->pool->rails_count; i++) {
		if (missing >> i & 1)
			bu_text_add(&names, ", ", "%s", want->pool->rails[i]->name);
	}
	BU_REASON_SET(&reason, RAIL_NOT_PROVEN,
		      .text = {campaign->fabric->name, names});
	bu_node_reason_set_of_rail(campaign, node, &reason);
}

static void
certify(const struct bu_campaign_state *campaign, int index)
{
	struct bu_gate *gate = campaign->gate;
	struct bu_node *node = campaign->nodes[index];
	static const struct bu_reason none;
	int64_t start_ms = bu_mono_ms(gate->stopwatch);
	struct bu_event events[2];
	struct bu_err err;
	int rc = bu_gate_certify(gate, node, events, &err);

	gate->once_ms += bu_mono_ms(gate->stopwatch) - start_ms;
	if (rc == 0) {
		bu_node_reason_set(gate, node, &none);
		bu_fleet_signed(gate->fleet, node, events);
		bu_reconcile_note(gate->rec, events, 2);
		return;
	}
	/* Good pairs may have a bad last result, as after a person's run. */
	bu_node_reason_make(gate, node, UNCERTIFIABLE, .text = {err.text});
	bu_gate_tire((struct bu_campaign_state *)(uintptr_t)campaign, index);
}

/* Signs the certificates. When the log has them, the next look asks for the change of
 * state, whose guard checks them again. */
static void
prove(struct bu_campaign_state *campaign, int index)
{
	struct bu_gate *gate = campaign->gate;
	struct bu_node *node = campaign->nodes[index];
	int place = bu_role_place(campaign->role[index], campaign->fabric);
	struct bu_reason across;
	uint64_t missing;

	/* The rail is good also while certificates are on their way to the log. */
	node->live.rails_good |= UINT64_C(1) << place;
	if (node->live.appending)
		return;
	missing = rails_of(gate, node) & ~node->live.rails_good;
	BU_REASON_SET(&across, TESTED_ACROSS);
	if (missing)
		await_rails(campaign, node, missing);
	else if (bu_leaf_campaign_holds(gate, node))
		bu_node_reason_set_of_rail(campaign, node, &across);
	else
		certify(campaign, index);
}

/* The log has the node's certificates of this boot. */
static void
let_in(struct bu_gate *gate, struct bu_node *node)
{
	struct bu_err err;

	if (node->state != BU_STATE_VALIDATING || node->live.appending)
		return;
	if (bu_reconcile_fire(gate->rec, node, BU_TRIGGER_PROVEN, NULL, &err) != 0)
		bu_node_reason_make(gate, node, NOT_LET_IN, .text = {err.text});
}

/* Does the accusation concern this node, alone or with others? */
static int
concerns(const struct bu_campaign_state *campaign,
	 const struct bu_accusation *accusation, int node)
{
	int leaf = campaign->topology.leaf_of[node];

	switch (accusation->what) {
	case BU_WHAT_ENDPOINT:
		return accusation->port == node;
	case BU_WHAT_INCONCLUSIVE:
		return accusation->node == node;
	case BU_WHAT_LEAF:
	case BU_WHAT_LINK:
		return accusation->leaf == leaf;
	case BU_WHAT_SPINE:
		return 1;
	case BU_WHAT_ANY:
		for (int i = 0; i < accusation->of_count; i++) {
			if (concerns(campaign, &accusation->of[i], node))
				return 1;
		}
	}
	return 0;
}

/* The most specific accusation: of the node, of its instrument, of suspects not told
 * apart, of a larger part. */
static const struct bu_accusation *
accusation_of(const struct bu_campaign_state *campaign, int node)
{
	static const enum bu_what order[] = {BU_WHAT_ENDPOINT, BU_WHAT_INCONCLUSIVE,
					     BU_WHAT_ANY,      BU_WHAT_LEAF,
					     BU_WHAT_LINK,     BU_WHAT_SPINE};

	for (size_t k = 0; k < BU_LEN(order); k++) {
		for (int i = 0; i < campaign->report.count; i++) {
			const struct bu_accusation *a =
				&campaign->report.accusations[i];

			if (a->what == order[k] && concerns(campaign, a, node))
				return a;
		}
	}
	return NULL;
}

/* The node's own part among suspects that no test tells apart, if no other node is
 * among them: its quarantine takes the fault out of service in any case. NULL = there
 * are other nodes. */
static const struct bu_accusation *
alone_among(const struct bu_accusation *any, int node)
{
	const struct bu_accusation *own = NULL;

	for (int i = 0; i < any->of_count; i++) {
		const struct bu_accusation *one = &any->of[i];

		if (one->what == BU_WHAT_ENDPOINT && one->port != node)
			return NULL;
		if (one->what == BU_WHAT_ENDPOINT)
			own = one;
	}
	return own;
}

static void
quarantine(struct bu_gate *gate, const struct bu_campaign_state *campaign, int index,
	   const struct bu_accusation *accusation, int or_leaf)
{
	struct bu_node *node = campaign->nodes[index];
	json_t *said = bu_explain_accused(campaign, index, accusation, or_leaf);
	bu_autofree char *words = bu_said_fit(said, WORDS_MAX);
	bu_autojson json_t *codes =
		bu_accusation_to_json(&campaign->topology, accusation);
	struct bu_reason reason;
	struct bu_charge charge = {&reason, bu_accusation_hint(accusation), codes};

	json_object_set_new(codes, "rail", json_string(campaign->fabric->name));
	bu_reason_set(&reason, BU_REASON_FABRIC_ACCUSED, NULL);
	bu_node_reason_name_rail(campaign, node, &reason);
	bu_reason_set_text(&reason, "words", words);
	if (!bu_task_is_busy(gate, node->name))
		bu_gate_accuse(gate, node, &charge, NULL, 0);
}

/* For a node whose last probe failed: sets the reason, and the deadline decides. 0 = no
 * probe failed last. */
static int
say_unmeasured(const struct bu_campaign_state *campaign, int index)
{
	struct bu_reason why;

	if (!bu_explain_unmeasured(campaign, index, &why))
		return 0;
	bu_node_reason_set_of_rail(campaign, campaign->nodes[index], &why);
	return 1;
}

/* 1 = all sound results of the pair are good, and ALIBI_TESTS at least. */
static int
were_good(const struct bu_campaign_state *campaign, const struct bu_pair_log *log)
{
	double least = bu_expect_min_gbps(&campaign->expect, 0);
	int good = 0;

	for (size_t i = 0; i < log->count; i++) {
		const struct bu_measured *m = &log->list[i];

		if (m->dir[0].doubt || m->dir[1].doubt)
			continue;
		if (m->dir[0].rate_gbps < least || m->dir[1].rate_gbps < least)
			return 0;
		good++;
	}
	return good >= ALIBI_TESTS;
}

/* 1 = at most FEW_WITNESSES nodes accuse this one, which was good with a node that is
 * absent now: the links of the witnesses may have become slow instead. */
static int
was_good_with_absent(const struct bu_campaign_state *campaign, int index)
{
	const struct bu_fleet *fleet = campaign->gate->fleet;
	const struct bu_node *node = campaign->nodes[index];
	const char *rail = campaign->fabric->name;
	struct bu_pairs_of pairs = bu_measurements_of(fleet, node->name, rail);

	if (campaign->candidates + campaign->partners - 1 > FEW_WITNESSES)
		return 0;
	for (size_t i = 0; i < pairs.count; i++) {
		const struct bu_pair_log *log =
			&fleet->measurements.logs[pairs.places[i]];
		int side, other;

		if (!bu_gate_is_of(log, rail, node, &side))
			continue;
		other = bu_gate_place(&campaign->topology, log->name[!side]);
		if ((other < 0 || campaign->absent[other]) && were_good(campaign, log))
			return 1;
	}
	return 0;
}

static void
judge_accused(struct bu_gate *gate, const struct bu_campaign_state *campaign, int index,
	      const struct bu_accusation *accusation)
{
	const struct bu_accusation *own;
	bu_autofree char *cause = NULL;
	struct bu_reason why;

	if (accusation->what == BU_WHAT_ENDPOINT && !accusation->witness &&
	    !was_good_with_absent(campaign, index)) {
		quarantine(gate, campaign, index, accusation, 0);
		return;
	}
	own = accusation->what == BU_WHAT_ANY ? alone_among(accusation, index) : NULL;
	if (own && !own->witness && campaign->candidates + campaign->partners > 2) {
		quarantine(gate, campaign, index, own, 1);
		return;
	}
	if (accusation->what == BU_WHAT_INCONCLUSIVE) {
		cause = bu_accusation_text(&campaign->topology, accusation);
		if (say_unmeasured(campaign, index))
			return;
		BU_REASON_SET(&why, INCONCLUSIVE, .text = {cause});
		bu_node_reason_set_of_rail(campaign, campaign->nodes[index], &why);
		return;
	}
	bu_explain_waiting(campaign, index, accusation, &why);
	bu_node_reason_set_of_rail(campaign, campaign->nodes[index], &why);
}

/* Why the node has no partner. */
static void
why_alone(const struct bu_campaign_state *campaign, struct bu_reason *ret)
{
	const char *first = NULL;
	int away = 0;

	for (int i = 0; i < campaign->topology.nodes; i++) {
		const struct bu_node *node = campaign->nodes[i];

		if (!node || !campaign->absent[i] ||
		    (node->state != BU_STATE_VALIDATING &&
		     !bu_state_serves(node->state)))
			continue;
		first = first ? first : node->name;
		away++;
	}
	if (campaign->unlent)
		BU_REASON_SET(ret, PARTNERS_IN_USE, .number = {campaign->unlent});
	else if (campaign->unproven)
		BU_REASON_SET(ret, RAIL_UNPROVEN, .number = {campaign->unproven});
	else if (away)
		BU_REASON_SET(ret, PARTNERS_AWAY, .text = {first}, .number = {away});
	else
		bu_reason_set(ret, BU_REASON_NO_PARTNER, NULL);
}

/* The campaign is over, and the node is neither good nor accused. */
static void
judge_open(const struct bu_campaign_state *campaign, int index)
{
	int alone = campaign->candidates + campaign->partners < 2;
	struct bu_reason reason;

	if (!alone && say_unmeasured(campaign, index))
		return;
	if (alone)
		why_alone(campaign, &reason);
	else if (campaign->report.ports[index] == BU_PORT_SUSPECTED)
		bu_reason_set(&reason, BU_REASON_UNDECIDED, NULL);
	else
		bu_reason_set(&reason, BU_REASON_NO_FREE_PARTNER, NULL);
	bu_node_reason_set_of_rail(campaign, campaign->nodes[index], &reason);
}

/* The campaign has questions left: pairs are being probed, or will be. */
static void
judge_under_way(struct bu_gate *gate, const struct bu_campaign_state *campaign,
		int index)
{
	enum bu_reason_code why = BU_REASON_NONE;
	struct bu_reason reason;

	if (say_unmeasured(campaign, index))
		return;
	if (campaign->slow)
		why = campaign->report.ports[index] == BU_PORT_SUSPECTED
			      ? BU_REASON_UNDECIDED_YET
			      : BU_REASON_OTHERS_UNDECIDED;
	bu_reason_set(&reason, why, NULL);
	bu_node_reason_set_of_rail(campaign, campaign->nodes[index], &reason);
}

static void
judge_candidate(struct bu_gate *gate, struct bu_campaign_state *campaign, int index)
{
	const struct bu_accusation *accusation = accusation_of(campaign, index);
	struct bu_node *node = campaign->nodes[index];
	int place = bu_role_place(campaign->role[index], campaign->fabric);

	node->live.rails_good &= ~(UINT64_C(1) << place);
	if (campaign->report.ports[index] == BU_PORT_GOOD)
		prove(campaign, index);
	else if (!campaign->over)
		judge_under_way(gate, campaign, index);
	else if (accusation)
		judge_accused(gate, campaign, index, accusation);
	else
		judge_open(campaign, index);
}

void
bu_gate_judge(struct bu_gate *gate, struct bu_campaign_state *campaign)
{
	for (int i = 0; i < campaign->topology.nodes; i++) {
		if (campaign->trusted[i])
			let_in(gate, campaign->nodes[i]);
		else if (campaign->candidate[i])
			judge_candidate(gate, campaign, i);
	}
}
