/* SPDX-License-Identifier: Apache-2.0 */
/* A socket as systemd opens it hears of the start, of the loop's turns and of the end.
 */
#include "provisioner/notify.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/mem.h"
#include "tests/support/unit.h"

static char path[96];
static int fd;

static void
begin(const char *watchdog_us)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	bu_autofree char *pid = bu_xasprintf("%d", (int)getpid());

	snprintf(path, sizeof(path), "/tmp/bringup-test-notify.%d", (int)getpid());
	unlink(path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	setenv("NOTIFY_SOCKET", path, 1);
	setenv("WATCHDOG_PID", pid, 1);
	if (watchdog_us)
		setenv("WATCHDOG_USEC", watchdog_us, 1);
}

/* How many of these messages came; others are an error. */
static int
heard(const char *text)
{
	char message[200];
	int count = 0;
	ssize_t size;

	while ((size = recv(fd, message, sizeof(message) - 1, 0)) > 0) {
		message[size] = '\0';
		ck_assert_str_eq(message, text);
		count++;
	}
	return count;
}

START_TEST(the_loop_tells_that_it_turns)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_notify *notify;
	char first[20];

	begin("20000");
	notify = bu_notify_ready(loop);
	ck_assert_int_eq(recv(fd, first, 7, 0), 7);
	ck_assert_int_eq(memcmp(first, "READY=1", 7), 0);
	for (int i = 0; i < 200 && heard("WATCHDOG=1") < 2; i++)
		bu_loop_step(loop, 20);
	heard("WATCHDOG=1");
	/* Nothing comes while the loop stands still. */
	usleep(60000);
	ck_assert_int_eq(heard("WATCHDOG=1"), 0);
	bu_notify_stopping(notify);
	ck_assert_int_eq(heard("STOPPING=1"), 1);
	unlink(path);
	bu_loop_destroy(loop);
}
END_TEST

START_TEST(without_a_limit_only_start_and_end_are_told)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_notify *notify;

	begin(NULL);
	notify = bu_notify_ready(loop);
	bu_loop_step(loop, 30);
	ck_assert_int_eq(heard("READY=1"), 1);
	bu_notify_stopping(notify);
	ck_assert_int_eq(heard("STOPPING=1"), 1);
	unlink(path);
	bu_loop_destroy(loop);
}
END_TEST

BU_UNIT("notify", the_loop_tells_that_it_turns,
	without_a_limit_only_start_and_end_are_told)
