/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds the waits of a probe: for its ends to take their items, for their results, for
 * the log. Called by probe.c. Invariant: a silent end keeps its partner no longer than
 * that partner itself would wait.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/task/probe.h"

/* A probe is slow above SLOW times the usual share of its deadline. MEMORY: probes in
 * the moving average. */
#define SLOW 1.6
enum { MEMORY = 16 };

/* The events of a probe are one commit, so one of them is enough. */
int
bu_probe_is_in_log(const struct bu_gate *gate, const struct bu_probe *probe)
{
	for (int i = 0; i < probe->rails; i++) {
		int place = bu_measurements_find(gate->fleet, probe->task.name[0],
						 probe->task.name[1], probe->rail[i]);

		if (place >= 0 && strcmp(gate->fleet->measurements.logs[place].newest,
					 probe->task.id) == 0)
			return 1;
	}
	return 0;
}

int
bu_probe_is_here(const struct bu_probe *probe, const struct bu_node *node)
{
	return node && node->live.came_ms &&
	       node->live.came_ms + BU_GATE_HERE_MS >= probe->task.since_ms;
}

int
bu_probe_is_untaken(const struct bu_gate *gate, const struct bu_probe *probe)
{
	return !probe->task.told && !probe->took[0] && !probe->took[1] &&
	       bu_loop_now_ms(gate->fleet->loop) - probe->task.since_ms >=
		       BU_GATE_TAKE_MS;
}

int
bu_probe_is_over(const struct bu_gate *gate, const struct bu_task *task)
{
	const struct bu_probe *probe = (const struct bu_probe *)task;

	return task->told ? bu_probe_is_in_log(gate, probe)
			  : bu_probe_is_untaken(gate, probe);
}

int
bu_probe_may_take(struct bu_gate *gate, struct bu_probe *probe, int end)
{
	struct bu_node *other = bu_fleet_node(gate->fleet, probe->task.name[!end]);

	if (!probe->took[!end] && !bu_probe_is_here(probe, other))
		return 0;
	if (!probe->took[end] && !probe->took[!end])
		bu_fleet_touch(gate->fleet, other); /* may have asked too soon */
	if (!probe->took[end] && probe->took[!end])
		probe->both_ms = bu_loop_now_ms(gate->fleet->loop);
	probe->took[end] = 1;
	return 1;
}

static int
is_whole(const json_t *result)
{
	struct bu_pair_result parsed;

	return bu_pair_result_from_json(result, &parsed, NULL) == 0 &&
	       parsed.error.kind == BU_ERR_NONE &&
	       parsed.dir[0].error.kind == BU_ERR_NONE &&
	       parsed.dir[1].error.kind == BU_ERR_NONE;
}

static int
is_error(const json_t *result)
{
	return json_is_object(json_object_get(result, "error"));
}

static const json_t *
result_of(const struct bu_probe *probe, int end, int rail)
{
	return json_array_get(json_object_get(probe->task.result[end], "rails"),
			      (size_t)rail);
}

const json_t *
bu_probe_result(const struct bu_probe *probe, int rail)
{
	int first = probe->task.spoke[1] == 1;
	const json_t *one = result_of(probe, first, rail);
	const json_t *other = result_of(probe, !first, rail);

	return !one || (is_error(one) && other && !is_error(other)) ? other : one;
}

/* 1 = results without errors. The duration of a timeout is no pace. */
static int
is_measured(const struct bu_probe *probe)
{
	int results = 0;

	for (int i = 0; i < probe->rails; i++) {
		const json_t *result = bu_probe_result(probe, i);

		if (result && !is_whole(result))
			return 0;
		results += result != NULL;
	}
	return results > 0;
}

/* The pace is a share of the deadline, longer for large sizes and slow links. */
void
bu_probe_note_pace(struct bu_gate *gate, const struct bu_probe *probe)
{
	int64_t took_ms = bu_loop_now_ms(gate->fleet->loop) - probe->both_ms;
	double share = (double)took_ms / (double)probe->task.deadline_ms;
	int slow = gate->usual_share > 0 && share > SLOW * gate->usual_share;

	if (!probe->both_ms || !is_measured(probe))
		return;
	for (int end = 0; end < 2; end++) {
		struct bu_node *node =
			bu_fleet_node(gate->fleet, probe->task.name[end]);

		if (node)
			node->live.slow_probe = slow ? node->live.slow_probe + 1 : 0;
	}
	gate->usual_share +=
		(share - gate->usual_share) / (gate->usual_share > 0 ? MEMORY : 1);
}

/* 1 = the end timed out waiting for its peer, which runs no probe. */
static int
is_left_alone(const struct bu_task *task, int end)
{
	const json_t *result = task->result[end];
	const json_t *one = json_array_get(json_object_get(result, "rails"), 0);
	struct bu_pair_result parsed;

	if (!result)
		return task->failure.kind == BU_ERR_TIMEOUT;
	return is_error(one) && bu_pair_result_from_json(one, &parsed, NULL) == 0 &&
	       parsed.error.kind == BU_ERR_TIMEOUT;
}

void
bu_probe_heard(struct bu_gate *gate, struct bu_task *task, int end)
{
	int64_t until_ms = bu_loop_now_ms(gate->fleet->loop) + BU_GATE_GRACE_MS;

	if (!is_left_alone(task, end))
		return;
	if (until_ms < task->until_ms) {
		task->until_ms = until_ms;
		bu_gate_wake_at(gate, until_ms);
	}
	bu_task_let_go(gate, task, end);
	bu_gate_kick(gate);
}
