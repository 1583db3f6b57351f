/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clockwork of the gate: every two seconds, and when something changed, it looks at
 * every fabric, has what is known judged, and starts what is asked for. Invariant: it
 * rests longer than it works, however large the fabric is.
 */
#include <string.h>

#include "base/clock.h"
#include "provisioner/gate/gate_impl.h"

enum { LOOK_AGAIN_MS = 2000, REST_MIN_MS = 20, REST_TIMES = 20 };

static void
start_wanted(struct bu_gate *gate, const struct bu_field *field)
{
	if (field->slow && !gate->slow_turn)
		return;
	for (size_t i = 0; i < field->wanted_count; i++) {
		const struct bu_wanted *pair = &field->wanted[i];

		if (!bu_probe_busy(gate, field->nodes[pair->a]->name) &&
		    !bu_probe_busy(gate, field->nodes[pair->b]->name))
			bu_probe_start(gate, field->validation, field->nodes[pair->a],
				       field->nodes[pair->b]);
	}
}

/* One look a minute, the same for all fabrics. */
static void
take_slow_turn(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->world->loop);

	gate->slow_turn = now_ms >= gate->slow_ms;
	if (gate->slow_turn)
		gate->slow_ms = now_ms + BU_GATE_SLOW_MS;
}

/* Its nodes are busy until the log has it. */
static int
is_anything_told(const struct bu_gate *gate)
{
	for (const struct bu_probe *probe = gate->probes; probe; probe = probe->next)
		if (probe->told)
			return 1;
	return 0;
}

static void
look_at(struct bu_gate *gate, const struct bu_desired_network *fabric)
{
	struct bu_field field;

	if (bu_field_open(gate, fabric, &field) > 0) {
		bu_gate_judge(gate, &field);
		start_wanted(gate, &field);
	}
	bu_field_close(&field);
}

static void
on_look(void *arg)
{
	struct bu_gate *gate = arg;
	const struct bu_desired *desired = gate->world->desired;
	int64_t started_ns = bu_raw_ns();

	bu_probe_deadlines(gate);
	bu_gate_hold(gate);
	take_slow_turn(gate);
	for (size_t i = 0;
	     desired && !is_anything_told(gate) && i < desired->networks_count; i++)
		if (desired->networks[i].role == BU_ROLE_FABRIC)
			look_at(gate, &desired->networks[i]);
	bu_runs_look(gate);
	gate->rest_ms = (bu_raw_ns() - started_ns) / 1000000 * REST_TIMES;
	if (gate->rest_ms < REST_MIN_MS)
		gate->rest_ms = 0;
	if (is_anything_told(gate))
		bu_timer_set(gate->look, REST_MIN_MS);
	else
		bu_timer_set(gate->look, gate->rest_ms > LOOK_AGAIN_MS ? gate->rest_ms
								       : LOOK_AGAIN_MS);
}

/* A schedule of its own for each site, the same after a restart and a restore. */
static uint64_t
seed_of(const struct bu_world *world)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *at = world->public_pem; at && *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return hash;
}

struct bu_gate *
bu_gate_create(struct bu_world *world, struct bu_reconcile *rec,
	       const struct bu_trust *trust)
{
	struct bu_gate *gate = bu_xcalloc(1, sizeof(*gate));

	gate->world = world;
	gate->rec = rec;
	gate->trust = trust;
	gate->seed = seed_of(world);
	gate->look = bu_timer_create(world->loop, on_look, gate);
	bu_timer_set(gate->look, LOOK_AGAIN_MS);
	return gate;
}

void
bu_gate_destroy(struct bu_gate *gate)
{
	if (!gate)
		return;
	bu_probes_drop(gate);
	bu_runs_drop(gate);
	bu_gate_jobs_drop(gate);
	bu_rates_fini(&gate->rates);
	json_decref(gate->gpus);
	bu_timer_destroy(gate->look);
	free(gate);
}

json_t *
bu_gate_work(struct bu_gate *gate, struct bu_node *node)
{
	json_t *work = bu_gate_checks_work(gate, node);

	return work ? work : bu_probe_work(gate, node);
}

void
bu_gate_result(struct bu_gate *gate, struct bu_node *node, const char *id,
	       const json_t *result, const struct bu_err *failure)
{
	if (strncmp(id, "p-", 2) == 0)
		bu_probe_result(gate, node, id, result, failure);
	else
		bu_gate_checks_result(gate, node, id, result, failure);
}

int
bu_gate_again(struct bu_gate *gate, struct bu_node *node, const char *by,
	      struct bu_err *err)
{
	struct bu_event event;

	if (node->state != BU_STATE_VALIDATING)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s; only a node that is validating can "
				  "be measured anew",
				  node->name, bu_state_name(node->state));
	if (node->appending || bu_probe_busy(gate, node->name))
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is being measured at this moment",
				  node->name);
	bu_event_init(&event, BU_EVENT_AGAIN, node->name, json_pack("{s:s}", "by", by));
	bu_reconcile_note(gate->rec, &event, 1);
	bu_gate_kick(gate);
	return 0;
}
