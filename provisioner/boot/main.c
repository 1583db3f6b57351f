/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-boot: runs dnsmasq or chronyd for bringupd, as a user that can read none of
 * bringupd's files.
 *
 *	bringup-boot [--user USER] PROGRAM FOLDER	descriptor 3 is the connection
 *	bringup-boot --from USER PROGRAM FOLDER		as a unit: descriptor 3 listens
 *
 * bringupd that is root starts it with --user, as its child. The units of packaging/
 * start it as the user that it is to be; it then serves one connection after the other,
 * those of the user --from alone. The program may write in FOLDER.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/worker.h"
#include "provisioner/boot/become.h"
#include "provisioner/boot/serve.h"

/* BU_ERR_IO; *ret is who made the connection. */
static int
find_peer(int fd, uid_t *ret, struct bu_err *err)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "descriptor 3 is not bringupd's connection");
	*ret = peer.uid;
	return 0;
}

static int
serve_child(struct bu_serve *how, const char *user, struct bu_err *err)
{
	how->fd = BU_WORKER_FD;
	if (find_peer(how->fd, &how->owner, err) != 0 ||
	    (user && bu_become(user, how->program->caps, err) != 0))
		return -1;
	bu_serve(how);
	return 0;
}

static int
serve_units(struct bu_serve *how, const char *from, struct bu_err *err)
{
	const struct passwd *entry = getpwnam(from);
	uid_t wanted = entry ? entry->pw_uid : 0;

	if (!entry)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no user '%s'", from);
	for (;;) {
		how->fd = accept4(BU_WORKER_FD, NULL, NULL, SOCK_CLOEXEC);
		if (how->fd < 0 && errno != EINTR && errno != ECONNABORTED)
			return bu_err_set(err, BU_ERR_IO, errno,
					  "descriptor 3 is not a socket that listens");
		if (how->fd < 0)
			continue;
		if (find_peer(how->fd, &how->owner, err) == 0 && how->owner == wanted) {
			bu_serve(how);
			continue;
		}
		bu_warn(how->program->name, "user %u asked for it, and is not %s",
			(unsigned int)how->owner, from);
		close(how->fd);
	}
}

int
main(int argc, char **argv)
{
	static const struct option options[] = {{"user", required_argument, NULL, 'u'},
						{"from", required_argument, NULL, 'f'},
						{0}};
	const char *user = NULL, *from = NULL;
	struct bu_serve how = {0};
	struct bu_err err;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		user = option == 'u' ? optarg : user;
		from = option == 'f' ? optarg : from;
	}
	if (argc == optind + 2)
		how = (struct bu_serve){.program = bu_boot_program(argv[optind]),
					.folder = argv[optind + 1]};
	if (!how.program) {
		fprintf(stderr, "usage: bringup-boot [--user USER | --from USER] "
				"dnsmasq|chronyd FOLDER\n");
		return 1;
	}
	bu_log_init("bringup-boot", BU_LOG_INFO);
	signal(SIGPIPE, SIG_IGN);
	bu_set_cloexec(BU_WORKER_FD, 1);
	if ((from ? serve_units(&how, from, &err) : serve_child(&how, user, &err)) == 0)
		return 0;
	bu_error(how.program->name, "%s", err.text);
	return 1;
}
