/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a pair's result in the log. Made for probe.c, and read back where the
 * figures in memory are not enough. Invariant: a result that measured nothing in one
 * direction has no flows, so that no campaign counts it.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/gate/task/probe.h"

/* Probes of the pair in the present boots without a result, since the last result. */
static int
errors_before(const struct bu_gate *gate, const char *rail, const struct bu_node *a,
	      const struct bu_node *b)
{
	int place = bu_measurements_find(gate->fleet, a->name, b->name, rail);
	const struct bu_pair_log *log =
		place < 0 ? NULL : &gate->fleet->measurements.logs[place];

	return log && strcmp(log->boot[0], a->boot_id) == 0 &&
			       strcmp(log->boot[1], b->boot_id) == 0
		       ? log->errors
		       : 0;
}

/* Excess errors of a link count as at least so many lost packets: the judge takes four
 * for chance. */
enum { LINK_WEIGHS = 16 };

static int64_t
weight_of(const struct bu_pair_dir *dir, int end, enum bu_counter counter)
{
	int64_t count = dir->counters[end].count[counter];
	double seconds = dir->clock_seconds[0] > dir->clock_seconds[1]
				 ? dir->clock_seconds[0]
				 : dir->clock_seconds[1];

	if (bu_counter_kind(counter) == BU_COUNTER_LOSS)
		return counter == BU_COUNTER_DUPLICATE_REQUEST ? 0 : count;
	if (bu_counter_kind(counter) != BU_COUNTER_LINK || count <= 0 ||
	    (double)count <= bu_counter_most(counter, seconds))
		return 0;
	return count < LINK_WEIGHS ? LINK_WEIGHS : count;
}

/* The counter with the largest weight, in packets. */
struct most {
	int64_t weight; /* 0 = nothing is lost */
	enum bu_counter counter;
	int end;
};

/* skip: ends whose counters do not count. */
static struct most
find_most(const struct bu_pair_dir *dir, const int skip[2], int losses_alone)
{
	struct most most = {.weight = 0};

	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		enum bu_counter counter = (enum bu_counter)i;

		if (losses_alone && bu_counter_kind(counter) != BU_COUNTER_LOSS)
			continue;
		for (int end = 0; end < 2; end++) {
			int64_t own = skip[end] ? 0 : weight_of(dir, end, counter);

			if (own > most.weight)
				most = (struct most){own, counter, end};
		}
	}
	return most;
}

static const int none[2];

int64_t
bu_probe_losses(const struct bu_pair_dir *dir)
{
	return find_most(dir, none, 1).weight;
}

int64_t
bu_probe_lost(const struct bu_pair_dir *dir, enum bu_counter *ret_counter, int *ret_end)
{
	struct most most = find_most(dir, none, 0);

	if (most.weight) {
		*ret_counter = most.counter;
		*ret_end = most.end;
	}
	return most.weight;
}

/* 1 = the direction's figures fail, and jobs of an end may be the cause. */
static int
is_excused(const struct bu_probe *probe, const struct bu_expect *expect,
	   const struct bu_pair_result *result, int i)
{
	char reason[BU_REASON_SIZE];

	return (probe->works[0] || probe->works[1]) &&
	       result->dir[i].error.kind == BU_ERR_NONE &&
	       bu_expect_judge(expect, result, i, reason) == BU_VERDICT_FAIL;
}

/* The direction's flow for the campaign; 0 = nothing was measured. Counters of ends
 * with jobs do not count, because jobs move them, too. */
static int
flow_of(const struct bu_probe *probe, const struct bu_expect *expect,
	const struct bu_pair_result *result, int i, struct bu_body_flow *ret)
{
	const struct bu_pair_dir *dir = &result->dir[i];
	char reason[BU_REASON_SIZE];
	int doubt = bu_expect_doubt(expect, result, i, reason);
	enum bu_verdict verdict = bu_expect_judge(expect, result, i, reason);

	*ret = (struct bu_body_flow){.doubt = doubt};
	if (is_excused(probe, expect, result, i))
		ret->doubt |= BU_DOUBT_OTHER;
	ret->lost = (double)find_most(dir, probe->works, 0).weight;
	if (dir->error.kind == BU_ERR_NONE) {
		ret->rate_gbps = dir->bw_median_gbps;
		ret->lat_us = dir->lat_median_us;
		ret->lat99_us = dir->lat_p99_us;
		ret->lat_min_us = dir->lat_min_us;
	}
	return verdict != BU_VERDICT_INCONCLUSIVE || doubt;
}

