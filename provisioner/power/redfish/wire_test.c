/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request and its answer: where it may go, how often, and at what distance from
 * others; what a BMC's words are taken for.
 */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/System.Embedded.1"

/* --- what is read of an answer --- */

START_TEST(a_path_is_of_this_bmc)
{
	static const struct {
		const char *text, *path; /* NULL: it is none */
	} rows[] = {
		{"/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
		{"https://bmc1:443/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
		{"HTTPS://BMC1:443/~", "/~"},
		{"/!", "/!"},
		{"https://bmc1:443", NULL},
		{"https://bmc1/x", "/x"},
		{"https://bmc1.:443/x", "/x"},
		{"https://10.1.0.5/x", "/x"},
		{"https://10.1.0.5:443/x", "/x"},
		{"https://[::ffff:10.1.0.5]/x", "/x"},
		{"https://u:p@bmc1/x", "/x"},
		{"http://bmc1:443/x", "/x"},
		{"//bmc1/x", "/x"},
		{"//10.1.0.5:443/x?a=1", "/x?a=1"},
		{"http://bmc1/x", NULL},
		{"https://bmc1:8443/x", NULL},
		{"https://10.1.0.6/x", NULL},
		{"https://bmc1.oob/x", NULL},
		{"https://bmc1@bmc2/x", NULL},
		{"ftp:/x", NULL},
		{"https://bmc1:4430/x", NULL},
		{"https://bmc2:443/x", NULL},
		{"https://bmc1:443//bmc2/x", NULL},
		{"//bmc2/x", NULL},
		{"x", NULL},
		{"", NULL},
		{"/a b", NULL},
		{"/a\r\nb", NULL},
		{"/a\x7f", NULL},
		{"/a\xc3\xa4", NULL},
	};
	struct rf_bmc bmc = {.origin = (char *)"https://bmc1:443",
			     .address = "10.1.0.5"};
	struct rf_op op = {.bmc = &bmc};
	char path[RF_PATH_SIZE], text[RF_PATH_SIZE + 1];

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *object =
			json_pack("{s:{s:s?}}", "Link", "@odata.id", rows[i].text);
		int rc = rf_path(&bmc, rows[i].text, path);

		ck_assert_msg(rc == (rows[i].path ? 0 : -1), "%s", rows[i].text);
		if (rows[i].path)
			ck_assert_str_eq(path, rows[i].path);
		if (!object) /* no UTF-8 */
			continue;
		rf_link(&op, object, "Link", path);
		ck_assert_str_eq(path, rows[i].path ? rows[i].path : "");
		rf_link(&op, object, "Other", path);
		ck_assert_str_eq(path, "");
	}
	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[RF_PATH_SIZE] = '\0';
	ck_assert_int_eq(rf_path(&bmc, text, path), -1);
	text[RF_PATH_SIZE - 1] = '\0';
	ck_assert_int_eq(rf_path(&bmc, text, path), 0);
	ck_assert_str_eq(path, text);
}
END_TEST

#define INFO "'@Message.ExtendedInfo'"

/* Of its messages or of its error, by the end of the name: versions differ. */
START_TEST(what_a_bmc_says_is_known_by_its_end)
{
	static const struct {
		const char *body;
		int says;
		const char *first; /* argument; NULL = no message of this kind */
	} rows[] = {
		{"{'error':{" INFO ":[{'MessageId':'Base.1.8.Other'},{'MessageId':"
		 "'iLO.2.14.AccessDenied','MessageArgs':['x']}]}}",
		 1, "x"},
		{"{" INFO ":[{'MessageId':'Base.1.0.accessdenied',"
		 "'MessageArgs':['y']}]}",
		 1, "y"},
		{"{'error':{'code':'Base.1.8.AccessDenied'}}", 1, NULL},
		{"{'error':{'code':'AccessDenied'}}", 1, NULL},
		{"{'error':{'code':'Denied'}}", 0, NULL},
		{"{'error':{'code':'AccessDenied.1'," INFO
		 ":[{'MessageId':'Base.1.8.Other','MessageArgs':['z']}]}}",
		 0, NULL},
		{"{}", 0, NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_reply reply = {.json = quoted(rows[i].body)};
		const json_t *args = rf_says_args(&reply, "AccessDenied");
		const char *first = json_string_value(json_array_get(args, 0));

		ck_assert_msg(rf_says(&reply, "AccessDenied") == rows[i].says, "%s",
			      rows[i].body);
		ck_assert_msg(first ? rows[i].first && !strcmp(first, rows[i].first)
				    : !rows[i].first,
			      "%s", rows[i].body);
		rf_reply_fini(&reply);
	}
}
END_TEST

/* What was asked, the status and the BMC's own words, of its first message if it has
 * one. */
START_TEST(a_refusal_has_the_bmcs_words)
{
	static const struct {
		long status;
		const char *body;
		enum bu_err_kind kind;
		const char *text;
	} rows[] = {
		{400,
		 "{'error':{'message':'see below'," INFO
		 ":[{'Message':'no such value'}]}}",
		 BU_ERR_REMOTE, "https://b: GET /x: status 400: no such value"},
		{401, "{'error':{'message':'see below'}}", BU_ERR_DENIED,
		 "https://b: GET /x: status 401: see below"},
		{402, "{}", BU_ERR_REMOTE, "https://b: GET /x: status 402"},
		{403,
		 "{'error':{" INFO ":[{'MessageId':'B.1.PasswordChangeRequired',"
		 "'MessageArgs':['/a/7']}]}}",
		 BU_ERR_REMOTE,
		 "https://b: the BMC wants another password for 'root' before it does "
		 "anything; set one at /a/7"},
		{403,
		 "{'error':{" INFO ":[{'MessageId':'B.1.PasswordChangeRequired'}]}}",
		 BU_ERR_REMOTE,
		 "https://b: the BMC wants another password for 'root' before it does "
		 "anything; set one at its account"},
	};
	struct rf_bmc bmc = {.origin = (char *)"https://b"};
	struct rf_op op = {.bmc = &bmc, .target = {.user = "root"}};
	struct rf_ask ask = {.method = "GET", .path = "/x"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_reply reply = {.status = rows[i].status,
					 .json = quoted(rows[i].body)};
		struct bu_err err = {0};

		ck_assert_int_eq(rf_refused(&op, &ask, &reply, &err), -1);
		ck_assert_int_eq(err.kind, rows[i].kind);
		ck_assert_str_eq(err.text, rows[i].text);
		rf_reply_fini(&reply);
	}
}
END_TEST

START_TEST(an_operation_goes_on_until_its_time_is_over)
{
	static const struct {
		int refused, cancelled;
		int64_t until_ms;
		enum bu_err_kind kind;
	} rows[] = {
		{0, 0, 1001, BU_ERR_NONE},      {0, 0, 1000, BU_ERR_TIMEOUT},
		{0, 0, 999, BU_ERR_TIMEOUT},    {0, 1, 1001, BU_ERR_CANCELLED},
		{0, 1, 1000, BU_ERR_CANCELLED}, {1, 0, 1001, BU_ERR_DENIED},
		{1, 1, 1000, BU_ERR_DENIED},
	};
	struct bu_clock clock;
	struct rf_driver driver = {.times.op_ms = 7000};
	struct rf_bmc bmc = {.origin = (char *)"https://b"};

	bu_clock_fake(&clock, 0);
	clock.fake_mono_ms = 1000;
	driver.loop = bu_loop_create(&clock);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_op op = {.driver = &driver,
				   .bmc = &bmc,
				   .target = {.bmc = "b", .user = "root"},
				   .refused = rows[i].refused,
				   .cancelled = rows[i].cancelled,
				   .begun_ms = rows[i].until_ms - 7000,
				   .until_ms = rows[i].until_ms};
		struct bu_err err = {0};

		ck_assert_int_eq(rf_go_on(&op, &err), rows[i].kind ? -1 : 0);
		ck_assert_int_eq(err.kind, rows[i].kind);
		if (err.kind == BU_ERR_TIMEOUT)
			ck_assert_str_eq(err.text,
					 "b: the BMC was not done within 7 s");
	}
	bu_loop_destroy(driver.loop);
}
END_TEST

/* --- where it goes --- */

#define OTHER "/redfish/v1/Other"

START_TEST(a_get_follows_each_redirect_and_a_post_those_that_keep_it)
{
	static const struct {
		int status;
		const char *location;
		int get, post; /* are followed */
	} rows[] = {
		{300, OTHER, 0, 0}, {301, OTHER, 1, 0}, {302, OTHER, 1, 0},
		{303, OTHER, 1, 0}, {304, OTHER, 0, 0}, {306, OTHER, 0, 0},
		{307, OTHER, 1, 1}, {308, OTHER, 1, 1}, {309, OTHER, 0, 0},
		{307, "", 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *there =
			bu_xasprintf("Location: %s", rows[i].location);
		bu_autofree char *reset = bu_xasprintf(
			"Location: %s%s", rows[i].location,
			*rows[i].location ? "/Actions/ComputerSystem.Reset" : "");
		struct hostile_answer moved = {rows[i].status, NULL, there};
		enum bu_err_kind kind;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_put(rig.bmc, OTHER,
			    "{'Members':[{'@odata.id':"
			    "'/redfish/v1/Systems/System.Embedded.1'}]}");
		hostile_answer(rig.bmc, "GET", "/Systems", &moved, 9);
		kind = rig_do(&rig, BU_POWER_STATUS);
		ck_assert_msg((kind == BU_ERR_NONE) == rows[i].get, "%d: %s",
			      rows[i].status, rig.err.text);
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", OTHER), rows[i].get);
		rig_end(&rig);

		rig_begin(&rig, "dell", 0);
		moved.headers = reset;
		hostile_answer(rig.bmc, "POST", SYSTEM "/Actions/ComputerSystem.Reset",
			       &moved, 9);
		kind = rig_do(&rig, BU_POWER_SWITCH_OFF);
		ck_assert_msg((kind == BU_ERR_NONE) == rows[i].post, "%d: %s",
			      rows[i].status, rig.err.text);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", ".Reset"),
				 1 + rows[i].post);
		rig_end(&rig);
	}
}
END_TEST

/* A BMC that leads in a circle is left. */
START_TEST(three_redirects_are_followed_and_no_fourth)
{
	for (int last = 3; last <= 4; last++) {
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		for (int i = 0; i < last; i++) {
			bu_autofree char *from =
				i ? bu_xasprintf("/r%d", i) : bu_xstrdup("/Systems");
			bu_autofree char *to = bu_xasprintf("Location: /r%d", i + 1);

			hostile_answer(rig.bmc, "GET", from,
				       &(struct hostile_answer){302, NULL, to}, 9);
		}
		hostile_put(rig.bmc, last == 3 ? "/r3" : "/r4",
			    "{'Members':[{'@odata.id':"
			    "'/redfish/v1/Systems/System.Embedded.1'}]}");
		ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS),
				 last == 3 ? BU_ERR_NONE : BU_ERR_REMOTE);
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/r3"), 1);
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/r4"), 0);
		rig_end(&rig);
	}
}
END_TEST

