/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs to their parts. Called by the checks of profiles, and by all code that needs the
 * host or the port in one. Invariant: the parts together with the separators are the
 * text, except for a user and a password, so that two readers see the same host.
 */
#include "base/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define DIGITS "0123456789"
#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS

static int
has_foreign_bytes(const char *text)
{
	for (; *text; text++)
		if (*text <= ' ' || *text >= 0x7f || strchr("\"'\\<>^`{|}", *text))
			return 1;
	return 0;
}

static int
copy_part(char *ret, size_t ret_size, const char *text, size_t size)
{
	if (size >= ret_size)
		return -1;
	memcpy(ret, text, size);
	ret[size] = '\0';
	return 0;
}

/* "scheme://"; the text after it, or the text itself when there is none. */
static const char *
take_scheme(const char *text, struct bu_url *ret)
{
	size_t size = strspn(text, ALNUM "+-.");

	if (size == 0 || strncmp(text + size, "://", 3) != 0)
		return text;
	if (strchr(DIGITS "+-.", *text) ||
	    copy_part(ret->scheme, sizeof(ret->scheme), text, size) < 0)
		return NULL;
	return text + size + 3;
}

/* 1 when it is a name or an IPv4 address; one of digits and dots alone is the latter.
 */
static int
is_host_name(const char *host)
{
	struct in_addr in;

	if (host[strspn(host, DIGITS ".")] == '\0')
		return inet_pton(AF_INET, host, &in) == 1;
	return !strchr("-.", host[0]) && host[strspn(host, ALNUM "-._")] == '\0';
}

/* ":443" or nothing, to the end of `size` bytes. */
static int
take_port(const char *text, size_t size, struct bu_url *ret)
{
	ret->port = -1;
	if (size == 0)
		return 0;
	if (*text != ':' || size < 2 || size > 6 || strspn(text + 1, DIGITS) < size - 1)
		return -1;
	ret->port = 0;
	for (size_t i = 1; i < size; i++)
		ret->port = ret->port * 10 + (text[i] - '0');
	return ret->port > 65535 ? -1 : 0;
}

static int
take_host(const char *text, size_t size, struct bu_url *ret)
{
	const char *end = *text == '[' ? memchr(text, ']', size) : NULL;
	struct in6_addr in6;
	size_t length;

	if (end) {
		length = (size_t)(end - text) + 1;
		if (copy_part(ret->host, sizeof(ret->host), text + 1, length - 2) < 0 ||
		    inet_pton(AF_INET6, ret->host, &in6) != 1)
			return -1;
		return take_port(text + length, size - length, ret);
	}
	if (copy_part(ret->host, sizeof(ret->host), text, size) < 0)
		return -1;
	if (!ret->scheme[0] && inet_pton(AF_INET6, ret->host, &in6) == 1)
		return take_port("", 0, ret);
	length = strcspn(ret->host, ":");
	ret->host[length] = '\0';
	if (take_port(text + length, size - length, ret) < 0)
		return -1;
	if (length == 0) /* "file:///path" */
		return ret->scheme[0] && size == 0 && *text == '/' ? 0 : -1;
	return is_host_name(ret->host) ? 0 : -1;
}

int
bu_url_parse(const char *text, struct bu_url *ret)
{
	struct bu_url url = {.port = -1};
	const char *at = has_foreign_bytes(text) ? NULL : take_scheme(text, &url);
	const char *end, *user;

	if (!at)
		return -1;
	end = at + strcspn(at, "/?#");
	user = memrchr(at, '@', (size_t)(end - at));
	if (user) {
		url.has_user = 1;
		url.has_password = memchr(at, ':', (size_t)(user - at)) != NULL;
		at = user + 1;
	}
	if (take_host(at, (size_t)(end - at), &url) < 0)
		return -1;
	url.path = end;
	*ret = url;
	return 0;
}

int
bu_url_is_host(const struct bu_url *url)
{
	return !url->scheme[0] && !url->has_user && !*url->path;
}

/* One form for all spellings of a host: "BMC1.oob." and "bmc1.oob", "fd00:0::05" and
 * "fd00::5", "::ffff:10.1.0.1", "0x0a010001" and "10.1.0.1". */
static void
host_form(const char *host, char ret[BU_URL_HOST_SIZE])
{
	struct in6_addr in6;
	struct in_addr in;
	size_t size;

	if (inet_pton(AF_INET6, host, &in6) == 1 && !IN6_IS_ADDR_V4MAPPED(&in6)) {
		inet_ntop(AF_INET6, &in6, ret, BU_URL_HOST_SIZE);
		return;
	}
	if (inet_pton(AF_INET6, host, &in6) == 1)
		memcpy(&in, &in6.s6_addr[12], sizeof(in));
	else if (inet_aton(host, &in) == 0)
		in.s_addr = INADDR_NONE;
	if (in.s_addr != INADDR_NONE) {
		inet_ntop(AF_INET, &in, ret, BU_URL_HOST_SIZE);
		return;
	}
	size = strlen(host);
	while (size > 0 && host[size - 1] == '.')
		size--;
	for (size_t i = 0; i < size; i++)
		ret[i] = (char)tolower((unsigned char)host[i]);
	ret[size] = '\0';
}

