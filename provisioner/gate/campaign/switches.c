/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and judges the error counters of switches, where each flow takes all spines.
 * Newly certified nodes load the links; after each round at full load the site's
 * Prometheus or a node's agent reads the counters. Called by gate.c after the pairs
 * between leaves. The campaign runs from its start over the readings and the log, like
 * those of the rails. Invariants: only counters of switches are judged here, not the
 * results of tests; no node is accused or waits for a reading; a failed reading costs a
 * warning only; only tests between two readings count as load of the second.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "profiles/language/values.h"
#include "provisioner/gate/campaign/switches_impl.h"

/* GATHER_MS: wait for further certificates, so that nodes load links together. LATE_MS:
 * longest such wait, and longest campaign besides READINGS_MAX times switch_delay. */
enum { GATHER_MS = 30000, LATE_MS = 900000, READINGS_MAX = 64 };

/* One campaign while it runs. */
struct counting {
	struct bu_leaf_campaign campaign;
	struct bu_switches *counters;
	size_t readings;       /* given to the campaign */
	int lacks;             /* 1 = the campaign asked for a further reading */
	unsigned char *loaded; /* by leaf: a test of it lay between two readings */
};

static struct bu_switches *
counters_of(struct bu_gate *gate, const char *key)
{
	struct bu_switches *one = gate->switches;

	while (one && strcmp(one->key, key) != 0)
		one = one->next;
	if (one)
		return one;
	one = bu_xcalloc(1, sizeof(*one));
	one->gate = gate;
	memcpy(one->key, key, strnlen(key, sizeof(one->key) - 1));
	one->asking = json_object();
	one->members = json_object();
	one->done = json_object();
	one->accused = json_array();
	one->next = gate->switches;
	return gate->switches = one;
}

static void
release(struct bu_switches *one)
{
	bu_switches_forget(one);
	json_decref(one->asking);
	json_decref(one->members);
	json_decref(one->done);
	json_decref(one->accused);
	free(one->list);
	free(one->source);
	free(one->named);
	json_decref(one->failure);
	free(one);
}

void
bu_switches_drop(struct bu_gate *gate)
{
	while (gate->switches) {
		struct bu_switches *one = gate->switches;

		gate->switches = one->next;
		release(one);
	}
}

/* --- nodes that load links --- */

static int
is_in(const json_t *nodes, const struct bu_node *node)
{
	return node && strcmp(bu_json_str(nodes, node->name, ""), node->boot_id) == 0 &&
	       *node->boot_id;
}

/* A validating node loads links once in each boot, after its certification. */
static void
note_asking(struct bu_switches *counters, const struct bu_leaf_campaign *campaign)
{
	int64_t now_ms = bu_loop_now_ms(counters->gate->fleet->loop);

	for (int i = 0; i < campaign->topology.nodes; i++) {
		const struct bu_role *role = campaign->nodes[i].role;

		if (!role->ready || is_in(counters->done, role->node) ||
		    is_in(counters->members, role->node))
			continue;
		if (!json_object_size(counters->asking))
			counters->first_ms = counters->asked_ms = now_ms;
		if (!role->certified && now_ms - counters->first_ms < LATE_MS)
			counters->asked_ms = now_ms;
		json_object_set_new(counters->asking, role->node->name,
				    json_string(role->node->boot_id));
	}
}

static void
begin(struct bu_switches *counters)
{
	json_t *members = counters->asking;

	counters->asking = counters->members;
	counters->members = members;
	counters->started_ms = bu_loop_now_ms(counters->gate->fleet->loop);
	bu_switches_forget(counters);
}

static void
end(struct bu_switches *counters)
{
	json_object_update(counters->done, counters->members);
	json_object_clear(counters->members);
	bu_switches_forget(counters);
}

/* 1 = members load links. Loading begins when no node of `asking` was uncertified for
 * GATHER_MS. */
static int
goes_on(struct bu_switches *counters, const struct bu_desired_network *network)
{
	struct bu_gate *gate = counters->gate;
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);
	int64_t late_ms = LATE_MS;

	if (bu_desired_counters(network) == BU_COUNTERS_PROMETHEUS)
		late_ms += READINGS_MAX * network->switch_delay_ms;
	if (json_object_size(counters->members) &&
	    now_ms - counters->started_ms >= late_ms)
		end(counters);
	if (json_object_size(counters->members))
		return 1;
	if (!json_object_size(counters->asking))
		return 0;
	if (now_ms - counters->asked_ms < GATHER_MS) {
		bu_gate_wake_at(gate, counters->asked_ms + GATHER_MS);
		return 0;
	}
	begin(counters);
	return 1;
}

