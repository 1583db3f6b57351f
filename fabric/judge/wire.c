/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds, traces and accusations: requests to a model of a fabric and its answers.
 * Called by `bringup fabric rehearse`. Pure. Invariant: an answer that is not
 * understood is an error that names the field.
 */
#include "fabric/judge/wire.h"

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "fabric/judge/parts.h"
#include "fabric/judge/wire_impl.h"

static json_t *
node_of(const struct bu_topology *t, int port)
{
	return bu_ids_get(&t->node_ids, port / t->rails);
}

/* Adds dst_rail where it differs from src's rail. */
static json_t *
with_dst_rail(const struct bu_topology *t, const struct bu_flow *flow, json_t *request)
{
	if (flow->src % t->rails != flow->dst % t->rails)
		json_object_set_new(request, "dst_rail",
				    json_integer(flow->dst % t->rails));
	return request;
}

json_t *
bu_wire_round(const struct bu_topology *t, const struct bu_flow *flows, int count)
{
	json_t *tests = json_array();

	for (int i = 0; i < count; i++) {
		const struct bu_flow *flow = &flows[i];

		json_t *test = json_pack(
			"{s:o, s:o, s:i, s:i, s:i, s:o}", "src", node_of(t, flow->src),
			"dst", node_of(t, flow->dst), "rail", flow->src % t->rails,
			"qps", flow->qps, "sport", flow->sport, "via",
			flow->via < 0 ? json_null()
				      : bu_ids_get(&t->spine_ids, flow->via));

		json_array_append_new(tests, with_dst_rail(t, flow, test));
	}
	return json_pack("{s:s, s:o}", "op", "round", "tests", tests);
}

/* Adds the error counters of one end to the sum. not_kind: counters of the other
 * direction, left out. counters: NULL and null = none. */
static int
add_counters(const json_t *counters, enum bu_wire_counter not_kind, double *sum,
	     struct bu_err *err)
{
	const char *key;
	json_t *value;

	if (counters && !json_is_object(counters) && !json_is_null(counters))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "counters: expected {\"src\":{NAME:N}, "
				  "\"dst\":{NAME:N}}");
	json_object_foreach ((json_t *)(uintptr_t)counters, key, value) {
		if (!json_is_number(value) || json_number_value(value) < 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "counter '%s': expected a number "
					  "of at least 0",
					  key);
		if (bu_wire_counter(key) != BU_WIRE_IGNORED &&
		    bu_wire_counter(key) != not_kind)
			*sum += json_number_value(value);
	}
	return 0;
}

static int
read_lost(const json_t *result, double *ret, struct bu_err *err)
{
	const json_t *both = json_object_get(result, "counters");
	const json_t *src = json_object_get(result, "counters_src");
	const json_t *dst = json_object_get(result, "counters_dst");

	src = src ? src : json_object_get(result, "src_counters");
	dst = dst ? dst : json_object_get(result, "dst_counters");
	*ret = 0;
	if (json_is_array(both)) {
		src = json_array_get(both, 0);
		dst = json_array_get(both, 1);
	} else if (both) {
		src = json_object_get(both, "src");
		dst = json_object_get(both, "dst");
		if (!src && !dst)
			return add_counters(both, BU_WIRE_IGNORED, ret, err);
	}
	if (add_counters(src, BU_WIRE_RECEIVER, ret, err) != 0)
		return -1;
	return add_counters(dst, BU_WIRE_SENDER, ret, err);
}

/* An optional number of at least 0; 0 = missing. */
static int
read_number(const json_t *result, const char *field, int place, double *ret,
	    struct bu_err *err)
{
	const json_t *value = json_object_get(result, field);

	*ret = json_number_value(value);
	if ((value && !json_is_number(value) && !json_is_null(value)) || *ret < 0 ||
	    !(*ret < 1e30))
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"test %d: field '%s': expected a number of at least 0", place,
			field);
	return 0;
}

static int
read_result(const struct bu_topology *t, const json_t *result, int place,
	    struct bu_flow *flow, struct bu_err *err)
{
	enum { RATE, LAT, LAT99, SECONDS, SECONDS_DST, BYTES, MTU, FIELDS };
	static const char *const names[FIELDS] = {
		"rate_gbps",   "lat_us", "lat99_us", "seconds",
		"seconds_dst", "bytes",  "mtu"};
	double v[FIELDS], lost;

