/* SPDX-License-Identifier: Apache-2.0 */
/* What all tasks of several nodes have: marks of nodes, reports, deadlines, and the
 * turns in which kinds choose. The kinds are the test's. */
#include "provisioner/gate/task/task.h"

#include "tests/support/between.h"

/* The test's kinds in the places of the product's. */
#define PLAIN BU_TASK_PROBE
#define SHARED BU_TASK_INCAST
#define ALONE BU_TASK_NVLINK

enum { NODES = 4 };

/* What the kinds were asked. */
static struct {
	int judged, chosen, heard, freed;
	int over, told; /* what is_over says, and whether judge waits for the log */
	int eligible;
} seen;

static int
is_eligible(struct bu_gate *gate, struct bu_node *node,
	    const struct bu_desired_node *want)
{
	(void)gate;
	(void)node;
	(void)want;
	return seen.eligible;
}

static void
choose(struct bu_gate *gate)
{
	(void)gate;
	seen.chosen++;
}

static json_t *
item(struct bu_gate *gate, struct bu_task *task, int place)
{
	(void)gate;
	(void)task;
	return json_integer(place);
}

static void
heard(struct bu_gate *gate, struct bu_task *task, int place)
{
	(void)gate;
	(void)task;
	(void)place;
	seen.heard++;
}

static int
is_over(const struct bu_gate *gate, const struct bu_task *task)
{
	(void)gate;
	(void)task;
	return seen.over;
}

static void
judge(struct bu_gate *gate, struct bu_task *task)
{
	seen.judged++;
	task->told = seen.told;
	if (!task->told)
		bu_task_end(gate, task);
}

static void
fini(struct bu_task *task)
{
	(void)task;
	seen.freed++;
}

static const struct bu_task_kind kinds[BU_TASK_KINDS] = {
	[PLAIN] = {.prefix = "x-",
		   .size = sizeof(struct bu_task),
		   .is_eligible = is_eligible,
		   .item = item,
		   .heard = heard,
		   .is_over = is_over,
		   .judge = judge,
		   .fini = fini},
	[SHARED] = {.prefix = "y-",
		    .size = sizeof(struct bu_task),
		    .shares = 1,
		    .is_eligible = is_eligible,
		    .judge = judge},
	[ALONE] = {.prefix = "z-",
		   .size = sizeof(struct bu_task),
		   .alone = 1,
		   .pause_ms = 1000,
		   .choose = choose,
		   .judge = judge},
};

static void
begin(struct between *b)
{
	between_begin(b, NODES, 1, NODES, NULL);
	b->gate->kinds = kinds;
	memset(&seen, 0, sizeof(seen));
	seen.eligible = 1;
}

/* A task of nodes from `first` on. */
static struct bu_task *
task_of(struct between *b, enum bu_task_of of, int first, int count,
	int64_t deadline_ms)
{
	struct bu_node *nodes[NODES];

	for (int i = 0; i < count; i++)
		nodes[i] = rig_node(&b->rig, first + i);
	return bu_task_begin(b->gate, of, nodes, count, deadline_ms);
}

static int
tell(struct between *b, const struct bu_task *task, int number, const char *failure)
{
	struct bu_err err = {.kind = BU_ERR_IO};
	bu_autojson json_t *result = json_integer(number);

	BU_TEXT_COPY(err.text, failure ? failure : "");
	return bu_task_result(b->gate, rig_node(&b->rig, number), task->id,
			      failure ? NULL : result, failure ? &err : NULL);
}

static int
is_busy(const struct between *b, int number)
{
	return bu_task_is_busy(b->gate, rig_node(&b->rig, number)->name);
}

/* Each task has its own id and secret, and an agent is told where its task is. */
START_TEST(a_task_is_of_its_nodes_alone)
{
	struct between b;
	struct bu_task *task, *other;

	begin(&b);
	task = task_of(&b, PLAIN, 1, 2, 1000);
	other = task_of(&b, PLAIN, 3, 2, 1000);
	ck_assert_ptr_eq(b.gate->tasks[PLAIN], other);
	ck_assert_ptr_eq(other->next, task);
	ck_assert_int_eq(strncmp(task->id, "x-", 2), 0);
	ck_assert_str_ne(task->id, other->id);
	ck_assert_str_ne(task->secret, other->secret);
	ck_assert_uint_eq(strlen(task->secret), 64);
	for (int i = 1; i <= NODES; i++) {
		const struct bu_task *own = i <= 2 ? task : other;
		struct bu_node *node = rig_node(&b.rig, i);
		bu_autojson json_t *work = bu_task_work(b.gate, node);

		ck_assert_int_eq(json_integer_value(work), (i - 1) % 2);
		ck_assert_int_eq(bu_task_wants(b.gate, node, own->id), 1);
		ck_assert_int_eq(
			bu_task_wants(b.gate, node, i <= 2 ? other->id : task->id), 0);
		ck_assert_int_eq(bu_task_result(b.gate, node,
						i <= 2 ? other->id : task->id, NULL,
						NULL),
				 0);
	}
	bu_task_end(b.gate, task);
	ck_assert_int_eq(is_busy(&b, 1), 0);
	ck_assert_int_eq(is_busy(&b, 3), 1);
	ck_assert_int_eq(bu_task_wants(b.gate, rig_node(&b.rig, 1), "x-"), 0);
	ck_assert_int_eq(seen.freed, 1);
	ck_assert_int_eq(seen.judged, 0);
	between_end(&b);
}
END_TEST

