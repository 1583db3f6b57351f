/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign between leaves over a log that the test writes: no agent, no time, no look
 * of the gate. All nodes are good on their rails. Links carry 1 Gbit/s, of which half
 * must arrive, so that all figures are exact.
 */
#ifndef BU_TESTS_SUPPORT_BETWEEN_H
#define BU_TESTS_SUPPORT_BETWEEN_H

#include "base/json.h"
#include "base/text.h"
#include "model/hello.h"
#include "provisioner/gate/campaign/spines.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

struct between {
	struct rig rig;
	struct bu_gate *gate;
	struct bu_leaf_campaign campaign;
	int nodes;
};

/* What a probe gave: [0] is from a to b, where a is the first by name. */
struct probed {
	int a, b;         /* numbers of nodes */
	const char *rail; /* "fabric", "fabric/rail1" */
	float gbps[2];
	float lost[2];
	int doubt[2];
	float us[2];          /* round trips; 0 = any */
	int mtu;              /* of the path; 0 = not told */
	int failed;           /* no result */
	int single;           /* of one queue pair */
	const char *paths[2]; /* "[{'hops':['10.9.1.1']}]"; NULL = not traced */
	const char *boot[2];  /* NULL = the present ones */
};

/* each: nodes at a leaf; of rail k it is "leafK1" and on. more: lines of each network.
 */
static inline void
between_begin(struct between *b, int nodes, int rails, int each,
	      const char *const *more)
{
	struct bu_desired *desired;

	*b = (struct between){.nodes = nodes};
	rig_begin(&b->rig, nodes);
	rig_open_gate(&b->rig);
	rig_give_rails_with(&b->rig, nodes, rails, more);
	b->gate = b->rig.gate;
	desired = b->rig.fleet->desired;
	for (size_t i = 0; i < desired->networks_count; i++)
		desired->networks[i].link_gbps = 1;
	b->gate->leaf_accused = json_object();
	b->gate->roles = bu_xcalloc(desired->nodes_count, sizeof(*b->gate->roles));
	for (int i = 1; i <= nodes; i++) {
		struct bu_desired_node *want = &desired->nodes[i - 1];
		struct bu_node *node = rig_node(&b->rig, i);
		int leaf = (i - 1) / each + 1;

		rig_set_boot(node, i);
		node->live.rails_good = UINT64_MAX;
		b->gate->roles[i - 1] =
			(struct bu_role){.node = node, .want = want, .ready = 1};
		free(want->switch_ports);
		want->switch_ports = bu_xasprintf(
			"fabric=leaf0%d:p%d,rail1=leaf1%d:p%d,rail2=leaf2%d:p%d", leaf,
			i, leaf, i, leaf, i);
	}
}

static inline struct bu_desired_network *
between_network(const struct between *b, const char *name)
{
	struct bu_desired *desired = b->rig.fleet->desired;

	for (size_t i = 0; i < desired->networks_count; i++)
		if (strcmp(desired->networks[i].name, name) == 0)
			return &desired->networks[i];
	ck_abort_msg("no network %s", name);
	return NULL;
}

