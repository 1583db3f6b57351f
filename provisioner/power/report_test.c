/* SPDX-License-Identifier: Apache-2.0 */
/* What BMCs tell, in one shape: times, bounds, and what ipmitool prints. */
#include "provisioner/power/report.h"

#include <string.h>

#include "base/json.h"
#include "provisioner/power/ipmi_text.h"
#include "tests/support/unit.h"

START_TEST(times_are_read_with_their_zone)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{"2026-11-23T02:03:04Z", 1795399384000},
		{"2026-11-23T02:03:04+00:00", 1795399384000},
		{"2026-11-22T20:03:04-06:00", 1795399384000},
		{"2026-11-23T07:33:04.123+05:30", 1795399384000},
		{"2026-11-23T02:03:04", 1795399384000},
		/* never set: no time at all */
		{"1970-01-01T00:02:11Z", 0},
		{"2000-01-01T00:00:00+00:00", 0},
		{"00:00:00", 0},
		{"", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_bmc_time_read(rows[i].text) == rows[i].ms, "%s: %lld",
			      rows[i].text, (long long)bu_bmc_time_read(rows[i].text));
}
END_TEST

static const json_t *
row(const json_t *report, size_t i)
{
	return json_array_get(json_object_get(report, "events"), i);
}

/* Whatever the order and the number, the newest are held, oldest first. */
START_TEST(ten_thousand_entries_are_held_in_a_hundred_rows)
{
	const int64_t first_ms = 1795399384000;

	for (int newest_first = 0; newest_first <= 1; newest_first++) {
		struct bu_bmc_log log = {.most = 100};
		bu_autojson json_t *report = NULL;

		for (int i = 0; i < 10000; i++) {
			int64_t number = newest_first ? 9999 - i : i;

			bu_bmc_log_take(&log, first_ms + number * 1000, "Warning",
					"SEL", "a");
			ck_assert_uint_le(json_array_size(log.rows), 100);
		}
		report = bu_bmc_log_end(&log);
		ck_assert_uint_eq(json_array_size(json_object_get(report, "events")),
				  100);
		ck_assert_int_eq(bu_json_int(row(report, 99), "at_ms", 0),
				 first_ms + 9999 * 1000);
		ck_assert_int_eq(bu_json_int(row(report, 0), "at_ms", 0),
				 first_ms + 9900 * 1000);
		ck_assert_str_eq(bu_json_str(row(report, 0), "severity", ""),
				 "warning");
		ck_assert_int_eq(bu_json_bool(report, "more", 0), 1);
	}
}
END_TEST

/* Of a BMC whose clock is a day ahead, what it says is of today; one without a clock
 * gets no time, and is not left out for it. */
START_TEST(a_bmcs_clock_is_set_right)
{
	const int64_t now_ms = 1795399384000, day_ms = 86400000;
	struct bu_bmc_log log = {.most = 10, .since_ms = now_ms - 60000};
	bu_autojson json_t *report = NULL;

	bu_bmc_log_clock(&log, now_ms + day_ms, now_ms);
	bu_bmc_log_take(&log, now_ms + day_ms - 1000, "OK", "SEL", "now");
	bu_bmc_log_take(&log, now_ms - 1000, "OK", "SEL", "yesterday");
	bu_bmc_log_take(&log, 0, "OK", "SEL", "some time");
	report = bu_bmc_log_end(&log);
	ck_assert_uint_eq(json_array_size(json_object_get(report, "events")), 2);
	ck_assert_str_eq(bu_json_str(row(report, 0), "text", ""), "some time");
	ck_assert_int_eq(bu_json_int(row(report, 0), "at_ms", -1), 0);
	ck_assert_int_eq(bu_json_int(row(report, 1), "at_ms", 0), now_ms - 1000);
}
END_TEST

