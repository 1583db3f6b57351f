/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of the fabric, written by replay and read by the gate. Invariant: a
 * measurement in another boot of either end does not count.
 */
#include "provisioner/node/measurements.h"

#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/json.h"
#include "base/text.h"
#include "model/check.h"
#include "model/result.h"
#include "provisioner/node/fleet.h"

void
bu_measurements_init(struct bu_measurements *measurements)
{
	*measurements = (struct bu_measurements){.incidents = json_object(),
						 .soaked = json_object(),
						 .showed = json_object()};
}

static void
clear_log(struct bu_pair_log *log)
{
	for (size_t i = 0; i < log->paths_count; i++)
		for (int dir = 0; dir < 2; dir++)
			json_decref(log->paths[i].paths[dir]);
	log->count = log->paths_count = 0;
	log->errors = 0;
	log->tests = 0;
}

void
bu_measurements_fini(struct bu_measurements *measurements)
{
	for (size_t i = 0; i < measurements->count; i++) {
		clear_log(&measurements->logs[i]);
		free(measurements->logs[i].list);
		free(measurements->logs[i].paths);
		free(measurements->logs[i].last.error);
	}
	free(measurements->logs);
	free(measurements->slots);
	for (size_t i = 0; i < measurements->ends_count; i++)
		free(measurements->ends[i].places);
	free(measurements->ends);
	free(measurements->end_slots);
	json_decref(measurements->incidents);
	json_decref(measurements->soaked);
	json_decref(measurements->showed);
}

enum { SLOTS_MIN = 64 };

/* With the NUL, so that "ab" "c" is not "a" "bc". */
static uint64_t
add_to_hash(uint64_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	while (*text++);
	return hash;
}

static int
is_pair(const struct bu_pair_log *log, const char *a, const char *b)
{
	return strcmp(log->name[0], a) == 0 && strcmp(log->name[1], b) == 0;
}

/* The slot of a pair, in either order of its names, or the empty slot for it. There is
 * always an empty one. */
static struct bu_pair_slot *
slot_of(const struct bu_measurements *measurements, const char *a, const char *b,
	const char *rail, uint32_t *ret_hash)
{
	size_t mask = measurements->slot_count - 1, at;
	int swap = strcmp(a, b) > 0;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = add_to_hash(add_to_hash(hash, swap ? b : a), swap ? a : b);
	hash = add_to_hash(hash, rail);
	*ret_hash = (uint32_t)(hash >> 32);
	for (at = (hash ^ hash >> 32) & mask; measurements->slots[at].place;
	     at = (at + 1) & mask) {
		const struct bu_pair_slot *slot = &measurements->slots[at];
		const struct bu_pair_log *log = &measurements->logs[slot->place - 1];

		if (slot->hash == *ret_hash &&
		    (is_pair(log, a, b) || is_pair(log, b, a)) &&
		    strcmp(log->rail, rail) == 0)
			break;
	}
	return &measurements->slots[at];
}

static void
put_slot(struct bu_measurements *measurements, size_t place)
{
	const struct bu_pair_log *log = &measurements->logs[place];
	uint32_t hash;
	struct bu_pair_slot *slot =
		slot_of(measurements, log->name[0], log->name[1], log->rail, &hash);

	*slot = (struct bu_pair_slot){(uint32_t)place + 1, hash};
}

/* Makes room for one more pair; at most half of the slots are taken. */
static void
grow_slots(struct bu_measurements *measurements)
{
	if (2 * (measurements->count + 1) <= measurements->slot_count)
		return;
	measurements->slot_count =
		measurements->slot_count ? 2 * measurements->slot_count : SLOTS_MIN;
	free(measurements->slots);
	measurements->slots =
		bu_xcalloc(measurements->slot_count, sizeof(*measurements->slots));
	for (size_t i = 0; i < measurements->count; i++)
		put_slot(measurements, i);
}

int
bu_measurements_find(const struct bu_fleet *fleet, const char *a, const char *b,
		     const char *rail)
{
	const struct bu_measurements *measurements = &fleet->measurements;
	uint32_t hash;

	if (!measurements->slot_count)
		return -1;
	return (int)slot_of(measurements, a, b, rail, &hash)->place - 1;
}

static int
add_log(struct bu_fleet *fleet, const char *a, const char *b, const char *rail)
{
	struct bu_measurements *measurements = &fleet->measurements;
	int place = bu_measurements_find(fleet, a, b, rail);
	struct bu_pair_log *log;

	if (place >= 0)
		return place;
	measurements->logs =
		bu_xgrow(measurements->logs, &measurements->cap,
			 measurements->count + 1, sizeof(*measurements->logs));
	log = &measurements->logs[measurements->count];
	*log = (struct bu_pair_log){.errors = 0};
	log->name[0] = bu_intern(a);
	log->name[1] = bu_intern(b);
	log->rail = bu_intern(rail);
	for (int i = 0; i < 2; i++)
		bu_measurements_add_end(measurements, log->name[i], log->rail,
					measurements->count);
	grow_slots(measurements);
	put_slot(measurements, measurements->count);
	return (int)measurements->count++;
}

