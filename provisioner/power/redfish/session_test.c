/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the driver is to a BMC: sessions that are always ended, Basic where there are
 * none, wrong passwords that end an operation, certificates that are pinned.
 */
#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "tests/support/redfish.h"

START_TEST(one_session_serves_and_is_ended_when_idle)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	for (int i = 0; i < 5; i++)
		rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 1);
	ck_assert_int_eq(hostile_sessions(rig.bmc), 1);
	ck_assert_int_eq(hostile_open(rig.bmc), 1);
	rig_until(&rig, hostile_open(rig.bmc) == 0); /* the connection first */
	ck_assert_int_eq(hostile_sessions(rig.bmc), 1);
	rig_until(&rig, hostile_sessions(rig.bmc) == 0);
	ck_assert_int_eq(hostile_count(rig.bmc, "DELETE", "/Sessions/1"), 1);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 2);
	/* where they are made is not looked for again */
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/redfish/v1/"), 1);
	rig_end(&rig);
}
END_TEST

/* What the BMC says to a log-in | what comes of it | log-ins: a token that is taken and
 * no good is asked for once more. */
START_TEST(a_login_is_refused_or_there_are_no_sessions)
{
	static const struct {
		int status;
		const char *message, *headers;
		enum bu_err_kind kind;
		int logins;
	} rows[] = {
		{401, "NoValidSession", NULL, BU_ERR_DENIED, 1},
		{403, "InsufficientPrivilege", NULL, BU_ERR_DENIED, 1},
		{403, "SessionLimitExceeded", NULL, BU_ERR_NONE, 1},
		{400, "GeneralError", NULL, BU_ERR_NONE, 1},
		{402, "GeneralError", NULL, BU_ERR_NONE, 1},
		{500, "GeneralError", NULL, BU_ERR_NONE, 1},
		{201, NULL, NULL, BU_ERR_NONE, 1},
		{200, NULL, "X-Auth-Token: t", BU_ERR_NONE, 2},
		{299, NULL, "X-Auth-Token: t", BU_ERR_NONE, 2},
		{300, NULL, "X-Auth-Token: t", BU_ERR_NONE, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct hostile_answer answer = {rows[i].status, NULL, rows[i].headers};
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		if (rows[i].message)
			hostile_plan(rig.bmc, "POST", "/Sessions", rows[i].status,
				     rows[i].message, 1);
		else
			hostile_answer(rig.bmc, "POST", "/Sessions", &answer, 1);
		ck_assert_msg(rig_do(&rig, BU_POWER_STATUS) == rows[i].kind,
			      "row %zu: %s", i, rig.err.text);
		ck_assert_msg(hostile_count(rig.bmc, "POST", "/Sessions") ==
				      rows[i].logins,
			      "row %zu", i);
		ck_assert_int_eq(hostile_sessions(rig.bmc), rows[i].logins - 1);
		rig_end(&rig);
	}
}
END_TEST

/* By its Location, else by the answer's own name; one without a name is not ended. */
START_TEST(a_session_is_ended_by_its_name)
{
	static const struct {
		const char *body, *headers;
		const char *ended; /* NULL: nothing is */
	} rows[] = {
		{"{'@odata.id':'/s/1'}", "X-Auth-Token: t\nLocation: /s/2", "/s/2"},
		{"{'@odata.id':'/s/1'}", "X-Auth-Token: t", "/s/1"},
		{"{'@odata.id':'/s/1'}",
		 "X-Auth-Token: t\nLocation: http://127.0.0.2/s/2", "/s/1"},
		{"{}", "X-Auth-Token: t", NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct hostile_answer answer = {201, rows[i].body, rows[i].headers};
		struct rig rig;

		rig_begin(&rig, "dell", HOSTILE_OPEN);
		hostile_answer(rig.bmc, "POST", "/Sessions", &answer, 1);
		hostile_plan(rig.bmc, "DELETE", "", 204, NULL, 9);
		rig_ok(&rig, BU_POWER_STATUS);
		bu_power_redfish.close(rig.driver);
		rig.driver = NULL;
		ck_assert_int_eq(hostile_count(rig.bmc, "DELETE", ""),
				 rows[i].ended != NULL);
		if (rows[i].ended)
			ck_assert_int_eq(
				hostile_count(rig.bmc, "DELETE", rows[i].ended), 1);
		rig_end(&rig);
	}
}
END_TEST

/* For a minute. */
START_TEST(sessions_are_asked_for_again_after_a_while)
{
	struct rf_times times = short_times;
	struct rig rig;

	times.op_ms = times.hush_ms = times.tree_ms = 10000000;
	times.logout_ms = 20000000;
	rig_made(&rig, "dell", HOSTILE_FULL, &times);
	rig_ok(&rig, BU_POWER_STATUS);
	hostile_habits(rig.bmc, 0);
	bu_clock_advance(&rig.clock, 40000);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 1);
	bu_clock_advance(&rig.clock, 20000);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 2);
	ck_assert_int_eq(hostile_sessions(rig.bmc), 1);
	rig_end(&rig);
}
END_TEST

