/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sealed streams, as seal.h has them. Called by bringup-backup, the command line and
 * the check of profiles. Invariant: a key seals one stream, and a nonce one chunk; text
 * leaves only after its tag was right.
 *
 * GnuTLS 3.7 has no call for X25519 alone; Nettle, from which GnuTLS has it, does.
 */
#include "base/seal.h"

#include <endian.h>
#include <gnutls/crypto.h>
#include <nettle/curve25519.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/gnutls.h"

enum { KEY = CURVE25519_SIZE, NONCE = 12, MAGIC = 12, VERSION = 1, CHECK = 8 };
static const char magic[] = "bringup-seal";
static const char identity_word[] = "bringup-identity-";
static const char recipient_word[] = "bringup-recipient-";

/* Parts of the header. */
enum { EPHEMERAL = MAGIC + 4, RECIPIENT = EPHEMERAL + KEY };

struct bu_seal {
	int opens;
	uint8_t identity[KEY], own[KEY]; /* of one that opens */
	uint8_t header[BU_SEAL_HEADER];
	size_t header_size; /* bytes that are there */
	int keyed;
	uint8_t key[32];
	uint64_t number; /* of the next chunk */
	uint8_t chunk[BU_SEAL_CHUNK + BU_SEAL_TAG];
	size_t used;
	bu_seal_fn out;
	void *arg;
};

static void
put_number(uint8_t *at, uint64_t value, size_t bytes)
{
	value = htobe64(value);
	memcpy(at, (const uint8_t *)&value + sizeof(value) - bytes, bytes);
}

static void
check_digits(const char *hex, char ret[CHECK + 1])
{
	char digest[BU_DIGEST_SIZE];

	bu_sha256_hex(hex, 2 * KEY, digest);
	memcpy(ret, digest, CHECK);
	ret[CHECK] = '\0';
}

static void
key_text(const char *word, const uint8_t key[KEY], char ret[BU_SEAL_TEXT_SIZE])
{
	char hex[2 * KEY + 1], check[CHECK + 1];

	bu_hex_encode(key, KEY, hex);
	check_digits(hex, check);
	snprintf(ret, BU_SEAL_TEXT_SIZE, "%s%s%s", word, hex, check);
	gnutls_memset(hex, 0, sizeof(hex));
}

static int
key_read(const char *word, const char *text, uint8_t ret[KEY])
{
	size_t length = strlen(word);
	char hex[2 * KEY + 1] = "", check[CHECK + 1];
	int rc;

	if (strncmp(text, word, length) != 0 ||
	    strlen(text) != length + 2 * KEY + CHECK)
		return -1;
	memcpy(hex, text + length, 2 * KEY);
	check_digits(hex, check);
	rc = strcmp(check, text + length + 2 * KEY) == 0 ? bu_hex_decode(hex, ret, KEY)
							 : -1;
	gnutls_memset(hex, 0, sizeof(hex));
	return rc;
}

void
bu_seal_pair(char ret_identity[BU_SEAL_TEXT_SIZE],
	     char ret_recipient[BU_SEAL_TEXT_SIZE])
{
	uint8_t secret[KEY], public[KEY];

	bu_random(secret, KEY);
	curve25519_mul_g(public, secret);
	key_text(identity_word, secret, ret_identity);
	key_text(recipient_word, public, ret_recipient);
	gnutls_memset(secret, 0, KEY);
}

int
bu_seal_recipient_ok(const char *text)
{
	uint8_t key[KEY];

	return key_read(recipient_word, text, key) == 0;
}

/* From a secret of ours and the other's public key; both are in the header. */
static int
derive(struct bu_seal *seal, const uint8_t secret[KEY], const uint8_t public[KEY],
       struct bu_err *err)
{
	static const uint8_t nothing[KEY];
	uint8_t shared[KEY], middle[BU_SHA256_SIZE];
	const gnutls_datum_t in = {shared, KEY}, prk = {middle, sizeof(middle)};
	const gnutls_datum_t salt = {seal->header + EPHEMERAL, 2 * KEY};
	const gnutls_datum_t info = {seal->header, BU_SEAL_HEADER};
	int rc;

