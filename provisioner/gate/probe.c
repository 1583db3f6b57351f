/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs under way: handed out to both agents, awaited, journaled. What is under way is
 * lost with the process and simply probed again, which harms nobody. Asked by gate.c
 * and, through gate.h, by the agents' API.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/work.h"
#include "provisioner/gate/internal.h"

enum { MESSAGE_MIN = 4096, TOLD_MS = 60000 };

static void
probe_free(struct bu_gate *gate, struct bu_probe *probe)
{
	struct bu_probe **link = &gate->probes;

	while (*link != probe)
		link = &(*link)->next;
	*link = probe->next;
	json_decref(probe->result);
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
	for (const struct bu_probe *probe = gate->probes; probe; probe = probe->next)
		if (strcmp(probe->name[0], name) == 0 ||
		    strcmp(probe->name[1], name) == 0)
			return 1;
	return 0;
}

static void
lend(struct bu_gate *gate, const struct bu_node *node, const struct bu_probe *probe,
     const char *to)
{
	struct bu_event lease;

	bu_event_init(&lease, BU_EVENT_LEASE, node->name,
		      json_pack("{s:s,s:s}", "probe", probe->id, "for", to));
	bu_reconcile_note(gate->rec, &lease, 1);
}

/* What said nothing once is done the same again, then with messages of another size, by
 * turns. Half as large, or twice where that would be tiny. */
static uint64_t
message_bytes(const struct bu_gate *gate,
	      const struct bu_desired_validation *validation, const char *rail,
	      const struct bu_node *a, const struct bu_node *b)
{
	uint64_t usual = validation->message_bytes, other = usual / 2 & ~UINT64_C(7);
	int place, dir;
	const struct bu_pair_log *log = bu_gate_log(gate, rail, a, b, &place, &dir);
	int failures = log ? bu_gate_failures(log) : 0;

	if (failures == 0 || failures % 2 == 1)
		return usual;
	if (other >= MESSAGE_MIN)
		return other;
	return 2 * usual <= validation->run_bytes ? 2 * usual : usual;
}

const char *
bu_probe_start(struct bu_gate *gate, const struct bu_desired_validation *validation,
	       const struct bu_desired_network *rail, struct bu_node *a,
	       struct bu_node *b)
{
	struct bu_probe *probe = bu_xcalloc(1, sizeof(*probe));
	/* A pair has one name, whoever was scheduled first. */
	int swap = strcmp(a->name, b->name) > 0;
	struct bu_node *ends[2] = {swap ? b : a, swap ? a : b};

	snprintf(probe->id, sizeof(probe->id), "p-");
	bu_random_hex(probe->id + 2, 6);
	bu_random_hex(probe->secret, 32);
	probe->until_ms = bu_loop_now_ms(gate->fleet->loop) +
			  bu_gate_deadline_ms(gate, validation, rail) +
			  BU_GATE_GRACE_MS;
	probe->message_bytes = message_bytes(gate, validation, rail->name, a, b);
	bu_text_copy(probe->rail, sizeof(probe->rail), rail->name);
	for (int i = 0; i < 2; i++) {
		memcpy(probe->name[i], ends[i]->name, sizeof(ends[i]->name));
		if (bu_fleet_certified(gate->fleet, ends[i], NULL) == 0)
			lend(gate, ends[i], probe, ends[!i]->name);
	}
	probe->next = gate->probes;
	gate->probes = probe;
	bu_info("gate", "probe %s: %s <-> %s on %s", probe->id, probe->name[0],
		probe->name[1], probe->rail);
	bu_fleet_touch(gate->fleet, a);
	bu_fleet_touch(gate->fleet, b);
	return probe->id;
}

/* An agent may only speak of the probe that it was given, and of its two ends. */
static int
read_result(const struct bu_probe *probe, struct bu_pair_result *ret,
	    struct bu_err *err)
{
	if (bu_pair_result_from_json(probe->result, ret, err) != 0)
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

/* The network of the probe; NULL = the profile does not measure it there any more. */
static const struct bu_desired_network *
rail_of(const struct bu_probe *probe, const struct bu_desired_node *want)
{
	for (size_t i = 0; want && want->validation && i < want->pool->rails_count; i++)
		if (strcmp(want->pool->rails[i]->name, probe->rail) == 0)
			return want->pool->rails[i];
	return NULL;
}

/* 1 = its event is on its way to the log. */
static int
journal_pair(struct bu_gate *gate, struct bu_probe *probe)
{
	const struct bu_node *a = bu_fleet_node(gate->fleet, probe->name[0]);
	const struct bu_node *b = bu_fleet_node(gate->fleet, probe->name[1]);
	const struct bu_desired_node *want =
		a ? bu_fleet_desired(gate->fleet, a) : NULL;
	const struct bu_desired_network *rail = rail_of(probe, want);
	struct bu_pair_result result;
	struct bu_expect expect;
	struct bu_event event;

	if (!a || !b || !rail)
		return 0;
	expect = bu_gate_expect(gate, want->validation, rail);
	bu_pair_result_init(&result);
	if (probe->result && read_result(probe, &result, &probe->failure) == 0) {
		result.verdict = bu_expect_judge_pair(&expect, &result);
		if (result.verdict == BU_VERDICT_INCONCLUSIVE)
			bu_probe_explain(&expect, &result);
	} else {
		bu_pair_result_init(&result);
		if (!probe->failure.kind)
			bu_err_set(&probe->failure, BU_ERR_REMOTE, 0,
				   "neither end reported a result");
		bu_pair_error_set(&result.error, BU_END_NONE, &probe->failure);
	}
	bu_event_init(&event, BU_EVENT_PAIR, "",
		      bu_probe_body(gate, probe, a, b, &expect, &result));
	bu_reconcile_note(gate->rec, &event, 1);
	return 1;
}

/* Its nodes are busy until the log has it: nothing is asked for twice. What the log has
 * not taken by then is measured again. */
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

static int
is_in_log(const struct bu_gate *gate, const struct bu_probe *probe)
{
	int place = bu_measurements_find(gate->fleet, probe->name[0], probe->name[1],
					 probe->rail);

	return place >= 0 &&
	       strcmp(bu_json_str(gate->fleet->measurements.logs[place].brief, "probe",
				  ""),
		      probe->id) == 0;
}

static void
give_up(struct bu_gate *gate, struct bu_probe *probe)
{
	for (int end = 0; end < 2; end++) {
		struct bu_node *node = bu_fleet_node(gate->fleet, probe->name[end]);

		if (node && !probe->spoke[end])
			node->live.unanswered = 1;
	}
	if (!probe->failure.kind)
		bu_err_set(&probe->failure, BU_ERR_TIMEOUT, 0,
			   "no result from %s in time",
			   probe->spoke[0] ? probe->name[1] : probe->name[0]);
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
		if (probe->told && (late || is_in_log(gate, probe)))
			probe_free(gate, probe);
		else if (late)
			give_up(gate, probe);
	}
}

