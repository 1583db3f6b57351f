/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper's own life, inside the rack: wait for "go", make everything, serve, end.
 * Called by keeper_make.c in a fresh process. Invariant: whichever way it leaves, no
 * process of the rack survives it; it removes the directory only when its maker went
 * away before the rack was detached, for then nothing else will.
 */
#include "lab/keeper_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/worker.h"
#include "lab/mounts.h"
#include "lab/net.h"
#include "lab/services.h"

#define PART "keeper"
#define KEEPER_SOCKET "/run/keeper.sock"

enum { END_STEP_MS = 20, END_STEPS = 150, REQUEST_TIMEOUT_S = 5 };

struct keeper {
	const struct bu_rack *rack;
	struct bu_loop *loop;
	int lifeline; /* -1 = detached */
	struct bu_watch *lifeline_watch;
};

/* How a detached process ended nobody else can tell. */
static void
reap(const struct bu_rack *rack)
{
	struct bu_err err = {0};
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		bu_services_ended(pid, status);
		if (bu_rack_add_ended(rack, pid, status, &err) != 0)
			bu_warn(PART, "%s", err.text);
	}
}

static void
end_all(const struct bu_rack *rack)
{
	kill(-1, SIGTERM);
	for (int i = 0; i < END_STEPS; i++) {
		reap(rack);
		if (kill(-1, 0) != 0 && errno == ESRCH)
			return;
		poll(NULL, 0, END_STEP_MS);
	}
	kill(-1, SIGKILL);
	for (int i = 0; i < END_STEPS && kill(-1, 0) == 0; i++) {
		reap(rack);
		poll(NULL, 0, END_STEP_MS);
	}
}

_Noreturn static void
leave(const struct bu_rack *rack, int remove_dir)
{
	struct bu_err err = {0};

	end_all(rack);
	if (remove_dir && bu_remove_tree(rack->dir, &err) != 0)
		bu_error(PART, "%s", err.text);
	_exit(0);
}

