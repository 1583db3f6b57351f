/* SPDX-License-Identifier: Apache-2.0 */
/* Certificate requests as a test wants them, honest and others. */
#ifndef BU_TESTS_SUPPORT_CSR_H
#define BU_TESTS_SUPPORT_CSR_H

#include <arpa/inet.h>
#include <check.h>
#include <gnutls/x509.h>
#include <string.h>

#include "base/mem.h"

struct csr_of {
	const char
		*subject; /* "CN=system:node:a,O=system:nodes", RFC 4514; NULL = none */
	const char *names[4]; /* "DNS:a", "IP:10.0.0.1", "URI:spiffe://a", "MAIL:a@b" */
	unsigned int rsa_bits; /* 0 = ECDSA, P-256 */
};

static inline void
csr_add_name(gnutls_x509_crq_t request, const char *name)
{
	const char *text = strchr(name, ':') + 1;
	struct in_addr address;
	int rc;

	if (inet_pton(AF_INET, text, &address) == 1)
		rc = gnutls_x509_crq_set_subject_alt_name(request, GNUTLS_SAN_IPADDRESS,
							  &address, sizeof(address),
							  GNUTLS_FSAN_APPEND);
	else
		rc = gnutls_x509_crq_set_subject_alt_name(
			request,
			*name == 'D'   ? GNUTLS_SAN_DNSNAME
			: *name == 'U' ? GNUTLS_SAN_URI
				       : GNUTLS_SAN_RFC822NAME,
			text, (unsigned int)strlen(text), GNUTLS_FSAN_APPEND);
	ck_assert_int_eq(rc, 0);
}

/* The API server knows no request under the name that GnuTLS gives it. */
static inline void
csr_rename(char *pem)
{
	static const char old[] = "NEW CERTIFICATE";

	for (char *at = pem; (at = strstr(at, old));)
		memmove(at, at + strlen("NEW "), strlen(at + strlen("NEW ")) + 1);
}

/* PEM, signed by its own key; owned. */
static inline char *
csr_make(const struct csr_of *of)
{
	unsigned int bits = of->rsa_bits ? of->rsa_bits
					 : (unsigned int)GNUTLS_CURVE_TO_BITS(
						   GNUTLS_ECC_CURVE_SECP256R1);
	gnutls_x509_privkey_t key;
	gnutls_x509_crq_t request;
	gnutls_datum_t pem;
	char *text;

	ck_assert_int_eq(gnutls_x509_privkey_init(&key), 0);
	ck_assert_int_eq(
		gnutls_x509_privkey_generate(
			key, of->rsa_bits ? GNUTLS_PK_RSA : GNUTLS_PK_ECDSA, bits, 0),
		0);
	ck_assert_int_eq(gnutls_x509_crq_init(&request), 0);
	if (of->subject)
		ck_assert_int_eq(gnutls_x509_crq_set_dn(request, of->subject, NULL), 0);
	for (size_t i = 0; i < 4 && of->names[i]; i++)
		csr_add_name(request, of->names[i]);
	ck_assert_int_eq(gnutls_x509_crq_set_key(request, key), 0);
	ck_assert_int_eq(gnutls_x509_crq_sign2(request, key, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_crq_export2(request, GNUTLS_X509_FMT_PEM, &pem),
			 0);
	text = bu_xstrdup((const char *)pem.data);
	csr_rename(text);
	gnutls_free(pem.data);
	gnutls_x509_crq_deinit(request);
	gnutls_x509_privkey_deinit(key);
	return text;
}

#endif
