/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sensors, firmware and the BMC's own restart, in trees that are made for it: each
 * report as a whole.
 */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define MANAGER "/redfish/v1/Managers/1"

/* --- sensors --- */

#define CHASSIS "/redfish/v1/Chassis/1"

START_TEST(the_lists_of_a_chassis_are_told)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_link(&rig, CHASSIS, "Thermal", CHASSIS "/Thermal");
	rig_link(&rig, CHASSIS, "Power", CHASSIS "/Power");
	rig_link(&rig, CHASSIS, "Sensors", "/not/read");
	hostile_put(rig.bmc, CHASSIS "/Thermal",
		    "{'Temperatures':[{'Name':'CPU','ReadingCelsius':40,'Reading':7,"
		    "'Status':{'Health':'OK','State':'Enabled'}}],"
		    "'Fans':[{'FanName':'Fan 1','Reading':5000},"
		    "{'MemberId':'2','Reading':30,'ReadingUnits':'Percent'}],"
		    "'Voltages':[{'Name':'not here'}]}");
	hostile_put(rig.bmc, CHASSIS "/Power",
		    "{'PowerControl':[{'Name':'All','PowerConsumedWatts':300.5}],"
		    "'Voltages':[{'Name':'12V','ReadingVolts':12}],"
		    "'PowerSupplies':[{'Name':'PSU','PowerInputWatts':null,"
		    "'Status':{'State':'Absent'}}],'Fans':[{'Name':'not here'}]}");
	rig_report(
		&rig, BU_POWER_SENSORS,
		"{'more':false,'sensors':["
		"{'name':'CPU','value':40,'unit':'C','health':'ok','state':'enabled'},"
		"{'name':'Fan 1','value':5000,'unit':'RPM','health':'','state':''},"
		"{'name':'2','value':30,'unit':'%','health':'','state':''},"
		"{'name':'All','value':300.5,'unit':'W','health':'','state':''},"
		"{'name':'12V','value':12,'unit':'V','health':'','state':''},"
		"{'name':'PSU','value':null,'unit':'W','health':'','state':'absent'}]}");
	rig_end(&rig);
}
END_TEST

/* A resource for each; a collection that says that it has more is not told whole. */
START_TEST(sensors_of_their_own_are_told)
{
	static const struct {
		int count, more;
	} rows[] = {{2, 0}, {64, 0}, {65, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *list = bu_xasprintf(
			"{'Members@odata.count':%d,'Members':[{'@odata.id':'/s/1'},"
			"{'@odata.id':'/s/2'}]}",
			rows[i].count);
		bu_autofree char *want = bu_xasprintf(
			"{'more':%s,'sensors':[{'name':'a','value':1.5,'unit':'C',"
			"'health':'','state':''},{'name':'b','value':null,'unit':'',"
			"'health':'','state':''}]}",
			rows[i].more ? "true" : "false");
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		rig_link(&rig, CHASSIS, "Sensors", "/s");
		hostile_put(rig.bmc, "/s", list);
		hostile_put(rig.bmc, "/s/1",
			    "{'Name':'a','Reading':1.5,'ReadingUnits':'Cel'}");
		hostile_put(rig.bmc, "/s/2", "{'Name':'b'}");
		rig_report(&rig, BU_POWER_SENSORS, want);
		rig_end(&rig);
	}
}
END_TEST

static void
put_many(struct rig *rig, const char *path, int count)
{
	json_t *list = json_array();
	bu_autojson json_t *object = json_pack("{s:o}", "Temperatures", list);
	bu_autofree char *text = NULL;

	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:i}", "ReadingCelsius", i));
	text = bu_json_canonical(object);
	hostile_put(rig->bmc, path, text);
}

