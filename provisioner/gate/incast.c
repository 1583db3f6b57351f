/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incast: several idle nodes send to one at once, over all rails, which loads flow
 * control and the receiver's memory as no pair does. Only where the profile asks for
 * one, after certification, once in each boot of the receiver, and again up to TESTS
 * times while inconclusive. Called by gate.c at each look. Invariants: one at a time in
 * the whole site, at most one a minute; only idle nodes that their pool lends; no node
 * is moved or accused, a finding is a remark.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/hello.h"
#include "model/work.h"
#include "provisioner/gate/internal.h"

/* TRIES: receivers for which a look searches senders. TESTS: incasts of a receiver in a
 * boot, while inconclusive. WINDOW: memory over which each of the many connections
 * rotates. LOST_MAX: packets that a probe may repeat by chance of scheduling. */
enum {
	PAUSE_MS = 60000,
	TRIES = 16,
	TESTS = 3,
	SENDERS_MIN = 2,
	SENDERS_MAX = 8,
	WINDOW_BYTES = 64 << 20,
	RUNS = 3,
	LOST_MAX = 4,
};

/* All senders are one end of the probe, with this name. */
static const char senders_name[] = "senders";

struct bu_incast {
	char id[BU_NAME_SIZE], secret[65];
	char receiver[BU_NAME_MAX], sender[SENDERS_MAX][BU_NAME_MAX];
	int senders, spoke;
	int64_t until_ms, deadline_ms; /* until: monotonic */
	json_t *result;                /* of the receiver */
	char error[200];
};

static void
end(struct bu_gate *gate)
{
	struct bu_incast *incast = gate->incast;

	if (!incast)
		return;
	json_object_del(gate->busy, incast->receiver);
	for (int i = 0; i < incast->senders; i++)
		json_object_del(gate->busy, incast->sender[i]);
	json_decref(incast->result);
	free(incast);
	gate->incast = NULL;
}

void
bu_incast_drop(struct bu_gate *gate)
{
	end(gate);
}

/* --- which nodes take part --- */

static int
is_free(struct bu_gate *gate, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	return want && want->validation && want->validation->incast &&
	       node->state == BU_STATE_READY && !node->hold->owner &&
	       bu_gate_hears(gate, node) && !bu_probe_busy(gate, node->name) &&
	       bu_fleet_certified(gate->fleet, node, NULL) == 0 &&
	       bu_gate_lends(gate, node, want) && !bu_gate_works(gate, node, want);
}

/* Incasts of the receiver in its present boot; a body without a count is the first. */
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

/* Finds senders in the receiver's pool, at its leaf. 0 = fewer than SENDERS_MIN. */
static int
find_senders(struct bu_gate *gate, const struct bu_node *receiver,
	     struct bu_incast *incast)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, receiver);
	char own[BU_GATE_LEAF_SIZE], leaf[BU_GATE_LEAF_SIZE];
	int wanted = want->pool->rails_count ? senders_of(want) : 0;

	leaf_of(gate, receiver, own);
	for (size_t i = 0; i < gate->fleet->count && incast->senders < wanted; i++) {
		struct bu_node *node = gate->fleet->nodes[i];
		const struct bu_desired_node *other =
			bu_fleet_desired(gate->fleet, node);

		if (node == receiver || !other || other->pool != want->pool ||
		    !is_free(gate, node))
			continue;
		leaf_of(gate, node, leaf);
		if (strcmp(leaf, own) == 0)
			bu_text_copy(incast->sender[incast->senders++], BU_NAME_MAX,
				     node->name);
	}
	return incast->senders >= SENDERS_MIN;
}

