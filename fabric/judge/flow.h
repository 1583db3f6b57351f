/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One direction of one test in a whole fabric, small enough that millions fit in
 * memory, and what a fabric under test offers. A port is node * rails + rail.
 */
#ifndef BU_FABRIC_JUDGE_FLOW_H
#define BU_FABRIC_JUDGE_FLOW_H

#include <stdint.h>

#include "base/err.h"
#include "fabric/schedule.h"
#include "model/topology.h"

/* Instrument in doubt: the flow says nothing about the fabric. */
enum {
	BU_DOUBT_LIMIT = 1,
	BU_DOUBT_CLOCK = 2,
	BU_DOUBT_BYTES = 4,
	BU_DOUBT_NONE = 8, /* there is no result, or it says nothing */
	BU_DOUBT_OTHER = 16,
	BU_DOUBT_ASKED = 32, /* it is being measured */
};
/* The path of a flow between leaves. */
enum { BU_PATH_UNKNOWN = -1, BU_PATH_SEVERAL = -2 };

struct bu_flow {
	int32_t src, dst; /* ports; sends, receives */
	int32_t via;      /* spine that is asked for, -1 = none */
	int32_t path;     /* spine that it took, or BU_PATH_... */
	uint16_t round, sport;
	uint16_t mtu;  /* 0 = not told */
	uint8_t qps;   /* queue pairs */
	uint8_t doubt; /* BU_DOUBT_... */
	float rate_gbps;
	float lat_us, lat99_us; /* 0 = not told */
	float lost;             /* packets, by the counters of both ends */
};

/* One direction of a link by its switches, since the reading before. */
struct bu_link_count {
	double bad; /* errors, drops, waits */
	float rate; /* 10^9 bit/s or bytes; < 0 = not told */
	int told;   /* by the words of wire.h: there was an entry for it */
};
/* Of a link: [2 * (leaf * spines + spine) + dir]. */
enum { BU_LINK_UP, BU_LINK_DOWN };

/* What a site knows about a direction of a pair before it is asked. */
enum bu_known {
	BU_KNOWN_NOT,
	BU_KNOWN_RESULT, /* one that no round was given yet */
	BU_KNOWN_FAILED, /* only that it said nothing, lately: others go first */
	BU_KNOWN_TIRED,  /* the same so often that it is not waited for */
};

struct bu_site {
	/* All flows at once; fills in what came of them. 1 = not all of them are there
	 * yet: the campaign ends here, and is run again later. */
	int (*round)(void *arg, struct bu_flow *flows, int count, struct bu_err *err);
	/* NULL = a round is always there at once. Else stage A has no rounds that wait:
	 * each port goes on to its next partner as soon as it is free. */
	enum bu_known (*known)(void *arg, const struct bu_flow *flow);
	/* With it: the pairs of ports that it knows anything of, once each; how many.
	 */
	size_t (*met)(void *arg, const struct bu_pair **ret);
	/* The spines of `count` source ports from the flow's sport on;
	 * BU_PATH_UNKNOWN where it cannot be told. NULL = there is no trace. */
	int (*trace)(void *arg, const struct bu_flow *flow, int count, int *ret_spines,
		     struct bu_err *err);
	/* The leaf of each port as LLDP says, -1 = nothing heard. */
	int (*lldp)(void *arg, int *ret_leaf_of, struct bu_err *err);
	/* A link with bad and rate < 0 was not read this time. */
	int (*switches)(void *arg, struct bu_link_count *ret, struct bu_err *err);
	void *arg;
};

#endif
