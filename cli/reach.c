/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds bringupd's socket, and finds out why there is no answer; called by client.c.
 * Invariant: what is said was looked at after the request had failed, and names the
 * path and who chose it, so that a wrong word is found where it was said.
 */
#include "cli/reach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const struct {
	const char *from;  /* "PATH (from ...)" */
	const char *start; /* what to do when nothing listens there */
} words[] = {
	[BU_REACH_OPTION] = {"from --socket", "give --socket the path that `socket` in "
					      "bringupd.conf names"},
	[BU_REACH_SOCKET] = {"from BRINGUP_SOCKET",
			     "set BRINGUP_SOCKET to the path that `socket` in "
			     "bringupd.conf names"},
	[BU_REACH_RACK] = {"from BRINGUP_RACK",
			   "`bringup lab status` says whether that rack is up"},
	[BU_REACH_DEFAULT] = {"the default",
			      "run this on the appliance (`systemctl start bringupd` "
			      "starts it), or name another socket with --socket, "
			      "BRINGUP_SOCKET or BRINGUP_RACK"},
};

void
bu_reach_init(struct bu_reach *reach, const char *option)
{
	const char *socket = getenv("BRINGUP_SOCKET"), *rack = getenv("BRINGUP_RACK");

	if (option && *option)
		*reach = (struct bu_reach){bu_xstrdup(option), BU_REACH_OPTION};
	else if (socket && *socket)
		*reach = (struct bu_reach){bu_xstrdup(socket), BU_REACH_SOCKET};
	else if (rack && *rack)
		*reach = (struct bu_reach){bu_xasprintf("%s/run/bringup/sock", rack),
					   BU_REACH_RACK};
	else
		*reach = (struct bu_reach){bu_xstrdup("/run/bringup/sock"),
					   BU_REACH_DEFAULT};
}

void
bu_reach_fini(struct bu_reach *reach)
{
	free(reach->path);
	reach->path = NULL;
}

/* 0 when a program listens there, else errno; EAGAIN when its queue is full. */
static int
knock(const char *path)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	struct stat st;
	int fd, rc;

	if (strlen(path) >= sizeof(where.sun_path))
		return ENAMETOOLONG;
	if (stat(path, &st) != 0)
		return errno;
	if (!S_ISSOCK(st.st_mode))
		return ENOTSOCK;
	snprintf(where.sun_path, sizeof(where.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	rc = connect(fd, (struct sockaddr *)&where, sizeof(where)) == 0 ? 0 : errno;
	close(fd);
	return rc;
}

/* Somebody is there and gave no answer. */
static void
explain_silence(const struct bu_reach *reach, const char *from, struct bu_err *err)
{
	if (err->kind == BU_ERR_TIMEOUT) {
		bu_err_set(err, BU_ERR_TIMEOUT, 0,
			   "%s (%s): bringupd runs and does not answer in time; it is "
			   "busy or stuck, `journalctl -u bringupd` says more",
			   reach->path, from);
	} else {
		err->kind = BU_ERR_REMOTE;
		bu_err_wrap(err,
			    "%s (%s): the program that listens there is not bringupd",
			    reach->path, from);
	}
}

void
bu_reach_explain(const struct bu_reach *reach, struct bu_err *err)
{
	const char *path = reach->path, *from = words[reach->by].from;
	const char *start = words[reach->by].start;
	int found = knock(path);

	switch (found) {
	case 0:
	case EAGAIN:
		explain_silence(reach, from, err);
		return;
	case ENOENT:
	case ENOTDIR:
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "%s (%s): no such socket; bringupd was not started here, "
			   "or listens elsewhere; %s",
			   path, from, start);
		return;
	case ECONNREFUSED:
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "%s (%s): nothing listens on this socket; bringupd has "
			   "stopped, `systemctl status bringupd` says why",
			   path, from);
		return;
	case EACCES:
	case EPERM:
		bu_err_set(err, BU_ERR_DENIED, 0,
			   "%s (%s): user %u may not use this socket; run it as the "
			   "socket's owner, or with sudo",
			   path, from, (unsigned int)geteuid());
		return;
	case ENOTSOCK:
		bu_err_set(err, BU_ERR_REMOTE, 0, "%s (%s): this is not a socket; %s",
			   path, from, start);
		return;
	default:
		bu_err_set(err, BU_ERR_REMOTE, found, "%s (%s)", path, from);
	}
}
