/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Children that answer lines of JSON; called by prober.c and disklook.c. Invariant: the
 * agent never waits for a child, nor for anything that a child may hold.
 */
#include "agent/child_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "checks/child_check.h"

enum { LINE_MAX = 4 * 1024 * 1024, TICK_MS = 100, LET_GO_MS = 500 };

/* --- the child's end --- */

static void
answer(int fd, const json_t *value)
{
	bu_autofree char *text = json_dumps(value, JSON_COMPACT);
	bu_autofree char *line = bu_xasprintf("%s\n", text ? text : "{}");
	size_t size = strlen(line), done = 0;

	while (done < size) {
		ssize_t put = write(fd, line + done, size - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			_exit(1);
		done += (size_t)put;
	}
}

/* The agent's connections, locks and watchdogs are not its own. */
static void
be_child(int fd, pid_t parent, bu_child_probe_fn fn)
{
	bu_autofree char *line = NULL;
	void *kept = NULL;
	size_t size = 0;
	ssize_t length;
	FILE *asked;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGPIPE, SIG_IGN);
	if (fd > 3)
		close_range(3, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0U, 0);
	asked = fdopen(fd, "r");
	while (asked && (length = getline(&line, &size, asked)) > 0) {
		bu_autojson json_t *ask =
			bu_json_parse(line, (size_t)length, "ask", NULL);
		bu_autojson json_t *said = fn(ask, &kept);

		memset(line, 0, size); /* it had a secret */
		answer(fd, said);
	}
	json_decref(fn(NULL, &kept));
	_exit(0);
}

/* --- the agent's --- */

static int
start(struct bu_child_probe *child, bu_child_probe_fn fn, struct bu_err *err)
{
	pid_t parent = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "make a socket");
	fflush(NULL); /* or the child prints it again */
	child->pid = fork();
	if (child->pid == 0)
		be_child(fds[1], parent, fn);
	close(fds[1]);
	if (child->pid < 0) {
		int errnum = errno;

		close(fds[0]);
		child->pid = 0;
		return bu_err_set(err, BU_ERR_IO, errnum, "make a process");
	}
	child->fd = fds[0];
	fcntl(child->fd, F_SETFL, O_NONBLOCK);
	return 0;
}

static int
is_alive(const struct bu_child_probe *child)
{
	struct pollfd poll_fd = {.fd = child->fd, .events = POLLIN};

	/* Between two asks it says nothing: then this is its end. */
	return child->pid && poll(&poll_fd, 1, 0) == 0;
}

int
bu_child_probe_ask(struct bu_child_probe *child, bu_child_probe_fn fn,
		   const json_t *ask, struct bu_err *err)
{
	bu_autofree char *text = json_dumps(ask, JSON_COMPACT);
	bu_autofree char *line = bu_xasprintf("%s\n", text);
	size_t size = strlen(line);
	ssize_t put;

	if (!is_alive(child))
		bu_child_probe_end(&child, 1, 0, NULL);
	if (!child->pid && start(child, fn, err) != 0)
		return -1;
	put = send(child->fd, line, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (put == (ssize_t)size)
		return 0;
	bu_child_probe_end(&child, 1, 0, NULL);
	return bu_err_set(err, BU_ERR_IO, put < 0 ? errno : 0, "ask a process");
}

static json_t *
died(struct bu_child_probe *child, struct bu_err *err)
{
	bu_child_probe_end(&child, 1, 0, NULL);
	bu_err_set(err, BU_ERR_IO, 0, "its process died");
	return NULL;
}

json_t *
bu_child_probe_take(struct bu_child_probe *child, struct bu_err *err)
{
	char buffer[65536], *end;
	ssize_t got = read(child->fd, buffer, sizeof(buffer));
	json_t *value;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (got <= 0 || child->size + (size_t)got > LINE_MAX)
		return died(child, err);
	child->text = bu_xrealloc(child->text, child->size + (size_t)got);
	memcpy(child->text + child->size, buffer, (size_t)got);
	child->size += (size_t)got;
	end = memchr(child->text, '\n', child->size);
	if (!end)
		return NULL;
	value = bu_json_parse(child->text, (size_t)(end - child->text), "answer", err);
	child->size = 0;
	if (!value)
		bu_child_probe_end(&child, 1, 0, NULL);
	return value;
}

void
bu_child_probe_finish(struct bu_child_probe *child)
{
	if (child->pid)
		shutdown(child->fd, SHUT_WR);
}

void
bu_child_probe_end(struct bu_child_probe *const *list, size_t count, int64_t wait_ms,
		   unsigned char *ret_left)
{
	bu_autofree pid_t *pids = bu_xcalloc(count, sizeof(*pids));
	bu_autofree unsigned char *left = bu_xcalloc(count, 1);

	for (size_t i = 0; i < count; i++)
		pids[i] = list[i]->pid;
	bu_child_check_end_all(pids, count, wait_ms, left);
	for (size_t i = 0; i < count; i++) {
		if (list[i]->pid)
			close(list[i]->fd);
		free(list[i]->text);
		*list[i] = (struct bu_child_probe){.pid = 0};
		if (ret_left)
			ret_left[i] = left[i];
	}
}

static json_t *
wait_for(struct bu_child_probe *child, int64_t until_ms, struct bu_err *err)
{
	while (bu_mono_ms(bu_clock_system()) < until_ms) {
		struct pollfd fd = {.fd = child->fd, .events = POLLIN};
		json_t *answer = NULL;

		if (poll(&fd, 1, TICK_MS) > 0)
			answer = bu_child_probe_take(child, err);
		if (answer || err->kind)
			return answer;
	}
	bu_err_set(err, BU_ERR_TIMEOUT, 0, "its driver does not answer");
	return NULL;
}

json_t *
bu_child_probe_once(bu_child_probe_fn fn, const json_t *ask, int64_t limit_ms,
		    struct bu_err *err)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + limit_ms;
	struct bu_child_probe child = {.pid = 0}, *list[] = {&child};
	struct bu_err why = {0};
	json_t *answer = NULL;

	if (bu_child_probe_ask(&child, fn, ask, &why) == 0)
		answer = wait_for(&child, until_ms, &why);
	if (answer)
		bu_child_probe_finish(&child);
	bu_child_probe_end(list, 1, answer ? LET_GO_MS : 0, NULL);
	if (!answer && err)
		*err = why;
	return answer;
}
