/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes private keys: of ECDSA on P-256, and of RSA for peers that know nothing newer,
 * such as firmware. x509.c makes certificates of any.
 */
#include <gnutls/x509.h>

#include "base/crypto.h"
#include "base/gnutls.h"

enum { RSA_BITS = 3072 };

static int
create(gnutls_pk_algorithm_t algorithm, unsigned int bits, const char *what,
       char **ret_key_pem, struct bu_err *err)
{
	gnutls_x509_privkey_t key = NULL;
	gnutls_datum_t pem = {NULL, 0};
	int rc = gnutls_x509_privkey_init(&key);

	if (rc == 0)
		rc = gnutls_x509_privkey_generate(key, algorithm, bits, 0);
	if (rc == 0)
		rc = gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL,
						       GNUTLS_PKCS_PLAIN, &pem);
	if (key)
		gnutls_x509_privkey_deinit(key);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_IO, rc, what);
	*ret_key_pem = bu_gnutls_take(&pem);
	return 0;
}

int
bu_tls_key_create(char **ret_key_pem, struct bu_err *err)
{
	return create(GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
		      "make a TLS key", ret_key_pem, err);
}

int
bu_rsa_key_create(char **ret_key_pem, struct bu_err *err)
{
	return create(GNUTLS_PK_RSA, RSA_BITS, "make an RSA key", ret_key_pem, err);
}
