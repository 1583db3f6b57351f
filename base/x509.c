/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small CA of an appliance: keys (ECDSA P-256), the CA itself, certificates for the
 * server and, against a request, for agents. Called by the daemon's trust room, by
 * `bringup init` and (request, key) by the agent.
 *
 * Invariant: a request is only ever a source of a public key, proven to be held by its
 * sender; names, usages and dates of a certificate come from the CA alone. No
 * certificate outlives its CA. All begin a day in the past, because the clock of a bare
 * machine may be late.
 */
#include <arpa/inet.h>
#include <gnutls/abstract.h>
#include <gnutls/x509.h>
#include <string.h>
#include <time.h>

#include "base/crypto.h"
#include "base/gnutls.h"
#include "base/text.h"

enum { DAY_S = 24 * 60 * 60, CA_DAYS = 3653, SERIAL_SIZE = 16, NAME_MAX_SIZE = 64 };

/* Everything that is open while a certificate is made; NULL-safe cleanup. */
struct making {
	gnutls_x509_crt_t cert;
	gnutls_x509_crt_t ca_cert;
	gnutls_privkey_t ca_key;
	gnutls_privkey_t key;
	gnutls_pubkey_t public;
	gnutls_x509_crq_t request;
};

static void
making_end(struct making *making)
{
	if (making->cert)
		gnutls_x509_crt_deinit(making->cert);
	if (making->ca_cert)
		gnutls_x509_crt_deinit(making->ca_cert);
	if (making->ca_key)
		gnutls_privkey_deinit(making->ca_key);
	if (making->key)
		gnutls_privkey_deinit(making->key);
	if (making->public)
		gnutls_pubkey_deinit(making->public);
	if (making->request)
		gnutls_x509_crq_deinit(making->request);
}
#define AUTO_MAKING __attribute__((cleanup(making_end)))

static int
load_key(const char *key_pem, gnutls_privkey_t *ret, struct bu_err *err)
{
	gnutls_datum_t pem;
	int rc;

	if (bu_gnutls_pem(key_pem, "the private key", &pem, err))
		return -1;
	rc = gnutls_privkey_init(ret);
	if (rc == 0)
		rc = gnutls_privkey_import_x509_raw(*ret, &pem, GNUTLS_X509_FMT_PEM,
						    NULL, 0);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_INVAL, rc,
				      "read a private key: PEM is needed");
	return 0;
}

static int
load_cert(const char *cert_pem, gnutls_x509_crt_t *ret, struct bu_err *err)
{
	gnutls_datum_t pem;
	int rc;

	if (bu_gnutls_pem(cert_pem, "the certificate", &pem, err))
		return -1;
	rc = gnutls_x509_crt_init(ret);
	if (rc == 0)
		rc = gnutls_x509_crt_import(*ret, &pem, GNUTLS_X509_FMT_PEM);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_INVAL, rc,
				      "read a certificate: PEM is needed");
	return 0;
}

int
bu_gnutls_check_name(const char *name, struct bu_err *err)
{
	size_t size = strlen(name);

	if (size < 1 || size > NAME_MAX_SIZE)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the common name has %zu bytes; 1 to %d are allowed",
				  size, NAME_MAX_SIZE);
	if (!bu_text_is_ascii(name))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the common name has a byte that is not printable "
				  "ASCII");
	return 0;
}

static int
set_name(gnutls_x509_crt_t cert, const char *name)
{
	return gnutls_x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, name,
					     (unsigned int)strlen(name));
}

/* Version, serial, dates. not_after: 0 = no limit by a CA. */
static int
cert_begin(gnutls_x509_crt_t *ret, int days, time_t not_after)
{
	time_t now = time(NULL);
	time_t end = now + (time_t)days * DAY_S;
	uint8_t serial[SERIAL_SIZE];
	int rc = gnutls_x509_crt_init(ret);

	/* Positive and of full length: the top bits are 01. */
	bu_random(serial, sizeof(serial));
	serial[0] = (serial[0] & 0x3f) | 0x40;
	if (not_after && end > not_after)
		end = not_after;
	if (rc == 0)
		rc = gnutls_x509_crt_set_version(*ret, 3);
	if (rc == 0)
		rc = gnutls_x509_crt_set_serial(*ret, serial, sizeof(serial));
	if (rc == 0)
		rc = gnutls_x509_crt_set_activation_time(*ret, now - DAY_S);
	if (rc == 0)
		rc = gnutls_x509_crt_set_expiration_time(*ret, end);
	return rc;
}

