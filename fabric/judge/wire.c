/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds, traces and accusations: requests to a model of a fabric and its answers, for
 * `bringup fabric rehearse`; what a site says of itself is in wire_site.c. Pure.
 * Invariant: an answer that is not understood changes nothing and says which field.
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

json_t *
bu_wire_round(const struct bu_topology *t, const struct bu_flow *flows, int count)
{
	json_t *tests = json_array();

	for (int i = 0; i < count; i++) {
		const struct bu_flow *flow = &flows[i];

		json_array_append_new(
			tests,
			json_pack("{s:o, s:o, s:i, s:i, s:i, s:o}", "src",
				  node_of(t, flow->src), "dst", node_of(t, flow->dst),
				  "rail", flow->src % t->rails, "qps", flow->qps,
				  "sport", flow->sport, "via",
				  flow->via < 0
					  ? json_null()
					  : bu_ids_get(&t->spine_ids, flow->via)));
	}
	return json_pack("{s:s, s:o}", "op", "round", "tests", tests);
}

/* not_kind: what the end sees of the other direction. */
static double
sum_counters(const json_t *counters, enum bu_wire_counter not_kind)
{
	double sum = 0;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)counters, key, value) {
		enum bu_wire_counter kind = bu_wire_counter(key);

		if (kind != BU_WIRE_IGNORED && kind != not_kind)
			sum += fmax(0, json_number_value(value));
	}
	return sum;
}

static double
lost_of(const json_t *result)
{
	const json_t *both = json_object_get(result, "counters");
	const json_t *src = json_object_get(result, "counters_src");
	const json_t *dst = json_object_get(result, "counters_dst");

	src = src ? src : json_object_get(result, "src_counters");
	dst = dst ? dst : json_object_get(result, "dst_counters");
	if (json_is_array(both)) {
		src = json_array_get(both, 0);
		dst = json_array_get(both, 1);
	} else if (both) {
		src = json_object_get(both, "src");
		dst = json_object_get(both, "dst");
		if (!src && !dst)
			return sum_counters(both, BU_WIRE_IGNORED);
	}
	return sum_counters(src, BU_WIRE_RECEIVER) + sum_counters(dst, BU_WIRE_SENDER);
}

/* A spine, or hops of which one is a spine. Integers name a leaf as well as a spine: of
 * three hops the middle one counts. */
static int
path_of(const struct bu_topology *t, const json_t *path, int from, int to)
{
	int found = BU_PATH_UNKNOWN;
	size_t i;
	json_t *hop;

	if (json_is_object(path)) {
		const json_t *inner = json_object_get(path, "spine");

		inner = inner ? inner : json_object_get(path, "spines");
		return path_of(t, inner, from, to);
	}
	if (!json_is_array(path))
		return bu_ids_find(&t->spine_ids, path);
	if (json_array_size(path) == 3 &&
	    bu_ids_find(&t->leaf_ids, json_array_get(path, 0)) == from &&
	    bu_ids_find(&t->leaf_ids, json_array_get(path, 2)) == to)
		return bu_ids_find(&t->spine_ids, json_array_get(path, 1));
	json_array_foreach (path, i, hop) {
		int spine = json_is_array(hop) || json_is_object(hop)
				    ? path_of(t, hop, from, to)
				    : bu_ids_find(&t->spine_ids, hop);

		/* A leaf's own number is no spine. */
		if (spine < 0 || (json_array_size(path) == 1 && from == to &&
				  bu_ids_find(&t->leaf_ids, hop) == from))
			continue;
		if (found >= 0 && found != spine)
			return BU_PATH_SEVERAL;
		found = spine;
	}
	return found;
}

/* An optional number of at least 0; 0 when it is not there. */
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
	double v[FIELDS];

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
	flow->rate_gbps = (float)v[RATE];
	flow->lat_us = (float)v[LAT];
	flow->lat99_us = (float)v[LAT99];
	flow->mtu = v[MTU] < 65535 ? (uint16_t)v[MTU] : 65535;
	flow->lost = (float)lost_of(result);
	flow->path = path_of(t, json_object_get(result, "path"), t->leaf_of[flow->src],
			     t->leaf_of[flow->dst]);
	flow->doubt = (uint8_t)bu_flow_doubt(t->limit_gbps, v[RATE], v[SECONDS],
					     v[SECONDS_DST], v[BYTES]);
	return 0;
}

/* What holds for most tests is the model's way to count, not somebody's broken clock.
 */
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
	return json_pack("{s:s, s:o, s:o, s:i, s:i, s:i}", "op", "trace", "src",
			 node_of(t, flow->src), "dst", node_of(t, flow->dst), "rail",
			 flow->src % t->rails, "sport", flow->sport, "count", count);
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
	for (size_t i = 0; i < json_array_size(list); i++)
		ret_spines[i] = path_of(t, json_array_get(list, i),
					t->leaf_of[flow->src], t->leaf_of[flow->dst]);
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