/* Nobody goes on with another's session, and none is left behind. */
START_TEST(another_password_ends_the_session)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_ok(&rig, BU_POWER_STATUS);
	rig.request.target.password = "hobbes";
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_DENIED);
	ck_assert_int_eq(hostile_sessions(rig.bmc), 0);
	ck_assert_int_eq(hostile_count(rig.bmc, "DELETE", "/Sessions/1"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(without_a_user_nothing_is_said_of_one)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_OPEN);
	rig.request.target.user = rig.request.target.password = NULL;
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 0);
	hostile_habits(rig.bmc, 0);
	rig_fails(&rig, BU_POWER_STATUS, BU_ERR_DENIED, "status 401");
	ck_assert_int_eq(hostile_passwords(rig.bmc), 0);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 0);
	rig_end(&rig);
}
END_TEST

/* rig_end() looks whether a session is left; here it ends at every request of an
 * operation. */
START_TEST(no_session_is_left_wherever_it_is_cancelled)
{
	struct rf_times times = short_times;
	int ended = 0;

	times.hush_ms = times.logout_ms = 60000;
	times.gap_ms = times.open_ms = 1; /* are steps, too */
	for (int steps = 0; steps < 60 && !ended; steps++) {
		struct bu_power_call *call;
		struct rig rig;

		rig_times(&rig, "dell", 0, &times);
		call = rig_start(&rig, BU_POWER_BOOT_FIRST);
		for (int i = 0; i < steps && !rig.done; i++)
			bu_loop_step(rig.loop, 1);
		ended = rig.done;
		if (!ended) {
			bu_power_redfish.cancel(rig.driver, call);
			rig.request.target.user = rig.request.target.password = NULL;
		}
		ck_assert_int_eq(rig.done, ended);
		rig_end(&rig);
	}
	ck_assert_msg(ended, "it never came to its end");
}
END_TEST

START_TEST(no_free_session_means_basic)
{
	static const int habits[] = {HOSTILE_FULL, HOSTILE_NO_SESSIONS};

	for (size_t i = 0; i < BU_LEN(habits); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", habits[i]);
		for (int k = 0; k < 3; k++)
			rig_ok(&rig, BU_POWER_STATUS);
		rig_ok(&rig, BU_POWER_SWITCH_OFF);
		ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 1);
		ck_assert_int_eq(hostile_passwords(rig.bmc), 0);
		rig_end(&rig);
	}
}
END_TEST

/* Nothing is tried there that could be taken for a wrong password. */
START_TEST(a_root_without_sessions_means_basic)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_NO_SERVICE);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_ok(&rig, BU_POWER_SWITCH_OFF);
	ck_assert_str_eq(hostile_power(rig.bmc), "Off");
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 0);
	rig.request.target.password = "hobbes";
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_DENIED);
	ck_assert_int_eq(hostile_passwords(rig.bmc), 1);
	rig_end(&rig);
}
END_TEST

