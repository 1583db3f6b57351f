/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of probes as JSON, between agents, daemon, log and certificates. Invariant: a
 * struct that came out of bu_pair_result_from_json() has finite figures in range, at
 * most BU_RUNS_MAX runs and only printable text, from any sender.
 */
#include <arpa/inet.h>
#include <string.h>

#include "model/result.h"

/* Nothing that can be measured is above these; larger ones are nonsense or an attack.
 */
#define GBPS .max = 100000
#define MICROSECONDS .max = 1000000000
#define SECONDS .max = 1000000
#define BYTES .max = INT64_C(1) << 50

static const char *const err_names[] = {
#define X(id, name, http, code) name,
	BU_ERRS(X)
#undef X
		NULL,
};
static const char *const end_names[] = {"a", "b", NULL};
static const char *const link_names[] = {"ethernet", "infiniband", NULL};

static const struct bu_field error_fields[] = {
	BU_FIELD(WORD, struct bu_pair_error, kind, .words = err_names,
		 .min = BU_ERR_NONE + 1),
	BU_FIELD(TEXT, struct bu_pair_error, text),
	BU_FIELD(WORD, struct bu_pair_error, at, .words = end_names,
		 .otherwise = BU_END_NONE, .need = BU_SPARSE),
	BU_FIELD_END,
};

const struct bu_field bu_pair_end_fields[] = {
	BU_FIELD(TEXT, struct bu_pair_end, node, .form = &bu_pair_name_form),
	BU_FIELD(TEXT, struct bu_pair_end, device),
	BU_FIELD(TEXT, struct bu_pair_end, gid),
	BU_FIELD(INT, struct bu_pair_end, gid_index, .max = UINT16_MAX),
	BU_FIELD(INT, struct bu_pair_end, port, .max = UINT8_MAX),
	BU_FIELD(INT, struct bu_pair_end, mtu, .max = UINT16_MAX),
	BU_FIELD(TEXT, struct bu_pair_end, address),
	BU_FIELD(WORD, struct bu_pair_end, gid_type, .words = bu_gid_type_names),
	BU_FIELD_AS("link", WORD, struct bu_pair_end, infiniband, .words = link_names),
	BU_FIELD(REAL, struct bu_pair_end, rate_gbps, GBPS),
	BU_FIELD(INT, struct bu_pair_end, numa, .min = -1, .max = UINT16_MAX,
		 .otherwise = -1),
	BU_FIELD(INT, struct bu_pair_end, cpu, .min = -1, .max = UINT16_MAX,
		 .otherwise = -1),
	BU_FIELD(WORD, struct bu_pair_end, memory, .words = bu_memory_names),
	BU_FIELD(WORD, struct bu_pair_end, memory_found, .words = bu_memory_names),
	BU_FIELD(INT, struct bu_pair_end, window_bytes, BYTES),
	BU_FIELD(TEXT, struct bu_pair_end, rail, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_pair_end, lid, .max = UINT16_MAX, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_pair_end, pkey, .min = -1, .max = UINT16_MAX,
		 .otherwise = -1, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_pair_end, sl, .max = 15, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_pair_end, traffic_class, .max = UINT8_MAX,
		 .need = BU_SPARSE),
	BU_FIELD_END,
};

static const struct bu_field run_field[] = {BU_FIELD_ONE(REAL, sizeof(double), GBPS)};
static const struct bu_field clock_field[] = {
	BU_FIELD_ONE(REAL, sizeof(double), SECONDS)};
static const struct bu_field sport_field[] = {BU_FIELD_ONE(INT, sizeof(uint16_t))};
static const struct bu_field label_field[] = {
	BU_FIELD_ONE(INT, sizeof(uint32_t), .max = 0xfffff)};

static int
is_hop(const char *text)
{
	unsigned char address[sizeof(struct in6_addr)];

	return !*text || inet_pton(AF_INET, text, address) == 1 ||
	       inet_pton(AF_INET6, text, address) == 1;
}

static const struct bu_form hop_form = {is_hop, "an address, or nothing"};
static const struct bu_field hop_field[] = {
	BU_FIELD_ONE(TEXT, BU_HOP_SIZE, .form = &hop_form)};
static const struct bu_field way_fields[] = {
	BU_FIELD_MANY_AS("hops", ARRAY, struct bu_pair_way, hop, hops, BU_HOPS_MAX,
			 hop_field),
	BU_FIELD_END,
};

/* Of a certificate and of an agent that traces nothing there are none. */
#define TRACE_FIELDS                                                                   \
	BU_FIELD_MANY_AS("paths", LIST, struct bu_pair_dir, path, paths, BU_QPS_MAX,   \
			 way_fields, .need = BU_SPARSE),                               \
		BU_FIELD(TEXT, struct bu_pair_dir, untraced, .need = BU_SPARSE)

const struct bu_field bu_pair_trace_fields[] = {TRACE_FIELDS, BU_FIELD_END};

