/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-boot's side of a connection. Invariant: whoever speaks here can have one
 * program of the table started with a configuration of their own, and nothing else.
 */
#include "provisioner/boot/serve.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/worker.h"
#include "provisioner/boot/lines.h"

enum { SAID_MAX = 4096, OUTPUT_KEPT = 65536, ARGS_MAX = 10 };

struct session {
	const struct bu_serve *how;
	struct bu_loop *loop;
	struct bu_job *job;
	char said[SAID_MAX]; /* the part of a line that has come */
	size_t size;
};

static void
say(const struct session *session, const char *word, const char *words)
{
	bu_autofree char *line =
		bu_xasprintf("%s%s%s\n", word, *words ? " " : "", words);

	for (char *at = line; (at = strchr(at, '\n')) != NULL && at[1]; at++)
		*at = ' ';
	bu_ignore((int)send(session->how->fd, line, strlen(line),
			    MSG_NOSIGNAL | MSG_DONTWAIT));
}

static void
finish(struct session *session, const char *words)
{
	say(session, "ended", words);
	bu_loop_stop(session->loop);
}

static void
on_ended(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct session *session = arg;

	session->job = NULL;
	finish(session, err ? err->text : "it ended");
}

static int
check_conf(const char *path, uid_t owner, struct bu_err *err)
{
	struct stat st;

	if (!bu_path_is_file(path))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "configuration '%s' is not an absolute path", path);
	if (lstat(path, &st) != 0 || access(path, R_OK) != 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "user %u cannot read the configuration '%s'",
				  (unsigned int)geteuid(), path);
	if (!S_ISREG(st.st_mode) || st.st_uid != owner || (st.st_mode & 022))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "configuration '%s' is not a plain file that only "
				  "bringup may write",
				  path);
	return 0;
}

/* Two arguments that hold paths, each with its head. */
static struct bu_job *
run(struct session *session, const char *const *fixed, const char *first,
    const char *second, struct bu_err *err)
{
	const char *argv[ARGS_MAX] = {bu_boot_path(session->how->program)};
	const struct bu_job_opts opts = {
		.argv = argv, .cwd = "/", .output_max = OUTPUT_KEPT};
	size_t count = 1;

	while (*fixed)
		argv[count++] = *fixed++;
	argv[count++] = first;
	argv[count++] = second;
	bu_assert(count < ARGS_MAX);
	return bu_job_start(session->loop, &opts, on_ended, session, err);
}

static struct bu_job *
run_dnsmasq(struct session *session, const char *conf, struct bu_err *err)
{
	static const char *const fixed[] = {"--keep-in-foreground", "--log-facility=-",
					    NULL};
	bu_autofree char *conf_arg = bu_xasprintf("--conf-file=%s", conf);
	bu_autofree char *leases_arg = bu_xasprintf(
		"--dhcp-leasefile=%s/dnsmasq.leases", session->how->folder);

	return run(session, fixed, conf_arg, leases_arg, err);
}

static struct bu_job *
run_chronyd(struct session *session, const char *conf, struct bu_err *err)
{
	/* -x: never sets the clock; -U, -u root: runs as who we are; -d: stays. Behind
	 * these are lines of a configuration. */
	static const char *const fixed[] = {"-x", "-U", "-u", "root", "-d", NULL};
	bu_autofree char *conf_line = bu_xasprintf("include %s", conf);
	bu_autofree char *pid_path =
		bu_xasprintf("%s/chronyd.pid", session->how->folder);
	bu_autofree char *pid_line = bu_xasprintf("pidfile %s", pid_path);

	/* Of one that was killed: it does not start while any process has that number,
	 * as after a power cut. */
	unlink(pid_path);
	return run(session, fixed, conf_line, pid_line, err);
}

static void
start(struct session *session, const char *conf)
{
	struct bu_err err;

	if (session->job || check_conf(conf, session->how->owner, &err) != 0) {
		finish(session, session->job ? "it was told to start twice" : err.text);
		return;
	}
	session->job = strcmp(session->how->program->name, "dnsmasq") == 0
			       ? run_dnsmasq(session, conf, &err)
			       : run_chronyd(session, conf, &err);
	if (!session->job)
		finish(session, err.text);
}

static void
widen(struct session *session)
{
	struct bu_err err = {0};

	if (bu_serve_widen(bu_job_pid(session->job), &err) == 0)
		say(session, "widened", "");
	else if (err.kind == BU_ERR_BUSY)
		say(session, "busy", "");
	else
		say(session, "failed", err.text);
}

static int
obey(char *line, void *arg)
{
	struct session *session = arg;
	char *rest = line + strcspn(line, " ");

	if (*rest)
		*rest++ = '\0';
	if (strcmp(line, "start") == 0)
		start(session, rest);
	else if (session->job && strcmp(line, "reload") == 0)
		kill(bu_job_pid(session->job), SIGHUP);
	else if (session->job && strcmp(line, "widen") == 0)
		widen(session);
	else
		finish(session, "it was told what it does not know");
	return 1;
}

static void
on_said(int fd, int what, void *arg)
{
	struct session *session = arg;
	ssize_t got = recv(fd, session->said + session->size, SAID_MAX - session->size,
			   MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		bu_loop_stop(session->loop);
		return;
	}
	session->size += (size_t)got;
	bu_lines_take(session->said, &session->size, obey, session);
	if (session->size == SAID_MAX)
		finish(session, "it was told a line without an end");
}

void
bu_serve(const struct bu_serve *how)
{
	struct session session = {.how = how, .loop = bu_loop_create(NULL)};
	struct bu_watch *watch =
		bu_watch_create(session.loop, how->fd, BU_READABLE, on_said, &session);

	bu_loop_run(session.loop);
	bu_watch_destroy(watch);
	bu_job_cancel(session.job);
	bu_loop_destroy(session.loop);
	close(how->fd);
}
