/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power, identity and the tree: the driver against fake BMCs in the shapes of six
 * vendors, and against those that lie, hang and lead astray.
 */
#include <sys/resource.h>

#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/port.h"
#include "tests/support/redfish.h"

START_TEST(every_tree_is_read)
{
	for (const struct hostile_shape *shape = hostile_shapes; shape->name; shape++) {
		struct rig rig;
		size_t macs = shape->interfaces ? (size_t)shape->interfaces : 2;

		rig_begin(&rig, shape->name, 0);
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_msg(rig.answer.state == BU_POWER_ON, "%s", shape->name);
		rig_ok(&rig, BU_POWER_SWITCH_OFF);
		ck_assert_str_eq(hostile_power(rig.bmc), "Off");
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_int_eq(rig.answer.state, BU_POWER_OFF);
		rig_ok(&rig, BU_POWER_SWITCH_ON);
		ck_assert_str_eq(hostile_power(rig.bmc), "On");
		rig_ok(&rig, BU_POWER_IDENTITY);
		ck_assert_str_eq(rig.answer.machine.serial, "SN123456");
		ck_assert_str_eq(rig.answer.machine.uuid,
				 "4C4C4544-0044-4810-8031-C2C04F333233");
		ck_assert_msg(rig.answer.machine.macs_count == macs, "%s: %zu MACs",
			      shape->name, rig.answer.machine.macs_count);
		ck_assert_int_eq(hostile_most(rig.bmc), 1);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(macs_come_from_the_cards)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_EMPTY_NICS);
	rig_ok(&rig, BU_POWER_IDENTITY);
	ck_assert_uint_eq(rig.answer.machine.macs_count, 2);
	ck_assert_str_eq(rig.answer.machine.macs[0], "a0:88:c2:00:00:01");
	ck_assert_str_eq(rig.answer.machine.macs[1], "a0:88:c2:00:00:02");
	rig_end(&rig);
}
END_TEST

START_TEST(what_is_not_surely_off_is_unknown)
{
	static const struct {
		const char *says;
		enum bu_power_state state;
	} rows[] = {
		{"On", BU_POWER_ON},
		{"Off", BU_POWER_OFF},
		{"PoweringOn", BU_POWER_UNKNOWN},
		{"PoweringOff", BU_POWER_UNKNOWN},
		{"Paused", BU_POWER_UNKNOWN},
		{"off", BU_POWER_UNKNOWN},
		{"", BU_POWER_UNKNOWN},
		{NULL, BU_POWER_UNKNOWN},
	};
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		hostile_set_power(rig.bmc, rows[i].says);
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_msg(rig.answer.state == rows[i].state, "%s",
			      rows[i].says ? rows[i].says : "null");
	}
	rig_end(&rig);
}
END_TEST

START_TEST(on_after_409_is_asked_again)
{
	struct rig rig;

	rig_begin(&rig, "idrac10", 0);
	hostile_set_power(rig.bmc, "Off");
	hostile_plan(rig.bmc, "POST", ".Reset", 409, "ActionParameterValueConflict", 2);
	rig_ok(&rig, BU_POWER_SWITCH_ON);
	ck_assert_str_eq(hostile_power(rig.bmc), "On");
	/* but not for ever */
	hostile_plan(rig.bmc, "POST", ".Reset", 409, "ActionParameterValueConflict",
		     99);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_REMOTE);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 3 + 4);
	rig_end(&rig);
}
END_TEST

START_TEST(a_refusal_is_none_when_it_is_so_already)
{
	struct rig rig;

	rig_begin(&rig, "hpe", 0);
	hostile_plan(rig.bmc, "POST", ".Reset", 400, "InvalidOperationForSystemState",
		     1);
	rig_ok(&rig, BU_POWER_SWITCH_ON); /* it is on */
	hostile_plan(rig.bmc, "POST", ".Reset", 400, "InvalidOperationForSystemState",
		     1);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_REMOTE);
	rig_end(&rig);
}
END_TEST

START_TEST(a_post_goes_out_once)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_plan(rig.bmc, "POST", ".Reset", 0, NULL, 1);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_TIMEOUT);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_lost_get_goes_out_once_more)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_plan(rig.bmc, "GET", "/System.Embedded.1", 0, NULL, 1);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_plan(rig.bmc, "GET", "/System.Embedded.1", 0, NULL, 99);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
	rig_end(&rig);
	/* and where connections are no good, none is kept */
	rig_begin(&rig, "hpe", 0);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_until(&rig, hostile_open(rig.bmc) == 0);
	rig_end(&rig);
}
END_TEST

