/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that a person asks for: pairs of given nodes, measured once more. Called by the
 * API; gate.c starts the pairs whose nodes are free. A run lives in memory: its results
 * are in the log, pairs not measured at the end of the process stay unmeasured.
 * Invariants: a run moves and judges no node; it disturbs jobs only of pools that lend
 * nodes with jobs, and a node once a minute at most.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "fabric/schedule.h"
#include "model/sentence.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/task/probe.h"

/* PARTNERS: of each node, in runs of more than ALL_PAIRS_MAX nodes. */
enum { ALL_PAIRS_MAX = 32, PARTNERS = 8, RUNS_KEPT = 16 };

struct pair {
	int a, b;
	char rail[BU_NAME_MAX];
	char probe[BU_NAME_SIZE]; /* "" = not started */
	int done;
	json_t *why; /* why the pair was not measured; NULL = measured or to be */
};

struct bu_gate_run {
	struct bu_gate_run *next;
	char id[24];
	char (*name)[BU_NAME_MAX];
	struct pair *pairs; /* by round */
	int pair_count;
	int over;        /* all pairs are done */
	json_t *refused; /* [{"node","why"}]: nodes with jobs */
};

static void
run_free(struct bu_gate_run *run)
{
	for (int i = 0; i < run->pair_count; i++)
		json_decref(run->pairs[i].why);
	free(run->name);
	free(run->pairs);
	json_decref(run->refused);
	free(run);
}

void
bu_runs_drop(struct bu_gate *gate)
{
	while (gate->runs) {
		struct bu_gate_run *next = gate->runs->next;

		run_free(gate->runs);
		gate->runs = next;
	}
}

/* 0 = the node's installed system is heard now, in whatever state the node is. */
static int
check_node(const struct bu_gate *gate, const struct bu_node *node, struct bu_err *err)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->fleet->loop));

	if (!want)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is not in the applied profile", node->name);
	if (!want->validation)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s: pool %s names no validation, so no fabric "
				  "to measure; add validation = NAME to the pool",
				  node->name, node->live.pool);
	if (!node->live.last_seen_ms)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s; its agent was not heard since "
				  "bringupd started",
				  node->name, bu_state_name(node->state));
	if (!bu_gate_hears(gate, node))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s; its agent was not heard for %lld s",
				  node->name, bu_state_name(node->state),
				  (long long)(now_ms - node->live.last_seen_ms) / 1000);
	if (!node->boot_installed)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s; it runs the boot ramdisk, and only "
				  "an installed system can be measured",
				  node->name, bu_state_name(node->state));
	return 0;
}

/* Refuses a node with jobs, unless its pool lends such nodes (partners = any). */
static int
check_jobs(const struct bu_gate *gate, const struct bu_node *node, struct bu_err *err)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	if (!bu_gate_works(gate, node, want) ||
	    strcmp(want->pool->partners, "any") == 0)
		return 0;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "node %s has jobs, or its cluster does not say that it has "
			  "none, and a probe takes its links; drain it first (bringup "
			  "node drain %s), or give pool %s partners = any",
			  node->name, node->name, want->pool->name);
}

/* Adds the pair on each rail that both nodes have. */
static void
add_pairs(const struct bu_gate *gate, struct bu_gate_run *run, size_t *cap, int a,
	  int b)
{
	const struct bu_desired_node *one =
		bu_desired_node(gate->fleet->desired, run->name[a]);
	const struct bu_desired_node *other =
		bu_desired_node(gate->fleet->desired, run->name[b]);

	for (size_t i = 0; i < one->pool->rails_count; i++) {
		const struct bu_desired_network *rail = one->pool->rails[i];
		struct pair *pair;

		if (!bu_desired_has_rail(other->pool, rail))
			continue;
		run->pairs = bu_xgrow(run->pairs, cap, (size_t)run->pair_count + 1,
				      sizeof(*run->pairs));
		pair = &run->pairs[run->pair_count++];
		*pair = (struct pair){.a = a, .b = b};
		bu_text_copy(pair->rail, sizeof(pair->rail), rail->name);
	}
}

static void
plan_pairs(const struct bu_gate *gate, struct bu_gate_run *run, int count,
	   uint64_t seed)
{
	int rounds = bu_schedule_rounds(count);
	bu_autofree struct bu_pair *round =
		bu_xcalloc((size_t)count / 2, sizeof(*round));
	size_t cap = 0;

	if (count > ALL_PAIRS_MAX)
		rounds = PARTNERS;
	for (int r = 0; r < rounds; r++) {
		int n = bu_schedule_round(count, seed, r, round);

		for (int i = 0; i < n; i++)
			add_pairs(gate, run, &cap, round[i].a, round[i].b);
	}
}

/* Keeps the last RUNS_KEPT runs for questions. */
static void
forget_old(struct bu_gate *gate)
{
	struct bu_gate_run **link = &gate->runs;

	for (int kept = 0; *link && kept < RUNS_KEPT; kept++)
		link = &(*link)->next;
	while (*link) {
		struct bu_gate_run *old = *link;

		*link = old->next;
		run_free(old);
	}
}

const char *
bu_gate_run(struct bu_gate *gate, struct bu_node *const *nodes, size_t count,
	    struct bu_err *err)
{
	struct bu_gate_run *run;
	struct bu_err busy;
	uint64_t seed;
	int free_ones = 0;

