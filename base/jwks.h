/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public keys of an issuer of tokens, as its JSON Web Key Set (RFC 7517) has them. The
 * type of a key says which algorithms it is good for (RFC 8725), whatever a token says.
 */
#ifndef BU_BASE_JWKS_H
#define BU_BASE_JWKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { BU_JWKS_SIZE_MAX = 256 * 1024, BU_JWKS_KEYS_MAX = 64 };

struct bu_jwks;

/* Keys of RSA with 2048 to 8192 bits, of P-256 and Ed25519. Left out: keys of other
 * types, secret ones, those with their private half, for encryption, or without a name.
 * BU_ERR_INVAL: the text is no key set, or no key of it is good. */
struct bu_jwks *bu_jwks_read(const char *text, size_t size, struct bu_err *err);
void bu_jwks_destroy(struct bu_jwks *jwks);
/* How many good keys there are. */
size_t bu_jwks_count(const struct bu_jwks *jwks);

struct bu_jws {
	const char *kid, *alg; /* of its header; alg is "RS256" or the like */
	const char *text;      /* that is signed */
	size_t text_size;
	const uint8_t *signature;
	size_t signature_size;
};
/* BU_ERR_DENIED: not RS256, PS256, ES256 or EdDSA. */
bu_must int bu_jws_check_alg(const char *alg, struct bu_err *err);
/* 0 = a key of this name signed the text, by this algorithm. BU_ERR_NOTFOUND: no key
 * has the name; BU_ERR_DENIED: the signature is not of the key with this name, or that
 * key is not for this algorithm. jwks may be NULL. */
bu_must int bu_jwks_check(const struct bu_jwks *jwks, const struct bu_jws *jws,
			  struct bu_err *err);

#endif
