/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incast: several idle nodes send to one at once, over all rails, which loads flow
 * control and the receiver's memory as no pair does. Only where the profile asks for
 * one, after certification, once in each boot of the receiver, and again up to TESTS
 * times while inconclusive. A row of kinds.c. Invariants: one at a time in the whole
 * site, at most one a minute; no node is moved or accused, a finding is a remark.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "model/work.h"
#include "provisioner/gate/task/incast.h"
#include "provisioner/gate/task/probe.h"

/* TRIES: receivers for which a look searches senders. TESTS: incasts of a receiver in a
 * boot, while inconclusive. WINDOW: memory over which each of the many connections
 * rotates. LOST_MAX: packets that a probe may repeat by chance of scheduling. */
enum {
	TRIES = 16,
	TESTS = 3,
	SENDERS_MIN = 2,
	SENDERS_MAX = BU_TASK_NODES - 1,
	WINDOW_BYTES = 64 << 20,
	RUNS = 3,
	LOST_MAX = 4,
};

/* All senders are one end of the probe, with this name. */
static const char senders_name[] = "senders";

/* --- which nodes take part --- */

int
bu_incast_is_eligible(struct bu_gate *gate, struct bu_node *node,
		      const struct bu_desired_node *want)
{
	return want->validation && want->validation->incast &&
	       node->state == BU_STATE_READY &&
	       bu_fleet_certified(gate->fleet, node, NULL) == 0;
}

/* Incasts of the receiver in its present boot. */
static int64_t
tests_of(const struct bu_node *node)
{
	return node->incast.body && strcmp(node->incast.is.boot_id, node->boot_id) == 0
		       ? node->incast.is.test
		       : 0;
}

/* 1 = a conclusive incast, or TESTS inconclusive ones (a sender went away). */
static int
had_one(const struct bu_node *node)
{
	int64_t tests = tests_of(node);

	return tests >= TESTS ||
	       (tests && node->incast.is.verdict != BU_VERDICT_INCONCLUSIVE);
}

static void
leaf_of(const struct bu_gate *gate, const struct bu_node *node,
	char ret[BU_GATE_LEAF_SIZE])
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	bu_gate_leaf(node, want->pool->rails[0], want, (int)want->index, ret);
}

/* An agent makes at most BU_RAILS_MAX connections at once. */
static int
senders_of(const struct bu_desired_node *want)
{
	int most = BU_RAILS_MAX / (int)want->pool->rails_count;

	return want->validation->incast < most ? want->validation->incast : most;
}

/* Adds senders of the receiver's pool, at its leaf. */
static int
find_senders(struct bu_gate *gate, const struct bu_node *receiver,
	     struct bu_node *ret[SENDERS_MAX])
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, receiver);
	char own[BU_GATE_LEAF_SIZE], leaf[BU_GATE_LEAF_SIZE];
	int wanted = want->pool->rails_count ? senders_of(want) : 0, count = 0;

	leaf_of(gate, receiver, own);
	for (size_t i = 0; i < gate->fleet->count && count < wanted; i++) {
		struct bu_node *node = gate->fleet->nodes[i];
		const struct bu_desired_node *other =
			bu_fleet_desired(gate->fleet, node);

		if (node == receiver || !other || other->pool != want->pool ||
		    !bu_task_may_join(gate, BU_TASK_INCAST, node))
			continue;
		leaf_of(gate, node, leaf);
		if (strcmp(leaf, own) == 0)
			ret[count++] = node;
	}
	return count;
}

/* The receiver is the first node of the task. */
void
bu_incast_choose(struct bu_gate *gate)
{
	struct bu_node *nodes[1 + SENDERS_MAX];
	int tries = 0, senders;

	for (size_t i = 0; i < gate->fleet->count && tries < TRIES; i++) {
		const struct bu_desired_node *want;

		nodes[0] = gate->fleet->nodes[i];
		if (had_one(nodes[0]) ||
		    !bu_task_may_join(gate, BU_TASK_INCAST, nodes[0]))
			continue;
		tries++;
		senders = find_senders(gate, nodes[0], nodes + 1);
		if (senders < SENDERS_MIN)
			continue;
		want = bu_fleet_desired(gate->fleet, nodes[0]);
		bu_task_begin(gate, BU_TASK_INCAST, nodes, senders + 1,
			      bu_gate_deadline_ms(gate, want->validation,
						  bu_gate_slowest(want->pool)));
		return;
	}
}

