/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates by which people come, of CAs that the site has of its own. */
#ifndef BU_BASE_TLS_PERSON_H
#define BU_BASE_TLS_PERSON_H

#include <stddef.h>

#include "base/crypto.h"
#include "base/err.h"

enum { BU_TLS_ORGANISATIONS = 16 };
struct bu_tls_person {
	char name[BU_TLS_NAME_SIZE];                                /* CN */
	char organisations[BU_TLS_ORGANISATIONS][BU_TLS_NAME_SIZE]; /* O */
	size_t count;
};

struct bu_person_ca;
/* ca_path: PEM of one CA or several, read once. crl_path: PEM of their lists of revoked
 * certificates, read again when the file is another one; "" = none. While that file is
 * unusable nobody is let in. */
struct bu_person_ca *bu_person_ca_open(const char *ca_path, const char *crl_path,
				       struct bu_err *err);
void bu_person_ca_close(struct bu_person_ca *ca);
/* The CAs in PEM; borrowed. NULL of NULL. */
const char *bu_person_ca_pem(const struct bu_person_ca *ca);
/* The person at the other end, by the clock and the lists of now. session: of GnuTLS.
 * BU_ERR_DENIED: err says what is wrong with the certificate. */
bu_must int bu_tls_person(struct bu_person_ca *ca, void *session,
			  struct bu_tls_person *ret, struct bu_err *err);

#endif
