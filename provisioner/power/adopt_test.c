/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BMC of paper that still has the password that it came with. What asks it runs in a
 * child, which is killed before and after each thing that the BMC does; the BMC lives
 * on in shared memory, and locks its account at the third wrong password.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/unit.h"

enum { LOCKS_AT = 3, EVENTS_MAX = 12, MINUTE_MS = 60000 };

struct bmc {
	char password[40];
	int wrong; /* in a row */
	int worst, changes;
	int forgets; /* it says yes to a change, and knows another password then */
	enum bu_err_kind away; /* it is not reached, or says nothing */
	int busy;              /* so many changes fail */
	int loses;             /* the change after them is made, and its answer lost */
	int failures;
	int events, kill_at;
	char said[512];
};

static struct {
	char dir[64];
	struct bmc *bmc;
	int64_t wall_ms;
	int asks;    /* so many requests; 0 = 1 */
	int rotates; /* the pool names the password of before */
	int systems; /* each is for another machine behind the BMC */
	int mends;   /* before this request the site is told what the BMC knows */
} site;

static void
step(void)
{
	if (++site.bmc->events == site.bmc->kill_at)
		raise(SIGKILL);
}

static struct bu_power_call *
paper_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	    void *arg)
{
	struct bmc *bmc = site.bmc;
	struct bu_power_answer done = {.state = BU_POWER_ON};
	struct bu_err err = {0};

	step();
	if (bmc->away) {
		bu_err_set(&err, bmc->away, 0, "not reached");
	} else if (bmc->wrong >= LOCKS_AT ||
		   strcmp(request->target.password, bmc->password)) {
		bmc->wrong++;
		bu_err_set(&err, BU_ERR_DENIED, 0, "wrong password");
	} else if (request->op == BU_POWER_SET_PASSWORD && bmc->busy-- > 0) {
		bmc->wrong = 0;
		bu_err_set(&err, BU_ERR_REMOTE, 0, "busy");
	} else {
		bmc->wrong = 0;
		bmc->changes += request->op == BU_POWER_SET_PASSWORD;
		if (request->op == BU_POWER_SET_PASSWORD)
			strcpy(bmc->password,
			       bmc->forgets ? "lost" : request->new_password);
		if (request->op == BU_POWER_SET_PASSWORD && bmc->loses)
			bu_err_set(&err, BU_ERR_REMOTE, 0, "no answer");
	}
	if (bmc->wrong > bmc->worst)
		bmc->worst = bmc->wrong;
	step();
	fn(err.kind ? NULL : &done, err.kind ? &err : NULL, arg);
	return NULL;
}

static void
paper_cancel(void *self, struct bu_power_call *call)
{
}

static const struct bu_power_driver driver = {
	.name = "paper", .start = paper_start, .cancel = paper_cancel};

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", site.dir, name);

	ck_assert_int_eq(bu_file_write_text(path, 0600, NULL, "%s\n", text), 0);
}

static void
begin(const char *password)
{
	site.bmc = mmap(NULL, sizeof(*site.bmc), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(site.bmc != MAP_FAILED);
	strcpy(site.bmc->password, password);
	site.asks = site.systems = site.rotates = site.mends = 0;
	strcpy(site.dir, "/tmp/bringup-adopt-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site.dir));
	site.wall_ms = 1700000000000;
	put("ours", "admin:site-secret");
	put("factory", "admin:calvin");
}

static void
finish(void)
{
	ck_assert_int_eq(bu_remove_tree(site.dir, NULL), 0);
	munmap(site.bmc, sizeof(*site.bmc));
}

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	snprintf(site.bmc->said, sizeof(site.bmc->said), "%s", err ? err->text : "");
	site.bmc->failures += err != NULL;
	*(int *)arg = err ? 1 : 0;
}

static void
ask_once(struct bu_performer *performer, int i, int *ret)
{
	bu_autofree char *ours = bu_xasprintf("file:%s/ours", site.dir);
	bu_autofree char *factory = bu_xasprintf("file:%s/factory", site.dir);
	bu_autofree char *before = bu_xasprintf("file:%s/before", site.dir);
	bu_autofree char *target = site.systems
					   ? bu_xasprintf("https://bmc1/Systems/%d", i)
					   : bu_xstrdup("bmc1");
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s,s:s}", "op", "status", "target", target,
			  "credentials", ours, "factory", factory);

	if (site.rotates)
		json_object_set_new(request, "before", json_string(before));
	bu_perform(performer, request, on_reply, ret);
}

