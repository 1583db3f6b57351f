// SPDX-License-Identifier: Apache-2.0
#include "model/result.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

static void
fill(struct bu_pair_result *r)
{
	const struct bu_err lost = {.kind = BU_ERR_REMOTE, .text = "write 3\nlost"};

	bu_pair_result_init(r);
	strcpy(r->probe, "p-1");
	r->at_ms = 1795276435550;
	strcpy(r->end[0].node, "node001");
	strcpy(r->end[1].node, "node002");
	for (int i = 0; i < 2; i++) {
		strcpy(r->end[i].device, "rxe0");
		strcpy(r->end[i].gid, "::ffff:10.78.0.11");
		r->end[i].gid_index = 1;
		r->end[i].port = 1;
		r->end[i].mtu = r->mtu = 1024;
	}
	r->message_bytes = 65536;
	r->bytes = 2359296;
	r->seconds = 12.2;
	for (int i = 0; i < 5; i++)
		bu_pair_dir_add(&r->dir[0], 0.019 + 0.001 * i);
	r->dir[0].lat_median_us = 400.5;
	r->dir[0].lat_p99_us = 900.25;
	r->dir[0].lat_count = 200;
	bu_pair_error_set(&r->dir[1].error, BU_END_B, &lost);
	r->verdict = BU_VERDICT_FAIL;
}

START_TEST(reads_what_it_wrote)
{
	struct bu_pair_result a, b;
	bu_autojson json_t *value = NULL;
	struct bu_err err;

	fill(&a);
	value = bu_pair_result_to_json(&a);
	ck_assert_int_eq(bu_pair_result_from_json(value, &b, &err), 0);
	ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
	ck_assert_str_eq(b.dir[1].error.text, "write 3 lost");
}
END_TEST

START_TEST(medians_are_computed_not_believed)
{
	struct bu_pair_result a, b;
	bu_autojson json_t *value = NULL;

	fill(&a);
	value = bu_pair_result_to_json(&a);
	json_object_set_new(json_object_get(value, "a_to_b"), "bw_median_gbps",
			    json_real(400));
	ck_assert_int_eq(bu_pair_result_from_json(value, &b, NULL), 0);
	ck_assert_double_eq_tol(b.dir[0].bw_median_gbps, 0.021, 1e-9);
}
END_TEST

/* Each row spoils one field of a good result. */
static const struct {
	const char *object; /* NULL = top */
	const char *key;
	const char *json;
} bad[] = {
	{NULL, "v", "2"},
	{NULL, "v", "\"1\""},
	{NULL, "probe", "\"\""},
	{NULL, "probe", "\"../x\""},
	{NULL, "at_ms", "-1"},
	{NULL, "a", "[]"},
	{NULL, "bytes", "-5"},
	{NULL, "message_bytes", "4294967296"},
	{NULL, "mtu", "1e3"},
	{NULL, "seconds", "1e99"},
	{NULL, "verdict", "\"good\""},
	{NULL, "verdict", "null"},
	{NULL, "error", "{\"kind\":\"none\",\"text\":\"\"}"},
	{NULL, "error", "\"no\""},
	{"a", "node", "\"a b\""},
	{"a", "node",
	 "\"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\""},
	{"a", "device", "\"rxe0\\u001b[2J\""},
	{"b", "gid", "7"},
	{"a_to_b", "bw_gbps", "0.1"},
	{"a_to_b", "bw_gbps", "[-0.1]"},
	{"a_to_b", "bw_gbps", "[\"1\"]"},
	{"a_to_b", "bw_gbps",
	 "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
	 "1,1,1,1]"},
	{"b_to_a", "lat_median_us", "null"},
	{"b_to_a", "lat_count", "-1"},
	{"b_to_a", "seconds", "true"},
};

START_TEST(refuses_bad_fields)
{
	for (size_t i = 0; i < BU_LEN(bad); i++) {
		struct bu_pair_result a, b = {.mtu = 7};
		bu_autojson json_t *value = NULL;
		json_t *object;
		struct bu_err err;

		fill(&a);
		value = bu_pair_result_to_json(&a);
		object = bad[i].object ? json_object_get(value, bad[i].object) : value;
		json_object_set_new(object, bad[i].key,
				    json_loads(bad[i].json, JSON_DECODE_ANY, NULL));
		ck_assert_msg(bu_pair_result_from_json(value, &b, &err) == -1,
			      "%s = %s was taken", bad[i].key, bad[i].json);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_int_eq(b.mtu, 7);
	}
	ck_assert_int_eq(bu_pair_result_from_json(NULL, NULL, NULL), -1);
}
END_TEST

START_TEST(quantiles_by_nearest_rank)
{
	double values[] = {5, 1, 4, 2, 3};

	ck_assert_double_eq(bu_quantile(values, 5, 0.5), 3);
	ck_assert_double_eq(bu_quantile(values, 5, 0.99), 5);
	ck_assert_double_eq(bu_quantile(values, 5, 0), 1);
	ck_assert_double_eq(bu_quantile(values, 4, 0.5), 2);
	ck_assert_double_eq(bu_quantile(values, 0, 0.5), 0);
}
END_TEST

BU_UNIT("result", reads_what_it_wrote, medians_are_computed_not_believed,
	refuses_bad_fields, quantiles_by_nearest_rank)
