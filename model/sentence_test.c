/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of JSON: every row, columns, reasons in reasons, and JSON of a stranger. */
#include "model/sentence.h"

#include <string.h>

#include "base/json.h"
#include "model/reason_impl.h"
#include "tests/support/quoted.h"
#include "tests/support/unit.h"

static void
is_said(const char *said, const char *want)
{
	bu_autojson json_t *json = quoted(said);
	bu_autofree char *text = bu_said_text(json);

	ck_assert_str_eq(text, want);
}

static int
is_column(const char *name)
{
	for (const struct bu_column *one = bu_said_columns; one->name; one++)
		if (strcmp(one->name, name) == 0)
			return 1;
	return 0;
}

/* Brackets are closed and not in each other, columns exist, a name is of one kind. */
static void
is_well_formed(const char *text)
{
	int inside = 0;

	for (const char *at = text; *at; at++) {
		struct bu_hole hole;

		inside += (*at == '[') - (*at == ']');
		ck_assert_msg(inside == 0 || inside == 1, "%s", text);
		if (*at != '{')
			continue;
		hole = bu_hole_at(at);
		ck_assert_msg(hole.name[0] != '\0', "%s", text);
		ck_assert_msg(!hole.column[0] || is_column(hole.column), "%s", text);
		at = hole.after - 1;
	}
	ck_assert_msg(inside == 0, "%s", text);
}

START_TEST(each_sentence_is_well_formed)
{
	for (int code = 1; code < BU_REASON_COUNT; code++)
		is_well_formed(bu_reason_info((enum bu_reason_code)code)->text);
}
END_TEST

START_TEST(parts_are_told_by_their_flag_or_their_arguments)
{
	is_said("{'code':'goes-to','args':{'state':'parked'}}", "then: parked");
	is_said("{'code':'goes-to','args':{'state':'parked','why':{'code':'other',"
		"'args':{'words':'fan'}}}}",
		"then: parked (fan)");
	is_said("{'code':'power-deed','args':{'op':'on','by':'ann','open':1}}",
		"power on by ann: under way");
	is_said("{'code':'power-deed','args':{'op':'on','by':'ann','open':0,"
		"'result':'failed','words':'no answer'}}",
		"power on by ann: failed: no answer");
	/* A flag decides alone, whatever else is in its part. */
	is_said("{'code':'canary-withdrawn','args':{'node':'n1','state':'ready','back':"
		"0}}",
		"the turn of n1 (ready) was withdrawn, which is neither a success nor "
		"a failure: another node is the canary");
}
END_TEST

START_TEST(columns_of_other_tables_are_quoted)
{
	is_said("{'code':'is-so','args':{'node':'n1','state':'ready','s':3}}",
		"n1 is ready (works in the cluster) for 3 s");
	is_said("{'code':'waits','args':{'why':{'code':'bmc-awaited'},'again':1}}",
		"waits: its BMC has not answered a command: it may still switch the "
		"machine off, or restarts, so no job is let in and no boot begins; it "
		"ends when its BMC has answered, or bringup has given the command up; "
		"it is looked at again every 1 s");
	is_said("{'code':'boot-chain','args':{'links':[{'code':'boot-link','args':"
		"{'link':'script','s':9}},{'code':'boot-link','args':{'link':'kernel',"
		"'s':5}}],'ends':'kernel'}}",
		"its boot: asked for its boot script 9 s ago, asked for the kernel 5 s "
		"ago; there it ends: it has not asked for the ramdisk");
}
END_TEST

