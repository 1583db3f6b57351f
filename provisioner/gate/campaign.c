/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who probes whom. A campaign has no memory of its own: what was probed is in the log
 * (bound to the boots of both nodes), what is under way is lost with the process and
 * simply probed again, which harms nobody.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "fabric/schedule.h"
#include "provisioner/gate/gate_impl.h"

enum {
	LOOK_AGAIN_MS = 2000,
	PARTNER_WAIT_MS = 24 * 3600 * 1000,
};

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

struct wanted {
	const struct bu_gate *gate;
	const struct bu_field *field;
};

static int
wanted_now(int a, int b, void *arg)
{
	const struct wanted *wanted = arg;
	const struct bu_field *field = wanted->field;

	return bu_gate_open_pair(field, a, b) &&
	       !bu_gate_busy(wanted->gate, field->nodes[a]->name) &&
	       !bu_gate_busy(wanted->gate, field->nodes[b]->name);
}

static void
start_probe(struct bu_gate *gate, const struct bu_field *field, int a, int b)
{
	struct bu_probe *probe = bu_xcalloc(1, sizeof(*probe));
	/* A pair has one name, whoever was scheduled first. */
	int swap = strcmp(field->nodes[a]->name, field->nodes[b]->name) > 0;
	int ends[2] = {swap ? b : a, swap ? a : b};

	snprintf(probe->id, sizeof(probe->id), "p-");
	bu_random_hex(probe->id + 2, 6);
	bu_random_hex(probe->secret, 32);
	probe->until_ms = bu_loop_now_ms(gate->world->loop) +
			  field->validation->deadline_ms + BU_GATE_GRACE_MS;
	for (int i = 0; i < 2; i++) {
		struct bu_node *node = field->nodes[ends[i]];
		struct bu_event lease;

		memcpy(probe->name[i], node->name, sizeof(node->name));
		/* The time that it waited for a partner does not count. */
		if (node->waiting[0])
			node->clock_ms = bu_loop_now_ms(gate->world->loop);
		node->waiting[0] = '\0';
		if (!field->certified[ends[i]])
			continue;
		bu_event_init(&lease, BU_EVENT_LEASE, node->name,
			      json_pack("{s:s,s:s}", "probe", probe->id, "for",
					field->nodes[ends[!i]]->name));
		bu_reconcile_note(gate->rec, &lease, 1);
	}
	probe->next = gate->probes;
	gate->probes = probe;
	bu_info("gate", "probe %s: %s <-> %s", probe->id, probe->name[0],
		probe->name[1]);
	bu_world_touch(gate->world, field->nodes[a]);
	bu_world_touch(gate->world, field->nodes[b]);
}

static void
run_field(struct bu_gate *gate, const struct bu_desired_network *fabric)
{
	struct bu_field *field = bu_xcalloc(1, sizeof(*field));
	struct wanted wanted = {gate, field};
	struct bu_pair pairs[BU_GATE_NODES_MAX / 2];
	int count;

	bu_gate_field(gate, fabric, field);
	if (field->count) {
		bu_gate_judge(gate, field);
		count = bu_schedule_next(field->count, gate->seed, wanted_now, &wanted,
					 pairs);
		for (int i = 0; i < count; i++)
			start_probe(gate, field, pairs[i].a, pairs[i].b);
	}
	free(field->results);
	free(field);
}

static void
hold(struct bu_gate *gate, struct bu_node *node)
{
	struct bu_event event;

	bu_event_init(
		&event, BU_EVENT_HELD, node->name,
		json_pack("{s:s,s:s}", "owner", "bringup", "reason", node->waiting));
	bu_reconcile_note(gate->rec, &event, 1);
}

/* Without certificates no node joins; where the profile asks for none, say so. Who
 * waits for long, heard or not, is held for a person. */
