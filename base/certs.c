/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of others, as they are handed on: to nodes, where anybody may read them.
 * Invariant: what comes out was parsed as certificates and holds nothing else.
 */
#include <gnutls/x509.h>
#include <string.h>

#include "base/crypto.h"
#include "base/gnutls.h"
#include "base/text.h"

/* Refuses PEM blocks other than certificates: a private key most of all. */
static int
check_blocks(const char *pem, struct bu_err *err)
{
	static const char begin[] = "-----BEGIN ", cert[] = "CERTIFICATE-----";
	const char *at = strstr(pem, begin);

	if (!at)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "there is no certificate (PEM) in it");
	for (; at; at = strstr(at, begin)) {
		at += strlen(begin);
		if (strncmp(at, cert, strlen(cert)) != 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "it holds '%.*s'; only certificates may be "
					  "in it",
					  (int)strcspn(at, "-\n"), at);
	}
	return 0;
}

char *
bu_certs_only(const char *pem, struct bu_err *err)
{
	const gnutls_datum_t in = {(unsigned char *)(uintptr_t)pem,
				   (unsigned int)strlen(pem)};
	gnutls_x509_crt_t *certs = NULL;
	unsigned int count = 0;
	char *all = NULL;
	int rc;

	if (check_blocks(pem, err) != 0)
		return NULL;
	rc = gnutls_x509_crt_list_import2(&certs, &count, &in, GNUTLS_X509_FMT_PEM, 0);
	if (rc < 0)
		bu_gnutls_fail(err, BU_ERR_INVAL, rc, "read its certificates");
	for (unsigned int i = 0; i < count; i++) {
		gnutls_datum_t out = {NULL, 0};

		if (gnutls_x509_crt_export2(certs[i], GNUTLS_X509_FMT_PEM, &out) == 0)
			bu_text_add(&all, "", "%.*s", (int)out.size,
				    (const char *)out.data);
		gnutls_free(out.data);
		gnutls_x509_crt_deinit(certs[i]);
	}
	gnutls_free(certs);
	return all;
}
