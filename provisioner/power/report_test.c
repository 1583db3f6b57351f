/* SPDX-License-Identifier: Apache-2.0 */
/* What BMCs tell, in one shape: times, bounds, and what ipmitool prints. */
#include "provisioner/power/report.h"

#include <string.h>

#include "base/json.h"
#include "provisioner/power/ipmi_text.h"
#include "tests/support/quoted.h"
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
		/* blanks round a column, and a clock that stands */
		{" 1 ,  11/23/26 ,\t02:03:04 ,a", 0, 1795399384000, "a"},
		{"1,11/23/26,x,a", 0, 0, "a"},
		{"1,11/23/26,02:03:04,", 0, 1795399384000, ""},
		{"1,11/23/26,02:03:04", -1, 0, ""},
		{"1g,11/23/26,02:03:04,a", -1, 0, ""},
		{",11/23/26,02:03:04,a", -1, 0, ""},
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

/* What is longer than its place is cut, and never in the midst of a character. */
START_TEST(what_is_long_is_cut)
{
	struct bu_bmc_log log = {.most = 5};
	bu_autojson json_t *report = NULL, *list = json_array();
	bu_autofree char *text = bu_xasprintf("%0*d", 400, 0);
	struct bu_ipmi_entry entry;
	bu_autofree char *line = bu_xasprintf("1,11/23/26,02:03:04,a,%0*d", 400, 0);
	bu_autofree char *commas = bu_xasprintf("1,x,y,%0*d,b", 284, 0);

	bu_bmc_log_take(&log, 0, "CRITICAL-and-more", "SEL", text);
	report = bu_bmc_log_end(&log);
	ck_assert_uint_eq(strlen(bu_json_str(row(report, 0), "text", "")),
			  BU_BMC_TEXT_SIZE - 1);
	ck_assert_str_eq(bu_json_str(row(report, 0), "severity", ""),
			 "critical-and-mo");
	bu_bmc_sensor_add(list, text, NULL, "u", "OK", "Enabled");
	ck_assert_uint_eq(strlen(bu_json_str(json_array_get(list, 0), "name", "")), 79);
	ck_assert_str_eq(bu_json_str(json_array_get(list, 0), "state", ""), "enabled");
	ck_assert_int_eq(bu_ipmi_entry(line, &entry), 0);
	ck_assert_uint_eq(strlen(entry.text), sizeof(entry.text) - 3);
	ck_assert_mem_eq(entry.text, "a, 00", 5);
	ck_assert_int_eq(bu_ipmi_entry(commas, &entry), 0);
	ck_assert_uint_eq(strlen(entry.text), sizeof(entry.text) - 2);
}
END_TEST

START_TEST(zones_are_read_to_the_minute)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{"2026-11-23T02:33:04+00:30", 1795399384000},
		{"2026-11-23T03:03:04+01", 1795399384000},
		{"2026-11-23T01:33:04.5-00:30", 1795399384000},
		{"2026-11-23T02:03:04 UTC", 1795399384000},
		{"2026-11-23T02:03:04+", 1795399384000},
		{"2026-11-23T02:03:0", 1795399380000},
		{"2026-11-23T02:03:", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_bmc_time_read(rows[i].text) == rows[i].ms, "%s: %lld",
			      rows[i].text, (long long)bu_bmc_time_read(rows[i].text));
}
END_TEST

/* --- what ipmitool prints --- */

START_TEST(a_field_stands_behind_its_name)
{
	static const struct {
		const char *text, *value;
	} rows[] = {
		{"Overflow         : true\n", "true"},
		{"Overflow:true", "true"},
		{"x\n Overflow\t:\ttrue\r\nmore\n", "true"},
		{"No Overflow here\nOverflow : false\n", "false"},
		{"Overflow : \nmore", ""},
		{"Overflow", ""},
		{"", ""},
	};
	char value[8], tight[4];

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		strcpy(value, "before");
		bu_ipmi_field(rows[i].text, "Overflow", value, sizeof(value));
		ck_assert_str_eq(value, rows[i].value);
	}
	bu_ipmi_field("Overflow : true", "Overflow", tight, sizeof(tight));
	ck_assert_str_eq(tight, "tru");
}
END_TEST

