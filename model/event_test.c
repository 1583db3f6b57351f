/* SPDX-License-Identifier: Apache-2.0 */
/* Events: names, which are in the log, and the words that people read. */
#include "model/event.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

START_TEST(names_lead_back_and_are_different)
{
	for (int i = 0; i < BU_EVENT_COUNT; i++) {
		enum bu_event_kind back = BU_EVENT_COUNT;

		ck_assert_int_eq(
			bu_event_from_name(bu_event_name((enum bu_event_kind)i), &back,
					   NULL),
			0);
		ck_assert_int_eq(back, i);
	}
}
END_TEST

START_TEST(an_unknown_name_changes_nothing)
{
	enum bu_event_kind kind = BU_EVENT_PAIR;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_event_from_name("party", &kind, &err), -1);
	ck_assert_int_eq(kind, BU_EVENT_PAIR);
	ck_assert_str_eq(err.text, "unknown kind of event 'party'");
}
END_TEST

static const struct {
	enum bu_event_kind kind;
	const char *body, *text;
} texts[] = {
	{BU_EVENT_STATE,
	 "{'from':'booting','to':'validating','on':'booted','reason':''}",
	 "booting -> validating (booted)"},
	{BU_EVENT_STATE,
	 "{'from':'imaging','to':'failed','on':'fault','reason':'disk gone'}",
	 "imaging -> failed (fault): disk gone"},
	{BU_EVENT_STATE,
	 "{'from':'ready','to':'parked','on':'park','code':'of-another-version'}",
	 "event 12 (state) cannot be read: code: no reason 'of-another-version'"},
	{BU_EVENT_STATE, "{'from':'ready','to':7}",
	 "event 12 (state) cannot be read: to: expected a text"},
	{BU_EVENT_WAITS, "{'on':'yes'}",
	 "event 12 (waits) cannot be read: on: expected true or false"},
	{BU_EVENT_BOOTED, "{'boot_id':7}",
	 "event 12 (booted) cannot be read: boot_id: expected a text"},
	{BU_EVENT_STARTED, "{}", "bringup runs (start); before that it ran for 0 s"},
	{BU_EVENT_STARTED, "{'why':'restart','lasted_ms':61000}",
	 "bringup runs (restart); before that it ran for 61 s"},
	{BU_EVENT_CONDITION, "{'name':'no-bmc','on':true,'detail':'silent'}",
	 "no-bmc: silent"},
	{BU_EVENT_CONDITION, "{'name':'no-bmc','on':false}", "no-bmc is over"},
	{BU_EVENT_WAITS, "{'on':true}", "it waits; its deadline is stopped"},
	{BU_EVENT_OFF, "{'asked':'diskboot'}", "its machine was seen off (diskboot)"},
	{BU_EVENT_WAITS, "{'on':false}", "it no longer waits; its deadline counts"},
	{BU_EVENT_CHECKS, "{'verdict':'warn'}", "checks: warn"},
	{BU_EVENT_CHECKS, "{}", "checks: inconclusive"},
	{BU_EVENT_VERDICT, "{'source':'dcgm','verdict':'fail','text':'hot'}",
	 "dcgm says fail: hot"},
	{BU_EVENT_SOAK, "{'ms':61000,'verdict':'pass'}", "soaked 61 s: pass"},
	{BU_EVENT_SOAK, "{'verdict':'pass'}", "soaked 0 s: pass"},
	{BU_EVENT_INCAST, "{'senders':['a','b'],'verdict':'pass'}",
	 "2 nodes sent to it at once: pass"},
	{BU_EVENT_NVLINK, "{'peer':'node002','verdict':'warn'}",
	 "NVLink between it and node002: warn"},
	{BU_EVENT_INTENT, "{'action':'boot-disk','attempt':2}", "boot-disk, attempt 2"},
	{BU_EVENT_OUTCOME, "{'action':'join','result':'done','detail':''}",
	 "join done"},
	{BU_EVENT_OUTCOME, "{'result':'failed','detail':'no power'}",
	 "step failed: no power"},
	{BU_EVENT_HELD, "{'owner':'bringup','reason':'late'}", "held by bringup: late"},
	{BU_EVENT_LEASE, "{'for':'node003'}", "used as partner for node003"},
	{BU_EVENT_CRASH, "{'kind':'Panic','digest':'e2e0'}",
	 "its kernel had crashed: Panic"},
	{BU_EVENT_CRASH, "{}", "its kernel had crashed"},
	{BU_EVENT_CERTIFICATE, "{'kind':'full'}", "full certificate"},
	{BU_EVENT_CERTIFICATE, "{'kind':'boot','digest':'...'}", "boot certificate"},
	{BU_EVENT_PAIR,
	 "{'a':'n1','b':'n2','verdict':'fail','ab_gbps':0.005,"
	 "'ba_gbps':0.019,'expect_gbps':0.016}",
	 "n1 <-> n2: fail, 0.0050 and 0.0190 Gbit/s, expected 0.0160"},
	{BU_EVENT_EPOCH, "{'epoch':7}", "epoch: epoch 7"},
	{BU_EVENT_BOOTED, "{'boot_id':'1c766a5e-4b96-4c2f-9d2e','where':'ramdisk'}",
	 "booted: boot_id 1c766a5e-4b96-4c, where ramdisk"},
	{BU_EVENT_APPLIED, "{'rollout':'r-1','commit':'','nodes':2,'wipe':true}",
	 "applied: rollout r-1, nodes 2"},
	{BU_EVENT_RELEASED, "{}", "released"},
	/* a character over the end of the cut is no half of one */
	{BU_EVENT_RELEASED, "{'by':'123456789012345\xc3\xa9'}",
	 "released: by 123456789012345"},
};

