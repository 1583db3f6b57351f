/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that need root. */
#include "provisioner/boot/priv.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"

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

struct bu_job *
bu_priv_start_dnsmasq(struct bu_loop *loop, const char *conf_path, bu_job_fn fn,
		      void *arg, struct bu_err *err)
{
	bu_autofree char *conf_arg = bu_xasprintf("--conf-file=%s", conf_path);
	/* Debian installs it where an ordinary PATH does not look. */
	const char *program = access("/usr/sbin/dnsmasq", X_OK) == 0
				      ? "/usr/sbin/dnsmasq"
				      : "dnsmasq";
	const char *argv[] = {program, "--keep-in-foreground", "--log-facility=-",
			      conf_arg, NULL};
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

int
bu_priv_reload_dnsmasq(pid_t pid, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("/proc/%d/comm", (int)pid);
	char name[16];

	bu_file_line(path, name, sizeof(name));
	if (strcmp(name, "dnsmasq") != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0, "process %d is not dnsmasq",
				  (int)pid);
	if (kill(pid, SIGHUP) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "signal to dnsmasq");
	return 0;
}
