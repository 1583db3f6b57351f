/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of probes as JSON, between agents, daemon, log and certificates. Invariant: a
 * struct that came out of bu_pair_result_from_json() has finite figures in range, at
 * most BU_RUNS_MAX runs and only printable text, whoever sent it.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/result.h"

/* Nothing that can be measured is above these; larger ones are nonsense or an attack.
 */
static const double gbps_max = 1e5, us_max = 1e9, seconds_max = 1e6;
static const int64_t wall_ms_max = INT64_C(1) << 50, bytes_max = INT64_C(1) << 50;

static void
error_to_json(json_t *object, const struct bu_pair_error *error)
{
	json_t *value;

	if (error->kind == BU_ERR_NONE)
		return;
	value = json_pack("{s:s, s:s}", "kind", bu_err_name(error->kind), "text",
			  error->text);
	if (error->at != BU_END_NONE)
		json_object_set_new(value, "at",
				    json_string(error->at == BU_END_A ? "a" : "b"));
	json_object_set_new(object, "error", value);
}

json_t *
bu_pair_end_to_json(const struct bu_pair_end *end)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:s, s:s, s:f, s:i, s:i, "
			 "s:s, s:s, s:I}",
			 "node", end->node, "device", end->device, "gid", end->gid,
			 "gid_index", end->gid_index, "port", end->port, "mtu",
			 end->mtu, "address", end->address, "gid_type",
			 bu_gid_type_name(end->gid_type), "link",
			 end->infiniband ? "infiniband" : "ethernet", "rate_gbps",
			 end->rate_gbps, "numa", end->numa, "cpu", end->cpu, "memory",
			 bu_memory_name(end->memory), "memory_found",
			 bu_memory_name(end->memory_found), "window_bytes",
			 (json_int_t)end->window_bytes);
}

static json_t *
dir_to_json(const struct bu_pair_dir *dir)
{
	json_t *runs = json_array(), *sports = json_array(), *labels = json_array();
	json_t *value;

	for (int i = 0; i < dir->runs; i++)
		json_array_append_new(runs, json_real(dir->bw_gbps[i]));
	for (int i = 0; i < dir->qps; i++) {
		json_array_append_new(sports, json_integer(dir->sport[i]));
		json_array_append_new(labels, json_integer(dir->flow_label[i]));
	}
	value = json_pack("{s:o, s:f, s:f, s:f, s:i, s:f}", "bw_gbps", runs,
			  "bw_median_gbps", dir->bw_median_gbps, "lat_median_us",
			  dir->lat_median_us, "lat_p99_us", dir->lat_p99_us,
			  "lat_count", dir->lat_count, "seconds", dir->seconds);
	json_object_update_new(
		value,
		json_pack("{s:f, s:f, s:f, s:f, s:f, s:[f, f], s:I, s:o, s:o}",
			  "lat_min_us", dir->lat_min_us, "lat_p90_us", dir->lat_p90_us,
			  "lat_p999_us", dir->lat_p999_us, "lat_max_us",
			  dir->lat_max_us, "setup_seconds", dir->setup_seconds,
			  "clock_seconds", dir->clock_seconds[0], dir->clock_seconds[1],
			  "sent_bytes", (json_int_t)dir->sent_bytes, "sport", sports,
			  "flow_label", labels));
	for (int end = 0; end < 2; end++) {
		json_t *counters = bu_counters_to_json(&dir->counters[end]);

		if (json_object_size(counters) > 0)
			json_object_set(value, end == BU_END_A ? "a" : "b", counters);
		json_decref(counters);
	}
	error_to_json(value, &dir->error);
	return value;
}

json_t *
bu_pair_result_to_json(const struct bu_pair_result *r)
{
	json_t *value = json_pack(
		"{s:i, s:s, s:I, s:o, s:o, s:I, s:I, s:i, s:f, s:o, s:o, s:s, s:s, "
		"s:s, s:i, s:b}",
		"v", BU_PAIR_RESULT_VERSION, "probe", r->probe, "at_ms",
		(json_int_t)r->at_ms, "a", bu_pair_end_to_json(&r->end[BU_END_A]), "b",
		bu_pair_end_to_json(&r->end[BU_END_B]), "message_bytes",
		(json_int_t)r->message_bytes, "bytes", (json_int_t)r->bytes, "mtu",
		r->mtu, "seconds", r->seconds, "a_to_b", dir_to_json(&r->dir[BU_END_A]),
		"b_to_a", dir_to_json(&r->dir[BU_END_B]), "verdict",
		bu_verdict_name(r->verdict), "op", bu_op_name(r->op), "lat_op",
		bu_op_name(r->lat_op), "qps", r->qps, "duplex", r->duplex);

	bu_assert(value);
	error_to_json(value, &r->error);
	return value;
}

