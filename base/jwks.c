/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Key sets of issuers, and signatures by their keys. Called by jwt.c and by the daemon,
 * which fetches the sets. Invariants: a key checks signatures of its own algorithms
 * alone, so a public key is never taken as a secret of HMAC; a key whose private half
 * the set shows checks nothing.
 */
#include "base/jwks.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"

enum {
	RSA_LEAST = 2048,
	RSA_MOST = 8192,
	EXPONENT_MAX = 8,
	P256_SIZE = 32,
	ED25519_SIZE = 32,
	KID_MAX = 256
};

enum kind { RSA, P256, ED25519 };

static const struct {
	const char *name;
	enum kind kind;
	gnutls_sign_algorithm_t sign;
} algs[] = {
	{"RS256", RSA, GNUTLS_SIGN_RSA_SHA256},
	{"PS256", RSA, GNUTLS_SIGN_RSA_PSS_RSAE_SHA256},
	{"ES256", P256, GNUTLS_SIGN_ECDSA_SHA256},
	{"EdDSA", ED25519, GNUTLS_SIGN_EDDSA_ED25519},
};

struct key {
	char *kid;
	char *alg; /* NULL = each that fits the kind */
	enum kind kind;
	gnutls_pubkey_t public;
};

struct bu_jwks {
	struct key keys[BU_JWKS_KEYS_MAX];
	size_t count;
};

static void
key_fini(struct key *key)
{
	free(key->kid);
	free(key->alg);
	if (key->public)
		gnutls_pubkey_deinit(key->public);
	memset(key, 0, sizeof(*key));
}

void
bu_jwks_destroy(struct bu_jwks *jwks)
{
	if (!jwks)
		return;
	for (size_t i = 0; i < jwks->count; i++)
		key_fini(&jwks->keys[i]);
	free(jwks);
}

size_t
bu_jwks_count(const struct bu_jwks *jwks)
{
	return jwks ? jwks->count : 0;
}

/* --- one key --- */

/* The bytes of a member of the key; 0, or -1. */
static int
number(const json_t *object, const char *name, uint8_t *bytes, size_t max,
       gnutls_datum_t *ret)
{
	const char *text = bu_json_str(object, name, "");
	size_t size;

	if (bu_base64url_decode(text, strlen(text), bytes, max, &size) != 0)
		return -1;
	*ret = (gnutls_datum_t){bytes, (unsigned)size};
	return 0;
}

static int
import_rsa(struct key *key, const json_t *object)
{
	uint8_t n_bytes[RSA_MOST / 8 + 1], e_bytes[EXPONENT_MAX];
	unsigned bits = 0;
	gnutls_datum_t n, e;

	if (number(object, "n", n_bytes, sizeof(n_bytes), &n) != 0 ||
	    number(object, "e", e_bytes, sizeof(e_bytes), &e) != 0 ||
	    !(e.data[e.size - 1] & 1) || (e.size == 1 && e.data[0] < 3) ||
	    gnutls_pubkey_import_rsa_raw(key->public, &n, &e) != 0 ||
	    gnutls_pubkey_get_pk_algorithm(key->public, &bits) != GNUTLS_PK_RSA)
		return -1;
	return bits >= RSA_LEAST && bits <= RSA_MOST ? 0 : -1;
}

static int
import_p256(struct key *key, const json_t *object)
{
	uint8_t x_bytes[P256_SIZE], y_bytes[P256_SIZE];
	gnutls_datum_t x, y;

	if (number(object, "x", x_bytes, sizeof(x_bytes), &x) != 0 ||
	    number(object, "y", y_bytes, sizeof(y_bytes), &y) != 0 ||
	    x.size != P256_SIZE || y.size != P256_SIZE)
		return -1;
	return gnutls_pubkey_import_ecc_raw(key->public, GNUTLS_ECC_CURVE_SECP256R1, &x,
					    &y);
}

static int
import_ed25519(struct key *key, const json_t *object)
{
	uint8_t x_bytes[ED25519_SIZE];
	gnutls_datum_t x;

	if (number(object, "x", x_bytes, sizeof(x_bytes), &x) != 0 ||
	    x.size != ED25519_SIZE)
		return -1;
	return gnutls_pubkey_import_ecc_raw(key->public, GNUTLS_ECC_CURVE_ED25519, &x,
					    NULL);
}

static const struct {
	const char *kty, *crv; /* crv NULL = none */
	enum kind kind;
	int (*import)(struct key *key, const json_t *object);
} kinds[] = {
	{"RSA", NULL, RSA, import_rsa},
	{"EC", "P-256", P256, import_p256},
	{"OKP", "Ed25519", ED25519, import_ed25519},
};

/* With a name, for signatures, and public. */
static int
is_for_us(const json_t *object)
{
	const char *kid = bu_json_str(object, "kid", "");

	return *kid && strlen(kid) <= KID_MAX &&
	       strcmp(bu_json_str(object, "use", "sig"), "sig") == 0 &&
	       !json_object_get(object, "d") && !json_object_get(object, "k");
}