/* chassis | sensors of each | told, more | chassis that are read */
START_TEST(so_many_sensors_are_told)
{
	static const struct {
		int chassis, each, told, more, read;
	} rows[] = {
		{1, 400, 400, 0, 1},
		{1, 401, 400, 1, 1},
		{8, 1, 8, 0, 8},
		{9, 1, 8, 1, 8},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *list = json_array();
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		for (int k = 0; k < rows[i].chassis; k++) {
			bu_autofree char *path = bu_xasprintf("/c/%d", k);

			json_array_append_new(list,
					      json_pack("{s:s}", "@odata.id", path));
			hostile_put(rig.bmc, path,
				    "{'Thermal':{'@odata.id':'/thermal'}}");
		}
		put_many(&rig, "/thermal", rows[i].each);
		hostile_set(rig.bmc, SYSTEM, "Links",
			    json_pack("{s:o}", "Chassis", list));
		rig_ok(&rig, BU_POWER_SENSORS);
		ck_assert_int_eq(
			(int)json_array_size(json_object_get(rig.report, "sensors")),
			rows[i].told);
		ck_assert_int_eq(bu_json_bool(rig.report, "more", -1), rows[i].more);
		ck_assert_int_eq(hostile_under(rig.bmc, "GET /c/"), rows[i].read);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(sensors_that_take_too_long_are_told_in_part)
{
	struct rf_times times = short_times;
	json_t *list = json_array();
	struct rig rig;
	size_t told;

	times.gap_ms = 1000;
	times.op_ms = 9000;
	times.hush_ms = times.logout_ms = times.tree_ms = 1000000;
	rig_made(&rig, "dell", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	for (int i = 0; i < 7; i++)
		json_array_append_new(list, json_pack("{s:s}", "@odata.id", "/c"));
	hostile_set(rig.bmc, SYSTEM, "Links", json_pack("{s:o}", "Chassis", list));
	hostile_put(rig.bmc, "/c", "{'Power':{'@odata.id':'/p'}}");
	hostile_put(rig.bmc, "/p", "{'Voltages':[{'Name':'v'}]}");
	rig_ok(&rig, BU_POWER_SENSORS);
	told = json_array_size(json_object_get(rig.report, "sensors"));
	ck_assert_uint_gt(told, 0);
	ck_assert_uint_lt(told, 7);
	ck_assert_int_eq(bu_json_bool(rig.report, "more", 0), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_bmc_without_sensors_says_so)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_fails(&rig, BU_POWER_SENSORS, BU_ERR_INVAL, "the BMC shows no sensors");
	/* a chassis that is elsewhere is not gone to, and keeps nobody from the next */
	hostile_set(rig.bmc, SYSTEM, "Links",
		    quoted("{'Chassis':[{'@odata.id':'http://127.0.0.2/c'},"
			   "{'@odata.id':'/c/1'}]}"));
	hostile_put(rig.bmc, "/c/1", "{'Power':{'@odata.id':'/p'}}");
	hostile_put(rig.bmc, "/p", "{'Voltages':[{'Name':'v'}]}");
	rig_report(&rig, BU_POWER_SENSORS,
		   "{'more':false,'sensors':[{'name':'v','value':null,'unit':'V',"
		   "'health':'','state':''}]}");
	rig_end(&rig);
}
END_TEST

/* --- firmware --- */

START_TEST(what_runs_is_told_and_what_lies_ready_is_not)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_fails(&rig, BU_POWER_FIRMWARE, BU_ERR_INVAL,
		  "the BMC shows no firmware versions");
	rig_link(&rig, "/redfish/v1/", "UpdateService", "/u");
	rig_fails(&rig, BU_POWER_FIRMWARE, BU_ERR_REMOTE, "/u: status 404");
	hostile_put(rig.bmc, "/u", "{'FirmwareInventory':{'@odata.id':'/f'}}");
	rig_fails(&rig, BU_POWER_FIRMWARE, BU_ERR_REMOTE, "/f: status 404");
	hostile_put(rig.bmc, "/f",
		    "{'Members@odata.count':65,'Members':[{'@odata.id':'/f/1'},"
		    "{'@odata.id':'/f/2'},{'@odata.id':'/f/3'},{'@odata.id':'/f/4'},"
		    "{'@odata.id':'/f/5'},{'@odata.id':'/f/6'}]}");
	hostile_put(rig.bmc, "/f/1", "{'Name':'BIOS','Id':'x','Version':'1.2'}");
	hostile_put(rig.bmc, "/f/2",
		    "{'Id':'CPLD','Version':'7','Status':{'State':'Enabled'}}");
	hostile_put(rig.bmc, "/f/3", "{'Version':'8'}");
	hostile_put(rig.bmc, "/f/4", "{'Name':'none','Version':''}");
	hostile_put(rig.bmc, "/f/5",
		    "{'Name':'old','Version':'1','Status':{'State':'StandbyOffline'}}");
	hostile_put(rig.bmc, "/f/6",
		    "{'Name':'new','Version':'2','Status':{'State':'StandbySpare'}}");
	rig_report(&rig, BU_POWER_FIRMWARE,
		   "{'more':true,'firmware':[{'name':'BIOS','version':'1.2'},"
		   "{'name':'CPLD','version':'7'},{'name':'/f/3','version':'8'}]}");
	hostile_set(rig.bmc, "/f", "Members@odata.count", json_integer(64));
	rig_ok(&rig, BU_POWER_FIRMWARE);
	ck_assert_int_eq(bu_json_bool(rig.report, "more", -1), 0);
	rig_end(&rig);
}
END_TEST

/* --- the BMC's own restart --- */

#define RESET MANAGER "/Actions/Manager.Reset"

/* allowed; NULL = it does not say | answer; 0 = none | what it was told */
START_TEST(a_bmc_restarts_as_it_allows)
{
	static const struct {
		const char *allowed;
		int status;
		const char *told;
		enum bu_err_kind kind;
		const char *why;
	} rows[] = {
		{NULL, 204, "ForceRestart", BU_ERR_NONE, NULL},
		{"['ForceRestart','GracefulRestart']", 204, "GracefulRestart",
		 BU_ERR_NONE, NULL},
		{"['ForceRestart']", 200, "ForceRestart", BU_ERR_NONE, NULL},
		{"['On']", 204, NULL, BU_ERR_INVAL, "allows neither"},
		/* it was gone before it could say so */
		{NULL, 0, "ForceRestart", BU_ERR_NONE, NULL},
		{NULL, 299, "ForceRestart", BU_ERR_NONE, NULL},
		{NULL, 300, "ForceRestart", BU_ERR_REMOTE, "status 300"},
		{NULL, 400, "ForceRestart", BU_ERR_REMOTE, "status 400"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *bodies = NULL, *want = NULL;
		struct rig rig;
		json_t *action = json_pack("{s:s}", "target", RESET);

		rig_begin(&rig, "dell", 0);
		if (rows[i].allowed)
			json_object_set_new(action, "ResetType@Redfish.AllowableValues",
					    quoted(rows[i].allowed));
		hostile_set(rig.bmc, MANAGER, "Actions",
			    json_pack("{s:o}", "#Manager.Reset", action));
		hostile_plan(rig.bmc, "POST", RESET, rows[i].status, NULL, 1);
		ck_assert_msg(rig_do(&rig, BU_POWER_BMC_RESET) == rows[i].kind,
			      "row %zu: %s", i, rig.err.text);
		if (rows[i].why)
			ck_assert_ptr_nonnull(strstr(rig.err.text, rows[i].why));
		bodies = hostile_bodies(rig.bmc, "POST", RESET);
		want = rows[i].told
			       ? bu_xasprintf("{\"ResetType\":\"%s\"}\n", rows[i].told)
			       : bu_xstrdup("");
		ck_assert_str_eq(bodies, want);
		rig_end(&rig);
	}
}
END_TEST

/* The one that its system names, else the first of all. */
START_TEST(a_bmc_without_a_restart_says_so)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_fails(&rig, BU_POWER_BMC_RESET, BU_ERR_INVAL,
		  "the BMC has no reset of its own");
	hostile_set(rig.bmc, SYSTEM, "Links", json_object());
	for (int empty = 0; empty < 2; empty++) {
		if (empty)
			hostile_put(rig.bmc, "/redfish/v1/Managers", "{'Members':[]}");
		rig_fails(&rig, BU_POWER_BMC_RESET, BU_ERR_REMOTE,
			  "the tree names no manager");
	}
	hostile_put(rig.bmc, "/redfish/v1/Managers",
		    "{'Members':[{'@odata.id':'/m/1'},{'@odata.id':'/m/2'}]}");
	hostile_put(rig.bmc, "/m/1",
		    "{'Actions':{'#Manager.Reset':{'target':'/m/1/Go'}}}");
	hostile_plan(rig.bmc, "POST", "/m/1/Go", 204, NULL, 1);
	rig_ok(&rig, BU_POWER_BMC_RESET);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/m/1/Go"), 1);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish reports of a tree", sensors_that_take_too_long_are_told_in_part,
	the_lists_of_a_chassis_are_told, sensors_of_their_own_are_told,
	so_many_sensors_are_told, a_bmc_without_sensors_says_so,
	what_runs_is_told_and_what_lies_ready_is_not, a_bmc_restarts_as_it_allows,
	a_bmc_without_a_restart_says_so)
