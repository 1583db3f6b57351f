/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ends of a group that runs in a child process: the child tells its rows and
 * what it is about to do, a line of JSON each, and the parent counts the time. Called
 * by checks.c. Invariant: the parent never waits for a child, nor for anything that a
 * child may hold; one that even SIGKILL does not end (it sleeps in a driver) is left
 * behind.
 */
#include "checks/child_check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

enum {
	TICK_MS = 100,
	END_MS = 2000, /* of a child that was killed */
	LINE_MAX = 16 * 1024 * 1024,
	LEFT_MAX = 64,
	LEFT = -1,
};

struct step {
	int64_t limit_ms, until_ms; /* until_ms 0 = none is under way */
	char id[BU_CHECK_ID_SIZE], subject[64], what[64], hint[200];
};

struct child {
	const struct bu_checks_ctx *ctx;
	const char *group;
	struct bu_checks *out;
	pid_t pid;
	int fd;
	char *text; /* what was read and is no whole line yet */
	size_t size;
	struct step steps[BU_CHECKS_SLOTS];
	int ended, rc; /* the child's own last word */
	struct bu_err err;
};

/* Children that did not end when they were killed. */
static pid_t left[LEFT_MAX];

static void
reap_left(void)
{
	for (int i = 0; i < LEFT_MAX; i++)
		if (left[i] && waitpid(left[i], NULL, WNOHANG) != 0)
			left[i] = 0;
}

static void
leave(pid_t pid)
{
	for (int i = 0; i < LEFT_MAX; i++) {
		if (left[i])
			continue;
		left[i] = pid;
		return;
	}
}

/* --- the child's end --- */

static void
tell_end(int fd, int rc, const struct bu_err *err)
{
	bu_autojson json_t *line = json_pack("{s:i}", "end", rc);

	if (rc != 0)
		json_object_set_new(line, "error", bu_json_from_err(err));
	bu_checks_tell(fd, line);
}

static int
orphaned(void *arg)
{
	return *(pid_t *)arg != getppid();
}

static void
be_child(const struct bu_checks_ctx *ctx, bu_checks_fn fn, pid_t parent, int fd)
{
	struct bu_checks_ctx own = *ctx;
	struct bu_checks_line line = {.fd = fd};
	struct bu_checks rows;
	struct bu_err err = {0};
	int rc;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	/* The parent cancels with a signal, and has the only way to the appliance. */
	own.cancelled = orphaned;
	own.arg = &parent;
	own.progress = NULL;
	own.clock_offset = NULL;
	own.line = &line;
	bu_checks_init(&rows);
	rc = fn(&own, &rows, &err);
	bu_checks_doing(&own, &rows, NULL);
	tell_end(fd, rc, &err);
	_exit(0);
}

/* --- the parent's --- */

static void
take_rows(struct child *child, const json_t *value)
{
	struct bu_checks rows;

	if (bu_checks_from_json(value, &rows, NULL) != 0)
		return;
	for (size_t i = 0; i < rows.count; i++)
		*bu_checks_add(child->out, rows.list[i].group, rows.list[i].id,
			       rows.list[i].verdict, rows.list[i].subject) =
			rows.list[i];
	bu_checks_fini(&rows);
}

static void
take_step(struct child *child, const json_t *value)
{
	int64_t slot = bu_json_int(value, "slot", 0);
	struct step *step = &child->steps[slot];

	if (slot < 0 || slot >= BU_CHECKS_SLOTS)
		return;
	step->limit_ms = bu_json_int(value, "limit_ms", 0);
	step->until_ms =
		step->limit_ms ? bu_mono_ms(bu_clock_system()) + step->limit_ms : 0;
	bu_text_copy(step->id, sizeof(step->id), bu_json_str(value, "id", ""));
	bu_text_copy(step->subject, sizeof(step->subject),
		     bu_json_str(value, "subject", ""));
	bu_text_copy(step->what, sizeof(step->what), bu_json_str(value, "what", ""));
	bu_text_copy(step->hint, sizeof(step->hint), bu_json_str(value, "hint", ""));
}

static void
take_line(struct child *child, const char *text, size_t size)
{
	bu_autojson json_t *line = bu_json_parse(text, size, "line", NULL);

	if (json_object_get(line, "rows"))
		take_rows(child, json_object_get(line, "rows"));
	if (json_object_get(line, "step"))
		take_step(child, json_object_get(line, "step"));
	if (json_object_get(line, "end")) {
		child->ended = 1;
		child->rc = (int)bu_json_int(line, "end", -1);
		bu_json_to_err(json_object_get(line, "error"), &child->err);
	}
}

/* 0 at the end of what the child tells. */
static int
read_some(struct child *child)
{
	char buffer[65536], *end;
	ssize_t got = read(child->fd, buffer, sizeof(buffer));

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 1;
	if (got <= 0 || child->size + (size_t)got > LINE_MAX)
		return 0;
	child->text = bu_xrealloc(child->text, child->size + (size_t)got);
	memcpy(child->text + child->size, buffer, (size_t)got);
	child->size += (size_t)got;
	while ((end = memchr(child->text, '\n', child->size))) {
		size_t size = (size_t)(end - child->text);

		take_line(child, child->text, size);
		child->size -= size + 1;
		memmove(child->text, end + 1, child->size);
	}
	return 1;
}

/* The step whose time is over, NULL = none; now_ms 0: any that is under way. */
static const struct step *
find_step(const struct child *child, int64_t now_ms)
{
	for (int i = 0; i < BU_CHECKS_SLOTS; i++)
		if (child->steps[i].until_ms &&
		    (!now_ms || now_ms >= child->steps[i].until_ms))
			return &child->steps[i];
	return NULL;
}

