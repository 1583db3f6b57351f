/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Tokens (RFC 7519) that an issuer of OpenID Connect signed: who someone is,
 * and for whom and how long that holds.
 */
#ifndef BU_BASE_JWT_H
#define BU_BASE_JWT_H

#include <jansson.h>

#include "base/jwks.h"

/* LEEWAY: so far the clocks of issuer and appliance may be apart. */
enum { BU_JWT_MAX = 12 * 1024, BU_JWT_LEEWAY_S = 60 };

struct bu_jwt_wanted {
	const char *issuer, *audience;
	int64_t now_s; /* Unix time */
};
/* The claims of a token, new reference, once all of this holds: a key of the set signed
 * it, iss is the issuer, aud is or has the audience, exp is not over, and iat and nbf,
 * where there is one, are not to come. BU_ERR_NOTFOUND: all is well but for the key,
 * which is not in the set (keys may be NULL). BU_ERR_DENIED: everything else. No error
 * has a part of the token. */
json_t *bu_jwt_open(const char *text, const struct bu_jwt_wanted *wanted,
		    const struct bu_jwks *keys, struct bu_err *err);
/* When a token ends, for who has it and does not verify it, Unix time; 0 = not known.
 */
int64_t bu_jwt_ends_s(const char *text);

#endif
