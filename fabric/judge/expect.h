/* SPDX-License-Identifier: Apache-2.0 */
/* What a link must carry, and the verdict on one direction of a probe. Pure. */
#ifndef BU_FABRIC_JUDGE_EXPECT_H
#define BU_FABRIC_JUDGE_EXPECT_H

#include <jansson.h>

#include "fabric/judge/flow.h"
#include "model/result.h"

/* Path MTUs for which an expectation may have a share of its own. */
#define BU_EXPECT_MTUS(X) X(1024) X(2048) X(4096)
enum {
#define X(mtu) BU_EXPECT_AT_##mtu,
	BU_EXPECT_MTUS(X)
#undef X
		BU_EXPECT_MTUS_COUNT
};

/* JSON {"link_gbps","percent","percent_at"?:{"4096":percent},"lat_max_us"?,"mtu"?,
 * "memory"?:"gpu"}. */
struct bu_expect {
	double link_gbps;  /* rate of the link, 10^9 bit/s */
	double percent;    /* of it must arrive as payload, 0 to 100 */
	double lat_max_us; /* greatest median latency; 0 = not judged */
	int mtu;           /* path MTU that is wanted, bytes; 0 = not judged */
	int gpu;           /* the payload must have lain in GPU memory */
	/* Instead of percent, where the path's MTU is this one; 0 = percent. */
	double percent_at[BU_EXPECT_MTUS_COUNT];
};
extern const int bu_expect_mtus[BU_EXPECT_MTUS_COUNT];
/* BU_ERR_INVAL unless 0 < link_gbps and 0 < percent <= 100. */
bu_must int bu_expect_check(const struct bu_expect *expect, struct bu_err *err);
json_t *bu_expect_to_json(const struct bu_expect *expect);
bu_must int bu_expect_from_json(const json_t *value, struct bu_expect *ret,
				struct bu_err *err);
/* The least median that passes on a path of this MTU; 0 = not known. */
double bu_expect_min_gbps(const struct bu_expect *expect, int mtu);
/* From now on all paths are judged as those of this MTU. */
void bu_expect_settle(struct bu_expect *expect, int mtu);

enum { BU_REASON_SIZE = 320 };
/* BU_DOUBT_... (fabric/judge/flow.h) when the instrument itself was wrong in this
 * direction, 0 when it was not. CLOCK: the clocks of both ends disagree, by much, or by
 * what makes a rate too high. LIMIT: more than the link can carry, by clocks that
 * agree. OTHER: loopback, a GID that is not the fabric address's, another path MTU than
 * wanted, ends of one rail whose MTUs differ, memory in the wrong place. reason: one
 * line. */
int bu_expect_doubt(const struct bu_expect *expect, const struct bu_pair_result *result,
		    int direction, char ret_reason[BU_REASON_SIZE]);
/* direction: BU_END_A is a to b.
 * fail: the median is under the expectation or over the latency, or the path lost,
 * stalled or changed the payload. warn: it passes, but a single run does not.
 * inconclusive: the instrument failed, did not finish, or is in doubt.
 * reason: one line. */
enum bu_verdict bu_expect_judge(const struct bu_expect *expect,
				const struct bu_pair_result *result, int direction,
				char ret_reason[BU_REASON_SIZE]);
/* The whole probe: both directions must pass. fail beats inconclusive beats warn. */
enum bu_verdict bu_expect_judge_pair(const struct bu_expect *expect,
				     const struct bu_pair_result *result);
/* "18.97 Mbit/s" or "377.60 Gbit/s"; size of at least 32. */
void bu_rate_text(double gbps, char *ret, size_t size);

#endif
