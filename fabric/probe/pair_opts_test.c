/* SPDX-License-Identifier: Apache-2.0 */
/* Work items of a probe are read strictly. */
#include "fabric/probe/pair.h"

#include "base/json.h"
#include "tests/support/probe.h"
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
	{"rails", "[{}]"},
	{"rails", "[7]"},
	{"rails", "[{\"port\":\"ib0\",\"mtu\":1000}]"},
	{"rails", "[{\"port\":\"ib0\",\"pkey\":65536}]"},
	{"rails", "[{\"port\":\"ib0\",\"sl\":16}]"},
	{"rails", "[{\"port\":\"ib0\",\"traffic_class\":256}]"},
	{"rails", "[{\"port\":\"ib0\",\"flow_label\":1048576}]"},
	{"rails", "[{\"port\":\"ib0\",\"gid_index\":256}]"},
};

/* Each rail has its own port, its own TCP port and its own limit; what it leaves open
 * is the item's. */
START_TEST(rails_are_told_apart)
{
	bu_autojson json_t *item = good_item();
	struct bu_work_probe work;
	struct bu_pair_opts opts;

	json_object_del(item, "local_ip");
	ck_assert_int_eq(probe_opts(item, &opts, NULL), -1);
	json_object_set_new(item, "min_gbps", json_real(90));
	json_object_set_new(
		item, "rails",
		json_loads("[{\"rail\":\"fabric0\",\"port\":\"ib0\",\"pkey\":32785,"
			   "\"sl\":3,\"mtu\":4096},"
			   "{\"rail\":\"fabric1\",\"address\":\"fd00::1\","
			   "\"min_gbps\":180.5,\"gpu\":1,\"traffic_class\":104}]",
			   0, NULL));
	ck_assert_int_eq(bu_work_probe_from_json(item, &work, NULL), 0);
	ck_assert_uint_eq(work.rails_count, 2);
	bu_pair_opts_of(&work, 0, &opts);
	ck_assert_str_eq(opts.rail.port, "ib0");
	ck_assert_int_eq(opts.rail.pkey, 0x8011);
	ck_assert_int_eq(opts.rail.flow_label, -1);
	ck_assert_int_eq(opts.port, 19000);
	ck_assert_double_eq(opts.min_gbps, 90);
	ck_assert_int_eq(opts.gpu, -1);
	bu_pair_opts_of(&work, 1, &opts);
	ck_assert_str_eq(opts.rail.rail, "fabric1");
	ck_assert_str_eq(opts.rail.address, "fd00::1");
	ck_assert_int_eq(opts.rail.gid_index, -1);
	ck_assert_int_eq(opts.port, 19001);
	ck_assert_double_eq(opts.min_gbps, 180.5);
	ck_assert_int_eq(opts.gpu, 1);
	json_object_set_new(item, "port", json_integer(65534));
	ck_assert_int_eq(bu_work_probe_from_json(item, &work, NULL), -1);
}
END_TEST

START_TEST(work_items_are_read_strictly)
{
	struct bu_pair_opts opts;
	bu_autojson json_t *item = good_item();

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *copy = json_deep_copy(item);

		json_object_set_new(copy, bad[i].key,
				    json_loads(bad[i].json, JSON_DECODE_ANY, NULL));
		ck_assert_msg(probe_opts(copy, &opts, NULL) == -1, "%s = %s was taken",
			      bad[i].key, bad[i].json);
	}
	for (size_t i = 0; i < 4; i++) {
		static const char *const optional[] = {"message_bytes", "bytes", "runs",
						       "deadline_ms"};

		json_object_del(item, optional[i]);
	}
	ck_assert_int_eq(probe_opts(item, &opts, NULL), 0);
	ck_assert_int_eq(opts.self, BU_END_B);
	ck_assert_int_eq(opts.runs, BU_PAIR_RUNS);
	ck_assert_int_eq(opts.bytes, BU_PAIR_BYTES);
	json_object_set_new(item, "node", json_string("node001"));
	ck_assert_int_eq(probe_opts(item, &opts, NULL), 0);
	ck_assert_int_eq(opts.self, BU_END_A);
}
END_TEST

BU_UNIT("pair_opts", work_items_are_read_strictly, rails_are_told_apart)
