/* SPDX-License-Identifier: Apache-2.0 */
/*
 * People's certificates; called by the API's server for each request of a person who
 * shows one. Verified here and not by the session, so that a list of revoked
 * certificates counts as soon as its file is there.
 * Invariant: a person is made only of a certificate that a CA of the site signed for a
 * client, that is valid now and that no list revokes; an unusable list lets nobody in.
 */
#include "base/tls_person.h"

#include <gnutls/x509.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/gnutls.h"
#include "base/log.h"
#include "base/text.h"

enum { CA_MAX = 256 * 1024, CRL_MAX = 16 * 1024 * 1024 };

struct bu_person_ca {
	char *pem, *crl_path;
	gnutls_x509_trust_list_t trust;
	struct stat crl_seen;
	int has_crl;         /* crl_path was looked at once */
	int64_t crl_until_s; /* 0 = the list is unusable */
};

static int
add_ca(struct bu_person_ca *ca, struct bu_err *err)
{
	const gnutls_datum_t in = {(unsigned char *)ca->pem,
				   (unsigned int)strlen(ca->pem)};
	int rc;

	if (ca->trust)
		gnutls_x509_trust_list_deinit(bu_steal(&ca->trust), 1);
	rc = gnutls_x509_trust_list_init(&ca->trust, 0);
	if (rc == 0)
		rc = gnutls_x509_trust_list_add_trust_mem(ca->trust, &in, NULL,
							  GNUTLS_X509_FMT_PEM, 0, 0);
	return rc > 0 ? 0
		      : bu_gnutls_fail(err, BU_ERR_INVAL, rc,
				       "read the CAs of people's certificates");
}

/* When the first of the lists ends; 0 = there is none in it. */
static int64_t
lists_end(const gnutls_datum_t *in)
{
	gnutls_x509_crl_t *lists = NULL;
	unsigned int count = 0;
	int64_t end = INT64_MAX;

	if (gnutls_x509_crl_list_import2(&lists, &count, in, GNUTLS_X509_FMT_PEM, 0) <
	    0)
		return 0;
	for (unsigned int i = 0; i < count; i++) {
		time_t next = gnutls_x509_crl_get_next_update(lists[i]);

		if (next != (time_t)-1 && next < end)
			end = next;
		gnutls_x509_crl_deinit(lists[i]);
	}
	gnutls_free(lists);
	return count ? end : 0;
}

static int
load_lists(struct bu_person_ca *ca, struct bu_err *err)
{
	size_t size;
	bu_autofree char *text = bu_file_read(ca->crl_path, CRL_MAX, &size, err);
	gnutls_datum_t in = {(unsigned char *)text, (unsigned int)size};
	int64_t end;

	if (!text || add_ca(ca, err) != 0)
		return -1;
	end = lists_end(&in);
	if (!end)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%s' has no list of revoked certificates (PEM)",
				  ca->crl_path);
	if (gnutls_x509_trust_list_add_trust_mem(
		    ca->trust, NULL, &in, GNUTLS_X509_FMT_PEM,
		    GNUTLS_TL_VERIFY_CRL | GNUTLS_TL_FAIL_ON_INVALID_CRL, 0) <= 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "'%s' has a list that no CA of people_ca signed, or "
				  "that is out of date",
				  ca->crl_path);
	ca->crl_until_s = end;
	return 0;
}

/* The place of the file is for the log alone; who comes may be a stranger. */
static void
look_at_lists(struct bu_person_ca *ca)
{
	struct bu_err err = {0};
	struct stat now = {0};

	if (stat(ca->crl_path, &now) != 0)
		memset(&now, 0, sizeof(now));
	if (ca->has_crl && bu_file_is_version(&now, &ca->crl_seen))
		return;
	ca->has_crl = 1;
	ca->crl_seen = now;
	ca->crl_until_s = 0;
	if (load_lists(ca, &err) != 0)
		bu_warn("people", "people_crl: %s; no certificate is taken", err.text);
}

static int
check_lists(struct bu_person_ca *ca, struct bu_err *err)
{
	if (!*ca->crl_path)
		return 0;
	look_at_lists(ca);
	if (!ca->crl_until_s)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "no certificate is taken: the list of "
				  "revoked ones (people_crl) is unusable; bringupd's "
				  "journal says why");
	if (ca->crl_until_s < time(NULL))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "no certificate is taken: the list of "
				  "revoked ones (people_crl) is out of date; put a "
				  "new one in its place");
	return 0;
}

struct bu_person_ca *
bu_person_ca_open(const char *ca_path, const char *crl_path, struct bu_err *err)
{
	struct bu_person_ca *ca = bu_xcalloc(1, sizeof(*ca));
	bu_autofree char *text = bu_file_read(ca_path, CA_MAX, NULL, err);

	ca->crl_path = bu_xstrdup(crl_path);
	ca->pem = text ? bu_certs_only(text, err) : NULL;
	if (!ca->pem || add_ca(ca, err) != 0) {
		bu_err_wrap(err, "people_ca '%s'", ca_path);
		bu_person_ca_close(ca);
		return NULL;
	}
	if (*crl_path)
		look_at_lists(ca);
	return ca;
}

void
bu_person_ca_close(struct bu_person_ca *ca)
{
	if (!ca)
		return;
	if (ca->trust)
		gnutls_x509_trust_list_deinit(ca->trust, 1);
	free(ca->pem);
	free(ca->crl_path);
	free(ca);
}

