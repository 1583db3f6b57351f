/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts on measured rates and latencies, for the decoder and the certificate. Pure.
 * Invariant: only facts about the path pass or fail. A wrong instrument is
 * inconclusive, never a finding against a node.
 */
#include "fabric/judge/expect.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

/* Factors by which a rate may exceed the framing limit. A port's line rate and two
 * quartz clocks are accurate to 0.02 %. A shaper (link_gbps differs from the port's
 * rate by more than same_rate) counts fewer bytes of each frame than the wire has, and
 * lets bursts pass. */
static const double over_port = 1.003, over_shaper = 1.05, same_rate = 0.02;
/* Both ends time the same two messages. The scheduler delays these by fractions of a
 * second; a wrong clock errs by a share of the time. */
static const double clock_share = 0.03, clock_seconds = 0.5;
/* The clocks explain a rate above the limit where they differ by half of its excess,
 * and by more than the scheduler's delay in runs of 1 s. */
static const double clock_cause = 0.5, clock_noise = 0.005;
enum { ROCE_OVERHEAD = 82, IB_OVERHEAD = 26 };

const int bu_expect_mtus[] = {
#define X(mtu) [BU_EXPECT_AT_##mtu] = mtu,
	BU_EXPECT_MTUS(X)
#undef X
};

int
bu_expect_check(const struct bu_expect *expect, struct bu_err *err)
{
	if (!(expect->link_gbps > 0) || !(expect->percent > 0) || expect->percent > 100)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "expectation: expected a link rate above 0 Gbit/s "
				  "and a percentage above 0, up to 100");
	for (size_t i = 0; i < BU_LEN(bu_expect_mtus); i++)
		if (!(expect->percent_at[i] >= 0) || expect->percent_at[i] > 100)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "expectation: field 'percent_at': expected "
					  "percentages up to 100");
	return 0;
}

static json_t *
percents_to_json(const struct bu_expect *expect)
{
	json_t *value = json_object();
	char mtu[16];

	for (size_t i = 0; i < BU_LEN(bu_expect_mtus); i++) {
		snprintf(mtu, sizeof(mtu), "%d", bu_expect_mtus[i]);
		if (expect->percent_at[i] > 0)
			json_object_set_new(value, mtu,
					    json_real(expect->percent_at[i]));
	}
	return value;
}

static void
percents_from_json(const json_t *value, struct bu_expect *ret)
{
	char mtu[16];

	for (size_t i = 0; i < BU_LEN(bu_expect_mtus); i++) {
		snprintf(mtu, sizeof(mtu), "%d", bu_expect_mtus[i]);
		ret->percent_at[i] = bu_json_real(value, mtu, 0);
	}
}

json_t *
bu_expect_to_json(const struct bu_expect *expect)
{
	json_t *value = json_pack("{s:f, s:f}", "link_gbps", expect->link_gbps,
				  "percent", expect->percent);
	json_t *percents = percents_to_json(expect);

	if (json_object_size(percents))
		json_object_set(value, "percent_at", percents);
	json_decref(percents);
	if (expect->lat_max_us > 0)
		json_object_set_new(value, "lat_max_us", json_real(expect->lat_max_us));
	if (expect->mtu > 0)
		json_object_set_new(value, "mtu", json_integer(expect->mtu));
	if (expect->gpu)
		json_object_set_new(value, "memory", json_string("gpu"));
	return value;
}

int
bu_expect_from_json(const json_t *value, struct bu_expect *ret, struct bu_err *err)
{
	*ret = (struct bu_expect){
		.link_gbps = bu_json_real(value, "link_gbps", 0),
		.percent = bu_json_real(value, "percent", 0),
		.lat_max_us = bu_json_real(value, "lat_max_us", 0),
		.mtu = (int)bu_json_int(value, "mtu", 0),
		.gpu = strcmp(bu_json_str(value, "memory", ""), "gpu") == 0,
	};
	percents_from_json(json_object_get(value, "percent_at"), ret);
	return bu_expect_check(ret, err);
}

