/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs to their parts. Called by the checks of profiles, and by all code that needs the
 * host or the port in one. Invariant: the parts together with the separators are the
 * text, except for a user and a password, so that two readers see the same host.
 */
#include "base/url.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

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

int
bu_url_ipv4(const char *text, uint32_t *ret)
{
	struct bu_url url;
	struct in_addr in;

	if (bu_url_parse(text, &url) < 0 || inet_pton(AF_INET, url.host, &in) != 1)
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

	return bu_url_parse(a, &first) == 0 && bu_url_parse(b, &second) == 0 &&
	       first.host[0] && strcasecmp(first.host, second.host) == 0 &&
	       port_of(&first) == port_of(&second);
}
