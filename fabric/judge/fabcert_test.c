/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/judge/fabcert.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/unit.h"

static struct bu_pair_result result;
static const struct bu_pair_result *const results[] = {&result};
static struct bu_fabcert_rail rails[2];
static json_t *hardware;
static char *private_pem, *public_pem;

static struct bu_fabcert
make_cert(enum bu_fabcert_kind kind)
{
	bu_pair_result_init(&result);
	strcpy(result.probe, "p1");
	strcpy(result.end[0].node, "node001");
	strcpy(result.end[1].node, "node002");
	result.verdict = BU_VERDICT_PASS;
	bu_pair_dir_add(&result.dir[0], 0.019);
	if (!hardware)
		hardware = json_pack("{s:s, s:s}", "serial", "S1", "uuid", "u-1");
	if (!private_pem)
		ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL),
				 0);
	rails[0] =
		(struct bu_fabcert_rail){.name = "rail0",
					 .results = results,
					 .result_count = 1,
					 .expect = {.link_gbps = 0.02, .percent = 80},
					 .verdict = BU_VERDICT_PASS};
	rails[1] = rails[0];
	rails[1].name = "rail1";
	return (struct bu_fabcert){.kind = kind,
				   .node = "node002",
				   .machine = "m-2",
				   .hardware = hardware,
				   .boot_id = "boot-7",
				   .epoch = 5,
				   .issued_ms = 1795276435550,
				   .rails = rails,
				   .rail_count = 2,
				   .seed = UINT64_MAX};
}

START_TEST(signs_and_verifies)
{
	struct bu_fabcert cert = make_cert(BU_FABCERT_BOOT);
	struct bu_err err;
	bu_autofree char *text = bu_fabcert_sign(&cert, private_pem, &err);
	bu_autojson json_t *got = NULL;
	json_t *partners;

	ck_assert_ptr_nonnull(text);
	got = bu_fabcert_verify(text, strlen(text), public_pem, &err);
	ck_assert_ptr_nonnull(got);
	partners = json_object_get(got, "partners");
	ck_assert_int_eq(json_array_size(partners), 1);
	ck_assert_str_eq(json_string_value(json_array_get(partners, 0)), "node001");
	ck_assert_str_eq(bu_json_str(got, "seed", ""), "ffffffffffffffff");
	ck_assert_int_eq(bu_fabcert_check(got, BU_FABCERT_BOOT,
					  &(struct bu_fabcert_now){"node002", "m-2",
								   hardware, "boot-7"},
					  &err),
			 0);
}
END_TEST