/* One more row of the log. */
static inline void
between_log(const struct between *b, const struct probed *one)
{
	const int number[2] = {one->a, one->b};
	static int64_t seq;
	char name[2][16], boot[2][24];
	union bu_body body = {.pair = {.probe = "p",
				       .rail = one->rail,
				       .mtu = one->mtu,
				       .error = one->failed ? "no device" : ""}};
	bu_autojson json_t *paths = json_object();
	struct bu_event event = {.kind = BU_EVENT_PAIR, .seq = ++seq};
	struct bu_err err;

	for (int i = 0; i < 2; i++) {
		static const char *const dirs[] = {"a_to_b", "b_to_a"};

		snprintf(name[i], sizeof(name[i]), "node%03d", number[i]);
		snprintf(boot[i], sizeof(boot[i]), "boot-%d", number[i]);
		if (one->boot[i])
			snprintf(boot[i], sizeof(boot[i]), "%s", one->boot[i]);
		body.pair.flows[i] = (struct bu_body_flow){
			.rate_gbps = one->gbps[i],
			.lat_us = one->us[i] > 0 ? one->us[i] : 3 + i,
			.lat99_us = 5 + i,
			.lost = one->lost[i],
			.doubt = one->doubt[i]};
		if (one->paths[i])
			json_object_set_new(paths, dirs[i], quoted(one->paths[i]));
	}
	body.pair.a = name[0];
	body.pair.b = name[1];
	body.pair.boot_a = boot[0];
	body.pair.boot_b = boot[1];
	body.pair.single = one->single;
	body.pair.paths = paths;
	body.pair.flows_count = one->failed ? 0 : 2;
	body.pair.errors = one->failed;
	event.body = bu_record_to_json(bu_body_fields(BU_EVENT_PAIR), &body);
	ck_assert_msg(bu_fleet_replay(b->rig.fleet, &event, &err) == 0, "%s", err.text);
	bu_event_fini(&event);
}

/* network: the rail alone, or the first of its switch fabric. What
 * bu_leaf_campaign_open() says. */
static inline int
between_open(struct between *b, const char *network)
{
	int open = bu_leaf_campaign_open(b->gate, between_network(b, network),
					 &b->campaign);

	b->campaign.min_gbps = 0.5;
	return open;
}

static inline void
between_close(struct between *b)
{
	bu_leaf_campaign_close(&b->campaign);
	b->campaign = (struct bu_leaf_campaign){.gate = NULL};
}

static inline void
between_end(struct between *b)
{
	bu_gate_roles_drop(b->gate);
	rig_end(&b->rig);
}

/* What an accusation has under this name. */
static inline void
entry_is(const json_t *entry, const char *name, const char *want)
{
	bu_autojson json_t *should = quoted(want);
	const json_t *value = json_object_get(entry, name);
	bu_autofree char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

	ck_assert_msg(json_equal(value, should), "%s: %s, not %s", name, text, want);
}

/* A campaign that is over, and what it says. */
struct over {
	struct between b;
	struct bu_spines spines;
	struct bu_accusation bundles[4], links[4];
	struct bu_crossing crossings[4];
};

static inline void
over_begin(struct over *over, int nodes, int rails, int each, const char *const *more)
{
	*over = (struct over){.links = {{.what = BU_WHAT_LINK}}};
	between_begin(&over->b, nodes, rails, each, more);
	ck_assert_int_eq(between_open(&over->b, "fabric"), 1);
	over->b.campaign.report.accusations = over->bundles;
	over->spines = (struct bu_spines){.campaign = &over->b.campaign,
					  .topology = over->b.campaign.topology,
					  .list = over->crossings};
	over->spines.topology.spine_ids = (struct bu_ids){json_array(), json_object()};
	bu_ids_place(&over->spines.topology.spine_ids, "s1");
	bu_ids_place(&over->spines.topology.spine_ids, "s2");
	over->spines.report.accusations = over->links;
}

static inline void
over_end(struct over *over)
{
	json_decref(over->spines.topology.spine_ids.list);
	json_decref(over->spines.topology.spine_ids.index);
	over->b.campaign.report = (struct bu_report){.count = 0};
	between_close(&over->b);
	between_end(&over->b);
}

static inline void
accuse(struct over *over, struct bu_accusation one)
{
	over->bundles[over->b.campaign.report.count++] = one;
}

static inline void
accuse_link(struct over *over, struct bu_accusation one)
{
	over->links[over->spines.report.count++] = one;
}

/* The newest flow from one leaf to another over a spine. */
static inline void
cross(struct over *over, int from, int to, const char *spine, int bad)
{
	over->crossings[over->spines.count++] = (struct bu_crossing){
		.from = from, .to = to, .name = spine, .newest = 1, .bad = bad != 0};
}

#endif