START_TEST(a_guid_gets_its_dashes)
{
	static const struct {
		const char *guid, *uuid;
	} rows[] = {
		{"0102030405060708090a0b0c0d0e0f10",
		 "01020304-0506-0708-090a-0b0c0d0e0f10"},
		{"0102030405060708090a0b0c0d0e0f1", "0102030405060708090a0b0c0d0e0f1"},
		{"01020304-0506-0708-090a-0b0c0d0e0f10",
		 "01020304-0506-0708-090a-0b0c0d0e0f10"},
		{"", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char uuid[40];

		strcpy(uuid, rows[i].guid);
		bu_ipmi_dash(uuid, sizeof(uuid));
		ck_assert_str_eq(uuid, rows[i].uuid);
	}
}
END_TEST

START_TEST(an_account_is_found_by_its_whole_name)
{
	static const char list[] = "ID  Name\n1\n2   admin   true\n3   adm   true\n"
				   "x   odd   true\n";

	ck_assert_int_eq(bu_ipmi_user_id(list, "admin"), 2);
	ck_assert_int_eq(bu_ipmi_user_id(list, "adm"), 3);
	ck_assert_int_eq(bu_ipmi_user_id(list, "ad"), -1);
	ck_assert_int_eq(bu_ipmi_user_id(list, "odd"), -1);
	ck_assert_int_eq(bu_ipmi_user_id("4 root", "root"), 4);
	ck_assert_int_eq(bu_ipmi_user_id("", "root"), -1);
}
END_TEST

START_TEST(a_password_is_one_that_the_shell_reads)
{
	static const struct {
		const char *password;
		int rc;
	} rows[] = {
		{"a", 0},
		{"0123456789abcdef", 0},
		{"0123456789abcdefg", -1},
		{"", -1},
		{"a b", -1},
		{"a\"b", -1},
		{"a'b", -1},
		{"a\\b", -1},
		{"a#b", -1},
		{"a\tb", -1},
		{"\xc3\xa4", -1},
		{"a!$%b", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};

		ck_assert_msg(bu_ipmi_check_password(rows[i].password, &err) ==
				      rows[i].rc,
			      "%s", rows[i].password);
		ck_assert_int_eq(err.kind, rows[i].rc ? BU_ERR_INVAL : BU_ERR_NONE);
	}
}
END_TEST

START_TEST(a_target_is_cut_at_its_port)
{
	static const struct {
		const char *bmc, *host, *port; /* NULL: it is none */
	} rows[] = {
		{"b", "b", "623"},
		{"b:1", "b", "1"},
		{"b:65535", "b", "65535"},
		{"b:65536", NULL, NULL},
		{"b:0", NULL, NULL},
		{"b:", NULL, NULL},
		{":1", NULL, NULL},
		{"-b", NULL, NULL},
		{"b c", NULL, NULL},
		{"b\tc", NULL, NULL},
		{"b/c", NULL, NULL},
		{"b:1:2", NULL, NULL},
		{"fd00::5", "fd00::5", "623"},
		{"[fd00::5]", "fd00::5", "623"},
		{"[fd00::5]:1", "fd00::5", "1"},
		{"[fd00::5", NULL, NULL},
		{"[b]:1", NULL, NULL},
		{"ipmi://b", NULL, NULL},
		{"u@b", NULL, NULL},
	};
	char host[256], port[8], longest[255];

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_msg(bu_ipmi_split(rows[i].bmc, host, port) ==
				      (rows[i].host ? 0 : -1),
			      "%s", rows[i].bmc);
		if (!rows[i].host)
			continue;
		ck_assert_str_eq(host, rows[i].host);
		ck_assert_str_eq(port, rows[i].port);
	}
	memset(longest, 'b', sizeof(longest));
	longest[254] = '\0';
	ck_assert_int_eq(bu_ipmi_split(longest, host, port), -1);
	longest[253] = '\0';
	ck_assert_int_eq(bu_ipmi_split(longest, host, port), 0);
	ck_assert_str_eq(host, longest);
}
END_TEST