START_TEST(any_change_breaks_the_signature)
{
	struct bu_fabcert cert = make_cert(BU_FABCERT_FULL);
	bu_autofree char *text = bu_fabcert_sign(&cert, private_pem, NULL);
	bu_autofree char *other_private = NULL, *other_public = NULL;
	char *at = strstr(text, "node001");
	struct bu_err err;

	ck_assert_int_eq(bu_sign_key_create(&other_private, &other_public, NULL), 0);
	ck_assert_ptr_null(bu_fabcert_verify(text, strlen(text), other_public, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	at[6] = '3';
	ck_assert_ptr_null(bu_fabcert_verify(text, strlen(text), public_pem, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_null(bu_fabcert_verify("{}", 2, public_pem, &err));
	ck_assert_ptr_null(bu_fabcert_verify("{\"sig\":\"00\",\"cert\":[]}", 21,
					     public_pem, &err));
}
END_TEST

START_TEST(counts_for_one_machine_and_boot)
{
	struct bu_fabcert cert = make_cert(BU_FABCERT_BOOT);
	bu_autofree char *text = bu_fabcert_sign(&cert, private_pem, NULL);
	bu_autojson json_t *boot =
		bu_fabcert_verify(text, strlen(text), public_pem, NULL);
	bu_autojson json_t *other = json_pack("{s:s}", "serial", "S2");
	bu_autojson json_t *full = json_deep_copy(boot);

	json_object_set_new(full, "kind", json_string("full"));
	struct {
		json_t *cert;
		enum bu_fabcert_kind kind;
		const char *node, *machine;
		json_t *hardware;
		const char *boot_id;
		int rc;
	} rows[] = {
		{boot, BU_FABCERT_BOOT, "node002", "m-2", hardware, "boot-7", 0},
		{boot, BU_FABCERT_FULL, "node002", "m-2", hardware, "boot-7", -1},
		{boot, BU_FABCERT_BOOT, "node001", "m-2", hardware, "boot-7", -1},
		{boot, BU_FABCERT_BOOT, "node002", "m-3", hardware, "boot-7", -1},
		{boot, BU_FABCERT_BOOT, "node002", "m-2", other, "boot-7", -1},
		{boot, BU_FABCERT_BOOT, "node002", "m-2", NULL, "boot-7", -1},
		{boot, BU_FABCERT_BOOT, "node002", "m-2", hardware, "boot-8", -1},
		{boot, BU_FABCERT_BOOT, "node002", "m-2", hardware, NULL, -1},
		{full, BU_FABCERT_FULL, "node002", "m-2", hardware, "boot-8", 0},
		{full, BU_FABCERT_BOOT, "node002", "m-2", hardware, "boot-7", -1},
	};
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(
			bu_fabcert_check(rows[i].cert, rows[i].kind,
					 &(struct bu_fabcert_now){
						 rows[i].node, rows[i].machine,
						 rows[i].hardware, rows[i].boot_id},
					 NULL) == rows[i].rc,
			"row %zu", i);
	json_object_set_new(boot, "verdict", json_string("fail"));
	ck_assert_int_eq(bu_fabcert_check(boot, BU_FABCERT_BOOT,
					  &(struct bu_fabcert_now){"node002", "m-2",
								   hardware, "boot-7"},
					  NULL),
			 -1);
}
END_TEST

START_TEST(makes_none_that_proves_nothing)
{
	struct bu_fabcert cert = make_cert(BU_FABCERT_FULL);
	struct bu_err err;

	rails[1].verdict = BU_VERDICT_FAIL;
	ck_assert_ptr_null(bu_fabcert_sign(&cert, private_pem, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "rail1: the verdict is fail"));
	cert = make_cert(BU_FABCERT_FULL);
	rails[1].result_count = 0;
	ck_assert_ptr_null(bu_fabcert_sign(&cert, private_pem, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "rail1 was not probed"));
	cert = make_cert(BU_FABCERT_FULL);
	cert.rail_count = 0;
	ck_assert_ptr_null(bu_fabcert_sign(&cert, private_pem, &err));
	cert = make_cert(BU_FABCERT_FULL);
	cert.node = "node009";
	ck_assert_ptr_null(bu_fabcert_sign(&cert, private_pem, &err));
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
}
END_TEST

/* One of a time without rails is of the only one. */
START_TEST(covers_the_rails_that_it_names)
{
	struct bu_fabcert cert = make_cert(BU_FABCERT_FULL);
	bu_autofree char *text = bu_fabcert_sign(&cert, private_pem, NULL);
	bu_autojson json_t *got =
		bu_fabcert_verify(text, strlen(text), public_pem, NULL);

	ck_assert_int_eq(json_array_size(json_object_get(got, "results")), 2);
	ck_assert_int_eq(bu_fabcert_covers(got, "rail0", 1), 1);
	ck_assert_int_eq(bu_fabcert_covers(got, "rail1", 0), 1);
	ck_assert_int_eq(bu_fabcert_covers(got, "rail2", 0), 0);
	json_object_del(got, "rails");
	ck_assert_int_eq(bu_fabcert_covers(got, "rail0", 1), 1);
	ck_assert_int_eq(bu_fabcert_covers(got, "rail1", 0), 0);
}
END_TEST

/* Of the probe that measured all rails, and of those the one that carried most in its
 * weaker direction; one that missed a rail is none. */
START_TEST(tells_what_the_rails_carried_together)
{
	static const struct {
		const char *probe;
		double to, from; /* the node's receiving and sending */
	} rows[2][3] = {
		{{"p1", 0.018, 0.019}, {"p2", 0.02, 0.017}, {"p3", 0.02, 0.02}},
		{{"p1", 0.017, 0.018}, {"p2", 0.02, 0.016}, {"p4", 0.02, 0.02}}};
	struct bu_fabcert cert = make_cert(BU_FABCERT_FULL);
	static struct bu_pair_result list[2][3];
	const struct bu_pair_result *refs[2][3];
	struct bu_err err;

	for (int r = 0; r < 2; r++) {
		for (int i = 0; i < 3; i++) {
			bu_pair_result_init(&list[r][i]);
			memcpy(list[r][i].end, result.end, sizeof(result.end));
			list[r][i].verdict = BU_VERDICT_PASS;
			list[r][i].dir[0].lat_count = list[r][i].dir[1].lat_count = 1;
			strcpy(list[r][i].probe, rows[r][i].probe);
			bu_pair_dir_add(&list[r][i].dir[0], rows[r][i].to);
			bu_pair_dir_add(&list[r][i].dir[1], rows[r][i].from);
			refs[r][i] = &list[r][i];
		}
		rails[r].results = refs[r];
		rails[r].result_count = 3;
	}
	/* Without an MTU in the profile the row is the one of this probe's path. */
	list[1][0].mtu = 4096;
	rails[1].expect.percent_at[BU_EXPECT_AT_1024] = 75;
	rails[1].expect.percent_at[BU_EXPECT_AT_4096] = 82.5;
	bu_autofree char *text = bu_fabcert_sign(&cert, private_pem, &err);

	ck_assert_ptr_nonnull(text);
	bu_autojson json_t *got =
		bu_fabcert_verify(text, strlen(text), public_pem, &err);
	json_t *sum = json_object_get(got, "together");

	ck_assert_str_eq(bu_json_str(sum, "probe", ""), "p1");
	ck_assert_double_eq_tol(bu_json_real(sum, "receives_gbps", 0), 0.035, 1e-9);
	ck_assert_double_eq_tol(bu_json_real(sum, "sends_gbps", 0), 0.037, 1e-9);
	ck_assert_double_eq_tol(bu_json_real(sum, "least_gbps", 0), 0.0325, 1e-9);
	ck_assert_msg(bu_fabcert_replay(got, &err) == 0, "%s", err.text);
	json_object_set_new(sum, "sends_gbps", json_real(0.04));
	ck_assert_int_eq(bu_fabcert_replay(got, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "another sends_gbps"));
	cert.rail_count = 1;
	bu_autofree char *alone = bu_fabcert_sign(&cert, private_pem, &err);

	ck_assert_ptr_null(strstr(alone, "together"));
}
END_TEST

BU_UNIT("fabcert", tells_what_the_rails_carried_together, signs_and_verifies,
	any_change_breaks_the_signature, counts_for_one_machine_and_boot,
	covers_the_rails_that_it_names, makes_none_that_proves_nothing)