/* A node whose certificate waits for tests between leaves is no partner here. */
static void
choose_nodes(struct counting *counting)
{
	struct bu_leaf_campaign *campaign = &counting->campaign;

	for (int i = 0; i < campaign->topology.nodes; i++) {
		struct bu_leaf_campaign_node *node = &campaign->nodes[i];

		campaign->absent[i] |= node->held;
		node->asks = is_in(counting->counters->members, node->role->node);
	}
}

/* --- the campaign --- */

static void
name_spines(struct bu_topology *t, const char *spines)
{
	char *name;

	json_array_clear(t->spine_ids.list);
	json_object_clear(t->spine_ids.index);
	while ((name = bu_value_next_word(&spines))) {
		bu_ids_place(&t->spine_ids, name);
		free(name);
	}
	t->spines = (int)json_array_size(t->spine_ids.list);
	t->sprayed = t->has_switch = 1;
}

static struct bu_ids
share(const struct bu_ids *ids)
{
	return (struct bu_ids){json_incref(ids->list), json_incref(ids->index)};
}

/* Forgets readings of other leaves or spines, or of another source. */
static void
fit_shape(struct bu_switches *counters, const struct bu_topology *t,
	  const struct bu_desired_network *network)
{
	bu_autofree char *source = bu_switches_source(network);
	struct bu_topology *shape = &counters->shape;

	if (shape->leaf_ids.list &&
	    (!counters->source || strcmp(counters->source, source) == 0) &&
	    json_equal(shape->leaf_ids.list, t->leaf_ids.list) &&
	    json_equal(shape->spine_ids.list, t->spine_ids.list))
		return;
	bu_switches_forget(counters);
	*shape = (struct bu_topology){.leaves = t->leaves,
				      .spines = t->spines,
				      .leaf_ids = share(&t->leaf_ids),
				      .spine_ids = share(&t->spine_ids)};
}

static int
give_reading(void *arg, struct bu_link_count *ret, struct bu_err *err)
{
	struct counting *counting = arg;
	const struct bu_switches *counters = counting->counters;
	size_t links =
		2 * (size_t)counters->shape.leaves * (size_t)counters->shape.spines;

	(void)err;
	if (counting->readings == counters->count) {
		counting->lacks = 1;
		return 1;
	}
	memcpy(ret, counters->list[counting->readings++].links, links * sizeof(*ret));
	return 0;
}

/* Was the pair measured between the two readings around this round? */
static int
has_result(struct counting *counting, const struct bu_flow *flow,
	   const struct bu_pair_log **ret_log)
{
	const struct bu_switches *counters = counting->counters;
	const struct bu_reading *list = counters->list;
	size_t reading = counting->readings;
	int place = 0, dir = 0;
	const struct bu_pair_log *log =
		bu_leaf_campaign_log(&counting->campaign, flow, &place, &dir);

	*ret_log = log;
	for (size_t i = 0; log && i < log->count; i++)
		if (log->list[i].seq > list[reading - 1].seq &&
		    (reading == counters->count ||
		     log->list[i].seq <= list[reading].seq))
			return 1;
	return 0;
}

static int
may_load(const struct bu_leaf_campaign *campaign, const struct bu_flow *flow,
	 const struct bu_pair_log *log)
{
	const int *leaf_of = campaign->topology.leaf_of;
	int rails = campaign->topology.rails;
	const struct bu_leaf_campaign_node *a = &campaign->nodes[flow->src / rails];
	const struct bu_leaf_campaign_node *b = &campaign->nodes[flow->dst / rails];

	return leaf_of[flow->src] != leaf_of[flow->dst] && (a->asks || b->asks) &&
	       a->lent && b->lent && (!log || !bu_gate_failures(log));
}

/* Flows are load only, and told as good: other campaigns judge their rates. */
static int
answer_flow(struct counting *counting, struct bu_flow *flow)
{
	struct bu_leaf_campaign *campaign = &counting->campaign;
	const struct bu_pair_log *log;

	flow->path = BU_PATH_UNKNOWN;
	flow->rate_gbps = (float)campaign->topology.limit_gbps;
	flow->doubt = 0;
	if (!counting->readings)
		return 0;
	if (has_result(counting, flow, &log)) {
		counting->loaded[campaign->topology.leaf_of[flow->src]] = 1;
		counting->loaded[campaign->topology.leaf_of[flow->dst]] = 1;
		return 0;
	}
	flow->doubt = BU_DOUBT_NONE;
	if (counting->readings < counting->counters->count ||
	    !may_load(campaign, flow, log))
		return 0;
	bu_pairs_add(&campaign->wanted, flow->src, flow->dst);
	flow->doubt |= BU_DOUBT_ASKED;
	return 1;
}

static int
answer(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	int missing = 0;

	(void)err;
	for (int i = 0; i < count; i++)
		missing |= answer_flow(arg, &flows[i]);
	return missing;
}

/* --- accusations --- */