/* After a new boot of either end, measurements of the boots before are dropped. */
static void
renew_boots(struct bu_pair_log *log, const union bu_body *body)
{
	const char *boots[2] = {body->pair.boot_a, body->pair.boot_b};

	if (strcmp(boots[0], log->boot[0]) == 0 && strcmp(boots[1], log->boot[1]) == 0)
		return;
	clear_log(log);
	for (int i = 0; i < 2; i++)
		BU_TEXT_COPY(log->boot[i], boots[i]);
}

static void
set_dirs(const union bu_body *body, struct bu_measured_dir ret[2])
{
	for (size_t dir = 0; dir < body->pair.flows_count; dir++) {
		const struct bu_body_flow *flow = &body->pair.flows[dir];

		ret[dir] = (struct bu_measured_dir){
			(float)flow->rate_gbps, (float)flow->lat_us,
			(float)flow->lat99_us, (float)flow->lost, flow->doubt};
	}
}

static void
add_measured(struct bu_pair_log *log, int64_t seq, const union bu_body *body)
{
	struct bu_measured *m;

	/* Most pairs are measured once or twice in a boot. */
	if (log->count == log->cap) {
		log->cap = log->cap ? 2 * log->cap : 1;
		log->list = bu_xrealloc(log->list, log->cap * sizeof(*log->list));
	}
	m = &log->list[log->count++];
	*m = (struct bu_measured){.seq = seq, .mtu = body->pair.mtu};
	set_dirs(body, m->dir);
}

/* Agents that do not trace tell no ways. */
static void
add_paths(struct bu_pair_log *log, int64_t seq, const union bu_body *body)
{
	static const char *const dirs[] = {"a_to_b", "b_to_a"};
	struct bu_traced_path path = {.seq = seq, .single = body->pair.single};

	for (int dir = 0; dir < 2; dir++)
		path.paths[dir] =
			json_incref(json_object_get(body->pair.paths, dirs[dir]));
	if (!path.paths[0] && !path.paths[1] && !path.single)
		return;
	set_dirs(body, path.dir);
	log->paths = bu_xgrow(log->paths, &log->paths_cap, log->paths_count + 1,
			      sizeof(*log->paths));
	log->paths[log->paths_count++] = path;
}

/* The whole row stays in the log; the flows are in log->list. */
static void
set_last(struct bu_pair_brief *last, int64_t seq, const union bu_body *body)
{
	free(last->error);
	*last = (struct bu_pair_brief){
		.seq = seq,
		.ab_gbps = body->pair.ab_gbps,
		.ba_gbps = body->pair.ba_gbps,
		.expect_gbps = body->pair.expect_gbps,
		.lat_us = body->pair.lat_us,
		.verdict = body->pair.verdict,
		.mtu = body->pair.mtu,
		.error = *body->pair.error ? bu_xstrdup(body->pair.error) : NULL,
	};
	BU_TEXT_COPY(last->probe, body->pair.probe);
}

json_t *
bu_measurements_brief(const struct bu_pair_log *log)
{
	const struct bu_pair_brief *last = &log->last;

	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:s,s:s,s:i,s:I}",
			 "probe", last->probe, "rail", log->rail, "a", log->name[0],
			 "b", log->name[1], "boot_a", log->boot[0], "boot_b",
			 log->boot[1], "ab_gbps", last->ab_gbps, "ba_gbps",
			 last->ba_gbps, "expect_gbps", last->expect_gbps, "lat_us",
			 last->lat_us, "verdict", bu_verdict_name(last->verdict),
			 "error", last->error ? last->error : "", "mtu", last->mtu,
			 "seq", (json_int_t)last->seq);
}

int
bu_measurements_pair(BU_REPLAY_ARGS)
{
	int place = add_log(fleet, body->pair.a, body->pair.b, body->pair.rail);
	struct bu_pair_log *log = &fleet->measurements.logs[place];

	fleet->measurements.last_seq = event->seq;
	BU_TEXT_COPY(log->newest, body->pair.probe);
	if (!body->pair.single)
		set_last(&log->last, event->seq, body);
	renew_boots(log, body);
	log->tests++;
	if (body->pair.flows_count) {
		log->errors = 0;
		add_paths(log, event->seq, body);
		if (!body->pair.single)
			add_measured(log, event->seq, body);
	} else {
		log->errors++;
	}
	return 0;
}

/* The kept verdict of this source; NULL = none that counts. */
static struct bu_kept_verdict *
verdict_of(const struct bu_node *node, const char *source)
{
	for (size_t i = 0; i < node->verdicts_count; i++)
		if (strcmp(node->verdicts[i].is.source, source) == 0)
			return &node->verdicts[i];
	return NULL;
}

