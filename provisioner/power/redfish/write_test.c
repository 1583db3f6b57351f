/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is written to a BMC: in which words, how often, with which ETags, and when its
 * answer is believed.
 */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define TASK "/redfish/v1/TaskService/Tasks/1"

/* --- tasks --- */

/* state, or the task's status | ends so | looks */
START_TEST(a_task_is_read_until_it_does_not_move)
{
	static const struct {
		int status;
		const char *body;
		enum bu_err_kind kind;
		int looks;
	} rows[] = {
		{200, "{'TaskState':'Completed'}", BU_ERR_NONE, 1},
		{200, "{}", BU_ERR_NONE, 1},
		{204, "{}", BU_ERR_NONE, 1},
		/* it may wait for the reset itself */
		{200, "{'TaskState':'Suspended'}", BU_ERR_NONE, 1},
		{200, "{'TaskState':'New'}", BU_ERR_NONE, 20},
		{200, "{'TaskState':'Starting'}", BU_ERR_NONE, 20},
		{200, "{'TaskState':'Running'}", BU_ERR_NONE, 20},
		{202, "{}", BU_ERR_NONE, 20},
		{200, "{'TaskState':'Killed'}", BU_ERR_REMOTE, 1},
		{200, "{'TaskState':'Cancelled'}", BU_ERR_REMOTE, 1},
		{202, "{'TaskState':'Exception'}", BU_ERR_REMOTE, 1},
		{399, "{}", BU_ERR_NONE, 1},
		{400, "{}", BU_ERR_REMOTE, 1},
		{404, "{}", BU_ERR_NONE, 1},
		{410, "{}", BU_ERR_NONE, 1},
		{411, "{}", BU_ERR_REMOTE, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", HOSTILE_TASKS | HOSTILE_LIES);
		hostile_answer(
			rig.bmc, "GET", "/Tasks/1",
			&(struct hostile_answer){rows[i].status, rows[i].body, NULL},
			99);
		ck_assert_msg(rig_do(&rig, BU_POWER_SWITCH_OFF) == rows[i].kind,
			      "row %zu: %s", i, rig.err.text);
		ck_assert_msg(
			hostile_count(rig.bmc, "GET", "/Tasks/1") == rows[i].looks,
			"row %zu: %d", i, hostile_count(rig.bmc, "GET", "/Tasks/1"));
		if (rows[i].kind)
			ck_assert_msg(strstr(rig.err.text, "/Tasks/1") != NULL, "%s",
				      rig.err.text);
		/* of a change, likewise */
		rig.request.first = BU_BOOT_NETWORK;
		if (rows[i].kind)
			ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST),
					 BU_ERR_REMOTE);
		rig_end(&rig);
	}
}
END_TEST

/* Between two looks, and from the command to the first one. */
START_TEST(a_task_has_time_to_move)
{
	struct rf_times times = short_times;
	int64_t before_ms;
	struct rig rig;

	times.settle_ms = 5000;
	times.op_ms = 1000000;
	rig_made(&rig, "dell", HOSTILE_TASKS, &times);
	before_ms = bu_loop_now_ms(rig.loop);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_int_ge(bu_loop_now_ms(rig.loop) - before_ms, 3 * 5000);
	rig_end(&rig);
}
END_TEST

/* Taken, and no place to look: reading back decides. */
START_TEST(a_task_without_a_name_is_taken)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_answer(rig.bmc, "POST", ".Reset",
		       &(struct hostile_answer){202, NULL, NULL}, 1);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 1);
	rig_end(&rig);
}
END_TEST

/* --- ETags --- */

#define E "\"e1\""

