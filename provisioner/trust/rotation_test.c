/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of the CA: who is trusted at each step, what both secrets open, and that a
 * kill before any write leaves the step before or the one after, with keys that fit.
 */
#include "provisioner/trust/trust.h"

#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "tests/support/killed.h"
#include "tests/support/unit.h"

enum { NOW_MS = 1771000000, CAS_MAX = 4 };

static const char *const names[] = {"DNS:bringup", "IP:127.0.0.1", NULL};
static char dir[64], keys[80];
static struct bu_trust *trust;
static char *csr;

static void
begin(void)
{
	bu_autofree char *key = NULL;

	strcpy(dir, "/tmp/bringup-rotation-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(keys, sizeof(keys), "%s/keys", dir);
	trust = bu_trust_open(keys, names, NULL);
	ck_assert_ptr_nonnull(trust);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, "node", &csr, NULL), 0);
}

static void
end(void)
{
	bu_trust_destroy(trust);
	trust = NULL;
	free(csr);
	bu_ignore(bu_remove_tree(dir, NULL));
}

/* What another process finds. */
static void
reopen(void)
{
	struct bu_err err = {0};

	bu_trust_destroy(trust);
	trust = bu_trust_open(keys, names, &err);
	ck_assert_msg(trust != NULL, "%s", err.text);
}

static void
take(enum bu_rotation to)
{
	ck_assert_int_eq(bu_trust_rotate(trust, to, NOW_MS, NULL), 0);
	ck_assert_int_eq(bu_trust_rotation(trust), to);
}

/* 1 = who trusts these CAs trusts this certificate. */
static int
is_trusted(const char *cert_pem, const char *cas_pem)
{
	gnutls_datum_t text = {(void *)(uintptr_t)cert_pem, (unsigned)strlen(cert_pem)};
	gnutls_datum_t all = {(void *)(uintptr_t)cas_pem, (unsigned)strlen(cas_pem)};
	gnutls_x509_crt_t cert, cas[CAS_MAX];
	unsigned count = CAS_MAX, status = 1;

	ck_assert_int_eq(gnutls_x509_crt_init(&cert), 0);
	ck_assert_int_eq(gnutls_x509_crt_import(cert, &text, GNUTLS_X509_FMT_PEM), 0);
	ck_assert_int_gt(
		gnutls_x509_crt_list_import(cas, &count, &all, GNUTLS_X509_FMT_PEM, 0),
		0);
	ck_assert_int_eq(gnutls_x509_crt_verify(cert, cas, (int)count, 0, &status), 0);
	gnutls_x509_crt_deinit(cert);
	for (unsigned i = 0; i < count; i++)
		gnutls_x509_crt_deinit(cas[i]);
	return status == 0;
}

static char *
issue(void)
{
	char *cert = bu_trust_issue(trust, csr, "machine", NULL);

	ck_assert_ptr_nonnull(cert);
	return cert;
}

/* Whatever the step: what it issues and serves is trusted by who trusts its CAs. */
static void
is_whole(void)
{
	bu_autofree char *cert = issue();

	ck_assert(is_trusted(cert, bu_trust_ca(trust)));
	ck_assert(is_trusted(bu_trust_server_cert(trust), bu_trust_ca(trust)));
	ck_assert(is_trusted(bu_trust_server_cert(trust), bu_trust_issuer(trust)));
}

START_TEST(old_and_new_count_until_the_end)
{
	bu_autofree char *first = NULL, *ca = NULL, *next = NULL, *both = NULL;
	char volume[65], old[65], seed[65], now[65];

	begin();
	first = issue();
	ca = bu_xstrdup(bu_trust_ca(trust));
	bu_trust_volume_key(trust, "m", "guid", volume);
	bu_trust_token(trust, "s", 1, old);
	bu_trust_seed_token(trust, "s", seed);

	take(BU_ROTATION_TOLD);
	both = bu_xstrdup(bu_trust_ca(trust));
	ck_assert(is_trusted(first, both));
	ck_assert_int_eq(bu_trust_rotation_began(trust), BU_ROTATION_NONE);
	next = issue();
	ck_assert(is_trusted(next, ca)); /* nobody knows the new one yet */
	bu_trust_token(trust, "s", 1, now);
	ck_assert_str_eq(now, old);
	free(bu_steal(&next));

	take(BU_ROTATION_ISSUES);
	ck_assert_int_eq(bu_trust_rotation_since_ms(trust), NOW_MS);
	next = issue();
	ck_assert(!is_trusted(next, ca));
	ck_assert(is_trusted(next, both));
	ck_assert(is_trusted(first, bu_trust_ca(trust)));
	bu_trust_token(trust, "s", 1, now);
	ck_assert_str_ne(now, old);
	ck_assert(bu_trust_is_token(trust, "s", 1, now));
	ck_assert(bu_trust_is_token(trust, "s", 1, old));
	ck_assert(!bu_trust_is_token(trust, "s", 2, old));
	ck_assert(bu_trust_is_seed_token(trust, "s", seed));
	/* A server that goes on still has the certificate that it began with. */
	ck_assert(is_trusted(bu_trust_server_cert(trust), ca));
	reopen();
	ck_assert(!is_trusted(bu_trust_server_cert(trust), ca));
	ck_assert_int_eq(bu_trust_rotation_began(trust), BU_ROTATION_ISSUES);
	ck_assert_int_eq(bu_trust_rotation_since_ms(trust), NOW_MS);

	take(BU_ROTATION_NONE);
	ck_assert(!is_trusted(first, bu_trust_ca(trust)));
	ck_assert(is_trusted(next, bu_trust_ca(trust)));
	ck_assert(!bu_trust_is_token(trust, "s", 1, old));
	ck_assert(bu_trust_is_token(trust, "s", 1, now));
	reopen();
	is_whole();
	ck_assert(is_trusted(next, bu_trust_ca(trust)));
	bu_trust_volume_key(trust, "m", "guid", now);
	ck_assert_str_eq(now, volume);
	end();
}
END_TEST

