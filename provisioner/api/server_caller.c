/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks, and what they may do. Called by server_request.c for each request, and by
 * the handlers that write into the log, for its `by`. Invariants: callers are made here
 * alone; a name is the kernel's word, a certificate's or a token's, never what a client
 * says of itself; no error has a token or a part of one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

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
unix_fd(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		connection ? MHD_get_connection_info(connection,
						     MHD_CONNECTION_INFO_CONNECTION_FD)
			   : NULL;
	struct sockaddr_storage own;
	socklen_t own_size = sizeof(own);

	return info &&
			       getsockname(info->connect_fd, (struct sockaddr *)&own,
					   &own_size) == 0 &&
			       own.ss_family == AF_UNIX
		       ? info->connect_fd
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

enum { LOOK = BU_CALLER_OPEN | BU_CALLER_VIEW };

/* What a person of each role may do. Whoever makes tokens can make one of any role. */
static const unsigned person_roles[] = {
	[BU_PERSON_VIEWER] = LOOK,
	[BU_PERSON_OPERATOR] = LOOK | BU_CALLER_OPERATE,
	[BU_PERSON_GRANT] = LOOK | BU_CALLER_OPERATE | BU_CALLER_GRANT,
	[BU_PERSON_ADMIN] = LOOK | BU_CALLER_OPERATE | BU_CALLER_GRANT |
			    BU_CALLER_ADMIN | BU_CALLER_AUDIT,
	[BU_PERSON_AUDITOR] = LOOK | BU_CALLER_AUDIT,
};

unsigned
bu_person_roles(enum bu_person person)
{
	return person < BU_PERSON_COUNT ? person_roles[person] : 0;
}

/* Of the process at the other end; owned. */
static gid_t *
groups_of(int fd, size_t *ret_count)
{
	socklen_t size = 0;
	gid_t *gids = NULL;

	*ret_count = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0 ||
	    errno != ERANGE)
		return NULL;
	gids = bu_xmalloc(size);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, gids, &size) == 0)
		*ret_count = size / sizeof(*gids);
	return gids;
}

static unsigned
roles_of_gid(const struct bu_callers *callers, gid_t gid)
{
	unsigned roles = 0;

	for (int i = 0; i < BU_PERSON_COUNT; i++)
		if (callers->groups[i].gid == (int64_t)gid)
			roles |= person_roles[i];
	return roles;
}

unsigned
bu_callers_roles(const struct bu_callers *callers, const char *group)
{
	unsigned roles = 0;

	for (int i = 0; i < BU_PERSON_COUNT && *group; i++)
		if (callers->groups[i].name &&
		    strcmp(callers->groups[i].name, group) == 0)
			roles |= person_roles[i];
	return roles;
}

char *
bu_callers_groups(const struct bu_callers *callers, const char *missing)
{
	char *names = NULL;

	for (int i = 0; i < BU_PERSON_COUNT; i++)
		if (callers->groups[i].name && *callers->groups[i].name)
			bu_text_add(&names, ", ", "%s%s", callers->groups[i].name,
				    callers->groups[i].gid < 0 ? missing : "");
	return names;
}

static int
refuse_user(const struct bu_callers *callers, const struct bu_caller *caller,
	    struct bu_err *err)
{
	bu_autofree char *names = bu_callers_groups(callers, " (not there)");

	if (!names)
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"only root and bringupd's own user may use this socket, "
			"and not %s",
			caller->who);
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "%s is in none of the groups that may use bringup: %s; root "
			  "adds users (usermod -aG GROUP USER), and they log in again",
			  caller->who, names);
}

/* The groups are the kernel's word, too: those of the process when it connected. */
static int
call_user(const struct bu_callers *callers, int fd, struct bu_caller *ret,
	  struct bu_err *err)
{
	struct ucred from;
	socklen_t size = sizeof(from);
	bu_autofree gid_t *gids = NULL;
	size_t count;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &from, &size) != 0)
		return bu_err_set(err, BU_ERR_DENIED, errno,
				  "the user at the other end of the socket");
	name_user(from.uid, ret->who);
	if (from.uid == 0 || from.uid == geteuid()) {
		ret->roles = person_roles[BU_PERSON_ADMIN];
		return 0;
	}
	ret->roles = roles_of_gid(callers, from.gid);
	gids = groups_of(fd, &count);
	for (size_t i = 0; i < count; i++)
		ret->roles |= roles_of_gid(callers, gids[i]);
	return ret->roles ? 0 : refuse_user(callers, ret, err);
}

static int
call_token(const struct bu_callers *callers, struct MHD_Connection *connection,
	   struct bu_caller *ret, struct bu_err *err)
{
	static const char scheme[] = "Bearer ";
	const char *text =
		connection ? MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_AUTHORIZATION)
			   : NULL;

	if (!text || strncasecmp(text, scheme, strlen(scheme)) != 0 || !callers->token)
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"a token is missing (Authorization: Bearer TOKEN); "
			"bringup login keeps one, which an administrator makes "
			"by bringup token create");
	return callers->token(callers->arg, text + strlen(scheme), ret, err);
}

static int
has_token(struct MHD_Connection *connection)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_AUTHORIZATION) != NULL;
}