void
bu_probe_excuse(const struct bu_probe *probe, const struct bu_expect *expect,
		struct bu_pair_result *result)
{
	struct bu_err err;
	int excused = is_excused(probe, expect, result, BU_END_A) ||
		      is_excused(probe, expect, result, BU_END_B);

	if (!excused || result->error.kind != BU_ERR_NONE)
		return;
	bu_err_set(&err, BU_ERR_BUSY, 0,
		   "%s%s%s has jobs, which use the link, too: a slow result with it "
		   "says nothing",
		   probe->works[0] ? probe->task.name[0] : "",
		   probe->works[0] && probe->works[1] ? ", " : "",
		   probe->works[1] ? probe->task.name[1] : "");
	result->verdict = BU_VERDICT_INCONCLUSIVE;
	bu_pair_error_set(&result->error, BU_END_NONE, &err);
}

void
bu_probe_explain(const struct bu_expect *expect, struct bu_pair_result *result)
{
	struct bu_err err = {.kind = BU_ERR_REMOTE};
	char reason[BU_REASON_SIZE];

	for (int dir = 0; dir < 2 && result->error.kind == BU_ERR_NONE; dir++) {
		if (bu_expect_judge(expect, result, dir, reason) !=
		    BU_VERDICT_INCONCLUSIVE)
			continue;
		bu_text_copy(err.text, sizeof(err.text), reason);
		bu_pair_error_set(&result->error, BU_END_NONE, &err);
	}
}

/* The ways of both directions, where one was traced, else NULL. New reference. */
static json_t *
paths_of(const json_t *whole)
{
	static const char *const dirs[] = {"a_to_b", "b_to_a"};
	json_t *paths = json_object();

	for (size_t i = 0; i < BU_LEN(dirs); i++) {
		const json_t *dir = json_object_get(whole, dirs[i]);

		if (json_object_get(dir, "paths"))
			json_object_set(paths, dirs[i], json_object_get(dir, "paths"));
	}
	if (json_object_size(paths) == 0)
		json_decref(bu_steal(&paths));
	return paths;
}

struct bu_event
bu_probe_event(const struct bu_gate *gate, const struct bu_probe *probe,
	       const char *rail, const struct bu_node *const ends[2],
	       const struct bu_expect *expect, const struct bu_pair_result *result)
{
	const struct bu_node *a = ends[0], *b = ends[1];
	bu_autojson json_t *whole = bu_pair_result_to_json(result);
	bu_autojson json_t *paths = paths_of(whole);
	double least_gbps = bu_expect_min_gbps(expect, result->mtu);
	struct bu_event event;
	union bu_body body = {.pair = {.probe = probe->task.id,
				       .rail = rail,
				       .a = a->name,
				       .b = b->name,
				       .boot_a = a->boot_id,
				       .boot_b = b->boot_id,
				       .ab_gbps = result->dir[0].bw_median_gbps,
				       .ba_gbps = result->dir[1].bw_median_gbps,
				       .expect_gbps = least_gbps,
				       .lat_us = result->dir[0].lat_median_us,
				       .verdict = result->verdict,
				       .error = result->error.text,
				       .mtu = result->mtu,
				       .paths = paths,
				       .single = probe->single}};

	if (flow_of(probe, expect, result, 0, &body.pair.flows[0]) &&
	    flow_of(probe, expect, result, 1, &body.pair.flows[1]))
		body.pair.flows_count = 2;
	else
		body.pair.errors = errors_before(gate, rail, a, b) + 1;
	bu_event_make(&event, BU_EVENT_PAIR, "", &body);
	bu_event_attach(&event, "result", bu_json_canonical(whole));
	return event;
}

struct reading {
	int64_t seq;
	char digest[BU_DIGEST_SIZE]; /* of the result; "" = there is none */
};

static int
on_pair(const struct bu_event *event, void *arg)
{
	struct reading *reading = arg;
	union bu_body body;

	if (event->seq == reading->seq && event->kind == BU_EVENT_PAIR &&
	    bu_event_read(event, &body, NULL) == 0)
		BU_TEXT_COPY(reading->digest, bu_body_text(body.pair.result));
	return 1;
}

int
bu_probe_read(const struct bu_gate *gate, int64_t seq, struct bu_pair_result *ret)
{
	struct reading reading = {.seq = seq};
	bu_autofree char *text = NULL;
	bu_autojson json_t *whole = NULL;

	bu_ignore(
		bu_store_read(gate->fleet->store, seq - 1, 1, on_pair, &reading, NULL));
	if (reading.digest[0])
		text = bu_store_get_blob(gate->fleet->store, reading.digest, NULL);
	if (text)
		whole = bu_json_parse(text, strlen(text), "result", NULL);
	return whole ? bu_pair_result_from_json(whole, ret, NULL) : -1;
}