	curve25519_mul(shared, secret, public);
	if (gnutls_memcmp(shared, nothing, KEY) == 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the header of the sealed stream was changed");
	rc = gnutls_hkdf_extract(GNUTLS_MAC_SHA256, &in, &salt, middle);
	if (rc == 0)
		rc = gnutls_hkdf_expand(GNUTLS_MAC_SHA256, &prk, &info, seal->key,
					sizeof(seal->key));
	bu_assert(rc == 0);
	gnutls_memset(shared, 0, KEY);
	gnutls_memset(middle, 0, sizeof(middle));
	seal->keyed = 1;
	return 0;
}

static struct bu_seal *
create(int opens, bu_seal_fn out, void *arg)
{
	struct bu_seal *seal = bu_xcalloc(1, sizeof(*seal));

	seal->opens = opens;
	seal->out = out;
	seal->arg = arg;
	return seal;
}

struct bu_seal *
bu_seal_create(const char *recipient, bu_seal_fn out, void *arg, struct bu_err *err)
{
	struct bu_seal *seal = create(0, out, arg);
	uint8_t secret[KEY];
	int rc;

	memcpy(seal->header, magic, MAGIC);
	put_number(seal->header + MAGIC, VERSION, 4);
	if (key_read(recipient_word, recipient, seal->header + RECIPIENT) != 0) {
		bu_err_set(
			err, BU_ERR_INVAL, 0,
			"'%.100s' is not a recipient; bringup backup keygen makes one",
			recipient);
		bu_seal_destroy(seal);
		return NULL;
	}
	bu_random(secret, KEY);
	curve25519_mul_g(seal->header + EPHEMERAL, secret);
	rc = derive(seal, secret, seal->header + RECIPIENT, err);
	gnutls_memset(secret, 0, KEY);
	if (rc != 0 || out(seal->header, BU_SEAL_HEADER, arg, err) != 0) {
		bu_seal_destroy(seal);
		return NULL;
	}
	return seal;
}

struct bu_seal *
bu_unseal_create(const char *identity, bu_seal_fn out, void *arg, struct bu_err *err)
{
	struct bu_seal *seal = create(1, out, arg);

	if (key_read(identity_word, identity, seal->identity) == 0) {
		curve25519_mul_g(seal->own, seal->identity);
		return seal;
	}
	bu_err_set(err, BU_ERR_INVAL, 0,
		   "the identity is not one that bringup backup keygen made, or was "
		   "typed wrong");
	bu_seal_destroy(seal);
	return NULL;
}

struct bu_seal *
bu_unseal_again(const struct bu_seal *seal, bu_seal_fn out, void *arg)
{
	struct bu_seal *again = create(1, out, arg);

	memcpy(again->key, seal->key, sizeof(again->key));
	memcpy(again->own, seal->header + RECIPIENT, KEY);
	memcpy(again->header, seal->header, BU_SEAL_HEADER);
	again->keyed = 1;
	return again;
}

static int
read_header(struct bu_seal *seal, const uint8_t header[BU_SEAL_HEADER],
	    struct bu_err *err)
{
	char to[BU_SEAL_TEXT_SIZE];
	uint8_t version[4];

