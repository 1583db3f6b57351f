/* SPDX-License-Identifier: Apache-2.0 */
/* A neighbour that answers, one that does not, and none: two network namespaces. */
#include "fabric/probe/neighbour.h"

#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysroot.h"
#include "tests/support/unit.h"

static pid_t
start_peer(void)
{
	int fds[2];
	char byte = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(CLONE_NEWNET) == 0 && write(fds[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	close(fds[1]);
	ck_assert_int_eq(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

/* What the kernel's table says: 2 = known, 0 = asked for, -1 = nothing. */
static int
flags_of(const char *address)
{
	bu_autofree char *table = bu_sysroot_read("", 65536, NULL, "proc/net/arp");
	const char *line = table ? strstr(table, address) : NULL;
	unsigned int type, flags;

	if (!line || sscanf(line + strlen(address), " 0x%x 0x%x", &type, &flags) != 2)
		return -1;
	return (int)flags;
}

static void
learn(const char *address)
{
	struct in_addr local, peer;

	inet_pton(AF_INET, "10.99.0.1", &local);
	inet_pton(AF_INET, address, &peer);
	bu_neighbour_learn(NULL, local, peer);
}

START_TEST(a_neighbour_is_known_afterwards)
{
	char rig[400];
	pid_t peer;

	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	peer = start_peer();
	snprintf(rig, sizeof(rig),
		 "set -e; ip link add v0 type veth peer name v1;"
		 "ip link set v1 netns %d; ip addr add 10.99.0.1/24 dev v0;"
		 "ip link set v0 up; nsenter -t %d -n sh -ec '"
		 "ip addr add 10.99.0.2/24 dev v1; ip link set v1 up'",
		 (int)peer, (int)peer);
	ck_assert_int_eq(system(rig), 0);
	ck_assert_int_eq(flags_of("10.99.0.2"), -1);
	learn("10.99.0.2");
	ck_assert_int_eq(flags_of("10.99.0.2"), 2);
	learn("10.99.0.2");
	/* It gives up, and leaves the answer to who needs it. */
	learn("10.99.0.3");
	ck_assert_int_eq(flags_of("10.99.0.3"), 0);
	learn("10.98.0.1");
	ck_assert_int_eq(flags_of("10.98.0.1"), -1);
	kill(peer, SIGKILL);
	waitpid(peer, NULL, 0);
}
END_TEST

BU_UNIT("neighbour", a_neighbour_is_known_afterwards)
