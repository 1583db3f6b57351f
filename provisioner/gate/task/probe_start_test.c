/* SPDX-License-Identifier: Apache-2.0 */
/* How probes begin: what of all that is asked for is measured together, what that
 * moves, and that no node is in two of them. */
#include "provisioner/gate/task/asks.h"
#include "provisioner/gate/task/probe.h"
#include "tests/support/between.h"
#include "tests/support/probes.h"

#define SAME "switch_fabric = c\n"
static const char *const same[3] = {SAME, SAME, SAME};

static struct bu_rail_ends
ends_of(const struct between *b, const char *a, const char *other)
{
	return (struct bu_rail_ends){
		.of = {between_network(b, a), between_network(b, other)}};
}

static struct bu_desired_validation *
validation_of(const struct between *b)
{
	return (struct bu_desired_validation *)(uintptr_t)b->rig.fleet->desired
		->nodes[0]
		.validation;
}

/* Of nodes 1 and 2 on one rail; the probe. */
static const struct bu_probe *
start(struct between *b, struct bu_rail_ends *rails, size_t count)
{
	const char *id = bu_probe_start(b->gate, validation_of(b), rails, count,
					rig_node(&b->rig, 1), rig_node(&b->rig, 2));

	ck_assert_str_eq(newest_probe(b->gate)->task.id, id);
	return newest_probe(b->gate);
}

/* The same once more, then another size by turns: half, or twice where half is tiny. */
START_TEST(what_said_nothing_twice_is_done_with_other_messages)
{
	static const struct {
		uint64_t message, run;
		int failures;
		uint32_t bytes;
	} rows[] = {
		{65536, 1 << 20, 0, 65536}, {65536, 1 << 20, 1, 65536},
		{65536, 1 << 20, 2, 32768}, {65536, 1 << 20, 3, 65536},
		{65536, 1 << 20, 4, 32768}, {8192, 1 << 20, 2, 4096},
		{8200, 1 << 20, 2, 4096},   {8208, 1 << 20, 2, 4104},
		{8184, 1 << 20, 2, 16368},  {8184, 16368, 2, 16368},
		{8184, 16367, 2, 8184},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		/* The rail that failed most counts. */
		static const struct probed failed = {1, 2, "rail1", .failed = 1};
		struct bu_rail_ends rails[3];
		struct between b;

		between_begin(&b, 2, 3, 2, NULL);
		for (int k = 0; k < rows[i].failures; k++)
			between_log(&b, &failed);
		validation_of(&b)->message_bytes = rows[i].message;
		validation_of(&b)->run_bytes = rows[i].run;
		for (int k = 0; k < 3; k++) {
			static const char *const names[] = {"fabric", "rail1", "rail2"};

			between_network(&b, names[k])->link_gbps = 0.02;
			rails[k] = ends_of(&b, names[k], names[k]);
		}
		ck_assert_msg(start(&b, rails, 3)->sizes.message_bytes == rows[i].bytes,
			      "row %zu", i);
		between_end(&b);
	}
}
END_TEST

/* After those of the tests before, of the rail with most of them; then from the start.
 */
START_TEST(each_test_has_source_ports_of_its_own)
{
	static const struct {
		int tests, other, qps, sport;
	} rows[] = {{0, 0, 0, 49152}, {1, 0, 0, 49153},    {0, 1, 0, 49153},
		    {3, 1, 4, 49164}, {4095, 0, 4, 65532}, {4096, 0, 4, 49152}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		static const struct probed log[] = {{1, 2, "fabric", .gbps = {1, 1}},
						    {1, 2, "rail1", .gbps = {1, 1}}};
		const struct bu_probe *probe;
		struct bu_rail_ends rails[2];
		struct between b;

		between_begin(&b, 2, 2, 2, NULL);
		rails[0] = ends_of(&b, "fabric", "fabric");
		rails[1] = ends_of(&b, "rail1", "rail1");
		rails[1].qps = rows[i].qps;
		for (int k = 0; k < 2; k++) {
			int tests = k ? rows[i].other : rows[i].tests;

			if (!tests)
				continue;
			between_log(&b, &log[k]);
			b.rig.fleet->measurements
				.logs[b.rig.fleet->measurements.count - 1]
				.tests = tests;
		}
		probe = start(&b, rails, 2);
		ck_assert_msg(probe->sport == rows[i].sport, "row %zu: %d", i,
			      probe->sport);
		ck_assert_int_eq(probe->sizes.qps, rows[i].qps ? rows[i].qps : 1);
		between_end(&b);
	}
}
END_TEST

/* Between leaves, where both rails have names for their spines; then one queue pair may
 * be asked for. */
