/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of an issuer: which are taken, and which attacks on them are not. */
#include "base/jwt.h"

#include "tests/support/jwt.h"

enum { NOW_S = 1700000000 };
#define ISSUER "https://id.example.org/realm"
/* Good ones, but for what stands in `more`. */
#define CLAIMS(times, more)                                                            \
	"{\"iss\":\"" ISSUER "\",\"aud\":\"bringup\"," times ",\"sub\":\"1\"" more "}"
#define TIMES "\"iat\":1699999990,\"exp\":1700000300"
#define GOOD CLAIMS(TIMES, "")

static const struct bu_jwt_wanted wanted = {ISSUER, "bringup", NOW_S};

static struct jwt_key rsa, ec, ed, other;
static struct bu_jwks *keys;

static struct bu_jwks *
read_set(json_t *a, json_t *b, json_t *c)
{
	bu_autofree char *text = jwt_set_of(a, b, c);
	struct bu_err err = {0};
	struct bu_jwks *set = bu_jwks_read(text, strlen(text), &err);

	ck_assert_msg(set != NULL, "%s", err.text);
	return set;
}

static void
setup(void)
{
	rsa = jwt_key_make("r1", GNUTLS_PK_RSA, 2048);
	ec = jwt_key_make("e1", GNUTLS_PK_ECDSA, 0);
	ed = jwt_key_make("d1", GNUTLS_PK_EDDSA_ED25519, 0);
	other = jwt_key_make("r1", GNUTLS_PK_RSA, 2048);
	keys = read_set(jwt_key_json(&rsa), jwt_key_json(&ec), jwt_key_json(&ed));
}

static void
teardown(void)
{
	bu_jwks_destroy(keys);
	jwt_key_end(&rsa);
	jwt_key_end(&ec);
	jwt_key_end(&ed);
	jwt_key_end(&other);
}

/* says NULL = it is taken. */
static void
comes_to(const struct bu_jwks *set, const char *token, enum bu_err_kind kind,
	 const char *says)
{
	struct bu_err err = {0};
	bu_autojson json_t *claims = bu_jwt_open(token, &wanted, set, &err);

	if (!says) {
		ck_assert_msg(claims != NULL, "%s", err.text);
		ck_assert_str_eq(bu_json_str(claims, "sub", ""), "1");
		return;
	}
	ck_assert_msg(!claims && err.kind == kind && strstr(err.text, says),
		      "not '%s': '%s' of %.60s", says, err.text, token);
	/* No error has a part of the token. */
	ck_assert_ptr_null(strstr(err.text, "eyJ"));
}

static void
refused(const char *token, const char *says)
{
	comes_to(keys, token, BU_ERR_DENIED, says);
}

START_TEST(each_algorithm_is_taken_with_its_own_key)
{
	static const struct {
		const struct jwt_key *key;
		const char *alg;
	} rows[] = {{&rsa, "RS256"}, {&rsa, "PS256"}, {&ec, "ES256"}, {&ed, "EdDSA"}};

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *token = jwt_make(rows[i].key, rows[i].alg, GOOD);

		comes_to(keys, token, BU_ERR_NONE, NULL);
		for (size_t k = 0; k < BU_LEN(rows); k++) {
			bu_autofree char *bad =
				jwt_make(rows[i].key, rows[k].alg, GOOD);

			if (i != k && !(rows[i].key == &rsa && rows[k].key == &rsa))
				refused(bad, "not of the issuer's key");
		}
	}
	teardown();
}
END_TEST

/* Numbers of a signature that begin with a zero or a high bit, too. */
START_TEST(every_signature_of_p256_is_taken)
{
	setup();
	for (int i = 0; i < 400; i++) {
		bu_autofree char *token = jwt_make(&ec, "ES256", GOOD);

		comes_to(keys, token, BU_ERR_NONE, NULL);
	}
	teardown();
}
END_TEST

