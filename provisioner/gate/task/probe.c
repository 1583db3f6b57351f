/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes under way (begun by probe_start.c): makes the work items of both ends, and
 * writes the results to the log. A row of kinds.c. Probes are lost with the process,
 * and their pairs probed again.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/work.h"
#include "provisioner/gate/task/probe.h"
#include "provisioner/node/over.h"

enum { TOLD_MS = 60000 };

/* Refuses a result that names another probe or other ends. */
static int
read_result(const struct bu_probe *probe, int rail, struct bu_pair_result *ret,
	    struct bu_err *err)
{
	if (bu_pair_result_from_json(bu_probe_result(probe, rail), ret, err) != 0)
		return -1;
	if (strcmp(ret->probe, probe->task.id) == 0 &&
	    strcmp(ret->end[BU_END_A].node, probe->task.name[0]) == 0 &&
	    strcmp(ret->end[BU_END_B].node, probe->task.name[1]) == 0)
		return 0;
	return bu_err_set(
		err, BU_ERR_INVAL, 0,
		"the result is of probe %s between %s and %s, not of this one",
		ret->probe, ret->end[BU_END_A].node, ret->end[BU_END_B].node);
}

/* Networks of both ends on a rail of the probe; -1 = the applied profile does not
 * measure an end there any more. */
static int
find_terms(const struct bu_gate *gate, const struct bu_probe *probe, int rail,
	   struct bu_rail_ends *ret)
{
	for (int end = 0; end < 2; end++) {
		const struct bu_node *node =
			bu_fleet_node(gate->fleet, probe->task.name[end]);

		ret->of[end] = node ? bu_rail_end(probe->rail[rail], end,
						  bu_fleet_desired(gate->fleet, node))
				    : NULL;
		if (!ret->of[end])
			return -1;
	}
	return 0;
}

/* Puts the end's name before its error, if it measured no direction. */
static void
name_end(struct bu_pair_result *result)
{
	struct bu_err err = {.kind = result->error.kind};
	int at = result->error.at;

	if (!err.kind || at == BU_END_NONE || result->dir[0].runs ||
	    result->dir[1].runs)
		return;
	snprintf(err.text, sizeof(err.text), "%s: %s", result->end[at].node,
		 result->error.text);
	bu_pair_error_set(&result->error, at, &err);
}

/* Judges one rail. An unreadable result is an error of this rail alone. */
static void
judge_rail(const struct bu_probe *probe, int rail, const struct bu_expect *expect,
	   struct bu_pair_result *ret)
{
	struct bu_err failure = probe->task.failure;

	bu_pair_result_init(ret);
	if (bu_probe_result(probe, rail) &&
	    read_result(probe, rail, ret, &failure) == 0) {
		ret->verdict = bu_expect_judge_pair(expect, ret);
		bu_probe_excuse(probe, expect, ret);
		if (ret->verdict == BU_VERDICT_INCONCLUSIVE)
			bu_probe_explain(expect, ret);
		name_end(ret);
		return;
	}
	bu_pair_result_init(ret);
	if (!failure.kind)
		bu_err_set(&failure, BU_ERR_REMOTE, 0, "neither end reported a result");
	bu_pair_error_set(&ret->error, BU_END_NONE, &failure);
}

/* 1 = the boot has ended, or a person asked for a new measurement since the probe
 * began: its results do not count. */
static int
is_void(const struct bu_probe *probe, const struct bu_node *node)
{
	return bu_over_is(node) || node->anew_seq > probe->since_seq;
}

/* 1 = the events are on their way to the log. */
static int
journal_pair(struct bu_gate *gate, struct bu_probe *probe)
{
	const struct bu_node *a = bu_fleet_node(gate->fleet, probe->task.name[0]);
	const struct bu_node *b = bu_fleet_node(gate->fleet, probe->task.name[1]);
	const struct bu_desired_node *want =
		a ? bu_fleet_desired(gate->fleet, a) : NULL;
	struct bu_event events[BU_RAILS_MAX];
	struct bu_pair_result result;
	size_t count = 0;

	if (a && b && (is_void(probe, a) || is_void(probe, b)))
		return 0;
	for (int end = 0; a && b && end < 2; end++) {
		const struct bu_node *node = end ? b : a;

		/* A job may have begun meanwhile. */
		probe->works[end] |=
			bu_gate_works(gate, node, bu_fleet_desired(gate->fleet, node));
	}
	for (int i = 0; a && b && i < probe->rails; i++) {
		struct bu_rail_ends ends;
		struct bu_expect expect;

		if (find_terms(gate, probe, i, &ends) != 0)
			continue;
		expect = bu_rail_expect(gate, want->validation, &ends);
		judge_rail(probe, i, &expect, &result);
		events[count++] = bu_probe_event(gate, probe, probe->rail[i],
						 (const struct bu_node *const[]){a, b},
						 &expect, &result);
	}
	if (count)
		bu_reconcile_note(gate->rec, events, count);
	return count > 0;
}

