/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of a rollout and changes of nodes, over made-up status documents. */
#include "cli/render/follow.h"

#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "tests/support/cli.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

#define NODE1(state, rest) "{'name':'node001','state':'" state "'" rest "}"
#define NODE2(state, rest) "{'name':'node002','state':'" state "'" rest "}"
/* status1, status2: of the orders of both nodes. */
#define ROLLOUT(state, status1, status2, counts)                                       \
	"'rollout':{'id':'r-1','total':2,'state':'" state                              \
	"','reason':'','nodes':[{'node':'node001','status':'" status1                  \
	"'},{'node':'node002','status':'" status2 "'}]," counts "}"
#define DOC(rollout, nodes) "{" rollout ",'nodes':[" nodes "]}"
#define BYTES(done)                                                                    \
	",'progress':{'stage':'write','done_bytes':" done ",'total_bytes':1000}"
#define HELD ",'held':{'by':'bringup','reason':'no slurmctld'}"
#define UNREACHABLE ",'conditions':[{'name':'unreachable','away':true}]"
#define BOTH_READY NODE1("ready", "") "," NODE2("ready", "")

static struct bu_follow *
follow_two(void)
{
	bu_autojson json_t *names = quoted("['node002','node001']");

	return bu_follow_create(names);
}

/* A status document whose nodes and rollout are whole. */
static json_t *
document(const char *text)
{
	json_t *status = quoted(text), *node;
	json_t *rollout = json_object_get(status, "rollout");
	size_t i;

	if (json_is_object(rollout))
		complete(bu_shown_rollout_whole_fields, rollout);
	json_array_foreach (json_object_get(status, "nodes"), i, node)
		complete(bu_shown_listed_fields, node);
	json_object_set_new(status, "version", json_integer(1));
	json_object_set_new(status, "time_ms", json_integer(0));
	return status;
}

/* Hands one document in; *ret_text (may be NULL) gets the lines. */
static enum bu_follow_end
give(struct bu_follow *follow, const char *text, char **ret_text)
{
	bu_autojson json_t *status = document(text);
	enum bu_follow_end end;
	struct bu_err err = {0};
	int rc;
	bu_autofree char *lines =
		WRITTEN(rc = bu_follow_update(follow, status, out, out, &end, &err));

	ck_assert_msg(rc == 0, "%s", err.text);
	if (ret_text)
		*ret_text = bu_steal(&lines);
	return end;
}

START_TEST(ends_when_all_are_ready)
{
	struct bu_follow *follow = follow_two();
	static const struct {
		const char *document;
		enum bu_follow_end want;
	} rows[] = {
		/* Before its first event is in the log, */
		{DOC("'rollout':null", BOTH_READY), BU_FOLLOW_MORE},
		/* before any has its turn, */
		{DOC(ROLLOUT("running", "turn", "turn", "'done':0"), BOTH_READY),
		 BU_FOLLOW_MORE},
		{DOC(ROLLOUT("running", "done", "under-way", "'done':1"),
		     NODE1("ready", "") "," NODE2("joining", "")),
		 BU_FOLLOW_MORE},
		/* while a person has stopped it for a time, */
		{DOC(ROLLOUT("paused", "done", "turn", "'done':1"), BOTH_READY),
		 BU_FOLLOW_MORE},
		{DOC(ROLLOUT("done", "done", "done", "'done':2"), BOTH_READY),
		 BU_FOLLOW_READY},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(give(follow, rows[i].document, NULL) == rows[i].want,
			      "document %zu", i);
	bu_follow_destroy(follow);
}
END_TEST

START_TEST(failed_nodes_are_named)
{
	struct bu_follow *follow = follow_two();
	bu_autofree char *text = NULL;

	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("done", "failed", "done", "'done':1"),
				  NODE1("failed", ",'reason':'digest of the image is "
						  "wrong'") "," NODE2("ready", "")),
			      NULL),
			 BU_FOLLOW_BAD);
	text = WRITTEN(bu_follow_print_unready(follow, out));
	ck_assert_str_eq(text, "node001: failed: digest of the image is wrong\n");
	bu_follow_destroy(follow);
}
END_TEST