/* Of its errors or of its output; the first row of the table that fits. */
START_TEST(a_refusal_of_ipmitool_is_known)
{
	static const struct {
		const char *errs, *out, *says;
		enum bu_err_kind kind;
	} rows[] = {
		{"x no matching cipher suite", "", "no matching cipher suite",
		 BU_ERR_NONE},
		{"", "invalid authentication algorithm",
		 "invalid authentication algorithm", BU_ERR_NONE},
		{"invalid integrity algorithm\nUnable to establish", "",
		 "invalid integrity algorithm", BU_ERR_NONE},
		{"invalid confidentiality algorithm", "",
		 "invalid confidentiality algorithm", BU_ERR_NONE},
		{"RAKP 2 HMAC is invalid\nUnable to establish", "",
		 "RAKP 2 HMAC is invalid", BU_ERR_DENIED},
		{"", "unauthorized name", "unauthorized name", BU_ERR_DENIED},
		{"insufficient resources", "", "insufficient resources", BU_ERR_REMOTE},
		{"Unable to establish", "", "Unable to establish", BU_ERR_REMOTE},
		{"no such command", "no", NULL, BU_ERR_IO},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		enum bu_err_kind kind = BU_ERR_IO;
		const char *says = bu_ipmi_refusal(rows[i].errs, rows[i].out, &kind);

		ck_assert_int_eq(kind, rows[i].kind);
		ck_assert_msg(says ? rows[i].says && !strcmp(says, rows[i].says)
				   : !rows[i].says,
			      "row %zu", i);
	}
}
END_TEST

/* Two digits or four of a year; a date alone, or words, are no time. */
START_TEST(times_of_ipmitool_are_read)
{
	static const struct {
		const char *text;
		int64_t ms;
	} rows[] = {
		{"11/23/2026 02:03:04", 1795399384000},
		{"11/23/26 02:03:04 UTC", 1795399384000},
		{"01/01/99 00:00:00", 4070908800000},
		{"01/01/100 00:00:00", 0}, /* long before any clock */
		{"11/23/26", 0},
		{"11/23 02:03:04", 0},
		{"11/23/26 02:03", 0},
		{"Pre-Init Time-stamp", 0},
		{"", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_ipmi_time(rows[i].text) == rows[i].ms, "%s: %lld",
			      rows[i].text, (long long)bu_ipmi_time(rows[i].text));
}
END_TEST

/* Each word for how a sensor is, each unit, and blanks around the last column. */
START_TEST(sensors_of_ipmitool_are_read)
{
	static const struct {
		const char *line, *row;
	} rows[] = {
		{"a,1,degrees C,ok", "'value':1.0,'unit':'C','health':'ok',"
				     "'state':'enabled'"},
		{"a,1,Watts, nc \r", "'value':1.0,'unit':'W','health':'warning',"
				     "'state':'enabled'"},
		{"a,1,Volts,lnc", "'value':1.0,'unit':'V','health':'warning',"
				  "'state':'enabled'"},
		{"a,1,percent,unc", "'value':1.0,'unit':'%','health':'warning',"
				    "'state':'enabled'"},
		{"a,1.5,RPM,cr", "'value':1.5,'unit':'RPM','health':'critical',"
				 "'state':'enabled'"},
		{"a,-1,RPM,lcr", "'value':-1.0,'unit':'RPM','health':'critical',"
				 "'state':'enabled'"},
		{"a,0,RPM,nr", "'value':0.0,'unit':'RPM','health':'critical',"
			       "'state':'enabled'"},
		{"a,0,RPM,lnr", "'value':0.0,'unit':'RPM','health':'critical',"
				"'state':'enabled'"},
		{"a,0,RPM,unr", "'value':0.0,'unit':'RPM','health':'critical',"
				"'state':'enabled'"},
		{"a,0,RPM,ucr", "'value':0.0,'unit':'RPM','health':'critical',"
				"'state':'enabled'"},
		{"a,0x,RPM,what", "'value':null,'unit':'RPM','health':'','state':''"},
		{"a,,,ns", "'value':null,'unit':'','health':'','state':'absent'"},
		{"a,1,RPM", NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *list = bu_ipmi_sensors(rows[i].line);
		bu_autofree char *text = bu_xasprintf(
			rows[i].row ? "[{'name':'a',%s}]" : "[]", rows[i].row);
		bu_autojson json_t *want = quoted(text);

		ck_assert_msg(json_equal(list, want), "%s", rows[i].line);
	}
}
END_TEST

BU_UNIT("reports of BMCs", what_is_long_is_cut, zones_are_read_to_the_minute,
	a_field_stands_behind_its_name, a_guid_gets_its_dashes,
	an_account_is_found_by_its_whole_name, a_password_is_one_that_the_shell_reads,
	a_target_is_cut_at_its_port, a_refusal_of_ipmitool_is_known,
	times_of_ipmitool_are_read, sensors_of_ipmitool_are_read,
	times_are_read_with_their_zone, ten_thousand_entries_are_held_in_a_hundred_rows,
	a_bmcs_clock_is_set_right, entries_of_ipmitool_are_read,
	a_sensor_without_a_reading_has_none, clocks_and_ends_are_exact)