static int
get_text(const json_t *object, const char *key, char *ret, size_t size,
	 struct bu_err *err)
{
	if (bu_json_copy_str(object, key, ret, size, err))
		return -1;
	for (const char *c = ret; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field '%s': holds control characters", key);
	}
	return 0;
}

static int
get_name(const json_t *object, const char *key, char *ret, struct bu_err *err)
{
	if (get_text(object, key, ret, BU_NAME_SIZE, err))
		return -1;
	return bu_pair_name_check(ret, key, err);
}

static int
get_int(const json_t *object, const char *key, int64_t max, int64_t *ret,
	struct bu_err *err)
{
	if (bu_json_get_int(object, key, ret, err))
		return -1;
	if (*ret < 0 || *ret > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': 0 to %lld is wanted", key,
				  (long long)max);
	return 0;
}

static int
check_real(const json_t *value, const char *key, double max, double *ret,
	   struct bu_err *err)
{
	double number = json_number_value(value);

	if (!json_is_number(value) || !isfinite(number) || number < 0 || number > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': a number from 0 to %g is wanted", key,
				  max);
	*ret = number;
	return 0;
}

static int
get_real(const json_t *object, const char *key, double max, double *ret,
	 struct bu_err *err)
{
	return check_real(json_object_get(object, key), key, max, ret, err);
}

/* Fields of version 2: absent is what bu_pair_result_init() says. */
static int
opt_int(const json_t *object, const char *key, int64_t min, int64_t max, int64_t *ret,
	struct bu_err *err)
{
	if (!json_object_get(object, key))
		return 0;
	if (bu_json_get_int(object, key, ret, err))
		return -1;
	if (*ret < min || *ret > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': %lld to %lld is wanted", key,
				  (long long)min, (long long)max);
	return 0;
}

static int
opt_real(const json_t *object, const char *key, double max, double *ret,
	 struct bu_err *err)
{
	return json_object_get(object, key) ? get_real(object, key, max, ret, err) : 0;
}

static int
opt_text(const json_t *object, const char *key, char *ret, size_t size,
	 struct bu_err *err)
{
	return json_object_get(object, key) ? get_text(object, key, ret, size, err) : 0;
}

/* The number of one of `count` names; *ret is left alone when the field is absent. */
static int
opt_name(const json_t *object, const char *key, const char *(*name)(int), int count,
	 int *ret, struct bu_err *err)
{
	char text[32];

	if (!json_object_get(object, key))
		return 0;
	if (get_text(object, key, text, sizeof(text), err))
		return -1;
	for (int i = 0; i < count; i++) {
		if (strcmp(text, name(i)) == 0) {
			*ret = i;
			return 0;
		}
	}
	return bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': '%s' is not known", key,
			  text);
}

static const char *
op_name(int i)
{
	return bu_op_name((enum bu_op)i);
}

static const char *
gid_type_name(int i)
{
	return bu_gid_type_name((enum bu_gid_type)i);
}

static const char *
memory_name(int i)
{
	return bu_memory_name((enum bu_memory)i);
}

static const char *
link_name(int i)
{
	return i ? "infiniband" : "ethernet";
}

static int
error_from_json(const json_t *object, struct bu_pair_error *ret, struct bu_err *err)
{
	const json_t *value = json_object_get(object, "error");
	const char *at;
	char kind[32];

	if (!value)
		return 0;
	if (get_text(value, "kind", kind, sizeof(kind), err) ||
	    get_text(value, "text", ret->text, sizeof(ret->text), err))
		return bu_err_wrap(err, "field 'error'");
	ret->kind = bu_err_from_name(kind);
	if (ret->kind == BU_ERR_NONE)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'error': kind is 'none'");
	at = bu_json_str(value, "at", "");
	ret->at = strcmp(at, "a") == 0   ? BU_END_A
		  : strcmp(at, "b") == 0 ? BU_END_B
					 : BU_END_NONE;
	return 0;
}