static void
start(struct bu_gate *gate, const struct bu_node *receiver, struct bu_incast *incast)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, receiver);
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	bu_text_copy(incast->receiver, sizeof(incast->receiver), receiver->name);
	snprintf(incast->id, sizeof(incast->id), "i-");
	bu_random_hex(incast->id + 2, 6);
	bu_random_hex(incast->secret, 32);
	incast->deadline_ms = bu_gate_deadline_ms(gate, want->validation,
						  bu_gate_slowest(want->pool));
	incast->until_ms = now_ms + incast->deadline_ms + BU_GATE_GRACE_MS;
	/* The value 0 is work other than a probe. */
	json_object_set_new(gate->busy, incast->receiver, json_integer(0));
	for (int i = 0; i < incast->senders; i++)
		json_object_set_new(gate->busy, incast->sender[i], json_integer(0));
	gate->incast = incast;
	bu_info("gate", "incast %s: %d nodes to %s", incast->id, incast->senders,
		incast->receiver);
	bu_fleet_touch(gate->fleet, bu_fleet_node(gate->fleet, incast->receiver));
	for (int i = 0; i < incast->senders; i++)
		bu_fleet_touch(gate->fleet,
			       bu_fleet_node(gate->fleet, incast->sender[i]));
}

static void
begin(struct bu_gate *gate)
{
	int tries = 0;

	for (size_t i = 0; i < gate->fleet->count && tries < TRIES; i++) {
		struct bu_node *node = gate->fleet->nodes[i];
		struct bu_incast *incast;

		if (had_one(node) || !is_free(gate, node))
			continue;
		tries++;
		incast = bu_xcalloc(1, sizeof(*incast));
		if (find_senders(gate, node, incast)) {
			start(gate, node, incast);
			return;
		}
		free(incast);
	}
}

/* --- work items --- */

/* -1 = the receiver, from 0 = that sender, -2 = not in the incast. */
static int
place_of(const struct bu_incast *incast, const char *name)
{
	if (strcmp(incast->receiver, name) == 0)
		return -1;
	for (int i = 0; i < incast->senders; i++)
		if (strcmp(incast->sender[i], name) == 0)
			return i;
	return -2;
}

static int
boot_address(const struct bu_gate *gate, const char *name, char ret[INET_ADDRSTRLEN])
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, name);
	const struct bu_desired_node *want =
		node ? bu_fleet_ordered(gate->fleet, node) : NULL;
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;

	return boot ? bu_desired_node_address(want, boot, ret) : -1;
}

static void
fill_sizes(const struct bu_incast *incast, const struct bu_desired_node *want,
	   struct bu_work_probe *work)
{
	struct bu_sizes sizes =
		bu_gate_sizes(want->validation, bu_gate_slowest(want->pool), 0);

	work->message_bytes = sizes.message_bytes;
	work->qps = sizes.qps;
	work->depth = sizes.depth;
	work->runs = RUNS;
	/* All senders together send what one end of a pair does. */
	work->bytes = sizes.bytes / (uint64_t)incast->senders;
	if (work->bytes < work->message_bytes)
		work->bytes = work->message_bytes;
	work->window_bytes = WINDOW_BYTES;
	work->pings = 0;
	work->deadline_ms = incast->deadline_ms;
}

/* The receiver has a connection for each sender and rail. The ports of one sender
 * follow each other. */
static int
fill_rails(const struct bu_incast *incast, const struct bu_desired_node *own, int place,
	   struct bu_work_probe *work)
{
	int rails = (int)own->pool->rails_count;
	int count = place < 0 ? incast->senders * rails : rails;

	for (int i = 0; i < count && i < BU_RAILS_MAX; i++)
		if (bu_gate_port(own, own->pool->rails[i % rails],
				 &work->rails[work->rails_count++]) != 0)
			return -1;
	work->port = BU_GATE_PORT + (place < 0 ? 0 : place * rails);
	return 0;
}

