/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remarks for people, for which no node is held. Asked by the API and by evidence.c.
 * Invariant: a remark changes nothing about a node.
 */
#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/switches.h"
#include "provisioner/gate/task/incast.h"
#include "provisioner/gate/task/nvlink.h"

/* Adds each reason once; said is taken, NULL = none. */
static void
add(json_t *list, json_t *said)
{
	size_t i;
	json_t *one;
	int is_new = said != NULL;

	json_array_foreach (list, i, one)
		is_new &= !json_equal(one, said);
	if (is_new)
		json_array_append(list, said);
	json_decref(said);
}

static void
add_rates(const struct bu_gate *gate, const struct bu_desired_pool *pool, json_t *list)
{
	for (size_t i = 0; i < pool->rails_count; i++)
		add(list, bu_gate_bw_warning(gate, pool->validation, pool->rails[i]));
}

/* 1 = the pair's last result is slow in a direction, 0 = good in both, -1 = none or in
 * doubt. */
static int
is_slow(const struct bu_expect *expect, const struct bu_pair_log *log)
{
	const struct bu_measured *m = log->count ? &log->list[log->count - 1] : NULL;

	if (!m || m->dir[0].doubt || m->dir[1].doubt)
		return -1;
	return m->dir[0].rate_gbps < bu_expect_min_gbps(expect, m->mtu) ||
	       m->dir[1].rate_gbps < bu_expect_min_gbps(expect, m->mtu);
}

/* Slow pairs of a certified node accuse no node: its link may have become slow, and so
 * may the path between both nodes. */
static void
add_slow_pairs(const struct bu_gate *gate, const struct bu_node *node,
	       const struct bu_desired_network *rail, json_t *list)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	struct bu_expect expect = bu_gate_expect(gate, want->validation, rail);
	bu_autojson json_t *names = json_array();
	struct bu_pairs_of pairs =
		bu_measurements_of(gate->fleet, node->name, rail->name);
	int good = 0;

	for (size_t i = 0; i < pairs.count; i++) {
		const struct bu_pair_log *log =
			&gate->fleet->measurements.logs[pairs.places[i]];
		const struct bu_node *other;
		int side, slow = is_slow(&expect, log);

		if (slow < 0 || !bu_gate_is_of(log, rail->name, node, &side))
			continue;
		other = bu_fleet_node(gate->fleet, log->name[!side]);
		if (!other || strcmp(other->boot_id, log->boot[!side]) != 0)
			continue;
		good += !slow;
		if (slow && !bu_leaf_campaign_explains(gate, log) &&
		    (other->state == BU_STATE_VALIDATING ||
		     bu_state_serves(other->state)))
			json_array_append_new(names, json_string(other->name));
	}
	if (json_array_size(names))
		add(list, BU_SAID(SLOW_WITH, BU_ARG_SAID("nodes", json_incref(names)),
				  BU_ARG_NUMBER("good", good > 0),
				  BU_ARG("rail", rail->name)));
}

json_t *
bu_gate_warnings(const struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;
	json_t *list = json_array();

	for (size_t i = 0; desired && i < desired->pools_count; i++)
		add_rates(gate, &desired->pools[i], list);
	bu_leaf_campaign_warnings(gate, NULL, list);
	bu_switches_warnings(gate, NULL, list);
	return list;
}

json_t *
bu_gate_remarks(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	json_t *list = json_array();

	if (!want || !want->validation)
		return list;
	add_rates(gate, want->pool, list);
	add(list, bu_incast_said(node));
	add(list, bu_gate_nvlink_said(gate, node));
	bu_leaf_campaign_warnings(gate, node, list);
	bu_switches_warnings(gate, node, list);
	for (size_t i = 0; i < want->pool->rails_count; i++)
		if (bu_state_serves(node->state))
			add_slow_pairs(gate, node, want->pool->rails[i], list);
	return list;
}
