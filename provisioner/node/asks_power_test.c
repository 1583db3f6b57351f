/* SPDX-License-Identifier: Apache-2.0 */
/* What a person is answered who asks something of a machine, and the rows of it. */
#include "tests/support/asked.h"

#define POWER(op) BU_VERB_POWER, op, 0, "fan"

static const struct asked cases[] = {
	{parked, POWER("on"), "power on asked for", "power on",
	 "power {'by':'ann','force':false,'op':'on','reason':'fan','result':'asked'}"},
	{parked, POWER("cycle"), "power cycle asked for", "power cycle",
	 "power {'by':'ann','force':false,'op':'cycle','reason':'fan',"
	 "'result':'asked'}"},
	{parked, POWER("status"), "power status asked for", "power status", ""},
	{parked, POWER("bmc-reset"),
	 "power 'bmc-reset': expected on, off, cycle or status; or of a cluster that saves power suspend, wake or wake-failed",
	 NULL, NULL},
	{parked, POWER(""),
	 "power '': expected on, off, cycle or status; or of a cluster that saves power suspend, wake or wake-failed",
	 NULL, NULL},
	{ready, POWER("on"), "power on asked for", "power on",
	 "power {'by':'ann','force':false,'op':'on','reason':'fan','result':'asked'}"},
	{ready, POWER("off"),
	 "node node001 is ready, and its jobs would be lost; bringup node drain it "
	 "first, or bringup node reboot, or add --force with --reason",
	 NULL, NULL},
	{ready, BU_VERB_POWER, "off", 1, "fan", "power off asked for", "power off",
	 "power {'by':'ann','force':true,'op':'off','reason':'fan','result':'asked'}"},
	{imaging, POWER("on"),
	 "node node001 is imaging: bringup is working on it; wait until it is done, or "
	 "add --force with --reason",
	 NULL, NULL},
	{imaging, POWER("status"), "power status asked for", "power status", ""},
	{held_by_a_person, POWER("on"), "node node001 is held by bob: fan", NULL, NULL},
	{power_under_way, POWER("on"), "node node001: power off by bob is under way",
	 NULL, NULL},
	{power_under_way, POWER("status"), "power status asked for", "power status",
	 ""},
	{parked, ASK(BMC_RESET), "a restart of its BMC asked for", "restart its BMC",
	 "power {'by':'ann','force':false,'op':'bmc-reset','reason':'fan',"
	 "'result':'asked'}"},
	{ready, ASK(BMC_RESET), "a restart of its BMC asked for", "restart its BMC",
	 "power {'by':'ann','force':false,'op':'bmc-reset','reason':'fan',"
	 "'result':'asked'}"},
	{held_by_a_person, ASK(BMC_RESET), "node node001 is held by bob: fan", NULL,
	 NULL},
	{switched, ASK(BMC_RESET),
	 "node node001: its machine is being switched on or off; its BMC may restart "
	 "when that is done",
	 NULL, NULL},
	{imaging, ASK(BMC_RESET),
	 "node node001 is imaging: bringup is working on it; wait until it is done, or "
	 "add --force with --reason",
	 NULL, NULL},
	{imaging, BU_VERB_BMC_RESET, "", 1, "fan", "a restart of its BMC asked for",
	 "restart its BMC",
	 "power {'by':'ann','force':true,'op':'bmc-reset','reason':'fan',"
	 "'result':'asked'}"},
};

START_TEST(what_is_answered_and_written)
{
	are_as_told(cases, BU_LEN(cases));
}
END_TEST

RIG_UNIT("asks_power", what_is_answered_and_written)