/* --- work items --- */

static void
fill_sizes(const struct bu_task *incast, const struct bu_desired_node *want,
	   struct bu_work_probe *work)
{
	struct bu_sizes sizes =
		bu_gate_sizes(want->validation, bu_gate_slowest(want->pool), 0);

	work->message_bytes = sizes.message_bytes;
	work->qps = sizes.qps;
	work->depth = sizes.depth;
	work->runs = RUNS;
	/* All senders together send what one end of a pair does. */
	work->bytes = sizes.bytes / (uint64_t)(incast->count - 1);
	if (work->bytes < work->message_bytes)
		work->bytes = work->message_bytes;
	work->window_bytes = WINDOW_BYTES;
	work->pings = 0;
	work->deadline_ms = incast->deadline_ms;
}

/* The receiver has a connection for each sender and rail. The ports of one sender
 * follow each other. */
static int
fill_rails(const struct bu_task *incast, const struct bu_desired_node *own, int place,
	   struct bu_work_probe *work)
{
	int rails = (int)own->pool->rails_count;
	int count = place ? rails : (incast->count - 1) * rails;

	for (int i = 0; i < count && i < BU_RAILS_MAX; i++)
		if (bu_gate_port(own, own->pool->rails[i % rails],
				 &work->rails[work->rails_count++]) != 0)
			return -1;
	work->port = BU_GATE_PORT + (place ? (place - 1) * rails : 0);
	return 0;
}

json_t *
bu_incast_item(struct bu_gate *gate, struct bu_task *incast, int place)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, incast->name[place]);
	const struct bu_desired_node *own =
		node ? bu_fleet_desired(gate->fleet, node) : NULL;
	char address[INET_ADDRSTRLEN];
	struct bu_work_probe work;

	if (!own || !own->validation || !own->pool->rails_count ||
	    bu_task_address(gate, incast->name[0], address) != 0)
		return NULL;
	bu_record_init(bu_work_probe_fields, &work);
	if (fill_rails(incast, own, place, &work) != 0)
		return NULL;
	fill_sizes(incast, own, &work);
	work.work = (struct bu_work){.id = incast->id, .attempt = 1};
	work.role = place ? BU_PROBE_CONNECT : BU_PROBE_LISTEN;
	bu_text_copy(work.probe, sizeof(work.probe), incast->id);
	bu_text_copy(work.node[BU_END_A], sizeof(work.node[0]), senders_name);
	bu_text_copy(work.node[BU_END_B], sizeof(work.node[0]), incast->name[0]);
	bu_text_copy(work.self, sizeof(work.self), work.node[!place]);
	bu_text_copy(work.addr, sizeof(work.addr), address);
	bu_text_copy(work.secret, sizeof(work.secret), incast->secret);
	return bu_record_to_json(bu_work_probe_fields, &work);
}

/* --- results --- */

/* A rail in the event's body. */
#define RAIL_ROWS(X, T)                                                                \
	X(T, STRING, rail) X(T, REAL, gbps) X(T, REAL, least_gbps) X(T, REAL, lost)
struct rail BU_ROW_STRUCT(RAIL_ROWS);
static const struct bu_field rail_fields[] = BU_ROW_TABLE(RAIL_ROWS, struct rail);

struct sum {
	double gbps;
	int64_t lost;
};

/* Adds one sender's result on one rail; -1 = there is none. */
static int
add_result(const struct bu_task *incast, const json_t *value, struct sum *ret,
	   struct bu_err *err)
{
	struct bu_pair_result result;
	int64_t lost;