/* given | what was sent for it, one after the other, to a BMC that takes none of it */
START_TEST(each_spelling_of_an_etag_is_tried_once)
{
	static const struct {
		const char *shape;
		int habits;
		const char *inside; /* in the object instead of the header */
		const char *matches;
	} rows[] = {
		{"idrac10", HOSTILE_NO_ETAG, NULL, "\"e1\", W/\"e1\", -"},
		{"hpe", HOSTILE_NO_ETAG, NULL, "W/\"e1\", \"e1\", -"},
		/* changes each time: the first change is another's, and counts as none
		 */
		{"idrac10", HOSTILE_NEW_ETAGS, NULL, "\"e1\", \"e2\", W/\"e3\", -, *"},
		{"hpe", HOSTILE_NEW_ETAGS | HOSTILE_GZIP_ETAG, NULL,
		 "\"e1-gzip\", \"e2-gzip\", W/\"e3-gzip\", \"e4\", -, *"},
		{"idrac10", HOSTILE_NEW_ETAGS | HOSTILE_BARE_ETAG, NULL,
		 "e1, e2, W/e3, \"e4\", -, *"},
		{"dell", HOSTILE_NEW_ETAGS, NULL, "-, *"},
		{"dell", HOSTILE_NEEDS_ETAG, NULL, "-, *"},
		{"dell", HOSTILE_NEEDS_ETAG, "\"e1\"", "\"e1\""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *matches = NULL;
		struct rig rig;

		rig_begin(&rig, rows[i].shape, rows[i].habits);
		if (rows[i].inside)
			hostile_set(rig.bmc, SYSTEM, "@odata.etag",
				    json_string(rows[i].inside));
		rig.request.first = BU_BOOT_NETWORK;
		/* of those that take none: one body, one place */
		rig_do(&rig, BU_POWER_BOOT_FIRST);
		matches = hostile_matches(rig.bmc, "PATCH");
		ck_assert_msg(
			strncmp(matches, rows[i].matches, strlen(rows[i].matches)) == 0,
			"row %zu: %s", i, matches);
		if (!(rows[i].habits & HOSTILE_NEW_ETAGS))
			ck_assert_str_eq(matches, rows[i].matches);
		rig_end(&rig);
	}
}
END_TEST

/* Inside an object: as long as one in a header. */
START_TEST(an_etag_that_is_too_long_is_none)
{
	for (int size = RF_ETAG_SIZE - 1; size <= RF_ETAG_SIZE; size++) {
		bu_autofree char *matches = NULL;
		char etag[RF_ETAG_SIZE + 1];
		struct rig rig;

		memset(etag, 'e', sizeof(etag));
		etag[size] = '\0';
		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, SYSTEM, "@odata.etag", json_string(etag));
		rig.request.first = BU_BOOT_NETWORK;
		rig_ok(&rig, BU_POWER_BOOT_FIRST);
		matches = hostile_matches(rig.bmc, "PATCH");
		ck_assert_str_eq(matches, size < RF_ETAG_SIZE ? etag : "-");
		rig_end(&rig);
	}
}
END_TEST

/* --- refusals --- */

/* status, message | tries | kind: one that is refused for now is written again, one
 * that may not be written is not said otherwise, and no more. */
START_TEST(a_change_is_refused_for_now_or_for_good)
{
	static const struct {
		int status;
		const char *message;
		int tries;
	} rows[] = {
		{409, NULL, 4},
		{429, NULL, 4 * 4}, /* asked again by each of them */
		{503, NULL, 4 * 4},
		{400, "UnableToModifyDuringSystemPOST", 4},
		{400, "SYS518", 4},
		{403, NULL, 1},
		{400, NULL, 2}, /* with the mode and without */
		{402, NULL, 2},
		{300, NULL, 2},
		{500, NULL, 2},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_plan(rig.bmc, "PATCH", "", rows[i].status, rows[i].message, 99);
		rig.request.first = BU_BOOT_NETWORK;
		ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
		ck_assert_msg(hostile_count(rig.bmc, "PATCH", "") == rows[i].tries,
			      "%d %s: %d", rows[i].status, rows[i].message,
			      hostile_count(rig.bmc, "PATCH", ""));
		rig_end(&rig);
	}
}
END_TEST