/* A root without Links has a service all the same, and another cannot be read. */
START_TEST(sessions_that_the_root_does_not_link_are_at_the_usual_place)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_set(rig.bmc, "/redfish/v1/", "Links", json_null());
	hostile_set(rig.bmc, "/redfish/v1/", "SessionService", json_object());
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/SessionService/Sessions"), 1);
	rig_end(&rig);
	rig_begin(&rig, "dell", 0);
	hostile_plan(rig.bmc, "GET", "/redfish/v1/", 403, NULL, 1);
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/SessionService/Sessions"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(an_expired_token_is_renewed_once)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_FORGETS);
	rig_ok(&rig, BU_POWER_STATUS);
	rig_ok(&rig, BU_POWER_IDENTITY);
	ck_assert_int_ge(hostile_count(rig.bmc, "POST", "/Sessions"), 2);
	hostile_habits(rig.bmc, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(a_bmc_that_denies_its_own_tokens_is_not_asked_for_ever)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_DENIES_TOKENS);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
	ck_assert_int_le(hostile_count(rig.bmc, "POST", "/Sessions"), 2);
	hostile_habits(rig.bmc, 0);
	bu_power_redfish.close(rig.driver);
	rig.driver = NULL;
	hostile_destroy(rig.bmc);
	bu_loop_destroy(rig.loop);
	free(rig.url);
}
END_TEST

/* A token is good for three requests there, and this takes more than six. */
START_TEST(an_operation_logs_in_twice_at_most)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_FORGETS | HOSTILE_NEW_ETAGS);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "its own sessions"));
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 2);
	hostile_habits(rig.bmc, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(an_operation_tries_a_wrong_password_once)
{
	static const int habits[] = {0, HOSTILE_FULL, HOSTILE_NO_SESSIONS};

	for (size_t i = 0; i < BU_LEN(habits); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", habits[i]);
		rig.request.target.password = "hobbes";
		for (int k = 1; k <= 3; k++) {
			ck_assert_int_eq(rig_do(&rig, BU_POWER_IDENTITY),
					 BU_ERR_DENIED);
			ck_assert_int_eq(hostile_passwords(rig.bmc), k);
		}
		ck_assert_ptr_null(strstr(rig.err.text, "hobbes"));
		/* another one is another one */
		rig.request.target.password = "calvin";
		rig_ok(&rig, BU_POWER_STATUS);
		rig_end(&rig);
	}
}
END_TEST

/* The parts of an identity may be missing; each that is asked for would be a try. */
START_TEST(a_password_that_changes_meanwhile_ends_the_operation)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_NO_SESSIONS);
	hostile_plan(rig.bmc, "GET", "/EthernetInterfaces", 401, NULL, 1);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_IDENTITY), BU_ERR_DENIED);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/EthernetInterfaces"), 1);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Chassis/1"), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(operations_side_by_side_share_one_session)
{
	struct rig rig, beside;

	rig_begin(&rig, "dell", 0);
	beside = rig;
	rig_start(&rig, BU_POWER_IDENTITY);
	rig_start(&beside, BU_POWER_STATUS);
	while (!rig.done || !beside.done)
		bu_loop_step(rig.loop, 10);
	ck_assert_int_eq(rig.err.kind, BU_ERR_NONE);
	ck_assert_int_eq(beside.err.kind, BU_ERR_NONE);
	ck_assert_int_eq(hostile_count(rig.bmc, "POST", "/Sessions"), 1);
	ck_assert_int_eq(hostile_most(rig.bmc), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_password_to_change_is_said)
{
	struct rig rig;

	/* the password is right: it counts as no refusal */
	rig_begin(&rig, "dell", HOSTILE_NEW_PASSWORD);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "AccountService/Accounts/7"));
	rig_end(&rig);
}
END_TEST

static void
rig_tls(struct rig *rig)
{
	rig_begin(rig, "dell", 0);
	hostile_destroy(rig->bmc);
	rig->bmc = hostile_create(hostile_shape("dell"), 0, 1);
	free(rig->url);
	rig->url = bu_xstrdup(hostile_url(rig->bmc));
}