static void
check_waiting(struct bu_gate *gate)
{
	for (size_t i = 0; i < gate->world->count; i++) {
		struct bu_node *node = gate->world->nodes[i];
		const struct bu_desired_node *want =
			bu_world_desired(gate->world, node);

		if (node->state != BU_STATE_VALIDATING)
			continue;
		if (want && !want->validation)
			snprintf(node->waiting, sizeof(node->waiting),
				 "pool %s names no validation, and no node joins "
				 "without "
				 "a certificate; add validation = NAME to the pool",
				 node->pool);
		if (node->waiting[0] && !node->held_by[0] && !node->appending &&
		    bu_loop_now_ms(gate->world->loop) - node->clock_ms >=
			    PARTNER_WAIT_MS)
			hold(gate, node);
	}
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

/* Probes of this pair in these boots that gave no result before. */
static int
errors_before(const struct bu_gate *gate, const struct bu_node *a,
	      const struct bu_node *b)
{
	size_t i;
	json_t *pair;

	json_array_foreach (gate->world->pairs, i, pair)
		if (strcmp(bu_json_str(pair, "a", ""), a->name) == 0 &&
		    strcmp(bu_json_str(pair, "b", ""), b->name) == 0 &&
		    strcmp(bu_json_str(pair, "boot_a", ""), a->boot_id) == 0 &&
		    strcmp(bu_json_str(pair, "boot_b", ""), b->boot_id) == 0)
			return (int)bu_json_int(pair, "errors", 0);
	return 0;
}

/* Why a result says nothing, where its ends name no error themselves. */
static void
explain(const struct bu_expect *expect, struct bu_pair_result *result)
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

static void
journal_pair(struct bu_gate *gate, struct bu_probe *probe)
{
	const struct bu_node *a = bu_world_node(gate->world, probe->name[0]);
	const struct bu_node *b = bu_world_node(gate->world, probe->name[1]);
	const struct bu_desired_node *want =
		a ? bu_world_desired(gate->world, a) : NULL;
	struct bu_pair_result result;
	struct bu_expect expect;
	struct bu_event event;
	json_t *body;

	if (!a || !b || !want || !want->validation)
		return;
	expect = bu_gate_expect(want->validation);
	bu_pair_result_init(&result);
	if (probe->result && read_result(probe, &result, &probe->failure) == 0) {
		result.verdict = bu_expect_judge_pair(&expect, &result);
		if (result.verdict == BU_VERDICT_INCONCLUSIVE)
			explain(&expect, &result);
	} else {
		bu_pair_result_init(&result);
		if (!probe->failure.kind)
			bu_err_set(&probe->failure, BU_ERR_REMOTE, 0,
				   "neither end told a result");
		bu_pair_error_set(&result.error, BU_END_NONE, &probe->failure);
	}
	body = json_pack("{s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:f,s:f,s:s,s:s,s:o}", "probe",
			 probe->id, "a", a->name, "b", b->name, "boot_a", a->boot_id,
			 "boot_b", b->boot_id, "ab_gbps", result.dir[0].bw_median_gbps,
			 "ba_gbps", result.dir[1].bw_median_gbps, "expect_gbps",
			 bu_expect_min_gbps(&expect), "lat_us",
			 result.dir[0].lat_median_us, "verdict",
			 bu_verdict_name(result.verdict), "error", result.error.text,
			 "result", bu_pair_result_to_json(&result));
	if (result.verdict == BU_VERDICT_INCONCLUSIVE)
		json_object_set_new(body, "errors",
				    json_integer(errors_before(gate, a, b) + 1));
	bu_event_init(&event, BU_EVENT_PAIR, "", body);
	bu_reconcile_note(gate->rec, &event, 1);
}

static void
finish_probe(struct bu_gate *gate, struct bu_probe *probe)
{
	journal_pair(gate, probe);
	probe_free(gate, probe);
	bu_gate_kick(gate);
}

static void
check_deadlines(struct bu_gate *gate)
{
	struct bu_probe *probe = gate->probes, *next;

	for (; probe; probe = next) {
		next = probe->next;
		if (bu_loop_now_ms(gate->world->loop) < probe->until_ms)
			continue;
		if (!probe->failure.kind)
			bu_err_set(&probe->failure, BU_ERR_TIMEOUT, 0,
				   "no result from %s in time",
				   probe->spoke[0] ? probe->name[1] : probe->name[0]);
		finish_probe(gate, probe);
	}
}

static void
on_look(void *arg)
{
	struct bu_gate *gate = arg;
	const struct bu_desired *desired = gate->world->desired;

	check_deadlines(gate);
	for (size_t i = 0; desired && i < desired->networks_count; i++)
		if (desired->networks[i].role == BU_ROLE_FABRIC)
			run_field(gate, &desired->networks[i]);
	check_waiting(gate);
	bu_timer_set(gate->look, LOOK_AGAIN_MS);
}

struct bu_gate *
bu_gate_create(struct bu_world *world, struct bu_reconcile *rec,
	       const struct bu_trust *trust)
{
	struct bu_gate *gate = bu_xcalloc(1, sizeof(*gate));

	gate->world = world;
	gate->rec = rec;
	gate->trust = trust;
	bu_random(&gate->seed, sizeof(gate->seed));
	gate->look = bu_timer_create(world->loop, on_look, gate);
	bu_timer_set(gate->look, LOOK_AGAIN_MS);
	return gate;
}

void
bu_gate_destroy(struct bu_gate *gate)
{
	if (!gate)
		return;
	while (gate->probes)
		probe_free(gate, gate->probes);
	bu_timer_destroy(gate->look);
	free(gate);
}

void
bu_gate_kick(struct bu_gate *gate)
{
	bu_timer_set(gate->look, 0);
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

static const struct bu_desired_node *
desired_end(const struct bu_gate *gate, const struct bu_probe *probe, int end,
	    char ret_boot[INET_ADDRSTRLEN], char ret_fabric[INET_ADDRSTRLEN])
{
	const struct bu_node *node = bu_world_node(gate->world, probe->name[end]);
	const struct bu_desired_node *want =
		node ? bu_world_desired(gate->world, node) : NULL;
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;

	if (!boot || !want->validation ||
	    bu_desired_node_address(want, boot, ret_boot) != 0 ||
	    bu_desired_node_address(want, want->validation->fabric, ret_fabric) != 0)
		return NULL;
	return want;
}

json_t *
bu_gate_work(struct bu_gate *gate, const struct bu_node *node)
{
	int end;
	struct bu_probe *probe = probe_with(gate, node, &end);
	char boot[2][INET_ADDRSTRLEN], fabric[2][INET_ADDRSTRLEN];
	const struct bu_desired_node *want;

	if (!probe || probe->spoke[end])
		return NULL;
	want = desired_end(gate, probe, end, boot[end], fabric[end]);
	if (!want || !desired_end(gate, probe, !end, boot[!end], fabric[!end]))
		return NULL;
	return json_pack("{s:s,s:s,s:i,s:s,s:s,s:s,s:s,s:s,s:i,s:s,s:s,s:s,s:s,"
			 "s:I,s:I,s:i,s:I}",
			 "kind", "probe", "id", probe->id, "attempt", 1, "probe",
			 probe->id, "role", end ? "listen" : "connect", "a",
			 probe->name[0], "b", probe->name[1], "addr", boot[1], "port",
			 BU_GATE_PORT, "secret", probe->secret, "node", node->name,
			 "peer", boot[!end], "local_ip", fabric[end], "message_bytes",
			 (json_int_t)want->validation->message_bytes, "bytes",
			 (json_int_t)want->validation->run_bytes, "runs",
			 want->validation->runs, "deadline_ms",
			 (json_int_t)want->validation->deadline_ms);
}

void
bu_gate_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
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