	if (count < 2) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "a run needs at least two nodes, because it measures pairs");
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		if (check_node(gate, nodes[i], err) != 0)
			return NULL;
	}
	run = bu_xcalloc(1, sizeof(*run));
	run->name = bu_xcalloc(count, sizeof(*run->name));
	run->refused = json_array();
	for (size_t i = 0; i < count; i++) {
		if (check_jobs(gate, nodes[i], &busy) == 0)
			memcpy(run->name[free_ones++], nodes[i]->name,
			       sizeof(nodes[i]->name));
		else
			json_array_append_new(run->refused,
					      json_pack("{s:s,s:s}", "node",
							nodes[i]->name, "why",
							busy.text));
	}
	if (free_ones < 2) {
		run_free(run);
		bu_err_set(err, busy.kind, 0, "%s", busy.text);
		return NULL;
	}
	bu_random(&seed, sizeof(seed));
	plan_pairs(gate, run, free_ones, seed);
	snprintf(run->id, sizeof(run->id), "run-");
	bu_random_hex(run->id + 4, 6);
	run->next = gate->runs;
	gate->runs = run;
	forget_old(gate);
	bu_leaf_campaign_again(gate, nodes, count);
	bu_gate_kick(gate);
	return run->id;
}

/* NULL = the pair was never measured. */
static const struct bu_pair_log *
log_of(const struct bu_gate *gate, const struct bu_gate_run *run,
       const struct pair *pair)
{
	int place = bu_measurements_find(gate->fleet, run->name[pair->a],
					 run->name[pair->b], pair->rail);

	return place < 0 ? NULL : &gate->fleet->measurements.logs[place];
}

/* NULL = the applied profile does not measure the node on this rail any more. */
static const struct bu_desired_network *
rail_of(const struct bu_desired_node *want, const struct pair *pair)
{
	for (size_t i = 0; i < want->pool->rails_count; i++)
		if (strcmp(want->pool->rails[i]->name, pair->rail) == 0)
			return want->pool->rails[i];
	return NULL;
}

static void
start_pair(struct bu_gate *gate, struct pair *pair, struct bu_node *a,
	   struct bu_node *b)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, a);
	const struct bu_desired_network *rail = rail_of(want, pair);

	if (rail) {
		bu_text_copy(pair->probe, sizeof(pair->probe),
			     bu_probe_start(gate, want->validation,
					    &(struct bu_rail_ends){.of = {rail, rail}},
					    1, a, b));
		return;
	}
	pair->done = 1;
	pair->why =
		BU_SAID(RAIL_LEFT, BU_ARG("node", a->name), BU_ARG("rail", pair->rail));
}

static void
look_at_pair(struct bu_gate *gate, const struct bu_gate_run *run, struct pair *pair)
{
	struct bu_node *a = bu_fleet_node(gate->fleet, run->name[pair->a]);
	struct bu_node *b = bu_fleet_node(gate->fleet, run->name[pair->b]);
	struct bu_err err = {0};

	if (pair->done)
		return;
	if (pair->probe[0]) {
		const struct bu_pair_log *log = log_of(gate, run, pair);

		/* Both nodes are free, if a later probe is the last of the pair. */
		pair->done = (log && strcmp(log->last.probe, pair->probe) == 0) ||
			     (!bu_task_is_busy(gate, a->name) &&
			      !bu_task_is_busy(gate, b->name));
		return;
	}
	if (check_node(gate, a, &err) != 0 || check_node(gate, b, &err) != 0 ||
	    check_jobs(gate, a, &err) != 0 || check_jobs(gate, b, &err) != 0) {
		pair->done = 1; /* a node left meanwhile, or got a job */
		pair->why = json_string(err.text);
	} else if (!bu_task_is_busy(gate, a->name) && !bu_task_is_busy(gate, b->name) &&
		   !bu_gate_rests(gate, a) && !bu_gate_rests(gate, b)) {
		start_pair(gate, pair, a, b);
	}
}

static int
is_over(const struct bu_gate_run *run)
{
	for (int i = 0; i < run->pair_count; i++)
		if (!run->pairs[i].done)
			return 0;
	return 1;
}

/* A complete run may clear accusations between leaves, so these are looked at again. */
void
bu_runs_look(struct bu_gate *gate)
{
	for (struct bu_gate_run *run = gate->runs; run; run = run->next) {
		for (int i = 0; i < run->pair_count; i++)
			look_at_pair(gate, run, &run->pairs[i]);
		if (!run->over && is_over(run)) {
			run->over = 1;
			gate->leaves_seen = 0;
		}
	}
}

json_t *
bu_gate_run_json(const struct bu_gate *gate, const char *id)
{
	const struct bu_gate_run *run = gate->runs;
	json_t *pairs, *missed;

	while (run && strcmp(run->id, id) != 0)
		run = run->next;
	if (!run)
		return NULL;
	pairs = json_array();
	missed = json_array();
	for (int i = 0; i < run->pair_count; i++) {
		const struct pair *pair = &run->pairs[i];
		const struct bu_pair_log *log = log_of(gate, run, pair);

		if (pair->why)
			json_array_append_new(missed,
					      json_pack("{s:s,s:s,s:s,s:O}", "a",
							run->name[pair->a], "b",
							run->name[pair->b], "rail",
							pair->rail, "why", pair->why));
		else if (pair->done && log)
			json_array_append_new(pairs, bu_measurements_brief(log));
	}
	return json_pack("{s:s,s:b,s:i,s:o,s:o,s:O}", "run", run->id, "done",
			 is_over(run), "wanted", run->pair_count, "pairs", pairs,
			 "missed", missed, "refused", run->refused);
}
