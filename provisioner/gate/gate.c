/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clockwork of the gate. Every two seconds, and after a change, a look judges the
 * results of every fabric, and starts the pairs that are asked for. Invariants: the
 * gate rests longer than it works, but no longer than REST_MAX_MS; a look that has
 * spent its budget leaves further fabrics to the next one; a kick brings a look forward
 * and delays none.
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/judge/gpus.h"
#include "model/kernel_event.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/switches.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/task/asks.h"
#include "provisioner/gate/task/task.h"
#include "provisioner/node/fence.h"

enum {
	LOOK_AGAIN_MS = 2000,
	REST_MIN_MS = 20,
	REST_MAX_MS = 10000,
	REST_TIMES = 20,
};

static void
ask_wanted(struct bu_gate *gate, const struct bu_campaign_state *campaign)
{
	if (!campaign->slow || gate->slow_turn)
		bu_gate_ask(gate, campaign, &campaign->wanted);
	if (gate->slow_turn)
		bu_gate_ask(gate, campaign, &campaign->tired);
}

/* A slow turn comes once a minute, the same for all fabrics. */
static void
take_slow_turn(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	gate->slow_turn = BU_TURN_NONE;
	if (now_ms < gate->slow_ms)
		return;
	gate->slow_ms = now_ms + BU_GATE_SLOW_MS;
	gate->slow_turn = gate->slow_turns++ % 2 ? BU_TURN_OTHERS : BU_TURN_TIRED;
}

static void
look_at(struct bu_gate *gate, const struct bu_desired_network *fabric)
{
	struct bu_campaign_state campaign;

	if (bu_campaign_state_open(gate, fabric, &campaign) > 0) {
		bu_gate_judge(gate, &campaign);
		ask_wanted(gate, &campaign);
		bu_gate_keep_shape(gate, fabric, &campaign.topology);
	}
	bu_campaign_state_close(&campaign);
}

/* 1 = fabrics are left for the next look. */
static int
look_at_fabrics(struct bu_gate *gate, int64_t start_ms)
{
	const struct bu_desired *desired = gate->fleet->desired;
	size_t count = desired ? desired->networks_count : 0;
	int looked = 0;

	if (gate->next_fabric >= count)
		gate->next_fabric = 0;
	if (gate->next_fabric == 0)
		take_slow_turn(gate);
	while (gate->next_fabric < count) {
		const struct bu_desired_network *network =
			&desired->networks[gate->next_fabric];

		if (network->role == BU_ROLE_FABRIC) {
			if (looked &&
			    bu_mono_ms(gate->stopwatch) - start_ms > BU_GATE_BUDGET_MS)
				return 1;
			look_at(gate, network);
			looked = 1;
		}
		gate->next_fabric++;
	}
	bu_leaf_campaign_look(gate);
	bu_switches_look(gate);
	bu_gate_start_asked(gate);
	return 0;
}

static void
on_look(void *arg)
{
	struct bu_gate *gate = arg;
	int64_t start_ms = bu_mono_ms(gate->stopwatch), now_ms, rest_ms;
	int more = 0, unverified;

	gate->due_ms = 0;
	if (bu_store_down(gate->fleet->store) || bu_fence_is_shut(gate->fleet)) {
		bu_gate_wake_at(gate,
				bu_loop_now_ms(gate->fleet->loop) + LOOK_AGAIN_MS);
		return;
	}
	gate->looking = 1;
	gate->once_ms = 0;
	bu_tasks_late(gate);
	bu_node_reason_set_all(gate);
	bu_gate_hold(gate);
	unverified = bu_gate_verify(gate);
	if (!unverified && !bu_tasks_are_told(gate))
		more = look_at_fabrics(gate, start_ms);
	bu_gate_roles_drop(gate);
	bu_runs_look(gate);
	if (!unverified)
		bu_tasks_choose(gate);
	gate->looking = 0;
	/* Certificate work is done once for a node, and needs no longer rest. */
	rest_ms =
		(bu_mono_ms(gate->stopwatch) - start_ms - gate->once_ms) * REST_TIMES +
		gate->once_ms;
	if (rest_ms < REST_MIN_MS)
		rest_ms = 0;
	if (rest_ms > REST_MAX_MS)
		rest_ms = REST_MAX_MS;
	now_ms = bu_loop_now_ms(gate->fleet->loop);
	gate->rested_ms = now_ms + rest_ms;
	if (bu_tasks_are_told(gate) || more || unverified)
		bu_gate_wake_at(gate, now_ms + (rest_ms ? rest_ms : REST_MIN_MS));
	else
		bu_gate_wake_at(
			gate,
			now_ms + (rest_ms > LOOK_AGAIN_MS ? rest_ms : LOOK_AGAIN_MS));
}

