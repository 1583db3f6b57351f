/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVLink tests: two certified nodes of one NVLink domain copy to each other
 * (checks/gpu/nvlink.h). A node is tested once in each boot; after a bad test again
 * with a good node, so that a third node tells the bad one. A row of kinds.c.
 * Invariants: a domain has one pair at a time; no node is moved or accused, a finding
 * is a remark.
 */
#include "provisioner/gate/task/nvlink.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/gate/terms/terms.h"

/* TRIES: nodes for which a look searches a partner. TESTS: of a node in a boot, while
 * none is good. REST: between two tests of a node, for the log to take the first. */
enum {
	REST_MS = 600000,
	TRIES = 64,
	TESTS = 3,
	RUNS = 5,
	DEADLINE_MS = 180000,
	DRIVER_MS = 100000, /* to start the driver, and to end a hung test */
};

/* --- which nodes take part --- */

int
bu_gate_nvlink_is_eligible(struct bu_gate *gate, struct bu_node *node,
			   const struct bu_desired_node *want)
{
	return want->validation && !want->mig && bu_gate_nvlink_domain(node) &&
	       node->state == BU_STATE_READY &&
	       bu_fleet_certified(gate->fleet, node, NULL) == 0;
}

/* 1 = in its present boot the node has a result about the path to this peer. */
static int
was_with(const struct bu_node *node, const char *peer)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);

	return body && json_object_get(body->with, peer);
}

static int
was_good(const struct bu_node *node)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);
	const char *peer, *pass = bu_verdict_name(BU_VERDICT_PASS);
	json_t *word;

	json_object_foreach (body ? (json_t *)(uintptr_t)body->with : NULL, peer, word)
		if (strcmp(bu_json_str(body->with, peer, ""), pass) == 0)
			return 1;
	return 0;
}

static int64_t
tests_of(const struct bu_node *node)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);

	return body ? body->test : 0;
}

static int
asks(const struct bu_gate *gate, const struct bu_node *node)
{
	return !was_good(node) && tests_of(node) < TESTS &&
	       bu_loop_now_ms(gate->fleet->loop) >=
		       bu_json_int(gate->nvlink_rest, node->name, 0);
}

/* Nodes without a rack are in one rack. */
static int
is_one_rack(const struct bu_desired_node *a, const struct bu_desired_node *b)
{
	return strcmp(a->rack ? a->rack : "", b->rack ? b->rack : "") == 0;
}

/* 1 = free, of the node's domain and rack, and not tested with the node yet. */
static int
is_partner(struct bu_gate *gate, const struct bu_node *node, struct bu_node *other)
{
	const struct bu_desired_node *own = bu_fleet_desired(gate->fleet, node);
	const struct bu_desired_node *its = bu_fleet_desired(gate->fleet, other);
	const char *domain = bu_gate_nvlink_domain(other);

	return other != node && domain && own && its &&
	       strcmp(domain, bu_gate_nvlink_domain(node)) == 0 &&
	       is_one_rack(own, its) && !was_with(node, other->name) &&
	       bu_task_may_join(gate, BU_TASK_NVLINK, other);
}

/* For a first test another node that asks, because the test counts for both. Else a
 * good node, so that a bad result is due to this one. The last peer comes last. */
static int
rank_of(const struct bu_gate *gate, const struct bu_node *node,
	const struct bu_node *other)
{
	const struct bu_body_nvlink *body = bu_gate_nvlink_of(node);

	if (!body && asks(gate, other))
		return 4;
	if (was_good(other))
		return 3;
	return body && strcmp(body->peer, other->name) == 0 ? 1 : 2;
}

static struct bu_node *
find_partner(struct bu_gate *gate, const struct bu_node *node)
{
	struct bu_node *best = NULL;
	int best_rank = 0;

	for (size_t i = 0; i < gate->fleet->count; i++) {
		struct bu_node *other = gate->fleet->nodes[i];
		int rank;

		if (!is_partner(gate, node, other))
			continue;
		rank = rank_of(gate, node, other);
		if (rank > best_rank) {
			best = other;
			best_rank = rank;
		}
	}
	return best;
}

static int
is_under_way(const struct bu_gate *gate, const char *domain)
{
	const struct bu_task *task = gate->tasks[BU_TASK_NVLINK];

	for (; task; task = task->next)
		if (strcmp(((const struct bu_gate_nvlink *)task)->domain, domain) == 0)
			return 1;
	return 0;
}

