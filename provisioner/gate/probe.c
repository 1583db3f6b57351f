/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes under way (begun by probe_start.c): gives the work items to both agents, waits
 * for their reports, writes the results to the log. Probes are lost with the process,
 * and their pairs probed again. Called by gate.c and, through gate.h, by the agents'
 * API.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/work.h"
#include "provisioner/gate/internal.h"
#include "provisioner/node/over.h"

enum { TOLD_MS = 60000 };

/* The node may be in another probe by now. */
static void
let_go(struct bu_gate *gate, const struct bu_probe *probe, int end)
{
	const json_t *busy = json_object_get(gate->busy, probe->name[end]);

	if (busy && json_integer_value(busy) == (json_int_t)(intptr_t)probe)
		json_object_del(gate->busy, probe->name[end]);
}

static void
probe_free(struct bu_gate *gate, struct bu_probe *probe)
{
	struct bu_probe **link = &gate->probes;

	while (*link != probe)
		link = &(*link)->next;
	*link = probe->next;
	for (int i = 0; i < 2; i++)
		let_go(gate, probe, i);
	for (int i = 0; i < probe->rails; i++)
		json_decref(probe->result[i]);
	free(probe);
}

void
bu_probes_drop(struct bu_gate *gate)
{
	while (gate->probes)
		probe_free(gate, gate->probes);
}

int
bu_probe_busy(const struct bu_gate *gate, const char *name)
{
	return json_object_get(gate->busy, name) != NULL;
}

/* Refuses a result that names another probe or other ends. */
static int
read_result(const struct bu_probe *probe, int rail, struct bu_pair_result *ret,
	    struct bu_err *err)
{
	if (bu_pair_result_from_json(probe->result[rail], ret, err) != 0)
		return -1;
	if (strcmp(ret->probe, probe->id) == 0 &&
	    strcmp(ret->end[BU_END_A].node, probe->name[0]) == 0 &&
	    strcmp(ret->end[BU_END_B].node, probe->name[1]) == 0)
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
			bu_fleet_node(gate->fleet, probe->name[end]);

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
	struct bu_err failure = probe->failure;

	bu_pair_result_init(ret);
	if (probe->result[rail] && read_result(probe, rail, ret, &failure) == 0) {
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
	const struct bu_node *a = bu_fleet_node(gate->fleet, probe->name[0]);
	const struct bu_node *b = bu_fleet_node(gate->fleet, probe->name[1]);
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
		bu_probe_event(gate, probe, probe->rail[i],
			       (const struct bu_node *const[]){a, b}, &expect, &result,
			       &events[count++]);
		json_decref(bu_steal(&probe->result[i]));
	}
	if (count)
		bu_reconcile_note(gate->rec, events, count);
	return count > 0;
}

/* The nodes stay busy until the log has the events, so that no pair is asked for twice.
 * If the log has not taken them within TOLD_MS, the pair is measured again. */
static void
finish_probe(struct bu_gate *gate, struct bu_probe *probe)
{
	if (probe->told)
		return;
	probe->told = journal_pair(gate, probe);
	probe->until_ms = bu_loop_now_ms(gate->fleet->loop) + TOLD_MS;
	if (!probe->told)
		probe_free(gate, probe);
	bu_gate_kick(gate);
}

static void
give_up(struct bu_gate *gate, struct bu_probe *probe)
{
	int untaken = bu_probe_is_untaken(gate, probe);
	const char *silent = probe->spoke[0] ? probe->name[1] : probe->name[0];

	for (int end = 0; end < 2; end++) {
		struct bu_node *node = bu_fleet_node(gate->fleet, probe->name[end]);

		if (!node || probe->spoke[end] ||
		    (untaken && bu_probe_is_here(probe, node)))
			continue;
		node->live.unanswered = 1;
		silent = probe->name[end];
	}
	if (!probe->failure.kind)
		bu_err_set(&probe->failure, BU_ERR_TIMEOUT, 0,
			   untaken ? "%s did not come for its work in time"
				   : "no result from %s in time",
			   silent);
	finish_probe(gate, probe);
}

void
bu_probe_deadlines(struct bu_gate *gate)
{
	struct bu_probe *probe = gate->probes, *next;
	int late;

	for (; probe; probe = next) {
		next = probe->next;
		late = bu_loop_now_ms(gate->fleet->loop) >= probe->until_ms;
		if (probe->told && (late || bu_probe_is_in_log(gate, probe)))
			probe_free(gate, probe);
		else if (late || bu_probe_is_untaken(gate, probe))
			give_up(gate, probe);
	}
}

static struct bu_probe *
probe_with(struct bu_gate *gate, const struct bu_node *node, int *ret_end)
{
	const json_t *busy = json_object_get(gate->busy, node->name);
	struct bu_probe *probe =
		busy ? (struct bu_probe *)(intptr_t)json_integer_value(busy) : NULL;

	if (probe)
		*ret_end = strcmp(probe->name[1], node->name) == 0;
	return probe;
}

