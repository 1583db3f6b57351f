/* SPDX-License-Identifier: Apache-2.0 */
/* Words and tables of nodes, pairs and events, from JSON as bringupd gives it. */
#include "cli/render/render.h"

#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "cli/render/screen.h"
#include "tests/support/cli.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

static void
has(const char *text, const char *want)
{
	ck_assert_msg(strstr(text, want) != NULL, "no '%s' in\n%s", want, text);
}

START_TEST(durations_have_two_figures_of_use)
{
	static const struct {
		int64_t ms;
		const char *want;
	} rows[] = {
		{-5, "0.0 s"},       {0, "0.0 s"},          {9949, "9.9 s"},
		{10000, "10 s"},     {119999, "119 s"},     {125000, "2m 05s"},
		{7200000, "2h 00m"}, {90000000, "25h 00m"}, {180000000, "2d 02h"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_out_duration(rows[i].ms);

		ck_assert_str_eq(text, rows[i].want);
	}
}
END_TEST

START_TEST(texts_cannot_drive_the_terminal)
{
	bu_autofree char *line = bu_out_clean("a\x1b[2J\n\tb\x7f\xc2\x9b\xc3\xa9", 0);
	bu_autofree char *block = bu_out_clean("a\x1b\n\tb\r", 1);

	ck_assert_str_eq(line, "a?[2J??b??\xc3\xa9");
	ck_assert_str_eq(block, "a?\n\tb?");
}
END_TEST

/* A list of nodes, read. */
static json_t *
nodes_of(const char *nodes, struct bu_shown_nodes *ret)
{
	bu_autofree char *text = bu_xasprintf("{'time_ms':61000,'nodes':%s}", nodes);

	return shown_as(bu_shown_nodes_fields, text, ret);
}

START_TEST(percents)
{
	static const struct {
		const char *node;
		int want;
	} rows[] = {
		{"{}", -1},
		{"{'progress':null}", -1},
		{"{'progress':{'done_bytes':5,'total_bytes':0}}", -1},
		{"{'progress':{'done_bytes':0,'total_bytes':10}}", 0},
		{"{'progress':{'done_bytes':199,'total_bytes':200}}", 99},
		{"{'progress':{'done_bytes':200,'total_bytes':200}}", 100},
		{"{'progress':{'done_bytes':9000000000000000000,"
		 "'total_bytes':9100000000000000000}}",
		 98},
		{"{'progress':{'done_bytes':300,'total_bytes':200}}", 100},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_shown_node node;
		json_t *value = shown_as(bu_shown_listed_fields, rows[i].node, &node);

		ck_assert_msg(bu_node_percent(&node) == rows[i].want, "%s: %d",
			      rows[i].node, bu_node_percent(&node));
		released(bu_shown_listed_fields, &node, value);
	}
}
END_TEST

START_TEST(the_note_says_what_matters_most)
{
	static const struct {
		const char *node, *want;
	} rows[] = {
		{"{}", ""},
		{"{'reason':'r'}", "r"},
		{"{'reason':'r','says':{'kind':'wait','code':'other','args':{'words':'w'}}}",
		 "waits: w"},
		{"{'reason':'r','conditions':[{'name':'a'},{'name':'b'}]}", "a; b; r"},
		{"{'reason':'r','says':{'kind':'wait','code':'other','args':{'words':'w'}},'held':{'by':'ops','reason':'x\\ny'}}",
		 "held by ops: x?y"},
		/* A hold hides nothing that is wrong with the node. */
		{"{'held':{'by':'ops','reason':'x'},'conditions':[{'name':'a'}]}",
		 "held by ops: x; a"},
		{"{'reason':'','says':{'kind':'trouble','code':'other','args':{'words':'the clocks disagree'}}}",
		 "not measured: the clocks disagree"},
		{"{'reason':'','cluster_words':'job 17 runs on it'}",
		 "its cluster says: job 17 runs on it"},
		{"{'step':{'action':'boot','status':'failed','error':'no domain'}}",
		 "boot failed: no domain; trying again"},
		{"{'step':{'action':'boot','status':'done','error':''}}", ""},
		{"{'order':{'status':'turn','class':'reboot','reason':'1 is away'}}",
		 "waits for its turn (reboot): 1 is away"},
		{"{'order':{'status':'under-way','class':'reboot','reason':''}}", ""},
		{"{'state':'ready','order':{'status':'failed','class':'reconfigure',"
		 "'reason':'rolled back'}}",
		 "its last order (reconfigure) failed: rolled back"},
		{"{'state':'failed','reason':'late','order':{'status':'failed',"
		 "'class':'wipe','reason':'late'}}",
		 "late"},
		{"{'state':'failed','reason':'late, as it is said now','order':{"
		 "'status':'failed','class':'wipe','reason':'late'}}",
		 "late, as it is said now"},
		{"{'state':'ready','reason':'late','order':{'status':'failed',"
		 "'class':'wipe','reason':'late'}}",
		 "its last order (wipe) failed: late; late"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_shown_node node;
		json_t *value = shown_as(bu_shown_listed_fields, rows[i].node, &node);
		bu_autofree char *note = bu_node_note(&node);

		ck_assert_str_eq(note, rows[i].want);
		released(bu_shown_listed_fields, &node, value);
	}
}
END_TEST

START_TEST(a_screen_line_is_cut_to_the_width)
{
	struct bu_shown_nodes list;
	json_t *value = nodes_of(
		"[{'name':'node001','state':'imaging','since_ms':1000,"
		"'progress':{'stage':'write','done_bytes':45,'total_bytes':100},"
		"'says':{'kind':'wait','code':'other','args':{'words':'\xe5\x86\x85\xe5\xad\x98 and more'}}}]",
		&list);
	const struct bu_shown_node *node = list.nodes;
	struct bu_node_widths wide = bu_node_widths(&list, 200);
	struct bu_node_widths narrow = bu_node_widths(&list, 66);
	bu_autofree char *whole = bu_node_lines(node, 13500, &wide, 1);
	bu_autofree char *part = bu_node_lines(node, 13500, &narrow, 1);
	bu_autofree char *below = bu_node_lines(node, 13500, &narrow, 3);
#define HEAD "node001  imaging         12 s  [#########...........]  45 %"

	ck_assert_str_eq(whole, HEAD "  waits: \xe5\x86\x85\xe5\xad\x98 and more");
	ck_assert_str_eq(part, HEAD "...");
	ck_assert_str_eq(below, HEAD "\n    waits: \xe5\x86\x85\xe5\xad\x98 and more");
#undef HEAD
	released(bu_shown_nodes_fields, &list, value);
}
END_TEST

/* The figure at the top counts nobody who cannot be used. */
START_TEST(only_who_is_usable_is_counted_as_ready)
{
	static const struct {
		const char *nodes, *want;
	} rows[] = {
		{"[]", "0/0 ready"},
		{"[{'state':'ready','conditions':[]},{'state':'ready'}]", "2/2 ready"},
		{"[{'state':'ready'},{'state':'ready','conditions':[{'name':"
		 "'unreachable','away':true}]}]",
		 "1/2 ready, 1 unreachable"},
		{"[{'state':'ready','conditions':[{'name':'not-in-profile','away':"
		 "false}]}]",
		 "1/1 ready"},
		{"[{'state':'failed'},{'state':'imaging'},{'state':'imaging',"
		 "'held':{'by':'ops','reason':''}}]",
		 "0/3 ready, 2 imaging, 1 failed, 1 held"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_shown_nodes nodes;
		json_t *value = nodes_of(rows[i].nodes, &nodes);
		bu_autofree char *text = bu_node_summary(&nodes);

		ck_assert_str_eq(text, rows[i].want);
		released(bu_shown_nodes_fields, &nodes, value);
	}
}
END_TEST

/* A screen of 80 columns and 24 rows, as a pipe is taken for. */
START_TEST(what_a_node_waits_for_is_on_the_screen)
{
	struct bu_shown_nodes nodes;
	json_t *value = nodes_of(
		"[{'name':'node001','state':'validating','since_ms':0,'settled':false,"
		"'says':{'kind':'trouble','code':'other','args':{'words':'node001 and node002: 20.63 Gbit/s over a link of 20: the "
		"clocks of both ends disagree; it is measured again in 30 s, at most 5 "
		"times'}}},{'name':'node002','state':'ready','since_ms':0,'settled':true,"
		"'conditions':[{'name':'unreachable','away':true,'text':'its agent "
		"does not answer'}]}]",
		&nodes);
	struct bu_screen screen = {0};
	bu_autofree char *text = WRITTEN({
		screen.out = out;
		bu_screen_nodes(&screen, &nodes);
	});

	has(text, "clocks of both ends disagree");
	has(text, "30 s, at most 5 times");
	has(text, "node002  ready, unreachable");
	has(text, "its agent does not answer");
	has(text, "0/2 ready, 1 unreachable, 1 validating");
	ck_assert_int_eq(screen.lines, 5);
	released(bu_shown_nodes_fields, &nodes, value);
}
END_TEST

START_TEST(who_needs_a_look_is_on_a_full_screen)
{
	bu_autojson json_t *nodes = json_array();
	json_t *value;
	bu_autofree char *text = NULL, *all = NULL;
	struct bu_screen screen = {0};
	struct bu_shown_nodes list;

	for (int i = 0; i < 40; i++)
		json_array_append_new(nodes,
				      json_pack("{s:o,s:s,s:b}", "name",
						json_sprintf("node%03d", i), "state",
						i == 38   ? "failed"
						: i == 39 ? "imaging"
							  : "ready",
						"settled", i != 39));
	all = json_dumps(nodes, 0);
	value = nodes_of(all, &list);
	text = WRITTEN({
		screen.out = out;
		bu_screen_nodes(&screen, &list);
	});
	has(text, "node038  failed");
	has(text, "node039  imaging");
	has(text, "38/40 ready, 1 imaging, 1 failed; and 20 more");
	ck_assert_int_le(screen.lines, 23);
	released(bu_shown_nodes_fields, &list, value);
}
END_TEST

START_TEST(a_table_of_nodes)
{
	struct bu_shown_nodes nodes;
	json_t *value = nodes_of(
		"[{'name':'node001','pool':'train','state':'imaging','since_ms':1000,"
		"'progress':{'stage':'write','done_bytes':1,"
		"'total_bytes':4}},"
		"{'name':'node002','pool':'train','state':'failed','since_ms':0,"
		"'reason':'no answer\\u001b[2J','progress':null,"
		"'conditions':[{'name':'not-in-profile'}]}]",
		&nodes);
	bu_autofree char *text = WRITTEN(bu_render_nodes(&nodes, out));

	has(text, "NODE");
	has(text, "60 s write 25 %");
	has(text, "failed, not-in-profile");
	has(text, "it is not in the applied profile; no answer?[2J");
	ck_assert_ptr_null(strchr(text, '\x1b'));
	released(bu_shown_nodes_fields, &nodes, value);
}
END_TEST

START_TEST(a_table_of_pairs)
{
	struct bu_shown_pairs shown;
	json_t *value = shown_as(
		bu_shown_pairs_fields,
		"{'pairs':["
		"{'a':'node001','b':'node002','ab_gbps':0.9312,'ba_gbps':389.21,"
		"'expect_gbps':400,'lat_us':812.34,'verdict':'fail'},"
		"{'a':'node001','b':'node003','ab_gbps':0,'ba_gbps':0,"
		"'expect_gbps':400,'lat_us':0,'verdict':'inconclusive'}]}",
		&shown);
	bu_autofree char *text =
		WRITTEN(bu_render_pairs(shown.pairs, shown.pairs_count, out));

	has(text, "0.9312");
	has(text, "389.2");
	has(text, "812.3");
	has(text, "inconclusive");
	has(text, " - ");
	released(bu_shown_pairs_fields, &shown, value);
}
END_TEST

START_TEST(stages_are_summed)
{
	struct bu_shown_nodes nodes;
	json_t *value = nodes_of(
		"[{'name':'node001','state':'ready','stages':["
		"{'state':'inspecting','ms':12000},{'state':'booting','ms':30000},"
		"{'state':'inspecting','ms':5000}]},"
		"{'name':'node002','state':'failed','stages':[]}]",
		&nodes);
	bu_autofree char *text = WRITTEN(bu_render_stages(&nodes, out));

	has(text, "NODE    STATE  inspecting booting total\n");
	has(text, "node001 ready        17 s    30 s  47 s\n");
	has(text, "node002 failed      0.0 s   0.0 s 0.0 s\n");
	ck_assert_ptr_null(strstr(text, "imaging"));
	released(bu_shown_nodes_fields, &nodes, value);
}
END_TEST

/* The appliance's clock was set back. */
START_TEST(no_time_breaks_a_view)
{
	struct bu_shown_status status;
	struct bu_shown_rollouts list;
	json_t *value = shown_as(
		bu_shown_status_fields,
		"{'time_ms':-1,'appliance':{'version':'0.1.0','uptime_s':-75},"
		"'nodes':[{'name':'node001','state':'ready','since_ms':-1000,"
		"'last_seen_ms':-1,'stages':[{'state':'inspecting','ms':-12000}],"
		"'conditions':[{'name':'unreachable','since_ms':-1,'text':'away'}],"
		"'power':{'at_ms':-1,'seen':{'at_ms':-1}}}]}",
		&status);
	json_t *rollouts = shown_as(
		bu_shown_rollouts_fields,
		"{'rollouts':[{'id':'r-1','started_ms':-1,'ended_ms':-1}]}", &list);
	struct bu_shown_nodes nodes = {.nodes = status.nodes, .nodes_count = 1};
	bu_autofree char *text = WRITTEN(bu_render_status(&status, out));
	bu_autofree char *stages = WRITTEN(bu_render_stages(&nodes, out));

	has(text, "bringupd 0.1.0, up 0.0 s\n");
	has(stages, "node001 ready, unreachable      0.0 s 0.0 s\n");
	ck_assert_int_eq(list.rollouts[0].ended_ms, -1);
	released(bu_shown_status_fields, &status, value);
	released(bu_shown_rollouts_fields, &list, rollouts);
}
END_TEST

START_TEST(a_whole_status)
{
	struct bu_shown_status status;
	json_t *value = shown_as(
		bu_shown_status_fields,
		"{'version':7,'site':'demo','time_ms':61000,'epoch':3,"
		"'revision':'0123456789abcdef','appliance':{'version':'0.1.0',"
		"'uptime_s':75},'nodes':[{'name':'node001','pool':'train',"
		"'state':'ready','since_ms':1000}],'counts':{'ready':1},"
		"'rollout':{'id':'r-1','total':2,'state':'paused','reason':'by local',"
		"'done':1,'turn':1,'failed':0,"
		"'quarantined':0,'under_way':0},"
		"'brakes':[{'scope':'rack r1','said':'4 of 16 nodes of rack r1 are "
		"late together'}],'warnings':['bw_min is low'],'agents':{'version':"
		"'0.2.0','have':1,'others':2,'changing':['node001','node003'],"
		"'digest':'d','trouble':'agent 0.2.0 failed on node002'}}",
		&status);
	bu_autofree char *text = WRITTEN(bu_render_status(&status, out));

	has(text,
	    "site demo, epoch 3, revision 0123456789ab; bringupd 0.1.0, up 75 s\n");
	has(text, "rollout r-1 of 2 nodes, paused: 1 done, 1 not started: by local\n");
	has(text, "ALARM, the brake is on: 4 of 16 nodes of rack r1 are late "
		  "together\n");
	has(text, "warning: bw_min is low\n");
	has(text, "agents: 1 of 3 nodes have 0.2.0; changing: node001, node003\n"
		  "warning: agent 0.2.0 failed on node002\n");
	has(text, "1/1 ready\n");
	has(text, "node001");
	released(bu_shown_status_fields, &status, value);
}
END_TEST

START_TEST(an_event_is_a_line)
{
	bu_autojson json_t *event =
		quoted("{'seq':4,'time_ms':1500,'kind':'state','node':'node001',"
		       "'text':'booting -> failed: a\\nb','body':{}}");
	bu_autofree char *text = WRITTEN(bu_render_event(event, out));

	ck_assert_str_eq(text, "1970-01-01T00:00:01Z  node001      state        "
			       "booting -> failed: a?b\n");
}
END_TEST

START_TEST(a_node_in_full)
{
	struct bu_shown_node node;
	json_t *value = shown_as(
		bu_shown_whole_fields,
		"{'name':'node001','pool':'train','state':'ready','since_ms':1000,"
		"'image':'debian12','root':'raw','machine':'ab12',"
		"'firmware':'uefi','last_seen_ms':0,'in_profile':true,"
		"'stages':[{'state':'imaging','ms':95000}],'progress':null,"
		"'step':{'action':'join','attempt':1,'status':'done'},"
		"'certificates':[{'kind':'full','text':'x'}],"
		"'conditions':[{'name':'unreachable','since_ms':61000,'away':true,"
		"'text':'its agent does not answer'}],"
		"'drift':[{'said':'network x: MTU is 1, the profile says 2'}]}",
		&node);
	bu_autofree char *text = WRITTEN(bu_render_node(&node, out));

	has(text, "drift         network x: MTU is 1, the profile says 2\n");
	has(text, "state         ready, unreachable\n");
	has(text, "condition     unreachable since 1970-01-01T00:01:01Z: its agent "
		  "does not answer\n");
	has(text, "image         debian12\n");
	has(text, "root          raw\n");
	has(text, "step          join, attempt 1, done\n");
	has(text, "certificate   full\n");
	has(text, "  imaging     95 s\n");
	ck_assert_ptr_null(strstr(text, "last seen"));
	ck_assert_ptr_null(strstr(text, "gpus"));
	released(bu_shown_whole_fields, &node, value);
}
END_TEST

START_TEST(a_certificate_shows_its_figures)
{
	static const struct bu_shown_certificate cert = {
		"boot",
		"{\"cert\":{\"node\":\"n1\",\"machine\":\"m\",\"boot_id\":\"b\","
		"\"issued\":"
		"\"now\",\"epoch\":7,\"expect\":{\"link_gbps\":0.02,\"percent\":80},"
		"\"results\":[{\"a\":{\"node\":\"n1\"},\"b\":{\"node\":\"n2\"},\"a_to_"
		"b\":"
		"{\"bw_gbps\":[1,2],\"bw_median_gbps\":0.0191,\"lat_median_us\":400,"
		"\"lat_p99_us\":900}}],\"verdict\":\"pass\"},\"sig\":\"00112233\"}"};
	bu_autofree char *text = WRITTEN(bu_render_certificate(&cert, out));

	has(text, "boot certificate of n1\n");
	has(text, "n1 -> n2: median 0.0191 Gbit/s of 2 runs, latency 400 us (p99 900)");
	has(text, "at least 0.0160 Gbit/s (80 % of a link of 0.02 Gbit/s)");
	has(text, "verdict    pass\n");
}
END_TEST

START_TEST(a_list_of_rollouts)
{
	struct bu_shown_rollouts list;
	json_t *value = shown_as(
		bu_shown_rollouts_fields,
		"{'rollouts':[{'id':'r-2','state':'stopped','started_ms':1000,'total':3,'done':1,"
		"'failed':1,'turn':1,'commit':'0123456789abcdef-dirty',"
		"'reason':'pool a: 1 of its\\u001b'},"
		"{'id':'r-1','state':'done','started_ms':0,'total':1,'done':1},"
		"{'id':'r-0','state':'done','started_ms':0,'total':5,'done':3,"
		"'failed':2}]}",
		&list);
	bu_autofree char *text = WRITTEN(bu_render_rollouts(&list, out));

	has(text, "ROLLOUT STATE");
	has(text, "r-2     stopped 1970-01-01T00:00:01Z     3   0    1      1    1 "
		  "0123456789ab-dirty pool a: 1 of its?\n");
	has(text, "r-1     done");
	has(text, "r-0     ended");
	released(bu_shown_rollouts_fields, &list, value);
}
END_TEST

/* Of a rollout whose nodes failed no view says that it is done. */
START_TEST(a_rollout_with_failures_has_ended)
{
	static const struct {
		const char *rollout, *want;
	} rows[] = {
		{"{'state':'done','total':3,'done':3,'reason':''}", "done: 3 done"},
		{"{'state':'done','total':5,'done':3,'failed':2,'reason':''}",
		 "ended: 3 done, 2 failed"},
		{"{'state':'done','total':2,'done':1,'withdrawn':1,'reason':''}",
		 "ended: 1 done, 1 taken back"},
		{"{'state':'running','total':3,'done':1,'failed':1,'under_way':1,"
		 "'reason':''}",
		 "running: 1 done, 1 under way, 1 failed"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_shown_rollout rollout;
		json_t *value = shown_as(bu_shown_rollout_whole_fields, rows[i].rollout,
					 &rollout);
		struct bu_shown_status status = {.site = "",
						 .revision = "",
						 .commit = "",
						 .trouble = "",
						 .rollout = rollout};
		bu_autofree char *words = bu_rollout_words(&rollout);
		bu_autofree char *shown = WRITTEN(bu_render_rollout(&rollout, out));
		bu_autofree char *all = WRITTEN(bu_render_status(&status, out));

		ck_assert_str_eq(words, rows[i].want);
		has(all, rows[i].want);
		if (strncmp(rows[i].want, "ended", 5) == 0) {
			has(shown, "state     ended\n");
			ck_assert_ptr_null(strstr(all, ", done:"));
		}
		released(bu_shown_rollout_whole_fields, &rollout, value);
	}
}
END_TEST

START_TEST(a_rollout_folds_its_nodes_by_their_end)
{
#define ORDER(node, status, state, reason)                                             \
	"{'node':'" node "','pool':'train','class':'wipe','batch':1,'status':'" status \
	"','state':'" state "','reason':'" reason "'}"
	struct bu_shown_rollout rollout;
	json_t *value = shown_as(
		bu_shown_rollout_whole_fields,
		"{'id':'r-2','state':'running','reason':'','plan':'p','revision':'r',"
		"'commit':'c','by':'local','limit':'','started_ms':1000,'ended_ms':"
		"null,"
		"'grants':[{'class':'wipe','nodes':'n[1-4]'},{'class':'reimage'}],"
		"'pools':[{'pool':'train','total':4,'done':1,'failed':1,'away':1,"
		"'turn':2,'canary':1,'canary_done':1,'faults':0,'failure_budget':2,"
		"'max_unavailable':1,'why':'1 of pool train are "
		"away'}],'nodes':[" ORDER("n1", "done", "ready", "") "," ORDER(
			"n3", "turn", "ready",
			"later") "," ORDER("n4", "turn", "ready",
					   "later") "," ORDER("n2", "failed",
							      "quarantined",
							      "slow") "]}",
		&rollout);
#undef ORDER
	bu_autofree char *text = WRITTEN(bu_render_rollout(&rollout, out));

	has(text, "grant     wipe of n[1-4]\ngrant     reimage of all its nodes\n");
	has(text, "started   1970-01-01T00:00:01Z\n");
	ck_assert_ptr_null(strstr(text, "ended"));
	ck_assert_ptr_null(strstr(text, "limit"));
	/* one that was out of service failed: the budget is for the others */
	has(text, "train     4    1      1 0 of 2 1 of 1    2 1 of 1 1 of pool train "
		  "are away\n");
	has(text, "train     1 n1     wipe     1 done    ready");
	has(text, "train     2 n[3-4] wipe     1 waiting ready       later\n");
	has(text, "train     1 n2     wipe     1 failed  quarantined slow\n");
	released(bu_shown_rollout_whole_fields, &rollout, value);
}
END_TEST

/* What a machine says of itself opens no second row and no second field. */
START_TEST(a_row_for_the_inventory_is_no_formula)
{
	bu_autojson json_t *unknown = quoted(
		"[{'machine':{'serial':'=cmd|x','uuid':'-A1','macs':['52:54:00:77:00:07']},"
		"'address':'10.77.0.150'}]");
	bu_autofree char *text = WRITTEN(bu_render_unknown(unknown, out));

	ck_assert_ptr_nonnull(strstr(text, "\nNAME,52:54:00:77:00:07,'=cmd|x,'-A1\n"));
}
END_TEST

START_TEST(an_unknown_machine_is_a_row_for_the_inventory)
{
	bu_autojson json_t *unknown = quoted(
		"[{'machine':{'serial':'S,1\\nx','uuid':'u','macs':['52:54:00:77:00:07']},"
		"'address':'10.77.0.150','product':'Box','classes':'big, all','why':'nobody','cpus':2,"
		"'memory_bytes':536870912,'disks':1,'nics':2,'gpus':0}]");
	bu_autojson json_t *none = json_array();
	bu_autofree char *text = WRITTEN(bu_render_unknown(unknown, out));
	bu_autofree char *nothing = WRITTEN(bu_render_unknown(none, out));

	ck_assert_str_eq(text, "name,mac,serial,uuid\n"
			       "# Box at 10.77.0.150: 2 CPUs, 512 MiB, 0 GPUs, 2 NICs, "
			       "1 disks; fits hardware class big, all; nobody\n"
			       "NAME,52:54:00:77:00:07,\"S,1\xef\xbf\xbd"
			       "x\",u\n");
	ck_assert_str_eq(nothing, "");
}
END_TEST

BU_UNIT("render", durations_have_two_figures_of_use, texts_cannot_drive_the_terminal,
	percents, the_note_says_what_matters_most, a_screen_line_is_cut_to_the_width,
	only_who_is_usable_is_counted_as_ready, what_a_node_waits_for_is_on_the_screen,
	who_needs_a_look_is_on_a_full_screen, a_rollout_with_failures_has_ended,
	a_table_of_nodes, a_table_of_pairs, stages_are_summed, a_whole_status,
	no_time_breaks_a_view, a_row_for_the_inventory_is_no_formula,
	an_unknown_machine_is_a_row_for_the_inventory, an_event_is_a_line,
	a_node_in_full, a_certificate_shows_its_figures, a_list_of_rollouts,
	a_rollout_folds_its_nodes_by_their_end)
