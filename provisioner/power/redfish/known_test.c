/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is learnt of a BMC: how few requests an operation takes, what is kept over
 * operations and errors, and what ends it; how long a slow BMC is waited for.
 */
#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"

/* Nothing ends before a test has seen it. */
static struct rf_times
patient(void)
{
	struct rf_times times = short_times;

	times.hush_ms = times.logout_ms = 60000;
	return times;
}

static void
expect(struct rig *rig, enum bu_power_op op, int requests, const char *when)
{
	int before = hostile_count(rig->bmc, NULL, NULL);
	int took;

	rig_ok(rig, op);
	took = hostile_count(rig->bmc, NULL, NULL) - before;
	ck_assert_msg(took == requests, "%s %d: %d requests, not %d", when, (int)op,
		      took, requests);
}

/* --- how few --- */

/* shape | requests: status at first, and again | boot at first, and again | switch at
 * first, and again. At first: the root, the session, the list, the system. */
START_TEST(an_operation_takes_no_more_requests_than_it_must)
{
	static const struct {
		const char *shape;
		int status, boot, boot_again, off, on;
	} rows[] = {
		/* the firmware of Dell's BMC decides where it is written */
		{"dell", 4, 3 + 1, 3, 1, 1},
		{"idrac10", 4, 4 + 1, 4, 1, 1},
		{"hpe", 4, 3, 3, 1, 1},
		{"lenovo", 4, 3, 3, 1, 1},
		/* what may be done is said elsewhere */
		{"supermicro", 4, 3, 3, 1 + 1, 1},
		{"dgx", 4 + 1, 4, 4, 1 + 1, 1},
		{"gb200", 4 + 1, 3, 3, 1 + 1, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_times times = patient();
		struct rig rig;

		rig_times(&rig, rows[i].shape, 0, &times);
		rig.request.first = BU_BOOT_NETWORK;
		expect(&rig, BU_POWER_STATUS, rows[i].status, rows[i].shape);
		expect(&rig, BU_POWER_STATUS, 1, rows[i].shape);
		expect(&rig, BU_POWER_BOOT_FIRST, rows[i].boot, rows[i].shape);
		expect(&rig, BU_POWER_BOOT_FIRST, rows[i].boot_again, rows[i].shape);
		expect(&rig, BU_POWER_SWITCH_OFF, rows[i].off, rows[i].shape);
		expect(&rig, BU_POWER_SWITCH_ON, rows[i].on, rows[i].shape);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_system_that_the_profile_names_is_not_looked_for)
{
	struct rf_times times = patient();
	bu_autofree char *plain = NULL;
	struct rig rig;

	rig_times(&rig, "dgx", 0, &times);
	plain = rig.url;
	rig.url = bu_xasprintf("%s/redfish/v1/Systems/DGX", plain);
	expect(&rig, BU_POWER_STATUS, 3, "named");
	rig_end(&rig);
}
END_TEST

/* What was read before the rest of the list says nothing of now. */
START_TEST(a_state_is_no_older_than_the_last_answer)
{
	struct rf_times times = patient();
	struct rig rig;

	rig_times(&rig, "dell", 0, &times);
	hostile_put(rig.bmc, "/board", "{}");
	hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
		    quoted("[{'@odata.id':'" SYSTEM "'},{'@odata.id':'/board'}]"));
	expect(&rig, BU_POWER_STATUS, 4 + 1 + 1, "first");
	expect(&rig, BU_POWER_STATUS, 1, "again");
	rig_end(&rig);
}
END_TEST

/* What is expected | what is asked besides the system: the list of its cards, and each
 * of them until one is the machine's. */
START_TEST(no_card_is_read_once_the_machine_is_known)
{
	static const struct {
		const char *serial, *uuid, *macs;
		int more;
	} rows[] = {
		{"SN123456", "", "b0:7b:25:00:00:03", 0},
		{"", "4c4c4544-0044-4810-8031-c2c04f333233", "b0:7b:25:00:00:03", 0},
		{"SN123456", "4c4c4544-0044-4810-8031-c2c04f333233", NULL, 0},
		{"", "", "b0:7b:25:00:00:01", 1 + 1},
		{"", "", "b0:7b:25:00:00:03", 1 + 3},
		/* the chassis may have that number */
		{"Other", "", NULL, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_times times = patient();
		struct bu_machine machine;
		struct rig rig;

		rig_times(&rig, "dell", 0, &times);
		rig_ok(&rig, BU_POWER_STATUS);
		bu_machine_of(rows[i].serial, rows[i].uuid, rows[i].macs, &machine);
		rig.request.machine = &machine;
		expect(&rig, BU_POWER_IDENTITY, 1 + rows[i].more, "identity");
		ck_assert_str_eq(rig.answer.machine.serial, "SN123456");
		rig_end(&rig);
	}
}
END_TEST

static void
on_performed(const json_t *reply, const struct bu_err *err, void *arg)
{
	ck_assert_msg(!err, "%s", err ? err->text : "");
	ck_assert_str_eq(bu_json_str(reply, "power", ""), "on");
	*(int *)arg = 1;
}

/* The root, the list, the system: is it on? Once more: whose is it? Three for the boot,
 * one for the switch, one to see it on: 45 s where an answer takes five. */
START_TEST(a_boot_of_a_machine_that_is_off_takes_nine_requests)
{
	bu_autojson json_t *request = NULL;
	struct rf_times times = patient();
	struct bu_performer *performer;
	struct rig rig;
	int done = 0;

	rig_times(&rig, "lenovo", HOSTILE_OPEN, &times);
	hostile_set_power(rig.bmc, "Off");
	request = json_pack("{s:s,s:s,s:s,s:{s:s,s:s,s:[s]}}", "op", "boot", "target",
			    rig.url, "first", "network", "machine", "serial",
			    "SN123456", "uuid", "", "macs", "b0:7b:25:00:00:05");
	performer = bu_performer_create(rig.loop, &bu_power_redfish, rig.driver);
	bu_perform(performer, request, on_performed, &done);
	rig_until(&rig, done);
	bu_performer_destroy(performer);
	ck_assert_int_eq(hostile_count(rig.bmc, NULL, NULL), 9);
	rig_end(&rig);
}
END_TEST

/* --- what is kept --- */

START_TEST(what_was_learnt_outlives_errors)
{
	static const int statuses[] = {500, 503, 0, 403, 429};

	for (size_t i = 0; i < BU_LEN(statuses); i++) {
		struct rf_times times = patient();
		struct rig rig;

		rig_times(&rig, "supermicro", 0, &times);
		rig_ok(&rig, BU_POWER_STATUS);
		rig_ok(&rig, BU_POWER_SWITCH_OFF);
		hostile_plan(rig.bmc, "GET", "/Systems/1", statuses[i], NULL, 9);
		ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
		hostile_plan(rig.bmc, "POST", ".Reset", 503, NULL, 99);
		ck_assert_int_ne(rig_do(&rig, BU_POWER_SWITCH_ON), BU_ERR_NONE);
		hostile_unplan(rig.bmc);
		expect(&rig, BU_POWER_STATUS, 1, "after an error");
		expect(&rig, BU_POWER_SWITCH_ON, 1, "after an error");
		rig_end(&rig);
	}
}
END_TEST

/* Each try gets further, though none lasts as long as the search. */
START_TEST(a_search_that_ran_out_of_time_is_gone_on_with)
{
	json_t *list = json_array();
	struct rf_times times = patient();
	struct rig rig;
	int tries = 0;

	times.op_ms = 500;
	rig_times(&rig, "dell", 0, &times);
	for (int i = 0; i < 24; i++) {
		bu_autofree char *path = bu_xasprintf("/boards/%d", i);

		json_array_append_new(list, json_pack("{s:s}", "@odata.id", path));
		hostile_put(rig.bmc, path, "{}");
	}
	json_array_append_new(list, json_pack("{s:s}", "@odata.id", SYSTEM));
	hostile_set(rig.bmc, "/redfish/v1/Systems", "Members", list);
	hostile_delay(rig.bmc, 50);
	while (tries < 24 && rig_do(&rig, BU_POWER_STATUS) != BU_ERR_NONE) {
		ck_assert_msg(rig.err.kind == BU_ERR_TIMEOUT, "%s", rig.err.text);
		tries++;
	}
	ck_assert_int_gt(tries, 0);
	ck_assert_int_eq(rig.err.kind, BU_ERR_NONE);
	/* one that was under way when the time was over is asked for again */
	ck_assert_int_le(hostile_under(rig.bmc, "GET /boards/"), 24 + tries);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 1);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/redfish/v1/"), 1);
	rig_end(&rig);
}
END_TEST

/* --- what ends it --- */

START_TEST(a_system_that_is_gone_is_looked_for_at_once)
{
	static const int statuses[] = {404, 410};

	for (size_t i = 0; i < BU_LEN(statuses); i++) {
		struct rf_times times = patient();
		bu_autojson json_t *system = NULL;
		struct rig rig;

		rig_times(&rig, "dell", 0, &times);
		rig_ok(&rig, BU_POWER_STATUS);
		system = json_deep_copy(hostile_object(rig.bmc, SYSTEM));
		hostile_move(rig.bmc, system, "/redfish/v1/Systems/Self");
		hostile_set_power(rig.bmc, "Off");
		hostile_plan(rig.bmc, "GET", SYSTEM, statuses[i], NULL, 99);
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Systems/Self"), 1);
		expect(&rig, BU_POWER_STATUS, 1, "found");
		rig_end(&rig);
	}
}
END_TEST

/* An action that is not there was not done: it is looked for, and asked for again. */
START_TEST(a_reset_that_is_gone_is_looked_for_once)
{
	static const char *const there = SYSTEM "/Actions/Reset";
	struct rf_times times = patient();
	json_t *action;
	struct rig rig;

	rig_times(&rig, "dell", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	action = json_object_get(hostile_object(rig.bmc, SYSTEM), "Actions");
	json_object_set_new(json_object_get(action, "#ComputerSystem.Reset"), "target",
			    json_string(there));
	hostile_plan(rig.bmc, "POST", "/ComputerSystem.Reset", 404, NULL, 99);
	hostile_plan(rig.bmc, "POST", there, 204, NULL, 1);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/ComputerSystem.Reset"), 1);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", there), 1);
	/* and not for ever */
	hostile_plan(rig.bmc, "POST", there, 404, NULL, 99);
	rig_fails(&rig, BU_POWER_SWITCH_ON, BU_ERR_REMOTE, "status 404");
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", there), 3);
	rig_end(&rig);
}
END_TEST