static void
start(struct bu_gate *gate, struct bu_node *node, struct bu_node *other)
{
	struct bu_node *ends[2] = {node, other};
	struct bu_gate_nvlink *pair = (struct bu_gate_nvlink *)bu_task_begin(
		gate, BU_TASK_NVLINK, ends, 2, DEADLINE_MS + DRIVER_MS);

	bu_text_copy(pair->domain, sizeof(pair->domain), bu_gate_nvlink_domain(node));
	for (int end = 0; end < 2; end++)
		BU_TEXT_COPY(pair->boot[end], ends[end]->boot_id);
}

/* Begins where the last search stopped. TRIES bounds the searches, because they may ask
 * a node's cluster. */
void
bu_gate_nvlink_choose(struct bu_gate *gate)
{
	size_t count = gate->fleet->count;
	int tries = 0;

	for (size_t i = 0; i < count && tries < TRIES; i++) {
		struct bu_node *node = gate->fleet->nodes[gate->nvlink_next++ % count];
		const char *domain = bu_gate_nvlink_domain(node);
		struct bu_node *other;

		if (!domain || is_under_way(gate, domain) || !asks(gate, node))
			continue;
		tries++;
		other = bu_task_may_join(gate, BU_TASK_NVLINK, node)
				? find_partner(gate, node)
				: NULL;
		if (other)
			start(gate, node, other);
	}
}

/* --- work items --- */

/* NULL = an end has no boot address. New reference. */
static json_t *
ends_of(const struct bu_gate *gate, const struct bu_task *task, int end)
{
	struct bu_work_probe work;

	if (bu_task_fill_pair(gate, task, end, &work) != 0)
		return NULL;
	work.runs = RUNS;
	work.deadline_ms = DEADLINE_MS;
	bu_text_copy(work.device, sizeof(work.device), "nvlink");
	return bu_record_to_json(bu_work_probe_fields, &work);
}

json_t *
bu_gate_nvlink_item(struct bu_gate *gate, struct bu_task *task, int end)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, task->name[end]);
	struct bu_target target;
	json_t *ends, *expect;

	if (!node || bu_fleet_target(gate->fleet, node, &target, NULL) != 0)
		return NULL;
	ends = ends_of(gate, task, end);
	if (!ends)
		return NULL;
	expect = bu_gate_checks_expect(gate, node, &target);
	json_object_set_new(expect, "nvlink", ends);
	return json_pack("{s:s,s:s,s:i,s:[s],s:o,s:I}", "kind", "checks", "id",
			 task->id, "attempt", 1, "groups", "nvlink", "expect", expect,
			 "deadline_ms", (json_int_t)task->deadline_ms);
}

/* --- results --- */

/* said: what both ends reported, as bu_gate_nvlink_read() has it. */
static void
tell(struct bu_gate *gate, const struct bu_task *task, int end, json_t *const said[2],
     struct bu_event *ret)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, task->name[end]);
	const struct bu_body_nvlink *before = bu_gate_nvlink_of(node);
	const json_t *own = said[end], *other = said[!end];
	const char *peer = task->name[!end];
	enum bu_verdict verdict = bu_gate_nvlink_verdict(own, other);
	json_t *with =
		before && before->with ? json_deep_copy(before->with) : json_object();

	if (bu_gate_nvlink_is_of_pair(own, other))
		json_object_set_new(with, peer, json_string(bu_verdict_name(verdict)));
	BU_EVENT_MAKE(ret, BU_EVENT_NVLINK, node->name, nvlink, .probe = task->id,
		      .boot_id = node->boot_id, .peer = peer, .verdict = verdict,
		      .rows = json_object_get(own, "rows"), .with = with,
		      .error = own ? bu_json_str(own, "error", "")
				   : bu_task_failure(task),
		      .test = tests_of(node) + 1);
	json_decref(with);
	json_object_set_new(gate->nvlink_rest, node->name,
			    json_integer(bu_loop_now_ms(gate->fleet->loop) + REST_MS));
}

/* 0 = the node rebooted meanwhile: nothing is logged, and it is tested again. */
static int
is_there(const struct bu_gate *gate, const struct bu_gate_nvlink *pair, int end)
{
	const struct bu_node *node = bu_fleet_node(gate->fleet, pair->task.name[end]);

	return node && strcmp(node->boot_id, pair->boot[end]) == 0;
}

void
bu_gate_nvlink_judge(struct bu_gate *gate, struct bu_task *task)
{
	json_t *said[2] = {bu_gate_nvlink_read(task->result[0]),
			   bu_gate_nvlink_read(task->result[1])};
	struct bu_event events[2];
	size_t count = 0;

	for (int end = 0; end < 2; end++)
		if (is_there(gate, (const struct bu_gate_nvlink *)task, end))
			tell(gate, task, end, said, &events[count++]);
	if (count)
		bu_reconcile_note(gate->rec, events, count);
	for (int end = 0; end < 2; end++)
		json_decref(said[end]);
	bu_task_end(gate, task);
}