/* In the child: from reading the secrets to the answer. */
static void
ask(void)
{
	struct bu_clock clock;
	struct bu_loop *loop;
	bu_autofree char *journal = bu_xasprintf("%s/journal", site.dir);
	struct bu_performer *performer;
	int ret = 2;

	bu_clock_fake(&clock, 0);
	clock.fake_wall_ms = site.wall_ms;
	loop = bu_loop_create(&clock);
	performer = bu_performer_create(loop, &driver, NULL);
	bu_performer_journal(performer, journal);
	for (int i = 0; i < (site.asks ? site.asks : 1); i++) {
		ret = 2;
		if (i && i == site.mends) {
			put("ours", "admin:changed");
			site.bmc->wrong = 0; /* as BMCs do meanwhile */
		}
		ask_once(performer, i, &ret);
	}
	_exit(ret);
}

/* 0 answered, 1 failed, -1 killed at this event; 0 = at none. */
static int
run(int kill_at)
{
	int status;
	pid_t pid;

	site.bmc->events = 0;
	site.bmc->kill_at = kill_at;
	pid = fork();
	if (pid == 0)
		ask();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		ck_assert_int_eq(WTERMSIG(status), SIGKILL);
		return -1;
	}
	ck_assert_int_ne(WEXITSTATUS(status), 2);
	return WEXITSTATUS(status);
}

static void
is_ours(int kill_at)
{
	ck_assert_msg(run(0) == 0, "killed at %d: %s", kill_at, site.bmc->said);
	ck_assert_str_eq(site.bmc->password, "site-secret");
	ck_assert_msg(site.bmc->worst < LOCKS_AT, "killed at %d: %d wrong passwords",
		      kill_at, site.bmc->worst);
}

START_TEST(a_new_bmc_gets_our_password_without_a_wrong_one)
{
	begin("calvin");
	is_ours(0);
	ck_assert_int_eq(site.bmc->worst, 0);
	ck_assert_int_eq(site.bmc->changes, 1);
	/* what it came with is retired: not read, and not tried on one that was reset
	 */
	put("factory", "admin:another");
	is_ours(0);
	put("factory", "admin:calvin");
	strcpy(site.bmc->password, "calvin");
	ck_assert_int_eq(run(0), 1);
	ck_assert_str_eq(site.bmc->password, "calvin");
	finish();
}
END_TEST

/* Once, whichever point it is; and once more, while it recovers. */
START_TEST(a_kill_at_any_point_loses_and_locks_nothing)
{
	int killed = 1;

	for (int first = 1; killed && first < EVENTS_MAX; first++) {
		begin("calvin");
		killed = run(first) == -1;
		is_ours(first);
		ck_assert(!killed || first <= 8); /* two for each thing asked */
		finish();
	}
	ck_assert(!killed);
	for (int first = 1; first < EVENTS_MAX; first++)
		for (int second = 1; second < EVENTS_MAX; second++) {
			begin("calvin");
			run(first);
			run(second);
			run(0);
			ck_assert_int_lt(site.bmc->worst, LOCKS_AT);
			site.wall_ms += 16 * MINUTE_MS;
			site.bmc->wrong = 0; /* as BMCs do meanwhile */
			is_ours(first);
			finish();
		}
}
END_TEST

