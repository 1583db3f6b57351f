// SPDX-License-Identifier: Apache-2.0
/*
 * Verdicts on figures, for the decoder and the certificate. Pure. Invariant: only what
 * is known about the path passes or fails; whatever is wrong with the instrument is
 * inconclusive, never a finding against a node.
 */
#include "fabric/judge/expect.h"

#include <stdio.h>

/* A payload rate cannot exceed the line's; a clock and a shaper are not exact. */
static const double over_line = 1.05;

int
bu_expect_check(const struct bu_expect *expect, struct bu_err *err)
{
	if (!(expect->link_gbps > 0) || !(expect->percent > 0) || expect->percent > 100)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "expectation: a link rate above 0 Gbit/s and a "
				  "percentage above 0, up to 100 are wanted");
	return 0;
}

json_t *
bu_expect_to_json(const struct bu_expect *expect)
{
	json_t *value = json_pack("{s:f, s:f}", "link_gbps", expect->link_gbps,
				  "percent", expect->percent);

	if (expect->lat_max_us > 0)
		json_object_set_new(value, "lat_max_us", json_real(expect->lat_max_us));
	return value;
}

double
bu_expect_min_gbps(const struct bu_expect *expect)
{
	return expect->link_gbps * expect->percent / 100;
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

enum bu_verdict
bu_expect_judge(const struct bu_expect *expect, const struct bu_pair_dir *dir,
		char ret_reason[BU_REASON_SIZE])
{
	double min_gbps = bu_expect_min_gbps(expect);
	char got[32], wanted[32];
	int low = 0;

	bu_rate_text(dir->bw_median_gbps, got, sizeof(got));
	bu_rate_text(min_gbps, wanted, sizeof(wanted));
	if (dir->error.kind != BU_ERR_NONE) {
		snprintf(ret_reason, BU_REASON_SIZE, "%s", dir->error.text);
		return is_path_error(dir->error.kind) ? BU_VERDICT_FAIL
						      : BU_VERDICT_INCONCLUSIVE;
	}
	if (dir->runs == 0 || dir->lat_count == 0) {
		snprintf(ret_reason, BU_REASON_SIZE, "the measurement did not finish");
		return BU_VERDICT_INCONCLUSIVE;
	}
	if (dir->bw_median_gbps > expect->link_gbps * over_line) {
		snprintf(ret_reason, BU_REASON_SIZE,
			 "%s is more than the link carries: is the profile's rate "
			 "right?",
			 got);
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
	enum bu_verdict a = bu_expect_judge(expect, &result->dir[0], reason);
	enum bu_verdict b = bu_expect_judge(expect, &result->dir[1], reason);

	if (a == BU_VERDICT_FAIL || b == BU_VERDICT_FAIL)
		return BU_VERDICT_FAIL;
	if (a == BU_VERDICT_INCONCLUSIVE || b == BU_VERDICT_INCONCLUSIVE)
		return BU_VERDICT_INCONCLUSIVE;
	if (a == BU_VERDICT_WARN || b == BU_VERDICT_WARN)
		return BU_VERDICT_WARN;
	return BU_VERDICT_PASS;
}
