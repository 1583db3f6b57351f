/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks of several nodes (task.h). Called by the kinds of tasks (kinds.c) and, through
 * gate.c, by the agents' API. Tasks are lost with the process. Invariants: a node is in
 * one task at a time, besides one of a kind that shares nodes; a node reports once, for
 * its task alone; a task with a deadline ends.
 */
#include "provisioner/gate/task/task.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/hello.h"
#include "provisioner/gate/terms/terms.h"

static const struct bu_task_kind *
kind_of(const struct bu_gate *gate, const struct bu_task *task)
{
	return &gate->kinds[task->of];
}

/* --- which node is busy with what --- */

/* Node -> pointer of its task. */
static json_t *
marks_of(const struct bu_gate *gate, enum bu_task_of of)
{
	return gate->kinds[of].shares ? gate->shared : gate->busy;
}

int
bu_task_is_busy(const struct bu_gate *gate, const char *name)
{
	return json_object_get(gate->busy, name) != NULL;
}

static int
place_of(const struct bu_task *task, const char *name)
{
	for (int i = 0; i < task->count; i++)
		if (strcmp(task->name[i], name) == 0)
			return i;
	return -1;
}

struct bu_task *
bu_task_with(const json_t *marks, const struct bu_node *node, int *ret_place)
{
	const json_t *mark = json_object_get(marks, node->name);
	struct bu_task *task =
		mark ? (struct bu_task *)(intptr_t)json_integer_value(mark) : NULL;

	if (task)
		*ret_place = place_of(task, node->name);
	return task;
}

/* The node may be in another task by now. */
void
bu_task_let_go(struct bu_gate *gate, const struct bu_task *task, int place)
{
	json_t *marks = marks_of(gate, task->of);
	const json_t *mark = json_object_get(marks, task->name[place]);

	if (mark && json_integer_value(mark) == (json_int_t)(intptr_t)task)
		json_object_del(marks, task->name[place]);
}

int
bu_task_may_join(struct bu_gate *gate, enum bu_task_of of, struct bu_node *node)
{
	const struct bu_task_kind *kind = &gate->kinds[of];
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	if (!want || node->hold->owner || !bu_gate_hears(gate, node))
		return 0;
	if (kind->shares)
		return kind->is_eligible(gate, node, want);
	/* The cluster is asked last. */
	return !bu_task_is_busy(gate, node->name) &&
	       kind->is_eligible(gate, node, want) && bu_gate_lends(gate, node, want) &&
	       !bu_gate_works(gate, node, want);
}

/* --- beginning and end --- */

static void
log_start(const struct bu_task *task, const char *name)
{
	bu_autofree char *nodes = NULL;

	for (int i = 0; i < task->count; i++)
		bu_text_add(&nodes, ", ", "%s", task->name[i]);
	bu_info("gate", "%s %s: %s", name, task->id, nodes);
}

struct bu_task *
bu_task_begin(struct bu_gate *gate, enum bu_task_of of, struct bu_node *const *nodes,
	      int count, int64_t deadline_ms)
{
	const struct bu_task_kind *kind = &gate->kinds[of];
	struct bu_task *task = bu_xcalloc(1, kind->size);

	bu_assert(count <= BU_TASK_NODES);
	task->of = of;
	bu_text_copy(task->id, sizeof(task->id), kind->prefix);
	bu_random_hex(task->id + strlen(kind->prefix), 6);
	bu_random_hex(task->secret, 32);
	task->since_ms = bu_loop_now_ms(gate->fleet->loop);
	task->deadline_ms = deadline_ms;
	if (deadline_ms)
		task->until_ms = task->since_ms + deadline_ms + BU_GATE_GRACE_MS;
	task->count = count;
	for (int i = 0; i < count; i++) {
		bu_text_copy(task->name[i], BU_NAME_MAX, nodes[i]->name);
		json_object_set_new(marks_of(gate, of), nodes[i]->name,
				    json_integer((json_int_t)(intptr_t)task));
		if (!kind->shares)
			bu_fleet_touch(gate->fleet, nodes[i]);
	}
	if (kind->name)
		log_start(task, kind->name);
	task->next = gate->tasks[of];
	return gate->tasks[of] = task;
}

void
bu_task_end(struct bu_gate *gate, struct bu_task *task)
{
	const struct bu_task_kind *kind = kind_of(gate, task);
	struct bu_task **link = &gate->tasks[task->of];

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	for (int i = 0; i < task->count; i++) {
		bu_task_let_go(gate, task, i);
		json_decref(task->result[i]);
	}
	if (kind->fini)
		kind->fini(task);
	free(task);
}

void
bu_tasks_drop(struct bu_gate *gate)
{
	for (int of = 0; of < BU_TASK_KINDS; of++)
		while (gate->tasks[of])
			bu_task_end(gate, gate->tasks[of]);
}

/* 1 = no report is waited for any more. Tasks without a deadline have none to wait for.
 */
