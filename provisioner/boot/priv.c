/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that need root. */
#include "provisioner/boot/priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"

/* 5,000 requests at once, as the kernel counts their bytes. */
enum { DHCP_QUEUE = 16 << 20, DNSMASQ_FILES = 64, TRY_MS = 5000 };

static int
check_conf(const char *path, struct bu_err *err)
{
	struct stat st;

	if (!bu_path_is_file(path))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "configuration '%s' is not an absolute path", path);
	if (lstat(path, &st) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "configuration '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "configuration '%s' is not a plain file that only "
				  "bringup may write",
				  path);
	return 0;
}

/* Debian installs it where an ordinary PATH does not look. */
static const char *
dnsmasq_program(void)
{
	return access("/usr/sbin/dnsmasq", X_OK) == 0 ? "/usr/sbin/dnsmasq" : "dnsmasq";
}

/* Its words end with "at line 12 of FILE", and the line is what helps. */
static int
say_line(const char *conf_path, const char *words, struct bu_err *err)
{
	const char *at = strstr(words, " at line ");
	bu_autofree char *text = bu_file_read(conf_path, 0, NULL, NULL);
	const char *line = text;
	long number = at ? strtol(at + 9, NULL, 10) : 0;

	while (line && --number > 0 && (line = strchr(line, '\n')) != NULL)
		line++;
	if (!at || !line)
		at = line = "";
	return bu_err_set(err, BU_ERR_INVAL, 0, "%.*s%s%.*s", (int)strcspn(words, "\n"),
			  words, *at ? ": " : "", (int)strcspn(line, "\n"), line);
}

int
bu_priv_try_dnsmasq(const char *conf_path, struct bu_err *err)
{
	bu_autofree char *conf_arg = bu_xasprintf("--conf-file=%s", conf_path);
	const char *argv[] = {dnsmasq_program(), "--test", conf_arg, NULL};
	struct bu_job_opts opts = {
		.argv = argv, .deadline_ms = TRY_MS, .output_max = 65536};
	struct bu_job_end end;

	int rc = 0;

	if (check_conf(conf_path, err) != 0 || bu_job_wait(&opts, &end, err) != 0)
		return -1;
	if (end.timed_out)
		rc = bu_err_set(err, BU_ERR_TIMEOUT, 0, "dnsmasq --test took %d ms",
				TRY_MS);
	else if (end.exit_code != 0)
		rc = say_line(conf_path, end.errs, err);
	bu_job_end_fini(&end);
	return rc;
}

struct bu_job *
bu_priv_start_dnsmasq(struct bu_loop *loop, const char *conf_path, bu_job_fn fn,
		      void *arg, struct bu_err *err)
{
	bu_autofree char *conf_arg = bu_xasprintf("--conf-file=%s", conf_path);
	const char *argv[] = {dnsmasq_program(), "--keep-in-foreground",
			      "--log-facility=-", conf_arg, NULL};
	struct bu_job_opts opts = {.argv = argv, .output_max = 65536};

	if (check_conf(conf_path, err) != 0)
		return NULL;
	return bu_job_start(loop, &opts, fn, arg, err);
}

static const char chronyd[] = "/usr/sbin/chronyd";

int
bu_priv_has_chronyd(void)
{
	return access(chronyd, X_OK) == 0;
}

struct bu_job *
bu_priv_start_chronyd(struct bu_loop *loop, const char *conf_path, bu_job_fn fn,
		      void *arg, struct bu_err *err)
{
	/* -x: never sets the clock; -U, -u root: runs as who we are; -d: stays. */
	const char *argv[] = {chronyd, "-x", "-U",      "-u", "root",
			      "-d",    "-f", conf_path, NULL};
	struct bu_job_opts opts = {.argv = argv, .output_max = 65536};
	bu_autofree char *pid_path = bu_xasprintf("%s.pid", conf_path);

	if (check_conf(conf_path, err) != 0)
		return NULL;
	/* Of one that was killed: it does not start while any process has that number,
	 * as after a power cut. */
	unlink(pid_path);
	return bu_job_start(loop, &opts, fn, arg, err);
}

static int
check_dnsmasq(pid_t pid, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("/proc/%d/comm", (int)pid);
	char name[16];

	bu_file_line(path, name, sizeof(name));
	if (strcmp(name, "dnsmasq") != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0, "process %d is not dnsmasq",
				  (int)pid);
	return 0;
}

/* A socket that serves DHCP gets the wider queue; 1 = it was one. */
static int
widen(int fd)
{
	struct sockaddr_in name;
	socklen_t size = sizeof(name);
	const int bytes = DHCP_QUEUE;

	return getsockname(fd, (void *)&name, &size) == 0 &&
	       name.sin_family == AF_INET &&
	       (name.sin_port == htons(67) || name.sin_port == htons(4011)) &&
	       setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) == 0;
}

/* The kernel's default holds some 200 requests, and what comes while it is full is
 * lost; dnsmasq has no option for it. */
int
bu_priv_widen_dnsmasq(pid_t pid, struct bu_err *err)
{
	bu_autoclose int process = -1;
	int count = 0;

	if (check_dnsmasq(pid, err) != 0)
		return -1;
	process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "process %d", (int)pid);
	for (int number = 0; number < DNSMASQ_FILES; number++) {
		int fd = (int)syscall(SYS_pidfd_getfd, process, number, 0);

		if (fd < 0 && errno != EBADF)
			return bu_err_set(err, BU_ERR_IO, errno, "files of dnsmasq");
		if (fd < 0)
			continue;
		count += widen(fd);
		close(fd);
	}
	return count ? 0
		     : bu_err_set(err, BU_ERR_BUSY, 0,
				  "dnsmasq has no DHCP socket yet");
}

int
bu_priv_reload_dnsmasq(pid_t pid, struct bu_err *err)
{
	if (check_dnsmasq(pid, err) != 0)
		return -1;
	if (kill(pid, SIGHUP) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "signal to dnsmasq");
	return 0;
}