START_TEST(one_that_is_ours_already_is_left_as_it_is)
{
	for (int first = 1; first < 6; first++) {
		begin("site-secret");
		run(first);
		run(0);
		ck_assert_int_lt(site.bmc->worst, LOCKS_AT);
		site.wall_ms += 16 * MINUTE_MS;
		site.bmc->wrong = 0;
		is_ours(first);
		ck_assert_int_eq(site.bmc->changes, 0);
		finish();
	}
}
END_TEST

/* Somebody changed it behind our back: ours are tried twice, not with each request, and
 * again when they are others. */
START_TEST(one_that_was_ours_is_tried_twice)
{
	begin("calvin");
	is_ours(0);
	strcpy(site.bmc->password, "changed");
	site.asks = 5;
	ck_assert_int_eq(run(0), 1);
	ck_assert_int_eq(site.bmc->worst, 2);
	ck_assert_ptr_nonnull(strstr(site.bmc->said, "until they change"));
	site.bmc->wrong = site.bmc->worst = 0;
	site.mends = 4;
	ck_assert_msg(run(0) == 0, "%s", site.bmc->said);
	ck_assert_int_lt(site.bmc->worst, LOCKS_AT);
	finish();
}
END_TEST

START_TEST(one_that_takes_neither_is_left_alone)
{
	begin("unknown");
	ck_assert_int_eq(run(0), 1);
	ck_assert_ptr_nonnull(strstr(site.bmc->said, "correct one of them"));
	ck_assert_int_eq(site.bmc->worst, 2);
	for (int i = 0; i < 5; i++) {
		site.wall_ms += MINUTE_MS;
		ck_assert_int_eq(run(0), 1);
		ck_assert_ptr_nonnull(strstr(site.bmc->said, "left alone"));
	}
	ck_assert_int_eq(site.bmc->worst, 2);
	/* after a while as often as at first */
	site.wall_ms += 16 * MINUTE_MS;
	site.bmc->wrong = 0;
	ck_assert_int_eq(run(0), 1);
	ck_assert_int_eq(site.bmc->wrong, 2);
	/* and with what is right now */
	site.wall_ms += 16 * MINUTE_MS;
	site.bmc->wrong = 0;
	put("factory", "admin:unknown");
	is_ours(0);
	finish();
}
END_TEST

/* Whoever cannot say how often it was tried would lock the account. */
START_TEST(a_damaged_count_of_tries_is_no_licence_to_try)
{
	static const struct {
		const char *sed, *says;
	} rows[] = {
		{"s/\"tries\":\\([0-9]*\\)/\"tries\":\"\\1\"/",
		 ".json: tries: expected a whole number"},
		{"s/\"tries\":/\"tried\":/", ".json: tries: missing"},
		{"s/\"at_ms\":/\"at\":/", ".json: at_ms: missing"},
		{"s/\"phase\":/\"stage\":/", ".json: phase: missing"},
		{"s/\"ours\":/\"hers\":/", ".json: ours: missing"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *spoil = NULL;

		begin("unknown");
		ck_assert_int_eq(run(0), 1);
		ck_assert_int_eq(site.bmc->worst, 2);
		spoil = bu_xasprintf("sed -i '%s' %s/journal/*.json", rows[i].sed,
				     site.dir);
		ck_assert_int_eq(system(spoil), 0);
		ck_assert_int_eq(run(0), 1);
		ck_assert_msg(strstr(site.bmc->said, rows[i].says) != NULL, "%s",
			      site.bmc->said);
		ck_assert_int_eq(site.bmc->worst, 2);
		finish();
	}
}
END_TEST

/* Nobody has seen a password: as often as one likes. Who is silent may have. */
START_TEST(one_that_is_not_reached_has_refused_nothing)
{
	begin("calvin");
	site.bmc->away = BU_ERR_REMOTE;
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(run(0), 1);
		ck_assert_str_eq(site.bmc->said, "not reached");
	}
	site.bmc->away = BU_ERR_NONE;
	is_ours(0);
	finish();
	begin("calvin");
	site.bmc->away = BU_ERR_TIMEOUT;
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(run(0), 1);
		ck_assert_str_eq(site.bmc->said, "not reached");
	}
	ck_assert_int_eq(run(0), 1);
	ck_assert_ptr_nonnull(strstr(site.bmc->said, "left alone"));
	finish();
}
END_TEST