void
bu_gate_set_stopwatch(struct bu_gate *gate, const struct bu_clock *clock)
{
	gate->stopwatch = clock;
}

/* From the site's public key: each site has its own schedule, the same after a restart
 * and a restore. */
static uint64_t
seed_of(const struct bu_fleet *fleet)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *at = fleet->public_pem; at && *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	return hash;
}

struct bu_gate *
bu_gate_create(struct bu_fleet *fleet, struct bu_reconcile *rec,
	       const struct bu_trust *trust)
{
	struct bu_gate *gate = bu_xcalloc(1, sizeof(*gate));

	gate->fleet = fleet;
	gate->rec = rec;
	gate->trust = trust;
	gate->seed = seed_of(fleet);
	gate->kinds = bu_task_kinds;
	gate->busy = json_object();
	gate->shared = json_object();
	gate->soaked_with = json_object();
	gate->nvlink_rest = json_object();
	gate->look = bu_timer_create(fleet->loop, on_look, gate);
	gate->stopwatch = bu_loop_clock(fleet->loop);
	bu_gate_wake_at(gate, bu_loop_now_ms(fleet->loop) + LOOK_AGAIN_MS);
	return gate;
}

void
bu_gate_destroy(struct bu_gate *gate)
{
	if (!gate)
		return;
	bu_switches_drop(gate);
	bu_tasks_drop(gate);
	json_decref(gate->busy);
	json_decref(gate->shared);
	json_decref(gate->soaked_with);
	json_decref(gate->nvlink_rest);
	json_decref(gate->leaf_accused);
	free(gate->asks);
	bu_runs_drop(gate);
	bu_gate_peers_drop(gate);
	bu_gate_shapes_drop(gate);
	bu_gate_pairs_drop(gate);
	bu_rates_fini(&gate->rates);
	json_decref(gate->gpus);
	json_decref(gate->events);
	bu_timer_destroy(gate->look);
	free(gate);
}

int
bu_gate_load_data(struct bu_gate *gate, const char *rates_path, const char *gpus_path,
		  struct bu_err *err)
{
	bu_autojson json_t *gpus = bu_json_load(gpus_path, err);
	struct bu_rates rates;

	if (!gpus || bu_rates_load(rates_path, &rates, err) != 0)
		return -1;
	if (bu_gpus_check(gpus, &rates, err) != 0) {
		bu_rates_fini(&rates);
		return bu_err_wrap(err, "%s", gpus_path);
	}
	bu_rates_fini(&gate->rates);
	json_decref(gate->gpus);
	gate->rates = rates;
	gate->gpus = json_incref(gpus);
	return 0;
}

int
bu_gate_load_events(struct bu_gate *gate, const char *path, struct bu_err *err)
{
	bu_autojson json_t *events = bu_json_load(path, err);

	if (!events)
		return -1;
	if (bu_kernel_events_check(events, err) != 0)
		return bu_err_wrap(err, "%s", path);
	json_decref(gate->events);
	gate->events = bu_kernel_events_wire(events);
	return 0;
}

json_t *
bu_gate_work(struct bu_gate *gate, struct bu_node *node)
{
	json_t *work = bu_gate_checks_work(gate, node);

	node->live.came_ms = bu_loop_now_ms(gate->fleet->loop);
	return work ? work : bu_task_work(gate, node);
}

int
bu_gate_wants(struct bu_gate *gate, const struct bu_node *node, const char *id)
{
	char asked[BU_NAME_SIZE];

	if (bu_gate_checks_asked(gate, node, asked))
		return strcmp(asked, id) == 0;
	return bu_task_wants(gate, node, id);
}

void
bu_gate_result(struct bu_gate *gate, struct bu_node *node, const char *id,
	       const json_t *result, const struct bu_err *failure)
{
	node->live.unanswered = 0;
	node->live.came_ms = bu_loop_now_ms(gate->fleet->loop); /* agent idles */
	if (!bu_task_result(gate, node, id, result, failure))
		bu_gate_checks_result(gate, node, id, result, failure);
}

int
bu_gate_again(struct bu_gate *gate, struct bu_node *node, const char *by,
	      struct bu_err *err)
{
	struct bu_event event;

	if (node->state != BU_STATE_VALIDATING)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s; only a validating node can be "
				  "measured again",
				  node->name, bu_state_name(node->state));
	if (node->live.appending || bu_task_is_busy(gate, node->name))
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is being measured right now", node->name);
	BU_EVENT_MAKE(&event, BU_EVENT_AGAIN, node->name, again, .by = by);
	bu_reconcile_note(gate->rec, &event, 1);
	bu_gate_kick(gate);
	return 0;
}
