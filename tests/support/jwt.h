/* SPDX-License-Identifier: Apache-2.0 */
/* An issuer of tokens: its keys, key sets of them, and tokens that they sign. */
#ifndef BU_TESTS_SUPPORT_JWT_H
#define BU_TESTS_SUPPORT_JWT_H

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <jansson.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/unit.h"

struct jwt_key {
	const char *kid;
	gnutls_pk_algorithm_t pk;
	gnutls_privkey_t key;
};

/* RFC 7515, appendix C; owned. */
static inline char *
jwt_base64(const void *data, size_t size)
{
	char *text = bu_base64_encode(data, size), *at = text;

	for (; *at && *at != '='; at++)
		*at = *at == '+' ? '-' : *at == '/' ? '_' : *at;
	*at = '\0';
	return text;
}

/* bits: of RSA, else 0. */
static inline struct jwt_key
jwt_key_make(const char *kid, gnutls_pk_algorithm_t pk, unsigned bits)
{
	struct jwt_key key = {.kid = kid, .pk = pk};

	if (pk == GNUTLS_PK_ECDSA)
		bits = GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1);
	ck_assert_int_eq(gnutls_privkey_init(&key.key), 0);
	ck_assert_int_eq(gnutls_privkey_generate(key.key, pk, bits, 0), 0);
	return key;
}

static inline void
jwt_key_end(struct jwt_key *key)
{
	gnutls_privkey_deinit(key->key);
}

static inline void
jwt_set(json_t *object, const char *name, gnutls_datum_t *bytes, size_t size)
{
	uint8_t padded[1024] = {0};
	size_t pad = size > bytes->size ? size - bytes->size : 0;
	bu_autofree char *text = NULL;

	memcpy(padded + pad, bytes->data, bytes->size);
	text = jwt_base64(padded, bytes->size + pad);
	json_object_set_new(object, name, json_string(text));
	gnutls_free(bytes->data);
}

/* Its public half as a JWK; new reference. */
static inline json_t *
jwt_key_json(const struct jwt_key *key)
{
	int is_rsa = key->pk == GNUTLS_PK_RSA, is_ec = key->pk == GNUTLS_PK_ECDSA;
	json_t *object =
		json_pack("{s:s,s:s,s:s}", "kid", key->kid, "use", "sig", "kty",
			  is_rsa  ? "RSA"
			  : is_ec ? "EC"
				  : "OKP");
	gnutls_datum_t a = {NULL, 0}, b = {NULL, 0};
	gnutls_ecc_curve_t curve;

	if (is_rsa) {
		ck_assert_int_eq(gnutls_privkey_export_rsa_raw2(
					 key->key, &a, &b, NULL, NULL, NULL, NULL, NULL,
					 NULL, GNUTLS_EXPORT_FLAG_NO_LZ),
				 0);
		jwt_set(object, "n", &a, 0);
		jwt_set(object, "e", &b, 0);
		return object;
	}
	ck_assert_int_eq(gnutls_privkey_export_ecc_raw2(key->key, &curve, &a, &b, NULL,
							GNUTLS_EXPORT_FLAG_NO_LZ),
			 0);
	json_object_set_new(object, "crv", json_string(is_ec ? "P-256" : "Ed25519"));
	jwt_set(object, "x", &a, is_ec ? 32 : 0);
	if (is_ec)
		jwt_set(object, "y", &b, 32);
	return object;
}

/* Their set; each may be NULL, and is taken. Owned. */
static inline char *
jwt_set_of(json_t *a, json_t *b, json_t *c)
{
	bu_autojson json_t *set = json_pack("{s:[]}", "keys");
	json_t *all[] = {a, b, c};

	for (size_t i = 0; i < BU_LEN(all); i++)
		if (all[i])
			json_array_append_new(json_object_get(set, "keys"), all[i]);
	return json_dumps(set, JSON_COMPACT);
}

/* "HEADER.CLAIMS" of texts; owned. */
static inline char *
jwt_text(const char *header, const char *claims)
{
	bu_autofree char *a = jwt_base64(header, strlen(header));
	bu_autofree char *b = jwt_base64(claims, strlen(claims));

	return bu_xasprintf("%s.%s", a, b);
}

/* r and s of a signature of ECDSA, 32 bytes each. */
static inline void
jwt_raw_pair(const gnutls_datum_t *signature, uint8_t ret[64])
{
	gnutls_datum_t part[2];

	memset(ret, 0, 64);
	ck_assert_int_eq(gnutls_decode_rs_value(signature, &part[0], &part[1]), 0);
	for (size_t i = 0; i < 2; i++) {
		size_t extra = part[i].size > 32 ? part[i].size - 32 : 0;
		size_t size = part[i].size - extra;

		memcpy(ret + 32 * i + (32 - size), part[i].data + extra, size);
		gnutls_free(part[i].data);
	}
}

/* The token of this text, signed by the key; owned. */
static inline char *
jwt_sign(const struct jwt_key *key, int pss, const char *text)
{
	gnutls_sign_algorithm_t algorithm =
		key->pk == GNUTLS_PK_ECDSA           ? GNUTLS_SIGN_ECDSA_SHA256
		: key->pk == GNUTLS_PK_EDDSA_ED25519 ? GNUTLS_SIGN_EDDSA_ED25519
		: pss                                ? GNUTLS_SIGN_RSA_PSS_RSAE_SHA256
						     : GNUTLS_SIGN_RSA_SHA256;
	gnutls_datum_t in = {(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
	gnutls_datum_t out = {NULL, 0};
	bu_autofree char *end = NULL;
	uint8_t pair[64];

	ck_assert_int_eq(gnutls_privkey_sign_data2(key->key, algorithm, 0, &in, &out),
			 0);
	if (key->pk == GNUTLS_PK_ECDSA)
		jwt_raw_pair(&out, pair);
	end = key->pk == GNUTLS_PK_ECDSA ? jwt_base64(pair, sizeof(pair))
					 : jwt_base64(out.data, out.size);
	gnutls_free(out.data);
	return bu_xasprintf("%s.%s", text, end);
}

/* The header and claims, signed; owned. */
static inline char *
jwt_make(const struct jwt_key *key, const char *alg, const char *claims)
{
	bu_autofree char *header = bu_xasprintf(
		"{\"alg\":\"%s\",\"typ\":\"JWT\",\"kid\":\"%s\"}", alg, key->kid);
	bu_autofree char *text = jwt_text(header, claims);

	return jwt_sign(key, strcmp(alg, "PS256") == 0, text);
}

#endif