/* A node reports once. The first failure stays, with its node. */
START_TEST(the_last_report_brings_the_verdict)
{
	struct between b;
	struct bu_task *task;

	begin(&b);
	seen.told = 1;
	task = task_of(&b, PLAIN, 1, 3, 1000);
	ck_assert_str_eq(bu_task_failure(task), "no result in time");
	ck_assert_int_eq(tell(&b, task, 2, "no device"), 1);
	ck_assert_int_eq(seen.heard, 1);
	ck_assert_int_eq(tell(&b, task, 2, NULL), 1);
	ck_assert_int_eq(seen.heard, 1);
	ck_assert_ptr_null(task->result[1]);
	ck_assert_ptr_null(bu_task_work(b.gate, rig_node(&b.rig, 2)));
	ck_assert_int_eq(bu_task_wants(b.gate, rig_node(&b.rig, 2), task->id), 0);
	ck_assert_int_eq(tell(&b, task, 3, "no memory"), 1);
	ck_assert_int_eq(seen.judged, 0);
	ck_assert_int_eq(tell(&b, task, 1, NULL), 1);
	ck_assert_int_eq(seen.judged, 1);
	ck_assert_int_eq(seen.heard, 2);
	ck_assert_str_eq(bu_task_failure(task), "node002: no device");
	ck_assert_int_eq(json_integer_value(task->result[0]), 1);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(task->spoke[i], i == 0 ? 3 : i);
	/* The log does not have the events yet. */
	ck_assert_int_eq(bu_tasks_are_told(b.gate), 1);
	ck_assert_int_eq(is_busy(&b, 1), 1);
	between_end(&b);
}
END_TEST

/* A node that was let go may be in another task, which the end of the first one leaves
 * alone. */
START_TEST(a_node_that_was_let_go_is_free_for_another)
{
	struct between b;
	struct bu_task *task, *other;

	begin(&b);
	task = task_of(&b, PLAIN, 1, 2, 1000);
	bu_task_let_go(b.gate, task, 1);
	ck_assert_int_eq(is_busy(&b, 1), 1);
	ck_assert_int_eq(is_busy(&b, 2), 0);
	other = task_of(&b, PLAIN, 2, 2, 1000);
	bu_task_let_go(b.gate, task, 1);
	bu_task_end(b.gate, task);
	ck_assert_int_eq(is_busy(&b, 1), 0);
	ck_assert_int_eq(is_busy(&b, 2), 1);
	ck_assert_int_eq(bu_task_wants(b.gate, rig_node(&b.rig, 2), other->id), 1);
	between_end(&b);
}
END_TEST

/* Judged at the deadline, or when the kind says that it is over. Without a deadline
 * never. */
