/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a node's agent read the switches of an InfiniBand fabric, which answer over the
 * fabric itself, without a port of the server. Called by switches_read.c, and a row of
 * kinds.c. Invariants: one node at a time, in turn; a node that fails costs one
 * reading.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/work.h"
#include "provisioner/gate/campaign/switches_impl.h"

enum { DEADLINE_MS = 30000 };

/* --- which node --- */

int
bu_switches_is_eligible(struct bu_gate *gate, struct bu_node *node,
			const struct bu_desired_node *want)
{
	(void)gate;
	(void)want;
	return node->state == BU_STATE_READY || node->state == BU_STATE_JOINING ||
	       node->state == BU_STATE_VALIDATING;
}

/* Finds a node with a port on this network. */
static struct bu_node *
find_reader(struct bu_switches *counters, const struct bu_desired_network *network,
	    struct bu_work_rail *ret_port)
{
	struct bu_gate *gate = counters->gate;
	struct bu_switches_agent *agent = &counters->agent;
	size_t count = gate->fleet->count;

	for (size_t i = 0; i < count; i++) {
		size_t place = (agent->next + i) % count;
		struct bu_node *node = gate->fleet->nodes[place];
		const struct bu_desired_node *want =
			bu_fleet_desired(gate->fleet, node);

		if (!want || !bu_desired_has_rail(want->pool, network) ||
		    bu_gate_port(want, network, ret_port) != 0 ||
		    !bu_task_may_join(gate, BU_TASK_SWITCHES, node))
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
make_item(const struct bu_switches *counters, const struct bu_task *task,
	  const struct bu_work_rail *port)
{
	bu_autojson json_t *names = names_of(&counters->shape);
	struct bu_work_switches work;

	bu_record_init(bu_work_switches_fields, &work);
	work.rail = *port;
	work.work = (struct bu_work){.id = task->id, .attempt = 1};
	work.names = names;
	work.deadline_ms = task->deadline_ms;
	return bu_record_to_json(bu_work_switches_fields, &work);
}

void
bu_switches_fini(struct bu_task *task)
{
	struct bu_switches_reading *reading = (struct bu_switches_reading *)task;

	reading->counters->agent.task = NULL;
	json_decref(reading->item);
}

void
bu_switches_forget_agent(struct bu_switches *counters)
{
	if (counters->agent.task)
		bu_task_end(counters->gate, counters->agent.task);
	bu_series_fini(&counters->agent.series);
}

void
bu_switches_ask_agent(struct bu_switches *counters,
		      const struct bu_desired_network *network, bu_prometheus_fn told)
{
	struct bu_switches_agent *agent = &counters->agent;
	struct bu_switches_reading *reading;
	struct bu_work_rail port;
	struct bu_node *node = find_reader(counters, network, &port);
	struct bu_err err = {0};

	agent->told = told;
	agent->full[0] = '\0';
	if (!node) {
		bu_err_set(&err, BU_ERR_STATE, 0,
			   "no node of it is idle, heard and lent");
		agent->told(NULL, &err, counters);
		return;
	}
	agent->task =
		bu_task_begin(counters->gate, BU_TASK_SWITCHES, &node, 1, DEADLINE_MS);
	reading = (struct bu_switches_reading *)agent->task;
	reading->counters = counters;
	reading->item = make_item(counters, agent->task, &port);
	bu_gate_wake_at(counters->gate, agent->task->until_ms);
}

json_t *
bu_switches_item(struct bu_gate *gate, struct bu_task *task, int place)
{
	(void)gate;
	(void)place;
	return json_incref(((struct bu_switches_reading *)task)->item);
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

/* Why the task has no ports; its kind is 0 if it has. */
static struct bu_err
failure_of(const struct bu_task *task)
{
	struct bu_err err = task->failure;

	if (err.kind || json_is_array(json_object_get(task->result[0], "ports")))
		return err;
	if (task->spoke[0])
		bu_err_set(&err, BU_ERR_INVAL, 0, "%s: its answer has no ports",
			   task->name[0]);
	else
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "%s: it gave no answer within %d s",
			   task->name[0], DEADLINE_MS / 1000);
	return err;
}

void
bu_switches_judge(struct bu_gate *gate, struct bu_task *task)
{
	struct bu_switches *counters = ((struct bu_switches_reading *)task)->counters;
	bu_autojson json_t *result = json_incref(task->result[0]);
	struct bu_err err = failure_of(task);

	bu_task_end(gate, task);
	if (err.kind)
		counters->agent.told(NULL, &err, counters);
	else
		take(counters, result);
}