static double
percent_at(const struct bu_expect *expect, int mtu)
{
	for (size_t i = 0; i < BU_LEN(bu_expect_mtus); i++)
		if (bu_expect_mtus[i] == mtu && expect->percent_at[i] > 0)
			return expect->percent_at[i];
	return expect->percent;
}

double
bu_expect_min_gbps(const struct bu_expect *expect, int mtu)
{
	return expect->link_gbps * percent_at(expect, mtu) / 100;
}

void
bu_expect_settle(struct bu_expect *expect, int mtu)
{
	expect->percent = percent_at(expect, mtu);
	memset(expect->percent_at, 0, sizeof(expect->percent_at));
}

void
bu_rate_text(double gbps, char *ret, size_t size)
{
	if (gbps < 1)
		snprintf(ret, size, "%.2f Mbit/s", gbps * 1000);
	else
		snprintf(ret, size, "%.2f Gbit/s", gbps);
}

static int
is_path_error(enum bu_err_kind kind)
{
	return kind == BU_ERR_REMOTE || kind == BU_ERR_TIMEOUT || kind == BU_ERR_VERIFY;
}

/* The most payload of a link: MTU / (MTU + overhead), with 82 bytes for RoCE v2 and 26
 * for InfiniBand. A rate above it is an error of the instrument. */
static double
limit_gbps(const struct bu_expect *expect, const struct bu_pair_result *result)
{
	double overhead =
		result->end[BU_END_A].infiniband ? IB_OVERHEAD : ROCE_OVERHEAD;

	if (result->mtu <= 0) /* not told */
		return expect->link_gbps;
	return expect->link_gbps * result->mtu / (result->mtu + overhead);
}

/* Each doubt writes its reason and returns its code, or leaves the text alone. */
static int
doubt_loopback(const struct bu_expect *expect, const struct bu_pair_result *r,
	       int direction, char *ret)
{
	if (!bu_pair_is_loopback(r))
		return 0;
	snprintf(ret, BU_REASON_SIZE,
		 "loopback: both ends are the port %.48s of %.64s, no cable was used",
		 r->end[0].gid, r->end[0].device);
	return BU_DOUBT_OTHER;
}

/* An IPv6 address can be written in several ways. */
static int
same_address(const char *a, const char *b)
{
	struct in6_addr raw[2];

	return inet_pton(AF_INET6, a, &raw[0]) == 1 &&
	       inet_pton(AF_INET6, b, &raw[1]) == 1 &&
	       memcmp(&raw[0], &raw[1], sizeof(raw[0])) == 0;
}

static int
doubt_gid(const struct bu_expect *expect, const struct bu_pair_result *r, int direction,
	  char *ret)
{
	for (int i = 0; i < 2; i++) {
		const struct bu_pair_end *end = &r->end[i];
		char wanted[64];

		if (end->infiniband || end->gid_type == BU_GID_UNKNOWN)
			continue;
		snprintf(wanted, sizeof(wanted), "%s%.48s",
			 strchr(end->address, ':') ? "" : "::ffff:", end->address);
		if (end->gid_type == BU_GID_ROCE_V2 &&
		    (!end->address[0] || same_address(end->gid, wanted)))
			continue;
		snprintf(ret, BU_REASON_SIZE,
			 "wrong GID: %.64s used %.48s (%s, index %d), expected RoCE "
			 "v2 %.64s",
			 end->node, end->gid, bu_gid_type_name(end->gid_type),
			 end->gid_index, end->address[0] ? wanted : "of the fabric");
		return BU_DOUBT_OTHER;
	}
	return 0;
}

/* Without a required MTU both ports of a rail must have the same. InfiniBand is exempt:
 * each port agrees on an MTU with its switch, and the path takes the smaller one. */
static int
doubt_unlike(const struct bu_pair_result *r, char *ret)
{
	const struct bu_pair_end *a = &r->end[BU_END_A], *b = &r->end[BU_END_B];

	if (a->infiniband || a->mtu == 0 || b->mtu == 0 || a->mtu == b->mtu ||
	    strcmp(a->rail, b->rail) != 0)
		return 0;
	snprintf(ret, BU_REASON_SIZE,
		 "wrong MTU: the port of %.64s has %d, the one of %.64s %d; both must "
		 "have the same",
		 a->node, a->mtu, b->node, b->mtu);
	return BU_DOUBT_OTHER;
}

