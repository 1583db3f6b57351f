/* SPDX-License-Identifier: Apache-2.0 */
/* Known answers, and every refusal of the signatures and of the CA. */
#include "base/crypto.h"

#include <gnutls/x509.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

START_TEST(hashes_known_texts)
{
	char hex[BU_DIGEST_SIZE];
	struct bu_sha256_state *state;

	bu_sha256_hex("abc", 3, hex);
	ck_assert_str_eq(hex, ABC);
	bu_sha256_hex(NULL, 0, hex);
	ck_assert_str_eq(hex, NOTHING);
	state = bu_sha256_begin();
	bu_sha256_add(state, "a", 1);
	bu_sha256_add(state, NULL, 0);
	bu_sha256_add(state, "bc", 2);
	bu_sha256_final(state, hex);
	ck_assert_str_eq(hex, ABC);
}
END_TEST

START_TEST(hashes_a_file)
{
	char path[] = "/tmp/bringup-crypto-XXXXXX";
	char hex[BU_DIGEST_SIZE] = "untouched";
	struct bu_err err = {0};

	close(mkstemp(path));
	ck_assert_int_eq(bu_file_write(path, "abc", 3, 0600, &err), 0);
	ck_assert_int_eq(bu_sha256_file(path, hex, &err), 0);
	ck_assert_str_eq(hex, ABC);
	unlink(path);
	strcpy(hex, "untouched");
	ck_assert_int_eq(bu_sha256_file(path, hex, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(bu_sha256_file("/tmp", hex, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_str_eq(hex, "untouched");
}
END_TEST

/* RFC 4231, test case 2. */
START_TEST(authenticates_a_known_text)
{
	char hex[BU_DIGEST_SIZE];

	bu_hmac_hex("Jefe", 4, "what do ya want for nothing?", 28, hex);
	ck_assert_str_eq(
		hex,
		"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}
END_TEST

START_TEST(compares_secrets)
{
	ck_assert_int_eq(bu_equal_secret("open", "open"), 1);
	ck_assert_int_eq(bu_equal_secret("", ""), 1);
	ck_assert_int_eq(bu_equal_secret("open", "opem"), 0);
	ck_assert_int_eq(bu_equal_secret("open", "opens"), 0);
	ck_assert_int_eq(bu_equal_secret("", "x"), 0);
}
END_TEST

START_TEST(reads_and_writes_hex)
{
	uint8_t bytes[3] = {9, 9, 9};
	char a[33];
	char b[33];

	ck_assert_int_eq(bu_hex_decode("00fFa1", bytes, 3), 0);
	bu_hex_encode(bytes, 3, a);
	ck_assert_str_eq(a, "00ffa1");
	ck_assert_int_eq(bu_hex_decode("1234", bytes, 3), -1);
	ck_assert_int_eq(bu_hex_decode("12345678", bytes, 3), -1);
	ck_assert_int_eq(bu_hex_decode("12345g", bytes, 3), -1);
	ck_assert_int_eq(bytes[0], 0); /* nothing changed on failure */
	bu_random_hex(a, 16);
	bu_random_hex(b, 16);
	ck_assert_uint_eq(strlen(a), 32);
	ck_assert_str_ne(a, b);
}
END_TEST

START_TEST(signs_and_verifies)
{
	char *private;
	char *public;
	char *other_private;
	char *other_public;
	char *derived;
	char sig[BU_SIG_HEX_SIZE];
	char bad[BU_SIG_HEX_SIZE];
	struct bu_err err = {0};

	ck_assert_int_eq(bu_sign_key_create(&private, &public, &err), 0);
	ck_assert_int_eq(bu_sign_key_create(&other_private, &other_public, &err), 0);
	ck_assert_int_eq(bu_sign(private, "stamp", 5, sig, &err), 0);
	ck_assert_uint_eq(strlen(sig), BU_SIG_HEX_SIZE - 1);
	ck_assert_int_eq(bu_verify(public, "stamp", 5, sig, &err), 0);
	ck_assert_int_eq(bu_verify(public, "stamq", 5, sig, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_verify(other_public, "stamp", 5, sig, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	strcpy(bad, sig);
	bad[10] = bad[10] == '0' ? '1' : '0';
	ck_assert_int_eq(bu_verify(public, "stamp", 5, bad, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_verify(public, "stamp", 5, "00", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_verify("rubbish", "stamp", 5, sig, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_sign(public, "stamp", 5, bad, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	derived = bu_sign_key_public(private, &err);
	ck_assert_pstr_eq(derived, public);
	free(derived);
	ck_assert_ptr_null(bu_sign_key_public(public, &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	/* An empty text is a text. */
	ck_assert_int_eq(bu_sign(private, NULL, 0, sig, &err), 0);
	ck_assert_int_eq(bu_verify(public, NULL, 0, sig, &err), 0);
	free(private);
	free(public);
	free(other_private);
	free(other_public);
}
END_TEST

/* RFC 8032, 7.1, test 2, in the PEM that OpenSSL and GnuTLS write. */
START_TEST(verifies_a_known_signature)
{
	static const char public[] =
		"-----BEGIN PUBLIC KEY-----\n"
		"MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
		"-----END PUBLIC KEY-----\n";
	struct bu_err err = {0};

	ck_assert_int_eq(bu_verify(public, "\x72", 1,
				   "92a009a9f0d4cab8720e820b5f642540"
				   "a2b27b5416503f8fb3762223ebdb69da"
				   "085ac1e43e15996e458f3613d0f11d8c"
				   "387b2eaeb4302aeeb00d291612bb0c00",
				   &err),
			 0);
}
END_TEST

/* A signature must be by an Ed25519 key, not merely by some key. */
START_TEST(refuses_to_sign_with_a_tls_key)
{
	char sig[BU_SIG_HEX_SIZE];
	char *key;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_tls_key_create(&key, &err), 0);
	ck_assert_int_eq(bu_sign(key, "stamp", 5, sig, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	free(key);
}
END_TEST

static char *ca_key;
static char *ca_cert;

static void
make_ca(void)
{
	struct bu_err err = {0};

	ck_assert_int_eq(bu_tls_key_create(&ca_key, &err), 0);
	ck_assert_msg(bu_ca_create("falcon", ca_key, &ca_cert, &err) == 0, "%s",
		      err.text);
}

static void
drop_ca(void)
{
	free(ca_key);
	free(ca_cert);
}

static gnutls_x509_crt_t
open_cert(const char *pem)
{
	gnutls_datum_t text = {(unsigned char *)pem, (unsigned int)strlen(pem)};
	gnutls_x509_crt_t cert;

	ck_assert_int_eq(gnutls_x509_crt_init(&cert), 0);
	ck_assert_int_eq(gnutls_x509_crt_import(cert, &text, GNUTLS_X509_FMT_PEM), 0);
	return cert;
}

/* Status of the chain leaf <- CA; 0 = good. */
static unsigned int
verify_by(gnutls_x509_crt_t leaf, const char *ca_pem)
{
	gnutls_x509_crt_t ca = open_cert(ca_pem);
	unsigned int status = 0;

	ck_assert_int_eq(gnutls_x509_crt_verify(leaf, &ca, 1, 0, &status), 0);
	gnutls_x509_crt_deinit(ca);
	return status;
}

static void
check_dates(gnutls_x509_crt_t cert, int days)
{
	time_t now = time(NULL);
	time_t begin = gnutls_x509_crt_get_activation_time(cert);
	time_t end = gnutls_x509_crt_get_expiration_time(cert);

	ck_assert(begin <= now - 86400 + 60 && begin >= now - 86400 - 60);
	ck_assert(end <= now + days * 86400L && end >= now + days * 86400L - 60);
}

START_TEST(makes_a_ca)
{
	unsigned char serial[32];
	size_t size = sizeof(serial);
	gnutls_x509_crt_t cert;
	struct bu_err err = {0};
	char *again;

	make_ca();
	cert = open_cert(ca_cert);
	ck_assert_uint_eq(verify_by(cert, ca_cert), 0);
	ck_assert_int_eq(gnutls_x509_crt_get_ca_status(cert, NULL), 1);
	check_dates(cert, 3653);
	ck_assert_int_eq(gnutls_x509_crt_get_serial(cert, serial, &size), 0);
	ck_assert_uint_eq(size, 16);
	gnutls_x509_crt_deinit(cert);
	ck_assert_int_eq(bu_ca_create("", ca_key, &again, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_ca_create("falcon\n", ca_key, &again, &err), -1);
	ck_assert_int_eq(bu_ca_create("falcon", "no key", &again, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	drop_ca();
}
END_TEST

START_TEST(issues_a_server_certificate)
{
	static const char *const names[] = {"DNS:boot.falcon", "IP:10.77.0.1",
					    "IP:fd00::1", NULL};
	static const char *const bad[] = {"10.77.0.1", NULL};
	static const char *const worse[] = {"IP:10.77.0.256", NULL};
	static const char *const none[] = {NULL};
	gnutls_x509_crt_t cert;
	char *key;
	char *pem;
	struct bu_err err = {0};
	char oid[64];
	size_t size = sizeof(oid);

	make_ca();
	ck_assert_int_eq(bu_tls_key_create(&key, &err), 0);
	ck_assert_msg(bu_ca_issue_server(&(struct bu_ca){ca_cert, ca_key}, key, names,
					 &pem, &err) == 0,
		      "%s", err.text);
	cert = open_cert(pem);
	ck_assert_uint_eq(verify_by(cert, ca_cert), 0);
	ck_assert_int_ne(gnutls_x509_crt_check_hostname(cert, "boot.falcon"), 0);
	ck_assert_int_ne(gnutls_x509_crt_check_hostname(cert, "10.77.0.1"), 0);
	ck_assert_int_ne(gnutls_x509_crt_check_hostname(cert, "fd00::1"), 0);
	ck_assert_int_eq(gnutls_x509_crt_check_hostname(cert, "10.77.0.2"), 0);
	ck_assert_int_eq(gnutls_x509_crt_get_ca_status(cert, NULL), 0);
	ck_assert_int_eq(gnutls_x509_crt_get_key_purpose_oid(cert, 0, oid, &size, NULL),
			 0);
	ck_assert_str_eq(oid, GNUTLS_KP_TLS_WWW_SERVER);
	gnutls_x509_crt_deinit(cert);
	free(pem);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca_cert, ca_key}, key, bad,
					    &pem, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert(strstr(err.text, "10.77.0.1"));
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca_cert, ca_key}, key,
					    worse, &pem, &err),
			 -1);
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca_cert, ca_key}, key, none,
					    &pem, &err),
			 -1);
	/* The CA's certificate with the key of somebody else. */
	ck_assert_int_eq(bu_ca_issue_server(&(struct bu_ca){ca_cert, key}, key, names,
					    &pem, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	free(key);
	drop_ca();
}
END_TEST

START_TEST(issues_a_client_certificate)
{
	gnutls_x509_crt_t cert;
	char name[64];
	size_t size = sizeof(name);
	char a[BU_DIGEST_SIZE];
	char b[BU_DIGEST_SIZE];
	char *key;
	char *csr;
	char *pem;
	int64_t from_s, until_s;
	struct bu_err err = {0};

	make_ca();
	ck_assert_int_eq(bu_tls_key_create(&key, &err), 0);
	ck_assert_int_eq(bu_csr_create(key, "bringupd", &csr, &err), 0);
	ck_assert_msg(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, csr,
					 "node001", 30, &pem, &err) == 0,
		      "%s", err.text);
	cert = open_cert(pem);
	ck_assert_uint_eq(verify_by(cert, ca_cert), 0);
	check_dates(cert, 30);
	ck_assert_int_eq(bu_cert_times(pem, &from_s, &until_s, &err), 0);
	ck_assert_int_eq(from_s, gnutls_x509_crt_get_activation_time(cert));
	ck_assert_int_eq(until_s, gnutls_x509_crt_get_expiration_time(cert));
	/* The CA says what the name is, not the request. */
	ck_assert_int_eq(gnutls_x509_crt_get_dn_by_oid(
				 cert, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size),
			 0);
	ck_assert_str_eq(name, "node001");
	size = sizeof(name);
	ck_assert_int_eq(
		gnutls_x509_crt_get_key_purpose_oid(cert, 0, name, &size, NULL), 0);
	ck_assert_str_eq(name, GNUTLS_KP_TLS_WWW_CLIENT);
	gnutls_x509_crt_deinit(cert);
	ck_assert_int_eq(bu_cert_fingerprint(pem, a, &err), 0);
	ck_assert_int_eq(bu_cert_fingerprint(ca_cert, b, &err), 0);
	ck_assert_str_ne(a, b);
	ck_assert_int_eq(bu_cert_fingerprint("no certificate", a, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_cert_times("no certificate", &from_s, &until_s, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	free(pem);
	free(csr);
	free(key);
	drop_ca();
}
END_TEST

/* A request that its key has signed, of RSA with so many bits; owned. */
static char *
rsa_request(unsigned int bits)
{
	gnutls_x509_privkey_t key;
	gnutls_x509_crq_t request;
	gnutls_datum_t pem;
	char *text;

	ck_assert_int_eq(gnutls_x509_privkey_init(&key), 0);
	ck_assert_int_eq(gnutls_x509_privkey_generate(key, GNUTLS_PK_RSA, bits, 0), 0);
	ck_assert_int_eq(gnutls_x509_crq_init(&request), 0);
	ck_assert_int_eq(gnutls_x509_crq_set_key(request, key), 0);
	ck_assert_int_eq(gnutls_x509_crq_sign2(request, key, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_crq_export2(request, GNUTLS_X509_FMT_PEM, &pem),
			 0);
	text = bu_xstrdup((const char *)pem.data);
	gnutls_free(pem.data);
	gnutls_x509_crq_deinit(request);
	gnutls_x509_privkey_deinit(key);
	return text;
}

START_TEST(refuses_weak_keys)
{
	bu_autofree char *weak = rsa_request(1024), *good = rsa_request(2048);
	bu_autofree char *pem = NULL;
	struct bu_err err = {0};

	make_ca();
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, weak, "n",
					    30, &pem, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "is weak (RSA, 1024 bits)"));
	ck_assert_ptr_null(pem);
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, good, "n",
					    30, &pem, &err),
			 0);
	drop_ca();
}
END_TEST

/* Replaces the base64 character at `at` characters after the header line. */
static void
damage(char *pem, size_t at)
{
	char *c = strchr(pem, '\n') + 1 + at;

	*c = *c == 'A' ? 'B' : 'A';
}

START_TEST(refuses_bad_requests)
{
	char *key;
	char *csr;
	char *pem = NULL;
	char *huge;
	struct bu_err err = {0};

	make_ca();
	ck_assert_int_eq(bu_tls_key_create(&key, &err), 0);
	ck_assert_int_eq(bu_csr_create(key, "x", &csr, &err), 0);
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, csr,
					    "node001", 0, &pem, &err),
			 -1);
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, csr, "",
					    30, &pem, &err),
			 -1);
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, ca_cert,
					    "n", 30, &pem, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	/* The key in the request is not the one that signed it. */
	damage(csr, 120);
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, csr, "n",
					    30, &pem, &err),
			 -1);
	huge = bu_xmalloc(1024 * 1024);
	memset(huge, 'A', 1024 * 1024 - 1);
	huge[1024 * 1024 - 1] = '\0';
	ck_assert_int_eq(bu_ca_issue_client(&(struct bu_ca){ca_cert, ca_key}, huge, "n",
					    30, &pem, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_null(pem);
	free(huge);
	free(csr);
	free(key);
	drop_ca();
}
END_TEST

BU_UNIT("crypto", hashes_known_texts, hashes_a_file, authenticates_a_known_text,
	compares_secrets, reads_and_writes_hex, signs_and_verifies,
	verifies_a_known_signature, refuses_to_sign_with_a_tls_key, makes_a_ca,
	issues_a_server_certificate, issues_a_client_certificate, refuses_bad_requests,
	refuses_weak_keys)
