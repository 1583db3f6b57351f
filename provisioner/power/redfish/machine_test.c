/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose machine a BMC has, by vendors who take another number for the serial number of
 * the system; and how little is read where that is known.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/support/redfish.h"
#include "tests/support/unit.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define CHASSIS "/redfish/v1/Chassis/System.Embedded.1"
#define UUID "4C4C4544-0044-4810-8031-C2C04F333233"

/* What the BMC of the machine SN123456 says it is, for one who expects this. */
static enum bu_machine_match
is(struct rig *rig, const char *serial, const char *uuid, const char *mac)
{
	struct bu_machine expected;

	bu_machine_of(serial, uuid, mac, &expected);
	rig->request.machine = &expected;
	rig_ok(rig, BU_POWER_IDENTITY);
	rig->request.machine = NULL;
	return bu_machine_compare(&expected, &rig->answer.machine);
}

static void
says(struct rig *rig, const char *path, const char *key, const char *text)
{
	hostile_set(rig->bmc, path, key, json_string(text));
}

static void
linked(struct rig *rig, const char *chassis)
{
	hostile_put(rig->bmc, CHASSIS, chassis);
	hostile_set(rig->bmc, SYSTEM, "Links",
		    quoted("{'Chassis':[{'@odata.id':'" CHASSIS "'}]}"));
}

START_TEST(a_service_tag_is_a_serial_number_of_the_machine)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	says(&rig, SYSTEM, "SerialNumber", "CNFCP1234567");
	says(&rig, SYSTEM, "SKU", "7XKQ2Z3");
	ck_assert_int_eq(is(&rig, "7xkq2z3", "", ""), BU_MACHINE_SAME);
	ck_assert_int_eq(is(&rig, "CNFCP1234567", "", ""), BU_MACHINE_SAME);
	ck_assert_int_eq(is(&rig, "7XKQ2Z4", "", ""), BU_MACHINE_OTHER);
	rig_end(&rig);
}
END_TEST

START_TEST(numbers_of_chassis_and_board_count_where_they_are_told)
{
	static const struct {
		const char *path, *key;
	} places[] = {
		{SYSTEM, "SerialNumber"},
		{SYSTEM, "SKU"},
		{CHASSIS, "SerialNumber"},
		{CHASSIS, "SKU"},
	};
	struct rig rig;

	for (size_t i = 0; i < BU_LEN(places); i++) {
		rig_begin(&rig, "dell", 0);
		says(&rig, SYSTEM, "SerialNumber", "CN1");
		says(&rig, SYSTEM, "SKU", "P52499-B21");
		linked(&rig, "{'SerialNumber':'none','SKU':'N/A'}");
		ck_assert_int_eq(is(&rig, "7XKQ2Z3", "", ""), BU_MACHINE_OTHER);
		says(&rig, places[i].path, places[i].key, " 7xkq2z3");
		ck_assert_msg(is(&rig, "7XKQ2Z3", "", "") == BU_MACHINE_SAME, "%s %s",
			      places[i].path, places[i].key);
		rig_end(&rig);
	}
	rig_begin(&rig, "supermicro", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/1", "Oem",
		    quoted("{'Supermicro':{'BoardSerialNumber':'WM21'}}"));
	ck_assert_int_eq(is(&rig, "WM21", "", ""), BU_MACHINE_SAME);
	rig_end(&rig);
}
END_TEST

/* One enclosure, two sleds: its number is of both, and each has a UUID of its own. */
START_TEST(the_number_of_a_chassis_makes_no_other_machine_this_one)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	linked(&rig, "{'SerialNumber':'ENC-1','ChassisType':'Enclosure'}");
	ck_assert_int_eq(is(&rig, "ENC-1", "5f0c6d0e-1122-4344-8566-000000000001", ""),
			 BU_MACHINE_OTHER);
	ck_assert_int_eq(is(&rig, "ENC-1", "", "02:00:00:00:00:77"), BU_MACHINE_OTHER);
	/* a sled is a machine */
	says(&rig, CHASSIS, "ChassisType", "Sled");
	ck_assert_int_eq(is(&rig, "ENC-1", "5f0c6d0e-1122-4344-8566-000000000001", ""),
			 BU_MACHINE_SAME);
	rig_end(&rig);
}
END_TEST

/* The rest is read where it may say otherwise, and where nobody is expected. */
START_TEST(what_is_known_is_not_read_on)
{
	struct rig rig;
	int more;

	rig_begin(&rig, "dell", 0);
	ck_assert_int_eq(is(&rig, "SN123456", UUID, ""), BU_MACHINE_SAME);
	ck_assert_int_eq(hostile_under(rig.bmc, "GET " SYSTEM "/EthernetInterfaces"),
			 0);
	ck_assert_int_eq(hostile_under(rig.bmc, "GET /redfish/v1/Chassis"), 0);
	ck_assert_int_eq(is(&rig, "SN1", UUID, "02:00:00:00:00:77"), BU_MACHINE_SAME);
	more = hostile_under(rig.bmc, "GET " SYSTEM "/EthernetInterfaces");
	ck_assert_int_gt(more, 0);
	rig_ok(&rig, BU_POWER_IDENTITY);
	ck_assert_int_gt(hostile_under(rig.bmc, "GET " SYSTEM "/EthernetInterfaces"),
			 more);
	ck_assert_uint_gt(rig.answer.machine.macs_count, 0);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish identity", a_service_tag_is_a_serial_number_of_the_machine,
	numbers_of_chassis_and_board_count_where_they_are_told,
	the_number_of_a_chassis_makes_no_other_machine_this_one,
	what_is_known_is_not_read_on)
