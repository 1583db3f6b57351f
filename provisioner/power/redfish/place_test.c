/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a BMC's words lead, and what cannot be read of them: its own names are itself,
 * what leads away is refused by name, one bad number costs no object, and sessions end
 * whatever they are called.
 */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define SESSIONS "/redfish/v1/SessionService/Sessions"

/* --- its own names --- */

/* "https://localhost:PORT" in the profile. */
static void
rig_named(struct rig *rig, const char *host)
{
	rig_begin(rig, "dell", 0);
	hostile_destroy(rig->bmc);
	rig->bmc = hostile_create(hostile_shape("dell"), 0, 1);
	free(rig->url);
	rig->url = bu_xasprintf("https://%s:%s", host,
				strrchr(hostile_url(rig->bmc), ':') + 1);
	rig->request.target.fingerprint = hostile_fingerprint(rig->bmc);
}

static char *
at_host(const struct rig *rig, const char *host, const char *path)
{
	return bu_xasprintf("https://%s:%s%s", host, strrchr(rig->url, ':') + 1, path);
}

/* The profile names the BMC so | it calls itself so, in links and redirects. */
START_TEST(a_bmc_may_name_itself_by_name_or_address)
{
	static const struct {
		const char *named, *calls;
	} rows[] = {{"localhost", "127.0.0.1"},
		    {"localhost", "LOCALHOST"},
		    {"127.0.0.1", "127.0.0.1"},
		    {"127.0.0.1", "localhost"}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *systems = NULL, *system = NULL, *reset = NULL;
		bu_autofree char *location = NULL, *moved = NULL;
		struct rig rig;

		rig_named(&rig, rows[i].named);
		systems = at_host(&rig, rows[i].calls, "/redfish/v1/All");
		system = at_host(&rig, rows[i].calls, SYSTEM);
		reset = at_host(&rig, rows[i].calls, SYSTEM "/Go");
		location = at_host(&rig, rows[i].calls, "/redfish/v1/Systems");
		moved = bu_xasprintf("Location: %s", location);
		rig_link(&rig, "/redfish/v1/", "Systems", systems);
		hostile_answer(rig.bmc, "GET", "/All",
			       &(struct hostile_answer){301, NULL, moved}, 1);
		hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
			    json_pack("[{s:s}]", "@odata.id", system));
		hostile_set(rig.bmc, SYSTEM, "Actions",
			    json_pack("{s:{s:s}}", "#ComputerSystem.Reset", "target",
				      reset));
		hostile_plan(rig.bmc, "POST", "/Go", 204, NULL, 1);
		rig_ok(&rig, BU_POWER_STATUS);
		rig_ok(&rig, BU_POWER_SWITCH_OFF);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", SYSTEM "/Go"), 1);
		rig_end(&rig);
	}
}
END_TEST

/* It is asked for once, while it leads to where the BMC answered from. */
START_TEST(a_name_is_looked_up_once)
{
	struct rf_bmc *bmc;
	bu_autofree char *system = NULL, *other = NULL;
	struct rig rig;

	rig_named(&rig, "127.0.0.1");
	system = at_host(&rig, "localhost", SYSTEM);
	other = at_host(&rig, "no-such-bmc.invalid", SYSTEM);
	hostile_set(
		rig.bmc, "/redfish/v1/Systems", "Members",
		json_pack("[{s:s},{s:s}]", "@odata.id", other, "@odata.id", system));
	rig_ok(&rig, BU_POWER_STATUS);
	bmc = ((struct rf_driver *)rig.driver)->bmcs;
	ck_assert_str_eq(bmc->alias, "localhost");
	ck_assert_str_eq(bmc->stranger, "no-such-bmc.invalid");
	rig_ok(&rig, BU_POWER_STATUS);
	/* alone it is refused by its name */
	hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
		    json_pack("[{s:s}]", "@odata.id", other));
	rf_forget(bmc);
	rig_fails(&rig, BU_POWER_STATUS, BU_ERR_REMOTE,
		  "it leads to another host, no-such-bmc.invalid (");
	rig_end(&rig);
}
END_TEST

