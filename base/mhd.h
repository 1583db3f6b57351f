/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd in the loop, for servers. What handlers get is libmicrohttpd's own. */
#ifndef BU_BASE_MHD_H
#define BU_BASE_MHD_H

#include <microhttpd.h>

#include "base/err.h"
#include "base/loop.h"

/* Priorities of our own listeners for GnuTLS; no other file has any. Firmware may have
 * no TLS 1.3. */
#define BU_TLS_CIPHERS "-CIPHER-ALL:+AES-256-GCM:+CHACHA20-POLY1305"
#define BU_TLS_NEW "NORMAL:-VERS-ALL:+VERS-TLS1.3:" BU_TLS_CIPHERS
#define BU_TLS_FIRMWARE "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:" BU_TLS_CIPHERS

struct bu_mhd_opts {
	int fd; /* listens already; it is given away */
	MHD_AccessHandlerCallback on_access;
	MHD_RequestCompletedCallback on_completed;
	void *arg; /* of on_access */
	/* NULL = every one is taken, and nobody hears of it. */
	MHD_AcceptPolicyCallback on_accept;
	MHD_NotifyConnectionCallback on_connection;
	void *connections_arg; /* of these two */
	unsigned idle_s, connections;
	int logs; /* what libmicrohttpd dislikes is in the log, a line a second at most
		   */
	/* PEM; cert_pem NULL = no TLS, ca_pem NULL = no certificate is asked for. */
	const char *cert_pem, *key_pem, *ca_pem;
	const char *priorities; /* of GnuTLS */
};

struct bu_mhd;
/* A daemon without threads that may suspend connections. */
struct bu_mhd *bu_mhd_start(struct bu_loop *loop, const struct bu_mhd_opts *opts,
			    struct bu_err *err);
/* Does what there is to do, after a connection was resumed. */
void bu_mhd_run(struct bu_mhd *mhd);
/* No connection may be suspended. NULL: nothing. */
void bu_mhd_stop(struct bu_mhd *mhd);

#endif
