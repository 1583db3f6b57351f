/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a certificate request names, and what else it holds. */
#include <string.h>

#include "base/crypto.h"
#include "tests/support/csr.h"
#include "tests/support/unit.h"

#define SUBJECT "CN=system:node:gpu001,O=system:nodes"
#define LONG "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."

static void
read_of(const struct csr_of *of, struct bu_csr *ret)
{
	bu_autofree char *pem = csr_make(of);
	struct bu_err err = {0};

	ck_assert_msg(bu_csr_read(pem, ret, &err) == 0, "%s", err.text);
}

START_TEST(a_kubelets_request_is_read)
{
	struct bu_csr csr;

	read_of(&(struct csr_of){.subject = SUBJECT}, &csr);
	ck_assert_str_eq(csr.common_name, "system:node:gpu001");
	ck_assert_str_eq(csr.organization, "system:nodes");
	ck_assert(!csr.other);
	ck_assert(!csr.weak);
	ck_assert_uint_eq(csr.names_count, 0);

	read_of(&(struct csr_of){.subject = SUBJECT,
				 .names = {"DNS:gpu001", "IP:10.77.0.11"},
				 .rsa_bits = 2048},
		&csr);
	ck_assert(!csr.other);
	ck_assert(!csr.weak);
	ck_assert_uint_eq(csr.names_count, 2);
	ck_assert_str_eq(csr.names[0], "DNS:gpu001");
	ck_assert_str_eq(csr.names[1], "IP:10.77.0.11");
}
END_TEST

/* Whoever reads the two names alone would sign the rest, too. */
START_TEST(whatever_else_a_request_holds_is_told)
{
	static const struct csr_of rows[] = {
		{.subject = NULL},
		{.subject = "CN=system:node:gpu001"},
		{.subject = "O=system:nodes"},
		{.subject = SUBJECT ",O=system:masters"},
		{.subject = "O=system:masters," SUBJECT},
		{.subject = SUBJECT ",CN=system:node:gpu002"},
		{.subject = SUBJECT ",OU=x"},
		{.subject = "C=DE," SUBJECT},
		{.subject = SUBJECT, .names = {"URI:spiffe://site/admin"}},
		{.subject = SUBJECT, .names = {"MAIL:root@site"}},
		{.subject = SUBJECT, .names = {"DNS:gpu001", "URI:https://a"}},
		{.subject = SUBJECT, .names = {"DNS:" LONG LONG LONG LONG LONG}},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_csr csr;

		read_of(&rows[i], &csr);
		ck_assert_msg(csr.other, "%s, %s", rows[i].subject,
			      rows[i].names[0] ? rows[i].names[0] : "");
	}
}
END_TEST

START_TEST(a_weak_key_is_told)
{
	struct bu_csr csr;

	read_of(&(struct csr_of){.subject = SUBJECT, .rsa_bits = 1024}, &csr);
	ck_assert(csr.weak);
	ck_assert(!csr.other);
}
END_TEST

/* A request whose key has not signed it is none either. */
START_TEST(what_is_no_request_is_refused)
{
	static const char *const texts[] = {
		"",
		"x",
		"-----BEGIN CERTIFICATE REQUEST-----\n",
		("-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n"
		 "-----END CERTIFICATE REQUEST-----\n"),
	};
	bu_autofree char *pem = csr_make(&(struct csr_of){.subject = SUBJECT});
	struct bu_csr csr;
	struct bu_err err = {0};
	char *end = strstr(pem, "\n-----END") - 12;

	for (size_t i = 0; i < BU_LEN(texts); i++) {
		ck_assert_int_eq(bu_csr_read(texts[i], &csr, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
	*end = *end == 'A' ? 'B' : 'A';
	ck_assert_int_eq(bu_csr_read(pem, &csr, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_str_eq(csr.common_name, "");
}
END_TEST

BU_UNIT("csr", a_kubelets_request_is_read, whatever_else_a_request_holds_is_told,
	a_weak_key_is_told, what_is_no_request_is_refused)