/* --- how often --- */

/* status | so often | asked once only | requests | what comes of it */
START_TEST(a_busy_or_silent_bmc_is_asked_so_often)
{
	static const struct {
		int status, times, once, requests;
		enum bu_err_kind kind;
	} rows[] = {
		{503, 3, 0, 4, BU_ERR_NONE},   {503, 4, 0, 4, BU_ERR_REMOTE},
		{429, 3, 0, 4, BU_ERR_NONE},   {503, 9, 1, 1, BU_ERR_REMOTE},
		{500, 9, 0, 1, BU_ERR_REMOTE}, {0, 1, 0, 2, BU_ERR_NONE},
		{0, 2, 0, 2, BU_ERR_REMOTE},   {0, 9, 1, 1, BU_ERR_REMOTE},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		int before;

		rig_begin(&rig, "dell", 0);
		rig_ok(&rig, BU_POWER_STATUS);
		before = hostile_count(rig.bmc, "GET", SYSTEM);
		hostile_plan(rig.bmc, "GET", SYSTEM, rows[i].status, NULL,
			     rows[i].times);
		/* else a connection that was kept is tried first */
		bu_http_async_close(((struct rf_driver *)rig.driver)->http,
				    ((struct rf_driver *)rig.driver)->bmcs->connection);
		rig.request.once = rows[i].once;
		ck_assert_msg(rig_do(&rig, BU_POWER_STATUS) == rows[i].kind,
			      "row %zu: %s", i, rig.err.text);
		ck_assert_msg(hostile_count(rig.bmc, "GET", SYSTEM) - before ==
				      rows[i].requests,
			      "row %zu", i);
		rig_end(&rig);
	}
}
END_TEST

