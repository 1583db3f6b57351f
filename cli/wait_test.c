/* SPDX-License-Identifier: Apache-2.0 */
/* Ctrl-C while a rollout is waited for: what is said, and how the program ends. */
#include "cli/wait.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "tests/support/unit.h"

static int
listen_at(char path[64])
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(path, 64, "/tmp/wait_test.%d", (int)getpid());
	unlink(path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 4), 0);
	return fd;
}

/* The waiting program's words go to `out`. */
static pid_t
begin_to_wait(const char *socket, int out)
{
	pid_t pid = fork();
	bu_autojson json_t *plan = NULL;
	struct bu_err err;

	ck_assert_int_ge(pid, 0);
	if (pid != 0)
		return pid;
	dup2(out, STDERR_FILENO);
	plan = json_pack("{s:[{s:s}]}", "steps", "node", "node001");
	bu_ignore(bu_wait_for(bu_client_create(socket),
			      &(struct bu_planned){.plan = plan}, "r-17-abc", 60,
			      &err));
	_exit(0);
}

START_TEST(who_ends_the_wait_is_told_what_goes_on_and_what_stops_it)
{
	static const char *const has[] = {
		"rollout r-17-abc goes on", "bringup rollout pause r-17-abc",
		"bringup rollout abort r-17-abc", "bringup rollout show r-17-abc"};
	char path[64], words[1024] = "";
	int fd = listen_at(path), ends[2], status, asked;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = begin_to_wait(path, ends[1]);
	asked = accept(fd, NULL, NULL); /* and no answer comes */
	ck_assert_int_ge(asked, 0);
	ck_assert_int_eq(kill(pid, SIGINT), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 128 + SIGINT);
	ck_assert_int_gt(read(ends[0], words, sizeof(words) - 1), 0);
	for (size_t i = 0; i < BU_LEN(has); i++)
		ck_assert_msg(strstr(words, has[i]) != NULL, "%s", words);
	close(asked);
	close(fd);
	unlink(path);
}
END_TEST

BU_UNIT("wait", who_ends_the_wait_is_told_what_goes_on_and_what_stops_it)
