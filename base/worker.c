/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs and daemons: children without a conversation. Services are in service.c.
 *
 * A job is over when its process has ended; what its own children still hold open is
 * not waited for. One that is late or cancelled is ended with all of its process group,
 * so that a script leaves nothing behind that hangs. Its callback runs exactly once
 * unless it is cancelled.
 */
#include "base/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"

enum { OUTPUT_MAX = 1024 * 1024, KILL_AFTER_MS = 2000, READS_MAX = 16 };

struct stream {
	int fd;
	struct bu_watch *watch;
	char *text;
	size_t size;
	size_t cap;
	size_t max;
	int secret;
};

struct bu_job {
	struct bu_loop *loop;
	char *name;
	pid_t pid;
	int pidfd;
	struct bu_watch *ended;
	struct bu_timer *deadline;
	int64_t deadline_ms;
	int timed_out;
	int group; /* it leads one */
	struct stream out;
	struct stream errs;
	int input_fd;
	struct bu_watch *input_watch;
	char *input;
	size_t input_size;
	size_t input_done;
	bu_job_fn fn;
	void *arg;
};

/* So many reads at most: one that writes without an end must not keep the loop. */
static void
stream_read(struct stream *stream, size_t reads)
{
	char buf[16384];
	ssize_t got = -1;

	while (reads-- > 0 && (got = read(stream->fd, buf, sizeof(buf))) > 0) {
		size_t room = stream->max - stream->size;
		size_t keep = (size_t)got < room ? (size_t)got : room;

		stream->text = bu_xgrow(stream->text, &stream->cap,
					stream->size + keep + 1, 1);
		memcpy(stream->text + stream->size, buf, keep);
		stream->size += keep;
	}
	if (stream->secret)
		explicit_bzero(buf, sizeof(buf));
	if (got == 0) {
		bu_watch_destroy(stream->watch);
		stream->watch = NULL;
	}
}

static void
on_stream(int fd, int what, void *arg)
{
	stream_read(arg, READS_MAX);
}

/* What was written until the process ended, as much of it as is kept. */
static void
stream_drain(struct stream *stream)
{
	if (stream->watch)
		stream_read(stream, READS_MAX + stream->max / 4096);
}

static void
stream_init(struct bu_loop *loop, struct stream *stream, int fd, size_t max, int secret)
{
	stream->fd = fd;
	stream->max = max;
	stream->secret = secret;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	/* What grows leaves copies behind. */
	stream->text = bu_xgrow(NULL, &stream->cap, secret ? max + 1 : 1, 1);
	stream->watch = bu_watch_create(loop, fd, BU_READABLE, on_stream, stream);
}

static void
stream_fini(struct stream *stream)
{
	bu_watch_destroy(stream->watch);
	if (stream->fd >= 0)
		close(stream->fd);
	if (stream->secret)
		explicit_bzero(stream->text, stream->cap);
	free(stream->text);
}

static void
job_free(struct bu_job *job)
{
	bu_loop_awaited(job->loop)->jobs--;
	bu_watch_destroy(job->ended);
	bu_watch_destroy(job->input_watch);
	bu_timer_destroy(job->deadline);
	stream_fini(&job->out);
	stream_fini(&job->errs);
	if (job->pidfd >= 0)
		close(job->pidfd);
	if (job->input_fd >= 0)
		close(job->input_fd);
	free(job->input);
	free(job->name);
	free(job);
}

/* The last line that says something, for the error's text. */
static void
explain(const struct bu_job *job, int exit_code, const char *errs, struct bu_err *err)
{
	bu_autofree char *copy = bu_xstrdup(errs);
	const char *why = bu_text_last_line(copy);

	if (job->timed_out)
		bu_err_set(err, BU_ERR_TIMEOUT, 0, "'%s' did not end within %lld ms",
			   job->name, (long long)job->deadline_ms);
	else
		bu_err_set(err, BU_ERR_IO, 0, "'%s' ended with %d%s%s", job->name,
			   exit_code, *why ? ": " : "", why);
}

