/* SPDX-License-Identifier: Apache-2.0 */
/* What the IPMI driver reads of Debian's ipmi_sim beside power: its event log, of which
 * one sensor has a name, its sensors, of which one has no reading, its version. */
#include <string.h>

#include "base/json.h"
#include "provisioner/power/driver.h"
#include "tests/support/ipmi_sim.h"
#include "tests/support/shell.h"

/* Two records of sensors, "Inlet Temp" and "Fan 3"; only the first one is there. */
static const char emu[] =
	"main_sdr_add 0x20 0 0 0x51 1 0x35 0x20 0 1 7 1 0x7f 0x68 1 1 0x80 0x0a 0x80 "
	"0x7a 0x38 0x38 0 1 0 0 1 0 0 0 0 0 0 0x1e 0 0 0xff 0 0x64 0x5a 0x50 0 0 0 2 2 "
	"0 0 0 0xca 0x49 0x6e 0x6c 0x65 0x74 0x20 0x54 0x65 0x6d 0x70\n"
	"main_sdr_add 0x20 0 0 0x51 1 0x30 0x20 0 2 7 2 0x7f 0x68 4 1 0x80 0x0a 0x80 "
	"0x7a 0x38 0x38 0 0x12 0 0 1 0 0 0 0 0 0 0x1e 0 0 0xff 0 0x64 0x5a 0x50 0 0 0 "
	"2 2 0 0 0 0xc5 0x46 0x61 0x6e 0x20 0x33\n"
	"sensor_add 0x20 0 1 1 1\nsensor_set_value 0x20 0 1 35 0\n"
	"sel_add 0x20 2 0 0 0 0x60 0x20 0 4 1 1 1 0x59 0 0\n";

struct bench {
	struct bu_ipmi_sim sim;
	struct bu_loop *loop;
	void *driver;
	struct bu_power_request request;
	int done;
	json_t *report;
	struct bu_err err;
};

static void
on_done(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	struct bench *bench = arg;

	bench->done = 1;
	bench->err = err ? *err : (struct bu_err){0};
	json_decref(bench->report);
	bench->report = answer ? json_incref(answer->report) : NULL;
}

static enum bu_err_kind
ask(struct bench *bench, enum bu_power_op op)
{
	bench->request.op = op;
	bench->done = 0;
	bu_power_ipmi.start(bench->driver, &bench->request, on_done, bench);
	while (!bench->done)
		bu_loop_step(bench->loop, 100);
	return bench->err.kind;
}

static void
begin(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	bu_ipmi_sim_start(&bench->sim, "", emu);
	bench->loop = bu_loop_create(NULL);
	bench->driver = bu_power_ipmi.open(bench->loop, "", NULL);
	bench->request.target = (struct bu_power_target){
		.bmc = bench->sim.bmc, .user = "admin", .password = "secret"};
	/* The first session may come before the simulator listens. */
	for (int i = 0; i < 3 && ask(bench, BU_POWER_STATUS) != BU_ERR_NONE; i++)
		;
}

static void
finish(struct bench *bench)
{
	bu_power_ipmi.close(bench->driver);
	bu_loop_destroy(bench->loop);
	json_decref(bench->report);
	bu_ipmi_sim_end(&bench->sim);
}

#define ok(bench, op)                                                                  \
	ck_assert_msg(ask((bench), (op)) == BU_ERR_NONE, "%s", (bench)->err.text)

START_TEST(a_bmc_tells_its_events_sensors_and_version)
{
	struct bench bench;
	const json_t *row;

	begin(&bench);
	ok(&bench, BU_POWER_EVENTS);
	row = json_array_get(json_object_get(bench.report, "events"), 0);
	ck_assert_msg(strncmp(bu_json_str(row, "text", ""),
			      "Temperature Inlet Temp, Upper Critical going high",
			      49) == 0,
		      "%s", bu_json_str(row, "text", ""));
	/* its clock was never set */
	ck_assert_int_eq(bu_json_int(row, "at_ms", -1), 0);
	ck_assert_int_eq(bu_json_bool(bench.report, "full", 1), 0);
	ok(&bench, BU_POWER_SENSORS);
	row = json_array_get(json_object_get(bench.report, "sensors"), 0);
	ck_assert_str_eq(bu_json_str(row, "name", ""), "Inlet Temp");
	ck_assert(json_number_value(json_object_get(row, "value")) == 35);
	ck_assert_str_eq(bu_json_str(row, "health", ""), "ok");
	row = json_array_get(json_object_get(bench.report, "sensors"), 1);
	ck_assert_str_eq(bu_json_str(row, "name", ""), "Fan 3");
	ck_assert(json_is_null(json_object_get(row, "value")));
	ck_assert_str_eq(bu_json_str(row, "state", ""), "absent");
	ok(&bench, BU_POWER_FIRMWARE);
	row = json_array_get(json_object_get(bench.report, "firmware"), 0);
	ck_assert_str_eq(bu_json_str(row, "version", ""), "9.08");
	ok(&bench, BU_POWER_BMC_RESET);
	/* of another kind of BMC */
	ck_assert_int_eq(ask(&bench, BU_POWER_MEDIA_EJECT), BU_ERR_INVAL);
	finish(&bench);
}
END_TEST

/* Its clock is set to a day of 2035, and an event comes: it is of now. */
START_TEST(a_bmcs_clock_does_not_move_its_events)
{
	struct bench bench;
	bu_autofree char *command = NULL, *said = NULL;
	const json_t *events, *row;
	int64_t at_ms, now_ms;

	begin(&bench);
	command = bu_xasprintf(
		"ask() { ipmitool -I lanplus -H 127.0.0.1 -p %s -U admin -P secret "
		"-C 3 raw 0x0a \"$@\"; }; ask 0x49 0 0 0 0x7c && "
		"ask 0x44 0 0 2 0 0 0 0 0x20 0 4 1 1 1 0x59 0 0",
		strchr(bench.sim.bmc, ':') + 1);
	said = shell_told("/", command);
	ok(&bench, BU_POWER_EVENTS);
	now_ms = bu_wall_ms(bu_loop_clock(bench.loop));
	events = json_object_get(bench.report, "events");
	row = json_array_get(events, json_array_size(events) - 1);
	at_ms = bu_json_int(row, "at_ms", 0);
	ck_assert_int_ge(at_ms, now_ms - 3600 * 1000);
	ck_assert_int_le(at_ms, now_ms + 3600 * 1000);
	finish(&bench);
}
END_TEST

BU_UNIT("reports by IPMI", a_bmc_tells_its_events_sensors_and_version,
	a_bmcs_clock_does_not_move_its_events)
