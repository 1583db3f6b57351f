/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks. Called by the handlers that write into the log, for its `by`. Invariant: a
 * name is the kernel's word or a certificate's; what a client says of itself stands
 * behind it as what it is.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "provisioner/api/server.h"

enum { NAME_MAX_SIZE = 33 };

void
bu_request_address(const struct bu_request *request, char ret[BU_ADDRESS_SIZE])
{
	const union MHD_ConnectionInfo *info =
		request->connection
			? MHD_get_connection_info(request->connection,
						  MHD_CONNECTION_INFO_CLIENT_ADDRESS)
			: NULL;
	const struct sockaddr *from = info ? info->client_addr : NULL;
	const void *in = NULL;

	ret[0] = '\0';
	if (from && from->sa_family == AF_INET)
		in = &((const struct sockaddr_in *)(const void *)from)->sin_addr;
	else if (from && from->sa_family == AF_INET6)
		in = &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	if (in && !inet_ntop(from->sa_family, in, ret, BU_ADDRESS_SIZE))
		ret[0] = '\0';
}

static int
is_name(const char *text)
{
	return bu_text_is(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789._-") &&
	       strlen(text) < NAME_MAX_SIZE;
}

/* Of this machine's own file: a directory may answer late, and the loop waits for
 * nobody. "" when it has none. */
static void
name_of(uid_t uid, char ret[NAME_MAX_SIZE])
{
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *row;

	ret[0] = '\0';
	while (file && !ret[0] && (row = fgetpwent(file)))
		if (row->pw_uid == uid && is_name(row->pw_name))
			bu_text_copy(ret, NAME_MAX_SIZE, row->pw_name);
	if (file)
		fclose(file);
}

/* -1: it came by no unix socket. */
static int
peer_of(const struct bu_request *request, struct ucred *ret)
{
	const union MHD_ConnectionInfo *info =
		request->connection
			? MHD_get_connection_info(request->connection,
						  MHD_CONNECTION_INFO_CONNECTION_FD)
			: NULL;
	struct sockaddr_storage own;
	socklen_t own_size = sizeof(own), size = sizeof(*ret);

	return info &&
			       getsockname(info->connect_fd, (struct sockaddr *)&own,
					   &own_size) == 0 &&
			       own.ss_family == AF_UNIX &&
			       getsockopt(info->connect_fd, SOL_SOCKET, SO_PEERCRED,
					  ret, &size) == 0
		       ? 0
		       : -1;
}

void
bu_request_by(const struct bu_request *request, const char *says, char ret[BU_BY_SIZE])
{
	const char *peer = request->peer ? request->peer : "";
	char name[NAME_MAX_SIZE] = "", uid[20] = "";
	const char *who = name;
	struct ucred from;
	int noted;

	if (peer_of(request, &from) == 0) {
		name_of(from.uid, name);
		if (from.uid != 0 || !name[0])
			snprintf(uid, sizeof(uid), "uid %u", (unsigned)from.uid);
	} else {
		who = *peer ? peer : "local";
	}
	noted = says && is_name(says) && strcmp(says, who) != 0;
	if (!*who)
		snprintf(ret, BU_BY_SIZE, noted ? "%s (says %s)" : "%s", uid, says);
	else if (uid[0] || noted)
		snprintf(ret, BU_BY_SIZE, "%.*s (%s%s%s%s)", NAME_MAX_SIZE - 1, who,
			 uid, uid[0] && noted ? ", " : "", noted ? "says " : "",
			 noted ? says : "");
	else
		bu_text_copy(ret, BU_BY_SIZE, who);
}