START_TEST(one_that_was_busy_is_adopted_later)
{
	for (int loses = 0; loses < 2; loses++) {
		begin("calvin");
		site.bmc->busy = 3;
		site.bmc->loses = loses;
		site.asks = 4 + loses;
		is_ours(0);
		ck_assert_int_eq(site.bmc->failures, 3 + loses);
		ck_assert_int_eq(site.bmc->changes, 1);
		ck_assert_int_eq(site.bmc->worst, 1);
		finish();
	}
}
END_TEST

START_TEST(each_machine_of_one_bmc_finds_it_adopted)
{
	begin("calvin");
	site.systems = 1;
	site.asks = 5;
	is_ours(0);
	ck_assert_int_eq(site.bmc->failures, 0);
	ck_assert_int_eq(site.bmc->changes, 1);
	ck_assert_int_eq(site.bmc->worst, 1);
	finish();
}
END_TEST

START_TEST(a_rotation_is_a_change_from_the_one_of_before)
{
	begin("calvin");
	is_ours(0);
	put("factory", "admin:site-secret");
	put("ours", "admin:next-secret");
	ck_assert_int_eq(run(3), -1);
	ck_assert_msg(run(0) == 0, "%s", site.bmc->said);
	ck_assert_str_eq(site.bmc->password, "next-secret");
	ck_assert_int_lt(site.bmc->worst, LOCKS_AT);
	finish();
}
END_TEST

/* The pool names the one of before; what is racked meanwhile came with its own. A kill
 * in between does not take the one for the other. */
START_TEST(a_rotation_hides_no_factory_password)
{
	for (int kill_at = 0; kill_at < EVENTS_MAX; kill_at++) {
		begin("calvin");
		site.rotates = 1;
		put("before", "admin:old-secret");
		run(kill_at);
		is_ours(0);
		put("before", "admin:site-secret");
		put("ours", "admin:next-secret");
		run(kill_at);
		ck_assert_msg(run(0) == 0, "%s", site.bmc->said);
		ck_assert_str_eq(site.bmc->password, "next-secret");
		ck_assert_int_lt(site.bmc->worst, 2);
		finish();
	}
}
END_TEST

START_TEST(what_cannot_be_changed_is_said)
{
	begin("calvin");
	put("factory", "root:calvin");
	ck_assert_int_eq(run(0), 1);
	ck_assert_ptr_nonnull(strstr(site.bmc->said, "of another user"));
	ck_assert_int_eq(site.bmc->events, 0);
	put("factory", "admin:calvin");
	site.bmc->forgets = 1;
	ck_assert_int_eq(run(0), 1);
	ck_assert_ptr_nonnull(strstr(site.bmc->said, "and refuses it now"));
	ck_assert_int_eq(site.bmc->changes, 1);
	ck_assert_ptr_null(strstr(site.bmc->said, "calvin"));
	finish();
}
END_TEST

BU_UNIT("adopt", one_that_was_ours_is_tried_twice,
	a_new_bmc_gets_our_password_without_a_wrong_one,
	a_kill_at_any_point_loses_and_locks_nothing,
	a_damaged_count_of_tries_is_no_licence_to_try,
	one_that_is_ours_already_is_left_as_it_is, one_that_takes_neither_is_left_alone,
	one_that_is_not_reached_has_refused_nothing, one_that_was_busy_is_adopted_later,
	each_machine_of_one_bmc_finds_it_adopted,
	a_rotation_is_a_change_from_the_one_of_before,
	a_rotation_hides_no_factory_password, what_cannot_be_changed_is_said)