/* Key identifiers, signature by the CA (or itself), PEM. */
static int
cert_finish(gnutls_x509_crt_t cert, gnutls_x509_crt_t ca_cert, gnutls_privkey_t ca_key,
	    char **ret_pem)
{
	gnutls_datum_t pem = {NULL, 0};
	unsigned char id[64];
	size_t size = sizeof(id);
	int rc = gnutls_x509_crt_get_key_id(cert, 0, id, &size);

	if (rc == 0)
		rc = gnutls_x509_crt_set_subject_key_id(cert, id, size);
	size = sizeof(id);
	if (rc == 0)
		rc = gnutls_x509_crt_get_subject_key_id(ca_cert, id, &size, NULL);
	if (rc == 0)
		rc = gnutls_x509_crt_set_authority_key_id(cert, id, size);
	if (rc == 0)
		rc = gnutls_x509_crt_privkey_sign(cert, ca_cert, ca_key,
						  GNUTLS_DIG_SHA256, 0);
	if (rc == 0)
		rc = gnutls_x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &pem);
	if (rc == 0)
		*ret_pem = bu_gnutls_take(&pem);
	return rc;
}

int
bu_ca_create(const char *common_name, const char *key_pem, char **ret_cert_pem,
	     struct bu_err *err)
{
	AUTO_MAKING struct making m = {0};
	int rc;

	if (bu_gnutls_check_name(common_name, err) || load_key(key_pem, &m.ca_key, err))
		return -1;
	rc = gnutls_pubkey_init(&m.public);
	if (rc == 0)
		rc = gnutls_pubkey_import_privkey(m.public, m.ca_key, 0, 0);
	if (rc == 0)
		rc = cert_begin(&m.cert, CA_DAYS, 0);
	if (rc == 0)
		rc = set_name(m.cert, common_name);
	if (rc == 0)
		rc = gnutls_x509_crt_set_pubkey(m.cert, m.public);
	if (rc == 0)
		rc = gnutls_x509_crt_set_basic_constraints(m.cert, 1, 0);
	if (rc == 0)
		rc = gnutls_x509_crt_set_key_usage(m.cert, GNUTLS_KEY_KEY_CERT_SIGN |
								   GNUTLS_KEY_CRL_SIGN);
	if (rc == 0)
		rc = cert_finish(m.cert, m.cert, m.ca_key, ret_cert_pem);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_IO, rc, "make a CA certificate");
	return 0;
}

/* Loads the CA and refuses a key that is not its own. */
static int
load_ca(struct making *m, const struct bu_ca *ca, struct bu_err *err)
{
	unsigned char cert_id[64];
	unsigned char key_id[64];
	size_t cert_size = sizeof(cert_id);
	size_t key_size = sizeof(key_id);
	gnutls_pubkey_t public = NULL;
	int rc;

	if (load_cert(ca->cert_pem, &m->ca_cert, err) ||
	    load_key(ca->key_pem, &m->ca_key, err))
		return -1;
	rc = gnutls_pubkey_init(&public);
	if (rc == 0)
		rc = gnutls_pubkey_import_privkey(public, m->ca_key, 0, 0);
	if (rc == 0)
		rc = gnutls_pubkey_get_key_id(public, 0, key_id, &key_size);
	if (rc == 0)
		rc = gnutls_x509_crt_get_key_id(m->ca_cert, 0, cert_id, &cert_size);
	if (public)
		gnutls_pubkey_deinit(public);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_INVAL, rc, "read the CA");
	if (cert_size != key_size || memcmp(cert_id, key_id, key_size) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the CA's key is not the key of its certificate");
	return 0;
}

struct leaf {
	const char *common_name, *purpose;
	int days;
	const char *const *names; /* for add_names; which may be NULL */
	int (*add_names)(gnutls_x509_crt_t cert, const char *const *names);
};

/* Firmware without curves encrypts to an RSA key. */
static unsigned int
usage_of(gnutls_pubkey_t key)
{
	return gnutls_pubkey_get_pk_algorithm(key, NULL) == GNUTLS_PK_RSA
		       ? GNUTLS_KEY_DIGITAL_SIGNATURE | GNUTLS_KEY_KEY_ENCIPHERMENT
		       : GNUTLS_KEY_DIGITAL_SIGNATURE;
}

