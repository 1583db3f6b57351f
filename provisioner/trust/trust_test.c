/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in a directory: made once, kept for good. */
#include "provisioner/trust/trust.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static const char *const names[] = {"DNS:bringup", "IP:127.0.0.1", NULL};
static const char *const files[] = {"ca.key",   "server.key",   "sign.key",
				    "sign.pub", "token.secret", "ca.pem"};

static char *
make_dir(char dir[64])
{
	strcpy(dir, "/tmp/bringup-trust-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	return bu_xasprintf("%s/keys", dir);
}

static char *
in(const char *keys, const char *name)
{
	return bu_xasprintf("%s/%s", keys, name);
}

START_TEST(keys_are_made_once_and_private)
{
	char dir[64], first[BU_DIGEST_SIZE], token[65], again[65];
	bu_autofree char *keys = make_dir(dir), *pub = NULL;
	struct bu_trust *trust = bu_trust_open(keys, names, NULL);
	struct stat st;

	ck_assert_ptr_nonnull(trust);
	strcpy(first, bu_trust_ca_digest(trust));
	bu_trust_token(trust, "s", 1, token);
	pub = bu_xstrdup(bu_trust_public_key(trust));
	bu_trust_destroy(trust);
	ck_assert_int_eq(stat(keys, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = in(keys, files[i]);

		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_int_eq(st.st_mode & 0777, 0600);
	}
	trust = bu_trust_open(keys, names, NULL);
	ck_assert_str_eq(bu_trust_ca_digest(trust), first);
	ck_assert_str_eq(bu_trust_public_key(trust), pub);
	bu_trust_token(trust, "s", 1, again);
	ck_assert_str_eq(token, again);
	bu_trust_destroy(trust);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

START_TEST(a_lost_key_is_an_error_and_no_reason_for_new_ones)
{
	for (size_t i = 0; i + 1 < BU_LEN(files); i++) {
		char dir[64];
		bu_autofree char *keys = make_dir(dir), *path = in(keys, files[i]);
		bu_autofree char *where = NULL;
		struct bu_err err = {0};

		bu_trust_destroy(bu_trust_open(keys, names, NULL));
		unlink(path);
		ck_assert_ptr_null(bu_trust_open(keys, names, &err));
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		ck_assert_ptr_nonnull(strstr(err.text, files[i]));
		where = bu_xasprintf("keys in '%s'", keys);
		ck_assert_ptr_nonnull(strstr(err.text, where));
		ck_assert_int_eq(bu_file_exists(path), 0);
		bu_ignore(bu_remove_tree(dir, NULL));
	}
}
END_TEST

/* Killed after any number of files: the next start goes on with what is there. */
START_TEST(a_first_start_may_be_cut_short)
{
	for (size_t made = 0; made < BU_LEN(files); made++) {
		char dir[64];
		bu_autofree char *keys = make_dir(dir), *sign = in(keys, "sign.key");
		bu_autofree char *before = NULL, *after = NULL;
		bu_autojson json_t *body = json_pack("{s:i}", "v", 1), *sealed = NULL;
		bu_autojson json_t *opened = NULL;
		struct bu_trust *trust;

		bu_trust_destroy(bu_trust_open(keys, names, NULL));
		before = bu_file_read(sign, 0, NULL, NULL);
		for (size_t i = made; i < BU_LEN(files); i++) {
			/* written in this order, but for the pair of sign.* */
			static const char *const order[] = {
				"ca.key",   "server.key",   "sign.pub",
				"sign.key", "token.secret", "ca.pem"};
			bu_autofree char *path = in(keys, order[i]);

			unlink(path);
		}
		trust = bu_trust_open(keys, names, NULL);
		ck_assert_ptr_nonnull(trust);
		after = bu_file_read(sign, 0, NULL, NULL);
		ck_assert_int_eq(strcmp(before, after) == 0, made >= 4);
		sealed = bu_trust_sign(trust, body, NULL);
		opened = bu_trust_open_signed(trust, sealed, NULL);
		ck_assert(json_equal(opened, body)); /* the halves fit */
		bu_trust_destroy(trust);
		bu_ignore(bu_remove_tree(dir, NULL));
	}
}
END_TEST

START_TEST(what_is_signed_opens_and_nothing_else)
{
	char dir[64], other_dir[64];
	bu_autofree char *keys = make_dir(dir), *other_keys = make_dir(other_dir);
	struct bu_trust *trust = bu_trust_open(keys, names, NULL);
	struct bu_trust *other = bu_trust_open(other_keys, names, NULL);
	bu_autojson json_t *body = json_pack("{s:s,s:i}", "step", "x", "a", 1);
	bu_autojson json_t *sealed = bu_trust_sign(trust, body, NULL);
	bu_autojson json_t *opened = bu_trust_open_signed(trust, sealed, NULL);
	bu_autojson json_t *empty = json_object();
	struct bu_err err = {0};

	ck_assert(json_equal(opened, body));
	ck_assert_str_eq(bu_json_str(sealed, "text", ""), "{\"a\":1,\"step\":\"x\"}");
	ck_assert_ptr_null(bu_trust_open_signed(other, sealed, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	json_object_set_new(sealed, "text", json_string("{\"a\":2,\"step\":\"x\"}"));
	ck_assert_ptr_null(bu_trust_open_signed(trust, sealed, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_null(bu_trust_open_signed(trust, empty, &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	bu_trust_destroy(trust);
	bu_trust_destroy(other);
	bu_ignore(bu_remove_tree(dir, NULL));
	bu_ignore(bu_remove_tree(other_dir, NULL));
}
END_TEST

START_TEST(a_token_is_of_one_step_and_attempt)
{
	char dir[64], a[65], b[65];
	bu_autofree char *keys = make_dir(dir);
	struct bu_trust *trust = bu_trust_open(keys, names, NULL);

	bu_trust_token(trust, "n.1.boot-network", 1, a);
	ck_assert_uint_eq(strspn(a, "0123456789abcdef"), 64);
	bu_trust_token(trust, "n.1.boot-network", 2, b);
	ck_assert_str_ne(a, b);
	bu_trust_token(trust, "n.2.boot-network", 1, b);
	ck_assert_str_ne(a, b);
	bu_trust_token(trust, "n.1.boot-network|1", 1, b);
	ck_assert_str_ne(a, b);
	bu_trust_destroy(trust);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

START_TEST(an_agent_gets_a_certificate_for_its_request_alone)
{
	char dir[64];
	bu_autofree char *keys = make_dir(dir), *key = NULL, *csr = NULL, *cert = NULL;
	bu_autofree char *again = NULL;
	char first[BU_DIGEST_SIZE], second[BU_DIGEST_SIZE];
	int64_t from_s, until_s;
	struct bu_trust *trust = bu_trust_open(keys, names, NULL);
	struct bu_err err = {0};

	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, "root", &csr, NULL), 0);
	cert = bu_trust_issue(trust, csr, "0123456789abcdef", NULL);
	ck_assert_ptr_nonnull(strstr(cert, "BEGIN CERTIFICATE"));
	ck_assert_int_eq(bu_cert_times(cert, &from_s, &until_s, NULL), 0);
	ck_assert_int_eq((until_s - from_s) / 86400, 91); /* it begins a day before */
	/* each has a number of its own */
	again = bu_trust_issue(trust, csr, "0123456789abcdef", NULL);
	ck_assert_int_eq(bu_cert_fingerprint(cert, first, NULL), 0);
	ck_assert_int_eq(bu_cert_fingerprint(again, second, NULL), 0);
	ck_assert_str_ne(first, second);
	ck_assert_ptr_null(bu_trust_issue(trust, "nonsense", "m", &err));
	ck_assert_int_ne(err.kind, BU_ERR_NONE);
	bu_trust_destroy(trust);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("trust", keys_are_made_once_and_private,
	a_lost_key_is_an_error_and_no_reason_for_new_ones,
	a_first_start_may_be_cut_short, what_is_signed_opens_and_nothing_else,
	a_token_is_of_one_step_and_attempt,
	an_agent_gets_a_certificate_for_its_request_alone)
