/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a TLS peer is; called by the server for each new connection of an agent, and by
 * the client of devices whose certificate is known by its fingerprint.
 * Invariant: a name comes only from a certificate that this CA signed for a client.
 */
#include <gnutls/x509.h>
#include <string.h>

#include "base/crypto.h"
#include "base/gnutls.h"

/* The verified peer is a client: its certificate must say that it may be one. */
static int
verify_peer(gnutls_session_t session, struct bu_err *err)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT,
		.size = strlen(GNUTLS_KP_TLS_WWW_CLIENT),
	};
	unsigned int status = 0;
	gnutls_datum_t why = {NULL, 0};
	int rc = gnutls_certificate_verify_peers(session, &purpose, 1, &status);

	if (rc == GNUTLS_E_NO_CERTIFICATE_FOUND)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the peer showed no certificate");
	if (rc < 0)
		return bu_gnutls_fail(err, BU_ERR_DENIED, rc,
				      "verify the peer's certificate");
	if (status == 0)
		return 0;
	if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &why,
							 0) < 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the peer's certificate is not of this CA");
	bu_err_set(err, BU_ERR_DENIED, 0, "the peer's certificate: %s",
		   (const char *)why.data);
	gnutls_free(why.data);
	return -1;
}

static int
leaf_name(gnutls_x509_crt_t cert, char ret_name[BU_TLS_NAME_SIZE], struct bu_err *err)
{
	char name[BU_TLS_NAME_SIZE];
	size_t size = sizeof(name);
	int rc = gnutls_x509_crt_get_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
					       name, &size);

	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_DENIED, rc,
				      "read the common name of the peer's certificate");
	/* What is no text comes as "#0c09...". */
	if (name[0] == '#' || strlen(name) != size || bu_gnutls_check_name(name, NULL))
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"the common name of the peer's certificate is malformed");
	memcpy(ret_name, name, size + 1);
	return 0;
}

/* The time in which every certificate that the peer showed is valid. */
static int
validity(const gnutls_datum_t *chain, unsigned int count, struct bu_tls_peer *ret)
{
	ret->from_s = 0;
	ret->until_s = INT64_MAX;
	for (unsigned int i = 0; i < count; i++) {
		gnutls_x509_crt_t cert;
		int64_t from_s, until_s;
		int rc = gnutls_x509_crt_init(&cert);

		if (rc != 0)
			return rc;
		rc = gnutls_x509_crt_import(cert, &chain[i], GNUTLS_X509_FMT_DER);
		from_s = gnutls_x509_crt_get_activation_time(cert);
		until_s = gnutls_x509_crt_get_expiration_time(cert);
		gnutls_x509_crt_deinit(cert);
		if (rc != 0)
			return rc;
		if (from_s > ret->from_s)
			ret->from_s = from_s;
		if (until_s < ret->until_s)
			ret->until_s = until_s;
	}
	return 0;
}

int
bu_tls_peer_holds(const struct bu_tls_peer *peer, int64_t now_s)
{
	return peer->name[0] && peer->from_s <= now_s && now_s <= peer->until_s;
}

int
bu_tls_peer(void *session, struct bu_tls_peer *ret, struct bu_err *err)
{
	gnutls_x509_crt_t cert = NULL;
	const gnutls_datum_t *chain;
	unsigned int count = 0;
	int rc;

	if (gnutls_certificate_type_get2(session, GNUTLS_CTYPE_PEERS) !=
	    GNUTLS_CRT_X509)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the peer's certificate is not X.509");
	if (verify_peer(session, err))
		return -1;
	chain = gnutls_certificate_get_peers(session, &count);
	if (!chain || count == 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the peer showed no certificate");
	rc = gnutls_x509_crt_init(&cert);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_DENIED, rc,
				      "read the peer's certificate");
	rc = gnutls_x509_crt_import(cert, &chain[0], GNUTLS_X509_FMT_DER);
	if (rc == 0)
		rc = validity(chain, count, ret);
	if (rc != 0)
		rc = bu_gnutls_fail(err, BU_ERR_DENIED, rc,
				    "read the peer's certificate");
	else
		rc = leaf_name(cert, ret->name, err);
	gnutls_x509_crt_deinit(cert);
	if (rc == 0)
		bu_sha256_hex(chain[0].data, chain[0].size, ret->fingerprint);
	return rc;
}

void
bu_tls_shown(void *session, char ret_hex[BU_DIGEST_SIZE])
{
	unsigned int count = 0;
	const gnutls_datum_t *chain = NULL;

	ret_hex[0] = '\0';
	if (gnutls_certificate_type_get2(session, GNUTLS_CTYPE_PEERS) ==
	    GNUTLS_CRT_X509)
		chain = gnutls_certificate_get_peers(session, &count);
	if (chain && count > 0)
		bu_sha256_hex(chain[0].data, chain[0].size, ret_hex);
}