/* Before it is waited for: after that the number may be another's. */
static void
job_signal(const struct bu_job *job, int signo)
{
	kill(job->group ? -job->pid : job->pid, signo);
}

static void
on_ended(int fd, int what, void *arg)
{
	struct bu_job *job = arg;
	struct bu_job_result result;
	struct bu_err err = {0};
	int status = 0;
	pid_t got;

	/* TERM ended it, and need not have ended what it started. */
	if (job->timed_out)
		job_signal(job, SIGKILL);
	got = waitpid(job->pid, &status, WNOHANG);
	if (got == 0)
		return;
	if (got < 0)
		bu_err_set(&err, BU_ERR_IO, errno, "exit status of '%s'", job->name);
	stream_drain(&job->out);
	stream_drain(&job->errs);
	job->out.text[job->out.size] = '\0';
	job->errs.text[job->errs.size] = '\0';
	result.exit_code = got < 0             ? -1
			   : WIFEXITED(status) ? WEXITSTATUS(status)
					       : 128 + WTERMSIG(status);
	result.out = job->out.text;
	result.out_size = job->out.size;
	result.errs = job->errs.text;
	if (job->timed_out || (result.exit_code != 0 && !err.kind))
		explain(job, result.exit_code, result.errs, &err);
	job->fn(&result, err.kind ? &err : NULL, job->arg);
	job_free(job);
}

static void
on_deadline(void *arg)
{
	struct bu_job *job = arg;

	job_signal(job, job->timed_out ? SIGKILL : SIGTERM);
	job->timed_out = 1;
	bu_timer_set(job->deadline, KILL_AFTER_MS);
}

static void
on_input(int fd, int what, void *arg)
{
	struct bu_job *job = arg;
	ssize_t sent;

	sent = send(fd, job->input + job->input_done, job->input_size - job->input_done,
		    MSG_NOSIGNAL);
	if (sent > 0)
		job->input_done += (size_t)sent;
	if ((sent < 0 && errno != EAGAIN && errno != EINTR) ||
	    job->input_done == job->input_size) {
		bu_watch_destroy(job->input_watch);
		job->input_watch = NULL;
		close(job->input_fd);
		job->input_fd = -1;
	}
}

static void
start_input(struct bu_job *job, const char *input)
{
	job->input = bu_xstrdup(input);
	job->input_size = strlen(input);
	fcntl(job->input_fd, F_SETFL, O_NONBLOCK);
	job->input_watch =
		bu_watch_create(job->loop, job->input_fd, BU_WRITABLE, on_input, job);
}

static void
close_pair(int pair[2])
{
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
}

/* A socket pair, so that a write to a child that is gone raises no signal. */
static int
spawn_job(const struct bu_job_opts *opts, struct bu_job *job, int ret_fds[2],
	  struct bu_err *err)
{
	int out[2] = {-1, -1}, errs[2] = {-1, -1}, in[2] = {-1, -1};
	struct bu_spawn how = {.argv = opts->argv,
			       .env = opts->env,
			       .cwd = opts->cwd,
			       .extra_fd = -1,
			       .group = !opts->same_group};

	job->group = how.group;
	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(errs, O_CLOEXEC) != 0 ||
	    (opts->input &&
	     socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)) {
		bu_err_set(err, BU_ERR_IO, errno, "pipes for '%s'", opts->argv[0]);
		goto failed;
	}
	how.stdin_fd = in[1];
	how.stdout_fd = out[1];
	how.stderr_fd = errs[1];
	job->pid = bu_spawn(&how, &job->pidfd, err);
	if (job->pid < 0)
		goto failed;
	close(out[1]);
	close(errs[1]);
	if (in[1] >= 0)
		close(in[1]);
	job->input_fd = in[0];
	ret_fds[0] = out[0];
	ret_fds[1] = errs[0];
	return 0;
failed:
	close_pair(out);
	close_pair(errs);
	close_pair(in);
	return -1;
}