static const struct bu_field dir_fields[] = {
	BU_FIELD_MANY_AS("bw_gbps", ARRAY, struct bu_pair_dir, bw_gbps, runs,
			 BU_RUNS_MAX, run_field),
	BU_FIELD(REAL, struct bu_pair_dir, bw_median_gbps, GBPS),
	BU_FIELD(REAL, struct bu_pair_dir, lat_median_us, MICROSECONDS),
	BU_FIELD(REAL, struct bu_pair_dir, lat_p99_us, MICROSECONDS),
	BU_FIELD(INT, struct bu_pair_dir, lat_count, .max = 1000000),
	BU_FIELD(REAL, struct bu_pair_dir, seconds, SECONDS),
	BU_FIELD(REAL, struct bu_pair_dir, lat_min_us, MICROSECONDS),
	BU_FIELD(REAL, struct bu_pair_dir, lat_p90_us, MICROSECONDS),
	BU_FIELD(REAL, struct bu_pair_dir, lat_p999_us, MICROSECONDS),
	BU_FIELD(REAL, struct bu_pair_dir, lat_max_us, MICROSECONDS),
	BU_FIELD(REAL, struct bu_pair_dir, setup_seconds, SECONDS),
	BU_FIELD_ALL(ARRAY, struct bu_pair_dir, clock_seconds, clock_field),
	BU_FIELD(INT, struct bu_pair_dir, sent_bytes, BYTES),
	/* One of each for a queue pair. Certificates have neither these nor counters.
	 */
	BU_FIELD_MANY_AS("sport", ARRAY, struct bu_pair_dir, sport, qps, BU_QPS_MAX,
			 sport_field, .need = BU_SPARSE),
	BU_FIELD_MANY_AS("flow_label", ARRAY, struct bu_pair_dir, flow_label, qps,
			 BU_QPS_MAX, label_field, .need = BU_SPARSE),
	TRACE_FIELDS,
	BU_FIELD_AS("a", RECORD, struct bu_pair_dir, counters[BU_END_A],
		    .fields = bu_counter_fields, .need = BU_SPARSE),
	BU_FIELD_AS("b", RECORD, struct bu_pair_dir, counters[BU_END_B],
		    .fields = bu_counter_fields, .need = BU_SPARSE),
	BU_FIELD(RECORD, struct bu_pair_dir, error, .fields = error_fields,
		 .need = BU_SPARSE),
	BU_FIELD_END,
};

static const struct bu_field result_fields[] = {
	BU_FIELD_V(2, 2),
	BU_FIELD(TEXT, struct bu_pair_result, probe, .form = &bu_pair_name_form),
	BU_FIELD(INT, struct bu_pair_result, at_ms, .max = INT64_C(1) << 50),
	BU_FIELD_AS("a", RECORD, struct bu_pair_result, end[BU_END_A],
		    .fields = bu_pair_end_fields),
	BU_FIELD_AS("b", RECORD, struct bu_pair_result, end[BU_END_B],
		    .fields = bu_pair_end_fields),
	BU_FIELD(INT, struct bu_pair_result, message_bytes),
	BU_FIELD(INT, struct bu_pair_result, bytes, BYTES),
	BU_FIELD(INT, struct bu_pair_result, mtu, .max = UINT16_MAX),
	BU_FIELD(REAL, struct bu_pair_result, seconds, SECONDS),
	BU_FIELD_AS("a_to_b", RECORD, struct bu_pair_result, dir[BU_END_A],
		    .fields = dir_fields),
	BU_FIELD_AS("b_to_a", RECORD, struct bu_pair_result, dir[BU_END_B],
		    .fields = dir_fields),
	BU_FIELD(WORD, struct bu_pair_result, verdict, .words = bu_verdict_names),
	BU_FIELD(WORD, struct bu_pair_result, op, .words = bu_op_names),
	BU_FIELD(WORD, struct bu_pair_result, lat_op, .words = bu_op_names),
	BU_FIELD(INT, struct bu_pair_result, qps, .min = 1, .max = BU_QPS_MAX,
		 .otherwise = 1),
	BU_FIELD(FLAG, struct bu_pair_result, duplex),
	BU_FIELD(RECORD, struct bu_pair_result, error, .fields = error_fields,
		 .need = BU_SPARSE),
	BU_FIELD_END,
};

void
bu_pair_result_init(struct bu_pair_result *result)
{
	memset(result, 0, sizeof(*result));
	bu_record_init(result_fields, result);
}

json_t *
bu_pair_result_to_json(const struct bu_pair_result *result)
{
	return bu_record_to_json(result_fields, result);
}

static int
check_paths(const json_t *value, const char *key, struct bu_err *err)
{
	const json_t *dir = json_object_get(value, key);

	size_t sports = json_array_size(json_object_get(dir, "sport"));
	size_t paths = json_array_size(json_object_get(dir, "paths"));

	if (json_array_size(json_object_get(dir, "flow_label")) != sports)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: expected 'sport' and 'flow_label' of one length",
				  key);
	if (paths && paths != sports)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: expected 'paths' of as many as 'sport'", key);
	return 0;
}

int
bu_pair_result_from_json(const json_t *value, struct bu_pair_result *ret,
			 struct bu_err *err)
{
	struct bu_pair_result result;

	bu_pair_result_init(&result);
	if (bu_record_from_json(result_fields, value, &result, err) ||
	    check_paths(value, "a_to_b", err) || check_paths(value, "b_to_a", err))
		return bu_err_wrap(err, "probe result");
	for (int i = 0; i < 2; i++)
		bu_pair_dir_drop(&result.dir[i], result.dir[i].runs);
	*ret = result;
	return 0;
}
