/* SPDX-License-Identifier: Apache-2.0 */
#include "model/result.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unseen.h"

static void
fill_rest(struct bu_pair_result *r)
{
	double samples[1000];

	r->op = BU_OP_READ;
	r->lat_op = BU_OP_SEND;
	r->qps = r->dir[0].qps = 2;
	r->duplex = 1;
	strcpy(r->end[0].address, "10.78.0.11");
	r->end[0].gid_type = BU_GID_ROCE_V2;
	r->end[1].infiniband = 1;
	r->end[1].rate_gbps = 400;
	r->end[1].numa = 1;
	r->end[1].cpu = 17;
	r->end[1].memory = BU_MEMORY_DMABUF;
	r->end[1].memory_found = BU_MEMORY_HOST;
	r->end[1].window_bytes = INT64_C(1) << 30;
	for (int i = 0; i < 1000; i++)
		samples[i] = 1000 - i;
	bu_pair_dir_latency(&r->dir[0], samples, 1000);
	r->dir[0].setup_seconds = 0.02;
	r->dir[0].clock_seconds[0] = 4.5;
	r->dir[0].clock_seconds[1] = 4.625;
	r->dir[0].sent_bytes = 13107200;
	r->dir[0].sport[0] = 0xc001;
	r->dir[0].sport[1] = 0xffff;
	r->dir[0].flow_label[1] = 0xfffff;
	r->dir[0].paths = 2;
	r->dir[0].path[0].hops = 3;
	strcpy(r->dir[0].path[0].hop[0], "10.1.0.1");
	strcpy(r->dir[0].path[0].hop[2], "fd00::1");
	strcpy(r->dir[0].untraced, "the adapter does not tell its UDP source ports");
	r->dir[0].counters[BU_END_B].count[BU_COUNTER_OUT_OF_SEQUENCE] = 0;
	r->dir[0].counters[BU_END_B].count[BU_COUNTER_PORT_RCV_DATA] = 3276800;
}

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
	fill_rest(r);
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

static json_t *
again(const json_t *document)
{
	struct bu_pair_result result;

	return bu_pair_result_from_json(document, &result, NULL) == 0
		       ? bu_pair_result_to_json(&result)
		       : NULL;
}

/* Device and GID of both ends, why a flow was not traced and why nothing was measured.
 */
