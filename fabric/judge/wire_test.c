/* SPDX-License-Identifier: Apache-2.0 */
/* docs/rehearsal.md by examples: each shape that it states is read, and what it has no
 * words for is an error that names the field. */
#include "fabric/judge/wire.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

/* Two leaves of two nodes, two spines. Flow 0 is inside a leaf, flow 1 is not. */
static struct bu_topology topology;

static void
set_up(void)
{
	bu_autojson json_t *plan = json_loads(
		"{\"nodes\":[\"a\",\"b\",\"c\",\"d\"],\"rails\":1,\"leaves\":[\"x\","
		"\"y\"],\"leaf_of\":[\"x\",\"x\",\"y\",\"y\"],\"spines\":[\"s\",\"t\"],"
		"\"limit_gbps\":100}",
		0, NULL);

	ck_assert_int_eq(bu_topology_from_json(plan, &topology, NULL), 0);
}

static void
tear_down(void)
{
	bu_topology_fini(&topology);
}

enum op { ROUND, TRACE, LLDP, SWITCH };

static struct bu_flow flows[2];
static int spines[3], leaf_of[4];
static struct bu_link_count links[8];

/* A lone result is that of a test between the leaves. */
static int
read_answer(enum op op, const char *text, struct bu_err *err)
{
	bu_autojson json_t *answer = json_loads(text, JSON_DECODE_ANY, NULL);

	ck_assert_ptr_nonnull(answer);
	flows[0] = (struct bu_flow){.src = 0, .dst = 1};
	flows[1] = (struct bu_flow){.src = 0, .dst = 2};
	for (int i = 0; i < 4; i++)
		leaf_of[i] = -1;
	if (op == ROUND)
		return bu_wire_round_answer(&topology, answer, flows, 2, err);
	if (op == TRACE)
		return bu_wire_trace_answer(&topology, answer, &flows[1], 3, spines,
					    err);
	return op == LLDP ? bu_wire_lldp_answer(&topology, answer, leaf_of, err)
			  : bu_wire_switch_answer(&topology, answer, links, err);
}

/* Two results of which the second is this one. */
#define RESULT(more) "[null,{\"rate_gbps\":90" more "}]"

START_TEST(what_it_has_no_words_for_is_an_error)
{
	static const struct {
		enum op op;
		const char *answer, *words;
	} rows[] = {
		{ROUND, "null", "a list of 2 results"},
		{ROUND, "[null]", "a list of 2 results"},
		{ROUND, "[{},null]", "test 0: expected an object with 'rate_gbps'"},
		{ROUND, RESULT(",\"lat_us\":-1"), "test 1: field 'lat_us'"},
		{ROUND, RESULT(",\"seconds\":\"2\""), "test 1: field 'seconds'"},
		{ROUND, RESULT(",\"mtu\":65536"), "test 1: field 'mtu'"},
		{ROUND, RESULT(",\"path\":\"u\""), "test 1: field 'path'"},
		{ROUND, RESULT(",\"path\":\"x\""), "test 1: field 'path'"},
		{ROUND, RESULT(",\"path\":[\"x\",\"u\",\"y\"]"),
		 "test 1: field 'path'"},
		{ROUND, RESULT(",\"path\":{\"core\":\"s\"}"), "test 1: field 'path'"},
		{ROUND, RESULT(",\"path\":true"), "test 1: field 'path'"},
		{ROUND, RESULT(",\"counters\":7"), "test 1: counters"},
		{ROUND, RESULT(",\"counters\":{\"src\":[1]}"), "test 1: counters"},
		{ROUND, RESULT(",\"counters\":{\"dst\":{\"symbol_error\":-1}}"),
		 "test 1: counter 'symbol_error'"},
		{ROUND, RESULT(",\"counters\":{\"dst\":{\"symbol_error\":\"1\"}}"),
		 "test 1: counter 'symbol_error'"},
		{TRACE, "{}", "a list of 3 paths"},
		{TRACE, "[\"s\",\"t\",\"s\",\"t\"]", "a list of 3 paths"},
		{TRACE, "[\"s\",\"u\"]", "path 1: field 'path'"},
		{LLDP, "7", "a list of {node, rail, leaf}"},
		{LLDP, "[{\"node\":\"a\",\"leaf\":\"z\"}]", "does not have"},
		{LLDP, "[{\"node\":\"e\",\"leaf\":\"x\"}]", "does not have"},
		{LLDP, "[{\"node\":\"a\",\"rail\":1,\"leaf\":\"x\"}]", "does not have"},
		{LLDP, "[{\"node\":\"a\",\"rail\":-1,\"leaf\":\"x\"}]",
		 "does not have"},
		{LLDP, "[{\"node\":\"a\",\"rail\":\"0\",\"leaf\":\"x\"}]",
		 "does not have"},
		{LLDP, "[{\"node\":\"a\"}]", "does not have"},
		{SWITCH, "true", "a list of {leaf, spine, dir"},
		{SWITCH, "[{\"leaf\":\"x\"}]", "entry 0: names no leaf"},
		{SWITCH, "[{\"leaf\":\"x\",\"spine\":\"u\"}]",
		 "entry 0: names no leaf"},
		{SWITCH, "[{\"leaf\":\"x\",\"spine\":\"s\",\"dir\":\"left\"}]",
		 "field 'dir'"},
		{SWITCH, "[{\"leaf\":\"x\",\"spine\":\"s\",\"dir\":1}]", "field 'dir'"},
		{SWITCH, "[{\"leaf\":\"x\",\"spine\":\"s\",\"crc_errors\":-2}]",
		 "counter 'crc_errors'"},
		{SWITCH, "[{\"leaf\":\"x\",\"spine\":\"s\",\"crc_errors\":\"2\"}]",
		 "counter 'crc_errors'"},
		{SWITCH, "[{\"leaf\":\"x\",\"spine\":\"s\",\"up\":3}]", "field 'up'"},
	};

	set_up();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};

		ck_assert_msg(read_answer(rows[i].op, rows[i].answer, &err) != 0, "%s",
			      rows[i].answer);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, rows[i].words), "%s: %s", rows[i].answer,
			      err.text);
	}
	tear_down();
}
END_TEST

