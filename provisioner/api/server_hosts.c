/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a request means this appliance. A browser that was led here by another's name
 * sends that name as Host, and a page of another site sends its own Origin. Called by
 * server.c for each request before anything is done with it. Invariant: a name that
 * nobody configured is answered nothing.
 */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/text.h"
#include "base/url.h"
#include "provisioner/api/server_impl.h"

/* Is this one of the names, which stand between commas? */
static int
is_named(const char *names, const char *host)
{
	size_t length = strlen(host);

	while (names && *names) {
		size_t size;

		names += strspn(names, ", \t");
		size = strcspn(names, ", \t");
		if (size && size == length && strncasecmp(names, host, size) == 0)
			return 1;
		names += size;
	}
	return 0;
}

static int
has_address(const struct sockaddr *at, const char *host)
{
	char text[INET6_ADDRSTRLEN] = "";
	const void *in = NULL;

	if (at && at->sa_family == AF_INET)
		in = &((const struct sockaddr_in *)(const void *)at)->sin_addr;
	else if (at && at->sa_family == AF_INET6)
		in = &((const struct sockaddr_in6 *)(const void *)at)->sin6_addr;
	return in && inet_ntop(at->sa_family, in, text, sizeof(text)) &&
	       strcasecmp(text, host) == 0;
}

/* An address that an interface of ours has. */
static int
is_own(const char *host)
{
	struct ifaddrs *list;
	unsigned char in[sizeof(struct in6_addr)];
	int found = 0;

	if ((inet_pton(AF_INET, host, in) != 1 && inet_pton(AF_INET6, host, in) != 1) ||
	    getifaddrs(&list) != 0)
		return 0;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
		found = has_address(at->ifa_addr, host);
	freeifaddrs(list);
	return found;
}

int
bu_host_is_ours(const char *names, const char *host)
{
	struct bu_url url;
	size_t length;

	if (bu_url_parse(host, &url) != 0 || !bu_url_is_host(&url))
		return 0;
	length = strlen(url.host);
	if (length > 1 && url.host[length - 1] == '.')
		url.host[length - 1] = '\0';
	return strcasecmp(url.host, "localhost") == 0 || is_named(names, url.host) ||
	       is_own(url.host);
}

/* "https://HOST" of the page that asks, where HOST is what it calls us. */
static int
is_same_origin(const char *origin, const char *host)
{
	const char *at = strstr(origin, "://");

	return at && host && strcasecmp(at + 3, host) == 0;
}

int
bu_cookie_counts(struct MHD_Connection *connection)
{
	return connection &&
	       MHD_lookup_connection_value(connection, MHD_COOKIE_KIND,
					   BU_SESSION_COOKIE) &&
	       !MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					    MHD_HTTP_HEADER_AUTHORIZATION);
}

/* A browser sends a cookie with each request, and its certificate over each connection,
 * whatever page made it ask; for a change it always says which. */
static int
is_changed_by(struct MHD_Connection *connection, const char *origin, const char *host)
{
	int is_tls = MHD_get_connection_info(
			     connection, MHD_CONNECTION_INFO_GNUTLS_SESSION) != NULL;

	if (!origin)
		return !bu_cookie_counts(connection);
	if ((is_tls || bu_cookie_counts(connection)) &&
	    strncmp(origin, "https://", 8) != 0)
		return 0;
	return is_same_origin(origin, host);
}

int
bu_host_check(const char *names, struct MHD_Connection *connection, const char *method,
	      struct bu_err *err)
{
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						       MHD_HTTP_HEADER_HOST);
	const char *origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_ORIGIN);

	/* No browser leaves it out. */
	if (host && !bu_host_is_ours(names, host)) {
		bu_err_set(
			err, BU_ERR_DENIED, 0,
			"'%.80s' is not an address or name of this appliance; a name by "
			"which it is reached stands in 'names' of bringupd.conf",
			host);
		return 421;
	}
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 ||
	    is_changed_by(connection, origin, host))
		return 0;
	bu_err_set(err, BU_ERR_DENIED, 0,
		   "a page of %.80s asks for a change; only the appliance's own may",
		   origin ? origin : "an unknown origin");
	return 403;
}
