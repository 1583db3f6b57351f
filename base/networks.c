/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps BMC passwords in the networks that the appliance's own configuration lists.
 * Called by bringup-power for each address before it is connected to, and by bringupd
 * for the addresses that a profile spells out. Invariant: an address that no entry
 * holds is refused, in whichever form it is written.
 */
#include "base/networks.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/url.h"

enum { NETWORKS_MAX = 256, PREFIX_TEXT = 64 };

/* Of the family: the first `bits` of its bytes count. */
struct network {
	int family;
	unsigned char bytes[16];
	int bits;
};

static struct {
	int begun, attached;
	char *list;
	struct network networks[NETWORKS_MAX];
	size_t count;
} kept;

static const char *const private_networks[] = {
	"10.0.0.0/8",     "172.16.0.0/12", "192.168.0.0/16",
	"169.254.0.0/16", "fc00::/7",      "fe80::/10",
};

/* --- addresses --- */

/* Family and bytes; an IPv4 address in an IPv6 one is unwrapped. */
static int
bytes_of(const struct sockaddr *address, unsigned char ret[16])
{
	const union bu_address *of = (const void *)address;

	memset(ret, 0, 16);
	if (address->sa_family == AF_INET) {
		memcpy(ret, &of->in.sin_addr, 4);
		return AF_INET;
	}
	if (address->sa_family != AF_INET6)
		return AF_UNSPEC;
	if (IN6_IS_ADDR_V4MAPPED(&of->in6.sin6_addr)) {
		memcpy(ret, of->in6.sin6_addr.s6_addr + 12, 4);
		return AF_INET;
	}
	memcpy(ret, &of->in6.sin6_addr, 16);
	return AF_INET6;
}

int
bu_address_read(const char *text, union bu_address *ret)
{
	union bu_address address = {0};

	if (inet_pton(AF_INET, text, &address.in.sin_addr) == 1)
		address.any.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &address.in6.sin6_addr) == 1)
		address.any.sa_family = AF_INET6;
	else
		return -1;
	*ret = address;
	return 0;
}

/* Whether the first `bits` are the same. */
static int
begins_alike(const unsigned char *a, const unsigned char *b, int bits)
{
	int rest = bits % 8;
	unsigned char mask = (unsigned char)(0xff00 >> rest);

	return memcmp(a, b, (size_t)bits / 8) == 0 &&
	       (rest == 0 || ((a[bits / 8] ^ b[bits / 8]) & mask) == 0);
}

static int
is_loopback(int family, const unsigned char bytes[16])
{
	return family == AF_INET ? bytes[0] == 127
				 : memcmp(bytes, &in6addr_loopback, 16) == 0;
}

/* --- the list --- */

/* "10.0.0.0/8"; an address alone is itself. */
static int
read_network(const char *text, struct network *ret)
{
	char address[PREFIX_TEXT];
	const char *slash = strchr(text, '/');
	unsigned char rest[16] = {0};
	union bu_address at;
	int64_t bits;
	int width;

	bu_text_copy(address, sizeof(address), text);
	address[strcspn(address, "/")] = '\0';
	if (strlen(text) >= sizeof(address) || bu_address_read(address, &at) != 0)
		return -1;
	ret->family = bytes_of(&at.any, ret->bytes);
	if (ret->family != at.any.sa_family)
		return -1; /* "::ffff:10.0.0.0/104": to be written as IPv4 */
	width = ret->family == AF_INET ? 32 : 128;
	bits = width;
	if (slash && bu_text_int(slash + 1, 0, width, &bits) != 0)
		return -1;
	ret->bits = (int)bits;
	/* Bits behind the prefix are a slip: 10.1.0.0/8. */
	memcpy(rest, ret->bytes, (size_t)bits / 8);
	if (bits % 8)
		rest[bits / 8] =
			(unsigned char)(ret->bytes[bits / 8] & (0xff00 >> bits % 8));
	return memcmp(rest, ret->bytes, sizeof(rest)) == 0 ? 0 : -1;
}