/* --- away --- */

/* A link of a member | why it is not followed. */
START_TEST(a_link_that_leads_away_is_named)
{
	static const struct {
		const char *link, *why;
	} rows[] = {
		{"http://127.0.0.2:1/x",
		 "has 1 systems, and none that can be reset and booted; 1 could not be "
		 "read: it leads to another host, 127.0.0.2 (http://127.0.0.2:1/x); "
		 "only 127.0.0.1 is asked"},
		{"http://127.0.0.1:1/x",
		 "it leads to port 1 of it (http://127.0.0.1:1/x); only port "},
		{"x y", "it leads to x y, not a path"},
		{"", "it leads to nowhere"},
		{"/gone", "1 could not be read: "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
			    json_pack("[{s:s}]", "@odata.id", rows[i].link));
		rig_fails(&rig, BU_POWER_STATUS, BU_ERR_REMOTE, rows[i].why);
		/* and beside one that can be read no matter */
		hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
			    json_pack("[{s:s},{s:s}]", "@odata.id", rows[i].link,
				      "@odata.id", SYSTEM));
		rig_ok(&rig, BU_POWER_STATUS);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_root_that_leads_away_is_named)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_link(&rig, "/redfish/v1/", "Systems", "http://127.0.0.2:1/redfish/v1/S");
	rig_fails(
		&rig, BU_POWER_STATUS, BU_ERR_REMOTE,
		"the BMC lists no systems: its root leads to another host, 127.0.0.2");
	rig_link(&rig, "/redfish/v1/", "Systems", "/redfish/v1/Systems");
	rig_ok(&rig, BU_POWER_STATUS);
	rig_end(&rig);
}
END_TEST

/* So is the next page of a list. */
START_TEST(a_page_that_leads_away_is_named)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_put(rig.bmc, "/redfish/v1/Systems",
		    "{'Members':[],'Members@odata.nextLink':'http://127.0.0.2:1/x'}");
	rig_fails(&rig, BU_POWER_STATUS, BU_ERR_REMOTE,
		  "it leads to another host, 127.0.0.2 (http://127.0.0.2:1/x)");
	rig_end(&rig);
}
END_TEST

/* Another BMC is where it leads to: nothing comes there, whatever is asked for. */
START_TEST(no_request_follows_a_bmc_to_another_one)
{
	static const struct {
		const char *method, *end;
		enum bu_power_op op;
	} rows[] = {
		{"GET", "/redfish/v1/", BU_POWER_STATUS},
		{"POST", "/Sessions", BU_POWER_STATUS},
		{"GET", "/Systems", BU_POWER_STATUS},
		{"GET", SYSTEM, BU_POWER_STATUS},
		{"PATCH", SYSTEM, BU_POWER_BOOT_FIRST},
		{"POST", ".Reset", BU_POWER_SWITCH_OFF},
	};
	static const int statuses[] = {301, 302, 307, 308};

	for (size_t i = 0; i < BU_LEN(rows) * BU_LEN(statuses); i++) {
		int status = statuses[i % BU_LEN(statuses)];
		bu_autofree char *there = NULL;
		struct rig rig, other;
		size_t k = i / BU_LEN(statuses);

		rig_begin(&rig, "dell", 0);
		rig_begin(&other, "dell", 0);
		there = bu_xasprintf("Location: %s/redfish/v1/", other.url);
		hostile_answer(rig.bmc, rows[k].method, rows[k].end,
			       &(struct hostile_answer){status, NULL, there}, 9);
		rig_fails(&rig, rows[k].op, BU_ERR_REMOTE, "leads to port ");
		ck_assert_ptr_nonnull(strstr(rig.err.text, other.url));
		ck_assert_int_eq(hostile_count(other.bmc, NULL, NULL), 0);
		rig_end(&other);
		rig_end(&rig);
	}
}
END_TEST