/* NULL = none was shown. */
static void *
session_with_certificate(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		connection ? MHD_get_connection_info(connection,
						     MHD_CONNECTION_INFO_GNUTLS_SESSION)
			   : NULL;
	char shown[BU_DIGEST_SIZE] = "";

	if (info)
		bu_tls_shown(info->tls_session, shown);
	return shown[0] ? info->tls_session : NULL;
}

static int
call_certificate(const struct bu_callers *callers, void *session, struct bu_caller *ret,
		 struct bu_err *err)
{
	struct bu_tls_person person;
	bu_autofree char *names = NULL;

	if (bu_tls_person(callers->people, session, &person, err) != 0)
		return -1;
	snprintf(ret->who, sizeof(ret->who), "cert %s", person.name);
	for (size_t i = 0; i < person.count; i++)
		ret->roles |= bu_callers_roles(callers, person.organisations[i]);
	if (ret->roles)
		return 0;
	names = bu_callers_groups(callers, "");
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "the certificate '%s' has no organisation (O) that may use "
			  "bringup: %s; have one issued that has",
			  person.name, names ? names : "none may");
}

/* By listener, where the roles do not depend on who it is. The page has no login, and
 * changes nothing. */
static const struct {
	enum bu_listener kind;
	unsigned roles;
} roles_of[] = {
	{BU_LISTEN_BOOT, BU_CALLER_NODE},
	{BU_LISTEN_AGENT, BU_CALLER_NODE},
	{BU_LISTEN_PAGE, LOOK},
	/* Not over a unix socket: where the whole daemon is a test's. */
	{BU_LISTEN_LOCAL, LOOK | BU_CALLER_OPERATE | BU_CALLER_GRANT | BU_CALLER_ADMIN |
				  BU_CALLER_AUDIT},
};

int
bu_caller_make(const struct bu_callers *callers, enum bu_listener kind,
	       struct MHD_Connection *connection, const char *peer,
	       struct bu_caller *ret, struct bu_err *err)
{
	int fd = kind == BU_LISTEN_LOCAL ? unix_fd(connection) : -1;
	void *session = NULL;
	size_t i = 0;

	memset(ret, 0, sizeof(*ret));
	if (fd >= 0)
		return call_user(callers, fd, ret, err);
	if (kind == BU_LISTEN_PEOPLE && bu_cookie_counts(connection) &&
	    callers->session)
		return callers->session(callers->arg,
					MHD_lookup_connection_value(connection,
								    MHD_COOKIE_KIND,
								    BU_SESSION_COOKIE),
					ret, err);
	if (kind == BU_LISTEN_PEOPLE && callers->people && !has_token(connection))
		session = session_with_certificate(connection);
	if (session)
		return call_certificate(callers, session, ret, err);
	if (kind == BU_LISTEN_PEOPLE)
		return call_token(callers, connection, ret, err);
	while (roles_of[i].kind != kind)
		i++;
	ret->roles = roles_of[i].roles;
	bu_text_copy(ret->who, BU_BY_SIZE, *peer ? peer : "local");
	return 0;
}

/* A token or certificate may be revoked, or be over, while its request waits. */
int
bu_server_call(struct bu_exchange *exchange, struct bu_err *err)
{
	enum bu_listener kind = exchange->listener->kind;

	if (exchange->is_called && kind != BU_LISTEN_PEOPLE)
		return 0;
	exchange->is_called = 1;
	return bu_caller_make(&exchange->listener->server->callers, kind,
			      exchange->connection, exchange->peer.name,
			      &exchange->caller, err);
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

char *
bu_caller_roles_text(unsigned roles)
{
	char *text = NULL;

	for (int i = 0; i < BU_PERSON_COUNT; i++)
		if (person_roles[i] == roles)
			return bu_xstrdup(bu_person_name((enum bu_person)i));
	for (size_t i = 0; i < BU_CALLER_PLACE_OPEN; i++)
		if (roles >> i & 1U)
			bu_text_add(&text, ", ", "%s", role_names[i]);
	return text ? text : bu_xstrdup("none");
}

/* "operator, grant, admin": who may; owned. */
static char *
persons_with(enum bu_caller_role role)
{
	char *text = NULL;

	for (int i = 0; i < BU_PERSON_COUNT; i++)
		if (person_roles[i] & (unsigned)role)
			bu_text_add(&text, ", ", "%s",
				    bu_person_name((enum bu_person)i));
	return text ? text : bu_xstrdup("none");
}

int
bu_request_may(const struct bu_request *request, enum bu_caller_role role,
	       struct bu_err *err)
{
	const struct bu_caller *caller = request->caller;
	bu_autofree char *persons = NULL, *has = NULL;

	if (caller && caller->roles & (unsigned)role)
		return 0;
	if (!err)
		return -1;
	persons = persons_with(role);
	has = bu_caller_roles_text(caller ? caller->roles : 0);
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "%s %s needs the role '%s', which %s (%s) lacks; the roles "
			  "that have it: %s",
			  request->method, request->path, bu_caller_role_name(role),
			  caller ? caller->who : "this caller", has, persons);
}

const char *
bu_request_by(const struct bu_request *request)
{
	return request->caller ? request->caller->who : "local";
}