static int
add_network(const char *text)
{
	if (kept.count == NETWORKS_MAX ||
	    read_network(text, &kept.networks[kept.count]) != 0)
		return -1;
	kept.count++;
	return 0;
}

static int
add_entry(const char *word)
{
	if (strcmp(word, "attached") == 0) {
		kept.attached = 1;
		return 0;
	}
	if (strcmp(word, "private") != 0)
		return add_network(word);
	for (size_t i = 0; i < BU_LEN(private_networks); i++)
		if (add_network(private_networks[i]) != 0)
			return -1;
	return 0;
}

int
bu_networks_begin(const char *list, struct bu_err *err)
{
	bu_autofree char *words = bu_xstrdup(list);
	char *next = words, *word;

	bu_networks_end();
	while ((word = strsep(&next, ","))) {
		size_t size;

		word += strspn(word, " \t");
		for (size = strlen(word); size && strchr(" \t", word[size - 1]);)
			word[--size] = '\0';
		if (add_entry(word) == 0)
			continue;
		bu_err_set(
			err, BU_ERR_INVAL, 0,
			"bmc_networks of bringupd.conf: '%s': expected networks with commas between "
			"them, as 10.0.0.0/8 or fd00::/8 with no bits behind the "
			"prefix, 'private' or 'attached'; at most %d",
			word, NETWORKS_MAX);
		bu_networks_end();
		return -1;
	}
	kept.list = bu_xstrdup(list);
	kept.begun = 1;
	return 0;
}

void
bu_networks_end(void)
{
	free(kept.list);
	memset(&kept, 0, sizeof(kept));
}

int
bu_networks_begun(void)
{
	return kept.begun;
}

/* --- the question --- */

static int
is_listed(int family, const unsigned char bytes[16])
{
	for (size_t i = 0; i < kept.count; i++)
		if (kept.networks[i].family == family &&
		    begins_alike(kept.networks[i].bytes, bytes, kept.networks[i].bits))
			return 1;
	return 0;
}

/* The interface has an address of the same network. */
static int
is_of(const struct ifaddrs *at, int family, const unsigned char bytes[16])
{
	size_t width = family == AF_INET ? 4 : 16;
	unsigned char own[16], mask[16], any = 0;

	if (!at->ifa_addr || !at->ifa_netmask || !(at->ifa_flags & IFF_UP) ||
	    at->ifa_flags & IFF_LOOPBACK || bytes_of(at->ifa_addr, own) != family ||
	    bytes_of(at->ifa_netmask, mask) != family)
		return 0;
	for (size_t i = 0; i < width; i++) {
		if ((own[i] ^ bytes[i]) & mask[i])
			return 0;
		any |= mask[i];
	}
	return any != 0; /* a mask of nothing holds the whole world */
}

static int
is_attached(int family, const unsigned char bytes[16])
{
	struct ifaddrs *list = NULL;
	int found = 0;

	if (is_loopback(family, bytes) || getifaddrs(&list) != 0)
		return 0;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
		found = is_of(at, family, bytes);
	freeifaddrs(list);
	return found;
}

int
bu_networks_check(const struct sockaddr *address, struct bu_err *err)
{
	unsigned char bytes[16];
	int family = bytes_of(address, bytes);
	char text[INET6_ADDRSTRLEN] = "unknown";

	if (!kept.begun || is_listed(family, bytes) ||
	    (kept.attached && is_attached(family, bytes)))
		return 0;
	if (family != AF_UNSPEC)
		inet_ntop(family, bytes, text, sizeof(text));
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "%s is in no network of bmc_networks in bringupd.conf (%s): "
			  "nothing is sent there, no password either; correct the "
			  "BMC's address, or let the appliance's administrator add its "
			  "network",
			  text, kept.list);
}

int
bu_networks_check_bmc(const char *bmc, struct bu_err *err)
{
	union bu_address address;
	struct bu_url url;

	if (bu_url_parse(bmc, &url) != 0 || bu_address_read(url.host, &address) != 0)
		return 0;
	return bu_networks_check(&address.any, err);
}