int
bu_url_ipv4(const char *text, uint32_t *ret)
{
	struct bu_url url;
	struct in_addr in;
	char host[BU_URL_HOST_SIZE];

	if (bu_url_parse(text, &url) < 0)
		return -1;
	host_form(url.host, host);
	if (inet_pton(AF_INET, host, &in) != 1)
		return -1;
	*ret = ntohl(in.s_addr);
	return 0;
}

int
bu_url_socket(const char *text, struct sockaddr_in *ret)
{
	struct bu_url url;
	struct sockaddr_in addr = {.sin_family = AF_INET};

	if (bu_url_parse(text, &url) < 0 || !bu_url_is_host(&url) || url.port < 0 ||
	    inet_pton(AF_INET, url.host, &addr.sin_addr) != 1)
		return -1;
	addr.sin_port = htons((uint16_t)url.port);
	*ret = addr;
	return 0;
}

/* -1 = that of its scheme; an address without one is IPMI's. */
static int
port_of(const struct bu_url *url)
{
	int own = strcasecmp(url->scheme, "https") == 0 ? 443
		  : url->scheme[0]                      ? 80
							: 623;

	return url->port == own ? -1 : url->port;
}

int
bu_url_same_host(const char *a, const char *b)
{
	struct bu_url first, second;
	char host_a[BU_URL_HOST_SIZE], host_b[BU_URL_HOST_SIZE];

	if (bu_url_parse(a, &first) != 0 || bu_url_parse(b, &second) != 0)
		return 0;
	host_form(first.host, host_a);
	host_form(second.host, host_b);
	return host_a[0] && strcmp(host_a, host_b) == 0 &&
	       port_of(&first) == port_of(&second);
}

/* "/redfish/v1/Systems/1" without the slashes that change nothing, "" for the root of
 * the service. Owned. */
static char *
service_path(const char *path)
{
	char *ret = bu_xcalloc(strlen(path) + 1, 1);
	size_t size = 0;

	for (; *path && !strchr("?#", *path); path++)
		if (*path != '/' || (size > 0 && ret[size - 1] != '/'))
			ret[size++] = *path;
	if (size > 0 && ret[size - 1] == '/')
		ret[size - 1] = '\0';
	if (strcmp(ret, "redfish") == 0 || strcmp(ret, "redfish/v1") == 0)
		ret[0] = '\0';
	return ret;
}

/* "/system/?mode=direct#node001" is "/system#node001"; another socket leads to another
 * hypervisor. Owned. */
static char *
domain_path(const char *path)
{
	size_t size = strcspn(path, "?#"), wide = strcspn(path, "#");
	const char *socket = memmem(path, wide, "socket=", 7);
	size_t length = socket ? strcspn(socket, "&#") : 0;

	while (size > 0 && path[size - 1] == '/')
		size--;
	return bu_xasprintf("%.*s%s%.*s%s", (int)size, path, socket ? "?" : "",
			    (int)length, socket ? socket : "", path + wide);
}

char *
bu_url_key(const char *text)
{
	static const char local[] = "+unix"; /* how libvirt writes its default */
	bu_autofree char *path = NULL;
	char host[BU_URL_HOST_SIZE], port[8] = "";
	struct bu_url url;
	size_t size;

	if (bu_url_parse(text, &url) != 0)
		return NULL;
	host_form(url.host, host);
	if (port_of(&url) >= 0)
		snprintf(port, sizeof(port), ":%d", url.port);
	if (!url.scheme[0] || strcasecmp(url.scheme, "https") == 0) {
		path = service_path(url.path);
		return bu_xasprintf("%s%s%s%s", host, port, path[0] ? " " : "", path);
	}
	for (char *c = url.scheme; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	size = strlen(url.scheme);
	if (size > strlen(local) &&
	    strcmp(url.scheme + size - strlen(local), local) == 0)
		url.scheme[size - strlen(local)] = '\0';
	path = domain_path(url.path);
	return bu_xasprintf("%s://%s%s%s", url.scheme, host, port, path);
}

char *
bu_url_escape(const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-._~";
	char *escaped = bu_xmalloc(3 * strlen(text) + 1), *to = escaped;

	for (const char *p = text; *p; p++) {
		if (strchr(plain, *p))
			*to++ = *p;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*p);
	}
	*to = '\0';
	return escaped;
}

char *
bu_url_discovery(const char *issuer)
{
	size_t length = strlen(issuer);

	while (length && issuer[length - 1] == '/')
		length--;
	return bu_xasprintf("%.*s/.well-known/openid-configuration", (int)length,
			    issuer);
}
