/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow: one direction of one test, small enough that millions fit in memory; and the
 * interface of a fabric under test, the site. A port is node * rails + rail.
 */
#ifndef BU_FABRIC_JUDGE_FLOW_H
#define BU_FABRIC_JUDGE_FLOW_H

#include <stdint.h>

#include "base/err.h"
#include "fabric/schedule.h"
#include "model/topology.h"

/* Why a flow says nothing about the fabric: a wrong instrument, or no result. */
enum {
	BU_DOUBT_LIMIT = 1,
	BU_DOUBT_CLOCK = 2,
	BU_DOUBT_BYTES = 4,
	BU_DOUBT_NONE = 8, /* no result, or not counted */
	BU_DOUBT_OTHER = 16,
	BU_DOUBT_ASKED = 32, /* the probe is under way */
};
/* bu_flow.path where it names no spine: not told, or several spines. */
enum { BU_PATH_UNKNOWN = -1, BU_PATH_SEVERAL = -2 };

struct bu_flow {
	int32_t src, dst; /* ports; sends, receives */
	int32_t via;      /* requested spine, -1 = none */
	int32_t path;     /* spine of its path, or BU_PATH_... */
	uint16_t round, sport;
	uint16_t mtu;  /* bytes; 0 = not told */
	uint8_t qps;   /* queue pairs */
	uint8_t doubt; /* BU_DOUBT_... */
	float rate_gbps;
	float lat_us, lat99_us; /* median, 99th percentile; 0 = not told */
	float lost;             /* packets, by the counters of both ends */
};

/* Counts of one direction of a link by its switches, since the previous reading. */
struct bu_link_count {
	double bad; /* errors, drops, waits; < 0 with rate < 0: not read */
	float rate; /* 10^9 bit/s or bytes; < 0 = not told */
	int told;   /* wire.h: the answer has an entry for this direction */
};
/* dir of a place in struct bu_link_count[]: 2 * (leaf * spines + spine) + dir. */
enum { BU_LINK_UP, BU_LINK_DOWN };

/* A site's knowledge of a direction of a pair, before a new probe. */
enum bu_known {
	BU_KNOWN_NOT,
	BU_KNOWN_RESULT, /* a result that no round has got yet */
	BU_KNOWN_FAILED, /* the last probe gave nothing: other pairs go first */
	BU_KNOWN_TIRED,  /* so many gave nothing that no port waits for it */
};

struct bu_site {
	/* Measures all flows at once and fills in their results. 1 = some results are
	 * still missing: the campaign ends here, and is run again later. */
	int (*round)(void *arg, struct bu_flow *flows, int count, struct bu_err *err);
	/* NULL = stage A waits for whole rounds. Else each port of stage A goes on to
	 * its next partner as soon as it is free. */
	enum bu_known (*known)(void *arg, const struct bu_flow *flow);
	/* With known: the pairs with a result or failure, each once; how many. */
	size_t (*met)(void *arg, const struct bu_pair **ret);
	/* The spine of each of `count` UDP source ports from flow->sport on, or
	 * BU_PATH_UNKNOWN. NULL = the site cannot trace. */
	int (*trace)(void *arg, const struct bu_flow *flow, int count, int *ret_spines,
		     struct bu_err *err);
	/* The leaf of each port by LLDP; ret is preset to -1 = nothing heard. */
	int (*lldp)(void *arg, int *ret_leaf_of, struct bu_err *err);
	int (*switches)(void *arg, struct bu_link_count *ret, struct bu_err *err);
	void *arg;
};

#endif
