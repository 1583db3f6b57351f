/* SPDX-License-Identifier: Apache-2.0 */
/* chronyd itself, in a network of its own, asked for the time as a node asks. */
#include "provisioner/boot/chrony.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "provisioner/boot/program.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

enum { NTP_PORT = 123, NTP_SIZE = 48, CLIENT_V4 = 0x23, SERVER_V4 = 0x24 };

static void
make_network(void)
{
	const char *argv[] = {"sh", "-c",
			      "ip link set lo up && ip addr add 10.77.0.1/24 dev lo",
			      NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 20000};

	ck_assert_int_eq(unshare(CLONE_NEWNET), 0);
	ck_assert_int_eq(bu_job_run(&opts, NULL, NULL), 0);
}

/* Asks until there is an answer, or as often as is left; its stratum, -1 for silence.
 */
static int
ask(struct bu_loop *loop, int tries)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(NTP_PORT)};
	bu_autoclose int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	unsigned char packet[NTP_SIZE];

	inet_pton(AF_INET, "10.77.0.1", &to.sin_addr);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	while (tries-- > 0) {
		memset(packet, 0, sizeof(packet));
		packet[0] = CLIENT_V4;
		send(fd, packet, sizeof(packet), 0);
		bu_loop_step(loop, 100);
		usleep(100 * 1000);
		if (recv(fd, packet, sizeof(packet), 0) == NTP_SIZE)
			return (packet[0] & 0x3f) == SERVER_V4 ? packet[1] : -1;
	}
	return -1;
}

START_TEST(it_answers_with_our_clock_until_others_do)
{
	char dir[] = "/tmp/bringup-chrony-XXXXXX";
	struct bu_chrony_opts opts = {.dir = dir, .address = "10.77.0.1"};
	struct bu_loop *loop = bu_loop_create(NULL);
	bu_autofree char *written = NULL, *pid_path = NULL, *uid = NULL, *wanted = NULL;
	const struct passwd *user = bu_boot_user(bu_boot_program("chronyd"));
	struct bu_chrony *chrony;
	struct bu_err err = {0};

	BU_NEEDS("root", "/usr/sbin/chronyd");
	make_network();
	ck_assert_ptr_nonnull(mkdtemp(dir));
	/* what a power cut leaves; the number is somebody's now */
	written = bu_xasprintf("%s/written", dir);
	pid_path = bu_xasprintf("%s/chronyd.pid", written);
	ck_assert_int_eq(mkdir(written, 0700), 0);
	ck_assert_int_eq(bu_file_write_text(pid_path, 0644, NULL, "%d\n", getpid()), 0);
	chrony = bu_chrony_create(loop, &opts);
	ck_assert_msg(bu_chrony_set(chrony, "local stratum 10\nallow 10.77.0.0/24\n",
				    &err) == 0,
		      "%s", err.text);
	ck_assert_int_eq(ask(loop, 150), 10);
	/* It has a user of its own, where the machine has one. */
	uid = shell_told(written, "awk '$1 == \"Uid:\" { print $2, $3 }' "
				  "/proc/$(cat chronyd.pid)/status");
	wanted = bu_xasprintf("%u %u\n", user ? user->pw_uid : 0,
			      user ? user->pw_uid : 0);
	ck_assert_str_eq(uid, wanted);
	ck_assert_int_eq(bu_chrony_set(chrony, NULL, &err), 0);
	ck_assert_int_eq(ask(loop, 5), -1);
	bu_chrony_destroy(chrony);
	bu_chrony_destroy(NULL);
	bu_loop_destroy(loop);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("chrony", it_answers_with_our_clock_until_others_do)
