/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by crypto.c, csr.c, keys.c, tls_peer.c and x509.c. Nothing else includes it.
 */
#ifndef BU_BASE_GNUTLS_H
#define BU_BASE_GNUTLS_H

#include <gnutls/gnutls.h>
#include <stddef.h>

#include "base/err.h"

/* Longest PEM text (key, request, certificate) that is looked at. */
enum { BU_PEM_MAX = 64 * 1024 };

/* Fills err with what GnuTLS says about rc; always -1. */
int bu_gnutls_fail(struct bu_err *err, enum bu_err_kind kind, int rc, const char *what);
/* Moves a PEM text that GnuTLS made into an owned string. */
char *bu_gnutls_take(gnutls_datum_t *pem);
/* Points at the text of a PEM string; -1 (BU_ERR_INVAL) when it is too long. */
bu_must int bu_gnutls_pem(const char *pem, const char *what, gnutls_datum_t *ret,
			  struct bu_err *err);
/* A common name is 1 to 64 bytes of printable ASCII; 0/-1 (BU_ERR_INVAL). */
bu_must int bu_gnutls_check_name(const char *name, struct bu_err *err);

#endif