START_TEST(steps_come_in_their_order)
{
	bu_autofree char *ca = NULL, *path = NULL;
	struct bu_err err = {0};

	begin();
	ca = bu_xstrdup(bu_trust_ca(trust));
	ck_assert_int_eq(bu_trust_rotate(trust, BU_ROTATION_ISSUES, NOW_MS, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(bu_trust_rotate(trust, BU_ROTATION_NONE, NOW_MS, &err), -1);
	take(BU_ROTATION_TOLD);
	ck_assert_int_eq(bu_trust_rotate(trust, BU_ROTATION_TOLD, NOW_MS, &err), -1);
	/* What was only told is taken back. */
	take(BU_ROTATION_NONE);
	ck_assert_str_eq(bu_trust_ca(trust), ca);
	take(BU_ROTATION_TOLD);
	take(BU_ROTATION_ISSUES);
	ck_assert_int_eq(bu_trust_rotate(trust, BU_ROTATION_TOLD, NOW_MS, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	path = bu_xasprintf("%s/rotation", keys);
	ck_assert_int_eq(bu_file_write(path, "rubbish\n", 8, 0600, NULL), 0);
	ck_assert_ptr_null(bu_trust_open(keys, names, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	end();
}
END_TEST

/* --- killed --- */

static const enum bu_rotation ways[][2] = {
	{BU_ROTATION_NONE, BU_ROTATION_TOLD},
	{BU_ROTATION_TOLD, BU_ROTATION_ISSUES},
	{BU_ROTATION_ISSUES, BU_ROTATION_NONE},
	{BU_ROTATION_TOLD, BU_ROTATION_NONE},
};
static enum bu_rotation wanted;

static int
run(void)
{
	return bu_trust_rotate(trust, wanted, NOW_MS, NULL);
}

/* At the step `from`, with certificates of before. */
static void
stand_at(enum bu_rotation from)
{
	for (int step = BU_ROTATION_TOLD; step <= (int)from; step++)
		take((enum bu_rotation)step);
	reopen();
}

static void
killed_between(enum bu_rotation from, enum bu_rotation to)
{
	int point = 0, last, before = 0, after = 0;

	do {
		bu_autofree char *theirs = NULL;
		char volume[65], again[65];

		begin();
		stand_at(from);
		theirs = issue();
		bu_trust_volume_key(trust, "m", "guid", volume);
		wanted = to;
		last = killed_at(point++, run);
		reopen();
		is_whole();
		ck_assert(bu_trust_rotation(trust) == from ||
			  bu_trust_rotation(trust) == to);
		before += bu_trust_rotation(trust) == from;
		after += bu_trust_rotation(trust) == to;
		ck_assert(is_trusted(theirs, bu_trust_ca(trust)));
		bu_trust_volume_key(trust, "m", "guid", again);
		ck_assert_str_eq(volume, again);
		/* And on, as if nothing had been. */
		if (bu_trust_rotation(trust) == from)
			take(to);
		reopen();
		is_whole();
		ck_assert_int_eq(bu_trust_rotation(trust), to);
		end();
	} while (last >= 0);
	if (last == KILLED_NO_TRACE) {
		puts("skipped: a_kill_leaves_one_step_or_the_other needs ptrace");
		return;
	}
	ck_assert_int_ge(before, 1);
	ck_assert_int_ge(after, 1);
}

START_TEST(a_kill_leaves_one_step_or_the_other)
{
	for (size_t i = 0; i < BU_LEN(ways); i++)
		killed_between(ways[i][0], ways[i][1]);
}
END_TEST

BU_UNIT("rotation", old_and_new_count_until_the_end, steps_come_in_their_order,
	a_kill_leaves_one_step_or_the_other)