/* --- a slash more --- */

/* The status | is it followed, with all that was sent? */
START_TEST(a_post_goes_to_its_own_path_with_a_slash)
{
	static const struct {
		int status, followed;
	} rows[] = {{301, 1}, {302, 1}, {303, 0}, {307, 1}, {308, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct hostile_answer moved = {rows[i].status, NULL,
					       "Location: " SYSTEM
					       "/Actions/ComputerSystem.Reset/"};
		bu_autofree char *bodies = NULL;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_answer(rig.bmc, "POST", ".Reset", &moved, 9);
		hostile_plan(rig.bmc, "POST", ".Reset/", 204, NULL, 1);
		if (rows[i].followed)
			rig_ok(&rig, BU_POWER_SWITCH_OFF);
		else
			rig_fails(&rig, BU_POWER_SWITCH_OFF, BU_ERR_REMOTE,
				  "status 303");
		bodies = hostile_bodies(rig.bmc, "POST", ".Reset/");
		ck_assert_str_eq(bodies, rows[i].followed
						 ? "{\"ResetType\":\"ForceOff\"}\n"
						 : "");
		rig_end(&rig);
	}
}
END_TEST

/* It is made there, and the next one at once; no password is spoken as Basic. */
START_TEST(a_session_is_made_where_the_log_in_was_sent_on_to)
{
	static const char *const places[] = {SESSIONS "/", "/redfish/v2/Sessions"};

	for (size_t i = 0; i < BU_LEN(places) * 2; i++) {
		bu_autofree char *there = bu_xasprintf("Location: %s", places[i / 2]);
		struct hostile_answer moved = {i % 2 ? 308 : 301, NULL, there};
		struct hostile_answer made = {
			201, NULL, "X-Auth-Token: t\nLocation: " SESSIONS "/7"};
		struct rig rig;

		rig_begin(&rig, "dell", HOSTILE_OPEN);
		hostile_answer(rig.bmc, "POST", SESSIONS, &moved, 9);
		hostile_answer(rig.bmc, "POST", places[i / 2], &made, 9);
		hostile_plan(rig.bmc, "DELETE", "/7", 204, NULL, 9);
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_int_eq(hostile_passwords(rig.bmc), 0);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", SESSIONS), 1);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", places[i / 2]), 1);
		rig.request.target.password = "other";
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_int_eq(hostile_count(rig.bmc, "DELETE", "/7"), 1);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", SESSIONS), 1);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", places[i / 2]), 2);
		rig_end(&rig);
	}
}
END_TEST

/* --- the end of a session --- */

/* Where it says that it is | bytes of its token | how it is ended: X-Auth-Token, or
 * Basic where the token is too long to be kept. */
