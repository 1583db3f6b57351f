/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that a person asks for: who can take part, which pairs they are of, and what is
 * told of them while they go on and later. */
#include "provisioner/gate/campaign/campaign.h"
#include "provisioner/gate/task/probe.h"
#include "tests/support/between.h"
#include "tests/support/probes.h"

enum { MANY = 33 };

static void
begin(struct between *b, int nodes, int rails)
{
	between_begin(b, nodes, rails, nodes, NULL);
	/* The campaigns have nothing to ask for. */
	bu_gate_roles_drop(b->gate);
	for (int i = 1; i <= nodes; i++) {
		struct bu_node *node = rig_node(&b->rig, i);

		node->boot_installed = 1;
		node->live.last_seen_ms = b->rig.clock.fake_wall_ms;
	}
}

static const char *
run_of(struct between *b, int nodes, struct bu_err *err)
{
	struct bu_node *list[MANY];

	for (int i = 0; i < nodes; i++)
		list[i] = rig_node(&b->rig, i + 1);
	return bu_gate_run(b->gate, list, (size_t)nodes, err);
}

/* "wanted done pairs missed" of a run. */
static void
is_told(const struct between *b, const char *id, const char *want)
{
	bu_autojson json_t *json = bu_gate_run_json(b->gate, id);
	bu_autofree char *text = NULL;

	ck_assert_ptr_nonnull(json);
	ck_assert_str_eq(bu_json_str(json, "run", ""), id);
	text = bu_xasprintf("%d %s %zu %zu", (int)bu_json_int(json, "wanted", -1),
			    bu_json_bool(json, "done", 0) ? "done" : "open",
			    json_array_size(json_object_get(json, "pairs")),
			    json_array_size(json_object_get(json, "missed")));
	ck_assert_str_eq(text, want);
}

START_TEST(only_nodes_that_run_can_be_measured)
{
	enum { ALL, NOT_WANTED, UNMEASURED, NEVER, SILENT, HEARD, RAMDISK, CASES };
	static const char *const errors[CASES] = {
		NULL,
		"node node009 is not in the applied profile",
		"names no validation, so no fabric to measure",
		"its agent was not heard since bringupd started",
		"its agent was not heard for 90 s",
		NULL,
		"it runs the boot ramdisk",
	};

	for (int one = ALL; one < CASES; one++) {
		struct bu_node *node;
		struct bu_err err = {0};
		struct between b;

		begin(&b, 3, 1);
		node = rig_node(&b.rig, 3);
		if (one == NOT_WANTED)
			strcpy(node->name, "node009");
		if (one == UNMEASURED)
			b.rig.fleet->desired->nodes[2].validation = NULL;
		if (one == NEVER)
			node->live.last_seen_ms = 0;
		if (one == SILENT)
			node->live.last_seen_ms -= 90000;
		if (one == HEARD)
			node->live.last_seen_ms -= 89999;
		if (one == RAMDISK)
			node->boot_installed = 0;
		{
			struct bu_node *list[] = {rig_node(&b.rig, 1),
						  rig_node(&b.rig, 2), node};
			const char *id = bu_gate_run(b.gate, list, 3, &err);

			ck_assert_msg((id == NULL) == (errors[one] != NULL), "case %d",
				      one);
		}
		if (errors[one]) {
			ck_assert_int_eq(err.kind, BU_ERR_STATE);
			rig_text_has(err.text, errors[one]);
			ck_assert_ptr_null(b.gate->runs);
		}
		between_end(&b);
	}
}
END_TEST

/* Each two on each rail that both have; of many each with eight others. */
START_TEST(a_run_is_of_all_pairs_or_of_some_of_each)
{
	static const struct {
		int nodes, rails;
		const char *told;
	} rows[] = {{2, 1, "1 open 0 0"},
		    {3, 2, "6 open 0 0"},
		    {4, 1, "6 open 0 0"},
		    {MANY - 1, 1, "496 open 0 0"},
		    {MANY, 1, "128 open 0 0"}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err;
		struct between b;
		const char *id;

		begin(&b, rows[i].nodes, rows[i].rails);
		id = run_of(&b, rows[i].nodes, &err);
		ck_assert_ptr_nonnull(id);
		is_told(&b, id, rows[i].told);
		ck_assert_ptr_null(bu_gate_run_json(b.gate, "run-none"));
		between_end(&b);
	}
}
END_TEST

START_TEST(a_rail_is_measured_where_both_have_it)
{
	struct bu_desired_pool pool;
	struct bu_err err;
	struct between b;

	begin(&b, 3, 2);
	pool = *b.rig.fleet->desired->nodes[2].pool;
	pool.rails_count = 1;
	b.rig.fleet->desired->nodes[2].pool = &pool;
	/* Nodes 1 and 2 on both, node 3 with each of them on the first one. */
	is_told(&b, run_of(&b, 3, &err), "4 open 0 0");
	between_end(&b);
}
END_TEST