START_TEST(no_text_of_a_result_is_unseen)
{
	struct bu_pair_result result;
	bu_autojson json_t *document = NULL;

	fill(&result);
	document = bu_pair_result_to_json(&result);
	unseen_everywhere(document, again, 6);
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

/* Nothing has a silent default: what is not there is an error that names it. */
START_TEST(every_figure_is_wanted)
{
	static const char *const objects[] = {NULL, "a", "b_to_a"};
	struct bu_pair_result a, b;

	fill(&a);
	for (size_t i = 0; i < BU_LEN(objects); i++) {
		bu_autojson json_t *whole = bu_pair_result_to_json(&a);
		const json_t *object =
			objects[i] ? json_object_get(whole, objects[i]) : whole;
		const char *key;
		json_t *its;

		json_object_foreach ((json_t *)(uintptr_t)object, key, its) {
			bu_autojson json_t *value = json_deep_copy(whole);
			bu_autofree char *path =
				bu_xasprintf("probe result: %s%s%s: missing",
					     objects[i] ? objects[i] : "",
					     objects[i] ? "." : "", key);
			int can_miss = strcmp(key, "error") == 0;
			struct bu_err err = {0};

			json_object_del(objects[i] ? json_object_get(value, objects[i])
						   : value,
					key);
			ck_assert_int_eq(bu_pair_result_from_json(value, &b, &err),
					 can_miss ? 0 : -1);
			ck_assert_msg(
				can_miss || strncmp(err.text, path, strlen(path)) == 0,
				"%s, not %s", err.text, path);
		}
	}
}
END_TEST

START_TEST(counters_are_counted_by_kind)
{
	struct bu_counters before, after, delta;
	bu_autojson json_t *odd = NULL;

	bu_counters_init(&before);
	bu_counters_init(&after);
	before.count[BU_COUNTER_RCVD_SEQ_ERR] = 5;
	after.count[BU_COUNTER_RCVD_SEQ_ERR] = 12;
	before.count[BU_COUNTER_COMPLETER_RETRY_ERR] = 1;
	after.count[BU_COUNTER_COMPLETER_RETRY_ERR] = 1;
	before.count[BU_COUNTER_SENT_PKTS] = 9; /* the driver was loaded again */
	after.count[BU_COUNTER_SENT_PKTS] = 8;
	bu_counters_since(&before, &after, &delta);
	ck_assert_int_eq(delta.count[BU_COUNTER_SENT_PKTS], -1);
	ck_assert_int_eq(delta.count[BU_COUNTER_RCVD_SEQ_ERR], 7);
	ck_assert_int_eq(delta.count[BU_COUNTER_COMPLETER_RETRY_ERR], 0);
	ck_assert_int_eq(delta.count[BU_COUNTER_RCVD_PKTS], -1);
	odd = json_pack("{s:i, s:i}", "made_up", -7, "sent_pkts", 3);
	ck_assert_int_eq(bu_record_from_json(bu_counter_fields, odd, &delta, NULL), 0);
	ck_assert_int_eq(delta.count[BU_COUNTER_SENT_PKTS], 3);
	ck_assert_int_eq(delta.count[BU_COUNTER_RCVD_PKTS], -1);
}
END_TEST

/* Each row spoils one field of a good result. */
static const struct {
	const char *object; /* NULL = top */
	const char *key;
	const char *json;
} bad[] = {
	{NULL, "v", "3"},
	{NULL, "v", "1"},
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
	{NULL, "op", "\"atomic\""},
	{NULL, "qps", "0"},
	{NULL, "qps", "17"},
	{"a", "gid_type", "\"v2\""},
	{"a", "numa", "-2"},
	{"a", "memory", "\"gpu\""},
	{"a", "rate_gbps", "-1"},
	{"a", "window_bytes", "1.5"},
	{"a_to_b", "clock_seconds", "[1]"},
	{"a_to_b", "clock_seconds", "[1,-1]"},
	{"a_to_b", "clock_seconds", "7"},
	{"a_to_b", "sport", "[1]"},
	{"a_to_b", "sport", "[1,65536]"},
	{"a_to_b", "flow_label", "[0,1048576]"},
	{"a_to_b", "sport", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
	{"a_to_b", "b", "{\"sent_pkts\":-1}"},
	{"a_to_b", "b", "[]"},
	{"a_to_b", "lat_max_us", "\"1\""},
	{"a_to_b", "sent_bytes", "-1"},
	{"a_to_b", "paths", "[{\"hops\":[]}]"}, /* of two flows */
	{"a_to_b", "paths", "[{\"hops\":[]},{\"hops\":[\"leaf01\"]}]"},
	{"a_to_b", "paths", "[{\"hops\":[]},{\"hops\":[7]}]"},
	{"a_to_b", "paths",
	 "[{\"hops\":[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"]},{\"hops\":[]}]"},
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

/* Of 1 to 1,000: each percentile is a sample, none is between two. */
START_TEST(latencies_are_true_percentiles)
{
	struct bu_pair_result r;

	fill(&r);
	ck_assert_double_eq(r.dir[0].lat_min_us, 1);
	ck_assert_double_eq(r.dir[0].lat_p90_us, 900);
	ck_assert_double_eq(r.dir[0].lat_p99_us, 990);
	ck_assert_double_eq(r.dir[0].lat_p999_us, 999);
	ck_assert_double_eq(r.dir[0].lat_max_us, 1000);
	ck_assert_int_eq(r.dir[0].runs, 5);
	bu_pair_dir_drop(&r.dir[0], 3);
	ck_assert_int_eq(r.dir[0].runs, 3);
	ck_assert_double_eq_tol(r.dir[0].bw_median_gbps, 0.020, 1e-9);
}
END_TEST

START_TEST(a_slash_is_between_two_rails)
{
	ck_assert(bu_rail_is_across("rail0/rail1"));
	ck_assert(!bu_rail_is_across("rail0"));
	ck_assert(!bu_rail_is_across(""));
}
END_TEST

BU_UNIT("result", reads_what_it_wrote, no_text_of_a_result_is_unseen,
	every_figure_is_wanted, counters_are_counted_by_kind,
	medians_are_computed_not_believed, refuses_bad_fields,
	quantiles_by_nearest_rank, latencies_are_true_percentiles,
	a_slash_is_between_two_rails)
