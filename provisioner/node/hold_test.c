/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a node and why it is where it is. */
#include "provisioner/node/hold.h"

#include <string.h>

#include "base/json.h"
#include "provisioner/node/verbs_rules.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

static void
replay(struct rig *rig, enum bu_event_kind kind, json_t *body)
{
	struct bu_event event;
	struct bu_err err = {0};

	row_init(&event, kind, "node001", body);
	event.seq = 1000;
	ck_assert_msg(bu_fleet_replay(rig->fleet, &event, &err) == 0, "%s", err.text);
	bu_event_fini(&event);
}

static int
incidents(const struct rig *rig, const struct bu_node *node)
{
	return json_object_get(rig->fleet->measurements.incidents, node->machine) !=
	       NULL;
}

static void
note_incident(struct rig *rig, const struct bu_node *node)
{
	json_object_set_new(rig->fleet->measurements.incidents, node->machine,
			    json_array());
}

START_TEST(the_kind_of_a_row_is_who_holds)
{
	static const struct {
		const char *body;
		enum bu_owner owner;
		const char *by;
		enum bu_reason_code code;
		const char *text;
		int is_fault, is_lemon;
	} rows[] = {
		{"{'owner':'bringup','kind':'bringup','code':'bmc-awaited'}",
		 BU_OWNER_BRINGUP, "bringup", BU_REASON_BMC_AWAITED,
		 "its BMC has not answered a command: it may still switch the machine "
		 "off, or restarts, so no job is let in and no boot begins",
		 1, 0},
		{"{'owner':'bringup','kind':'bringup','code':'lemon','args':{'times':3,"
		 "'days':30,'node':'n1','why':'a fan'}}",
		 BU_OWNER_BRINGUP, "bringup", BU_REASON_LEMON,
		 "lemon: this machine was quarantined 3 times in 30 days, last as n1: "
		 "a fan; repair it, then release it",
		 1, 1},
		{"{'owner':'external:dcgm','kind':'external','reason':'dcgm says: hot'}",
		 BU_OWNER_EXTERNAL, "external:dcgm", BU_REASON_OTHER, "dcgm says: hot",
		 0, 0},
		{"{'owner':'ann','kind':'person','reason':'DIMM A3'}", BU_OWNER_PERSON,
		 "ann", BU_REASON_OTHER, "DIMM A3", 0, 0},
		{"{'owner':'bringup','kind':'person','reason':''}", BU_OWNER_PERSON,
		 "bringup", BU_REASON_NONE, "", 0, 0},
		{"{'owner':'mars','kind':'martian','reason':'it orbits'}",
		 BU_OWNER_PERSON, "mars", BU_REASON_OTHER, "it orbits", 0, 0},
	};
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);

	rig_inspect(&rig, 1);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		note_incident(&rig, node);
		bu_node_order(node)->fault_seq = 0;
		replay(&rig, BU_EVENT_HELD, quoted(rows[i].body));
		ck_assert_int_eq(node->hold->owner, rows[i].owner);
		ck_assert_str_eq(node->hold->by, rows[i].by);
		ck_assert_int_eq(node->hold->reason.code, rows[i].code);
		rig_reason_says(&node->hold->reason, rows[i].text);
		ck_assert_int_eq(node->order->fault_seq != 0, rows[i].is_fault);
		ck_assert_int_eq(bu_verb_is_held(node),
				 rows[i].owner == BU_OWNER_PERSON);
		replay(&rig, BU_EVENT_RELEASED, quoted("{'by':'ann'}"));
		ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
		rig_reason_is(&node->hold->reason, NONE);
		ck_assert_int_eq(incidents(&rig, node), !rows[i].is_lemon);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(rows_say_why_it_is_there)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	replay(&rig, BU_EVENT_STATE,
	       quoted("{'from':'ready','to':'draining','on':'drain','reason':'drain "
		      "by ann: fan','next':{'state':'parked','by':'ann','reason':'drain "
		      "by ann: fan'}}"));
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	ck_assert_int_eq(node->next->state, BU_STATE_PARKED);
	rig_reason_is(node->reason, OTHER);
	rig_reason_says(node->reason, "drain by ann: fan");
	rig_reason_says(&node->next->reason, "drain by ann: fan");
	replay(&rig, BU_EVENT_STATE,
	       quoted("{'from':'draining','to':'parked','on':'left','reason':''}"));
	rig_reason_is(node->reason, NONE);
	rig_end(&rig);
}
END_TEST

/* Neither what a person is called nor what a person writes is taken for more. */
START_TEST(a_name_and_a_text_decide_nothing)
{
	static const char *const names[] = {"external:dcgm", "bringup"};
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);

	rig_inspect(&rig, 1);
	for (size_t i = 0; i < BU_LEN(names); i++) {
		struct bu_reason reason;
		struct bu_event event;

		note_incident(&rig, node);
		bu_node_order(node)->fault_seq = 0;
		BU_REASON_SET(&reason, PERSON, .text = {"lemon: it is sour"});
		bu_hold_event(&event, "node001", BU_OWNER_PERSON, names[i], &reason);
		replay(&rig, BU_EVENT_HELD, json_incref(event.body));
		bu_event_fini(&event);
		ck_assert_int_eq(node->hold->owner, BU_OWNER_PERSON);
		ck_assert_int_eq(bu_verb_is_held(node), 1);
		ck_assert_int_eq(node->order->fault_seq, 0);
		replay(&rig, BU_EVENT_RELEASED, quoted("{'by':'ann'}"));
		ck_assert_int_eq(incidents(&rig, node), 1);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(the_row_has_code_and_arguments)
{
	bu_autojson json_t *want = NULL;
	struct bu_reason reason;
	struct bu_event event;

	BU_REASON_SET(&reason, EXTERNAL, .text = {"dcgm", "hot"});
	bu_hold_event(&event, "node001", BU_OWNER_EXTERNAL, "dcgm", &reason);
	want = quoted("{'owner':'external:dcgm','kind':'external','code':'external',"
		      "'args':{'source':'dcgm','words':'hot'}}");
	ck_assert(json_equal(event.body, want));
	bu_event_fini(&event);
}
END_TEST

RIG_UNIT("hold", the_kind_of_a_row_is_who_holds, rows_say_why_it_is_there,
	 a_name_and_a_text_decide_nothing, the_row_has_code_and_arguments)
