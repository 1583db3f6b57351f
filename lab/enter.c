/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entering the rack, for `exec`. The calling process joins the namespaces itself (it
 * does nothing else afterwards); what it forks is in the rack's process namespace.
 * Invariant: a command that is not detached never outlives its caller.
 */
#include "lab/enter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/url.h"

enum { FIRST_LISTEN_FD = 3, HIGH_FD = 64 };

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* What the child says: its pid (as credentials) with 0, or why it could not execute. */
struct report {
	int sys_errno;
};

int
bu_enter_listen(const char *address, char *ret_address, size_t size, struct bu_err *err)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	bu_autoclose int fd = -1;
	int one = 1, result;

	if (bu_url_socket(address, &addr) < 0 ||
	    (ntohl(addr.sin_addr.s_addr) >> 24) != 127)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--listen '%s': give 127.0.0.1:PORT (only loopback; "
				  "port 0 takes a free one)",
				  address);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
	    listen(fd, 128) != 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &len) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "listen on %s", address);
	snprintf(ret_address, size, "%.*s:%d", (int)strcspn(address, ":"), address,
		 ntohs(addr.sin_port));
	result = fd;
	fd = -1;
	return result;
}

/* Joins them and takes the keeper's root: in a chroot it is not the namespace's. */
static int
join_opened(const struct bu_rack *rack, const int *fds, size_t count, int root_fd)
{
	/* Asked again: between the first question and the open the pid may be another.
	 */
	if (root_fd < 0 || !bu_rack_keeper_alive(rack))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (setns(fds[i], 0) != 0)
			return -1;
	return fchdir(root_fd) == 0 && chroot(".") == 0 ? 0 : -1;
}

static int
join_namespaces(const struct bu_rack *rack, struct bu_err *err)
{
	/* The mounts last: they take /proc away. */
	static const char *const names[] = {"uts", "net", "pid", "mnt"};
	bu_autofree char *root = bu_xasprintf("/proc/%d/root", (int)rack->keeper_pid);
	bu_autoclose int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fds[BU_LEN(names)];
	size_t opened = 0;
	int rc = -1;

	for (; opened < BU_LEN(names); opened++) {
		bu_autofree char *path = bu_xasprintf(
			"/proc/%d/ns/%s", (int)rack->keeper_pid, names[opened]);

		fds[opened] = open(path, O_RDONLY | O_CLOEXEC);
		if (fds[opened] < 0)
			break;
	}
	if (opened == BU_LEN(names))
		rc = join_opened(rack, fds, opened, root_fd);
	if (rc != 0)
		bu_err_set(
			err, BU_ERR_IO, errno,
			"enter the namespaces of the rack in '%s' (it needs root and a "
			"rack that is up)",
			rack->dir);
	for (size_t i = 0; i < opened; i++)
		close(fds[i]);
	return rc;
}

/* They name another cluster than the rack's. */
void
bu_enter_clean_environment(void)
{
	static const char *const prefixes[] = {"SLURM_", "MUNGE_"};

	for (size_t i = 0; environ[i];) {
		size_t p = 0;

		while (p < BU_LEN(prefixes) &&
		       strncmp(environ[i], prefixes[p], strlen(prefixes[p])) != 0)
			p++;
		if (p == BU_LEN(prefixes)) {
			i++;
		} else {
			bu_autofree char *name =
				bu_xstrndup(environ[i], strcspn(environ[i], "="));

			unsetenv(name); /* the next one moves here */
		}
	}
}

static void
hand_down(struct bu_enter *enter)
{
	char text[16];

	for (int i = 0; i < enter->listen_count; i++)
		dup2(enter->listen_fds[i], FIRST_LISTEN_FD + i);
	if (enter->listen_count == 0)
		return;
	snprintf(text, sizeof(text), "%d", enter->listen_count);
	setenv("LISTEN_FDS", text, 1);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("LISTEN_PID", text, 1);
}

static void
tell(int report, int sys_errno)
{
	struct report message = {.sys_errno = sys_errno};

	if (write(report, &message, sizeof(message)) != (ssize_t)sizeof(message))
		_exit(127);
}

/* The detached process is a grandchild, so that the keeper becomes its parent and reaps
 * it. */
static void
become_detached(int log_fd, int report, int listen_count)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid;

	setsid();
	pid = fork();
	if (pid != 0)
		_exit(pid < 0);
	dup2(null_fd, 0);
	dup2(log_fd >= 0 ? log_fd : null_fd, 1);
	dup2(log_fd >= 0 ? log_fd : null_fd, 2);
	tell(report, 0);
	close_range(FIRST_LISTEN_FD + (unsigned int)listen_count, HIGH_FD - 1, 0);
}

