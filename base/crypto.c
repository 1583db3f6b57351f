/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes, HMAC, random bytes, hex and Ed25519 signatures. Called by all code
 * that names, signs or checks something; certificates are in x509.c.
 *
 * A hash or a random number never fails here: GnuTLS can only refuse one because of a
 * broken installation, and then nothing that this program promises holds.
 */
#include "base/crypto.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/gnutls.h"

enum { ED25519_SIG_SIZE = 64, FILE_CHUNK = 256 * 1024 };

struct bu_sha256_state {
	gnutls_hash_hd_t hash;
};

int
bu_gnutls_fail(struct bu_err *err, enum bu_err_kind kind, int rc, const char *what)
{
	return bu_err_set(err, kind, 0, "%s: %s", what, gnutls_strerror(rc));
}

char *
bu_gnutls_take(gnutls_datum_t *pem)
{
	char *text = bu_xstrndup((const char *)pem->data, pem->size);

	gnutls_memset(pem->data, 0, pem->size);
	gnutls_free(pem->data);
	pem->data = NULL;
	return text;
}

int
bu_gnutls_pem(const char *pem, const char *what, gnutls_datum_t *ret,
	      struct bu_err *err)
{
	size_t size = strnlen(pem, BU_PEM_MAX + 1);

	if (size > BU_PEM_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0, "%s is longer than %d bytes",
				  what, BU_PEM_MAX);
	ret->data = (unsigned char *)pem;
	ret->size = (unsigned int)size;
	return 0;
}

void
bu_sha256(const void *data, size_t size, uint8_t ret_hash[BU_SHA256_SIZE])
{
	int rc = gnutls_hash_fast(GNUTLS_DIG_SHA256, size ? data : "", size, ret_hash);

	bu_assert(rc == 0);
}

void
bu_sha256_hex(const void *data, size_t size, char ret_hex[BU_DIGEST_SIZE])
{
	uint8_t hash[BU_SHA256_SIZE];

	bu_sha256(data, size, hash);
	bu_hex_encode(hash, sizeof(hash), ret_hex);
}

struct bu_sha256_state *
bu_sha256_begin(void)
{
	struct bu_sha256_state *state = bu_xcalloc(1, sizeof(*state));
	int rc = gnutls_hash_init(&state->hash, GNUTLS_DIG_SHA256);

	bu_assert(rc == 0);
	return state;
}

void
bu_sha256_add(struct bu_sha256_state *state, const void *data, size_t size)
{
	int rc = size ? gnutls_hash(state->hash, data, size) : 0;

	bu_assert(rc == 0);
}

void
bu_sha256_final(struct bu_sha256_state *state, char ret_hex[BU_DIGEST_SIZE])
{
	uint8_t hash[BU_SHA256_SIZE];

	gnutls_hash_deinit(state->hash, hash);
	free(state);
	bu_hex_encode(hash, sizeof(hash), ret_hex);
}

int
bu_sha256_file(const char *path, char ret_hex[BU_DIGEST_SIZE], struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	bu_autofree char *chunk = NULL;
	char hex[BU_DIGEST_SIZE];
	struct bu_sha256_state *state;
	ssize_t got;

	if (fd < 0)
		return bu_err_set(err, errno == ENOENT ? BU_ERR_NOTFOUND : BU_ERR_IO,
				  errno, "open '%s'", path);
	chunk = bu_xmalloc(FILE_CHUNK);
	state = bu_sha256_begin();
	do {
		got = read(fd, chunk, FILE_CHUNK);
		if (got > 0)
			bu_sha256_add(state, chunk, (size_t)got);
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		bu_err_set(err, BU_ERR_IO, errno, "read '%s'", path);
	bu_sha256_final(state, hex);
	if (got < 0)
		return -1;
	memcpy(ret_hex, hex, sizeof(hex));
	return 0;
}

void
bu_hmac_hex(const void *key, size_t key_size, const void *data, size_t size,
	    char ret_hex[BU_DIGEST_SIZE])
{
	uint8_t mac[BU_SHA256_SIZE];
	int rc = gnutls_hmac_fast(GNUTLS_MAC_SHA256, key_size ? key : "", key_size,
				  size ? data : "", size, mac);

	bu_assert(rc == 0);
	bu_hex_encode(mac, sizeof(mac), ret_hex);
}

/* Hashed first, so that neither content nor length shows in the time that it takes. */
int
bu_equal_secret(const char *a, const char *b)
{
	uint8_t hash_a[BU_SHA256_SIZE];
	uint8_t hash_b[BU_SHA256_SIZE];

	bu_sha256(a, strlen(a), hash_a);
	bu_sha256(b, strlen(b), hash_b);
	return gnutls_memcmp(hash_a, hash_b, sizeof(hash_a)) == 0;
}

void
bu_random(void *buf, size_t size)
{
	int rc = size ? gnutls_rnd(GNUTLS_RND_KEY, buf, size) : 0;

	bu_assert(rc == 0);
}

void
bu_random_hex(char *ret_hex, size_t bytes)
{
	bu_autofree uint8_t *buf = bu_xmalloc(bytes + 1);

	bu_random(buf, bytes);
	bu_hex_encode(buf, bytes, ret_hex);
	gnutls_memset(buf, 0, bytes);
}

void
bu_hex_encode(const void *data, size_t size, char *ret_hex)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++) {
		ret_hex[2 * i] = digits[bytes[i] >> 4];
		ret_hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret_hex[2 * size] = '\0';
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int
bu_hex_decode(const char *text, void *ret_data, size_t size)
{
	uint8_t *bytes = ret_data;

	if (strlen(text) != 2 * size)
		return -1;
	for (size_t i = 0; i < 2 * size; i++)
		if (hex_digit(text[i]) < 0)
			return -1;
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 |
				     hex_digit(text[2 * i + 1]));
	return 0;
}

