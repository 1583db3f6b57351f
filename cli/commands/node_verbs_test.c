/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line makes of the daemon's answer to a verb. */
#include "cli/commands/node_verbs.h"

#include "base/json.h"
#include "cli/commands/commands.h"
#include "tests/support/cli.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

#define ANSWER                                                                         \
	"{'verb':'drain','dry_run':false,'nodes':["                                    \
	"{'node':'n1','ok':true,'text':'ready -> draining, then "                      \
	"parked','kind':'none'},"                                                      \
	"{'node':'n2','ok':false,'text':'node n2 is "                                  \
	"\\u001bfailed','kind':'wrong-state'},"                                        \
	"{'node':'n3','ok':false,'text':'node n3 is changing','kind':'busy'},"         \
	"{'node':'n4','ok':true,'text':'released','kind':'none'}]}"

/* One line for each, and the exit code of the first that was refused. */
START_TEST(each_node_has_its_line_and_a_refusal_its_code)
{
	bu_autojson json_t *reply = quoted(ANSWER);
	char *errors = NULL;
	size_t size;
	FILE *sink = open_memstream(&errors, &size);
	int code = -1;
	bu_autofree char *text =
		WRITTEN(code = bu_node_verb_print(reply, BU_FORMAT_TABLE, out, sink));

	fclose(sink);
	ck_assert_int_eq(code, bu_err_exit_code(BU_ERR_STATE));
	ck_assert_str_eq(text, "n1: ready -> draining, then parked\nn4: released\n");
	ck_assert_str_eq(errors, "bringup: node n2 is ?failed\n"
				 "bringup: node n3 is changing\n");
	free(errors);
}
END_TEST

START_TEST(a_dry_run_says_so)
{
	bu_autojson json_t *reply =
		quoted("{'dry_run':true,'nodes':[{'node':'n1','ok':true,"
		       "'text':'parked -> validating','kind':'none'}]}");
	int code = -1;
	bu_autofree char *text =
		WRITTEN(code = bu_node_verb_print(reply, BU_FORMAT_TABLE, out, out));

	ck_assert_int_eq(code, 0);
	ck_assert_str_eq(text, "n1: would be: parked -> validating\n");
}
END_TEST

/* Tools read refusals where they read the rest, and nothing beside it. */
START_TEST(json_holds_the_refusals_too)
{
	bu_autojson json_t *reply = quoted(ANSWER);
	bu_autojson json_t *back = NULL;
	int code = 0;
	bu_autofree char *text =
		WRITTEN(code = bu_node_verb_print(reply, BU_FORMAT_JSON, out, out));
	bu_autofree char *names =
		WRITTEN(bu_node_verb_print(reply, BU_FORMAT_HOSTLIST, out, stderr));

	back = json_loads(text, 0, NULL);
	ck_assert_int_eq(code, bu_err_exit_code(BU_ERR_STATE));
	ck_assert_uint_eq(json_array_size(back), 4);
	ck_assert_str_eq(names, "n[1,4]\n");
}
END_TEST

/* Who is called back and who is not stands there, with why. */
START_TEST(an_abort_says_who_goes_on)
{
	bu_autojson json_t *reply = quoted(
		"{'called_back':['n1','n2'],'going_on':[{'node':'n3','why':'it is "
		"imaging'}]}");
	bu_autojson json_t *none = quoted("{'called_back':[],'going_on':[]}");
	bu_autofree char *text = WRITTEN(bu_rollout_abort_print("r-1", reply, out));
	bu_autofree char *plain = WRITTEN(bu_rollout_abort_print("r-1", none, out));

	ck_assert_str_eq(text, "r-1: aborted; orders that had not started are "
			       "withdrawn\n"
			       "cancelled: n[1-2]\n"
			       "goes on to its end: n3 (it is imaging)\n");
	ck_assert_str_eq(plain, "r-1: aborted; orders that had not started are "
				"withdrawn\n");
}
END_TEST

#define POWER(name, result, power, detail, seen, at)                                   \
	"{'name':'" name "','power':{'op':'off','result':'" result "','power':'" power \
	"','detail':'" detail "','seen':{'power':'" seen "','error':'','at_ms':" at    \
	"}}}"

/* An old word of a BMC is no answer to a new question; a failure is told as one. */
START_TEST(power_is_answered_by_what_came_of_it)
{
	const char *asked = "[{'node':'n1','ok':true,'text':'power off asked for'},"
			    "{'node':'n2','ok':true,'text':'power off asked for'},"
			    "{'node':'n3','ok':false,'text':'refused'}]";
	bu_autojson json_t *answers = quoted(asked), *status = quoted(asked);
	struct bu_shown_nodes first, last;
	json_t *one = shown_as(
		bu_shown_nodes_fields,
		"{'nodes':[" POWER("n1", "done", "off", "", "off",
				   "5") "," POWER("n2", "asked", "", "", "", "0") "]}",
		&first);
	json_t *two = shown_as(
		bu_shown_nodes_fields,
		"{'nodes':[" POWER("n2", "failed", "", "no session", "", "9") "]}",
		&last);

	ck_assert_int_eq(bu_node_power_take(answers, &first, "off", 7), 1);
	ck_assert_int_eq(bu_node_power_take(answers, &last, "off", 7), 0);
	ck_assert_str_eq(bu_json_str(json_array_get(answers, 0), "text", ""), "off");
	ck_assert_str_eq(bu_json_str(json_array_get(answers, 1), "text", ""),
			 "failed: no session");
	ck_assert_int_eq(bu_json_bool(json_array_get(answers, 1), "ok", 1), 0);
	ck_assert_str_eq(bu_json_str(json_array_get(answers, 1), "kind", ""), "remote");
	ck_assert_str_eq(bu_json_str(json_array_get(answers, 2), "text", ""),
			 "refused");
	/* n1 was seen before the question */
	ck_assert_int_eq(bu_node_power_take(status, &first, "status", 7), 2);
	ck_assert_int_eq(bu_node_power_take(status, &first, "status", 5), 1);
	ck_assert_str_eq(bu_json_str(json_array_get(status, 0), "text", ""), "off");
	released(bu_shown_nodes_fields, &first, one);
	released(bu_shown_nodes_fields, &last, two);
}
END_TEST

BU_UNIT("node_verbs", power_is_answered_by_what_came_of_it, an_abort_says_who_goes_on,
	each_node_has_its_line_and_a_refusal_its_code, a_dry_run_says_so,
	json_holds_the_refusals_too)