static int
read_key(const json_t *object, struct key *ret)
{
	const char *kty = bu_json_str(object, "kty", "");
	const char *crv = bu_json_str(object, "crv", "");
	const char *alg = bu_json_str(object, "alg", NULL);
	size_t i = 0;

	memset(ret, 0, sizeof(*ret));
	while (i < BU_LEN(kinds) && (strcmp(kinds[i].kty, kty) != 0 ||
				     (kinds[i].crv && strcmp(kinds[i].crv, crv) != 0)))
		i++;
	if (i == BU_LEN(kinds) || !is_for_us(object) ||
	    gnutls_pubkey_init(&ret->public) != 0)
		return -1;
	ret->kind = kinds[i].kind;
	ret->kid = bu_xstrdup(bu_json_str(object, "kid", ""));
	ret->alg = alg ? bu_xstrdup(alg) : NULL;
	if (kinds[i].import(ret, object) == 0)
		return 0;
	key_fini(ret);
	return -1;
}

struct bu_jwks *
bu_jwks_read(const char *text, size_t size, struct bu_err *err)
{
	bu_autojson json_t *set = bu_json_parse(text, size, "the key set", err);
	const json_t *list = json_object_get(set, "keys"), *object;
	struct bu_jwks *jwks;
	size_t i;

	if (!set)
		return NULL;
	if (!json_is_array(list) || json_array_size(list) > BU_JWKS_KEYS_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "the key set has no list `keys` of at most %d keys",
			   BU_JWKS_KEYS_MAX);
		return NULL;
	}
	jwks = bu_xcalloc(1, sizeof(*jwks));
	json_array_foreach (list, i, object)
		if (read_key(object, &jwks->keys[jwks->count]) == 0)
			jwks->count++;
	if (jwks->count)
		return jwks;
	free(jwks);
	bu_err_set(err, BU_ERR_INVAL, 0,
		   "none of the %zu keys of the key set is good: public ones for "
		   "signatures are needed, with a kid, of RSA with %d bits or more, "
		   "P-256 or Ed25519",
		   json_array_size(list), RSA_LEAST);
	return NULL;
}

/* --- a signature --- */

/* The row of the algorithm; past the last = none that is taken. */
static size_t
find_alg(const char *alg)
{
	size_t i = 0;

	while (i < BU_LEN(algs) && strcmp(algs[i].name, alg) != 0)
		i++;
	return i;
}

int
bu_jws_check_alg(const char *alg, struct bu_err *err)
{
	return find_alg(alg) < BU_LEN(algs)
		       ? 0
		       : bu_err_set(err, BU_ERR_DENIED, 0,
				    "the algorithm of its signature is not one of "
				    "RS256, PS256, ES256 and EdDSA");
}

/* Two numbers of 32 bytes become the form that GnuTLS takes. */
static int
check_p256(const struct key *key, const gnutls_datum_t *text,
	   const gnutls_datum_t *pair)
{
	const gnutls_datum_t r = {pair->data, P256_SIZE};
	const gnutls_datum_t s = {pair->data + P256_SIZE, P256_SIZE};
	gnutls_datum_t signature = {NULL, 0};
	int rc = -1;

	if (pair->size != 2 * P256_SIZE ||
	    gnutls_encode_rs_value(&signature, &r, &s) != 0)
		return -1;
	rc = gnutls_pubkey_verify_data2(key->public, GNUTLS_SIGN_ECDSA_SHA256, 0, text,
					&signature);
	gnutls_free(signature.data);
	return rc < 0 ? -1 : 0;
}

static int
check_with(const struct key *key, size_t alg, const struct bu_jws *jws)
{
	const gnutls_datum_t text = {(unsigned char *)(uintptr_t)jws->text,
				     (unsigned)jws->text_size};
	const gnutls_datum_t signature = {(unsigned char *)(uintptr_t)jws->signature,
					  (unsigned)jws->signature_size};

	if (key->kind != algs[alg].kind ||
	    (key->alg && strcmp(key->alg, algs[alg].name) != 0))
		return -1;
	if (key->kind == P256)
		return check_p256(key, &text, &signature);
	return gnutls_pubkey_verify_data2(key->public, algs[alg].sign, 0, &text,
					  &signature) < 0
		       ? -1
		       : 0;
}

int
bu_jwks_check(const struct bu_jwks *jwks, const struct bu_jws *jws, struct bu_err *err)
{
	size_t alg = find_alg(jws->alg), named = 0;

	if (bu_jws_check_alg(jws->alg, err) != 0)
		return -1;
	for (size_t i = 0; i < bu_jwks_count(jwks); i++) {
		if (strcmp(jwks->keys[i].kid, jws->kid) != 0)
			continue;
		named++;
		if (check_with(&jwks->keys[i], alg, jws) == 0)
			return 0;
	}
	if (!named)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no known key of the issuer signed it");
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "its signature is not of the issuer's key that it names");
}