START_TEST(entries_of_ipmitool_are_read)
{
	static const struct {
		const char *line;
		int rc;
		int64_t at_ms;
		const char *text;
	} rows[] = {
		{"2,11/23/26,02:03:04 UTC,Temperature Inlet Temp,Upper Critical going "
		 "high,Asserted,Reading 95 > Threshold 90 degrees C",
		 0, 1795399384000,
		 "Temperature Inlet Temp, Upper Critical going high, Asserted, Reading "
		 "95 > Threshold 90 degrees C"},
		{"1a,11/23/2026,02:03:04,Power Unit #0x01,Power off/down,Asserted", 0,
		 1795399384000, "Power Unit #0x01, Power off/down, Asserted"},
		{"1, Pre-Init ,0000061361,Temperature #0x01,Upper Critical,Asserted", 0,
		 0, "Temperature #0x01, Upper Critical, Asserted"},
		{"SEL has no entries", -1, 0, ""},
		{"Get SDR 0000 command failed, again, and, again", -1, 0, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *line = bu_xstrdup(rows[i].line);
		struct bu_ipmi_entry entry = {0};

		ck_assert_int_eq(bu_ipmi_entry(line, &entry), rows[i].rc);
		ck_assert_int_eq(entry.at_ms, rows[i].at_ms);
		ck_assert_str_eq(entry.text, rows[i].text);
	}
	ck_assert_int_eq(bu_ipmi_time("11/23/26 02:03:04 UTC\n"), 1795399384000);
	ck_assert_int_eq(bu_ipmi_time("S+ 17:02:42"), 0);
}
END_TEST

START_TEST(a_sensor_without_a_reading_has_none)
{
	bu_autojson json_t *list =
		bu_ipmi_sensors("Inlet Temp,35,degrees C,ok\nFan 3,,,ns\n"
				"Fan 4,no reading,RPM,ucr\nno columns\n");
	bu_autojson json_t *expected =
		json_pack("[{s:s,s:f,s:s,s:s,s:s},{s:s,s:n,s:s,s:s,s:s},"
			  "{s:s,s:n,s:s,s:s,s:s}]",
			  "name", "Inlet Temp", "value", 35.0, "unit", "C", "health",
			  "ok", "state", "enabled", "name", "Fan 3", "value", "unit",
			  "", "health", "", "state", "absent", "name", "Fan 4", "value",
			  "unit", "RPM", "health", "critical", "state", "enabled");

	ck_assert(json_equal(list, expected));
}
END_TEST

/* Answers take a moment: three seconds are no difference, and nothing is old to the
 * millisecond. */
START_TEST(clocks_and_ends_are_exact)
{
	static const struct {
		int64_t bmc_ms, ahead_ms;
	} rows[] = {{0, 0},        {10000, 0}, {13000, 0},
		    {13001, 3001}, {7000, 0},  {6999, -3001}};
	struct bu_bmc_log log = {.most = 2, .since_ms = 100};
	bu_autojson json_t *report = NULL, *none = NULL;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_bmc_log_clock(&log, rows[i].bmc_ms, 10000);
		ck_assert_int_eq(log.ahead_ms, rows[i].ahead_ms);
	}
	none = bu_bmc_log_end(&log);
	ck_assert_uint_eq(json_array_size(json_object_get(none, "events")), 0);
	log.ahead_ms = 50;
	ck_assert_int_eq(bu_bmc_log_is_old(&log, 149), 1);
	ck_assert_int_eq(bu_bmc_log_is_old(&log, 150), 0);
	ck_assert_int_eq(bu_bmc_log_is_old(&log, 0), 0);
	/* As old as each other: in the order in which they were told. */
	bu_bmc_log_take(&log, 150, "OK", "SEL", "first");
	bu_bmc_log_take(&log, 150, "OK", "SEL", " second ");
	ck_assert_int_eq(log.more, 0);
	report = bu_bmc_log_end(&log);
	ck_assert_str_eq(bu_json_str(row(report, 0), "text", ""), "first");
	ck_assert_str_eq(bu_json_str(row(report, 1), "text", ""), "second");
	ck_assert_int_eq(bu_json_int(row(report, 1), "at_ms", 0), 100);
	ck_assert_int_eq(bu_json_bool(report, "more", 1), 0);
	/* A clock may stand at the first second that is believed. */
	ck_assert_int_eq(bu_bmc_time_read("2020-01-01T00:00:00Z"), 1577836800000);
	ck_assert_int_eq(bu_bmc_time_read("2019-12-31T23:59:59Z"), 0);
	ck_assert_int_eq(bu_bmc_time_read("2026-11-23T02:03"), 0);
	ck_assert_int_eq(bu_bmc_time_read("2026-11-22T20:03:04.5-0600"), 1795399384000);
}
END_TEST

BU_UNIT("reports of BMCs", times_are_read_with_their_zone,
	ten_thousand_entries_are_held_in_a_hundred_rows, a_bmcs_clock_is_set_right,
	entries_of_ipmitool_are_read, a_sensor_without_a_reading_has_none,
	clocks_and_ends_are_exact)