/* So often, for each connection that serves so many requests: a connection for each is
 * learnt at the second loss in a row, and after some where every second one is lost. */
START_TEST(a_bmc_that_resets_what_it_kept_gets_each_request_once)
{
	static const struct {
		int serves, losses;
	} rows[] = {{0, 0}, {1, 2}, {2, 3}, {3, 4}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_times times = short_times;
		struct rig rig;
		int requests, again;

		times.hush_ms = times.logout_ms = 60000;
		rig_times(&rig, "dell", HOSTILE_OPEN, &times);
		rig_ok(&rig, BU_POWER_STATUS);
		hostile_serves(rig.bmc, rows[i].serves);
		requests = hostile_count(rig.bmc, NULL, NULL);
		for (int k = 0; k < 40; k++)
			rig_ok(&rig, BU_POWER_STATUS);
		again = hostile_count(rig.bmc, NULL, NULL) - requests - 40;
		ck_assert_msg(again == rows[i].losses, "row %zu: %d went out twice", i,
			      again);
		rig_end(&rig);
	}
}
END_TEST

/* After an hour it is tried again, at the cost of one request. */
START_TEST(a_bmc_that_was_mended_gets_kept_connections_again)
{
	struct rf_times times = short_times;
	struct rig rig;
	int before;

	times.op_ms = times.hush_ms = times.logout_ms = times.tree_ms = 100000000;
	rig_made(&rig, "dell", HOSTILE_OPEN, &times);
	hostile_serves(rig.bmc, 1);
	for (int i = 0; i < 3; i++)
		rig_ok(&rig, BU_POWER_STATUS);
	for (int mended = 0; mended < 2; mended++) {
		bu_clock_advance(&rig.clock, 3600000);
		hostile_serves(rig.bmc, !mended);
		rig_ok(&rig, BU_POWER_STATUS);
		before = hostile_count(rig.bmc, NULL, NULL);
		for (int i = 0; i < 4; i++)
			rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_int_eq(hostile_count(rig.bmc, NULL, NULL) - before,
				 4 + !mended);
		rig_until(&rig, hostile_open(rig.bmc) == mended);
	}
	rig_end(&rig);
}
END_TEST