struct bu_job *
bu_job_start(struct bu_loop *loop, const struct bu_job_opts *opts, bu_job_fn fn,
	     void *arg, struct bu_err *err)
{
	struct bu_job *job = bu_xcalloc(1, sizeof(*job));
	size_t max = opts->output_max ? opts->output_max : OUTPUT_MAX;
	int fds[2];

	if (spawn_job(opts, job, fds, err) != 0) {
		free(job);
		return NULL;
	}
	job->loop = loop;
	bu_loop_awaited(loop)->jobs++;
	job->name = bu_xstrdup(opts->argv[0]);
	job->fn = fn;
	job->arg = arg;
	job->deadline_ms = opts->deadline_ms;
	stream_init(loop, &job->out, fds[0], max, opts->secret);
	stream_init(loop, &job->errs, fds[1], max, opts->secret);
	job->ended = bu_watch_create(loop, job->pidfd, BU_READABLE, on_ended, job);
	if (opts->input)
		start_input(job, opts->input);
	if (opts->deadline_ms > 0) {
		job->deadline = bu_timer_create(loop, on_deadline, job);
		bu_timer_set(job->deadline, opts->deadline_ms);
	}
	return job;
}

pid_t
bu_job_pid(const struct bu_job *job)
{
	return job->pid;
}

void
bu_job_cancel(struct bu_job *job)
{
	if (!job)
		return;
	job_signal(job, SIGKILL);
	waitpid(job->pid, NULL, 0);
	job_free(job);
}

struct run_to_end {
	struct bu_loop *loop;
	struct bu_job_end *end;
	struct bu_err err; /* kind NONE: it ran and exited 0 */
};

static void
on_run_end(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct run_to_end *run = arg;

	if (err)
		run->err = *err;
	run->end->exit_code = result->exit_code;
	run->end->out = bu_xstrdup(result->out);
	run->end->errs = bu_xstrdup(result->errs);
	run->end->timed_out = err && err->kind == BU_ERR_TIMEOUT;
	bu_loop_stop(run->loop);
}

/* -1 when it could not be run; *ret_err tells of its own failure. */
static int
run_to_end(const struct bu_job_opts *opts, struct bu_job_end *ret,
	   struct bu_err *ret_err, struct bu_err *err)
{
	struct run_to_end run = {.loop = bu_loop_create(NULL), .end = ret};
	int rc = -1;

	memset(ret, 0, sizeof(*ret));
	if (bu_job_start(run.loop, opts, on_run_end, &run, err)) {
		bu_loop_run(run.loop);
		rc = 0;
	}
	*ret_err = run.err;
	bu_loop_destroy(run.loop);
	return rc;
}

void
bu_job_end_fini(struct bu_job_end *end)
{
	free(end->out);
	free(end->errs);
	memset(end, 0, sizeof(*end));
}

int
bu_job_wait(const struct bu_job_opts *opts, struct bu_job_end *ret, struct bu_err *err)
{
	struct bu_err failure;

	return run_to_end(opts, ret, &failure, err);
}

int
bu_job_run(const struct bu_job_opts *opts, char **ret_out, struct bu_err *err)
{
	struct bu_err failure = {0};
	struct bu_job_end end;
	int rc = run_to_end(opts, &end, &failure, err);

	if (rc == 0 && failure.kind) {
		if (err)
			*err = failure;
		rc = -1;
	}
	if (rc == 0 && ret_out)
		*ret_out = bu_steal(&end.out);
	bu_job_end_fini(&end);
	return rc;
}

pid_t
bu_daemon_spawn(const struct bu_daemon_opts *opts, struct bu_err *err)
{
	const char *path = opts->log_path ? opts->log_path : "/dev/null";
	bu_autoclose int fd =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct bu_spawn how = {
		.argv = opts->argv,
		.env = opts->env,
		.stdin_fd = -1,
		.extra_fd = -1,
		.outlive = opts->outlive,
	};

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open log '%s'", path);
	how.stdout_fd = fd;
	how.stderr_fd = fd;
	return bu_spawn(&how, NULL, err);
}

void
bu_daemon_end(pid_t pid, int grace_ms)
{
	int step_ms = 20;

	if (pid <= 0)
		return;
	kill(pid, SIGTERM);
	for (int waited = 0; waited < grace_ms; waited += step_ms) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		poll(NULL, 0, step_ms);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