/* As it was ordered, and yet not to be used. */
START_TEST(a_ready_node_that_is_away_is_not_ready)
{
	struct bu_follow *follow = follow_two();
	bu_autofree char *text = NULL;

	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("done", "done", "done", "'done':2"),
				  NODE1("ready", UNREACHABLE) "," NODE2("ready", "")),
			      NULL),
			 BU_FOLLOW_AWAY);
	text = WRITTEN(bu_follow_print_unready(follow, out));
	ck_assert_str_eq(text, "node001: ready, unreachable: its agent does not "
			       "answer\n");
	bu_follow_destroy(follow);
}
END_TEST

START_TEST(waiting_for_a_partner_does_not_end_it)
{
	struct bu_follow *follow = follow_two();
	bu_autofree char *unsettled = NULL;

	ck_assert_int_eq(
		give(follow,
		     DOC(ROLLOUT("running", "under-way", "failed", "'done':0"),
			 NODE1("validating",
			       ",'says':{'kind':'wait','code':'other','args':{'words':'a partner to "
			       "measure with'}}") "," NODE2("failed", "")),
		     NULL),
		BU_FOLLOW_MORE);
	unsettled = bu_follow_unsettled(follow);
	ck_assert_str_eq(unsettled, "node001: waits: a partner to measure with");
	bu_follow_destroy(follow);
}
END_TEST

START_TEST(a_held_node_ends_it_a_released_one_does_not)
{
	struct bu_follow *follow = follow_two();
	bu_autofree char *unsettled = NULL;
	bu_autofree char *text = NULL;

	ck_assert_int_eq(
		give(follow,
		     DOC(ROLLOUT("running", "under-way", "under-way", "'done':0"),
			 NODE1("joining", HELD) "," NODE2("booting", "")),
		     NULL),
		BU_FOLLOW_MORE);
	unsettled = bu_follow_unsettled(follow);
	ck_assert_str_eq(unsettled, "node002");
	/* A hold on a node that has arrived hides nobody who is under way. */
	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("running", "done", "under-way", "'done':1"),
				  NODE1("ready", HELD) "," NODE2("booting", "")),
			      NULL),
			 BU_FOLLOW_MORE);
	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("running", "under-way", "done", "'done':1"),
				  NODE1("joining", HELD) "," NODE2("ready", "")),
			      NULL),
			 BU_FOLLOW_BAD);
	text = WRITTEN(bu_follow_print_unready(follow, out));
	ck_assert_str_eq(text, "node001: joining: held by bringup: no slurmctld\n");
	bu_follow_destroy(follow);
}
END_TEST

/* One that a person held before its turn keeps nobody waiting for ever. */
START_TEST(a_held_turn_ends_it)
{
	struct bu_follow *follow = follow_two();

	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("running", "done", "turn", "'done':1"),
				  NODE1("ready", "") "," NODE2("ready", HELD)),
			      NULL),
			 BU_FOLLOW_BAD);
	bu_follow_destroy(follow);
}
END_TEST

START_TEST(a_stopped_rollout_ends_when_nobody_is_under_way)
{
	struct bu_follow *follow = follow_two();

	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("stopped", "under-way", "turn", "'done':0"),
				  NODE1("validating", "") "," NODE2("ready", "")),
			      NULL),
			 BU_FOLLOW_MORE);
	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("stopped", "failed", "turn", "'done':0"),
				  NODE1("quarantined", "") "," NODE2("ready", "")),
			      NULL),
			 BU_FOLLOW_STOPPED);
	ck_assert_int_eq(give(follow,
			      DOC(ROLLOUT("aborted", "done", "withdrawn", "'done':1"),
				  BOTH_READY),
			      NULL),
			 BU_FOLLOW_STOPPED);
	bu_follow_destroy(follow);
}
END_TEST