static int
end_rest_from_json(const json_t *value, struct bu_pair_end *ret, struct bu_err *err)
{
	int64_t numa = -1, cpu = -1;
	int gid_type = 0, memory = 0, found = 0;

	if (opt_text(value, "address", ret->address, sizeof(ret->address), err) ||
	    opt_name(value, "gid_type", gid_type_name, BU_GID_ROCE_V2 + 1, &gid_type,
		     err) ||
	    opt_name(value, "link", link_name, 2, &ret->infiniband, err) ||
	    opt_real(value, "rate_gbps", gbps_max, &ret->rate_gbps, err) ||
	    opt_int(value, "numa", -1, 65535, &numa, err) ||
	    opt_int(value, "cpu", -1, 65535, &cpu, err) ||
	    opt_name(value, "memory", memory_name, BU_MEMORY_PEERMEM + 1, &memory,
		     err) ||
	    opt_name(value, "memory_found", memory_name, BU_MEMORY_PEERMEM + 1, &found,
		     err) ||
	    opt_int(value, "window_bytes", 0, bytes_max, &ret->window_bytes, err))
		return -1;
	ret->numa = (int)numa;
	ret->cpu = (int)cpu;
	ret->gid_type = (enum bu_gid_type)gid_type;
	ret->memory = (enum bu_memory)memory;
	ret->memory_found = (enum bu_memory)found;
	return 0;
}

int
bu_pair_end_from_json(const json_t *value, struct bu_pair_end *ret, struct bu_err *err)
{
	struct bu_pair_end end = {.numa = -1, .cpu = -1};
	int64_t gid_index, port, mtu;

	if (get_name(value, "node", end.node, err) ||
	    get_text(value, "device", end.device, sizeof(end.device), err) ||
	    get_text(value, "gid", end.gid, sizeof(end.gid), err) ||
	    get_int(value, "gid_index", 65535, &gid_index, err) ||
	    get_int(value, "port", 255, &port, err) ||
	    get_int(value, "mtu", 65535, &mtu, err) ||
	    end_rest_from_json(value, &end, err))
		return -1;
	end.gid_index = (int)gid_index;
	end.port = (int)port;
	end.mtu = (int)mtu;
	*ret = end;
	return 0;
}

static int
end_from_json(const json_t *object, const char *key, struct bu_pair_end *ret,
	      struct bu_err *err)
{
	if (bu_pair_end_from_json(json_object_get(object, key), ret, err))
		return bu_err_wrap(err, "field '%s'", key);
	return 0;
}

static int
runs_from_json(const json_t *runs, struct bu_pair_dir *ret, struct bu_err *err)
{
	double bw_gbps;

	if (!json_is_array(runs) || json_array_size(runs) > BU_RUNS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'bw_gbps': an array of at most %d is wanted",
				  BU_RUNS_MAX);
	for (size_t i = 0; i < json_array_size(runs); i++) {
		if (check_real(json_array_get(runs, i), "bw_gbps", gbps_max, &bw_gbps,
			       err))
			return -1;
		bu_pair_dir_add(ret, bw_gbps);
	}
	return 0;
}

static int
dir_rest_from_json(const json_t *value, struct bu_pair_dir *ret, struct bu_err *err)
{
	const json_t *clocks = json_object_get(value, "clock_seconds");
	int64_t sent_bytes = 0;

	if (opt_real(value, "lat_min_us", us_max, &ret->lat_min_us, err) ||
	    opt_real(value, "lat_p90_us", us_max, &ret->lat_p90_us, err) ||
	    opt_real(value, "lat_p999_us", us_max, &ret->lat_p999_us, err) ||
	    opt_real(value, "lat_max_us", us_max, &ret->lat_max_us, err) ||
	    opt_real(value, "setup_seconds", seconds_max, &ret->setup_seconds, err) ||
	    opt_int(value, "sent_bytes", 0, bytes_max, &sent_bytes, err))
		return -1;
	ret->sent_bytes = (uint64_t)sent_bytes;
	for (size_t i = 0; clocks && i < 2; i++) {
		if (check_real(json_array_get(clocks, i), "clock_seconds", seconds_max,
			       &ret->clock_seconds[i], err))
			return -1;
	}
	if (bu_counters_from_json(json_object_get(value, "a"), &ret->counters[BU_END_A],
				  err) ||
	    bu_counters_from_json(json_object_get(value, "b"), &ret->counters[BU_END_B],
				  err))
		return -1;
	return 0;
}

