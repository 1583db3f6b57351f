/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork and exec with a report of what failed: the child writes errno into a pipe that
 * closes on exec, so a missing program is told at once and by name.
 */
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

static void
to_fd(int from, int to)
{
	if (from == to)
		bu_set_cloexec(to, 0);
	else
		dup2(from, to);
}

static void
reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int signo = 1; signo < NSIG; signo++)
		signal(signo, SIG_DFL);
}

static _Noreturn void
run_child(const struct bu_spawn *how, pid_t parent, int report_fd)
{
	int null_fd;
	ssize_t ignored;
	int code;

	reset_signals();
	if (how->group)
		setpgid(0, 0);
	if (!how->outlive) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* getppid() is 0 when the parent is outside our PID namespace. */
		if (getppid() != parent && getppid() != 0)
			_exit(127);
	} else {
		setsid();
	}
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	to_fd(how->stdin_fd >= 0 ? how->stdin_fd : null_fd, 0);
	if (how->stdout_fd >= 0)
		to_fd(how->stdout_fd, 1);
	if (how->stderr_fd >= 0)
		to_fd(how->stderr_fd, 2);
	if (how->extra_fd >= 0)
		to_fd(how->extra_fd, 3);
	for (size_t i = 0; how->env && how->env[i]; i++)
		putenv((char *)(uintptr_t)how->env[i]);
	if (how->cwd && chdir(how->cwd) != 0)
		goto failed;
	execvp(how->argv[0], (char *const *)(uintptr_t)how->argv);
failed:
	code = errno;
	ignored = write(report_fd, &code, sizeof(code));
	(void)ignored;
	_exit(127);
}

/* Where SIGCHLD is ignored (a caller may have started us so) the kernel reaps our
 * children itself and no exit status is ever seen. */
static void
keep_exit_statuses(void)
{
	struct sigaction action;

	if (sigaction(SIGCHLD, NULL, &action) == 0 &&
	    (action.sa_handler == SIG_IGN || action.sa_flags & SA_NOCLDWAIT))
		signal(SIGCHLD, SIG_DFL);
}

static int
open_pidfd(pid_t pid, const char *name, int *ret_pidfd, struct bu_err *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0) {
		int code = errno;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		return bu_err_set(err, BU_ERR_IO, code, "watch '%s'", name);
	}
	*ret_pidfd = fd; /* close-on-exec by itself */
	return 0;
}

pid_t
bu_spawn(const struct bu_spawn *how, int *ret_pidfd, struct bu_err *err)
{
	int report[2];
	pid_t parent = getpid();
	pid_t pid;
	int code = 0;
	ssize_t got;

	if (pipe2(report, O_CLOEXEC) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "pipe for '%s'", how->argv[0]);
	/* Descriptor 3 is the service's; the report must not sit there. */
	if (report[1] == 3) {
		int moved = fcntl(report[1], F_DUPFD_CLOEXEC, 10);

		close(report[1]);
		report[1] = moved;
	}
	keep_exit_statuses();
	pid = fork();
	if (pid < 0) {
		close(report[0]);
		close(report[1]);
		return bu_err_set(err, BU_ERR_IO, errno, "fork for '%s'", how->argv[0]);
	}
	if (pid == 0)
		run_child(how, parent, report[1]);
	close(report[1]);
	do {
		got = read(report[0], &code, sizeof(code));
	} while (got < 0 && errno == EINTR);
	close(report[0]);
	if (got == (ssize_t)sizeof(code)) {
		waitpid(pid, NULL, 0);
		return bu_err_set(err, BU_ERR_IO, code, "run '%s'", how->argv[0]);
	}
	if (ret_pidfd && open_pidfd(pid, how->argv[0], ret_pidfd, err) != 0)
		return -1;
	return pid;
}