START_TEST(a_busy_bmc_is_asked_again)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_plan(rig.bmc, "GET", "/System.Embedded.1", 503, "ServiceTemporarily",
		     2);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_plan(rig.bmc, "GET", "/System.Embedded.1", 503, "ServiceTemporarily",
		     99);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "503"));
	rig_end(&rig);
}
END_TEST

START_TEST(a_slow_bmc_times_out_and_delays_no_other)
{
	struct rf_times times = short_times;
	struct rig rig, other;
	int64_t before_ms;

	times.request_ms = 1500;
	rig_times(&rig, "dell", 0, &times);
	rig_begin(&other, "hpe", 0);
	bu_power_redfish.close(other.driver);
	bu_loop_destroy(other.loop);
	other.loop = rig.loop;
	other.driver = rig.driver;
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_plan(rig.bmc, "GET", "/System.Embedded.1", -1, NULL, 1);
	before_ms = bu_loop_now_ms(rig.loop);
	rig_start(&rig, BU_POWER_STATUS);
	rig_ok(&other, BU_POWER_STATUS);
	ck_assert_int_eq(rig.done, 0);
	while (!rig.done)
		bu_loop_step(rig.loop, 10);
	ck_assert_int_eq(rig.err.kind, BU_ERR_TIMEOUT);
	ck_assert_int_ge(bu_loop_now_ms(rig.loop) - before_ms, times.request_ms - 5);
	bu_power_redfish.close(rig.driver);
	rig.driver = NULL;
	ck_assert_int_eq(hostile_sessions(other.bmc), 0);
	hostile_destroy(other.bmc);
	free(other.url);
	rig_end(&rig);
}
END_TEST

START_TEST(asks_again_after_406)
{
	struct rig rig;

	rig_begin(&rig, "hpe", HOSTILE_NO_IDENTITY);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Systems/1"), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(follows_redirects_of_its_own_host_alone)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_NAMES);
	hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
		    json_pack("[{s:s}]", "@odata.id", "/redfish/v1/Systems/name"));
	rig_ok(&rig, BU_POWER_STATUS);
	rig_end(&rig);
	rig_begin(&rig, "dell", HOSTILE_LEADS_AWAY);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
	ck_assert_msg(strstr(rig.err.text,
			     "status 302 leads to another host, "
			     "127.0.0.2 (http://127.0.0.2:1/redfish") != NULL,
		      "%s", rig.err.text);
	rig_end(&rig);
	/* nor does it go where a link leads away */
	rig_begin(&rig, "dell", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
		    json_pack("[{s:s}]", "@odata.id", "http://127.0.0.2:1/x"));
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
	rig_end(&rig);
}
END_TEST

START_TEST(hostile_answers_are_refused)
{
	static const int habits[] = {HOSTILE_DEEP, HOSTILE_HUGE};

	for (size_t i = 0; i < BU_LEN(habits); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		rig_ok(&rig, BU_POWER_STATUS);
		hostile_habits(rig.bmc, habits[i]);
		ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
		rig_end(&rig);
	}
}
END_TEST

/* So many lists in each other. */
static json_t *
nest(int depth)
{
	json_t *list = json_array();

	for (int i = 1; i < depth; i++) {
		json_t *outer = json_array();

		json_array_append_new(outer, list);
		list = outer;
	}
	return list;
}

/* Well formed, and too deep for the stack of a task that frees it. */
START_TEST(what_nests_too_deep_is_not_read)
{
	static const struct {
		int depth;
		enum bu_err_kind kind;
	} rows[] = {{63, BU_ERR_NONE}, {64, BU_ERR_REMOTE}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, "/redfish/v1/Systems/System.Embedded.1", "Oem",
			    nest(rows[i].depth));
		ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), rows[i].kind);
		rig_end(&rig);
	}
}
END_TEST

/* Wide is not deep, and what stands in a text is no bracket. */
START_TEST(a_long_answer_is_read)
{
	json_t *rows = json_array();
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	for (int i = 0; i < 200; i++)
		json_array_append_new(
			rows, json_pack("{s:[],s:{},s:s}", "a", "b", "c", "\"{[\\"));
	hostile_set(rig.bmc, "/redfish/v1/Systems/System.Embedded.1", "Oem", rows);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_end(&rig);
}
END_TEST

