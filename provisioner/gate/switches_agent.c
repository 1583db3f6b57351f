/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a node's agent read the switches of an InfiniBand fabric, which answer over the
 * fabric itself, without a port of the server. Called by switches_read.c and, through
 * gate.h, by the agents' API. Invariants: one node at a time, in turn; the node is idle
 * and lent, and in no probe meanwhile; a node that fails costs one reading.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/hello.h"
#include "model/work.h"
#include "provisioner/gate/switches_impl.h"

enum { DEADLINE_MS = 30000 };

/* --- which node --- */

static int
is_reader(struct bu_gate *gate, struct bu_node *node,
	  const struct bu_desired_network *network)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	return want && bu_desired_has_rail(want->pool, network) &&
	       (node->state == BU_STATE_READY || node->state == BU_STATE_JOINING ||
		node->state == BU_STATE_VALIDATING) &&
	       !node->hold->owner && bu_gate_hears(gate, node) &&
	       !bu_probe_busy(gate, node->name) && bu_gate_lends(gate, node, want) &&
	       !bu_gate_works(gate, node, want);
}

static struct bu_node *
find_reader(struct bu_switches *counters, const struct bu_desired_network *network)
{
	struct bu_gate *gate = counters->gate;
	struct bu_switches_agent *agent = &counters->agent;
	size_t count = gate->fleet->count;

	for (size_t i = 0; i < count; i++) {
		size_t place = (agent->next + i) % count;
		struct bu_node *node = gate->fleet->nodes[place];

		if (!is_reader(gate, node, network))
			continue;
		agent->next = place + 1;
		return node;
	}
	return NULL;
}

/* --- the work item --- */

static json_t *
names_of(const struct bu_topology *shape)
{
	const json_t *const lists[] = {shape->leaf_ids.list, shape->spine_ids.list};
	json_t *names = json_object();
	const json_t *name;
	size_t i;

	for (size_t k = 0; k < BU_LEN(lists); k++)
		json_array_foreach (lists[k], i, name)
			if (json_is_string(name))
				json_object_set_new(names, json_string_value(name),
						    json_true());
	return names;
}

static json_t *
make_item(const struct bu_switches *counters, const struct bu_node *node,
	  const struct bu_desired_network *network)
{
	bu_autojson json_t *names = names_of(&counters->shape);
	struct bu_work_switches work;

	bu_record_init(bu_work_switches_fields, &work);
	if (bu_gate_port(bu_fleet_desired(counters->gate->fleet, node), network,
			 &work.rail) != 0)
		return NULL;
	work.work = (struct bu_work){.id = counters->agent.id, .attempt = 1};
	work.names = names;
	work.deadline_ms = DEADLINE_MS;
	return bu_record_to_json(bu_work_switches_fields, &work);
}

static void
let_go(struct bu_switches *counters)
{
	struct bu_switches_agent *agent = &counters->agent;

	if (agent->id[0])
		json_object_del(counters->gate->busy, agent->node);
	agent->id[0] = '\0';
	json_decref(agent->item);
	agent->item = NULL;
}

void
bu_switches_forget_agent(struct bu_switches *counters)
{
	let_go(counters);
	bu_series_fini(&counters->agent.series);
}

void
bu_switches_ask_agent(struct bu_switches *counters,
		      const struct bu_desired_network *network, bu_prometheus_fn told)
{
	struct bu_gate *gate = counters->gate;
	struct bu_switches_agent *agent = &counters->agent;
	struct bu_node *node = find_reader(counters, network);
	struct bu_err err = {0};

	agent->told = told;
	agent->full[0] = '\0';
	if (node) {
		snprintf(agent->id, sizeof(agent->id), "s-");
		bu_random_hex(agent->id + 2, 6);
		bu_text_copy(agent->node, sizeof(agent->node), node->name);
		agent->item = make_item(counters, node, network);
	}
	if (!agent->item) {
		agent->id[0] = '\0';
		bu_err_set(&err, BU_ERR_STATE, 0,
			   "no node of it is idle, heard and lent");
		agent->told(NULL, &err, counters);
		return;
	}
	agent->until_ms =
		bu_loop_now_ms(gate->fleet->loop) + DEADLINE_MS + BU_GATE_GRACE_MS;
	/* The value 0 is work other than a probe. */
	json_object_set_new(gate->busy, agent->node, json_integer(0));
	bu_gate_wake_at(gate, agent->until_ms);
	bu_fleet_touch(gate->fleet, node);
}

json_t *
bu_switches_work(struct bu_gate *gate, const struct bu_node *node)
{
	for (const struct bu_switches *one = gate->switches; one; one = one->next)
		if (one->agent.id[0] && strcmp(one->agent.node, node->name) == 0)
			return json_incref(one->agent.item);
	return NULL;
}

/* --- the answer --- */

static void
take(struct bu_switches *counters, const json_t *result)
{
	struct bu_switches_agent *agent = &counters->agent;
	struct bu_series_of of = {.shape = &counters->shape};
	bu_autojson json_t *links = NULL;
	struct bu_err err = {0};

	BU_TEXT_COPY(agent->full, bu_json_str(result, "full", ""));
	bu_series_begin(&agent->series);
	if (bu_series_add_ports(&agent->series, &counters->shape,
				json_object_get(result, "ports"), &err) == 0)
		links = bu_series_links(&agent->series, &of, &err);
	agent->told(links, links ? NULL : &err, counters);
}

static void
fail(struct bu_switches *counters, const struct bu_err *failure)
{
	struct bu_err err = *failure;

	bu_ignore(bu_err_wrap(&err, "%s", counters->agent.node));
	let_go(counters);
	counters->agent.told(NULL, &err, counters);
}

int
bu_switches_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		   const json_t *result, const struct bu_err *failure)
{
	struct bu_switches *one = gate->switches;
	struct bu_err err = {0};

	while (one && (!one->agent.id[0] || strcmp(one->agent.id, id) != 0 ||
		       strcmp(one->agent.node, node->name) != 0))
		one = one->next;
	if (!one)
		return 0;
	if (!failure && !json_is_array(json_object_get(result, "ports"))) {
		bu_err_set(&err, BU_ERR_INVAL, 0, "its answer has no ports");
		failure = &err;
	}
	if (failure) {
		fail(one, failure);
	} else {
		let_go(one);
		take(one, result);
	}
	return 1;
}

void
bu_switches_agent_late(struct bu_switches *counters)
{
	struct bu_err err = {0};

	if (!counters->agent.id[0] ||
	    bu_loop_now_ms(counters->gate->fleet->loop) < counters->agent.until_ms)
		return;
	bu_err_set(&err, BU_ERR_TIMEOUT, 0, "it gave no answer within %d s",
		   DEADLINE_MS / 1000);
	fail(counters, &err);
}