/* The nodes stay busy until the log has the events, so that no pair is asked for twice.
 * If the log has not taken them within TOLD_MS, the pair is measured again. */
static void
finish(struct bu_gate *gate, struct bu_probe *probe)
{
	struct bu_task *task = &probe->task;

	task->told = journal_pair(gate, probe);
	task->until_ms = bu_loop_now_ms(gate->fleet->loop) + TOLD_MS;
	for (int end = 0; end < 2; end++)
		json_decref(bu_steal(&task->result[end]));
	if (!task->told)
		bu_task_end(gate, task);
}

static void
give_up(struct bu_gate *gate, struct bu_probe *probe)
{
	struct bu_task *task = &probe->task;
	int untaken = bu_probe_is_untaken(gate, probe);
	const char *silent = task->name[task->spoke[0] != 0];

	for (int end = 0; end < 2; end++) {
		struct bu_node *node = bu_fleet_node(gate->fleet, task->name[end]);

		if (!node || task->spoke[end] ||
		    (untaken && bu_probe_is_here(probe, node)))
			continue;
		node->live.unanswered = 1;
		silent = task->name[end];
	}
	if (!task->failure.kind)
		bu_err_set(&task->failure, BU_ERR_TIMEOUT, 0,
			   untaken ? "%s did not come for its work in time"
				   : "no result from %s in time",
			   silent);
	finish(gate, probe);
}

void
bu_probe_judge(struct bu_gate *gate, struct bu_task *task)
{
	struct bu_probe *probe = (struct bu_probe *)task;

	if (task->told) {
		bu_task_end(gate, task);
	} else if (task->spoke[0] && task->spoke[1]) {
		bu_probe_note_pace(gate, probe);
		finish(gate, probe);
	} else {
		give_up(gate, probe);
	}
}

/* own: the node of this end, as ordered. */
static int
fill_rail(const struct bu_probe *probe, int place, int end,
	  const struct bu_desired_node *own, struct bu_work_rail *ret)
{
	const struct bu_desired_network *rail =
		bu_rail_end(probe->rail[place], end, own);

	return rail ? bu_gate_port(own, rail, ret) : -1;
}

/* Rails of this end with the rates that pass; -1 = an end is not measured on one. */
static int
fill_rails(const struct bu_gate *gate, const struct bu_probe *probe, int end,
	   const struct bu_desired_validation *validation, struct bu_work_probe *work)
{
	const struct bu_desired_node *ends[2];

	for (int i = 0; i < 2; i++)
		ends[i] = bu_fleet_ordered(
			gate->fleet, bu_fleet_node(gate->fleet, probe->task.name[i]));
	for (int i = 0; i < probe->rails; i++) {
		struct bu_rail_ends terms;
		struct bu_work_rail other;

		if (find_terms(gate, probe, i, &terms) != 0 ||
		    fill_rail(probe, i, end, ends[end], &work->rails[i]) != 0 ||
		    fill_rail(probe, i, !end, ends[!end], &other) != 0)
			return -1;
		work->rails[i].min_gbps =
			bu_gate_least_gbps(gate, validation, bu_rail_slower(&terms));
	}
	work->rails_count = (size_t)probe->rails;
	work->min_gbps = work->rails[0].min_gbps;
	return 0;
}

json_t *
bu_probe_item(struct bu_gate *gate, struct bu_task *task, int end)
{
	struct bu_probe *probe = (struct bu_probe *)task;
	const struct bu_node *node = bu_fleet_node(gate->fleet, task->name[end]);
	/* The applied profile is the same for both ends. */
	const struct bu_desired_node *want =
		node ? bu_fleet_desired(gate->fleet, node) : NULL;
	struct bu_work_probe work;

	if (!want || !want->validation ||
	    bu_task_fill_pair(gate, task, end, &work) != 0 ||
	    fill_rails(gate, probe, end, want->validation, &work) != 0 ||
	    !bu_probe_may_take(gate, probe, end))
		return NULL;
	work.message_bytes = probe->sizes.message_bytes;
	work.bytes = probe->sizes.bytes;
	work.warm_bytes = probe->sizes.warm_bytes;
	work.qps = probe->sizes.qps;
	work.sport = probe->sport;
	work.trace = probe->traces;
	work.depth = probe->sizes.depth;
	work.runs = want->validation->runs;
	return bu_record_to_json(bu_work_probe_fields, &work);
}