/* Longer each time. */
START_TEST(a_change_that_is_refused_for_now_waits_longer_each_time)
{
	struct rf_times times = short_times;
	int64_t before_ms;
	struct rig rig;

	times.again_ms = 1000;
	times.op_ms = times.hush_ms = 1000000;
	rig_made(&rig, "dell", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_plan(rig.bmc, "PATCH", "", 409, NULL, 99);
	before_ms = bu_loop_now_ms(rig.loop);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
	ck_assert_int_ge(bu_loop_now_ms(rig.loop) - before_ms, 1000 + 2000 + 4000);
	rig_end(&rig);
}
END_TEST

/* status, message | tries of a switch */
START_TEST(an_action_is_refused_for_now_or_for_good)
{
	static const struct {
		int status;
		const char *message;
		int tries;
		enum bu_err_kind kind;
	} rows[] = {
		{200, NULL, 1, BU_ERR_NONE},   {204, NULL, 1, BU_ERR_NONE},
		{299, NULL, 1, BU_ERR_NONE},   {300, NULL, 1, BU_ERR_REMOTE},
		{400, NULL, 1, BU_ERR_REMOTE}, {400, "SYS518", 4, BU_ERR_REMOTE},
		{409, NULL, 4, BU_ERR_REMOTE}, {429, NULL, 4, BU_ERR_REMOTE},
		{499, NULL, 1, BU_ERR_REMOTE}, {500, NULL, 4, BU_ERR_REMOTE},
		{503, NULL, 4, BU_ERR_REMOTE},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_plan(rig.bmc, "POST", ".Reset", rows[i].status, rows[i].message,
			     99);
		ck_assert_msg(rig_do(&rig, BU_POWER_SWITCH_OFF) == rows[i].kind,
			      "row %zu: %s", i, rig.err.text);
		ck_assert_msg(hostile_count(rig.bmc, "POST", ".Reset") == rows[i].tries,
			      "row %zu: %d", i,
			      hostile_count(rig.bmc, "POST", ".Reset"));
		rig_end(&rig);
	}
}
END_TEST

/* on or off | allowed | what is said, or why nothing is */
START_TEST(a_switch_is_one_that_the_machine_allows)
{
	static const struct {
		enum bu_power_op op;
		const char *allowed, *body, *why;
	} rows[] = {
		{BU_POWER_SWITCH_ON, "['ForceOn','On']", "{\"ResetType\":\"On\"}\n",
		 NULL},
		{BU_POWER_SWITCH_ON, "['ForceOn','ForceOff']",
		 "{\"ResetType\":\"ForceOn\"}\n", NULL},
		{BU_POWER_SWITCH_ON, "['ForceOff']", "",
		 "the machine allows [\"ForceOff\"], and no On"},
		{BU_POWER_SWITCH_OFF, "['ForceOff']", "{\"ResetType\":\"ForceOff\"}\n",
		 NULL},
		{BU_POWER_SWITCH_OFF, "['On','ForceOn']", "",
		 "the machine allows [\"On\",\"ForceOn\"], and no ForceOff"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *action = json_pack("{s:s}", "target", "/go.Reset");
		bu_autofree char *bodies = NULL;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		json_object_set_new(action, "ResetType@Redfish.AllowableValues",
				    quoted(rows[i].allowed));
		hostile_set(rig.bmc, SYSTEM, "Actions",
			    json_pack("{s:o}", "#ComputerSystem.Reset", action));
		hostile_plan(rig.bmc, "POST", "/go.Reset", 204, NULL, 1);
		if (rows[i].why)
			rig_fails(&rig, rows[i].op, BU_ERR_REMOTE, rows[i].why);
		else
			rig_ok(&rig, rows[i].op);
		bodies = hostile_bodies(rig.bmc, "POST", ".Reset");
		ck_assert_str_eq(bodies, rows[i].body);
		rig_end(&rig);
	}
}
END_TEST

/* --- the ways to write a boot --- */

#define WITH(target, enabled, mode)                                                    \
	"{\"Boot\":{\"BootSourceOverrideEnabled\":\"" enabled                          \
	"\",\"BootSourceOverrideMode\":\"" mode                                        \
	"\",\"BootSourceOverrideTarget\":\"" target "\"}}\n"
#define BARE(target, enabled)                                                          \
	"{\"Boot\":{\"BootSourceOverrideEnabled\":\"" enabled                          \
	"\",\"BootSourceOverrideTarget\":\"" target "\"}}\n"
#define OFF "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Disabled\"}}\n"

/* All bodies in their order, to a BMC that takes none of them: at its system, then at
 * its settings object, or the other way round. */
START_TEST(a_boot_is_written_in_each_way_at_each_place)
{
	static const struct {
		const char *shape;
		enum bu_boot_first first;
		const char *system, *settings; /* NULL: nothing is written there */
	} rows[] = {
		{"dell", BU_BOOT_NETWORK,
		 WITH("Pxe", "Once", "UEFI") BARE("Pxe", "Once"), NULL},
		{"dell", BU_BOOT_DISK, WITH("Hdd", "Once", "UEFI") BARE("Hdd", "Once"),
		 NULL},
		{"hpe", BU_BOOT_NETWORK,
		 BARE("Pxe", "Once") WITH("Pxe", "Once", "UEFI"), NULL},
		{"lenovo", BU_BOOT_DISK,
		 WITH("None", "Disabled", "UEFI") BARE("None", "Disabled") OFF,
		 WITH("None", "Disabled", "UEFI") BARE("None", "Disabled") OFF},
		{"dgx", BU_BOOT_NETWORK,
		 WITH("Pxe", "Once", "UEFI") BARE("Pxe", "Once"),
		 WITH("Pxe", "Once", "UEFI") BARE("Pxe", "Once")},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct hostile_shape *shape = hostile_shape(rows[i].shape);
		bu_autofree char *system = NULL, *settings = NULL;
		struct rig rig;

		rig_begin(&rig, rows[i].shape, 0);
		hostile_plan(rig.bmc, "PATCH", "", 400, NULL, 99);
		rig.request.first = rows[i].first;
		ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
		system = hostile_bodies(rig.bmc, "PATCH", shape->system);
		ck_assert_str_eq(system, rows[i].system);
		settings = hostile_bodies(rig.bmc, "PATCH",
					  shape->settings ? shape->settings : "none");
		ck_assert_str_eq(settings, rows[i].settings ? rows[i].settings : "");
		rig_end(&rig);
	}
}
END_TEST

/* Where none refuses Disabled, HPE's target stays as it is. */
START_TEST(an_override_that_is_kept_is_disabled_in_two_ways)
{
	bu_autofree char *bodies = NULL;
	struct rig rig;

	rig_begin(&rig, "hpe", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/1", "Boot",
		    quoted("{'BootSourceOverrideTarget':'Pxe',"
			   "'BootSourceOverrideEnabled':'Once',"
			   "'BootSourceOverrideMode':'UEFI',"
			   "'BootSourceOverrideTarget@Redfish.AllowableValues':"
			   "['None','Pxe']}"));
	hostile_plan(rig.bmc, "PATCH", "", 400, NULL, 99);
	rig.request.first = BU_BOOT_DISK;
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
	bodies = hostile_bodies(rig.bmc, "PATCH", "/1");
	ck_assert_str_eq(bodies, BARE("Pxe", "Disabled") OFF);
	rig_end(&rig);
}
END_TEST

/* asked for | allowed | written; or why not */
START_TEST(a_target_is_one_that_the_machine_allows)
{
	static const struct {
		enum bu_boot_first first;
		const char *allowed; /* JSON; NULL = it does not say */
		const char *body, *why;
	} rows[] = {
		{BU_BOOT_NETWORK, NULL, BARE("Pxe", "Once"), NULL},
		{BU_BOOT_NETWORK, "['UefiHttp','Pxe']", BARE("Pxe", "Once"), NULL},
		{BU_BOOT_NETWORK, "['UefiHttp']", BARE("UefiHttp", "Once"), NULL},
		{BU_BOOT_NETWORK, "['Hdd']", NULL,
		 "no boot from the network; it allows [\"Hdd\"]"},
		{BU_BOOT_DISK, NULL, BARE("Hdd", "Once"), NULL},
		{BU_BOOT_DISK, "['Pxe']", BARE("None", "Disabled"), NULL},
		{BU_BOOT_MEDIA, NULL, BARE("Cd", "Once"), NULL},
		{BU_BOOT_MEDIA, "['Cd','UsbCd']", BARE("UsbCd", "Once"), NULL},
		{BU_BOOT_MEDIA, "['Cd']", BARE("Cd", "Once"), NULL},
		{BU_BOOT_MEDIA, "['Pxe']", NULL,
		 "no boot from a CD; it allows [\"Pxe\"]"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *boot = json_object();
		bu_autofree char *body = NULL;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		if (rows[i].allowed)
			json_object_set_new(
				boot,
				"BootSourceOverrideTarget@Redfish.AllowableValues",
				quoted(rows[i].allowed));
		hostile_set(rig.bmc, SYSTEM, "Boot", boot);
		rig.request.first = rows[i].first;
		ck_assert_msg(rig_do(&rig, BU_POWER_BOOT_FIRST) ==
				      (rows[i].why ? BU_ERR_REMOTE : BU_ERR_NONE),
			      "row %zu: %s", i, rig.err.text);
		body = hostile_bodies(rig.bmc, "PATCH", SYSTEM);
		ck_assert_str_eq(body, rows[i].body ? rows[i].body : "");
		if (rows[i].why)
			ck_assert_msg(strstr(rig.err.text, rows[i].why) != NULL, "%s",
				      rig.err.text);
		rig_end(&rig);
	}
}
END_TEST

/* --- reading back --- */

/* What the BMC shows after it took "Pxe Once UEFI" (or the disk by no override) | does
 * that do? Else it is said. */
START_TEST(a_boot_is_believed_when_it_shows)
{
	static const struct {
		enum bu_boot_first first;
		const char *shows;
		int does;
		const char *says;
	} rows[] = {
		{BU_BOOT_NETWORK, "'Pxe','Once','UEFI'", 1, NULL},
		{BU_BOOT_NETWORK, "'Pxe','Once','uefi'", 1, NULL},
		{BU_BOOT_NETWORK, "'Pxe','Continuous','UEFI'", 1, NULL},
		{BU_BOOT_NETWORK, "'Pxe','Disabled','UEFI'", 0,
		 "took Once, shows Disabled"},
		{BU_BOOT_NETWORK, "'Hdd','Once','UEFI'", 0, "took Pxe, shows Hdd"},
		{BU_BOOT_NETWORK, "'Pxe','Once','Legacy'", 0,
		 "took UEFI, shows Legacy"},
		{BU_BOOT_NETWORK, "'Pxe','Once',''", 1, NULL},
		{BU_BOOT_NETWORK, "'Hdd','Once',''", 0, "took Pxe, shows Hdd"},
		{BU_BOOT_DISK, "'None','Once','UEFI'", 1, NULL},
		{BU_BOOT_DISK, "'Pxe','Disabled','UEFI'", 1, NULL},
		{BU_BOOT_DISK, "'Pxe','Once','UEFI'", 0, "took Disabled, shows Once"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *list = bu_xasprintf("[%s]", rows[i].shows);
		bu_autojson json_t *shows = quoted(list);
		struct rig rig;
		json_t *boot =
			quoted("{'BootSourceOverrideTarget@Redfish.AllowableValues':"
			       "['None','Pxe']}");

		rig_begin(&rig, "dell", HOSTILE_DROPS_BOOT);
		json_object_set(boot, "BootSourceOverrideTarget",
				json_array_get(shows, 0));
		json_object_set(boot, "BootSourceOverrideEnabled",
				json_array_get(shows, 1));
		json_object_set(boot, "BootSourceOverrideMode",
				json_array_get(shows, 2));
		hostile_set(rig.bmc, SYSTEM, "Boot", boot);
		rig.request.first = rows[i].first;
		rig.request.mode = BU_BOOT_MODE_UEFI;
		ck_assert_msg(rig_do(&rig, BU_POWER_BOOT_FIRST) ==
				      (rows[i].does ? BU_ERR_NONE : BU_ERR_VERIFY),
			      "row %zu: %s", i, rig.err.text);
		if (rows[i].says)
			ck_assert_msg(strstr(rig.err.text, rows[i].says) != NULL, "%s",
				      rig.err.text);
		rig_end(&rig);
	}
}
END_TEST

/* Three times for each of two ways, with a pause behind each. */
START_TEST(what_does_not_show_is_looked_for_three_times)
{
	struct rf_times times = short_times;
	int64_t before_ms;
	struct rig rig;
	int looks;

	times.settle_ms = 1000;
	times.op_ms = times.hush_ms = 1000000;
	rig_made(&rig, "dell", HOSTILE_DROPS_BOOT, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	looks = hostile_count(rig.bmc, "GET", SYSTEM);
	before_ms = bu_loop_now_ms(rig.loop);
	rig.request.first = BU_BOOT_NETWORK;
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_VERIFY);
	/* what there was, whose ETag serves, and for each way three looks */
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", SYSTEM) - looks, 1 + 2 * 3);
	ck_assert_int_ge(bu_loop_now_ms(rig.loop) - before_ms, 6000);
	rig_end(&rig);
}
END_TEST

/* Written for the next start, it may show at the system alone; or at neither. */
START_TEST(what_is_written_for_later_shows_at_either_place)
{
	struct rig rig;
	int looks;

	rig_begin(&rig, "dgx", HOSTILE_DROPS_BOOT);
	hostile_set(rig.bmc, "/redfish/v1/Systems/DGX", "Boot",
		    quoted("{'BootSourceOverrideTarget':'Pxe',"
			   "'BootSourceOverrideEnabled':'Once'}"));
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", ""), 1);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", "/SD"), 1);
	looks = hostile_count(rig.bmc, "GET", "/Systems/DGX");
	hostile_put(rig.bmc, "/redfish/v1/Systems/DGX",
		    "{'@Redfish.Settings':{'SettingsObject':"
		    "{'@odata.id':'/redfish/v1/Systems/DGX/SD'}}}");
	hostile_put(rig.bmc, "/redfish/v1/Systems/DGX/SD", "{}");
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_VERIFY);
	ck_assert_int_gt(hostile_count(rig.bmc, "GET", "/Systems/DGX"), looks + 3);
	ck_assert_msg(strstr(rig.err.text, "/DGX/SD: took Pxe, shows nothing"), "%s",
		      rig.err.text);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish writes", an_etag_that_is_too_long_is_none,
	a_switch_is_one_that_the_machine_allows, a_task_is_read_until_it_does_not_move,
	a_task_has_time_to_move, a_task_without_a_name_is_taken,
	each_spelling_of_an_etag_is_tried_once, a_change_is_refused_for_now_or_for_good,
	a_change_that_is_refused_for_now_waits_longer_each_time,
	an_action_is_refused_for_now_or_for_good,
	a_boot_is_written_in_each_way_at_each_place,
	an_override_that_is_kept_is_disabled_in_two_ways,
	a_target_is_one_that_the_machine_allows, a_boot_is_believed_when_it_shows,
	what_does_not_show_is_looked_for_three_times,
	what_is_written_for_later_shows_at_either_place)
