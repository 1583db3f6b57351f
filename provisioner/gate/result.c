/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log keeps of a pair's result: written for probe.c, read back for whoever
 * needs more than the figures in memory. Invariant: a result that says nothing in one
 * direction has no flows, so that no campaign counts it.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/gate/internal.h"

/* Probes of this pair in these boots that gave no result, since the last that did. */
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

/* Of the ends that are none of skip. */
static int64_t
count_lost(const struct bu_pair_dir *dir, const int skip[2],
	   enum bu_counter *ret_counter, int *ret_end)
{
	int64_t lost = 0;

	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		if (bu_counter_kind((enum bu_counter)i) != BU_COUNTER_LOSS ||
		    i == BU_COUNTER_DUPLICATE_REQUEST)
			continue;
		for (int end = 0; end < 2; end++) {
			if (skip[end] || dir->counters[end].count[i] <= lost)
				continue;
			lost = dir->counters[end].count[i];
			*ret_counter = (enum bu_counter)i;
			*ret_end = end;
		}
	}
	return lost;
}

int64_t
bu_probe_lost(const struct bu_pair_dir *dir, enum bu_counter *ret_counter, int *ret_end)
{
	static const int none[2];

	return count_lost(dir, none, ret_counter, ret_end);
}

/* It arrived, but late: jobs of an end may be why. */
static int
is_excused(const struct bu_probe *probe, const struct bu_expect *expect,
	   const struct bu_pair_result *result, int i)
{
	char reason[BU_REASON_SIZE];

	return (probe->works[0] || probe->works[1]) &&
	       result->dir[i].error.kind == BU_ERR_NONE &&
	       bu_expect_judge(expect, result, i, reason) == BU_VERDICT_FAIL;
}

/* What the campaign reads of a direction; NULL when it says nothing. Counters that jobs
 * move, too, are no evidence. */
static json_t *
flow_of(const struct bu_probe *probe, const struct bu_expect *expect,
	const struct bu_pair_result *result, int i)
{
	const struct bu_pair_dir *dir = &result->dir[i];
	char reason[BU_REASON_SIZE];
	int doubt = bu_expect_doubt(expect, result, i, reason);
	enum bu_verdict verdict = bu_expect_judge(expect, result, i, reason);
	int arrived = dir->error.kind == BU_ERR_NONE, end;
	enum bu_counter counter;

	if (verdict == BU_VERDICT_INCONCLUSIVE && !doubt)
		return NULL;
	if (is_excused(probe, expect, result, i))
		doubt |= BU_DOUBT_OTHER;
	return json_pack("{s:f,s:f,s:f,s:f,s:f,s:i}", "rate_gbps",
			 arrived ? dir->bw_median_gbps : 0.0, "lat_us",
			 arrived ? dir->lat_median_us : 0.0, "lat99_us",
			 arrived ? dir->lat_p99_us : 0.0, "lat_min_us",
			 arrived ? dir->lat_min_us : 0.0, "lost",
			 (double)count_lost(dir, probe->works, &counter, &end), "doubt",
			 doubt);
}

/* The flows of both directions; NULL when one of them says nothing. err: why. */
static json_t *
flows_of(const struct bu_probe *probe, const struct bu_expect *expect,
	 const struct bu_pair_result *result)
{
	json_t *flows = json_array();

	for (int dir = 0; dir < 2; dir++) {
		json_t *flow = flow_of(probe, expect, result, dir);

		if (!flow) {
			json_decref(flows);
			return NULL;
		}
		json_array_append_new(flows, flow);
	}
	return flows;
}

void
bu_probe_excuse(const struct bu_probe *probe, const struct bu_expect *expect,
		struct bu_pair_result *result)
{
	struct bu_err err = {.kind = BU_ERR_BUSY};
	int excused = is_excused(probe, expect, result, BU_END_A) ||
		      is_excused(probe, expect, result, BU_END_B);

	if (!excused || result->error.kind != BU_ERR_NONE)
		return;
	snprintf(err.text, sizeof(err.text),
		 "%s%s%s has jobs, which use the link, too: a slow result with it says "
		 "nothing",
		 probe->works[0] ? probe->name[0] : "",
		 probe->works[0] && probe->works[1] ? ", " : "",
		 probe->works[1] ? probe->name[1] : "");
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

json_t *
bu_probe_body(const struct bu_gate *gate, const struct bu_probe *probe,
	      const char *rail, const struct bu_node *const ends[2],
	      const struct bu_expect *expect, const struct bu_pair_result *result)
{
	const struct bu_node *a = ends[0], *b = ends[1];
	json_t *flows = flows_of(probe, expect, result);
	json_t *body = json_pack(
		"{s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:s,s:s,s:i,s:o}", "probe",
		probe->id, "rail", rail, "a", a->name, "b", b->name, "boot_a",
		a->boot_id, "boot_b", b->boot_id, "ab_gbps",
		result->dir[0].bw_median_gbps, "ba_gbps", result->dir[1].bw_median_gbps,
		"expect_gbps", bu_expect_min_gbps(expect), "lat_us",
		result->dir[0].lat_median_us, "verdict",
		bu_verdict_name(result->verdict), "error", result->error.text, "mtu",
		result->mtu, "result", bu_pair_result_to_json(result));

	if (flows)
		json_object_set_new(body, "flows", flows);
	else
		json_object_set_new(body, "errors",
				    json_integer(errors_before(gate, rail, a, b) + 1));
	return body;
}

struct reading {
	int64_t seq;
	struct bu_pair_result *ret;
	int found;
};

static int
on_pair(const struct bu_event *event, void *arg)
{
	struct reading *reading = arg;

	reading->found =
		event->seq == reading->seq && event->kind == BU_EVENT_PAIR &&
		bu_pair_result_from_json(json_object_get(event->body, "result"),
					 reading->ret, NULL) == 0;
	return 1;
}

int
bu_probe_read(const struct bu_gate *gate, int64_t seq, struct bu_pair_result *ret)
{
	struct reading reading = {seq, ret, 0};

	bu_ignore(
		bu_store_read(gate->fleet->store, seq - 1, 1, on_pair, &reading, NULL));
	return reading.found ? 0 : -1;
}