/* What leaf certificates have in common; m->public is the certified key. */
static int
issue(struct making *m, const struct leaf *leaf, char **ret_cert_pem)
{
	time_t not_after = gnutls_x509_crt_get_expiration_time(m->ca_cert);
	int rc = cert_begin(&m->cert, leaf->days, not_after);

	if (rc == 0)
		rc = set_name(m->cert, leaf->common_name);
	if (rc == 0)
		rc = gnutls_x509_crt_set_pubkey(m->cert, m->public);
	if (rc == 0)
		rc = gnutls_x509_crt_set_basic_constraints(m->cert, 0, -1);
	if (rc == 0)
		rc = gnutls_x509_crt_set_key_usage(m->cert, usage_of(m->public));
	if (rc == 0)
		rc = gnutls_x509_crt_set_key_purpose_oid(m->cert, leaf->purpose, 0);
	if (rc == 0 && leaf->add_names)
		rc = leaf->add_names(m->cert, leaf->names);
	if (rc == 0)
		rc = cert_finish(m->cert, m->ca_cert, m->ca_key, ret_cert_pem);
	return rc;
}

/* "DNS:x" or "IP:a" into type and bytes (at most NAME_MAX_SIZE * 4); -1 = neither. */
static int
parse_alt_name(const char *name, gnutls_x509_subject_alt_name_t *ret_type,
	       void *ret_data, unsigned int *ret_size)
{
	size_t size = strlen(name);

	if (strncmp(name, "DNS:", 4) == 0 && size > 4 && size <= 4 + 253) {
		*ret_type = GNUTLS_SAN_DNSNAME;
		*ret_size = (unsigned int)(size - 4);
		memcpy(ret_data, name + 4, size - 4);
		return 0;
	}
	if (strncmp(name, "IP:", 3) != 0)
		return -1;
	*ret_type = GNUTLS_SAN_IPADDRESS;
	*ret_size = strchr(name + 3, ':') ? 16 : 4;
	return inet_pton(*ret_size == 4 ? AF_INET : AF_INET6, name + 3, ret_data) == 1
		       ? 0
		       : -1;
}

static int
add_alt_names(gnutls_x509_crt_t cert, const char *const *names)
{
	for (; *names; names++) {
		gnutls_x509_subject_alt_name_t type;
		unsigned char data[256];
		unsigned int size;
		int rc = GNUTLS_E_INVALID_REQUEST;

		if (parse_alt_name(*names, &type, data, &size) == 0)
			rc = gnutls_x509_crt_set_subject_alt_name(
				cert, type, data, size, GNUTLS_FSAN_APPEND);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int
bu_ca_issue_server(const struct bu_ca *ca, const char *key_pem,
		   const char *const *names, char **ret_cert_pem, struct bu_err *err)
{
	AUTO_MAKING struct making m = {0};
	gnutls_x509_subject_alt_name_t type;
	unsigned char data[256];
	unsigned int size;
	int rc;

	if (!names[0])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "a server certificate needs a name");
	for (const char *const *name = names; *name; name++)
		if (parse_alt_name(*name, &type, data, &size))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "certificate name '%s': 'DNS:<name>' or "
					  "'IP:<address>' is needed",
					  *name);
	if (load_ca(&m, ca, err) || load_key(key_pem, &m.key, err))
		return -1;
	rc = gnutls_pubkey_init(&m.public);
	if (rc == 0)
		rc = gnutls_pubkey_import_privkey(m.public, m.key, 0, 0);
	if (rc == 0)
		rc = issue(&m,
			   &(struct leaf){"bringupd", GNUTLS_KP_TLS_WWW_SERVER, CA_DAYS,
					  names, add_alt_names},
			   ret_cert_pem);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_IO, rc, "make a server certificate");
	return 0;
}

int
bu_csr_create(const char *key_pem, const char *common_name, char **ret_csr_pem,
	      struct bu_err *err)
{
	AUTO_MAKING struct making m = {0};
	gnutls_datum_t pem = {NULL, 0};
	int rc;

