/* SPDX-License-Identifier: Apache-2.0 */
/* As whom a BMC of paper is spoken to: it takes one password, and counts the tries. */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/unit.h"

static struct {
	char dir[64], path[80], reference[90];
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_performer *performer;
	int tries, answers, cancelled;
	int good;    /* so many calls are answered, whatever the password */
	int by_turn; /* calls are answered one by one, by answer_next() */
	enum bu_power_state state;
	struct bu_power_call *calls;
	char user[40], password[40], fingerprint[65];
	struct bu_err err;
} site;

struct bu_power_call {
	struct bu_power_call *next;
	const struct bu_power_request *request;
	bu_power_done_fn fn;
	void *arg;
};

static void
answer(const struct bu_power_request *request, bu_power_done_fn fn, void *arg)
{
	const struct bu_power_target *target = &request->target;
	struct bu_power_answer done = {.state = site.state};
	struct bu_err err;

	site.tries++;
	snprintf(site.user, sizeof(site.user), "%s", target->user ? target->user : "");
	snprintf(site.password, sizeof(site.password), "%s",
		 target->password ? target->password : "");
	snprintf(site.fingerprint, sizeof(site.fingerprint), "%s",
		 target->fingerprint ? target->fingerprint : "");
	if (strcmp(site.password, "right:1") == 0 || site.good-- > 0) {
		fn(&done, NULL, arg);
	} else {
		bu_err_set(&err, BU_ERR_DENIED, 0, "%s: wrong password", target->bmc);
		fn(NULL, &err, arg);
	}
}

static struct bu_power_call *
paper_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	    void *arg)
{
	struct bu_power_call *call, **link = &site.calls;

	if (!site.by_turn) {
		answer(request, fn, arg);
		return NULL;
	}
	call = bu_xcalloc(1, sizeof(*call));
	*call = (struct bu_power_call){NULL, request, fn, arg};
	while (*link)
		link = &(*link)->next;
	*link = call;
	return call;
}

static void
take_out(struct bu_power_call *call)
{
	struct bu_power_call **link = &site.calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	free(call);
}

static void
paper_cancel(void *self, struct bu_power_call *call)
{
	site.cancelled++;
	take_out(call);
}

static void
answer_next(void)
{
	struct bu_power_call first = *site.calls;

	take_out(site.calls);
	answer(first.request, first.fn, first.arg);
}

static const struct bu_power_driver driver = {
	.name = "paper", .start = paper_start, .cancel = paper_cancel};

static void
begin(void)
{
	memset(&site, 0, sizeof(site));
	strcpy(site.dir, "/tmp/bringup-bmc-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site.dir));
	snprintf(site.path, sizeof(site.path), "%s/bmc", site.dir);
	snprintf(site.reference, sizeof(site.reference), "file:%s", site.path);
	site.state = BU_POWER_ON;
	bu_clock_fake(&site.clock, 0);
	site.loop = bu_loop_create(&site.clock);
	site.performer = bu_performer_create(site.loop, &driver, NULL);
}

static void
finish(void)
{
	bu_performer_destroy(site.performer);
	bu_loop_destroy(site.loop);
	ck_assert_int_eq(bu_remove_tree(site.dir, NULL), 0);
}

static void
put(const char *text, mode_t mode)
{
	ck_assert_int_eq(bu_file_write(site.path, text, strlen(text), mode, NULL), 0);
	ck_assert_int_eq(chmod(site.path, mode), 0);
}

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	site.answers++;
	site.err = err ? *err : (struct bu_err){0};
}

static void
ask(const char *reference, const char *bmc)
{
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s,s:s}", "op", "status", "target", bmc,
			  "credentials", reference, "fingerprint", "ab12");
	int answers = site.answers;

	bu_perform(site.performer, request, on_reply, NULL);
	for (int i = 0; i < 1000 && site.answers == answers; i++)
		bu_loop_step(site.loop, 20);
	ck_assert_int_eq(site.answers, answers + 1);
}

