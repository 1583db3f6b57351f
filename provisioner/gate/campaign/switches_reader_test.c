/* SPDX-License-Identifier: Apache-2.0 */
/* Which node reads the switches, how long it is waited for, what of its answer counts.
 */
#include "provisioner/gate/campaign/switches_impl.h"
#include "tests/support/counted.h"

/* What the agent is told to be asked, and what comes back to it. */
struct heard {
	int calls, links; /* links: of the last answer */
	enum bu_err_kind kind;
	char text[300];
};
static struct heard heard;

static void
on_told(const json_t *answer, const struct bu_err *err, void *arg)
{
	(void)arg;
	heard.calls++;
	heard.links = (int)json_array_size(answer);
	heard.kind = err ? err->kind : BU_ERR_NONE;
	snprintf(heard.text, sizeof(heard.text), "%s", err ? err->text : "");
}

/* Of a fabric with all its leaves and spines known, nobody is asked yet. */
static struct bu_switches *
asked_begin(struct between *b)
{
	struct bu_switches *one = gathered(b);

	bu_switches_forget_agent(one);
	one->agent.next = 0;
	heard = (struct heard){.calls = 0};
	return one;
}

/* What keeps the first node from reading: the second one does. */
START_TEST(a_reader_is_idle_heard_and_lent)
{
	enum {
		READY,
		JOINING,
		VALIDATING,
		STATE,
		HELD,
		UNHEARD,
		BUSY,
		RAIL,
		WORKS,
		CASES
	};

	for (int one = READY; one < CASES; one++) {
		struct bu_desired_pool pool;
		struct bu_switches *counters;
		struct bu_desired_node *want;
		struct bu_node *node;
		struct between b;

		counters = asked_begin(&b);
		node = rig_node(&b.rig, 1);
		want = &b.rig.fleet->desired->nodes[0];
		pool = *want->pool;
		if (one == JOINING)
			node->state = BU_STATE_JOINING;
		if (one == VALIDATING)
			node->state = BU_STATE_VALIDATING;
		if (one == STATE)
			node->state = BU_STATE_QUARANTINED;
		if (one == HELD)
			bu_node_hold(node)->owner = BU_OWNER_PERSON;
		if (one == UNHEARD)
			node->live.last_seen_ms -= 90000;
		if (one == BUSY)
			json_object_set_new(b.gate->busy, node->name, json_integer(0));
		if (one == RAIL || one == WORKS)
			want->pool = &pool;
		if (one == RAIL)
			pool.rails_count = 0;
		if (one == WORKS) {
			pool.partners = (char *)(uintptr_t) "any";
			strcpy(bu_node_joined(node)->cluster, "hpc");
		}
		bu_switches_ask_agent(counters, between_network(&b, "fabric"), on_told);
		ck_assert_msg(strcmp(counters->agent.task->name[0],
				     one <= VALIDATING ? "node001" : "node002") == 0,
			      "case %d: %s", one, counters->agent.task->name[0]);
		ck_assert_int_eq(heard.calls, 0);
		between_end(&b);
	}
}
END_TEST

/* By turns, from the one after the last. */
START_TEST(readers_take_turns)
{
	struct bu_switches *one;
	struct between b;

	one = asked_begin(&b);
	for (int turn = 0; turn < 2 * NODES; turn++) {
		const struct bu_node *node = rig_node(&b.rig, turn % NODES + 1);
		bu_autojson json_t *item = NULL;
		struct bu_err err = {.kind = BU_ERR_IO};

		strcpy(err.text, "no port");
		bu_switches_ask_agent(one, between_network(&b, "fabric"), on_told);
		ck_assert_str_eq(one->agent.task->name[0], node->name);
		ck_assert_int_eq(bu_task_is_busy(b.gate, node->name), 1);
		item = bu_task_work(b.gate, node);
		ck_assert_str_eq(bu_json_str(item, "kind", ""), "switches");
		ck_assert_uint_eq(json_object_size(json_object_get(item, "names")),
				  LEAVES + SPINES);
		ck_assert_ptr_null(
			bu_task_work(b.gate, rig_node(&b.rig, (turn + 1) % NODES + 1)));
		ck_assert_int_eq(bu_task_result(b.gate, node, "s-0", NULL, &err), 0);
		ck_assert_int_eq(
			bu_task_result(b.gate, node, one->agent.task->id, NULL, &err),
			1);
		ck_assert_int_eq(heard.calls, turn + 1);
		ck_assert_int_eq(heard.kind, BU_ERR_IO);
		rig_text_has(heard.text, node->name);
		ck_assert_int_eq(bu_task_is_busy(b.gate, node->name), 0);
		ck_assert_ptr_null(bu_task_work(b.gate, node));
	}
	between_end(&b);
}
END_TEST

