/* SPDX-License-Identifier: Apache-2.0 */
/* Which two nodes of an NVLink domain copy to each other. */

#include "provisioner/gate/task/task.h"
#include "tests/support/nvlink.h"
#include "tests/support/quoted.h"
#include "tests/support/unfit.h"

/* All are heard now and have no job that a cluster would be asked for. */
static void
make_free(struct rig *rig, int nodes)
{
	rig_pass(rig, 1); /* the log has their domains */
	for (int i = 1; i <= nodes; i++) {
		rig_node(rig, i)->live.last_seen_ms = rig->clock.fake_wall_ms;
		bu_node_joined(rig_node(rig, i))->cluster[0] = '\0';
	}
}

/* Bits of the nodes that one look asks for something. */
static unsigned
look(struct rig *rig, int nodes)
{
	unsigned asked = 0;

	rig->clock.fake_mono_ms += 10000; /* since the one before */
	bu_tasks_late(rig->gate);
	bu_tasks_choose(rig->gate);
	for (int i = 1; i <= nodes; i++) {
		bu_autojson json_t *item = bu_task_work(rig->gate, rig_node(rig, i));

		asked |= item ? 1u << i : 0;
	}
	return asked;
}

/* What keeps one of two out, whichever it is. */
START_TEST(each_of_both_must_be_free)
{
	enum { MIG = UNFIT_CASES, UNMEASURED, RACK, DOMAIN_OF_NONE, CASES };

	for (int one = UNFIT_NOT; one < CASES; one++) {
		for (int number = 1; number <= 2; number++) {
			struct bu_desired_node *want;
			struct bu_node *node;
			struct rig rig;

			begin_site(&rig, 2);
			make_free(&rig, 2);
			node = rig_node(&rig, number);
			want = &rig.fleet->desired->nodes[number - 1];
			make_unfit(&rig, node, one);
			if (one == MIG)
				want->mig = bu_xstrdup("1g.10gb*7");
			if (one == UNMEASURED)
				want->validation = NULL;
			if (one == RACK)
				want->rack = bu_xstrdup("r9");
			if (one == DOMAIN_OF_NONE)
				node->checks.is.domain = NULL;
			ck_assert_msg((look(&rig, 2) == 6) == (one == UNFIT_NOT),
				      "case %d, node %d", one, number);
			rig_end(&rig);
		}
	}
}
END_TEST

/* Three tests in a boot, or one that was good. */
START_TEST(who_was_good_asks_for_none)
{
	static const struct {
		const char *with; /* node 1, in this boot; NULL = nothing is known */
		int test, is_of_boot;
		int asks;
	} rows[] = {
		{NULL, 0, 1, 1},
		{"{'node009':'pass'}", 1, 1, 0},
		{"{'node009':'pass'}", 1, 0, 1},
		{"{'node009':'warn'}", 1, 1, 1},
		{"{'node009':'warn'}", 2, 1, 1},
		{"{'node009':'warn'}", 3, 1, 0},
		{"{'node009':'warn','node008':'pass'}", 2, 1, 0},
		{"{'node002':'warn'}", 1, 1, 0}, /* there is no other one */
		{"{}", 2, 1, 1},
		{"{}", 3, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *with = quoted(rows[i].with ? rows[i].with : "{}");
		bu_autojson json_t *good = quoted("{'node009':'pass'}");
		struct rig rig;

		begin_site(&rig, 2);
		make_free(&rig, 2);
		for (int k = 1; k <= 2; k++) {
			struct bu_node *node = rig_node(&rig, k);

			if (k == 1 && !rows[i].with)
				continue;
			node->nvlink.body = json_object();
			node->nvlink.is = (struct bu_body_nvlink){
				.boot_id = k == 2 || rows[i].is_of_boot ? node->boot_id
									: "old",
				.peer = "node009",
				.with = k == 1 ? with : good,
				.test = k == 1 ? rows[i].test : 1};
		}
		ck_assert_msg((look(&rig, 2) == 6) == rows[i].asks, "row %zu", i);
		rig_end(&rig);
	}
}
END_TEST

/* One that asks as well, then one that was good, the last one at last. */
START_TEST(the_partner_is_the_one_that_tells_most)
{
	static const struct {
		/* With whom nodes 1 to 4 were how; NULL = nothing is known. */
		const char *with[4], *peer;
		int partner; /* of node 1 */
	} rows[] = {
		{{NULL, "{'x':'pass'}", "{'x':'pass'}", NULL}, "", 4},
		{{NULL, "{'x':'pass'}", NULL, NULL}, "", 3},
		{{NULL, "{'x':'warn'}", "{'x':'pass'}", "{'x':'pass'}"}, "", 2},
		{{"{'x':'warn'}", NULL, "{'x':'pass'}", NULL}, "x", 3},
		{{"{}", NULL, NULL, NULL}, "node002", 3},
		{{"{'node003':'warn'}", NULL, "{'x':'pass'}", NULL}, "node003", 2},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *with[4] = {NULL};
		struct rig rig;

		begin_site(&rig, 4);
		make_free(&rig, 4);
		for (int k = 0; k < 4; k++) {
			struct bu_node *node = rig_node(&rig, k + 1);

			if (!rows[i].with[k])
				continue;
			with[k] = quoted(rows[i].with[k]);
			node->nvlink.body = json_object();
			node->nvlink.is =
				(struct bu_body_nvlink){.boot_id = node->boot_id,
							.peer = rows[i].peer,
							.with = with[k],
							.test = 1};
		}
		ck_assert_msg(look(&rig, 4) == (2u | 1u << rows[i].partner), "row %zu",
			      i);
		/* One pair of a domain at a time. */
		ck_assert_uint_eq(look(&rig, 4), 2u | 1u << rows[i].partner);
		for (int k = 0; k < 4; k++)
			json_decref(with[k]);
		rig_end(&rig);
	}
}
END_TEST

RIG_UNIT("nvlink_pairs", each_of_both_must_be_free, who_was_good_asks_for_none,
	 the_partner_is_the_one_that_tells_most)