START_TEST(one_node_is_no_run)
{
	struct bu_err err;
	struct between b;

	begin(&b, 2, 1);
	ck_assert_ptr_null(run_of(&b, 1, &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_nonnull(run_of(&b, 2, &err));
	between_end(&b);
}
END_TEST

/* The last sixteen can still be asked for. */
START_TEST(old_runs_are_forgotten)
{
	char ids[17][24];
	struct bu_err err;
	struct between b;

	begin(&b, 2, 1);
	for (int i = 0; i < 17; i++) {
		bu_autojson json_t *first = NULL;

		BU_TEXT_COPY(ids[i], run_of(&b, 2, &err));
		first = bu_gate_run_json(b.gate, ids[0]);
		ck_assert_int_eq(first != NULL, i < 16);
	}
	for (int i = 1; i < 17; i++)
		is_told(&b, ids[i], "1 open 0 0");
	between_end(&b);
}
END_TEST

/* A pair is started when both are free, and done when its result is in the log, or its
 * probe is gone. */
START_TEST(a_pair_is_started_when_both_are_free)
{
	for (int busy = 0; busy < 3; busy++) {
		struct bu_probe *probe;
		struct bu_err err;
		struct between b;
		const char *id;

		begin(&b, 2, 1);
		id = run_of(&b, 2, &err);
		b.gate->leaves_seen = 1;
		if (busy)
			json_object_set_new(b.gate->busy,
					    busy == 1 ? "node001" : "node002",
					    json_integer(0));
		bu_runs_look(b.gate);
		probe = newest_probe(b.gate);
		ck_assert_int_eq(probe != NULL, !busy);
		json_object_del(b.gate->busy, busy == 1 ? "node001" : "node002");
		if (busy) {
			bu_runs_look(b.gate);
			probe = newest_probe(b.gate);
			ck_assert_ptr_nonnull(probe);
		} else {
			json_object_set_new(b.gate->busy, "node002",
					    json_integer((json_int_t)(intptr_t)probe));
		}
		ck_assert_str_eq(probe->rail[0], "fabric");
		/* Once. */
		bu_runs_look(b.gate);
		ck_assert_ptr_null(probe->task.next);
		is_told(&b, id, "1 open 0 0");
		ck_assert_int_eq(b.gate->leaves_seen, 1);
		between_end(&b);
	}
}
END_TEST

/* Its own result, or that of a probe after it; while one end is busy it may come. */
START_TEST(a_pair_is_done_with_its_result)
{
	static const struct {
		int is_own, busy; /* bits of ends that still are */
		int done;
	} rows[] = {{1, 3, 1}, {0, 3, 0}, {0, 1, 0}, {0, 2, 0}, {0, 0, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		static const struct probed log = {1, 2, "fabric", .gbps = {1, 1}};
		struct bu_err err;
		struct between b;
		const char *id;

		begin(&b, 2, 1);
		id = run_of(&b, 2, &err);
		bu_runs_look(b.gate);
		ck_assert_ptr_nonnull(newest_probe(b.gate));
		between_log(&b, &log);
		if (rows[i].is_own)
			BU_TEXT_COPY(b.rig.fleet->measurements.logs[0].last.probe,
				     newest_probe(b.gate)->task.id);
		for (int end = 0; end < 2; end++)
			if (!(rows[i].busy >> end & 1))
				json_object_del(b.gate->busy,
						rig_node(&b.rig, end + 1)->name);
		b.gate->leaves_seen = 1;
		bu_runs_look(b.gate);
		is_told(&b, id, rows[i].done ? "1 done 1 0" : "1 open 0 0");
		/* Then leaves may be cleared. */
		ck_assert_int_eq(b.gate->leaves_seen, !rows[i].done);
		b.gate->leaves_seen = 1;
		bu_runs_look(b.gate);
		ck_assert_int_eq(b.gate->leaves_seen, 1);
		between_end(&b);
	}
}
END_TEST

/* Who left meanwhile, or is measured there no more, costs its pair, and that is said.
 */
START_TEST(what_cannot_be_measured_any_more_is_missed)
{
	for (int gone = 1; gone <= 3; gone++) {
		bu_autojson json_t *json = NULL;
		const json_t *missed;
		struct bu_desired_pool pool;
		struct bu_err err;
		struct between b;
		const char *id;

		begin(&b, 2, 1);
		id = run_of(&b, 2, &err);
		if (gone < 3)
			rig_node(&b.rig, gone)->live.last_seen_ms -= 90000;
		pool = *b.rig.fleet->desired->nodes[0].pool;
		pool.rails_count = 0;
		for (int k = 0; gone == 3 && k < 2; k++)
			b.rig.fleet->desired->nodes[k].pool = &pool;
		bu_runs_look(b.gate);
		is_told(&b, id, "1 done 0 1");
		json = bu_gate_run_json(b.gate, id);
		missed = json_array_get(json_object_get(json, "missed"), 0);
		ck_assert_str_eq(bu_json_str(missed, "rail", ""), "fabric");
		rig_text_has(rig_sentence(json_object_get(missed, "why")),
			     gone == 1   ? "node node001 is"
			     : gone == 2 ? "node node002 is"
					 : " no more on fabric");
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("run", only_nodes_that_run_can_be_measured,
	 a_run_is_of_all_pairs_or_of_some_of_each,
	 a_rail_is_measured_where_both_have_it, one_node_is_no_run,
	 old_runs_are_forgotten, a_pair_is_started_when_both_are_free,
	 a_pair_is_done_with_its_result, what_cannot_be_measured_any_more_is_missed)