	flow->path = BU_PATH_UNKNOWN;
	if (json_is_null(result) || json_object_get(result, "error"))
		return 0;
	if (!json_is_object(result) || !json_object_get(result, "rate_gbps"))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "test %d: expected an object with 'rate_gbps'",
				  place);
	for (int i = 0; i < FIELDS; i++) {
		if (read_number(result, names[i], place, &v[i], err) != 0)
			return -1;
	}
	if (v[MTU] > UINT16_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "test %d: field 'mtu': at most %d is allowed", place,
				  UINT16_MAX);
	if (read_lost(result, &lost, err) != 0 ||
	    bu_wire_path(t, json_object_get(result, "path"), flow, &flow->path, err) !=
		    0)
		return bu_err_wrap(err, "test %d", place);
	flow->rate_gbps = (float)v[RATE];
	flow->lat_us = (float)v[LAT];
	flow->lat99_us = (float)v[LAT99];
	flow->mtu = (uint16_t)v[MTU];
	flow->lost = (float)lost;
	flow->doubt = (uint8_t)bu_flow_doubt(t->limit_gbps, v[RATE], v[SECONDS],
					     v[SECONDS_DST], v[BYTES]);
	return 0;
}

/* Drops a doubt that more than three quarters of the tests share: the model counts
 * differently, and no clock is wrong. */
static void
forgive_common(struct bu_flow *flows, int count, int doubt)
{
	int doubted = 0;

	for (int i = 0; i < count; i++)
		doubted += (flows[i].doubt & doubt) != 0;
	for (int i = 0; i < count && count >= 8 && 4 * doubted > 3 * count; i++)
		flows[i].doubt &= (uint8_t)~doubt;
}

int
bu_wire_round_answer(const struct bu_topology *t, const json_t *answer,
		     struct bu_flow *flows, int count, struct bu_err *err)
{
	const json_t *results = bu_wire_list(answer);

	if (!json_is_array(results) || json_array_size(results) != (size_t)count)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "answer to round: expected a list of %d results",
				  count);
	for (int i = 0; i < count; i++) {
		if (read_result(t, json_array_get(results, (size_t)i), i, &flows[i],
				err) != 0)
			return bu_err_wrap(err, "answer to round");
	}
	forgive_common(flows, count, BU_DOUBT_BYTES);
	return 0;
}

json_t *
bu_wire_trace(const struct bu_topology *t, const struct bu_flow *flow, int count)
{
	json_t *request =
		json_pack("{s:s, s:o, s:o, s:i, s:i, s:i}", "op", "trace", "src",
			  node_of(t, flow->src), "dst", node_of(t, flow->dst), "rail",
			  flow->src % t->rails, "sport", flow->sport, "count", count);

	return with_dst_rail(t, flow, request);
}

int
bu_wire_trace_answer(const struct bu_topology *t, const json_t *answer,
		     const struct bu_flow *flow, int count, int *ret_spines,
		     struct bu_err *err)
{
	const json_t *list = bu_wire_list(answer);

	for (int i = 0; i < count; i++)
		ret_spines[i] = BU_PATH_UNKNOWN;
	if (!answer || json_is_null(answer))
		return 0;
	if (!json_is_array(list) || json_array_size(list) > (size_t)count)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"answer to trace: expected a list of %d paths, or null", count);
	for (size_t i = 0; i < json_array_size(list); i++) {
		if (bu_wire_path(t, json_array_get(list, i), flow, &ret_spines[i],
				 err) != 0)
			return bu_err_wrap(err, "answer to trace: path %zu", i);
	}
	return 0;
}

json_t *
bu_wire_accuse(const struct bu_topology *t, const struct bu_report *report)
{
	json_t *list = json_array();

	for (int i = 0; i < report->count; i++)
		json_array_append_new(
			list, bu_accusation_to_json(t, &report->accusations[i]));
	return json_pack("{s:s, s:o}", "op", "accuse", "accusations", list);
}