START_TEST(a_secret_is_read_for_each_request)
{
	begin();
	put("admin:right:1\n", 0600);
	ask(site.reference, "b");
	ck_assert_int_eq(site.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(site.user, "admin");
	ck_assert_str_eq(site.password, "right:1");
	ck_assert_str_eq(site.fingerprint, "ab12");
	put("root:other", 0600);
	ask(site.reference, "b");
	ck_assert_str_eq(site.user, "root");
	ck_assert_str_eq(site.password, "other");
	finish();
}
END_TEST

START_TEST(a_program_gives_it_without_blocking_the_others)
{
	char exec[100];
	int answers;
	bu_autojson json_t *slow = NULL;

	begin();
	put("#!/bin/sh\nsleep 0.3\necho admin:right:1\n", 0700);
	snprintf(exec, sizeof(exec), "exec:%s", site.path);
	slow = json_pack("{s:s,s:s,s:s}", "op", "status", "target", "b", "credentials",
			 exec);
	bu_perform(site.performer, slow, on_reply, NULL);
	answers = site.answers;
	ck_assert_int_eq(answers, 0);
	ask("env:PATH", "c"); /* answered before */
	ck_assert_int_eq(site.answers, 1);
	while (site.answers < 2)
		bu_loop_step(site.loop, 20);
	ck_assert_str_eq(site.password, "right:1");
	ck_assert_int_eq(site.err.kind, BU_ERR_NONE);
	/* and what is under way at the end is taken back, with its program */
	put("#!/bin/sh\n: >$0.began\nexec sleep 60\n", 0700);
	bu_perform(site.performer, slow, on_reply, NULL);
	snprintf(exec, sizeof(exec), "%s.began", site.path);
	for (int i = 0; i < 1000 && access(exec, F_OK) != 0; i++)
		bu_loop_step(site.loop, 10);
	finish();
	ck_assert_int_eq(site.answers, 2);
	for (int i = 0; i < 100 && waitpid(-1, NULL, WNOHANG) != -1; i++)
		poll(NULL, 0, 10);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

/* Each row: what lies there; no BMC is asked, and no error says the secret. */
START_TEST(what_is_no_credential_is_refused_before_the_bmc_sees_it)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *want;
	} rows[] = {
		{"hunter2\n", 0600, "is not USER:PASSWORD on one line"},
		{":hunter2\n", 0600, "is not USER:PASSWORD on one line"},
		{"hunter2:\n", 0600, "is not USER:PASSWORD on one line"},
		{"hunter2:hunter2\n", 0644, "chmod 0600"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		begin();
		put(rows[i].text, rows[i].mode);
		ask(site.reference, "b");
		ck_assert_int_ne(site.err.kind, BU_ERR_NONE);
		ck_assert_msg(strstr(site.err.text, rows[i].want) != NULL, "%s",
			      site.err.text);
		ck_assert_ptr_null(strstr(site.err.text, "hunter2"));
		ck_assert_int_eq(site.tries, 0);
		finish();
	}
}
END_TEST

/* A BMC locks an account after some wrong passwords, and with it the people out. */
START_TEST(a_password_is_tried_twice_and_not_again_until_it_changes)
{
	begin();
	put("admin:wrong", 0600);
	for (int i = 0; i < 5; i++) {
		ask(site.reference, "b");
		/* it is no lack of a grant */
		ck_assert_int_eq(site.err.kind, BU_ERR_REMOTE);
	}
	ck_assert_int_eq(site.tries, 2);
	ck_assert_ptr_nonnull(
		strstr(site.err.text, "not tried again until they change"));
	/* the next BMC has counted nothing yet */
	ask(site.reference, "c");
	ck_assert_int_eq(site.tries, 3);
	put("admin:right:1", 0600);
	ask(site.reference, "b");
	ck_assert_int_eq(site.err.kind, BU_ERR_NONE);
	put("admin:worse", 0600);
	for (int i = 0; i < 5; i++)
		ask(site.reference, "b");
	ck_assert_int_eq(site.tries, 6);
	finish();
}
END_TEST

/* One BMC has the accounts of all machines behind it; another user is another one. */
START_TEST(machines_behind_one_bmc_share_the_tries)
{
	begin();
	for (int i = 0; i < 3; i++) {
		put("admin:wrong", 0600);
		ask(site.reference, "https://b:443/redfish/v1/Systems/1");
		ask(site.reference, "https://b:443/redfish/v1/Systems/2");
		ck_assert_int_eq(site.err.kind, BU_ERR_REMOTE);
		put("admin:right:1", 0600);
		ask(site.reference, "https://b:443/redfish/v1/Systems/3");
		ck_assert_int_eq(site.err.kind, BU_ERR_NONE);
	}
	ck_assert_int_eq(site.tries, 2 + 3);
	put("admin:wrong", 0600);
	ask(site.reference, "https://b:444/redfish/v1/Systems/1");
	ck_assert_int_eq(site.tries, 2 + 3 + 1);
	finish();
}
END_TEST

static void
send_off(const char *op, const char *bmc)
{
	bu_autojson json_t *request = json_pack("{s:s,s:s,s:s}", "op", op, "target",
						bmc, "credentials", site.reference);

	bu_perform(site.performer, request, on_reply, NULL);
}

/* The password changes at the BMC while a machine is watched going off. */
START_TEST(a_run_that_looks_again_and_again_tries_no_third_time)
{
	begin();
	put("admin:wrong", 0600);
	site.good = 3;
	send_off("off", "b");
	ck_assert_int_eq(site.answers, 0);
	for (int i = 0; i < 100 && site.answers == 0; i++) {
		bu_clock_advance(&site.clock, 250);
		bu_loop_step(site.loop, 0);
	}
	ck_assert_int_eq(site.answers, 1);
	ck_assert_int_eq(site.err.kind, BU_ERR_REMOTE);
	ck_assert_int_eq(site.tries, 3 + 2);
	finish();
}
END_TEST

START_TEST(who_waits_at_the_bmc_is_not_let_in)
{
	begin();
	put("admin:wrong", 0600);
	site.by_turn = 1;
	for (int i = 0; i < 4; i++)
		send_off("status", "b");
	answer_next();
	ck_assert_int_eq(site.cancelled, 0);
	answer_next();
	ck_assert_int_eq(site.cancelled, 2);
	ck_assert_ptr_null(site.calls);
	bu_clock_advance(&site.clock, 1);
	bu_loop_step(site.loop, 0);
	ck_assert_int_eq(site.answers, 4);
	ck_assert_ptr_nonnull(
		strstr(site.err.text, "not tried again until they change"));
	ck_assert_int_eq(site.tries, 2);
	finish();
}
END_TEST

BU_UNIT("credentials", a_secret_is_read_for_each_request,
	a_program_gives_it_without_blocking_the_others,
	what_is_no_credential_is_refused_before_the_bmc_sees_it,
	a_password_is_tried_twice_and_not_again_until_it_changes,
	machines_behind_one_bmc_share_the_tries,
	a_run_that_looks_again_and_again_tries_no_third_time,
	who_waits_at_the_bmc_is_not_let_in)