START_TEST(paths)
{
	static const struct {
		const char *path;
		int spine;
	} rows[] = {
		{"null", BU_PATH_UNKNOWN},
		{"\"t\"", 1},
		{"[\"s\"]", 0},
		{"[\"x\",\"t\",\"y\"]", 1},
		{"[\"a\",\"x\",\"t\",\"y\",\"c\"]", 1},
		{"[\"s\",\"t\"]", BU_PATH_SEVERAL},
		{"[[\"x\",\"s\",\"y\"],[\"x\",\"t\",\"y\"]]", BU_PATH_SEVERAL},
		{"{\"spine\":\"t\"}", 1},
		{"{\"spines\":[\"s\",\"t\"]}", BU_PATH_SEVERAL},
	};
	char text[200];

	set_up();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		snprintf(text, sizeof(text), "[%s]", rows[i].path);
		ck_assert_int_eq(read_answer(TRACE, text, NULL), 0);
		ck_assert_msg(spines[0] == rows[i].spine, "%s: %d", rows[i].path,
			      spines[0]);
		ck_assert_int_eq(spines[1], BU_PATH_UNKNOWN);
	}
	ck_assert_int_eq(read_answer(TRACE, "null", NULL), 0);
	/* Inside a leaf there is nothing else on the way. */
	ck_assert_int_eq(
		read_answer(ROUND, "[{\"rate_gbps\":1,\"path\":\"x\"},null]", NULL), 0);
	ck_assert_int_eq(flows[0].path, BU_PATH_UNKNOWN);
	tear_down();
}
END_TEST

/* What each end sees counts once, and what is no error does not. */
START_TEST(counters)
{
	static const struct {
		const char *counters;
		double lost;
	} rows[] = {
		{"{\"src\":{\"local_ack_timeout_err\":2},\"dst\":{\"out_of_sequence\":3,"
		 "\"np_cnp_sent\":7,\"rx_pause\":8,\"port_rcv_data\":9}}",
		 5},
		{"{\"src\":{\"out_of_sequence\":3},\"dst\":{\"local_ack_timeout_err\":2}}",
		 0},
		{"[{\"packet_seq_err\":1},{\"symbol_error\":1}]", 2},
		{"{\"discards\":4}", 4},
		{"null", 0},
	};
	char text[300];

	set_up();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		snprintf(text, sizeof(text), "[{\"rate_gbps\":1,\"counters\":%s},null]",
			 rows[i].counters);
		ck_assert_int_eq(read_answer(ROUND, text, NULL), 0);
		ck_assert_msg((double)flows[0].lost == rows[i].lost, "%s: %g",
			      rows[i].counters, (double)flows[0].lost);
	}
	tear_down();
}
END_TEST