START_TEST(the_rollout_is_told_when_it_changes)
{
#define POOL(done)                                                                     \
	"'pools':[{'pool':'train','total':2,'canary':1,'canary_done':" done "}]"
	static const struct {
		const char *document, *want;
	} rows[] = {
		{"{'rollout':{'state':'running','reason':''}}", ""},
		{"{'rollout':{'state':'running','reason':''," POOL("0") "}}", ""},
		{"{'rollout':{'state':'paused','reason':'by local'}}",
		 "rollout: paused: by local\n"},
		{"{'rollout':{'state':'paused','reason':'by local'}}", ""},
		{"{'rollout':{'state':'running','reason':''}}", "rollout: running\n"},
		{"{'rollout':{'state':'running','reason':''," POOL("1") "}}",
		 "rollout: running; pool train: 1 of 1 canary node done\n"},
		{"{'rollout':{'state':'running','reason':''," POOL("1") "}}", ""},
		{"{'rollout':{'state':'running','reason':'','pools':[{'pool':'train',"
		 "'total':2,'under_way':1,'why':'1 of pool train is away'}]}}",
		 "rollout: running\n"},
		/* Nobody moves: why is said. */
		{"{'rollout':{'state':'running','reason':'','pools':[{'pool':'train',"
		 "'total':2,'under_way':0,'why':'1 of pool train is away'}]}}",
		 "rollout: running; pool train waits: 1 of pool train is away\n"},
		{"{'rollout':{'state':'paused','reason':'by local','pools':[{'pool':"
		 "'train','total':2,'under_way':0,'why':'rollout r-1 is paused'}]}}",
		 "rollout: paused: by local\n"},
		{"{'rollout':{'state':'done','reason':'','total':5,'done':3,"
		 "'failed':2}}",
		 "rollout: ended: 3 done, 2 failed\n"},
	};
#undef POOL
	struct bu_follow *follow = follow_two();

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;

		give(follow, rows[i].document, &text);
		ck_assert_str_eq(text, rows[i].want);
	}
	bu_follow_destroy(follow);
}
END_TEST

START_TEST(nothing_to_wait_for_is_ready)
{
	bu_autojson json_t *names = json_array();
	struct bu_follow *follow = bu_follow_create(names);

	ck_assert_int_eq(give(follow, DOC("'rollout':null", ""), NULL),
			 BU_FOLLOW_READY);
	bu_follow_destroy(follow);
}
END_TEST

START_TEST(a_line_for_each_change)
{
	static const struct {
		const char *nodes, *want;
	} rows[] = {
		{NODE1("inspecting", "") "," NODE2("inspecting", ""),
		 "node001: inspecting\nnode002: inspecting\n"},
		{NODE1("inspecting", "") "," NODE2("inspecting", ""), ""},
		{NODE1("imaging", BYTES("12")) "," NODE2("inspecting", ""),
		 "node001: imaging, write 1 %\n"},
		{NODE1("imaging", BYTES("99")), ""},
		{NODE1("imaging", BYTES("100")), "node001: imaging, write 10 %\n"},
		{NODE1("imaging", BYTES("190")), ""},
		{NODE1("imaging", BYTES("350")), "node001: imaging, write 35 %\n"},
		{NODE1("booting", ""), "node001: booting\n"},
		{NODE1("booting",
		       ",'says':{'kind':'wait','code':'other','args':{'words':'power, 1 s'}}"),
		 "node001: booting: waits: power, 1 s\n"},
		/* Figures alone make no line, another wait does, and so does its end.
		 */
		{NODE1("booting",
		       ",'says':{'kind':'wait','code':'other','args':{'words':'power, 2 s'}}"),
		 ""},
		{NODE1("booting",
		       ",'says':{'kind':'wait','code':'other','args':{'words':'power of node003, 2 s'}}"),
		 "node001: booting: waits: power of node003, 2 s\n"},
		{NODE1("booting",
		       ",'says':{'kind':'wait','code':'other','args':{'words':'power of node004, 2 s'}}"),
		 "node001: booting: waits: power of node004, 2 s\n"},
		{NODE1("booting",
		       ",'says':{'kind':'trouble','code':'other','args':{'words':'doubt'}}"),
		 "node001: booting: not measured: doubt\n"},
		{NODE1("booting", ""), "node001: booting: goes on\n"},
		{NODE1("booting", ",'since_ms':5,'reason':'no answer'"),
		 "node001: booting: no answer\n"},
		{NODE1("booting", ",'since_ms':5,'reason':'no answer'"), ""},
		{NODE1("booting", ",'since_ms':5"), ""},
		{NODE1("booting", ",'since_ms':5" HELD),
		 "node001: booting: held by bringup: no slurmctld\n"},
		{NODE1("ready", ",'since_ms':6"), "node001: ready\n"},
		{NODE1("ready", ",'since_ms':6" UNREACHABLE),
		 "node001: ready, unreachable: its agent does not answer\n"},
		{NODE1("ready", ",'since_ms':6" UNREACHABLE), ""},
		{NODE1("ready", ",'since_ms':6"), "node001: ready: goes on\n"},
		{NODE1("failed", ",'reason':'a\\nb\\u001b[2J'"),
		 "node001: failed: a?b?[2J\n"},
		{"{'name':'node009','state':'ready'}", ""},
	};
	struct bu_follow *follow = follow_two();

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *document =
			bu_xasprintf("{'rollout':null,'nodes':[%s]}", rows[i].nodes);
		bu_autofree char *text = NULL;

		give(follow, document, &text);
		ck_assert_str_eq(text, rows[i].want);
	}
	bu_follow_destroy(follow);
}
END_TEST

