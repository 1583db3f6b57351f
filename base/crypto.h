/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cryptography, the only user of GnuTLS: SHA-256, random bytes, Ed25519 signatures,
 * and the few X.509 operations that a small CA needs (ECDSA P-256).
 * Digests are lower-case hex of 64 characters; signatures and keys are PEM or hex.
 */
#ifndef BU_BASE_CRYPTO_H
#define BU_BASE_CRYPTO_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum {
	BU_SHA256_SIZE = 32,
	BU_DIGEST_SIZE = 65 /* hex and NUL */,
	BU_SIG_HEX_SIZE = 129
};

void bu_sha256(const void *data, size_t size, uint8_t ret_hash[BU_SHA256_SIZE]);
void bu_sha256_hex(const void *data, size_t size, char ret_hex[BU_DIGEST_SIZE]);
/* Incremental. final frees the state. */
struct bu_sha256_state;
struct bu_sha256_state *bu_sha256_begin(void);
void bu_sha256_add(struct bu_sha256_state *state, const void *data, size_t size);
void bu_sha256_final(struct bu_sha256_state *state, char ret_hex[BU_DIGEST_SIZE]);
bu_must int bu_sha256_file(const char *path, char ret_hex[BU_DIGEST_SIZE],
			   struct bu_err *err);

/* HMAC-SHA-256, for the pair set-up of probes. */
void bu_hmac_hex(const void *key, size_t key_size, const void *data, size_t size,
		 char ret_hex[BU_DIGEST_SIZE]);
/* Constant time; 1 when equal. */
int bu_equal_secret(const char *a, const char *b);
void bu_random(void *buf, size_t size);
/* hex of `bytes` random bytes; ret_hex holds 2 * bytes + 1. */
void bu_random_hex(char *ret_hex, size_t bytes);
void bu_hex_encode(const void *data, size_t size, char *ret_hex);
/* -1 unless text is exactly 2 * size hex digits. */
int bu_hex_decode(const char *text, void *ret_data, size_t size);

/* Of RFC 4648, with padding; owned. */
char *bu_base64_encode(const void *data, size_t size);
/* -1 unless text is what bu_base64_encode() makes of at most max bytes. */
int bu_base64_decode(const char *text, void *ret_data, size_t max, size_t *ret_size);
/* Of the alphabet for URLs, without padding (RFC 7515). -1 unless these `length` bytes
 * are the one text of at most max bytes, and of one or more. */
int bu_base64url_decode(const char *text, size_t length, void *ret_data, size_t max,
			size_t *ret_size);

/* Ed25519. PEM strings are owned by the caller. */
bu_must int bu_sign_key_create(char **ret_private_pem, char **ret_public_pem,
			       struct bu_err *err);
/* The public half of a private key; NULL when it is none. */
char *bu_sign_key_public(const char *private_pem, struct bu_err *err);
bu_must int bu_sign(const char *private_pem, const void *data, size_t size,
		    char ret_sig_hex[BU_SIG_HEX_SIZE], struct bu_err *err);
/* BU_ERR_VERIFY when the signature is not of this key over this data. */
bu_must int bu_verify(const char *public_pem, const void *data, size_t size,
		      const char *sig_hex, struct bu_err *err);

/* X.509. names: NULL-terminated list of "DNS:x" and "IP:a.b.c.d". A CA lives 10 years,
 * a server certificate as long as its CA; all begin a day in the past. */
bu_must int bu_tls_key_create(char **ret_key_pem, struct bu_err *err);
/* For firmware, which may know no curves; takes a second. */
bu_must int bu_rsa_key_create(char **ret_key_pem, struct bu_err *err);
bu_must int bu_ca_create(const char *common_name, const char *key_pem,
			 char **ret_cert_pem, struct bu_err *err);
struct bu_ca {
	const char *cert_pem, *key_pem;
};
bu_must int bu_ca_issue_server(const struct bu_ca *ca, const char *key_pem,
			       const char *const *names, char **ret_cert_pem,
			       struct bu_err *err);
/* Agent's side: a request for the key, the name is ignored by the CA. */
bu_must int bu_csr_create(const char *key_pem, const char *common_name,
			  char **ret_csr_pem, struct bu_err *err);
/* Whom a request names. */
enum { BU_CSR_NAMES_MAX = 8, BU_CSR_NAME_SIZE = 256 };
struct bu_csr {
	char common_name[BU_CSR_NAME_SIZE], organization[BU_CSR_NAME_SIZE];
	/* 1: its subject has anything besides one of each, or an alternative name is
	 * neither "DNS:x" nor "IP:a.b.c.d", or there are too many. */
	int other;
	char key[BU_DIGEST_SIZE]; /* SHA-256 of its public key; the request is not it */
	int weak;                 /* 1: its key is weaker than RSA with 2048 bits */
	char names[BU_CSR_NAMES_MAX][BU_CSR_NAME_SIZE];
	size_t names_count;
};
/* BU_ERR_INVAL: it is none, or not signed by the key that is in it. */
bu_must int bu_csr_read(const char *csr_pem, struct bu_csr *ret, struct bu_err *err);
/* Signs a client certificate for the request's key with this common name. */
bu_must int bu_ca_issue_client(const struct bu_ca *ca, const char *csr_pem,
			       const char *common_name, int days, char **ret_cert_pem,
			       struct bu_err *err);
/* All certificates of the PEM text, written anew without what stands between them;
 * owned. BU_ERR_INVAL when there is none, or anything else in PEM, such as a key. */
char *bu_certs_only(const char *pem, struct bu_err *err);
/* SHA-256 of the certificate's DER. */
bu_must int bu_cert_fingerprint(const char *cert_pem, char ret_hex[BU_DIGEST_SIZE],
				struct bu_err *err);
/* When a certificate begins and ends to be valid, Unix time in s. */
bu_must int bu_cert_times(const char *cert_pem, int64_t *ret_from_s,
			  int64_t *ret_until_s, struct bu_err *err);
/* Who a verified TLS client is; session is the server's gnutls_session_t.
 * BU_ERR_DENIED when the peer showed no certificate of the CA that the session trusts,
 * or one that is not valid at this time. */
enum { BU_TLS_NAME_SIZE = 65 /* bytes of a common name with NUL */ };
struct bu_tls_peer {
	char name[BU_TLS_NAME_SIZE];      /* the common name */
	char fingerprint[BU_DIGEST_SIZE]; /* as of bu_cert_fingerprint() */
	int64_t from_s, until_s;          /* what it showed is valid; Unix time */
};
bu_must int bu_tls_peer(void *session, struct bu_tls_peer *ret, struct bu_err *err);
/* 1 = a verified peer whose certificate is valid at this time. Verifying costs two
 * signatures and holds for the whole connection: only time can end it. */
int bu_tls_peer_holds(const struct bu_tls_peer *peer, int64_t now_s);
/* The fingerprint of the certificate that the peer showed, whoever it is; "" when it
 * showed none. session is a gnutls_session_t. */
void bu_tls_shown(void *session, char ret_hex[BU_DIGEST_SIZE]);

#endif
