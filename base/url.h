/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URLs, and addresses with a port: "https://bmc1.oob:8443/redfish", "10.1.0.5:623",
 * "https://[fd00::5]", "qemu:///system#node001". RFC 3986, and stricter: no escapes or
 * anything but letters, digits, '-', '.' and '_' in a host, which is no relative
 * reference.
 */
#ifndef BU_BASE_URL_H
#define BU_BASE_URL_H

#include <netinet/in.h>
#include <stdint.h>

enum { BU_URL_HOST_SIZE = 254 };

struct bu_url {
	char scheme[16];             /* as written; "" when there is no "://" */
	char host[BU_URL_HOST_SIZE]; /* as written, an IPv6 address without its
					brackets; "" only as in "scheme:///path" */
	int has_user, has_password;  /* "user:password@": never kept */
	int port;                    /* 0 to 65535, -1 when it is not given */
	const char *path;            /* what follows, from '/', '?' or '#' on; "" */
};

/* -1 when it is none; ret->path points into the text. An IPv6 address without brackets
 * is taken when it stands alone. */
int bu_url_parse(const char *text, struct bu_url *ret);
/* 1 for "host", "host:port" and nothing more. */
int bu_url_is_host(const struct bu_url *url);
/* The IPv4 address that is the host, in any of its spellings, in host order; -1 for
 * names and what is no URL. */
int bu_url_ipv4(const char *text, uint32_t *ret);
/* "10.0.0.1:8080", an IPv4 address to listen on or to call; port 0 is a free one. */
int bu_url_socket(const char *text, struct sockaddr_in *ret);
/* 1 when both name a host, the same one, at the same port or each at its scheme's own:
 * "https://BMC1:443/x" and "bmc1" are one machine. */
int bu_url_same_host(const char *a, const char *b);

/* One text for all spellings of one BMC or domain, in any case, with or without its
 * default port, a user, a trailing dot or slash: owned, NULL when it is no URL. Behind
 * a blank stands the path of one system of several: what is equal before it is one BMC.
 * "https://root@BMC1.oob.:443/" is "bmc1.oob", "[::ffff:10.1.0.1]:623" is "10.1.0.1",
 * "https://b1/redfish/v1/Systems/1/" is "b1 redfish/v1/Systems/1". */
char *bu_url_key(const char *text);

/* Where an issuer of OpenID Connect has its configuration (Discovery 1.0); owned. */
char *bu_url_discovery(const char *issuer);
/* A word as a part of a URL's query, or of a form; owned. */
char *bu_url_escape(const char *text);

#endif