json_t *
bu_incast_work(struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_incast *incast = gate->incast;
	const struct bu_desired_node *own = bu_fleet_desired(gate->fleet, node);
	int place = incast ? place_of(incast, node->name) : -2;
	char address[INET_ADDRSTRLEN];
	struct bu_work_probe work;

	if (place < -1 || !own || !own->validation || !own->pool->rails_count ||
	    incast->spoke >> (place + 1) & 1 ||
	    boot_address(gate, incast->receiver, address) != 0)
		return NULL;
	bu_record_init(bu_work_probe_fields, &work);
	if (fill_rails(incast, own, place, &work) != 0)
		return NULL;
	fill_sizes(incast, own, &work);
	work.work = (struct bu_work){.id = incast->id, .attempt = 1};
	work.role = place < 0 ? BU_PROBE_LISTEN : BU_PROBE_CONNECT;
	bu_text_copy(work.probe, sizeof(work.probe), incast->id);
	bu_text_copy(work.node[BU_END_A], sizeof(work.node[0]), senders_name);
	bu_text_copy(work.node[BU_END_B], sizeof(work.node[0]), incast->receiver);
	bu_text_copy(work.self, sizeof(work.self), work.node[place < 0]);
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
add_result(const struct bu_incast *incast, const json_t *value, struct sum *ret,
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
judge_rails(const struct bu_gate *gate, const struct bu_incast *incast,
	    const struct bu_desired_node *want, json_t *rails, struct bu_err *err)
{
	const json_t *list = json_object_get(incast->result, "rails");
	enum bu_verdict verdict = BU_VERDICT_PASS;
	size_t count = want->pool->rails_count;

	for (size_t rail = 0; rail < count; rail++) {
		const struct bu_desired_network *network = want->pool->rails[rail];
		double least = bu_gate_least_gbps(gate, want->validation, network);
		struct sum sum = {0, 0};

		for (size_t i = 0; i < (size_t)incast->senders; i++)
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

static void
finish(struct bu_gate *gate)
{
	const struct bu_incast *incast = gate->incast;
	const struct bu_node *node = bu_fleet_node(gate->fleet, incast->receiver);
	const struct bu_desired_node *want =
		node ? bu_fleet_desired(gate->fleet, node) : NULL;
	json_t *senders = json_array(), *rails = json_array();
	enum bu_verdict verdict = BU_VERDICT_INCONCLUSIVE;
	struct bu_err err = {0};
	struct bu_event event;

	for (int i = 0; i < incast->senders; i++)
		json_array_append_new(senders, json_string(incast->sender[i]));
	if (want && want->validation && incast->result)
		verdict = judge_rails(gate, incast, want, rails, &err);
	else
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "%s",
			   incast->error[0] ? incast->error : "no result in time");
	if (node) {
		BU_EVENT_MAKE(&event, BU_EVENT_INCAST, node->name, incast,
			      .probe = incast->id, .boot_id = node->boot_id,
			      .senders = senders, .rails = rails, .verdict = verdict,
			      .error = err.text, .test = tests_of(node) + 1);
		bu_reconcile_note(gate->rec, &event, 1);
	}
	json_decref(senders);
	json_decref(rails);
	end(gate);
}

int
bu_incast_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		 const json_t *result, const struct bu_err *failure)
{
	struct bu_incast *incast = gate->incast;
	int place = incast ? place_of(incast, node->name) : -2;

	if (place < -1 || strcmp(incast->id, id) != 0)
		return 0;
	incast->spoke |= 1 << (place + 1);
	if (place < 0 && result && !incast->result)
		incast->result = json_incref((json_t *)(uintptr_t)result);
	if (failure)
		snprintf(incast->error, sizeof(incast->error), "%.60s: %.130s",
			 node->name, failure->text);
	bu_gate_kick(gate);
	return 1;
}

void
bu_incast_look(struct bu_gate *gate)
{
	struct bu_incast *incast = gate->incast;
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	if (incast && (incast->spoke == (1 << (incast->senders + 1)) - 1 ||
		       now_ms >= incast->until_ms))
		finish(gate);
	if (gate->incast || now_ms < gate->incast_ms)
		return;
	gate->incast_ms = now_ms + PAUSE_MS;
	begin(gate);
}

/* Names the first bad rail. */
char *
bu_incast_words(const struct bu_node *node)
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
		return bu_xasprintf(
			"%zu nodes that sent to it at once (rail %s) reached %s (at "
			"least %s wanted) and lost %.0f packets: look at PFC and ECN "
			"of the switch and of the NICs",
			json_array_size(body->senders), rail.rail, got, least,
			rail.lost);
	}
	return NULL;
}
