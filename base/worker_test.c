/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs run real programs; the service is this program itself, started with "serve". */
#include "base/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/support/unit.h"

START_TEST(a_job_gives_back_what_it_printed)
{
	const char *argv[] = {"sh", "-c", "cat; echo $WORD", NULL};
	const char *env[] = {"WORD=there", NULL};
	struct bu_job_opts opts = {.argv = argv, .env = env, .input = "hello "};
	bu_autofree char *out = NULL;

	ck_assert_int_eq(bu_job_run(&opts, &out, NULL), 0);
	ck_assert_str_eq(out, "hello there\n");
}
END_TEST

START_TEST(a_failed_job_is_told_with_its_last_line)
{
	const char *argv[] = {"sh", "-c", "echo first >&2; echo no disk >&2; exit 7",
			      NULL};
	struct bu_job_opts opts = {.argv = argv};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_job_run(&opts, NULL, &err), -1);
	ck_assert_str_eq(err.text, "'sh' ended with 7: no disk");
}
END_TEST

START_TEST(a_missing_program_is_named)
{
	const char *argv[] = {"no-such-program-here", NULL};
	struct bu_job_opts opts = {.argv = argv};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_job_run(&opts, NULL, &err), -1);
	ck_assert_str_eq(err.text,
			 "run 'no-such-program-here': No such file or directory");
}
END_TEST

START_TEST(a_job_that_hangs_is_ended)
{
	const char *argv[] = {"sh", "-c", "trap '' TERM; while :; do sleep 1; done",
			      NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 50};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_job_run(&opts, NULL, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
}
END_TEST

/* As the ssh of a shell script, that does not hear TERM. It tells that it runs. */
#define CHILD "(trap '' TERM; echo >&$HELD; exec sleep 1000) & "

/* Each process of a job holds the end that it writes to. Owned, for its environment. */
static char *
hold(int ret_fds[2])
{
	ck_assert_int_eq(pipe(ret_fds), 0);
	return bu_xasprintf("HELD=%d", ret_fds[1]);
}

static void
is_held_no_more(const int held_fds[2])
{
	struct pollfd poll_fd = {.fd = held_fds[0], .events = POLLIN};
	char byte;
	ssize_t got;

	close(held_fds[1]);
	do {
		ck_assert_msg(poll(&poll_fd, 1, 10000) == 1, "it left a process");
		got = read(held_fds[0], &byte, 1);
	} while (got == 1);
	ck_assert_int_eq(got, 0);
	close(held_fds[0]);
}

START_TEST(a_late_job_leaves_nothing_behind)
{
	static const char *const rows[] = {"sleep 1000; echo no", CHILD "wait",
					   "trap '' TERM; " CHILD "wait; wait"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int fds[2];
		bu_autofree char *variable = hold(fds);
		const char *env[] = {variable, NULL};
		const char *argv[] = {"sh", "-c", rows[i], NULL};
		struct bu_job_opts opts = {
			.argv = argv, .env = env, .deadline_ms = 300};
		struct bu_job_end end = {0};

		ck_assert_int_eq(bu_job_wait(&opts, &end, NULL), 0);
		ck_assert_int_eq(end.timed_out, 1);
		is_held_no_more(fds);
		bu_job_end_fini(&end);
	}
}
END_TEST

static void
on_never(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	ck_abort_msg("a cancelled job has an end");
}

START_TEST(a_cancelled_job_leaves_nothing_behind)
{
	int fds[2];
	bu_autofree char *variable = hold(fds);
	const char *env[] = {variable, NULL};
	const char *argv[] = {"sh", "-c", CHILD "wait", NULL};
	struct bu_job_opts opts = {.argv = argv, .env = env};
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_job *job = bu_job_start(loop, &opts, on_never, NULL, NULL);
	char byte;

	ck_assert_ptr_nonnull(job);
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	bu_job_cancel(job);
	is_held_no_more(fds);
	bu_loop_destroy(loop);
}
END_TEST

/* One that asks a person: a background process that reads its terminal is stopped. */
START_TEST(a_job_may_keep_the_group)
{
	const char *argv[] = {"sh", "-c", "cut -d' ' -f5 /proc/self/stat", NULL};
	struct bu_job_opts opts = {.argv = argv, .same_group = 1};
	bu_autofree char *out = NULL;

	ck_assert_int_eq(bu_job_run(&opts, &out, NULL), 0);
	ck_assert_int_eq(strtol(out, NULL, 10), getpgrp());
}
END_TEST

/* It never lets its reader come to an end. */
START_TEST(a_job_that_writes_without_an_end_is_ended)
{
	const char *argv[] = {"yes", NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 200, .output_max = 100};
	struct bu_job_end end = {0};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_job_wait(&opts, &end, &err), 0);
	ck_assert_int_eq(end.timed_out, 1);
	ck_assert_uint_eq(strlen(end.out), 100);
	bu_job_end_fini(&end);
}
END_TEST