	if (bu_gnutls_check_name(common_name, err) || load_key(key_pem, &m.key, err))
		return -1;
	rc = gnutls_pubkey_init(&m.public);
	if (rc == 0)
		rc = gnutls_pubkey_import_privkey(m.public, m.key, 0, 0);
	if (rc == 0)
		rc = gnutls_x509_crq_init(&m.request);
	if (rc == 0)
		rc = gnutls_x509_crq_set_version(m.request, 1);
	if (rc == 0)
		rc = gnutls_x509_crq_set_dn_by_oid(
			m.request, GNUTLS_OID_X520_COMMON_NAME, 0, common_name,
			(unsigned int)strlen(common_name));
	if (rc == 0)
		rc = gnutls_x509_crq_set_pubkey(m.request, m.public);
	if (rc == 0)
		rc = gnutls_x509_crq_privkey_sign(m.request, m.key, GNUTLS_DIG_SHA256,
						  0);
	if (rc == 0)
		rc = gnutls_x509_crq_export2(m.request, GNUTLS_X509_FMT_PEM, &pem);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_IO, rc, "make a certificate request");
	*ret_csr_pem = bu_gnutls_take(&pem);
	return 0;
}

/* The request's public key, when its sender holds the private half and it is strong. */
static int
load_request(struct making *m, const char *csr_pem, struct bu_err *err)
{
	gnutls_datum_t pem;
	unsigned int bits = 0;
	int rc;

	if (bu_gnutls_pem(csr_pem, "the certificate request", &pem, err))
		return -1;
	rc = gnutls_x509_crq_init(&m->request);
	if (rc == 0)
		rc = gnutls_x509_crq_import(m->request, &pem, GNUTLS_X509_FMT_PEM);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_INVAL, rc,
				      "read a certificate request: PEM is needed");
	rc = gnutls_x509_crq_verify(m->request, 0);
	if (rc < 0)
		return bu_gnutls_fail(
			err, BU_ERR_VERIFY, rc,
			"the certificate request is not signed by its key");
	rc = gnutls_pubkey_init(&m->public);
	if (rc == 0)
		rc = gnutls_pubkey_import_x509_crq(m->public, m->request, 0);
	if (rc == 0)
		rc = gnutls_pubkey_get_pk_algorithm(m->public, &bits);
	if (rc < 0)
		return bu_gnutls_fail(err, BU_ERR_INVAL, rc,
				      "read the key of a certificate request");
	if (gnutls_pk_bits_to_sec_param((gnutls_pk_algorithm_t)rc, bits) <
	    GNUTLS_SEC_PARAM_MEDIUM)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the key of the certificate request is weak (%s, %u "
				  "bits); ECDSA P-256 is expected",
				  gnutls_pk_get_name((gnutls_pk_algorithm_t)rc), bits);
	return 0;
}

int
bu_ca_issue_client(const struct bu_ca *ca, const char *csr_pem, const char *common_name,
		   int days, char **ret_cert_pem, struct bu_err *err)
{
	AUTO_MAKING struct making m = {0};
	int rc;

	if (days < 1 || days > CA_DAYS)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"a client certificate of %d days; 1 to %d are allowed", days,
			CA_DAYS);
	if (bu_gnutls_check_name(common_name, err) || load_ca(&m, ca, err) ||
	    load_request(&m, csr_pem, err))
		return -1;
	rc = issue(
		&m,
		&(struct leaf){common_name, GNUTLS_KP_TLS_WWW_CLIENT, days, NULL, NULL},
		ret_cert_pem);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_IO, rc, "make a client certificate");
	return 0;
}

int
bu_cert_fingerprint(const char *cert_pem, char ret_hex[BU_DIGEST_SIZE],
		    struct bu_err *err)
{
	AUTO_MAKING struct making m = {0};
	gnutls_datum_t der = {NULL, 0};
	int rc;

	if (load_cert(cert_pem, &m.cert, err))
		return -1;
	rc = gnutls_x509_crt_export2(m.cert, GNUTLS_X509_FMT_DER, &der);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_INVAL, rc,
				      "fingerprint a certificate");
	bu_sha256_hex(der.data, der.size, ret_hex);
	gnutls_free(der.data);
	return 0;
}

int
bu_cert_times(const char *cert_pem, int64_t *ret_from_s, int64_t *ret_until_s,
	      struct bu_err *err)
{
	AUTO_MAKING struct making m = {0};

	if (load_cert(cert_pem, &m.cert, err))
		return -1;
	*ret_from_s = gnutls_x509_crt_get_activation_time(m.cert);
	*ret_until_s = gnutls_x509_crt_get_expiration_time(m.cert);
	return 0;
}
