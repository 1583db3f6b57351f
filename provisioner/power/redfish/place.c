/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a BMC's words lead: to itself, by whichever of its names, or away. Called for
 * each link and each Location. Invariant: what leads away is never followed; no
 * request, and so no password, goes to another host or port than the profile says.
 */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "base/url.h"
#include "provisioner/power/redfish/redfish.h"

static int
port_of(const struct bu_url *url)
{
	if (url->port >= 0)
		return url->port;
	return strcasecmp(url->scheme, "http") == 0 ? 80 : 443;
}

/* An IPv6 address has many spellings, and a name may end with a dot. */
static void
normal(const char *host, char ret[BU_URL_HOST_SIZE])
{
	struct in6_addr in6;
	size_t size;

	bu_text_copy(ret, BU_URL_HOST_SIZE, host);
	size = strlen(ret);
	if (size > 1 && ret[size - 1] == '.')
		ret[size - 1] = '\0';
	if (inet_pton(AF_INET6, ret, &in6) != 1)
		return;
	if (IN6_IS_ADDR_V4MAPPED(&in6))
		inet_ntop(AF_INET, in6.s6_addr + 12, ret, BU_URL_HOST_SIZE);
	else
		inet_ntop(AF_INET6, &in6, ret, BU_URL_HOST_SIZE);
}

static int
same_host(const char *a, const char *b)
{
	char one[BU_URL_HOST_SIZE], other[BU_URL_HOST_SIZE];

	normal(a, one);
	normal(b, other);
	return one[0] && strcasecmp(one, other) == 0;
}

/* The profile's own word for it, the address that it answered from, or a name of that.
 */
static int
is_own(struct rf_bmc *bmc, const struct bu_url *url)
{
	struct bu_url origin;

	return bu_url_parse(bmc->origin, &origin) == 0 &&
	       port_of(url) == port_of(&origin) &&
	       (same_host(url->host, origin.host) ||
		same_host(url->host, bmc->address) || rf_is_alias(bmc, url->host));
}

/* "//host/path" has the scheme of the origin. */
static int
parse(const struct rf_bmc *bmc, const char *text, char ret_text[RF_URL_SIZE],
      struct bu_url *ret)
{
	size_t scheme = strcspn(bmc->origin, "/");

	if (strlen(text) + scheme >= RF_URL_SIZE)
		return -1;
	ret_text[0] = '\0';
	if (strncmp(text, "//", 2) == 0)
		strncat(ret_text, bmc->origin, scheme);
	strcat(ret_text, text);
	return bu_url_parse(ret_text, ret) == 0 && ret->scheme[0] && ret->host[0] ? 0
										  : -1;
}

int
rf_path(struct rf_bmc *bmc, const char *text, char ret[RF_PATH_SIZE])
{
	char whole[RF_URL_SIZE];
	struct bu_url url;

	if (text[0] != '/' || text[1] == '/') {
		if (parse(bmc, text, whole, &url) != 0 || !is_own(bmc, &url))
			return -1;
		text = url.path;
	}
	if (text[0] != '/' || text[1] == '/' || strlen(text) >= RF_PATH_SIZE)
		return -1;
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f)
			return -1;
	strcpy(ret, text);
	return 0;
}

char *
rf_elsewhere(struct rf_bmc *bmc, const char *text)
{
	char whole[RF_URL_SIZE], shown[100];
	struct bu_url url, origin;

	bu_text_copy(shown, sizeof(shown), text);
	if (!text[0])
		return bu_xstrdup("nowhere");
	if (parse(bmc, text, whole, &url) != 0 || is_own(bmc, &url) ||
	    bu_url_parse(bmc->origin, &origin) != 0)
		return bu_xasprintf("%s, not a path", shown);
	if (same_host(url.host, origin.host) || same_host(url.host, bmc->address))
		return bu_xasprintf("port %d of it (%s); only port %d is asked",
				    port_of(&url), shown, port_of(&origin));
	return bu_xasprintf("another host, %s (%s); only %s is asked", url.host, shown,
			    origin.host);
}

int
rf_same_path(const char *a, const char *b)
{
	size_t a_size = strlen(a), b_size = strlen(b);

	a_size -= a[a_size - 1] == '/';
	b_size -= b[b_size - 1] == '/';
	return a_size == b_size && strncasecmp(a, b, a_size) == 0;
}