/* By its type, its id or its model; also where the profile names it. */
START_TEST(a_dpu_is_never_the_machine)
{
	static const struct {
		const char *key, *value;
	} rows[] = {
		{"SystemType", "DPU"},
		{"Id", "Bluefield"},
		{"Model", "BlueField-3 SmartNIC Main Card"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		char *url;

		rig_begin(&rig, "gb200", 0);
		hostile_set(rig.bmc, "/redfish/v1/Systems/System_0", rows[i].key,
			    json_string(rows[i].value));
		ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_INVAL);
		ck_assert_ptr_nonnull(strstr(rig.err.text, "a DPU"));
		url = rig.url;
		rig.url = bu_xasprintf("%s/redfish/v1/Systems/System_0", url);
		ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_INVAL);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 0);
		free(url);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(the_machine_is_chosen_or_named)
{
	struct rig rig;
	char *url;

	rig_begin(&rig, "dgx", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/HGX_Baseboard_0", "Actions",
		    json_pack("{s:{s:s}}", "#ComputerSystem.Reset", "target", "/x"));
	/* a board that can be reset and boots nothing is no machine */
	rig_ok(&rig, BU_POWER_STATUS);
	rig_end(&rig);
	/* of two the profile says which */
	rig_begin(&rig, "dgx", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/HGX_Baseboard_0", "Actions",
		    json_pack("{s:{s:s}}", "#ComputerSystem.Reset", "target", "/x"));
	hostile_set(rig.bmc, "/redfish/v1/Systems/HGX_Baseboard_0", "Boot",
		    json_object());
	ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "/Systems/DGX"));
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 0);
	url = rig.url;
	rig.url = bu_xasprintf("%s/redfish/v1/Systems/DGX", url);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_str_eq(hostile_power(rig.bmc), "Off");
	free(rig.url);
	rig.url = bu_xasprintf("%s/redfish/v1/Systems/DGX/", url);
	rig_ok(&rig, BU_POWER_STATUS);
	free(rig.url);
	rig.url = bu_xasprintf("%s/redfish/v1/Systems/2", url);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_INVAL);
	free(url);
	rig_end(&rig);
}
END_TEST

START_TEST(a_task_is_followed_to_its_end)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_TASKS);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Tasks/1"), 3);
	hostile_habits(rig.bmc, HOSTILE_TASKS | HOSTILE_BAD_TASKS | HOSTILE_LIES);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_ON), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "Exception"));
	rig_end(&rig);
	/* one that is gone has ended; one that is refused says nothing of its end */
	rig_begin(&rig, "dell", HOSTILE_TASKS);
	hostile_plan(rig.bmc, "GET", "/Tasks/1", 404, NULL, 1);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	rig_end(&rig);
	rig_begin(&rig, "dell", HOSTILE_TASKS | HOSTILE_LIES);
	hostile_plan(rig.bmc, "GET", "/Tasks/1", 400, NULL, 9);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_REMOTE);
	ck_assert_msg(strstr(rig.err.text, "/Tasks/1") != NULL, "%s", rig.err.text);
	rig_end(&rig);
}
END_TEST

START_TEST(actions_have_no_etag)
{
	struct rig rig;

	rig_begin(&rig, "idrac10", HOSTILE_NO_ACTION_ETAG);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	rig_end(&rig);
}
END_TEST

START_TEST(a_machine_without_the_reset_is_left_alone)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/System.Embedded.1", "Actions",
		    json_pack("{s:{s:s,s:[s,s]}}", "#ComputerSystem.Reset", "target",
			      "/redfish/v1/Systems/System.Embedded.1/Actions/"
			      "ComputerSystem.Reset",
			      "ResetType@Redfish.AllowableValues", "PushPowerButton",
			      "GracefulShutdown"));
	ck_assert_int_eq(rig_do(&rig, BU_POWER_SWITCH_OFF), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "PushPowerButton"));
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(a_bmc_that_is_down_delays_no_other)
{
	struct rig rig, down;
	char *url;

	rig_begin(&rig, "dell", 0);
	down = rig;
	down.url = url = bu_xasprintf("http://127.0.0.1:%d", free_port());
	rig_start(&down, BU_POWER_STATUS);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_until(&rig, down.done);
	ck_assert_int_eq(down.err.kind, BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(down.err.text, url));
	free(url);
	rig_end(&rig);
}
END_TEST

struct performed {
	int done;
	char power[16];
	struct bu_err err;
};

static void
on_performed(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct performed *performed = arg;

	performed->done = 1;
	snprintf(performed->power, sizeof(performed->power), "%s",
		 bu_json_str(reply, "power", "-"));
	performed->err = err ? *err : (struct bu_err){0};
}

/* The whole order, as bringupd gives it: off, confirmed, boot from the network, on. */
static struct performed
boot_machine(struct rig *rig)
{
	struct bu_performer *performer =
		bu_performer_create(rig->loop, &bu_power_redfish, rig->driver);
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s,s:b}", "op", "boot", "target", rig->url,
			  "first", "network", "reset", 1);
	struct performed performed = {0};

	bu_perform(performer, request, on_performed, &performed);
	rig_until(rig, performed.done);
	bu_performer_destroy(performer);
	return performed;
}