static int
is_late(const struct bu_gate *gate, const struct bu_task *task)
{
	const struct bu_task_kind *kind = kind_of(gate, task);

	return task->until_ms && (bu_loop_now_ms(gate->fleet->loop) >= task->until_ms ||
				  (kind->is_over && kind->is_over(gate, task)));
}

void
bu_tasks_late(struct bu_gate *gate)
{
	for (int of = 0; of < BU_TASK_KINDS; of++) {
		struct bu_task *task = gate->tasks[of], *next;

		for (; task; task = next) {
			next = task->next;
			if (is_late(gate, task))
				gate->kinds[of].judge(gate, task);
		}
	}
}

void
bu_tasks_choose(struct bu_gate *gate)
{
	int64_t now_ms = bu_loop_now_ms(gate->fleet->loop);

	for (int of = 0; of < BU_TASK_KINDS; of++) {
		const struct bu_task_kind *kind = &gate->kinds[of];

		if (!kind->choose || (kind->alone && gate->tasks[of]) ||
		    now_ms < gate->choose_ms[of])
			continue;
		gate->choose_ms[of] = now_ms + kind->pause_ms;
		kind->choose(gate);
	}
}

int
bu_tasks_are_told(const struct bu_gate *gate)
{
	for (int of = 0; of < BU_TASK_KINDS; of++)
		for (const struct bu_task *task = gate->tasks[of]; task;
		     task = task->next)
			if (task->told)
				return 1;
	return 0;
}

/* --- work items --- */

int
bu_task_address(const struct bu_gate *gate, const char *name, char ret[INET_ADDRSTRLEN])
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, name);
	/* The order may be older than the applied profile. */
	const struct bu_desired_node *want =
		node ? bu_fleet_ordered(gate->fleet, node) : NULL;
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;

	return boot ? bu_desired_node_address(want, boot, ret) : -1;
}

int
bu_task_fill_pair(const struct bu_gate *gate, const struct bu_task *task, int end,
		  struct bu_work_probe *ret)
{
	char address[2][INET_ADDRSTRLEN];

	bu_record_init(bu_work_probe_fields, ret);
	for (int i = 0; i < 2; i++) {
		if (bu_task_address(gate, task->name[i], address[i]) != 0)
			return -1;
		bu_text_copy(ret->node[i], sizeof(ret->node[i]), task->name[i]);
	}
	ret->work = (struct bu_work){.id = task->id, .attempt = 1};
	ret->role = end ? BU_PROBE_LISTEN : BU_PROBE_CONNECT;
	ret->port = BU_GATE_PORT;
	ret->deadline_ms = task->deadline_ms;
	bu_text_copy(ret->probe, sizeof(ret->probe), task->id);
	bu_text_copy(ret->secret, sizeof(ret->secret), task->secret);
	bu_text_copy(ret->self, sizeof(ret->self), task->name[end]);
	bu_text_copy(ret->addr, sizeof(ret->addr), address[1]);
	bu_text_copy(ret->peer, sizeof(ret->peer), address[!end]);
	return 0;
}

json_t *
bu_task_work(struct bu_gate *gate, const struct bu_node *node)
{
	int place;
	struct bu_task *task = bu_task_with(gate->busy, node, &place);

	return task && !task->spoke[place]
		       ? kind_of(gate, task)->item(gate, task, place)
		       : NULL;
}

int
bu_task_wants(const struct bu_gate *gate, const struct bu_node *node, const char *id)
{
	int place;
	const struct bu_task *task = bu_task_with(gate->busy, node, &place);

	return task && !task->spoke[place] && strcmp(task->id, id) == 0;
}

/* --- reports --- */

const char *
bu_task_failure(const struct bu_task *task)
{
	return task->failure.kind ? task->failure.text : "no result in time";
}

/* Keeps a node's report. ret: 1 = all have reported. */
static int
keep(struct bu_task *task, int place, const json_t *result,
     const struct bu_err *failure)
{
	int spoke = 1;

	for (int i = 0; i < task->count; i++)
		spoke += task->spoke[i] != 0;
	task->spoke[place] = (unsigned char)spoke;
	task->result[place] = json_incref((json_t *)(uintptr_t)result);
	if (failure && !task->failure.kind) {
		task->failure = *failure;
		bu_err_wrap(&task->failure, "%s", task->name[place]);
	}
	return spoke == task->count;
}

int
bu_task_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
	       const json_t *result, const struct bu_err *failure)
{
	int place;
	struct bu_task *task = bu_task_with(gate->busy, node, &place);
	const struct bu_task_kind *kind;

	if (!task || strcmp(task->id, id) != 0)
		return 0;
	kind = kind_of(gate, task);
	if (task->spoke[place])
		return 1;
	if (keep(task, place, result, failure)) {
		kind->judge(gate, task);
		bu_gate_kick(gate);
	} else if (kind->heard) {
		kind->heard(gate, task, place);
	}
	return 1;
}