/* As after `trap '' CHLD` in a shell: that is inherited. */
START_TEST(exit_statuses_are_seen_by_a_caller_that_ignored_them)
{
	const char *argv[] = {"sh", "-c", "exit 7", NULL};
	struct bu_job_opts opts = {.argv = argv};
	struct bu_err err = {0};

	signal(SIGCHLD, SIG_IGN);
	ck_assert_int_eq(bu_job_run(&opts, NULL, &err), -1);
	ck_assert_str_eq(err.text, "'sh' ended with 7");
}
END_TEST

static void
on_stolen(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	ck_assert_int_eq(result->exit_code, -1);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->kind, BU_ERR_IO);
	ck_assert_int_eq(err->sys_errno, ECHILD);
	bu_loop_stop(arg);
}

START_TEST(a_job_whose_status_is_lost_is_no_success)
{
	const char *argv[] = {"true", NULL};
	struct bu_job_opts opts = {.argv = argv};
	struct bu_loop *loop = bu_loop_create(NULL);

	ck_assert_ptr_nonnull(bu_job_start(loop, &opts, on_stolen, loop, NULL));
	ck_assert_int_gt(waitpid(-1, NULL, 0), 0);
	bu_loop_run(loop);
	bu_loop_destroy(loop);
}
END_TEST

struct talk {
	struct bu_loop *loop;
	int answers;
	int timeouts;
	int errors;
	int gone;
	char said[64];
};

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct talk *talk = arg;

	if (reply)
		snprintf(talk->said, sizeof(talk->said), "%s",
			 bu_json_str(reply, "echo", "?"));
	talk->answers += reply != NULL;
	talk->timeouts += err && err->kind == BU_ERR_TIMEOUT;
	talk->errors += err && err->kind == BU_ERR_DENIED;
	bu_loop_stop(talk->loop);
}

static void
on_exit_seen(const struct bu_err *err, void *arg)
{
	struct talk *talk = arg;

	talk->gone++;
	bu_loop_stop(talk->loop);
}

static struct bu_service *
start(struct talk *talk)
{
	const char *argv[] = {"/proc/self/exe", "serve", NULL};
	struct bu_service *service;

	memset(talk, 0, sizeof(*talk));
	talk->loop = bu_loop_create(NULL);
	service = bu_service_start(talk->loop, argv, on_exit_seen, talk, NULL);
	ck_assert_ptr_nonnull(service);
	return service;
}

static void
ask(struct bu_service *service, const char *say, int64_t deadline_ms, struct talk *talk)
{
	bu_autojson json_t *request = json_pack("{s:s}", "say", say);

	bu_service_call(service, request, deadline_ms, on_reply, talk);
	bu_loop_run(talk->loop);
}

