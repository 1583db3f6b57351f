/* SPDX-License-Identifier: Apache-2.0 */
/* What a BMC says, as bringupd gets it from bringup-power: nothing of it is unseen. */
#include "base/file.h"
#include "provisioner/power/power.h"
#include "tests/support/ipmi_tool.h"
#include "tests/support/redfish.h"
#include "tests/support/unseen.h"

static struct {
	struct bu_loop *loop;
	struct bu_power *power;
	json_t *report;
	struct bu_err err;
	int answers;
} site;

static void
on_report(const json_t *report, const struct bu_err *err, void *arg)
{
	(void)arg;
	site.answers++;
	json_decref(site.report);
	site.report = report ? json_deep_copy(report) : NULL;
	site.err = err ? *err : (struct bu_err){0};
}

static void
on_seen(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	(void)seen, (void)arg;
	site.answers++;
	site.err = err ? *err : (struct bu_err){0};
}

static void
begin(void)
{
	memset(&site, 0, sizeof(site));
	site.loop = bu_loop_create(NULL);
	site.power = bu_power_create(
		site.loop, BU_BUILDDIR "/bringup-power",
		&(struct bu_power_opts){.bmc_networks = "127.0.0.0/8"}, NULL);
	ck_assert_ptr_nonnull(site.power);
}

static void
finish(void)
{
	bu_power_destroy(site.power);
	bu_loop_destroy(site.loop);
	json_decref(site.report);
}

static void
until_answered(void)
{
	int answers = site.answers;

	for (int i = 0; i < 5000 && site.answers == answers; i++)
		bu_loop_step(site.loop, 10);
	ck_assert_int_eq(site.answers, answers + 1);
}

#define HIDDEN "a\xc2\x9b\xe2\x80\xae\xe2\x80\x8b\x1b[2Jb"

START_TEST(event_logs_sensors_and_firmware_are_plain)
{
	const struct bu_power_bmc bmc = {.driver = "ipmi", .bmc = "127.0.0.1"};
	struct ipmi_tool tool;

	ipmi_tool_begin(&tool);
	ipmi_tool_does(&tool, "sel time get", "echo 11/23/2026 02:04:04");
	ipmi_tool_does(&tool, "sel elist last 100",
		       "echo '1,11/23/26,02:03:04,Fan " HIDDEN "'");
	ipmi_tool_does(&tool, "sdr", "echo '" HIDDEN ",1," HIDDEN ",ok'");
	ipmi_tool_does(&tool, "mc info",
		       "echo 'Firmware Revision         : 1" HIDDEN "'");
	begin();
	for (int what = BU_BMC_EVENTS; what <= BU_BMC_FIRMWARE; what++) {
		bu_power_report(site.power, &bmc, (enum bu_bmc_report)what, 0,
				on_report, NULL);
		until_answered();
		ck_assert_msg(site.report != NULL, "%s", site.err.text);
		ck_assert_int_eq(all_is_plain(site.report), 1);
	}
	finish();
	ipmi_tool_end(&tool);
}
END_TEST

/* Serial numbers that it tells, and the words of a refusal. */
START_TEST(an_error_has_nothing_unseen_of_a_bmc)
{
	struct bu_machine expected = {.serial = "S1"};
	struct bu_power_bmc bmc = {.driver = "redfish",
				   .machine = &expected,
				   .credentials = "env:BU_TEST_BMC"};
	struct rig rig;

	setenv("BU_TEST_BMC", "root:calvin", 1);
	rig_begin(&rig, "dell", 0);
	hostile_set_power(rig.bmc, "Off");
	hostile_set(rig.bmc, "/redfish/v1/Systems/System.Embedded.1", "SerialNumber",
		    json_string("X" HIDDEN));
	hostile_set(rig.bmc, "/redfish/v1/Systems/System.Embedded.1", "SKU",
		    json_string("X" HIDDEN));
	begin();
	bmc.bmc = rig.url;
	bu_power_on(site.power, &bmc, BU_BOOT_DISK, on_seen, NULL);
	until_answered();
	ck_assert_msg(site.err.kind == BU_ERR_FOREIGN, "%s", site.err.text);
	ck_assert_int_eq(bu_plain_is(site.err.text, 0), 1);
	ck_assert_msg(strstr(site.err.text, "X") != NULL, "%s", site.err.text);
	finish();
	rig_end(&rig);
}
END_TEST

BU_UNIT("power words", event_logs_sensors_and_firmware_are_plain,
	an_error_has_nothing_unseen_of_a_bmc)