static struct bu_probe *
probe_with(struct bu_gate *gate, const struct bu_node *node, int *ret_end)
{
	for (struct bu_probe *probe = gate->probes; probe; probe = probe->next)
		for (int i = 0; i < 2; i++)
			if (strcmp(probe->name[i], node->name) == 0) {
				*ret_end = i;
				return probe;
			}
	return NULL;
}

/* The addresses that the node has: its order may be older than what is applied. */
static int
find_end(const struct bu_gate *gate, const struct bu_probe *probe, int end,
	 char ret_boot[INET_ADDRSTRLEN], char ret_fabric[INET_ADDRSTRLEN])
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, probe->name[end]);
	const struct bu_desired_node *want =
		node ? bu_fleet_ordered(gate->fleet, node) : NULL;
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;
	const struct bu_desired_network *rail = rail_of(probe, want);

	if (!boot || !rail)
		return -1;
	return bu_desired_node_address(want, boot, ret_boot) != 0
		       ? -1
		       : bu_desired_node_address(want, rail, ret_fabric);
}

json_t *
bu_probe_work(struct bu_gate *gate, const struct bu_node *node)
{
	int end;
	struct bu_probe *probe = probe_with(gate, node, &end);
	char boot[2][INET_ADDRSTRLEN], fabric[2][INET_ADDRSTRLEN];
	/* The terms are the same for both ends, so they are of the applied revision. */
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	const struct bu_desired_network *rail = probe ? rail_of(probe, want) : NULL;
	struct bu_work_probe work;
	struct bu_expect expect;

	if (!rail || probe->spoke[end] ||
	    find_end(gate, probe, end, boot[end], fabric[end]) != 0 ||
	    find_end(gate, probe, !end, boot[!end], fabric[!end]) != 0)
		return NULL;
	expect = bu_gate_expect(gate, want->validation, rail);
	bu_record_init(bu_work_probe_fields, &work);
	work.work = (struct bu_work){.id = probe->id, .attempt = 1};
	work.role = end ? BU_PROBE_LISTEN : BU_PROBE_CONNECT;
	work.port = BU_GATE_PORT;
	work.message_bytes = (uint32_t)probe->message_bytes;
	work.bytes = want->validation->run_bytes;
	work.runs = want->validation->runs;
	work.deadline_ms = bu_gate_deadline_ms(gate, want->validation, rail);
	work.min_gbps = bu_expect_min_gbps(&expect);
	for (int i = 0; i < 2; i++)
		bu_text_copy(work.node[i], sizeof(work.node[i]), probe->name[i]);
	bu_text_copy(work.probe, sizeof(work.probe), probe->id);
	bu_text_copy(work.self, sizeof(work.self), node->name);
	bu_text_copy(work.addr, sizeof(work.addr), boot[1]);
	bu_text_copy(work.secret, sizeof(work.secret), probe->secret);
	bu_text_copy(work.peer, sizeof(work.peer), boot[!end]);
	bu_text_copy(work.local_ip, sizeof(work.local_ip), fabric[end]);
	return bu_record_to_json(bu_work_probe_fields, &work);
}

void
bu_probe_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		const json_t *result, const struct bu_err *failure)
{
	int end;
	struct bu_probe *probe = probe_with(gate, node, &end);

	if (!probe || strcmp(probe->id, id) != 0 || probe->spoke[end])
		return;
	probe->spoke[end] = 1;
	if (result && !probe->result)
		probe->result = json_deep_copy(result);
	if (failure && !probe->failure.kind) {
		probe->failure = *failure;
		bu_err_wrap(&probe->failure, "%s", node->name);
	}
	if (probe->spoke[0] && probe->spoke[1])
		finish_probe(gate, probe);
}
