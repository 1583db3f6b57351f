/* SPDX-License-Identifier: Apache-2.0 */
/* A real slurmctld in namespaces of its own. */
#ifndef BU_TESTS_SUPPORT_SLURM_REAL_H
#define BU_TESTS_SUPPORT_SLURM_REAL_H

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static inline int
run_script(const char *script, const char *dir)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		execlp("sh", "sh", "-c", script, "sh", dir, (char *)NULL);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : -1;
}

/* The script, then the talk; the exit status of the first process of a PID namespace.
 */
static inline int
work_in_namespaces(const char *script, int (*talk)(const char *dir), const char *dir)
{
	int rc = 1;

	if (run_script("mount --make-rprivate / && mount -t proc proc /proc", dir) ==
		    0 &&
	    run_script(script, dir) == 0)
		rc = talk(dir);
	if (rc != 0)
		run_script("cat \"$1\"/*.log >&2", dir);
	return rc;
}

/* Reaps what the daemons leave, whose zombies Slurm would wait for; the daemons end
 * with it. */
static inline int
lead_namespaces(const char *script, int (*talk)(const char *dir), const char *dir)
{
	pid_t worker = fork(), pid;
	int status = 1;

	if (worker == 0)
		_exit(work_in_namespaces(script, talk, dir));
	do
		pid = wait(&status);
	while (pid > 0 && pid != worker);
	return pid == worker && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static inline void
in_namespaces(const char *script, int (*talk)(const char *dir))
{
	char dir[] = "/tmp/bringup-slurm-XXXXXX";
	pid_t child, first;
	int status;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	child = fork();
	if (child == 0) {
		if (unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWPID) !=
		    0)
			_exit(1);
		first = fork();
		if (first == 0)
			_exit(lead_namespaces(script, talk, dir));
		_exit(waitpid(first, &status, 0) == first && WIFEXITED(status)
			      ? WEXITSTATUS(status)
			      : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "the child's status is %#x", (unsigned int)status);
}

#endif
