/* SPDX-License-Identifier: Apache-2.0 */
/* The rate that a link must carry, and the verdict on a direction of a probe. Pure. */
#ifndef BU_FABRIC_JUDGE_EXPECT_H
#define BU_FABRIC_JUDGE_EXPECT_H

#include <jansson.h>

#include "fabric/judge/flow.h"
#include "model/result.h"

/* Path MTUs, in bytes, that may have a percentage of their own. */
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
	double percent;    /* of link_gbps that must arrive as payload, 0 to 100 */
	double lat_max_us; /* greatest median latency, microseconds; 0 = not judged */
	int mtu;           /* required path MTU, bytes; 0 = not judged */
	int gpu;           /* both ends must use GPU memory */
	/* Replaces percent on paths of this MTU; 0 = percent holds. */
	double percent_at[BU_EXPECT_MTUS_COUNT];
};
extern const int bu_expect_mtus[BU_EXPECT_MTUS_COUNT];
/* BU_ERR_INVAL unless 0 < link_gbps, 0 < percent <= 100, 0 <= percent_at <= 100. */
bu_must int bu_expect_check(const struct bu_expect *expect, struct bu_err *err);
json_t *bu_expect_to_json(const struct bu_expect *expect);
bu_must int bu_expect_from_json(const json_t *value, struct bu_expect *ret,
				struct bu_err *err);
/* The least median rate that passes on a path of this MTU. mtu 0: not known. */
double bu_expect_min_gbps(const struct bu_expect *expect, int mtu);
/* Makes the percentage of this MTU hold on all paths. */
void bu_expect_settle(struct bu_expect *expect, int mtu);

enum { BU_REASON_SIZE = 320 };
/* Why the instrument of this direction is in doubt: BU_DOUBT_... (flow.h), 0 = it is
 * not. reason: one line.
 * CLOCK: the clocks of both ends differ by much, or enough to explain a rate that is
 * too high. LIMIT: a rate above the link's limit by clocks that agree. OTHER: loopback,
 * another GID than the fabric address's, another path MTU than required, ends of a rail
 * with different MTUs, memory in the wrong place. */
int bu_expect_doubt(const struct bu_expect *expect, const struct bu_pair_result *result,
		    int direction, char ret_reason[BU_REASON_SIZE]);
/* direction: BU_END_A is a to b. reason: one line.
 * fail: the median rate is too low or the median latency too high, or the path lost,
 * stalled or changed the payload. warn: the median passes, but a run is too slow.
 * inconclusive: the instrument failed, did not finish, or is in doubt. */
enum bu_verdict bu_expect_judge(const struct bu_expect *expect,
				const struct bu_pair_result *result, int direction,
				char ret_reason[BU_REASON_SIZE]);
/* The worst verdict of both directions: fail, inconclusive, warn, pass. */
enum bu_verdict bu_expect_judge_pair(const struct bu_expect *expect,
				     const struct bu_pair_result *result);
/* "18.97 Mbit/s" or "377.60 Gbit/s"; size: 32 or more. */
void bu_rate_text(double gbps, char *ret, size_t size);

#endif