START_TEST(claims_say_for_whom_and_how_long)
{
	static const struct {
		const char *claims, *says; /* NULL = it is taken */
	} rows[] = {
		{CLAIMS("\"iat\":1699999990,\"exp\":1700000300.5", ""), NULL},
		{CLAIMS("\"iat\":1699999990,\"exp\":1699999950", ""), NULL},
		{CLAIMS("\"iat\":1699999900,\"exp\":1699999940", ""), "expired 60 s"},
		{CLAIMS("\"iat\":1699999900,\"exp\":\"1700000300\"", ""), "until when"},
		{CLAIMS("\"iat\":1699999900", ""), "until when"},
		{CLAIMS("\"exp\":1700000300", ""), "since when"},
		{CLAIMS("\"iat\":1700000061,\"exp\":1700000300", ""), "not good yet"},
		{CLAIMS(TIMES, ",\"nbf\":1700000060"), NULL},
		{CLAIMS(TIMES, ",\"nbf\":1700000061"), "not good yet"},
		{CLAIMS(TIMES, ",\"nbf\":null"), "nbf"},
		{CLAIMS(TIMES, ",\"nbf\":\"0\""), "nbf"},
		{"{\"iss\":\"" ISSUER "/\",\"aud\":\"bringup\"," TIMES "}",
		 "another issuer"},
		{"{\"aud\":\"bringup\"," TIMES "}", "another issuer"},
		{"{\"iss\":[\"" ISSUER "\"],\"aud\":\"bringup\"," TIMES "}",
		 "another issuer"},
		{"{\"iss\":\"" ISSUER "\",\"aud\":\"bringup2\"," TIMES "}", "(aud)"},
		{"{\"iss\":\"" ISSUER "\",\"aud\":{\"bringup\":\"bringup\"}," TIMES "}",
		 "(aud)"},
		{"{\"iss\":\"" ISSUER "\",\"aud\":[]," TIMES "}", "(aud)"},
		{"{\"iss\":\"" ISSUER "\"," TIMES "}", "(aud)"},
		{"{\"iss\":\"" ISSUER "\",\"aud\":[\"x\",\"bringup\"]," TIMES
		 ",\"sub\":\"1\"}",
		 NULL},
		{"[]", "three parts"},
		{"{\"sub\":\"1\",\"sub\":\"2\"}", "three parts"},
	};

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *token = jwt_make(&ec, "ES256", rows[i].claims);

		comes_to(keys, token, BU_ERR_DENIED, rows[i].says);
	}
	teardown();
}
END_TEST

/* The header is its sender's: signed by the right key here, and refused all the same.
 */
START_TEST(a_header_chooses_nothing)
{
	static const struct {
		const char *header, *says;
	} rows[] = {
		{"{\"alg\":\"RS256\",\"kid\":\"r1\"}", NULL},
		{"{\"alg\":\"RS256\",\"kid\":\"r1\",\"typ\":\"at+jwt\"}", NULL},
		{"{\"alg\":\"RS256\",\"kid\":\"r1\",\"typ\":\"logout+jwt\"}", "type"},
		{"{\"alg\":\"RS256\",\"kid\":\"r1\",\"typ\":1}", "type"},
		{"{\"alg\":\"none\",\"kid\":\"r1\"}", "algorithm"},
		{"{\"alg\":\"None\",\"kid\":\"r1\"}", "algorithm"},
		{"{\"alg\":\"HS256\",\"kid\":\"r1\"}", "algorithm"},
		{"{\"alg\":\"RS512\",\"kid\":\"r1\"}", "algorithm"},
		{"{\"alg\":[\"RS256\"],\"kid\":\"r1\"}", "algorithm"},
		{"{\"kid\":\"r1\"}", "algorithm"},
		{"{\"alg\":\"RS256\"}", "which key"},
		{"{\"alg\":\"RS256\",\"kid\":\"r1\",\"crit\":[\"b64\"],\"b64\":false}",
		 "crit"},
	};

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = jwt_text(rows[i].header, GOOD);
		bu_autofree char *token = jwt_sign(&rsa, 0, text);

		comes_to(keys, token, BU_ERR_DENIED, rows[i].says);
	}
	teardown();
}
END_TEST

/* With the public key, which everybody has, as the secret of HMAC. */
START_TEST(a_public_key_is_no_secret)
{
	bu_autofree char *text = jwt_text("{\"alg\":\"HS256\",\"kid\":\"r1\"}", GOOD);
	bu_autofree char *end = NULL, *token = NULL;
	gnutls_datum_t pem = {NULL, 0};
	gnutls_pubkey_t public;
	uint8_t mac[32];

	setup();
	ck_assert_int_eq(gnutls_pubkey_init(&public), 0);
	ck_assert_int_eq(gnutls_pubkey_import_privkey(public, rsa.key, 0, 0), 0);
	ck_assert_int_eq(gnutls_pubkey_export2(public, GNUTLS_X509_FMT_PEM, &pem), 0);
	ck_assert_int_eq(gnutls_hmac_fast(GNUTLS_MAC_SHA256, pem.data, pem.size, text,
					  strlen(text), mac),
			 0);
	end = jwt_base64(mac, sizeof(mac));
	token = bu_xasprintf("%s.%s", text, end);
	refused(token, "algorithm");
	gnutls_pubkey_deinit(public);
	gnutls_free(pem.data);
	teardown();
}
END_TEST

