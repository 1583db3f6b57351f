/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between a campaign and an outside model of a fabric: requests and
 * answers in JSON. Pure; answers come from other people's programs.
 *
 * TEST   {"src","dst","rail","dst_rail"?,"qps","sport","via": spine or null}; dst_rail
 *        where dst has another rail
 * RESULT {"rate_gbps","lat_us"?,"lat99_us"?,"seconds"?,"seconds_dst"?,"bytes"?,"mtu"?,
 *         "path"?: SPINE | [hops] | null, "counters"?: {"src":{NAME:N},"dst":{NAME:N}},
 *         or "counters_src" and "counters_dst"}; null or {"error"}: nothing arrived
 * A list may be the whole answer or the one list in an object. A counter is read by its
 * name: errors, losses, drops and timeouts count; congestion (pause, CNP, ECN) and
 * traffic do not.
 */
#ifndef BU_FABRIC_JUDGE_WIRE_H
#define BU_FABRIC_JUDGE_WIRE_H

#include <jansson.h>

#include "fabric/judge/localise.h"

/* {"op":"round","tests":[TEST]}; new reference. */
json_t *bu_wire_round(const struct bu_topology *t, const struct bu_flow *flows,
		      int count);
/* BU_ERR_INVAL names the test and the field. */
bu_must int bu_wire_round_answer(const struct bu_topology *t, const json_t *answer,
				 struct bu_flow *flows, int count, struct bu_err *err);

/* {"op":"trace","src","dst","rail","dst_rail"?,"sport","count"} */
json_t *bu_wire_trace(const struct bu_topology *t, const struct bu_flow *flow,
		      int count);
bu_must int bu_wire_trace_answer(const struct bu_topology *t, const json_t *answer,
				 const struct bu_flow *flow, int count, int *ret_spines,
				 struct bu_err *err);

/* [{"node","rail"?,"leaf"}]; other ports are left as they are. */
bu_must int bu_wire_lldp_answer(const struct bu_topology *t, const json_t *answer,
				int *ret_leaf_of, struct bu_err *err);
/* [{"leaf","spine","dir"?: "up"|"down", NAME: N}], or with "up" and "down" objects.
 * Counters since the start. */
bu_must int bu_wire_switch_answer(const struct bu_topology *t, const json_t *answer,
				  struct bu_link_count *ret, struct bu_err *err);
/* Turns counts since the start into counts since the previous reading. before: zeroed
 * at first, kept here. A link direction that was told before and is missing now was not
 * read (bad < 0); one that was never told has counted 0. */
void bu_wire_switch_since(const struct bu_topology *t, struct bu_link_count *before,
			  struct bu_link_count *counts);

/* {"op":"accuse","accusations":[...]} */
json_t *bu_wire_accuse(const struct bu_topology *t, const struct bu_report *report);

#endif