/* 1 = the entry's leaf (spine: any leaf) was loaded between readings, or is gone. */
static int
is_read_anew(const struct counting *counting, const json_t *entry)
{
	const struct bu_topology *t = &counting->campaign.topology;
	const char *name = bu_json_str(entry, "leaf", "");
	const json_t *place = json_object_get(t->leaf_ids.index, name);

	if (*name)
		return !place || counting->loaded[json_integer_value(place)];
	for (int leaf = 0; leaf < t->leaves; leaf++)
		if (counting->loaded[leaf])
			return 1;
	return 0;
}

static void
keep(const struct counting *counting, const struct bu_report *report)
{
	json_t *accused = counting->counters->accused;

	for (size_t i = json_array_size(accused); i-- > 0;)
		if (is_read_anew(counting, json_array_get(accused, i)))
			json_array_remove(accused, i);
	for (int i = 0; i < report->count; i++) {
		const struct bu_accusation *one = &report->accusations[i];

		if (one->what == BU_WHAT_LINK || one->what == BU_WHAT_SPINE ||
		    one->what == BU_WHAT_LEAF)
			json_array_append_new(
				accused, bu_switches_entry(counting->counters,
							   &counting->campaign, one));
	}
}

static void
run(struct counting *counting, const struct bu_desired_network *network)
{
	struct bu_leaf_campaign *campaign = &counting->campaign;
	struct bu_site site = {
		.round = answer, .switches = give_reading, .arg = counting};
	struct bu_localise_opts opts = {
		.seed = campaign->gate->seed,
		.trusted = campaign->trusted,
		.absent = campaign->absent,
		.no_port = campaign->no_port,
		.retests = 1, /* no result is bad here */
		.lean = 1,
	};
	struct bu_err err = {0};
	int rc =
		bu_localise(&campaign->topology, &site, &opts, &campaign->report, &err);

	bu_assert(rc >= 0); /* this site never fails */
	if (rc == 0) {
		keep(counting, &campaign->report);
		end(counting->counters);
	} else if (campaign->wanted.count) {
		bu_leaf_campaign_ask(campaign, &campaign->wanted, 0);
	} else if (counting->lacks) {
		bu_switches_read(counting->counters, network);
	}
}

/* 0 = no member is left to load links. */
static int
has_member(const struct bu_leaf_campaign *campaign)
{
	for (int i = 0; i < campaign->topology.nodes; i++)
		if (campaign->nodes[i].asks && !campaign->absent[i])
			return 1;
	return 0;
}

static void
look_at(struct bu_gate *gate, const struct bu_desired_network *network)
{
	struct counting counting = {.readings = 0};
	struct bu_leaf_campaign *campaign = &counting.campaign;
	int several = bu_leaf_campaign_open(gate, network, campaign);
	bu_autofree unsigned char *loaded =
		bu_xcalloc((size_t)campaign->topology.leaves, 1);

	counting.loaded = loaded;
	counting.counters = counters_of(gate, campaign->fabric);
	note_asking(counting.counters, campaign);
	if (goes_on(counting.counters, network)) {
		name_spines(&campaign->topology, network->spines);
		choose_nodes(&counting);
		fit_shape(counting.counters, &campaign->topology, network);
		if (several && campaign->topology.leaves > 1 && has_member(campaign))
			run(&counting, network);
		else
			end(counting.counters);
	}
	bu_leaf_campaign_close(campaign);
}

/* 1 = the network names switch_counters, and is the first of its fabric. */
static int
is_counted(const struct bu_desired *desired, size_t i)
{
	const struct bu_desired_network *network = &desired->networks[i];

	return network->switch_counters && network->role == BU_ROLE_FABRIC &&
	       (!network->switch_fabric || bu_leaf_campaign_is_first(desired, i));
}

static int
is_still_counted(const struct bu_desired *desired, const char *key)
{
	for (size_t i = 0; i < desired->networks_count; i++) {
		char its[BU_LEAF_CAMPAIGN_KEY_SIZE];

		bu_leaf_campaign_key(&desired->networks[i], its);
		if (is_counted(desired, i) && strcmp(its, key) == 0)
			return 1;
	}
	return 0;
}

static void
forget_gone(struct bu_gate *gate)
{
	struct bu_switches **at = &gate->switches;

	while (*at) {
		struct bu_switches *one = *at;

		if (is_still_counted(gate->fleet->desired, one->key)) {
			at = &one->next;
		} else {
			*at = one->next;
			release(one);
		}
	}
}

void
bu_switches_look(struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;

	if (desired)
		forget_gone(gate);
	for (size_t i = 0; gate->roles && i < desired->networks_count; i++)
		if (is_counted(desired, i))
			look_at(gate, &desired->networks[i]);
}

int
bu_switches_go_on(const struct bu_gate *gate)
{
	for (const struct bu_switches *one = gate->switches; one; one = one->next)
		if (json_object_size(one->asking) || json_object_size(one->members))
			return 1;
	return 0;
}