START_TEST(what_was_signed_is_what_counts)
{
	bu_autofree char *token = NULL, *forged = NULL, *bad = NULL, *text = NULL;
	static const char *const ends[] = {".", "..", ".eyJ9", " ", "="};
	char *end;

	setup();
	token = jwt_make(&rsa, "RS256", GOOD);
	end = strrchr(token, '.');
	/* Other claims before the same signature. */
	text = jwt_text("{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"r1\"}",
			CLAIMS(TIMES, ",\"groups\":[\"bringup-admin\"]"));
	forged = bu_xasprintf("%s%s", text, end);
	refused(forged, "not of the issuer's key");
	/* By a key of the same name that the issuer does not have. */
	bad = jwt_make(&other, "RS256", GOOD);
	refused(bad, "not of the issuer's key");
	for (size_t i = 0; i < BU_LEN(ends); i++) {
		bu_autofree char *longer = bu_xasprintf("%s%s", token, ends[i]);

		refused(longer, *ends[i] == '.' ? "three parts" : "no signature");
	}
	end[1] = end[1] == 'A' ? 'B' : 'A';
	refused(token, "not of the issuer's key");
	end[1] = '\0';
	refused(token, "no signature");
	end[0] = '\0';
	refused(token, "three parts");
	refused("", "three parts");
	refused("..", "three parts");
	teardown();
}
END_TEST

START_TEST(a_huge_token_is_not_looked_at)
{
	bu_autofree char *huge = bu_xmalloc(BU_JWT_MAX + 4);
	bu_autofree char *fill = bu_xmalloc(9000), *claims = NULL, *token = NULL;

	setup();
	memset(huge, 'A', BU_JWT_MAX + 3);
	huge[BU_JWT_MAX + 3] = '\0';
	huge[9] = huge[99] = '.';
	refused(huge, "three parts");
	memset(fill, 'x', 8999);
	fill[8999] = '\0';
	claims = bu_xasprintf(CLAIMS(TIMES, ",\"x\":\"%s\""), fill);
	token = jwt_make(&rsa, "RS256", claims);
	refused(token, "three parts");
	fill[8000] = '\0';
	free(bu_steal(&token));
	free(bu_steal(&claims));
	claims = bu_xasprintf(CLAIMS(TIMES, ",\"x\":\"%s\""), fill);
	token = jwt_make(&rsa, "RS256", claims);
	comes_to(keys, token, BU_ERR_NONE, NULL);
	teardown();
}
END_TEST

/* The one that may be fetched: when all else of the token is right. */
START_TEST(an_unknown_key_is_told_from_a_wrong_token)
{
	static const struct jwt_key *const all[] = {&rsa, &ec};

	setup();
	for (size_t i = 0; i < BU_LEN(all); i++) {
		const char *alg = all[i] == &ec ? "ES256" : "RS256";
		struct jwt_key next = *all[i];
		bu_autofree char *token = NULL, *old = NULL;

		next.kid = "next";
		token = jwt_make(&next, alg, GOOD);
		old = jwt_make(&next, alg,
			       CLAIMS("\"iat\":1699999000,\"exp\":1699999900", ""));
		comes_to(keys, token, BU_ERR_NOTFOUND, "no known key");
		comes_to(NULL, token, BU_ERR_NOTFOUND, "no known key");
		comes_to(NULL, old, BU_ERR_DENIED, "expired");
	}
	teardown();
}
END_TEST

/* A member of a key; NULL = it goes. */
static json_t *
changed(const struct jwt_key *key, const char *name, const char *value)
{
	json_t *object = jwt_key_json(key);

	if (value)
		json_object_set_new(object, name, json_string(value));
	else
		json_object_del(object, name);
	return object;
}