START_TEST(texts_say_what_happened)
{
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		struct bu_event event;
		bu_autofree char *text = NULL;

		row_init(&event, texts[i].kind, "n", quoted(texts[i].body));
		event.seq = 12;
		text = bu_event_text(&event);
		ck_assert_str_eq(text, texts[i].text);
		bu_event_fini(&event);
	}
}
END_TEST

START_TEST(every_kind_has_words_for_any_body)
{
	for (int i = 0; i < BU_EVENT_COUNT; i++) {
		struct bu_event event;
		bu_autojson json_t *json = NULL;

		bu_event_init(&event, (enum bu_event_kind)i, "n",
			      quoted("{'a':null,'b':[1],'reason':7,'kind':{}}"));
		json = bu_event_to_json(&event);
		ck_assert_uint_gt(strlen(bu_json_str(json, "text", "")), 0);
		bu_event_fini(&event);
	}
}
END_TEST

START_TEST(the_shape_is_what_tools_read)
{
	struct bu_event event;
	bu_autojson json_t *json = NULL, *want = NULL;

	bu_event_init(&event, BU_EVENT_LEASE, "node001",
		      quoted("{'for':'node002','probe':'p'}"));
	ck_assert_int_eq(event.seq, 0);
	event.seq = 12;
	event.time_ms = 1700000000123;
	json = bu_event_to_json(&event);
	want = quoted(
		"{'seq':12,'time_ms':1700000000123,'kind':'lease','node':'node001','text':'used "
		"as partner for node002','body':{'for':'node002','probe':'p'}}");
	ck_assert(json_equal(json, want));
	bu_event_fini(&event);
	ck_assert_ptr_null(event.body);
}
END_TEST

START_TEST(a_long_name_is_cut_not_overrun)
{
	struct bu_event event;
	char name[200];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	bu_event_init(&event, BU_EVENT_HELD, name, json_object());
	ck_assert_uint_eq(strlen(event.node), BU_NAME_MAX - 1);
	bu_event_fini(&event);
}
END_TEST

BU_UNIT("event", names_lead_back_and_are_different, an_unknown_name_changes_nothing,
	texts_say_what_happened, every_kind_has_words_for_any_body,
	the_shape_is_what_tools_read, a_long_name_is_cut_not_overrun)