static void
drop_verdict(struct bu_node *node, struct bu_kept_verdict *kept)
{
	json_decref(kept->body);
	node->verdicts_count--;
	memmove(kept, kept + 1,
		(size_t)(&node->verdicts[node->verdicts_count] - kept) * sizeof(*kept));
}

int
bu_measurements_verdict(BU_REPLAY_ARGS)
{
	struct bu_kept_verdict *kept = verdict_of(node, body->verdict.source);

	if (body->verdict.verdict != BU_VERDICT_FAIL) {
		if (kept)
			drop_verdict(node, kept);
		return 0;
	}
	if (!kept) {
		node->verdicts =
			bu_xrealloc(node->verdicts, (node->verdicts_count + 1) *
							    sizeof(*node->verdicts));
		kept = &node->verdicts[node->verdicts_count++];
		memset(kept, 0, sizeof(*kept));
	}
	BU_KEEP(kept, event, body->verdict);
	return 0;
}

/* A person who releases a lemon has looked at it: its incidents are forgotten. */
void
bu_measurements_released(struct bu_fleet *fleet, struct bu_node *node)
{
	if (node->hold->reason.code == BU_REASON_LEMON)
		json_object_del(fleet->measurements.incidents, node->machine);
}

/* Drops the results of the node in this boot. */
static void
forget(struct bu_fleet *fleet, struct bu_node *node)
{
	for (size_t i = 0; i < fleet->measurements.count; i++) {
		struct bu_pair_log *log = &fleet->measurements.logs[i];

		if (strcmp(log->name[0], node->name) == 0 ||
		    strcmp(log->name[1], node->name) == 0)
			clear_log(log);
	}
	/* The row that is being read, one after row_seq. */
	node->anew_seq = fleet->life.row_seq + 1;
	BU_DROP(&node->checks);
	node->live.checks_errors = 0;
	bu_node_set_boot_cert(node, "");
	bu_node_drop_wait_reason(node);
	node->live.rails_good = 0;
	memset(&node->live.leaf_campaign, 0, sizeof(node->live.leaf_campaign));
}

/* A node in service or in quarantine keeps its results until it is measured. */
void
bu_measurements_again(struct bu_fleet *fleet, struct bu_node *node)
{
	node->again = 1;
	if (node->state == BU_STATE_VALIDATING)
		forget(fleet, node);
}

/* Are all failed checks file systems of servers? These say nothing of the machine. */
static int
is_of_server(const struct bu_node *node, const struct bu_reason *reason)
{
	int failed = 0;
	size_t i;
	json_t *value;

	if (reason->code != BU_REASON_CHECKS_ACCUSED)
		return 0;
	json_array_foreach ((json_t *)(uintptr_t)node->checks.is.rows, i, value) {
		struct bu_check_said row;

		if (bu_record_from_json(bu_check_said_fields, value, &row, NULL) != 0 ||
		    row.verdict != BU_VERDICT_FAIL)
			continue;
		if (strcmp(row.id, BU_CHECK_MOUNT) != 0)
			return 0;
		failed = 1;
	}
	return failed;
}

void
bu_measurements_state(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms,
		      const struct bu_reason *reason, enum bu_state to)
{
	bu_autofree char *text = NULL;
	json_t *list;

	if (to == BU_STATE_VALIDATING && node->again)
		forget(fleet, node);
	if (to != BU_STATE_QUARANTINED || !node->machine[0] ||
	    is_of_server(node, reason))
		return;
	list = json_object_get(fleet->measurements.incidents, node->machine);
	if (!list) {
		list = json_array();
		json_object_set_new(fleet->measurements.incidents, node->machine, list);
	}
	text = bu_reason_text(reason);
	json_array_append_new(list,
			      json_pack("{s:s,s:I,s:s}", "node", node->name, "at_ms",
					(json_int_t)time_ms, "reason", text));
	/* A repaired machine is as new, and soaks again. */
	bu_measurements_soak_anew(fleet, node->machine);
}

int
bu_measurements_incidents(const struct bu_fleet *fleet, const char *machine,
			  int64_t now_ms)
{
	const json_t *list = json_object_get(fleet->measurements.incidents, machine);
	int64_t since_ms = now_ms - (int64_t)BU_LEMON_DAYS * 24 * 3600 * 1000;
	int count = 0;
	size_t i;
	json_t *one;

	json_array_foreach (list, i, one)
		count += bu_json_int(one, "at_ms", 0) >= since_ms;
	return count;
}

const struct bu_body_verdict *
bu_measurements_external(const struct bu_node *node, int64_t now_ms)
{
	for (size_t i = 0; i < node->verdicts_count; i++) {
		const struct bu_body_verdict *said = &node->verdicts[i].is;

		if (!said->until_ms || said->until_ms > now_ms)
			return said;
	}
	return NULL;
}
