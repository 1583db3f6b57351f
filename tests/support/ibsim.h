/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated InfiniBand fabric (ibsim) in namespaces of its own: an empty /run, no
 * network, and for the shell $SELF, this very program, and $UMAD2SIM, which puts a
 * device of the fabric under it.
 */
#ifndef BU_TESTS_SUPPORT_IBSIM_H
#define BU_TESTS_SUPPORT_IBSIM_H

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static const char umad2sim[] = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so";

/* net: the fabric, as /run/net. Exit status: ask's, or from 10 on what lacked. */
static inline int
ibsim_inside(const char *net, int (*ask)(void))
{
	char self[4096] = "";
	int status;
	pid_t first;

	/* /proc is this one's no more when the process ids have changed. */
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    setenv("SELF", self, 1) != 0 || setenv("UMAD2SIM", umad2sim, 1) != 0 ||
	    unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID) != 0)
		return 10;
	first = fork();
	if (first == 0) {
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
		    mount("tmpfs", "/run", "tmpfs", 0, NULL) != 0 ||
		    bu_file_write("/run/net", net, strlen(net), 0644, NULL) != 0)
			_exit(11);
		_exit(ask());
	}
	return first > 0 && waitpid(first, &status, 0) == first && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 12;
}

static inline void
ibsim_asks(const char *net, int (*ask)(void))
{
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(ibsim_inside(net, ask));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}

#endif
