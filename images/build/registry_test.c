/* SPDX-License-Identifier: Apache-2.0 */
/* References to registries, and what these ask for. (Pulling: tests/system/oci-pull.)
 */
#include "images/build/registry.h"

#include <string.h>

#include "tests/support/unit.h"

#define DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

START_TEST(references_are_read)
{
	struct bu_registry_ref ref;
	struct bu_err err = {0};

	ck_assert_int_eq(
		bu_registry_parse("oci://r.example:5000/a/b_c:v1.2", &ref, &err), 0);
	ck_assert_str_eq(ref.host, "r.example:5000");
	ck_assert_str_eq(ref.repository, "a/b_c");
	ck_assert_str_eq(ref.tag, "v1.2");
	ck_assert_int_eq(bu_registry_parse("oci://r.example/a", &ref, &err), 0);
	ck_assert_str_eq(ref.tag, "latest");
	ck_assert_int_eq(
		bu_registry_parse("oci://r.example/a@sha256:" DIGEST, &ref, &err), 0);
	ck_assert_str_eq(ref.digest, DIGEST);
	ck_assert_str_eq(ref.tag, "");
}
END_TEST

START_TEST(what_is_no_reference_is_refused)
{
	static const char *const wrong[] = {
		"oci://",
		"oci:///a",
		"oci://r.example",
		"oci://r.example/",
		"oci://r.example/a:",
		"oci://r.example/../a:x",
		"oci://r.example/A:x",
		"oci://r.example/a//b",
		"oci://r.example/a/:x",
		"oci://r.example/a@sha256:00",
		("oci://r.example/a@sha512:" DIGEST),
		"oci://user:word@r.example/a",
		"oci://r.example/a:x/y",
		"oci://r.example/a?x=y",
		"oci://r.example/a:x y",
	};

	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		struct bu_registry_ref ref;
		struct bu_err err = {0};

		ck_assert_msg(bu_registry_parse(wrong[i], &ref, &err) == -1, "%s",
			      wrong[i]);
		ck_assert_ptr_nonnull(strstr(err.text, "needed"));
	}
}
END_TEST

START_TEST(a_challenge_says_where_tokens_are)
{
	struct bu_err err = {0};
	bu_autofree char *url = bu_registry_token_url(
		" Bearer realm=\"https://auth.example/token\",service=\"r x\","
		"scope=\"repository:a/b:pull\"\r\n",
		&err);

	ck_assert_pstr_eq(url, "https://auth.example/token?service=r%20x&"
			       "scope=repository:a/b:pull");
	ck_assert_ptr_null(bu_registry_token_url("Basic realm=\"x\"", &err));
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_ptr_null(bu_registry_token_url("Bearer service=\"x\"", &err));
	ck_assert_ptr_null(bu_registry_token_url("Bearer realm=\"x", &err));
}
END_TEST

BU_UNIT("registry", references_are_read, what_is_no_reference_is_refused,
	a_challenge_says_where_tokens_are)