static int
doubt_mtu(const struct bu_expect *expect, const struct bu_pair_result *r, int direction,
	  char *ret)
{
	int low = r->end[1].mtu < r->end[0].mtu;

	if (expect->mtu == 0)
		return doubt_unlike(r, ret);
	if (r->mtu == 0 || r->mtu == expect->mtu)
		return 0;
	snprintf(ret, BU_REASON_SIZE,
		 "wrong MTU: the path's is %d, expected %d; the port of %.64s has %d, "
		 "the one of %.64s %d",
		 r->mtu, expect->mtu, r->end[low].node, r->end[low].mtu,
		 r->end[!low].node, r->end[!low].mtu);
	return BU_DOUBT_OTHER;
}

static int
doubt_memory(const struct bu_expect *expect, const struct bu_pair_result *r,
	     int direction, char *ret)
{
	for (int i = 0; i < 2; i++) {
		const struct bu_pair_end *end = &r->end[i];
		int gpu = end->memory == BU_MEMORY_DMABUF ||
			  end->memory == BU_MEMORY_PEERMEM;

		if ((!gpu && !expect->gpu) || (gpu && end->memory_found == end->memory))
			continue;
		if (end->memory == BU_MEMORY_UNKNOWN && end->memory_found == 0 &&
		    !end->device[0])
			continue; /* the end failed before it opened a device */
		snprintf(ret, BU_REASON_SIZE,
			 "memory in the wrong place: %.64s was to use GPU memory%s%s, "
			 "reading it back shows %s",
			 end->node, gpu ? " by " : "",
			 gpu ? bu_memory_name(end->memory) + strlen("gpu ") : "",
			 end->memory_found == BU_MEMORY_UNKNOWN
				 ? "nothing"
				 : bu_memory_name(end->memory_found));
		return BU_DOUBT_OTHER;
	}
	return 0;
}

/* Difference of both clocks, as a share of the longer time; 0 = an end did not tell. */
static double
clocks_apart(const struct bu_pair_result *r, int direction)
{
	const double *seconds = r->dir[direction].clock_seconds;

	return seconds[0] > 0 && seconds[1] > 0
		       ? fabs(seconds[0] - seconds[1]) / fmax(seconds[0], seconds[1])
		       : 0;
}

static int
clock_doubt(const struct bu_pair_result *r, int direction, const char *before,
	    char *ret)
{
	const double *seconds = r->dir[direction].clock_seconds;

	snprintf(ret, BU_REASON_SIZE,
		 "clock in doubt: %sthe runs took %.3f s by the sender's clock (%.64s) "
		 "and %.3f s by the receiver's (%.64s)",
		 before, seconds[0], r->end[direction].node, seconds[1],
		 r->end[!direction].node);
	return BU_DOUBT_CLOCK;
}

static int
doubt_clock(const struct bu_expect *expect, const struct bu_pair_result *r,
	    int direction, char *ret)
{
	const double *seconds = r->dir[direction].clock_seconds;
	double longest = fmax(seconds[0], seconds[1]);
	double apart = clocks_apart(r, direction);

	if (apart * longest <= fmax(clock_seconds, clock_share * longest))
		return 0;
	return clock_doubt(r, direction, "", ret);
}

static int
doubt_rate(const struct bu_expect *expect, const struct bu_pair_result *r,
	   int direction, char *ret)
{
	double gbps = r->dir[direction].bw_median_gbps;
	double port = r->end[direction].rate_gbps, tolerance = over_shaper;
	double limit = limit_gbps(expect, r);
	char got[32], most[32], before[120];

	if (fabs(port - expect->link_gbps) <= same_rate * expect->link_gbps)
		tolerance = over_port;
	if (gbps <= limit * tolerance)
		return 0;
	bu_rate_text(gbps, got, sizeof(got));
	bu_rate_text(limit, most, sizeof(most));
	snprintf(before, sizeof(before),
		 "%s is more than the %s that the link can carry, and ", got, most);
	if (clocks_apart(r, direction) >
	    fmax(clock_noise, clock_cause * (gbps / limit - 1)))
		return clock_doubt(r, direction, before, ret);
	snprintf(
		ret, BU_REASON_SIZE,
		"%s is more than the link can carry: framing leaves %s for payload; is "
		"the profile's rate right?",
		got, most);
	return BU_DOUBT_LIMIT;
}