char *
bu_base64_encode(const void *data, size_t size)
{
	const gnutls_datum_t in = {(unsigned char *)(uintptr_t)data,
				   (unsigned int)size};
	gnutls_datum_t out = {0};

	bu_assert(size <= INT_MAX && gnutls_base64_encode2(&in, &out) == 0);
	return bu_gnutls_take(&out);
}

/* GnuTLS reads past blanks and missing ends; one value has one text here. */
int
bu_base64_decode(const char *text, void *ret_data, size_t max, size_t *ret_size)
{
	const gnutls_datum_t in = {(unsigned char *)(uintptr_t)text,
				   (unsigned int)strnlen(text, INT_MAX)};
	gnutls_datum_t out = {0};
	bu_autofree char *again = NULL;
	int rc = -1;

	if (!*text || gnutls_base64_decode2(&in, &out) != 0)
		return -1;
	again = bu_base64_encode(out.data, out.size);
	if (out.size <= max && strcmp(again, text) == 0) {
		memcpy(ret_data, out.data, out.size);
		*ret_size = out.size;
		rc = 0;
	}
	gnutls_memset(again, 0, strlen(again));
	gnutls_memset(out.data, 0, out.size);
	gnutls_free(out.data);
	return rc;
}

int
bu_base64url_decode(const char *text, size_t length, void *ret_data, size_t max,
		    size_t *ret_size)
{
	bu_autofree char *plain = bu_xmalloc(length + 4);
	int rc = -1, foreign = 0;

	for (size_t i = 0; i < length; i++) {
		foreign |= text[i] == '+' || text[i] == '/' || text[i] == '=';
		plain[i] = text[i] == '-' ? '+' : text[i] == '_' ? '/' : text[i];
	}
	memcpy(plain + length, "===", 4);
	plain[(length + 3) / 4 * 4] = '\0';
	if (!foreign)
		rc = bu_base64_decode(plain, ret_data, max, ret_size);
	gnutls_memset(plain, 0, length);
	return rc;
}

static int
key_to_pem(gnutls_privkey_t key, gnutls_datum_t *ret_private,
	   gnutls_datum_t *ret_public)
{
	gnutls_x509_privkey_t plain = NULL;
	gnutls_pubkey_t public = NULL;
	int rc = gnutls_privkey_export_x509(key, &plain);

	if (rc == 0)
		rc = gnutls_x509_privkey_export2_pkcs8(plain, GNUTLS_X509_FMT_PEM, NULL,
						       GNUTLS_PKCS_PLAIN, ret_private);
	if (rc == 0)
		rc = gnutls_pubkey_init(&public);
	if (rc == 0)
		rc = gnutls_pubkey_import_privkey(public, key, 0, 0);
	if (rc == 0)
		rc = gnutls_pubkey_export2(public, GNUTLS_X509_FMT_PEM, ret_public);
	if (plain)
		gnutls_x509_privkey_deinit(plain);
	if (public)
		gnutls_pubkey_deinit(public);
	return rc;
}

int
bu_sign_key_create(char **ret_private_pem, char **ret_public_pem, struct bu_err *err)
{
	gnutls_datum_t private = {NULL, 0};
	gnutls_datum_t public = {NULL, 0};
	gnutls_privkey_t key = NULL;
	int rc = gnutls_privkey_init(&key);

	if (rc == 0)
		rc = gnutls_privkey_generate(key, GNUTLS_PK_EDDSA_ED25519, 0, 0);
	if (rc == 0)
		rc = key_to_pem(key, &private, &public);
	if (key)
		gnutls_privkey_deinit(key);
	if (rc != 0) {
		gnutls_free(private.data);
		return bu_gnutls_fail(err, BU_ERR_IO, rc, "make a signing key");
	}
	*ret_private_pem = bu_gnutls_take(&private);
	*ret_public_pem = bu_gnutls_take(&public);
	return 0;
}

