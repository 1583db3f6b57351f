/* SPDX-License-Identifier: Apache-2.0 */
/* Work items of a probe are read strictly. */
#include "fabric/probe/pair.h"

#include "base/json.h"
#include "tests/support/unit.h"

static json_t *
good_item(void)
{
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, "
			 "s:i, s:i, s:i}",
			 "kind", "probe", "id", "w1", "attempt", 1, "probe", "p1",
			 "role", "listen", "a", "node001", "b", "node002", "addr",
			 "127.0.0.1", "port", 19000, "secret", "0123456789abcdef",
			 "local_ip", "127.0.0.2", "message_bytes", 4096, "bytes", 65536,
			 "runs", 3, "deadline_ms", 8000);
}

/* Each row spoils one field of a good item. */
static const struct {
	const char *key, *json;
} bad[] = {
	{"probe", "\"\""},
	{"role", "\"both\""},
	{"a", "\"node002\""},
	{"b", "7"},
	{"port", "0"},
	{"port", "65536"},
	{"secret", "\"short\""},
	{"local_ip", "\"\""},
	{"message_bytes", "4100"},
	{"message_bytes", "0"},
	{"message_bytes", "134217728"},
	{"bytes", "0"},
	{"runs", "0"},
	{"runs", "33"},
	{"deadline_ms", "10"},
	{"node", "\"node003\""},
	{"runs", "\"3\""},
	{"device", "[]"},
	{"op", "\"atomic\""},
	{"lat_op", "\"read\""},
	{"qps", "0"},
	{"qps", "17"},
	{"duplex", "1"},
	{"pings", "-1"},
	{"sport", "4791"},
	{"sport", "65536"},
	{"gid_index", "256"},
	{"window_bytes", "-1"},
	{"gpu", "64"},
	{"min_gbps", "-1"},
	{"min_gbps", "\"1\""},
	{"kind", "\"install\""},
	{"addr", "\"\""},
};

START_TEST(work_items_are_read_strictly)
{
	struct bu_pair_opts opts;
	bu_autojson json_t *item = good_item();

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *copy = json_deep_copy(item);

		json_object_set_new(copy, bad[i].key,
				    json_loads(bad[i].json, JSON_DECODE_ANY, NULL));
		ck_assert_msg(bu_pair_opts_from_json(copy, &opts, NULL) == -1,
			      "%s = %s was taken", bad[i].key, bad[i].json);
	}
	for (size_t i = 0; i < 4; i++) {
		static const char *const optional[] = {"message_bytes", "bytes", "runs",
						       "deadline_ms"};

		json_object_del(item, optional[i]);
	}
	ck_assert_int_eq(bu_pair_opts_from_json(item, &opts, NULL), 0);
	ck_assert_int_eq(opts.self, BU_END_B);
	ck_assert_int_eq(opts.runs, BU_PAIR_RUNS);
	ck_assert_int_eq(opts.bytes, BU_PAIR_BYTES);
	json_object_set_new(item, "node", json_string("node001"));
	ck_assert_int_eq(bu_pair_opts_from_json(item, &opts, NULL), 0);
	ck_assert_int_eq(opts.self, BU_END_A);
}
END_TEST

BU_UNIT("pair_opts", work_items_are_read_strictly)