	if (memcmp(header, magic, MAGIC) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "this is not a backup of bringup");
	put_number(version, VERSION, sizeof(version));
	if (memcmp(header + MAGIC, version, sizeof(version)) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "sealed in another format than %d; take the bringup "
				  "that made it",
				  VERSION);
	key_text(recipient_word, header + RECIPIENT, to);
	if (memcmp(header + RECIPIENT, seal->own, KEY) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "sealed to %s; give the identity of that recipient",
				  to);
	if (seal->keyed)
		return memcmp(header, seal->header, BU_SEAL_HEADER) == 0
			       ? 0
			       : bu_err_set(err, BU_ERR_VERIFY, 0,
					    "the header is not the one that was "
					    "written");
	memcpy(seal->header, header, BU_SEAL_HEADER);
	return derive(seal, seal->identity, seal->header + EPHEMERAL, err);
}

static int
turn_chunk(const struct bu_seal *seal, gnutls_aead_cipher_hd_t cipher, int last,
	   uint8_t *ret, size_t *ret_size)
{
	uint8_t nonce[NONCE] = {0};

	put_number(nonce + 3, seal->number, 8);
	nonce[NONCE - 1] = (uint8_t)last;
	if (!seal->opens)
		return gnutls_aead_cipher_encrypt(cipher, nonce, NONCE, NULL, 0,
						  BU_SEAL_TAG, seal->chunk, seal->used,
						  ret, ret_size);
	return gnutls_aead_cipher_decrypt(cipher, nonce, NONCE, NULL, 0, BU_SEAL_TAG,
					  seal->chunk, seal->used, ret, ret_size);
}

static int
flush_chunk(struct bu_seal *seal, int last, struct bu_err *err)
{
	bu_autofree uint8_t *text = bu_xmalloc(BU_SEAL_CHUNK + BU_SEAL_TAG);
	const gnutls_datum_t key = {seal->key, sizeof(seal->key)};
	size_t size = BU_SEAL_CHUNK + BU_SEAL_TAG;
	gnutls_aead_cipher_hd_t cipher;
	int rc = gnutls_aead_cipher_init(&cipher, GNUTLS_CIPHER_AES_256_GCM, &key);

	bu_assert(rc == 0);
	rc = turn_chunk(seal, cipher, last, text, &size);
	gnutls_aead_cipher_deinit(cipher);
	bu_assert(rc == 0 || seal->opens);
	if (rc != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "part %llu of the sealed stream was changed, or the "
				  "stream was cut there; take another copy",
				  (unsigned long long)seal->number + 1);
	seal->number++;
	seal->used = 0;
	return size ? seal->out(text, size, seal->arg, err) : 0;
}

/* The bytes that were the header's. */
static int
take_header(struct bu_seal *seal, const uint8_t *bytes, size_t size, size_t *ret_took,
	    struct bu_err *err)
{
	size_t lacks = BU_SEAL_HEADER - seal->header_size;

	*ret_took = size < lacks ? size : lacks;
	memcpy(seal->chunk + seal->header_size, bytes, *ret_took);
	seal->header_size += *ret_took;
	return seal->header_size < BU_SEAL_HEADER ? 0
						  : read_header(seal, seal->chunk, err);
}

/* A full chunk stays until more comes: it may be the last. */
int
bu_seal_add(struct bu_seal *seal, const void *data, size_t size, struct bu_err *err)
{
	size_t full = BU_SEAL_CHUNK + (seal->opens ? BU_SEAL_TAG : 0);
	const uint8_t *bytes = data;
	size_t took = 0;

	if (seal->opens && seal->header_size < BU_SEAL_HEADER) {
		if (take_header(seal, bytes, size, &took, err) != 0)
			return -1;
		bytes += took;
		size -= took;
	}
	while (size) {
		if (seal->used == full && flush_chunk(seal, 0, err) != 0)
			return -1;
		took = size < full - seal->used ? size : full - seal->used;
		memcpy(seal->chunk + seal->used, bytes, took);
		seal->used += took;
		bytes += took;
		size -= took;
	}
	return 0;
}

int
bu_seal_end(struct bu_seal *seal, struct bu_err *err)
{
	if (seal->opens && seal->header_size < BU_SEAL_HEADER)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "this is not a backup of bringup");
	return flush_chunk(seal, 1, err);
}

void
bu_seal_destroy(struct bu_seal *seal)
{
	if (!seal)
		return;
	gnutls_memset(seal, 0, sizeof(*seal));
	free(seal);
}
