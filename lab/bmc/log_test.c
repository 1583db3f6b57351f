/* SPDX-License-Identifier: Apache-2.0 */
/* The event log, the sensors and the restart of a virtual BMC, by what it answers. */
#include "tests/support/bmc.h"

#define MANAGER "/redfish/v1/Managers/iDRAC.Embedded.1"
#define SEL MANAGER "/LogServices/Sel"
#define THERMAL "/redfish/v1/Chassis/System.Embedded.1/Thermal"

static const char *
message_of(struct site *site, size_t i)
{
	const json_t *members = json_object_get(site->reply.body, "Members");

	return bu_json_str(json_array_get(members, i), "Message", "");
}

static int
count_of(struct site *site)
{
	return (int)bu_json_int(site->reply.body, "Members@odata.count", -1);
}

START_TEST(power_is_in_the_log)
{
	struct site site;

	begin(&site, "dell");
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries", NULL), 200);
	ck_assert_int_eq(count_of(&site), 0);
	boot(&site);
	off(&site);
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries", NULL), 200);
	ck_assert_int_eq(count_of(&site), 2);
	ck_assert_str_eq(message_of(&site, 0), "The system was switched off");
	ck_assert_str_eq(message_of(&site, 1), "The system was switched on");
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries/1", NULL), 200);
	ck_assert_str_eq(value(&site, "Created"), "1970-01-01T00:00:00Z");
	ck_assert_int_eq(ask(&site, "POST", SEL "/Actions/LogService.ClearLog", "{}"),
			 204);
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries", NULL), 200);
	ck_assert_int_eq(count_of(&site), 0);
	finish(&site);
}
END_TEST

/* Every entry is on one page, and on one alone; other queries stay refused. */
START_TEST(pages_hold_each_entry_once)
{
	struct site site;
	char path[128] = SEL "/Entries";
	int pages = 0;
	size_t seen = 0;

	begin(&site, "dell");
	set_fault(&site, "log=10000");
	do {
		char *query = strchr(path, '?');

		if (query)
			*query = '\0';
		site.with.query = query ? "$skip" : NULL;
		site.with.query_value = query ? strchr(query + 1, '=') + 1 : NULL;
		ck_assert_int_eq(ask(&site, "GET", path, NULL), 200);
		ck_assert_int_eq(count_of(&site), 10000);
		seen += json_array_size(json_object_get(site.reply.body, "Members"));
		if (pages++ == 0)
			ck_assert_str_eq(message_of(&site, 0),
					 "Correctable error, DIMM A10000");
		snprintf(path, sizeof(path), "%s",
			 value(&site, "Members@odata.nextLink"));
	} while (*path);
	ck_assert_uint_eq(seen, 10000);
	ck_assert_int_eq(pages, 200);
	ck_assert_str_eq(message_of(&site, 49), "Correctable error, DIMM A1");
	site.with.query = "$filter";
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries", NULL), 501);
	site.with.query = "$skip";
	site.with.query_value = "x";
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries", NULL), 501);
	finish(&site);
}
END_TEST

START_TEST(a_full_log_takes_no_more)
{
	struct site site;

	begin(&site, "dell");
	set_fault(&site, "log-full");
	boot(&site);
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries", NULL), 200);
	ck_assert_int_eq(count_of(&site), 0);
	finish(&site);
	/* and one that wraps loses its oldest */
	begin(&site, "dell");
	set_fault(&site, "log=2000");
	boot(&site);
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries", NULL), 200);
	ck_assert_int_eq(count_of(&site), 2000);
	ck_assert_str_eq(message_of(&site, 0), "The system was switched on");
	ck_assert_int_eq(ask(&site, "GET", SEL "/Entries/1", NULL), 404);
	finish(&site);
}
END_TEST

/* iLO shows links, and its own slash at their end. */
START_TEST(a_vendors_log_has_its_shape)
{
	struct site site;

	begin(&site, "hpe");
	ck_assert_int_eq(ask(&site, "POST",
			     "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
			     "{\"ResetType\":\"On\"}"),
			 200);
	ck_assert_int_eq(ask(&site, "GET",
			     "/redfish/v1/Systems/1/LogServices/IML/Entries", NULL),
			 200);
	ck_assert_int_eq(count_of(&site), 1);
	ck_assert_str_eq(message_of(&site, 0), "");
	ck_assert_str_eq(
		bu_json_str(
			json_array_get(json_object_get(site.reply.body, "Members"), 0),
			"@odata.id", ""),
		"/redfish/v1/Systems/1/LogServices/IML/Entries/1/");
	finish(&site);
}
END_TEST

static const json_t *
reading(struct site *site)
{
	const json_t *list = json_object_get(site->reply.body, "Temperatures");

	return json_object_get(json_array_get(list, 1), "ReadingCelsius");
}

START_TEST(sensors_of_a_machine_that_is_off_have_no_reading)
{
	struct site site;

	begin(&site, "dell");
	ck_assert_int_eq(ask(&site, "GET", THERMAL, NULL), 200);
	ck_assert(json_is_null(reading(&site)));
	boot(&site);
	ck_assert_int_eq(ask(&site, "GET", THERMAL, NULL), 200);
	ck_assert(json_real_value(reading(&site)) == 58.5);
	set_fault(&site, "no-reading");
	ck_assert_int_eq(ask(&site, "GET", THERMAL, NULL), 200);
	ck_assert(json_is_null(reading(&site)));
	finish(&site);
}
END_TEST

/* Away for its time, then there again; what it was told of the machine is done. */
START_TEST(a_bmc_restarts_in_the_midst_of_a_power_command)
{
	struct site site;

	begin(&site, "dell");
	set_fault(&site, "restarts=1");
	site.now_ms += 10000;
	reset(&site, "On", 204);
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 503);
	site.now_ms += 5000;
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	ck_assert_str_eq(value(&site, "PowerState"), "On");
	off(&site);
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	finish(&site);
}
END_TEST

START_TEST(an_inert_reset_changes_nothing)
{
	struct site site;

	begin(&site, "dell");
	set_fault(&site, "inert");
	ck_assert_int_eq(ask(&site, "POST", MANAGER "/Actions/Manager.Reset",
			     "{\"ResetType\":\"GracefulRestart\"}"),
			 204);
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	ck_assert_int_eq(ask(&site, "POST", MANAGER "/Actions/Manager.Reset",
			     "{\"ResetType\":\"ForceRestart\"}"),
			 400);
	finish(&site);
}
END_TEST

BU_UNIT("bmc log", power_is_in_the_log, pages_hold_each_entry_once,
	a_full_log_takes_no_more, a_vendors_log_has_its_shape,
	sensors_of_a_machine_that_is_off_have_no_reading,
	a_bmc_restarts_in_the_midst_of_a_power_command, an_inert_reset_changes_nothing)