START_TEST(a_late_task_is_judged)
{
	static const struct {
		int64_t deadline_ms, after_ms;
		int over, judged;
	} rows[] = {
		{1000, 1000 + BU_GATE_GRACE_MS - 1, 0, 0},
		{1000, 1000 + BU_GATE_GRACE_MS, 0, 1},
		{1000, 0, 1, 1},
		{0, 1000000, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		begin(&b);
		seen.over = rows[i].over;
		task_of(&b, PLAIN, 1, 2, rows[i].deadline_ms);
		task_of(&b, PLAIN, 3, 2, 1000000);
		seen.told = 0;
		b.rig.clock.fake_mono_ms += rows[i].after_ms;
		bu_tasks_late(b.gate);
		ck_assert_int_eq(seen.judged, rows[i].judged + rows[i].over);
		ck_assert_int_eq(is_busy(&b, 1), !rows[i].judged);
		ck_assert_int_eq(is_busy(&b, 3), !rows[i].over);
		between_end(&b);
	}
}
END_TEST

/* A kind that shares nodes makes no node busy, and is not asked for by an agent. */
START_TEST(a_shared_node_is_not_busy)
{
	struct between b;
	struct bu_task *shared, *task;
	int place = -1;

	begin(&b);
	shared = task_of(&b, SHARED, 1, 2, 0);
	ck_assert_int_eq(is_busy(&b, 1), 0);
	ck_assert_ptr_null(bu_task_work(b.gate, rig_node(&b.rig, 1)));
	task = task_of(&b, PLAIN, 1, 2, 1000);
	ck_assert_ptr_eq(bu_task_with(b.gate->shared, rig_node(&b.rig, 2), &place),
			 shared);
	ck_assert_int_eq(place, 1);
	ck_assert_ptr_eq(bu_task_with(b.gate->busy, rig_node(&b.rig, 1), &place), task);
	ck_assert_int_eq(place, 0);
	bu_task_end(b.gate, shared);
	ck_assert_int_eq(is_busy(&b, 1), 1);
	between_end(&b);
}
END_TEST

/* A busy node may join a task of a kind that shares nodes. */
START_TEST(who_may_join)
{
	enum { FREE, HELD, UNHEARD, UNFIT, BUSY, UNLENT, GONE, CASES };

	for (int one = FREE; one < CASES; one++) {
		struct bu_desired_node *want;
		struct bu_desired_pool pool;
		struct bu_node *node;
		struct between b;

		begin(&b);
		node = rig_node(&b.rig, 1);
		node->live.last_seen_ms = b.rig.clock.fake_wall_ms;
		want = &b.rig.fleet->desired->nodes[0];
		pool = *want->pool;
		pool.partners = (char *)(uintptr_t) "none";
		if (one == HELD)
			bu_node_hold(node)->owner = BU_OWNER_PERSON;
		if (one == UNHEARD)
			node->live.last_seen_ms -= 90000;
		if (one == UNFIT)
			seen.eligible = 0;
		if (one == BUSY)
			task_of(&b, PLAIN, 1, 2, 1000);
		if (one == UNLENT) {
			want->pool = &pool;
			strcpy(bu_node_joined(node)->cluster, "hpc");
		}
		if (one == GONE)
			strcpy(node->name, "node999");
		ck_assert_msg(bu_task_may_join(b.gate, PLAIN, node) == (one == FREE),
			      "case %d", one);
		ck_assert_msg(bu_task_may_join(b.gate, SHARED, node) ==
				      (one == FREE || one == BUSY || one == UNLENT),
			      "case %d, shared", one);
		if (one == GONE)
			strcpy(node->name, "node001");
		between_end(&b);
	}
}
END_TEST

/* A kind chooses once in its pause, and not while its only task is under way. */
START_TEST(kinds_choose_in_turns)
{
	struct between b;
	struct bu_task *task;

	begin(&b);
	bu_tasks_choose(b.gate);
	bu_tasks_choose(b.gate);
	ck_assert_int_eq(seen.chosen, 1);
	b.rig.clock.fake_mono_ms += 999;
	bu_tasks_choose(b.gate);
	ck_assert_int_eq(seen.chosen, 1);
	b.rig.clock.fake_mono_ms++;
	task = task_of(&b, ALONE, 1, 2, 1000);
	bu_tasks_choose(b.gate);
	ck_assert_int_eq(seen.chosen, 1);
	bu_task_end(b.gate, task);
	bu_tasks_choose(b.gate);
	ck_assert_int_eq(seen.chosen, 2);
	between_end(&b);
}
END_TEST

/* Both ends of a pair connect to b, and each knows the other's address. */
START_TEST(a_pair_is_told_the_same)
{
	struct between b;
	const struct bu_task *task;
	struct bu_work_probe work[2];

	begin(&b);
	task = task_of(&b, PLAIN, 1, 2, 7000);
	for (int end = 0; end < 2; end++) {
		ck_assert_int_eq(bu_task_fill_pair(b.gate, task, end, &work[end]), 0);
		ck_assert_str_eq(work[end].work.id, task->id);
		ck_assert_int_eq(work[end].work.attempt, 1);
		ck_assert_str_eq(work[end].probe, task->id);
		ck_assert_str_eq(work[end].secret, task->secret);
		ck_assert_str_eq(work[end].self, task->name[end]);
		ck_assert_str_eq(work[end].node[0], "node001");
		ck_assert_str_eq(work[end].node[1], "node002");
		ck_assert_str_eq(work[end].addr, work[0].peer);
		ck_assert_int_eq(work[end].role,
				 end ? BU_PROBE_LISTEN : BU_PROBE_CONNECT);
		ck_assert_int_eq(work[end].deadline_ms, 7000);
	}
	ck_assert_str_ne(work[0].peer, work[1].peer);
	strcpy(b.gate->tasks[PLAIN]->name[1], "node999");
	ck_assert_int_eq(bu_task_fill_pair(b.gate, task, 0, &work[0]), -1);
	strcpy(b.gate->tasks[PLAIN]->name[1], "node002");
	between_end(&b);
}
END_TEST

RIG_UNIT("task", a_task_is_of_its_nodes_alone, the_last_report_brings_the_verdict,
	 a_node_that_was_let_go_is_free_for_another, a_late_task_is_judged,
	 a_shared_node_is_not_busy, who_may_join, kinds_choose_in_turns,
	 a_pair_is_told_the_same)