START_TEST(the_certificate_is_pinned)
{
	struct rig rig;
	char other[BU_DIGEST_SIZE];

	rig_tls(&rig);
	rig.request.target.fingerprint = hostile_fingerprint(rig.bmc);
	rig_ok(&rig, BU_POWER_STATUS);
	/* a kept connection is no way around it */
	memset(other, 'a', sizeof(other) - 1);
	other[sizeof(other) - 1] = '\0';
	rig.request.target.fingerprint = other;
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(rig.err.text, hostile_fingerprint(rig.bmc)));
	rig_end(&rig);
}
END_TEST

START_TEST(a_changed_certificate_gets_no_password)
{
	struct rig rig;
	char other[BU_DIGEST_SIZE];

	rig_tls(&rig);
	memset(other, 'b', sizeof(other) - 1);
	other[sizeof(other) - 1] = '\0';
	rig.request.target.fingerprint = other;
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_VERIFY);
	ck_assert_int_eq(hostile_count(rig.bmc, NULL, NULL), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(without_a_pin_the_cas_decide)
{
	struct rig rig;

	rig_tls(&rig);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_STATUS), BU_ERR_VERIFY);
	/* what to pin is said */
	ck_assert_ptr_nonnull(strstr(rig.err.text, hostile_fingerprint(rig.bmc)));
	ck_assert_int_eq(hostile_count(rig.bmc, NULL, NULL), 0);
	rig_end(&rig);
}
END_TEST

static void
on_status(const json_t *reply, const struct bu_err *err, void *arg)
{
	ck_assert_msg(err == NULL, "%s", err ? err->text : "");
	ck_assert_str_eq(bu_json_str(reply, "power", ""), "on");
	*(int *)arg = 1;
}

/* As bringupd ends it: its end of the pipe closed, TERM, a second. */
START_TEST(a_program_that_is_ended_leaves_no_session)
{
	static const char *const argv[] = {BU_BUILDDIR "/bringup-power",
					   "--bmc-networks", "127.0.0.0/8", NULL};
	char path[] = "/tmp/bringup-redfish-XXXXXX";
	bu_autofree char *reference = NULL;
	bu_autojson json_t *request = NULL;
	struct bu_service *service;
	struct rig rig;
	int done = 0, fd = mkstemp(path);

	ck_assert_int_eq(bu_write_all(fd, "root:calvin\n", 12, NULL), 0);
	close(fd);
	rig_begin(&rig, "dell", 0);
	reference = bu_xasprintf("file:%s", path);
	request = json_pack("{s:s,s:s,s:s,s:s}", "driver", "redfish", "target", rig.url,
			    "op", "status", "credentials", reference);
	service = bu_service_start(rig.loop, argv, NULL, NULL, NULL);
	ck_assert_ptr_nonnull(service);
	bu_service_call(service, request, 30000, on_status, &done);
	rig_until(&rig, done);
	ck_assert_int_eq(hostile_sessions(rig.bmc), 1);
	bu_service_destroy(service);
	ck_assert_int_eq(hostile_sessions(rig.bmc), 0);
	unlink(path);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish session", a_login_is_refused_or_there_are_no_sessions,
	a_session_is_ended_by_its_name, sessions_are_asked_for_again_after_a_while,
	another_password_ends_the_session, without_a_user_nothing_is_said_of_one,
	one_session_serves_and_is_ended_when_idle,
	no_session_is_left_wherever_it_is_cancelled, no_free_session_means_basic,
	a_root_without_sessions_means_basic,
	sessions_that_the_root_does_not_link_are_at_the_usual_place,
	an_expired_token_is_renewed_once,
	a_bmc_that_denies_its_own_tokens_is_not_asked_for_ever,
	an_operation_logs_in_twice_at_most, a_program_that_is_ended_leaves_no_session,
	an_operation_tries_a_wrong_password_once,
	a_password_that_changes_meanwhile_ends_the_operation,
	operations_side_by_side_share_one_session, a_password_to_change_is_said,
	the_certificate_is_pinned, a_changed_certificate_gets_no_password,
	without_a_pin_the_cas_decide)