START_TEST(a_session_is_ended_whatever_its_name_and_token)
{
	static const struct {
		int absolute;
		size_t size;
		int deleted;
	} rows[] = {{1, 20, 1},
		    {0, 700, 1},
		    {1, 4000, 1},
		    {0, RF_TOKEN_MAX, 1},
		    {0, RF_TOKEN_MAX + 1, 1},
		    {0, 0, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *token = bu_xcalloc(1, rows[i].size + 1);
		bu_autofree char *headers = NULL;
		struct hostile_answer made = {201, NULL, NULL};
		struct rig rig;

		memset(token, 'x', rows[i].size);
		rig_begin(&rig, "dell", HOSTILE_OPEN);
		headers = bu_xasprintf("Location: %s/s/7%s%s",
				       rows[i].absolute ? rig.url : "",
				       token[0] ? "\nX-Auth-Token: " : "", token);
		made.headers = headers;
		hostile_answer(rig.bmc, "POST", "/Sessions", &made, 1);
		hostile_plan(rig.bmc, "DELETE", "/s/7", 204, NULL, 9);
		rig_ok(&rig, BU_POWER_STATUS);
		bu_power_redfish.close(rig.driver);
		rig.driver = NULL;
		ck_assert_msg(hostile_count(rig.bmc, "DELETE", "/s/7") ==
				      rows[i].deleted,
			      "row %zu", i);
		rig_end(&rig);
	}
}
END_TEST

/* --- what cannot be read --- */

/* What stands in the system's Oem object | what is read of it. */
START_TEST(a_number_that_does_not_fit_costs_no_object)
{
	static const char *const rows[] = {
		"18446744073709551615",
		"-9223372036854775809",
		"[1,18446744073709551615,\"18446744073709551615\"]",
		"1e999",
		"-1e999",
		"NaN",
		"-Infinity",
		"{\"a\":nan,\"b\":inf}",
		"\"\\u0000\"",
		"\"a\\\"18446744073709551615\"",
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		text = hostile_text(rig.bmc, SYSTEM, "Oem", rows[i]);
		hostile_raw(rig.bmc, SYSTEM, text);
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_int_eq(rig.answer.state, BU_POWER_ON);
		rig_ok(&rig, BU_POWER_IDENTITY);
		ck_assert_str_eq(rig.answer.machine.serial, "SN123456");
		rig_end(&rig);
	}
}
END_TEST

/* text | as it is read, and written again; NULL: it is not, for this reason. */
START_TEST(other_numbers_stay_as_they_are)
{
	static const struct {
		const char *text, *read, *why;
	} rows[] = {
		{"{\"a\":9223372036854775807,\"b\":-9223372036854775808}",
		 "{\"a\":9223372036854775807,\"b\":-9223372036854775808}", ""},
		{"{\"a\":18446744073709551615,\"b\":9007199254740993}",
		 "{\"a\":1.8446744073709552e19,\"b\":9007199254740993}", ""},
		{"{\"a\":nan,\"b\":true,\"c\":null,\"d\":-7,\"e\":1.5}",
		 "{\"a\":null,\"b\":true,\"c\":null,\"d\":-7,\"e\":1.5}", ""},
		{"{\"nan\":\"nan\",\"b\":NaN}", "{\"b\":null,\"nan\":\"nan\"}", ""},
		{"{\"a\":1", NULL, "line 1: '}' expected"},
		{"{\"a\":\n[1,}", NULL, "line 2: unexpected token"},
		{"", NULL, "line 1: "},
		{"<html>", NULL, "line 1: "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char why[RF_WHY_SIZE];
		bu_autojson json_t *json = rf_json(rows[i].text, why);
		bu_autofree char *read = json ? bu_json_canonical(json) : NULL;

		ck_assert_msg((read != NULL) == (rows[i].read != NULL), "row %zu: %s",
			      i, why);
		if (read)
			ck_assert_str_eq(read, rows[i].read);
		ck_assert_msg(strstr(why, rows[i].why) != NULL, "row %zu: %s", i, why);
	}
}
END_TEST

START_TEST(what_cannot_be_read_is_named_with_the_reason)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_raw(rig.bmc, SYSTEM, "{\"PowerState\":\"On\",}");
	rig_fails(
		&rig, BU_POWER_STATUS, BU_ERR_REMOTE,
		"has 1 systems, and none that can be reset and booted; 1 could not be "
		"read: ");
	ck_assert_msg(strstr(rig.err.text, SYSTEM
			     ": the answer is not a JSON object: line 1: ") != NULL,
		      "%s", rig.err.text);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish places", a_bmc_may_name_itself_by_name_or_address,
	a_name_is_looked_up_once, a_link_that_leads_away_is_named,
	a_root_that_leads_away_is_named, a_page_that_leads_away_is_named,
	no_request_follows_a_bmc_to_another_one,
	a_post_goes_to_its_own_path_with_a_slash,
	a_session_is_made_where_the_log_in_was_sent_on_to,
	a_session_is_ended_whatever_its_name_and_token,
	a_number_that_does_not_fit_costs_no_object, other_numbers_stay_as_they_are,
	what_cannot_be_read_is_named_with_the_reason)