/* Of the gate: lists in lists, an "or" between them, parts that are told by flags. */
START_TEST(what_the_gate_finds_reads_so)
{
#define LEAF(n) "{'code':'leaf-name','args':{'leaf':'leaf0" #n "','rails':['r0','r1']}}"
	is_said("{'code':'warning','args':{'what':{'code':'leaves-accused','args':{"
		"'fabric':'c','rail':'','parts':[{'code':'part-uplinks','args':{"
		"'leaf':" LEAF(
			1) ",'up':1}},{'code':'part-link','args':{'leaf':{"
			   "'code':'part-leaf','args':{'leaf':" LEAF(
				   2) "}},'spine':'s1','down':"
				      "1}},{'code':'part-spines'}],'cause':'slow','unrouted':1}}}}",
		"warning: switch fabric c: pairs across its rails accuse the uplinks "
		"of leaf01 (rail r0, r1), to the spines or the link between leaf leaf02 "
		"(rail r0, r1) and spine s1, from the spine or the spines: slow; look "
		"first whether the rails are routed to each other");
	is_said("{'code':'leaves-accused','args':{'rail':'r0','parts':[{'code':"
		"'part-leaf','args':{'leaf':" LEAF(1) "}}],'cause':'slow',"
						      "'unreached':1}}",
		"rail r0: pairs between its leaves accuse leaf leaf01 (rail r0, r1): "
		"slow; look first whether the leaves reach each other");
	is_said("{'code':'switches-accuse','args':{'rail':'r0','part':{'code':"
		"'part-link','args':{'leaf':" LEAF(
			1) ",'spine':'s1','both':1}},"
			   "'cause':'slow','counts':[100,{'code':'not-read'},0],'at':'now'}}",
		"rail r0: what its switches count accuses the link between leaf01 "
		"(rail r0, r1) and spine s1, both ways: slow; counted 100, not read, "
		"0; read until now");
	is_said("{'code':'node-accused','args':{'seen':[],'by':[],'cause':'C',"
		"'hint':'H'}}",
		"C; H");
	is_said("{'code':'losses','args':{'link':1}}",
		"errors of the link in one probe");
	is_said("{'code':'slow-with','args':{'nodes':['n1','n2'],'rail':'r0'}}",
		"slow with n1, n2 (rail r0): check the cables of both");
#undef LEAF
}
END_TEST

/* Of what is too long its sentence is kept, which can be read back. */
START_TEST(what_does_not_fit_is_kept_as_its_sentence)
{
	char words[BU_REASON_TEXT_MAX] = "";
	bu_autofree char *fits = NULL, *just = NULL, *over = NULL, *packed = NULL;
	json_t *said;

	for (int i = 0; i < 100; i++)
		strcat(words, "ab ");
	said = BU_SAID(OTHER, BU_ARG("words", words));
	fits = bu_said_fit(json_incref(said), BU_REASON_TEXT_MAX);
	ck_assert_int_eq(fits[0], '{');
	just = bu_said_fit(json_incref(said), strlen(fits) + 1);
	ck_assert_str_eq(just, fits);
	over = bu_said_fit(json_incref(said), strlen(fits));
	ck_assert_str_eq(over, words);
	packed = bu_said_pack(said);
	ck_assert_str_eq(packed, words);
}
END_TEST

START_TEST(whatever_the_json_is_a_text_comes_of_it)
{
	char deep[4096] = "", *end = deep;
	bu_autojson json_t *json = NULL;
	bu_autofree char *text = NULL;

	is_said("{'code':'martians','args':{'count':3,'of':'mars'}}",
		"martians (count: 3, of: mars)");
	is_said("{'code':'martians'}", "martians");
	is_said("{}", "");
	is_said("[]", "");
	is_said("{'code':7,'args':[]}", "");
	is_said("{'code':'is-so','args':{'node':5,'state':'lost','s':'x'}}",
		"5 is lost () for 0 s");
	is_said("{'code':'twins','args':{'all':['a',{'code':'raw','args':{'words':['b',"
		"'c']}}]}}",
		"a;   b, c");
	is_said("{'code':'turn','args':{'class':['a','b'],'why':'words'}}",
		"waits for its turn (a, b): words");
	for (int i = 0; i < 40; i++)
		end = stpcpy(end, "{'code':'warning','args':{'what':");
	end = stpcpy(end, "'x'");
	for (int i = 0; i < 40; i++)
		end = stpcpy(end, "}}");
	json = quoted(deep);
	text = bu_said_text(json);
	ck_assert_ptr_nonnull(strstr(text, "warning: warning: "));
}
END_TEST

START_TEST(bytes_that_are_no_utf8_are_replaced)
{
	bu_autojson json_t *said = BU_SAID(RAW, BU_ARG("words", "A\xff"
								"B"));
	bu_autofree char *text = bu_said_text(said);

	ck_assert_str_eq(text, "  A\xef\xbf\xbd"
			       "B");
}
END_TEST

BU_UNIT("sentence", each_sentence_is_well_formed,
	parts_are_told_by_their_flag_or_their_arguments,
	columns_of_other_tables_are_quoted, what_the_gate_finds_reads_so,
	what_does_not_fit_is_kept_as_its_sentence,
	whatever_the_json_is_a_text_comes_of_it, bytes_that_are_no_utf8_are_replaced)
