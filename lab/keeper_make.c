/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper as seen from outside: making it, asking it, ending it. Called by the
 * commands; each checks pid and start time before it trusts a pid.
 */
#include "lab/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "lab/keeper_run.h"

enum {
	REPLY_S = 90,
	TERM_MS = 8000,
	KILL_MS = 10000,
	REAP_STEPS = 50,
	REAP_STEP_MS = 20
};

/* Runs in a child: makes the namespaces and, in them, the keeper; reports its pid. */
_Noreturn static void
make_namespaces(const struct bu_rack *rack, int lifeline, int report)
{
	int reply[2] = {0, 0}; /* pid, errno */
	pid_t pid = -1;

	setsid();
	if (unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS) == 0)
		pid = fork();
	if (pid == 0)
		bu_keeper_run(rack, lifeline);
	reply[0] = pid;
	reply[1] = errno;
	if (write(report, reply, sizeof(reply)) != (ssize_t)sizeof(reply))
		_exit(1);
	_exit(0);
}

int
bu_keeper_spawn(struct bu_rack *rack, int *ret_lifeline, struct bu_err *err)
{
	int pair[2], report[2], reply[2] = {-1, EIO};
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket to the keeper");
	if (pipe2(report, O_CLOEXEC) != 0) {
		close(pair[0]);
		close(pair[1]);
		return bu_err_set(err, BU_ERR_IO, errno, "pipe to the keeper");
	}
	child = fork();
	if (child == 0)
		make_namespaces(rack, pair[1], report[1]);
	close(pair[1]);
	close(report[1]);
	if (child < 0 ||
	    read(report[0], reply, sizeof(reply)) != (ssize_t)sizeof(reply))
		reply[0] = -1;
	close(report[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	if (reply[0] <= 0) {
		close(pair[0]);
		return bu_err_set(
			err, BU_ERR_IO, reply[1],
			"make the rack's namespaces (process, mount, network, "
			"host name)");
	}
	rack->keeper_pid = reply[0];
	rack->keeper_start = bu_rack_pid_start(reply[0]);
	*ret_lifeline = pair[0];
	return 0;
}

static int
read_reply(const struct bu_rack *rack, int fd, json_t **ret_reply, struct bu_err *err)
{
	const struct timeval limit = {.tv_sec = REPLY_S};
	struct bu_err why = {0};
	bu_autojson json_t *reply = NULL;
	const json_t *error;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	reply = bu_frame_read(fd, &why);
	error = json_object_get(reply, "error");
	if (!reply && why.sys_errno == EAGAIN)
		return bu_err_set(err, BU_ERR_TIMEOUT, 0,
				  "the rack's keeper (process %d) did not answer "
				  "within %d s; see %s/log/keeper.log",
				  (int)rack->keeper_pid, REPLY_S, rack->dir);
	if (!reply)
		return bu_err_set(err, BU_ERR_REMOTE, why.sys_errno,
				  "the rack's keeper did not answer; see "
				  "%s/log/keeper.log",
				  rack->dir);
	if (error) {
		bu_json_to_err(error, &why);
		if (err)
			*err = why;
		return -1;
	}
	if (ret_reply)
		*ret_reply = bu_steal(&reply);
	return 0;
}

int
bu_keeper_go(const struct bu_rack *rack, int lifeline, struct bu_err *err)
{
	bu_autojson json_t *go = json_pack("{s:b}", "go", 1);

	if (bu_frame_write(lifeline, go, err) != 0)
		return bu_err_wrap(err, "the rack's keeper");
	return read_reply(rack, lifeline, NULL, err);
}

int
bu_keeper_detach(int lifeline, struct bu_err *err)
{
	bu_autojson json_t *detach = json_pack("{s:b}", "detach", 1);

	if (bu_frame_write(lifeline, detach, err) != 0)
		return bu_err_wrap(err, "the rack's keeper");
	return 0;
}

int
bu_keeper_ask(const struct bu_rack *rack, const json_t *request, json_t **ret_reply,
	      struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "run/keeper.sock");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	bu_autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "reach the rack's keeper at %s", path);
	if (bu_frame_write(fd, request, err) != 0)
		return bu_err_wrap(err, "the rack's keeper");
	return read_reply(rack, fd, ret_reply, err);
}

/* 1 when the process of the pidfd has ended. The kernel lets process 1 of a namespace
 * end only after every other process in it. */
static int
ended_within(int pidfd, int timeout_ms)
{
	struct pollfd poller = {.fd = pidfd, .events = POLLIN};

	return poll(&poller, 1, timeout_ms) == 1;
}

int
bu_keeper_end(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autoclose int pidfd = -1;

	if (rack->keeper_pid <= 0)
		return 0;
	pidfd = (int)syscall(SYS_pidfd_open, rack->keeper_pid, 0);
	/* Opened first and compared then: what the descriptor names cannot be reused.
	 */
	if (pidfd < 0 || !bu_rack_keeper_alive(rack))
		return 0;
	syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0);
	if (!ended_within(pidfd, TERM_MS)) {
		syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
		if (!ended_within(pidfd, KILL_MS))
			return bu_err_set(
				err, BU_ERR_TIMEOUT, 0,
				"the rack's keeper (process %d) does not end: a "
				"process in it hangs in the kernel; see "
				"/proc/%d/wchan and try again",
				(int)rack->keeper_pid, (int)rack->keeper_pid);
	}
	/* Reaped by us when it is our child, else soon by the process that adopted it.
	 */
	waitpid(rack->keeper_pid, NULL, WNOHANG);
	for (int i = 0; i < REAP_STEPS && kill(rack->keeper_pid, 0) == 0; i++)
		poll(NULL, 0, REAP_STEP_MS);
	return 0;
}