char *
bu_sign_key_public(const char *private_pem, struct bu_err *err)
{
	gnutls_datum_t private = {NULL, 0};
	gnutls_datum_t public = {NULL, 0};
	gnutls_privkey_t key = NULL;
	gnutls_datum_t pem;
	int rc;

	if (bu_gnutls_pem(private_pem, "the signing key", &pem, err))
		return NULL;
	rc = gnutls_privkey_init(&key);
	if (rc == 0)
		rc = gnutls_privkey_import_x509_raw(key, &pem, GNUTLS_X509_FMT_PEM,
						    NULL, 0);
	if (rc == 0)
		rc = key_to_pem(key, &private, &public);
	if (key)
		gnutls_privkey_deinit(key);
	gnutls_free(private.data);
	if (rc != 0) {
		bu_gnutls_fail(err, BU_ERR_INVAL, rc,
			       "public half: a private key in PEM is needed");
		return NULL;
	}
	return bu_gnutls_take(&public);
}

static int
to_sign(const void *data, size_t size, gnutls_datum_t *ret, struct bu_err *err)
{
	if (size > UINT_MAX)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"data of %zu bytes is too long to be signed; sign its "
			"digest",
			size);
	ret->data = (unsigned char *)(size ? data : "");
	ret->size = (unsigned int)size;
	return 0;
}

int
bu_sign(const char *private_pem, const void *data, size_t size,
	char ret_sig_hex[BU_SIG_HEX_SIZE], struct bu_err *err)
{
	gnutls_datum_t sig = {NULL, 0};
	gnutls_privkey_t key = NULL;
	gnutls_datum_t pem;
	gnutls_datum_t text;
	int rc;

	if (bu_gnutls_pem(private_pem, "the signing key", &pem, err) ||
	    to_sign(data, size, &text, err))
		return -1;
	rc = gnutls_privkey_init(&key);
	if (rc == 0)
		rc = gnutls_privkey_import_x509_raw(key, &pem, GNUTLS_X509_FMT_PEM,
						    NULL, 0);
	if (rc == 0)
		rc = gnutls_privkey_sign_data2(key, GNUTLS_SIGN_EDDSA_ED25519, 0, &text,
					       &sig);
	if (key)
		gnutls_privkey_deinit(key);
	if (rc == 0 && sig.size == ED25519_SIG_SIZE)
		bu_hex_encode(sig.data, sig.size, ret_sig_hex);
	else if (rc == 0)
		rc = GNUTLS_E_PK_SIGN_FAILED;
	gnutls_free(sig.data);
	if (rc != 0)
		return bu_gnutls_fail(err, BU_ERR_INVAL, rc,
				      "sign: an Ed25519 private key in PEM is needed");
	return 0;
}

int
bu_verify(const char *public_pem, const void *data, size_t size, const char *sig_hex,
	  struct bu_err *err)
{
	uint8_t bytes[ED25519_SIG_SIZE];
	gnutls_datum_t sig = {bytes, sizeof(bytes)};
	gnutls_pubkey_t key = NULL;
	gnutls_datum_t pem;
	gnutls_datum_t text;
	int rc;

	if (bu_gnutls_pem(public_pem, "the public key", &pem, err) ||
	    to_sign(data, size, &text, err))
		return -1;
	if (bu_hex_decode(sig_hex, bytes, sizeof(bytes)))
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the signature is not %d hex digits",
				  2 * ED25519_SIG_SIZE);
	rc = gnutls_pubkey_init(&key);
	if (rc == 0)
		rc = gnutls_pubkey_import(key, &pem, GNUTLS_X509_FMT_PEM);
	if (rc == 0 &&
	    gnutls_pubkey_get_pk_algorithm(key, NULL) != GNUTLS_PK_EDDSA_ED25519)
		rc = GNUTLS_E_UNSUPPORTED_SIGNATURE_ALGORITHM;
	if (rc != 0) {
		bu_gnutls_fail(err, BU_ERR_INVAL, rc,
			       "verify: an Ed25519 public key in PEM is needed");
	} else {
		rc = gnutls_pubkey_verify_data2(key, GNUTLS_SIGN_EDDSA_ED25519, 0,
						&text, &sig);
		if (rc < 0)
			bu_err_set(err, BU_ERR_VERIFY, 0,
				   "the signature is not of this key over this data");
	}
	if (key)
		gnutls_pubkey_deinit(key);
	return rc < 0 ? -1 : 0;
}