START_TEST(paths_are_traced_where_spines_have_names)
{
	static const struct {
		int qps, named[2], single, traces, is_single;
	} rows[] = {
		{4, {1, 1}, 0, 1, 0}, {4, {1, 1}, 1, 1, 1}, {0, {1, 1}, 1, 0, 0},
		{4, {0, 1}, 1, 0, 0}, {4, {1, 0}, 1, 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_probe *probe;
		struct bu_rail_ends rail;
		struct between b;

		between_begin(&b, 2, 2, 2, same);
		rail = ends_of(&b, "fabric", "rail1");
		rail.qps = rows[i].qps;
		rail.single = rows[i].single;
		for (int k = 0; k < 2; k++)
			if (rows[i].named[k])
				between_network(&b, k ? "rail1" : "fabric")
					->spine_addresses = bu_xstrdup("s1=10.9.1.1");
		probe = start(&b, &rail, 1);
		ck_assert_msg(probe->traces == rows[i].traces, "row %zu", i);
		ck_assert_msg(probe->single == rows[i].is_single, "row %zu", i);
		ck_assert_int_eq(probe->sizes.qps, rows[i].is_single ? 1
						   : rows[i].qps     ? rows[i].qps
								     : 1);
		between_end(&b);
	}
}
END_TEST

/* A pair has one name, and its rails are told in that order. */
START_TEST(either_order_of_a_pair_is_the_same_probe)
{
	for (int turn = 0; turn < 2; turn++) {
		struct bu_rail_ends rail;
		const struct bu_probe *probe;
		struct between b;

		between_begin(&b, 2, 2, 2, same);
		rail = turn ? ends_of(&b, "rail1", "fabric")
			    : ends_of(&b, "fabric", "rail1");
		bu_probe_start(b.gate, validation_of(&b), &rail, 1,
			       rig_node(&b.rig, turn ? 2 : 1),
			       rig_node(&b.rig, turn ? 1 : 2));
		probe = newest_probe(b.gate);
		ck_assert_str_eq(probe->task.name[0], "node001");
		ck_assert_str_eq(probe->task.name[1], "node002");
		ck_assert_int_eq(probe->rails, 1);
		ck_assert_str_eq(probe->rail[0], "fabric/rail1");
		ck_assert_int_eq(probe->task.until_ms - probe->task.since_ms,
				 probe->task.deadline_ms + BU_GATE_GRACE_MS);
		for (int end = 0; end < 2; end++) {
			ck_assert_int_eq(bu_task_is_busy(b.gate, probe->task.name[end]),
					 1);
			ck_assert_int_eq(probe->works[end], 0);
		}
		between_end(&b);
	}
}
END_TEST

/* By the slowest of all rails, at the end that is slower. */
START_TEST(the_slowest_link_decides)
{
	static const struct {
		double gbps[3]; /* of fabric, rail1, rail2 */
		int across, slowest;
	} rows[] = {{{1, 2, 4}, 0, 0}, {{2, 1, 4}, 0, 1}, {{4, 2, 1}, 0, 2},
		    {{1, 2, 4}, 1, 0}, {{4, 2, 1}, 1, 2}, {{2, 1, 4}, 1, 1}};
	static const char *const names[] = {"fabric", "rail1", "rail2"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_probe *probe;
		struct bu_rail_ends rails[3];
		struct bu_sizes sizes;
		struct between b;

		between_begin(&b, 2, 3, 2, same);
		for (int k = 0; k < 3; k++) {
			between_network(&b, names[k])->link_gbps = rows[i].gbps[k];
			rails[k] = ends_of(&b, names[k],
					   names[rows[i].across ? (k + 1) % 3 : k]);
		}
		probe = start(&b, rails, 3);
		sizes = bu_gate_sizes(validation_of(&b),
				      between_network(&b, names[rows[i].slowest]), 0);
		ck_assert_uint_eq(probe->sizes.bytes, sizes.bytes);
		ck_assert_int_eq(probe->task.deadline_ms,
				 bu_gate_deadline_ms(
					 b.gate, validation_of(&b),
					 between_network(&b, names[rows[i].slowest])));
		between_end(&b);
	}
}
END_TEST

/* "a b rail", as it is asked for. */
struct ask {
	int a, b;
	const char *of[2];
	int qps, single;
};

/* "1-2 fabric rail1; " of all that was started, the last one first; owned. */
static char *
started(const struct between *b)
{
	char *text = bu_xstrdup("");

	for (const struct bu_probe *one = newest_probe(b->gate); one;
	     one = next_probe(one)) {
		bu_autofree char *before = text;
		bu_autofree char *names = NULL;

		for (int i = 0; i < one->rails; i++)
			bu_text_add(&names, " ", "%s", one->rail[i]);
		text = bu_xasprintf("%s%c-%c %s%s; ", before, one->task.name[0][6],
				    one->task.name[1][6], names,
				    one->single ? "!" : "");
	}
	return text;
}

START_TEST(what_is_asked_for_together_is_measured_together)
{
	static const struct {
		struct ask asks[5];
		const char *want;
	} rows[] = {
		{{{1, 2, {"fabric", "fabric"}, 0, 0}}, "1-2 fabric; "},
		/* in either order */
		{{{2, 1, {"fabric", "fabric"}, 0, 0}, {1, 2, {"rail1", "rail1"}, 0, 0}},
		 "1-2 fabric rail1; "},
		{{{2, 1, {"fabric", "rail1"}, 0, 0}}, "1-2 rail1/fabric; "},
		/* a port is in one of them */
		{{{1, 2, {"fabric", "fabric"}, 0, 0},
		  {1, 2, {"fabric", "fabric"}, 0, 0}},
		 "1-2 fabric; "},
		{{{1, 2, {"fabric", "rail1"}, 0, 0}, {1, 2, {"fabric", "rail2"}, 0, 0}},
		 "1-2 fabric/rail1; "},
		{{{1, 2, {"fabric", "rail1"}, 0, 0},
		  {1, 2, {"rail2", "rail1"}, 0, 0},
		  {1, 2, {"rail1", "fabric"}, 0, 0}},
		 "1-2 fabric/rail1 rail1/fabric; "},
		/* so is a node; what was asked for first goes first */
		{{{1, 2, {"fabric", "fabric"}, 0, 0}, {2, 3, {"rail1", "rail1"}, 0, 0}},
		 "1-2 fabric; "},
		{{{2, 3, {"fabric", "fabric"}, 0, 0}, {1, 2, {"rail1", "rail1"}, 0, 0}},
		 "2-3 fabric; "},
		{{{3, 4, {"fabric", "fabric"}, 0, 0},
		  {1, 2, {"rail1", "rail1"}, 0, 0},
		  {3, 4, {"rail1", "rail1"}, 0, 0},
		  {1, 4, {"rail2", "rail2"}, 0, 0}},
		 "1-2 rail1; 3-4 fabric rail1; "},
		/* a test of one way is none of the others */
		{{{1, 2, {"fabric", "fabric"}, 4, 1}, {1, 2, {"rail1", "rail1"}, 4, 0}},
		 "1-2 fabric!; "},
		{{{1, 2, {"fabric", "fabric"}, 4, 0}, {1, 2, {"rail1", "rail1"}, 4, 1}},
		 "1-2 fabric; "},
		{{{1, 2, {"fabric", "fabric"}, 4, 1}, {1, 2, {"rail1", "rail1"}, 4, 1}},
		 "1-2 fabric rail1!; "},
		/* who is not known, or not measured there */
		{{{1, 9, {"fabric", "fabric"}, 0, 0}}, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;
		struct between b;

		between_begin(&b, 4, 3, 2, same);
		for (int k = 0; k < 2; k++)
			between_network(&b, k ? "rail1" : "fabric")->spine_addresses =
				bu_xstrdup("s1=10.9.1.1");
		for (size_t k = 0; k < 5 && rows[i].asks[k].a; k++) {
			const struct ask *ask = &rows[i].asks[k];
			struct bu_rail_ends rail = ends_of(&b, ask->of[0], ask->of[1]);
			bu_autofree char *one = bu_xasprintf("node%03d", ask->a);
			bu_autofree char *two = bu_xasprintf("node%03d", ask->b);

			rail.qps = ask->qps;
			rail.single = ask->single;
			bu_gate_ask_for(b.gate, one, two, &rail);
		}
		bu_gate_start_asked(b.gate);
		text = started(&b);
		ck_assert_msg(strcmp(text, rows[i].want) == 0, "row %zu: '%s'", i,
			      text);
		ck_assert_uint_eq(b.gate->asks_count, 0);
		between_end(&b);
	}
}
END_TEST

/* Which of two rails a text names for an end; of a node without validation none. */
START_TEST(an_end_is_of_the_rail_that_is_named)
{
	static const struct {
		const char *rail;
		const char *of[2]; /* NULL = none */
	} rows[] = {{"fabric", {"fabric", "fabric"}},
		    {"fabric/rail1", {"fabric", "rail1"}},
		    {"rail1/rail1", {"rail1", "rail1"}},
		    {"rail", {NULL, NULL}},
		    {"rail12/fabric2", {NULL, NULL}},
		    {"boot", {NULL, NULL}},
		    {"fabric/boot", {"fabric", NULL}}};
	struct bu_desired_node *want;
	struct between b;

	between_begin(&b, 1, 2, 1, NULL);
	want = &b.rig.fleet->desired->nodes[0];
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		for (int end = 0; end < 2; end++) {
			const struct bu_desired_network *is =
				bu_rail_end(rows[i].rail, end, want);

			ck_assert_msg((is != NULL) == (rows[i].of[end] != NULL),
				      "row %zu", i);
			if (is)
				ck_assert_str_eq(is->name, rows[i].of[end]);
			ck_assert_ptr_null(bu_rail_end(rows[i].rail, end, NULL));
		}
	}
	want->validation = NULL;
	ck_assert_ptr_null(bu_rail_end("fabric", 0, want));
	between_end(&b);
}
END_TEST

RIG_UNIT("probe_start", what_said_nothing_twice_is_done_with_other_messages,
	 each_test_has_source_ports_of_its_own,
	 paths_are_traced_where_spines_have_names,
	 either_order_of_a_pair_is_the_same_probe, the_slowest_link_decides,
	 what_is_asked_for_together_is_measured_together,
	 an_end_is_of_the_rail_that_is_named)