/* The BMC, or its board, was exchanged: another allows something else. */
START_TEST(another_machine_at_the_same_path_is_learnt_anew)
{
	static const struct {
		const char *key, *value;
		int another;
	} rows[] = {
		{"UUID", "5D5D4544-0044-4810-8031-C2C04F333233", 1},
		{"SerialNumber", "SN999", 1},
		{"UUID", "4c4c4544-0044-4810-8031-c2c04f333233", 0},
		{"UUID", "00000000-0000-0000-0000-000000000000", 0},
		{"SerialNumber", "", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_times times = patient();
		struct rig rig;

		rig_times(&rig, "supermicro", 0, &times);
		rig_ok(&rig, BU_POWER_STATUS);
		rig_ok(&rig, BU_POWER_SWITCH_OFF);
		hostile_set(rig.bmc, "/redfish/v1/Systems/1", rows[i].key,
			    json_string(rows[i].value));
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Systems"),
				 1 + rows[i].another);
		rig_ok(&rig, BU_POWER_SWITCH_ON);
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/ResetActionInfo"),
				 1 + rows[i].another);
		rig_end(&rig);
	}
}
END_TEST

/* What a machine allows is asked for again once it refused something. */
START_TEST(a_change_that_is_refused_casts_doubt_on_what_is_allowed)
{
	struct rf_times times = patient();
	struct rig rig;

	rig_times(&rig, "supermicro", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_plan(rig.bmc, "POST", ".Reset", 400, NULL, 1);
	rig_fails(&rig, BU_POWER_SWITCH_OFF, BU_ERR_REMOTE, "status 400");
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/ResetActionInfo"), 2);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Systems"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(what_was_learnt_is_looked_up_again_after_a_while)
{
	struct rf_times times = short_times;
	struct rig rig;

	times.tree_ms = 100000;
	times.op_ms = times.hush_ms = times.logout_ms = 10000000;
	rig_made(&rig, "dell", 0, &times);
	for (int i = 0; i < 3; i++)
		rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Systems"), 1);
	bu_clock_advance(&rig.clock, 100000);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Systems"), 2);
	rig_end(&rig);
}
END_TEST

/* Each machine of a BMC has a path of its own; a BMC that was exchanged has none of
 * them. */
START_TEST(each_machine_of_a_bmc_is_known_by_itself)
{
	bu_autofree char *plain = NULL;
	const struct rf_tree *tree;
	struct rf_times times = patient();
	struct rig rig;

	rig_times(&rig, "dell", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	plain = rig.url;
	rig.url = bu_xasprintf("%s" SYSTEM, plain);
	expect(&rig, BU_POWER_STATUS, 1, "named");
	expect(&rig, BU_POWER_STATUS, 1, "named");
	tree = ((struct rf_driver *)rig.driver)->bmcs->trees;
	ck_assert_str_eq(tree->wanted, SYSTEM);
	ck_assert_str_eq(tree->next->wanted, "");
	ck_assert_ptr_null(tree->next->next);
	hostile_set(rig.bmc, SYSTEM, "SerialNumber", json_string("SN999"));
	rig_ok(&rig, BU_POWER_STATUS);
	free(rig.url);
	rig.url = bu_steal(&plain);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Systems"), 2);
	rig_end(&rig);
}
END_TEST

/* --- how long --- */

/* Each answer takes so long | is there an end to it: an operation of four answers has
 * twelve of them, within bounds. */
START_TEST(an_operation_lasts_as_long_as_its_bmc_needs)
{
	static const struct {
		int most_ms;
		enum bu_err_kind kind;
	} rows[] = {{0, BU_ERR_TIMEOUT}, {5000, BU_ERR_NONE}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_times times = patient();
		struct rig rig;

		times.op_ms = times.request_ms = 600;
		times.op_most_ms = times.request_most_ms = rows[i].most_ms;
		rig_times(&rig, "dell", 0, &times);
		hostile_delay(rig.bmc, 200);
		ck_assert_msg(rig_do(&rig, BU_POWER_STATUS) == rows[i].kind, "%s",
			      rig.err.text);
		hostile_delay(rig.bmc, 0);
		rig_end(&rig);
	}
}
END_TEST

/* A request that ran out of time says how slow the BMC is; one that is fast again is
 * not waited for so long. */
START_TEST(one_request_lasts_as_long_as_those_before)
{
	struct rf_times times = patient();
	struct rf_driver *driver;
	struct rf_op op = {0};
	struct rig rig;
	int tries = 0;

	times.op_ms = 9000;
	times.request_ms = 300;
	times.request_most_ms = 4000;
	times.connect_ms = 100;
	rig_times(&rig, "dell", 0, &times);
	driver = rig.driver;
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_delay(rig.bmc, 1000);
	while (rig_do(&rig, BU_POWER_STATUS) != BU_ERR_NONE) {
		ck_assert_int_eq(rig.err.kind, BU_ERR_TIMEOUT);
		ck_assert_int_lt(++tries, 4);
	}
	ck_assert_int_gt(tries, 0);
	op.driver = driver;
	op.bmc = driver->bmcs;
	ck_assert_int_ge(rf_pace_request_ms(&op), 3 * 1000);
	ck_assert_int_le(rf_pace_request_ms(&op), 4000);
	hostile_delay(rig.bmc, 0);
	for (int i = 0; i < 20; i++)
		rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_lt(rf_pace_request_ms(&op), 3 * 1000);
	rig_end(&rig);
}
END_TEST

/* Root, log-in, list and system take all of the time: the switch is left to the next
 * try, for its answer would be lost. */
START_TEST(a_switch_is_not_sent_when_its_answer_would_come_too_late)
{
	struct rf_times times = patient();
	struct rig rig;

	times.op_ms = 2200;
	rig_times(&rig, "dell", 0, &times);
	hostile_delay(rig.bmc, 500);
	rig_fails(&rig, BU_POWER_SWITCH_OFF, BU_ERR_REMOTE,
		  ".Reset was not sent: an answer takes ");
	ck_assert_str_eq(hostile_power(rig.bmc), "On");
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 0);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 1);
	hostile_delay(rig.bmc, 0);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish known", an_operation_takes_no_more_requests_than_it_must,
	a_system_that_the_profile_names_is_not_looked_for,
	a_state_is_no_older_than_the_last_answer,
	no_card_is_read_once_the_machine_is_known,
	a_boot_of_a_machine_that_is_off_takes_nine_requests,
	what_was_learnt_outlives_errors, a_search_that_ran_out_of_time_is_gone_on_with,
	a_system_that_is_gone_is_looked_for_at_once,
	a_reset_that_is_gone_is_looked_for_once,
	another_machine_at_the_same_path_is_learnt_anew,
	a_change_that_is_refused_casts_doubt_on_what_is_allowed,
	what_was_learnt_is_looked_up_again_after_a_while,
	each_machine_of_a_bmc_is_known_by_itself,
	an_operation_lasts_as_long_as_its_bmc_needs,
	one_request_lasts_as_long_as_those_before,
	a_switch_is_not_sent_when_its_answer_would_come_too_late)
