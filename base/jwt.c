/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Tokens. Called by the daemon for each request of a person who comes with
 * one, and by the command line for the end of its own. Invariants: claims leave only
 * after the signature was right; a claim that is missing or of another type is refused
 * as a wrong one is; of the header alg, kid and typ count, never a key or an address in
 * it.
 */
#include "base/jwt.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"

struct parts {
	const char *at[3];
	size_t size[3];
};

/* HEADER.CLAIMS.SIGNATURE */
static int
split(const char *text, struct parts *ret)
{
	size_t i = 0;

	if (strnlen(text, BU_JWT_MAX + 1) > BU_JWT_MAX)
		return -1;
	while (i < 3) {
		ret->at[i] = text;
		ret->size[i] = strcspn(text, ".");
		text += ret->size[i++];
		if (i < 3 && *text++ != '.')
			return -1;
	}
	return *text ? -1 : 0;
}

/* New reference; NULL = the part is not an object. */
static json_t *
read_part(const struct parts *parts, size_t i)
{
	char text[BU_JWT_MAX];
	json_t *object = NULL;
	size_t size;

	if (bu_base64url_decode(parts->at[i], parts->size[i], text, sizeof(text),
				&size) == 0)
		object = bu_json_parse(text, size, "", NULL);
	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

/* "JWT" or an access token; a token that says it is of another kind, such as one that
 * logs out, opens nothing. */
static int
check_header(const json_t *header, struct bu_err *err)
{
	static const char *const types[] = {"JWT", "at+jwt", "application/at+jwt"};
	const json_t *typ = json_object_get(header, "typ");
	size_t i = 0;

	if (json_object_get(header, "crit"))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "it wants an extension (crit) that bringup does not "
				  "have");
	while (typ && i < BU_LEN(types) &&
	       (!json_is_string(typ) ||
		strcasecmp(json_string_value(typ), types[i]) != 0))
		i++;
	if (i == BU_LEN(types))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "its type is neither JWT nor at+jwt");
	if (bu_jws_check_alg(bu_json_str(header, "alg", ""), err) != 0)
		return -1;
	return *bu_json_str(header, "kid", "")
		       ? 0
		       : bu_err_set(err, BU_ERR_DENIED, 0,
				    "it does not say which key signed it (kid)");
}

static int
is_for(const json_t *aud, const char *audience)
{
	const json_t *one;
	size_t i;

	if (json_is_string(aud))
		return strcmp(json_string_value(aud), audience) == 0;
	json_array_foreach (aud, i, one)
		if (json_is_string(one) &&
		    strcmp(json_string_value(one), audience) == 0)
			return 1;
	return 0;
}

/* Unix time; -1 = it is not there. Fractions are allowed (RFC 7519). */
static double
time_of(const json_t *claims, const char *name)
{
	const json_t *value = json_object_get(claims, name);

	return json_is_number(value) ? json_number_value(value) : -1;
}

static int
check_times(const json_t *claims, int64_t now_s, struct bu_err *err)
{
	double now = (double)now_s, exp = time_of(claims, "exp");
	double iat = time_of(claims, "iat"), nbf = time_of(claims, "nbf");

	if (exp < 0 || iat < 0 || (nbf < 0 && json_object_get(claims, "nbf")))
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"it does not say since when and until when it is good "
			"(iat, exp, nbf)");
	if (now >= exp + BU_JWT_LEEWAY_S)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "it expired %.0f s ago; log in again", now - exp);
	if (iat > now + BU_JWT_LEEWAY_S || nbf > now + BU_JWT_LEEWAY_S)
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"it is not good yet; compare the clocks of issuer and "
			"appliance");
	return 0;
}

static int
check_claims(const json_t *claims, const struct bu_jwt_wanted *wanted,
	     struct bu_err *err)
{
	if (strcmp(bu_json_str(claims, "iss", ""), wanted->issuer) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "it is of another issuer than %s", wanted->issuer);
	if (!is_for(json_object_get(claims, "aud"), wanted->audience))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "it is for others (aud), and not for the client '%s'",
				  wanted->audience);
	return check_times(claims, wanted->now_s, err);
}

static int
check_signature(const struct parts *parts, const json_t *header,
		const struct bu_jwks *keys, struct bu_err *err)
{
	uint8_t signature[1024];
	struct bu_jws jws = {.kid = bu_json_str(header, "kid", ""),
			     .alg = bu_json_str(header, "alg", ""),
			     .text = parts->at[0],
			     .text_size = parts->size[0] + 1 + parts->size[1],
			     .signature = signature};

	if (bu_base64url_decode(parts->at[2], parts->size[2], signature,
				sizeof(signature), &jws.signature_size) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0, "it has no signature");
	return bu_jwks_check(keys, &jws, err);
}

json_t *
bu_jwt_open(const char *text, const struct bu_jwt_wanted *wanted,
	    const struct bu_jwks *keys, struct bu_err *err)
{
	bu_autojson json_t *header = NULL, *claims = NULL;
	struct parts parts;

	if (split(text, &parts) == 0) {
		header = read_part(&parts, 0);
		claims = read_part(&parts, 1);
	}
	if (!header || !claims)
		bu_err_set(err, BU_ERR_DENIED, 0,
			   "it is not three parts of at most %d bytes with JSON in the "
			   "first two",
			   BU_JWT_MAX);
	else if (check_header(header, err) == 0 &&
		 check_claims(claims, wanted, err) == 0 &&
		 check_signature(&parts, header, keys, err) == 0)
		return bu_steal(&claims);
	bu_err_wrap(err, "this token of an identity provider");
	return NULL;
}

int64_t
bu_jwt_ends_s(const char *text)
{
	bu_autojson json_t *claims = NULL;
	struct parts parts;
	double exp;

	if (split(text, &parts) != 0)
		return 0;
	claims = read_part(&parts, 1);
	exp = time_of(claims, "exp");
	return exp > 0 && exp < 1e12 ? (int64_t)exp : 0;
}
