/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and what they may do. Called by server_request.c for each request, and by
 * the handlers that write into the log, for its `by`. Invariants: callers are made here
 * alone; a name is the kernel's word or a certificate's; what a client says of itself
 * stands behind it as what it is.
 */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/text.h"
#include "provisioner/api/server_impl.h"

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
peer_of(struct MHD_Connection *connection, struct ucred *ret)
{
	const union MHD_ConnectionInfo *info =
		connection ? MHD_get_connection_info(connection,
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

/* "root", "alice (uid 1000)", "uid 1001" */
static void
name_user(uid_t uid, char ret[BU_BY_SIZE])
{
	char name[NAME_MAX_SIZE];

	name_of(uid, name);
	if (!name[0])
		snprintf(ret, BU_BY_SIZE, "uid %u", (unsigned)uid);
	else if (uid != 0)
		snprintf(ret, BU_BY_SIZE, "%s (uid %u)", name, (unsigned)uid);
	else
		bu_text_copy(ret, BU_BY_SIZE, name);
}

/* The socket of the command line is its owner's alone: who can open it may do all. The
 * page has no login, and changes nothing. */
static const struct {
	enum bu_listener kind;
	unsigned roles;
} roles_of[] = {
	{BU_LISTEN_BOOT, BU_CALLER_NODE},
	{BU_LISTEN_AGENT, BU_CALLER_NODE},
	{BU_LISTEN_PAGE, BU_CALLER_VIEW},
	{BU_LISTEN_LOCAL, BU_CALLER_VIEW | BU_CALLER_OPERATE | BU_CALLER_GRANT |
				  BU_CALLER_ADMIN | BU_CALLER_AUDIT},
};

void
bu_caller_make(enum bu_listener kind, struct MHD_Connection *connection,
	       const char *peer, struct bu_caller *ret)
{
	struct ucred from;
	size_t i = 0;

	while (roles_of[i].kind != kind)
		i++;
	ret->roles = roles_of[i].roles;
	if (kind == BU_LISTEN_LOCAL && peer_of(connection, &from) == 0)
		name_user(from.uid, ret->who);
	else
		bu_text_copy(ret->who, BU_BY_SIZE, *peer ? peer : "local");
}

static const char *const role_names[] = {
#define X(id, name, help) name,
	BU_CALLER_ROLES(X)
#undef X
};

const char *
bu_caller_role_name(enum bu_caller_role role)
{
	size_t place = 0;

	while (place + 1 < BU_CALLER_ROLE_COUNT && (unsigned)role >> (place + 1))
		place++;
	return role_names[place];
}

int
bu_request_may(const struct bu_request *request, enum bu_caller_role role,
	       struct bu_err *err)
{
	const struct bu_caller *caller = request->caller;

	if (caller && caller->roles & (unsigned)role)
		return 0;
	return bu_err_set(
		err, BU_ERR_DENIED, 0,
		"%s %s needs the role '%s', which %s lacks; use bringup on the "
		"appliance",
		request->method, request->path, bu_caller_role_name(role),
		caller ? caller->who : "this caller");
}

void
bu_request_by(const struct bu_request *request, const char *says, char ret[BU_BY_SIZE])
{
	const char *who = request->caller ? request->caller->who : "local";
	size_t size = strcspn(who, " ");
	int noted = says && is_name(says) &&
		    (strlen(says) != size || strncmp(says, who, size) != 0);

	if (!noted)
		bu_text_copy(ret, BU_BY_SIZE, who);
	else if (strchr(who, ')'))
		snprintf(ret, BU_BY_SIZE, "%.*s, says %s)", (int)strlen(who) - 1, who,
			 says);
	else
		snprintf(ret, BU_BY_SIZE, "%s (says %s)", who, says);
}