_Noreturn static void
run_child(struct bu_enter *enter, int report, int log_fd, const sigset_t *mask)
{
	struct pollfd parent = {.fd = report};

	if (enter->detach) {
		become_detached(log_fd, report, enter->listen_count);
	} else {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The parent may have gone before that: then its end is closed. */
		if (poll(&parent, 1, 0) == 1)
			_exit(127);
	}
	hand_down(enter);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(enter->argv[0], enter->argv);
	tell(report, errno);
	_exit(127);
}

/* Reads reports until the child has executed its command (end of file). */
static int
wait_for_exec(int report, pid_t *ret_pid, int *ret_errno)
{
	struct report message;
	struct iovec iov = {.iov_base = &message, .iov_len = sizeof(message)};
	union {
		char buf[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t got;

	for (;;) {
		struct cmsghdr *head;
		struct ucred cred;

		msg.msg_control = control.buf;
		msg.msg_controllen = sizeof(control.buf);
		got = recvmsg(report, &msg, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got != (ssize_t)sizeof(message))
			return got == 0 ? 0 : -1;
		if (message.sys_errno) {
			*ret_errno = message.sys_errno;
			return -1;
		}
		head = CMSG_FIRSTHDR(&msg);
		if (head && head->cmsg_type == SCM_CREDENTIALS) {
			memcpy(&cred, CMSG_DATA(head), sizeof(cred));
			*ret_pid = cred.pid;
		}
	}
}

/* Passes signals on; a terminal sends its own to the child as well. */
static int
wait_for_end(pid_t pid, const sigset_t *set)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status)
						 : 128 + WTERMSIG(status);
		if (sigwaitinfo(set, &info) > 0 && info.si_signo != SIGCHLD &&
		    info.si_code != SI_KERNEL)
			kill(pid, info.si_signo);
	}
}

static void
to_high(int *fd)
{
	int high = fcntl(*fd, F_DUPFD_CLOEXEC, HIGH_FD);

	if (high < 0)
		return;
	close(*fd);
	*fd = high;
}

static int
start(const struct bu_rack *rack, struct bu_enter *enter, int report[2],
      const sigset_t *mask, pid_t *ret_pid, struct bu_err *err)
{
	bu_autoclose int log_fd = -1;
	char cwd[4096];
	int one = 1, sys_errno = 0;
	pid_t pid, told = 0;

	if (!getcwd(cwd, sizeof(cwd)))
		strcpy(cwd, "/");
	if (enter->log_path) {
		log_fd = open(enter->log_path,
			      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		if (log_fd < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "open log '%s'",
					  enter->log_path);
		to_high(&log_fd);
	}
	for (int i = 0; i < enter->listen_count; i++)
		to_high(&enter->listen_fds[i]);
	to_high(&report[0]);
	to_high(&report[1]);
	setsockopt(report[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one));
	if (join_namespaces(rack, err) != 0)
		return -1;
	if (chdir(cwd) != 0 && chdir("/") != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "enter '/'");
	bu_enter_clean_environment();
	setenv("BRINGUP_RACK", rack->dir, 1);
	pid = fork();
	if (pid == 0)
		run_child(enter, report[1], log_fd, mask);
	close(report[1]);
	report[1] = -1;
	if (pid < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "fork into the rack");
	if (wait_for_exec(report[0], &told, &sys_errno) != 0) {
		waitpid(pid, NULL, 0);
		return bu_err_set(err, BU_ERR_NOTFOUND, sys_errno,
				  "run '%s' inside the rack", enter->argv[0]);
	}
	if (enter->detach)
		waitpid(pid, NULL, 0);
	*ret_pid = enter->detach ? told : pid;
	return 0;
}

int
bu_enter_run(const struct bu_rack *rack, struct bu_enter *enter, int *ret_result,
	     struct bu_err *err)
{
	sigset_t set, mask;
	int report[2];
	pid_t pid;
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket to the command");
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < BU_LEN(forwarded); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, &mask);
	rc = start(rack, enter, report, &mask, &pid, err);
	for (int i = 0; i < enter->listen_count; i++)
		close(enter->listen_fds[i]);
	if (rc == 0)
		*ret_result = enter->detach ? (int)pid : wait_for_end(pid, &set);
	close(report[0]);
	if (report[1] >= 0)
		close(report[1]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return rc;
}
