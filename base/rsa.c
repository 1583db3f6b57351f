/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of RSA, for peers that know nothing newer: firmware. Called by the daemon alone;
 * x509.c makes certificates of them as of any key.
 */
#include <gnutls/x509.h>

#include "base/crypto.h"
#include "base/gnutls.h"

enum { BITS = 3072 };

int
bu_rsa_key_create(char **ret_key_pem, struct bu_err *err)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_datum_t pem = {NULL, 0};
	int rc = gnutls_x509_privkey_init(&key);

	if (rc == 0)
		rc = gnutls_x509_privkey_generate(key, GNUTLS_PK_RSA, BITS, 0);
	if (rc == 0)
		rc = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL,
						       GNUTLS_PKCS_PLAIN, &pem);
	if (key)
		gnutls_x509_privkey_deinit(key);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_IO, rc, "make an RSA key");
	*ret_key_pem = bu_gnutls_take(&pem);
	return 0;
}