const char *
bu_person_ca_pem(const struct bu_person_ca *ca)
{
	return ca ? ca->pem : NULL;
}

/* GnuTLS takes a certificate without any purpose for one of every purpose. */
static int
is_for_clients(gnutls_x509_crt_t cert)
{
	for (unsigned i = 0;; i++) {
		char oid[64];
		size_t size = sizeof(oid);
		int rc = gnutls_x509_crt_get_key_purpose_oid(cert, i, oid, &size, NULL);

		if (rc == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			return 0;
		if (rc >= 0 && strcmp(oid, GNUTLS_KP_TLS_WWW_CLIENT) == 0)
			return 1;
		if (rc < 0 && rc != GNUTLS_E_SHORT_MEMORY_BUFFER)
			return 0;
	}
}

static int
read_names(gnutls_x509_crt_t cert, struct bu_tls_person *ret, struct bu_err *err)
{
	size_t size = sizeof(ret->name);
	int rc = gnutls_x509_crt_get_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, 0,
					       ret->name, &size);

	if (rc != 0 || ret->name[0] == '#' || strlen(ret->name) != size ||
	    bu_gnutls_check_name(ret->name, NULL) != 0)
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"the certificate names no person: its subject needs a "
			"common name (CN) of 1 to 64 ASCII characters");
	for (int i = 0; ret->count < BU_TLS_ORGANISATIONS; i++) {
		char *text = ret->organisations[ret->count];

		size = BU_TLS_NAME_SIZE;
		rc = gnutls_x509_crt_get_dn_by_oid(
			cert, GNUTLS_OID_X520_ORGANIZATION_NAME, i, 0, text, &size);
		if (rc == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
			break;
		if (rc == 0 && text[0] != '#' && strlen(text) == size &&
		    bu_gnutls_check_name(text, NULL) == 0)
			ret->count++;
	}
	return 0;
}

/* The first of the reasons that a person can do something about. */
static int
refuse(gnutls_x509_crt_t cert, const char *name, unsigned int status,
       struct bu_err *err)
{
	char from[24], until[24];

	bu_time_minute(gnutls_x509_crt_get_activation_time(cert) * INT64_C(1000), from);
	bu_time_minute(gnutls_x509_crt_get_expiration_time(cert) * INT64_C(1000),
		       until);
	if (status & (GNUTLS_CERT_SIGNER_NOT_FOUND | GNUTLS_CERT_SIGNATURE_FAILURE))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the certificate '%s' is of another CA than those of "
				  "people_ca",
				  name);
	if (status & GNUTLS_CERT_REVOKED)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the certificate '%s' was revoked; have a new one "
				  "issued",
				  name);
	if (status & GNUTLS_CERT_EXPIRED)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the certificate '%s', or its CA's, has expired: it "
				  "was valid until %s; have a new one issued",
				  name, until);
	if (status & GNUTLS_CERT_NOT_ACTIVATED)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the certificate '%s' is not yet valid: it is from "
				  "%s on, by the appliance's clock",
				  name, from);
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "the certificate '%s' is not acceptable (GnuTLS status "
			  "0x%x); have one issued by a CA of people_ca for TLS clients",
			  name, status);
}

enum { CHAIN_MAX = 8 };
struct chain {
	gnutls_x509_crt_t list[CHAIN_MAX];
	unsigned int count;
};

static void
chain_end(struct chain *chain)
{
	for (unsigned int i = 0; i < chain->count; i++)
		gnutls_x509_crt_deinit(chain->list[i]);
}

static int
read_chain(gnutls_session_t session, struct chain *ret, struct bu_err *err)
{
	const gnutls_datum_t *shown = NULL;
	unsigned int count = 0;
	int rc = 0;

	if (gnutls_certificate_type_get2(session, GNUTLS_CTYPE_PEERS) ==
	    GNUTLS_CRT_X509)
		shown = gnutls_certificate_get_peers(session, &count);
	if (!shown || !count || count > CHAIN_MAX)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "no certificate was shown, or a chain of more than "
				  "%d",
				  CHAIN_MAX);
	while (rc == 0 && ret->count < count) {
		rc = gnutls_x509_crt_init(&ret->list[ret->count]);
		if (rc == 0) {
			rc = gnutls_x509_crt_import(ret->list[ret->count],
						    &shown[ret->count],
						    GNUTLS_X509_FMT_DER);
			ret->count++;
		}
	}
	return rc == 0 ? 0
		       : bu_gnutls_fail(err, BU_ERR_DENIED, rc,
					"read the certificate that was shown");
}

int
bu_tls_person(struct bu_person_ca *ca, void *session, struct bu_tls_person *ret,
	      struct bu_err *err)
{
	__attribute__((cleanup(chain_end))) struct chain chain = {.count = 0};
	unsigned int status = 0;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (read_chain(session, &chain, err) != 0 || check_lists(ca, err) != 0 ||
	    read_names(chain.list[0], ret, err) != 0)
		return -1;
	rc = gnutls_x509_trust_list_verify_crt2(ca->trust, chain.list, chain.count,
						NULL, 0, 0, &status, NULL);
	if (rc < 0)
		return bu_gnutls_fail(err, BU_ERR_DENIED, rc,
				      "verify the certificate that was shown");
	if (status != 0)
		return refuse(chain.list[0], ret->name, status, err);
	if (!is_for_clients(chain.list[0]))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "the certificate '%s' is not for TLS clients: have "
				  "one issued with the extended key usage clientAuth",
				  ret->name);
	return 0;
}