/* Who falls silent is not waited for; where nobody can read, that is said. */
START_TEST(a_reader_has_a_deadline)
{
	struct bu_switches *one;
	struct between b;
	int64_t until_ms;

	one = asked_begin(&b);
	bu_tasks_late(b.gate);
	ck_assert_int_eq(heard.calls, 0);
	bu_switches_ask_agent(one, between_network(&b, "fabric"), on_told);
	until_ms = bu_loop_now_ms(b.rig.fleet->loop) + 30000 + BU_GATE_GRACE_MS;
	ck_assert_int_eq(one->agent.task->until_ms, until_ms);
	b.rig.clock.fake_mono_ms += 30000 + BU_GATE_GRACE_MS - 1;
	bu_tasks_late(b.gate);
	ck_assert_int_eq(heard.calls, 0);
	b.rig.clock.fake_mono_ms++;
	bu_tasks_late(b.gate);
	ck_assert_int_eq(heard.calls, 1);
	ck_assert_int_eq(heard.kind, BU_ERR_TIMEOUT);
	rig_text_has(heard.text, "node001");
	for (int i = 1; i <= NODES; i++)
		bu_node_hold(rig_node(&b.rig, i))->owner = BU_OWNER_PERSON;
	bu_switches_ask_agent(one, between_network(&b, "fabric"), on_told);
	ck_assert_int_eq(heard.calls, 2);
	ck_assert_int_eq(heard.kind, BU_ERR_STATE);
	ck_assert_ptr_null(one->agent.task);
	between_end(&b);
}
END_TEST

/* Its ports, else an error; a counter at its end is told besides. */
START_TEST(an_answer_of_a_reader_has_ports)
{
	static const struct {
		const char *result;
		int links;
		enum bu_err_kind kind;
		const char *full;
	} rows[] = {
		{"{'ports':[{'switch':'leaf01','peer':'s1','port':'1','received':1,"
		 "'sent':2}]}",
		 2, BU_ERR_NONE, ""},
		{"{'ports':[{'switch':'leaf01','peer':'s1','port':'1','received':1,"
		 "'sent':2}],'full':'port 1'}",
		 2, BU_ERR_NONE, "port 1"},
		{"{'ports':[{'switch':'leaf01','peer':'s1','port':'1','sent':2}]}", 0,
		 BU_ERR_INVAL, ""},
		{"{'ports':[]}", 0, BU_ERR_INVAL, ""},
		{"{}", 0, BU_ERR_INVAL, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *result = quoted(rows[i].result);
		struct bu_switches *one;
		struct between b;

		one = asked_begin(&b);
		bu_switches_ask_agent(one, between_network(&b, "fabric"), on_told);
		ck_assert_int_eq(bu_task_result(b.gate, rig_node(&b.rig, 1),
						one->agent.task->id, result, NULL),
				 1);
		ck_assert_int_eq(heard.calls, 1);
		ck_assert_msg(heard.links == rows[i].links, "row %zu: %d", i,
			      heard.links);
		ck_assert_int_eq(heard.kind, rows[i].kind);
		ck_assert_str_eq(one->agent.full, rows[i].full);
		ck_assert_ptr_null(one->agent.task);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("switches_reader", a_reader_is_idle_heard_and_lent, readers_take_turns,
	 a_reader_has_a_deadline, an_answer_of_a_reader_has_ports)