START_TEST(switches_and_lldp)
{
	set_up();
	ck_assert_int_eq(
		read_answer(SWITCH,
			    "[{\"leaf\":\"x\",\"spine\":\"t\",\"dir\":\"down\","
			    "\"crc_errors\":3,\"wait\":4,\"rate_gbps\":50},"
			    "{\"leaf\":\"y\",\"spine\":\"s\",\"up\":{\"drops\":1},"
			    "\"down\":{\"drops\":2}}]",
			    NULL),
		0);
	ck_assert_double_eq((double)links[2 * 1 + BU_LINK_DOWN].bad, 7);
	ck_assert_double_eq((double)links[2 * 1 + BU_LINK_DOWN].rate, 50);
	ck_assert_double_eq((double)links[2 * 1 + BU_LINK_UP].bad, 0);
	ck_assert_double_eq((double)links[2 * 2 + BU_LINK_UP].bad, 1);
	ck_assert_double_eq((double)links[2 * 2 + BU_LINK_DOWN].bad, 2);
	ck_assert_int_eq(links[2 * 1 + BU_LINK_UP].told, 0);
	ck_assert_int_eq(links[2 * 1 + BU_LINK_DOWN].told, 1);
	ck_assert_int_eq(links[2 * 2 + BU_LINK_UP].told, 1);
	/* They count since the start: one more is one more. */
	ck_assert_int_eq(read_answer(SWITCH,
				     "[{\"leaf\":\"x\",\"spine\":\"s\","
				     "\"drops\":100000001}]",
				     NULL),
			 0);
	ck_assert_double_eq(links[BU_LINK_UP].bad, 100000001);
	ck_assert_int_eq(read_answer(SWITCH, "null", NULL), 0);
	ck_assert_int_eq(read_answer(LLDP,
				     "[{\"node\":\"a\",\"rail\":0,\"leaf\":\"y\"},"
				     "{\"node\":\"b\",\"leaf\":\"x\"},{\"node\":\"c\","
				     "\"leaf\":null}]",
				     NULL),
			 0);
	ck_assert_int_eq(leaf_of[0], 1);
	ck_assert_int_eq(leaf_of[1], 0);
	ck_assert_int_eq(leaf_of[2], -1);
	tear_down();
}
END_TEST

/* x to t, up: each reading, and what came since the one before. */
START_TEST(what_came_since_the_reading_before)
{
	static const struct {
		const char *counters; /* NULL = the link is left out */
		double bad;
	} rows[] = {
		{NULL, 0}, /* never told: nothing was counted */
		{"\"wait\":3000000000000,\"crc_errors\":5", 0},
		{"\"wait\":3000000000000,\"crc_errors\":6", 1},
		{NULL, -1},
		{NULL, -1},
		{"\"wait\":3000000000000,\"crc_errors\":9", 3},
		{"\"wait\":0,\"crc_errors\":2", 2}, /* the switch was restarted */
		{"\"wait\":0,\"crc_errors\":2", 0},
	};
	struct bu_link_count before[8] = {0};

	set_up();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text =
			rows[i].counters
				? bu_xasprintf("[{\"leaf\":\"x\",\"spine\":\"t\","
					       "\"dir\":\"up\",%s}]",
					       rows[i].counters)
				: bu_xstrdup("null");

		ck_assert_int_eq(read_answer(SWITCH, text, NULL), 0);
		bu_wire_switch_since(&topology, before, links);
		ck_assert_msg(links[2 * 1 + BU_LINK_UP].bad == rows[i].bad, "%zu: %g",
			      i, links[2 * 1 + BU_LINK_UP].bad);
		ck_assert_double_eq(links[2 * 1 + BU_LINK_DOWN].bad, 0);
	}
	tear_down();
}
END_TEST

/* The rail of dst is told where it is another one, and nowhere else. */
START_TEST(tests_across_rails)
{
	bu_autojson json_t *plan = json_loads(
		"{\"nodes\":[\"a\",\"b\"],\"rails\":2,\"leaves\":[\"x\",\"y\"],"
		"\"leaf_of\":[[\"x\",\"y\"],[\"x\",\"y\"]],\"spines\":[\"s\"],"
		"\"across\":true,\"limit_gbps\":100}",
		0, NULL);
	static const struct bu_flow both[] = {{.src = 1, .dst = 2, .via = 0},
					      {.src = 1, .dst = 3, .via = -1}};
	bu_autojson json_t *round = NULL, *trace = NULL;
	const json_t *tests;
	struct bu_topology t;

	ck_assert_int_eq(bu_topology_from_json(plan, &t, NULL), 0);
	ck_assert_int_eq(t.across, 1);
	round = bu_wire_round(&t, both, 2);
	tests = json_object_get(round, "tests");
	for (size_t i = 0; i < 2; i++) {
		const json_t *test = json_array_get(tests, i);

		ck_assert_str_eq(bu_json_str(test, "src", ""), "a");
		ck_assert_str_eq(bu_json_str(test, "dst", ""), "b");
		ck_assert_int_eq(bu_json_int(test, "rail", -1), 1);
		ck_assert_int_eq(bu_json_int(test, "dst_rail", -1), i ? -1 : 0);
	}
	trace = bu_wire_trace(&t, &both[0], 3);
	ck_assert_int_eq(bu_json_int(trace, "rail", -1), 1);
	ck_assert_int_eq(bu_json_int(trace, "dst_rail", -1), 0);
	bu_topology_fini(&t);
}
END_TEST

BU_UNIT("wire", what_it_has_no_words_for_is_an_error, paths, counters,
	switches_and_lldp, what_came_since_the_reading_before, tests_across_rails)