/* Addresses come from the node's order, which may be older than the applied profile. */
static int
find_end(const struct bu_gate *gate, const struct bu_probe *probe, int end,
	 char ret_boot[INET_ADDRSTRLEN], const struct bu_desired_node **ret)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, probe->name[end]);
	const struct bu_desired_node *want =
		node ? bu_fleet_ordered(gate->fleet, node) : NULL;
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;

	*ret = want;
	return boot ? bu_desired_node_address(want, boot, ret_boot) : -1;
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

int
bu_probe_wants(struct bu_gate *gate, const struct bu_node *node, const char *id)
{
	int end;
	const struct bu_probe *probe = probe_with(gate, node, &end);

	return probe && !probe->spoke[end] && strcmp(probe->id, id) == 0;
}

json_t *
bu_probe_work(struct bu_gate *gate, const struct bu_node *node)
{
	int end;
	struct bu_probe *probe = probe_with(gate, node, &end);
	char boot[2][INET_ADDRSTRLEN];
	/* The applied profile is the same for both ends. */
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	const struct bu_desired_node *ends[2];
	struct bu_work_probe work;

	if (!probe || probe->spoke[end] || !want || !want->validation ||
	    find_end(gate, probe, end, boot[end], &ends[end]) != 0 ||
	    find_end(gate, probe, !end, boot[!end], &ends[!end]) != 0)
		return NULL;
	bu_record_init(bu_work_probe_fields, &work);
	for (int i = 0; i < probe->rails; i++) {
		struct bu_rail_ends terms;
		struct bu_work_rail other;

		if (find_terms(gate, probe, i, &terms) != 0 ||
		    fill_rail(probe, i, end, ends[end], &work.rails[i]) != 0 ||
		    fill_rail(probe, i, !end, ends[!end], &other) != 0)
			return NULL;
		work.rails[i].min_gbps = bu_gate_least_gbps(gate, want->validation,
							    bu_rail_slower(&terms));
	}
	if (!bu_probe_may_take(gate, probe, end))
		return NULL;
	work.rails_count = (size_t)probe->rails;
	work.work = (struct bu_work){.id = probe->id, .attempt = 1};
	work.role = end ? BU_PROBE_LISTEN : BU_PROBE_CONNECT;
	work.port = BU_GATE_PORT;
	work.message_bytes = probe->sizes.message_bytes;
	work.bytes = probe->sizes.bytes;
	work.warm_bytes = probe->sizes.warm_bytes;
	work.qps = probe->sizes.qps;
	work.sport = probe->sport;
	work.trace = probe->traces;
	work.depth = probe->sizes.depth;
	work.runs = want->validation->runs;
	work.deadline_ms = probe->deadline_ms;
	work.min_gbps = work.rails[0].min_gbps;
	for (int i = 0; i < 2; i++)
		bu_text_copy(work.node[i], sizeof(work.node[i]), probe->name[i]);
	bu_text_copy(work.probe, sizeof(work.probe), probe->id);
	bu_text_copy(work.self, sizeof(work.self), node->name);
	bu_text_copy(work.addr, sizeof(work.addr), boot[1]);
	bu_text_copy(work.secret, sizeof(work.secret), probe->secret);
	bu_text_copy(work.peer, sizeof(work.peer), boot[!end]);
	return bu_record_to_json(bu_work_probe_fields, &work);
}

static int
is_error(const json_t *result)
{
	return json_is_object(json_object_get(result, "error"));
}

/* Takes a result for each rail. The first one without an error counts. */
static void
take_results(struct bu_probe *probe, const json_t *result)
{
	const json_t *list = json_object_get(result, "rails");

	for (int i = 0; i < probe->rails; i++) {
		const json_t *one = json_array_get(list, (size_t)i);

		if (!one || (probe->result[i] &&
			     (!is_error(probe->result[i]) || is_error(one))))
			continue;
		json_decref(probe->result[i]);
		probe->result[i] = json_incref((json_t *)(uintptr_t)one);
	}
}

int
bu_probe_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		const json_t *result, const struct bu_err *failure)
{
	int end;
	struct bu_probe *probe = probe_with(gate, node, &end);

	if (!probe || strcmp(probe->id, id) != 0)
		return 0;
	if (probe->spoke[end])
		return 1;
	probe->spoke[end] = 1;
	if (result)
		take_results(probe, result);
	if (failure && !probe->failure.kind) {
		probe->failure = *failure;
		bu_err_wrap(&probe->failure, "%s", node->name);
	}
	if (probe->spoke[0] && probe->spoke[1]) {
		bu_probe_note_pace(gate, probe);
		finish_probe(gate, probe);
	} else if (bu_probe_hurry(gate, probe, result, failure)) {
		let_go(gate, probe, end);
		bu_gate_kick(gate);
	}
	return 1;
}