/* As waitpid() tells it; LEFT when it does not end by then. */
static int
wait_for(pid_t pid, int64_t wait_ms)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + wait_ms;
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (bu_mono_ms(bu_clock_system()) >= until_ms)
			return LEFT;
		usleep(TICK_MS * 100);
	}
	return status;
}

static void
kill_group(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
}

/* As waitpid() tells it, or -1: it sleeps in a driver, and is left behind. */
static int
end_child(struct child *child)
{
	int status;

	reap_left();
	kill_group(child->pid);
	status = wait_for(child->pid, END_MS);
	if (status == LEFT)
		leave(child->pid);
	return status;
}

/* Those that have ended become 0. */
static void
wait_for_all(pid_t *open, size_t count, int64_t wait_ms)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + wait_ms;

	for (;;) {
		size_t there = 0;

		for (size_t i = 0; i < count; i++) {
			if (open[i] && waitpid(open[i], NULL, WNOHANG) != 0)
				open[i] = 0;
			there += open[i] != 0;
		}
		if (!there || bu_mono_ms(bu_clock_system()) >= until_ms)
			return;
		usleep(TICK_MS * 100);
	}
}

void
bu_child_check_end_all(const pid_t *pids, size_t count, int64_t wait_ms,
		       unsigned char *ret_left)
{
	bu_autofree pid_t *open = bu_xcalloc(count + 1, sizeof(*open));

	reap_left();
	for (size_t i = 0; i < count; i++)
		open[i] = pids[i];
	if (wait_ms > 0)
		wait_for_all(open, count, wait_ms);
	for (size_t i = 0; i < count; i++)
		if (open[i])
			kill_group(open[i]);
	wait_for_all(open, count, END_MS);
	for (size_t i = 0; i < count; i++) {
		ret_left[i] = open[i] != 0;
		if (open[i])
			leave(open[i]);
	}
}

static struct bu_check *
bad_step(struct child *child, const struct step *step, const char *seen)
{
	struct bu_check *row = bu_checks_add(child->out, child->group, step->id,
					     BU_VERDICT_FAIL, step->subject);

	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "an answer");
	BU_CHECK_SET(row->hint, "%s", step->hint);
	return row;
}

static void
hung(struct child *child, const struct step *step)
{
	int status = end_child(child);
	struct bu_check *row = bad_step(
		child, step,
		status < 0 ? "no answer; its process cannot be ended" : "no answer");

	BU_CHECK_SET(row->text, "%s did not answer %s within %g s",
		     step->subject[0] ? step->subject : "the machine", step->what,
		     (double)step->limit_ms / 1000);
}

/* The child has closed its end: it said how it went, or it died. */
static int
gone(struct child *child, struct bu_err *err)
{
	const struct step *step = find_step(child, 0);
	int status = end_child(child);
	const char *how = status > 0 && WIFSIGNALED(status)
				  ? strsignal(WTERMSIG(status))
				  : "it ended without a word";
	struct bu_check *row;

	if (child->ended) {
		if (child->rc != 0 && err)
			*err = child->err;
		return child->rc;
	}
	if (!step) {
		bu_err_set(err, BU_ERR_IO, 0, "their process died: %s", how);
		return BU_CHILD_CHECK_BROKEN;
	}
	row = bad_step(child, step, how);
	BU_CHECK_SET(row->text, "%s: the process that asked %s died: %s",
		     step->subject[0] ? step->subject : "the machine", step->what, how);
	return 0;
}

static int
watch(struct child *child, struct bu_err *err)
{
	const struct bu_checks_ctx *ctx = child->ctx;
	struct pollfd poll_fd = {.fd = child->fd, .events = POLLIN};

	for (;;) {
		const struct step *step;
		int64_t now_ms;

		if (poll(&poll_fd, 1, TICK_MS) > 0 && !read_some(child))
			return gone(child, err);
		if (child->ended)
			return gone(child, err);
		now_ms = bu_mono_ms(bu_clock_system());
		step = find_step(child, now_ms);
		if (step) {
			hung(child, step);
			return 0;
		}
		if (ctx->cancelled && ctx->cancelled(ctx->arg)) {
			end_child(child);
			return bu_err_set(err, BU_ERR_CANCELLED, 0, "cancelled");
		}
		if (ctx->deadline_ms &&
		    now_ms >= ctx->deadline_ms + BU_CHILD_CHECK_GRACE_MS) {
			end_child(child);
			bu_err_set(err, BU_ERR_TIMEOUT, 0, "the time ran out");
			return BU_CHILD_CHECK_BROKEN;
		}
	}
}

int
bu_child_check_run(const struct bu_checks_ctx *ctx, const char *group, bu_checks_fn fn,
		   struct bu_checks *out, struct bu_err *err)
{
	struct child child = {.ctx = ctx, .group = group, .out = out};
	pid_t parent = getpid();
	int fds[2], rc;

	reap_left();
	if (pipe2(fds, O_CLOEXEC) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "make a pipe");
	child.pid = fork();
	if (child.pid == 0) {
		close(fds[0]);
		be_child(ctx, fn, parent, fds[1]);
	}
	close(fds[1]);
	if (child.pid < 0) {
		close(fds[0]);
		return bu_err_set(err, BU_ERR_IO, errno, "make a process");
	}
	child.fd = fds[0];
	fcntl(child.fd, F_SETFL, O_NONBLOCK);
	rc = watch(&child, err);
	close(child.fd);
	free(child.text);
	return rc;
}