/* --- when --- */

static struct rf_times
patient(void)
{
	struct rf_times times = short_times;

	times.op_ms = times.hush_ms = 1000000;
	times.logout_ms = 2000000;
	times.tree_ms = 9000000;
	return times;
}

/* As long as it says, up to ten seconds. */
START_TEST(a_busy_bmc_says_when_it_is_asked_again)
{
	static const struct {
		const char *header;
		int64_t least_ms, most_ms;
	} rows[] = {
		{"Retry-After: 1", 1000, INT64_MAX},
		{"Retry-After: 10", 10000, INT64_MAX},
		{"Retry-After: 11", 5, 9000},
		{"Retry-After: soon", 5, 9000},
		{"", 5, 9000},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rf_times times = patient();
		int64_t before_ms, took_ms;
		struct rig rig;

		rig_made(&rig, "dell", 0, &times);
		rig_ok(&rig, BU_POWER_STATUS);
		hostile_answer(rig.bmc, "GET", SYSTEM,
			       &(struct hostile_answer){503, NULL, rows[i].header}, 1);
		before_ms = bu_loop_now_ms(rig.loop);
		rig_ok(&rig, BU_POWER_STATUS);
		took_ms = bu_loop_now_ms(rig.loop) - before_ms;
		ck_assert_msg(took_ms >= rows[i].least_ms && took_ms < rows[i].most_ms,
			      "%s: %lld ms", rows[i].header, (long long)took_ms);
		rig_end(&rig);
	}
}
END_TEST