	if (bu_pair_result_from_json(value, &result, err) != 0)
		return -1;
	if (strcmp(result.probe, incast->id) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the result is of another probe");
	if (result.error.kind != BU_ERR_NONE)
		return bu_err_set(err, result.error.kind, 0, "%s", result.error.text);
	if (result.dir[BU_END_A].error.kind != BU_ERR_NONE)
		return bu_err_set(err, result.dir[BU_END_A].error.kind, 0, "%s",
				  result.dir[BU_END_A].error.text);
	ret->gbps += result.dir[BU_END_A].bw_median_gbps;
	/* All connections read the counters of the receiver's one port. */
	lost = bu_probe_losses(&result.dir[BU_END_A]);
	if (lost > ret->lost)
		ret->lost = lost;
	return 0;
}

/* Adds the senders' sum for each rail. WARN = too little, or with losses. INCONCLUSIVE
 * = a result is missing, or the sum is above the link's rate: nothing starts the
 * senders together, and a late one had the link to itself. */
static enum bu_verdict
judge_rails(const struct bu_gate *gate, const struct bu_task *incast,
	    const struct bu_desired_node *want, json_t *rails, struct bu_err *err)
{
	/* The receiver's results count. */
	const json_t *list = json_object_get(incast->result[0], "rails");
	enum bu_verdict verdict = BU_VERDICT_PASS;
	size_t count = want->pool->rails_count;

	for (size_t rail = 0; rail < count; rail++) {
		const struct bu_desired_network *network = want->pool->rails[rail];
		double least = bu_gate_least_gbps(gate, want->validation, network);
		struct sum sum = {0, 0};

		for (size_t i = 0; i + 1 < (size_t)incast->count; i++)
			if (add_result(incast, json_array_get(list, i * count + rail),
				       &sum, err) != 0)
				return BU_VERDICT_INCONCLUSIVE;
		json_array_append_new(
			rails,
			bu_record_to_json(rail_fields,
					  &(struct rail){network->name, sum.gbps, least,
							 (double)sum.lost}));
		if (sum.gbps > network->link_gbps) {
			bu_err_set(err, BU_ERR_INVAL, 0,
				   "rail %s: the senders did not send at once: "
				   "their rates add up to %.0f %% of the link",
				   network->name, 100 * sum.gbps / network->link_gbps);
			return BU_VERDICT_INCONCLUSIVE;
		}
		if (sum.gbps < least || sum.lost > LOST_MAX)
			verdict = BU_VERDICT_WARN;
	}
	return verdict;
}

void
bu_incast_judge(struct bu_gate *gate, struct bu_task *incast)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, incast->name[0]);
	const struct bu_desired_node *want =
		node ? bu_fleet_desired(gate->fleet, node) : NULL;
	json_t *senders = json_array(), *rails = json_array();
	enum bu_verdict verdict = BU_VERDICT_INCONCLUSIVE;
	struct bu_err err = {0};
	struct bu_event event;

	for (int i = 1; i < incast->count; i++)
		json_array_append_new(senders, json_string(incast->name[i]));
	if (want && want->validation && incast->result[0])
		verdict = judge_rails(gate, incast, want, rails, &err);
	else
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "%s", bu_task_failure(incast));
	if (node) {
		BU_EVENT_MAKE(&event, BU_EVENT_INCAST, node->name, incast,
			      .probe = incast->id, .boot_id = node->boot_id,
			      .senders = senders, .rails = rails, .verdict = verdict,
			      .error = err.text, .test = tests_of(node) + 1);
		bu_reconcile_note(gate->rec, &event, 1);
	}
	json_decref(senders);
	json_decref(rails);
	bu_task_end(gate, incast);
}

/* Names the first bad rail. */
json_t *
bu_incast_said(const struct bu_node *node)
{
	const struct bu_body_incast *body = &node->incast.is;
	char got[32], least[32];
	size_t i;
	json_t *value;

	if (!node->incast.body || body->verdict != BU_VERDICT_WARN || !had_one(node))
		return NULL;
	json_array_foreach ((json_t *)body->rails, i, value) {
		struct rail rail;

		if (bu_record_from_json(rail_fields, value, &rail, NULL) != 0 ||
		    (rail.gbps >= rail.least_gbps && rail.lost <= LOST_MAX))
			continue;
		bu_rate_text(rail.gbps, got, sizeof(got));
		bu_rate_text(rail.least_gbps, least, sizeof(least));
		return BU_SAID(INCAST_LOSSY,
			       BU_ARG_NUMBER("count", json_array_size(body->senders)),
			       BU_ARG("rail", rail.rail), BU_ARG("got", got),
			       BU_ARG("least", least),
			       BU_ARG_NUMBER("lost", rail.lost));
	}
	return NULL;
}