/* The order matters: a loopback explains a wrong rate, and not the reverse. early: the
 * doubt also holds for a direction that did not finish. */
static const struct {
	int early;
	int (*check)(const struct bu_expect *expect, const struct bu_pair_result *r,
		     int direction, char *ret);
} doubts[] = {
	{1, doubt_loopback}, {1, doubt_gid},   {1, doubt_mtu},
	{1, doubt_memory},   {0, doubt_clock}, {0, doubt_rate},
};

int
bu_expect_doubt(const struct bu_expect *expect, const struct bu_pair_result *result,
		int direction, char ret_reason[BU_REASON_SIZE])
{
	int failed = result->dir[direction].error.kind != BU_ERR_NONE, doubt = 0;

	for (size_t i = 0; i < BU_LEN(doubts) && !doubt; i++) {
		if (doubts[i].early || !failed)
			doubt = doubts[i].check(expect, result, direction, ret_reason);
	}
	return doubt;
}

enum bu_verdict
bu_expect_judge(const struct bu_expect *expect, const struct bu_pair_result *result,
		int direction, char ret_reason[BU_REASON_SIZE])
{
	const struct bu_pair_dir *dir = &result->dir[direction];
	double min_gbps = bu_expect_min_gbps(expect, result->mtu);
	char got[32], wanted[32];
	int low = 0;

	bu_rate_text(dir->bw_median_gbps, got, sizeof(got));
	bu_rate_text(min_gbps, wanted, sizeof(wanted));
	if (bu_expect_doubt(expect, result, direction, ret_reason))
		return BU_VERDICT_INCONCLUSIVE;
	if (dir->error.kind != BU_ERR_NONE) {
		snprintf(ret_reason, BU_REASON_SIZE, "%s", dir->error.text);
		return is_path_error(dir->error.kind) ? BU_VERDICT_FAIL
						      : BU_VERDICT_INCONCLUSIVE;
	}
	if (dir->runs == 0 || dir->lat_count == 0) {
		snprintf(ret_reason, BU_REASON_SIZE, "the measurement did not finish");
		return BU_VERDICT_INCONCLUSIVE;
	}
	for (int i = 0; i < dir->runs; i++)
		low += dir->bw_gbps[i] < min_gbps;
	snprintf(ret_reason, BU_REASON_SIZE,
		 "median %s, at least %s wanted; %d of %d runs under it", got, wanted,
		 low, dir->runs);
	if (dir->bw_median_gbps < min_gbps)
		return BU_VERDICT_FAIL;
	if (expect->lat_max_us > 0 && dir->lat_median_us > expect->lat_max_us) {
		snprintf(ret_reason, BU_REASON_SIZE,
			 "median latency %.1f us, at most %.1f us wanted",
			 dir->lat_median_us, expect->lat_max_us);
		return BU_VERDICT_FAIL;
	}
	return low > 0 ? BU_VERDICT_WARN : BU_VERDICT_PASS;
}

enum bu_verdict
bu_expect_judge_pair(const struct bu_expect *expect,
		     const struct bu_pair_result *result)
{
	char reason[BU_REASON_SIZE];
	enum bu_verdict a = bu_expect_judge(expect, result, BU_END_A, reason);
	enum bu_verdict b = bu_expect_judge(expect, result, BU_END_B, reason);

	if (a == BU_VERDICT_FAIL || b == BU_VERDICT_FAIL)
		return BU_VERDICT_FAIL;
	if (a == BU_VERDICT_INCONCLUSIVE || b == BU_VERDICT_INCONCLUSIVE)
		return BU_VERDICT_INCONCLUSIVE;
	if (a == BU_VERDICT_WARN || b == BU_VERDICT_WARN)
		return BU_VERDICT_WARN;
	return BU_VERDICT_PASS;
}