/* Its time ends it in the midst of a pause. */
START_TEST(a_pause_is_no_longer_than_the_operation)
{
	struct rf_times times = patient();
	struct rig rig;
	int64_t before_ms;

	times.op_ms = 3000;
	rig_made(&rig, "dell", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_answer(rig.bmc, "GET", SYSTEM,
		       &(struct hostile_answer){503, NULL, "Retry-After: 10"}, 9);
	before_ms = bu_loop_now_ms(rig.loop);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_TIMEOUT);
	ck_assert_int_ge(bu_loop_now_ms(rig.loop) - before_ms, 3000);
	ck_assert_int_lt(bu_loop_now_ms(rig.loop) - before_ms, 9000);
	rig_end(&rig);
}
END_TEST

START_TEST(requests_keep_their_distance)
{
	struct rf_times times = patient();
	struct rig rig;

	times.gap_ms = 500;
	rig_made(&rig, "dell", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_ge(bu_loop_now_ms(rig.loop),
			 (hostile_count(rig.bmc, NULL, NULL) - 1) * 500);
	rig_end(&rig);
}
END_TEST

/* New connections to whatever BMC; one that is open waits for nobody. */
START_TEST(new_connections_keep_their_distance)
{
	struct rf_times times = patient();
	struct rig rig, others[2];
	int64_t first_ms[2];

	times.open_ms = 10000;
	rig_made(&rig, "dell", 0, &times);
	for (int i = 0; i < 2; i++) {
		rig_begin(&others[i], "dell", 0);
		bu_power_redfish.close(others[i].driver);
		bu_loop_destroy(others[i].loop);
		others[i].loop = rig.loop;
		others[i].driver = rig.driver;
	}
	rig_start(&rig, BU_POWER_STATUS);
	rig_start(&others[0], BU_POWER_STATUS);
	rig_start(&others[1], BU_POWER_STATUS);
	rig_until(&rig, rig.done);
	ck_assert_int_lt(bu_loop_now_ms(rig.loop), 10000); /* seven requests */
	for (int i = 0; i < 2; i++) {
		rig_until(&rig, hostile_count(others[i].bmc, NULL, NULL) > 0);
		first_ms[i] = bu_loop_now_ms(rig.loop);
		rig_until(&rig, others[i].done);
		ck_assert_int_eq(others[i].err.kind, BU_ERR_NONE);
	}
	ck_assert_int_ge(first_ms[0], 10000);
	ck_assert_int_ge(first_ms[1], 20000);
	bu_power_redfish.close(rig.driver);
	rig.driver = NULL;
	for (int i = 0; i < 2; i++) {
		hostile_destroy(others[i].bmc);
		free(others[i].url);
	}
	rig_end(&rig);
}
END_TEST

/* One that was idle is closed, and the next one is new. */
START_TEST(a_connection_that_was_closed_is_new)
{
	struct rf_times times = short_times;
	struct rig rig;

	times.open_ms = 20000;
	times.op_ms = times.logout_ms = times.tree_ms = 1000000;
	rig_made(&rig, "dell", 0, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_until(&rig, hostile_open(rig.bmc) == 0);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_ge(bu_loop_now_ms(rig.loop), 20000);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish wire", a_connection_that_was_closed_is_new, a_path_is_of_this_bmc,
	what_a_bmc_says_is_known_by_its_end, a_refusal_has_the_bmcs_words,
	an_operation_goes_on_until_its_time_is_over,
	a_get_follows_each_redirect_and_a_post_those_that_keep_it,
	three_redirects_are_followed_and_no_fourth,
	a_busy_or_silent_bmc_is_asked_so_often,
	a_bmc_that_resets_what_it_kept_gets_each_request_once,
	a_bmc_that_was_mended_gets_kept_connections_again,
	a_busy_bmc_says_when_it_is_asked_again, a_pause_is_no_longer_than_the_operation,
	requests_keep_their_distance, new_connections_keep_their_distance, )