START_TEST(keys_that_are_not_good_are_left_out)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{"kty", "oct"}, {"k", "c2VjcmV0"}, {"d", "AQAB"},     {"use", "enc"},
		{"kid", NULL},  {"kid", ""},       {"e", "AQ"},       {"e", "Ag"},
		{"e", NULL},    {"n", "AQAB"},     {"n", "not base"}, {"kty", NULL},
	};
	struct jwt_key weak;

	setup();
	weak = jwt_key_make("weak", GNUTLS_PK_RSA, 1024);
	for (size_t i = 0; i <= BU_LEN(rows); i++) {
		json_t *bad = i < BU_LEN(rows)
				      ? changed(&rsa, rows[i].name, rows[i].value)
				      : jwt_key_json(&weak);
		bu_autofree char *alone = jwt_set_of(json_deep_copy(bad), NULL, NULL);
		struct bu_jwks *set = read_set(bad, jwt_key_json(&ec), NULL);
		bu_autofree char *token =
			jwt_make(i < BU_LEN(rows) ? &rsa : &weak, "RS256", GOOD);
		bu_autofree char *good = jwt_make(&ec, "ES256", GOOD);
		struct bu_err err = {0};

		ck_assert_msg(bu_jwks_count(set) == 1, "row %zu", i);
		comes_to(set, token, BU_ERR_NOTFOUND, "no known key");
		comes_to(set, good, BU_ERR_NONE, NULL);
		bu_jwks_destroy(set);
		ck_assert_ptr_null(bu_jwks_read(alone, strlen(alone), &err));
		ck_assert_ptr_nonnull(strstr(err.text, "none of the 1 keys"));
	}
	jwt_key_end(&weak);
	teardown();
}
END_TEST

/* Two keys of one name are told apart by their type; `alg` of a key binds it. */
START_TEST(a_name_may_be_of_two_keys)
{
	bu_autofree char *by_rsa = NULL, *by_ec = NULL, *pss = NULL;
	struct bu_jwks *set;
	struct jwt_key same;

	setup();
	same = ec;
	same.kid = "r1";
	set = read_set(jwt_key_json(&same), changed(&rsa, "alg", "RS256"), NULL);
	by_rsa = jwt_make(&rsa, "RS256", GOOD);
	by_ec = jwt_make(&same, "ES256", GOOD);
	pss = jwt_make(&rsa, "PS256", GOOD);
	comes_to(set, by_rsa, BU_ERR_NONE, NULL);
	comes_to(set, by_ec, BU_ERR_NONE, NULL);
	comes_to(set, pss, BU_ERR_DENIED, "not of the issuer's key");
	bu_jwks_destroy(set);
	teardown();
}
END_TEST

/* A point that is not on the curve would tell the private half of others. */
START_TEST(a_key_off_the_curve_checks_nothing)
{
	bu_autofree char *token = NULL, *text = NULL;
	struct bu_err err = {0};
	struct bu_jwks *set;
	json_t *bad;

	setup();
	bad = jwt_key_json(&ec);
	json_object_set(bad, "y", json_object_get(bad, "x"));
	text = jwt_set_of(bad, NULL, NULL);
	set = bu_jwks_read(text, strlen(text), &err);
	token = jwt_make(&ec, "ES256", GOOD);
	ck_assert_ptr_null(bu_jwt_open(token, &wanted, set, &err));
	bu_jwks_destroy(set);
	teardown();
}
END_TEST

START_TEST(what_is_no_key_set_is_refused)
{
	static const char *const rows[] = {"",
					   "[]",
					   "{}",
					   "{\"keys\":{}}",
					   "{\"keys\":[]}",
					   "{\"keys\":[1,\"x\",null,[]]}",
					   "{\"keys\":[],\"keys\":[]}"};
	bu_autojson json_t *many = json_pack("{s:[]}", "keys");
	bu_autofree char *text = NULL;
	struct bu_err err;

	setup();
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_ptr_null(bu_jwks_read(rows[i], strlen(rows[i]), &err));
	for (int i = 0; i <= BU_JWKS_KEYS_MAX; i++)
		json_array_append_new(json_object_get(many, "keys"), jwt_key_json(&ec));
	text = json_dumps(many, 0);
	ck_assert_ptr_null(bu_jwks_read(text, strlen(text), &err));
	ck_assert_ptr_nonnull(strstr(err.text, "at most 64"));
	teardown();
}
END_TEST

START_TEST(the_end_is_known_without_keys)
{
	bu_autofree char *token = NULL;

	setup();
	token = jwt_make(&rsa, "RS256", GOOD);
	ck_assert_int_eq(bu_jwt_ends_s(token), NOW_S + 300);
	ck_assert_int_eq(bu_jwt_ends_s("bringup_00"), 0);
	ck_assert_int_eq(bu_jwt_ends_s("a.b.c"), 0);
	teardown();
}
END_TEST

BU_UNIT("jwt", each_algorithm_is_taken_with_its_own_key,
	every_signature_of_p256_is_taken, claims_say_for_whom_and_how_long,
	a_header_chooses_nothing, a_public_key_is_no_secret,
	what_was_signed_is_what_counts, a_huge_token_is_not_looked_at,
	an_unknown_key_is_told_from_a_wrong_token, keys_that_are_not_good_are_left_out,
	a_name_may_be_of_two_keys, a_key_off_the_curve_checks_nothing,
	what_is_no_key_set_is_refused, the_end_is_known_without_keys)