/* What bringupd did not say is no 0 and no "". */
START_TEST(what_is_missing_is_an_error)
{
	static const struct {
		const char *of, *key, *want;
	} rows[] = {
		{"nodes", "boot_id", "boot_id: missing; expected a text"},
		{"nodes", "since_ms", "since_ms: missing; expected a whole number"},
		{"rollout", "under_way", "rollout.under_way: missing"},
		{NULL, "time_ms", "time_ms: missing"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_follow *follow = follow_two();
		bu_autojson json_t *status = document(DOC(
			ROLLOUT("running", "turn", "turn", "'done':0"), BOTH_READY));
		json_t *its = rows[i].of ? json_object_get(status, rows[i].of) : status;
		enum bu_follow_end end;
		struct bu_err err = {0};

		its = json_is_array(its) ? json_array_get(its, 1) : its;
		ck_assert_int_eq(json_object_del(its, rows[i].key), 0);
		ck_assert_int_eq(
			bu_follow_update(follow, status, NULL, stdout, &end, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, rows[i].want) != NULL, "%s", err.text);
		ck_assert_msg(strstr(err.text, "another version") != NULL, "%s",
			      err.text);
		bu_follow_destroy(follow);
	}
}
END_TEST

START_TEST(its_nodes_are_those_of_the_rollout)
{
	struct bu_follow *follow = follow_two();
	struct bu_shown_nodes nodes;

	give(follow,
	     DOC("'rollout':null",
		 NODE2("imaging", "") ",{'name':'other','state':"
				      "'ready'}," NODE1("booting", "")),
	     NULL);
	nodes = bu_follow_nodes(follow);
	ck_assert_uint_eq(nodes.nodes_count, 2);
	ck_assert_str_eq(nodes.nodes[0].state, "booting");
	ck_assert_str_eq(nodes.nodes[1].name, "node002");
	free(nodes.nodes);
	bu_follow_destroy(follow);
}
END_TEST

BU_UNIT("follow", ends_when_all_are_ready, failed_nodes_are_named,
	a_ready_node_that_is_away_is_not_ready, waiting_for_a_partner_does_not_end_it,
	a_held_node_ends_it_a_released_one_does_not, a_held_turn_ends_it,
	a_stopped_rollout_ends_when_nobody_is_under_way,
	the_rollout_is_told_when_it_changes, nothing_to_wait_for_is_ready,
	a_line_for_each_change, what_is_missing_is_an_error,
	its_nodes_are_those_of_the_rollout)
