/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a certificate request. Called by cluster drivers that approve requests.
 * Invariant: whatever a request holds besides what struct bu_csr can say sets `other`.
 */
#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/gnutls.h"

/* The text of an attribute that the subject has exactly once, else other. */
static void
read_attribute(gnutls_x509_crq_t request, const char *oid, char ret[BU_CSR_NAME_SIZE],
	       int *other)
{
	char again[BU_CSR_NAME_SIZE];
	size_t size = BU_CSR_NAME_SIZE, more = sizeof(again);

	if (gnutls_x509_crq_get_dn_by_oid(request, oid, 0, 0, ret, &size) != 0 ||
	    strlen(ret) != size ||
	    gnutls_x509_crq_get_dn_by_oid(request, oid, 1, 0, again, &more) !=
		    GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE) {
		ret[0] = '\0';
		*other = 1;
	}
}

/* One common name and one organization, and no third attribute. */
static void
read_subject(gnutls_x509_crq_t request, struct bu_csr *ret)
{
	char oid[128];
	size_t size = sizeof(oid);

	read_attribute(request, GNUTLS_OID_X520_COMMON_NAME, ret->common_name,
		       &ret->other);
	read_attribute(request, GNUTLS_OID_X520_ORGANIZATION_NAME, ret->organization,
		       &ret->other);
	if (gnutls_x509_crq_get_dn_oid(request, 2, oid, &size) !=
	    GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
		ret->other = 1;
}

static int
say_name(unsigned int type, const unsigned char *data, size_t size,
	 char ret[BU_CSR_NAME_SIZE])
{
	char address[INET_ADDRSTRLEN];
	int length = -1;

	if (type == GNUTLS_SAN_DNSNAME && !memchr(data, '\0', size))
		length = snprintf(ret, BU_CSR_NAME_SIZE, "DNS:%.*s", (int)size,
				  (const char *)data);
	else if (type == GNUTLS_SAN_IPADDRESS && size == 4 &&
		 inet_ntop(AF_INET, data, address, sizeof(address)))
		length = snprintf(ret, BU_CSR_NAME_SIZE, "IP:%s", address);
	return length < 0 || length >= BU_CSR_NAME_SIZE ? -1 : 0;
}

static void
read_names(gnutls_x509_crq_t request, struct bu_csr *ret)
{
	unsigned char data[BU_CSR_NAME_SIZE];
	unsigned int type, critical;

	for (unsigned int i = 0; !ret->other; i++) {
		size_t size = sizeof(data) - 1;
		int rc = gnutls_x509_crq_get_subject_alt_name(request, i, data, &size,
							      &type, &critical);

		if (rc == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			return;
		if (rc < 0 || ret->names_count == BU_CSR_NAMES_MAX ||
		    say_name(type, data, size, ret->names[ret->names_count]) != 0)
			ret->other = 1;
		else
			ret->names_count++;
	}
}

static int
is_weak(gnutls_x509_crq_t request)
{
	unsigned int bits = 0;
	int algorithm = gnutls_x509_crq_get_pk_algorithm(request, &bits);

	return algorithm < 0 ||
	       gnutls_pk_bits_to_sec_param((gnutls_pk_algorithm_t)algorithm, bits) <
		       GNUTLS_SEC_PARAM_MEDIUM;
}

static void
read_key(gnutls_x509_crq_t request, struct bu_csr *ret)
{
	uint8_t hash[BU_SHA256_SIZE];
	size_t size = sizeof(hash);

	if (gnutls_x509_crq_get_key_id(request, GNUTLS_KEYID_USE_SHA256, hash, &size) !=
	    0)
		ret->other = 1;
	else
		bu_hex_encode(hash, size, ret->key);
	ret->weak = is_weak(request);
}

int
bu_csr_read(const char *csr_pem, struct bu_csr *ret, struct bu_err *err)
{
	const gnutls_datum_t pem = {(unsigned char *)(uintptr_t)csr_pem,
				    (unsigned int)strlen(csr_pem)};
	gnutls_x509_crq_t request;
	int rc = gnutls_x509_crq_init(&request);

	memset(ret, 0, sizeof(*ret));
	bu_assert(rc == 0);
	rc = gnutls_x509_crq_import(request, &pem, GNUTLS_X509_FMT_PEM);
	if (rc == 0)
		rc = gnutls_x509_crq_verify(request, 0);
	if (rc == 0) {
		read_subject(request, ret);
		read_names(request, ret);
		read_key(request, ret);
	}
	gnutls_x509_crq_deinit(request);
	return rc == 0 ? 0
		       : bu_gnutls_fail(err, BU_ERR_INVAL, rc,
					"read a certificate request");
}