/* Parent of a process, as this namespace sees it; -1 when it is gone. */
static int
parent_of(const char *pid)
{
	bu_autofree char *path = bu_xasprintf("/proc/%s/stat", pid);
	char text[1024];
	const char *at;
	int parent;

	bu_file_line(path, text, sizeof(text));
	at = strrchr(text, ')');
	return at && sscanf(at + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

/* What was left running are children of process 1 that are no services: a command that
 * a process outside still waits for has parent 0. Returns how many it killed. */
static int
kill_strays(void)
{
	DIR *stream = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	while (stream && (entry = readdir(stream))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid <= 1 || bu_services_has(pid) || parent_of(entry->d_name) != 1)
			continue;
		kill(pid, SIGKILL);
		count++;
	}
	if (stream)
		closedir(stream);
	return count;
}

static int
clean(const struct bu_rack *rack, struct bu_err *err)
{
	for (int i = 0; i < END_STEPS && kill_strays() > 0; i++) {
		poll(NULL, 0, END_STEP_MS);
		reap(rack);
	}
	return rack->slurm ? bu_services_slurm(rack, "forget", err) : 0;
}

static json_t *
answer(const struct bu_rack *rack, const json_t *request, struct bu_err *err)
{
	const char *op = bu_json_str(request, "op", "");
	int64_t number = bu_json_int(request, "node", 0);

	if (strcmp(op, "status") == 0)
		return bu_services_status();
	if (strcmp(op, "clean") == 0)
		return clean(rack, err) == 0 ? json_object() : NULL;
	if (strcmp(op, "slurm") == 0)
		return bu_services_slurm(rack, bu_json_str(request, "verb", ""), err) ==
				       0
			       ? json_object()
			       : NULL;
	if (strcmp(op, "rate") == 0 && number >= 1 &&
	    number <= (int64_t)rack->node_count) {
		int mbit = (int)bu_json_int(request, "mbit", rack->fabric_rate_mbit);

		return bu_net_set_rate(&rack->nodes[number - 1], mbit, err) == 0
			       ? json_object()
			       : NULL;
	}
	bu_err_set(err, BU_ERR_INVAL, 0, "the keeper does not know this request");
	return NULL;
}

static void
on_request(int fd, int what, void *arg)
{
	struct keeper *keeper = arg;
	struct timeval timeout = {.tv_sec = REQUEST_TIMEOUT_S};
	struct bu_err err = {0};
	bu_autoclose int conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	bu_autojson json_t *request = NULL, *reply = NULL;

	if (conn < 0)
		return;
	setsockopt(conn, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(conn, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	request = bu_frame_read(conn, &err);
	if (!request)
		return;
	reply = answer(keeper->rack, request, &err);
	if (!reply)
		reply = json_pack("{s:o}", "error", bu_json_from_err(&err));
	bu_ignore(bu_frame_write(conn, reply, NULL));
}

static void
on_lifeline(int fd, int what, void *arg)
{
	struct keeper *keeper = arg;
	bu_autojson json_t *message = bu_frame_read(fd, NULL);

	if (!message)
		leave(keeper->rack, 1);
	bu_watch_destroy(keeper->lifeline_watch);
	close(keeper->lifeline);
	keeper->lifeline = -1;
}

static void
on_term(int signo, void *arg)
{
	struct keeper *keeper = arg;

	leave(keeper->rack, keeper->lifeline >= 0);
}

static void
on_child(int signo, void *arg)
{
	const struct keeper *keeper = arg;

	reap(keeper->rack);
}

static int
listen_for_requests(struct bu_err *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX, .sun_path = KEEPER_SOCKET};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
	    listen(fd, 8) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "listen on %s", KEEPER_SOCKET);
	return fd;
}

static int
make(const struct bu_rack *rack, struct bu_err *err)
{
	if (sethostname("ctl", 3) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "set the rack's host name");
	if (bu_mounts_make(rack, err) != 0 || bu_net_make(rack, err) != 0)
		return -1;
	return bu_services_start(rack, err);
}

/* Only the lifeline stays of what the maker had open, so that its pipes end with it. */
static int
detach_from_maker(const struct bu_rack *rack, int lifeline)
{
	bu_autofree char *log_path = bu_rack_path(rack, "log/keeper.log");
	int null_fd, log_fd;

	if (dup2(lifeline, 3) < 0)
		_exit(1);
	close_range(4, ~0u, 0);
	bu_set_cloexec(3, 1);
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	log_fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	dup2(null_fd, 0);
	dup2(log_fd >= 0 ? log_fd : null_fd, 1);
	dup2(log_fd >= 0 ? log_fd : null_fd, 2);
	if (chdir("/") != 0)
		_exit(1);
	return 3;
}

static void
wait_until_released(int lifeline)
{
	bu_autojson json_t *message = bu_frame_read(lifeline, NULL);

	(void)message;
}

/* What its maker's shell had set (Slurm's and libvirt's variables above all) is not the
 * rack's. */
static void
clean_environment(void)
{
	static const char *const kept[] = {"PATH", "HOME", "LANG"};
	char *values[BU_LEN(kept)];

	for (size_t i = 0; i < BU_LEN(kept); i++) {
		const char *value = getenv(kept[i]);

		values[i] = value ? bu_xstrdup(value) : NULL;
	}
	clearenv();
	for (size_t i = 0; i < BU_LEN(kept); i++) {
		if (values[i])
			setenv(kept[i], values[i], 1);
		free(values[i]);
	}
	setenv("HOME", "/root", 0);
}

void
bu_keeper_run(const struct bu_rack *rack, int lifeline)
{
	struct keeper keeper = {.rack = rack};
	struct bu_err err = {0};
	bu_autojson json_t *go = NULL, *reply = NULL;
	int fd = -1;

	keeper.lifeline = detach_from_maker(rack, lifeline);
	prctl(PR_SET_NAME, "bringup-rack");
	clean_environment();
	signal(SIGPIPE, SIG_IGN);
	bu_log_init("bringup-lab", BU_LOG_INFO);
	go = bu_frame_read(keeper.lifeline, NULL);
	if (!go)
		leave(rack, 1);
	if (make(rack, &err) != 0 || (fd = listen_for_requests(&err)) < 0) {
		reply = json_pack("{s:o}", "error", bu_json_from_err(&err));
		bu_error(PART, "%s", err.text);
		bu_ignore(bu_frame_write(keeper.lifeline, reply, NULL));
		wait_until_released(keeper.lifeline);
		leave(rack, 1);
	}
	keeper.loop = bu_loop_create(NULL);
	bu_sigwatch_create(keeper.loop, SIGTERM, on_term, &keeper);
	bu_sigwatch_create(keeper.loop, SIGCHLD, on_child, &keeper);
	bu_watch_create(keeper.loop, fd, BU_READABLE, on_request, &keeper);
	keeper.lifeline_watch = bu_watch_create(keeper.loop, keeper.lifeline,
						BU_READABLE, on_lifeline, &keeper);
	reply = json_pack("{s:b}", "ok", 1);
	bu_ignore(bu_frame_write(keeper.lifeline, reply, NULL));
	bu_loop_run(keeper.loop);
	leave(rack, 0);
}
