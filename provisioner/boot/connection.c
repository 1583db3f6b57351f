/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How bringupd reaches bringup-boot; called by child.c. Invariant: the program ends
 * with the connection, so it ends with bringupd, however that ends.
 */
#include "provisioner/boot/connection.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/spawn.h"

enum { END_MS = 2000, ARGS_MAX = 6 };

void
bu_connection_init(struct bu_connection *connection)
{
	*connection = (struct bu_connection){.fd = -1, .pidfd = -1};
}

static int
connect_unit(const char *path, struct bu_err *err)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(where.sun_path, sizeof(where.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&where, sizeof(where)) == 0)
		return fd;
	bu_err_set(err, BU_ERR_IO, errno, "connect to '%s'", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Leases and a pid file: what the program writes, and we never read. */
static int
make_folder(const char *path, const struct passwd *user, struct bu_err *err)
{
	if (bu_mkdir_p(path, 0700, err) != 0)
		return -1;
	if (user && chown(path, user->pw_uid, user->pw_gid) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "owner of '%s'", path);
	return 0;
}

static int
spawn(struct bu_connection *connection, const char *const *argv, struct bu_err *err)
{
	int pair[2];
	struct bu_spawn how = {.argv = argv,
			       .cwd = "/",
			       .stdin_fd = -1,
			       .stdout_fd = -1,
			       .stderr_fd = -1};

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket pair");
	how.extra_fd = pair[1];
	connection->pid = bu_spawn(&how, &connection->pidfd, err);
	close(pair[1]);
	if (connection->pid > 0) {
		connection->fd = pair[0];
		return 0;
	}
	connection->pid = 0;
	close(pair[0]);
	return -1;
}

static int
start_child(struct bu_connection *connection, const struct bu_boot_program *program,
	    const struct passwd *user, const char *conf_path, struct bu_err *err)
{
	bu_autofree char *path = bu_program_path("bringup-boot");
	bu_autofree char *top = bu_path_folder(conf_path);
	bu_autofree char *folder = bu_xasprintf("%s/written", top);
	const char *argv[ARGS_MAX] = {path};
	size_t count = 1;

	if (user) {
		argv[count++] = "--user";
		argv[count++] = user->pw_name;
	}
	argv[count++] = program->name;
	argv[count++] = folder;
	if (make_folder(folder, user, err) != 0)
		return -1;
	return spawn(connection, argv, err);
}

static void
warn(struct bu_connection *connection, const struct bu_boot_program *program,
     const char *why)
{
	if (!connection->warned)
		bu_warn(program->name,
			"%s: it runs as the user of bringupd, and could read its keys",
			why);
	connection->warned = 1;
}

int
bu_connection_open(struct bu_connection *connection,
		   const struct bu_boot_program *program, const char *socket,
		   const char *conf_path, struct bu_err *err)
{
	const int root = geteuid() == 0;
	const struct passwd *user = NULL;
	struct bu_err why;

	if (socket || !root) {
		connection->fd = connect_unit(socket ? socket : program->socket, &why);
		if (connection->fd >= 0)
			return 0;
	} else {
		user = bu_boot_user(program);
		bu_err_set(&why, BU_ERR_NOTFOUND, 0, "no user %s or %s",
			   program->users[0], program->users[1]);
	}
	if (!user)
		warn(connection, program, why.text);
	return start_child(connection, program, user, conf_path, err);
}

static void
end_child(struct bu_connection *connection)
{
	struct pollfd ended = {.fd = connection->pidfd, .events = POLLIN};

	if (poll(&ended, 1, END_MS) != 1)
		kill(connection->pid, SIGKILL);
	waitpid(connection->pid, NULL, 0);
	close(connection->pidfd);
}

void
bu_connection_close(struct bu_connection *connection)
{
	if (connection->fd < 0)
		return;
	/* Whatever process has a copy of the descriptor. */
	shutdown(connection->fd, SHUT_RDWR);
	close(connection->fd);
	connection->fd = -1;
	if (connection->pid)
		end_child(connection);
	connection->pid = 0;
	connection->pidfd = -1;
}

int
bu_connection_say(struct bu_connection *connection, const char *line,
		  struct bu_err *err)
{
	ssize_t size = (ssize_t)strlen(line);

	if (connection->fd < 0)
		return bu_err_set(err, BU_ERR_STATE, 0, "it does not run");
	if (send(connection->fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT) !=
	    size)
		return bu_err_set(err, BU_ERR_IO, errno, "it takes no more words");
	return 0;
}

ssize_t
bu_connection_read(struct bu_connection *connection, char *ret, size_t size)
{
	ssize_t got = recv(connection->fd, ret, size, MSG_DONTWAIT);

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? -1 : 0;
	return got;
}