START_TEST(a_service_answers_refuses_and_is_late)
{
	struct talk talk;
	struct bu_service *service = start(&talk);

	ask(service, "hello", 20000, &talk);
	ck_assert_int_eq(talk.answers, 1);
	ck_assert_str_eq(talk.said, "hello");
	ask(service, "refuse", 20000, &talk);
	ck_assert_int_eq(talk.errors, 1);
	ask(service, "silence", 30, &talk);
	ck_assert_int_eq(talk.timeouts, 1);
	ask(service, "again", 20000, &talk);
	ck_assert_int_eq(talk.answers, 2);
	bu_service_destroy(service);
	bu_loop_destroy(talk.loop);
}
END_TEST

START_TEST(a_dead_service_answers_every_call_with_an_error)
{
	struct talk talk;
	struct bu_service *service = start(&talk);

	ask(service, "die", 20000, &talk);
	bu_loop_step(talk.loop, 0);
	ck_assert_int_eq(talk.gone, 1);
	ck_assert_int_eq(talk.answers, 0);
	ask(service, "hello", 20000, &talk);
	ck_assert_int_eq(talk.timeouts, 1);
	bu_service_destroy(service);
	bu_loop_destroy(talk.loop);
}
END_TEST

struct asker {
	struct bu_service *service;
	struct talk *talk;
	int seen;
};

static void
on_asker(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct asker *asker = arg;
	bu_autojson json_t *request = json_pack("{s:s}", "say", "again");

	asker->seen++;
	bu_service_call(asker->service, request, 20000, on_reply, asker->talk);
}

START_TEST(a_callback_may_call_while_the_child_goes)
{
	struct talk talk;
	struct asker one = {.service = start(&talk), .talk = &talk};
	struct asker two = one;
	bu_autojson json_t *silence = json_pack("{s:s}", "say", "silence");
	bu_autojson json_t *die = json_pack("{s:s}", "say", "die");

	bu_service_call(one.service, silence, 20000, on_asker, &one);
	bu_service_call(one.service, silence, 20000, on_asker, &two);
	bu_service_call(one.service, die, 20000, on_reply, &talk);
	while (!talk.gone)
		bu_loop_step(talk.loop, 1000);
	ck_assert_int_eq(one.seen, 1);
	ck_assert_int_eq(two.seen, 1);
	while (talk.timeouts < 2)
		bu_loop_step(talk.loop, 1000); /* the new calls end on their own */
	bu_service_destroy(one.service);
	bu_loop_destroy(talk.loop);
}
END_TEST

static int
serve(void)
{
	for (;;) {
		bu_autojson json_t *request = bu_frame_read(BU_WORKER_FD, NULL);
		const char *say = bu_json_str(request, "say", "");
		json_int_t id = bu_json_int(request, "id", 0);
		bu_autojson json_t *reply = NULL;

		if (!request || strcmp(say, "die") == 0)
			return 3;
		if (strcmp(say, "silence") == 0)
			continue;
		if (strcmp(say, "refuse") == 0)
			reply = json_pack("{s:I,s:{s:s,s:s}}", "id", id, "error",
					  "kind", "denied", "text", "no");
		else
			reply = json_pack("{s:I,s:s}", "id", id, "echo", say);
		if (bu_frame_write(BU_WORKER_FD, reply, NULL) != 0)
			return 4;
	}
}

int
main(int argc, char **argv)
{
	const TTest *const tests[] = {
		a_job_gives_back_what_it_printed,
		a_failed_job_is_told_with_its_last_line,
		a_missing_program_is_named,
		a_job_that_hangs_is_ended,
		a_late_job_leaves_nothing_behind,
		a_cancelled_job_leaves_nothing_behind,
		a_job_may_keep_the_group,
		a_job_that_writes_without_an_end_is_ended,
		exit_statuses_are_seen_by_a_caller_that_ignored_them,
		a_job_whose_status_is_lost_is_no_success,
		a_service_answers_refuses_and_is_late,
		a_dead_service_answers_every_call_with_an_error,
		a_callback_may_call_while_the_child_goes,
	};

	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	return bu_unit_run("worker", tests, BU_LEN(tests));
}