/* Source port and flow label of each queue pair. */
static int
paths_from_json(const json_t *value, struct bu_pair_dir *ret, struct bu_err *err)
{
	const json_t *sports = json_object_get(value, "sport");
	const json_t *labels = json_object_get(value, "flow_label");
	size_t count = json_array_size(sports);

	if (!sports && !labels)
		return 0;
	if (!json_is_array(sports) || count > BU_QPS_MAX ||
	    json_array_size(labels) != count)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "fields 'sport' and 'flow_label': arrays of one "
				  "length, at most %d, are wanted",
				  BU_QPS_MAX);
	for (size_t i = 0; i < count; i++) {
		double sport, label;

		if (check_real(json_array_get(sports, i), "sport", UINT16_MAX, &sport,
			       err) ||
		    check_real(json_array_get(labels, i), "flow_label", 0xfffff, &label,
			       err))
			return -1;
		ret->sport[i] = (uint16_t)sport;
		ret->flow_label[i] = (uint32_t)label;
	}
	ret->qps = (int)count;
	return 0;
}

static int
dir_from_json(const json_t *object, const char *key, struct bu_pair_dir *ret,
	      struct bu_err *err)
{
	const json_t *value = json_object_get(object, key);
	int64_t lat_count;

	if (runs_from_json(json_object_get(value, "bw_gbps"), ret, err) ||
	    get_real(value, "lat_median_us", us_max, &ret->lat_median_us, err) ||
	    get_real(value, "lat_p99_us", us_max, &ret->lat_p99_us, err) ||
	    get_int(value, "lat_count", 1000000, &lat_count, err) ||
	    get_real(value, "seconds", seconds_max, &ret->seconds, err) ||
	    error_from_json(value, &ret->error, err))
		return bu_err_wrap(err, "field '%s'", key);
	ret->lat_count = (int)lat_count;
	if (dir_rest_from_json(value, ret, err) || paths_from_json(value, ret, err))
		return bu_err_wrap(err, "field '%s'", key);
	return 0;
}

static int
verdict_from_json(const json_t *value, enum bu_verdict *ret, struct bu_err *err)
{
	char name[32];

	if (get_text(value, "verdict", name, sizeof(name), err))
		return -1;
	if (bu_verdict_from_name(name, ret))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'verdict': pass, warn, fail or inconclusive");
	return 0;
}

int
bu_pair_result_from_json(const json_t *value, struct bu_pair_result *ret,
			 struct bu_err *err)
{
	struct bu_pair_result r;
	int64_t version, message_bytes, bytes, mtu, qps = 1;
	int op = BU_OP_WRITE, lat_op = BU_OP_WRITE;

	bu_pair_result_init(&r);
	if (get_int(value, "v", INT32_MAX, &version, err) ||
	    get_name(value, "probe", r.probe, err) ||
	    get_int(value, "at_ms", wall_ms_max, &r.at_ms, err) ||
	    end_from_json(value, "a", &r.end[BU_END_A], err) ||
	    end_from_json(value, "b", &r.end[BU_END_B], err) ||
	    get_int(value, "message_bytes", INT32_MAX, &message_bytes, err) ||
	    get_int(value, "bytes", bytes_max, &bytes, err) ||
	    get_int(value, "mtu", 65535, &mtu, err) ||
	    get_real(value, "seconds", seconds_max, &r.seconds, err) ||
	    dir_from_json(value, "a_to_b", &r.dir[BU_END_A], err) ||
	    dir_from_json(value, "b_to_a", &r.dir[BU_END_B], err) ||
	    verdict_from_json(value, &r.verdict, err) ||
	    error_from_json(value, &r.error, err) ||
	    opt_name(value, "op", op_name, BU_OP_SEND + 1, &op, err) ||
	    opt_name(value, "lat_op", op_name, BU_OP_SEND + 1, &lat_op, err) ||
	    opt_int(value, "qps", 1, BU_QPS_MAX, &qps, err))
		return bu_err_wrap(err, "probe result");
	if (version < 1 || version > BU_PAIR_RESULT_VERSION)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "probe result: version %lld, 1 to %d is wanted",
				  (long long)version, BU_PAIR_RESULT_VERSION);
	r.op = (enum bu_op)op;
	r.lat_op = (enum bu_op)lat_op;
	r.qps = (int)qps;
	r.duplex = bu_json_bool(value, "duplex", 0);
	r.message_bytes = (uint32_t)message_bytes;
	r.bytes = (uint64_t)bytes;
	r.mtu = (int)mtu;
	*ret = r;
	return 0;
}