START_TEST(a_machine_is_reset_into_its_network_boot)
{
	struct performed performed;
	struct rig rig;
	char *boot;

	rig_begin(&rig, "supermicro", HOSTILE_OPEN);
	performed = boot_machine(&rig);
	ck_assert_msg(performed.err.kind == BU_ERR_NONE, "%s", performed.err.text);
	ck_assert_str_eq(performed.power, "on");
	boot = hostile_boot(rig.bmc);
	ck_assert_str_eq(boot, "Pxe Once UEFI");
	free(boot);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_machine_whose_boot_cannot_be_set_stays_off)
{
	struct performed performed;
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_OPEN | HOSTILE_DROPS_BOOT);
	performed = boot_machine(&rig);
	ck_assert_int_eq(performed.err.kind, BU_ERR_VERIFY);
	ck_assert_str_eq(hostile_power(rig.bmc), "Off");
	rig_end(&rig);
}
END_TEST

START_TEST(targets_are_checked)
{
	static const struct {
		const char *bmc;
		int ok;
	} rows[] = {
		{"https://bmc1", 1},
		{"https://bmc1/", 1},
		{"https://10.0.0.1:8443/redfish/v1/Systems/1", 1},
		{"http://127.0.0.1:8000", 1},
		{"http://10.0.0.1", 0},
		{"https://root:calvin@bmc1", 0},
		{"https://bmc1/other", 0},
		{"https://bmc1/redfish/v1/", 1},
		{"https://bmc1/redfish/v1", 0},
		{"https://", 0},
		{"ftp://bmc1", 0},
		{"http://127.0.0.2", 0},
		{"bmc1", 0},
		{"qemu:///system#node001", 0},
		{"", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};
		char *connection = bu_power_redfish.connection(rows[i].bmc, &err);

		ck_assert_msg((connection != NULL) == rows[i].ok, "%s", rows[i].bmc);
		ck_assert_str_eq(connection ? connection : "", "");
		ck_assert_int_eq(err.kind, rows[i].ok ? BU_ERR_NONE : BU_ERR_INVAL);
		free(connection);
	}
	for (int size = RF_PATH_SIZE - 1; size <= RF_PATH_SIZE; size++) {
		bu_autofree char *bmc = bu_xasprintf("https://bmc1" RF_ROOT "%0*d",
						     size - (int)strlen(RF_ROOT), 0);
		bu_autofree char *connection = bu_power_redfish.connection(bmc, NULL);

		ck_assert_int_eq(connection != NULL, size < RF_PATH_SIZE);
	}
}
END_TEST

/* As many as this machine has: one for each BMC that is asked. */
START_TEST(the_driver_has_descriptors_enough)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct rlimit files;
	void *driver;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = 100;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	driver = bu_power_redfish.open(loop, "", NULL);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	ck_assert_uint_eq(files.rlim_cur, files.rlim_max);
	bu_power_redfish.close(driver);
	bu_loop_destroy(loop);
}
END_TEST

START_TEST(an_operation_of_no_bmc_is_refused)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_fails(&rig, BU_POWER_OPS, BU_ERR_INVAL, "redfish has no operation");
	rig.url[0] = 'x';
	rig_fails(&rig, BU_POWER_STATUS, BU_ERR_INVAL, "is not a Redfish target");
	ck_assert_int_eq(hostile_count(rig.bmc, NULL, NULL), 0);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish power", the_driver_has_descriptors_enough,
	an_operation_of_no_bmc_is_refused, a_dpu_is_never_the_machine,
	every_tree_is_read, macs_come_from_the_cards, what_is_not_surely_off_is_unknown,
	on_after_409_is_asked_again, a_refusal_is_none_when_it_is_so_already,
	a_post_goes_out_once, a_lost_get_goes_out_once_more, a_busy_bmc_is_asked_again,
	a_slow_bmc_times_out_and_delays_no_other, asks_again_after_406,
	follows_redirects_of_its_own_host_alone, hostile_answers_are_refused,
	what_nests_too_deep_is_not_read, a_long_answer_is_read,
	the_machine_is_chosen_or_named, a_task_is_followed_to_its_end,
	actions_have_no_etag, a_machine_without_the_reset_is_left_alone,
	a_bmc_that_is_down_delays_no_other, a_machine_is_reset_into_its_network_boot,
	a_machine_whose_boot_cannot_be_set_stays_off, targets_are_checked)
