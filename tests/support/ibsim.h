/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated InfiniBand fabric (ibsim) in namespaces of its own: an empty /run, no
 * network, and for the shell $SELF, this very program, and $UMAD2SIM, which puts a
 * device of the fabric under it.
 */
#ifndef BU_TESTS_SUPPORT_IBSIM_H
#define BU_TESTS_SUPPORT_IBSIM_H

#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
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

/* Inside: the fabric of /run/net with LIDs from opensm at the node `last`, and counters
 * as commands of the simulator set them; FD 3 is its console. Then the shell goes on,
 * where "at NODE SECONDS ..." is this program with the device of that node. Its exit
 * status; 9 when something lacked. */
static inline int
ibsim_counts(const char *last, const char *commands, const char *then)
{
	/* The simulator reads past a buffer of its own, which is not our business. */
	bu_autofree char *shell = bu_xasprintf(
		"cd /run; at() { h=$1 t=$2; shift 2; ASAN_OPTIONS=detect_leaks=0:"
		"verify_asan_link_order=0:replace_intrin=0 SIM_HOST=$h "
		"LD_PRELOAD=$UMAD2SIM timeout $t $SELF \"$@\"; }; "
		"ip link set lo up; mkfifo console; ibsim -s net <console >log 2>&1 & "
		"exec 3>console; i=0; until SIM_HOST=%s LD_PRELOAD=$UMAD2SIM "
		"timeout 20 opensm -o -f sm.log -e >sm 2>&1 || [ $i = 20 ]; "
		"do i=$((i+1)); sleep 0.2; done; cat commands >&3; sleep 0.3; %s",
		last, then);
	int status;

	if (mount("tmpfs", "/var/cache", "tmpfs", 0, NULL) != 0 ||
	    mkdir("/var/cache/opensm", 0755) != 0 ||
	    bu_file_write("/run/commands", commands, strlen(commands), 0644, NULL) != 0)
		return 9;
	status = system(shell);
	if (status != 0)
		bu_ignore(system("tail -n 5 /run/log /run/sm >&2"));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
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
