/* SPDX-License-Identifier: Apache-2.0 */
/* Listening sockets. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/url.h"
#include "provisioner/api/server.h"

enum { BACKLOG = 1024 };

int
bu_listen_tcp(const char *address, struct bu_err *err)
{
	struct sockaddr_in where;
	int one = 1;
	int fd;

	if (bu_url_socket(address, &where) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%s' is not an address to listen on; write "
				  "10.0.0.1:8080",
				  address);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&where, sizeof(where)) != 0 ||
	    listen(fd, BACKLOG) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "listen on %s", address);
		close(fd);
		return -1;
	}
	return fd;
}

/* 0 when nothing is there or a socket that nothing listens on. */
static int
check_stale(const struct sockaddr_un *where, struct bu_err *err)
{
	struct stat st;
	int fd, rc;

	if (lstat(where->sun_path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "'%s' exists and is not a socket; remove it or "
				  "choose another path",
				  where->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket");
	rc = connect(fd, (const struct sockaddr *)where, sizeof(*where));
	close(fd);
	if (rc == 0 || errno == EAGAIN)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "another bringupd listens on '%s'", where->sun_path);
	return 0;
}

/* dnsmasq and chronyd pass it, whose files are in it: whatever the umask is, and the
 * daemon that made it. */
static int
make_folder(const char *path, struct bu_err *err)
{
	bu_autofree char *dir = bu_path_folder(path);
	const int ours = !bu_file_exists(dir) || strcmp(dir, "/run/bringup") == 0;

	if (bu_mkdir_p(dir, 0755, err) != 0)
		return -1;
	if (ours && chmod(dir, 0755) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "folder '%s'", dir);
	return 0;
}

int
bu_listen_unix(const char *path, struct bu_err *err)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(where.sun_path))
		return bu_err_set(err, BU_ERR_INVAL, 0, "socket path '%s' is too long",
				  path);
	snprintf(where.sun_path, sizeof(where.sun_path), "%s", path);
	if (make_folder(path, err) != 0 || check_stale(&where, err) != 0)
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "socket");
	unlink(path);
	if (bind(fd, (struct sockaddr *)&where, sizeof(where)) != 0 ||
	    chmod(path, 0666) != 0 || listen(fd, BACKLOG) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "listen on %s", path);
		close(fd);
		return -1;
	}
	return fd;
}

/* systemd's protocol: descriptors from 3 on are ours when LISTEN_PID says so. */
int
bu_listen_inherited(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");

	if (!pid || !count || atol(pid) != (long)getpid() || atoi(count) < 1)
		return -1;
	bu_set_cloexec(3, 1);
	return 3;
}
