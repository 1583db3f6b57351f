/* SPDX-License-Identifier: Apache-2.0 */
/* What the real bringup-boot refuses: other users, and configurations of others.
 * Nothing is started here; users_test.c has what is. */
#include "provisioner/boot/serve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/spawn.h"
#include "base/worker.h"
#include "tests/support/unit.h"

enum { SAID = 512, STRANGER = 65533 };

static char dir[sizeof("/tmp/bringup-serve-XXXXXX")];
static char socket_path[64], conf[64];

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-serve-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0711), 0);
	snprintf(socket_path, sizeof(socket_path), "%s/socket", dir);
	snprintf(conf, sizeof(conf), "%s/conf", dir);
	ck_assert_int_eq(bu_file_write(conf, "no-such-word\n", 13, 0644, NULL), 0);
}

static void
finish(void)
{
	bu_ignore(bu_remove_tree(dir, NULL));
}

/* With this descriptor as its third. */
static pid_t
run(const char *option, const char *value, int fd)
{
	const char *const argv[] = {
		BU_BUILDDIR "/bringup-boot", option, value, "dnsmasq", dir, NULL};
	const struct bu_spawn how = {.argv = argv,
				     .stdin_fd = -1,
				     .stdout_fd = -1,
				     .stderr_fd = -1,
				     .extra_fd = fd};
	struct bu_err err = {0};
	pid_t pid = bu_spawn(&how, NULL, &err);

	ck_assert_msg(pid > 0, "%s", err.text);
	close(fd);
	return pid;
}

/* As its unit does; it listens to users of that name. */
static pid_t
run_unit(const char *from)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(where.sun_path, sizeof(where.sun_path), "%s", socket_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	ck_assert_int_eq(chmod(socket_path, 0666), 0); /* anybody opens it here */
	ck_assert_int_eq(listen(fd, 8), 0);
	return run("--from", from, fd);
}

/* Until the connection is closed, which may be before the whole line is taken. */
static void
ask(int fd, const char *line, char *ret)
{
	bu_autofree char *whole = bu_xasprintf("%s\n", line);
	size_t size = 0;
	ssize_t got = send(fd, whole, strlen(whole), MSG_NOSIGNAL);

	ck_assert(got > 0 || errno == EPIPE);
	while ((got = recv(fd, ret + size, SAID - 1 - size, 0)) > 0)
		size += (size_t)got;
	ret[size] = '\0';
	close(fd);
}

static void
ask_unit(const char *line, char *ret)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(where.sun_path, sizeof(where.sun_path), "%s", socket_path);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	ask(fd, line, ret);
}

static void
start_refused(const char *path, const char *why)
{
	bu_autofree char *line = bu_xasprintf("start %s", path);
	char said[SAID];

	ask_unit(line, said);
	ck_assert_msg(strncmp(said, "ended ", 6) == 0 && strstr(said, why), "%s: %s",
		      path, said);
}

START_TEST(only_one_user_is_listened_to)
{
	bu_autofree char *line = NULL;
	char said[SAID];
	int status;
	pid_t unit, stranger;

	BU_NEEDS("root", "/usr/sbin/dnsmasq");
	begin();
	line = bu_xasprintf("start %s", conf);
	unit = run_unit("root");
	stranger = fork();
	if (stranger == 0) {
		if (setresuid(STRANGER, STRANGER, STRANGER) != 0)
			_exit(2);
		ask_unit(line, said);
		_exit(said[0] != '\0');
	}
	ck_assert_int_eq(waitpid(stranger, &status, 0), stranger);
	ck_assert_int_eq(status, 0);
	/* And it goes on: dnsmasq itself says what is wrong. */
	start_refused(conf, "dnsmasq");
	bu_daemon_end(unit, 0);
	finish();
}
END_TEST

START_TEST(only_a_plain_file_of_that_user_is_taken)
{
	bu_autofree char *link = NULL, *around = NULL;
	pid_t unit;

	BU_NEEDS("root");
	begin();
	link = bu_xasprintf("%s/link", dir);
	around = bu_xasprintf("%s/../conf", dir);
	unit = run_unit("root");
	ck_assert_int_eq(symlink(conf, link), 0);
	start_refused("conf", "is not an absolute path");
	start_refused("", "is not an absolute path");
	start_refused(around, "is not an absolute path");
	start_refused("/no/such/conf", "No such file");
	start_refused(dir, "only bringup may write");
	start_refused(link, "only bringup may write");
	ck_assert_int_eq(chmod(conf, 0620), 0);
	start_refused(conf, "only bringup may write");
	ck_assert_int_eq(chmod(conf, 0602), 0);
	start_refused(conf, "only bringup may write");
	ck_assert_int_eq(chmod(conf, 0644), 0);
	ck_assert_int_eq(chown(conf, STRANGER, STRANGER), 0);
	start_refused(conf, "only bringup may write");
	bu_daemon_end(unit, 0);
	finish();
}
END_TEST

START_TEST(what_it_does_not_know_ends_the_connection)
{
	static const char *const lines[] = {"reload", "widen", "", "run /bin/sh"};
	bu_autofree char *longer = bu_xasprintf("%5000s", "start");
	char said[SAID];
	pid_t unit;

	BU_NEEDS("root");
	begin();
	unit = run_unit("root");
	for (size_t i = 0; i < BU_LEN(lines); i++) {
		ask_unit(lines[i], said);
		ck_assert_str_eq(said, "ended it was told what it does not know\n");
	}
	ask_unit(longer, said);
	ck_assert_str_eq(said, "ended it was told a line without an end\n");
	bu_daemon_end(unit, 0);
	finish();
}
END_TEST

/* A user that is there on any machine; the file is root's alone. */
START_TEST(a_child_of_root_reads_what_its_user_may)
{
	bu_autofree char *line = NULL;
	char said[SAID];
	int pair[2];
	pid_t child;

	BU_NEEDS("root");
	begin();
	line = bu_xasprintf("start %s", conf);
	ck_assert_int_eq(chmod(conf, 0600), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	child = run("--user", "nobody", pair[1]);
	ask(pair[0], line, said);
	ck_assert_ptr_nonnull(strstr(said, "cannot read the configuration"));
	ck_assert_ptr_nonnull(strstr(said, "Permission denied"));
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	finish();
}
END_TEST

START_TEST(a_user_that_is_not_there_is_no_reason_to_stay_root)
{
	int pair[2], status;
	pid_t child;

	BU_NEEDS("root");
	begin();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	child = run("--user", "no-such-user", pair[1]);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	close(pair[0]);
	finish();
}
END_TEST

BU_UNIT("serve", only_one_user_is_listened_to, only_a_plain_file_of_that_user_is_taken,
	what_it_does_not_know_ends_the_connection,
	a_child_of_root_reads_what_its_user_may,
	a_user_that_is_not_there_is_no_reason_to_stay_root)
